#!/usr/bin/env python3
"""Compare types and shapes of com.microsoft operators in `benanza layers` with ONNX Runtime's results.

Each model has one node and runs on the CPU.  Type and shape of every output must be equal; a size may be
unknown only where it depends on the data.  An operator without a CPU kernel is compared with the shapes in
its documentation.  Every operator of the runtime, in any domain, must be in benanza's table, or be listed
here with a reason.  Prints TAP; skips without ONNX Runtime.

    BENANZA=build/benanza tests/ort/ort_contrib.py [WORD...]
"""

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, in_threads, need, outputs_of, program, said, wanted  # noqa: E402
need("onnxruntime", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from ort_common import session  # noqa: E402

MS = "com.microsoft"
random = np.random.default_rng(0)

# Operators with data-dependent output sizes: these may be unknown.
BY_DATA = {"Unique", "DynamicTimeWarping", "Tokenizer", "BifurcationDetector", "RemovePadding", "DecoderAttention"}

# Operators of the runtime that are not in benanza's table: {name: reason}.
ABSENT = {}

# Operators whose shapes are not checked: compiled graphs, whose outputs only the file declares, and operators
# with sparse inputs, which the models of this test cannot have.
NO_SHAPE = {"EPContext", "Snpe", "SparseToDenseMatMul"}


def f(*shape):
    return random.standard_normal(shape).astype(np.float32)


def zeros(*shape, dtype=np.int32):
    return np.zeros(shape, dtype)


class Fixed:
    """An input that is an initializer."""

    def __init__(self, *values, dtype=np.int32, scalar=False):
        self.array = np.array(values[0] if scalar else values, dtype)


class Case:
    def __init__(self, op, inputs, attributes=None, outputs=1, want=None, domain=MS, note="", typed=None):
        self.op, self.inputs, self.attributes = op, inputs, attributes or {}
        self.count = outputs if isinstance(outputs, int) else len(outputs)
        self.present = [True] * outputs if isinstance(outputs, int) else outputs
        self.want, self.domain, self.note, self.typed = want, domain, note, typed or {}

    def name(self):
        return f"{self.op}{' ' if self.note else ''}{self.note}"

    def model(self):
        names, inputs, kept, feeds = [], [], [], {}
        for i, value in enumerate(self.inputs):
            names.append("" if value is None else f"input_{i}")
            if isinstance(value, Fixed):
                kept.append(numpy_helper.from_array(value.array, names[-1]))
            elif value is not None:
                code = TensorProto.STRING if value.dtype == object else helper.np_dtype_to_tensor_dtype(value.dtype)
                inputs.append(helper.make_tensor_value_info(names[-1], code, value.shape))
                feeds[names[-1]] = value
        outputs = [f"output_{i}" if present else "" for i, present in enumerate(self.present)]
        node = helper.make_node(self.op, names, outputs, domain=self.domain, **self.attributes)
        declared = [helper.make_tensor_value_info(name, self.typed[i], None) if i in self.typed else
                    onnx.ValueInfoProto(name=name) for i, name in enumerate(outputs) if name]
        graph = helper.make_graph([node], "one", inputs, declared, kept)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(self.domain, 1)]
        if self.domain == "":
            opsets = opsets[:1]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8), feeds, [o for o in outputs if o]


def attention_cases():
    x, w, b = f(2, 6, 16), f(16, 48), f(48)
    yield Case("Attention", [x, w, b], {"num_heads": 4})
    yield Case("Attention", [x, w, b, zeros(2) + 4], {"num_heads": 4}, note="lengths as a mask")
    yield Case("Attention", [x, w, b, zeros(2, 6) + 1], {"num_heads": 4, "unidirectional": 1}, 2, note="causal, present")
    yield Case("Attention", [x, w, b, zeros(2, 9) + 1, f(2, 2, 4, 3, 4)], {"num_heads": 4, "unidirectional": 1}, 2,
               note="past")
    yield Case("Attention", [x, f(16, 40), f(40)], {"num_heads": 4, "qkv_hidden_sizes": [16, 16, 8]},
               note="narrow values")
    yield Case("Attention", [x, w, b, None, None, f(1, 4, 6, 6)], {"num_heads": 4}, note="attention bias")
    q, k = f(2, 6, 16), f(2, 9, 16)
    yield Case("MultiHeadAttention", [q, q, q], {"num_heads": 4})
    yield Case("MultiHeadAttention", [q, k, f(2, 9, 8)], {"num_heads": 4}, note="cross, narrow values")
    yield Case("MultiHeadAttention", [q, k, k, f(48), zeros(2, 9) + 1], {"num_heads": 4}, note="bias and mask")
    yield Case("MultiHeadAttention", [q, k, k, None, None, f(1, 4, 6, 9)], {"num_heads": 4}, note="attention bias")
    yield Case("MultiHeadAttention", [f(2, 6, 4, 3, 4)], {"num_heads": 4}, note="packed", want=[("f32", [2, 6, 16])])
    yield Case("MultiHeadAttention", [q, f(2, 9, 4, 2, 4)], {"num_heads": 4}, note="packed keys and values",
               want=[("f32", [2, 6, 16])])
    yield Case("MultiHeadAttention", [q, f(2, 4, 9, 4), f(2, 4, 9, 4)], {"num_heads": 4}, note="keys of another layer")
    yield Case("MultiHeadAttention", [q, q, q], {"num_heads": 4}, 3, note="present without past")
    yield Case("MultiHeadAttention", [q, q, q, None, None, None, f(2, 4, 5, 4), f(2, 4, 5, 4)],
               {"num_heads": 4, "unidirectional": 1}, 4, note="past, present and products",
               typed={3: TensorProto.FLOAT})
    one = f(2, 1, 16)
    yield Case("DecoderMaskedMultiHeadAttention", [one, one, one, None, None, f(2, 4, 5, 4), f(2, 4, 5, 4)],
               {"num_heads": 4}, 3, note="past",
               want=[("f32", [2, 1, 16]), ("f32", [2, 4, 6, 4]), ("f32", [2, 4, 6, 4])])
    yield Case("DecoderMaskedMultiHeadAttention",
               [one, one, one, None, None, f(2, 4, 12, 4), f(2, 4, 12, 4), Fixed(5), Fixed(1)],
               {"num_heads": 4, "past_present_share_buffer": 1}, 3, note="one buffer")
    yield Case("DecoderMaskedMultiHeadAttention", [one, f(2, 4, 9, 4), f(2, 4, 9, 4)], {"num_heads": 4},
               note="keys of another layer")


def group_cases():
    kv = {"num_heads": 4, "kv_num_heads": 2}

    def group(length, past, total, packed=False, note="", **more):
        width = 16
        q = f(1, length, 8 * width if packed else 4 * width)
        k = None if packed else f(1, length, 2 * width)
        caches = [None, None] if past is None else [f(1, 2, past, width), f(1, 2, past, width)]
        inputs = [q, k, k, *caches, Fixed(total - 1), Fixed(total)]
        if "do_rotary" in more:
            inputs += [f(64, width // 2), f(64, width // 2)]
        return Case("GroupQueryAttention", inputs, kv | more, 3, note=note)

    yield group(5, None, 5, note="prompt")
    yield group(5, 0, 5, note="prompt, an empty past")
    yield group(5, None, 5, True, "packed", do_rotary=1)
    yield group(1, 5, 6, note="a token more")
    yield group(1, 5, 6, True, "packed, a token more", do_rotary=1)
    yield group(1, 16, 6, note="one buffer")
    yield group(3, 5, 8, note="three tokens more")
    yield group(5, None, 5, note="window", local_window_size=2)
    yield group(5, None, 5, note="soft cap", softcap=20.0)
    rows = np.array([[0, 1, 2, 3]], np.int32)
    columns = np.array([[0, 0, 1, 1]], np.int32)
    sparse = {"num_heads": 4, "kv_num_heads": 2, "sparse_block_size": 16}
    q, k, cache = f(1, 4, 32), f(1, 4, 16), f(1, 2, 48, 8)
    yield Case("SparseAttention", [q, k, k, cache, cache, rows, columns[:, :3], Fixed(4), Fixed(4)], sparse, 3,
               want=[("f32", [1, 4, 32]), ("f32", [1, 2, 48, 8]), ("f32", [1, 2, 48, 8])], note="one buffer")
    yield Case("PackedAttention", [f(11, 16), f(16, 48), f(48), zeros(2, 8), zeros(3)], {"num_heads": 4},
               want=[("f32", [11, 16])])
    yield Case("PackedMultiHeadAttention", [f(11, 4, 3, 4), None, None, None, zeros(2, 8), zeros(3)], {"num_heads": 4},
               want=[("f32", [11, 16])])
    yield Case("LongformerAttention", [f(1, 32, 16), f(16, 48), f(48), f(1, 32), f(16, 48), f(48), zeros(1, 32)],
               {"num_heads": 4, "window": 8}, want=[("f32", [1, 32, 16])])
    half = f(7, 32).astype(np.float16)
    pages = f(20, 16, 2, 8).astype(np.float16)
    yield Case("PagedAttention", [half, half[:, :16], half[:, :16], pages, pages, zeros(3), zeros(2), zeros(2, 4)], kv, 3,
               want=[("f16", [7, 32]), ("f16", [20, 16, 2, 8]), ("f16", [20, 16, 2, 8])])
    flag = np.zeros(1, bool)
    yield Case("DecoderAttention", [f(6, 2, 16), f(6, 2, 16), f(16, 16), f(16, 32), f(48), None, None, None] + [flag] * 4,
               {"num_heads": 4}, 3, want=[("f32", [6, 2, 16]), ("f32", [2, 4, None, 4]), ("f32", [2, 4, None, 4])])


def position_cases():
    table, ids = f(16, 2), zeros(2, 6, dtype=np.int64)
    yield Case("RotaryEmbedding", [f(2, 6, 16), ids, table, table], note="3 dimensions")
    yield Case("RotaryEmbedding", [f(2, 4, 6, 4), ids, table, table], note="4 dimensions")
    yield Case("RotaryEmbedding", [f(2, 6, 16), ids, f(16, 1), f(16, 1)], {"num_heads": 4, "rotary_embedding_dim": 2},
               note="in part")
    yield Case("MRotaryEmbedding", [f(2, 6, 16), zeros(3, 2, 6, dtype=np.int64), table, table],
               {"num_heads": 4, "mrope_section": [1, 1, 0]}, want=[("f32", [2, 6, 16])])
    half = f(2, 4, 6, 4).astype(np.float16)
    yield Case("GemmaRotaryEmbedding", [f(2, 6, 4), half, half, half, half], {}, 2, want=[("f16", [2, 4, 6, 4])] * 2)
    yield Case("RelativePositionBias", [f(32, 4), Fixed(6, dtype=np.int64), Fixed(6, dtype=np.int64)],
               {"max_distance": 128}, want=[("f32", [1, 4, 6, 6])])
    yield Case("GatedRelativePositionBias", [f(2, 6, 16), f(16), f(1, 4, 6, 6), f(4, 8), f(8), f(1, 4, 1, 1)],
               {"num_heads": 4}, want=[("f32", [2, 4, 6, 6])])
    yield Case("RemovePadding", [f(2, 6, 16), zeros(2)], {}, 4,
               want=[("f32", [None, 16]), ("s32", [2, 6]), ("s32", [3]), ("s32", [1])])
    yield Case("RestorePadding", [f(9, 16), zeros(2, 6)], want=[("f32", [2, 6, 16])])


def norm_cases():
    x, g = f(2, 3, 8), f(8)
    yield Case("SkipLayerNormalization", [x, x, g, g, g], {}, [True, False, False, True])
    yield Case("SkipLayerNormalization", [x, f(3, 8), g, g], note="a skip that broadcasts")
    yield Case("SkipLayerNormalization", [f(6, 8), f(6, 8), g, g], note="tokens")
    yield Case("SkipSimplifiedLayerNormalization", [x, x, g], {}, [True, False, False, True])
    yield Case("SkipSimplifiedLayerNormalization", [x, x, g, g], note="bias")
    yield Case("SimplifiedLayerNormalization", [x, g], {"axis": -1}, domain="")
    yield Case("LayerNormalization", [x, g, g], {"axis": 1}, 3, domain="", note="three outputs")
    ids = zeros(2, 4)
    yield Case("EmbedLayerNormalization", [ids, ids, f(9, 8), f(6, 8), f(2, 8), g, g, ids + 1], {}, 3)
    yield Case("EmbedLayerNormalization", [ids, None, f(9, 8), f(6, 8), None, g, g], {}, 2, note="without segments")
    yield Case("GroupNorm", [f(1, 4, 4, 8), g, g], {"groups": 2, "activation": 1}, want=[("f32", [1, 4, 4, 8])])
    yield Case("SkipGroupNorm", [f(1, 4, 4, 8), g, g, f(1, 8)], {"groups": 2, "activation": 1}, 2,
               want=[("f32", [1, 4, 4, 8])] * 2)
    yield Case("BranchwiseRMSNorm", [f(2, 3, 8), g])
    yield Case("GatedRMSNorm", [f(2, 16), g, f(2, 16)])
    yield Case("BiasGelu", [x, g])
    yield Case("FastGelu", [x])
    yield Case("FastGelu", [x, g], note="bias")
    yield Case("Gelu", [x])
    yield Case("QuickGelu", [x])
    yield Case("BiasAdd", [x, g, x], want=[("f32", [2, 3, 8])])
    yield Case("BiasSplitGelu", [x, g], want=[("f32", [2, 3, 4])])
    yield Case("BiasSoftmax", [x, x], {"axis": 2, "is_inner_broadcast": 0}, want=[("f32", [2, 3, 8])])
    yield Case("BiasDropout", [x, g, x], {}, 2, want=[("f32", [2, 3, 8]), ("bool", [2, 3, 8])])
    yield Case("BitmaskBiasDropout", [x, g, x], {}, 2, want=[("f32", [2, 3, 8]), ("u32", [2])])
    yield Case("BitmaskDropout", [x], {}, 2, want=[("f32", [2, 3, 8]), ("u32", [2])])
    yield Case("GatedAdd", [x, x, f(2, 3, 1)])
    yield Case("ScaledSiLU", [x])
    yield Case("LinearAttentionGate", [x, g, g, x], {}, 2)
    yield Case("EngramGate", [f(1, 3, 2, 8), f(1, 3, 2, 8), f(1, 3, 8), f(2, 8), f(2, 8), f(2, 8)], {}, 2)
    yield Case("HyperConnectionPreMix", [x, f(2, 3)])
    yield Case("HyperConnectionPreMix", [f(2, 24), f(2, 3)], {"num_branches": 3}, note="flat")
    yield Case("HyperConnectionPostMix", [x, f(2, 8), f(2, 3), f(2, 3, 3)])


def product_cases():
    byte, short = np.uint8, np.float16
    yield Case("FusedMatMul", [f(2, 3, 4, 5), f(2, 3, 6, 5)], {"transB": 1, "alpha": 0.5})
    yield Case("FusedMatMul", [f(5, 4), f(6, 5)], {"transA": 1, "transB": 1})
    yield Case("FusedMatMul", [f(4, 2, 3, 5), f(2, 3, 5, 6)], {"transBatchA": 1}, note="batch moved")
    yield Case("FusedMatMul", [f(5, 2, 3, 4), f(2, 3, 5, 6)], {"transBatchA": 1, "transA": 1}, note="batch moved, turned")
    yield Case("FusedMatMul", [f(5), f(2, 5, 6)], {"transA": 1}, note="a vector")
    yield Case("TransposeMatMul", [f(4, 5), f(6, 5)], {"transB": 1})
    yield Case("FusedGemm", [f(4, 5), f(6, 5), f(6)], {"transB": 1, "activation": "Relu"})
    yield Case("FusedMatMulActivation", [f(4, 5), f(5, 6)], {"activation": "Relu"}, want=[("f32", [4, 6])])
    yield Case("GemmFastGelu", [f(2, 4, 5), f(5, 6), f(6)], want=[("f32", [2, 4, 6])])
    yield Case("GemmFloat8", [f(4, 5), f(6, 5)], {"transB": 1, "dtype": 10}, want=[("f16", [4, 6])])
    for bits in (2, 4, 8):
        blob, sizes = 32 * bits // 8, {"K": 70, "N": 16, "bits": bits, "block_size": 32}
        yield Case("MatMulNBits", [f(2, 3, 70), zeros(16, 3, blob, dtype=byte), f(48)], sizes, note=f"{bits} bits")
    yield Case("MatMulNBits", [f(1, 64), zeros(16, 2, 16, dtype=byte), f(32), zeros(16, dtype=byte), None, f(16)],
               {"K": 64, "N": 16, "bits": 4, "block_size": 32}, note="zero points and bias")
    yield Case("MatMulBnb4", [f(2, 3, 64), zeros(512, dtype=byte), f(16)],
               {"K": 64, "N": 16, "block_size": 64, "quant_type": 1})
    yield Case("MatMulFpQ4", [f(2, 32), zeros(320, dtype=byte), Fixed(32, 16, dtype=np.int64)], {"blk_quant_type": 1},
               want=[("f32", [2, 16])])
    yield Case("MatMulBlockQuantizedFp4Weight",
               [f(2, 32).astype(short), zeros(16, 16, dtype=byte), zeros(16, 2, dtype=byte), f()],
               want=[("f16", [2, 16])])
    yield Case("MatMulNBitsMlp", [f(1, 3, 64), None, None, zeros(32, 2, 16, dtype=byte), f(32, 2), None,
                                  zeros(32, 2, 16, dtype=byte), f(32, 2)],
               {"K": 64, "N": 32, "bits": 4, "block_size": 32, "activation": "silu"}, want=[("f32", [1, 3, 32])])
    yield Case("MatMulNBitsQkv", [f(1, 3, 64), None, f(64)] + 3 * [zeros(32, 2, 16, dtype=byte), f(32, 2), None],
               {"K": 64, "Nq": 32, "Nkv": 16, "bits": 4, "block_size": 32}, 3,
               want=[("f32", [1, 3, 32]), ("f32", [1, 3, 16]), ("f32", [1, 3, 16])])
    yield Case("MoE", [f(1, 3, 16), f(3, 4), f(4, 32, 16), f(4, 32), f(4, 16, 32), f(4, 16)], {"k": 2})
    yield Case("QMoE", [f(3, 32), f(3, 4), zeros(4, 64, 16, dtype=byte), f(4, 64), None, zeros(4, 32, 32, dtype=byte),
                        f(4, 32)], {"k": 2})
    for bits in (4, 8):
        columns = 64 * bits // 8
        yield Case("GatherBlockQuantized", [zeros(10, columns, dtype=byte), zeros(2, 3, dtype=np.int64), f(10, 2)],
                   {"bits": bits, "block_size": 32}, note=f"{bits} bits in bytes")


def window_cases():
    x, w = f(1, 8, 9, 9), f(16, 8, 3, 3)
    half = x.astype(np.float16)
    yield Case("FusedConv", [x, w, f(16)], {"activation": "Relu", "pads": [1, 1, 1, 1]})
    yield Case("FusedConv", [x, w, f(16), f(1, 16, 7, 7)], {"activation": "Clip", "activation_params": [0.0, 6.0]},
               note="with a sum")
    yield Case("NhwcConv", [f(1, 9, 9, 8), f(16, 3, 3, 8)], want=[("f32", [1, 7, 7, 16])])
    yield Case("NhwcFusedConv", [half.transpose(0, 2, 3, 1), w.astype(np.float16)], want=[("f16", [1, 7, 7, 16])])
    yield Case("NhwcMaxPool", [zeros(1, 6, 6, 2, dtype=np.int8)], {"kernel_shape": [2, 2], "strides": [2, 2]})
    yield Case("MaxpoolWithMask", [f(1, 1, 6, 6), zeros(1, 1, 6, 6) + 1], {"kernel_shape": [2, 2]})
    yield Case("ConvTransposeWithDynamicPads", [f(1, 2, 3, 3), f(2, 4, 3, 3), Fixed(1, 1, 1, 1, dtype=np.int64)],
               {"strides": [2, 2], "output_padding": [1, 1]})
    yield Case("GridSample", [f(1, 2, 4, 4), f(1, 3, 5, 2)])
    yield Case("CropAndResize", [f(1, 3, 8, 8), f(2, 4), zeros(2), Fixed(4, 5)])
    blocks = {"domain": "com.microsoft.nchwc"}
    x = f(1, 16, 8, 8)
    yield Case("Conv", [x, f(16, 16, 3, 3), f(16)], {"activation": "Relu"}, note="in blocks", **blocks)
    yield Case("MaxPool", [x], {"kernel_shape": [2, 2], "strides": [2, 2]}, note="in blocks", **blocks)
    yield Case("AveragePool", [x], {"kernel_shape": [2, 2]}, note="in blocks", **blocks)
    yield Case("GlobalAveragePool", [x], note="in blocks", **blocks)
    yield Case("GlobalMaxPool", [x], note="in blocks", **blocks)
    yield Case("ReorderInput", [x], note="in blocks", **blocks)
    yield Case("ReorderOutput", [x], {"channels": 12}, note="in blocks", **blocks)
    yield Case("ReorderOutput", [x], {"channels": 12, "channels_last": 1}, note="in blocks, channels last", **blocks)
    yield Case("Upsample", [x], {"scales": [1, 1, 2, 2]}, note="in blocks", **blocks)


def rest_cases():
    long = np.int64
    yield Case("CausalConvWithState", [f(2, 4, 8), f(4, 1, 4), f(4)], {"activation": "silu"}, 2)
    yield Case("CausalConvWithState", [f(2, 4, 8), f(4, 1, 4), None, f(2, 4, 3)], {}, 2, note="past")
    yield Case("CausalConvWithState", [f(2, 8, 4), f(4, 1, 3), None, f(2, 4, 4)], {"channels_last": 1, "dilation": 2}, 2,
               note="channels last")
    heads = {"q_num_heads": 4, "kv_num_heads": 2}
    yield Case("LinearAttention", [f(2, 6, 32), f(2, 6, 16), f(2, 6, 8)], heads | {"update_rule": "linear"}, 2)
    yield Case("LinearAttention", [f(2, 6, 32), f(2, 6, 16), f(2, 6, 8), f(2, 2, 8, 4), f(2, 6, 2), f(2, 6, 2)], heads, 2,
               note="gated delta")
    yield Case("Trilu", [f(2, 3, 3)])
    yield Case("GatherND", [f(2, 3, 4), zeros(5, 2, dtype=long)])
    yield Case("Pad", [f(2, 3), Fixed(0, 1, 1, 0, dtype=long)])
    yield Case("Range", [Fixed(0, dtype=long), Fixed(5, dtype=long)], want=[("s64", [5])])
    yield Case("TorchEmbedding", [f(10, 8), zeros(2, 3, dtype=long)], want=[("f32", [2, 3, 8])])
    yield Case("ExpandDims", [f(3, 4), Fixed(-1, scalar=True)])
    yield Case("SampleOp", [f(3, 4)])
    yield Case("UnfoldTensor", [f(3, 9)], {"dim": -1, "size": 3, "step": 2})
    yield Case("Rfft", [f(2, 16)], {"signal_ndim": 1, "onesided": 1, "normalized": 0}, want=[("f32", [2, 9, 2])])
    yield Case("Irfft", [f(2, 9, 2)], {"signal_ndim": 1, "onesided": 1, "normalized": 0}, want=[("f32", [2, 16])])
    yield Case("ComplexMul", [f(2, 9, 2), f(2, 9, 2)], want=[("f32", [2, 9, 2])])
    yield Case("ComplexMulConj", [f(2, 9, 2), f(2, 9, 2)], want=[("f32", [2, 9, 2])])
    yield Case("DynamicTimeWarping", [f(3, 4)])
    yield Case("Unique", [f(6)], {}, 3)
    yield Case("BifurcationDetector", [zeros(6, dtype=long), zeros(2, dtype=long), np.array(0, long),
                                       zeros(7, dtype=long)], {}, 2)
    yield Case("WordConvEmbedding", [zeros(4, 7), f(5, 1, 2, 6), f(5), f(20, 6)])
    yield Case("CDist", [f(3, 4), f(5, 4)], {"metric": "euclidean"})
    yield Case("MurmurHash3", [zeros(3, 4)])
    yield Case("MurmurHash3", [zeros(3, 4)], {"positive": 0}, note="signed")
    yield Case("NGramRepeatBlock", [zeros(2, 4, dtype=long), f(2, 10)], {"ngram_size": 2})
    yield Case("NGramHashMapping", [zeros(2, 4, dtype=long), zeros(3, dtype=long) + 1, zeros(4, dtype=long) + 1],
               {"pad_id": 0, "n_head_per_ngram": 2, "max_ngram_size": 3}, 2)
    yield Case("IsAllFinite", [f(2, 3), f(4)], want=[("bool", [])])
    yield Case("Inverse", [np.stack([np.eye(3, dtype=np.float32)] * 2)])
    yield Case("Tokenizer", [np.array([["a b", "c"]], object)],
               {"mark": 0, "mincharnum": 1, "pad_value": "#", "separators": [" "]})
    lstm = [f(5, 2, 8), f(1, 64, 8), f(1, 64, 16), None, None, None, None, None, f(1, 16, 4), f(1, 6, 4), f(1, 4),
            f(2, 3, 6), zeros(2) + 3, f(1, 22, 5)]
    yield Case("AttnLSTM", lstm, {"hidden_size": 16}, 3, want=[("f32", [5, 1, 2, 16]), ("f32", [1, 2, 16]),
                                                              ("f32", [1, 2, 16])])


def state_cases():
    """Operators with a state, and operators that select tokens; shapes from the runtime's shape inference."""
    q, v, s = f(10, 2, 8), f(10, 4, 6), f(3, 4, 6, 8)
    ends = np.array([0, 3, 6, 10], np.int32)
    yield Case("LinearAttention", [f(2, 4, 16), f(2, 4, 16), f(2, 4, 16), None, None, f(2, 4, 4)],
               {"q_num_heads": 2, "kv_num_heads": 4, "update_rule": "delta"}, 2, note="fewer keys than values")
    yield Case("CausalConvWithState", [f(2, 8, 7), f(8, 1, 4), f(8), f(3, 2, 8, 3)], {"state_window": 3}, 2,
               [("f32", [2, 8, 7]), ("f32", [3, 2, 8, 3])], note="states of a window")
    yield Case("CausalConvWithState", [f(2, 7, 4, 2), f(8, 1, 4), f(8), f(2, 3, 4, 2)], {"channels_last": 1}, 2,
               note="channels in two dimensions")
    yield Case("GatedDeltaNet", [q, q, v, ends, f(10, 4), f(10, 4), s, None, None, zeros(3)],
               {"state_update_capacity": 2}, 3, [("f32", [10, 4, 6]), ("f32", [3, 4, 6, 8]), ("f32", [3, 88])])
    yield Case("GatedDeltaNet", [f(2, 5, 56), None, None, None, f(2, 5, 4), f(2, 5, 4), f(2, 4, 6, 8)], {}, 2,
               [("f32", [2, 5, 4, 6]), ("f32", [2, 4, 6, 8])], note="in one")
    yield Case("VarlenCausalConvWithState", [f(10, 8), f(8, 1, 4), ends, None, f(3, 8, 6), zeros(3)],
               {"dilation": 2, "state_update_capacity": 2}, 3,
               [("f32", [10, 8]), ("f32", [3, 8, 6]), ("f32", [3, 2, 8])])
    ids = [zeros(10, dtype=np.int64), zeros(3, dtype=np.int64) + 1, zeros(4, dtype=np.int64) + 1, ends]
    hashes = {"pad_id": 0, "n_head_per_ngram": 2, "max_ngram_size": 3}
    yield Case("VarlenNGramHashMapping", ids, hashes, 2)
    yield Case("VarlenNGramHashMapping", [*ids, None, None, None, zeros(10), zeros(3, 2), zeros(3)],
               {**hashes, "state_update_capacity": 2}, 4, note="segments and states")
    norms = [f(8), f(8), f(64, 4), f(64, 4)]
    tokens = {"policy_mode": "qsa", "compress_ratio": 4, "token_budget": 16}
    entries = {"policy_mode": "csa", "compress_ratio": 4, "index_topk": 5}
    yield Case("SparseAttentionIndexer", [f(2, 6, 32), f(2, 6, 8), *norms, None, f(2, 10, 8)], tokens, 2,
               [("s32", [2, 6, 19]), ("f32", [2, 16, 8])])
    gates = [f(2, 6, 16), f(4, 16), f(2, 6, 4), zeros(2, 6, dtype=np.int64)]
    for waits, present, after in ((0, 11, 6), (3, 12, 5), (5, 11, 7)):
        yield Case("SparseAttentionIndexer", [f(2, 6, 32), f(2, 6, 16), *norms, None, f(2, 10, 8), *gates, None,
                                              f(2, 2, waits, 16)], entries, 3,
                   [("s32", [2, 6, 5]), ("f32", [2, present, 8]), ("f32", [2, 2, after, 16])], note=f"{waits} wait")
    yield Case("PackedSparseAttentionIndexer",
               [f(12, 32), f(12, 8), *norms, zeros(3), zeros(2), None, None, None, None, f(2, 20, 8), f(2, 7, 8), None,
                zeros(2, 2), zeros(2)], {**tokens, "state_capacity": 20, "state_update_capacity": 2},
               [True, True, True, True, False, True, True],
               [("s32", [12, 19]), ("s32", [12]), ("f32", [2, 20, 8]), ("f32", [2, 7, 8]), ("s32", [2, 2]),
                ("f32", [2, 2, 8])])
    shape, strides = Fixed(4, 8, dtype=np.int64), Fixed(8, 1, dtype=np.int64)
    yield Case("QuantizeBFP", [f(4, 8)], {"bfp_type": 1}, 3, [("u8", [None]), ("s64", [2]), ("s64", [2])])
    yield Case("DequantizeBFP", [zeros(40, dtype=np.uint8), shape, strides], {"bfp_type": 1}, want=[("f32", [4, 8])])


def newer_cases():
    """Operators new in ONNX Runtime 1.32, most without a CPU kernel: shapes from their documentation."""
    byte, half, long = np.uint8, np.float16, np.int64
    yield Case("SwiGLU", [f(2, 3, 64)], want=[("f32", [2, 3, 32])], note="both halves in one")
    yield Case("SwiGLU", [f(2, 32), f(2, 32)], {"limit": 7.0}, want=[("f32", [2, 32])])
    yield Case("MatMulPacked", [f(2, 3, 64).astype(half), zeros(32, 36, dtype=byte)],
               {"packed_type": 2, "K": 64, "N": 32}, want=[("f16", [2, 3, 32])])
    yield Case("MatMulNBitsQLoRA", [f(3, 64), zeros(32, 2, 16, dtype=byte), f(32, 2), zeros(8, 2, 32, dtype=byte), f(8, 2),
                                    zeros(32, 1, 32, dtype=byte), f(32, 1)], {"K": 64, "N": 32}, want=[("f32", [3, 32])])
    yield Case("GatherPacked", [zeros(10, 36, dtype=byte), zeros(2, 3, dtype=long)],
               {"packed_type": 2, "K": 64, "output_dtype": 1}, want=[("f32", [2, 3, 64])])
    packed = [zeros(4, 128, 36, dtype=byte), zeros(4, 128, 36, dtype=byte), zeros(4, 64, 72, dtype=byte)]
    yield Case("MoEPacked", [f(3, 64).astype(half), f(3, 4), *packed],
               {"gate_type": 2, "up_type": 2, "down_type": 2, "k": 2}, want=[("f16", [3, 64])])
    yield Case("RouterGateUpProj", [f(2, 3, 64).astype(half), f(64, 40).astype(half)], {"router_size": 8}, 2,
               [("f16", [2, 3, 8]), ("f16", [2, 3, 16])])
    yield Case("MoEGroupRouter", [f(2, 3, 8), f(8)], {"top_k": 2, "n_group": 4}, want=[("f32", [6, 8])])
    yield Case("MoEGroupRouter", [f(6, 256), f(8), f(8, 256)], {"top_k": 2}, [False, True, True],
               [("f32", [6, 8]), ("f32", [6, 8])], note="scores")
    yield Case("RMSNormRotary", [f(2, 3, 4, 48).astype(half), f(16), zeros(2, 3, dtype=long), f(64, 4), f(64, 4)],
               {"rotary_embedding_dim": 8, "input_start": 16, "input_width": 16, "output_fp16": 1}, 2,
               [("f16", [2, 3, 64]), ("f32", [2, 3, 4, 16])])
    yield Case("HyperConnectionLowRankMix", [f(2, 32), f(32), f(32, 4), f(4, 32), f(32, 2), f(2, 16), f(2, 2)],
               {"num_branches": 2}, 3, [("f32", [2, 16]), ("f32", [2, 2]), ("f32", [2, 32])])
    yield Case("ConvStateReplay", [f(1000), f(500), f(1000), zeros(8, dtype=long)], want=[("f32", [1000])])
    yield Case("GatedDeltaNetStateReplay", [f(1000), f(500), f(1000), zeros(11, dtype=long)], want=[("f32", [1000])])
    yield Case("PackedSparseAttentionIndexerMerge", [zeros(10, 8), zeros(10), zeros(6), zeros(6), zeros(6)],
               {"max_output_entries": 12, "policy_mode": "append_range"}, 3, [("s32", [6, 12]), ("s32", [6]), ("s32", [6])])
    commit = [zeros(2, 8, dtype=long), zeros(2, 8, dtype=long), zeros(1), zeros(2, 16, dtype=long),
              zeros(2, 2, dtype=long), zeros(2, 16, dtype=long), zeros(4, dtype=long)]
    yield Case("SpeculativePrefixCommit", commit, {}, 3, [("s32", [2]), ("s64", [2, 16]), ("s64", [2, 2])])


def plugin_cases():
    boxes, maps = f(2, 50, 4), [f(2, 16, side, side) for side in (64, 32, 16, 8)]
    yield Case("MemcpyToHost", [f(4, 8)], domain="", want=[("f32", [4, 8])])
    yield Case("MemcpyFromHost", [f(4, 8)], domain="", want=[("f32", [4, 8])])
    yield Case("DisentangledAttention_TRT", [f(8, 6, 6), f(8, 6, 12), f(8, 6, 12)], {"factor": 0.1, "span": 6},
               domain="", want=[("f32", [8, 6, 6])])
    nms = {"score_threshold": 0.1, "plugin_version": "1", "max_output_boxes": 20, "score_activation": 0,
           "box_coding": 0, "iou_threshold": 0.5, "background_class": -1}
    yield Case("EfficientNMS_TRT", [f(2, 100, 4), f(2, 100, 7)], nms, 4, domain="",
               want=[("s32", [2, 1]), ("f32", [2, 20, 4]), ("f32", [2, 20]), ("s32", [2, 20])])
    pooled = {"pooled_size": 7, "plugin_version": "1"}
    yield Case("PyramidROIAlign_TRT", [boxes, *maps], pooled, domain="", want=[("f32", [2, 50, 16, 7, 7])])
    yield Case("MultilevelCropAndResize_TRT", [boxes, *maps], {**pooled, "image_size": [3, 256, 256]}, domain="",
               want=[("f32", [2, 50, 16, 7, 7])])


def channels_last_cases():
    nhwc, x, byte = "com.ms.internal.nhwc", f(1, 4, 6, 8), zeros(1, 6, 6, 8, dtype=np.uint8)
    scale, zero = Fixed(0.1, dtype=np.float32, scalar=True), Fixed(1, dtype=np.uint8, scalar=True)
    weights = zeros(16, 8, 3, 3, dtype=np.uint8)
    yield Case("Resize", [x, None, Fixed(1, 2, 2, 1, dtype=np.float32)], domain=nhwc, want=[("f32", [1, 8, 12, 8])])
    yield Case("GridSample", [x, f(1, 3, 3, 2)], domain=nhwc, want=[("f32", [1, 3, 3, 8])])
    yield Case("LpPool", [x], {"kernel_shape": [2, 2]}, domain=nhwc, want=[("f32", [1, 3, 5, 8])])
    yield Case("GlobalLpPool", [x], domain=nhwc, want=[("f32", [1, 1, 1, 8])])
    yield Case("MaxUnpool", [x, zeros(1, 8, 4, 6, dtype=np.int64)], {"kernel_shape": [2, 2], "strides": [2, 2]},
               domain=nhwc, want=[("f32", [1, 8, 12, 8])])
    yield Case("QLinearConv", [byte, scale, zero, weights, scale, zero, scale, zero], domain=nhwc,
               want=[("u8", [1, 4, 4, 16])])
    yield Case("QLinearAveragePool", [byte, scale, zero, scale, zero], {"kernel_shape": [2, 2]}, domain=nhwc,
               want=[("u8", [1, 5, 5, 8])])


# Operators that are checked in tests/ops only, against their documentation.
BY_TEXT = {
    "BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch",  # a decoder as an attribute
    "DecoderMaskedSelfAttention", "DynamicSparseAttention", "SparsePagedAttention",  # only for GPUs
    "MatMulBlockQuantizedFp8Weight", "Mamba2Verify",  # only for GPUs, of types that numpy lacks
}

NAMES = {"float32": "f32", "float16": "f16", "int64": "s64", "int32": "s32", "uint32": "u32", "uint8": "u8",
         "int8": "s8", "bool": "bool", "object": "string"}


def runtime_values(case):
    """([(type, shape) of each output], None); (None, reason) if the runtime cannot run the model."""
    model, feeds, names = case.model()
    try:
        values = session(model, optimize=True).run(names, feeds)
    except Exception as error:  # whatever the runtime throws
        return None, " ".join(str(error).split())[:400]
    return [(NAMES.get(str(v.dtype), str(v.dtype)), list(v.shape)) for v in values], None


def benanza_values(case, path):
    model, _, names = case.model()
    path.write_bytes(model.SerializeToString())
    found = outputs_of(path)
    return [(found[name]["dtype"], found[name]["shape"]) if name in found else ("?", None) for name in names]


def check(case, path):
    """(lines that describe differences, True if ONNX Runtime ran the model)."""
    want, why = runtime_values(case)
    run = want is not None
    if not run and case.want is None:
        return [f"ONNX Runtime cannot run the model: {why}"], False
    if run and case.want is not None and [t for t, _ in want] != [t for t, _ in case.want]:
        return [f"ONNX Runtime returns {want}, the documentation {case.want}"], True
    want = want if run else case.want
    try:
        got = benanza_values(case, path)
    except RuntimeError as error:
        return [str(error)], run
    wrong = []
    for i, ((dtype, shape), (have_type, have)) in enumerate(zip(want, got)):
        sure = have is not None and len(have) == len(shape) and all(
            h == s or (h is None and (s is None or case.op in BY_DATA)) for h, s in zip(have, shape))
        if have_type != dtype or not sure:
            wrong.append(f"output {i} is {dtype} {shape}, benanza reports {have_type} {have}")
    return wrong, run


def table_lines(covered):
    """Lines for operators of the runtime that the table lacks, and for table rows without a case here."""
    table = said("ops", "--json")["operators"]
    rows = {(row["domain"], row["name"]) for row in table}
    try:
        from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema
        known = {(s.domain, s.name): s for s in get_all_operator_schema()}
    except ImportError:
        known = {}
    lines = []
    for row in table:
        schema = known.get((row["domain"], row["name"]))
        has = len(schema.inputs) if schema and row["until"] is None and row["inputs"] is not None else 0
        if has > (row["inputs"] or 0):
            lines.append(f"{row['name']}: {row['inputs']} inputs, the runtime has {has}")
    known = set(known)
    lines += [f"{domain}/{name} is not in the table" for domain, name in sorted(known - rows) if name not in ABSENT]
    lines += [f"{name} is in the table, and listed as absent" for name in sorted(ABSENT) if (MS, name) in rows]
    others = {name for _, name in rows if any(word in name for word in ("Quant", "quant", "QLinear", "QOrdered", "Integer"))}
    others |= {"QAttention", "QEmbedLayerNormalization", "QGemm"}
    lines += [f"{domain}/{name} has no case here" for domain, name in sorted(rows)
              if domain in (MS, MS + ".nchwc") and name not in covered | BY_TEXT | NO_SHAPE | others]
    return lines


def attribute_lines():
    source = pathlib.Path(__file__).resolve().parents[2]
    tool = [sys.executable, source / "tools/make_attributes.py", "--check",
            source / "src/ops/rules/op_attribute.c"]
    done = subprocess.run(tool, capture_output=True, text=True)
    return done.stdout.splitlines() or [f"exit status {done.returncode}", *done.stderr.splitlines()[-1:]] if done.returncode else []


def main():
    program()
    cases = wanted([case for some in (attention_cases, group_cases, position_cases, norm_cases, product_cases,
                                      window_cases, rest_cases, state_cases, newer_cases, plugin_cases, channels_last_cases)
                    for case in some()], Case.name)
    tap = Tap(len(cases) + 2 * (not sys.argv[1:]))
    for case, (lines, run) in in_threads(check, cases):
        tap.result(case.name() + ("" if run else ", compared with its documentation: no CPU kernel"), lines)
    if not sys.argv[1:]:
        tap.result("the table has every operator of the runtime, and every com.microsoft operator has a case",
                   table_lines({case.op for case in cases}), most=len(cases))
        tap.result("the attribute table has all kinds that the packages declare", attribute_lines())
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

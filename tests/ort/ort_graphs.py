#!/usr/bin/env python3
"""Graphs written by ONNX Runtime's tools: compare the shape of every tensor with the runtime's results.

  decoder   a language model like those of the runtime's model builder: GroupQueryAttention with rotary
            embedding and a cache, SkipSimplifiedLayerNormalization, MatMulNBits; symbolic sizes, then given ones
  encoder   a small BERT, fused by onnxruntime.transformers: EmbedLayerNormalization, Attention, BiasGelu ...
  detector  a small convolutional network, saved by the runtime after all optimizations (blocked channels)

The test builds the models, with random weights.  Prints TAP; skips without ONNX Runtime.

    BENANZA=build/benanza tests/ort/ort_graphs.py
"""

import logging
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, dim_options, layers_of, need, program  # noqa: E402
need("onnxruntime", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from ort_common import all_values, real_inputs  # noqa: E402

random = np.random.default_rng(0)


class Builder:
    """Builds a graph node by node."""

    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.kept = [], [], [], []

    def input(self, name, code, shape):
        self.inputs.append(helper.make_tensor_value_info(name, code, shape))
        return name

    def output(self, name, code, shape):
        self.outputs.append(helper.make_tensor_value_info(name, code, shape))

    def weight(self, array):
        name = f"weight_{len(self.kept)}"
        self.kept.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def random(self, *shape):
        return self.weight((random.standard_normal(shape) * 0.1).astype(np.float32))

    def add(self, op, inputs, outputs=1, domain="", **attributes):
        """Adds a node; outputs: their number, or their names ("" = omitted)."""
        if isinstance(outputs, int):
            outputs = [f"{op}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, outputs, f"node_{len(self.nodes)}", domain=domain, **attributes))
        return outputs[0] if len(outputs) == 1 else outputs

    def ms(self, op, inputs, outputs=1, **attributes):
        return self.add(op, inputs, outputs, "com.microsoft", **attributes)

    def model(self, opset=17):
        graph = helper.make_graph(self.nodes, "graph", self.inputs, self.outputs, self.kept)
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def decoder(layers=2, hidden=256, heads=4, kv_heads=2, inner=512, words=320):
    """A language model; the mask is [batch, total] with total = past + sequence."""
    b, size, block = Builder(), hidden // heads, 32
    code = TensorProto.FLOAT
    ids = b.input("input_ids", TensorProto.INT64, ["batch", "sequence"])
    mask = b.input("attention_mask", TensorProto.INT64, ["batch", "total"])

    def product(x, k, n):
        blocks = k // block
        bits = b.weight(random.integers(0, 256, (n, blocks, block // 2), np.uint8))
        scales = b.weight(random.random((n, blocks)).astype(np.float32) * 0.01)
        return b.ms("MatMulNBits", [x, bits, scales], K=k, N=n, bits=4, block_size=block, accuracy_level=4)

    ones = b.weight(np.array([1], np.int64))
    summed = b.add("ReduceSum", [mask, ones], keepdims=0)
    lengths = b.add("Cast", [b.add("Sub", [summed, ones])], to=TensorProto.INT32)
    total = b.add("Gather", [b.add("Shape", [mask]), b.weight(np.array(1, np.int64))], axis=0)
    total = b.add("Cast", [total], to=TensorProto.INT32)
    cosines, sines = b.random(128, size // 2), b.random(128, size // 2)
    x = b.ms("GatherBlockQuantized", [b.weight(random.integers(0, 256, (words, hidden // 2), np.uint8)), ids,
                                      b.random(words, hidden // block)], bits=4, block_size=block)
    normed = b.add("SimplifiedLayerNormalization", [x, b.random(hidden)], axis=-1, epsilon=1e-6)
    for layer in range(layers):
        past = [b.input(f"past_key_values.{layer}.{kind}", code, ["batch", kv_heads, "past", size])
                for kind in ("key", "value")]
        present = [f"present.{layer}.{kind}" for kind in ("key", "value")]
        for name in present:
            b.output(name, code, ["batch", kv_heads, "total", size])
        q, k, v = (product(normed, hidden, n * size) for n in (heads, kv_heads, kv_heads))
        mixed, *_ = b.ms("GroupQueryAttention", [q, k, v, *past, lengths, total, cosines, sines],
                         [f"attention_{layer}", *present], num_heads=heads, kv_num_heads=kv_heads, do_rotary=1)
        mixed = product(mixed, hidden, hidden)
        normed, _, _, x = b.ms("SkipSimplifiedLayerNormalization", [x, mixed, b.random(hidden)],
                               [f"normed_{layer}", "", "", f"sum_{layer}"], epsilon=1e-6)
        gate, up = product(normed, hidden, inner), product(normed, hidden, inner)
        gate = b.add("Mul", [gate, b.add("Sigmoid", [gate])])
        down = product(b.add("Mul", [gate, up]), inner, hidden)
        last = layer == layers - 1
        outputs = [f"normed_after_{layer}", "", "", f"sum_after_{layer}"][:1 if last else 4]
        results = b.ms("SkipSimplifiedLayerNormalization", [x, down, b.random(hidden)], outputs, epsilon=1e-6)
        normed, x = (results, None) if last else (results[0], results[3])
    logits = product(normed, hidden, words)
    b.output("logits", code, ["batch", "sequence", words])
    b.nodes[-1].output[0] = "logits"
    assert logits != "logits"
    return b.model()


def encoder(layers=2, hidden=64, heads=4, words=100):
    """A small BERT as exporters write it, before any fusion."""
    b, size = Builder(), hidden // heads
    ids = b.input("input_ids", TensorProto.INT64, ["batch", "sequence"])
    types = b.input("token_type_ids", TensorProto.INT64, ["batch", "sequence"])
    mask = b.input("attention_mask", TensorProto.INT64, ["batch", "sequence"])

    def ints(*values):
        return b.weight(np.array(values, np.int64))

    def dense(x, k, n):
        return b.add("Add", [b.add("MatMul", [x, b.random(k, n)]), b.random(n)])

    def norm(x):
        return b.add("LayerNormalization", [x, b.random(hidden), b.random(hidden)], axis=-1, epsilon=1e-12)

    wide = b.add("Unsqueeze", [b.add("Unsqueeze", [mask, ints(1)]), ints(2)])
    hole = b.add("Sub", [b.weight(np.array(1, np.float32)), b.add("Cast", [wide], to=TensorProto.FLOAT)])
    hole = b.add("Mul", [hole, b.weight(np.array(-10000, np.float32))])
    length = b.add("Gather", [b.add("Shape", [ids]), b.weight(np.array(1, np.int64))], axis=0)
    places = b.weight(np.arange(48, dtype=np.int64).reshape(1, 48))
    places = b.add("Slice", [places, ints(0), b.add("Unsqueeze", [length, ints(0)]), ints(1)])
    x = b.add("Add", [b.add("Gather", [b.random(words, hidden), ids]), b.add("Gather", [b.random(2, hidden), types])])
    x = norm(b.add("Add", [x, b.add("Gather", [b.random(48, hidden), places])]))

    def split(y, order):
        y = b.add("Reshape", [y, ints(0, 0, heads, size)])
        return b.add("Transpose", [y], perm=order)

    for _ in range(layers):
        q = split(dense(x, hidden, hidden), [0, 2, 1, 3])
        k = split(dense(x, hidden, hidden), [0, 2, 3, 1])
        v = split(dense(x, hidden, hidden), [0, 2, 1, 3])
        scores = b.add("Div", [b.add("MatMul", [q, k]), b.weight(np.array(size ** 0.5, np.float32))])
        weights = b.add("Softmax", [b.add("Add", [scores, hole])], axis=-1)
        mixed = b.add("Transpose", [b.add("MatMul", [weights, v])], perm=[0, 2, 1, 3])
        mixed = b.add("Reshape", [mixed, ints(0, 0, hidden)])
        x = norm(b.add("Add", [dense(mixed, hidden, hidden), x]))
        y = dense(x, hidden, 4 * hidden)
        bent = b.add("Erf", [b.add("Div", [y, b.weight(np.array(2 ** 0.5, np.float32))])])
        bent = b.add("Mul", [y, b.add("Add", [bent, b.weight(np.array(1, np.float32))])])
        bent = b.add("Mul", [bent, b.weight(np.array(0.5, np.float32))])
        x = norm(b.add("Add", [dense(bent, 4 * hidden, hidden), x]))
    b.output(x, TensorProto.FLOAT, ["batch", "sequence", hidden])
    return b.model()


def detector():
    """Convolutions with fusible activations, a residual connection, poolings and a fully connected layer."""
    b = Builder()
    x = b.input("image", TensorProto.FLOAT, ["batch", 3, 32, 32])

    def conv(x, c, k, size, stride=1, group=1):
        pads = 4 * [size // 2]
        weights = [b.random(k, c // group, size, size), b.random(k)]
        return b.add("Conv", [x, *weights], kernel_shape=[size, size], pads=pads, strides=[stride, stride], group=group)

    x = b.add("Relu", [conv(x, 3, 32, 3, 2)])
    x = b.add("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    y = b.add("Clip", [conv(x, 32, 32, 3, group=32), b.weight(np.float32(0)), b.weight(np.float32(6))])
    x = b.add("Relu", [b.add("Add", [conv(y, 32, 32, 1), x])])
    x = b.add("LeakyRelu", [conv(x, 32, 48, 3)], alpha=0.1)
    x = b.add("Flatten", [b.add("GlobalAveragePool", [x])])
    x = b.add("Relu", [b.add("Gemm", [x, b.random(48, 10), b.random(10)])])
    b.output(x, TensorProto.FLOAT, ["batch", 10])
    return b.model(13)


def fused_encoder(folder):
    """(encoder fused by onnxruntime.transformers, None); (None, reason) if it cannot be imported."""
    path = str(folder / "plain.onnx")
    onnx.save(encoder(), path)
    logging.disable(logging.CRITICAL)
    try:
        from onnxruntime.transformers import optimizer
        fused = optimizer.optimize_model(path, model_type="bert", num_heads=4, hidden_size=64, opt_level=0)
    except ImportError as error:
        return None, str(error)
    return fused.model, None


def saved_by_runtime(folder, model):
    """The model after all optimizations; the channel block size is the vector width of this CPU."""
    onnx.save(model, folder / "plain.onnx")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.optimized_model_filepath = str(folder / "saved.onnx")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    onnxruntime.InferenceSession(str(folder / "plain.onnx"), options, providers=["CPUExecutionProvider"])
    return onnx.load(folder / "saved.onnx")


# ---- shapes of the runtime and of benanza

def feeds_for(model, dims):
    feeds = {}
    for value in real_inputs(model.graph):
        tensor = value.type.tensor_type
        shape = [dims.get(d.dim_param, d.dim_value) for d in tensor.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        feeds[value.name] = random.random(shape).astype(dtype) if dtype == np.float32 else np.ones(shape, dtype)
    return feeds


def runtime_shapes(model, dims):
    """Name -> shape of every node output in ONNX Runtime."""
    return {name: list(value.shape) for name, value in all_values(model, feeds_for(model, dims)).items()}


def stripped(model):
    """A copy without value_info, the shapes that the tools stored."""
    bare = onnx.ModelProto.FromString(model.SerializeToString())
    del bare.graph.value_info[:]
    return bare


def layers(folder, model, dims):
    path = folder / "model.onnx"
    onnx.save(model, path)
    return layers_of(path, *dim_options(dims))


def shape_lines(found, real, ops_unsure=()):
    """Lines for tensors with another shape than in the runtime; with `ops_unsure` a size may be unknown."""
    lines = []
    for layer in found:
        for output in layer["outputs"]:
            have, want = output["shape"], real.get(output["name"])
            if want is None:
                continue
            sure = have is not None and len(have) == len(want) and all(
                h == w or (h is None and layer["op"] in ops_unsure) for h, w in zip(have, want))
            if not sure:
                lines.append(f"{layer['op']} {output['name']} is {want}, benanza reports {have}")
    return lines


def known_lines(found, expected_ops, model):
    """Lines for expected operators that the graph lacks, and for layers that are unknown to benanza."""
    ops = {node.op_type for node in model.graph.node}
    lines = [f"the graph has no {op}: {sorted(ops)}" for op in expected_ops if op not in ops]
    return lines + [f"{layer['op']} is unknown to benanza" for layer in found if layer["class"] == "unknown"]


def symbolic_lines(found):
    """Lines for tensors with an unknown dimension, neither a number nor an expression of input sizes."""
    return [f"{layer['op']} {output['name']}: {output['shape']}" for layer in found for output in layer["outputs"]
            if output["shape"] is None or None in output["shape"]]


class Skip(Exception):
    """Skips one check; the argument is the reason."""


DECODER_OPS = ["GroupQueryAttention", "SkipSimplifiedLayerNormalization", "MatMulNBits", "GatherBlockQuantized"]
ENCODER_OPS = ["EmbedLayerNormalization", "Attention", "SkipLayerNormalization", "BiasGelu"]
DETECTOR_OPS = ["Conv", "ReorderOutput", "FusedGemm"]


def checks():
    """(name, function of a folder that returns lines for differences, or raises Skip)."""
    model = decoder()
    for batch, past, sequence in ((2, 0, 7), (2, 7, 1), (1, 7, 3)):
        dims = {"batch": batch, "sequence": sequence, "past": past, "total": past + sequence}

        def bound(folder, dims=dims):
            found = layers(folder, stripped(model), dims)
            return shape_lines(found, runtime_shapes(model, dims)) + known_lines(found, DECODER_OPS, model)
        yield f"decoder, {sequence} tokens after {past}", bound
    yield "decoder, symbolic sizes", lambda folder: symbolic_lines(layers(folder, stripped(model), {}))

    def fused(folder, dims):
        fused_model, why = fused_encoder(folder)
        if why:
            raise Skip(why)
        found = layers(folder, stripped(fused_model), dims)
        lines = known_lines(found, ENCODER_OPS, fused_model)
        return lines + (shape_lines(found, runtime_shapes(fused_model, dims)) if dims else symbolic_lines(found))
    yield "encoder, fused", lambda folder: fused(folder, {"batch": 2, "sequence": 9})
    yield "encoder, fused, symbolic sizes", lambda folder: fused(folder, {})

    def saved(folder, model, dims, expected, unsure=()):
        graph = saved_by_runtime(folder, model)
        found = layers(folder, stripped(graph), dims)
        return shape_lines(found, runtime_shapes(graph, dims), unsure) + known_lines(found, expected, graph)
    yield "encoder, saved by the runtime", lambda folder: saved(
        folder, encoder(), {"batch": 2, "sequence": 9}, ["FusedMatMul", "BiasGelu"])
    yield "detector, saved by the runtime", lambda folder: saved(
        folder, detector(), {"batch": 2}, DETECTOR_OPS, ("ReorderInput", "MaxPool"))


def main():
    program()
    todo = list(checks())
    tap = Tap(len(todo))
    for name, function in todo:
        with tempfile.TemporaryDirectory() as folder:
            try:
                tap.result(name, function(pathlib.Path(folder)))
            except Skip as why:
                tap.skipped(name, why)
            except Exception as error:  # whatever the runtime or the tools throw
                tap.result(name, [f"{type(error).__name__}: {error}"])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

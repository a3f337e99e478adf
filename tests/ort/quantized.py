#!/usr/bin/env python3
"""Check quantized models: made by ONNX Runtime's own quantizer in all its ways, and operators that it has of its own.

Each model runs with every intermediate tensor as an output and no optimization: every shape and type must be the one
that `benanza layers` gives. Of models written as values between conversions (QDQ), every convolution and matrix product
must be one of whole numbers, as many layers must be part of others as the file has conversions between them, and the
operations must be those of the same model written with quantized operators. Prints TAP.

    BENANZA=build/benanza tests/ort/quantized.py [NAME...]
"""

import contextlib
import io
import logging
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, program, said, skip  # noqa: E402

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper, version_converter
    import onnxruntime
    with contextlib.redirect_stdout(io.StringIO()):
        from onnxruntime import quantization
    from ort_common import all_values, light_models
except ImportError as missing:
    skip(f"{missing.name} is not installed")

TYPES = {"float32": "f32", "float16": "f16", "uint8": "u8", "int8": "s8", "uint16": "u16", "int16": "s16",
         "int32": "s32", "int64": "s64", "bool": "bool"}


# ---- what both say

def runtime_values(model, feeds):
    """Shape and type of every node's output as ONNX Runtime makes it."""
    return {name: (TYPES[str(value.dtype)], list(value.shape)) for name, value in all_values(model, feeds).items()}


def benanza_listing(path):
    return said("layers", "--json", path)


def differences(real, listing):
    given = {value["name"]: (value["dtype"], value["shape"]) for layer in listing["layers"]
             for value in layer["outputs"]}
    return [f"{name}: really {value}, here {given.get(name)}" for name, value in real.items()
            if given.get(name) != value]


# ---- models

def filled(path):
    """A light model with random weights where it has them made by ConstantOfShape: a quantizer wants to see them."""
    model = onnx.load(path)
    generator = np.random.default_rng(0)
    shapes = {t.name: numpy_helper.to_array(t).tolist() for t in model.graph.initializer}
    for node in [node for node in model.graph.node if node.op_type == "ConstantOfShape"]:
        # variances are positive
        spread = np.abs if len(shapes[node.input[0]]) == 1 else np.asarray
        weights = spread(generator.standard_normal(shapes[node.input[0]]) * 0.05).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(weights, node.output[0]))
        model.graph.node.remove(node)
    model.ir_version = 8
    names = {t.name for t in model.graph.initializer}
    for value in [value for value in model.graph.input if value.name in names]:
        model.graph.input.remove(value)
    model = version_converter.convert_version(model, 13)
    for node in model.graph.node:
        if node.op_type == "Sum" and len(node.input) == 2:
            node.op_type = "Add"  # which the quantizer knows
    # The quantizer's own advice: batch normalizations go into the convolutions first.
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 4
    with tempfile.TemporaryDirectory() as place:
        options.optimized_model_filepath = str(pathlib.Path(place) / "optimized.onnx")
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return onnx.load(options.optimized_model_filepath)


def small():
    """A net with everything that the quantizer knows, in the orders that it knows."""
    generator = np.random.default_rng(0)
    weights, nodes = [], []

    def constant(name, *shape, value=None):
        data = generator.standard_normal(shape) * 0.1 if value is None else value
        weights.append(numpy_helper.from_array(np.asarray(data, np.float32), name))
        return name

    def node(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    x = node("Conv", ["x", constant("w0", 16, 3, 3, 3), constant("b0", 16)], "c0", pads=[1, 1, 1, 1], strides=[2, 2])
    x = node("Relu", [x], "r0")
    y = node("Conv", [x, constant("w1", 16, 1, 3, 3), constant("b1", 16)], "c1", pads=[1, 1, 1, 1], group=16)
    y = node("Clip", [y, constant("low", value=0.0), constant("high", value=6.0)], "r1")
    x = node("Add", [x, node("Conv", [y, constant("w2", 16, 16, 1, 1)], "c2")], "a0")
    x = node("MaxPool", [x], "m0", kernel_shape=[2, 2], strides=[2, 2])
    y = node("Sigmoid", [node("Conv", [x, constant("w3", 8, 16, 1, 1), constant("b3", 8)], "c3")], "s3")
    z = node("Conv", [x, constant("w4", 8, 16, 3, 3), constant("b4", 8)], "c4", pads=[1, 1, 1, 1])
    z = node("Mul", [node("LeakyRelu", [z], "l4", alpha=0.1), y], "m4")
    x = node("Concat", [y, z], "cat", axis=1)
    x = node("AveragePool", [x], "p5", kernel_shape=[2, 2], strides=[2, 2])
    x = node("Flatten", [node("GlobalAveragePool", [x], "gap")], "flat")
    x = node("Gemm", [x, constant("w5", 10, 16), constant("b5", 10)], "gemm", transB=1)
    x = node("MatMul", [x, constant("w6", 10, 12)], "mm")
    node("Softmax", [x], "y", axis=-1)
    graph = helper.make_graph(nodes, "small", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 12])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def source_models():
    yield "small", small()
    for path in light_models():
        if path.stem in ("light_squeezenet", "light_shufflenet"):
            yield path.stem, filled(path)


def feeds_of(model):
    names = {t.name for t in model.graph.initializer}
    generator = np.random.default_rng(1)
    return {v.name: generator.random([d.dim_value for d in v.type.tensor_type.shape.dim], np.float32)
            for v in model.graph.input if v.name not in names}


class Reader(quantization.CalibrationDataReader):
    def __init__(self, model):
        self.left = [feeds_of(model)]

    def get_next(self):
        return self.left.pop() if self.left else None


S8, U8 = quantization.QuantType.QInt8, quantization.QuantType.QUInt8
WAYS = {  # name: format, activations, weights, by channel
    "qdq_u8s8": (quantization.QuantFormat.QDQ, U8, S8, True),
    "qdq_s8s8": (quantization.QuantFormat.QDQ, S8, S8, False),
    "qdq_u8u8": (quantization.QuantFormat.QDQ, U8, U8, False),
    "qop_u8s8": (quantization.QuantFormat.QOperator, U8, S8, True),
    "qop_u8u8": (quantization.QuantFormat.QOperator, U8, U8, False),
}


def quantize(model, way, folder):
    source, target = folder / "source.onnx", folder / f"{way}.onnx"
    onnx.save(model, source)
    if way == "dynamic":
        quantization.quantize_dynamic(source, target, weight_type=S8, per_channel=True)
    else:
        form, activations, weights, by_channel = WAYS[way]
        quantization.quantize_static(source, target, Reader(model), quant_format=form, activation_type=activations,
                                     weight_type=weights, per_channel=by_channel)
    return target


# ---- what must hold

PRODUCTS = ("Conv", "MatMul", "Gemm")


def check_products(listing, ends):
    """Each product is one of whole numbers with its factor behind it; what leaves it is as `ends` says."""
    wrong = []
    for layer in listing["layers"]:
        if layer["op"] in PRODUCTS + tuple(f"{p}Integer" for p in PRODUCTS):
            operands = (layer["problem"] or "").split(":")[1:2]
            types = operands[0].split("/")[0].split(",") if operands else []
            whole = len(types) == 3 and {types[0], types[1].removesuffix(".c")} <= {"u8", "s8"}
            if not (whole and types[2] in ends and "/s32" in operands[0] and "+scale:f32.c" in layer["problem"]):
                wrong.append(f"{layer['name']}: {layer['problem']} {layer.get('why', '')}")
    return wrong


def check_conversions(listing):
    """All are part of others but for what quantizes the model's input and dequantizes its output."""
    wrong = []
    made = {value["name"] for layer in listing["layers"] for value in layer["outputs"]}
    read = {value["name"] for layer in listing["layers"] for value in layer["inputs"] if layer["op"] != "Shape"}
    for layer in listing["layers"]:
        if layer["op"] == "QuantizeLinear":
            stays = layer["inputs"][0]["name"] not in made
        elif layer["op"] == "DequantizeLinear":
            stays = layer["outputs"][0]["name"] not in read
        else:
            continue
        if stays != (layer["absorbed_by"] is None) or stays == (layer["class"] == "free"):
            wrong.append(f"{layer['name']}: {layer['class']}, part of {layer['absorbed_by']}")
    return wrong


def bytes_of_convolutions(listing):
    """With scales and zero points: a QLinearConv has them as inputs."""
    return [layer["bytes"] for layer in listing["layers"] if "Conv" in layer["op"]]


def check_model(name, way, model, folder, flops):
    path = quantize(model, way, folder)
    listing = benanza_listing(path)
    wrong = differences(runtime_values(onnx.load(path), feeds_of(model)), listing)
    if way.startswith("qdq"):
        wrong += check_products(listing, ("u8", "s8")) + check_conversions(listing)
    elif way == "dynamic":
        wrong += check_products(listing, ("f32",))
    if way.startswith("q") and name == "small":
        flops.setdefault((name, way[4:]), {})[way] = listing["summary"]["flops"], bytes_of_convolutions(listing)
    kinds = {layer["op"] for layer in listing["layers"] if layer["class"] == "unknown"}
    return wrong + [f"{kind} is not known" for kind in kinds]


# ---- operators of com.microsoft

def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


def operator_cases():
    """Name, operator, inputs (None: omitted), attributes, outputs."""
    generator = np.random.default_rng(2)

    def of(dtype, *shape):
        return generator.integers(0, 50, shape).astype(dtype)

    def values(*shape):
        return generator.standard_normal(shape).astype(np.float32)

    s, z, zs = scalar(0.05), scalar(3, np.uint8), scalar(0, np.int8)
    image = of(np.uint8, 1, 8, 6, 5)
    last = of(np.uint8, 1, 6, 5, 8)
    yield "QLinearAdd", [image, s, z, of(np.uint8, 1, 8, 1, 1), s, z, s, z], {}, 1
    yield "QLinearAdd", [of(np.int8, 4, 3), s, zs, of(np.int8, 3), s, zs, s, zs], {}, 1
    yield "QLinearMul", [of(np.uint8, 4, 1), s, z, of(np.uint8, 3), s, z, s, z], {}, 1
    yield "QLinearAveragePool", [image, s, z, s, z], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}, 1
    yield "QLinearAveragePool", [last, s, z, s, z], {"kernel_shape": [2, 3], "strides": [2, 2], "channels_last": 1}, 1
    yield "QLinearGlobalAveragePool", [image, s, z, s, z], {"channels_last": 0}, 1
    yield "QLinearGlobalAveragePool", [last, s, z, s, z], {"channels_last": 1}, 1
    yield "QLinearConcat", [s, z, image, s, z, of(np.uint8, 1, 3, 6, 5), s, z], {"axis": -3}, 1
    yield "QLinearLeakyRelu", [image, s, z, s, z], {"alpha": 0.1}, 1
    yield "QLinearSigmoid", [of(np.int8, 7), s, zs, s, zs], {}, 1
    yield "QLinearSoftmax", [of(np.uint8, 2, 3, 4), s, z, scalar(1 / 256), scalar(0, np.uint8)], \
        {"axis": -1, "opset": 13}, 1
    yield "QLinearWhere", [of(np.uint8, 2, 1, 4) > 20, of(np.uint8, 3, 1), s, z, of(np.uint8, 4), s, z, s, z], {}, 1
    yield "QGemm", [of(np.uint8, 4, 8), s, z, of(np.int8, 6, 8), s, zs, of(np.int32, 6), s, z], {"transB": 1}, 1
    yield "QGemm", [of(np.uint8, 8, 4), s, z, of(np.int8, 8, 6), s, zs], {"transA": 1, "alpha": 2.0}, 1
    yield "QLinearConv", [last, s, z, of(np.int8, 4, 8, 3, 3), s, zs, s, z, of(np.int32, 4)], \
        {"channels_last": 1, "pads": [1, 0, 1, 0]}, 1
    yield "QLinearConv", [image, s, z, of(np.int8, 4, 4, 3, 3), s, zs, s, z], {"group": 2, "channels_last": 0}, 1
    yield "DynamicQuantizeMatMul", [values(2, 4, 8), of(np.int8, 8, 6), s, zs, values(6)], {}, 1
    yield "MatMulIntegerToFloat", [of(np.uint8, 2, 4, 8), of(np.int8, 8, 6), s, np.full(6, 0.1, np.float32), z], {}, 1
    yield "DynamicQuantizeLSTM", [values(5, 2, 8), of(np.int8, 1, 8, 16), of(np.int8, 1, 4, 16), values(1, 32), None,
                                  None, None, None, np.full(1, 0.1, np.float32), np.zeros(1, np.int8),
                                  np.full(1, 0.1, np.float32), np.zeros(1, np.int8)], {"hidden_size": 4}, 3
    yield "DynamicQuantizeLSTM", [values(5, 2, 8), of(np.int8, 2, 8, 16), of(np.int8, 2, 4, 16), values(2, 32), None,
                                  None, None, None, np.full(2, 0.1, np.float32), np.zeros(2, np.int8),
                                  np.full(2, 0.1, np.float32), np.zeros(2, np.int8)], \
        {"hidden_size": 4, "direction": "bidirectional"}, 3
    yield "QAttention", [of(np.uint8, 2, 5, 8), of(np.int8, 8, 24), values(24), s, s, None, z, zs], {"num_heads": 2}, 1
    yield "QAttention", [of(np.uint8, 2, 3, 8), of(np.int8, 8, 24), values(24), s, s, None, z, zs,
                         values(2, 2, 2, 4, 4)], {"num_heads": 2, "unidirectional": 1}, 2
    yield "QEmbedLayerNormalization", [of(np.int32, 2, 5) % 7, of(np.int32, 2, 5) % 2, of(np.uint8, 7, 8),
                                       of(np.uint8, 6, 8), of(np.uint8, 2, 8), of(np.uint8, 8), of(np.uint8, 8),
                                       np.ones((2, 5), np.int32), s, s, s, s, s, z, z, z, z, z], {}, 2
    yield "QuantizeLinear", [values(4, 6), s, scalar(3, np.uint16)], {}, 1
    yield "QuantizeLinear", [values(4, 6), np.full(6, 0.1, np.float32), np.zeros(6, np.int8)], {"axis": 1}, 1
    yield "DequantizeLinear", [of(np.int16, 4, 6), s, scalar(3, np.int16)], {}, 1


def check_operator(op, inputs, attributes, outputs, folder):
    names = [f"i{k}" if value is not None else "" for k, value in enumerate(inputs)]
    feeds = {name: value for name, value in zip(names, inputs) if name}
    made = [f"o{k}" for k in range(outputs)]
    node = helper.make_node(op, names, made, domain="com.microsoft", **attributes)
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
                      for name, value in feeds.items()], [onnx.ValueInfoProto(name=name) for name in made])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17),
                                                                  helper.make_opsetid("com.microsoft", 1)])
    # What is no tensor of the layer's own is a constant, as exporters have it.
    for name, value in list(feeds.items()):
        if value.ndim == 0 or "uantize" not in op and value.size <= 64 and value.dtype != np.uint8:
            graph_value = next(v for v in model.graph.input if v.name == name)
            model.graph.input.remove(graph_value)
            model.graph.initializer.append(numpy_helper.from_array(feeds.pop(name), name))
    path = folder / "operator.onnx"
    onnx.save(model, path)
    return differences(runtime_values(model, feeds), benanza_listing(path))


# ---- weights alone

def check_weights(dtype, blocked, text, folder):
    """Weights alone stay as they are in the file."""
    generator = np.random.default_rng(3)
    scales = np.full((2, 24) if blocked else (24,), 0.01, np.float32)
    axis = {"axis": 0, "block_size": 32} if blocked else {"axis": 1}
    nodes = [helper.make_node("DequantizeLinear", ["q", "s"], ["w"], **axis), helper.make_node("MatMul", ["x", "w"], ["y"])]
    weights = helper.make_tensor("q", dtype, [64, 24], generator.integers(0, 7, 64 * 24).tolist())
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [5, 64])],
                              [onnx.ValueInfoProto(name="y")], [weights, numpy_helper.from_array(scales, "s")])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
    path = folder / "weights.onnx"
    onnx.save(model, path)
    listing = benanza_listing(path)
    wrong = differences(runtime_values(model, {"x": generator.random((5, 64), np.float32)}), listing)
    weights, product = listing["layers"]
    found = product["problem"], weights["class"], weights["absorbed_by"], listing["summary"]["weight_bytes"]
    stored = 64 * 24 * (1 if text == "s8" else 1 / 2)
    problem = f"matmul:f32,{text}.c,f32/f32:ba1bb1m5n24k64:ta0tb0:b{32 if blocked else 64}z0"
    expected = problem, "free", 1, stored
    return wrong if found == expected else wrong + [f"{found}, not {expected}"]


# ---- all

def checks(folder):
    """(name, words that ask for it, function that gives the lines that are wrong)"""
    flops = {}
    for name, model in source_models():
        for way in [*WAYS, "dynamic"]:
            yield f"{name} {way}", f"{name} {way}", lambda: check_model(name, way, model, folder, flops)
    for (name, _), by_way in flops.items():
        if len(by_way) == 2:
            yield (f"{name}: both ways of writing cost the same", None,
                   lambda: [] if len(set(map(str, by_way.values()))) == 1 else [str(by_way)])
    for op, inputs, attributes, outputs in operator_cases():
        yield f"{op} {attributes}", op, lambda: check_operator(op, inputs, attributes, outputs, folder)
    for name, dtype, blocked, text in (("s4", TensorProto.INT4, True, "s4"), ("u4", TensorProto.UINT4, True, "u4"),
                                       ("s8", TensorProto.INT8, False, "s8")):
        yield f"weights of {name} under values", "weights", lambda: check_weights(dtype, blocked, text, folder)


def main():
    program()
    logging.disable(logging.WARNING)
    onnxruntime.set_default_logger_severity(4)
    tap, asked = Tap(), sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for name, words, check in checks(pathlib.Path(folder)):
            if asked and words and not any(word in words for word in asked):
                continue
            try:
                tap.result(name, check(), most=12)
            except Exception as error:  # whatever a library throws is a failure with its text
                tap.result(name, [f"{type(error).__name__}: {error}"])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

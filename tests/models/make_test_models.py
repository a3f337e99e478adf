#!/usr/bin/env python3
"""Writes the small models of tests/models/ (kept in the repository, so that the suite needs no Python packages)."""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent


def weight(name, *shape):
    """A deterministic weight, small and never constant."""
    count = int(np.prod(shape))
    data = ((np.arange(count) * 7919 % 97) / 97.0 - 0.5).astype(np.float32)
    return numpy_helper.from_array(data.reshape(shape), name)


def save(name, nodes, inputs, outputs, weights, opset=17):
    graph = helper.make_graph(nodes, name, inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="benanza tests")
    model.ir_version = 8
    onnx.save(model, HERE / f"{name}.onnx")


def value(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def tiny():
    """Two branches that meet in a residual Add; folding, fusion, a repeated layer, a Gemm."""
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["c0"], name="stem", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c0", "s", "b", "m", "v"], ["n0"], name="stem_bn"),
        helper.make_node("Relu", ["n0"], ["r0"], name="stem_relu"),
        helper.make_node("Conv", ["r0", "w1"], ["c1"], name="left1", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"], name="left1_relu"),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], name="left2", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["r0", "w3"], ["c3"], name="right", kernel_shape=[1, 1]),
        helper.make_node("Add", ["c2", "c3"], ["a"], name="join"),
        helper.make_node("Relu", ["a"], ["r2"], name="join_relu"),
        helper.make_node("GlobalAveragePool", ["r2"], ["g"], name="pool"),
        helper.make_node("Flatten", ["g"], ["f"], name="flatten"),
        helper.make_node("Gemm", ["f", "w4", "b4"], ["y"], name="fc", transB=1),
    ]
    weights = [weight("w0", 16, 3, 3, 3), weight("w1", 16, 16, 3, 3), weight("w2", 16, 16, 3, 3),
               weight("w3", 16, 16, 1, 1), weight("w4", 10, 16), weight("b4", 10)]
    weights += [weight(n, 16) for n in "sbm"]
    weights.append(numpy_helper.from_array(np.ones(16, np.float32), "v"))
    save("tiny", nodes, [value("x", "batch", 3, 32, 32)], [value("y", "batch", 10)], weights)


def hostile():
    """Names with escape sequences, a NUL-free control character, invalid dim names, an operator nobody knows."""
    nodes = [
        helper.make_node("Relu", ["x"], ["\x1b]0;owned\x07y"], name="\x1b[31mred\x1b[0m\n\tname"),
        helper.make_node("Frobnicate", ["\x1b]0;owned\x07y"], ["z"], name="unknown \u202e op", domain="no.such"),
        helper.make_node("Sigmoid", ["z"], ["out"], name="after"),
    ]
    graph = helper.make_graph(nodes, "host\x1bile", [value("x", 1, 4)], [value("out", 1, 4)])
    graph.value_info.append(value("z", 1, 4))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("no.such", 1)])
    model.ir_version = 8
    onnx.save(model, HERE / "hostile.onnx")


def symbolic():
    """Two dimensions without a value; sequence has no default."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="project"),
        helper.make_node("Softmax", ["h"], ["y"], name="soft", axis=-1),
    ]
    save("symbolic", nodes, [value("x", "batch", "sequence", 32)], [value("y", "batch", "sequence", 16)],
         [weight("w", 32, 16)])


def rows():
    """A first dimension called N; names as long as exporters write them, told apart by their ends."""
    path = "/encoder/encoder.layers/encoder.layers.0/self_attention/self_attention.output_projection"
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name=path + "/MatMul"),
        helper.make_node("Softmax", ["h"], ["y"], name=path + "/Softmax", axis=-1),
    ]
    save("rows", nodes, [value("x", "N", 32)], [value("y", "N", 16)], [weight("w", 32, 16)])


def dense():
    """Products and no convolution; fake_agent.py reports layers of these names."""
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], name="left1"),
        helper.make_node("Relu", ["h"], ["r"], name="left1_relu"),
        helper.make_node("Gemm", ["r", "w2", "b2"], ["y"], name="fc"),
    ]
    weights = [weight("w1", 32, 64), weight("b1", 64), weight("w2", 64, 10), weight("b2", 10)]
    save("dense", nodes, [value("x", "batch", 32)], [value("y", "batch", 10)], weights)


def baked():
    """A Reshape that holds the batch size as a constant."""
    shape = numpy_helper.from_array(np.array([1, 48], np.int64), "shape")
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="act"),
        helper.make_node("Reshape", ["r", "shape"], ["f"], name="flatten_to_one"),
        helper.make_node("Gemm", ["f", "w"], ["y"], name="fc"),
    ]
    save("baked", nodes, [value("x", 1, 3, 4, 4)], [value("y", 1, 8)], [weight("w", 48, 8), shape])


def functions():
    """Operators that the model defines itself, one within another, with bodies and attributes handed through."""
    def reference(node, name, meant, kind):
        node.attribute.append(onnx.AttributeProto(name=name, ref_attr_name=meant, type=kind))
        return node

    sets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    mean, epsilon = helper.make_node("ReduceMean", ["x"], ["m"]), helper.make_node("Constant", [], ["e"])
    norm = helper.make_function(
        "own", "Norm", ["x", "scale"], ["y"],
        [reference(mean, "axes", "axes", onnx.AttributeProto.INTS),
         helper.make_node("Sub", ["x", "m"], ["d"], name="center"),
         reference(epsilon, "value_float", "epsilon", onnx.AttributeProto.FLOAT),
         helper.make_node("Add", ["d", "e"], ["a"]),
         helper.make_node("Mul", ["a", "scale"], ["y"])],
        sets, attributes=["axes"], attribute_protos=[helper.make_attribute("epsilon", 1e-5)])
    branches = {f"{way}_branch": helper.make_graph([helper.make_node(op, ["p"], [way], name=way)], way, [],
                                                   [helper.make_tensor_value_info(way, TensorProto.FLOAT, None)])
                for way, op in (("then", "Relu"), ("else", "Tanh"))}
    block = helper.make_function(
        "own", "Block", ["x", "w", "s", "flag"], ["y"],
        [helper.make_node("Norm", ["x", "s"], ["n"], domain="own", name="norm", axes=[-1]),
         helper.make_node("MatMul", ["n", "w"], ["p"], name="project"),
         helper.make_node("If", ["flag"], ["c"], name="choose", **branches),
         helper.make_node("Add", ["c", "x"], ["y"])], sets)
    nodes = [helper.make_node("Block", ["x", "w", "s", "flag"], ["h"], domain="own", name="block.0"),
             helper.make_node("Block", ["h", "w", "s", "flag"], ["y"], domain="own", name="block.1")]
    flag = helper.make_tensor_value_info("flag", TensorProto.BOOL, [])
    graph = helper.make_graph(nodes, "functions", [value("x", "batch", 8), flag], [value("y", "batch", 8)],
                              [weight("w", 8, 8), weight("s", 8)])
    model = helper.make_model(graph, opset_imports=sets, producer_name="benanza tests", functions=[norm, block])
    model.ir_version = 9
    onnx.checker.check_model(model)
    onnx.save(model, HERE / "functions.onnx")


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for make in (tiny, hostile, symbolic, rows, dense, baked, functions):
        make()

#!/usr/bin/env python3
"""Writes torchvision's ResNet-18 or AlexNet as PyTorch's exporter before 1.13 wrote them: nodes named by
their operator and number in topological order (Conv_0, Relu_1), batch normalization folded.

    tools/make_exported.py resnet18|alexnet FILE.onnx [--batch N] [--quantized] [--nameless] [--weights]

--quantized: ResNet-18 as the pytorch-quantization toolkit exported it, with QuantizeLinear and
DequantizeLinear around each convolution and batch normalization not folded. --nameless leaves nodes without
names: readers number them. Weights stand in FILE.data beside the model; that file is written, with random
numbers, only with --weights: benanza never opens it. Needs the package onnx.
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper

RESNET18 = [(64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)]  # channels, stride
ALEXNET = [(64, 11, 4, 2, True), (192, 5, 1, 2, True), (384, 3, 1, 1, False), (256, 3, 1, 1, False),
           (256, 3, 1, 1, True)]  # channels, kernel, stride, padding, followed by a pooling


class Exported:
    """A graph whose nodes are numbered; methods return the name of the node's output."""

    def __init__(self, named, location, quantized):
        self.named, self.location, self.quantized = named, location, quantized
        self.nodes, self.weights, self.bytes = [], [], 0

    def node(self, op, *inputs, **attributes):
        number = len(self.nodes)
        output = f"{number + 100}"
        name = f"{op}_{number}" if self.named else ""
        self.nodes.append(helper.make_node(op, list(inputs), [output], name=name, **attributes))
        return output

    def weight(self, name, *dims):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims,
                             data_location=TensorProto.EXTERNAL)
        size = 4 * int(np.prod(dims))
        for key, value in (("location", self.location), ("offset", self.bytes), ("length", size)):
            tensor.external_data.add(key=key, value=str(value))
        self.bytes += size
        self.weights.append(tensor)
        return name

    def constant(self, dtype, values, *dims):
        return self.node("Constant", value=helper.make_tensor("", dtype, dims, values))

    def quantize(self, x, w, channels):
        """Both operands, quantized and dequantized: eight nodes."""
        zero = [self.constant(TensorProto.FLOAT, [0.1]), self.constant(TensorProto.INT8, [0])]
        x = self.node("DequantizeLinear", self.node("QuantizeLinear", x, *zero), *zero)
        scale = [self.constant(TensorProto.FLOAT, [0.1] * channels, channels),
                 self.constant(TensorProto.INT8, [0] * channels, channels)]
        self.constant(TensorProto.INT64, [0])
        w = self.node("QuantizeLinear", w, *scale, axis=0)
        return x, self.node("DequantizeLinear", w, *scale, axis=0)

    def normalize(self, x, name, channels):
        return self.node("BatchNormalization", x, *(self.weight(f"{name}.{part}", channels)
                                                    for part in ("weight", "bias", "mean", "var")))

    def conv(self, x, name, out, into, kernel, stride, padding):
        w, shape = self.weight(name + ".weight", out, into, kernel, kernel), {
            "kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [padding] * 4}
        if not self.quantized:
            return self.node("Conv", x, w, self.weight(name + ".bias", out), **shape)
        return self.normalize(self.node("Conv", *self.quantize(x, w, out), **shape), name + ".bn", out)

    def linear(self, x, name, out, into):
        w, b = self.weight(name + ".weight", out, into), self.weight(name + ".bias", out)
        x, w = self.quantize(x, w, out) if self.quantized else (x, w)
        return self.node("Gemm", x, w, b, transB=1)


def resnet18(g, x):
    x = g.node("Relu", g.conv(x, "conv1", 64, 3, 7, 2, 3))
    x = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    into = 64
    for i, (out, stride) in enumerate(RESNET18):
        name = f"layer{i // 2 + 1}.{i % 2}"
        y = g.node("Relu", g.conv(x, name + ".conv1", out, into, 3, stride, 1))
        y = g.conv(y, name + ".conv2", out, out, 3, 1, 1)
        shortcut = x if out == into else g.conv(x, name + ".downsample.0", out, into, 1, stride, 0)
        x = g.node("Relu", g.node("Add", y, shortcut))
        into = out
    return g.linear(g.node("Flatten", g.node("GlobalAveragePool", x), axis=1), "fc", 1000, 512)


def alexnet(g, x):
    into = 3
    for i, (out, kernel, stride, padding, pooled) in enumerate(ALEXNET):
        x = g.node("Relu", g.conv(x, f"features.{i}", out, into, kernel, stride, padding))
        if pooled:
            x = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[0] * 4)
        into = out
    x = g.node("AveragePool", x, kernel_shape=[1, 1], strides=[1, 1])
    x = g.node("Flatten", x, axis=1)
    for i, (out, into) in enumerate(((4096, 9216), (4096, 4096), (1000, 4096))):
        x = g.linear(x, f"classifier.{i}", out, into)
        x = g.node("Relu", x) if i < 2 else x
    return x


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model", choices=("resnet18", "alexnet"))
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--nameless", action="store_true")
    parser.add_argument("--quantized", action="store_true")
    parser.add_argument("--weights", action="store_true")
    o = parser.parse_args()
    data = o.file.with_suffix(".data")
    g = Exported(not o.nameless, data.name, o.quantized)
    output = {"resnet18": resnet18, "alexnet": alexnet}[o.model](g, "input.1")
    image = helper.make_tensor_value_info("input.1", TensorProto.FLOAT, [o.batch, 3, 224, 224])
    classes = helper.make_tensor_value_info(output, TensorProto.FLOAT, [o.batch, 1000])
    graph = helper.make_graph(g.nodes, "torch-jit-export", [image], [classes], initializer=g.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7,
                              producer_name="benanza make_exported")
    onnx.save(model, o.file)
    if o.weights:
        numbers = np.random.default_rng(0).standard_normal(g.bytes // 4, np.float32) * np.float32(0.05)
        data.write_bytes(numbers.tobytes())


if __name__ == "__main__":
    main()

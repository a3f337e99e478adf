#!/usr/bin/env python3
"""Write the bundled models: data/models/NAME.onnx, and NAME.yaml for those with symbolic dimensions.

The models are structure only.  Every graph has the operators, names and shapes
that a PyTorch export of the network has, but each weight is filled by a
ConstantOfShape node, so that a file takes kilobytes.  The value is one over the
weight's fan-in (a mean filter): activations keep their magnitude through the
whole network, and no run produces infinities or denormal numbers.

The output is deterministic: two runs give the same bytes.

    tools/make_models.py [--out DIR] [NAME...]
"""

import argparse
import math
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
PRODUCER = "benanza make_models"
DOC = ("Structure only: the graph of the network with every weight filled with "
       "one value by a ConstantOfShape node. It measures as the network does and predicts nothing.")
FLOAT_LOWEST = float(np.finfo(np.float32).min)
INT64_MAX = np.iinfo(np.int64).max


class Graph:
    """Builds one model.  Methods that add a node return the name of its output."""

    def __init__(self, name):
        self.name = name
        self.inputs, self.outputs = [], []
        self.initializers, self.fills, self.nodes = [], [], []
        self.named = set()      # weights and shared initializers added so far
        self.seen = {}          # node name -> number of nodes with this name, less one

    # Model inputs and outputs.

    def input(self, name, shape, dtype=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, name, shape, dtype=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    # Values known before the run.

    def initializer(self, name, array):
        """A small constant stored in the file, once for each name."""
        if name not in self.named:
            self.named.add(name)
            self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def ints(self, *values):
        """A one-dimensional int64 initializer, shared by everything that needs it."""
        name = "ints_" + "_".join("max" if v == INT64_MAX else str(v) for v in values)
        return self.initializer(name.replace("-", "m"), np.array(values, np.int64))

    def weight(self, name, shape, value):
        """A weight, filled with `value` by a ConstantOfShape node."""
        if name not in self.named:
            self.named.add(name)
            dims = self.initializer(name + ".shape", np.array(shape, np.int64))
            fill = numpy_helper.from_array(np.array([value], np.float32))
            self.fills.append(helper.make_node("ConstantOfShape", [dims], [name], name=name, value=fill))
        return name

    def constant(self, path, value, dtype=np.float32):
        """A scalar Constant node at `path`, as the PyTorch exporter writes it."""
        return self.node("Constant", path, [], value=numpy_helper.from_array(np.array(value, dtype)))

    # Nodes.

    def node(self, op, path, inputs, outputs=1, **attributes):
        """A node named as the exporter does: /path/Op, /path/Op_1; outputs /path/Op_output_0."""
        name = f"{path}/{op}"
        again = self.seen[name] = self.seen.get(name, -1) + 1
        if again:
            name += f"_{again}"
        if isinstance(outputs, int):
            outputs = [f"{name}_output_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, outputs, name=name, **attributes))
        return outputs[0] if len(outputs) == 1 else outputs

    def conv(self, path, x, c, k, r, stride=1, group=1, bias=True):
        """A square convolution from c to k channels, padded to keep the size at stride 1."""
        module = parameter_name(path)
        weight = self.weight(f"{module}.weight", [k, c // group, r, r], group / (c * r * r))
        biases = [self.weight(f"{module}.bias", [k], 0.01)] if bias else []
        return self.node("Conv", path, [x, weight] + biases, dilations=[1, 1], group=group,
                         kernel_shape=[r, r], pads=[r // 2] * 4, strides=[stride, stride])

    def batch_norm(self, path, x, c, scale=1.0):
        module = parameter_name(path)
        parts = [("weight", scale), ("bias", 0.01), ("running_mean", 0.01), ("running_var", 1.0)]
        weights = [self.weight(f"{module}.{part}", [c], value) for part, value in parts]
        return self.node("BatchNormalization", path, [x] + weights, epsilon=1e-5, momentum=0.9)

    def layer_norm(self, path, x, c, epsilon):
        module = parameter_name(path)
        weights = [self.weight(f"{module}.weight", [c], 1.0), self.weight(f"{module}.bias", [c], 0.01)]
        return self.node("LayerNormalization", path, [x] + weights, axis=-1, epsilon=epsilon)

    def relu(self, path, x):
        return self.node("Relu", path, [x])

    def gemm(self, path, x, c, k):
        """torch.nn.Linear on a matrix."""
        module = parameter_name(path)
        weights = [self.weight(f"{module}.weight", [k, c], 1 / c), self.weight(f"{module}.bias", [k], 0.01)]
        return self.node("Gemm", path, [x] + weights, alpha=1.0, beta=1.0, transB=1)

    def linear(self, path, x, c, k):
        """torch.nn.Linear on more than two dimensions: a MatMul and an Add of the bias."""
        module = parameter_name(path)
        y = self.node("MatMul", path, [x, self.weight(f"{module}.weight", [c, k], 1 / c)])
        return self.node("Add", path, [self.weight(f"{module}.bias", [k], 0.01), y])

    def dim(self, path, x, axis):
        """x.size(axis) as a scalar."""
        shape = self.node("Shape", path, [x])
        return self.node("Gather", path, [shape, self.constant(path, axis, np.int64)], axis=0)

    def reshape(self, path, x, sizes):
        """x.view(sizes); a size is a number or the name of a scalar from dim()."""
        parts = []
        for size in sizes:
            known = isinstance(size, int)
            parts.append(self.ints(size) if known else self.node("Unsqueeze", path, [size, self.ints(0)]))
        return self.node("Reshape", path, [x, self.node("Concat", path, parts, axis=0)], allowzero=0)

    def transpose(self, path, x, *perm):
        return self.node("Transpose", path, [x], perm=perm)

    def add(self, path, a, b):
        return self.node("Add", path, [a, b])

    def concat(self, path, parts, axis=1):
        return self.node("Concat", path, parts, axis=axis)

    def max_pool(self, path, x, r, stride, pad, ceil=0):
        return self.node("MaxPool", path, [x], ceil_mode=ceil, kernel_shape=[r, r], pads=[pad] * 4,
                         strides=[stride, stride])

    def rename(self, old, new):
        """Give the last node's output the name of a graph output."""
        assert list(self.nodes[-1].output) == [old]
        self.nodes[-1].output[0] = new

    def model(self):
        graph = helper.make_graph(self.fills + self.nodes, self.name, self.inputs, self.outputs,
                                  self.initializers)
        return helper.make_model(graph, ir_version=IR_VERSION, producer_name=PRODUCER, doc_string=DOC,
                                 opset_imports=[helper.make_opsetid("", OPSET)])


def parameter_name(path):
    """The PyTorch name of the module at an exporter's path.

    Children of a Sequential repeat their parent's name: /layer1/layer1.0/conv1 is layer1.0.conv1.
    """
    parts = []
    for part in path.strip("/").split("/"):
        if parts and part.startswith(parts[-1] + "."):
            parts.pop()
        parts.append(part)
    return ".".join(parts)


def images(g, size, name="input"):
    return g.input(name, ["batch", 3, size, size])


def classifier(g, path, x, c):
    """The usual end of an image classifier: mean of each channel, then 1000 logits."""
    x = g.node("GlobalAveragePool", "/avgpool", [x])
    logits = g.gemm(path, g.node("Flatten", "", [x], axis=1), c, 1000)
    g.rename(logits, g.output("output", ["batch", 1000]))


def resnet50(g):
    """ResNet-50 v1.5: the stride is in the 3x3 convolution, as in torchvision."""
    def bottleneck(path, x, c, width, stride):
        y = g.conv(f"{path}/conv1", x, c, width, 1, bias=False)
        y = g.relu(f"{path}/relu", g.batch_norm(f"{path}/bn1", y, width))
        y = g.conv(f"{path}/conv2", y, width, width, 3, stride, bias=False)
        y = g.relu(f"{path}/relu", g.batch_norm(f"{path}/bn2", y, width))
        y = g.conv(f"{path}/conv3", y, width, 4 * width, 1, bias=False)
        y = g.batch_norm(f"{path}/bn3", y, 4 * width, scale=0.2)
        if c != 4 * width:
            down = f"{path}/downsample/downsample."
            x = g.conv(f"{down}0", x, c, 4 * width, 1, stride, bias=False)
            x = g.batch_norm(f"{down}1", x, 4 * width)
        return g.relu(f"{path}/relu", g.add(path, y, x))

    x = g.conv("/conv1", images(g, 224), 3, 64, 7, 2, bias=False)
    x = g.relu("/relu", g.batch_norm("/bn1", x, 64))
    x = g.max_pool("/maxpool", x, 3, 2, 1)
    c = 64
    for stage, blocks in enumerate([3, 4, 6, 3], 1):
        width = 32 << stage
        for block in range(blocks):
            stride = 2 if stage > 1 and block == 0 else 1
            x = bottleneck(f"/layer{stage}/layer{stage}.{block}", x, c, width, stride)
            c = 4 * width
    classifier(g, "/fc", x, c)


def mobilenet_v2(g):
    def conv_norm_clip(path, x, c, k, r, stride=1, group=1):
        """Convolution, normalization and ReLU6 in a Sequential of their own."""
        module = f"{path}/{path.split('/')[-1]}."
        x = g.conv(f"{module}0", x, c, k, r, stride, group, bias=False)
        x = g.batch_norm(f"{module}1", x, k)
        low, high = g.constant(f"{module}2", 0.0), g.constant(f"{module}2", 6.0)
        return g.node("Clip", f"{module}2", [x, low, high])

    def inverted_residual(path, x, c, k, stride, expand):
        wide, y, child = c * expand, x, 0
        if expand != 1:
            y = conv_norm_clip(f"{path}/conv/conv.0", y, c, wide, 1)
            child = 1
        y = conv_norm_clip(f"{path}/conv/conv.{child}", y, wide, wide, 3, stride, wide)
        y = g.conv(f"{path}/conv/conv.{child + 1}", y, wide, k, 1, bias=False)
        y = g.batch_norm(f"{path}/conv/conv.{child + 2}", y, k, scale=0.5)
        return g.add(path, x, y) if stride == 1 and c == k else y

    x = conv_norm_clip("/features/features.0", images(g, 224), 3, 32, 3, 2)
    c, index = 32, 1
    for expand, k, repeats, first_stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                             (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for repeat in range(repeats):
            stride = first_stride if repeat == 0 else 1
            x = inverted_residual(f"/features/features.{index}", x, c, k, stride, expand)
            c, index = k, index + 1
    x = conv_norm_clip("/features/features.18", x, c, 1280, 1)
    classifier(g, "/classifier/classifier.1", x, 1280)


def googlenet(g):
    """GoogLeNet as in the paper's model: biases and LRN, pools that round up, softmax at the end."""
    def conv(path, x, c, k, r, stride=1):
        return g.relu(path, g.conv(f"{path}/conv", x, c, k, r, stride))

    def lrn(path, x):
        return g.node("LRN", path, [x], alpha=1e-4, beta=0.75, bias=1.0, size=5)

    def inception(path, x, c, k1, k3_reduce, k3, k5_reduce, k5, pool):
        b1 = conv(f"{path}/branch1", x, c, k1, 1)
        b2 = conv(f"{path}/branch2/branch2.0", x, c, k3_reduce, 1)
        b2 = conv(f"{path}/branch2/branch2.1", b2, k3_reduce, k3, 3)
        b3 = conv(f"{path}/branch3/branch3.0", x, c, k5_reduce, 1)
        b3 = conv(f"{path}/branch3/branch3.1", b3, k5_reduce, k5, 5)
        b4 = g.max_pool(f"{path}/branch4/branch4.0", x, 3, 1, 1, ceil=1)
        b4 = conv(f"{path}/branch4/branch4.1", b4, c, pool, 1)
        return g.concat(path, [b1, b2, b3, b4]), k1 + k3 + k5 + pool

    x = conv("/conv1", images(g, 224), 3, 64, 7, 2)
    x = lrn("/norm1", g.max_pool("/maxpool1", x, 3, 2, 0, ceil=1))
    x = conv("/conv3", conv("/conv2", x, 64, 64, 1), 64, 192, 3)
    x = g.max_pool("/maxpool2", lrn("/norm2", x), 3, 2, 0, ceil=1)
    c = 192
    for name, sizes in [("3a", (64, 96, 128, 16, 32, 32)), ("3b", (128, 128, 192, 32, 96, 64)),
                        ("4a", (192, 96, 208, 16, 48, 64)), ("4b", (160, 112, 224, 24, 64, 64)),
                        ("4c", (128, 128, 256, 24, 64, 64)), ("4d", (112, 144, 288, 32, 64, 64)),
                        ("4e", (256, 160, 320, 32, 128, 128)), ("5a", (256, 160, 320, 32, 128, 128)),
                        ("5b", (384, 192, 384, 48, 128, 128))]:
        if name in ("4a", "5a"):
            x = g.max_pool(f"/maxpool{int(name[0]) - 1}", x, 3, 2, 0, ceil=1)
        x, c = inception(f"/inception{name}", x, c, *sizes)
    x = g.node("AveragePool", "/avgpool", [x], kernel_shape=[7, 7], strides=[1, 1])
    x = g.gemm("/fc", g.node("Flatten", "", [x], axis=1), c, 1000)
    x = g.node("Softmax", "", [x], axis=-1)
    g.rename(x, g.output("output", ["batch", 1000]))


def bert_base(g):
    """BERT-base, uncased, without a task's head."""
    layers, hidden, heads, vocabulary, positions = 12, 768, 12, 30522, 512
    epsilon = 1e-12
    ids, mask, types = [g.input(name, ["batch", "sequence"], TensorProto.INT64)
                        for name in ("input_ids", "attention_mask", "token_type_ids")]

    def extended_mask():
        """Attention mask, [batch, 1, 1, sequence]: 0 for visible tokens, the lowest float for others."""
        m = g.node("Unsqueeze", "", [mask, g.ints(1)])
        m = g.node("Unsqueeze", "", [m, g.ints(2)])
        m = g.node("Cast", "", [m], to=TensorProto.FLOAT)
        m = g.node("Sub", "", [g.constant("", 1.0), m])
        return g.node("Mul", "", [m, g.constant("", FLOAT_LOWEST)])

    def embed():
        at = "/embeddings"
        table = g.initializer("embeddings.position_ids", np.arange(positions, dtype=np.int64)[None])
        length = g.node("Unsqueeze", at, [g.dim(at, ids, 1), g.ints(0)])
        where = g.node("Slice", at, [table, g.ints(0), length, g.ints(1), g.ints(1)])
        tables = [("word", vocabulary, ids), ("token_type", 2, types), ("position", positions, where)]
        rows = []
        for name, count, index in tables:
            weight = g.weight(f"embeddings.{name}_embeddings.weight", [count, hidden], 0.02)
            rows.append(g.node("Gather", f"{at}/{name}_embeddings", [weight, index]))
        x = g.add(at, g.add(at, rows[0], rows[1]), rows[2])
        return g.layer_norm(f"{at}/LayerNorm", x, hidden, epsilon)

    def attention(at, x, mask):
        def split_heads(y):
            return g.reshape(at, y, [g.dim(at, y, 0), g.dim(at, y, 1), heads, hidden // heads])

        query = g.linear(f"{at}/query", x, hidden, hidden)
        key = g.transpose(at, split_heads(g.linear(f"{at}/key", x, hidden, hidden)), 0, 2, 3, 1)
        value = g.transpose(at, split_heads(g.linear(f"{at}/value", x, hidden, hidden)), 0, 2, 1, 3)
        query = g.transpose(at, split_heads(query), 0, 2, 1, 3)
        scores = g.node("MatMul", at, [query, key])
        scores = g.node("Div", at, [scores, g.constant(at, math.sqrt(hidden // heads))])
        weights = g.node("Softmax", at, [g.add(at, scores, mask)], axis=-1)
        y = g.transpose(at, g.node("MatMul", at, [weights, value]), 0, 2, 1, 3)
        return g.reshape(at, y, [g.dim(at, y, 0), g.dim(at, y, 1), hidden])

    def gelu(at, x):
        y = g.node("Div", at, [x, g.constant(at, math.sqrt(2))])
        y = g.add(at, g.node("Erf", at, [y]), g.constant(at, 1.0))
        return g.node("Mul", at, [g.node("Mul", at, [x, y]), g.constant(at, 0.5)])

    def output(at, y, x, c):
        """The end of both halves of a layer: project, add the input, normalize."""
        y = g.add(at, g.linear(f"{at}/dense", y, c, hidden), x)
        return g.layer_norm(f"{at}/LayerNorm", y, hidden, epsilon)

    bias = extended_mask()
    x = embed()
    for layer in range(layers):
        at = f"/encoder/layer.{layer}"
        x = output(f"{at}/attention/output", attention(f"{at}/attention/self", x, bias), x, hidden)
        y = g.linear(f"{at}/intermediate/dense", x, hidden, 4 * hidden)
        x = output(f"{at}/output", gelu(f"{at}/intermediate/intermediate_act_fn", y), x, 4 * hidden)
    last = g.output("last_hidden_state", ["batch", "sequence", hidden])
    g.rename(x, last)
    first = g.node("Gather", "/pooler", [last, g.constant("/pooler", 0, np.int64)], axis=1)
    pooled = g.node("Tanh", "/pooler/activation", [g.gemm("/pooler/dense", first, hidden, hidden)])
    g.rename(pooled, g.output("pooler_output", ["batch", hidden]))


def gpt2_small(g):
    """GPT-2 small as a decoder: each run reads the key and value cache and returns it extended."""
    layers, hidden, heads, vocabulary, positions = 12, 768, 12, 50257, 1024
    each, root = hidden // heads, "/transformer"
    ids = g.input("input_ids", ["batch", "sequence"], TensorProto.INT64)
    attention_mask = g.input("attention_mask", ["batch", "total_sequence"], TensorProto.INT64)
    past = [[g.input(f"past_key_values.{layer}.{part}", ["batch", heads, "past_sequence", each])
             for part in ("key", "value")] for layer in range(layers)]
    g.output("logits", ["batch", "sequence", vocabulary])
    present = [[g.output(f"present.{layer}.{part}", ["batch", heads, "total_sequence", each])
                for part in ("key", "value")] for layer in range(layers)]

    def position_range(start, end):
        return g.node("Range", root, [start, end, g.constant(root, 1, np.int64)])

    def embed(where):
        rows = []
        for name, count, index in [("wte", vocabulary, ids), ("wpe", positions, where)]:
            weight = g.weight(f"transformer.{name}.weight", [count, hidden], 1 / hidden)
            rows.append(g.node("Gather", f"{root}/{name}", [weight, index]))
        return g.add(root, *rows)

    def causal_mask(queries, keys):
        """Mask [batch, 1, sequence, total_sequence]: 0 for visible tokens, the lowest float for others."""
        queries = g.node("Unsqueeze", root, [queries, g.ints(1)])
        visible = g.node("Not", root, [g.node("Less", root, [queries, keys])])
        m = g.node("Unsqueeze", root, [attention_mask, g.ints(1, 2)])
        m = g.node("And", root, [g.node("Cast", root, [m], to=TensorProto.BOOL), visible])
        return g.node("Where", root, [m, g.constant(root, 0.0), g.constant(root, FLOAT_LOWEST)])

    def conv1d(at, x, c, k):
        """GPT-2's Conv1D: a Gemm on rows, with a weight that is not transposed."""
        module = parameter_name(at)
        weights = [g.weight(f"{module}.weight", [c, k], 1 / c), g.weight(f"{module}.bias", [k], 0.01)]
        rows = g.node("Reshape", at, [x, g.ints(-1, c)], allowzero=0)
        y = g.node("Gemm", at, [rows] + weights, alpha=1.0, beta=1.0)
        return g.reshape(at, y, [g.dim(at, x, 0), g.dim(at, x, 1), k])

    def attention(at, x, mask, layer):
        qkv = conv1d(f"{at}/c_attn", x, hidden, 3 * hidden)
        qkv = g.node("Split", at, [qkv, g.ints(hidden, hidden, hidden)], 3, axis=2)
        query, key, value = [
            g.transpose(at, g.reshape(at, y, [g.dim(at, y, 0), g.dim(at, y, 1), heads, each]), 0, 2, 1, 3)
            for y in qkv]
        for part, new in enumerate((key, value)):
            cached = g.concat(at, [past[layer][part], new], axis=2)
            g.rename(cached, present[layer][part])
        key, value = present[layer]
        scores = g.node("MatMul", at, [query, g.transpose(at, key, 0, 1, 3, 2)])
        scores = g.node("Div", at, [scores, g.constant(at, math.sqrt(each))])
        weights = g.node("Softmax", at, [g.add(at, scores, mask)], axis=-1)
        y = g.transpose(at, g.node("MatMul", at, [weights, value]), 0, 2, 1, 3)
        y = g.reshape(at, y, [g.dim(at, y, 0), g.dim(at, y, 1), hidden])
        return conv1d(f"{at}/c_proj", y, hidden, hidden)

    def gelu(at, x):
        """The tanh approximation of GELU as single operators."""
        half = g.node("Mul", at, [x, g.constant(at, 0.5)])
        cube = g.node("Pow", at, [x, g.constant(at, 3.0)])
        y = g.add(at, x, g.node("Mul", at, [cube, g.constant(at, 0.044715)]))
        y = g.node("Tanh", at, [g.node("Mul", at, [y, g.constant(at, math.sqrt(2 / math.pi))])])
        return g.node("Mul", at, [half, g.add(at, y, g.constant(at, 1.0))])

    before = g.dim(root, past[0][0], 2)
    total = g.add(root, before, g.dim(root, ids, 1))
    queries = position_range(before, total)
    x = embed(g.node("Unsqueeze", root, [queries, g.ints(0)]))
    mask = causal_mask(queries, position_range(g.constant(root, 0, np.int64), total))
    for layer in range(layers):
        at = f"{root}/h.{layer}"
        y = g.layer_norm(f"{at}/ln_1", x, hidden, 1e-5)
        x = g.add(at, attention(f"{at}/attn", y, mask, layer), x)
        y = conv1d(f"{at}/mlp/c_fc", g.layer_norm(f"{at}/ln_2", x, hidden, 1e-5), hidden, 4 * hidden)
        x = g.add(at, x, conv1d(f"{at}/mlp/c_proj", gelu(f"{at}/mlp/act", y), 4 * hidden, hidden))
    x = g.layer_norm(f"{root}/ln_f", x, hidden, 1e-5)
    head = g.transpose("/lm_head", "transformer.wte.weight", 1, 0)
    g.rename(g.node("MatMul", "/lm_head", [x, head]), "logits")


def yolov8n(g):
    """A detector like YOLOv8n: 80 classes, normalizations already folded into the convolutions."""
    classes, bins = 80, 16

    def conv(at, x, c, k, r=1, stride=1):
        """Convolution and SiLU, written as a Sigmoid and a Mul."""
        x = g.conv(f"{at}/conv", x, c, k, r, stride)
        return g.node("Mul", f"{at}/act", [x, g.node("Sigmoid", f"{at}/act", [x])])

    def c2f(at, x, c, k, repeats, shortcut):
        half = k // 2
        y = conv(f"{at}/cv1", x, c, k)
        parts = g.node("Split", at, [y, g.ints(half, half)], 2, axis=1)
        for i in range(repeats):
            m = f"{at}/m.{i}"
            y = conv(f"{m}/cv2", conv(f"{m}/cv1", parts[-1], half, half, 3), half, half, 3)
            parts.append(g.add(m, parts[-1], y) if shortcut else y)
        return conv(f"{at}/cv2", g.concat(at, parts), half * len(parts), k)

    def sppf(at, x, c):
        pools = [conv(f"{at}/cv1", x, c, c // 2)]
        for _ in range(3):
            pools.append(g.max_pool(f"{at}/m", pools[-1], 5, 1, 2))
        return conv(f"{at}/cv2", g.concat(at, pools), 2 * c, c)

    def upsample(at, x):
        scales = g.initializer(f"{parameter_name(at)}.scales", np.array([1, 1, 2, 2], np.float32))
        return g.node("Resize", at, [x, "", scales], coordinate_transformation_mode="asymmetric",
                      cubic_coeff_a=-0.75, mode="nearest", nearest_mode="floor")

    def box_distances(at, box):
        """Distribution focal loss: the mean of a distribution over bins, for each of four sides."""
        batch, anchors = g.dim(at, box, 0), g.dim(at, box, 2)
        y = g.transpose(at, g.reshape(at, box, [batch, 4, bins, anchors]), 0, 2, 1, 3)
        y = g.node("Softmax", at, [y], axis=1)
        weight = g.initializer(f"{parameter_name(at)}.conv.weight",
                               np.arange(bins, dtype=np.float32).reshape(1, bins, 1, 1))
        y = g.node("Conv", f"{at}/conv", [y, weight], dilations=[1, 1], group=1, kernel_shape=[1, 1],
                   pads=[0] * 4, strides=[1, 1])
        return g.reshape(at, y, [batch, 4, anchors])

    def decode(at, distances):
        """Convert distances to the left, top, right and bottom into centre and size, in pixels."""
        points, strides = anchor_points(640, (8, 16, 32))
        points = g.initializer(f"{parameter_name(at)}.anchors", points)
        strides = g.initializer(f"{parameter_name(at)}.strides", strides)
        # chunk(2, 1), as the exporter writes it.
        half = g.add(at, g.dim(at, distances, 1), g.constant(at, 1, np.int64))
        half = g.node("Div", at, [half, g.constant(at, 2, np.int64)])
        ends = [g.node("Unsqueeze", at, [g.node("Mul", at, [half, g.constant(at, i, np.int64)]), g.ints(0)])
                for i in (1, 2)]
        low = g.node("Slice", at, [distances, g.ints(0), ends[0], g.ints(1)])
        high = g.node("Slice", at, [distances, ends[0], ends[1], g.ints(1)])
        low, high = g.node("Sub", at, [points, low]), g.add(at, points, high)
        centre = g.node("Div", at, [g.add(at, low, high), g.constant(at, 2.0)])
        size = g.node("Sub", at, [high, low])
        return g.node("Mul", at, [g.concat(at, [centre, size]), strides])

    def detect(at, levels):
        box_width, class_width = 64, 80
        rows = []
        for i, (x, c) in enumerate(levels):
            towers = []
            for name, width, k in [("cv2", box_width, 4 * bins), ("cv3", class_width, classes)]:
                path = f"{at}/{name}.{i}/{name}.{i}."
                y = conv(f"{path}1", conv(f"{path}0", x, c, width, 3), width, width, 3)
                towers.append(g.conv(f"{path}2", y, width, k, 1))
            y = g.concat(at, towers)
            rows.append(g.reshape(at, y, [g.dim(at, y, 0), 4 * bins + classes, -1]))
        box, scores = g.node("Split", at, [g.concat(at, rows, axis=2), g.ints(4 * bins, classes)], 2, axis=1)
        box = decode(at, box_distances(f"{at}/dfl", box))
        return g.concat(at, [box, g.node("Sigmoid", at, [scores])])

    x = conv("/model.0", images(g, 640, "images"), 3, 16, 3, 2)
    x = c2f("/model.2", conv("/model.1", x, 16, 32, 3, 2), 32, 32, 1, True)
    p3 = c2f("/model.4", conv("/model.3", x, 32, 64, 3, 2), 64, 64, 2, True)
    p4 = c2f("/model.6", conv("/model.5", p3, 64, 128, 3, 2), 128, 128, 2, True)
    x = c2f("/model.8", conv("/model.7", p4, 128, 256, 3, 2), 256, 256, 1, True)
    p5 = sppf("/model.9", x, 256)
    x = g.concat("/model.11", [upsample("/model.10", p5), p4])
    n4 = c2f("/model.12", x, 384, 128, 1, False)
    x = g.concat("/model.14", [upsample("/model.13", n4), p3])
    n3 = c2f("/model.15", x, 192, 64, 1, False)
    x = g.concat("/model.17", [conv("/model.16", n3, 64, 64, 3, 2), n4])
    n4 = c2f("/model.18", x, 192, 128, 1, False)
    x = g.concat("/model.20", [conv("/model.19", n4, 128, 128, 3, 2), p5])
    n5 = c2f("/model.21", x, 384, 256, 1, False)
    x = detect("/model.22", [(n3, 64), (n4, 128), (n5, 256)])
    g.rename(x, g.output("output0", ["batch", 4 + classes, 8400]))


def anchor_points(size, strides):
    """The centres of all cells of all levels, [1, 2, n] in cells, and their strides, [1, n]."""
    points, widths = [], []
    for stride in strides:
        centres = np.arange(size // stride, dtype=np.float32) + 0.5
        y, x = np.meshgrid(centres, centres, indexing="ij")
        points.append(np.stack([x.ravel(), y.ravel()]))
        widths.append(np.full(x.size, stride, np.float32))
    return np.concatenate(points, axis=1)[None], np.concatenate(widths)[None]


# Each model with the default sizes of its symbolic dimensions beside the batch, for its sidecar.
MODELS = {
    resnet50: {},
    mobilenet_v2: {},
    googlenet: {},
    bert_base: {"batch": 1, "sequence": 128},
    gpt2_small: {"batch": 1, "sequence": 1, "past_sequence": 128, "total_sequence": 129},
    yolov8n: {},
}


def build(make):
    """Build the named model with one of the functions above."""
    g = Graph(make.__name__)
    make(g)
    return g.model()


def sidecar(dims):
    lines = ["# Default sizes of the model's symbolic dimensions.", "dims:"]
    return "\n".join(lines + [f"    {name}: {value}" for name, value in dims.items()]) + "\n"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description="Write the bundled models.")
    parser.add_argument("--out", type=pathlib.Path, default=root / "data" / "models", metavar="DIR")
    parser.add_argument("names", nargs="*", metavar="NAME", help="models to write (default: all)")
    arguments = parser.parse_args()
    known = {make.__name__: make for make in MODELS}
    for name in arguments.names:
        if name not in known:
            parser.error(f"no model '{name}'; there are {', '.join(known)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or known:
        model = build(known[name])
        onnx.checker.check_model(model, full_check=True)
        data = model.SerializeToString(deterministic=True)
        (arguments.out / f"{name}.onnx").write_bytes(data)
        if MODELS[known[name]]:
            (arguments.out / f"{name}.yaml").write_text(sidecar(MODELS[known[name]]))
        print(f"{name}.onnx: {len(model.graph.node)} nodes, {len(data)} bytes")


if __name__ == "__main__":
    main()

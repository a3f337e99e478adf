"""Small graphs with the onnx package, as exporters write them; the problems that benanza would measure."""

import json
import subprocess
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from python_tap import program, terminal_environment


class Graph:
    """Nodes in order; each method returns the name of the value that it makes."""

    def __init__(self):
        self.nodes, self.inits, self.inputs, self.outputs = [], [], [], []

    def input(self, name, *shape, dtype=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def const(self, value, dtype="float32"):
        name = f"c{len(self.inits)}"
        self.inits.append(numpy_helper.from_array(numpy.asarray(value, dtype), name))
        return name

    def node(self, op, *inputs, **attributes):
        name = f"{op}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def ints(self, *values):
        return self.const(values, "int64")

    def output(self, name, dtype=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, dtype, None))

    def save(self, path, opset):
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.inits)
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        onnx.save(model, path)


def jobs(path):
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run([program(), "bench", "--emit-jobs", "-q", "-w", "fusion", path], check=True,
                              capture_output=True, text=True, env=terminal_environment(home))
    return [json.loads(line)["problem"] for line in done.stdout.splitlines()]

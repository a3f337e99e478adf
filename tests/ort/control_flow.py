#!/usr/bin/env python3
"""Check models with If, Loop, Scan, sequences: shapes against what ONNX Runtime makes.

Forms that exporters write: a recurrent cell in a Loop with its length from Shape, a branch around a Squeeze, a picture
halved while it is large, a cache that grows, loops in loops in a branch, sequences cut, mapped and put together. What is
known must be what ONNX Runtime makes; unknown is allowed only where a model's row says so. measured.py has the bound of
the Loop of ten rounds. Prints TAP.

    BENANZA=build/benanza tests/ort/control_flow.py
"""

import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, layers_of, need, program  # noqa: E402
need("onnxruntime", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from ort_common import session  # noqa: E402

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
NODE = helper.make_node


def value(name, code=F, shape=None):
    return helper.make_tensor_value_info(name, code, shape)


def graph(nodes, inputs, outputs):
    """A body; what is not said to be otherwise is a float of any shape."""
    def make(given):
        return given if isinstance(given, onnx.ValueInfoProto) else value(given)
    return helper.make_graph(nodes, "body", [make(i) for i in inputs], [make(o) for o in outputs])


def body(nodes, carried, results):
    """Of a Loop that never ends by itself."""
    return graph(nodes + [NODE("Identity", ["go"], ["going"])], [value("i", I, []), value("go", B, []), *carried],
                 [value("going", B, []), *results])


def ints(**constants):
    return [numpy_helper.from_array(np.array(v, np.int64), name) for name, v in constants.items()]


def zeros(**constants):
    return [numpy_helper.from_array(np.zeros(shape, np.float32), name) for name, shape in constants.items()]


X = value("x", F, [2, 5, 8])


def recurrent():
    cell = body([NODE("Gather", ["x", "i"], ["step"], axis=1), NODE("Concat", ["step", "h"], ["both"], axis=-1),
                 NODE("MatMul", ["both", "w"], ["sum"]), NODE("Tanh", ["sum"], ["next"]),
                 NODE("Identity", ["next"], ["shown"])], ["h"], ["next", "shown"])
    return [NODE("Shape", ["x"], ["shape"]), NODE("Gather", ["shape", "one"], ["steps"]),
            NODE("Loop", ["steps", "", "h0"], ["last", "all"], body=cell),
            NODE("Transpose", ["all"], ["y"], perm=[1, 0, 2])], [X], ["last", "y"], ints(one=1) + zeros(
                h0=(2, 4), w=(12, 4)), {"Loop": 5}


def squeezed():
    branches = {"then_branch": graph([NODE("Squeeze", ["x", "axes"], ["a"])], [], ["a"]),
                "else_branch": graph([NODE("Identity", ["x"], ["b"])], [], ["b"])}
    return [NODE("Shape", ["x"], ["shape"]), NODE("Gather", ["shape", "one"], ["size"]),
            NODE("Equal", ["size", "one"], ["is_one"]), NODE("If", ["is_one"], ["y"], **branches)], [
                value("x", F, [2, 1, 8])], ["y"], ints(axes=[1], one=1), {}


def halved():
    half = graph([NODE("MaxPool", ["v"], ["next"], kernel_shape=[2, 2], strides=[2, 2]),
                  NODE("Shape", ["next"], ["shape"]), NODE("Gather", ["shape", "two"], ["size"]),
                  NODE("Greater", ["size", "one"], ["more"])],
                 [value("i", I, []), value("go", B, []), "v"], [value("more", B, []), "next"])
    return [NODE("Loop", ["", "", "x"], ["y"], body=half)], [value("x", F, [1, 3, 32, 32])], ["y"], ints(
        two=2, one=1), {"Loop": 5}


def cached():
    step = body([NODE("Concat", ["k", "x"], ["next"], axis=1), NODE("ReduceSum", ["next"], ["sum"], keepdims=0)],
                ["k"], ["next", "sum"])
    return [NODE("Loop", ["six", "", "x"], ["y", "sums"], body=step)], [X], ["y", "sums"], ints(six=6), {"Loop": 6}


def nested():
    inner = graph([NODE("Add", ["u", "x"], ["more"]), NODE("Identity", ["go2"], ["going2"])],
                  [value("j", I, []), value("go2", B, []), "u"], [value("going2", B, []), "more"])
    outer = body([NODE("Loop", ["three", "", "v"], ["next"], body=inner),
                  NODE("ReduceMean", ["next"], ["mean"], axes=[1, 2], keepdims=0)], ["v"], ["next", "mean"])
    branches = {"then_branch": graph([NODE("Loop", ["four", "", "x"], ["a", "am"], body=outer)], [], ["a", "am"]),
                "else_branch": graph([NODE("Identity", ["x"], ["b"]),
                                      NODE("ReduceMean", ["x"], ["bm"], axes=[1], keepdims=0)], [], ["b", "bm"])}
    return [NODE("If", ["flag"], ["y", "means"], **branches)], [X, value("flag", B, [])], ["y", "means"], ints(
        three=3, four=4), {"unknown": "means", "If": None}


def sequences():
    pointwise = graph([NODE("Relu", ["part"], ["shown"])], ["part"], ["shown"])
    return [NODE("SplitToSequence", ["x", "sizes"], ["parts"], axis=1),
            NODE("SequenceMap", ["parts"], ["mapped"], body=pointwise),
            NODE("SequenceErase", ["mapped", "zero"], ["rest"]),
            NODE("ConcatFromSequence", ["rest"], ["y"], axis=1), NODE("SequenceAt", ["rest", "zero"], ["first"]),
            NODE("SequenceLength", ["rest"], ["n"])], [X], ["y", "first", "n"], ints(
                sizes=[1, 2, 2], zero=0), {"SequenceMap": 3}


def scanned():
    cell = graph([NODE("MatMul", ["e", "w"], ["p"]), NODE("Add", ["p", "s"], ["next"]),
                  NODE("Identity", ["next"], ["shown"])], [value("s", F, [2, 4]), value("e", F, [2, 8])],
                 [value("next", F, [2, 4]), value("shown", F, [2, 4])])
    return [NODE("Scan", ["h0", "x"], ["last", "y"], body=cell, num_scan_inputs=1, scan_input_axes=[1],
                 scan_output_axes=[1], scan_input_directions=[1])], [X], ["last", "y"], zeros(
                     h0=(2, 4), w=(8, 4)), {"Scan": 5}


def measured():
    step = body([NODE("MatMul", ["v", "w"], ["m"]), NODE("Relu", ["m"], ["next"])], ["v"], ["next"])
    return [NODE("Loop", ["ten", "", "x"], ["y"], body=step)], [X], ["y"], ints(ten=10) + zeros(
        w=(8, 8)), {"Loop": 10}


def write(folder, form):
    nodes, inputs, outputs, constants, facts = form()
    codes = {"n": I}
    main = helper.make_graph(nodes, form.__name__, inputs, [value(o, codes.get(o, F)) for o in outputs], constants)
    model = helper.make_model(main, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path = os.path.join(folder, form.__name__ + ".onnx")
    pathlib.Path(path).write_bytes(model.SerializeToString())
    feeds = {i.name: np.zeros([d.dim_value for d in i.type.tensor_type.shape.dim], np.float32 if
                              i.type.tensor_type.elem_type == F else bool) for i in inputs}
    return path, outputs, feeds, facts


def check_shapes(folder, form):
    path, outputs, feeds, facts = write(folder, form)
    real = dict(zip(outputs, session(path, optimize=True).run(outputs, feeds)))
    layers = layers_of(path)
    got = {o["name"]: o["shape"] for layer in layers for o in layer["outputs"]}
    bad = []
    for name, array in real.items():
        have, allowed = got[name], facts.get("unknown") == name
        same = have is not None and len(have) == array.ndim and all(
            h == s or (h is None and allowed) for h, s in zip(have, array.shape))
        if not same and not (allowed and have is None):
            bad.append(f"{name} is {list(array.shape)}, here {have}")
    times = {layer["op"]: layer["times"] for layer in layers if "times" in layer}
    for op, count in facts.items():
        if op == "unknown":
            continue
        rounds = times.get(op, [-1])
        if rounds != [None, None] if count is None else sum(t or 0 for t in rounds) != count:
            bad.append(f"{op} runs {count} times, here {times.get(op)}")
    return bad


def main():
    program()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        for form in (recurrent, squeezed, halved, cached, nested, sequences, scanned, measured):
            tap.result(f"{form.__name__}: shapes and rounds", check_shapes(folder, form))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Inputs of a wrong type: `benanza layers` warns if, and only if, ONNX Runtime refuses the model of one node.

Prints TAP; skips without ONNX Runtime.

    BENANZA=build/benanza tests/ort/ort_types.py [WORD...]
"""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, in_threads, need, program, said, wanted  # noqa: E402
need("onnxruntime", "onnx")
import onnx  # noqa: E402
from onnx import TensorProto as T, helper  # noqa: E402
from ort_common import session  # noqa: E402

F32, F16, S64, S32, BOOL, U8, F64 = T.FLOAT, T.FLOAT16, T.INT64, T.INT32, T.BOOL, T.UINT8, T.DOUBLE

# operator, opset, (type, shape) of each input, attributes
CASES = [
    ("Add", 17, [(F32, [2, 4]), (F32, [4])], {}),
    ("Add", 17, [(F32, [2, 4]), (S64, [4])], {}),
    ("Add", 6, [(BOOL, [2, 4]), (BOOL, [2, 4])], {}),
    ("MatMul", 13, [(F32, [2, 4]), (F32, [4, 3])], {}),
    ("MatMul", 13, [(F32, [2, 4]), (F16, [4, 3])], {}),
    ("MatMul", 13, [(BOOL, [2, 4]), (BOOL, [4, 3])], {}),
    ("Relu", 14, [(S32, [4])], {}),
    ("Relu", 13, [(S32, [4])], {}),
    ("Relu", 6, [(BOOL, [4])], {}),
    ("Concat", 13, [(F32, [2]), (F32, [3]), (F32, [1])], {"axis": 0}),
    ("Concat", 13, [(F32, [2]), (F32, [3]), (S64, [1])], {"axis": 0}),
    ("Gather", 13, [(F32, [5, 4]), (S64, [3])], {}),
    ("Gather", 13, [(F32, [5, 4]), (F32, [3])], {}),
    ("Where", 9, [(BOOL, [4]), (F32, [4]), (F32, [4])], {}),
    ("Where", 9, [(F32, [4]), (F32, [4]), (F32, [4])], {}),
    ("And", 7, [(BOOL, [4]), (S32, [4])], {}),
    ("Softmax", 13, [(S64, [2, 4])], {}),
    ("Conv", 11, [(F32, [1, 3, 8, 8]), (F64, [4, 3, 3, 3])], {}),
    ("Reshape", 13, [(F32, [2, 4]), (S64, [1])], {}),
    ("Reshape", 13, [(F32, [2, 4]), (S32, [1])], {}),
    ("LayerNormalization", 17, [(F32, [2, 4]), (F16, [4])], {}),
    ("LayerNormalization", 11, [(F32, [2, 4]), (F16, [4])], {}),
    ("QLinearMatMul", 10, [(U8, [2, 4]), (F32, []), (U8, []), (U8, [4, 3]), (F32, []), (U8, []), (F32, []), (U8, [])], {}),
    ("QLinearMatMul", 10, [(U8, [2, 4]), (F32, []), (U8, []), (U8, [4, 3]), (F32, []), (U8, []), (S32, []), (U8, [])], {}),
    ("If", 13, [(S64, [])], {}),
    ("com.microsoft.FastGelu", 17, [(F32, [2, 4]), (F32, [4])], {}),
    ("com.microsoft.FastGelu", 17, [(F32, [2, 4]), (F16, [4])], {}),
    ("com.microsoft.FastGelu", 17, [(S64, [2, 4])], {}),
]


def name_of(case):
    op, opset, inputs, _ = case
    return f"{op} of opset {opset}: {', '.join(T.DataType.Name(t).lower() for t, _ in inputs)}"


def branch(value):
    return helper.make_graph([helper.make_node("Constant", [], ["y"], value_float=value)], "branch", [],
                             [helper.make_tensor_value_info("y", F32, [])])


def model_of(case):
    op, opset, inputs, attributes = case
    domain, _, name = op.rpartition(".")
    if name == "If":
        attributes = {"then_branch": branch(1.0), "else_branch": branch(2.0)}
    names = [f"x{i}" for i in range(len(inputs))]
    node = helper.make_node(name, names, ["y"], domain=domain, **attributes)
    graph = helper.make_graph([node], "one", [helper.make_tensor_value_info(n, t, s) for n, (t, s) in zip(names, inputs)],
                              [onnx.ValueInfoProto(name="y")])
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(domain, 1)] * bool(domain)
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def check(case, path):
    model = model_of(case)
    path.write_bytes(model.SerializeToString())
    refused = ""
    try:
        session(model, optimize=False)
    except Exception as error:  # whatever the runtime throws
        refused = " ".join(str(error).split())
    mistyped = "Type Error" in refused or "is invalid" in refused or "bound to different types" in refused
    warnings = said("layers", "--json", path)["warnings"]
    if any("ONNX Runtime refuses the model" in line for line in warnings) == mistyped:
        return []
    return [f"ONNX Runtime: {refused or 'no error'}", f"benanza: {warnings or 'no warning'}"]


def main():
    program()
    cases = wanted(CASES, name_of)
    tap = Tap(len(cases))
    for case, lines in in_threads(check, cases):
        tap.result(name_of(case), lines)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

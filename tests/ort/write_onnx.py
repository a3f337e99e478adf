#!/usr/bin/env python3
"""Check layers that benanza writes as models: onnx accepts them, ONNX Runtime runs them, and their problems are the same.

Every distinct layer of the bundled models and of the light models of the onnx package, and runs of several layers; weights by
ConstantOfShape or random. tests/unit/write_layers writes the files and compares the problems. Prints TAP.

    builddir=build tests/ort/write_onnx.py
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import BUILD, ROOT, TIME_LIMIT_S, Tap, skip  # noqa: E402

try:
    import numpy as np
    import onnx
    from ort_common import bundled_models, light_models, real_inputs, session
except ImportError as missing:
    skip(f"{missing.name} is not installed")

PROGRAM = BUILD / "tests" / "unit" / "write_layers"


def sizes(value):
    """The declared dimensions; None if one is not a number."""
    dims = value.type.tensor_type.shape.dim
    return [dim.dim_value for dim in dims] if all(dim.HasField("dim_value") for dim in dims) else None


def contents(value, generator):
    """Of an input: floats in [0.1, 1); integers are 0, as they may be indexes."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    shape = sizes(value) or []
    if np.issubdtype(dtype, np.floating):
        return generator.uniform(0.1, 1, shape).astype(dtype)
    return np.zeros(shape, dtype)


def fault(path):
    """What is wrong with a file; None: nothing."""
    try:
        model = onnx.load(path)
        onnx.checker.check_model(model, full_check=True)
        generator = np.random.default_rng(1)
        feeds = {value.name: contents(value, generator) for value in real_inputs(model.graph)}
        for value, got in zip(model.graph.output, session(path).run(None, feeds)):
            if sizes(value) not in (None, list(got.shape)):
                return f"{value.name} has the shape {list(got.shape)}, not {sizes(value)}"
    except Exception as error:  # whatever a library throws is a failure with its text
        return f"{type(error).__name__}: {error}"[:400]
    return None


def check(tap, model, name, *arguments, sample=1):
    """sample: onnx and ONNX Runtime check one of this number of files."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([PROGRAM, model, folder, *arguments], capture_output=True, text=True, timeout=TIME_LIMIT_S,
                             check=False)
        rows = [line.split("\t") for line in run.stdout.splitlines()]
        wrong = [f"{layer}: {how}" for _, how, layer in rows if how != "ok"]
        tap.result(f"{model.stem}: {len(rows)} {name} are written, and read again with the same problems",
                   wrong or ([] if run.returncode == 0 and rows else [run.stderr or f"exit status {run.returncode}"]))
        faults = ((layer, fault(path)) for path, _, layer in rows[::sample])
        tap.result(f"{model.stem}: they are valid, and ONNX Runtime runs them", [f"{layer}: {why}" for layer, why in faults if why])


IF = """
<ir_version: 8, opset_import: ["" : 16]>
agraph (float[2,3] x, bool flag) => (float[2,3] y, float[2,3] z) <float[2,3] w = {1, 2, 3, 4, 5, 6}>
{
   t = Add(x, w)
   y = If(flag) <then_branch = a_graph () => (float[2,3] o) { o = Mul(t, w) },
                 else_branch = another_graph () => (float[2,3] o) { one = Constant<value = float {1}>() o = Sub(t, one) }>
   z = Neg(t)
}
"""
LOOP = """
<ir_version: 8, opset_import: ["" : 16]>
agraph (float[4] x, bool keep) => (float[4] y)
{
   count = Constant<value = int64 {3}>()
   y = Loop(count, keep, x) <body = rounds (int64 i, bool go, float[4] x) => (bool on, float[4] out)
        { on = Identity(go) out = Add(x, x) }>
}
"""
FUNCTION = """
<ir_version: 8, opset_import: ["" : 16, "own" : 1]>
agraph (float[2,3] x) => (float[2,3] y) { y = own.twice(x) }
<domain: "own", opset_import: ["" : 16]>
twice (x) => (y) { two = Constant<value = float {2}>() y = Mul(x, two) }
"""
TWO_VERSIONS = FUNCTION.replace('<domain: "own", opset_import: ["" : 16]>', '<domain: "own", opset_import: ["" : 13]>').replace(
    "{ y = own.twice(x) }", "{ t = own.twice(x) y = Neg(t) }")
SEQUENCE = """
<ir_version: 8, opset_import: ["" : 16]>
agraph (float[2,3] x) => (float[4,3] y)
{
   s = SequenceConstruct(x, x)
   y = ConcatFromSequence<axis = 0>(s)
}
"""
# How it is written: each layer, or all in one; and what write_layers reports.
SPECIAL = [
    ("bodies of If that capture values", IF, ["filled", "1"], "ok"),
    ("bodies of If in a run of layers", IF, ["filled", "0"], "ok"),
    ("the body of a Loop with a name of the graph around", LOOP, ["filled", "0"], "ok"),
    ("nodes of a function", FUNCTION, ["filled", "0"], "ok"),
    ("nodes of a function, one by one", TWO_VERSIONS, ["filled", "1"], "ok"),
    ("two versions of an operator set", TWO_VERSIONS, ["filled", "0"], "the nodes use versions 13 and 16 of the operator set"),
    ("a sequence inside", SEQUENCE, ["filled", "0"], "ok"),
    ("a sequence at the border", SEQUENCE, ["filled", "1"], "ok"),
]


def check_node_models(tap):
    """Every eighth of the one-node models of the onnx package: attributes and types of all kinds."""
    models = sorted((pathlib.Path(onnx.__file__).parent / "backend/test/data/node").glob("*/model.onnx"))[::8]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            out = subprocess.run([PROGRAM, model, folder, "filled", "0"], capture_output=True, text=True,
                                 timeout=TIME_LIMIT_S, check=False).stdout
            path, how, layer = out.split("\n")[0].split("\t")
            try:
                if how == "ok":
                    onnx.checker.check_model(path)
            except onnx.checker.ValidationError as error:
                how = str(error)
            if how != "ok":
                wrong.append(f"{model.parent.name}: {layer}: {how}")
    tap.result(f"{len(models)} models of one node are written, valid, and read again as the same", wrong or
               ([] if models else ["no models"]))


def check_special(tap, name, text, arguments, expected):
    """Models with what the others lack; those at whose border is a sequence are only checked by onnx."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        onnx.save(onnx.parser.parse_model(text), path)
        rows = [line.split("\t") for line in subprocess.run([PROGRAM, path, folder, *arguments], capture_output=True, text=True,
                                                            timeout=TIME_LIMIT_S, check=False).stdout.splitlines()]
        wrong = [f"{layer}: {how}" for _, how, layer in rows if not how.startswith(expected)] or ([] if rows else ["no file"])
        for file, how, layer in rows:
            border = onnx.load(file).graph if how == "ok" else onnx.GraphProto()
            if any(value.type.HasField("sequence_type") for value in [*border.input, *border.output]):
                onnx.checker.check_model(onnx.load(file), full_check=True)
            elif how == "ok" and (why := fault(file)):
                wrong.append(f"{layer}: {why}")
        tap.result(name, wrong)


def main():
    if not os.access(PROGRAM, os.X_OK):
        skip(f"no program at {PROGRAM}")
    tap = Tap()
    bundled = bundled_models()
    for model in bundled + light_models():
        check(tap, model, "distinct layers")
    for model in bundled:
        check(tap, model, "runs of five layers", "filled", "5", sample=8)
    for name in "resnet50", "yolov8n":
        check(tap, ROOT / "data/models" / f"{name}.onnx", "runs of seven layers with random weights", "random", "7", sample=4)
    for model in bundled:
        check(tap, model, "whole models", "filled", "0")
    check_node_models(tap)
    for case in SPECIAL:
        check_special(tap, *case)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

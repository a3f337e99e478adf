#!/usr/bin/env python3
"""Compare symbolic sizes with the outputs stored in the onnx package's node tests.

Each node test is written to a file with a separate symbol for every dimension of every input (inputs that may
determine a shape are initializers, as exporters write them). The output sizes of `benanza layers`, evaluated
with the real sizes of the inputs, must be the real sizes of the outputs. Prints TAP, one line per operator.

    BENANZA=build/benanza tests/onnx/onnx_symbols.py [NAME...]
"""

import collections
import math
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, in_threads  # noqa: E402
from onnx_nodes import is_tensor, node_cases, real_types, stripped, tensor_of, types_of  # noqa: E402


def symbolic(case):
    """(model with symbolic input sizes, {symbol: real size})"""
    model, numbers = stripped(case, True), {}
    values = dict(zip((declared.name for declared in case.model.graph.input), case.inputs))
    for declared in model.graph.input:
        value = values.get(declared.name)
        if declared.type.WhichOneof("value") != "tensor_type" or not is_tensor(value):
            continue
        declared.type.tensor_type.ClearField("shape")
        declared.type.tensor_type.shape.SetInParent()
        for size in tensor_of(value, "").dims:
            name = f"size{len(numbers)}of"
            numbers[name] = size
            declared.type.tensor_type.shape.dim.add().dim_param = name
    return model, numbers


def number(size, numbers):
    """Value of a dimension for these sizes; None if it divides by zero."""
    if not isinstance(size, str):
        return size
    try:
        return eval(size, {"__builtins__": {}, "floor": math.floor, "min": min, "max": max}, dict(numbers))
    except ZeroDivisionError:
        return None


def check(case, path):
    """(lines for wrong sizes, number of known dimensions, number of unknown ones)"""
    model, numbers = symbolic(case)
    path.write_bytes(model.SerializeToString())
    try:
        got = types_of(path)
    except RuntimeError as error:
        return [str(error)], 0, 0
    wrong, known, unknown = [], 0, 0
    for name, (_, shape) in real_types(case).items():
        have = got.get(name, (None, None))[1]
        if have is None:
            unknown += name in got
        elif len(have) != len(shape):
            wrong.append(f"{name} is {shape}, benanza reports {have}")
        for size, true in zip(have or [], shape):
            value = number(size, numbers)
            known += value is not None
            unknown += value is None
            if value is not None and value != true:
                wrong.append(f"{name}: {size} is {value}, not {true}, for {numbers}")
    return wrong, known, unknown


def main():
    bad, counts, unknowns = collections.defaultdict(list), collections.Counter(), collections.Counter()
    for case, (wrong, known, unknown) in in_threads(check, node_cases()):
        group = case.group()
        bad[group] += [f"{case.name}: {line}" for line in wrong]
        counts[group] += known
        unknowns[group] += unknown
    tap = Tap()
    for group in sorted(bad):
        more = f", {unknowns[group]} unknown" if unknowns[group] else ""
        tap.result(f"{group}: {counts[group]} sizes{more}", bad[group])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

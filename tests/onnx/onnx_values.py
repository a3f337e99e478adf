#!/usr/bin/env python3
"""Compare the results of data propagation with the outputs stored in the onnx package's node tests.

Each node test of small tensors is written to a file with all inputs as initializers and a probe after each
output: its elements, as integers, become the shape of a ConstantOfShape node, which `benanza layers` prints.
Known elements must be right; for the operators in KNOWN every element must be known. Prints TAP, one line per
operator with known elements.

    BENANZA=build/benanza tests/onnx/onnx_values.py [NAME...]
"""

import collections
import math
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, in_threads  # noqa: E402
from onnx_nodes import is_tensor, node_cases, np, onnx, tensor_of, types_of  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

SHOWN = 60         # elements of an output, as many as a shape has dimensions
OFFSET = 1 << 40   # sizes are not negative
SCALE = 256        # of floats

KNOWN = set("""Abs Add And ArgMax ArgMin Cast Ceil Clip Concat ConstantOfShape CumSum Div Equal Expand Flatten Floor
    Gather GatherElements GatherND Greater GreaterOrEqual Identity IsInf IsNaN Less LessOrEqual MatMul Max Mean Min Mod
    Mul Neg NonZero Not OneHot Or Pad Pow Range ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Relu Reshape Round
    ScatterElements ScatterND Shape Sign Size Slice Split Sqrt Squeeze Sub Sum Tile TopK Transpose Trilu Unsqueeze Where
    Xor""".split())
# Node tests of operators in KNOWN whose contents are not propagated, and the reason.
NOT_KNOWN = {
    "scatternd_add": "sums of updates", "scatternd_multiply": "products of updates", "scatternd_max": "extremes",
    "scatternd_min": "extremes", "scatter_elements_with_reduction": "sums and the like of updates",
    "scatter_elements_with_duplicate_indices": "sums of updates", "reduce_max_empty": "the least number of a type",
    "reduce_min_empty": "the greatest number of a type", "cast_no_saturate": "what does not fit",
    "E8M0": "how scales round", "FLOAT4E2M1": "what NaN becomes", "isinf": "NaN says that nothing is known", "isnan": "NaN says that nothing is known",
    "INT2": "what does not fit wraps", "INT4": "what does not fit wraps",
}


def numbers(case):
    """True if all inputs and outputs are small numeric tensors."""
    values = list(case.inputs) + list(case.outputs)
    return bool(case.outputs) and all(is_tensor(v) for v in values) and all(
        tensor_of(v, "").data_type not in (TensorProto.STRING, TensorProto.COMPLEX64, TensorProto.COMPLEX128) and
        int(np.prod(tensor_of(v, "").dims)) <= 1024 for v in values)


def array_of(value):
    return numpy_helper.to_array(tensor_of(value, ""))


def too_large(value):
    """True if an integer plus OFFSET may be negative, or too large for a size."""
    array = array_of(value)
    return array.dtype.kind in "iu" and array.size > 0 and max(-int(array.min()), int(array.max())) >= OFFSET


def probed(case):
    """The model with its inputs as initializers and a probe per output; None if it cannot be probed."""
    model = onnx.ModelProto.FromString(case.model.SerializeToString())
    graph = model.graph
    for declared, value in zip(graph.input, case.inputs):
        tensor = tensor_of(value, declared.name)
        if declared.type.tensor_type.elem_type not in (0, tensor.data_type):
            return None  # the package stores this type in a wider array
        graph.initializer.append(tensor)
    if any(too_large(value) for value in case.outputs):
        return None
    del graph.input[:]
    outputs = list(graph.output)
    del graph.output[:]

    def constant(name, array):
        graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    for i, output in enumerate(outputs):
        at, p = output.name, f"probe{i}_"

        def then(op, *more, **attributes):
            nonlocal at
            out = f"{p}{op}{len(graph.node)}"
            graph.node.append(helper.make_node(op, [at, *more], [out], **attributes))
            at = out
        if array_of(case.outputs[i]).dtype.kind not in "iub":
            then("Cast", to=TensorProto.DOUBLE)
            then("Mul", constant(p + "scale", np.float64(SCALE)))
            then("Round")
        then("Cast", to=TensorProto.INT64)
        then("Reshape", constant(p + "flat", np.array([-1], np.int64)))
        then("Slice", constant(p + "from", np.array([0], np.int64)), constant(p + "to", np.array([SHOWN], np.int64)))
        then("Add", constant(p + "offset", np.array([OFFSET], np.int64)))
        graph.node.append(helper.make_node("ConstantOfShape", [at], [p + "shown"]))
    return model


def shown_numbers(value):
    flat = array_of(value).reshape(-1)[:SHOWN]
    if flat.dtype.kind in "iub":
        return [int(x) for x in flat]
    flat = flat.astype(np.float64) * SCALE
    return [float(x) for x in flat]


def check(case, path):
    """(lines for wrong elements, number of known elements, number of unknown ones)"""
    model = probed(case)
    if model is None or not any(d.version >= 11 for d in model.opset_import if d.domain == ""):
        return [], 0, 0
    path.write_bytes(model.SerializeToString())
    try:
        got = types_of(path)
    except RuntimeError as error:
        return [str(error)], 0, 0
    wrong, known, unknown = [], 0, 0
    for i, value in enumerate(case.outputs):
        shown = got.get(f"probe{i}_shown", ("?", None))[1]
        want = shown_numbers(value)
        if shown is None:
            unknown += 1
            continue
        for have, true in zip(shown, want):
            unknown += have is None and math.isfinite(true)
            known += have is not None
            near = 1.01 + 1e-6 * abs(true) if isinstance(true, float) else 0
            if have is not None and not abs(have - OFFSET - true) <= near:
                wrong.append(f"output {i} has {have - OFFSET}, not {true}" + (f" (of {SCALE})" if near else ""))
    return wrong[:3], known, unknown


def excused(name):
    return any(part in name for part in NOT_KNOWN)


def main():
    bad, counts = collections.defaultdict(list), collections.Counter()
    for case, (wrong, known, unknown) in in_threads(check, [case for case in node_cases() if numbers(case)]):
        group = case.group()
        bad[group] += [f"{case.name}: {line}" for line in wrong]
        counts[group] += known
        if group in KNOWN and unknown and not excused(case.name):
            bad[group].append(f"{case.name}: {unknown} elements are unknown")
    tap = Tap()
    for group in sorted(bad):
        if counts[group] or bad[group]:
            tap.result(f"{group}: {counts[group]} elements", bad[group])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

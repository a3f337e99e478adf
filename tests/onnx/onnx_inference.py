#!/usr/bin/env python3
"""Compare the types and shapes of `benanza layers` with the onnx package's strict shape inference.

The models are the node tests, in both forms of onnx_nodes.py, and the light models of the package. Type, rank
and dimensions of a tensor must be equal where both are known; a value that either side does not know or
refuses is not compared. Known errors of the onnx package are listed with their proof in onnx_inference.txt;
an entry that is no longer needed fails. Prints TAP, one line per operator.

    BENANZA=build/benanza tests/onnx/onnx_inference.py [NAME...]
"""

import collections
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, exceptions, in_threads  # noqa: E402
import onnx_nodes  # noqa: E402  (says so and ends where the onnx package is missing)
import onnx  # noqa: E402

NOT_KNOWN = (None, None)


def light_models():
    """The light models of the first onnx package that has them; the newest may not."""
    for folder in sys.path:
        found = sorted(pathlib.Path(folder).glob("onnx/backend/test/data/light/*.onnx"))
        if found:
            return found
    return []


def models():
    """(group, name, function that returns the model); light models first, because they take longest."""
    for path in light_models():
        yield "light models", path.stem, lambda path=path: onnx.load(path)
    for case in onnx_nodes.node_cases():
        for fixed in (False, True):
            yield case.group(), case.name, lambda case=case, fixed=fixed: onnx_nodes.stripped(case, fixed)


def inferred(model):
    """Name -> (type, dims) inferred by the onnx package; empty if it refuses the model."""
    try:
        graph = onnx.shape_inference.infer_shapes(model, check_type=False, strict_mode=True, data_prop=True).graph
    except (onnx.shape_inference.InferenceError, ValueError, RuntimeError):
        return {}
    found = {}
    for value in list(graph.value_info) + list(graph.output):
        tensor = value.type.tensor_type
        if value.type.WhichOneof("value") != "tensor_type" or not tensor.elem_type:
            continue
        code = onnx.TensorProto.DataType.Name(tensor.elem_type)
        dims = None
        if tensor.HasField("shape"):
            dims = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
        found[value.name] = (onnx_nodes.NAMES.get(code, code), dims)
    return found


def differences(theirs, ours):
    """Name -> line for each tensor whose known type, rank or dimensions differ."""
    found = {}
    for name, (dtype, dims) in theirs.items():
        our_type, our_dims = ours.get(name, NOT_KNOWN)
        line = f"{name} is {our_type} {our_dims}, onnx says {dtype} {dims}"
        if our_type not in (None, "?", dtype):
            found[name] = line
        if dims is not None and our_dims is not None and (len(dims) != len(our_dims) or any(
                isinstance(o, int) and t is not None and o != t for o, t in zip(our_dims, dims))):
            found[name] = line
    return found


def check(named, path):
    """(name -> line for each difference, number of tensors with both shapes known)"""
    model = named[2]()
    del model.graph.value_info[:]
    path.write_bytes(model.SerializeToString())
    theirs = inferred(model)
    try:
        ours = onnx_nodes.types_of(path)
    except RuntimeError as error:
        return {"": str(error)}, 0
    both = sum(1 for name in theirs if ours.get(name, NOT_KNOWN)[1] is not None and theirs[name][1] is not None)
    return differences(theirs, ours), both


def main():
    listed, both, found = exceptions("onnx/onnx_inference.txt", 2), 0, {}
    groups, bad = collections.defaultdict(set), collections.defaultdict(list)
    for (group, name, _), (lines, known) in in_threads(check, list(models())):
        groups[group].add(name)
        found.setdefault(name, set()).update(lines)
        bad[group] += [f"{name}: {line}" for tensor, line in lines.items() if (name, tensor) not in listed]
        both += known
    tap = Tap()
    for group in sorted(groups):
        bad[group] += [f"{name}: {tensor} is listed in onnx_inference.txt, but does not differ"
                       for name, tensor in listed if name in groups[group] and tensor not in found[name]]
        tap.result(f"{group}: {len(groups[group])} models", bad[group])
    tap.result(f"{both} tensors compared with onnx {onnx.__version__}", [] if both else ["none"])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

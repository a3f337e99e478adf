#!/usr/bin/env python3
"""Compare what `benanza layers` knows with the onnx package's own strict shape inference and data propagation.

The models are those of the node tests, in both forms of onnx_nodes.py, and the light models of the package. Where both
know the type of a tensor, its rank or a dimension, they must say the same. The tensors of which they do not are listed
in onnx_inference.txt with what proves the onnx package wrong, and fail when they are needlessly there. What one of the
two does not know, or refuses, is no difference. Prints TAP, a line for each operator.

    BENANZA=build/benanza tests/onnx_inference.py [NAME...]
"""

import collections
import concurrent.futures
import os
import pathlib
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parent))

import onnx_nodes  # noqa: E402  (says so and ends where the onnx package is missing)
import onnx  # noqa: E402

NOT_KNOWN = (None, None)


def light_models():
    """Of the first package that carries them: the newest may not."""
    for folder in sys.path:
        found = sorted(pathlib.Path(folder).glob("onnx/backend/test/data/light/*.onnx"))
        if found:
            return found
    return []


def models(words):
    """(group, name, model): the light ones first, they take longest."""
    for path in light_models():
        model = onnx.load(path)
        del model.graph.value_info[:]
        yield "light models", path.stem, model
    for case in list(onnx_nodes.built_cases()) or list(onnx_nodes.kept_cases()):
        if words and not any(word in case.name for word in words):
            continue
        for fixed in (False, True):
            yield case.group(), case.name, onnx_nodes.stripped(case, fixed)


def inferred(model):
    """What the package says of each tensor by name; empty where it refuses the model."""
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
    """Name to line, of tensors of which both know something else."""
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


def check(benanza, path, model):
    """Name to line, tensors that both know, whether benanza refuses what the package does not."""
    path.write_bytes(model.SerializeToString())
    theirs = inferred(model)
    ours, error = onnx_nodes.layers_of(benanza, path)
    path.unlink()
    if error:
        return {"": error}, 0
    both = sum(1 for name in theirs if ours.get(name, NOT_KNOWN)[1] is not None and theirs[name][1] is not None)
    return differences(theirs, ours), both


def exceptions():
    """(model, tensor) to reason."""
    listed = {}
    for line in (HERE.parent / "onnx_inference.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            model, tensor, reason = line.split(None, 2)
            listed[model, tensor] = reason
    return listed


def report(groups, listed, both):
    seen = {(name, tensor) for results in groups.values() for name, found in results for tensor in found}
    number = 0
    for group in sorted(groups):
        bad = [f"{name}: {line}" for name, found in groups[group] for tensor, line in found.items()
               if (name, tensor) not in listed]
        names = {name for name, _ in groups[group]}
        bad += [f"{name}: {tensor} is listed in onnx_inference.txt, and is no difference"
                for name, tensor in listed if name in names and (name, tensor) not in seen]
        number += 1
        print(f"{'not ok' if bad else 'ok'} {number} - {group}: {len(names)} models")
        for line in bad[:20]:
            print(f"# {line}")
    number += 1
    print(f"{'ok' if both else 'not ok'} {number} - {both} tensors that both know, onnx {onnx.__version__}")
    print(f"1..{number}")


def main():
    benanza = os.environ.get("BENANZA") or os.path.join(os.environ.get("builddir", "build"), "benanza")
    warnings.filterwarnings("ignore")
    groups, both = collections.defaultdict(list), 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [(group, name, pool.submit(check, benanza, pathlib.Path(folder) / f"{i}.onnx", model))
                for i, (group, name, model) in enumerate(models(sys.argv[1:]))]
        for group, name, job in jobs:
            found, known = job.result()
            groups[group].append((name, found))
            both += known
    report(groups, exceptions(), both)


main()

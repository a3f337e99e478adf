#!/usr/bin/env python3
"""Compare the types and shapes of `benanza layers` with the outputs stored in the onnx package's node tests.

Each node test is a model of one operator (or of its body) with inputs and expected outputs. The test writes
it to a file twice, without the declared shapes of its outputs: first as it is, then with the inputs that may
determine a shape (integers, booleans and short lists) as initializers, as exporters write them. Each known
type and dimension must be right; in the second form, every one must be known. Exceptions are listed with
their reason in onnx_nodes.txt; an entry that is no longer needed fails. Prints TAP, one line per operator.

    BENANZA=build/benanza tests/onnx/onnx_nodes.py [NAME...]
"""

import collections
import hashlib
import os
import pathlib
import pickle
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import BUILD, Tap, exceptions, in_threads, outputs_of, program, skip, wanted  # noqa: E402

SHORT = 64  # elements of a float list that may be a shape's: the scales of a Resize, the borders of a Range


def newest_first():
    """Put the newest onnx package first on the path, if it is installed beside the virtual environment."""
    newest = pathlib.Path(sys.executable).parent.parent / "newest"
    if newest.is_dir():
        sys.path.insert(0, str(newest))


newest_first()
try:
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
except ImportError as missing:
    skip(f"{missing.name} is not installed")


class Case:
    """A node test: its model and the inputs and outputs of its first data set."""

    def __init__(self, name, model, inputs, outputs):
        self.name, self.model, self.inputs, self.outputs = name, model, inputs, outputs

    def group(self):
        ops = {node.op_type for node in self.model.graph.node}
        return ops.pop() if len(ops) == 1 else "of several: " + self.name.split("_")[1]


def built_cases():
    """Cases of newer packages, which build them."""
    from onnx.backend.test.case.node import collect_testcases
    for case in collect_testcases(None):
        if case.model is not None and case.data_sets:
            yield Case(case.name, case.model, *case.data_sets[0])


def read_value(path, type_proto):
    kinds = {"tensor_type": (onnx.TensorProto, lambda x: x),
             "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
             "optional_type": (onnx.OptionalProto, numpy_helper.to_optional)}
    kind, convert = kinds[type_proto.WhichOneof("value")]
    return convert(kind.FromString(path.read_bytes()))


def kept_cases():
    """Cases of older packages, which store them as files."""
    folder = pathlib.Path(onnx.__file__).parent / "backend/test/data/node"
    for path in sorted(folder.glob("*/model.onnx")):
        model = onnx.ModelProto.FromString(path.read_bytes())
        sets = path.parent / "test_data_set_0"
        inputs = [read_value(sets / f"input_{i}.pb", v.type) for i, v in enumerate(model.graph.input)]
        outputs = [read_value(sets / f"output_{i}.pb", v.type) for i, v in enumerate(model.graph.output)]
        yield Case(path.parent.name, model, inputs, outputs)


def is_tensor(value):
    return isinstance(value, (np.ndarray, np.generic, onnx.TensorProto, float, int))


def tensor_of(value, name):
    if isinstance(value, onnx.TensorProto):
        tensor = onnx.TensorProto.FromString(value.SerializeToString())
        tensor.name = name
        return tensor
    return numpy_helper.from_array(np.asarray(value), name)


def makes_shapes(tensor):
    """True if the tensor may determine a shape: few integers or booleans, or a short list of floats."""
    floats = {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16}
    count = int(np.prod(tensor.dims)) if tensor.dims else 1
    return count <= 1024 if tensor.data_type not in floats else len(tensor.dims) <= 1 and count <= SHORT


def stripped(case, fixed):
    """The model without declared output types; fixed: inputs that may determine a shape are initializers."""
    model = onnx.ModelProto.FromString(case.model.SerializeToString())
    for output in model.graph.output:
        output.ClearField("type")
    del model.graph.value_info[:]
    kept = []
    for declared, value in zip(list(model.graph.input), case.inputs):
        if fixed and is_tensor(value) and declared.type.WhichOneof("value") == "tensor_type":
            tensor = tensor_of(value, declared.name)
            if makes_shapes(tensor):
                model.graph.initializer.append(tensor)
                continue
        if is_tensor(value) and declared.type.WhichOneof("value") == "tensor_type":
            for dim, size in zip(declared.type.tensor_type.shape.dim, tensor_of(value, "").dims):
                dim.dim_value = size
        kept.append(declared)
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return model


NAMES = {"FLOAT": "f32", "FLOAT16": "f16", "BFLOAT16": "bf16", "DOUBLE": "f64", "INT8": "s8", "UINT8": "u8",
         "INT16": "s16", "UINT16": "u16", "INT32": "s32", "UINT32": "u32", "INT64": "s64", "UINT64": "u64",
         "BOOL": "bool", "STRING": "string", "COMPLEX64": "c64", "COMPLEX128": "c128", "INT4": "s4", "UINT4": "u4",
         "INT2": "s2", "UINT2": "u2", "FLOAT8E4M3FN": "f8e4m3", "FLOAT8E4M3FNUZ": "f8e4m3fnuz",
         "FLOAT8E5M2": "f8e5m2", "FLOAT8E5M2FNUZ": "f8e5m2fnuz", "FLOAT4E2M1": "f4e2m1", "FLOAT8E8M0": "f8e8m0",
         "FLOAT6E2M3": "f6e2m3", "FLOAT6E3M2": "f6e3m2"}


def real_types(case):
    """Name -> (type, shape) of each output tensor, as benanza writes them."""
    want = {}
    for declared, value in zip(case.model.graph.output, case.outputs):
        if is_tensor(value):
            tensor = tensor_of(value, declared.name)
            # The package stores some types in wider arrays: the declared type is the right one.
            code = declared.type.tensor_type.elem_type or tensor.data_type
            name = onnx.TensorProto.DataType.Name(code)
            want[declared.name] = (NAMES.get(name, name), list(tensor.dims))
    return want


def dtype_of(tensor):
    name = onnx.TensorProto.DataType.Name(tensor.data_type)
    return NAMES.get(name, name)


def real_lists(case):
    """Name -> list of (type, shape) of the tensors in each output sequence or optional."""
    want = {}
    for declared, value in zip(case.model.graph.output, case.outputs):
        if is_tensor(value) and declared.type.WhichOneof("value") == "tensor_type":
            continue
        held = value if isinstance(value, list) else [] if value is None else [value]
        if all(is_tensor(one) for one in held):
            tensors = [tensor_of(one, "") for one in held]
            want[declared.name] = [(dtype_of(tensor), list(tensor.dims)) for tensor in tensors]
    return want


def fits(have, shape):
    return have is None or (len(have) == len(shape) and all(h is None or h == s for h, s in zip(have, shape)))


def compare_lists(want, outputs):
    """Like compare, for sequences and optionals."""
    wrong, unknown = [], []
    for name, held in want.items():
        got = outputs.get(name)
        if not got:
            continue
        length, items = got.get("length"), got.get("items")
        line = f"{name} holds {held}, benanza reports {got}"
        if "kind" not in got or length is None or (items is None and held and (
                got["shape"] is None or None in got["shape"])):
            unknown.append(line)
        each = items if items is not None and len(items) == len(held) else [got["shape"]] * len(held)
        if ("kind" not in got and got["dtype"] != "?") or length not in (None, len(held)) or any(
                got["dtype"] not in ("?", dtype) or not fits(have, shape)
                for (dtype, shape), have in zip(held, each)):
            wrong.append(line)
    return wrong, unknown


def types_of(path):
    """Name -> (type, shape) of each layer output."""
    return {name: (o["dtype"], o["shape"]) for name, o in outputs_of(path).items()}


def compare(want, got):
    """(lines for wrong values, lines for unknown values)"""
    wrong, unknown = [], []
    for name, (dtype, shape) in want.items():
        if name not in got:
            continue  # an output that is an input
        have_type, have = got[name]
        line = f"{name} is {dtype} {shape}, benanza reports {have_type} {have}"
        if have is None or have_type == "?" or None in have:
            unknown.append(line)
        if (have_type not in ("?", dtype)) or (have is not None and (len(have) != len(shape) or any(
                h is not None and h != s for h, s in zip(have, shape)))):
            wrong.append(line)
    return wrong, unknown


def check(case, path):
    """Lines for the differences of a case."""
    want, lists, found = real_types(case), real_lists(case), []
    # Only the type of an input sequence is known.
    whole = all(is_tensor(value) for value in case.inputs)
    for fixed in (False, True):
        path.write_bytes(stripped(case, fixed).SerializeToString())
        try:
            outputs = outputs_of(path)
        except RuntimeError as error:
            found.append(str(error))
            continue
        wrong, unknown = compare(want, {name: (o["dtype"], o["shape"]) for name, o in outputs.items()})
        found += wrong + (unknown if fixed else [])
        wrong, unknown = compare_lists(lists, outputs)
        found += wrong + (unknown if fixed and whole else [])
    return found


def all_cases():
    """Building them takes seconds, and five tests use them: kept in the build directory."""
    source = hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()[:8]
    kept = BUILD / f"node_cases.{onnx.__version__}.{np.__version__}.{source}"
    try:
        return [Case(*parts) for parts in pickle.loads(kept.read_bytes())]
    except Exception:  # not there, or damaged
        cases = list(built_cases()) or list(kept_cases())
    try:
        with tempfile.NamedTemporaryFile(dir=BUILD, delete=False) as new:
            pickle.dump([(c.name, c.model, c.inputs, c.outputs) for c in cases], new)
        os.replace(new.name, kept)
    except OSError:
        pass
    return cases


def node_cases():
    """Node tests selected by the command line; all by default."""
    program()
    warnings.filterwarnings("ignore")
    return wanted(all_cases(), lambda case: case.name)


def main():
    tap, groups, bad, listed = Tap(), collections.Counter(), collections.defaultdict(list), exceptions("onnx/onnx_nodes.txt")
    for case, lines in in_threads(check, node_cases()):
        groups[case.group()] += 1
        if lines and case.name not in listed:
            bad[case.group()] += [f"{case.name}: {line}" for line in lines]
        elif not lines and case.name in listed:
            bad[case.group()].append(f"{case.name}: is listed in onnx_nodes.txt, but passes")
    for group in sorted(groups):
        tap.result(f"{group}: {groups[group]} node tests", bad[group])
    seen = sum(groups.values())
    tap.result(f"{seen} node tests of onnx {onnx.__version__}", [] if seen else ["none was found"])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

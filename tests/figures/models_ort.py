#!/usr/bin/env python3
"""Compare the shapes that `benanza layers` gives with those that ONNX Runtime meets.

Every bundled model runs at its default sizes and at others, the light models of
the onnx package at the one size they have, with every intermediate tensor as an
output and no optimization.  Each shape must be the one benanza gives; a shape
that benanza does not know is a failure too.  Prints TAP.

    BENANZA=build/benanza tests/figures/models_ort.py [NAME...]
"""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import LONG, Tap, apart, dim_options, need, outputs_of, program  # noqa: E402

HERE = pathlib.Path(__file__).resolve()
# Beside the default sizes and batch 2 alone, which is left to CHECK_LONG; so is batch 1 of other models.
MORE_CASES = {
    "bert_base": [{"batch": 2, "sequence": 64}],
    "gpt2_small": [{"batch": 2, "sequence": 8, "past_sequence": 0, "total_sequence": 8}],
}


def runtime_shapes(path, dims):
    """The real shape of every node's output."""
    import ort_common
    model = ort_common.onnx.load(path)
    # Weights filled from an initializer are known, and keeping them all would need their memory twice.
    shapes = ort_common.fills(model.graph)
    values = ort_common.all_values(model, ort_common.random_inputs(model, dims), shapes)
    broken = [name for name, value in values.items()
              if value.dtype.kind == "f" and not ort_common.np.isfinite(value).all()]
    shapes.update((name, list(value.shape)) for name, value in values.items())
    return {"shapes": shapes, "not_finite": broken}


def differences(shapes, given):
    """One line for every tensor whose shape is not the real one."""
    given = {name: output["shape"] for name, output in given.items()}
    lines = []
    for name, real in shapes.items():
        if name not in given:
            lines.append(f"{name}: missing; really {real}")
        elif given[name] != real:
            unknown = given[name] is None or any(not isinstance(size, int) for size in given[name])
            lines.append(f"{name}: {'unknown' if unknown else 'wrong'}: {given[name]}; really {real}")
    return lines


def cases(names):
    import ort_common
    for path in ort_common.bundled_models():
        dims = ort_common.default_dims(path)
        for change in [{}, {"batch": 2}] + MORE_CASES.get(path.stem, []):
            daily = change != {"batch": 2} if path.stem in MORE_CASES else bool(change)
            if (path.stem in names) if names else daily or LONG:
                yield path, dims | change
    for path in ort_common.light_models():
        if not names or path.stem in names:
            yield path, {}


def check(path, dims):
    """The lines that say what is wrong."""
    try:
        real = apart(runtime_shapes, path, dims)
        lines = differences(real["shapes"], outputs_of(path, *dim_options(dims)))
        # Some of the light models overflow with the weights they have; the bundled ones must not.
        if dims:
            lines += [f"{name}: infinite or not a number" for name in real["not_finite"]]
        return lines
    except (RuntimeError, OSError, ValueError, KeyError, TypeError) as error:
        return [f"{type(error).__name__}: {error}"]


def main():
    program()
    need("onnx", "onnxruntime")
    todo = list(cases(sys.argv[1:]))
    tap = Tap(len(todo))
    for path, dims in todo:
        tap.result(" ".join([path.stem] + [f"{name}={value}" for name, value in dims.items()]), check(path, dims))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compare the shapes that `benanza layers` gives with those that ONNX Runtime meets.

Every bundled model runs at its default sizes and at others, the light models of
the onnx package at the one size they have, with every intermediate tensor as an
output and no optimization.  Each shape must be the one benanza gives; a shape
that benanza does not know is a failure too.  Prints TAP.

    BENANZA=build/benanza tests/figures/models_ort.py [NAME...]
"""

import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import TIME_LIMIT_S, Tap, dim_options, need, outputs_of, program  # noqa: E402

HERE = pathlib.Path(__file__).resolve()
# Beside the default sizes and batch 2.
MORE_CASES = {
    "bert_base": [{"sequence": 64}],
    "gpt2_small": [{"sequence": 8, "past_sequence": 0, "total_sequence": 8}],
}


def runtime_shapes(path, dims):
    """The real shape of every node's output; runs in a process of its own, for its memory."""
    import ort_common
    model = ort_common.onnx.load(path)
    # Weights filled from an initializer are known, and keeping them all would need their memory twice.
    shapes = ort_common.fills(model.graph)
    values = ort_common.all_values(model, ort_common.random_inputs(model, dims), shapes)
    broken = [name for name, value in values.items()
              if value.dtype.kind == "f" and not ort_common.np.isfinite(value).all()]
    shapes.update((name, list(value.shape)) for name, value in values.items())
    return {"shapes": shapes, "not_finite": broken}


def runtime_shapes_apart(path, dims):
    command = [sys.executable, str(HERE), "--shapes", str(path), json.dumps(dims)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S)
    if done.returncode != 0:
        raise RuntimeError("ONNX Runtime: " + (done.stderr.strip().splitlines() or ["died"])[-1])
    return json.loads(done.stdout)


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
            if not names or path.stem in names:
                yield path, dims | change
    for path in ort_common.light_models():
        if not names or path.stem in names:
            yield path, {}


def check(path, dims):
    """The lines that say what is wrong."""
    try:
        real = runtime_shapes_apart(path, dims)
        lines = differences(real["shapes"], outputs_of(path, *dim_options(dims)))
        # Some of the light models overflow with the weights they have; the bundled ones must not.
        if dims:
            lines += [f"{name}: infinite or not a number" for name in real["not_finite"]]
        return lines
    except (RuntimeError, OSError, subprocess.TimeoutExpired, ValueError, KeyError, TypeError) as error:
        return [f"{type(error).__name__}: {error}"]


def main():
    if sys.argv[1:2] == ["--shapes"]:
        print(json.dumps(runtime_shapes(sys.argv[2], json.loads(sys.argv[3]))))
        return 0
    program()
    need("onnx", "onnxruntime")
    todo = list(cases(sys.argv[1:]))
    tap = Tap(len(todo))
    for path, dims in todo:
        tap.result(" ".join([path.stem] + [f"{name}={value}" for name, value in dims.items()]), check(path, dims))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

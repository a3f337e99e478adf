#!/usr/bin/env python3
"""Compare the shapes that `benanza layers` gives with those that ONNX Runtime meets.

Every bundled model runs at its default sizes and at others, the light models of
the onnx package at the one size they have, with every intermediate tensor as an
output and no optimization.  Each shape must be the one benanza gives; a shape
that benanza does not know is a failure too.  Prints TAP.

    BENANZA=build/benanza tests/models_ort.py [NAME...]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve()
TIME_LIMIT_S = 300
# Beside the default sizes and batch 2.
MORE_CASES = {
    "bert_base": [{"sequence": 64}],
    "gpt2_small": [{"sequence": 8, "past_sequence": 0, "total_sequence": 8}],
}


def skip(reason):
    """Skip everything.  Automake's TAP driver takes the plan for it, and any status but 0 for an error."""
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def runtime_shapes(path, dims):
    """The real shape of every node's output; runs in a process of its own, for its memory."""
    import onnxruntime
    import ort_common
    model = ort_common.onnx.load(path)
    feeds = ort_common.random_inputs(model, dims)
    # Weights filled from an initializer are known, and keeping them all would need their memory twice.
    shapes = ort_common.fills(model.graph)
    declared = {value.name for value in model.graph.output}
    names = [name for node in model.graph.node for name in node.output if name and name not in shapes]
    for name in names:
        if name not in declared:
            model.graph.output.append(ort_common.onnx.ValueInfoProto(name=name))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_cpu_mem_arena = False
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    values = session.run(names, feeds)
    broken = [name for name, value in zip(names, values)
              if value.dtype.kind == "f" and not ort_common.np.isfinite(value).all()]
    shapes.update((name, list(value.shape)) for name, value in zip(names, values))
    return {"shapes": shapes, "not_finite": broken}


def runtime_shapes_apart(path, dims):
    command = [sys.executable, str(HERE), "--shapes", str(path), json.dumps(dims)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S)
    if done.returncode != 0:
        raise RuntimeError("ONNX Runtime: " + (done.stderr.strip().splitlines() or ["died"])[-1])
    return json.loads(done.stdout)


def benanza_layers(program, path, dims):
    """The object that `layers --json` prints, from a clean home: sizes are remembered there."""
    command = [program, "layers", "--json", str(path)]
    for name, value in dims.items():
        command += ["-b", str(value)] if name == "batch" else ["--dim", f"{name}={value}"]
    with tempfile.TemporaryDirectory() as home:
        kept = {k: v for k, v in os.environ.items() if k not in ("BENANZA_CONFIG", "BENANZA_DB")}
        places = {f"XDG_{kind}_HOME": home for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S, env=kept | places)
    # 1 says that there are gaps; the shapes will show which.
    if done.returncode not in (0, 1):
        said = done.stderr.strip() or "nothing"
        raise RuntimeError(f"benanza left with {done.returncode} and said: {said}")
    return json.loads(done.stdout)


def differences(shapes, listing):
    """One line for every tensor whose shape is not the real one."""
    outputs = [output for layer in listing["layers"] for output in layer["outputs"]]
    given = {output["name"]: output["shape"] for output in outputs}
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


def check(program, path, dims):
    """The lines that say what is wrong."""
    try:
        real = runtime_shapes_apart(path, dims)
        lines = differences(real["shapes"], benanza_layers(program, path, dims))
        # Some of the light models overflow with the weights they have; the bundled ones must not.
        if dims:
            lines += [f"{name}: infinite or not a number" for name in real["not_finite"]]
        return lines
    except (RuntimeError, OSError, subprocess.TimeoutExpired, ValueError, KeyError, TypeError) as error:
        return [f"{type(error).__name__}: {error}"]


def main():
    try:
        import onnxruntime  # noqa: F401
        import ort_common
    except ImportError as error:
        skip(f"{error.name} is not installed")
    if sys.argv[1:2] == ["--shapes"]:
        print(json.dumps(runtime_shapes(sys.argv[2], json.loads(sys.argv[3]))))
        return 0
    program = os.environ.get("BENANZA", str(ort_common.ROOT / "build" / "benanza"))
    if not os.access(program, os.X_OK):
        skip(f"no program at {program}")
    todo = list(cases(sys.argv[1:]))
    failed = 0
    print(f"1..{len(todo)}", flush=True)
    for number, (path, dims) in enumerate(todo, 1):
        lines = check(os.path.abspath(program), path, dims)
        failed += bool(lines)
        title = " ".join([path.stem] + [f"{name}={value}" for name, value in dims.items()])
        print(f"{'not ok' if lines else 'ok'} {number} - {title}")
        for line in lines[:20]:
            print("# " + line.replace("\n", "\n# "))
        if len(lines) > 20:
            print(f"# and {len(lines) - 20} more")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

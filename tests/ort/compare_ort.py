#!/usr/bin/env python3
"""Profiles that ONNX Runtime makes of the bundled models: at least 99% of the time of their nodes is matched
or added, with the optimized model beside the profile and without it. Prints TAP.

    BENANZA=build/benanza tests/ort/compare_ort.py [NAME...]
"""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import TIME_LIMIT_S, Tap, dim_options, need, said, wanted  # noqa: E402

HERE = pathlib.Path(__file__).resolve()
LEAST = 0.99          # share of the nodes' time that is matched or added
LEAST_ALONE = 0.98    # without the optimized model: its fused nodes have new names
RUNS = 3


def profile(path, dims, folder):
    """Runs a model with the profiler; in a process of its own, for its memory."""
    import ort_common
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(folder / "profile")
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    inputs = ort_common.random_inputs(ort_common.onnx.load(path), dims)
    for _ in range(RUNS):
        session.run(None, inputs)
    pathlib.Path(session.end_profiling()).rename(folder / "profile.json")


def differences(path, dims, files, least):
    d = said("compare", "--json", "-q", "-d", "a100", path, *files, *dim_options(dims))
    matched = d["matched"]
    share = (matched["matched_ns"] + matched["added_ns"]) / matched["total_ns"]
    gaps = sum(gap["ns"] for gap in d["gaps"])
    print(f"# matched {matched['matched_ns'] / matched['total_ns']:.2%}, "
          f"added {matched['added_ns'] / matched['total_ns']:.2%}")
    if share < least:
        yield f"matched or added: {share:.2%} of the time; not matched: " + ", ".join(
            sorted({row["op"] or "?" for row in d["unmatched"]}))
    if abs(gaps - (d["measured_ns"] - d["bound_ns"])) > 1:
        yield f"the gaps add up to {gaps}, not {d['measured_ns'] - d['bound_ns']}"
    if d["agent"]["provider"] != "CPUExecutionProvider":
        yield f"the provider is {d['agent']['provider']}"


def main():
    need("onnx", "onnxruntime")
    import ort_common
    if sys.argv[1:2] == ["--profile"]:
        profile(pathlib.Path(sys.argv[2]), json.loads(sys.argv[3]), pathlib.Path(sys.argv[4]))
        return
    tap = Tap()
    for path in wanted(ort_common.bundled_models(), lambda path: path.stem):
        dims = ort_common.default_dims(path)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            subprocess.run([sys.executable, str(HERE), "--profile", str(path), json.dumps(dims), str(folder)],
                           check=True, timeout=TIME_LIMIT_S, capture_output=True, cwd=folder)
            found, optimized = folder / "profile.json", folder / "optimized.onnx"
            both = differences(path, dims, [found, optimized], LEAST)
            tap.result(f"{path.stem} with its optimized model", both)
            tap.result(f"{path.stem} alone", differences(path, dims, [found], LEAST_ALONE))
    sys.exit(tap.end())


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Profiles of ONNX Runtime: `benanza compare` reports the times that Python reads in the same file."""

import gzip
import json
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, Tap, need, said

need("numpy", "onnxruntime")
import numpy as np
import onnxruntime

MODEL = ROOT / "data" / "models" / "mobilenet_v2.onnx"
RUNS = 4


def make_profile(folder):
    """Runs the model; returns its profile and the optimized model."""
    optimized = folder / "optimized.onnx"
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(folder / "ort")
    options.optimized_model_filepath = str(optimized)
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(MODEL), options, providers=["CPUExecutionProvider"])
    feed = {i.name: np.zeros([d if isinstance(d, int) else 1 for d in i.shape], np.float32)
            for i in session.get_inputs()}
    for _ in range(RUNS):
        session.run(None, feed)
    return pathlib.Path(session.end_profiling()), optimized


def medians(events):
    """Of each node its median over the complete runs after the first, in ns; and that of the runs."""
    runs = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["name"] == "model_run")[1:]
    times = {}
    for e in events:
        if not e["name"].endswith("_kernel_time"):
            continue
        for i, (start, end) in enumerate(runs):
            if start <= e["ts"] <= end:
                node = times.setdefault(e["name"][:-len("_kernel_time")], [0] * len(runs))
                node[i] += e["dur"] * 1000
    return ({name: statistics.median(t) for name, t in times.items()},
            statistics.median(end - start for start, end in runs) * 1000)


def reported(answer):
    """Times of the rows that stand alone in the answer."""
    alone = {layer["row"]: layer["real_ns"] for layer in answer["layers"] if layer["rows"] == 1}
    return alone | {row["name"]: row["ns"] for row in answer["added"] + answer["unmatched"]}


def check(tap, name, events, *files):
    answer = said("compare", "--json", MODEL, *files)
    expected, run = medians(events)
    rows = reported(answer)
    wrong = [f"{n}: {rows[n]}, expected {expected.get(n)}" for n in rows if rows[n] != expected.get(n)]
    total = sum(expected.values())
    if abs(answer["layers_ns"] - total) >= 1:
        wrong.append(f"sum {answer['layers_ns']}, expected {total}")
    if answer["measured_ns"] != run:
        wrong.append(f"run {answer['measured_ns']}, expected {run}")
    if len(rows) < len(expected) / 2:
        wrong.append(f"{len(rows)} rows, expected {len(expected)}")
    tap.result(name, wrong)
    return answer


def old_keys(events):
    """The same events as versions before 1.10 wrote them: other indexes, and fences around the nodes."""
    old, plan = [], {}
    for e in events:
        if e["cat"] != "Node":
            old.append(e)
            continue
        index = e["args"].pop("node_index")
        e["args"] |= {"graph_index": "0", "exec_plan_index": str(plan.setdefault(index, len(plan)))}
        node = e["name"][:-len("_kernel_time")]
        fence = {"op_name": e["args"]["op_name"]}
        old += [e | {"name": f"{node}_fence_before", "dur": 1, "args": fence}, e,
                e | {"name": f"{node}_fence_after", "dur": 0, "args": fence}]
    return old


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        profile, optimized = make_profile(folder)
        text = profile.read_text()
        events = json.loads(text)
        answer = check(tap, "as written", events, profile, optimized)
        matched = answer["matched"]
        named = matched["matched_ns"] + matched["added_ns"]
        tap.result("99% of the time is of known or added nodes",
                   [] if named >= 0.99 * matched["total_ns"] else [matched])
        packed = folder / "profile.json.gz"
        packed.write_bytes(gzip.compress(text.encode()))
        check(tap, "gzip, without the optimized model", events, packed)
        cut = folder / "cut.json"
        last = text.rindex("\n", 0, text.rindex("SequentialExecutor::Execute"))  # the last run is incomplete
        cut.write_text(text[:last - 100])
        whole = [json.loads(line.rstrip(",")) for line in text[:last - 100].splitlines()[1:-1]]
        check(tap, "truncated", whole, cut, optimized)
        old = folder / "old.json"
        old.write_text(json.dumps(old_keys(events)))
        check(tap, "old keys", events, old)
    sys.exit(tap.end())


if __name__ == "__main__":
    main()

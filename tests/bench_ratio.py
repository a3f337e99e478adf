#!/usr/bin/env python3
"""The Benanza ratio: the lower bound beside ONNX Runtime's measured latency, same machine, same threads, in turns.

A round measures the model with ONNX Runtime, then all its problems from an empty database, then with ONNX Runtime again, so
that a machine that speeds up or slows down shows as a spread. Prints a line for each model and scenario.

    tests/bench_ratio.py [--benanza PATH] [--rounds 2] [--budget MS] [-b 1] [MODEL...]

Leaves with 77 where ONNX Runtime is not installed.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
SCENARIOS = ("algorithm", "algorithm,fusion", "algorithm,fusion,parallel")


def ort_ns(model, batch, threads):
    out = subprocess.run([sys.executable, str(TOP / "tests/bench_ort.py"), "-b", str(batch), "--threads", str(threads),
                          str(model)], stdout=subprocess.PIPE, text=True)
    if out.returncode == 77:
        sys.exit(77)
    out.check_returncode()
    return json.loads(out.stdout)["median_ns"]


def bound_json(benanza, model, batch, database, what_if):
    out = subprocess.run([benanza, "bound", "--json", "--db", database, "-b", str(batch), "-w", what_if, str(model)],
                         stdout=subprocess.PIPE, text=True)
    if out.returncode > 1:
        sys.exit(f"benanza bound {model}: exit status {out.returncode}")
    return json.loads(out.stdout)


def one_round(options, model, folder, number):
    database = os.path.join(folder, f"round{number}.db")
    before = ort_ns(model, options.batch, options.threads)
    status = subprocess.run([options.benanza, "bench", "-q", "--db", database, "-b", str(options.batch), "--budget",
                             str(options.budget), str(model)]).returncode
    if status > 1:
        sys.exit(f"benanza bench {model}: exit status {status}")
    after = ort_ns(model, options.batch, options.threads)
    return [before, after], {s: bound_json(options.benanza, model, options.batch, database, s) for s in SCENARIOS}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=[TOP / "data/models/resnet50.onnx", TOP / "data/models/bert_base.onnx"])
    parser.add_argument("--benanza", default=str(TOP / "build/benanza"))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("-b", "--batch", type=int, default=1)
    options = parser.parse_args()
    print(f"{'model':22} {'what-ifs':28} {'bound ms':>9} {'spread':>13} {'ORT ms':>8} {'spread':>13} {'ratio':>6}  coverage")
    for model in options.models:
        ort, bounds = [], {s: [] for s in SCENARIOS}
        with tempfile.TemporaryDirectory() as folder:
            for number in range(options.rounds):
                times, round_bounds = one_round(options, model, folder, number)
                ort += times
                for scenario, bound in round_bounds.items():
                    bounds[scenario].append(bound)
        for scenario in SCENARIOS:
            values = [b["bound_ns"] / 1e6 for b in bounds[scenario]]
            measured = [o / 1e6 for o in ort]
            last = bounds[scenario][-1]
            coverage = last["coverage"]
            gaps = coverage["missing"] + coverage["unsupported"]
            print(f"{pathlib.Path(model).stem:22} {scenario:28} {statistics.median(values):9.2f} "
                  f"{min(values):6.2f}-{max(values):6.2f} {statistics.median(measured):8.2f} "
                  f"{min(measured):6.2f}-{max(measured):6.2f} {statistics.median(values) / statistics.median(measured):6.3f}  "
                  f"{coverage['measured']} measured, {coverage['proxy']} proxy, {gaps} missing of {coverage['layers']}")


if __name__ == "__main__":
    main()

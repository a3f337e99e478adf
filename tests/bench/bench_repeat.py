#!/usr/bin/env python3
"""Are numbers repeatable? All problems of the models are measured twice, a while apart, in new processes and from empty
databases; medians of algorithms that were measured in full both times are compared.

    tests/bench/bench_repeat.py [--benanza PATH] [--delay SECONDS] [--budget MS] [-b 1] [MODEL...]

Prints, for each cache state and launch, the share of medians of 50 us and more that are within 5% of each other, and those that
are not, with their intervals: one that does not cover the other's median has said more than it knew. Meant for a quiet machine.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
LEAST_NS = 50e3
WITHIN = 0.05
SHOWN = 20


def measure(options, database):
    for model in options.models:
        status = subprocess.run([options.benanza, "bench", "-q", "--db", database, "-b", str(options.batch), "--budget",
                                 str(options.budget), str(model)]).returncode
        if status > 1:
            sys.exit(f"benanza bench {model}: exit status {status}")
    out = subprocess.run([options.benanza, "db", "export", "--db", database], stdout=subprocess.PIPE, text=True, check=True)
    results = {}
    for line in out.stdout.splitlines():
        message = json.loads(line)
        if message.get("type") != "result" or message["result"]["status"] != "ok":
            continue
        r = message["result"]
        if r["stats"]["stop"] == "shortlist":
            continue
        a = r["algorithm"]
        results[r["problem"], a["api"], a["name"], a["layouts"], r["cache"], r["launch"]] = r["stats"]
    return results


def interval(s):
    return (s["lo_ns"], s["hi_ns"]) if s["lo_ns"] is not None else (None, None)


def covers(s, ns):
    lo, hi = interval(s)
    return lo is None or lo <= ns <= hi


def words(s):
    lo, hi = interval(s)
    span = f"{lo / 1e3:.1f}..{hi / 1e3:.1f}" if lo is not None else "one sample"
    return f"{s['median_ns'] / 1e3:10.1f} us ({span}, {s['n']}-{s['discarded']} {s['stop']})"


def judge(state, pairs):
    far = [(key, x, y) for key, x, y in pairs if abs(y["median_ns"] - x["median_ns"]) > WITHIN * x["median_ns"]]
    said = [f for f in far if covers(f[1], f[2]["median_ns"]) or covers(f[2], f[1]["median_ns"])]
    print(f"{' '.join(state):16}  {len(pairs):4} medians, {100 * (1 - len(far) / len(pairs)):5.1f}% within {WITHIN:.0%};"
          f" of {len(far)} others {len(said)} have an interval that covers it")
    far.sort(key=lambda f: -abs(f[2]["median_ns"] / f[1]["median_ns"] - 1))
    for key, x, y in far[:SHOWN]:
        print(f"    {y['median_ns'] / x['median_ns'] - 1:+7.1%} {words(x)} {words(y)}  {key[2]} {key[0]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=[TOP / "data/models/resnet50.onnx", TOP / "data/models/bert_base.onnx"])
    parser.add_argument("--benanza", default=str(TOP / "build/benanza"))
    parser.add_argument("--delay", type=float, default=600)
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("-b", "--batch", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first = measure(options, os.path.join(folder, "first.db"))
        time.sleep(options.delay)
        second = measure(options, os.path.join(folder, "second.db"))
    states = collections.defaultdict(list)
    for key, x in first.items():
        if key in second and max(x["median_ns"], second[key]["median_ns"]) >= LEAST_NS:
            states[key[4:]].append((key, x, second[key]))
    print(f"{len(first)} and {len(second)} measurements, {options.delay:.0f} s apart")
    for state in sorted(states):
        judge(state, states[state])
    return 0


if __name__ == "__main__":
    sys.exit(main())

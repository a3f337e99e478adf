#!/usr/bin/env python3
"""What it costs to measure models from an empty database, beside what it would cost otherwise.

For each model, one after the other in one database that is empty at first:
  wall       all its problems that no model before had, measured once (peaks of the device, the first time: told apart)
  unshared   every layer by itself: measured for the first --unshared models, computed (~) for the others
  original   0.7 s for every entry, which is a problem under an algorithm: computed (~)
  again      a second run: how long, and how many problems went to a runner
  ETA        by what factor the estimate of the rest was off at most, from a tenth of the way on until a twentieth is left
Then --sample problems, chosen at random, are measured with 0.7 s for each algorithm and state, and the medians compared.

    tests/bench/bench_cheap.py [--benanza PATH] [--unshared 1] [--sample 20] [--budget MS] [-b 1] [MODEL...]
"""

import argparse
import collections
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
ENTRY_S = 0.7    # of the original, whatever it measures
AGREE = 0.02
STATES = 4       # net and warm, amortized and isolated: they share a budget


def run_json(*words):
    out = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, text=True)
    if out.returncode > 1:
        sys.exit(f"{' '.join(map(str, words))}: exit status {out.returncode}")
    return json.loads(out.stdout.splitlines()[-1])


def results(benanza, database):
    """The results that count, as (problem, algorithm, cache, launch): (median, n, stop)."""
    out = subprocess.run([benanza, "db", "export", "--db", database], stdout=subprocess.PIPE, text=True, check=True)
    found = {}
    for line in out.stdout.splitlines():
        one = json.loads(line).get("result")
        if one and one["status"] == "ok" and one["algorithm"]["name"]:
            key = (one["problem"], one["algorithm"]["name"], one["cache"], one["launch"])
            found[key] = (one["stats"]["median_ns"], one["stats"]["n"], one["stats"]["stop"])
    return found


def jobs_of(benanza, model, options, database):
    """The jobs of a model, without the peaks of the device, and how many layers each is of (fused ones: 1)."""
    sizes = ["-b", str(options.batch), "--budget", str(options.budget), "--db", database, str(model)]
    out = subprocess.run([benanza, "bench", "-q", "--emit-jobs", *sizes], stdout=subprocess.PIPE, text=True, check=True)
    layers = run_json(benanza, "layers", "--json", *sizes[:2], *sizes[4:])["layers"]
    uses = collections.Counter(layer["problem"] for layer in layers)
    return [json.loads(line) for line in out.stdout.splitlines()], uses


def runner_wall_s(runner, jobs):
    """How long a runner takes for these, one after the other, and what it says."""
    begin = time.monotonic()
    text = "".join(json.dumps(job | {"id": i + 1}) + "\n" for i, job in enumerate(jobs))
    out = subprocess.run([runner], input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    took = time.monotonic() - begin
    lines = [json.loads(line) for line in out.stdout.splitlines() if line.startswith("{")]
    ended = sum(line.get("type") == "done" for line in lines)
    return (took if ended == len(jobs) else None), lines


def one_model(options, model, folder, unshared):
    """Prints the line of a model; its database."""
    base = [options.benanza, "bench", "--json", "-b", options.batch, "--budget", options.budget]
    database = os.path.join(folder, "all.db")
    before = {key[:2] for key in results(options.benanza, database)} if os.path.exists(database) else set()
    jobs, uses = jobs_of(options.benanza, model, options, os.path.join(folder, "none.db"))
    first = run_json(*base, "--db", database, model)
    begin = time.monotonic()
    again = run_json(*base, "--db", database, model)
    again_s = time.monotonic() - begin
    entries = {key[:2] for key in results(options.benanza, database)} - before
    known = {problem for problem, _ in entries}
    jobs = [job for job in jobs if job["problem"] in known]
    wall, original = first["wall_s"], ENTRY_S * sum(problem in {j["problem"] for j in jobs} for problem, _ in entries)
    alone, mark = wall + first["saved_by_sharing_s"], "~"
    if unshared:
        measured, _ = runner_wall_s(options.runner, [job for job in jobs for _ in range(max(uses[job["problem"]], 1))])
        alone, mark = (measured, " ") if measured else (alone, "~")
    off = first.get("eta_off")
    print(f"{model.stem:18} {first['problems']:8} {len(entries):8} {wall:8.1f} {first['peaks_s']:8.1f} {mark}{alone:8.1f} "
          f"{alone / wall:5.1f}x ~{original:8.1f} {original / wall:5.1f}x {again_s:8.2f} {again['measured']:6}  "
          f"{'-' if off is None else format(off, '.2f')}", flush=True)
    return database, jobs, (wall, alone, original)


def agreement(options, kept):
    """The medians of some problems beside those that 0.7 s each give, where both were measured in full."""
    chance = random.Random(options.seed)
    pairs = [(database, job) for database, jobs in kept for job in jobs]
    differences, wide, jobs_s = [], 0, 0
    for database, job in chance.sample(pairs, min(options.sample, len(pairs))):
        ours = results(options.benanza, database)
        took, lines = runner_wall_s(options.runner, [job | {"budget_ms": int(ENTRY_S * 1000 * STATES)}])
        jobs_s += took or 0
        for line in lines:
            one = line.get("result") if line.get("type") == "result" else None
            if not one or one["status"] != "ok" or one["stats"]["stop"] == "shortlist":
                continue
            median, _, stop = ours.get((one["problem"], one["algorithm"]["name"], one["cache"], one["launch"]), (None, 0, ""))
            if median and stop != "shortlist":
                differences.append(abs(median / one["stats"]["median_ns"] - 1))
    if not differences:
        return print("medians: nothing to compare")
    close = sum(d <= AGREE for d in differences) / len(differences)
    print(f"medians beside {ENTRY_S} s for each algorithm and state: {len(differences)} of {min(options.sample, len(pairs))} problems, "
          f"{jobs_s:.0f} s; "
          f"{100 * close:.0f}% within {100 * AGREE:.0f}%, half of them within {100 * statistics.median(differences):.1f}%, "
          f"largest {100 * max(differences):.1f}%")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    parser.add_argument("--benanza", default=str(TOP / "build/benanza"))
    parser.add_argument("--runner", help="default: benanza-runner-cpu beside benanza")
    parser.add_argument("--unshared", type=int, default=1, help="models whose layers are all measured separately")
    parser.add_argument("--sample", type=int, default=20, help="problems that are measured with the original's time")
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-b", "--batch", type=int, default=1)
    options = parser.parse_args()
    options.runner = options.runner or str(pathlib.Path(options.benanza).resolve().parent / "benanza-runner-cpu")
    if not os.access(options.runner, os.X_OK):
        print(f"no runner at {options.runner}", file=sys.stderr)
        return 77
    models = options.models or sorted((TOP / "data/models").glob("*.onnx"), key=lambda path: path.stat().st_size)
    print(f"{'model':18} {'problems':>8} {'entries':>8} {'wall s':>8} {'peaks s':>8} {'unshared':>9} {'':6} {'original':>9} {'':6} "
          f"{'again s':>8} {'sent':>6}  ETA off")
    with tempfile.TemporaryDirectory() as folder:
        kept, sums = [], [0, 0, 0]
        for number, model in enumerate(models):
            database, jobs, times = one_model(options, model, folder, number < options.unshared)
            kept.append((database, jobs))
            sums = [a + b for a, b in zip(sums, times)]
        print(f"all: {sums[0]:.1f} s; without sharing ~{sums[1] / sums[0]:.1f}x, the original's practice ~{sums[2] / sums[0]:.1f}x")
        if options.sample:
            agreement(options, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())

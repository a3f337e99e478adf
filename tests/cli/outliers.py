#!/usr/bin/env python3
"""Wrong results that get into a database beside the right ones: no total believes them. Every problem of a
small model has results of two algorithms in two launch modes, as a runner sends them; then one wrong result
is imported for each. Wrong results that a runner sends (this file with the argument --runner): bench measures
what they make doubtful again. TAP; Python's own library alone."""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, Tap, environment_at, program  # noqa: E402

MODEL = str(ROOT / "tests/models/tiny.onnx")
HELLO = {"magic": "BENANZA-RUNNER", "protocol": 1, "runner": "outliers", "version": "1", "name": "outliers",
         "model": "Some processor", "stack": "library 1, 2 threads", "threads": 2, "llc_bytes": 8388608,
         "has_matrix": False, "host": "here", "jobs": ["problem"], "attributes": {}}
STATES = ("amortized", "isolated")


def quantile(values, q):
    at = q * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def sketch(values):
    """As stats_sketch (src/problem/stats.h)."""
    counts = {}
    for v in values:
        bucket = math.ceil(math.log(v) / math.log(1.01))
        counts[bucket] = counts.get(bucket, 0) + 1
    last, words = 0, []
    for bucket in sorted(counts):
        words += [str(bucket - last), str(counts[bucket])]
        last = bucket
    return " ".join(words)


def result(problem, name, rank, launch, ns, date, samples=30, stop="converged"):
    """A result of `samples` samples from ns to 1% more."""
    values = sorted(ns * (1 + 0.01 * i / samples) for i in range(samples))
    mean = sum(values) / samples
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (samples - 1)) if samples > 1 else None
    stats = {"n": samples, "discarded": 0, "executions": 1, "min_ns": values[0],
             "q1_ns": quantile(values, 0.25), "median_ns": quantile(values, 0.5),
             "q3_ns": quantile(values, 0.75), "mean_ns": mean, "stdev_ns": deviation,
             "lo_ns": values[0] if samples > 1 else None, "hi_ns": values[-1] if samples > 1 else None,
             "p10_ns": quantile(values, 0.1), "stop": stop}
    if samples > 1:
        stats |= {"p10_lo_ns": values[0], "p10_hi_ns": values[samples // 3]}
    return {"type": "result", "id": 1, "result": {
        "problem": problem, "algorithm": {"api": "oneDNN", "name": name, "layouts": "", "math": "strict",
                                          "rank": rank, "matrix": "no", "workspace_bytes": 0, "notes": ""},
        "status": "ok", "cache": "net", "launch": launch, "stats": stats, "why": "", "kernels": "",
        "enqueue_ns": None, "clock_mhz": None, "measured_at": date, "runner_version": "1",
        "sketch": sketch(values)}}


class Database:
    """A database of its own, for the invented device."""

    def __init__(self, folder):
        self.path, self.folder = str(pathlib.Path(folder) / "outliers.db"), folder

    def run(self, *argv, **more):
        return subprocess.run([program(), *argv], env=environment_at(self.folder), text=True,
                              capture_output=True, check=False, **more)

    def add(self, *lines):
        text = "".join(json.dumps(line) + "\n" for line in (HELLO, *lines))
        done = self.run("db", "import", "--db", self.path, "-", input=text)
        assert done.returncode == 0, done.stderr

    def bound(self):
        done = self.run("bound", "--json", "--db", self.path, "-d", "outliers", "-w", "fusion", MODEL)
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)


def problems(database):
    done = database.run("bench", "--emit-jobs", MODEL)
    jobs = [json.loads(line)["problem"] for line in done.stdout.splitlines()]
    return [p for p in jobs if not p.startswith("copy:") and "k4096:" not in p and "576" not in p]


def fill(database, texts):
    """The right results: 100 us and more, each algorithm 10% apart."""
    lines = []
    for i, problem in enumerate(texts):
        for launch in STATES:
            for rank, name in enumerate(("first", "second")):
                ns = (100e3 + 1e3 * i) * (1 + 0.1 * rank) * (1.02 if launch == "isolated" else 1)
                lines.append(result(problem, name, rank, launch, ns, 1700000000))
        lines.append({"type": "done", "id": 1, "status": "ok", "why": "", "caches": ["net"],
                      "launches": list(STATES), "problem": problem})
    database.add(*lines)


OUTLIERS = {
    "one sample, 100 times too slow": {"ns": 100e5, "samples": 1},
    "30 samples, 3 times too slow": {"ns": 300e3},
    "noisy, 100 times too slow": {"ns": 100e5, "stop": "disturbed"},
    "30 samples, 100 times too fast": {"ns": 1e3},
    "30 samples, 2 times too fast": {"ns": 50e3},
    "one sample, 100 times too fast": {"ns": 1e3, "samples": 1},
}


def add_outliers(tap, what, how, count):
    with tempfile.TemporaryDirectory() as folder:
        database = Database(folder)
        texts = problems(database)[:count]
        fill(database, texts)
        before = database.bound()
        lo, hi = before["interval_ns"]
        for n, problem in enumerate(texts):
            for launch in STATES:
                database.add(result(problem, "first", 0, launch, how["ns"], 1700001000 + n,
                                    how.get("samples", 30), how.get("stop", "converged")))
        after = database.bound()
        tap.result(f"{what}: the bound stays in its interval", [] if lo <= after["bound_ns"] <= hi else
                   [f"{after['bound_ns'] / 1e3:.1f} us is not in [{lo / 1e3:.1f}, {hi / 1e3:.1f}] us"])
        full = how.get("samples", 30) > 1 and how.get("stop") != "disturbed"
        disputed = sum(bool(layer.get("disputed")) for layer in after["layers"])
        tap.result(f"{what}: {'disputed' if full else 'not disputed'}",
                   [] if (disputed > 0) == full else [f"{disputed} layers are disputed"])
        # measured once more, the right ones repeat
        for problem in texts:
            for launch in STATES:
                ns = (100e3 + 1e3 * texts.index(problem)) * (1.02 if launch == "isolated" else 1)
                database.add(result(problem, "first", 0, launch, 1.002 * ns, 1700002000))
        settled = database.bound()
        good = lo <= settled["bound_ns"] <= 1.005 * hi
        left = sum(bool(layer.get("disputed")) for layer in settled["layers"])
        tap.result(f"{what}: measured once more, nothing is disputed", [] if good and not left else
                   [f"{settled['bound_ns'] / 1e3:.1f} us, {left} layers are disputed"])


PEAK = "m576n576k576"
ROWS = str(ROOT / "tests/models/rows.onnx")


def runner(log, version, jobs, wrong):
    """Measures nothing: products run at 100 FLOP/ns, the peak's the first `wrong` times at 30."""
    print(json.dumps({**HELLO, "version": version, "jobs": jobs.split(",")}), flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        if job["type"] != "run":
            break
        kind, problem = job.get("kind", "problem"), job.get("payload") or job.get("problem")
        with open(log, "a", encoding="utf-8") as out:
            print(kind, problem, file=out)
        with open(log, encoding="utf-8") as text:
            times = text.read().count(problem)
        slow = PEAK in problem and times <= int(wrong)
        sizes = re.search("m([0-9]+)n([0-9]+)k([0-9]+)", problem)
        flops = 2 * math.prod(map(int, sizes.groups())) if sizes else 100
        ns = (1 + 0.001 * times) * flops / (30 if slow else 100)
        for launch in job["launches"]:
            one = result(problem, "first", 0, launch, ns, 1700000000)
            one["result"]["algorithm"]["notes"] = "" if PEAK in problem else "unchecked"
            one["result"] |= {"runner_version": version, "cache": "net"}
            print(json.dumps({**one, "id": job["id"], "kind": kind}))
        done = {"type": "done", "id": job["id"], "kind": kind, "payload": problem, "status": "ok"}
        print(json.dumps(done), flush=True)


def bench(database, version, jobs, wrong=0):
    """Runs bench. Returns the lines of the runner's log."""
    log, config = (pathlib.Path(database.folder, name) for name in ("log", "config.yaml"))
    log.write_text("")
    words = [sys.executable, __file__, "--runner", str(log), version, jobs, str(wrong)]
    config.write_text(f"runners: {{outliers: {json.dumps(words)}}}\n")
    done = database.run("bench", "-c", str(config), "-d", "outliers", "--db", database.path, ROWS)
    assert done.returncode == 0, done.stderr
    return log.read_text().splitlines()


def doubted(tap):
    with tempfile.TemporaryDirectory() as folder:
        database = Database(folder)
        log = bench(database, "1", "problem,repeat", wrong=1)
        peaks = sum(PEAK in line for line in log)
        tap.result("a peak that is measured too slow makes products suspect; the third time decides",
                   [] if peaks == 3 else [f"measured {peaks} times", *log[10:]])
        done = database.run("bound", "--json", "--db", database.path, "-d", "outliers", ROWS)
        suspect = json.loads(done.stdout)["mistrusted"]["layers"]
        tap.result("nothing is suspect then", [f"{suspect} layers"] if suspect else [])
    with tempfile.TemporaryDirectory() as folder:
        database = Database(folder)
        bench(database, "1", "problem")
        for version, again in (("2", False), ("1", True)):
            log = bench(database, version, "problem,repeat")
            repeats = sum(line.startswith("repeat") for line in log)
            tap.result(f"stored results of version 1 are {'' if again else 'not '}repeated by {version}",
                       [] if bool(repeats) == again else [f"{repeats} repeats", *log])


def main():
    if sys.argv[1:2] == ["--runner"]:
        return runner(*sys.argv[2:])
    tap = Tap()
    for what, how in OUTLIERS.items():
        add_outliers(tap, what, how, 99)
    doubted(tap)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

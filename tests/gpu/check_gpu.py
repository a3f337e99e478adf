#!/usr/bin/env python3
"""Tests that need a GPU, in slices that can be resumed; `make check-gpu` runs it.

    tests/gpu/check_gpu.py --runner benanza-runner-cuda --out FOLDER [--minutes 7.5] [--part NAME,...] [--jobs FILE...]

Needs only Python's standard library and the runner. All answers stay in FOLDER; the same command continues
where the last one stopped. Parts, the most important first:

  correct     every kernel family and data type, up to 8 algorithms each, against plain C (problems.txt)
  bandwidth   our data movement kernels on at least four times the L2 cache: strided copies reach 90%,
              transposes 80% of a copy
  models      the jobs of the bundled models (--jobs, made by `benanza bench --emit-jobs`) into recorded.jsonl
  repeat      a new process measures the problems again: 95% agree within 2% (from 20 us on) or 5% (below)
  sanitizer   a sample of problems under compute-sanitizer, if it is installed

Prints TAP. Skipped without a device.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TYPES = ("f32", "f16", "bf16")
BUDGET_MS = 50
ALGORITHMS = 8
# algorithms per problem of the models: trying them takes more GPU time than the full measurements
MODEL_ALGORITHMS = 16
# run-time compiled cuDNN algorithms per problem (half a second or more each), unless
# $BENANZA_CUDNN_COMPILED is set
COMPILED = "1"
# maximum losses of the device per part: each ends a runner, and the next one continues after the problem
LOSSES = 50


def problems(path):
    """Returns the lines of problems.txt with T replaced by each type, without duplicates."""
    seen = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        # T is replaced only as a whole word between punctuation
        words = line.replace(":", " : ").replace(",", " , ").replace("/", " / ").replace("@", " @ ")
        words = words.replace(".", " . ").replace("+", " + ").split(" ")
        for type_ in TYPES if "T" in words else ("",):
            seen["".join(type_ if w == "T" else w for w in words)] = True
    return list(seen)


def job(number, problem, budget_ms=BUDGET_MS, launches=("amortized",), caches=("net",)):
    return json.dumps({"type": "run", "id": number, "problem": problem, "budget_ms": budget_ms,
                       "caches": list(caches), "launches": list(launches)})


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def say(self, good, name, *details):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        for detail in details:
            print(f"# {detail}")
        sys.stdout.flush()

    def skip(self, name, why):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {why}", flush=True)


class Check:
    def __init__(self, args):
        self.runner, self.out, self.args = args.runner, pathlib.Path(args.out), args
        self.until = time.monotonic() + args.minutes * 60
        self.tap = Tap()
        self.out.mkdir(parents=True, exist_ok=True)
        self.unfinished = []

    def command(self, *words):
        return [self.runner, *(["--device", self.args.device] if self.args.device else []), *words]

    def left(self):
        return self.until - time.monotonic()

    def work(self, name, want, path, options):
        """Runs one runner on the jobs. Returns its exit status; None if the time ran out."""
        with open(want, encoding="utf-8") as jobs_in, open(self.out / f"{name}.err", "a", encoding="utf-8") as err:
            p = subprocess.Popen(self.command(*options, "--output", str(path)), stdin=jobs_in, stderr=err)
            try:
                return p.wait(timeout=self.left())
            except subprocess.TimeoutExpired:
                p.send_signal(signal.SIGTERM)
                p.wait()
                return None

    def feed(self, name, jobs, *options, into=None):
        """Runs jobs into FOLDER/INTO.jsonl (default NAME). Returns the lines of the file; None if unfinished."""
        path, want = self.out / f"{into or name}.jsonl", self.out / f"{name}.jobs"
        want.write_text("\n".join(jobs) + "\n", encoding="utf-8")
        status, answered = 3, None
        for _ in range(LOSSES):
            if self.left() < 5:
                self.unfinished.append(name)
                return None
            before, status = answered, self.work(name, want, path, options)
            answered = path.stat().st_size if path.exists() else 0
            if status is None:
                self.unfinished.append(name)
                return None
            if status != 3 or answered == before:
                break
            print(f"# {name}: the runner lost the device; starting another one", flush=True)
        if status not in (0, 1):
            tail = (self.out / f"{name}.err").read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
            self.tap.say(False, f"{name}: the runner exits normally", f"exit status {status}", *tail)
            self.unfinished.append(name)
            return None
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("{")]

    # --- parts ---

    def correct(self):
        jobs = [job(i + 1, p) for i, p in enumerate(problems(self.args.problems))]
        lines = self.feed("correct", jobs, "--check", "--algorithms", str(ALGORITHMS))
        if lines is None:
            return
        by_problem = {}
        for line in lines:
            if line.get("type") == "check":
                by_problem.setdefault(line["problem"], []).append(line)
        refused = {x["problem"]: x["why"] for x in lines if x.get("type") == "done" and x["status"] != "ok"}
        unchecked = 0
        for problem in [json.loads(j)["problem"] for j in jobs]:
            checks = by_problem.get(problem, [])
            if not checks:
                self.tap.skip(problem, refused.get(problem, "no answer").replace("\n", " ")[:160])
                continue
            right = [c for c in checks if c["status"] == "ok" and c["worst"] is not None]
            unchecked += sum(c["status"] == "ok" and c["worst"] is None for c in checks)
            wrong = [c for c in checks if c["status"] not in ("ok", "unsupported", "no_memory")]
            self.tap.say(not wrong, f"{problem}: {len(right)} of {len(checks)} algorithms correct",
                         *(f"{c['status']} {c['algorithm']['api']} {c['algorithm']['name']}: error {c['worst']}, "
                           f"tolerance {c['allowed']} {c['why']}" for c in wrong))
        self.tap.say(True, f"correct: {len(by_problem)} problems checked, {len(refused)} refused, "
                           f"{unchecked} algorithms without reference values")

    def bandwidth(self):
        info = json.loads(subprocess.run(self.command("--info", "--json"), capture_output=True, text=True,
                                         check=True).stdout)
        # tensors of n x 1024 x 1024 f32 exceed the cache
        n = int(4 * (info.get("llc_bytes") or 64e6)) // (4 * 1024 * 1024) + 1
        copy = f"copy:u8,u8:b{n * 4 * 1024 * 1024}"
        judged = {
            f"transpose:f32,f32:{n}x1024x1024:perm0x2x1": 0.8,
            f"transpose:f16,f16:{2 * n}x1024x1024:perm0x2x1": 0.8,
            f"transpose:f32,f32:{n}x64x128x128:perm0x2x3x1": 0.8,
            f"cast:f32@s{2 * 1024 * 1024}x1024x1,f32:{n}x1024x1024": 0.9,
            f"cast:f16@s{4 * 1024 * 1024}x2048x1,f16:{n}x2048x1024": 0.9,
            f"gather:f32.c,s64,f32:{n * 1024}x1024:ax0:{n * 1024}": None,
        }
        lines = self.feed("bandwidth", [job(i + 1, p, 200) for i, p in enumerate([copy, *judged])])
        if lines is None:
            return
        best = {}
        for line in lines:
            r = line.get("result", {})
            if r.get("status") == "ok" and r["algorithm"]["api"] in ("benanza", "CUDA"):
                best[r["problem"]] = min(best.get(r["problem"], float("inf")), r["stats"]["median_ns"])
        if copy not in best:
            self.tap.say(False, "bandwidth: the copy was measured")
            return
        rate = 2 * n * 4 * 1024 * 1024 / best[copy]
        self.tap.say(True, f"bandwidth: copy {rate:.0f} GB/s, {n * 4} MiB read and written")
        for problem, least in judged.items():
            if problem not in best:
                self.tap.say(False, f"bandwidth: {problem} was measured")
                continue
            share = best[copy] / best[problem]  # all move as many bytes as the copy
            name = f"bandwidth: {problem} {100 * share:.0f}% of the copy"
            required = "" if least is None else f", required {100 * least:.0f}%"
            self.tap.say(least is None or share >= least, name + required)

    def models(self):
        if not self.args.jobs:
            self.tap.skip("models", "no --jobs given")
        for path in self.args.jobs:
            path = pathlib.Path(path)
            jobs = [line for line in path.read_text(encoding="utf-8").splitlines() if line]
            lines = self.feed(f"models-{path.stem}", jobs, "--budget-ms", str(BUDGET_MS), "--algorithms",
                              str(self.args.algorithms), into="recorded")
            if lines is None:
                return
            wanted = {json.loads(j)["problem"] for j in jobs}
            done = list({x["problem"]: x for x in lines if x.get("type") == "done" and x["problem"] in wanted}.values())
            by = {}
            for x in done:
                by[x["status"]] = by.get(x["status"], 0) + 1
            bad = [x for x in done if x["status"] in ("failed", "crashed", "timeout", "mistrusted")]
            self.tap.say(not bad, f"models: {path.stem}: " + ", ".join(f"{n} {s}" for s, n in sorted(by.items())),
                         *(f"{x.get('problem', x['id'])}: {x['status']}: {x['why']}" for x in bad[:10]))

    def repeat(self):
        chosen = problems(self.args.problems)[::5]
        jobs = [job(i + 1, p, 200) for i, p in enumerate(chosen)]
        medians = []
        for name in ("repeat-1", "repeat-2"):
            lines = self.feed(name, jobs)
            if lines is None:
                return
            medians.append({(x["result"]["problem"], *(x["result"]["algorithm"][k] for k in ("name", "api", "layouts", "math")),
                             x["result"]["cache"], x["result"]["launch"]): x["result"]["stats"]["median_ns"] for x in lines
                            if x.get("type") == "result" and x["result"]["status"] == "ok" and
                            x["result"]["stats"]["stop"] != "shortlist"})
        both = [k for k in medians[0] if k in medians[1]]
        off = [k for k in both if abs(medians[1][k] / medians[0][k] - 1) > (0.02 if medians[0][k] >= 20e3 else 0.05)]
        share = 1 - len(off) / len(both) if both else 0
        self.tap.say(share >= 0.95, f"repeat: {100 * share:.1f}% of {len(both)} medians agree",
                     *(f"{k[0]} {k[1]}: {medians[0][k]:.0f} ns, then {medians[1][k]:.0f}" for k in off[:20]))

    def sanitizer(self):
        tool = shutil.which("compute-sanitizer")
        if not tool:
            self.tap.skip("sanitizer", "compute-sanitizer is not installed")
            return
        for i, problem in enumerate(problems(self.args.problems)[::12]):
            if self.left() < 30:
                self.unfinished.append("sanitizer")
                return
            try:
                p = subprocess.run([tool, "--error-exitcode", "99", *self.command("--problem", problem, "--check",
                                                                                   "--algorithms", "2")],
                                   capture_output=True, text=True, timeout=self.left())
            except subprocess.TimeoutExpired:
                self.unfinished.append("sanitizer")
                return
            self.tap.say(p.returncode != 99, f"sanitizer: {problem}", *p.stdout.splitlines()[-3:] if p.returncode == 99 else [])

    def run(self):
        for name in self.args.part:
            getattr(self, name)()
        if self.unfinished:
            print(f"# time is up before: {', '.join(self.unfinished)}; run the same command to continue")
        print(f"1..{self.tap.count}")
        print(f"# {self.tap.count - self.tap.failed} passed, {self.tap.failed} failed")
        return 1 if self.tap.failed else 3 if self.unfinished else 0


PARTS = ["correct", "bandwidth", "models", "repeat", "sanitizer"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--device")
    parser.add_argument("--algorithms", type=int, default=MODEL_ALGORITHMS, help="maximum per problem of the models")
    parser.add_argument("--minutes", type=float, default=7.5)
    parser.add_argument("--part", type=lambda t: t.split(","), default=PARTS)
    parser.add_argument("--problems", type=pathlib.Path, default=HERE / "problems.txt")
    parser.add_argument("--jobs", nargs="*", default=[])
    args = parser.parse_args()
    for part in args.part:
        if part not in PARTS:
            parser.error(f"unknown part {part}; available: {', '.join(PARTS)}")
    os.environ.setdefault("BENANZA_CUDNN_COMPILED", COMPILED)
    info = subprocess.run([args.runner, *(["--device", args.device] if args.device else []), "--info"],
                          capture_output=True, text=True)
    if info.returncode == 3:
        print(f"1..0 # SKIP {info.stderr.strip().splitlines()[-1] if info.stderr.strip() else 'no device'}")
        return 0
    if info.returncode:
        print(f"Bail out! {args.runner} --info: exit status {info.returncode}: {info.stderr.strip()[-300:]}")
        return 2
    return Check(args).run()


if __name__ == "__main__":
    sys.exit(main())

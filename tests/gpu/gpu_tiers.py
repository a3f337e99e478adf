"""The tiers after `smoke`, from first to sanitize. Each resumes where its files end."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import gpu_clock
import gpu_feed
import gpu_manifest
import gpu_smoke
import gpu_traffic
from gpu_smoke import ALL_COMPILED, FEW_COMPILED

CORRECT_ALGORITHMS = 8
# algorithms per problem of the models: trying them takes more GPU time than the full measurements
RECORD_ALGORITHMS = 16
FIRST_ALGORITHMS = 6
# whose own kernels exchange values in shared memory: rows, scans, tiles, columns
SHARED_MEMORY = ("softmax", "layernorm", "rmsnorm", "instancenorm", "groupnorm", "reduce", "argreduce",
                 "scan", "topk", "transpose", "quantize")
# and products of 8-bit integers that no library has
SHARED_TILES = re.compile(r"(matmul|conv):(u8,u8,|u8,s8,|s8,u8)")
# how the tools of compute-sanitizer end if they found nothing
CLEAN = re.compile(r"ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards")
BUDGET_MS = 50
PROBE = "import sys, torch; sys.exit(not torch.cuda.is_available())"
WRONG = ("failed", "crashed", "timeout", "mistrusted")


def without_net(line):
    """The job without the states of cold caches; without constants net is as warm."""
    job = json.loads(line)
    constant = ".c" in job["problem"]
    return json.dumps({**job, "caches": ["warm"]}) if constant else line


def tool_of(name):
    """The path of a tool of the toolkit; None if it is not installed."""
    toolkit = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin" / name
    return shutil.which(name) or (str(toolkit) if toolkit.exists() else None)


class Tiers:
    """Each tier is a method; it returns True if nothing is left to do, or the reason why it is skipped."""

    def __init__(self, feeder, info, manifest, args):
        self.feeder, self.tap, self.info, self.manifest, self.args = feeder, feeder.tap, info, manifest, args
        self.sm = (info.get("attributes") or {}).get("sm") or 0
        self.problems = gpu_manifest.problems(args.problems)
        self.without_net = False  # record: smoke found this state of the caches wrong

    def feed(self, name, jobs, options, until, variables=None, kind=""):
        answers = self.feeder.feed(name, jobs, options, until, variables, kind)
        for problem, why in answers.given_up.items():
            self.tap.say(False, f"{name}: {problem}", why)
        if answers.broken:
            self.tap.say(False, f"{name}: the runner works", answers.broken)
        if answers.open:
            self.tap.note(f"{name}: {len(answers.open)} of {len(jobs)} problems are left")
        return answers

    # --- correct ---

    def correct(self, until):
        """Every kernel family against plain C; then, for a quarter of the time, all problems listed as the
        manifest demands."""
        listing_s = (until - gpu_clock.now()) / 4
        checked, listed = self.check(until - listing_s), self.list(until)
        return checked and listed

    def list(self, until):
        listed = self.feed("list", gpu_manifest.list_jobs(self.problems), (), until, ALL_COMPILED)
        for problem, counts in gpu_manifest.counts_of(listed.lines, self.problems).items():
            missing = self.manifest.missing(problem, self.sm, counts)
            if missing:
                self.tap.say(False, f"{problem}: as many algorithms as the manifest demands", *missing)
        self.tap.note(f"correct: {len(listed.done)} of {len(self.problems)} problems listed")
        return not listed.late

    def check(self, until):
        jobs = [gpu_feed.job(i, p, BUDGET_MS) for i, p in enumerate(self.problems, 1)]
        answers = self.feed("correct", jobs, ("--check", "--algorithms", CORRECT_ALGORITHMS), until,
                            FEW_COMPILED)
        checks = {}
        for line in answers.lines:
            if line.get("type") == "check":
                checks.setdefault(line["problem"], []).append(line)
        for problem, done in answers.done.items():
            self.judge(problem, checks.get(problem, []), done.get("why", ""))
        return not answers.late

    def judge(self, problem, checks, why):
        right = {c["algorithm"]["api"] for c in checks if c["status"] == "ok"}
        wrong = [c for c in checks if c["status"] not in ("ok", "unsupported", "no_memory")]
        absent = [f"no algorithm of {api} was right" for api in self.manifest.expected(problem, self.sm)
                  if api not in right]
        if not checks and not absent:
            self.tap.skip(problem, why or "no algorithm")
            return
        good = sum(c["status"] == "ok" for c in checks)
        self.tap.say(not wrong and not absent, f"{problem}: {good} of {len(checks)} algorithms correct",
                     *absent, *([why] if absent and why else []),
                     *(f"{c['status']} {c['algorithm']['api']} {c['algorithm']['name']}: error {c['worst']}, "
                       f"tolerance {c['allowed']} {c['why']}" for c in wrong))

    # --- record ---

    def first(self, until):
        """One model after the other, each with what its bound needs before the next begins, from few
        algorithms; behind each the same model in PyTorch."""
        if not self.args.first:
            return "no first-MODEL.jsonl among --jobs"
        for path in self.args.first:
            if self.models("first", [path], FIRST_ALGORITHMS, until):
                return False
            names = (path.stem.removeprefix("first-"), "--batch", "1", "--dtype", "f16")
            why = self.torch(until, names)
            if isinstance(why, str):
                self.tap.note(f"first: {path.stem}: no PyTorch: {why}")
            elif not why:
                return False
        return True

    def record(self, until):
        """The jobs of the bundled models, in the order given: the most valuable first."""
        if not self.args.jobs:
            return "no --jobs given"
        return not self.models("recorded", self.args.jobs, self.args.algorithms, until)

    def models(self, name, paths, algorithms, until):
        """Files of jobs into NAME.jsonl. Returns True if time ran out."""
        files = {path: path.read_text(encoding="utf-8").split("\n") for path in paths}
        jobs = {json.loads(line)["problem"]: line for lines in files.values() for line in lines if line}
        if self.without_net:
            jobs = {problem: without_net(line) for problem, line in jobs.items()}
            self.tap.note(f"{name}: without the state net, which smoke found wrong")
            name += "-warm"  # tools/record.py does not take it: problems would be complete without net
        options = ("--budget-ms", BUDGET_MS, "--algorithms", algorithms)
        answers = self.feed(name, list(jobs.values()), options, until, kind="done")
        for path, lines in files.items():
            wanted = dict.fromkeys(json.loads(line)["problem"] for line in lines if line)
            done = [answers.done[p] for p in wanted if p in answers.done]
            if not done:
                continue
            by = {}
            for x in done:
                by[x["status"]] = by.get(x["status"], 0) + 1
            bad = [x for x in done if x["status"] in WRONG]
            self.tap.say(not bad, f"{name}: {path.stem}: {len(done)} of {len(wanted)} problems: " +
                         ", ".join(f"{n} {s}" for s, n in sorted(by.items())),
                         *(f"{x['problem']}: {x['status']}: {x.get('why', '')}" for x in bad[:10]))
        return answers.late

    # --- PyTorch ---

    def torch(self, until, names=()):
        """The same architectures in PyTorch, eager and compiled: tools/torch_models.py; all, or these words
        of its command line."""
        here = self.args.here
        tool = next((p / "torch_models.py" for p in (here, here.parents[1] / "tools")
                     if (p / "torch_models.py").exists()), None)
        if not tool:
            return "torch_models.py is not there"
        try:
            probe = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True,
                                   timeout=max(until - gpu_clock.now(), 1))
        except subprocess.TimeoutExpired:
            return False
        if probe.returncode:
            last = probe.stderr.strip().splitlines()[-1:] or ["torch finds no GPU"]
            return last[0]
        path = self.feeder.folder / "torch.jsonl"
        with open(self.feeder.folder / "torch.err", "a", encoding="utf-8") as err:
            p = subprocess.Popen([sys.executable, tool, "time", *names, "--output", path],
                                 stdout=subprocess.DEVNULL, stderr=err, preexec_fn=gpu_feed.end_with_parent)
            try:
                while p.poll() is None and gpu_clock.now() < until:
                    gpu_clock.sleep(gpu_feed.POLL_S)
                    self.feeder.tick()
                late = p.poll() is None
            finally:
                gpu_feed.end(p)
        lines = gpu_feed.read_lines(path)
        timed = [x for x in lines if "median_ns" in x]
        errors = [f"{x['model']} batch {x['batch']} {x['dtype']} {x['mode']}: {x['error']}"
                  for x in lines if "error" in x]
        if timed or not late:
            self.tap.say(timed, f"torch: {len(timed)} latencies, {len(errors)} not measured", *errors[:10])
        return not late

    # --- repeat ---

    def repeat(self, until):
        """Own kernels against a copy; the same problems in two processes."""
        half = gpu_clock.now() + (until - gpu_clock.now()) / 4
        return self.bandwidth(half) & self.again(until)

    def bandwidth(self, until):
        """Strided copies reach 90%, transposes 80% of a copy of at least four times the L2 cache."""
        n = int(4 * (self.info.get("llc_bytes") or 64e6)) // (4 * 1024 * 1024) + 1
        copy = f"copy:u8,u8:b{n * 4 * 1024 * 1024}"
        judged = {
            f"transpose:f32,f32:{n}x1024x1024:perm0x2x1": 0.8,
            f"transpose:f16,f16:{2 * n}x1024x1024:perm0x2x1": 0.8,
            f"transpose:f32,f32:{n}x64x128x128:perm0x2x3x1": 0.8,
            f"cast:f32@s{2 * 1024 * 1024}x1024x1,f32:{n}x1024x1024": 0.9,
            f"cast:f16@s{4 * 1024 * 1024}x2048x1,f16:{n}x2048x1024": 0.9,
            f"gather:f32.c,s64,f32:{n * 1024}x1024:ax0:{n * 1024}": 0,
        }
        jobs = [gpu_feed.job(i, p, 200) for i, p in enumerate([copy, *judged], 1)]
        answers = self.feed("bandwidth", jobs, (), until, FEW_COMPILED)
        best = {}
        for r in answers.results(finalists=False):
            if r["algorithm"]["api"] in ("benanza", "CUDA"):
                best[r["problem"]] = min(best.get(r["problem"], float("inf")), r["stats"]["median_ns"])
        for problem, least in judged.items():
            if problem not in answers.done or copy not in answers.done:
                continue
            share = best[copy] / best[problem] if copy in best and problem in best else 0  # as many bytes
            self.tap.say(share >= least and share > 0, f"bandwidth: {problem} {100 * share:.0f}% of the "
                         f"copy, required {100 * least:.0f}%")
        return not answers.late

    def again(self, until):
        chosen = self.problems[::5]
        jobs = [gpu_feed.job(i, p, 200) for i, p in enumerate(chosen, 1)]
        medians = []
        for name in ("repeat-1", "repeat-2"):
            answers = self.feed(name, jobs, (), until, FEW_COMPILED)
            if not answers.complete:
                return not answers.late
            medians.append(gpu_smoke.medians(answers))
        share, count, off = gpu_smoke.agreement(*medians)
        self.tap.say(share >= 0.95, f"repeat: {100 * share:.1f}% of {count} medians agree, required 95%",
                     *off)
        return True

    # --- sanitize ---

    def sanitize(self, until):
        """A sample of problems under compute-sanitizer's memcheck."""
        return self.sanitized("sanitize", "memcheck", self.problems[::12], until)

    def races(self, until):
        """One problem and type of each of our kernels that use shared memory, under its racecheck."""
        chosen = {(gpu_manifest.kernel_of(p), p.split(":")[1]): p for p in reversed(self.problems)
                  if gpu_manifest.kernel_of(p) in SHARED_MEMORY or SHARED_TILES.match(p)}
        return self.sanitized("races", "racecheck", list(chosen.values()), until)

    def traffic(self, until):
        """The cache states by the bytes that a row times a matrix reads from memory, as ncu counts them."""
        tool, found = tool_of("ncu"), {}
        if not tool:
            return "ncu is not installed"
        for cache in ("net", "warm"):
            command = [tool, *gpu_traffic.OPTIONS, *self.feeder.command(
                "--problem", gpu_smoke.ROW, "--cache", cache, "--launch", "isolated", "--budget-ms", "5",
                "--algorithms", "1", "--json")]
            done = self.finish(command, until, LC_ALL="C")
            if done is None:
                return False
            (self.feeder.folder / f"traffic-{cache}.txt").write_text(done.stdout + done.stderr)
            refused = gpu_traffic.NOT_ALLOWED.search(done.stdout + done.stderr)
            if refused:
                return refused[0]
            try:
                found[cache] = gpu_traffic.read(done.stdout)
            except gpu_traffic.Unreadable as e:
                self.tap.say(False, f"traffic: ncu counts in the state {cache}",
                             f"exit status {done.returncode}", str(e), *done.stderr.splitlines()[-3:])
                return True
        cache = self.info.get("llc_bytes") or 0
        for good, text in gpu_traffic.judge(found["net"], found["warm"], gpu_smoke.ROW_BYTES, cache):
            self.tap.say(good, f"traffic: {text}")
        return True

    def finish(self, command, until, **variables):
        """Runs a command to its end; None if time ran out."""
        try:
            return subprocess.run(command, capture_output=True, text=True, errors="replace",
                                  env={**gpu_feed.environment(self.args.libraries), **variables},
                                  timeout=max(until - gpu_clock.now(), 0.1))
        except subprocess.TimeoutExpired:
            return None

    def sanitized(self, name, check, problems, until):
        tool = tool_of("compute-sanitizer")
        if not tool:
            return "compute-sanitizer is not installed"
        verdicts, whole = self.feeder.state.section(name), True
        for problem in problems:
            if problem not in verdicts:
                verdict = self.sanitize_one([tool, "--tool", check], problem, until)
                if verdict is None:
                    whole = False
                    break
                verdicts[problem] = verdict
                self.feeder.state.save()
            self.tap.say(not verdicts[problem], f"{name}: {problem}", *verdicts[problem])
        return whole

    def sanitize_one(self, tool, problem, until):
        """What it found, or why it did not run: lines, none if nothing; None if time ran out."""
        if gpu_clock.now() >= until:
            return None
        command = [*tool, "--error-exitcode", "99", *self.feeder.command("--problem", problem, "--check",
                                                                        "--algorithms", "2")]
        p = self.finish(command, until)
        if p is None:
            return None
        self.feeder.tick()
        clean = p.returncode != 99 and CLEAN.search(p.stdout)
        return [] if clean else [f"exit status {p.returncode}", *(p.stdout + p.stderr).splitlines()[-3:]]

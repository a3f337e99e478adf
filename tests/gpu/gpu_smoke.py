"""The tier `smoke`: four minutes that say whether anything measured here can be believed.

Limits come from physics and from the host's clock, not from another measurement of the same runner: bytes
that cannot cross the memory bus faster than its width and clock allow, multiply-adds per clock and
multiprocessor, wall time.
"""

import json
import re

import gpu_clock
import gpu_feed
import gpu_manifest

PROBLEMS = 40
TWICE = 20
BUDGET_MS = 30
GIB = 1 << 30
# a kernel that hangs costs little of the four minutes
STEP_LIMIT = ("--step-limit", "30")
# run-time compiled cuDNN engines per problem: one is a second. Listing compiles none.
FEW_COMPILED = {"BENANZA_CUDNN_COMPILED": "1"}
NO_KEPT = {"BENANZA_PLAN_CACHE": "none"}
ALL_COMPILED = {"BENANZA_CUDNN_COMPILED": "200"}

# f16 operations (a multiply-add is two) per clock and multiprocessor with f32 sums, by compute capability:
# NVIDIA's whitepapers of the architectures; tests/gpu/tiers.py holds it against data/devices/*.json.
F16_PER_CLOCK = {70: 1024, 75: 1024, 80: 2048, 86: 1024, 89: 1024, 90: 4096, 100: 8192, 103: 8192, 120: 1024}
GEMM = "matmul:f16,f16.c,f16/f32:ba1bb1m8192n8192k8192:ta0tb0"
GEMM_FLOPS = 2 * 8192 ** 3
# one row times a matrix: its time is that of reading the weights, 32 MiB, which fit in some L2 caches
ROW = "matmul:f16,f16.c,f16/f32:ba1bb1m1n4096k4096:ta0tb0"
ROW_BYTES = 2 * 4096 * 4096
STATES = [ROW, "conv:f16@nxc,f16.c@nxc,f16@nxc/f32:n8c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1",
          "eltwise:f16,f16:relu:1x256x56x56", "softmax:f32,f32:soft:1x12x128x128:ax3"]
# whose plans are made by another thread and by the one that executes them: engines ready-made and compiled at
# run time, with and without matrix units
PLANNED = ["conv:f16,f16.c,f16/f32:n1c256h14w14k1024r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1",
           "matmul:f16,f16.c,f16/f32:ba1bb1m128n3072k768:ta0tb0+bias:f16.c+gelu_erf",
           "batchnorm:f16,f16:1x64x56x56"]
# branches side by side, where ResNet-50 halves its pictures: one convolution, and two in a row
BRANCHES = [["conv:f16,f16.c,f16/f32:n1c64h56w56k256r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1+bias:f16.c"],
            ["conv:f16,f16.c,f16/f32:n1c64h56w56k64r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1+bias:f16.c+relu",
             "conv:f16,f16.c,f16/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f16.c+relu"]]
BESIDE = "beside:" + "%".join("=".join(branch) for branch in BRANCHES)
# side by side they take at least this share of the longest branch, at most this factor of their sum and
# these ns, for the fork and the join
BESIDE_LEAST, BESIDE_MOST, FORK_NS = 0.8, 1.2, 5000
# a result of one state may be slower than one of a colder state by this factor and these ns, which floors
# (a graph's nodes, an event pair) may differ by
COLDER, COLDER_NS = 1.2, 2000
# share of rotated weights that a cache may keep: caches of GPUs do not evict in the order of use
KEPT = 0.25
LEAST_BUS = 0.6      # share of the bus that a copy reaches on every GPU
CLOCK_SLACK = 1.02   # reported clocks are rounded
LEAST_GEMM = 0.5     # share of the peak, at the clock it ran at
TIMER_OFF = 0.05     # largest difference of the runner's clocks
# share of the wall time that timed executions may take: warm-up executions take at most four times as long
LEAST_WALL, MOST_WALL = 0.1, 1.03


def bus_bytes_s(attributes):
    """Bytes that can cross the memory bus in a second: both edges of its clock. None if unknown."""
    mhz, bits = attributes.get("memory_clock_mhz"), attributes.get("memory_bus_bits")
    return mhz * 1e6 * 2 * bits / 8 if mhz and bits else None


def peak_flops(attributes, mhz):
    """f16 operations per second at an SM clock; None if unknown."""
    listed = [sm for sm in F16_PER_CLOCK if sm <= (attributes.get("sm") or 0)]
    if not listed or not mhz or not attributes.get("multiprocessors"):
        return None
    return attributes["multiprocessors"] * F16_PER_CLOCK[max(listed)] * mhz * 1e6


def medians(answers):
    """{(problem, algorithm ..., cache, launch): median} of finalists."""
    return {(r["problem"], *(r["algorithm"][k] for k in ("api", "name", "layouts", "math")), r["cache"],
             r["launch"]): r["stats"]["median_ns"] for r in answers.results()}


def agreement(first, second):
    """Share of the medians that agree within 2% (from 20 us on) or 5% (below), their number, the others."""
    both = [k for k in first if k in second]
    off = [k for k in both if abs(second[k] / first[k] - 1) > (0.02 if first[k] >= 20e3 else 0.05)]
    return (1 - len(off) / len(both) if both else 0), len(both), [
        f"{k[0]} {k[1]} {k[2]}: {first[k]:.0f} ns, then {second[k]:.0f}" for k in off[:20]]


def plans_wrong(answers):
    """What went wrong with plans: lines."""
    wrong = [f"{p}: {why}" for p, why in answers.given_up.items()] + list(filter(None, [answers.broken]))
    wrong += [f"{p}: not done in its time" for p in answers.open]
    for r in (x["result"] for x in answers.lines if x.get("type") == "result"):
        if r["status"] not in ("ok", "unsupported", "no_memory"):
            wrong.append(f"{r['problem']}: {r['status']} {r['algorithm']['name']}: {r['why']}")
    return wrong


def cover(manifest, sm, count):
    """Problems such that each kernel x library, then each kernel x library x type that the manifest expects
    occurs; at most `count`, those of the larger gain first."""
    wanted = {p: {(gpu_manifest.kernel_of(p), api) for api in manifest.expected(p, sm)}
              for p in manifest.rows}
    typed = {p: {(*pair, gpu_manifest.type_of(p)) for pair in pairs} for p, pairs in wanted.items()}
    chosen, have = [], set()
    for gains in (wanted, typed):
        while len(chosen) < count:
            best = max(gains, key=lambda p: len(gains[p] - have), default=None)
            if best is None or not gains[best] - have:
                break
            chosen.append(best)
            have |= wanted[best] | typed[best]
    return chosen


# what a failure says of later results
TIMES, NET = "times", "net"


class Smoke:
    """`run()` returns True if all was asked; tap is told what failed. `doubts`: what a
    failure says is wrong of later results, TIMES or NET."""

    def __init__(self, feeder, info, manifest):
        self.feeder, self.tap, self.info, self.manifest = feeder, feeder.tap, info, manifest
        self.attributes = info.get("attributes") or {}
        self.sm = self.attributes.get("sm") or 0
        self.until, self.doubts = 0.0, set()

    def must(self, good, name, *details, doubt=TIMES):
        """A fact without which no time (TIMES), or no time in the state net (NET), can be believed."""
        if not self.tap.say(good, name, *details):
            self.doubts.add(doubt)

    def feed(self, name, jobs, *options, **more):
        """Answers to jobs, or None (reported) if they are not complete."""
        answers = self.feeder.feed(f"smoke-{name}", jobs, (*STEP_LIMIT, *options), self.until, **more)
        for problem, why in answers.given_up.items():
            self.tap.say(False, f"smoke: {name}: {problem}", why)
        if answers.broken:
            self.tap.say(False, f"smoke: {name}: the runner works", answers.broken)
        if answers.open:
            self.tap.note(f"smoke: {name}: time is up, {len(answers.open)} problems are not answered")
        return answers if answers.complete else None

    # --- steps: each returns False if time ran out ---

    def libraries(self):
        """The stack names what the manifest expects of any problem."""
        stack = self.info.get("stack", "")
        apis = {api for p in self.manifest.rows for api in self.manifest.expected(p, self.sm)}
        for api in ("cuDNN", "cuBLASLt"):
            if api in apis:  # a missing one is left out, or named as "no cuBLASLt"
                self.tap.say(re.search(rf"(?<!no ){api} \d", stack), f"library {api} is loaded",
                             f"the stack is: {stack}", *map(str, self.attributes.get("warnings") or []))
        self.tap.say(self.manifest.column(self.sm) is not None,
                     f"the manifest has compute capability {self.sm}")
        for library in self.attributes.get("libraries") or []:
            self.tap.say(library.get("present"), f"library {library.get('name')} is present: "
                         f"{library.get('version')} {library.get('path')}", *(
                             f"{key}: {library[key]}" for key in ("why", "tried", "fix") if library.get(key)))
        return True

    def plans(self):
        """Plans of cuDNN that another thread made are executed like those made in place. If not, and those in
        place run, all plans are made in place from here on."""
        jobs = [gpu_feed.job(i, p, BUDGET_MS) for i, p in enumerate(PLANNED, 1)]
        options = (*STEP_LIMIT, "--algorithms", "4", "--compile-threads")
        half = (gpu_clock.now() + self.until) / 2
        ahead = self.feeder.feed("smoke-plans-ahead", jobs, (*options, "4"), half, NO_KEPT)
        in_place = self.feeder.feed("smoke-plans-in-place", jobs, (*options, "0"), self.until, NO_KEPT)
        if in_place.late:
            return False
        wrong, wrong_in_place = plans_wrong(ahead), plans_wrong(in_place)
        share, count, off = agreement(medians(ahead), medians(in_place))
        good = self.tap.say(not wrong and share >= 0.9, "plans: made by another thread they run like those "
                            f"made in place: {100 * share:.0f}% of {count} medians agree, required 90%",
                            *wrong, *off)
        self.tap.say(not wrong_in_place, "plans: made in place they run", *wrong_in_place)
        self.feeder.plan(gpu_feed.AHEAD if good or wrong_in_place else gpu_feed.IN_PLACE)
        self.tap.note(f"plans: made {self.feeder.plans} from here on")
        return True

    def lists(self):
        """Each library lists as many algorithms as the manifest demands."""
        wanted = cover(self.manifest, self.sm, PROBLEMS)
        answers = self.feed("list", gpu_manifest.list_jobs(wanted), variables=ALL_COMPILED)
        if answers is None:
            return False
        for problem, counts in gpu_manifest.counts_of(answers.lines, wanted).items():
            missing = self.manifest.missing(problem, self.sm, counts)
            if missing:
                self.tap.say(False, f"{problem}: as many algorithms as the manifest demands", *missing)
        self.tap.say(bool(wanted), f"smoke: {len(wanted)} problems listed: "
                     f"{len({gpu_manifest.kernel_of(p) for p in wanted})} kernels")
        return True

    def timer(self):
        """The runner's own comparison of its clocks: spin kernels of known length."""
        timer = self.attributes.get("timer")
        if not isinstance(timer, dict):
            self.must(False, "timer: the runner calibrates it", "the hello has no attribute \"timer\"")
            return True
        if timer.get("why"):
            self.must(False, "timer: it is calibrated", timer["why"])
            return True
        for key, what in (("host_scale", "the host's clock"), ("event_scale", "the GPU's global timer")):
            scale = timer.get(key)
            good = isinstance(scale, (int, float)) and abs(scale - 1) <= TIMER_OFF
            if key == "event_scale" and not good and timer.get("caveat"):
                self.tap.note(f"timer: {timer['caveat']}")  # the global timer is wrong, events are right
                continue
            self.must(good, f"timer: a spin kernel takes as long as {what} says: {scale}", timer.get("doubt"))
        self.must(not timer.get("doubt"), "timer: no doubt", timer.get("doubt") or "")
        return True

    def bandwidth(self):
        """A copy cannot be faster than the bus, and none is much slower."""
        memory = self.attributes.get("memory_bytes") or GIB
        size = int(min(max(GIB, 16 * (self.info.get("llc_bytes") or 64e6)), memory / 8)) & -4096
        answers = self.feed("copy", [gpu_feed.job(1, f"copy:u8,u8:b{size}", 200)])
        if answers is None:
            return False
        bus = bus_bytes_s(self.attributes)
        rates = sorted(2 * size / r["stats"]["median_ns"] * 1e9 for r in answers.results(finalists=False))
        if not bus or not rates:
            self.must(False, "bandwidth: a copy and the width and clock of the bus are known",
                      *(x.get("why", "") for x in answers.done.values()))
            return True
        # what the cache keeps from one pass to the next does not cross the bus
        most = bus * CLOCK_SLACK * (1 + (self.info.get("llc_bytes") or 0) / (2 * size))
        self.must(rates[-1] <= most, f"bandwidth: a copy of {size >> 20} MiB at {rates[-1] / 1e9:.0f} GB/s, "
                  f"the bus has {bus / 1e9:.0f}")
        self.must(rates[-1] >= LEAST_BUS * bus or self.attributes.get("mig"),
                  f"bandwidth: {100 * rates[-1] / bus:.0f}% of the bus, required {100 * LEAST_BUS:.0f}%")
        return True

    def product(self):
        """One large product between half and all of the peak, and a host's clock that agrees."""
        job = json.loads(gpu_feed.job(1, GEMM, 600, ("amortized", "isolated"), ("net", "warm")))
        told, status = self.feeder.ask(json.dumps(job) + "\n", ["--algorithms", "4"], self.until)
        found = [(at, m["result"]) for at, m in told if m.get("type") == "result" and
                 m["result"]["status"] == "ok" and m["result"]["stats"]["stop"] != "shortlist"]
        if status is None and not found:
            return False
        self.peak([r for _, r in found if r["algorithm"]["math"] == "strict"],
                  next((m.get("why", "") for _, m in told if m.get("type") == "done"), f"status {status}"))
        self.wall(found)
        return status is not None

    def peak(self, results, why):
        best = min(results, key=lambda r: r["stats"]["median_ns"], default=None)
        most_mhz = max(self.attributes.get("most_clock_mhz") or 0, self.attributes.get("clock_mhz") or 0)
        most = peak_flops(self.attributes, most_mhz * CLOCK_SLACK)
        if best is None or most is None:
            self.tap.say(False, "f16 product: it was measured, and the peak is known", why)
            return
        rate, mhz = GEMM_FLOPS / best["stats"]["median_ns"] * 1e9, best.get("clock_mhz") or most_mhz
        self.must(rate <= most, f"f16 product: {rate / 1e12:.0f} TFLOP/s, the peak is {most / 1e12:.0f} at "
                  f"{most_mhz:.0f} MHz", best["algorithm"]["name"])
        self.tap.say(0 < mhz <= most_mhz * CLOCK_SLACK,
                     f"f16 product: ran at {mhz:.0f} MHz of {most_mhz:.0f}")
        # consumer cards have half the rate with f32 sums
        half = 0.5 if "GeForce" in self.info.get("model", "") else 1
        least = LEAST_GEMM * half * peak_flops(self.attributes, mhz)
        self.tap.say(rate >= least, f"f16 product: {rate / 1e12:.0f} TFLOP/s, required {least / 1e12:.0f}: "
                  f"{100 * LEAST_GEMM * half:.0f}% of the peak at {mhz:.0f} MHz", best["algorithm"]["name"])

    def wall(self, found):
        """Timed executions fill a plausible share of the time in which the host saw their results arrive: all
        algorithms of a state are measured between the last result of the state before and their own last."""
        states = {}
        for at, r in found:
            s = r["stats"]
            busy = (s["n"] + s["discarded"]) * s["executions"] * s["median_ns"] / 1e9
            last, total = states.get((r["cache"], r["launch"]), (0, 0))
            states[r["cache"], r["launch"]] = max(last, at), total + busy
        ends = sorted(states.items(), key=lambda x: x[1][0])
        for (_, (begin, _)), (state, (end, busy)) in zip(ends, ends[1:]):
            if end - begin < 0.01:  # it shares the samples of the state before, or has too few
                continue
            share = busy / (end - begin)
            self.must(LEAST_WALL <= share <= MOST_WALL, f"timer: {' '.join(state)}: {1e3 * busy:.0f} ms of "
                      f"samples in {1e3 * (end - begin):.0f} ms of the host's clock", f"share {share:.2f}")

    def states(self):
        """Cache states and launch modes differ as they must; what a result says of its execution is there."""
        jobs = [gpu_feed.job(i, p, 60 + 40 * (p == ROW), ("amortized", "isolated"), ("net", "warm", "cold"))
                for i, p in enumerate(STATES, 1)]
        answers = self.feed("states", jobs, "--algorithms", "3")
        if answers is None:
            return False
        found = {}
        for r in answers.results():
            a = r["algorithm"]
            found.setdefault((r["problem"], a["api"], a["name"], a["math"]), {})[r["cache"], r["launch"]] = r
        for problem in STATES:
            constant = ".c" in problem.split(":")[1]
            caches = ("warm", "net", "cold") if constant else ("net", "cold")
            whole = [s for (p, *_), s in found.items() if p == problem and
                     all((c, la) in s for c in caches for la in ("amortized", "isolated"))]
            self.tap.say(whole, f"states: {problem}: measured {' '.join(caches)}, amortized and isolated",
                         answers.done[problem].get("why", ""))
            for states in whole:
                self.state_order(problem, caches, states)
                self.state_facts(problem, states)
        return True

    def state_order(self, problem, caches, states):
        ns = {key: r["stats"]["median_ns"] for key, r in states.items()}
        pairs = [((a, "amortized"), (b, "amortized")) for a, b in zip(caches, caches[1:])]
        pairs += [((c, "amortized"), (c, "isolated")) for c in caches]
        wrong = [f"{' '.join(a)} {ns[a]:.0f} ns, {' '.join(b)} {ns[b]:.0f} ns" for a, b in pairs
                 if ns[a] > COLDER * ns[b] + COLDER_NS]
        self.tap.say(not wrong, f"states: {problem}: colder is not faster, alone is not faster", *wrong)
        bus = bus_bytes_s(self.attributes)
        if problem == ROW and bus:
            net, least = ns["net", "amortized"], (1 - KEPT) * ROW_BYTES / bus / CLOCK_SLACK * 1e9
            self.must(net >= least, f"states: {problem}: net {net:.0f} ns, {100 * (1 - KEPT):.0f}% of its "
                      f"weights cross the bus in {least:.0f} at least", doubt=NET)

    def state_facts(self, problem, states):
        wrong = []
        most = max(self.attributes.get("most_clock_mhz") or 0, self.attributes.get("clock_mhz") or 0)
        for (cache, launch), r in states.items():
            where = f"{r['algorithm']['api']} {r['algorithm']['name']} {cache} {launch}"
            if not r.get("kernels"):
                wrong.append(f"{where}: no names of kernels")
            if not (r.get("enqueue_ns") or 0) > 0:
                wrong.append(f"{where}: no enqueue time")
            if most and not 0 < (r.get("clock_mhz") or 0) <= most * CLOCK_SLACK:
                wrong.append(f"{where}: a clock of {r.get('clock_mhz')} MHz, the most is {most:.0f}")
            if launch == "amortized" and r["stats"]["executions"] < 2 and r["stats"]["median_ns"] < 2e6:
                wrong.append(f"{where}: one execution per amortized sample")
            if launch == "isolated" and r["stats"]["executions"] != 1:
                wrong.append(f"{where}: {r['stats']['executions']} executions per isolated sample")
        self.tap.say(not wrong, f"states: {problem}: kernels, enqueue time, clock, executions", *wrong[:6])

    def beside(self):
        """Branches run in streams of their own, rightly; no longer than their sum, no shorter than one."""
        parts = [part for branch in BRANCHES for part in branch]
        jobs = [gpu_feed.job(i, p, BUDGET_MS) for i, p in enumerate([BESIDE, *parts], 1)]
        answers = self.feed("beside", jobs, "--algorithms", "8", variables=FEW_COMPILED)
        if answers is None:
            return False
        done, ns, ran = answers.done.get(BESIDE, {}), {}, set()
        for r in answers.results(finalists=False):
            if r["algorithm"]["math"] == "strict":
                ns[r["problem"]] = min(ns.get(r["problem"], float("inf")), r["stats"]["median_ns"])
            if r["problem"] == BESIDE:
                ran |= set(re.findall(r"^stream (\d+): ", r.get("kernels") or "", re.M))
        self.tap.say(done.get("status") == "ok" and BESIDE in ns, "beside: branches run, outputs are right",
                     f"{done.get('status')}: {done.get('why', '')}")
        if not {BESIDE, *parts} <= set(ns):
            return True
        self.tap.say(len(ran) == len(BRANCHES), f"beside: {len(ran)} streams for {len(BRANCHES)} branches")
        alone = [sum(ns[part] for part in branch) for branch in BRANCHES]
        self.tap.say(BESIDE_LEAST * max(alone) <= ns[BESIDE] <= BESIDE_MOST * sum(alone) + FORK_NS,
                     f"beside: {ns[BESIDE]:.0f} ns; the longest branch takes {max(alone):.0f}, "
                     f"one after the other {sum(alone):.0f}")
        return True

    def each(self):
        """One problem a kernel x library: the libraries that the manifest expects measure it, rightly."""
        wanted = cover(self.manifest, self.sm, PROBLEMS)
        jobs = [gpu_feed.job(i, p, BUDGET_MS) for i, p in enumerate(wanted, 1)]
        options = (*STEP_LIMIT, "--algorithms", "4")
        answers = self.feeder.feed("smoke-each", jobs, options, self.until, FEW_COMPILED)
        by = {}
        for line in answers.lines:
            if line.get("type") == "result":
                by.setdefault(line["result"]["problem"], []).append(line["result"])
        for problem in answers.done:
            results = by.get(problem, [])
            ran = {r["algorithm"]["api"] for r in results if r["status"] == "ok"}
            bad = [r for r in results if r["status"] not in ("ok", "unsupported", "no_memory")]
            absent = [f"{api} measured nothing" for api in self.manifest.expected(problem, self.sm)
                      if api not in ran]
            self.tap.say(not bad and not absent, f"{problem}: measured by {', '.join(sorted(ran)) or 'none'}",
                         *absent, *(f"{r['status']} {r['algorithm']['api']} {r['algorithm']['name']}: "
                                    f"{r['why']}" for r in bad[:5]))
        return self.feed("each", jobs) is not None

    def twice(self):
        """Two processes measure the same."""
        wanted = cover(self.manifest, self.sm, PROBLEMS)[:TWICE]
        jobs = [gpu_feed.job(i, p, 60) for i, p in enumerate(wanted, 1)]
        both = []
        for name in ("twice-1", "twice-2"):
            answers = self.feed(name, jobs, "--algorithms", "2", variables=FEW_COMPILED)
            if answers is None:
                return False
            both.append(medians(answers))
        share, count, off = agreement(*both)
        self.tap.say(share >= 0.9, f"twice: {100 * share:.0f}% of {count} medians agree, required 90%", *off)
        return True

    # --- faults that are provoked ---

    def killed(self):
        """A runner that is killed loses the running problem alone: the next one continues its file."""
        wanted = [p for p in cover(self.manifest, self.sm, PROBLEMS)
                  if gpu_manifest.kernel_of(p) in ("copy", "eltwise", "transpose", "gather", "cast", "scan")]
        jobs = [gpu_feed.job(i, p, 10) for i, p in enumerate(wanted[:8], 1)]
        path = self.feeder.folder / "smoke-killed.jsonl"
        if not path.exists():
            with self.feeder.start(["--algorithms", "1", "--output", path], stdin=gpu_feed.subprocess.PIPE,
                                   text=True) as runner:
                runner.stdin.write("\n".join(jobs) + "\n")
                runner.stdin.flush()
                # not closed: the runner cannot end by itself
                while sum(map(gpu_feed.is_answer, gpu_feed.read_lines(path))) < min(2, len(jobs)):
                    if gpu_clock.now() >= self.until or runner.poll() is not None:
                        break
                    gpu_clock.sleep(gpu_feed.POLL_S)
                runner.kill()
            with open(path, "a", encoding="utf-8") as torn:
                torn.write('{"type":"result","id":1,"resu')
        answers = self.feed("killed", jobs, "--algorithms", "1")
        if answers is None:
            return False
        dones = [x["problem"] for x in answers.lines if gpu_feed.is_answer(x)]
        self.tap.say(jobs and len(dones) == len(set(dones)) == len(jobs),
                     f"fault: killed in its work, a runner continues: {len(dones)} answers, {len(jobs)} jobs")
        return True

    def refused(self):
        """A problem larger than the memory and lines that are no jobs are refused, the next is answered."""
        size = int(4 * (self.attributes.get("memory_bytes") or 1e12))
        small = "copy:u8,u8:b1000003"
        text = "\n".join(["this is no job", json.dumps({"type": "run", "id": 1, "problem": "nonsense"}),
                          gpu_feed.job(2, f"copy:u8,u8:b{size}", 10), gpu_feed.job(3, small, 10)]) + "\n"
        told, status = self.feeder.ask(text, ["--algorithms", "1"], self.until)
        if status is None:
            return False
        done = {m.get("id"): m for _, m in told if m.get("type") == "done"}
        for number, what, wanted in ((1, "a text that is no problem is refused", ("failed",)),
                                     (2, f"{size >> 30} GiB are refused", ("no_memory", "unsupported")),
                                     (3, "the next job is answered", ("ok",))):
            got = done.get(number, {"status": "no answer", "why": f"exit status {status}"})
            self.tap.say(got["status"] in wanted and (got["status"] == "ok" or got["why"]), f"fault: {what}",
                         f"{got['status']}: {got.get('why', '')}")
        return True

    STEPS = ((libraries, 1), (timer, 1), (plans, 30), (lists, 30), (bandwidth, 10), (product, 15),
             (states, 25), (beside, 10), (refused, 10), (killed, 20), (each, 80), (twice, 60))

    def run(self, until):
        """Each step has its share of the time that is left."""
        whole = True
        for i, (step, weight) in enumerate(self.STEPS):
            now = gpu_clock.now()
            self.until = now + max(until - now, 0) * weight / sum(w for _, w in self.STEPS[i:])
            whole &= step(self)
        return whole

"""A runner of a made-up GPU that obeys physics, for tests of check_gpu.py without one: docs/wire.md.

$STANDIN names a JSON file: "info" (the hello), "apis" (library -> kernels that it serves), and faults:

  gemm, copy, row    factor of the time of the large product, of copies, of the vector times matrix
  beside, streams    factor of the time of branches side by side; how many streams they run in, one a branch
  timer              factor of all reported times; the wall time stays
  less               {library: number of algorithms that it lists}, 2 otherwise
  ahead              faults of a runner that makes plans on other threads
  unsteady           each process reports other times
  wrong              problems whose outputs are wrong
  dies, hangs, loses problems at which it gets SIGKILL, sleeps, loses the device (once, with exit status 3)
  locked             problems at which it waits for another process for 1.5 s
  sleep              seconds per job; job_s: one to two times these for a problem that is measured
  simulated          a file of simulated.py: the clock of all seconds
  manifest           {problem: {library: number of algorithms}}, before "apis" and "less"
  hide               attributes that --info does not tell
  cold, clock        factor of the time with cold caches; the clock that it reports
  info_s             seconds that --info takes

It leaves a file in the folder of compiled plans.
"""

import hashlib
import json
import os
import random
import signal
import sys
import time

import simulated

HERE = os.environ["STANDIN"]
with open(HERE, encoding="utf-8") as file:
    S = json.load(file)
if "--compile-threads" not in sys.argv or sys.argv[sys.argv.index("--compile-threads") + 1] != "0":
    S.update(S.get("ahead", {}))
INFO, A = S["info"], S["info"]["attributes"]
BUS = A["memory_clock_mhz"] * 1e6 * 2 * A["memory_bus_bits"] / 8
PEAK = A["multiprocessors"] * S.get("per_clock", 4096) * 1700e6  # at the clock under load
WATCHED = "--output" in sys.argv  # the program reads what other runs print
CLOCK = simulated.Clock(S["simulated"]) if "simulated" in S else None
noise = random.Random(os.getpid() if S.get("unsteady") else 1)


def option(name, default=None):
    """The last one counts."""
    at = [i for i, word in enumerate(sys.argv) if word == name]
    return sys.argv[at[-1] + 1] if at else default


def sleep(seconds):
    if CLOCK:
        CLOCK.work(seconds, WATCHED)
    else:
        time.sleep(seconds)


def branches_of(problem):
    return problem.removeprefix("beside:").split("%")


def ran(problem):
    """The names of what ran."""
    if not problem.startswith("beside:"):
        return "kernel"
    streams = range(1, S.get("streams", len(branches_of(problem))) + 1)
    return "".join(f"stream {i}: conv cuDNN eng1\n" for i in streams)


def share(problem):
    """A number from 0 to 1 of the problem's text."""
    return int(hashlib.sha256(problem.encode()).hexdigest()[:4], 16) / 65535


def execution_s(problem, cache):
    """How long one execution takes."""
    kernel, _, rest = problem.split(":", 2)
    if kernel == "beside":
        branches = [sum(execution_s(part, cache) for part in b.split("=")) for b in branches_of(problem)]
        return S.get("beside", 1.1) * max(branches)
    if kernel == "copy":
        return S.get("copy", 1) * 2 * int(rest[1:]) / (0.9 * BUS) + 1e-6
    if "m8192n8192k8192" in rest:
        return S.get("gemm", 1) * 2 * 8192 ** 3 / (0.7 * PEAK)
    if "m1n4096k4096" in rest:
        return S.get("row", 1) * 2 * 4096 * 4096 / ((0.8 if cache != "warm" else 1.6) * BUS)
    return (5e-6 + share(problem) * 65e-6) * {"warm": 0.9, "net": 1, "cold": S.get("cold", 1.1)}[cache]


def algorithms(problem):
    kernel, less = problem.split(":")[0], S.get("less", {})
    counts = S.get("manifest", {}).get(problem) or {
        api: less.get(api, 2) for api, kernels in S["apis"].items() if kernel in kernels}
    found = [(api, i) for api, count in counts.items() for i in range(count)]
    return [{"api": api, "name": f"a{i}", "layouts": "", "math": "strict", "rank": rank, "matrix": "yes",
             "workspace_bytes": 0, "notes": ""} for rank, (api, i) in enumerate(found)]


def picked(problem, most):
    """At most `most` algorithms, an equal share per library."""
    return sorted(algorithms(problem), key=lambda a: a["name"])[:most]


def result(problem, algorithm, status, cache="net", launch="amortized", why="", **more):
    return {"problem": problem, "algorithm": algorithm, "status": status, "cache": cache, "launch": launch,
            "why": why, "kernels": "", "enqueue_ns": None, "clock_mhz": None, "measured_at": 1795234168,
            "runner_version": "0.0.0", **more}


def measured(job, algorithm, cache, launch):
    """One measurement, which takes its wall time: per sample an untimed execution, then the timed ones."""
    one = execution_s(job["problem"], cache) * (1 + 0.3 * int(algorithm["name"][1:]))
    one *= 1 + noise.uniform(-1, 1) * (0.3 if S.get("unsteady") else 0.002)
    times = 1 if launch == "isolated" or one > 2e-3 else max(2, int(200e-6 / one))
    if S.get("waits", "m8192" in job["problem"]):
        sleep(10 * one * (times + 1))
    ns = round(S.get("timer", 1) * (one + (1e-6 if launch == "isolated" else 0)) * 1e9, 3)  # as runners write
    stats = {"n": 10, "discarded": 0, "executions": times, "stdev_ns": 0, "stop": "converged",
             **{f"{key}_ns": ns for key in ("min", "q1", "median", "q3", "mean", "lo", "hi")}}
    return result(job["problem"], algorithm, "ok", cache, launch, stats=stats, kernels=ran(job["problem"]),
                  enqueue_ns=2e3, clock_mhz=S.get("clock", 1700), rotated_bytes=2 * INFO["llc_bytes"])


def once(name):
    """True the first time for this name, over all processes."""
    path = f"{HERE}.{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    if os.path.exists(path):
        return False
    with open(path, "w", encoding="utf-8"):
        return True


def misfortune(problem):
    if problem in S.get("dies", ()):
        os.kill(os.getpid(), signal.SIGKILL)
    if problem in S.get("hangs", ()):
        time.sleep(60)
    if problem in S.get("locked", ()):
        print("standin: another process measures on this GPU; waiting until it is done", file=sys.stderr)
        time.sleep(1.5)
    return problem in S.get("loses", ()) and once(problem)


def answer_run(job, say):
    problem, most = job["problem"], int(option("--algorithms", 100))
    memory = "b" + problem.split(":b")[-1] if problem.startswith("copy:") else "b0"
    if int(memory[1:]) > A["memory_bytes"]:
        return "no_memory", "more than the memory"
    chosen = picked(problem, most)
    for a in chosen if "--check" in sys.argv else ():
        bad = problem in S.get("wrong", ())
        say({"type": "check", "id": job["id"], "problem": problem, "algorithm": a, "allowed": 1e-6,
             "status": "mistrusted" if bad else "ok", "worst": 0.5 if bad else 1e-8, "why": ""})
    constant = ".c" in problem.split(":")[1]
    for cache in job.get("caches", ["net"]) if "--check" not in sys.argv else ():
        for launch in job.get("launches", ["amortized"]):
            for a in chosen if cache != "warm" or constant else ():
                bad = problem in S.get("wrong", ())
                say({"type": "result", "id": job["id"], "result": result(problem, a, "mistrusted", why="off")
                     if bad else measured(job, a, cache, launch)})
    if problem in S.get("wrong", ()) and "--check" not in sys.argv:
        return "mistrusted", "off"
    return ("ok", "") if chosen else ("unsupported", "no library has it")


def answer(job, say):
    """Answers a job; returns False if the device is lost."""
    done = {"type": "done", "id": job["id"], "status": "ok", "why": ""}
    if job["problem"].count(":") < 2:
        say({**done, "status": "failed", "why": "problem text: nonsense"})
        return True
    measuring_s = S.get("job_s", 0) * (1 + share(job["problem"]))
    sleep(S.get("sleep", 0) + (measuring_s if job["type"] == "run" else 0))
    if misfortune(job["problem"]):
        say({**done, "status": "failed", "why": "lost", "leaves": True, "retry": True,
             "problem": job["problem"]})
        return False
    if job["type"] == "algorithms":
        for a in algorithms(job["problem"]):
            say({"type": "algorithm", "id": job["id"], "algorithm": a})
    else:
        done["status"], done["why"] = answer_run(job, say)
    say({**done, "problem": job["problem"]})
    return True


def whole_lines(path):
    """The lines of a file, which is cut behind the last whole one."""
    if not os.path.exists(path):
        return []
    with open(path, "rb+") as f:
        text = f.read()
        f.truncate(text.rfind(b"\n") + 1)
    return [json.loads(line) for line in text[:text.rfind(b"\n") + 1].splitlines()]


def main():
    if S.get("no_device"):
        print("standin: no NVIDIA driver found (libcuda.so.1)", file=sys.stderr)
        return 3
    if "--info" in sys.argv:
        sleep(S.get("info_s", 0))
        told = {k: v for k, v in A.items() if k not in S.get("hide", ())}
        told["environment"] = {"LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
        print(json.dumps({**INFO, "attributes": told}))
        return 0
    plans = os.environ.get("BENANZA_PLAN_CACHE")
    if plans and plans != "none":
        os.makedirs(plans, exist_ok=True)
        with open(os.path.join(plans, "one.plan"), "w", encoding="utf-8") as file:
            file.write("compiled")
    path = option("--output")
    before = whole_lines(path) if path else []
    had = {x["problem"] for x in before if x.get("type") == "done" and "problem" in x and
           not x.get("retry")}
    with open(path, "a", encoding="utf-8") if path else sys.stdout as out:
        def say(message):
            if CLOCK and not WATCHED:
                CLOCK.read(lambda: print(json.dumps(message), file=out, flush=True))
            else:
                print(json.dumps(message), file=out, flush=True)
        if not before:
            say(INFO)
        for line in sys.stdin:
            if not line.startswith("{"):
                say({"type": "log", "id": 0, "what": "error: not JSON"})
                continue
            job = json.loads(line)
            if job["problem"] not in had and not answer(job, say):
                return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())

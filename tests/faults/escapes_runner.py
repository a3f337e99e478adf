#!/usr/bin/env python3
"""A runner with escape sequences, newlines, C1 controls and bidirectional overrides in every text field of every
message (escapes.py). Its argument says how it behaves. It is started a few hundred times: it imports little.
"""

import json
import os
import sys

EVIL = "\x1b]0;x\x07\x1b[31mRED\r\nbenanza: forged\x7f\x9b31m\u0085\u202eevil\u2066\u2028\ufeff\U000e0041 "
# Read by the protocol: see ODD below.
WORDS = {"type", "problem", "status", "cache", "launch", "matrix", "stop", "magic"}


def spoiled(value, key=""):
    """Every text in it, but those that the protocol reads, is evil; so are all keys of attributes."""
    if isinstance(value, dict):
        free = key in ("attributes", "environment", "nvml")
        return {EVIL + k if free and k == "x" else k: spoiled(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [spoiled(v, key) for v in value]
    return EVIL + value if isinstance(value, str) and key not in WORDS else value


def hello(**more):
    said = {"magic": "BENANZA-RUNNER", "protocol": 1, "runner": "runner", "version": "1", "name": "name",
            "model": "Model", "stack": "stack", "threads": 1, "llc_bytes": 1 << 20, "has_matrix": False,
            "host": "host",
            "attributes": {
                "x": "y", "isa": "isa", "uuid": "GPU-1234", "driver": "1", "mig": "on", "ecc": "off",
                "persistence": "no", "most_clock_mhz": 2000, "power_limit_w": 10, "default_power_limit_w": 90,
                "warnings": ["something"], "environment": {"x": "1", "OMP_NUM_THREADS": "many"},
                "cores": ["0", 1],
                "caches": [{"level": 1, "type": "data", "bytes": 65536, "shared": 1, "x": "y"}],
                "nvml": {"x": "y", "sm_mhz": 100, "throttled": ["hot"], "clocks": "low",
                         "temperature_c": 99}}}
    return spoiled({**said, **more})


def result(job, problem, **more):
    said = {"problem": problem,
            "algorithm": {"api": "api", "name": "name", "layouts": "layouts", "math": "math", "rank": 0,
                          "matrix": "no", "workspace_bytes": 0, "notes": "notes"},
            "status": "ok", "cache": "net", "launch": "amortized",
            "stats": {"n": 10, "executions": 1, "min_ns": 900, "q1_ns": 950, "median_ns": 1000, "q3_ns": 1050,
                      "mean_ns": 1000, "stdev_ns": 9, "lo_ns": 990, "hi_ns": 1010, "stop": "disturbed"},
            "why": "why", "kernels": "kernel\nsecond", "enqueue_ns": 5, "clock_mhz": 1000,
            "measured_at": 1700000000, "runner_version": "1"}
    return {"type": "result", "id": job, "result": spoiled({**said, **more})}


# Words that the protocol reads, evil: lines that are not messages.
ODD = [{"type": EVIL + "result"}, {"type": "done", "status": EVIL},
       {"type": "result", "result": {"problem": EVIL, "status": "ok"}},
       {"type": "result", "result": {"problem": "p", "status": EVIL}},
       {"type": "result", "result": {"problem": "p", "status": "failed", "cache": EVIL}},
       {"type": "run", "problem": EVIL}, {EVIL: EVIL}, EVIL]
ENDS = ["unsupported", "failed", "ok", "no_memory", "timeout", "crashed", "mistrusted", "odd", "raw", "dies"]


def answers(job, problem, end, odd):
    yield {"type": "heartbeat", "id": job, "what": EVIL}
    yield {"type": "log", "id": job, "what": EVIL}
    yield {"type": "check", "id": job, "problem": problem, "algorithm": spoiled({"name": "n", "api": "a"}),
           "status": "ok", "why": EVIL}
    yield {"type": "algorithm", "id": job,
           "algorithm": spoiled({"name": "n", "api": "a", "layouts": "l", "math": "m", "notes": "n"})}
    if end == "odd":
        yield ODD[odd % len(ODD)]
        return
    yield result(job, EVIL)
    if end == "ok":
        for launch in ("amortized", "isolated"):
            yield result(job, problem, launch=launch)
            yield result(job, problem, launch=launch, cache="warm")
    else:
        yield result(job, problem, status="failed" if end in ("raw", "dies") else end)
    yield {"type": "done", "id": job, "status": end, "why": EVIL, "problem": problem}


def main(how):
    out = sys.stdout.buffer

    def say(message):
        out.write(json.dumps(message, ensure_ascii=how == "escaped", separators=(",", ":")).encode() + b"\n")
        out.flush()
    sys.stderr.write(EVIL + "\n")
    sys.stderr.flush()
    out.write((EVIL + "banner\n").encode())
    if how == "silent":
        return 3
    if how == "old":
        say(hello() | {"protocol": 7})
        return 3
    if how == "nobody":
        say(hello() | {"model": ["x"]})
        return 3
    say(hello())
    count = int(os.environ.get("ESCAPES_FIRST", "0"))
    for line in sys.stdin:
        job = json.loads(line)
        if job["type"] == "quit":
            break
        if job["type"] not in ("run", "algorithms"):
            continue
        end = "ok" if how == "good" else ENDS[count % len(ENDS)]
        for message in answers(job["id"], job["problem"], end, count // len(ENDS)):
            if end == "raw" and message["type"] == "done":
                out.write(b"\x1b[31m\xff\xfe\xc3 no message\x07\n")
                out.flush()
            elif end == "dies" and message["type"] == "done":
                sys.stderr.write(EVIL + "the end\n")
                return 9
            else:
                say(message)
        count += 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

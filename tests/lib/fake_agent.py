#!/usr/bin/env python3
"""An agent that runs nothing: it speaks the wire (docs/wire.md) and behaves as its argument says, so that the
parent can be tested against every way in which a real one may fail. Standard library only.

good, fetch (asks for all files first), unsupported, lies (numbers out of range), parent (rows of a wrong
parent), twice (two executions), rows (a row first), empty (done without an execution), failed, other (asks
for another file), behind (asks behind the end), dies, hangs, deaf (ignores cancel), garbage, never (no
hello), foreign (another protocol), runner (answers problems), absent (the framework is not installed), slow
(samples until it is cancelled), late (another model's hash), opaque (no data type, threads of its
own), turn (behaves in its n-th run as the n-th word of $FAKE_AGENT_TURN says: another mode, or the time of
the node left2 in us, with + it also changes the model's file; counts its runs in $FAKE_AGENT_RUNS), tries
(answers each move of a trial in another way: MOVES). Its log of files goes to $FAKE_AGENT_LOG.
FAKE_AGENT_MODEL, FAKE_AGENT_THREADS: the device that it reports."""
import base64
import hashlib
import json
import os
import sys
import time

mode = sys.argv[1] if len(sys.argv) > 1 else "good"
left2_us = None


def say(**message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def hello():
    version = None if mode == "absent" else "1.2"
    say(magic="BENANZA-RUNNER", protocol=2 if mode == "foreign" else 1, runner="fake-agent", version="0",
        name="fake", model=os.environ.get("FAKE_AGENT_MODEL", "Fake CPU"), stack="fake 1.2, 2 threads",
        threads=2, host="here",
        jobs=["problem"] if mode == "runner" else ["model"],
        attributes={"framework": "fake", "version": version,
                    "providers": ["CPU", "evil\x1b[31mProvider"] if mode == "tries" else ["CPU"],
                    "python": "3"})


def fetch(job, sha256, size):
    """A file, in parts, as the parent sends it."""
    data = b""
    while len(data) < size:
        say(type="need", id=job, sha256=sha256, offset=len(data), bytes=min(524288, size - len(data)))
        answer = json.loads(sys.stdin.readline())
        if answer["type"] != "file" or "why" in answer:
            say(type="done", id=job, kind="model", payload="m", status="failed",
                why=answer.get("why", "cancelled"))
            return None
        data += base64.b64decode(answer["data"])
    if hashlib.sha256(data).hexdigest() != sha256:
        say(type="done", id=job, kind="model", payload="m", status="failed",
            why="the file has another SHA-256")
        return None
    if "FAKE_AGENT_LOG" in os.environ:
        with open(os.environ["FAKE_AGENT_LOG"], "a", encoding="utf-8") as log:
            log.write("%s %d\n" % (sha256[:8], size))
    return data


def execution(job, model, **fields):
    latency = float(os.environ.get("FAKE_AGENT_NS", 1e6))
    values = {"source": "fake", "framework": "fake", "version": "1.2",
              "provider": model["provider"] or "CPU",
              "device": os.environ.get("FAKE_AGENT_MODEL", "Fake CPU"), "host": "here",
              "threads": int(os.environ.get("FAKE_AGENT_THREADS", model["threads"] or 2)),
              "dtype": model["dtype"],
              "math": "strict", "model": "whatever",
              "settings": {"level": model["level"], "spinning": True, "import_ns": time.perf_counter_ns(),
                           **{key: model[key] for key in ("options", "own_type") if model.get(key)}},
              "model_hash": "0" * 64 if mode == "late" else model["sha256"],
              "inputs": ["%s:%s:%s" % (i["name"], i["dtype"], "x".join(map(str, i["shape"])))
                         for i in model["inputs"]],
              "batch": model["batch"], "requests": model["requests"], "status": "ok", "why": "",
              "stats": {"n": 9, "discarded": 0, "executions": 1, "min_ns": latency * 0.9,
                        "q1_ns": latency * 0.95, "median_ns": latency, "q3_ns": latency * 1.05,
                        "mean_ns": latency, "stdev_ns": latency / 100,
                        "lo_ns": latency * 0.99, "hi_ns": latency * 1.01, "stop": "converged"},
              "measured_at": 1700000000}
    trial = fields.pop("trial", None)
    values.update(fields)
    say(type="execution", id=job, execution=values, **({"trial": trial} if trial else {}))


def row(job, index, **fields):
    values = {"level": "layer", "parent": None, "name": "row%d" % index, "op": "Conv",
              "nodes": ["node%d" % index],
              "ns": 1000.5}
    values.update(fields)
    say(type="row", id=job, row=values)


def turn():
    """The mode and the time of this run, which it counts."""
    words = os.environ["FAKE_AGENT_TURN"].split()
    with open(os.environ["FAKE_AGENT_RUNS"], "a+", encoding="utf-8") as runs:
        runs.seek(0)
        word = words[min(len(runs.read()), len(words) - 1)]
        runs.write("x")
    return ("good", word) if word[0].isdigit() else (word, None)


def gains(gain, low, high, base=1e6, **fields):
    """What a trial measured: the changed side took base / gain a run."""
    stats = {"n": 9, "discarded": 0, "executions": 1, "min_ns": base * 0.9, "q1_ns": base * 0.95,
             "median_ns": base, "q3_ns": base * 1.05, "mean_ns": base, "stdev_ns": base / 100,
             "lo_ns": base * 0.99, "hi_ns": base * 1.01, "stop": "converged"}
    changed = {key: value / gain if key.endswith("_ns") else value for key, value in stats.items()}
    return {"trial": {"base": stats, "gain": gain, "gain_lo": low, "gain_hi": high, "rounds": 20},
            "stats": changed, "output_compared": True, "output_error": 2.5e-3,
            "output_finite": True, **fields}


HOSTILE = "\x1b[31mred\nline \u202e\x07 " + "long " * 60
# what the mode `tries` sends for a move: fields of its execution; a text: why there is no execution
MOVES = {
    "level=extended": gains(1.25, 1.2, 1.3),
    "level=basic": gains(0.5, 0.45, 0.55),
    "threads=8": gains(1.01, 0.98, 1.02),
    "threads=1": gains(1.5, 1.4, 1.6, output_error=None),  # NaN is null in JSON
    "threads=9": {"status": "mistrusted", "why": "output 1 has 3 values that are NaN", "stats": None},
    "threads=3": gains(1.5, 1.6, 1.7),  # outside its interval: no message
    "threads=4": gains(-1.5, -1.6, -1.4),
    "threads=5": gains(1.5, 1.4, 1.6, base=1e17),
    "threads=6": gains(1.5, 1.4, 1.6, output_compared=False),
    "threads=7": {"output_compared": False},  # an agent that does not know trials
    "f16": {"status": "unsupported", "why": HOSTILE, "stats": None},
    "bf16": gains(2, 1.9, 2.1, settings={"try": {"move": "bf16", "with": HOSTILE}}, dtype="bf16"),
    "int8": "the converter crashed",
    "pages=2m": gains(1.2, 1.15, 1.25, settings={"try": {"move": "pages=2m", "with": "huge"}}),
    "batch=8": gains(1.25, 1.2, 1.3),
}


def hang():
    while True:
        time.sleep(60)


def run(message):
    global mode, left2_us
    if mode == "turn":
        mode, left2_us = turn()
    job, model = message["id"], message["model"]
    done = {"type": "done", "id": job, "kind": "model", "payload": message["payload"], "status": "ok",
            "why": ""}
    say(type="heartbeat", id=job, what="importing fake")
    if mode == "fetch":
        for part in [model] + model["external"]:
            if fetch(job, part["sha256"], part["bytes"]) is None:
                return
    elif mode == "other":
        say(type="need", id=job, sha256="f" * 64, offset=0, bytes=10)
        hang()
    elif mode == "behind":
        say(type="need", id=job, sha256=model["sha256"], offset=model["bytes"], bytes=10)
        hang()
    elif mode in ("hangs", "deaf"):
        while mode == "deaf":
            say(type="heartbeat", id=job, what="creating the session")
            time.sleep(0.1)
        hang()
    elif mode == "slow":
        say(type="heartbeat", id=job, what="12 of 50 samples")
        while sys.stdin.readline().find('"cancel"') < 0:
            pass
        say(**dict(done, status="failed", why="cancelled"))
        return
    elif mode == "garbage":
        say(type="execution", id=job)
        hang()
    elif mode == "rows":
        row(job, 0)
        hang()
    elif mode == "failed":
        say(**dict(done, status="failed", why="fake: the model is too strange"))
        return
    change = model.get("try") if mode == "tries" else None
    if change:
        known = MOVES.get(change["move"], {"status": "failed", "why": json.dumps(change), "stats": None})
        if isinstance(known, str):
            say(**dict(done, status="failed", why=known))
            return
        sides = {key: change[key] for key in ("threads", "batch", "dtype") if key in change}
        if "inputs" in change:
            sides["inputs"] = ["%s:%s:%s" % (i["name"], i["dtype"], "x".join(map(str, i["shape"])))
                               for i in change["inputs"]]
        execution(job, model, **{**sides, **known})
        say(**dict(done, status=known.get("status", "ok")))
        return
    if mode == "tries":
        execution(job, model)
        row(job, 0, name="left1", nodes=["left1", "left1_relu"], ns=6e5, lo_ns=5.9e5, hi_ns=6.1e5)
        say(**done)
        return
    if mode == "unsupported":
        execution(job, model, status="unsupported", why="fake has no operator Conv", stats=None)
    elif mode == "lies":
        execution(job, model, load_ns=1e17)
    elif mode == "opaque":
        execution(job, model, dtype="", threads=7)
    elif mode != "empty":
        execution(job, model)
    if mode == "twice":
        execution(job, model)
        hang()
    if mode == "dies":
        sys.stderr.write("fake: terminate called after throwing\n")
        sys.stderr.flush()
        os.kill(os.getpid(), 9)
    if left2_us:
        ns = float(left2_us.rstrip("+")) * 1000
        if left2_us.endswith("+"):
            with open(model["path"], "ab") as file:
                file.write(b"\x32\x00")  # an empty doc_string
        row(job, 0, name="left2", nodes=["left2"], ns=ns, lo_ns=ns * 0.99, hi_ns=ns * 1.01)
    elif mode not in ("unsupported", "empty"):
        row(job, 0)
        row(job, 1, parent=1 if mode == "parent" else 0, level="kernel")
    say(**done)


def main():
    if mode == "never":
        hang()
    print("Welcome to fake.")
    hello()
    while True:
        line = sys.stdin.readline()
        message = json.loads(line) if line else {"type": "quit"}
        if message["type"] == "quit":
            return
        if message["type"] == "run":
            run(message)


if __name__ == "__main__":
    main()

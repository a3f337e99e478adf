#!/usr/bin/env python3
"""Text that would drive a terminal, from a runner, a file of results and a database: nothing of it is printed.

`escapes.py --runner HOW` is the runner: it has escape sequences, newlines, C1 controls and bidirectional overrides in every
text field of every message.
"""

import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import python_tap  # noqa: E402

MODEL = str(python_tap.ROOT / "tests" / "models" / "tiny.onnx")
EVIL = "\x1b]0;x\x07\x1b[31mRED\r\nbenanza: forged\x7f\x9b31m\u0085\u202eevil\u2066\u2028\ufeff\U000e0041 "
# What a printed line must not hold; a newline ends a line.
HARM = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
                  "\U000e0000-\U000e007f]")
WORDS = {"type", "problem", "status", "cache", "launch", "matrix", "stop", "magic"}  # read by the protocol: see ODD below


# ---- the runner

def spoiled(value, key=""):
    """Every text in it, but those that the protocol reads, is evil; so are all keys of attributes."""
    if isinstance(value, dict):
        free = key in ("attributes", "environment", "nvml")
        return {EVIL + k if free and k == "x" else k: spoiled(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [spoiled(v, key) for v in value]
    return EVIL + value if isinstance(value, str) and key not in WORDS else value


def hello(**more):
    said = {"magic": "BENANZA-RUNNER", "protocol": 1, "runner": "runner", "version": "1", "name": "name", "model": "Model",
            "stack": "stack", "threads": 1, "llc_bytes": 1 << 20, "has_matrix": False, "host": "host",
            "attributes": {"x": "y", "isa": "isa", "uuid": "GPU-1234", "driver": "1", "mig": "on", "ecc": "off",
                           "persistence": "no", "most_clock_mhz": 2000, "power_limit_w": 10, "default_power_limit_w": 90,
                           "warnings": ["something"], "environment": {"x": "1", "OMP_NUM_THREADS": "many"}, "cores": ["0", 1],
                           "caches": [{"level": 1, "type": "data", "bytes": 65536, "shared": 1, "x": "y"}],
                           "nvml": {"x": "y", "sm_mhz": 100, "throttled": ["hot"], "clocks": "low", "temperature_c": 99}}}
    return spoiled({**said, **more})


def result(job, problem, **more):
    said = {"problem": problem, "algorithm": {"api": "api", "name": "name", "layouts": "layouts", "math": "math", "rank": 0,
            "matrix": "no", "workspace_bytes": 0, "notes": "notes"}, "status": "ok", "cache": "net", "launch": "amortized",
            "stats": {"n": 10, "executions": 1, "min_ns": 900, "q1_ns": 950, "median_ns": 1000, "q3_ns": 1050, "mean_ns": 1000,
                      "stdev_ns": 9, "lo_ns": 990, "hi_ns": 1010, "stop": "disturbed"}, "why": "why", "kernels": "kernel\nsecond",
            "enqueue_ns": 5, "clock_mhz": 1000, "measured_at": 1700000000, "runner_version": "1"}
    return {"type": "result", "id": job, "result": spoiled({**said, **more})}


# Words that the protocol reads, evil: lines that are not messages.
ODD = [{"type": EVIL + "result"}, {"type": "done", "status": EVIL}, {"type": "result", "result": {"problem": EVIL, "status": "ok"}},
       {"type": "result", "result": {"problem": "p", "status": EVIL}},
       {"type": "result", "result": {"problem": "p", "status": "failed", "cache": EVIL}},
       {"type": "run", "problem": EVIL}, {EVIL: EVIL}, EVIL]
ENDS = ["unsupported", "failed", "ok", "no_memory", "timeout", "crashed", "mistrusted", "odd", "raw", "dies"]


def answers(job, problem, end, odd):
    yield {"type": "heartbeat", "id": job, "what": EVIL}
    yield {"type": "log", "id": job, "what": EVIL}
    yield {"type": "check", "id": job, "problem": problem, "algorithm": spoiled({"name": "n", "api": "a"}), "status": "ok",
           "why": EVIL}
    yield {"type": "algorithm", "id": job, "algorithm": spoiled({"name": "n", "api": "a", "layouts": "l", "math": "m", "notes": "n"})}
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


def runner(how):
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


# ---- what is printed

def harm(what, text):
    """Lines about what is in it that is not to be there."""
    found = HARM.search(text)
    wrong = [f"{what}: {found.group()!r} in {text[max(0, found.start() - 60):found.end() + 20]!r}"] if found else []
    wrong += [f"{what}: a forged line" for line in text.split("\n") if line.lstrip().startswith("benanza: forged")]
    return wrong + ([f"{what}: bytes that are no text"] if "\ufffd" in text else [])


def texts(value, key=""):
    if isinstance(value, dict):
        for k, v in value.items():
            yield k
            yield from texts(v, k)
    elif isinstance(value, list):
        for v in value:
            yield from texts(v, key)
    elif isinstance(value, str):
        yield value.replace("\n", " ") if key == "kernels" else value


def harm_in_json(what, text):
    wrong = []
    for line in filter(None, text.split("\n")):
        for one in texts(json.loads(line)):
            wrong += harm(what + " (JSON)", one) + ([f"{what}: a newline in {one!r}"] if "\n" in one else [])
    return wrong


class Place:
    def __init__(self, folder):
        self.folder = folder
        self.env = os.environ | {"HOME": folder, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        self.env |= {f"XDG_{kind}_HOME": os.path.join(folder, kind) for kind in ("DATA", "CONFIG", "STATE", "CACHE")}
        with open(self.path("config.yaml"), "w") as f:
            f.write("runners:\n" + "".join(f"  {how}: ['{sys.executable}', '{os.path.abspath(__file__)}', --runner, {how}]\n"
                                           for how in ("plain", "escaped", "good", "silent", "old", "nobody")))
            f.write(f"  cuda: ['{sys.executable}', '{os.path.abspath(__file__)}', --runner, escaped]\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *arguments, statuses=(0, 1), first=0, db="escapes.db"):
        """What is wrong with what it prints. Where there is JSON, it has to be whole."""
        command = [python_tap.program(), *arguments, "-c", self.path("config.yaml"), "--db", self.path(db)]
        done = subprocess.run(command, env=self.env | {"ESCAPES_FIRST": str(first)}, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=python_tap.TIME_LIMIT_S)
        what = " ".join(arguments).replace(self.folder, "")
        self.out, self.err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        wrong = [] if done.returncode in statuses else [f"{what}: exit status {done.returncode}: {self.err}"]
        if "--json" in arguments or "export" in arguments:
            wrong += harm_in_json(what, self.out)
        return wrong + harm(what, self.out) + harm(what + " (standard error)", self.err)


def shown(place, device, db="escapes.db"):
    """Everything that shows what a database holds of a device."""
    wrong = []
    for arguments in (["bound", MODEL, "-d", device], ["bound", "--json", MODEL, "-d", device], ["devices"], ["devices", "--json"],
                      ["doctor", "-d", device], ["doctor", "--json", "-d", device], ["db", "info"], ["db", "info", "--json"],
                      ["db", "check"], ["db", "check", "--json"], ["db", "export"]):
        wrong += place.run(*arguments, statuses=(0, 1, 2), db=db)
    for view, keys in (("layers", ""), ("layers", "Enter"), ("layers", "End Enter"), ("layers", "j j Enter End"), ("problems", ""),
                       ("problems", "Enter"), ("what-if", ""), ("devices", ""), ("devices", "j"), ("doctor", ""), ("help", "")):
        wrong += place.run(MODEL, "-d", device, "--frame", "200x60", "--view", view, "--keys", keys, statuses=(0, 1, 2), db=db)
    return wrong


def bench(place):
    wrong = []
    for first, how, form in ((0, "escaped", []), (20, "plain", ["--json"]), (40, "plain", []), (60, "escaped", ["--json"])):
        wrong += place.run("bench", *form, MODEL, "-d", how, "--again", "-v", statuses=(1, 3), first=first)
        wrong += [] if "forged" in place.err else [f"{first} {how}: nothing is said: {place.err}"]
    log = [os.path.join(root, name) for root, _, names in os.walk(place.folder) for name in names if name == "log"]
    wrong += [] if log else ["no log"]
    for path in log:
        wrong += harm("the log", open(path, errors="replace").read())
    return wrong + shown(place, "escaped") + shown(place, "1")


def good(place):
    """All is measured, so that everything has its algorithm's name beside it."""
    wrong = place.run("bench", MODEL, "-d", "good", statuses=(0,), db="good.db")
    wrong += place.run("bound", "--json", MODEL, "-d", "1", db="good.db")
    wrong += [] if "RED" in place.out else ["names are not shown at all"]
    return wrong + shown(place, "good", "good.db")


def no_runner(place):
    wrong = []
    for how in ("silent", "old", "nobody"):
        for arguments in (["bench", MODEL], ["doctor"], ["bound", MODEL], [MODEL, "--frame", "120x40"]):
            wrong += place.run(*arguments, "-d", how, statuses=(0, 1, 2, 3))
    return wrong


def planner(place):
    """A GPU that is only described, and a runner that says what would run there."""
    return place.run(MODEL, "-d", "h100", "--frame", "200x60", "--keys", "Enter") + place.run("bound", "--json", MODEL, "-d", "h100")


def files(place):
    """Results as a file, with lines that are no messages."""
    jobs = subprocess.run([python_tap.program(), "bench", "-q", "--emit-jobs", MODEL], env=place.env, capture_output=True,
                          check=True, text=True).stdout.splitlines()
    wrong = []
    for how in (True, False):
        lines = [EVIL, hello()]
        for count, job in enumerate(map(json.loads, jobs)):
            end = ENDS[count % len(ENDS)]
            lines += answers(job["id"], job["problem"], end if end not in ("raw", "dies") else "ok", count // len(ENDS))
        lines += [{"type": "result", "id": 1, "result": {"problem": "p", "status": EVIL}}, "\x1b[31m", result(1, "eltwise:" + EVIL)]
        lines += [result(1, EVIL), {EVIL: 1}, {"type": EVIL}]
        path = place.path(f"evil\x1b[31m{how}.jsonl")
        with open(path, "wb") as f:
            for line in lines:
                f.write((line if isinstance(line, str) else json.dumps(line, ensure_ascii=how)).encode() + b"\n")
        wrong += place.run("db", "import", path, db="files.db") + place.run("db", "import", "--json", path, db="files.db")
        wrong += place.run("db", "import", path + EVIL, statuses=(2,), db="files.db")
    return wrong + shown(place, "1", "files.db")


def planted(place):
    """A database that another program wrote, and one that takes it in."""
    place.run("bench", MODEL, "-d", "good", db="planted.db")
    db = sqlite3.connect(place.path("planted.db"))
    db.execute("DROP TRIGGER result_no_update")
    evil = EVIL + "planted"
    for table, columns in (("identity", ["model", "stack"]), ("attributes", ["name", "runner", "version", "host"]),
                           ("algorithm", ["api", "name", "layouts", "math"]), ("note", ["text"]), ("result", ["why", "runner_version"]),
                           ("model_dims", ["model", "json"])):
        for column in columns:
            db.execute(f"UPDATE {table} SET {column} = ? || rowid || {column}", [evil])
    attributes = {EVIL: EVIL, "isa": EVIL, "warnings": [EVIL], "environment": {EVIL: EVIL}, "uuid": EVIL}
    db.execute("UPDATE attributes SET json = ?", [json.dumps(attributes)])
    db.execute("INSERT INTO problem (text) VALUES (?)", [evil])
    db.execute("UPDATE result SET problem = (SELECT max(id) FROM problem) WHERE id = 1")
    db.execute("UPDATE result SET status = ? WHERE id = 2", [evil])
    db.execute("UPDATE result SET identity = 99 WHERE id = 3")
    db.execute("INSERT INTO model_dims VALUES (?, ?, 1)", [os.path.realpath(MODEL), json.dumps({EVIL: EVIL, "batch": EVIL})])
    name = EVIL.replace('"', "")
    db.execute(f'CREATE TABLE "{name}" (x REFERENCES "{name}2" (x)); ')
    db.execute(f'INSERT INTO "{name}" VALUES (1)')
    db.commit()
    db.close()
    wrong = shown(place, "1", "planted.db")
    wrong += place.run("db", "merge", place.path("planted.db"), statuses=(0, 1), db="merged.db")
    wrong += place.run("db", "merge", "--json", place.path("planted.db"), statuses=(0, 1), db="merged.db")
    wrong += shown(place, "1", "merged.db")
    stored = sqlite3.connect(place.path("merged.db"))
    for table, columns in (("identity", "model || stack"), ("algorithm", "api || name || layouts || math"), ("note", "replace(text, char(10), '')"),
                           ("result", "why || runner_version"), ("attributes", "name || runner || version || host || json")):
        rows = [row[0] for row in stored.execute(f"SELECT {columns} FROM {table}")]
        wrong += [] if rows else [f"{table}: nothing was taken in"]
        for row in rows:
            wrong += harm(f"stored in {table}", row)
    stored.close()
    return wrong


CASES = [
    ("bench of a runner with escapes in every text", bench),
    ("results with escapes in every text", good),
    ("runners without a hello that can be used", no_runner),
    ("a planner", planner),
    ("files of results", files),
    ("a database that another program wrote", planted),
]


def main():
    if sys.argv[1:2] == ["--runner"]:
        return runner(sys.argv[2])
    tap = python_tap.Tap()
    for name, check in CASES:
        with tempfile.TemporaryDirectory() as folder:
            tap.result(name, check(Place(folder)))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Text that would drive a terminal, from a runner, a file of results and a database: nothing of it is printed.

escapes_runner.py is the runner.
"""

import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import python_tap  # noqa: E402
import escapes_runner  # noqa: E402
from escapes_runner import ENDS, EVIL, answers, hello, result  # noqa: E402

MODEL = str(python_tap.ROOT / "tests" / "models" / "tiny.onnx")
HOWS = ("plain", "escaped", "good", "silent", "old", "nobody")
# What a printed line must not hold; a newline ends a line.
HARM = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
                  "\U000e0000-\U000e007f]")


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


def command(how):
    """Of the runner, in the configuration's form; without Python's site, which takes longer than the runner."""
    return [sys.executable, "-I", "-S", escapes_runner.__file__, how]


class Place:
    def __init__(self, folder):
        self.folder = folder
        self.env = os.environ | {"HOME": folder, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        self.env |= {f"XDG_{kind}_HOME": os.path.join(folder, kind) for kind in ("DATA", "CONFIG", "STATE", "CACHE")}
        with open(self.path("config.yaml"), "w") as f:
            f.write("runners:\n" + "".join(f"  {how}: {command(how)}\n" for how in HOWS))
            # not the real runners and agents, which `devices` and `doctor` start each time
            f.write(f"  cuda: {command('escaped')}\n  cpu: {command('escaped')}\npython: 'false'\n")

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
    tap = python_tap.Tap()
    for name, check in CASES:
        with tempfile.TemporaryDirectory() as folder:
            tap.result(name, check(Place(folder)))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

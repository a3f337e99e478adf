#!/usr/bin/env python3
"""Imports and merges of 100,000 results, ended by kill -9 and by Ctrl-C at random moments.

Every time the database is sound, holds whole batches, and what Ctrl-C said was added; the same command again
completes it with nothing twice.  KILL_SEED repeats a run.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import python_tap  # noqa: E402

python_tap.need("sqlite3")
import sqlite3  # noqa: E402

SEED = int(os.environ.get("KILL_SEED") or random.SystemRandom().randrange(10**6))
PROBLEMS = 25000
RESULTS = PROBLEMS * 4
SIGNALS = [signal.SIGKILL, signal.SIGINT, signal.SIGKILL]
GIVEN_UP_S = 120


def write_results(path):
    hello = {"magic": "BENANZA-RUNNER", "protocol": 1, "runner": "many", "version": "1", "name": "many", "model": "Many 1",
             "stack": "many", "threads": 1, "llc_bytes": None, "has_matrix": False, "host": "test", "attributes": {}}
    line = ('{{"type":"result","id":{0},"result":{{"problem":"{1}","algorithm":{{"api":"many","name":"one","layouts":"",'
            '"math":"strict","rank":0,"matrix":"no","workspace_bytes":0}},"status":"ok","cache":"{2}","launch":"{3}",'
            '"stats":{{"n":10,"discarded":0,"executions":1,"min_ns":9,"q1_ns":9,"median_ns":9,"q3_ns":9,"mean_ns":9,'
            '"stdev_ns":0,"lo_ns":9,"hi_ns":9,"stop":"converged"}},"why":"","measured_at":1700000000,'
            '"runner_version":"1"}}}}\n')
    with open(path, "w") as f:
        f.write(json.dumps(hello, separators=(",", ":")) + "\n")
        for p in range(PROBLEMS):
            problem = f"eltwise:f32,f32:relu:{p % 500 + 1}x{p // 500 + 1}"
            for cache in ("net", "warm"):
                for launch in ("amortized", "isolated"):
                    f.write(line.format(p + 1, problem, cache, launch))
            f.write(f'{{"type":"done","id":{p + 1},"status":"ok","why":""}}\n')


def rows(database):
    """Results, and how many of them are there already; (0, 0) where there is nothing yet."""
    try:
        db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
        counted = tuple(db.execute("SELECT (SELECT count(*) FROM result), (SELECT count(*) FROM finished)").fetchone())
        db.close()
        return counted
    except sqlite3.Error:
        return 0, 0


def doubles(database):
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    found = db.execute("SELECT count(*) FROM (SELECT 1 FROM result GROUP BY problem, cache, launch HAVING count(*) > 1)")
    count = found.fetchone()[0]
    db.close()
    return count


def run(database, command, source):
    return [python_tap.program(), "db", command, "--json", "--db", database, source]


def interrupted(database, command, source, number, moment):
    """Ends it when it has added a number of results. Returns what is wrong, and a word on what happened."""
    process = subprocess.Popen(run(database, command, source), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + GIVEN_UP_S
    before = rows(database)[0]
    while rows(database)[0] < before + moment and process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)
    process.send_signal(number)
    out, err = process.communicate(timeout=GIVEN_UP_S)
    kept, finished = rows(database)
    wrong = []
    if number == signal.SIGKILL and process.returncode not in (-signal.SIGKILL, 0):
        wrong.append(f"exit status {process.returncode}: {err}")
    if number == signal.SIGINT:
        said = json.loads(out) if process.returncode == 1 else {}
        if not said.get("interrupted") or said["added"] + before != kept:
            wrong.append(f"exit status {process.returncode}, {kept - before} added; {out} {err}")
    if kept < before or finished * 4 > kept:
        wrong.append(f"{before} results before, {kept} after, {finished} problems finished")
    print(f"# {command}, {number.name}: {before} -> {kept}")
    return wrong


def check(tap, folder, command, source, draw):
    database = os.path.join(folder, f"{command}.db")
    wrong = []
    for number in SIGNALS:
        # Ctrl-C at 0 results could come before the program handles it
        moment = draw.randrange(number == signal.SIGINT, RESULTS // 4)
        wrong += interrupted(database, command, source, number, moment)
        sound = subprocess.run([python_tap.program(), "db", "check", "--db", database], capture_output=True, text=True)
        if sound.returncode and "an empty file" not in sound.stderr and os.path.exists(database):
            wrong.append(f"{number.name} after {moment}: {sound.stdout} {sound.stderr}")
    tap.result(f"{command} of {RESULTS} results, ended {len(SIGNALS)} times: sound, and what was said to be kept is", wrong)
    before = rows(database)[0]
    done = subprocess.run(run(database, command, source), capture_output=True, text=True)
    said = json.loads(done.stdout or "{}")
    wrong = [] if (said.get("added"), said.get("already")) == (RESULTS - before, before) else [done.stdout + done.stderr]
    wrong += [] if rows(database) == (RESULTS, PROBLEMS) else [f"{rows(database)}"]
    wrong += [] if doubles(database) == 0 else [f"{doubles(database)} keys twice"]
    tap.result(f"{command} again completes it, with nothing twice", wrong)
    return database


def is_asleep(pid):
    """It watches for Ctrl-C, and waits for something."""
    with open(f"/proc/{pid}/status") as f:
        said = dict(line.split(":", 1) for line in f if ":" in line)
    return int(said["SigCgt"], 16) >> (signal.SIGINT - 1) & 1 and said["State"].split()[0] == "S"


def waiting(folder):
    """Ctrl-C while it waits for somebody to write: no error."""
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    process = subprocess.Popen(run(os.path.join(folder, "none.db"), "import", pipe), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    end = time.monotonic() + GIVEN_UP_S
    while not is_asleep(process.pid) and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=GIVEN_UP_S)
    good = process.returncode == 1 and json.loads(out)["interrupted"] and not err
    return [] if good else [f"exit status {process.returncode}: {out} {err}"]


def main():
    tap = python_tap.Tap()
    draw = random.Random(SEED)
    print(f"# KILL_SEED={SEED}")
    with tempfile.TemporaryDirectory() as folder:
        lines = os.path.join(folder, "results")
        write_results(lines)
        database = check(tap, folder, "import", lines, draw)
        os.unlink(lines)
        check(tap, folder, "merge", database, draw)
        tap.result("an import that waits for a writer, ended", waiting(folder))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

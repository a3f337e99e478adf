"""Runs an agent (src/agents) as a process and speaks docs/wire.md with it."""

import base64
import hashlib
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

from python_tap import ROOT, TIME_LIMIT_S

AGENTS = ROOT / "src" / "agents"
MODELS = ROOT / "data" / "models"


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def job(path, inputs=(), budget_ms=100, id_=1, external=(), **model):
    """A `run` message for a model's file."""
    path = pathlib.Path(path)
    files = [
        {"name": p.name, "bytes": p.stat().st_size, "sha256": digest(p)} for p in map(pathlib.Path, external)
    ]
    request = {
        "path": str(path),
        "sha256": digest(path),
        "bytes": path.stat().st_size,
        "external": files,
        "inputs": list(inputs),
        "seed": 1,
        "batch": 1,
        **model,
    }
    return {
        "type": "run",
        "id": id_,
        "kind": "model",
        "payload": path.stem,
        "budget_ms": budget_ms,
        "model": request,
    }


class Agent:
    """A running agent. Its lines are read by a thread, so that no test waits for ever."""

    def __init__(self, program, *arguments, python=(sys.executable,), environment=None, before=None):
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})}
        self.begin = time.monotonic()
        self.process = subprocess.Popen(
            [*python, str(program), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            preexec_fn=before,
        )
        self.lines, self.errors = queue.Queue(), []
        threading.Thread(target=self.read, daemon=True).start()
        threading.Thread(target=self.read_errors, daemon=True).start()
        self.hello = self.next()
        self.hello_s = time.monotonic() - self.begin

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def read_errors(self):
        for line in self.process.stderr:
            self.errors.append(line.decode(errors="replace"))

    def next(self, limit_s=TIME_LIMIT_S):
        """The next message; None at the end of the output."""
        line = self.lines.get(timeout=limit_s)
        return None if line is None else json.loads(line)

    def say(self, message):
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def until(self, *types, id_=None):
        """(messages before, the next message of one of the types)"""
        before = []
        while True:
            message = self.next()
            if message is None:
                raise RuntimeError(f"the agent ended: {''.join(self.errors)[-2000:]}")
            if message.get("type") in types and (id_ is None or message["id"] == id_):
                return before, message
            before.append(message)

    def run(self, message, files=None):
        """(execution, rows, done, other messages) of a job; files: bytes by SHA-256 that the agent may ask
        for."""
        self.say(message)
        rest = []
        while True:
            before, last = self.until("done", "need")
            rest += before
            if last["type"] == "done":
                break
            content = (files or {}).get(last["sha256"])
            reply = {"type": "file", "id": last["id"], "sha256": last["sha256"], "offset": last["offset"]}
            if content is None:
                self.say({**reply, "why": "the test has no such file"})
            else:
                part = content[last["offset"] : last["offset"] + last["bytes"]]
                self.say({**reply, "data": base64.b64encode(part).decode()})
            rest.append(last)
        executions = [m["execution"] for m in rest if m["type"] == "execution"]
        rows = [m["row"] for m in rest if m["type"] == "row"]
        others = [m for m in rest if m["type"] not in ("execution", "row")]
        return executions[0] if len(executions) == 1 else None, rows, last, others

    def end(self):
        """Closes the input and returns the exit status."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        return self.process.wait(timeout=TIME_LIMIT_S)


def expect(agent, message, status, words):
    """What is wrong with a job that ends with a status and a reason, one line that contains `words`."""
    execution, rows, done, _ = agent.run(message)
    if not execution or execution["status"] != status or done["status"] != status:
        yield f"expected {status} '{words}': {execution} {done}"
    elif words not in execution["why"] or "\n" in execution["why"] or len(execution["why"]) > 600:
        yield f"expected '{words}' in '{execution['why']}'"
    if rows:
        yield f"{len(rows)} rows"


def expect_all(agent, cases):
    """The same for jobs one after another: (message, status, words). Ends the agent."""
    for case in cases:
        yield from expect(agent, *case)
    agent.end()


def faults(execution, rows, done):
    """What is wrong with a successful execution by the rules of docs/wire.md, independent of the machine's
    speed."""
    if execution is None:
        yield f"no execution: {done}"
        return
    if execution["status"] != "ok" or done["status"] != "ok":
        yield f"status {execution['status']} {done['status']}: {execution['why']} {done['why']}"
        return
    stats = execution["stats"]
    order = [stats[key] for key in ("min_ns", "q1_ns", "median_ns", "q3_ns")]
    if order != sorted(order) or order[0] <= 0 or execution["p99_ns"] < execution["p90_ns"]:
        yield f"quantiles out of order: {stats}"
    if stats["n"] > 1 and not stats["lo_ns"] <= stats["median_ns"] <= stats["hi_ns"]:
        yield f"median outside of its interval: {stats}"
    if stats["stop"] not in ("converged", "budget", "disturbed"):
        yield f"stop {stats['stop']}"
    for key in (
        "load_ns",
        "first_ns",
        "items_per_s",
        "floor_ns",
        "copy_in_ns",
        "copy_out_ns",
        "memory_bytes",
    ):
        if not (execution.get(key) or 0) > 0:
            yield f"{key} is {execution.get(key)}"
    for index, row in enumerate(rows):
        if row["parent"] is not None and not 0 <= row["parent"] < index:
            yield f"row {index}: parent {row['parent']}"
        if row["ns"] is None or row["ns"] < 0 or not row["lo_ns"] <= row["ns"] <= row["hi_ns"]:
            yield f"row {index}: {row['lo_ns']} {row['ns']} {row['hi_ns']}"


def coverage(rows):
    """Share of the time of the rows whose nodes of the model are known."""
    top = [row for row in rows if row["parent"] is None]
    total = sum(row["ns"] for row in top)
    return sum(row["ns"] for row in top if row["nodes"]) / total if total else 0

#!/usr/bin/env python3
"""The protocol of agents (docs/wire.md) with a stand-in for the framework: jobs, failures, files,
cancelling. TAP."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, need  # noqa: E402

need("numpy")
from agent_wire import AGENTS, Agent, digest, expect, job  # noqa: E402

sys.path.insert(0, str(AGENTS))
from benanza_agent import pages as huge  # noqa: E402

STUB = pathlib.Path(__file__).with_name("agent_stub.py")
tap = Tap()
folder = pathlib.Path(tempfile.mkdtemp(prefix="benanza-agents-"))
model = folder / "m.onnx"
model.write_bytes(b"a model's bytes" * 100000)  # three chunks
cache = folder / "cache"
environment = {"XDG_CACHE_HOME": str(cache), "BENANZA_AGENT_CACHE_BYTES": "4000000"}


def stub(*arguments, **options):
    return Agent(STUB, *arguments, environment=environment, **options)


def options(**given):
    return job(model, budget_ms=5, options=given)


def gone(pid, limit_s=60):
    end = time.monotonic() + limit_s
    while (
        os.path.exists(f"/proc/{pid}")
        and "Z" not in pathlib.Path(f"/proc/{pid}/stat").read_text().split(")")[1][:3]
    ):
        if time.monotonic() > end:
            yield f"process {pid} still runs"
            return
        time.sleep(0.02)


agent = stub()


@tap.test("the first line is the hello, and the job's replies are in order")
def _():
    if agent.hello.get("jobs") != ["model"] or agent.hello["protocol"] != 1 or "magic" not in agent.hello:
        yield f"hello {agent.hello}"
    agent.say(
        options(profile="", output="3") | {"model": options()["model"] | {"profile": True, "compare": True}}
    )
    _, execution = agent.until("execution")
    between, done = agent.until("done")
    if [m["type"] for m in between if m["type"] != "heartbeat"] != ["row"]:
        yield f"between execution and done: {between}"
    got = execution["execution"]
    if (
        got["status"] != "ok"
        or got["dtype"] != "f32"
        or got["output_error"] != 0.5
        or not got["output_compared"]
    ):
        yield f"execution {got}"
    if done != {"type": "done", "id": 1, "kind": "model", "payload": "m", "status": "ok", "why": done["why"]}:
        yield f"done {done}"
    row = between[-1]["row"]
    if len(row["name"]) > 4096 or len("\n".join(row["nodes"])) > 65536 or row["ns"] != 2:
        yield f"a row of {len(json.dumps(row))} bytes"


@tap.test("what a framework prints does not reach the protocol")
def _():
    execution, _, done, _ = agent.run(options(load="print", open="print"))
    if not execution or execution["status"] != "ok" or done["status"] != "ok":
        yield f"{execution} {done}"


@tap.test("each failure of a framework has its status, and the agent goes on")
def _():
    for step, what, status, words in (
        ("load", "unsupported", "unsupported", "no provider 'X'"),
        ("open", "memory", "no_memory", "bad_alloc"),
        ("open", "wrong", "failed", "two lines [31m and a colour"),
        ("open", "crash", "crashed", "the framework crashed with signal 6 (creating the session)"),
        ("run", "killed", "crashed", "most likely because memory ran out (first run)"),
        ("load", "exit", "crashed", "exit status 7 (importing stub)"),
    ):
        yield from expect(agent, options(**{step: what}), status, words)
    yield from expect(agent, options(), "ok", "")


@tap.test("a profile that kills the process leaves the latency, with a gap")
def _():
    message = options(profile="killed")
    message["model"]["profile"] = True
    execution, rows, done, _ = agent.run(message)
    if not execution or execution["status"] != "ok" or "signal 9" not in execution["gaps"] or rows:
        yield f"{execution} {done}"


@tap.test("a step that takes too long is a timeout, with heartbeats before")
def _():
    slow = stub("--step-limit", "1.2")
    execution, _, done, others = slow.run(options(open="hang"))
    if (
        not execution
        or execution["status"] != "timeout"
        or "creating the session took more than 1.2" not in done["why"]
    ):
        yield f"{execution} {done}"
    if not any(m["type"] == "heartbeat" and m["what"] == "creating the session" for m in others):
        yield f"heartbeats: {others}"
    if slow.end():
        yield "exit status"


@tap.test("cancel ends a running and a waiting job; others go on")
def _():
    for id_, what in ((1, "hang"), (2, ""), (3, "")):
        agent.say(options(open=what) | {"id": id_})
    agent.until("heartbeat")
    agent.say({"type": "cancel", "id": 2})
    agent.say({"type": "cancel", "id": 1})
    dones = {m["id"]: m for m in (agent.until("done")[1] for _ in range(3))}
    if (
        any(dones[i]["status"] != "failed" or dones[i]["why"] != "cancelled" for i in (1, 2))
        or dones[3]["status"] != "ok"
    ):
        yield f"{dones}"


@tap.test("what is not a message is answered by a log, or by a done if it has an id")
def _():
    for line in (
        b"garbage",
        b"\xff\xfe\x00",
        b"[1]",
        b"{" * 3000,
        b'{"type":"run"}',
        b'{"type":"x","id":true}',
        b'{"type":"file","id":1,"sha256":"0"}',
        b"y" * (1 << 21),
    ):
        agent.say(line)
        kind = agent.until("log", "done")[1]
        if kind["type"] != "log":
            yield f"{line[:40]}: {kind}"
    agent.say({"type": "strange", "id": 9})
    if agent.until("log", "done")[1]["type"] != "done":
        yield "an unknown message with an id has no done"
    agent.say({"type": "run", "id": 4, "problem": "eltwise:f32,f32:relu:4"})
    before, done = agent.until("done")
    if done["status"] != "unsupported" or not any(m["type"] == "result" for m in before):
        yield f"a problem: {before} {done}"
    yield from expect(agent, options(), "ok", "")


@tap.test("a request that is wrong has a failed execution that names the key")
def _():
    for change, words in (
        ({"threads": -1}, "'threads'"),
        ({"requests": 1.5}, "'requests'"),
        ({"level": "most"}, "'level'"),
        ({"inputs": [{"name": "x", "shape": [-1]}]}, "its shape"),
        ({"options": []}, None),
        ({"options": {"a": 1}}, "'options'"),
        ({"inputs": [{"name": "no"}]}, "no input 'no'"),
        ({"sha256": "../../etc"}, "not a SHA-256"),
        ({"bytes": True}, "size"),
        ({"external": [{"name": "../x", "bytes": 1, "sha256": "0" * 64}]}, "refused"),
        ({"external": [{"name": "a/../b", "bytes": 1, "sha256": "0" * 64}]}, "refused"),
        ({"external": [{"name": "", "bytes": 1, "sha256": "0" * 64}]}, "refused"),
    ):
        message = options()
        message["model"].update(change)
        yield from expect(agent, message, "failed" if words else "ok", words or "")
    yield from expect(agent, {"type": "run", "id": 5, "kind": "model"}, "failed", "needs the key 'model'")


def remote(external=()):
    """A job whose path is on another machine."""
    message = job(model, budget_ms=5, external=external)
    message["model"]["path"] = "/nowhere/m.onnx"
    return message


contents = {digest(model): model.read_bytes()}


@tap.test("a model is sent once, in chunks, with its external data")
def _():
    data = folder / "weights.bin"
    data.write_bytes(b"w" * 600000)
    contents[digest(data)] = data.read_bytes()
    execution, _, _, others = agent.run(remote([data]), contents)
    needs = [(m["offset"], m["bytes"]) for m in others if m["type"] == "need"]
    if needs != [(0, 524288), (524288, 524288), (1048576, 451424), (0, 524288), (524288, 75712)]:
        yield f"asked for {needs}"
    if not execution or execution["status"] != "ok":
        yield f"{execution}"
    kept = cache / "benanza" / "models" / digest(model)
    if sorted(p.name for p in kept.iterdir()) != ["model.onnx", "weights.bin"]:
        yield f"kept: {list(kept.iterdir())}"
    if any(m["type"] == "need" for m in agent.run(remote([data]), contents)[3]):
        yield "asked again for what it has"
    (kept / "weights.bin").write_bytes(b"x" * 600000)
    if not any(m["type"] == "need" for m in agent.run(remote([data]), contents)[3]):
        yield "used a file that is not the one requested"


@tap.test("external data in a directory below the model's")
def _():
    message, name = remote([folder / "weights.bin"]), "weights/part 1/w.bin"
    message["model"]["external"][0]["name"] = name
    execution, kept = agent.run(message, contents)[0], cache / "benanza" / "models" / digest(model)
    if not execution or execution["status"] != "ok" or (kept / name).read_bytes() != b"w" * 600000:
        yield f"{execution}"
    message["model"]["external"][0]["name"] = "weights.bin/a"  # weights.bin is a file
    execution = agent.run(message, contents)[0]
    if not execution or execution["status"] != "failed" or "weights.bin" not in execution["why"]:
        yield f"{execution}"


@tap.test("the cache has a limit: the oldest models go")
def _():
    first = cache / "benanza" / "models" / digest(model)
    os.utime(first, (1, 1))
    other = folder / "other.onnx"
    other.write_bytes(os.urandom(2500000))
    message = job(other, budget_ms=5)
    message["model"]["path"] = ""
    execution = agent.run(message, {digest(other): other.read_bytes()})[0]
    if not execution or execution["status"] != "ok" or first.exists():
        yield f"{execution} {first.exists()}"
    message["model"]["bytes"] = 5000000
    yield from expect(agent, message, "failed", "BENANZA_AGENT_CACHE_BYTES")


@tap.test("a file that is wrong, refused or never sent fails its job")
def _():
    message = remote()
    yield from expect(agent, message, "failed", "the test has no such file")
    execution = agent.run(message, {digest(model): model.read_bytes()[:-1] + b"!"})[0]
    if not execution or execution["status"] != "failed" or "differs from its SHA-256" not in execution["why"]:
        yield f"{execution}"
    for reply, words in (
        ({"offset": 7, "data": "AAAA"}, "offset 7"),
        ({"offset": 0, "data": "*"}, "not base64"),
        ({"offset": 0, "data": ""}, "0 bytes"),
    ):
        agent.say(message)
        asked = agent.until("need")[1]
        agent.say({"type": "file", "id": 1, "sha256": asked["sha256"], **reply})
        execution = agent.until("execution")[1]["execution"]
        agent.until("done")
        if words not in execution["why"]:
            yield f"{reply}: {execution['why']}"
    left = [p.name for p in (cache / "benanza" / "models" / digest(model)).iterdir()]
    if left:
        yield f"left in the cache: {left}"


def pages(**given):
    return job(model, budget_ms=100, options=given, **{"try": {"move": "pages=2m", "pages": "2m"}})


@tap.test("pages of 2 MiB: a process of its own, whose heap is in them; without an effect there is no gain")
def _():
    mode = re.search(r"\[(\w+)\]", huge.machine.read(f"{huge.KERNEL}/enabled"))
    if not mode or mode.group(1) != "madvise":
        yield from expect(agent, pages(heap="64000000"), "unsupported", "huge pages")
        return
    agent.say(pages(heap="64000000", run="wait"))
    _, message = agent.until("execution")
    agent.until("done")
    execution, trial = message["execution"], message.get("trial")
    if execution["status"] != "ok" or not trial or execution["output_error"] != 0:
        yield f"{message}"
    elif not 0.2 < trial["gain"] < 5:
        yield f"both sides take 1 ms: {trial}"
    elif not execution["settings"]["huge_bytes"] > 32e6:
        yield f"settings {execution['settings']}"
    elif "MiB in huge pages, unchanged 0 MiB" not in execution["settings"]["try"]["with"]:
        yield f"settings {execution['settings']}"
    for step, what, status, words in (
        ("heap", "1000", "unsupported", "huge pages have no effect: the changed session has"),
        ("apart", "unsupported", "unsupported", "no provider 'X'"),
        ("apart", "memory", "no_memory", "bad_alloc"),
        ("apart", "wrong", "failed", "two lines [31m and a colour"),
        ("apart", "killed", "failed", "its process ended with exit status -9"),
    ):
        yield from expect(agent, pages(**{step: what}), status, words)
    execution = agent.run(options(heap="64000000"))[0]
    if execution["settings"]["huge_bytes"] > 32e6:
        yield f"the next job: {execution['settings']}"


@tap.test("quit ends the agent at once, a job and its process too")
def _():
    mark = folder / "worker"
    agent.say(options(open="child", file=str(mark)))
    while not mark.exists() or not mark.read_text():
        time.sleep(0.01)
    agent.say({"type": "quit"})
    if agent.process.wait(timeout=60) != 0:
        yield f"exit status {agent.process.returncode}"
    yield from gone(int(mark.read_text()))


@tap.test("an agent that is killed takes its worker along")
def _():
    mark, killed = folder / "worker2", stub()
    killed.say(options(open="child", file=str(mark)))
    while not mark.exists() or not mark.read_text():
        time.sleep(0.01)
    killed.process.send_signal(signal.SIGKILL)
    killed.process.wait(timeout=60)
    yield from gone(int(mark.read_text()))


@tap.test("an agent whose reader is gone ends, a job and its process too")
def _():
    mark = folder / "worker3"
    process = subprocess.Popen(
        [sys.executable, str(STUB)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    process.stdout.readline()
    process.stdin.write(json.dumps(options(open="child", file=str(mark))).encode() + b"\n")
    process.stdin.flush()
    while not mark.exists() or not mark.read_text():
        time.sleep(0.01)
    process.stdout.close()
    process.wait(timeout=60)
    process.stdin.close()
    yield from gone(int(mark.read_text()))


@tap.test("jobs from a file run to the end, into a file without heartbeats")
def _():
    jobs, results = folder / "jobs.jsonl", folder / "results.jsonl"
    jobs.write_text("".join(json.dumps(options() | {"id": i}) + "\n" for i in (1, 2)))
    with jobs.open() as source, results.open("w") as out:
        done = subprocess.run(
            [sys.executable, str(STUB)],
            stdin=source,
            stdout=out,
            env={**os.environ, **environment},
            timeout=300,
        )
    types = [json.loads(line).get("type") for line in results.read_text().splitlines()]
    if done.returncode or types != ["hello", "execution", "done", "execution", "done"]:
        yield f"{done.returncode} {types}"


@tap.test("an agent without a job ends after --idle")
def _():
    idle = stub("--idle", "0.7")
    if idle.process.wait(timeout=60):
        yield f"exit status {idle.process.returncode}"


for path in sorted(folder.rglob("*"), reverse=True):
    path.rmdir() if path.is_dir() else path.unlink()
folder.rmdir()
sys.exit(tap.end())

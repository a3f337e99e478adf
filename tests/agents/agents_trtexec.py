#!/usr/bin/env python3
"""The agent of trtexec, with a stand-in for the program (fake_trtexec.py): options, rows, failures. TAP."""

import os
import pathlib
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, need  # noqa: E402

need("numpy", "onnx", "onnxruntime")
from onnx import helper  # noqa: E402
from agent_wire import AGENTS, Agent, digest, expect, expect_all, job  # noqa: E402
from ort_common import save_model  # noqa: E402

AGENT = AGENTS / "agent_trtexec.py"
tap = Tap()
scratch = tempfile.TemporaryDirectory(prefix="benanza-agents-")
folder = pathlib.Path(scratch.name)
log = folder / "log"
(folder / "bin").mkdir()
(folder / "jobs").mkdir()
(folder / "bin" / "trtexec").symlink_to(pathlib.Path(__file__).with_name("fake_trtexec.py"))


def start(*arguments, does="", version="100300", path=None, **options):
    """The agent; `does`: what the program does wrong."""
    log.write_text("")
    environment = {"XDG_CACHE_HOME": str(folder / "cache"), "FAKE_LOG": str(log), "FAKE_DOES": does,
                   "FAKE_VERSION": version, "TMPDIR": str(folder / "jobs"),
                   "PATH": path or f"{folder / 'bin'}:{os.environ['PATH']}"}  # fmt: skip
    return Agent(AGENT, *arguments, environment=environment, **options)


def save(name, *described, **how):
    return save_model(folder / f"{name}.onnx", *described, **how)


def chain():
    """Convolutions with what trtexec fuses, names with a slash and a comma, an empty name."""
    weight = helper.make_tensor("w", 1, [3, 3, 1, 1], [0.5] * 9)
    nodes = [
        helper.make_node("Constant", [], ["w"], "weight", value=weight),
        helper.make_node("Conv", ["x", "w"], ["c1"], "/a/Conv"),
        helper.make_node("Relu", ["c1"], ["r1"], "/a/Relu"),
        helper.make_node("Sigmoid", ["r1"], ["s1"], "gate"),
        helper.make_node("Conv", ["s1", "w"], ["c2"], "conv2"),
        helper.make_node("Add", ["c2", "r1"], ["a"], ""),
        helper.make_node("Flatten", ["a"], ["f"], "flatten"),
        helper.make_node("Identity", ["f"], ["y"], "end"),
    ]  # fmt: skip
    return save("chain", nodes, {"x": ["n", 3, 8, 8]}, {"y": ["n", 192]})


CHAIN = chain()
RELU = save("relu", [helper.make_node("Relu", ["x"], ["y"], "relu")], {"x": [1, 64]}, {"y": [1, 64]})
POSITIVE = [{"name": "x", "dtype": "f32", "low": 0.5, "high": 1}]


def commands():
    return [line.split() for line in log.read_text().splitlines()]


@tap.test("an execution: latency without the warm-up, copies, memory, floor, outputs compared")
def _():
    agent = start()
    if (
        agent.hello["attributes"]["version"] != "10.3.0"
        or agent.hello["attributes"]["framework"] != "tensorrt"
    ):
        yield f"hello {agent.hello}"
    execution, rows, done, _ = agent.run(job(RELU, POSITIVE, compare=True))
    if not execution or execution["status"] != "ok" or done["status"] != "ok" or rows:
        yield f"{execution} {done}"
        return
    expected = {
        "framework": "tensorrt",
        "version": "10.3.0",
        "provider": "TensorRT",
        "device": "NVIDIA Stand-In 9000",
        "dtype": "f32",
        "math": "strict",
        "copy_in_ns": 250000,
        "copy_out_ns": 125000,
        "memory_bytes": 1500000,
        "items_per_s": 800.5,
        "output_compared": True,
        "output_finite": True,
        "gaps": "",
    }
    wrong = {k: execution.get(k) for k, v in expected.items() if execution.get(k) != v}
    if wrong:
        yield f"{wrong}"
    stats = execution["stats"]
    if stats["n"] != 50 or abs(stats["median_ns"] - 1.045e6) > 1 or abs(stats["min_ns"] - 1e6) > 1:
        yield f"statistics {stats}"
    if not 1.08e6 <= execution["p90_ns"] <= execution["p99_ns"] <= 1.0900001e6:
        yield f"p90 {execution['p90_ns']} p99 {execution['p99_ns']}"
    if not 1e6 <= execution["floor_ns"] <= 1.1e6 or not execution["load_ns"] > 0:
        yield f"floor {execution['floor_ns']}, load {execution['load_ns']}"
    if not 0 <= execution["output_error"] < 1e-5:
        yield f"error {execution['output_error']}"
    settings = execution["settings"]
    if not settings["cuda_graph"] or settings["build_s"] != 12.5 or not settings["engine_bytes"] > 0:
        yield f"settings {settings}"
    agent.end()
    if list((folder / "jobs").iterdir()):
        yield f"left behind: {list((folder / 'jobs').iterdir())}"


@tap.test("the options of each run: built once without TF32, measured without the profiler, then profiled")
def _():
    agent = start()
    agent.run(job(RELU, profile=True, options={"--builderOptimizationLevel": "5"}))
    agent.end()
    runs = [c for c in commands() if "tiny.onnx" not in " ".join(c)][:4]
    build, measure, copies = runs[0], runs[1], runs[2]
    if not {
        "--noTF32",
        "--skipInference",
        "--profilingVerbosity=detailed",
        "--builderOptimizationLevel=5",
    } <= set(build):
        yield f"build {build}"
    if not {"--useCudaGraph", "--noDataTransfers", "--warmUp=200", "--duration=0.1"} <= set(measure):
        yield f"measure {measure}"
    if any("rofile" in option.split("=")[0] for option in measure + copies) or "--noDataTransfers" in copies:
        yield f"{measure} {copies}"
    if any("fp16" in option or "bf16" in option or "int8" in option for c in commands() for option in c):
        yield "a precision that was not requested"
    profile = [c for c in commands() if "--dumpProfile" in c][-1]
    if not {"--separateProfileRun", "--profilingVerbosity=detailed", "--duration=0.05"} <= set(profile):
        yield f"profile {profile}"
    if sum(c[0].startswith("--onnx") and "tiny.onnx" not in c[0] for c in commands()) != 1:
        yield "the engine is built more than once"


def check_rows(version):
    agent = start(version=version)
    execution, rows, done, _ = agent.run(
        job(CHAIN, [{"name": "x", "shape": [2, 3, 8, 8]}], profile=True, batch=2)
    )
    agent.end()
    if done["status"] != "ok":
        yield f"{done}"
        return
    found = [(row["name"], row["nodes"]) for row in rows]
    expected = [
        ("Reformatting CopyNode for Input Tensor 0 to first", []),
        ("/a/Conv + /a/Relu", ["/a/Conv", "/a/Relu"]),
        ("PWN(gate)", ["gate"]),
        ("conv2 + a", ["conv2", "a"]),
        ("{ForeignNode[flatten...end]}", ["flatten", "end"]),
    ]
    if found != expected:
        yield f"rows {found}"
    times = [row["ns"] for row in rows]
    if any(abs(ns - 1e4 * (i + 1)) > 1 for i, ns in enumerate(times)):
        yield f"times {times}"
    conv = rows[1]
    if (conv["op"], conv["kernel"], conv["dtype"], conv["stream"], conv["shapes"]) != (
        "CaskConvolution", "sm80_xmma", "f32", 0, "1x3x8x8"):  # fmt: skip
        yield f"{conv}"
    if conv["inputs"] != ["x"] or conv["outputs"] != ["r1"] or rows[3]["inputs"] != ["s1", "r1"]:
        yield f"tensors {conv['inputs']} {conv['outputs']} {rows[3]['inputs']}"
    if execution["profiled_ns"] is not None or execution["gaps"]:
        yield f"profiled {execution['profiled_ns']} {execution['gaps']}"
    if execution["items_per_s"] != 1601.0 or execution["inputs"] != ["x:f32:2x3x8x8"]:
        yield f"{execution['items_per_s']} {execution['inputs']}"
    if not execution["profiler_row_ns"] > 0:
        yield f"cost of a row: {execution['profiler_row_ns']}"
    shapes = [o for c in commands() for o in c if o.startswith("--shapes")]
    if set(shapes) != {"--shapes=x:2x3x8x8"}:
        yield f"shapes {shapes}"


@tap.test("rows of TensorRT 10: nodes by metadata, a region, a copy without nodes")
def _():
    yield from check_rows("100300")


@tap.test("rows of TensorRT 8: nodes by joined names, times without a median")
def _():
    yield from check_rows("8601")


@tap.test("f16 only if it is requested, read back from the layers; several streams")
def _():
    agent = start()
    execution, *_ = agent.run(job(CHAIN, dtype="f16", requests=3))
    if execution["status"] != "ok" or execution["dtype"] != "f16" or execution["requests"] != 3:
        yield f"{execution}"
    if (
        not {"--fp16"} <= set(commands()[0])
        or "--noTF32" in commands()[0]
        or "--infStreams=3" not in commands()[1]
    ):
        yield f"{commands()[:2]}"
    execution, *_ = agent.run(job(CHAIN, dtype="tf32"))
    if execution["math"] != "tf32" or {"--fp16", "--noTF32"} & set(commands()[-1]):
        yield f"{execution}"
    agent.end()
    old = start(version="8601")
    yield from expect(old, job(CHAIN, dtype="bf16"), "unsupported", "trtexec 8.6.1 has no option --bf16")
    execution, *_ = old.run(job(CHAIN, requests=2))
    if execution["status"] != "ok" or not any("--streams=2" in c for c in commands()):
        yield f"{execution}"
    old.end()


@tap.test("a request that trtexec cannot fulfil, and a model that it cannot read")
def _():
    agent = start()
    broken = folder / "broken.onnx"
    broken.write_bytes(CHAIN.read_bytes()[:200])
    unknown = save("unknown", [helper.make_node("NoSuchOperator", ["x"], ["y"], "n")], {"x": [1]}, {"y": [1]})
    comma = save("comma", [helper.make_node("Relu", ["a,b"], ["y"], "n")], {"a,b": ["n"]}, {"y": ["n"]})
    yield from expect_all(agent, [
        (job(RELU, provider="CPU"), "unsupported", "no provider 'CPU'"),
        (job(RELU, level="none"), "unsupported", "'none'"),
        (job(RELU, **{"try": {"move": "f16", "dtype": "f16"}}), "unsupported", "by its own program"),
        (job(RELU, dtype="f64"), "unsupported", "no type f64"),
        (job(RELU, options={"--saveEngine": "/tmp/x"}), "unsupported", "--saveEngine is the agent's own"),
        (job(RELU, options={"--noSuch": "1"}), "failed", "Unknown option: --noSuch=1"),
        (job(RELU, options={"program": "/nowhere/trtexec"}), "unsupported", "/nowhere/trtexec: No such file"),
        (job(broken), "failed", "not an ONNX model"),
        (job(unknown), "unsupported", "No importer registered for op: NoSuchOperator"),
        (job(comma), "unsupported", "'a,b'"),
        (job(RELU), "ok", ""),
    ])  # fmt: skip


@tap.test("each failure of the program has its line")
def _():
    for does, status, words in (
        ("memory", "no_memory", "OutOfMemory"),
        ("killed", "failed", "trtexec was ended by signal 9, most likely because memory ran out"),
        ("no engine", "failed", "saved no engine"),
        ("no device", "failed", "no CUDA-capable device"),
        ("no times", "failed", "wrote no times"),
        ("times garbage", "failed", "the times that trtexec wrote are not JSON"),
        ("times cut", "failed", "the times that trtexec wrote are not JSON"),
        ("times none", "failed", "have no run"),
        ("times strange", "failed", "have no run"),
        ("times object", "failed", "not a list of records"),
    ):
        yield from expect_all(start(does=does), [(job(RELU, profile=True), status, words)])


@tap.test("a profile that cannot be read leaves the latency, with a gap")
def _():
    for does, words in (("profile cut", "the profile's times that trtexec wrote are not JSON"),
                        ("layers garbage", "the layers that trtexec wrote are not JSON")):  # fmt: skip
        agent = start(does=does)
        execution, rows, done, _ = agent.run(job(RELU, profile=True))
        if done["status"] != "ok" or words not in execution["gaps"] or rows or execution["dtype"] != "f32":
            yield f"{does}: {execution} {done}"
        agent.end()


@tap.test("outputs that are not finite are noticed")
def _():
    agent = start(does="nan")
    execution, *_ = agent.run(job(RELU, POSITIVE, compare=True))
    if execution["status"] != "ok" or execution["output_finite"] or execution["output_error"] is not None:
        yield f"{execution}"
    agent.end()


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


def check_ended(mark):
    end = time.monotonic() + 60
    while alive(int(mark.read_text())):
        if time.monotonic() > end:
            yield "the program still runs"
            return
        time.sleep(0.02)
    while list((folder / "jobs").iterdir()):
        if time.monotonic() > end:
            yield f"left behind: {list((folder / 'jobs').iterdir())}"
            return
        time.sleep(0.02)


def wait_for(mark):
    while not mark.exists() or not mark.read_text():
        time.sleep(0.02)


@tap.test("a build that hangs: heartbeats, a timeout; cancel, quit and the agent's death end the program")
def _():
    mark = pathlib.Path(f"{log}.pid")
    agent = start("--step-limit", "2", does="hang")
    execution, _, done, others = agent.run(job(RELU))
    if done["status"] != "timeout" or "creating the session took more than 2 seconds" not in done["why"]:
        yield f"{execution} {done}"
    if not any(m["type"] == "heartbeat" and m["what"] == "creating the session" for m in others):
        yield f"heartbeats {others}"
    yield from check_ended(mark)
    agent.end()
    for how in ("cancel", "quit", "kill"):
        mark.unlink()
        agent = start(does="hang")
        agent.say(job(RELU))
        wait_for(mark)
        if how == "kill":
            agent.process.terminate()
        else:
            agent.say({"type": how, "id": 1})
        if how == "cancel" and agent.until("done")[1]["why"] != "cancelled":
            yield "not cancelled"
        yield from check_ended(mark)
        agent.process.kill() if how == "cancel" else agent.process.wait(timeout=60)


@tap.test("without trtexec, and with another program of that name")
def _():
    python = f"{folder / 'python'}"
    os.mkdir(python)
    os.symlink(sys.executable, f"{python}/python3")
    absent = start(path=python)
    if absent.hello["attributes"]["version"] is not None or "not installed" not in absent.hello["stack"]:
        yield f"hello {absent.hello}"
    yield from expect(absent, job(RELU), "unsupported", "trtexec is not in PATH")
    absent.end()
    foreign = start(does="foreign")
    if foreign.hello["attributes"]["version"] is not None:
        yield f"hello {foreign.hello}"
    yield from expect(
        foreign, job(RELU), "unsupported", "lacks --onnx, --loadEngine or --exportTimes: usage: trtexec"
    )
    foreign.end()


@tap.test("a model sent over the wire")
def _():
    agent = start()
    message = job(RELU)
    message["model"]["path"] = "/nowhere/relu.onnx"
    execution, _, _, others = agent.run(message, {digest(RELU): RELU.read_bytes()})
    if execution["status"] != "ok" or not any(m["type"] == "need" for m in others):
        yield f"{execution}"
    agent.end()


scratch.cleanup()
sys.exit(tap.end())

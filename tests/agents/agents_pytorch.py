#!/usr/bin/env python3
"""The agent of PyTorch, with stand-ins for torch and onnx2torch (fake_torch): rows, types, failures. TAP.

tests/agents/agents_pytorch.py [PYTHON]: outside the suite, real models with the PyTorch of that Python.
"""

import json
import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, need  # noqa: E402

need("numpy", "onnx", "onnxruntime")
import numpy  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from agent_wire import AGENTS, MODELS, Agent, coverage, expect, expect_all, faults, job  # noqa: E402
from ort_common import save_model  # noqa: E402

AGENT = AGENTS / "agent_pytorch.py"
FAKE = pathlib.Path(__file__).resolve().parent / "fake_torch"
tap = Tap()
scratch = tempfile.TemporaryDirectory(prefix="benanza-agents-")
folder = pathlib.Path(scratch.name)
log = folder / "log"


def start(*arguments, does="", cuda=False, fake=str(FAKE), python=(sys.executable,), **environment):
    """The agent; `does`: what PyTorch does wrong."""
    known = {
        "XDG_CACHE_HOME": str(folder / "cache"),
        "FAKE_LOG": str(log),
        "FAKE_DOES": does,
        "PYTHONPATH": fake,
    }
    known.update({"FAKE_CUDA": "1" if cuda else "", **environment})
    return Agent(AGENT, *arguments, python=python, environment=known)


def save(name, *described, **how):
    return save_model(folder / f"{name}.onnx", *described, **how)


def chain():
    """Weights made by constant nodes; names with dots and slashes, two that differ only
    in that, a node without a name."""
    shape = numpy_helper.from_array(numpy.array([4, 3, 3, 3], numpy.int64), "shape")
    half = helper.make_tensor("half", TensorProto.FLOAT, [1], [0.5])
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["w0"], "fill", value=half),
        helper.make_node("Identity", ["w0"], ["w"], "same"),
        helper.make_node("Conv", ["x", "w"], ["c"], "/a/a.0/Conv"),
        helper.make_node("Relu", ["c"], ["r"], "/a/a.0/act/Relu"),
        helper.make_node("Softsign", ["r"], ["l"], "norm"),
        helper.make_node("MaxPool", ["l"], ["p"], "twice.x", kernel_shape=[2, 2]),
        helper.make_node("Relu", ["p"], ["q"], "twice/x"),
        helper.make_node("Relu", ["q"], ["s"], ""),
        helper.make_node("Flatten", ["s"], ["y"], "flat"),
    ]
    return save("chain", nodes, {"x": ["n", 3, 8, 8]}, {"y": ["n", 100]}, [shape])


CHAIN = chain()
RELU = save("relu", [helper.make_node("Relu", ["x"], ["y"], "relu")], {"x": [1, 64]}, {"y": [1, 64]})
SIZES = [{"name": "x", "shape": [2, 3, 8, 8]}]
EXPECTED = [
    ("a/a/0/Conv", "aten::conv2d", ["/a/a.0/Conv"]),
    ("a/a/0/act/Relu", "aten::relu", ["/a/a.0/act/Relu"]),
    ("norm", "aten::softsign", ["norm"]),
    ("norm", "aten::div", ["norm"]),
    ("twice/x", "aten::max_pool2d", ["twice.x"]),
    ("twice/x_1", "aten::relu", ["twice/x"]),
    ("Relu", "aten::relu", ["s"]),
    ("flat", "aten::flatten", ["flat"]),
]


def flags():
    return json.loads(log.read_text())


def check_real(python):
    agent = start(python=(python,), fake="")
    for name in ("resnet50", "mobilenet_v2"):

        @tap.test(f"{name} with the PyTorch of {python}")
        def _(name=name):
            execution, rows, done, _ = agent.run(job(MODELS / f"{name}.onnx", profile=True, compare=True))
            yield from faults(execution, rows, done)
            if coverage(rows) < 0.99 or execution["dtype"] != "f32" or not execution["output_error"] < 1e-4:
                yield f"coverage {coverage(rows)}, {execution['dtype']}, error {execution['output_error']}"

    agent.end()


if len(sys.argv) > 1:
    check_real(sys.argv[1])
    sys.exit(tap.end())


@tap.test("an execution: a row for each operator, named after its node; f32, bound threads, outputs compared")
def _():
    agent = start()
    maps = pathlib.Path(f"/proc/{agent.process.pid}/maps").read_text()
    if "/numpy/" in maps or agent.hello["attributes"]["version"] != "2.9.1":
        yield f"hello {agent.hello}"
    execution, rows, done, _ = agent.run(job(CHAIN, SIZES, profile=True, compare=True, batch=2))
    yield from faults(execution, rows, done)
    found = [(row["name"], row["op"], row["nodes"]) for row in rows]
    if found != EXPECTED:
        yield f"rows {found}"
    conv = rows[0]
    if (conv["kernel"], conv["dtype"], conv["inputs"], conv["outputs"], conv["shapes"], conv["calls"]) != (
        "aten::conv2d",
        "f32",
        ["x"],
        ["c"],
        "2x3x8x8 4x3x3x3",
        1,
    ):
        yield f"{conv}"
    expected = {
        "framework": "pytorch",
        "version": "2.9.1+cpu",
        "provider": "CPU",
        "dtype": "f32",
        "math": "strict",
    }
    expected.update({"output_compared": True, "output_finite": True, "gaps": "", "inputs": ["x:f32:2x3x8x8"]})
    wrong = {k: execution.get(k) for k, v in expected.items() if execution.get(k) != v}
    if wrong or not 0 <= execution["output_error"] < 1e-5 or not execution["profiler_row_ns"] >= 0:
        yield f"{wrong} {execution}"
    seen = flags()
    if seen["matmul"] or seen["cudnn"] or seen["precision"] != "highest" or seen["interop"] != 1:
        yield f"settings of PyTorch {seen}"
    cores = execution["settings"]["cores"]
    if seen["threads"] != execution["threads"] or seen["places"] != ",".join(f"{{{c}}}" for c in cores):
        yield f"threads {seen} {execution['settings']}"
    agent.end()


@tap.test("CUDA: kernels below their operators, times of the device, copies apart")
def _():
    agent = start(cuda=True)
    execution, rows, done, _ = agent.run(job(CHAIN, SIZES, profile=True, compare=True, provider="CUDA"))
    if (
        done["status"] != "ok"
        or execution["device"] != "NVIDIA Stand-In 9000"
        or execution["memory_bytes"] != 123456789
    ):
        yield f"{execution} {done}"
        return
    layers = [row for row in rows if row["level"] == "layer"]
    if [(row["name"], row["op"], row["nodes"]) for row in layers] != EXPECTED:
        yield f"layers {layers}"
    if [row["ns"] for row in layers] != [20000, 2000, 2000, 2000, 2000, 2000, 2000, 0]:
        yield f"times {[row['ns'] for row in layers]}"
    below = [(row["name"], row["ns"], row["occupancy"], row["stream"]) for row in rows if row["parent"] == 0]
    if below != [("nchwToNhwcKernel", 4000, 0.5, 7), ("sm90_xmma_fprop", 16000, 0.5, 7)]:
        yield f"kernels {below}"
    if layers[0]["kernel"] != "sm90_xmma_fprop" or any(
        row["nodes"] for row in rows if row["level"] != "layer"
    ):
        yield f"{layers[0]}"
    copies = [(row["level"], row["ns"], row["parent"]) for row in rows if "Memcpy" in row["name"]]
    if copies != [("copy", 3000, None)]:
        yield f"copies {copies}"
    seen = flags()
    if seen["where"] != ["cuda"] or not seen["waits"] > 10:
        yield f"inputs on {seen['where']}, {seen['waits']} waits"
    if not execution["copy_in_ns"] > 0 or not 0 <= execution["output_error"] < 1e-5:
        yield f"copies {execution['copy_in_ns']}, error {execution['output_error']}"
    agent.end()


@tap.test("types: f16, bf16 and tf32 only if they are requested; a model of its own type")
def _():
    agent = start(cuda=True)
    for dtype, math, precision in (
        ("f16", "strict", "highest"),
        ("bf16", "strict", "highest"),
        ("tf32", "tf32", "high"),
    ):
        execution, rows, done, _ = agent.run(job(CHAIN, provider="CUDA", dtype=dtype, profile=True))
        kind = "f32" if dtype == "tf32" else dtype
        if (
            done["status"] != "ok"
            or execution["dtype"] != kind
            or execution["math"] != math
            or rows[0]["dtype"] != kind
        ):
            yield f"{dtype}: {execution} {rows[:1]}"
        elif flags()["matmul"] is not (dtype == "tf32") or flags()["precision"] != precision:
            yield f"{dtype}: {flags()}"
    yield from expect(agent, job(CHAIN, provider="CPU", dtype="tf32"), "unsupported", "CPU has no tf32")
    half = save(
        "half",
        [helper.make_node("Relu", ["x"], ["y"], "r")],
        {"x": [4]},
        {"y": [4]},
        kind=TensorProto.FLOAT16,
    )
    execution, *_ = agent.run(job(half, provider="CPU"))
    if execution["dtype"] != "f16":
        yield f"{execution}"
    agent.end()


@tap.test("torch.compile: compiled while loading, rows without nodes; several requests")
def _():
    agent = start(cuda=True)
    options = {"mode": "compile"}
    execution, rows, done, _ = agent.run(job(CHAIN, profile=True, provider="CUDA", options=options))
    if (
        done["status"] != "ok"
        or not execution["settings"]["cuda_graph"]
        or "rows have no nodes" not in execution["gaps"]
    ):
        yield f"{execution} {done}"
    if (
        not rows
        or any(row["nodes"] for row in rows)
        or "compiled" not in flags()
        or "mark" not in flags()["calls"]
    ):
        yield f"{len(rows)} rows, {flags()}"
    message = job(CHAIN, requests=2, provider="CUDA", options=options)
    yield from expect(agent, message, "unsupported", "one request at a time")
    execution, *_ = agent.run(job(CHAIN, requests=2, provider="CUDA"))
    if (
        execution["status"] != "ok"
        or execution["settings"]["cores"] is not None
        or execution["requests"] != 2
    ):
        yield f"{execution}"
    agent.end()


@tap.test("a module that the user names: rows by the scopes of torch.onnx")
def _():
    named = folder / "named.py"
    named.write_text(
        "import torch, onnx, onnx2torch\n"
        "def make():\n"
        f"    from agent_pytorch import folded\n"
        f"    inner = onnx2torch.convert(folded({str(CHAIN)!r}))\n"
        "    a, zero = torch.Module(), torch.Module()\n"
        "    a.add_module('0', zero)\n"
        "    zero.add_module('act', inner.subs.pop('a/a/0/act/Relu'))\n"
        "    act = zero.subs['act']\n"
        "    order = list(inner.subs.values())\n"
        "    inner.add_module('a', a)\n"
        "    def forward(x):\n"
        "        known = {'x': x, **inner.values}\n"
        "        for node, module in zip(inner.nodes, order[:1] + [act] + order[1:]):\n"
        "            known[node.output[0]] = module(*[known[n] for n in node.input])\n"
        "        return {'y': known['y']}\n"
        "    inner.forward = forward\n"
        "    return inner\n"
        "def other():\n"
        "    return 7\n"
    )
    agent = start()
    execution, rows, done, _ = agent.run(
        job(CHAIN, profile=True, compare=True, options={"module": f"{named}:make"})
    )
    if done["status"] != "ok" or execution["settings"]["module"] != f"{named}:make":
        yield f"{execution} {done}"
        return
    held = {row["name"]: row["nodes"] for row in rows}
    if (
        held.get("a.0.act") != ["/a/a.0/act/Relu"]
        or held.get("norm") != ["norm"]
        or not execution["output_error"] < 1e-5
    ):
        yield f"{held} {execution['output_error']}"
    for text, status, words in (
        (f"{named}:other", "failed", "other() returns a int, not a torch.nn.Module"),
        (f"{named}:none", "failed", "has no function 'none'"),
        ("/nowhere/x.py:make", "unsupported", "/nowhere/x.py: no such file"),
        ("make", "unsupported", "not FILE.py:FUNCTION"),
    ):
        yield from expect(agent, job(CHAIN, options={"module": text}), status, words)
    agent.end()


@tap.test("a trial: a type beside the unchanged model; threads are those of the process")
def _():
    agent = start()
    agent.say(job(RELU, threads=2, **{"try": {"move": "f16", "dtype": "f16"}}))
    _, message = agent.until("execution")
    agent.until("done")
    execution, trial = message["execution"], message.get("trial")
    if execution["status"] != "ok" or execution["dtype"] != "f16" or not trial or trial["rounds"] < 1:
        yield f"{execution} {trial}"
    elif not 0 < execution["output_error"] < 1e-2:
        yield f"error {execution['output_error']}"
    yield from expect_all(agent, [
        (job(RELU, threads=2, **{"try": change}), "unsupported", words)
        for change, words in (
            ({"move": "threads=1", "threads": 1}, "threads are those of the process"),
            ({"move": "int8", "dtype": "s8"}, "no type s8"),
            ({"move": "level=basic", "level": "basic"}, "'basic'"),
            ({"move": "pages=2m", "pages": "2m"}, "the agent of pytorch cannot change the pages"),
        )
    ])
    agent.end()


@tap.test("a request that PyTorch cannot fulfil")
def _():
    agent = start()
    unknown = save("unknown", [helper.make_node("NoSuchOperator", ["x"], ["y"], "n")], {"x": [1]}, {"y": [1]})
    yield from expect_all(agent, [
        (job(RELU, provider="CUDA"), "unsupported", "was built without CUDA"),
        (job(RELU, provider="XLA"), "unsupported", "no provider 'XLA'"),
        (job(RELU, dtype="s8"), "unsupported", "no type s8"),
        (job(RELU, level="none"), "unsupported", "'none'"),
        (job(RELU, options={"mode": "fast"}), "unsupported", "'fast'"),
        (job(RELU, options={"speed": "1"}), "unsupported", "'speed'"),
        (job(unknown), "unsupported", "Converter is not registered"),
        (job(RELU), "ok", ""),
    ])  # fmt: skip


@tap.test("failures: memory, a crash, a hang, a profile that cannot be read")
def _():
    for does, status, words in (
        ("memory", "no_memory", "CUDA out of memory"),
        ("crash", "crashed", "signal 6"),
    ):
        yield from expect_all(start(does=does, cuda=True), [(job(RELU), status, words)])
    agent = start("--step-limit", "6", does="hang")
    yield from expect(agent, job(RELU), "timeout", "creating the session took more than 6 seconds")
    agent.end()
    for does, words in (
        ("trace cut", "profiling: "),
        ("trace strange", "has no events"),
        ("trace empty", "has no run"),
    ):
        agent = start(does=does)
        execution, rows, done, _ = agent.run(job(RELU, profile=True))
        if done["status"] != "ok" or words not in execution["gaps"] or rows:
            yield f"{does}: {execution} {done}"
        agent.end()


@tap.test("without torch, with an old one, without onnx2torch")
def _():
    bare = start(fake="", python=(sys.executable, "-S", "-I"))
    if bare.hello["attributes"]["version"] is not None:
        yield f"hello {bare.hello}"
    yield from expect(bare, job(RELU), "unsupported", "is not installed for")
    bare.end()
    old = start(FAKE_TORCH="1.13.1")
    yield from expect(
        old, job(RELU), "unsupported", "torch 1.13.1 is too old: this agent needs 2.0.0 or later"
    )
    old.end()
    alone = folder / "alone"
    alone.mkdir()
    (alone / "torch").symlink_to(FAKE / "torch")
    half = start(fake=str(alone))
    yield from expect(
        half, job(RELU), "unsupported", "pip install onnx2torch; or give the option module=FILE.py:FUNCTION"
    )
    half.end()


scratch.cleanup()
sys.exit(tap.end())

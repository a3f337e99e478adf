#!/usr/bin/env python3
"""The agents of ONNX Runtime and OpenVINO run real models: executions, rows traced to nodes, failures. TAP.

tests/agents/agents_models.py [onnxruntime] [openvino]
"""

import pathlib
import resource
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, need  # noqa: E402

need("numpy", "onnx", "onnxruntime", "openvino")
import numpy  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from agent_wire import AGENTS, MODELS, Agent, coverage, digest, faults, job  # noqa: E402
from ort_common import save_model  # noqa: E402

sys.path.insert(0, str(AGENTS))
from benanza_agent import pages  # noqa: E402

chosen = sys.argv[1:] or ["onnxruntime", "openvino"]
tap = Tap()
scratch = tempfile.TemporaryDirectory(prefix="benanza-agents-")
folder = pathlib.Path(scratch.name)
random = numpy.random.default_rng(0)
environment = {}
PACKAGE = {"onnxruntime": onnxruntime.__version__}
LEAST = {"onnxruntime": 0.92, "openvino": 0.97}


def start(name, *arguments, **options):
    return Agent(AGENTS / f"agent_{name}.py", *arguments, environment=environment, **options)


# ---- small models


def weight(name, *shape):
    return numpy_helper.from_array((random.standard_normal(shape) * 0.2).astype(numpy.float32), name)


def save(name, *described, **how):
    return save_model(folder / f"{name}.onnx", *described, **how)


def residual():
    """Pad, convolutions with a folded normalization, a sum, activations, a fully connected end; random
    weights in a file of their own."""
    norm = [
        numpy_helper.from_array(random.uniform(0.5, 1.5, 16).astype(numpy.float32), n)
        for n in ("s", "b", "m", "v")
    ]
    nodes = [
        helper.make_node("Pad", ["x", "pads"], ["p"], "pad"),
        helper.make_node("Conv", ["p", "w1"], ["c1"], "conv1"),
        helper.make_node("BatchNormalization", ["c1", "s", "b", "m", "v"], ["n1"], "norm1"),
        helper.make_node("Relu", ["n1"], ["r1"], "relu1"),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], "conv2", pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c2", "r1"], ["a"], "add"),
        # without a name: the name of its output stands for it
        helper.make_node("Relu", ["a"], ["r2"], ""),
        helper.make_node("GlobalAveragePool", ["r2"], ["g"], "pool"),
        helper.make_node("Flatten", ["g"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "w3"], ["y"], "gemm"),
    ]
    pads = numpy_helper.from_array(numpy.array([0, 0, 1, 1, 0, 0, 1, 1], numpy.int64), "pads")
    weights = [weight("w1", 16, 3, 3, 3), weight("w2", 16, 16, 3, 3), weight("w3", 16, 10), pads, *norm]
    outside = {"save_as_external_data": True, "location": "residual.data", "size_threshold": 100}
    return save("residual", nodes, {"x": ["n", 3, 32, 32]}, {"y": ["n", 10]}, weights, **outside)


def unary(op, name):
    return save(name, [helper.make_node(op, ["x"], ["y"], op)], {"x": [1, 64]}, {"y": [1, 64]})


RESIDUAL = residual()
GPT2 = [
    {"name": "input_ids", "dtype": "s64", "shape": [1, 1], "low": 0, "high": 50256},
    {"name": "attention_mask", "dtype": "s64", "shape": [1, 129], "low": 1, "high": 1},
]
GPT2 += [
    {"name": f"past_key_values.{i}.{kind}", "dtype": "f32", "shape": [1, 12, 128, 64]}
    for i in range(12)
    for kind in ("key", "value")
]


def check_model(agent, name, path, inputs, **request):
    execution, rows, done, others = agent.run(job(path, inputs, profile=True, **request))
    yield from faults(execution, rows, done)
    if not execution or execution["status"] != "ok":
        return
    graph = onnx.load(path, load_external_data=False).graph
    names = {node.name or node.output[0] for node in graph.node}
    if execution["framework"] != name or execution["version"] != PACKAGE.get(name, execution["version"]):
        yield f"framework {execution['framework']} {execution['version']}"
    if execution["dtype"] != "f32" or execution["math"] != "strict" or not execution["output_finite"]:
        yield f"type {execution['dtype']} {execution['math']}, finite {execution['output_finite']}"
    if execution["model_hash"] != digest(path) or execution["model"] != pathlib.Path(path).stem:
        yield f"model {execution['model']} {execution['model_hash']}"
    strange = {node for row in rows for node in row["nodes"]} - names
    if strange:
        yield f"rows name nodes that the model does not have: {sorted(strange)[:5]}"
    if coverage(rows) < LEAST[name]:
        yield f"{coverage(rows):.3f} of the rows' time has nodes"
    if not 0 < execution["profiled_ns"] < 1e12 or not (execution["profiler_row_ns"] or 0) >= 0:
        yield f"profiled {execution['profiled_ns']}, a row {execution['profiler_row_ns']}"
    if execution["profiler_row_ns"] is not None and not 0 <= execution["settings"]["node_ns"] < 1e6:
        yield f"a tiny node takes {execution['settings']['node_ns']}"
    if execution["gaps"]:
        yield f"gaps: {execution['gaps']}"
    twice = [node for node in names if sum(node in row["nodes"] for row in rows) > 1]
    if twice:
        yield f"in several rows: {twice[:5]}"
    first = [m["what"] for m in others if m["type"] == "heartbeat"]
    if any(not isinstance(what, str) for what in first):
        yield f"heartbeats {first}"


def check_residual(agent, name):
    """Sent over the wire; every node in its row; outputs compared with the reference."""
    message = job(
        RESIDUAL,
        [{"name": "x", "dtype": "f32", "shape": [2, 3, 32, 32]}],
        profile=True,
        compare=True,
        external=[RESIDUAL.with_suffix(".data")],
    )
    message["model"].update({"path": "/nowhere/residual.onnx", "batch": 2})
    contents = {digest(p): p.read_bytes() for p in (RESIDUAL, RESIDUAL.with_suffix(".data"))}
    execution, rows, done, others = agent.run(message, contents)
    yield from faults(execution, rows, done)
    if not any(m["type"] == "need" for m in others):
        yield "the model was not asked for"
    if not execution["output_compared"] or not 0 < execution["output_error"] < 1e-5:
        yield f"error {execution['output_error']}: {execution['gaps']}"
    if execution["inputs"] != ["x:f32:2x3x32x32"] or execution["batch"] != 2:
        yield f"inputs {execution['inputs']}"
    held = {node: row["op"] for row in rows for node in row["nodes"]}
    conv2 = [row for row in rows if "conv2" in row["nodes"]]
    if not {"pad", "conv1", "norm1", "relu1", "conv2", "add", "r2", "pool", "gemm"} <= set(held):
        yield f"nodes {held}"
    inside = {"onnxruntime": {"conv2", "add", "r2"}, "openvino": {"conv2"}}[
        name
    ]  # that fuses the sum in place only
    if len(conv2) != 1 or not inside <= set(conv2[0]["nodes"]) or "Conv" not in conv2[0]["op"]:
        yield f"the row of conv2: {conv2}"
    elif (
        conv2[0]["inputs"] != ["r1"]
        or conv2[0]["outputs"] not in (["r2"], ["c2"])
        or conv2[0]["dtype"] != "f32"
    ):
        yield f"tensors of conv2: {conv2[0]['inputs']} {conv2[0]['outputs']} {conv2[0]['dtype']}"


def loop_model():
    """A matrix multiplied five times in the body of a Loop."""

    def info(name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)

    floats, size = TensorProto.FLOAT, [16, 16]
    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["h", "w"], ["m"], "inner"),
            helper.make_node("Tanh", ["m"], ["next"], "act"),
            helper.make_node("Identity", ["c"], ["d"], "go"),
        ],
        "body",
        [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []), info("h", floats, size)],
        [info("d", TensorProto.BOOL, []), info("next", floats, size)],
    )
    nodes = [
        helper.make_node("Relu", ["x"], ["outer"], "relu"),
        helper.make_node("Loop", ["n", "", "outer"], ["y"], "loop", body=body),
    ]
    weights = [numpy_helper.from_array(numpy.array(5, numpy.int64), "n"), weight("w", 16, 16)]
    return save("loop", nodes, {"x": size}, {"y": size}, weights)


def half_model():
    """Two products in f16."""
    w = numpy_helper.from_array((random.random((32, 32)) * 0.1).astype(numpy.float16), "w")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], "mul1"),
        helper.make_node("Tanh", ["h"], ["t"], "tanh"),
        helper.make_node("MatMul", ["t", "w"], ["y"], "mul2"),
    ]
    return save("half", nodes, {"x": [32, 32]}, {"y": [32, 32]}, [w], kind=TensorProto.FLOAT16)


def check_bodies(agent, name):
    """Nodes of a body are rows below their loop; casts that a framework inserts are rows without nodes,
    and the type is the one that it computed in."""
    execution, rows, done, _ = agent.run(job(loop_model(), profile=True))
    yield from faults(execution, rows, done)
    loops = [i for i, row in enumerate(rows) if row["nodes"] == ["loop"] and row["parent"] is None]
    below = {row["name"]: row for row in rows if row["parent"] is not None}
    if len(loops) != 1 or any(row["parent"] != loops[0] for row in below.values()):
        yield f"rows {[(row['name'], row['parent'], row['nodes']) for row in rows]}"
    elif name == "onnxruntime":
        if below["inner"]["calls"] != 5 or below["inner"]["nodes"] != ["inner"]:
            yield f"the product in the body: {below['inner']}"
        if sum(row["ns"] for row in below.values()) > rows[loops[0]]["ns"]:
            yield "the body takes longer than its loop"
    execution, rows, done, _ = agent.run(job(half_model(), profile=True))
    yield from faults(execution, rows, done)
    kinds = {node: row["dtype"] for row in rows for node in row["nodes"]}
    if execution["inputs"] != ["x:f16:32x32"] or execution["dtype"] not in ("f32", "f16"):
        yield f"{execution['inputs']} {execution['dtype']}"
    if {kinds.get("mul1"), kinds.get("mul2")} != {execution["dtype"]}:
        yield f"computed in {kinds}, reported {execution['dtype']}"
    if any(row["nodes"] for row in rows if row["op"] == "Cast"):
        yield "an inserted cast has nodes"
    # as the model's own type: no framework refuses it, and none is made to compute in another one
    execution, rows, done, _ = agent.run(job(half_model(), profile=True, dtype="f16", own_type=True))
    yield from faults(execution, rows, done)
    hint = execution["settings"].get("inference_precision_hint")
    # OpenVINO computes in f32 on a processor without f16, and says so
    falls_back = name == "openvino" and hint == execution["dtype"] == "f32"
    if hint != ("f16" if name == "openvino" else None) and not falls_back:
        yield f"own type: {execution['dtype']}, hint {hint}"
    execution, rows, done, _ = agent.run(job(half_model(), dtype="f64", own_type=True))
    yield from faults(execution, rows, done)


def check_requests(agent, name):
    """Threads, requests at a time, options; without a profile the type is read back too."""
    request = {
        "threads": 1,
        "requests": 2,
        "options": {
            "onnxruntime": {"session.intra_op.allow_spinning": "0", "enable_cpu_mem_arena": "0"},
            "openvino": {"ENABLE_CPU_PINNING": "NO"},
        }[name],
    }
    execution, rows, done, _ = agent.run(job(MODELS / "mobilenet_v2.onnx", **request))
    yield from faults(execution, rows, done)
    settings = execution["settings"]
    if rows or execution["threads"] != 1 and name == "onnxruntime" or execution["requests"] != 2:
        yield f"{len(rows)} rows, {execution['threads']} threads, {execution['requests']} requests"
    if execution["dtype"] != "f32":
        yield f"type {execution['dtype']}"
    if settings["options"] != request["options"]:
        yield f"settings {settings}"
    if name == "onnxruntime" and (settings["spinning"] or settings["cores"] is not None):
        yield f"settings {settings}"
    if name == "openvino" and (
        settings["enable_cpu_pinning"] or settings["performance_hint"] != "THROUGHPUT"
    ):
        yield f"settings {settings}"


def check_failures(agent, name):
    broken, foreign = folder / "broken.onnx", folder / "foreign.onnx"
    broken.write_bytes(RESIDUAL.read_bytes()[:200])
    foreign.write_bytes(b"<html>not found</html>")
    unknown = unary("NoSuchOperator", "unknown")
    cases = [
        (job(broken), {"failed"}, ""),
        (job(foreign), {"failed"}, ""),
        (job(unknown), {"unsupported", "failed"}, ""),
        (job(RESIDUAL, provider="Quantum"), {"unsupported"}, "'Quantum'"),
        (job(RESIDUAL, dtype="f8e4m3"), {"unsupported"}, "f8e4m3"),
        (job(RESIDUAL, options={"speed": "1"}), {"unsupported"}, f"{name} has no option 'speed'"),
        (
            job(RESIDUAL, [{"name": "x", "shape": [1, 4, 32, 32]}], external=[RESIDUAL.with_suffix(".data")]),
            {"failed"},
            "input 'x': the model declares ?x3x32x32, the request has 1x4x32x32",
        ),
    ]
    if name == "onnxruntime":
        arena = job(RESIDUAL, options={"enable_cpu_mem_arena": "off"})
        cases.append((arena, {"unsupported"}, "'enable_cpu_mem_arena' is 0 or 1, not 'off'"))
    if name == "openvino":
        cases.append((job(RESIDUAL, level="none"), {"unsupported"}, "'none'"))
    for message, statuses, words in cases:
        execution, rows, done, _ = agent.run(message)
        if (
            not execution
            or execution["status"] not in statuses
            or done["status"] != execution["status"]
            or rows
        ):
            yield f"{message['payload']}: {execution} {done}"
        elif (
            not execution["why"]
            or "\n" in execution["why"]
            or words not in execution["why"].replace("nx3", "?x3")
        ):
            yield f"{message['payload']}: {execution['why']}"


def check_outputs(agent, _name):
    """NaN and denormal outputs are noticed."""
    for op, finite in (("Sqrt", False), ("Identity", True)):
        execution = agent.run(job(unary(op, f"op_{op}")))[0]
        if execution["status"] != "ok" or execution["output_finite"] is not finite:
            yield f"{op}: {execution['status']} {execution['why']} {execution['output_finite']}"


def trial(agent, path, shape, external=(), **change):
    """(execution, trial) of a change of a model with the input x."""
    inputs = [{"name": "x", "dtype": "f32", "shape": shape}]
    agent.say(job(path, inputs, external=external, **{"try": change}))
    _, message = agent.until("execution")
    _, done = agent.until("done")
    if done["status"] != message["execution"]["status"]:
        raise RuntimeError(f"{message} {done}")
    return message["execution"], message.get("trial")


def rounds_up():
    """A model whose root is of 0.1 in f32, and of a negative number after f16 rounded its constants."""
    values = {"zero": 0, "c1": 1000.7, "c2": 1.0006, "c3": 1000}
    constants = [numpy_helper.from_array(numpy.full(64, v, numpy.float32), n) for n, v in values.items()]
    nodes = [
        helper.make_node("Mul", ["x", "zero"], ["m"]),
        helper.make_node("Add", ["m", "c2"], ["a"]),
        helper.make_node("Mul", ["a", "c3"], ["p"]),
        helper.make_node("Sub", ["c1", "p"], ["s"]),
        helper.make_node("Sqrt", ["s"], ["y"]),
    ]
    return save("rounds_up", nodes, {"x": ["n", 64]}, {"y": ["n", 64]}, constants)


def check_trials(agent, name):
    """Changes beside the unchanged model, which has external data."""
    external, shape, before = [RESIDUAL.with_suffix(".data")], [1, 3, 32, 32], digest(RESIDUAL)
    ort = name == "onnxruntime"
    four = [{"name": "x", "shape": [4, 3, 32, 32]}]
    moves = [
        # the change; the largest error of the outputs, or what the reason has; what the execution has
        ({"move": "same"}, 0, {"dtype": "f32"}),
        ({"move": "level=basic", "level": "basic"}, 1e-5 if ort else "no level of graph", {}),
        ({"move": "threads=1", "threads": 1}, 1e-5, {"threads": 1}),
        ({"move": "batch=4", "batch": 4, "inputs": four}, 1e-5, {"inputs": ["x:f32:4x3x32x32"], "batch": 4}),
        ({"move": "int8", "dtype": "s8"}, 0.3 if ort else "nncf", {"dtype": "mixed"}),
        ({"move": "provider=X", "provider": "X"}, "'X'", {}),
        ({"move": "options", "options": {}}, "cannot change 'options'", {}),
    ]
    fixed = save("fixed", [helper.make_node("Abs", ["x"], ["y"])], {"x": [1, 64]}, {"y": [1, 64]})
    eight = {"move": "batch=8", "batch": 8, "inputs": [{"name": "x", "shape": [8, 64]}]}
    execution, found = trial(agent, fixed, [1, 64], **eight)
    if execution["status"] != "unsupported" or "batch is fixed" not in execution["why"] or found:
        yield f"another batch of a model with a fixed one: {execution}"
    if ort:
        moves.append(({"move": "f16", "dtype": "f16"}, 1e-2, {"dtype": "mixed"}))
    for change, expected, has in moves:
        execution, found = trial(agent, RESIDUAL, shape, external, **change)
        what = f"{change['move']}: {execution['status']} {execution['why']}"
        if isinstance(expected, str):
            if execution["status"] != "unsupported" or expected not in execution["why"] or found:
                yield what
            continue
        if execution["status"] != "ok" or not found:
            yield what
            continue
        if not found["gain_lo"] <= found["gain"] <= found["gain_hi"] or found["rounds"] < 2:
            yield f"{change['move']}: {found}"
        apart = found["base"]["median_ns"] * change.get("batch", 1) / execution["stats"]["median_ns"]
        if not found["gain"] / 3 < apart < found["gain"] * 3:
            yield f"{change['move']}: a gain of {found['gain']}, of the medians {apart}"
        least = 1e-6 if change["move"] in ("f16", "int8") else 0  # a converted model does not compute alike
        if not least <= execution["output_error"] <= expected or not execution["output_compared"]:
            yield f"{change['move']}: error {execution['output_error']}"
        for key, value in has.items():
            if execution[key] != value:
                yield f"{change['move']}: {key} {execution[key]}"
        if execution["settings"]["try"]["move"] != change["move"]:
            yield f"{change['move']}: settings {execution['settings']}"
    if digest(RESIDUAL) != before or sorted(p.name for p in folder.glob("residual*")) != [
        "residual.data",
        "residual.onnx",
    ]:
        yield "the model's files changed"
    if ort:
        execution, found = trial(agent, rounds_up(), [1, 64], move="f16", dtype="f16")
        if execution["status"] != "mistrusted" or "64 values that are NaN" not in execution["why"] or found:
            yield f"NaN: {execution} {found}"
        execution, found = trial(agent, unary("Abs", "plain"), [1, 64], move="int8", dtype="s8")
        if execution["status"] != "unsupported" or "quantize" not in execution["why"]:
            yield f"nothing to quantize: {execution}"


def check_pages(agent, _name):
    """A trial whose changed side has the weights in huge pages, where malloc can have them."""
    weights = [weight("w", 2048, 2048)]  # 16 MiB
    product = helper.make_node("MatMul", ["x", "w"], ["y"])
    wide = save("wide", [product], {"x": [1, 2048]}, {"y": [1, 2048]}, weights)
    execution, found = trial(agent, wide, [1, 2048], move="pages=2m", pages="2m")
    if "[madvise]" not in pages.machine.read(f"{pages.KERNEL}/enabled"):
        if execution["status"] != "unsupported" or "huge pages" not in execution["why"] or found:
            yield f"without huge pages: {execution} {found}"
        return
    settings = execution["settings"]
    if execution["status"] != "ok" or not found or execution["output_error"] > 1e-5:
        yield f"pages=2m: {execution} {found}"
    elif settings["huge_bytes"] < 8 << 20 or "unchanged 0 MiB" not in settings["try"]["with"]:
        yield f"pages=2m: {settings}"
    execution, found = trial(agent, wide, [1, 2048], move="same")
    if execution["settings"]["huge_bytes"] > 4 << 20:
        yield f"the next trial: {execution['settings']}"


def check_memory(name):
    """A model that needs more memory than the process may have."""
    nodes = [
        helper.make_node("ConstantOfShape", ["n"], ["w"], "fill"),
        helper.make_node("MatMul", ["x", "w"], ["y"], "mul"),
    ]
    sizes = numpy_helper.from_array(numpy.array([64, 1 << 28], numpy.int64), "n")
    path = save("huge", nodes, {"x": [1, 64]}, {"y": [1, 1 << 28]}, [sizes])  # 64 GiB
    limited = start(name, before=lambda: resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30)))
    execution, _, done, _ = limited.run(job(path))
    if (
        not execution
        or execution["status"] not in ("no_memory", "crashed")
        or done["status"] != execution["status"]
    ):
        yield f"{execution} {done}"
    execution = limited.run(job(RESIDUAL, external=[RESIDUAL.with_suffix(".data")]))[0]
    if not execution or execution["status"] != "ok":
        yield f"after it: {execution}"
    limited.end()


def check_absent(name):
    """A Python without the framework, and one with an old version."""
    bare = start(name, python=(sys.executable, "-S", "-I"))
    if bare.hello["attributes"]["version"] is not None or bare.hello["attributes"]["framework"] != name:
        yield f"hello {bare.hello}"
    execution = bare.run(job(RESIDUAL, external=[RESIDUAL.with_suffix(".data")]))[0]
    if not execution or execution["status"] != "unsupported" or f"pip install {name}" not in execution["why"]:
        yield f"absent: {execution}"
    bare.end()
    old = folder / "old" / name
    old.mkdir(parents=True)
    (old / name).mkdir()
    (old / name / "__init__.py").write_text("__version__ = '0.9.0'\nset_default_logger_severity = print\n")
    (old / f"{name}-0.9.0.dist-info").mkdir()
    (old / f"{name}-0.9.0.dist-info" / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.9.0\n"
    )
    agent = Agent(AGENTS / f"agent_{name}.py", environment={**environment, "PYTHONPATH": str(old)})
    execution = agent.run(job(RESIDUAL, external=[RESIDUAL.with_suffix(".data")]))[0]
    if not execution or execution["status"] != "unsupported" or "0.9.0 is too old" not in execution["why"]:
        yield f"old: {execution}"
    if agent.hello["attributes"]["version"] != "0.9.0":
        yield f"hello {agent.hello['attributes']}"
    agent.end()


for name in chosen:
    environment["XDG_CACHE_HOME"] = str(folder / f"cache_{name}")
    agent = start(name)

    @tap.test(f"{name}: the hello comes before the import")
    def _():
        maps = pathlib.Path(f"/proc/{agent.process.pid}/maps").read_text()
        if f"/{name}/" in maps or "/numpy/" in maps:
            yield "the process that said hello has loaded the framework"
        attributes = agent.hello["attributes"]
        if not attributes["version"] or not attributes["providers"][0].startswith("CPU"):
            yield f"attributes {attributes}"

    @tap.test(f"{name}: ResNet-50, its rows traced to its nodes")
    def _():
        yield from check_model(agent, name, MODELS / "resnet50.onnx", [])

    if name == "onnxruntime":

        @tap.test(f"{name}: GPT-2 with a cache of 128 positions")
        def _():
            yield from check_model(agent, name, MODELS / "gpt2_small.onnx", GPT2)

        @tap.test(f"{name}: no optimizations, I/O binding, one thread")
        def _():
            execution, rows, done, _ = agent.run(
                job(
                    RESIDUAL,
                    external=[RESIDUAL.with_suffix(".data")],
                    level="none",
                    io_binding=True,
                    threads=1,
                    profile=True,
                )
            )
            yield from faults(execution, rows, done)
            if not execution["settings"]["io_binding"] or execution["settings"]["level"] != "none":
                yield f"settings {execution['settings']}"
            if [row["nodes"] for row in rows] != [
                ["pad"],
                ["conv1"],
                ["norm1"],
                ["relu1"],
                ["conv2"],
                ["add"],
                ["r2"],
                ["pool"],
                ["flatten"],
                ["gemm"],
            ]:
                yield f"rows {[(row['name'], row['nodes']) for row in rows]}"

    for title, check in (
        ("a model over the wire, with external data", check_residual),
        ("bodies of loops, inserted casts", check_bodies),
        ("threads, requests at a time, options", check_requests),
        ("what cannot run has a status and a reason", check_failures),
        ("outputs that are not finite", check_outputs),
        ("changes beside the unchanged model", check_trials),
        ("pages of 2 MiB beside the unchanged model", check_pages),
    ):
        tap.test(f"{name}: {title}")(lambda: check(agent, name))

    @tap.test(f"{name}: more memory than allowed")
    def _():
        yield from check_memory(name)

    @tap.test(f"{name}: absent, and of an old version")
    def _():
        yield from check_absent(name)

    @tap.test(f"{name}: end of input ends it")
    def _():
        if agent.end():
            yield f"exit status {agent.process.returncode}"


scratch.cleanup()
sys.exit(tap.end())

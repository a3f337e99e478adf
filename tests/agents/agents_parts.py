#!/usr/bin/env python3
"""The parts that agents share (src/agents/benanza_agent), one by one. TAP."""

import inspect
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, Tap, need, program  # noqa: E402

need("numpy", "onnx")
import numpy  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

sys.path.insert(0, str(ROOT / "src" / "agents"))
import agent_openvino  # noqa: E402
import benanza_agent  # noqa: E402
from benanza_agent import (  # noqa: E402
    canary,
    compare,
    files,
    inputs,
    machine,
    measure,
    onnx_graph,
    package,
    pages,
    trace,
    worker,
)
from benanza_agent.request import Request, RequestError, Unsupported  # noqa: E402

tap = Tap()
scratch = tempfile.TemporaryDirectory(prefix="benanza-agents-")
folder = pathlib.Path(scratch.name)


@tap.test("the agents have the version of the program")
def _():
    said = subprocess.run([program(), "--version"], capture_output=True, text=True, timeout=60).stdout
    if benanza_agent.VERSION not in said.split():
        yield f"{benanza_agent.VERSION}: {said}"


def columns(table):
    """Names of the columns of a table in data/schema_3.sql."""
    text = (ROOT / "data" / "schema_3.sql").read_text().split(f"CREATE TABLE {table} (")[1].split("STRICT")[0]
    return re.findall(r"^\t([a-z]\w*) (?:TEXT|REAL|INTEGER)", text, re.MULTILINE)


@tap.test("executions and rows have the fields of the database, in agents and in both documents")
def _():
    stats = set(measure.statistics([1.0])) | {"stats"}
    made = set(worker.new_execution(agent_openvino, None)) | stats
    row = set(worker.row("a", "Conv", [1.0])) - {"times"}
    known, known_row = set(columns("execution")) - {"id"}, set(columns("execution_layer")[2:])
    sent = {"p10_ns", "p10_lo_ns", "p10_hi_ns"}  # the first schema with executions has no columns for them
    if len(known) < 45 or made - known - sent - {"stats"}:
        yield f"an execution: {made - known - sent}"
    if row != known_row:
        yield f"a row: {row ^ known_row}"
    later = set(re.findall(r'"(\w+)"', inspect.getsource(worker)))
    if known - made - later:
        yield f"no agent sets {known - made - later}"
    for name, more in (("docs/wire.md", sent), ("man/benanza-json.5.in", set())):
        words = set(re.findall(r"\w+", (ROOT / name).read_text()))
        if (known | known_row | more) - words:
            yield f"{name}: {(known | known_row | more) - words}"


# ---- statistics


@tap.test("the time outside the rows is that of each run less its own topmost rows")
def _():
    made = [
        worker.row("a", "Loop", [10.0, 30.0, 20.0]),
        worker.row("inner", "Add", [5.0, 5.0, 5.0], parent=0),
        worker.row("b", "Conv", [1.0, 1.0, 1.0]),
        worker.row("k", "", [9.0, 9.0, 9.0], level="kernel", parent=2),
    ]
    if worker.outside([15.0, 36.0, 24.0], made) != (4.0, 3.0, 5.0):
        yield f"{worker.outside([15.0, 36.0, 24.0], made)}"
    for latencies in ([15.0, 36.0], [], [5.0, 5.0, 5.0]):
        if worker.outside(latencies, made) is not None:
            yield f"{latencies}: {worker.outside(latencies, made)}"


class Profiled:
    """An agent whose profile of the chain takes 700 ns, 500 ns in 100 rows; the plain chain 300 ns."""

    def __init__(self, rows_ns):
        self.rows_ns = rows_ns

    def profile_tiny(self, _content, _request):
        return 700.0, 100, self.rows_ns


@tap.test("the profiler's cost is split into a row's own part and the rest")
def _():
    for rows_ns, inside in ((500.0, 2.0), (100.0, 0.0), (None, None), (9e3, 4.0)):
        job = worker.Job.__new__(worker.Job)
        job.agent, job.request = Profiled(rows_ns), None
        job.tiny = lambda _content, _part: 300.0
        if job.profiler_cost() != (4.0, inside, 3.0):
            yield f"{rows_ns}: {job.profiler_cost()}"



@tap.test("the median's interval covers it in 95% of cases, and is the narrowest pair of ranks that does")
def _():
    for n in range(6, 70):
        low, high = measure.interval(list(range(1, n + 1)))

        def outside(k):  # the median is below the k-th or above the (n + 1 - k)-th value
            return 2 * sum(math.comb(n, i) for i in range(k)) / 2**n

        if high != n + 1 - low or outside(low) > 0.05 or outside(low + 1) <= 0.05:
            yield f"{n} values: ranks {low} {high}, {outside(low):.4f} {outside(low + 1):.4f}"
    for n in (70, 1000, 20000):
        low, high = measure.interval(list(range(1, n + 1)))
        if abs((n + 1) / 2 - low - 0.98 * math.sqrt(n)) > 1.5 or high != n + 1 - low:
            yield f"{n} values: ranks {low} {high}"
    if [measure.interval([5.0] * n) for n in (1, 2)] != [(None, None), (5.0, 5.0)]:
        yield "one and two values"
    values = numpy.random.default_rng(0).random(101)
    for part in (0.0, 0.25, 0.5, 0.9, 0.99, 1.0):
        if abs(measure.quantile(sorted(values), part) - numpy.quantile(values, part)) > 1e-12:
            yield f"quantile {part}"


@tap.test("the 10th percentile's interval covers it in 95% of cases, two-sided from 29 values on")
def _():
    def above(n, m):  # P(X >= m): the quantile is above the m-th of n values
        return sum(math.comb(n, i) * 0.1**i * 0.9 ** (n - i) for i in range(m, n + 1))

    for n in range(2, 401):
        low, high = measure.interval_of_p10(list(range(1, n + 1)))
        under = sum(math.comb(n, i) * 0.1**i * 0.9 ** (n - i) for i in range(low)) if n >= 29 else 0.0
        if high < n and under + above(n, high) > 0.05 + 1e-12:
            yield f"{n} values: ranks {low} {high}, {under:.4f} {above(n, high):.4f}"
        if n >= 29 and under + above(n, high - 1) <= 0.05 and under + above(n, high - 1) < 0.025:
            yield f"{n} values: ranks {low} {high}: a narrower pair covers it"
        if n < 29 and low != 1:
            yield f"{n} values: the lower end is the {low}th"
    for n, want in ((28, (1, 7)), (29, (1, 9))):
        if measure.interval_of_p10(list(range(1, n + 1))) != want:
            yield f"{n} values: {measure.interval_of_p10(list(range(1, n + 1)))}"
    for n in (401, 1000, 20000):
        low, high = measure.interval_of_p10(list(range(1, n + 1)))
        spread = 0.588 * math.sqrt(n)
        if abs(low - (0.1 * n - spread)) > 2 or abs(high - (0.1 * n + spread)) > 2:
            yield f"{n} values: ranks {low} {high}"
    if measure.interval_of_p10([5.0]) != (None, None) or measure.interval_of_p10([4.0, 5.0]) != (4.0, 5.0):
        yield "one and two values"
    random = numpy.random.default_rng(1)
    hit = sum(
        a <= 0.1 <= b
        for a, b in (measure.interval_of_p10(sorted(random.random(50))) for _ in range(2000))
    )
    if not 0.93 <= hit / 2000 <= 0.995:
        yield f"of 2000 intervals of 50 values {hit} have the percentile"
    stats = measure.statistics([float(v) for v in range(101, 0, -1)])
    if (stats["p10_ns"], stats["median_ns"], stats["q1_ns"], stats["q3_ns"]) != (11.0, 51.0, 26.0, 76.0):
        yield f"{stats}"
    if not stats["p10_lo_ns"] < 11 < stats["p10_hi_ns"] < stats["lo_ns"] < 51 < stats["hi_ns"]:
        yield f"intervals {stats}"


@tap.test("sampling goes on until median and 10th percentile are known to 2%, with 29 runs at least")
def _():
    def block(*times):
        return (list(times), sum(times), 1.0, "")

    wide = [80.0] * 2 + [90.0] * 2 + [100.0] * 28
    for times, want in (([100.0] * 28, False), ([100.0] * 29, True), (wide, False)):
        if measure.narrow([block(*times)]) != want:
            yield f"{times}: {not want}"


class Steps:
    """A canary with given slowdowns; the last one stays."""

    def __init__(self, *values):
        self.values = list(values)

    def slowdown(self):
        return self.values.pop(0) if len(self.values) > 1 else self.values[0]


def busy():
    """About 10 us."""
    sum(range(500))


@tap.test("the canary's slowdown has a limit: an interrupted canary does not widen an interval further")
def _():
    one = canary.Canary(memory=canary.Memory())
    one.cores[0].usual_ns = 1
    if one.slowdown() != canary.SLOWER_MOST:
        yield f"slowdown {one.cores[0].seen}"


class Told:
    """A core whose times are given."""

    def __init__(self, *times, usual_ns=None):
        self.core = canary.Core(usual_ns)
        self.core.run, self.times = self.run, list(times)

    def run(self):
        self.core.seen.append(self.times.pop(0) if len(self.times) > 1 else self.times[0])


@tap.test("the slowest core decides, and the canary waits until all are as usual, or not longer than it may")
def _():
    one, clock = canary.Canary(memory=canary.Memory()), [0.0]
    first, second = Told(100.0), Told(*[100.0] * 30, 160.0, 160.0, 100.0)
    one.cores = [first.core, second.core]
    one.run = lambda: [core.run() for core in one.cores]

    def sleep(seconds):
        clock[0] += seconds

    for _ in range(30):
        one.run()
    if not 1.5 < one.slowdown() < 1.7:
        yield f"slowdown with a slow second core: {one.slowdown()}"
    waited = one.wait(1, now=lambda: clock[0], sleep=sleep)
    if waited != canary.PAUSE_S:
        yield f"waited {waited} s for one slow run"
    second.times = [160.0]
    waited = one.wait(0.01, now=lambda: clock[0], sleep=sleep)
    if not 0.01 <= waited <= 0.01 + canary.PAUSE_S:
        yield f"waited {waited} s without end"


@tap.test("each core has its canary, and what is usual is remembered, but rises if it stays away")
def _():
    with tempfile.TemporaryDirectory() as folder:
        before, os.environ["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME"), folder
        try:
            cores = machine.cores()[:2]
            one = canary.Canary(cores)
            one.slowdown()
            if [len(core.seen) for core in one.cores] != [canary.FIRST + 1] * len(cores):
                yield f"{[core.seen for core in one.cores]} on {cores}"
            for core in one.cores:
                core.seen = [1000.0] * 10
            one.remember()
            memory = canary.Memory(cores)
            if memory.recall(len(cores)) != [1000 * canary.RISE] * len(cores):
                yield f"remembered {memory.recall(len(cores))}"
            late = canary.Core(memory.recall(len(cores))[0])
            late.seen = [2000.0] * 10  # slow from the start
            if not 1.9 < late.slowdown() < 2:
                yield f"slowdown {late.slowdown()}"
            for text in ("", "other 1: 5 5", canary.Memory.kind() + ": 5", canary.Memory.kind() + ": 5 x",
                         canary.Memory.kind() + ": 5 -1 5", "\0\xff"):
                pathlib.Path(memory.path).write_text(text)
                if memory.recall(2 if len(cores) == 2 else 3) != [None] * (2 if len(cores) == 2 else 3):
                    yield f"'{text}' is believed"
        finally:
            os.environ.pop("XDG_CACHE_HOME")
            os.environ.update({} if before is None else {"XDG_CACHE_HOME": before})


@tap.test("disturbed samples are discarded while there are quiet ones, and all count when there are not")
def _():
    quiet = [
        1.0,
        1.0,
        9.0,
        1.0,
        1.0,
    ]  # before the first block, then after each: the second and third are disturbed
    stats, _, _, rate, why = measure.sample([busy], 3e8, waited=lambda: 0, canary=Steps(*quiet))
    if not stats["discarded"] or stats["stop"] == "disturbed" or why or rate <= 0:
        yield f"two disturbed blocks: {stats} {why}"
    late = Steps(*[3.0] * 20, 1.0)  # quiet only after the budget of 10 blocks
    now, clock = [0], measure.time

    def tenth_ms():
        now[0] += 100_000

    measure.time = types.SimpleNamespace(perf_counter_ns=lambda: now[0])
    try:
        stats, *_, why = measure.sample([tenth_ms], 2e7, waited=lambda: 0, canary=late)
    finally:
        measure.time = clock
    if stats["stop"] == "disturbed" or not stats["discarded"] or why:
        yield f"quiet late: {stats} {why}"
    stats, p90, p99, _, why = measure.sample([busy], 3e7, waited=lambda: 0, canary=Steps(3.0))
    if stats["stop"] != "disturbed" or stats["discarded"] or "3.00 times slower" not in why:
        yield f"slow throughout: {stats} {why}"
    if not stats["p10_lo_ns"] == stats["lo_ns"] <= stats["min_ns"] / 2.9 or stats["p10_hi_ns"] > p90:
        yield f"the interval of its 10th percentile: {stats}"
    if stats["hi_ns"] < p99 or p99 < p90:
        yield f"its interval: {stats} {p90} {p99}"
    ticks = iter(range(0, 1 << 60, 10**9))  # a second of waiting in each block
    stats, *_, why = measure.sample([busy], 3e7, waited=lambda: next(ticks), canary=Steps(1.0))
    if stats["stop"] != "disturbed" or "waited for a core" not in why:
        yield f"waiting: {stats} {why}"
    stats, *_ = measure.sample([busy], 3e7, waited=lambda: None, canary=Steps(1.0))
    if stats["stop"] not in ("converged", "budget") or stats["n"] < 10:
        yield f"waiting times unknown: {stats}"


@tap.test("a run that was interrupted does not size the blocks")
def _():
    now, clock, count = [0], measure.time, [0]

    def run():
        count[0] += 1
        now[0] += 5_000_000 if count[0] == 151 else 100_000  # the last one of warming up

    measure.time = types.SimpleNamespace(perf_counter_ns=lambda: now[0])
    try:
        one = measure.warm_up(measure.Crew([run]))
    finally:
        measure.time = clock
    if one != 100_000 or count[0] != 151:
        yield f"{one} ns after {count[0]} runs"


@tap.test("requests at a time run in threads, and an error of one is passed on")
def _():
    counts = [0, 0, 0]

    def runner(i):
        def run():
            counts[i] += 1

        return run

    stats, *_ = measure.sample([runner(i) for i in range(3)], 2e7, canary=Steps(1.0))
    if min(counts) < 3 or stats["n"] < 3:
        yield f"{counts} {stats}"

    def fails():
        raise ValueError("in a thread")

    try:
        measure.sample([busy, fails], 1e7)
        yield "the error is lost"
    except ValueError:
        pass


# ---- inputs and outputs


@tap.test("inputs depend on seed, name, type and shape alone; ranges hold; nothing is denormal")
def _():
    for dtype in inputs.NUMPY_TYPE:
        one = inputs.make("x", dtype, [7, 300], seed=3)
        if not (one == inputs.make("x", dtype, [7, 300], seed=3)).all() or one.shape != (7, 300):
            yield f"{dtype}: not repeatable"
        if dtype != "bool" and (one == inputs.make("y", dtype, [7, 300], seed=3)).all():
            yield f"{dtype}: another name has the same values"
        if dtype in ("f16", "f32", "f64") and (numpy.abs(one) < 6.2e-5).any():
            yield f"{dtype}: denormal values"
    whole = inputs.make("i", "s64", [5000], 3, 50256)
    if whole.min() < 3 or whole.max() > 50256 or whole.max() < 49000:
        yield f"range {whole.min()} {whole.max()}"
    if set(numpy.unique(inputs.make("i", "u8", [100]))) != {0, 1} or inputs.make("s", "f32", []).shape != ():
        yield "default range, scalar"
    half = inputs.make("b", "bf16", [100]).astype(numpy.uint32) << 16
    if (half.view(numpy.float32) - inputs.make("b", "f32", [100])).__abs__().max() > 0.05:
        yield "bf16 is not the upper half of f32"
    for bad in (
        ("x", "string", [1]),
        ("x", "f32", [1 << 40]),
        ("x", "u8", [1], 300, 400),
        ("x", "s8", [1], 5, 4),
    ):
        try:
            inputs.make(*bad)
            yield f"{bad} is accepted"
        except inputs.InputError:
            pass


@tap.test("outputs: NaN, infinity, denormal numbers, other shapes, the largest relative difference")
def _():
    f = numpy.float32
    for values, finite in (
        ([1, 2], True),
        ([0, -0.0], True),
        ([numpy.nan], False),
        ([numpy.inf], False),
        ([1e-40], False),
        ([1e-30], True),
        ([], True),
    ):
        if compare.finite([numpy.array(values, f)]) is not finite:
            yield f"finite {values}"
    if compare.finite([numpy.array([1e-6], numpy.float16)]) or not compare.finite(
        [numpy.array([1, 0], numpy.int8)]
    ):
        yield "other types"
    a, b = numpy.array([1.0, 4.0], f), numpy.array([1.0, 5.0], f)
    for mine, theirs, error in (
        ([a], [b], 0.2),
        ([a], [a], 0.0),
        ([a], [a, a], None),
        ([a], [a[:1]], None),
        ([a * numpy.nan], [a], None),
        ([a * 0], [a * 0], 0.0),
        ([a], [a * 0], None),
        ([a, b], [b, b * 2], 0.5),
    ):
        if compare.error(mine, theirs) != error:
            yield f"{mine} {theirs}: {compare.error(mine, theirs)}"


# ---- files of models


@tap.test("names of external data that could leave the folder are refused")
def _():
    for name in (
        "../a",
        "a/../b",
        "a/..",
        "a//b",
        "a/",
        "a/.b",
        "model.onnx/a",
        "/a",
        "",
        ".",
        "..",
        "a\0b",
        "a\\b",
        ".part",
        "model.onnx",
        "n" * 300,
        None,
        7,
    ):
        try:
            files.check_name(name)
            yield f"{name!r} is accepted"
        except files.FileError:
            pass
    for name in ("weights.bin", "a/b", "a/model.onnx", "a..b", "model.onnx.data", "gewichte ä"):
        files.check_name(name)


@tap.test("the reader of ONNX sees what the onnx package sees")
def _():
    for path in sorted((ROOT / "data" / "models").glob("*.onnx")):
        mine, theirs = onnx_graph.read(path), onnx.load(path).graph
        if [(n.name, n.op, n.domain, n.inputs, n.outputs) for n in mine.nodes] != [
            (n.name, n.op_type, n.domain, list(n.input), list(n.output)) for n in theirs.node
        ]:
            yield f"{path.name}: nodes differ"
        if mine.initializers != {t.name: t.data_type for t in theirs.initializer}:
            yield f"{path.name}: initializers differ"
        shapes = [
            (
                v.name,
                v.type.tensor_type.elem_type,
                [
                    d.dim_param if d.WhichOneof("value") == "dim_param" else d.dim_value
                    for d in v.type.tensor_type.shape.dim
                ],
            )
            for v in theirs.input
        ]
        if mine.inputs != shapes or mine.outputs != [v.name for v in theirs.output]:
            yield f"{path.name}: inputs or outputs differ"
    for content in (onnx_graph.empty_model(), onnx_graph.chain_model()):
        model = onnx.load_from_string(content)
        onnx.checker.check_model(model, full_check=True)


def looped():
    """A loop whose body reads a tensor of the outer graph."""

    def info(name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)

    body = helper.make_graph(
        [
            helper.make_node("Add", ["h", "outer"], ["next"], "inner"),
            helper.make_node("Identity", ["c"], ["d"]),
        ],
        "body",
        [
            info("i", TensorProto.INT64, []),
            info("c", TensorProto.BOOL, []),
            info("h", TensorProto.FLOAT, [4]),
        ],
        [info("d", TensorProto.BOOL, []), info("next", TensorProto.FLOAT, [4])],
    )
    graph = helper.make_graph(
        [
            helper.make_node("Relu", ["x"], ["outer"], "relu"),
            helper.make_node("Loop", ["n", "", "x"], ["y"], "loop", body=body),
        ],
        "g",
        [info("x", TensorProto.FLOAT, [4]), info("n", TensorProto.INT64, [])],
        [info("y", TensorProto.FLOAT, [4])],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()


@tap.test("a model cut at every byte, or with any byte changed, is read or refused")
def _():
    content, path = looped(), folder / "cut.onnx"
    path.write_bytes(content)
    whole = onnx_graph.read(path)
    if "outer" not in whole.nodes[1].inputs or trace.Trace(whole).body_names != {"inner", "d"}:
        yield f"the loop reads {whole.nodes[1].inputs}"
    broken = [content[:n] for n in range(len(content))]
    broken += [content[:n] + bytes([content[n] ^ 255]) + content[n + 1 :] for n in range(len(content))]
    nested = b""
    for _ in range(100):  # bodies in bodies
        nested = onnx_graph.field(1, onnx_graph.field(5, onnx_graph.field(6, nested)))
    for one in broken + [
        onnx_graph.field(7, nested),
        b"\xff" * 40,
        b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    ]:
        path.write_bytes(one)
        try:
            trace.Trace(onnx_graph.read(path))
        except onnx_graph.GraphError:
            pass
        except Exception as error:
            yield f"{one[:60]}: {type(error).__name__} {error}"
            return


# ---- tracing


def graph_of(*nodes):
    """A graph of (name, operator, inputs, outputs); what no node writes is an input, or a weight if it
    begins with w."""
    graph = onnx_graph.Graph()
    for name, op, read, written in nodes:
        node = onnx_graph.Node()
        node.name, node.op, node.inputs, node.outputs = name, op, read.split(), written.split()
        graph.nodes.append(node)
    made = {name for node in graph.nodes for name in node.outputs}
    free = {name for node in graph.nodes for name in node.inputs} - made
    graph.inputs = [(name, 1, [1]) for name in sorted(free) if not name.startswith("w")]
    graph.initializers = {name: 1 for name in free if name.startswith("w")}
    read = {name for node in graph.nodes for name in node.inputs}
    graph.outputs = sorted(made - read)
    return graph.index()


def traced(graph, *rows):
    tracer, made = trace.Trace(graph), [trace.Row(n, op, i.split(), o.split()) for n, op, i, o in rows]
    tracer.by_tensors(made)
    tracer.fill(made)
    found = []
    for row in made:
        into = {}
        tracer.write(row, into)
        found.append((row.name, into["nodes"], into["inputs"], into["outputs"]))
    return found


@tap.test("fused rows are traced to the nodes between their tensors")
def _():
    graph = graph_of(
        ("pad", "Pad", "x wp", "p"),
        ("conv", "Conv", "p w1", "c"),
        ("norm", "BatchNormalization", "c w2", "n"),
        ("relu", "Relu", "n", "r"),
        ("conv2", "Conv", "r w3", "c2"),
        ("add", "Add", "c2 r", "a"),
        ("relu2", "Relu", "a", "b"),
        ("shape", "Shape", "x", "s"),
        ("view", "Reshape", "b s", "v"),
        ("last", "Gemm", "v w4", "y"),
    )
    got = traced(
        graph,
        ("ReorderInput", "ReorderInput", "x", "t0"),
        ("r_nchwc", "Conv", "t0 w1x", "t1"),
        ("c2_nchwc", "Conv", "t1 w3x wb t1", "t2"),
        ("ReorderOutput", "ReorderOutput", "t2", "b"),
        ("last", "Gemm", "b w4", "y"),
    )
    want = [
        ("ReorderInput", [], ["x"], ["x"]),
        ("r_nchwc", ["pad", "conv", "norm", "relu"], ["x"], ["r"]),
        ("c2_nchwc", ["conv2", "add", "relu2"], ["r"], ["b"]),
        ("ReorderOutput", [], ["b"], ["b"]),
        ("last", ["shape", "view", "last"], ["x", "b"], ["y"]),
    ]
    for one, other in zip(got, want):
        if one != other:
            yield f"{one}, not {other}"


@tap.test("a sum of two convolutions belongs to the one that has it as an operand")
def _():
    graph = graph_of(
        ("a", "Conv", "x w1", "ca"),
        ("b", "Conv", "x w2", "cb"),
        ("sum", "Add", "ca cb", "s"),
        ("act", "Relu", "s", "y"),
    )
    got = traced(
        graph,
        ("ca_nchwc", "Conv", "x w1t", "t1"),
        ("cb_nchwc", "Conv", "x w2t wb t1", "t2"),
        ("out", "ReorderOutput", "t2", "y"),
    )
    want = [
        ("ca_nchwc", ["a"], ["x"], ["ca"]),
        ("cb_nchwc", ["b", "sum", "act"], ["x", "ca"], ["y"]),
        ("out", [], ["y"], ["y"]),
    ]
    for one, other in zip(got, want):
        if one != other:
            yield f"{one}, not {other}"


@tap.test("an f16 model that runs in f32: rows and tensors between the casts that ONNX Runtime adds")
def _():
    graph = graph_of(("a", "Conv", "x w1", "r"), ("act", "Relu", "r", "s"), ("b", "Gemm", "s w2", "y"))
    cast = "InsertedPrecisionFreeCast_"
    got = traced(
        graph,
        (f"{cast}x", "Cast", "x", f"{cast}x"),
        (f"{cast}s_nchwc", "Conv", f"{cast}x w1t", "t1"),
        ("ReorderOutput", "ReorderOutput", "t1", f"{cast}s"),
        ("b", "Gemm", f"{cast}s w2t", f"{cast}y"),
        (f"{cast}y", "Cast", f"{cast}y", "y"),
    )
    want = [
        (f"{cast}x", [], ["x"], ["x"]),
        (f"{cast}s_nchwc", ["a", "act"], ["x"], ["s"]),
        ("ReorderOutput", [], ["s"], ["s"]),
        ("b", ["b"], ["s"], ["y"]),
        (f"{cast}y", [], ["y"], ["y"]),
    ]
    for one, other in zip(got, want):
        if one != other:
            yield f"{one}, not {other}"


@tap.test("OpenVINO: a moved factor and the parts of a split node have its nodes; what is added has none")
def _():
    graph = graph_of(
        ("norm", "LayerNormalization", "x w1 w2", "n"),
        ("key", "Transpose", "n", "k"),
        ("mul", "MatMul", "n k", "s"),
        ("div", "Div", "s w3", "d"),
        ("soft", "Softmax", "d", "y"),
    )
    rows = [
        trace.Row("MVN_1", "MVN", ["x"]),
        trace.Row("norm", "Subgraph", ["MVN_1"], nodes={0}),
        trace.Row("norm_abcd", "Reorder", ["norm"]),
        trace.Row("Multiply_2", "Subgraph", ["norm"]),
        trace.Row("mul", "MatMul", ["norm_abcd", "Multiply_2"], nodes={1, 2}),
        trace.Row("soft", "Softmax", ["mul"], nodes={4}),
    ]
    agent_openvino.name_unnamed(graph, rows)
    got = [sorted(row.nodes) for row in rows]
    if got != [[0], [0], [], [3], [1, 2], [4]]:
        yield f"the division in a row of its own: {got}"
    rows[3].nodes, rows[5].nodes = set(), {3, 4}
    rows[4].nodes, rows[3].inputs, rows[5].inputs = set(), ["norm"], ["norm", "Multiply_2"]
    agent_openvino.name_unnamed(graph, [rows[3], rows[5]])
    if rows[3].nodes != {3}:
        yield f"the division of its reader: {rows[3].nodes}"


# ---- trials


def turns(factors, noisy=()):
    """Two sides whose runs take time on a clock of their own; the changed side of round i takes factors[i]
    times as long. Returns what alternate() finds, and the order of the runs."""
    order, now = [], [0]

    def round_now():
        return max(0, (order.count("enter") - 3) // 2)  # the first two are to warm up

    class Side(measure.Crew):
        def __init__(self, name):
            super().__init__([self.run])
            self.name = name

        def enter(self):
            order.append("enter")

        def run(self):
            order.append(self.name)
            factor = factors[min(round_now(), len(factors) - 1)] if self.name == "b" else 1
            now[0] += int(4e6 * factor)

    class Still:
        def slowdown(self):
            return 2.0 if order.count("enter") > 2 and round_now() in noisy else 1.0

    clock = measure.time
    measure.time = types.SimpleNamespace(
        perf_counter_ns=lambda: now[0], sleep=lambda s: order.append(f"wait {1000 * s:g} ms")
    )
    try:
        found = measure.alternate([Side(name) for name in "ab"], 2e9, waited=lambda: 0, canary=Still())
    finally:
        measure.time = clock
    return found, order


@tap.test("two sides are measured in turn")
def _():
    found, order = turns([0.5])
    if found["ratio"] != 2 or found["interval"] != (2, 2) or found["rounds"] != 10 or found["why"]:
        yield f"{found}"
    if [one["stop"] for one in found["stats"]] != ["converged"] * 2 or found["stats"][1]["n"] != 10:
        yield f"stats {found['stats']}"
    measured = order[order.index("b") + 1 :]
    measured = measured[measured.index("enter") :]  # after warming up
    turn = ["enter", "wait 20 ms", "a", "a", "enter", "wait 20 ms", "b", "b"]
    if measured != turn * 10:
        yield f"before its block each side waits for the other's threads and runs once: {measured[:12]}"
    found, _ = turns([0.5, 0.5, 2.0])
    if not 0.5 <= found["interval"][0] <= found["ratio"] <= found["interval"][1]:
        yield f"sides that vary: {found}"
    found, _ = turns([0.5], noisy={3, 4})
    if found["rounds"] != 10 or found["stats"][0]["discarded"] != 2 or found["why"]:
        yield f"two disturbed rounds: {found['rounds']} {found['stats']}"
    found, _ = turns([0.5], noisy=set(range(1000)))
    if found["stats"][0]["stop"] != "disturbed" or "slower than usual" not in found["why"]:
        yield f"disturbed throughout: {found['why']} {found['stats'][0]['stop']}"
    if found["ratio"] != 2:
        yield f"the ratio of disturbed rounds: {found['ratio']}"


@tap.test("outputs of a changed model: error, repeated items, NaN")
def _():
    f32 = numpy.float32
    one = numpy.array([[1.0, -4.0]], f32)
    cases = [
        ("equal", one, one, 0.0),
        ("relative to the largest", numpy.array([[1.0, -3.0]], f32), one, 0.25),
        ("items repeated", numpy.repeat(one, 8, 0), one, 0.0),
        ("items cut", one, numpy.repeat(one, 8, 0), 0.0),
        ("another type", one.astype(numpy.float16), one, 0.0),
        ("infinity on both sides", numpy.array([f32("-inf"), 1.0]), numpy.array([f32("-inf"), 1.0]), 0.0),
        ("NaN on both sides", numpy.array([f32("nan"), 1.0]), numpy.array([f32("nan"), 1.0]), 0.0),
        ("a scalar", f32(2.0), f32(1.0), 1.0),
        ("nothing", numpy.zeros((1, 0), f32), numpy.zeros((1, 0), f32), 0.0),
    ]
    for what, mine, theirs, want in cases:
        got = compare.changed([mine], [theirs])
        if got != (want, ""):
            yield f"{what}: {got}"
    nan, many = numpy.array([[float("nan"), 1.0]], f32), numpy.zeros((3, 5), f32)
    wrong = [
        ("NaN", [nan], [one], "output 1 has 1 values that are NaN"),
        ("the second", [one, nan], [one, one], "output 2 has"),
        ("infinity", [one * f32("inf")], [one], "that are infinity"),
        ("the other infinity", [numpy.array([f32("inf")])], [numpy.array([f32("-inf")])], "infinity"),
        ("numbers instead of NaN", [one], [nan], "numbers where the unchanged model has none"),
        ("NaN alone, on both sides", [nan[:, :1]], [nan[:, :1]], "no output has a number"),
        ("a shape", [many], [numpy.zeros((3, 4), f32)], "has the shape (3, 5), not (3, 4)"),
        ("a rank", [one[0]], [one], "has the shape"),
        ("a number of outputs", [one, one], [one], "it has 2 outputs, the unchanged model 1"),
    ]
    for what, mine, theirs, want in wrong:
        error, why = compare.changed(mine, theirs)
        if error is not None or want not in why:
            yield f"{what}: {error} {why}"


@tap.test("the request of a trial")
def _():
    model = {"level": "all", "batch": 1, "inputs": [{"name": "x", "shape": [1, 3]}]}
    change = {"move": "batch=8", "batch": 8, "inputs": [{"name": "x", "shape": [8, 3]}]}
    request = Request({"model": {**model, "try": change}})
    changed = request.changed
    if request.move != "batch=8" or request.batch != 1 or request.given["x"]["shape"] != [1, 3]:
        yield "the unchanged side"
    if changed.batch != 8 or changed.level != "all" or changed.given["x"]["shape"] != [8, 3]:
        yield "the changed side"
    if changed.pages or Request({"model": {**model, "try": {**change, "pages": "2m"}}}).changed.pages != "2m":
        yield "its pages"
    if changed.changed is not None or Request({"model": model}).changed is not None:
        yield "a request without a trial"
    for bad in (
        {},
        {"move": 3},
        [],
        {"move": "x", "path": "/etc/passwd"},
        {"move": "x", "level": "most"},
        {"move": "x", "pages": "1g"},
        {"move": "x", "pages": 2},
    ):
        try:
            Request({"model": {**model, "try": bad}})
            yield f"accepted: {bad}"
        except (RequestError, Unsupported):
            pass


@tap.test("pages of 2 MiB: what malloc is told, and why they would change nothing")
def _():
    has = types.SimpleNamespace(NAME="any", MALLOC=True)
    tunable = "glibc.malloc.hugetlb"

    def variables(mode="madvise", agent=has, given="", size="2097152"):
        if mode:
            (folder / "enabled").write_text(" ".join(f"[{m}]" if m == mode else m for m in modes) + "\n")
        (folder / "hpage_pmd_size").write_text(f"{size}\n")
        return pages.environment(agent, folder if mode else folder / "none", given)["GLIBC_TUNABLES"]

    modes = ("always", "madvise", "never")
    for given, want in (
        ("", f"{tunable}=1"),
        ("glibc.malloc.trim_threshold=4", f"glibc.malloc.trim_threshold=4:{tunable}=1"),
        (f"{tunable}=0", f"{tunable}=0:{tunable}=1"),
    ):
        if variables(given=given) != want:
            yield f"{given!r}: {variables(given=given)}"
    for how, words in (
        ({"mode": "always"}, "which are on for all memory (always); as root: echo madvise >/sys/kernel"),
        ({"mode": "never"}, "off (never); as root: echo madvise >/sys/kernel/mm/transparent_hugepage"),
        ({"mode": ""}, "CONFIG_TRANSPARENT_HUGEPAGE"),
        ({"size": "536870912"}, "have 536870912 bytes on this machine, not 2097152"),
        ({"given": f"a.b=1:{tunable}=2"}, f"GLIBC_TUNABLES=a.b=1:{tunable}=2: take {tunable} out of it"),
        ({"agent": types.SimpleNamespace(NAME="other")}, "the agent of other cannot change the pages"),
    ):
        try:
            yield f"{how}: {variables(**how)}"
        except Unsupported as error:
            if words not in str(error) or "\n" in str(error):
                yield f"{how}: {error}"
    libc = pages.glibc
    for found in ("glibc 2.34", "another libc"):
        pages.glibc = lambda: found
        try:
            yield f"{found}: {variables()}"
        except Unsupported as error:
            if f"in glibc 2.35 or later; this is {found}" not in str(error):
                yield f"{error}"
    pages.glibc = libc


@tap.test("pages of 2 MiB have an effect if the changed session has more memory in them")
def _():
    if "62 MiB in huge pages, unchanged 1 MiB" not in pages.effect(1 << 20, 62 << 20):
        yield pages.effect(1 << 20, 62 << 20)
    for base, changed in ((0, 0), (0, 2 << 20), (62 << 20, 62 << 20), (62 << 20, 0)):
        try:
            yield f"{base}, {changed}: {pages.effect(base, changed)}"
        except Unsupported:
            pass


@tap.test("versions of packages, cores, memory")
def _():
    if (
        not package.at_least("1.32.0", "1.14.0")
        or package.at_least("1.9", "1.14")
        or package.at_least("", "1")
    ):
        yield "versions"
    if package.version("no-such-distribution")[0] is not None or package.folder("no_such_module"):
        yield "an absent package"
    text = "processor : 0\nmodel name\t: AMD  EPYC 7B13\n"
    if machine.cpu_model(text) != "AMD EPYC 7B13" or not machine.cpu_model(""):
        yield "processor"
    pattern = str(folder / "sibling{}")
    for cpu, core in enumerate(("0,2", "1,3", "0,2", "1,3")):
        pathlib.Path(pattern.format(cpu)).write_text(core + "\n")
    if machine.cores([0, 1, 2, 3], pattern) != [0, 1] or machine.cores([2, 3], pattern) != [2, 3]:
        yield f"cores {machine.cores([0, 1, 2, 3], pattern)}"
    if not machine.memory("VmRSS") or machine.memory("VmNothing") is not None:
        yield "memory"


@tap.test("every session of a job has the threads of the first, although that bound the calling thread")
def _():
    allowed, request = set(machine.affinity()), Request({"model": {}})
    before = request.cores()
    machine.bind(before[1][0])
    after = request.cores()
    os.sched_setaffinity(0, allowed)
    if after != before or before != (len(machine.cores()), machine.cores()):
        yield f"{before}, then {after}"


scratch.cleanup()
sys.exit(tap.end())

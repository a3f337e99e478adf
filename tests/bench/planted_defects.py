#!/usr/bin/env python3
"""Plants defects in executions of a model and checks that `benanza compare` names each and sizes it. Outside
the suite: it measures, so it needs a quiet machine, the packages onnx and onnxruntime, and some minutes.

    BENANZA=build/benanza tests/bench/planted_defects.py [--rounds N] [--db FILE] [small|MODEL.onnx|DEFECT...]

The clean model and one side for each defect run in turn, with the agent of ONNX Runtime: each side has a
session with profiler and one without, which are opened anew every few rounds. In a round the sides take
several turns of some runs of each session, so that a machine whose speed changes slows all of them. Runs in
which a thread waited for a core do not count. What removing a defect saves is the median over the turns of a
round of the difference between neighbouring medians without profiler. The bar is the change of the gaps that
name the defect, from the clean side's profile of the round to the defect's. tests/lib/planted.py judges them.
Prints TAP.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "src" / "agents")]
from planted import changes_of, judge  # noqa: E402
from python_tap import Tap, need, program  # noqa: E402

need("onnx", "onnxruntime")
import agent_onnxruntime as agent  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from agent_wire import job  # noqa: E402
from benanza_agent import inputs, machine, measure, onnx_graph, worker  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

THREADS, WARM = 2, 5
ROUNDS, TURNS, RUNS = 5, 3, 3  # rounds in the same sessions, turns of a round, runs of a turn
WAITED, MOST = 0.01, 20  # part of a run that its threads may wait for a core; runs tried for one that counts
FIRST = 12  # convolutions that a pair of Casts is put before
CPUS = os.sched_getaffinity(0)
MODELS = ROOT / "data" / "models"

# ---- defects


def plant(model, before, make):
    """Puts nodes before the first input of nodes: make(value, n) gives them, the last output is read."""
    nodes, n = [], 0
    for node in model.graph.node:
        if before(node):
            added = make(node, n)
            node.input[0] = added[-1].output[0]
            nodes += added
            n += 1
        nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return n


def chain(value, n, *steps):
    """Nodes one after another: steps (operator, attributes)."""
    nodes = []
    for op, attributes in steps:
        nodes.append(helper.make_node(op, [value], [f"planted_{op}_{n}_{len(nodes)}"],
                                      name=f"planted_{op}_{n}_{len(nodes)}", **attributes))
        value = nodes[-1].output[0]
    return nodes


def pads_of(node):
    return next((a for a in node.attribute if a.name == "pads" and any(a.ints)), None)


def plant_pad(model):
    """A Pad (`edge`, which the runtime cannot fuse) before every padded convolution."""
    def make(node, n):
        pads = pads_of(node)
        half = len(pads.ints) // 2
        amounts = np.array([0, 0, *pads.ints[:half], 0, 0, *pads.ints[half:]], np.int64)
        model.graph.initializer.append(numpy_helper.from_array(amounts, f"planted_pads_{n}"))
        node.attribute.remove(pads)
        return [helper.make_node("Pad", [node.input[0], f"planted_pads_{n}"], [f"planted_Pad_{n}"],
                                 name=f"planted_Pad_{n}", mode="edge")]
    return plant(model, lambda node: node.op_type == "Conv" and pads_of(node), make)


def plant_cast(model):
    """A pair of Casts, to f16 and back, before each of the first convolutions: those of the largest tensors,
    because the cost of profiling a Cast of a small one is that of the Cast."""
    found = iter(range(FIRST))
    return plant(model, lambda node: node.op_type == "Conv" and next(found, None) is not None,
                 lambda node, n: chain(node.input[0], n, ("Cast", {"to": TensorProto.FLOAT16}),
                                       ("Cast", {"to": TensorProto.FLOAT})))


def plant_layout(model):
    """A pair of Transposes, which no optimizer removes, before every convolution."""
    return plant(model, lambda node: node.op_type == "Conv", lambda node, n: chain(
        node.input[0], n, ("Transpose", {"perm": (0, 2, 3, 1)}), ("Transpose", {"perm": (0, 3, 1, 2)})))


KEEP_TRANSPOSES = {"optimization.disable_specified_optimizers":
                   "TransposeOptimizer;TransposeOptimizer_CPUExecutionProvider"}
# Defect: change of the model, settings of the job
DEFECTS = {
    "pad": (plant_pad, {}),
    "cast": (plant_cast, {}),
    "layout": (plant_layout, {"options": KEEP_TRANSPOSES}),
    "threads": (None, {"threads": 1}),
    "optimizations": (None, {"level": "none"}),
}


def small_model(path):
    """Six convolutions of 16 channels, each with a Relu: little computation for the size of the tensors."""
    random, shape = np.random.default_rng(0), (1, 16, 112, 112)
    weights = [numpy_helper.from_array(random.normal(0, 0.1, (16, 16, 3, 3)).astype(np.float32), f"w{i}")
               for i in range(6)]
    nodes = [node for i in range(6) for node in (
        helper.make_node("Conv", [f"x{i}", f"w{i}"], [f"c{i}"], name=f"conv_{i}", pads=(1, 1, 1, 1)),
        helper.make_node("Relu", [f"c{i}"], [f"x{i + 1}"], name=f"relu_{i}"))]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x0", "x6")]
    graph = helper.make_graph(nodes, "small", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


# ---- sides


def quiet(run):
    """RUNS runs in which no thread waited for a core: (([time], [index among all runs]), number of all runs).
    The first does not count: another side's data are in the caches."""
    found, every = [], []
    for i in range(1 + MOST * RUNS):
        waited = machine.waited_ns() or 0
        every.append((measure.timed(run, 1)[0], i))
        quiet = (machine.waited_ns() or 0) - waited <= WAITED * every[-1][0]
        found += every[-1:] if quiet and i else []
        if len(found) == RUNS:
            break
    return list(zip(*(found if len(found) == RUNS else every[1:]))), len(every)


class Side:
    """A model in its two sessions."""

    def __init__(self, name, path, original, **settings):
        message = job(path, **{"threads": THREADS, "provider": agent.CPU, "level": "all", **settings})
        message["model"]["options"] = {"session.force_spinning_stop": "1", **settings.get("options", {})}
        self.name, self.original = name, onnx_graph.read(str(original))
        self.job = worker.Job(agent, message, None)
        self.job.request.path, self.job.execution["model_hash"] = str(path), job(original)["model"]["sha256"]

    def open(self, folder):
        self.folder, request = tempfile.mkdtemp(dir=folder), self.job.request
        os.sched_setaffinity(0, CPUS)
        self.plain = agent.open(request.path, request)
        os.sched_setaffinity(0, CPUS)
        self.profiled = agent.profile_session(request.path, request, self.folder)
        specs = request.specs(self.plain.inputs)
        self.job.execution["inputs"] = [inputs.describe(*spec[:3]) for spec in specs]
        for session in self.plain, self.profiled:
            session.bind(request.feeds(specs), 1)
            measure.timed(session.runs[0], WARM)
        self.rounds, self.count = [], WARM

    def turn(self):
        """Adds runs to the last round: times without profiler by turn, indices of the profiled runs."""
        times, kept = self.rounds[-1]
        times.append(quiet(self.plain.runs[0])[0][0])
        (_, indices), count = quiet(self.profiled.runs[0])
        kept += [self.count + i for i in indices]
        self.count += count

    def close(self, first, profiler):
        """The lines of an execution for each round, as an agent would send it; first: number of the first."""
        events = agent.events_of(self.profiled.session.end_profiling())
        optimized = onnx_graph.read(os.path.join(self.folder, "optimized.onnx"))
        self.plain.close()
        self.profiled.close()
        for number, (times, kept) in enumerate(self.rounds, first):
            runs = [events[i] for i in kept]
            self.job.rows = rows = agent.rows_of(runs)
            agent.assign(rows, self.original, optimized)
            latencies = [run["dur"] * 1e3 for run, _ in runs]
            self.job.outside(latencies)
            out = self.job.execution | {
                "framework": f"{self.name} {number}", "version": onnxruntime.__version__, "status": "ok",
                "threads": self.plain.threads, "math": self.plain.math, "dtype": agent.computed_type(rows),
                "profiled_ns": measure.median(latencies), "profiler_row_ns": profiler[0],
                "profiler_inside_ns": profiler[1],
                "stats": measure.statistics([t for turn in times for t in turn])}
            yield {"type": "execution", "id": 1, "execution": worker.clean(out)}
            yield from ({"type": "row", "id": 1, "row": worker.clean(row)} for row in rows)
            yield {"type": "done", "id": 1, "kind": "model", "payload": "", "status": "ok"}


# ---- figures


def benanza(*arguments):
    """What it prints; 1: the result has gaps. A session has bound this process to one processor."""
    os.sched_setaffinity(0, CPUS)
    done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def measured(sides, rounds, folder):
    """Runs the sides in turn. Returns (lines of the executions, {side: what removing it saves, by round})."""
    lines, saved = [], {side.name: [] for side in sides}
    for first in range(0, rounds, ROUNDS):
        os.sched_setaffinity(0, CPUS)
        profiler = sides[0].job.profiler_cost()
        for side in sides:
            side.open(folder)
        for number in range(first, min(rounds, first + ROUNDS)):
            for side in sides:
                side.rounds.append(([], []))
            for turn in range(TURNS):
                at = (number + turn) % len(sides)
                for side in sides[at:] + sides[:at]:
                    side.turn()
            for side in sides:
                pairs = zip(side.rounds[-1][0], sides[0].rounds[-1][0])
                saved[side.name].append(measure.median([measure.median(a) - measure.median(b)
                                                        for a, b in pairs]))
        for side in sides:
            lines += side.close(first, profiler)
    return lines, saved


def gaps_of(model, lines, folder, db):
    """{(side, round): {kind: ns}} of the waterfall."""
    (folder / "lines").write_text("".join(json.dumps(line) + "\n" for line in lines))
    benanza("db", "import", "-q", "--db", db, folder / "lines")
    found = {}
    for line in benanza("compare", "--json", "-q", "-d", "cpu", "--db", db, model).splitlines():
        d = json.loads(line)
        side, _, number = d["agent"]["name"].partition(" ")
        found[side, int(number)] = {gap["kind"]: gap["ns"] for gap in d["gaps"]}
    return found


def bound(model, db, budget, given):
    """Measures the bound, and unless the user gave results, what other work disturbed once more. Returns the
    number of layers that remain noisy."""
    for again in [[]] if given else [[], ["--shaky"]]:
        benanza("bench", "-q", *again, "-d", "cpu", "--db", db, "--budget", budget, model)
        noisy = json.loads(benanza("bound", "--json", "-q", "-d", "cpu", "--db", db, model))["disturbed"]
        if not noisy:
            break
    return noisy


def check(model, o, folder, tap):
    db = folder / "bound.db"
    if o.db:
        shutil.copy(o.db, db)
    noisy = bound(model, db, o.budget, o.db)
    sides = [Side("clean", model, model)]
    for name in o.defects or DEFECTS:
        change, settings = DEFECTS[name]
        path, planted = folder / f"{name}.onnx" if change else model, onnx.load(model)
        if change:
            change(planted)
            onnx.save(planted, path)
        sides.append(Side(name, path, model, **settings))
    lines, saved = measured(sides, o.rounds, folder)
    gaps = gaps_of(model, lines, folder, db)
    if o.keep:
        pathlib.Path(o.keep, f"{model.stem}.json").write_text(
            json.dumps([saved, [[*key, gap] for key, gap in gaps.items()]]))
    for side in sides[1:]:
        changes = [changes_of(gaps["clean", i], gaps[side.name, i]) for i in range(o.rounds)]
        verdict, figures = judge(side.name, saved[side.name], changes, noisy)
        title = f"{model.stem}: {side.name}: {verdict}"
        print(f"# {title}: {figures}")
        if verdict == "not resolvable":
            tap.skipped(title, figures)
        else:
            tap.result(title, [figures] * (verdict == "FAIL"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--db", help="database with results of the bound, which are not measured again")
    parser.add_argument("--keep", help="folder for the figures of each round")
    parser.add_argument("--budget", type=int, default=15, help="of a problem of the bound, in ms")
    parser.add_argument("words", nargs="*", metavar="small|MODEL.onnx|DEFECT")
    o = parser.parse_args()
    o.defects = [word for word in o.words if word in DEFECTS]
    models = [word for word in o.words if word not in DEFECTS]
    tap = Tap()
    with tempfile.TemporaryDirectory() as made:
        small = small_model(pathlib.Path(made) / "small.onnx")
        for model in models or ["small", MODELS / "mobilenet_v2.onnx"]:
            model = small if model == "small" else pathlib.Path(model)
            with tempfile.TemporaryDirectory() as folder:
                check(model, o, pathlib.Path(folder), tap)
    sys.exit(tap.end())


if __name__ == "__main__":
    main()

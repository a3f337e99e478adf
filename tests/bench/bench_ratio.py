#!/usr/bin/env python3
"""The Benanza ratio: the lower bound beside ONNX Runtime's latency, on the same machine and threads, in turns.

A round measures the model with ONNX Runtime, then all its problems from a database that has nothing but the device's peaks, then with ONNX Runtime again; so
a machine that speeds up or slows down shows as a spread, and where the two of a round differ, as "unsteady".  Models and
batches come in an order of chance that differs from round to round.  For each model and scenario there is a line with the
ratio of each round's bound to what is around it; then the geometric mean of each scenario, the models beyond the
limits, and these layer by layer: those above, where the bound may be wrong, before those below, where ONNX Runtime has slow
kernels or work that the bound does not count.

Both sides have the same threads, bound one a core, and both wait spinning.  Weights are random.  A model that has its batch
baked in is compared at that batch.

    tests/bench/bench_ratio.py [--benanza PATH] [--rounds 2] [--budget MS] [-b 1,8] [--explain 10] [MODEL...]

MODEL: a file, or a part of the name of a bundled model or of one that the onnx package carries; default: all of these.
Leaves with 77 where ONNX Runtime is not installed.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ("algorithm", "algorithm,fusion")
MOST, LEAST = 1.02, 0.85
UNSTEADY = 0.05


def run_json(*words):
    out = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, text=True)
    if out.returncode > 1:
        sys.exit(f"{' '.join(map(str, words))}: exit status {out.returncode}")
    return json.loads(out.stdout.splitlines()[-1])


class Case:
    """A model at one batch; None: it has none."""

    def __init__(self, model, batch):
        self.model, self.batch = model, batch
        self.sizes = [] if batch is None else ["-b", batch]
        self.name = f"{model.stem} b{batch or 1}"
        self.rounds = []  # (what ONNX Runtime took, {scenario: bound})

    def ort_ns(self, threads):
        return run_json(sys.executable, TOP / "tests/bench/bench_ort.py", *self.sizes, "--threads", threads, self.model)["median_ns"]

    def measure(self, options, database):
        shutil.copy(options.peaks, database)
        base = [options.benanza, "--db", database, *self.sizes, self.model]
        before = self.ort_ns(options.threads)
        run_json(base[0], "bench", "--json", "--budget", options.budget, *base[1:])
        after = self.ort_ns(options.threads)
        bounds = {s: run_json(base[0], "bound", "--json", "-w", s, *base[1:]) for s in SCENARIOS}
        self.rounds.append(((before, after), bounds))

    def ratios(self, scenario):
        return [bounds[scenario]["bound_ns"] / statistics.mean(ort) for ort, bounds in self.rounds]

    def ratio(self, scenario):
        return statistics.median(self.ratios(scenario))

    def line(self, scenario):
        ort = [ns / 1e6 for pair, _ in self.rounds for ns in pair]
        ours = [bounds[scenario]["bound_ns"] / 1e6 for _, bounds in self.rounds]
        ratios, last = self.ratios(scenario), self.rounds[-1][1][scenario]
        notes = [] if last["complete"] else ["at least: not all is measured"]
        if last["coverage"].get("mistrusted"):
            notes.append(f"{last['coverage']['mistrusted']} layers under their roofline")
        if last["disturbed"]:
            notes.append(f"{last['disturbed']} layers disturbed")
        if any(abs(before / after - 1) > UNSTEADY for (before, after), _ in self.rounds):
            notes.append("unsteady")
        return (f"{self.name:26} {scenario:17} {statistics.median(ours):9.2f} {statistics.median(ort):9.2f} "
                f"{min(ort):8.2f}-{max(ort):<8.2f} {self.ratio(scenario):6.3f}  {min(ratios):.3f}-{max(ratios):.3f}  "
                f"{'; '.join(notes)}".rstrip())


def choose(words):
    """The models that the words mean; all without words."""
    import ort_common
    known = ort_common.bundled_models() + ort_common.light_models()
    found = known if not words else []
    for word in words:
        here = [pathlib.Path(word)] if os.path.exists(word) else [path for path in known if word in path.stem]
        found += here or sys.exit(f"no model is called '{word}'")
    return list(dict.fromkeys(found))


def peaks_database(options, folder):
    """A database with the device's peaks, measured once for all cases."""
    from onnx import TensorProto, helper
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    model, database = os.path.join(folder, "relu.onnx"), os.path.join(folder, "peaks.db")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", ends[:1], ends[1:])
    pathlib.Path(model).write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    run_json(options.benanza, "bench", "--json", "--db", database, model)
    return database


def cases_of(models, batches):
    import onnx
    import ort_common
    return [Case(model, batch) for model in models
            for batch in (batches if "batch" in ort_common.symbols(onnx.load(model)) else [None])]


def summarize(cases, limit, report):
    """The geometric means, and who is beyond the limits."""
    for scenario in SCENARIOS:
        ratios = {case.name: case.ratio(scenario) for case in cases}
        mean = math.exp(statistics.mean(math.log(r) for r in ratios.values()))
        report(f"{scenario}: geometric mean {mean:.3f} of {len(ratios)}")
        for words, beyond in ((f"over {MOST}", lambda r: r > MOST), (f"under {LEAST}", lambda r: r < LEAST)):
            names = [f"{name} {r:.3f}" for name, r in sorted(ratios.items(), key=lambda item: -item[1]) if beyond(r)]
            report(f"  {words}: {', '.join(names) or 'none'}")
    beyond = collections.OrderedDict((case, s) for s in SCENARIOS for case in cases if case.ratio(s) > MOST)
    for case in sorted(cases, key=lambda case: case.ratio(SCENARIOS[0])):
        if case.ratio(SCENARIOS[0]) < LEAST:
            beyond.setdefault(case, SCENARIOS[0])
    return list(beyond.items())[:limit] if limit >= 0 else list(beyond.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--benanza", default=str(TOP / "build/benanza"))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--threads", type=int, help="default: the runner's")
    parser.add_argument("-b", "--batch", default="1,8", type=lambda text: [int(b) for b in text.split(",")])
    parser.add_argument("--explain", type=int, default=-1, help="the most models to show layer by layer (default: all beyond the limits)")
    parser.add_argument("--seed", type=int, default=random.randrange(1000))
    options = parser.parse_args()
    try:
        import bench_layers
        import onnxruntime
        import ort_common  # noqa: F401
    except ImportError as missing:
        print(f"{missing.name} is not installed", file=sys.stderr)
        return 77
    if options.threads:
        os.environ["OMP_NUM_THREADS"] = str(options.threads)
    runner = run_json(options.benanza, "devices", "--json")["runners"][0]
    options.threads = options.threads or runner["threads"]
    cases = cases_of(choose(options.models), options.batch)
    print(f"benanza on {runner['model']}, {runner['stack']}; ONNX Runtime {onnxruntime.__version__}, {options.threads} threads bound "
          f"one a core, spinning; budget {options.budget} ms, {options.rounds} rounds, order {options.seed}")
    with tempfile.TemporaryDirectory() as folder:
        chance = random.Random(options.seed)
        options.peaks = peaks_database(options, folder)
        for number in range(options.rounds):
            for case in chance.sample(cases, len(cases)):
                case.measure(options, os.path.join(folder, f"{number} {case.name}.db"))
        print(f"{'model':26} {'what-ifs':17} {'bound ms':>9} {'ORT ms':>9} {'least-most':^17} {'ratio':>6}  {'spread':11}")
        for case in cases:
            for scenario in SCENARIOS:
                print(case.line(scenario))
        for case, scenario in summarize(cases, options.explain, print):
            database = os.path.join(folder, f"{options.rounds - 1} {case.name}.db")
            bench_layers.explain(options.benanza, case.model, case.batch or 1, database, scenario, options.threads, 10)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The lower bound beside the faster of ONNX Runtime and OpenVINO, on the same machine and threads, in turn.

For each case (a model at one batch): both runtimes run the model, then all its problems are measured, then
the runtimes run again in the opposite order, and so on: --rounds measurements of the bound, each between two
runs of each runtime. All of this is `benanza compare --run` and `benanza bench --again`, which use the same
threads, bound one a core, with spinning. Layers that a runtime executes faster than the bound says are
measured again in turn by `compare`; a group of layers that is faster again is contradicted.

Weights are random, because runtimes can simplify constant ones. A model without a symbolic batch is one case.

    tests/bench/bench_ratio.py [--benanza PATH] [--rounds 2] [--budget MS] [-b 1,8] [--time MINUTES]
                               [-w algorithm,fusion,layout=priced] [--save FILE] [--explain 10] [MODEL...]

MODEL: a file, or part of the name of a bundled model or of a light_* model of the onnx package (default:
all).
--save: appends the result of each case to FILE (JSON lines); cases that FILE has are not measured again.

Of its runs each side counts with the fastest median, because disturbances only make it slower, and the bound
waits for quiet periods. Disturbed runs count only if there are no others.

Prints a line for each case: the bound without and with fusion, the latencies, and the ratio of the bound with
fusion to the faster runtime, with its interval: the bound's own interval divided by that of the latency. Then
the geometric mean, the cases beyond the limits (over: the whole interval is above 1.02; under: the ratio is
below 0.85) with the gaps between bound and latency and the layers with the largest difference, and all
contradicted groups, from the run whose layers were fastest.

Exit status 77 if a runtime is not installed.
"""

import argparse
import contextlib
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
PLAIN, FUSED = "algorithm", "algorithm,fusion"  # --what-if replaces the second
RUN, AGENTS = ("ort", "openvino"), ("onnxruntime", "openvino")  # as --run and as results name them
MOST, LEAST = 1.02, 0.85
UNSTEADY = 1.1  # runs whose medians differ by more are told
SHOWN = 5  # groups of layers of a case that is explained
GROUP_KEYS = ("row", "kernel", "algorithm", "real_ns", "real_interval_ns", "cost_ns", "cost_interval_ns",
              "gap", "measured_again")


class Failed(Exception):
    """A command that gave no result."""


def run_json(*words):
    """Returns the objects that a command of benanza prints, one a line. Exit status 1: there are gaps."""
    out = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, text=True)
    if out.returncode > 1:
        raise Failed(f"{' '.join(map(str, words))}: exit status {out.returncode}")
    return [json.loads(line) for line in out.stdout.splitlines()]


# ---- measuring

class Bench:
    """Measures cases. It keeps the peaks of the machine, which are measured once."""

    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.threads = ["--threads", options.threads] if options.threads else []
        device = run_json(options.benanza, "devices", "--json", *self.threads)[0]
        agents = {one["framework"]: one for one in device["agents"] if not one.get("error")}
        self.missing = [name for name in AGENTS if name not in agents]
        self.setup = ", ".join([device["runners"][0]["model"], device["runners"][0]["stack"]] +
                               [f"{name} {agents[name]['version']}" for name in AGENTS if name in agents])
        self.random = (None, None)  # the model that was last written with random weights

    def peaks(self):
        """Returns a database that has only the peaks."""
        import ort_common
        from onnx import helper
        path = self.folder / "peaks.db"
        if not path.exists():
            node = helper.make_node("Relu", ["x"], ["y"])
            model = ort_common.save_model(self.folder / "relu.onnx", [node], {"x": [1]}, {"y": [1]})
            run_json(self.options.benanza, "bench", "--json", "-q", "--db", path, model)
        return path

    def with_random_weights(self, model):
        """Writes the model with random weights, its sidecar beside it; the one before is removed."""
        import onnx
        import ort_common
        if self.random[0] != model:
            shutil.rmtree(self.folder / "model", ignore_errors=True)
            path = self.folder / "model" / model.name
            path.parent.mkdir()
            onnx.save(ort_common.with_random_weights(onnx.load(model)), path)
            sidecar = model.with_suffix(".yaml")
            if sidecar.exists():
                shutil.copy(sidecar, path.with_suffix(".yaml"))
            self.random = (model, path)
        return self.random[1]

    def measure(self, model, batch):
        """Measures a case and returns its record."""
        path, database = self.with_random_weights(model), self.folder / "case.db"
        shutil.copy(self.peaks(), database)
        which = (["-b", batch] if batch else []) + ["--db", database, path]
        common = ["--json", "-q", "--budget", self.options.budget, *self.threads, *which]
        record = {"case": case_name(model, batch), "setup": self.setup, "budget_ms": self.options.budget,
                  "measured_at": int(time.time()), "turns": [], "bounds": [], "compared": {}}
        compared = []
        for turn in range(self.options.rounds + 1):
            order = ",".join(RUN if turn % 2 == 0 else RUN[::-1])
            if turn:
                run_json(self.options.benanza, "bench", "--again", "-w", FUSED, *common)
            now = run_json(self.options.benanza, "compare", "--run", order, "-w", FUSED, *common)
            record["turns"].append({one["agent"]["name"]: latency_of(one) for one in now})
            if turn:  # the bound includes what compare measured again
                record["bounds"].append({what: self.bound(what, which) for what in (PLAIN, FUSED)})
                compared += now
        layers = run_json(self.options.benanza, "layers", "--json", *which)[0]["layers"]
        for one in sorted(compared, key=lambda one: one["layers_ns"] or math.inf):
            record["compared"].setdefault(one["agent"]["name"], compared_of(one, layers))
        for suffix in ("", "-wal", "-shm"):
            pathlib.Path(f"{database}{suffix}").unlink(missing_ok=True)
        return record

    def bound(self, what_if, which):
        found = run_json(self.options.benanza, "bound", "--json", "-w", what_if, *self.threads, *which)[0]
        return {key: found[key] for key in ("bound_ns", "interval_ns", "complete", "disturbed")} | \
            {"mistrusted": found["mistrusted"]["layers"]}


def case_name(model, batch):
    return f"{model.stem} b{batch}" if batch else model.stem


def latency_of(compared):
    return {key: compared[key] for key in ("measured_ns", "interval_ns", "noisy")} | \
        {"why": compared["agent"]["noisy_reason"]}


def compared_of(compared, layers):
    """What explains a ratio: gaps, contradicted groups, and the groups that differ most."""
    def group(one):
        ops = [layers[i]["op"] for i in one["layers"] if layers[i]["op"] != "Constant"]
        return {key: one[key] for key in GROUP_KEYS} | {"ops": "+".join(ops[:4] + ["..."] * (len(ops) > 4))}

    def more_ns(one):
        return (one["real_ns"] or 0) - (one["cost_ns"] or 0)

    groups = sorted((g for g in compared["layers"] if g["cost_ns"] is not None), key=more_ns)
    return {"gaps": {gap["kind"]: gap["ns"] for gap in compared["gaps"]},
            "contradicted": [group(one) for one in compared["contradicted"]],
            "whole": compared["bound_contradicted"], "not_comparable": compared["not_comparable"],
            "slower": [group(one) for one in groups[:-SHOWN - 1:-1] if more_ns(one) > 0],
            "faster": [group(one) for one in groups[:SHOWN] if more_ns(one) < 0]}


# ---- records to figures

def figures(record):
    """Returns the figures of a record: ns, intervals, ratios; None if a runtime or the bound is unknown."""
    found = {"case": record["case"], "complete": all(b[FUSED]["complete"] for b in record["bounds"])}
    best = {name: fastest([turn.get(name) for turn in record["turns"]]) for name in AGENTS}
    bounds = {what: fastest([{**b[what], "measured_ns": b[what]["bound_ns"], "noisy": not b[what]["complete"]}
                             for b in record["bounds"]]) for what in (PLAIN, FUSED)}
    known = [name for name in AGENTS if best[name]]
    if not known or not all(bounds.values()):
        return None
    found["faster"] = min(known, key=lambda name: best[name]["measured_ns"])
    run = best[found["faster"]]
    found |= {name: one and one["measured_ns"] for name, one in {**best, **bounds}.items()}
    for what in (PLAIN, FUSED):
        found["ratio", what] = found[what] / run["measured_ns"]
    (low, high), (short, long) = ends(bounds[FUSED]), ends(run)
    found["interval"] = (low / long, high / short)
    over, under = found["interval"][0] > MOST, found["ratio", FUSED] < LEAST
    found["flag"] = "over" if over else "under" if under else ""
    return found


def fastest(runs):
    """The run with the smallest median; a disturbed one only if all are. None if no run has a latency."""
    known = [run for run in runs if run and run["measured_ns"]]
    return min(known, key=lambda run: (run["noisy"], run["measured_ns"]), default=None)


def ends(run):
    """Its interval; the median twice if that is unknown."""
    return [end or run["measured_ns"] for end in run["interval_ns"] or [None, None]]


def notes(record, found):
    bounds = [b[FUSED] for b in record["bounds"]]
    words = [found["flag"]] * bool(found["flag"]) + ["incomplete: at least"] * (not found["complete"])
    for key, text in (("mistrusted", "layers below their roofline"), ("disturbed", "layers disturbed")):
        count = max(b[key] for b in bounds)
        words += [f"{count} {text}"] * bool(count)
    for name in AGENTS:
        times = [turn[name]["measured_ns"] for turn in record["turns"]
                 if turn.get(name) and turn[name]["measured_ns"]]
        if times and max(times) > UNSTEADY * min(times):
            words.append(f"{name}'s runs took up to {max(times) / min(times):.1f} times as long")
    noisy = sum(run["noisy"] for turn in record["turns"] for run in turn.values())
    words += [f"{noisy} runs disturbed"] * bool(noisy)
    words += [f"{name}: {one['not_comparable']}" for name, one in record["compared"].items()
              if one["not_comparable"]]
    return "; ".join(words)


HEAD = (f"{'case':22} {'bound':>9} {'fused':>9} {'ORT':>9} {'OpenVINO':>9} {'faster':>8} {'ratio':>6} "
        f"{'plain':>6} {'interval':^13} contradicted")


def line(record):
    """A row of the table: times in ms; groups that contradict the bound, of each runtime."""
    found = figures(record)
    if not found:
        return f"{record['case']:22} the bound or the latency is unknown"
    times = [found[PLAIN], found[FUSED], found["onnxruntime"], found["openvino"]]
    shown = " ".join(f"{ns / 1e6:9.3f}" if ns else f"{'-':>9}" for ns in times)
    count = [str(len(record["compared"][name]["contradicted"])) if name in record["compared"] else "-"
             for name in AGENTS]
    return (f"{record['case']:22} {shown} {'ORT' if found['faster'] == AGENTS[0] else 'OpenVINO':>8} "
            f"{found['ratio', FUSED]:6.3f} {found['ratio', PLAIN]:6.3f} "
            f"{found['interval'][0]:6.3f}-{found['interval'][1]:<6.3f} {' '.join(count):5} "
            f"{notes(record, found)}").rstrip()


def group_line(one):
    kernels = f"{one['kernel'] or '?'} against {one['algorithm'] or '?'}"
    return (f"    {(one['real_ns'] - one['cost_ns']) / 1e3:+10.1f} us: {one['real_ns'] / 1e3:9.1f} of "
            f"{one['cost_ns'] / 1e3:9.1f}  {one['ops'][:40]:40} {kernels}, {one['row'][-40:]}")


def explanation(record, found):
    """The gaps between the bound and the faster runtime, and the groups of layers that differ most."""
    one = record["compared"][found["faster"]]
    gaps = sorted(one["gaps"].items(), key=lambda gap: -abs(gap[1] or 0))
    words = ", ".join(f"{kind} {(ns or math.nan) / 1e3:+.0f}" for kind, ns in gaps)
    kind = "faster" if found["flag"] == "over" else "slower"
    return [f"  {record['case']}, {found['ratio', FUSED]:.3f}: {found['faster']} - bound in us: {words}"] + \
        [group_line(group) for group in one[kind]]


def summary(records, limit):
    """The lines below the table."""
    known = [(record, found) for record in records for found in [figures(record)] if found]
    lines = []
    for what, words in ((FUSED, "with fusion"), (PLAIN, "without fusion")):
        logs = [math.log(found["ratio", what]) for _, found in known]
        if logs:
            lines.append(f"geometric mean {words}: {math.exp(statistics.mean(logs)):.3f} of {len(logs)}")
    for flag, words in (("over", f"over {MOST} beyond the interval"), ("under", f"under {LEAST}")):
        beyond = sorted((k for k in known if k[1]["flag"] == flag), key=lambda k: -k[1]["ratio", FUSED])
        lines.append(f"{words}: {', '.join(record['case'] for record, _ in beyond) or 'none'}")
        for record, found in beyond[:limit] if limit >= 0 else beyond:
            lines += explanation(record, found)
    contradicted = [(record["case"], name, one) for record, _ in known
                    for name, one in record["compared"].items() if one["contradicted"] or one["whole"]]
    lines.append(f"contradicted: {'none' if not contradicted else ''}".rstrip())
    for case, name, one in contradicted:
        lines.append(f"  {case}, {name}{': the whole model is faster' if one['whole'] else ''}")
        lines += [group_line(group) + ("" if group["measured_again"] else ", not measured again")
                  for group in one["contradicted"]]
    return lines


# ---- cases

def choose(words):
    """The models that the words mean; all without words."""
    import ort_common
    known = ort_common.bundled_models() + ort_common.light_models()
    found = [] if words else known
    for word in words:
        here = [pathlib.Path(word)] if os.path.exists(word) else [path for path in known if word in path.stem]
        if not here:
            raise Failed(f"no model is called '{word}'; there are {', '.join(path.stem for path in known)}")
        found += here
    return list(dict.fromkeys(found))


def cases_of(models, batches):
    """(model, batch) for each case; the batch is None if the model has its own."""
    import onnx
    import ort_common
    return [(model, batch) for model in models
            for batch in (batches if "batch" in ort_common.symbols(onnx.load(model)) else [None])]


def saved(path, setup):
    """The records of a file by case; none if there is no file. A last line without an end was interrupted."""
    records = {}
    if not path or not os.path.exists(path):
        return records
    text = pathlib.Path(path).read_text()
    whole = text[:text.rfind("\n") + 1]
    if whole != text:
        os.truncate(path, len(whole.encode()))
    for number, one in enumerate(whole.splitlines(), 1):
        try:
            record = json.loads(one)
            records[record["case"]] = record
            other = record["setup"]
        except (ValueError, KeyError, TypeError) as error:
            raise Failed(f"{path}:{number}: no result of bench_ratio ({error}); give another file") from error
        if other != setup:
            raise Failed(f"{path}:{number}: measured with {other}; here: {setup}; give another file")
    return records


class Clock:
    """The time limit, if there is one. A case is expected to take as long as the longest so far."""

    def __init__(self, minutes, now=time.monotonic):
        self.now, self.end, self.longest = now, minutes and now() + 60 * minutes, 0

    def allows(self):
        return not self.end or self.now() + self.longest <= self.end

    @contextlib.contextmanager
    def case(self):
        begin = self.now()
        yield
        self.longest = max(self.longest, self.now() - begin)


def measure_all(bench, cases, records, options):
    """Measures the cases that `records` lacks and adds them. Returns the names of those left out."""
    clock, left = Clock(options.time), []
    for model, batch in cases:
        name = case_name(model, batch)
        if name not in records:
            if not clock.allows():
                left.append(name)
                continue
            try:
                with clock.case():
                    records[name] = bench.measure(model, batch)
            except Failed as error:
                print(f"{name:22} {error}", flush=True)
                continue
            if options.save:
                with open(options.save, "a", encoding="utf-8") as file:
                    file.write(json.dumps(records[name]) + "\n")
        print(line(records[name]), flush=True)
    return left


def positive(text):
    if not float(text) > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return float(text)


def count(text):
    return int(positive(text))


def main():
    global FUSED
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--benanza", default=str(TOP / "build/benanza"))
    parser.add_argument("--rounds", type=count, default=2, help="measurements of the bound (default: 2)")
    parser.add_argument("--budget", type=count, default=40, metavar="MS",
                        help="measuring time for a problem and algorithm (default: 40)")
    parser.add_argument("--threads", type=count, help="default: the runner's")
    parser.add_argument("-b", "--batch", default="1,8", type=lambda text: [count(b) for b in text.split(",")])
    parser.add_argument("-w", "--what-if", default=FUSED, metavar="LIST",
                        help=f"the scenario of the bound with fusion (default: {FUSED})")
    parser.add_argument("--explain", type=int, default=-1, metavar="N",
                        help="explain the first N cases over and under the limits (default: all)")
    parser.add_argument("--time", type=positive, metavar="MINUTES", help="begin no case that would end later")
    parser.add_argument("--save", metavar="FILE", help="keep results here, and go on from those that it has")
    options = parser.parse_args()
    FUSED = options.what_if
    try:
        import numpy  # noqa: F401
        import onnx  # noqa: F401
    except ImportError as missing:
        print(f"{missing.name} is not installed", file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory(prefix="benanza-ratio-") as folder:
        try:
            bench = Bench(options, folder)
            if bench.missing:
                print(f"not installed: {', '.join(bench.missing)}", file=sys.stderr)
                return 77
            cases = cases_of(choose(options.models), options.batch)
            records = saved(options.save, bench.setup)
            print(f"{bench.setup}; spinning; {options.rounds} rounds, budget {options.budget} ms; "
                  f"times in ms\n{HEAD}", flush=True)
            left = measure_all(bench, cases, records, options)
        except Failed as error:
            sys.exit(f"bench_ratio: {error}")
    names = [case_name(*case) for case in cases]
    print(*summary([records[name] for name in names if name in records], options.explain), sep="\n")
    if left:
        print(f"left out, no time: {', '.join(left)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Speed of this build relative to another one, usually the commit before: opening models, the first frame, recomputing what-ifs.

The two builds run in turns (A B, B A, A B ...) on the same files within one run. Printed per figure: the median of both and the median,
smallest and largest ratio of neighboring runs. Both build folders need `make benanza tests/bench/bench_run tests/bench/bench_analyze`.

    make bench-before BEFORE=../old/build
"""

import argparse
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

from bench_open import Bench, built, write_graph

# What base_memory_keep sets in benanza. Otherwise bench_analyze also measures whether malloc returns memory to the kernel
# between two recomputations, which depends on the sizes of what was freed before.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(512 << 20)}

MODELS = ("resnet50", "mobilenet_v2", "googlenet", "bert_base", "gpt2_small", "yolov8n")


def in_turns(rounds, first, second):
    """Runs both `rounds` times, alternating which one goes first. Returns two lists."""
    a, b = [], []
    for i in range(rounds):
        for run, results in ((first, a), (second, b)) if i % 2 else ((second, b), (first, a)):
            results.append(run())
    return a, b


def report(name, unit, old, new):
    ratios = sorted(n / o for o, n in zip(old, new))
    print(f"{name:34} {statistics.median(old):9.2f} {statistics.median(new):9.2f} {unit:3} {statistics.median(ratios):7.3f}"
          f"   {ratios[0]:.3f} to {ratios[-1]:.3f}", flush=True)


def layers(bench, path):
    """Processor milliseconds from exec to the last line of `layers`."""
    def run():
        figures, _ = bench.run(bench.benanza, "layers", "-q", str(path))
        if figures["status"] not in (0, 1):
            sys.exit(f"bench_before: {bench.benanza} layers {path}: status {figures['status']}")
        return figures["cpu_ns"] / 1e6
    return run


def first_frame(bench, path, home):
    """Wall milliseconds from exec until the first layer's name is written to the terminal."""
    env = dict(os.environ, HOME=home, TERM="xterm-256color", XDG_DATA_HOME=home, XDG_CONFIG_HOME=home)

    def run():
        figures, _ = bench.run("--until", "conv1", bench.benanza, str(path), env=env)
        if figures["status"]:
            sys.exit(f"bench_before: {bench.benanza}: no first frame")
        return figures["wall_ns"] / 1e6
    return run


def analyses(builddir):
    """Milliseconds of each recomputation that bench_analyze prints: {"1000 layers, 20 distinct, plain": ms}."""
    out = subprocess.run([built(builddir, "bench_analyze")], capture_output=True, text=True, check=True,
                         env=os.environ | MALLOC).stdout
    times = {}
    for line in out.splitlines():
        found = re.match(r" *(\d+) layers +(\d+) distinct: +([\d.]+) ms plain, +([\d.]+) ms", line)
        if found:
            times[f"what-ifs, {found[1]} layers, {found[2]} distinct"] = float(found[3])
            times[f"  all what-ifs on, {found[1]}/{found[2]}"] = float(found[4])
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, metavar="DIR", help="the other build folder")
    parser.add_argument("--builddir", default="build", metavar="DIR", help="this build folder (default: build)")
    parser.add_argument("--rounds", type=int, default=21, help="runs of each figure and build (default: 21)")
    args = parser.parse_args()
    old, new = Bench(args.before), Bench(args.builddir)
    data = pathlib.Path(__file__).resolve().parents[2] / "data/models"
    print(f"{'':34} {'before':>9} {'now':>9}       ratio   smallest to largest")
    with tempfile.TemporaryDirectory(prefix="benanza-bench-") as home:
        paths = [(name, data / f"{name}.onnx") for name in MODELS]
        for kind in ("chain", "random"):
            for size in (10000, 100000):
                path = pathlib.Path(home) / f"{kind}{size}.onnx"
                write_graph(path, size, random.Random(size) if kind == "random" else None)
                paths.append((f"{kind} of {size} layers", path))
        for name, path in paths:
            report(f"layers {name}", "ms", *in_turns(args.rounds, layers(old, path), layers(new, path)))
        model = data / "resnet50.onnx"
        report("first frame of resnet50", "ms",
               *in_turns(args.rounds, first_frame(old, model, home), first_frame(new, model, home)))
    a, b = in_turns(max(args.rounds // 4, 3), lambda: analyses(args.before), lambda: analyses(args.builddir))
    for name in a[0]:
        report(name, "ms", [r[name] for r in a], [r[name] for r in b])


if __name__ == "__main__":
    main()

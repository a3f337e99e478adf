#!/usr/bin/env python3
"""Opening large models: `onnx.load` + `infer_shapes` in Python beside `benanza layers`, on the same files, in turns; and the
first frame of the explorer; and how the time grows with the graph.

Each model is a chain of MatMuls with a weight each: 1 GB in 120 nodes and in 10,000, 2.5 GB in one file, and 2.5 GB in a
file beside it; and one of 120 Sums that share 10,000 weights out. The weights are holes, which any file system has room for; Python reads them as it reads zeros. Python's time
starts after its imports; that of benanza includes starting the program and writing the report. Both read from the page cache.
Beside the wall time stands the processor time, which does not depend on what else the machine does.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from onnx_wire import field_bytes, field_int, graph, model, model_head, node, value_info, varint  # noqa: E402

ONNX_PROGRAM = """
import resource, sys, time, onnx, onnx.shape_inference
cpu = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
begin, begin_cpu = time.perf_counter(), cpu()
model = onnx.load(sys.argv[1])
model = onnx.shape_inference.infer_shapes(model)
assert sum(len(v.type.tensor_type.shape.dim) == 2 for v in model.graph.value_info)
print(time.perf_counter() - begin, cpu() - begin_cpu)
"""
MODELS = (  # name, nodes, weights, side of a weight, in a file beside it
    ("1 GB in 120 nodes", 120, 120, 1472, False),
    ("in 10,000 weights", 120, 10000, 160, False),
    ("in 10,000 nodes", 10000, 10000, 160, False),
    ("2.5 GB in one file", 120, 120, 2304, False),
    ("2.5 GB beside it", 120, 120, 2304, True),
)


def write_model(path, nodes, weights, side, beside):
    """One pass over the file; what stands between the holes is what a writer of ONNX would write."""
    payload = side * side * 4
    heads = []
    for i in range(weights):
        head = field_int(1, side) * 2 + field_int(2, 1) + field_bytes(8, f"w{i}")
        if beside:
            for key, text in (("location", path.name + ".data"), ("offset", str(i * payload)), ("length", str(payload))):
                head += field_bytes(13, field_bytes(1, key) + field_bytes(2, text))
            head += field_int(14, 1)
            heads.append(field_bytes(5, head))
        else:
            head += varint(9 << 3 | 2) + varint(payload)
            heads.append(varint(5 << 3 | 2) + varint(len(head) + payload) + head)
    hole = 0 if beside else payload
    op, rows = ("MatMul", 1) if weights == nodes else ("Sum", side)
    tail = b"".join(
        field_bytes(1, node(op, [f"t{i}", *(f"w{j}" for j in range(i, weights, nodes))], [f"t{i + 1}"], f"layer{i}"))
        for i in range(nodes))
    ends = [value_info(name, [rows, side]) for name in ("t0", f"t{nodes}")]
    tail += field_bytes(2, "chain") + field_bytes(11, ends[0]) + field_bytes(12, ends[1])
    with open(path, "wb") as out:
        out.write(model_head())
        out.write(varint(7 << 3 | 2) + varint(sum(len(h) + hole for h in heads) + len(tail)))
        for head in heads:
            out.write(head)
            out.seek(hole, os.SEEK_CUR)
        out.write(tail)
    if beside:
        with open(str(path) + ".data", "wb") as out:
            out.truncate(weights * payload)


def built(builddir, name):
    """Path of a program of this folder; versions up to 0.2 built it in tests/."""
    paths = [os.path.join(builddir, "tests", *folder, name) for folder in (["bench"], [])]
    return next(filter(os.path.exists, paths), paths[0])


class Bench:
    def __init__(self, builddir):
        self.benanza = os.path.join(builddir, "benanza")
        self.runner = built(builddir, "bench_run")
        for program in (self.benanza, self.runner):
            if not os.access(program, os.X_OK):
                sys.exit(f"bench_open: {program} is not there; make it, or name its folder with --builddir")
        self.has_onnx = subprocess.run([sys.executable, "-c", "import onnx"], stderr=subprocess.DEVNULL).returncode == 0

    def run(self, *command, env=None):
        """bench_run's figures and what the command printed."""
        done = subprocess.run([self.runner, *command], capture_output=True, env=env)
        return json.loads(done.stderr.splitlines()[-1]), done.stdout

    def ours(self, path, nodes):
        figures, out = self.run(self.benanza, "layers", "-q", str(path))
        shapes = out.count(b" MatMul ") + out.count(b" Sum ")
        if figures["status"] not in (0, 1) or shapes != nodes:
            sys.exit(f"bench_open: {shapes} layers instead of {nodes}, status {figures['status']}")
        return figures

    def python(self, path):
        """Seconds of wall and processor, and peak bytes; None: Python cannot."""
        figures, out = self.run(sys.executable, "-c", ONNX_PROGRAM, str(path))
        if figures["status"]:
            return None
        wall, cpu = map(float, out.split())
        return {"wall_ns": wall * 1e9, "cpu_ns": cpu * 1e9, "peak_bytes": figures["peak_bytes"]}


def middle(runs):
    return {key: statistics.median(r[key] for r in runs) for key in ("wall_ns", "cpu_ns", "peak_bytes")} if runs else None


def report(name, ours, theirs, has_onnx):
    def cells(r):
        return f"{r['wall_ns'] / 1e6:10.1f} {r['cpu_ns'] / 1e6:10.1f} {r['peak_bytes'] / 2**20:8.1f}"

    print(f"{name:22} benanza {cells(ours)}")
    if theirs:
        ratios = " ".join(f"{theirs[k] / ours[k]:9.0f}x" for k in ("wall_ns", "cpu_ns"))
        print(f"{'':22} Python  {cells(theirs)}\n{'':22} ratio   {ratios} {theirs['peak_bytes'] / ours['peak_bytes']:7.0f}x")
    elif has_onnx:
        print(f"{'':22} Python  cannot (protobuf ends at 2 GB, or memory does)")


def frame(bench, srcdir):
    """From exec until the first layer's name is on its way to the terminal, without a database and with none to make."""
    model = pathlib.Path(srcdir) / "data/models/resnet50.onnx"
    with tempfile.TemporaryDirectory(prefix="benanza-bench-") as home:
        env = dict(os.environ, HOME=home, TERM="xterm-256color", XDG_DATA_HOME=home, XDG_CONFIG_HOME=home)
        runs = [bench.run("--until", "conv1", bench.benanza, str(model), env=env)[0] for _ in range(9)]
    if any(r["status"] for r in runs):
        print("first frame: none came")
        return
    r = middle(runs)
    print(f"first frame of ResNet-50: {r['wall_ns'] / 1e6:.1f} ms, {r['cpu_ns'] / 1e6:.1f} ms of processor time (aim: 50 ms)")


def write_graph(path, layers, chance):
    """A chain of elementwise layers; with chance, every second one also reads an earlier value, anywhere."""
    nodes = []
    for i in range(layers):
        two = chance and i and chance.random() < 0.5
        inputs = [f"v{i}", f"v{chance.randrange(i)}"] if two else [f"v{i}"]
        nodes.append(node("Add" if two else "Relu" if i % 3 else "Sigmoid", inputs, [f"v{i + 1}"]))
    shape = [1, 64, 56, 56]
    path.write_bytes(model(graph(nodes, [value_info("v0", shape)], [value_info(f"v{layers}", shape)])))


def growth(bench, rounds):
    """From exec to the last line of `benanza layers`, for graphs of ten times as many layers; sizes in turns, the least."""
    sizes = (1000, 10000, 100000, 1000000)
    with tempfile.TemporaryDirectory(prefix="benanza-bench-") as folder:
        for kind in ("chain", "random"):
            paths = [pathlib.Path(folder) / f"{size}.onnx" for size in sizes]
            for size, path in zip(sizes, paths):
                write_graph(path, size, random.Random(size) if kind == "random" else None)
            def run(path):
                return bench.run(bench.benanza, "layers", "-q", str(path))[0]

            runs = [[run(path) for path in paths[:-1]] for _ in range(rounds)]
            last = run(paths[-1])  # once: it takes seconds
            least = [min(turn[i]["cpu_ns"] for turn in runs) / 1e6 for i in range(len(sizes) - 1)]
            least.append(last["cpu_ns"] / 1e6)
            peak = [figures["peak_bytes"] / 2**20 for figures in runs[0] + [last]]
            for size, ms, mib, before in zip(sizes, least, peak, [None, *least]):
                times = f"   {ms / before:5.1f} times" if before else ""
                print(f"{kind:7} {size:8} layers {ms:8.1f} ms of processor time {mib:8.1f} MiB{times}", flush=True)
            for path in paths:
                path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builddir", default="build", help="where benanza and tests/bench/bench_run are (default: build)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", metavar="TEXT", help="only the large models whose name has this in it")
    parser.add_argument("--dir", help="where models are written (default: the system's temporary folder)")
    args = parser.parse_args()
    bench = Bench(args.builddir)
    if not args.only:
        frame(bench, pathlib.Path(__file__).resolve().parents[2])
        growth(bench, args.rounds + 2)
    print(f"{'':22}            wall ms     CPU ms peak MiB   median of {args.rounds} runs in turns")
    for name, nodes, weights, side, beside in (m for m in MODELS if args.only in m[0]):
        folder = tempfile.mkdtemp(prefix="benanza-bench-", dir=args.dir)
        try:
            path = pathlib.Path(folder) / "chain.onnx"
            write_model(path, nodes, weights, side, beside)
            ours, theirs = [], []
            for _ in range(args.rounds):
                ours.append(bench.ours(path, nodes))
                if bench.has_onnx and len(theirs) == len(ours) - 1:
                    theirs += filter(None, [bench.python(path)])
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        report(name, middle(ours), middle(theirs), bench.has_onnx)
    if not bench.has_onnx:
        print("Python has no onnx package here: nothing to compare with")


if __name__ == "__main__":
    main()

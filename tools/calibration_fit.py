"""The fit of tools/make_calibration.py to kernels and whole models of new libraries.

A figure is a real time and the kernels that make it up: one layer of a TensorRT profile, or all of a model
whose latency is published. A kernel takes

    fixed x FIXED_MHZ / clock + max((operations + tiles x tile) / share, memory / share + cache / CACHE_SHARE)

where operations and memory are times at the peaks, `tile` is the time in which one multiprocessor computes 64
x 64 sums of a product, and `cache` that of what the last-level cache holds. Shares of memory and of matrix
products are those of the GPU's generation, drawn together where a generation has few figures. The fit
minimizes Huber's loss of the logarithmic errors; all figures of one source, model and device weigh as one,
layers of one kind in a profile as a quarter.
"""

import collections
import csv
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADER = (ROOT / "src" / "analyze" / "roof" / "calibration.h").read_text()
FIXED_MHZ, CACHE_SHARE = (float(re.search(rf"#define CALIBRATION_{name} (\S+)", HEADER)[1])
                          for name in ("MHZ", "CACHE_SHARE"))
GENERATIONS = {70: "Volta", 75: "Turing", 80: "Ampere", 89: "Ada", 90: "Hopper", 100: "Blackwell"}
# What each kind takes of the parameters: fixed time, tiles and share of the operations.
KINDS = {
    ("memory", False): ("fixed_memory", None, None), ("norm", False): ("fixed_memory", None, None),
    ("conv_group", False): ("fixed_group", None, None), ("conv_few", True): ("fixed_conv", None, "flops_few"),
    ("conv", True): ("fixed_conv", "tiles_conv", "flops_conv"),
    ("conv", False): ("fixed_conv", "tiles_plain", "flops_plain"),
    ("conv_winograd", False): ("fixed_conv", "tiles_plain", "flops_winograd"),
    ("matmul", True): ("fixed_matmul", "tiles_matmul", "products"),
    ("matmul", False): ("fixed_matmul", "tiles_plain", "flops_plain"),
}
START = {"fixed_memory": 2.0, "fixed_conv": 5.0, "fixed_group": 3.0, "fixed_matmul": 4.0,
         "tiles_conv": 0.7, "tiles_matmul": 0.4, "tiles_plain": 0.4,
         "flops_conv": 0.62, "flops_few": 0.2, "flops_plain": 0.75, "flops_winograd": 1.5,
         **{f"bytes {g}": 0.87 for g in GENERATIONS}, **{f"products {g}": 0.72 for g in GENERATIONS}}
# Kernels alone, as measured: H100, bf16 product of 8192^3 in 1.38 ms (1.11 at the peak), a copy at 3.0 of
# 3.35 TB/s; H200, a copy at 4.3 of 4.8 TB/s. Not fitted: BabelStream's copies on A100 (80 GB), H100 and H200,
# 1.61 of 2.04, 2.90 of 3.35, 4.01 of 4.8 TB/s (samuel-bohman/AI-benchmarking-guide, Azure_Results).
ALONE = [("h100", "product", 1380.0, [("matmul", True, 1111.5, 17.0, 0.0, 0.0)]),
         ("h100", "copy", 1000.0, [("memory", False, 0.0, 0.0, 895.5, 0.0)]),
         ("h200", "copy", 1000.0, [("memory", False, 0.0, 0.0, 895.8, 0.0)])]
DRAWN = 2.0      # how much generations are drawn together
KNOWN = 0.05     # how much a parameter is drawn to where it starts
HUBER = 0.4
LAYERS = 0.25    # weight of the layers of one profile and kind, beside the latencies of one source

# kernels: (kind, matrix, operations, tile, memory, cache) -> how many; times in us
Figure = collections.namedtuple("Figure", "device group us kernels use row")


def device_of(name):
    """Generation, clock, and the shares of the peaks that the GPU holds."""
    one = json.loads((ROOT / "data" / "devices" / f"{name}.json").read_text())
    generation = max(sm for sm in GENERATIONS if sm <= one["sm"])
    return generation, one["clock_mhz"], one.get("clock_share", 1), one.get("bandwidth_share", 1)


# ---- published latencies

def latencies(paths):
    """Rows of the tables as dictionaries. Of the shared one, rows whose source doubts them, or that
    contradict each other, are only shown."""
    for path in paths:
        lines = (line for line in path.read_text().splitlines() if line and line[0] != "#")
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            doubt = "perhaps" in row["source"] or row["model"] == "yolov8n"
            row.setdefault("use", "show" if doubt else "fit")
            yield row


def bound_of(row):
    """What the program says of the row's scenario."""
    what_ifs = ",".join(filter(None, (row["what_ifs"] or "matrix=off", "math" * (row["dtype"] == "tf32"))))
    model = ROOT / "data" / "models" / f"{row['model']}.onnx"
    with tempfile.TemporaryDirectory() as folder:
        command = [os.environ.get("BENANZA", str(ROOT / "build" / "benanza")), "bound", "--json", "-q",
                   "--db", f"{folder}/empty.db", "-d", row["device"], "-b", row["batch"],
                   "-t", row["dtype"].replace("tf32", "f32"), "-w", what_ifs]
        command += ["--dim", "sequence=128"] * (row["model"] == "bert_base")
        return json.loads(subprocess.run([*command, str(model)], check=True, capture_output=True).stdout)


NAMES = {"memory-bound kernel": "memory", "convolution": "conv", "convolution of few channels": "conv_few",
         "depthwise convolution": "conv_group", "3x3 convolution": "conv_winograd",
         "matrix product": "matmul", "normalization": "norm"}


def kernels_of(bound):
    counts = collections.Counter()
    for layer in bound["layers"]:
        e = layer.get("estimate")
        if e:
            kind = NAMES[e["kind"]]
            matrix = e["matrix"] and (kind, True) in KINDS
            times = (round(e[key] / 1e3, 4) for key in ("peak_ops_ns", "tile_ns", "memory_ns", "cache_ns"))
            counts[(kind, matrix, *times)] += 1
    return counts


def real_us(row):
    return min(float(x) for x in row["latency_ms"].split("-")) * 1e3


def figures(paths):
    """The latencies with their kernels, and the whole kernels."""
    for row in latencies(paths):
        group = (row["device"], row["model"], row["dtype"], row["framework"])
        yield Figure(row["device"], group, real_us(row), kernels_of(bound_of(row)), row["use"], row)
    for device, name, us, kernels in ALONE:
        yield Figure(device, (device, name), us, collections.Counter(kernels), "alone", None)


# ---- the fit

class Shares:
    """Parameters, and what they predict."""

    def __init__(self, values):
        self.values = values

    def of(self, kind, matrix, generation):
        fixed, tiles, flops = KINDS[kind, matrix]
        flops = f"products {generation}" if flops == "products" else flops
        return (self.values[fixed], self.values.get(tiles, 0), self.values.get(flops, 1),
                self.values[f"bytes {generation}"])

    def us(self, figure, device):
        generation, mhz, clock, bandwidth = device
        total = 0
        for (kind, matrix, ops, tile, memory, cache), times in figure.kernels.items():
            fixed, tiles, flops, share = self.of(kind, matrix, generation)
            work = max((ops + tiles * tile) / flops / clock,
                       memory / share / bandwidth + cache / CACHE_SHARE / clock)
            total += times * (fixed * FIXED_MHZ / mhz / clock + work)
        return total


def huber(error):
    return error * error if abs(error) < HUBER else 2 * HUBER * abs(error) - HUBER * HUBER


def drawn(values):
    """What draws parameters to where they start, and generations together."""
    total = sum(KNOWN * math.log(values[k] / START[k]) ** 2 for k in values)
    for name in ("bytes", "products"):
        logs = [math.log(values[f"{name} {g}"]) for g in GENERATIONS]
        total += DRAWN * sum((x - sum(logs) / len(logs)) ** 2 for x in logs)
    return total


def loss(values, groups, devices):
    shares, total = Shares(values), drawn(values)
    for group in groups:
        errors = sum(huber(math.log(f.us / shares.us(f, devices[f.device]))) for f in group)
        total += errors / len(group) * (LAYERS if group[0].use == "layer" else 1)
    return total


def fit(some, devices, start=None, step=0.3):
    """Parameters that fit the figures, by a search along each parameter that halves its step."""
    by = collections.defaultdict(list)
    for f in some:
        by[f.group].append(f)
    groups, values = list(by.values()), dict(start or START)
    best = loss(values, groups, devices)
    while step > 0.008:
        better = False
        for key in values:
            for way in (step, -step):
                trial = dict(values)
                trial[key] *= math.exp(way)
                if key.startswith(("bytes", "products", "flops")) and key != "flops_winograd":
                    trial[key] = min(trial[key], 0.95)
                cost = loss(trial, groups, devices)
                if cost < best - 1e-7:
                    best, values, better = cost, trial, True
        if not better:
            step /= 2
    return values


def left_out(some, devices, values):
    """Per figure, real / predicted by a fit without the figures of its device."""
    ratios = {}
    for device in sorted({f.device for f in some}):
        shares = Shares(fit([f for f in some if f.device != device], devices, values, 0.1))
        ratios.update((id(f), f.us / shares.us(f, devices[device])) for f in some if f.device == device)
    return ratios

#!/usr/bin/env python3
"""What share of the vendor's peaks kernels reach: fits src/analyze/roof/calibration_table.h from real data.

    tools/make_calibration.py FOLDER > src/analyze/roof/calibration_table.h
    tools/make_calibration.py --proof FOLDER      predictions of data that the fit did not use
    tools/make_calibration.py --shares FOLDER     shares of the peaks that throttled GPUs hold

FOLDER holds the authors' measurements (resnet50_v1_bench.csv.gz: cuDNN 7.6, eight GPUs), profiles of TensorRT
(profiles/tensorrt) and published latencies (gpu_latencies.tsv); more of these are in
tests/figures/latencies.tsv. The program ($BENANZA) says which kernels a model has. calibration_fit.py fits
what new libraries reach, and says what a kernel takes. What cuDNN 7.6 reached is fitted here:

    us = fixed + launch + max(us of operations / share_flops, us of bytes / share_bytes)

where both times are the roofline's at the vendor's peaks. The authors timed single calls on an idle GPU, so
their times contain the launch: it is their constant and the time of their events, less the fixed time of new
libraries, on all devices.

Shares are at most 1, except for convolutions that Winograd's algorithm computes with fewer multiplications.
The fit minimizes the logarithmic error with equal weight per source. The spread is the range from the 10th to
the 90th percentile of real / predicted, each device predicted from the others; wider by half where there is
one device only.
"""

import collections
import csv
import functools
import gzip
import json
import math
import pathlib
import sys

import calibration_fit as new

# Peaks in TFLOP/s and GB/s. The authors' GPUs: Table III of the paper (IPDPS 2020), of K80 half a board;
# K520: 1536 cores at 800 MHz.
PEAKS = {
    "Tesla_V100-SXM2-16GB": {"f32": 15.7, "f16": 125, "bytes": 900},
    "TITAN_V": {"f32": 14.9, "f16": 110, "bytes": 672},
    "Quadro_RTX_6000": {"f32": 16.3, "f16": 130.5, "bytes": 624},
    "Tesla_T4": {"f32": 8.1, "f16": 65, "bytes": 320},
    "TITAN_Xp": {"f32": 12.2, "bytes": 547.6},
    "Tesla_K80": {"f32": 2.8, "bytes": 240},
    "Tesla_M60": {"f32": 4.8, "bytes": 160.4},
    "GRID_K520": {"f32": 2.45, "bytes": 160},
}
# TensorRT's GPUs: white papers of GA100, GA102 and Turing (data/devices); A100 PCIe: its datasheet. Also the
# described device, MB of the L2 cache, and for the fit: generation, MHz, held shares.
PROFILED = {
    "NVIDIA A100 80GB PCIe": {"tf32": 156, "f32": 19.5, "f16": 312, "s8": 624, "bytes": 1935, "sms": 108,
                              "l2": 41.9, "device": "a100"},
    "NVIDIA GeForce RTX 3090": {"tf32": 35.6, "f32": 35.6, "f16": 142, "s8": 284, "bytes": 936, "sms": 82,
                                "l2": 6.29, "device": "rtx3090"},
    "NVIDIA TITAN RTX": {"f32": 16.3, "f16": 130.5, "s8": 261, "bytes": 672, "sms": 72, "l2": 6.29,
                         "device": "titan_rtx"},
}
TITAN_RTX = (75, 1770, 1, 1)
# GPUs that hold their clock. T4 (70 W) does not; K520, K80 and M60 are older than the described devices.
STEADY = {"Tesla_V100-SXM2-16GB", "TITAN_V", "Quadro_RTX_6000", "TITAN_Xp"}
EVENT_US = 2.0        # of the time between two events around the shortest kernel, this much is the kernel
SHORTEST_US = 1.0     # no kernel takes less
FEW_CHANNELS = 8      # fewer input channels do not fill a matrix unit
LOW, HIGH = 0.1, 0.9  # percentiles of the spread
FEW_LAYERS, UNKNOWN = 5, 1.3  # layers of a kind that say no spread; how much wider that of whole models is
UNSEEN = 1.5          # how much wider the spread of a row is that is borrowed, or from one device only

# device, kind, matrix unit, time of operations and of bytes at the peaks, real time
# event: what was subtracted from the real time for the events around it
Point = collections.namedtuple("Point", "device kind matrix ops bytes us event")


# ---- the authors' measurements

def number(row, key):
    return int(row[key]) if row[key] else 0


def conv_work(row, size):
    n, c, h, w, k, r, s = (number(row, key) for key in "nchwkrs")
    out = [(x + 2 * number(row, f"pad_{d}") - f) // number(row, f"stride_{d}") + 1
           for x, f, d in ((h, r, "h"), (w, s, "w"))]
    group = max(1, number(row, "group"))
    terms = c // group * r * s
    read = h * w if r >= number(row, "stride_h") else out[0] * out[1]  # strides beyond the window skip rows
    moved = n * c * read + k * terms + n * k * out[0] * out[1]
    if row["dtype"] == "FLOAT32" and r == 3 and number(row, "stride_h") == 1:
        kind = "conv_winograd"
    else:
        kind = "conv_few" if c // group < FEW_CHANNELS and row["dtype"] != "FLOAT32" else "conv"
    return kind, 2 * n * k * out[0] * out[1] * terms, moved * size


def matmul_work(row, size):
    m, n, k = [number(row, key) for key in "nch"]
    if row["api"] == "CUBLAS_GEMV_FWD":
        m, n, k = 1, m, n
    return "matmul", 2 * m * n * k, (m * k + k * n + m * n) * size


def other_work(row, size):
    operands = 3 if row["api"] == "CUDNN_OP_TENSOR_ADD_FWD" else 2
    kind = "norm" if "BATCHNORM" in row["api"] else "memory"
    return kind, 0, operands * size * math.prod(number(row, key) for key in "nchw")


def work_of(row):
    size = 4 if row["dtype"] == "FLOAT32" else 2
    if row["api"] == "CUDNN_CONV_FWD":
        return conv_work(row, size)
    if row["api"].startswith("CUBLAS"):
        return matmul_work(row, size)
    if row["api"] in ("CUDNN_CONV_BIAS_ACTIVATION_FWD", "CUDNN_POOLING_FWD", "CUDNN_ADD_TENSOR"):
        return None  # as conv; no window in the file; the bias's size is unknown
    return other_work(row, size)


def authors_points(path):
    """The best algorithm of each distinct problem, less the time of the events."""
    best = {}
    shape = "api dtype n c h w k r s pad_h pad_w stride_h stride_w group".split()
    for row in csv.DictReader(gzip.open(path, "rt")):
        if row["status"] != "ok" or row["gpu"] not in PEAKS or not work_of(row):
            continue
        key = (row["gpu"], *(row[name] for name in shape))
        if key not in best or float(row["real_us"]) < float(best[key]["real_us"]):
            best[key] = row
    events = {}
    for row in best.values():
        events[row["gpu"]] = min(events.get(row["gpu"], math.inf), float(row["real_us"]) - EVENT_US)
    points = []
    for row in best.values():
        kind, flops, moved = work_of(row)
        peaks, half = PEAKS[row["gpu"]], row["dtype"] != "FLOAT32"
        points.append(Point(row["gpu"], kind, half and kind not in ("memory", "norm"),
                            flops / peaks["f16" if half else "f32"] / 1e6, moved / peaks["bytes"] / 1e3,
                            float(row["real_us"]) - events[row["gpu"]], events[row["gpu"]]))
    return points


# ---- TensorRT's profiles

def size_of(tensor):
    text = tensor["Format/Datatype"]
    return 1 if "Int8" in text else 2 if "FP16" in text else 4


def tensor_bytes(tensor):
    return math.prod(tensor["Dimensions"]) * size_of(tensor)


def layer_kernel(layer, peaks):
    """The kernel of a layer, as in calibration_fit."""
    moved, weights = sum(tensor_bytes(t) for t in layer["Inputs"] + layer["Outputs"]), 0
    kind, unit, flops, length = "memory", "", 0, 0
    if "Kernel" in layer:
        source = layer["Inputs"][0]
        size, channels, space = size_of(source), source["Dimensions"][1], source["Dimensions"][2:]
        length = channels // layer["Groups"] * math.prod(layer["Kernel"])
        flops = 2 * math.prod(layer["Outputs"][0]["Dimensions"]) * length
        if layer["Kernel"] == [1, 1] and layer["Stride"] != [1, 1]:
            moved -= tensor_bytes(source) * (1 - 1 / math.prod(layer["Stride"]))
        unit = {1: "s8", 2: "f16", 4: "tf32" if "tf32" in layer.get("TacticName", "") else "f32"}[size]
        weights = layer["Weights"]["Count"] * size
        few = channels < FEW_CHANNELS and unit != "f32"
        kind = ("conv_group" if layer["Groups"] > 1 else "matmul" if math.prod(space) == 1 else
                "conv_few" if few else "conv")
    if kind in ("memory", "conv_group"):
        unit, flops, length = "", 0, 0
    held = moved <= peaks["l2"] * 1e6
    memory = weights + (0 if held else moved)
    ops, tile = ((flops / peaks[unit] / 1e6, 8192 * length * peaks["sms"] / peaks[unit] / 1e6) if unit else
                 (0, 0))
    load = 64 * peaks["sms"] * new_device(peaks["device"])[1]  # bytes/us of all multiprocessors
    return (kind, unit not in ("", "f32"), ops, tile, memory / peaks["bytes"] / 1e3,
            moved / load if held else 0)


def new_device(name):
    return TITAN_RTX if name == "titan_rtx" else new.device_of(name)


def profile_layers(path):
    """The layers of one profile as figures, and the time of the whole model without a profiler. What the
    layers' sum exceeds it by is the events' time, the same for each layer."""
    stem = path.name.removesuffix(".profile.json")
    layers = json.load(gzip.open(path.with_name(stem + ".graph.json.gz")))["Layers"]
    about = json.loads(path.with_name(stem + ".profile.metadata.json").read_text())
    peaks = PROFILED[about["device_information"]["Selected Device"]]
    # quartiles and extremes of the run; the fourth is the median
    whole = about["performance_summary"]["GPU Compute Time"][3] * 1e3
    times = {row["name"]: row["averageMs"] * 1e3 for row in json.loads(path.read_text()) if "name" in row}
    layers = [layer for layer in layers if times.get(layer["Name"], 0) > 0]
    event = (sum(times.values()) - whole) / len(layers)
    found = []
    for layer in layers:
        kernel = layer_kernel(layer, peaks)
        us = max(SHORTEST_US, times[layer["Name"]] - event)
        found.append(new.Figure(peaks["device"], (stem, *kernel[:2]), us, collections.Counter([kernel]),
                                "layer", stem))
    return found, whole


def read(folder):
    """The authors' points, the figures of new libraries, and the whole time of each profile."""
    figures, wholes = [], {}
    for path in sorted((folder / "profiles" / "tensorrt").glob("*.profile.json")):
        layers, whole = profile_layers(path)
        figures += layers
        wholes[layers[0].row] = whole
    figures += new.figures([folder / "gpu_latencies.tsv", new.ROOT / "tests" / "figures" / "latencies.tsv"])
    return authors_points(folder / "resnet50_v1_bench.csv.gz"), figures, wholes


# ---- the fit of the authors' measurements

Row = collections.namedtuple("Row", "fixed share_flops share_bytes low high points")


def predicted(row, p):
    return row[0] + max(p.ops / row[1], p.bytes / row[2])


def loss(row, groups):
    total = 0
    for group in groups:
        errors = (abs(math.log(predicted(row, p) / p.us)) for p in group)
        total += sum(e * e if e < 0.5 else e - 0.25 for e in errors) / len(group)
    return total


@functools.cache  # the predictions without a device fit the rows again that do not have it
def constants(points, cap):
    """Fixed time and the two shares, by a search that halves its step."""
    groups = collections.defaultdict(list)
    for p in points:
        groups[p.device].append(p)
    groups = list(groups.values())
    flops = any(p.ops for p in points)
    row, step = [3.0, 0.6 if flops else 1.0, 0.7], 0.5
    best = loss(row, groups)
    while step > 0.004:
        better = False
        for i in ([0, 1, 2] if flops else [0, 2]):
            for way in (step, -step):
                trial = list(row)
                trial[i] = min(trial[i] * math.exp(way), cap if i == 1 else 1.0 if i == 2 else math.inf)
                cost = loss(trial, groups)
                if cost < best - 1e-9:
                    best, row, better = cost, trial, True
        if not better:
            step /= 2
    return tuple(row)


def percentile(values, at):
    values = sorted(values)
    return values[min(len(values) - 1, int(at * len(values)))]


def spread(ratios, devices):
    wider = 1 if devices > 1 else UNSEEN
    return min(1, percentile(ratios, LOW) / wider), max(1, percentile(ratios, HIGH) * wider)


def fit_row(points, cap):
    """Constants of all points; the spread from predictions of each device by the others."""
    row, ratios = constants(tuple(points), cap), []
    devices = sorted({p.device for p in points})
    for device in devices:
        rest = tuple(p for p in points if p.device != device)
        by = constants(rest, cap) if len(rest) >= 10 else row
        ratios += [p.us / predicted(by, p) for p in points if p.device == device]
    return Row(*row, *spread(ratios, len(devices)), len(points))


def fit(points):
    """Rows by kind and matrix unit."""
    by = collections.defaultdict(list)
    for p in points:
        if p.device in STEADY:
            by[p.kind, p.matrix].append(p)
    return {key: fit_row(of, 4.0 if key[0] == "conv_winograd" else 1.0) for key, of in by.items()
            if len(of) >= 2}


NEAREST = {"conv_few": "conv", "conv_winograd": "conv", "conv_group": "memory", "norm": "memory",
           "matmul": "conv", "conv": "conv"}


def row_for(rows, kind, matrix):
    """The kind's row; else that of the nearest kind, of either unit, with a wider spread."""
    near = NEAREST.get(kind, "memory")
    row = next(rows[key] for key in ((kind, matrix), (near, matrix), (near, not matrix)) if key in rows)
    return row if (kind, matrix) in rows else row._replace(low=row.low / UNSEEN, high=row.high * UNSEEN,
                                                           points=0)


# ---- the table

# kinds and units of the table; memory and norm have no unit
TABLE = [("conv", False), ("conv", True), ("conv_few", True), ("conv_group", False), ("conv_winograd", False),
         ("matmul", False), ("matmul", True), ("memory", False), ("norm", False)]
HEAD = """\
/* Written by tools/make_calibration.py: do not edit. Per library, kind and unit (matrix or not): fixed time
 * and launch in ns, lost tiles, shares of the peaks, spread (10th and 90th percentile of real / estimate),
 * kernels that it was fitted on (0: borrowed). Per generation: shares of memory and of products, published
 * latencies, and the median and 90th percentile of their errors without their device. Sources: the authors'
 * measurements of ResNet-50 with cuDNN 7.6 on V100, TITAN V, Quadro RTX 6000 and TITAN Xp (IPDPS 2020);
 * profiles of ResNet-18, ResNet-50 and MobileNet by TensorRT 8 on A100, RTX 3090 and TITAN RTX (examples of
 * TensorRT's engine explorer); latencies of tests/figures/latencies.tsv and its like.
 */
"""


class Fitted:
    """Both fits. `use`: the figures that are fitted."""

    def __init__(self, points, figures):
        self.points, self.old = points, fit(points)
        self.figures, self.use = figures, [f for f in figures if f.use != "show"]
        self.devices = {name: new_device(name) for name in {f.device for f in figures}}
        self.values = new.fit(self.use, self.devices)
        self.shares = new.Shares(self.values)
        self.ratios = new.left_out(self.use, self.devices, self.values)

    def layers(self, kind, matrix):
        return [f for f in self.use if f.use == "layer" and next(iter(f.kernels))[:2] == (kind, matrix)]

    def launch(self, kind, matrix):
        """Time that an isolated launch adds."""
        events = [p.event for p in self.points if p.device in STEADY]
        fixed = self.shares.of(kind, matrix, 80)[0]
        return percentile(events, 0.5) + row_for(self.old, kind, matrix).fixed - fixed

    def spread(self, kind, matrix):
        """Spread of new libraries, and the number of layers: of the layers, and at least that of whole
        models, which is all that a kind with few layers has, wider."""
        of, whole = self.layers(kind, matrix), 1 + self.errors(None)[2]
        if len(of) < FEW_LAYERS:
            return 1 / whole / UNKNOWN, whole * UNKNOWN, 0
        low, high = spread([self.ratios[id(f)] for f in of], len({f.device for f in of}))
        return min(low, 1 / whole), max(high, whole), len(of)

    def errors(self, sm):
        """Number of the generation's figures, and how far real and predicted differ: median, 90th
        percentile; of a generation without figures those of all."""
        whole = [f for f in self.use if f.use == "fit"]
        own = [f for f in whole if self.devices[f.device][0] == sm]
        each = [math.exp(abs(math.log(self.ratios[id(f)]))) - 1 for f in own or whole]
        return len(own), percentile(each, 0.5), percentile(each, HIGH)


def print_table(fitted):
    print(HEAD, end="")
    for library in ("old", "new"):
        for kind, matrix in TABLE:
            row = row_for(fitted.old, kind, matrix)
            fixed, tiles, flops, share = fitted.shares.of(kind, matrix, 80)
            numbers = row[1:]
            if library == "new":
                numbers = (flops, share, *fitted.spread(kind, matrix))
            words = [library.upper(), kind.upper(), str(matrix).lower(),
                     f"{fixed * 1e3:.0f}", f"{fitted.launch(kind, matrix) * 1e3:.0f}",
                     f"{tiles if library == 'new' else 0:.2f}", *(f"{x:.2f}" for x in numbers[:4]),
                     str(numbers[4])]
            print(f"CALIBRATION_ROW({', '.join(words)})")
    for sm, name in new.GENERATIONS.items():
        count, median, most = fitted.errors(sm)
        print(f"CALIBRATION_GENERATION({sm}, \"{name}\", {fitted.values[f'bytes {sm}']:.2f}, "
              f"{fitted.values[f'products {sm}']:.2f}, {count}, {median:.2f}, {most:.2f})")


def print_shares(fitted):
    """How much longer a GPU that does not hold its clock takes: its own factors for data/devices."""
    for device in sorted({p.device for p in fitted.points if p.device not in STEADY}):
        for name, kinds in (("clock_share", ("conv", "matmul")), ("bandwidth_share", ("memory",))):
            ratios = [p.us / predicted(row_for(fitted.old, p.kind, p.matrix), p)
                      for p in fitted.points if p.device == device and p.kind in kinds]
            print(f"{device} {name} {1 / percentile(ratios, 0.5):.2f}")


# ---- predictions of data that the fit did not use

def factor(ratios):
    """Median factor by which they differ from 1, in either direction."""
    return math.exp(percentile([abs(math.log(r)) for r in ratios], 0.5))


def judged(name, points, ratios):
    """One line of the proof: how far real and predicted differ, each, and in total beside the peaks alone."""
    plain = [us / least for us, least in points]
    return {"name": name, "count": len(ratios), "factor": factor(ratios), "peaks_factor": factor(plain),
            "q10": percentile(ratios, LOW), "q90": percentile(ratios, HIGH),
            "us": sum(us for us, _ in points),
            "predicted_us": sum(us / r for (us, _), r in zip(points, ratios)),
            "peaks_us": sum(least for _, least in points)}


def proof(fitted):
    """Each device predicted without it."""
    points = fitted.points
    for device in sorted({p.device for p in points}):
        rows, own = fit([p for p in points if p.device != device]), [p for p in points if p.device == device]
        yield judged(f"{device} from the authors' others", [(p.us, max(p.ops, p.bytes)) for p in own],
                     [p.us / predicted(row_for(rows, p.kind, p.matrix), p) for p in own])
    groups = collections.defaultdict(list)
    for f in fitted.use:
        groups[f.row if f.use == "layer" else f"{f.device} {f.use}"].append(f)
    for name, own in sorted(groups.items()):
        least = [(f.us, sum(n * max(k[2], k[4] + k[5]) for k, n in f.kernels.items())) for f in own]
        yield judged(f"{name} without {own[0].device}", least, [fitted.ratios[id(f)] for f in own])


def print_judged(lines):
    print(f"{'':56}  count factor  real/predicted  peaks |    real us  predicted    peaks")
    for j in lines:
        print("{name:56} {count:6} {factor:6.2f}   {q10:5.2f} - {q90:4.2f}  {peaks_factor:6.2f} | "
              "{us:10.0f} {predicted_us:10.0f} {peaks_us:8.0f}".format(**j))


def print_proof(fitted):
    print_judged(proof(fitted))
    for f in fitted.figures:
        if f.use in ("fit", "show"):
            ratio = fitted.ratios.get(id(f), f.us / fitted.shares.us(f, fitted.devices[f.device]))
            print(f"{f.use:5}{f.device:8} {f.row['model']:12} {f.row['batch']:>5} {f.row['dtype']:5}"
                  f"{f.row['what_ifs']:14} {f.row['framework'][:24]:24} {f.us:9.0f} us, "
                  f"{ratio:.2f} times the estimate")


def main():
    ways = {"--proof": print_proof, "--shares": print_shares}
    if len(sys.argv) < 2 or (len(sys.argv) > 2 and sys.argv[1] not in ways):
        sys.exit("make_calibration.py [--proof | --shares] FOLDER")
    points, figures, _ = read(pathlib.Path(sys.argv[-1]))
    ways.get(sys.argv[1], print_table)(Fitted(points, figures))


if __name__ == "__main__":
    main()

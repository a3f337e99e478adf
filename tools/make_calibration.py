#!/usr/bin/env python3
"""What share of the vendor's peaks kernels reach: fits src/analyze/calibration_table.h from real data.

    tools/make_calibration.py FOLDER > src/analyze/calibration_table.h
    tools/make_calibration.py --proof FOLDER      predictions of data that the fit did not use
    tools/make_calibration.py --shares FOLDER     shares of the peaks that throttled GPUs hold

FOLDER holds the authors' measurements (resnet50_v1_bench.csv.gz: cuDNN 7.6, eight GPUs) and profiles of
TensorRT (profiles/tensorrt). A kernel of one kind takes

    us = fixed + launch + max(us of operations / share_flops, us of bytes / share_bytes)

where both times are the roofline's at the vendor's peaks, and launch counts for isolated launches only. The
authors timed single calls on an idle GPU, so their times contain the launch. TensorRT's layers run one after
the other, so theirs do not. Each library is fitted with one constant for fixed + launch. TensorRT's constant
is the fixed time on all devices. The authors' constant and the time of their events, less the fixed time, is
the launch on all devices.

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

# Peaks in TFLOP/s and GB/s. The authors' GPUs: Table III of the paper (IPDPS 2020), of K80 half a board;
# K520: 1536 cores at 800 MHz. TensorRT's: white papers of GA100, GA102 and Turing (data/devices); A100 PCIe:
# its datasheet.
PEAKS = {
    "Tesla_V100-SXM2-16GB": {"f32": 15.7, "f16": 125, "bytes": 900},
    "TITAN_V": {"f32": 14.9, "f16": 110, "bytes": 672},
    "Quadro_RTX_6000": {"f32": 16.3, "f16": 130.5, "bytes": 624},
    "Tesla_T4": {"f32": 8.1, "f16": 65, "bytes": 320},
    "TITAN_Xp": {"f32": 12.2, "bytes": 547.6},
    "Tesla_K80": {"f32": 2.8, "bytes": 240},
    "Tesla_M60": {"f32": 4.8, "bytes": 160.4},
    "GRID_K520": {"f32": 2.45, "bytes": 160},
    "NVIDIA A100 80GB PCIe": {"f32": 19.5, "tf32": 156, "f16": 312, "s8": 624, "bytes": 1935},
    "NVIDIA GeForce RTX 3090": {"f32": 35.6, "tf32": 35.6, "f16": 142, "s8": 284, "bytes": 936},
    "NVIDIA TITAN RTX": {"f32": 16.3, "f16": 130.5, "s8": 261, "bytes": 672},
}
# GPUs that hold their clock. T4 (70 W) does not; K520, K80 and M60 are older than the described devices.
STEADY = {"Tesla_V100-SXM2-16GB", "TITAN_V", "Quadro_RTX_6000", "TITAN_Xp"}
EVENT_US = 2.0        # of the time between two events around the shortest kernel, this much is the kernel
SHORTEST_US = 1.0     # no kernel takes less
FEW_CHANNELS = 8      # fewer input channels do not fill a matrix unit
LOW, HIGH = 0.1, 0.9  # percentiles of the spread
UNSEEN = 1.5          # how much wider the spread of a row is that is borrowed, or from one device only

# library (old: cuDNN 7.6, new: TensorRT 8), device, kind, matrix unit, time of operations and of bytes at the
# peaks, real time
# product: a 1x1 convolution, which is a matrix product too
# event: what was subtracted from the real time for the events around it
Point = collections.namedtuple("Point", "library device file kind matrix ops bytes us product event")


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
        points.append(Point("old", row["gpu"], row["gpu"], kind, half and kind not in ("memory", "norm"),
                            flops / peaks["f16" if half else "f32"] / 1e6, moved / peaks["bytes"] / 1e3,
                            float(row["real_us"]) - events[row["gpu"]], False, events[row["gpu"]]))
    return points


# ---- TensorRT's profiles

def size_of(tensor):
    text = tensor["Format/Datatype"]
    return 1 if "Int8" in text else 2 if "FP16" in text else 4


def tensor_bytes(tensor):
    return math.prod(tensor["Dimensions"]) * size_of(tensor)


def layer_work(layer):
    """Kind, type of the unit ("" if operations do not count), FLOPs and bytes."""
    moved = sum(tensor_bytes(t) for t in layer["Inputs"] + layer["Outputs"])
    if "Kernel" not in layer:
        return "memory", "", 0, moved
    source = layer["Inputs"][0]
    size, channels, space = size_of(source), source["Dimensions"][1], source["Dimensions"][2:]
    terms = channels // layer["Groups"] * math.prod(layer["Kernel"])
    flops = 2 * math.prod(layer["Outputs"][0]["Dimensions"]) * terms
    if layer["Kernel"] == [1, 1] and layer["Stride"] != [1, 1]:
        moved -= tensor_bytes(source) * (1 - 1 / math.prod(layer["Stride"]))
    unit = {1: "s8", 2: "f16", 4: "tf32" if "tf32" in layer.get("TacticName", "") else "f32"}[size]
    moved += layer["Weights"]["Count"] * size
    if layer["Groups"] > 1:
        return "conv_group", "", 0, moved
    if math.prod(space) == 1:
        return "matmul", unit, flops, moved
    return "conv_few" if channels < FEW_CHANNELS and unit != "f32" else "conv", unit, flops, moved


def profile_points(path):
    """The layers of one profile, and the time of the whole model without a profiler. What the layers' sum
    exceeds it by is the events' time, the same for each layer."""
    stem = path.name.removesuffix(".profile.json")
    layers = json.load(gzip.open(path.with_name(stem + ".graph.json.gz")))["Layers"]
    about = json.loads(path.with_name(stem + ".profile.metadata.json").read_text())
    device = about["device_information"]["Selected Device"]
    # quartiles and extremes of the run; the fourth is the median
    whole = about["performance_summary"]["GPU Compute Time"][3] * 1e3
    times = {row["name"]: row["averageMs"] * 1e3 for row in json.loads(path.read_text()) if "name" in row}
    layers = [layer for layer in layers if times.get(layer["Name"], 0) > 0]
    event = (sum(times.values()) - whole) / len(layers)
    peaks, points = PEAKS[device], []
    for layer in layers:
        kind, unit, flops, moved = layer_work(layer)
        points.append(Point("new", device, stem, kind, unit not in ("", "f32"),
                            flops / peaks[unit] / 1e6 if unit else 0, moved / peaks["bytes"] / 1e3,
                            max(SHORTEST_US, times[layer["Name"]] - event),
                            kind == "conv" and layer["Kernel"] == layer["Stride"] == [1, 1], event))
    return points, whole


def read(folder):
    """Points of both sources, and the whole time of each profile."""
    points, wholes = authors_points(folder / "resnet50_v1_bench.csv.gz"), {}
    for path in sorted((folder / "profiles" / "tensorrt").glob("*.profile.json")):
        layers, whole = profile_points(path)
        points += layers
        wholes[layers[0].file] = whole
    return points, wholes


# ---- the fit

Row = collections.namedtuple("Row", "fixed share_flops share_bytes low high points sources")


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
        groups[p.file].append(p)
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


def fit_row(points, cap):
    """Constants of all points; the spread from predictions of each device by the others."""
    row = constants(tuple(points), cap)
    ratios = []
    for device in sorted({p.device for p in points}):
        rest = tuple(p for p in points if p.device != device)
        by = constants(rest, cap) if len(rest) >= 10 else row
        ratios += [p.us / predicted(by, p) for p in points if p.device == device]
    sources = sorted({p.device for p in points})
    wider = 1 if len(sources) > 1 else UNSEEN
    return Row(*row, min(1, percentile(ratios, LOW) / wider), max(1, percentile(ratios, HIGH) * wider),
               len(points), sources)


def fit(points):
    """Rows by library, kind and matrix unit."""
    by = collections.defaultdict(list)
    for p in points:
        if p.library == "new" or p.device in STEADY:
            by[p.library, p.kind, p.matrix].append(p)
        if p.product:
            by[p.library, "matmul", p.matrix].append(p)
    return {key: fit_row(of, 4.0 if key[1] == "conv_winograd" else 1.0)
            for key, of in by.items() if len(of) >= 2}


NEAREST = {"conv_few": "conv", "conv_winograd": "conv", "conv_group": "memory", "norm": "memory",
           "matmul": "conv", "conv": "conv"}


def borrowed(row, fixed):
    return row._replace(fixed=fixed, low=row.low / UNSEEN, high=row.high * UNSEEN, points=0)


def row_for(rows, library, kind, matrix):
    """The kind's row of this library; else the shares of the other library with this one's fixed time, which
    is the library's rather than the unit's; else the row of the nearest kind, of either unit."""
    other, near = "old" if library == "new" else "new", NEAREST.get(kind, "memory")
    if (library, kind, matrix) in rows:
        return rows[library, kind, matrix]
    if (other, kind, matrix) in rows:
        own = rows.get((library, kind, not matrix)) or rows.get((library, near, matrix)) or rows.get(
            (library, near, not matrix)) or rows[other, kind, matrix]
        return borrowed(rows[other, kind, matrix], own.fixed)
    row = next(rows[key] for key in [(library, near, matrix), (library, near, not matrix),
                                     (other, near, matrix), (other, near, not matrix)] if key in rows)
    return borrowed(row, row.fixed)


def row_amortized(rows, library, kind, matrix):
    """The row without launches: of the authors, whose fit contains them, with TensorRT's fixed time."""
    row = row_for(rows, library, kind, matrix)
    fixed = row_for(rows, "new", kind, matrix).fixed
    return row if library == "new" else borrowed(row, fixed)


def launch_of(rows, points, kind, matrix):
    """Time that an isolated launch adds."""
    events = {p.device: p.event for p in points if p.library == "old" and p.device in STEADY}
    isolated, amortized = (row_for(rows, library, kind, matrix).fixed for library in ("old", "new"))
    return percentile(events.values(), 0.5) + isolated - amortized


# ---- the table

# kinds and units of the table; memory and norm have no unit
TABLE = [("conv", False), ("conv", True), ("conv_few", True), ("conv_group", False), ("conv_winograd", False),
         ("matmul", False), ("matmul", True), ("memory", False), ("norm", False)]
HEAD = """\
/* Written by tools/make_calibration.py: do not edit. Per library, kind and unit (matrix or not): fixed time
 * and launch in ns, shares of the peaks, spread (10th and 90th percentile of real / estimate), kernels that
 * it was fitted on (0: borrowed from the other library). Sources: the authors' measurements of ResNet-50 with
 * cuDNN 7.6 on V100, TITAN V, Quadro RTX 6000 and TITAN Xp (IPDPS 2020); profiles of ResNet-18, ResNet-50
 * and MobileNet by TensorRT 8 on A100, RTX 3090 and TITAN RTX (examples of TensorRT's engine explorer).
 */
"""


def print_table(points):
    rows = fit(points)
    print(HEAD, end="")
    for library in ("old", "new"):
        for kind, matrix in TABLE:
            row = row_for(rows, library, kind, matrix)
            times = row_for(rows, "new", kind, matrix).fixed, launch_of(rows, points, kind, matrix)
            words = [f"CALIBRATION_{library}".upper(), f"CALIBRATION_{kind}".upper(), str(matrix).lower(),
                     *(f"{us * 1e3:.0f}" for us in times), *(f"{x:.2f}" for x in row[1:5]), str(row.points)]
            print(f"{{ {', '.join(words)} }},")


def print_shares(points):
    """How much longer a GPU that does not hold its clock takes: its own factors for data/devices."""
    rows = fit(points)
    for device in sorted({p.device for p in points if p.library == "old" and p.device not in STEADY}):
        for name, kinds in (("clock_share", ("conv", "matmul")), ("bandwidth_share", ("memory",))):
            ratios = [p.us / predicted(row_for(rows, "old", p.kind, p.matrix), p)
                      for p in points if p.device == device and p.kind in kinds]
            print(f"{device} {name} {1 / percentile(ratios, 0.5):.2f}")


# ---- predictions of data that the fit did not use

def factor(ratios):
    """Median factor by which they differ from 1, in either direction."""
    return math.exp(percentile([abs(math.log(r)) for r in ratios], 0.5))


def judged(name, rows, points, row_of=row_for):
    """One line of the proof: layers by themselves and their sum, beside the peaks alone."""
    each = [row_of(rows, p.library, p.kind, p.matrix) for p in points]
    guesses = [predicted(row, p) for row, p in zip(each, points)]
    ratios = [p.us / us for p, us in zip(points, guesses)]
    plain = [p.us / max(p.ops, p.bytes) for p in points]
    inside = sum(row.low <= r <= row.high for row, r in zip(each, ratios)) / len(points)
    return {"name": name, "layers": len(points), "factor": factor(ratios), "peaks_factor": factor(plain),
            "q10": percentile(ratios, LOW), "q90": percentile(ratios, HIGH), "inside": inside,
            "us": sum(p.us for p in points), "predicted_us": sum(guesses),
            "low_us": sum(g * row.low for g, row in zip(guesses, each)),
            "high_us": sum(g * row.high for g, row in zip(guesses, each)),
            "peaks_us": sum(max(p.ops, p.bytes) for p in points)}


def proof(points):
    """Each device and file predicted without it."""
    old, new = ([p for p in points if p.library == name] for name in ("old", "new"))
    files = sorted({p.file for p in new})
    of = {name: [p for p in points if p.file == name] for name in {p.file for p in points}}
    for device in sorted({p.device for p in old}):
        rows = fit([p for p in old if p.device != device])
        yield judged(f"{device} from the authors' others", rows, of[device])
    a100, rest = [f for f in files if "A100" in f], [f for f in files if "A100" not in f]
    for half, other in ((a100, rest), (rest, a100)):
        rows = fit(old + [p for name in half for p in of[name]])
        for name in other:
            yield judged(f"{name} from {'A100' if half is a100 else 'RTX 3090, MobileNet'}", rows, of[name])
    for name in files:
        yield judged(f"{name} from all others", fit([p for p in points if p.file != name]), of[name])
    for name in files:
        rows = fit(old + [p for p in new if p.file != name])
        yield judged(f"{name} from the authors' shares", rows, of[name],
                     lambda all_rows, _, kind, matrix: row_amortized(all_rows, "old", kind, matrix))
    for name in files:
        yield judged(f"{name} with itself", fit(points), of[name])


def print_judged(lines):
    print(f"{'':56} layers factor  real/predicted inside  peaks |   real us  predicted   low    high   peaks")
    for j in lines:
        print("{name:56} {layers:6} {factor:6.2f}   {q10:5.2f} - {q90:4.2f}  {inside:6.0%} "
              "{peaks_factor:6.2f} | {us:9.0f} {predicted_us:9.0f} {low_us:7.0f} {high_us:7.0f} "
              "{peaks_us:7.0f}".format(**j))


def print_proof(points):
    print_judged(proof(points))


def main():
    ways = {"--proof": print_proof, "--shares": print_shares}
    if len(sys.argv) < 2 or (len(sys.argv) > 2 and sys.argv[1] not in ways):
        sys.exit("make_calibration.py [--proof | --shares] FOLDER")
    ways.get(sys.argv[1], print_table)(read(pathlib.Path(sys.argv[-1]))[0])


if __name__ == "__main__":
    main()

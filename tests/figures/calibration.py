#!/usr/bin/env python3
"""Lower bounds and estimates of described GPUs beside published latencies and real kernels.

No published latency may be below its bound, and estimates are as near as they say: of tests/figures/
latencies.tsv, and of the like where present ($BENANZA_SHARED/reference), with the authors' measurements and
TensorRT's profiles. CHECK_LONG=1 also fits the tables again, each device left out. Prints TAP.

    BENANZA=build/benanza tests/figures/calibration.py
"""

import concurrent.futures
import contextlib
import functools
import io
import math
import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "tools")]
import calibration_fit as fit  # noqa: E402
import make_calibration as calibration  # noqa: E402
from python_tap import LONG, Tap, printed, program, said  # noqa: E402

FOLDER = pathlib.Path(os.environ.get("BENANZA_SHARED") or ROOT.parent / "shared") / "reference"
OWN = ROOT / "tests" / "figures" / "latencies.tsv"
MEAN = {OWN: 2.1, FOLDER / "gpu_latencies.tsv": 2.0}  # most geometric mean of real / bound
MEDIAN, INSIDE, WIDTH = 0.2, 0.85, 3  # most median error, least share within a range, most width of one
SAME = 0.05                           # how far the table may be from a fit, which depends on it a little
LEFT_OUT = 1.25                       # most median factor of a device that the fit does not have


def written(function, what):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        function(what)
    return text.getvalue()


class Row:
    """A published latency beside what the program says; all in us."""

    def __init__(self, row):
        bound = fit.bound_of(row)
        self.name = " ".join(row[key] for key in ("device", "model", "batch", "dtype", "framework"))
        self.use, self.device, self.us = row["use"], row["device"], fit.real_us(row)
        self.bound, self.estimate = bound["bound_ns"] / 1e3, bound["estimate_ns"] / 1e3
        self.low, self.high = (ns / 1e3 for ns in bound["estimate_interval_ns"])

    def __str__(self):
        return (f"{self.name}: {self.us:.0f} us, bound {self.bound:.0f}, estimate {self.estimate:.0f} "
                f"({self.low:.0f} to {self.high:.0f})")

    def error(self):
        return math.exp(abs(math.log(self.us / self.estimate))) - 1

    def is_inside(self):
        return self.low <= self.us <= self.high <= WIDTH * self.low


@functools.cache
def rows_of(path):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(Row, fit.latencies([path])))


def beaten(rows):
    yield from (str(r) for r in rows if r.us < r.bound)


def toys(rows, most):
    mean = math.exp(sum(math.log(r.us / r.bound) for r in rows) / len(rows))
    if mean > most:
        yield f"{mean:.2f}"


def far(rows):
    errors = sorted(r.error() for r in rows if r.use == "fit")
    if errors[len(errors) // 2] > MEDIAN:
        yield f"median {errors[len(errors) // 2]:.2f}"


def outside(rows):
    out = [r for r in rows if r.use == "fit" and not r.is_inside()]
    if len(out) > (1 - INSIDE) * sum(r.use == "fit" for r in rows):
        yield from map(str, out)


def matrix_by_default():
    """-t f16 takes matrix units on a GPU, and the header says so."""
    model = ROOT / "data" / "models" / "resnet50.onnx"
    args = ("bound", "-q", "-d", "a100", "-b", 1)
    by = {way: said(*args, "--json", *way.split(), model)["bound_ns"]
          for way in ("-t f16", "-t f16 -w matrix", "-t f16 -w matrix=off", "-t f32", "-t f32 -w matrix=off")}
    if by["-t f16"] != by["-t f16 -w matrix"] or by["-t f16"] >= by["-t f16 -w matrix=off"]:
        yield f"f16: {by}"
    if by["-t f32"] != by["-t f32 -w matrix=off"]:
        yield f"f32: {by}"
    head = printed(*args, "-t", "f16", model).splitlines()[0]
    if "f16  on matrix units" not in head:
        yield head


def resnet_on_v100():
    """ResNet-50 v1 with isolated launches: the authors' bound in ms at batch 1 to 32, not part of the fit as
    sums. A V100 never takes longer than a T4."""
    real = {1: 4.58, 2: 5.43, 4: 7.54, 8: 11.69, 16: 18.35, 32: 33.68}
    model = ROOT / "data" / "models" / "resnet50.onnx"
    for batch, ms in real.items():
        d = said("bound", "--json", "-q", "-d", "v100", "-b", batch, "-w", "launch=isolated", model)
        if not 0.8 < d["estimate_ns"] / 1e6 / ms < 1.25:
            yield f"batch {batch}: {d['estimate_ns'] / 1e6:.2f} ms, real {ms}"
        if d["bound_ns"] / 1e6 > ms:
            yield f"batch {batch}: bound {d['bound_ns'] / 1e6:.2f} ms, real {ms}"
    for dtype in ("f32", "f16"):
        v100, t4 = (said("bound", "--json", "-q", "-d", name, "-t", dtype, model)["estimate_ns"]
                    for name in ("v100", "t4"))
        if not v100 < t4:
            yield f"{dtype}: V100 {v100:.0f} ns, T4 {t4:.0f}"


# ---- the fit

def numbers(table):
    return [[float(x) for x in re.findall(r"(?<![\w.])\d+\.?\d*(?![\w.])", line)]
            for line in table.splitlines() if line.startswith("CALIBRATION")]


def changed(fitted):
    """Lines of the program's table that a fit with this program would write otherwise."""
    table = (ROOT / "src" / "analyze" / "roof" / "calibration_table.h").read_text()
    new = written(calibration.print_table, fitted)
    if len(numbers(table)) != len(numbers(new)):
        yield "other lines"
    for old, now in zip(numbers(table), numbers(new)):
        if any(abs(x - y) > SAME * max(x, y) + 0.015 for x, y in zip(old[:4], now[:4])):
            yield f"{old}, now {now}: run tools/make_calibration.py"


def unseen(fitted):
    """Devices whose published latencies a fit without them misses."""
    for one in calibration.proof(fitted):
        if " fit without " in one["name"] and one["factor"] > LEFT_OUT:
            yield f"{one['name']}: {one['factor']:.2f}"


def shares(fitted):
    """T4's own shares are those of its description."""
    text = (ROOT / "data" / "devices" / "t4.json").read_text()
    lines = [line.split() for line in written(calibration.print_shares, fitted).splitlines()]
    for _, key, value in (line for line in lines if line[0] == "Tesla_T4"):
        if f'"{key}": {float(value):g},' not in text:
            yield f"{key} is {value}"


def test_fit(tap):
    points, figures, _ = calibration.read(FOLDER)
    fitted = calibration.Fitted(points, figures)
    tap.result("the program's table is what the tool writes", list(changed(fitted)))
    tap.result("each device is predicted without it", list(unseen(fitted)))
    tap.result("shares of the peaks that a T4 holds", list(shares(fitted)))
    print("".join(f"# {line}\n" for line in written(calibration.print_proof, fitted).splitlines()), end="")


def main():
    os.environ["BENANZA"] = program()
    tap = Tap()
    for path in filter(pathlib.Path.exists, MEAN):
        rows = rows_of(path)
        tap.result(f"{path.name}: no latency is below its bound", list(beaten(rows)))
        tap.result(f"{path.name}: bounds are no toys", list(toys(rows, MEAN[path])))
        tap.result(f"{path.name}: half of the estimates are within {MEDIAN:.0%}", list(far(rows)))
        tap.result(f"{path.name}: {INSIDE:.0%} are within their ranges", list(outside(rows)))
    tap.result("matrix units by default", list(matrix_by_default()))
    tap.result("ResNet-50 on a V100, with launches and beside a T4", list(resnet_on_v100()))
    if LONG and all((FOLDER / name).exists() for name in ("resnet50_v1_bench.csv.gz", "profiles/tensorrt")):
        test_fit(tap)
    sys.exit(tap.end())


if __name__ == "__main__":
    main()

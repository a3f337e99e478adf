#!/usr/bin/env python3
"""Estimates of described GPUs beside real kernels that the fit did not use.

Reads the authors' measurements and TensorRT's profiles where present ($BENANZA_SHARED/reference). Each device
and file is predicted from the others by tools/make_calibration.py, and the program's own table is compared
with what the tool writes. Prints TAP, and the table as comments.

    BENANZA=build/benanza tests/figures/calibration.py
"""

import contextlib
import io
import os
import pathlib
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "tools")]
import make_calibration as calibration  # noqa: E402
from python_tap import Tap, said, skip  # noqa: E402

FOLDER = pathlib.Path(os.environ.get("BENANZA_SHARED") or ROOT.parent / "shared") / "reference"
# Largest median factor between real and predicted layers. GPUs that do not hold their clock, or are older
# than those of the fit, take up to twice the prediction; their own shares are for data/devices.
DEVICES = {"V100": 1.25, "TITAN_V": 1.25, "Quadro": 1.25, "TITAN_Xp": 1.25, "T4": 2.0, "M60": 2.0, "K80": 2.0,
           "K520": 2.0}
SHARES = {"from the authors' shares": 1.55}  # of another library on other devices
FILES = {"mobilenet": 2.1, "resnet": 1.3}
WHOLE = ("mobilenet", "pytorch", "tensorflow")  # files whose total is within the predicted range


def written(function, points):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        function(points)
    return text.getvalue()


def limit_of(name):
    tables = (FILES, DEVICES) if "mobilenet" in name else (SHARES, FILES, DEVICES)
    return next(most for table in tables for part, most in table.items() if part in name)


def wrong(judged):
    """Lines that say what is wrong with a prediction. The authors' shares, of an older library, need only be
    within their range."""
    whole, shared = judged["us"], next(iter(SHARES)) in judged["name"]
    if judged["factor"] > limit_of(judged["name"]):
        yield f"layers differ by {judged['factor']:.2f}"
    if judged["factor"] > 0.85 * judged["peaks_factor"] and not shared:
        yield f"the peaks alone differ by {judged['peaks_factor']:.2f}"
    unseen = shared or judged["name"].startswith(WHOLE) and "with itself" not in judged["name"]
    if unseen and not judged["low_us"] <= whole <= judged["high_us"]:
        yield f"{whole:.0f} us is not between {judged['low_us']:.0f} and {judged['high_us']:.0f}"
    if abs(judged["predicted_us"] - whole) > abs(judged["peaks_us"] - whole) and not shared:
        yield f"the peaks' total is nearer: {judged['peaks_us']:.0f} us"


def resnet_on_a100(judged):
    """Real 862 us (README of the profiles), by the peaks 440."""
    name = "pytorch_resnet_A100_fp16_resnet"
    without = next(j for j in judged if j["name"] == f"{name} from all others")
    yield from (f"{j['name']}: {j['predicted_us']:.0f} us" for j in judged
                if j["name"] in (f"{name} from all others", f"{name} with itself")
                and not 760 < j["predicted_us"] < 960)
    if not 855 < without["us"] < 870:
        yield f"the file says {without['us']:.1f} us"


def resnet_on_v100():
    """ResNet-50 v1 with isolated launches: the authors' bound in ms at batch 1 to 32, not part of the fit as
    sums. A V100 never takes longer than a T4."""
    real = {1: 4.58, 2: 5.43, 4: 7.54, 8: 11.69, 16: 18.35, 32: 33.68}
    model = ROOT / "data" / "models" / "resnet50.onnx"
    for batch, ms in real.items():
        d = said("bound", "--json", "-q", "-d", "v100", "-b", batch, "-w", "launch=isolated", model)
        if not 0.8 < d["bound_ns"] / 1e6 / ms < 1.25:
            yield f"batch {batch}: {d['bound_ns'] / 1e6:.2f} ms, real {ms}"
    for dtype in ("f32", "f16"):
        v100, t4 = (said("bound", "--json", "-q", "-d", name, "-t", dtype, "-w", "matrix", model)["bound_ns"]
                    for name in ("v100", "t4"))
        if not v100 < t4:
            yield f"{dtype}: V100 {v100:.0f} ns, T4 {t4:.0f}"


def shares(points):
    """T4's own shares are those of its description."""
    text = (ROOT / "data" / "devices" / "t4.json").read_text()
    lines = [line.split() for line in written(calibration.print_shares, points).splitlines()]
    for _, key, value in (line for line in lines if line[0] == "Tesla_T4"):
        if f'"{key}": {float(value):g},' not in text:
            yield f"{key} is {value}"


def program_on_rtx3090(wholes):
    """The program's own estimate of ResNet-50 beside TensorRT's time. TensorFlow's model adds pads."""
    d = said("bound", "--json", "-q", "-d", "rtx3090", "-t", "f16", "-b", 32, "-w", "fusion,matrix",
             ROOT / "data" / "models" / "resnet50.onnx")
    real, (low, high) = wholes["tensorflow_resnet_RTX-3090_fp16_resnet"] * 1e3, d["interval_ns"]
    if not low < real < high or abs(d["bound_ns"] / real - 1) > 0.15:
        yield f"{d['bound_ns']} ({low} to {high}), real {real}"
    if not d["roofline_ns"] < 0.75 * real:
        yield f"the peaks say {d['roofline_ns']}"


def main():
    if not (FOLDER / "resnet50_v1_bench.csv.gz").exists() or not (FOLDER / "profiles" / "tensorrt").is_dir():
        skip(f"no measurements at {FOLDER}")
    tap, (points, wholes) = Tap(), calibration.read(FOLDER)
    table = (ROOT / "src" / "analyze" / "calibration_table.h").read_text()
    tap.result("the program's table is what the tool writes",
               [] if table == written(calibration.print_table, points) else ["run tools/make_calibration.py"])
    judged = list(calibration.proof(points))
    for one in judged:
        tap.result(one["name"], list(wrong(one)))
    tap.result("ResNet-18 in f16 on an A100", list(resnet_on_a100(judged)))
    tap.result("ResNet-50 in f16 on an RTX 3090, by the program", list(program_on_rtx3090(wholes)))
    tap.result("ResNet-50 on a V100, with launches and beside a T4", list(resnet_on_v100()))
    tap.result("shares of the peaks that a T4 holds", list(shares(points)))
    print("".join(f"# {line}\n" for line in written(calibration.print_judged, judged).splitlines()), end="")
    sys.exit(tap.end())


if __name__ == "__main__":
    main()

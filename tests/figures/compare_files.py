#!/usr/bin/env python3
"""Real profiles beside models of the same layout: nearly all of their time is matched.

TensorRT's and PyTorch's files are read where present ($BENANZA_SHARED/reference/profiles); the models are
written by tools/make_exported.py. Prints TAP.

    BENANZA=build/benanza tests/figures/compare_files.py
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, Tap, need, said, skip  # noqa: E402

PROFILES = pathlib.Path(os.environ.get("BENANZA_SHARED") or ROOT.parent / "shared") / "reference" / "profiles"
RESNET = "pytorch_resnet_A100_"
# name, model's options, options of compare, sum of the layers in us, least share of matched time
CASES = [("fp32_resnet", [], ["-t", "f32", "-w", "fusion"], 2123.8, 0.95),
         ("fp16_resnet", [], ["-t", "f16", "-w", "fusion,matrix"], 1016.8, 0.90),
         ("qat_resnet-qat", ["--quantized"], [], 1095.7, 0.95)]


def make(folder, name, *options):
    path = folder / f"{'-'.join([name, *options])}.onnx".replace("--", "")
    command = [sys.executable, str(ROOT / "tools" / "make_exported.py"), name, str(path), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return path


def wrong(said_of, least, sum_us=None):
    """Lines that say what is wrong with a comparison."""
    matched = said_of["matched"]
    total, shares = matched["total_ns"], {key: matched[key] / matched["total_ns"]
                                          for key in ("matched_ns", "added_ns", "unmatched_ns")}
    gaps = sum(gap["ns"] for gap in said_of["gaps"])
    if sum_us and abs(total / 1e3 - sum_us) > 0.1:
        yield f"the layers take {total / 1e3:.1f} us, not {sum_us}"
    if shares["matched_ns"] < least or shares["matched_ns"] + shares["added_ns"] < 0.99:
        yield f"shares of the time: {shares}"
    if abs(gaps - (said_of["measured_ns"] - said_of["bound_ns"])) > 1:
        yield f"the gaps add up to {gaps}"
    print(f"# matched {shares['matched_ns']:.2%}, added {shares['added_ns']:.2%}")


def tensorrt(tap, folder):
    for name, options, scenario, sum_us, least in CASES:
        profile = PROFILES / "tensorrt" / f"{RESNET}{name}.profile.json"
        layers = PROFILES / "tensorrt" / f"{RESNET}{name}.graph.json.gz"
        if not profile.exists():
            tap.skipped(name, "the profile is not here")
            continue
        for nameless in ([], ["--nameless"]):
            model = make(folder, "resnet18", "--batch=32", *options, *nameless)
            for files in ([profile], [profile, layers]):
                d = said("compare", "--json", "-q", "-d", "a100", *scenario, model, *files)
                what = " ".join([name, *nameless, "with layer information" if files[1:] else ""])
                tap.result(what, wrong(d, least, sum_us))


def latency_of_tensorrt(tap, folder):
    """README of the profiles: 0.862 ms with a CUDA graph; the layers' sum is more, so the rest is negative.
    The profile does not have the time outside the layers: launch is not one of the gaps."""
    profile = PROFILES / "tensorrt" / f"{RESNET}fp16_resnet.profile.json"
    layers = profile.with_name(f"{RESNET}fp16_resnet.graph.json.gz")
    if not profile.exists():
        tap.skipped("beside 0.862 ms", "the profile is not here")
        return
    model = make(folder, "resnet18", "--batch=32")
    d = said("compare", "--json", "-q", "-d", "a100", "-w", "fusion,matrix", model, profile, layers,
             "--latency", "0.862ms")
    gaps = {gap["kind"]: gap["ns"] for gap in d["gaps"]}
    lines = []
    if d["scenario"]["dtype"] != "f16":
        lines.append(f"the plan's type is {d['scenario']['dtype']}; the layers ran in f16")
    if not 700e3 < d["bound_ns"] < 1035e3 or not d["estimated"]:
        lines.append(f"the estimate is {d['bound_ns']}")
    # groups within the range of their estimates are unexplained too
    unexplained = 862e3 - 1016.832e3 + sum(row["real_ns"] - row["cost_ns"] for row in d["layers"]
                                           if row["gap"] == "unexplained")
    if "launch" in gaps or abs(gaps["unexplained"] - unexplained) > 10:
        lines.append(f"gaps: {gaps}, unexplained {unexplained}")
    if abs(sum(gaps.values()) - (d["measured_ns"] - d["bound_ns"])) > 1:
        lines.append(f"the gaps add up to {sum(gaps.values())}")
    tap.result("beside 0.862 ms", lines)


def kineto(tap, folder):
    trace = PROFILES / "kineto" / "alexnet_pytorch_gpu.json.gz"
    if not trace.exists():
        tap.skipped("AlexNet by PyTorch", "the trace is not here")
        return
    d = said("compare", "--json", "-q", "-d", "a100", make(folder, "alexnet", "--batch=128"), trace)
    matched = d["matched"]["matched_ns"]
    # copies of weights to the GPU before the first run are added nodes; dropout and rand are not in the model
    left = [(row["name"], row["ns"]) for row in d["unmatched"] if row["ns"]]
    lines = [] if sum(ns for _, ns in left) < 0.05 * matched else [f"not matched: {left}"]
    print(f"# matched {matched / 1e6:.2f} ms, not matched {sum(ns for _, ns in left) / 1e6:.3f} ms")
    tap.result("AlexNet by PyTorch", lines)


def main():
    need("onnx")
    if not PROFILES.is_dir():
        skip(f"no profiles at {PROFILES}")
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        tensorrt(tap, pathlib.Path(folder))
        latency_of_tensorrt(tap, pathlib.Path(folder))
        kineto(tap, pathlib.Path(folder))
    sys.exit(tap.end())


if __name__ == "__main__":
    main()

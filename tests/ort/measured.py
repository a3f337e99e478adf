#!/usr/bin/env python3
"""Bounds of models in which every layer is measured by the CPU runner, and the device's peaks are told: a
quantized model, and a Loop of ten rounds, whose cost must be ten times that of its body's layers. Prints TAP.

    BENANZA=build/benanza tests/ort/measured.py
"""

import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "lib"), str(TESTS / "ort")]
from python_tap import Tap, need, program, said, skip  # noqa: E402
need("onnxruntime", "onnx")
import control_flow  # noqa: E402
import quantized  # noqa: E402


def measure(folder, path):
    """The bound of a model, from a database in the folder."""
    runner = pathlib.Path(program()).parent / "benanza-runner-cpu"
    config = folder / "config.yaml"
    config.write_text(f'threads: 1\nrunners:\n  cpu: [sh, "{TESTS}/lib/peaks_runner.sh", "{runner}"]\n')
    said("bench", "--json", "--budget", "1", "-c", config, path, home=folder)
    return said("bound", "--json", "-c", config, path, home=folder)


def check_quantized(folder):
    """Everything that runs is measured (or the library lacks it here); what is part of it is free."""
    path = quantized.quantize(quantized.small(), "qdq_u8s8", folder)
    coverage = measure(folder, path)["coverage"]
    running = [layer for layer in quantized.benanza_listing(path)["layers"] if layer["class"] != "free"]
    known = coverage["measured"] + coverage["proxy"] + coverage["unsupported"]
    wrong = [] if known == len(running) and coverage["measured"] else [f"{len(running)} layers run"]
    good = not wrong and coverage["free"] == coverage["layers"] - len(running)
    return [] if good else wrong + [str(coverage)]


def check_loop(folder):
    bound = measure(folder, control_flow.write(folder, control_flow.measured)[0])
    layer = bound["layers"][0]
    inside = sum(inner["cost_ns"] for inner in layer["body"][0])
    bad = []
    if layer["origin"] != "measured" or not bound["complete"] or bound["coverage"]["measured"] != 1:
        bad.append(f"origin {layer['origin']}, complete {bound['complete']}")
    if not inside > 0 or abs(layer["cost_ns"] - 10 * inside) > 1e-6 * inside:
        bad.append(f"costs {layer['cost_ns']}, its body {inside}")
    return bad


def main():
    if not os.access(pathlib.Path(program()).parent / "benanza-runner-cpu", os.X_OK):
        skip("no CPU runner is built")
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tap.result("a quantized model with every layer measured", check_quantized(folder))
        tap.result("the bound of a Loop is ten times its body", check_loop(folder))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Text that goes into a pipe or a file: no blanks at the end of a line, columns that agree, and one very long
name widens its own row only. TAP; Python's own library alone."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from onnx_wire import graph, model, node, value_info  # noqa: E402
from python_tap import ROOT, Tap, program  # noqa: E402

RESNET = str(ROOT / "data/models/resnet50.onnx")
GOOGLENET = str(ROOT / "data/models/googlenet.onnx")
COMMANDS = [
    ["bound", RESNET], ["layers", RESNET], ["advise", RESNET], ["models", RESNET, GOOGLENET],
    ["sweep", RESNET, "-b", "1,8"], ["diff", RESNET, "--with", "-w fusion"],
    ["bound", RESNET, "--analysis", "all"],
    ["compare", RESNET, "--latency", "5ms"], ["compare", RESNET, "--latency", "5ms", "--tree"],
    ["repro", RESNET, "1"], ["ops"], ["devices"], ["doctor"], ["help"], ["help", "bench"],
]
LONG = "a" * 300


def printed(home, *words):
    places = {f"XDG_{kind}_HOME": home for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    kept = {k: v for k, v in os.environ.items() if k != "COLUMNS" and not k.startswith("BENANZA_")}
    done = subprocess.run([program(), *words, "-d", "h100"], env=kept | places | {"HOME": home}, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    return done.stdout.splitlines()


def long_model(path):
    nodes = [node("Relu", [f"v{i}"], [f"v{i + 1}"], LONG if i == 2 else f"layer{i}") for i in range(5)]
    path.write_bytes(model(graph(nodes, [value_info("v0", [1, 4000])], [value_info("v5", None)])))
    return str(path)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="benanza-piped-") as folder:
        for words in COMMANDS:
            shown = " ".join(word for word in words if word not in (RESNET, GOOGLENET))
            lines = printed(folder, *words)
            wrong = [f"blanks at the end: {line!r}" for line in lines if line != line.rstrip()]
            tap.result(shown, wrong + ["nothing is printed"] * (not lines))

        table = [line for line in printed(folder, "bound", RESNET) if re.match(r" +\d+  .*%  ", line)]
        apart = [line for line in table if line.find("%  ") != table[0].find("%  ")]
        tap.result("bound: the columns of all rows agree", apart + ["no rows"] * (len(table) < 10))
        path = long_model(pathlib.Path(folder) / "long.onnx")
        for command in "bound", "layers", "advise":
            lines = printed(folder, command, path)
            tap.result(f"{command}: a name of 300 letters is printed in full, in one row",
                       [] if command == "advise" or sum(LONG in line for line in lines) == 1 else lines)
            tap.result(f"{command}: it widens no other row",
                       [line for line in lines if len(line) > 180 and LONG not in line])
    return tap.end()


sys.exit(main())

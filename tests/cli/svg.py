#!/usr/bin/env python3
"""--frame --svg: well-formed XML, the text of --frame at the cells' places, the same bytes each time."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import python_tap  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
CELL, MARGIN = 8.4, 10
MODELS = python_tap.ROOT / "tests" / "models"
FRAMES = [
    ("80x24", "layers", "j", ()),
    ("160x50", "layers", "G Enter", ()),
    ("120x40", "what-if", "", ()),
    ("100x30", "help", "G", ("--ascii",)),
    ("20x5", "layers", "", ()),
]


def frame(home, *arguments, status=0):
    places = {f"XDG_{kind}_HOME": home for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    done = subprocess.run([python_tap.program(), *arguments], capture_output=True, text=True, encoding="utf-8",
                          timeout=python_tap.TIME_LIMIT_S, env=os.environ | places)
    if done.returncode != status:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    return done.stdout if status == 0 else done.stderr


def placed(element):
    """The text of a row, its runs at their columns; and what is wrong with them."""
    line, column, bad = "", 0, []
    for run in element:
        at, text = (float(run.get("x")) - MARGIN) / CELL, run.text
        if abs(at - round(at)) > 0.01 or round(at) < column:
            bad.append(f"{text!r} is at column {at:.2f}, after {column}")
        if text != text.strip(" ") or "  " in text:  # a browser drops such blanks and stretches the rest
            bad.append(f"{text!r} has blanks at an end or in a row")
        line += " " * (round(at) - column) + text
        column = round(at) + round(float(run.get("textLength")) / CELL)
    return line, bad


def wrong(svg, text):
    """What differs between the picture and the frame."""
    rows = [placed(row) for row in ElementTree.fromstring(svg).findall(f"{SVG}text")]
    yield from (f"{a!r}, not {b!r}" for (a, _), b in zip(rows, text.splitlines()) if a != b)
    if len(rows) != len(text.splitlines()):
        yield f"{len(rows)} rows"
    for _, bad in rows:
        yield from bad


def main():
    tap = python_tap.Tap()
    with tempfile.TemporaryDirectory() as home:
        model = str(pathlib.Path(home) / "a<b>&\"c'd\x07\N{CJK UNIFIED IDEOGRAPH-6A21}.onnx")
        shutil.copy(MODELS / "tiny.onnx", model)
        for size, view, keys, more in FRAMES:
            arguments = [model, "-q", "--frame", size, "--view", view, "--keys", keys, *more]
            svg, text = frame(home, *arguments, "--svg"), frame(home, *arguments)
            tap.result(f"{view} {size}: the text of --frame", wrong(svg, text))
            again = frame(home, *arguments, "--svg")
            tap.result(f"{view} {size}: the same bytes again", [] if svg == again else ["they differ"])
            tap.result(f"{view} {size}: no path but what the screen shows", [home] if svg.count(home) != text.count(home) else [])
        said = frame(home, model, "--svg", status=2)
        tap.result("--svg without --frame is refused", [] if "--frame" in said else [said])
    return tap.end()


if __name__ == "__main__":
    raise SystemExit(main())

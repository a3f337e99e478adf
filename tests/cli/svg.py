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


def misplaced(element):
    """Runs of one row that do not begin where the text before them ends."""
    column = 0
    for run in element:
        at = (float(run.get("x")) - MARGIN) / CELL
        if abs(at - column) > 0.01:
            yield f"{run.text!r} is at column {at:.2f}, not {column}"
        column += round(float(run.get("textLength")) / CELL)


def wrong(svg, text):
    """What differs between the picture and the frame."""
    root = ElementTree.fromstring(svg)
    rows = root.findall(f"{SVG}text")
    got = "".join("".join(row.itertext()) + "\n" for row in rows)
    if got != text:
        yield from (f"{a!r}, not {b!r}" for a, b in zip(got.splitlines(), text.splitlines()) if a != b)
        yield f"{len(rows)} rows"
    for row in rows:
        yield from misplaced(row)


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

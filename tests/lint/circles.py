#!/usr/bin/env python3
"""Circles of object files that need each other's symbols, in each archive of the build and over all that the
program links, as TAP. Circles may only shrink: a smaller one needs its row here lowered."""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import BUILD, ROOT, Tap, skip  # noqa: E402

MOST = 4  # files of a circle, in any other archive
# archive: files of its largest circle, and why
KNOWN = {
    "ops": 49,       # true recursion: quantized and fused operators find others in the table of operators
    "problem": 17,   # true recursion: kernels find others in the table of kernels
}
PROGRAM = 49         # over all archives of the program: that of ops
# archives that stand one on another: none needs a symbol of one after it
ORDER = {
    "analyze": "scenario roof fusion study choose branches bound real tables advice".split(),
    "ui": "screen model stage views frame".split(),
}
# boxes of a room with one archive, below to above; files in no box are on top
BOXES = {
    "ops": "rules onnx microsoft rare".split(),
    "plan": "value infer quant work".split(),
    "profile": "read kinds bench match".split(),
}
RECURSION = {"op_find"}  # needed by what the table lists


def symbols(archive):
    """{object file: (symbols defined, symbols needed)}"""
    out, name = {}, None
    text = subprocess.run(["nm", "-P", "-A", str(archive)], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        found = re.match(r"[^\[]*\[([^\]]*)\]: (\S+) (\w)", line)
        if found:
            name, symbol, kind = found.groups()
            define, need = out.setdefault(f"{archive.stem}:{name}", (set(), set()))
            if kind.isupper():
                (need if kind == "U" else define).add(symbol)
    return out


def circles(files):
    """The largest first: Tarjan's strongly connected components of more than one file."""
    home = {symbol: name for name, (define, _) in files.items() for symbol in define}
    arrows = {name: {home[s] for s in need if s in home and home[s] != name}
              for name, (_, need) in files.items()}
    index, low, stack, out = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(arrows[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                out.append(stack[at:])
            del stack[at:]

    for name in files:
        if name not in index:
            visit(name)
    return sorted(out, key=len, reverse=True)


def main():
    if not (BUILD / "libbase.a").exists():
        skip("nothing is built")
    sys.setrecursionlimit(10000)
    tap, program = Tap(), {}
    built = (BUILD / "Makefile").read_text()  # an archive of before may lie there still
    for archive in sorted(path for path in BUILD.glob("lib*.a") if f"{path.stem}_a_OBJECTS" in built):
        name, files = archive.stem[3:], symbols(archive)
        if not name.startswith("runner"):
            program.update(files)
        judge(tap, name, files, KNOWN.get(name, MOST), name in KNOWN)
        if name in BOXES:
            tap.result(f"{name}: no box needs a symbol of one above it",
                       upward(files, box_levels(name, files)))
    judge(tap, "all archives of the program", program, PROGRAM, True)
    for room, order in ORDER.items():
        archives = [f"lib{room}_{box}" for box in order]
        level = {name: archives.index(box) for name in program if (box := name.split(":")[0]) in archives}
        tap.result(f"no box of {room} needs a symbol of one above it", upward(program, level))
    sys.exit(tap.end())


def upward(files, level):
    """Symbols that files need of others with a higher level."""
    home = {symbol: name for name in level for symbol in files[name][0] - RECURSION}
    return [f"{name} needs {symbol} of {home[symbol]}" for name in level for symbol in sorted(files[name][1])
            if symbol in home and level[home[symbol]] > level[name]]


def box_levels(room, files):
    """{object file: place of its box}"""
    order = {path.stem: place for place, box in enumerate(BOXES[room])
             for path in (ROOT / "src" / room / box).glob("*.c")}
    return {name: order.get(name.split("-")[-1][:-2], len(BOXES[room])) for name in files}


def judge(tap, name, files, most, exactly):
    largest = sorted(next(iter(circles(files)), []))
    wrong = [f"{len(largest)}: {' '.join(largest)}"] if len(largest) > most else []
    if exactly and len(largest) < most:
        wrong = [f"{len(largest)}: lower its row in this file"]
    tap.result(f"{name}: at most {most} files in a circle", wrong)


main()

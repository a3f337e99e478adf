#!/usr/bin/env python3
"""Width and white space of the sources, as TAP.

A line has at most 110 columns (a tab is 8). Files that had longer lines when the rule was first checked are
listed in long_lines.txt with their number, which may only fall: `GENERATE=1 tests/lint/format.py` writes the
list again.
Not checked: data, cases of operators, golden screens, tables of documentation, generated files.
"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, Tap  # noqa: E402

COLUMNS = 110
LIST = ROOT / "tests" / "lint" / "long_lines.txt"
SUFFIXES = {".c", ".h", ".cu", ".cuh", ".cpp", ".py", ".sh", ".mk", ".am", ".ac", ".md", ".in"}
# made by protoc-c, in a build in the source directory, and by autoreconf
SKIPPED = ("src/model/onnx.pb-c", "Makefile.in", "config.h.in", "docs/operators.md",
           "src/ops/rules/op_types.c", "src/ops/rules/op_attribute.c", "tests/fuzz/corpus/",
           "tests/fuzz/regressions/", "build")


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True).stdout.split("\n")


def sources():
    """Paths of the checked files, relative to the top; from git, or from the file system of a release."""
    top = git("rev-parse", "--show-toplevel")[0]
    if top and ROOT.samefile(top):
        names = git("ls-files", "-co", "--exclude-standard")
    else:
        folders = ("src", "ui", "tests", "tools", "docs", "man", "data", "configs")
        paths = [*ROOT.glob("*"), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]
        names = [str(path.relative_to(ROOT)) for path in paths]
    wanted = (n for n in names if pathlib.Path(n).suffix in SUFFIXES and not n.startswith(SKIPPED))
    return sorted(n for n in wanted if not (ROOT / n).is_symlink() and (ROOT / n).is_file())


def lines_of(name):
    return (ROOT / name).read_text(encoding="utf-8").split("\n")


def long_lines(name):
    """Numbers of the lines that are too long. A row of a Markdown table cannot be wrapped."""
    return [number for number, line in enumerate(lines_of(name), 1) if len(line.expandtabs(8)) > COLUMNS
            and not (name.endswith(".md") and line.startswith("|"))]


def main():
    tap, names = Tap(), sources()
    found = {name: long_lines(name) for name in names}
    if os.environ.get("GENERATE"):
        LIST.write_text("".join(f"{len(at)} {name}\n" for name, at in found.items() if at))
    allowed = {name: int(count) for count, name in (line.split() for line in LIST.read_text().splitlines())}
    tap.result(f"no line has more than {COLUMNS} columns",
               [f"{name}: {len(at)} lines, at most {allowed.get(name, 0)}: {', '.join(map(str, at[:8]))}"
                for name, at in found.items() if len(at) > allowed.get(name, 0)])
    tap.result("long_lines.txt lists no more long lines than there are",
               [f"{name}: {len(found.get(name, []))} lines, listed {count}: run it with GENERATE=1"
                for name, count in allowed.items() if len(found.get(name, [])) < count])
    tap.result("no white space at the end of a line, and a newline at the end of a file",
               [f"{name}:{number}" for name in names for number, line in enumerate(lines_of(name), 1)
                if line != line.rstrip()] + [name for name in names if lines_of(name)[-1]])
    tap.result("C is indented with tabs",
               [f"{name}:{number}" for name in names if name.endswith((".c", ".h"))
                for number, line in enumerate(lines_of(name), 1) if line.startswith("    ")])
    tap.result("every C file says on top what it is for",
               [name for name in names if name.startswith(("src/", "ui/")) and name.endswith(".c")
                and not lines_of(name)[0].startswith("/*")])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

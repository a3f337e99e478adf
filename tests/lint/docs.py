#!/usr/bin/env python3
"""What CONTRIBUTING.md and docs/*.md name exists, as TAP.

Checked: paths (`src/ops/op_*.c`, also with braces and NAME), names of files (`advice.c`) and identifiers with
an underscore (`study_plain`). An identifier exists if a source, a build file or a file's name contains it.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, Tap  # noqa: E402

TOPS = ("src", "ui", "tests", "tools", "data", "docs", "configs", "man")
SUFFIXES = {".c", ".h", ".cu", ".cuh", ".cpp", ".py", ".sh", ".mk", ".am", ".ac", ".yaml", ".sql"}
# of conventions, of what a user makes, of libraries
ELSEWHERE = {"_bytes", "_flops", "noun_verb", "ENGINE_GLOBAL_COUNT", "tests/fuzz/regressions/TARGET",
             "data/recorded/NAME.jsonl.gz", "data/recorded/h100.jsonl.gz"}


def pages():
    return [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def patterns(path):
    """A path with NAME or {a,b} as glob patterns."""
    braces = re.search(r"{([^}]*)}", path)
    if braces:
        return [one for word in braces.group(1).split(",")
                for one in patterns(path[:braces.start()] + word + path[braces.end():])]
    return [re.sub("NAME", "*", path)]


def exists(path):
    return all(any(any(ROOT.glob(p + end)) for end in ("", ".c")) for p in patterns(path))


def main():
    files = [f for top in TOPS for f in (ROOT / top).rglob("*")]
    names = {f.name for f in files} | {f.stem for f in files}
    words = set()
    for f in [*files, ROOT / "Makefile.am", ROOT / "configure.ac"]:
        if f.suffix in SUFFIXES and f.is_file():
            words |= set(re.findall(r"\w+", f.read_text(encoding="utf-8", errors="replace")))
    tap = Tap()
    for page in pages():
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
        quoted = re.findall(r"`([^`\n]+)`", text)
        lost = []
        for word in sorted(set(quoted) - ELSEWHERE):
            if re.fullmatch(rf"(?:{'|'.join(TOPS)})/[\w./*{{}},-]+", word):
                lost += [] if exists(word.rstrip("/")) else [word]
            elif re.fullmatch(r"\w+\.(?:c|h|cu|py|sh|mk)", word):
                lost += [] if word in names or "NAME" in word else [word]
            elif re.fullmatch(r"[A-Za-z]\w*_\w*", word) and "NAME" not in word:
                lost += [] if word in words or word in names else [word]
        tap.result(f"{page.name}: all that it names exists", lost)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The programs of `make check-quick`: prints those of its arguments (all tests) that are worth a minute now.

Lints always. Of the files that differ from the main branch (BASE=COMMIT: from that commit): unit tests of
their rooms; of the rooms and unit tests that include a changed header, through other headers too; changed
tests themselves; unit tests that name the folder of changed data (tests/screens, tests/ops). Tests of the
changed files themselves come first, then the quickest by their last run (summary.py); those beyond the
minute are left out, which standard error says."""

import os
import pathlib
import re
import subprocess
import sys

import summary

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUDGET_S = 30  # of each core, for tests and their links; as much is left for what make compiles
UNKNOWN_S = 2.0  # of a program that has not run yet
LINK_S = 0.5
BRANCHES = ("origin/main", "origin/HEAD", "main", "@{upstream}")


def git(*words):
    done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else None


def changed():
    """Paths that differ from where the main branch was left, and new ones; with the name of that commit."""
    for name in filter(None, [os.environ.get("BASE"), *BRANCHES]):
        base = git("merge-base", name, "HEAD")
        if base:
            files = git("diff", "--name-only", base[0]) + git("ls-files", "-o", "--exclude-standard")
            return sorted(set(files)), f"{name} ({base[0][:8]})"
        if name == os.environ.get("BASE"):
            sys.exit(f"check-quick: {name} is not a commit; name one that is: make check-quick BASE=COMMIT")
    return [], "no main branch"


def sources():
    return [path for top in ("src", "ui", "tests") for path in (ROOT / top).rglob("*")
            if path.suffix in (".c", ".h", ".cu", ".cuh", ".cpp") and path.is_file()]


def including(names):
    """These files and those that include them, directly or not, as paths from the top."""
    readers = {}
    for path in sources():
        text = path.read_text(encoding="utf-8", errors="replace")
        for name in re.findall(r'^#include "([^"]+)"', text, re.M):
            for place in (ROOT / "src" / name, ROOT / name, path.parent / name):
                if place.exists():
                    readers.setdefault(place.resolve(), set()).add(path)
                    break
    found, todo = set(), [ROOT / name for name in names]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo.extend(readers.get(path, ()))
    return {path.relative_to(ROOT).as_posix() for path in found}


def rules():
    """The build files of the rooms and boxes, by folder."""
    return {path.parent.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8").replace("\\\n", " ")
            for top in ("src", "ui") for path in (ROOT / top).rglob("local.mk")}


def tests_of(folder, texts):
    """Test programs of the nearest room or box that has any."""
    while folder:
        lists = re.findall(r"^check_PROGRAMS \+= (.*)", texts.get(folder, ""), re.M)
        if lists:
            return set(" ".join(lists).split())
        folder = folder.rpartition("/")[0]
    return set()


def wanted(files):
    """Names of the tests that these files call for, without those that only include one of them."""
    texts, found = rules(), set()
    for name in files:
        folder, _, last = name.rpartition("/")
        stem = name.rpartition(".")[0]
        if name.startswith(("src/", "ui/")):
            found |= tests_of(folder, texts)
        else:
            found |= {name, stem}
        if folder.startswith("tests/") and last.endswith((".c", ".cpp")):  # shared by unit tests
            users = re.compile(rf"^tests_unit_(t_\w+)_SOURCES = .*{re.escape(last)}", re.M)
            found |= {f"tests/unit/{test}" for text in texts.values() for test in users.findall(text)}
    for folder in {name.rpartition("/")[0] for name in files if name.startswith("tests/")}:
        found |= {f"tests/unit/{path.stem}" for path in (ROOT / "tests/unit").glob("t_*.c")
                  if f"{folder}/" in path.read_text(encoding="utf-8")}
    return found


def main():
    every = sys.argv[1:]
    files, base = changed()
    own, names = wanted(files), wanted(including(files))
    seconds = summary.read_seconds()

    def cost(test):
        return seconds.get(re.sub(r"\.(py|sh)$", "", test), UNKNOWN_S) + LINK_S

    lints = [test for test in every if test.startswith("tests/lint/")]
    chosen, left, room_s = [], [], BUDGET_S * len(os.sched_getaffinity(0)) - sum(map(cost, lints))
    for test in sorted((own | names).intersection(every).difference(lints),
                       key=lambda t: (t not in own, cost(t), t)):
        room_s -= cost(test)
        (chosen if room_s >= 0 else left).append(test)
    print(f"check-quick: {len(files)} files differ from {base}: {len(lints)} lints, {len(chosen)} tests"
          + (f"; left to make check: {' '.join(left)}" if left else ""), file=sys.stderr)
    print(*lints, *chosen)


if __name__ == "__main__":
    main()

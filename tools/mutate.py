#!/usr/bin/env python3
"""Would a unit test notice?  Makes one small random change in the C sources of a room, builds the room's unit
tests, runs them, and reports whether one failed.  Outside the suite.

    cd build && python3 ../tools/mutate.py --room store --count 10 --seed 1
    cd build && python3 ../tools/mutate.py --patch 'src/store/results.c:219:== 0:!= 0'

A change that does not compile, or that leaves the object code as it was, is not counted.  Each file is
restored, also after Ctrl-C.  Run it in a worktree in which nobody else builds, configured with
--without-cuda --without-onednn CC="ccache gcc" CFLAGS="-g0 -O1" for speed.  The quickest test runs first, and
the first that fails ends the run of a change.  Exit status: 0, or 1 if a
change was unnoticed, or 2 if the tests fail without a change."""

import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# comments, strings, characters, preprocessor lines
HIDDEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|'
                    r'^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)

# (what, where it applies, what may replace it); \1 is the first group
CHANGES = (
    ("comparison", r" (==|!=|<=|>=|<|>)\s", {"==": ["!="], "!=": ["=="], "<": ["<=", ">"], "<=": ["<", ">="],
                                            ">": [">=", "<"], ">=": [">", "<="]}),
    ("logic", r" (&&|\|\|)\s", {"&&": ["||"], "||": ["&&"]}),
    ("operator", r"(?<=[\w)\]]) (\+|-|\*|/|%|&|\|)\s+(?=[\w(])",
     {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"], "&": ["|"], "|": ["&"]}),
    ("step", r"(\+\+|--|\+=|-=)", {"++": ["--"], "--": ["++"], "+=": ["-="], "-=": ["+="]}),
    ("constant", r"(?<![\w.])(\d+)(?![\w.])", None),
    ("truth", r"\b(true|false)\b", {"true": ["false"], "false": ["true"]}),
    ("jump", r"(?<=[\t )])(break|continue);", {"break": [""], "continue": [""]}),
    ("return", r"\breturn ([^;{}]+);", None),
    ("condition", r"\b(?:if|while) \(()", {"": ["!"]}),
)


def candidates(text):
    """All changes of a source file as (offset, end, replacement, kind)."""
    seen = HIDDEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    found = []
    for kind, pattern, table in CHANGES:
        for m in re.finditer(pattern, seen):
            start, end = m.span(1)
            old = text[start:end]
            if kind == "constant":
                new = ["1"] if old == "0" else ["0", str(int(old, 8 if old[0] == "0" else 10) + 1)]
            elif kind == "return":
                new = ["1"] if old == "0" else ["0"]
            elif kind == "condition":
                end = closing(seen, start)
                new = ["!(" + text[start:end] + ")"] if end else []
            else:
                new = table[old]
            found += [(start, end, n, kind) for n in new]
    return found


def closing(text, at):
    """Offset of the parenthesis that closes the one before `at`, or None."""
    depth = 1
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if not depth:
            return i
    return None


def run(command, seconds):
    """Exit status of a command, or None after `seconds`; its whole process group is ended."""
    # as in `make check`: some tests skip themselves without abs_srcdir
    environment = dict(os.environ, srcdir=str(ROOT), abs_srcdir=str(ROOT), top_srcdir=str(ROOT), builddir=".")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True, env=environment) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def object_of(room, source):
    """The object file of `source`."""
    path = pathlib.Path(source).with_suffix(".o")
    named = path.with_name(f"lib{room}_a-{path.name}")
    return named if named.exists() else path


def object_code(path):
    """Instructions and data of an object file, without line numbers."""
    copy = path.with_suffix(".mutate")
    subprocess.run(["objcopy", "--strip-debug", path, copy], check=True)
    code = copy.read_bytes()
    copy.unlink()
    return code


def tests_of(room):
    rules = (ROOT / "src" / room / "local.mk").read_text()
    return re.findall(r"check_PROGRAMS \+= (tests/unit/\S+)", rules)


def build(targets, seconds):
    """Exit status of make for the targets."""
    return run(["make", "-s", *targets], seconds)


def first_failing(tests, seconds):
    """(test, exit status) of the first test that fails, or None. A status of None is a timeout."""
    for test in tests:
        status = run([f"./{test}"], seconds)
        if status != 0:
            return test, status
    return None


def quickest_first(tests, seconds):
    """The tests in order of their time, or None if one fails."""
    times = {}
    for test in tests:
        start = time.monotonic()
        if first_failing([test], seconds):
            return None
        times[test] = time.monotonic() - start
    return sorted(tests, key=times.get)


class Changed:
    """The file with another text, inside `with`."""

    def __init__(self, path, text):
        self.path, self.text = path, text

    def __enter__(self):
        self.old = self.path.read_bytes()
        self.path.write_text(self.text)

    def __exit__(self, *_):
        self.path.write_bytes(self.old)


def judge(room, path, text, tests, options):
    """'noticed by TEST', 'UNNOTICED', 'same code' or 'does not compile'."""
    target = object_of(room, path.relative_to(ROOT))
    build([str(target)], options.build_timeout)  # without the change before
    before = object_code(target)
    with Changed(path, text):
        if build([str(target)], options.build_timeout) != 0:
            return "does not compile"
        if object_code(target) == before:
            return "same code"
        for test in tests:
            if build([test], options.build_timeout) != 0:
                return "does not compile"
            failed = first_failing([test], options.timeout)
            if failed:
                return f"noticed by {test}" + (" (timeout)" if failed[1] is None else "")
    return "UNNOTICED"


def drawn(room, rng):
    """All lines that can change, in random order, one change each: (path, offset, end, replacement, kind)."""
    lines = {}
    for path in sorted((ROOT / "src" / room).rglob("*.c")):
        text = path.read_text()
        for change in candidates(text):
            lines.setdefault((path, text.count("\n", 0, change[0])), []).append(change)
    places = sorted(lines)
    rng.shuffle(places)
    for place in places:
        yield (place[0], *rng.choice(lines[place]))


def patched(spec):
    """FILE:LINE:OLD:NEW as (path, offset, end, replacement, kind)."""
    name, line, old, new = spec.split(":", 3)
    path = ROOT / name
    rows = path.read_text().splitlines(keepends=True)
    at = rows[int(line) - 1].find(old)
    if at < 0:
        sys.exit(f"mutate: {name}:{line} has no '{old}'")
    start = sum(map(len, rows[:int(line) - 1])) + at
    return path, start, start + len(old), new, "patch"


def in_room(room, changes, options):
    """Judges the changes of one room; prints a line for each and their sum. Returns the exit status."""
    tests = tests_of(room)
    if build([*tests, "tests/unit/fake_runner"], options.build_timeout) != 0 or \
            not (tests := quickest_first(tests, options.timeout)):
        print(f"mutate: the unit tests of {room} fail without a change")
        return 2
    counted = unnoticed = 0
    wanted = len(options.patch) or options.count
    try:
        for path, start, end, new, kind in changes:
            text = path.read_text()
            line = text.count("\n", 0, start) + 1
            verdict = judge(room, path, text[:start] + new + text[end:], tests, options)
            place = f"{path.relative_to(ROOT)}:{line}"
            old, by = (" ".join(t.split()) for t in (text[start:end], new))
            print(f"{place}: {kind}: '{old}' -> '{by}': {verdict}", flush=True)
            if verdict not in ("same code", "does not compile"):
                counted += 1
                unnoticed += verdict == "UNNOTICED"
            if counted == wanted:
                break
    finally:
        build([*tests, "tests/unit/fake_runner"], options.build_timeout)
        origin = "given" if options.patch else f"seed {options.seed}"
        print(f"{room}: {counted - unnoticed} of {counted} changes noticed ({origin})", flush=True)
    return 1 if unnoticed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--room", help="directory of src: store, analyze, plan, ...")
    parser.add_argument("--count", type=int, default=10, help="changes that compile and change code (10)")
    parser.add_argument("--seed", type=int, default=1, help="repeats the same changes (1)")
    parser.add_argument("--patch", action="append", default=[], metavar="FILE:LINE:OLD:NEW",
                        help="this change instead of random ones; may be repeated")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one test (60)")
    parser.add_argument("--build-timeout", type=float, default=300, help="seconds for one build (300)")
    options = parser.parse_args()
    if not options.room and not options.patch:
        parser.error("--room or --patch")
    if not pathlib.Path("config.status").exists():
        parser.error("run it in a build directory")
    # each signal unwinds, so that the file is restored
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(2))

    if not options.patch:
        return in_room(options.room, drawn(options.room, random.Random(options.seed)), options)
    rooms = {}
    for patch in options.patch:
        rooms.setdefault(patch.split("/")[1], []).append(patch)
    return max([in_room(room, map(patched, patches), options) for room, patches in rooms.items()])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

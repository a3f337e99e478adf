#!/usr/bin/env python3
"""Would a test notice?  Makes one small random change in the C sources of a room, builds and runs the room's
unit tests, then the scripts that run the whole program, and reports whether one failed.  Outside the suite.

    cd build && python3 ../tools/mutate.py --room store --count 10 --seed 1
    cd build && python3 ../tools/mutate.py --room runner/measure --room ui
    cd build && python3 ../tools/mutate.py --rooms all --count 5 --seed 7
    cd build && python3 ../tools/mutate.py --patch 'src/store/results.c:219:== 0:!= 0'

A room's unit tests are those of its local.mk, its scripts the row scripts_of_ROOM of tests/local.mk; a box
without its own has its room's.  Each runs once without a change: the quickest is the first afterwards, and a
script that fails, skips itself or takes longer than --script-seconds is left out.  The first test that fails
ends the run of a change (a script must fail twice: some depend on time).

A change that does not compile, or that leaves the object code as it was, is not counted.  Each file is
restored, also after Ctrl-C.  Run it in a worktree in which nobody else builds, configured with
--without-cuda CC="ccache gcc" CFLAGS="-g0 -O1" for speed.  A changed program may loop, allocate or leave
processes behind: all that a test has started ends with it, after --timeout at the latest, and has --memory.
Exit status: 0, or 1 if a change was unnoticed, or 2 if the tests fail without a change."""

import argparse
import contextlib
import ctypes
import functools
import itertools
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ("base", "problem", "yaml", "model", "ops", "plan", "config", "store", "wire", "drive", "profile",
         "analyze", "doctor", "session", "table", "ui", "commands", "runner")
FAILED = -1000  # instead of an exit status: the output says that a test failed
NOT_OK = re.compile(rb"^(?:not ok\b(?!.*# TODO)|Bail out!)", re.M)
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


# ---- rooms and their tests

def folder_of(room):
    """Directory of the sources of a room or of a box (runner/measure)."""
    return ROOT / room if room.split("/")[0] == "ui" else ROOT / "src" / room


def room_of(name):
    """The room, or box of the runner, of a source file."""
    parts = pathlib.Path(name).parts
    if parts[0] == "ui":
        return "ui"
    return "/".join(parts[1:3] if parts[1] == "runner" and len(parts) > 3 else parts[1:2])


def boxes(room):
    """The boxes of a room: its folders with a local.mk."""
    return sorted(f"{room}/{f.parent.name}" for f in folder_of(room).glob("*/local.mk"))


def rules_of(path):
    """The text of a local.mk with its continued lines joined."""
    return path.read_text().replace("\\\n", " ")


def unit_tests_of(room):
    """Unit tests of a room with those of its boxes; of a box without its own, those of its room."""
    found = []
    for path in sorted(folder_of(room).rglob("local.mk")):
        for names in re.findall(r"^check_PROGRAMS \+= (.*)", rules_of(path), re.M):
            found += names.split()
    return found if found or "/" not in room else unit_tests_of(room.split("/")[0])


def script_rows():
    """(names of all scripts, {room or box: its scripts}) of tests/local.mk."""
    rules = rules_of(ROOT / "tests" / "local.mk")
    scripts = re.search(r"^test_scripts = (.*)", rules, re.M).group(1).split()
    rows = {}
    for room, patterns in re.findall(r"^scripts_of_(\w+) = (.*)", rules, re.M):
        wanted = re.compile("|".join(re.escape(p).replace("%", ".*") for p in patterns.split()))
        rows[room] = [s for s in scripts if wanted.fullmatch(s)]
    return scripts, rows


def scripts_of(room):
    rows = script_rows()[1]
    return rows.get(room.replace("/", "_"), rows.get(room.split("/")[0], []))


@functools.cache
def expanded(text):
    """`text` as make expands it in the build directory."""
    rules = f"mutate-show:\n\t@:$(info {text})\n"
    done = subprocess.run(["make", "-s", "--no-print-directory", "-f", "Makefile", "-f", "-", "mutate-show"],
                          input=rules, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@functools.cache
def configured():
    """The programs that this build directory makes."""
    return set(expanded("$(bin_PROGRAMS) $(check_PROGRAMS)").split())


@functools.cache
def needs():
    """{script: programs that it needs besides those of bin_PROGRAMS}, from rules for its log."""
    found = {}
    for path in (ROOT / "tests/local.mk", ROOT / "tests/fuzz/local.mk", *(ROOT / "src").rglob("local.mk")):
        for logs, programs in re.findall(r"^((?:tests/\S+\.log ?)+): *(tests/.*|\$\(fuzz_programs\))$",
                                         rules_of(path), re.M):
            for log in logs.split():
                found.setdefault(log.removesuffix(".log"), []).extend(expanded(programs).split())
    return found


def programs_of(tests):
    """What make builds before the tests run."""
    scripts = [t for t in tests if t not in configured()]
    found = {t for t in tests if t in configured()}
    found.add("tests/unit/fake_runner")
    if scripts:
        found.update(p for p in configured() if "/" not in p)
    for script in scripts:
        found.update(needs().get(str(pathlib.Path(script).with_suffix("")), []))
    return sorted(found)


def objects_of(source):
    """The object files of `source`, a path relative to the top, in the build directory."""
    path = pathlib.Path(source)
    return [o for o in (path.with_suffix(".o"), *path.parent.glob(f"*_a-{path.stem}.o")) if o.exists()]


# ---- running

def children():
    """Processes that this one has to wait for. Those whose parent has ended are among them (main)."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = stat.read_text().rsplit(")", 1)[1].split()[1]
        except OSError:
            continue
        if int(parent) == os.getpid():
            found.append(int(stat.parent.name))
    return found


def end_all():
    """Ends everything that a command has started and left, in other process groups too."""
    while left := children():
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
            except (ProcessLookupError, ChildProcessError):
                pass


def limits(gigabytes):
    """What a test may use: no core files, no file beyond 4 GiB, so much memory. Tests may change it again."""
    for what, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 4 << 30),
                       (resource.RLIMIT_DATA, int(gigabytes * (1 << 30)))):
        if most or what == resource.RLIMIT_CORE:
            resource.setrlimit(what, (most, resource.getrlimit(what)[1]))


def run(command, seconds, prepare=None, environment=None):
    """(exit status, output) of a command. The status is None after `seconds`, FAILED as soon as the output
    says that a test failed. Whatever the command has started ends with it."""
    end = time.monotonic() + seconds
    with tempfile.TemporaryFile() as output:
        def text():
            return os.pread(output.fileno(), 1 << 24, 0)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=prepare,
                                   env=environment)
        try:
            while True:
                try:
                    status = process.wait(min(0.2, max(end - time.monotonic(), 0)))
                    return (FAILED if NOT_OK.search(text()) else status), text()
                except subprocess.TimeoutExpired:
                    if NOT_OK.search(text()):
                        return FAILED, text()
                    if time.monotonic() >= end:
                        return None, text()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            end_all()


@contextlib.contextmanager
def scratch():
    """A folder for temporary files, gone afterwards. Its name is short, because tests see paths on narrow
    screens, and others may enter, because some tests become another user."""
    for number in itertools.count():
        place = os.path.join(tempfile.gettempdir(), f"m{number}")
        try:
            os.mkdir(place, 0o755)
            break
        except FileExistsError:
            pass
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def run_test(test, seconds, options):
    """(exit status, output) of a test, as `make check` runs it. Temporary files are removed."""
    if test.endswith((".sh", ".py")):
        command = ("python3 " if test.endswith(".py") else expanded("$(SHELL)") + " ") + \
            shlex.quote(os.path.join(expanded("$(srcdir)"), test))
    else:
        command = "./" + test
    sanitized = "-fsanitize" in expanded("$(BENANZA_LDFLAGS) $(CFLAGS)")  # which reserves terabytes
    with scratch() as place:
        return run(["sh", "-c", f"{expanded('$(AM_TESTS_ENVIRONMENT)')} exec {command}"], seconds,
                   lambda: limits(0 if sanitized else options.memory), dict(os.environ, TMPDIR=place))


def build(targets, seconds):
    """Exit status of make for the targets."""
    return run(["make", "-s", f"-j{os.cpu_count()}", *targets], seconds)[0] if targets else 0


def object_code(path):
    """Instructions and data of an object file, without line numbers."""
    copy = path.with_suffix(".mutate")
    subprocess.run(["objcopy", "--strip-debug", path, copy], check=True)
    code = copy.read_bytes()
    copy.unlink()
    return code


class Tests:
    """The tests of a room, quickest first: `unit` and `scripts`."""

    alone = {}  # test: (what it does without a change, seconds), kept from room to room

    def __init__(self, room, options):
        self.room, self.options = room, options
        self.unit = [t for t in unit_tests_of(room) if t in configured()]
        self.scripts = scripts_of(room) if options.scripts else []
        self.left_out = []
        self.scripts_tried = False

    def build(self, tests):
        """Whether make can build what the tests need."""
        return build(programs_of(tests), self.options.build_timeout) == 0

    def try_unit(self):
        """Runs the unit tests without a change; returns what fails."""
        if not self.build(self.unit):
            return ["the build"]
        return [t for t in self.unit if self.alone_does(t, self.options.timeout) != "passes"]

    def try_scripts(self):
        """Runs the scripts without a change, once a room, and drops those that are of no use."""
        if self.scripts_tried or not self.scripts:
            return
        self.scripts_tried, out = True, {}
        if not self.build(self.scripts):
            sys.exit(f"mutate: the programs for the scripts of {self.room} cannot be built")
        for script in self.scripts:
            out.setdefault(self.alone_does(script, self.options.script_seconds), []).append(script)
        self.scripts = sorted(out.pop("passes", []), key=lambda script: self.alone[script][1])
        self.left_out = sum(out.values(), [])
        print(f"{self.room}: {len(self.scripts)} scripts" + "".join(
            f"; left out: {len(names)} {why} ({' '.join(names)})" for why, names in out.items()), flush=True)

    def alone_does(self, test, seconds):
        """'passes', 'fails', 'slow' or 'skips itself'."""
        if test not in self.alone:
            start = time.monotonic()
            status, output = run_test(test, seconds, self.options)
            verdict = "slow" if status is None else "fails" if status else "passes"
            if verdict == "passes" and test in self.scripts and \
                    re.search(rb"^1\.\.0\b.*skip", output, re.M | re.I):
                verdict = "skips itself"
            self.alone[test] = verdict, time.monotonic() - start
        return self.alone[test][0]

    def first_failing(self, tests):
        """(test, exit status) of the first that fails, or None; a status of None is a timeout."""
        built = set()
        for test in sorted(tests, key=lambda test: self.alone[test][1]):
            limit = max(self.options.timeout, 3 * self.alone[test][1])
            if not built.issuperset(programs_of([test])):
                if not self.build([test]):
                    return "build", 1
                built.update(programs_of([test]))
            status, _ = run_test(test, limit, self.options)
            if status and test in self.scripts and run_test(test, limit, self.options)[0] == 0:
                continue
            if status != 0:
                return test, status
        return None


class Changed:
    """The file with another text, inside `with`."""

    def __init__(self, path, text):
        self.path, self.text = path, text

    def __enter__(self):
        self.old = self.path.read_bytes()
        self.path.write_text(self.text)

    def __exit__(self, *_):
        self.path.write_bytes(self.old)


def judge(path, text, tests, options):
    """'noticed by TEST', 'UNNOTICED', 'same code' or 'does not compile'."""
    targets = objects_of(path.relative_to(ROOT))
    build(map(str, targets), options.build_timeout)  # without the change before
    before = [object_code(o) for o in targets]
    with Changed(path, text):
        if build([str(o) for o in targets], options.build_timeout) != 0:
            return "does not compile"
        if [object_code(o) for o in targets] == before:
            return "same code"
        failed = tests.first_failing(tests.unit)
    if not failed:
        tests.try_scripts()
        with Changed(path, text):
            failed = tests.first_failing(tests.scripts)
    if not failed:
        return "UNNOTICED"
    if failed[0] == "build":
        return "does not compile"
    return f"noticed by {failed[0]}" + (" (timeout)" if failed[1] is None else "")


def drawn(room, rng):
    """All lines that can change, in random order, one change each: (path, offset, end, replacement, kind)."""
    lines = {}
    for path in sorted(folder_of(room).rglob("*.c")):
        if not objects_of(path.relative_to(ROOT)):
            continue  # not in this configuration
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
    """Judges the changes of one room; prints a line for each and their sum. Returns (noticed, by a script,
    counted, scripts left out), or None if the unit tests fail without a change."""
    tests = Tests(room, options)
    failing = tests.try_unit()
    if failing or not tests.unit + tests.scripts:
        print(f"mutate: {room}: fails without a change: {' '.join(failing) or 'no test'}", flush=True)
        return None
    counted = unnoticed = scripts = 0
    wanted = len(options.patch) or options.count
    try:
        for path, start, end, new, kind in changes:
            text = path.read_text()
            line = text.count("\n", 0, start) + 1
            verdict = judge(path, text[:start] + new + text[end:], tests, options)
            place = f"{path.relative_to(ROOT)}:{line}"
            old, by = (" ".join(t.split()) for t in (text[start:end], new))
            print(f"{place}: {kind}: '{old}' -> '{by}': {verdict}", flush=True)
            if verdict not in ("same code", "does not compile"):
                counted += 1
                unnoticed += verdict == "UNNOTICED"
                scripts += bool(re.search(r"\.(sh|py)\b", verdict))
            if counted == wanted:
                break
    finally:
        tests.build(tests.unit + tests.scripts)
    origin = "given" if options.patch else f"seed {options.seed}"
    print(f"{room}: {counted - unnoticed} of {counted} changes noticed ({origin})", flush=True)
    return counted - unnoticed, scripts, counted, len(tests.left_out)


def all_rooms():
    """Each room in its order, and each box of the runner of which this build directory has objects."""
    return [r for r in ROOMS if r != "runner"] + [
        box for box in boxes("runner") if any(folder_of(box).glob("*.c")) and
        all(objects_of(f.relative_to(ROOT)) for f in folder_of(box).glob("*.c"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--room", "--rooms", action="append", default=[], metavar="ROOM",
                        help="store, analyze, ui, runner/measure ..., or all; may be repeated")
    parser.add_argument("--count", type=int, default=10,
                        help="changes of a room that compile and change code (10)")
    parser.add_argument("--seed", type=int, default=1, help="repeats the same changes (1)")
    parser.add_argument("--patch", action="append", default=[], metavar="FILE:LINE:OLD:NEW",
                        help="this change instead of random ones; may be repeated")
    parser.add_argument("--no-scripts", dest="scripts", action="store_false", help="unit tests alone")
    parser.add_argument("--script-seconds", type=float, default=20,
                        help="a script that takes longer without a change is left out (20)")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one test (60)")
    parser.add_argument("--build-timeout", type=float, default=300, help="seconds for one build (300)")
    parser.add_argument("--memory", type=float, default=4, metavar="GIB",
                        help="memory of each process of a test; 0: no limit (4)")
    options = parser.parse_args()
    if not options.room and not options.patch:
        parser.error("--room or --patch")
    if not pathlib.Path("config.status").exists():
        parser.error("run it in a build directory")
    for room in options.room:
        if room != "all" and not folder_of(room).is_dir():
            parser.error(f"no room '{room}'")
    # each signal unwinds, so that the file is restored
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(2))
    # processes whose parent ends become children of this one (PR_SET_CHILD_SUBREAPER)
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    if build(["all"], options.build_timeout) != 0:
        sys.exit("mutate: the build fails without a change")

    rooms = {}
    for patch in options.patch:
        rooms.setdefault(room_of(patch.split(":")[0]), []).append(patched(patch))
    if not rooms:
        names = [r for room in options.room for r in (all_rooms() if room == "all" else [room])]
        rooms = {room: drawn(room, random.Random(options.seed)) for room in names}
    sums = {room: in_room(room, changes, options) for room, changes in rooms.items()}
    done = [s for s in sums.values() if s]
    if len(sums) > 1:
        print(f"\n{'room':20} {'noticed':>8} {'by scripts':>11} {'of':>4} {'left out':>9}")
        for room, numbers in [*sums.items(), ("all", [sum(column) for column in zip(*done)])]:
            noticed, scripts, counted, left = numbers or ("-", "-", "-", "-")
            print(f"{room:20} {noticed:>8} {scripts:>11} {counted:>4} {left if room != 'all' else '':>9}")
    return 2 if len(done) < len(sums) else 1 if any(n < of for n, _, of, _ in done) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

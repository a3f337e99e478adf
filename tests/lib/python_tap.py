"""Shared by the tests in Python: running benanza, TAP output, skipping, lists of exceptions. Needs Python alone."""

import concurrent.futures
import functools
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("builddir", ROOT / "build"))
TIME_LIMIT_S = 300
LONG = bool(os.environ.get("CHECK_LONG"))  # make check-long: ask everything
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # no network, nothing in the home directory


def skip(reason):
    """Skips the whole test. Automake's TAP driver reads the plan; any exit status but 0 is an error."""
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def need(*modules):
    """Skips the whole test if one of the modules is not installed."""
    for module in modules:
        try:
            __import__(module)
        except ImportError as missing:
            skip(f"{missing.name} is not installed")


# ---- the program

@functools.cache
def program():
    """Returns the path of the benanza program; skips the whole test without one."""
    path = os.environ.get("BENANZA") or str(BUILD / "benanza")
    if not os.access(path, os.X_OK):
        skip(f"no program at {path}")
    return os.path.abspath(path)


def printed(*arguments, home=None):
    """What benanza prints. Runs with a home directory of its own, because sizes and results are stored there."""
    with tempfile.TemporaryDirectory() as new:
        done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True,
                              timeout=TIME_LIMIT_S, env=environment_at(home or new))
    return checked(done.stdout, done.returncode, done.stderr)


def environment_at(home):
    kept = {k: v for k, v in os.environ.items() if k not in ("BENANZA_CONFIG", "BENANZA_DB")}
    return kept | {f"XDG_{kind}_HOME": str(home) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}


def checked(text, status, errors):
    if status not in (0, 1):  # 1: the result has gaps
        raise RuntimeError(f"exit status {status}: {errors.strip() or 'no error text'}")
    return text


class Many:
    """Commands without a start of the program for each (tests/unit/many), one process in each thread."""

    local = threading.local()

    def __init__(self):
        self.home = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([BUILD / "tests/unit/many"], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment_at(self.home.name))

    def __del__(self):
        self.process.communicate()

    @staticmethod
    @functools.cache
    def usable():
        """Only for the program of this build directory, and not if that is newer."""
        many, own = BUILD / "tests/unit/many", BUILD / "benanza"
        return (many.exists() and own.exists() and os.path.samefile(program(), own)
                and many.stat().st_mtime >= own.stat().st_mtime)

    @classmethod
    def layers(cls, path):
        if not hasattr(cls.local, "one"):
            cls.local.one = cls()
        return cls.local.one.printed("layers", "--json", path)

    def printed(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        lines, limit = [], threading.Timer(TIME_LIMIT_S, self.process.kill)
        limit.start()
        try:
            for line in self.process.stdout:
                if line.startswith("= "):
                    return checked("".join(lines), int(line[2:]), "".join(lines[-2:]))
                lines.append(line)
        finally:
            limit.cancel()
        del self.local.one
        raise RuntimeError(f"tests/unit/many ended: {self.process.wait()}")


def said(*arguments, home=None):
    """The JSON that benanza prints."""
    return json.loads(printed(*arguments, home=home).strip().splitlines()[-1])


def terminal_environment(home):
    """For a program in a terminal of the test's own. ncurses would take COLUMNS and LINES for the terminal's size."""
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    return kept | {"HOME": home, "XDG_STATE_HOME": home, "TERM": "vt100", "LC_ALL": "C.UTF-8"}


def dim_options(dims):
    """The options that bind symbolic dimensions."""
    return [word for name, value in dims.items()
            for word in (("-b", value) if name == "batch" else ("--dim", f"{name}={value}"))]


def layers_of(path, *options):
    if not options and Many.usable():
        lines = Many.layers(path).splitlines()
        return json.loads(next(line for line in reversed(lines) if line.startswith("{")))["layers"]
    return said("layers", "--json", path, *options)["layers"]


def outputs_of(path, *options):
    """The outputs of all layers, by name."""
    return {output["name"]: output for layer in layers_of(path, *options) for output in layer["outputs"]}


# ---- TAP

class Tap:
    """Numbered results; the plan is printed first if the count is known, else last."""

    def __init__(self, planned=None):
        self.count = self.failed = 0
        self.planned = planned
        if planned is not None:
            print(f"1..{planned}", flush=True)

    def result(self, name, wrong, most=20):
        """wrong: lines that describe each failure; empty: passed."""
        wrong = list(wrong)
        self.count += 1
        self.failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {self.count} - {name}")
        for line in wrong[:most]:
            print("# " + " ".join(str(line).split()))
        if len(wrong) > most:
            print(f"# and {len(wrong) - most} more")
        sys.stdout.flush()

    def test(self, name):
        """Decorator: runs the function, which yields what is wrong; an exception fails this test alone."""

        def run(function):
            try:
                wrong = list(function())
            except Exception as error:
                wrong = [f"{type(error).__name__}: {error}"]
            self.result(name, wrong)

        return run

    def skipped(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}", flush=True)

    def end(self):
        """The exit status."""
        if self.planned is None:
            print(f"1..{self.count}")
        return 1 if self.failed else 0


def bail_out(kind, error, trace):
    """Reports an exception in TAP, so that the summary of a failed suite shows it."""
    for line in "".join(traceback.format_exception(kind, error, trace)).splitlines():
        print(f"# {line}")
    print(f"Bail out! {kind.__name__}: {' '.join(str(error).split())}", flush=True)


sys.excepthook = bail_out


# ---- helpers

def wanted(cases, name_of):
    """The cases whose name contains a word of the command line; all cases if there are no words."""
    words = sys.argv[1:]
    return [case for case in cases if not words or any(word in name_of(case) for word in words)]


def in_threads(check, cases):
    """check(case, a file of its own for a model) for each case: (case, result), in their order."""
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        paths = (pathlib.Path(folder) / f"{i}.onnx" for i in range(len(cases)))
        yield from zip(cases, pool.map(check, cases, paths))


def apart(function, *arguments):
    """What a function returns in another process, the same for all calls until it dies."""
    if apart.pool is None:
        apart.pool = concurrent.futures.ProcessPoolExecutor(1)
    try:
        return apart.pool.submit(function, *arguments).result(TIME_LIMIT_S)
    except concurrent.futures.TimeoutError:
        for process in multiprocessing.active_children():
            process.kill()
        apart.pool = None
        raise RuntimeError(f"ONNX Runtime: no answer within {TIME_LIMIT_S} s") from None
    except concurrent.futures.process.BrokenProcessPool as died:
        apart.pool = None
        raise RuntimeError(f"ONNX Runtime: {died}") from None
    except Exception as error:
        raise RuntimeError(f"ONNX Runtime: {error}") from None


apart.pool = None


def exceptions(name, keys=1):
    """Reads a list of exceptions: each line has a key (a tuple if keys > 1) and a reason."""
    listed = {}
    for line in (ROOT / "tests" / name).read_text().splitlines():
        if line and not line.startswith("#"):
            *key, reason = line.split(None, keys)
            listed[key[0] if keys == 1 else tuple(key)] = reason
    return listed

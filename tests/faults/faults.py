#!/usr/bin/env python3
"""The database under faults, seen from outside: full, locked, removed, damaged.

The runner answers at once.  A full disk is a limit on the size of files (EFBIG, which is taken as that), and
freeing space is raising it while the program runs.  Nothing waits by the clock: what is awaited is said, and
given up after a minute.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import python_tap  # noqa: E402

python_tap.need("sqlite3")
import sqlite3  # noqa: E402

TESTS = python_tap.ROOT / "tests"
MODEL = str(TESTS / "models" / "tiny.onnx")
GIVEN_UP_S = 60
UNLIMITED = resource.RLIM_INFINITY


class Place:
    """A folder with a configuration, a database, and what is asked of it."""

    def __init__(self, folder):
        self.folder = folder
        self.database = self.path("results.db")
        self.gate = self.path("gate")
        os.mkfifo(self.gate)
        with open(self.path("config.yaml"), "w") as f:
            f.write(f"runners:\n  word: [sh, -c, 'tee -a \"{self.path('asked')}\" | sh \"{TESTS}/lib/word_runner.sh\""
                    " \"Word 1\" words']\n"
                    f"  gate: [sh, '{TESTS}/lib/gate_runner.sh', '{self.gate}']\n")
        self.env = python_tap.terminal_environment(folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def arguments(self, *arguments, runner="word"):
        return [python_tap.program(), *arguments, "-c", self.path("config.yaml"), "-d", runner, "--db", self.database]

    def start(self, *arguments, limit=UNLIMITED, runner="word"):
        def prepare():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, UNLIMITED))
        return subprocess.Popen(self.arguments(*arguments, runner=runner), env=self.env, preexec_fn=prepare, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *arguments, **more):
        process = self.start(*arguments, **more)
        out, err = process.communicate(timeout=GIVEN_UP_S)
        return process.returncode, out, err

    def db(self, *arguments):
        return subprocess.run([python_tap.program(), "db", *arguments, "--db", self.database], env=self.env, text=True,
                              capture_output=True, timeout=GIVEN_UP_S)

    def wrong(self):
        """What is wrong with the file, as lines."""
        check = self.db("check")
        return [f"db check: {check.stdout} {check.stderr}"] if check.returncode else []

    def asked(self):
        """How many problems the runner was asked to measure."""
        return open(self.path("asked")).read().count('"type":"run"')

    def rows(self):
        db = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        counted = tuple(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("result", "finished"))
        db.close()
        return counted


def expect(what, got, want):
    return [] if got == want else [f"{what}: {got!r}, not {want!r}"]


def until(process, text):
    """Reads what it says on standard error, until the text is there."""
    said = ""
    end = time.monotonic() + GIVEN_UP_S
    os.set_blocking(process.stderr.fileno(), False)
    while text not in said and time.monotonic() < end:
        if select.select([process.stderr], [], [], 1)[0]:
            more = process.stderr.read()
            if not more:
                break
            said += more
    os.set_blocking(process.stderr.fileno(), True)
    return said


def wait_for_rows(place):
    end = time.monotonic() + GIVEN_UP_S
    while time.monotonic() < end:
        with contextlib.suppress(sqlite3.Error):
            if place.rows()[1]:
                break
        select.select([], [], [], 0.05)


def one_line(err, *texts):
    lines = err.strip().splitlines()
    return ([f"not one line: {lines}"] if len(lines) != 1 else []) + [
        f"does not say {text!r}: {err}" for text in texts if text not in err]


class Screen:
    """The explorer in a terminal."""

    def __init__(self, place, runner):
        command = place.arguments(MODEL, runner=runner)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, place.env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 150, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)
        self.said = b""

    def see(self, text, seconds=GIVEN_UP_S):
        """Until the text was drawn since the last key; [] or that it was not, as a line."""
        end = time.monotonic() + seconds
        while text.encode() not in self.said and time.monotonic() < end and self.hear(1):
            pass
        return [] if text.encode() in self.said else [f"not seen: {text!r} in {self.said[-1500:]!r}"]

    def hear(self, seconds):
        """False when it has ended."""
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                self.said += os.read(self.fd, 65536)
            except OSError:
                return False
        return True

    def press(self, keys):
        self.said = b""
        os.write(self.fd, keys.encode())

    def leave(self):
        """Q; the exit status. What was said behind the screen is heard to its end."""
        self.press("Q")
        end = time.monotonic() + GIVEN_UP_S
        while self.hear(1) and time.monotonic() < end:
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


# ---- what happens

def full_and_freed(place, whole):
    process = place.start("bench", "--json", MODEL, limit=200 * 1024)
    said = until(process, "waiting to keep")
    wrong = [] if "no space left" in said else [f"said: {said}"]
    wrong += place.wrong()
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (UNLIMITED, UNLIMITED))
    out, _ = process.communicate(timeout=GIVEN_UP_S)
    return wrong + expect("exit status", process.returncode, 0) + expect("lost", json.loads(out)["lost"], 0) + \
        expect("rows", place.rows(), whole) + place.wrong()


def full_to_the_end(place, whole):
    process = place.start("bench", "--json", MODEL, limit=200 * 1024)
    until(process, "waiting to keep")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=GIVEN_UP_S)
    lost = json.loads(out)["lost"]
    wrong = expect("exit status", process.returncode, 1) + expect("kept and lost", place.rows()[0] + lost, whole[0])
    wrong += [] if lost > 0 and f"{lost} results are not kept: " in err and "no space left" in err else [f"{lost} lost; {err}"]
    wrong += place.wrong()
    status, _, err = place.run("bench", "-q", MODEL)
    return wrong + expect("the next run", (status, err), (0, "")) + expect("finished", place.rows()[1], whole[1]) + place.wrong()


def full_import(place, _whole):
    with open(place.path("many"), "w") as f:
        subprocess.run([python_tap.program(), "db", "export", "--db", place.path("whole.db")], stdout=f, check=True)
        for i in range(150):
            f.write(open(place.path("results")).read().replace('"measured_at":1700000000', f'"measured_at":17000{i:05}'))
    status, out, err = place.run("db", "import", place.path("many"), limit=400 * 1024)
    wrong = expect("exit status", status, 2) + one_line(err, "no space left", place.database) + place.wrong()
    kept = place.rows()[0]
    wrong += [] if not out or out.startswith(f"{kept} results: {kept} added") else [f"{kept} kept; {out}"]
    status, out, _ = place.run("db", "import", "--json", place.path("many"))
    answer = json.loads(out)
    return wrong + expect("repeated", (status, answer["added"] + kept), (0, place.rows()[0])) + \
        expect("known already", answer["already"] >= kept, True) + place.wrong()


def locked_bench(place, whole):
    place.run("db", "import", "-q", place.path("one"))
    other = sqlite3.connect(place.database, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    process = place.start("bench", "--json", MODEL)
    said = until(process, "waiting to keep")
    other.execute("COMMIT")
    other.close()
    out, _ = process.communicate(timeout=GIVEN_UP_S)
    wrong = [] if "keeps it locked" in said else [f"said: {said}"]
    if os.access("/proc/locks", os.R_OK) and f"process {os.getpid()}" not in said:
        wrong.append(f"does not say who: {said}")
    return wrong + expect("exit status", process.returncode, 0) + expect("lost", json.loads(out)["lost"], 0) + \
        expect("finished", place.rows()[1], whole[1]) + place.wrong()


def locked_import(place, whole):
    place.run("db", "import", "-q", place.path("one"))
    other = sqlite3.connect(place.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    process = place.start("db", "import", place.path("results"))
    said = until(process, "waiting for")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=GIVEN_UP_S)
    wrong = expect("Ctrl-C while it waits", process.returncode, 1) + ([] if "locked by another program" in said else [said])
    wrong += [] if out.startswith("0 results") and "interrupted" in out else [f"{out} {err}"]
    process = place.start("db", "merge", "--json", place.path("whole.db"))
    until(process, "waiting for")
    other.execute("COMMIT")
    other.close()
    out, _ = process.communicate(timeout=GIVEN_UP_S)
    return wrong + expect("merge, and released", process.returncode, 0) + \
        expect("finished", place.rows()[1], whole[1]) + place.wrong()


def locked_explorer(place, _whole):
    os.unlink(place.path("asked"))
    screen = Screen(place, "word")
    wrong = screen.see("not measured")
    other = sqlite3.connect(place.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    screen.press("b")
    wrong += screen.see("not stored yet") + screen.see("layers known")
    screen.press("?")
    wrong += screen.see("In this view")  # it lives
    screen.press("Q")
    wrong += expect("rows while locked", place.rows(), (0, 0))
    end, asked = time.monotonic() + GIVEN_UP_S, 0
    while asked < place.asked() and time.monotonic() < end:  # to its last question
        asked = place.asked()
        screen.see("there is no such text", 1)
    other.execute("COMMIT")
    other.close()
    end = time.monotonic() + GIVEN_UP_S
    asked, rows = place.asked(), place.rows()
    while rows != (asked * 4, asked) and time.monotonic() < end:
        screen.hear(0.1)
        asked, rows = place.asked(), place.rows()
    wrong += expect("rows when released", rows, (asked * 4, asked))
    return wrong + expect("leaves with", screen.leave(), 0) + place.wrong()


def locked_to_the_end(place, _whole):
    screen = Screen(place, "word")
    wrong = screen.see("not measured")
    other = sqlite3.connect(place.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    screen.press("b")
    wrong += screen.see("layers known")
    status = screen.leave()
    wrong += expect("leaves with", status, 1)
    wrong += [] if b"results are not kept: " in screen.said else [f"not said: {screen.said[-500:]!r}"]
    other.close()
    return wrong + place.wrong()


def removed_bench(place, _whole):
    gate = os.open(place.gate, os.O_RDWR)
    process = place.start("bench", "--json", MODEL, runner="gate")
    wait_for_rows(place)
    kept = place.rows()
    os.rename(place.database, place.path("aside.db"))
    os.rename(place.database + "-wal", place.path("aside.db-wal"))
    os.write(gate, b"go\n")
    out, err = process.communicate(timeout=GIVEN_UP_S)
    os.close(gate)
    wrong = expect("exit status", process.returncode, 2) + one_line(err, "was removed or replaced")
    wrong += [] if "of this run" in err else [err]
    wrong += expect("nothing is made in its place", os.path.exists(place.database), False)
    os.rename(place.path("aside.db"), place.database)
    os.rename(place.path("aside.db-wal"), place.database + "-wal")
    return wrong + expect("what was acknowledged is in what was moved", place.rows() >= kept, True) + place.wrong()


def removed_explorer(place, _whole):
    gate = os.open(place.gate, os.O_RDWR)
    screen = Screen(place, "gate")
    wrong = screen.see("not measured")
    screen.press("b")
    wrong += screen.see("waiting at the gate")
    os.unlink(place.database)
    os.write(gate, b"go\n")
    wrong += screen.see("was removed or replaced")
    screen.press("?")
    wrong += screen.see("In this view")
    screen.press("Q")
    screen.leave()
    os.close(gate)
    return wrong


def removed_import(place, _whole):
    os.mkfifo(place.path("pipe"))
    process = place.start("db", "import", place.path("pipe"))
    with contextlib.suppress(BrokenPipeError), open(place.path("pipe"), "w") as pipe:
        pipe.write(open(place.path("results")).read() * 12)  # more than the reader takes at once
        pipe.flush()
        wait_for_rows(place)
        os.unlink(place.database)
        pipe.write(open(place.path("results")).read())
    out, err = process.communicate(timeout=GIVEN_UP_S)
    wrong = expect("exit status", process.returncode, 2) + one_line(err, "was removed or replaced")
    return wrong + ([] if " results: " in out else [f"does not say what was kept: {out}"])


def damaged(place, _whole):
    subprocess.run(["cp", place.path("whole.db"), place.database], check=True)
    size = os.path.getsize(place.database)
    wrong = []
    for what, change in (("cut in its middle", lambda f: f.truncate(size // 2)),
                         ("overwritten in its middle", lambda f: (f.seek(4096), f.write(b"\xa5" * (size - 8192))))):
        subprocess.run(["cp", place.path("whole.db"), place.database], check=True)
        with open(place.database, "r+b") as f:
            change(f)
        before = open(place.database, "rb").read()
        for command in (["bench", MODEL], ["db", "import", place.path("results")], ["db", "merge", place.path("whole.db")],
                        ["bound", MODEL]):
            status, _, err = place.run(*command)
            wrong += [f"{what}: {' '.join(command)}: {status}: {err}"] if status != 2 else []
            wrong += [f"{what}: {' '.join(command)}: {line}" for line in one_line(err, "damaged", place.database)]
        wrong += expect(f"{what}: as it was", open(place.database, "rb").read() == before, True)
    return wrong


def sealed(place, whole):
    """On a file system that is mounted read-only, as far as one may mount here: reading works without a word.
    None where nothing can be mounted."""
    folder = place.path("sealed")
    os.mkdir(folder)
    subprocess.run(["cp", place.path("whole.db"), os.path.join(folder, "whole.db")], check=True)
    mount = ["unshare", "-rm", "sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"', folder]
    if subprocess.run([*mount, "true"], capture_output=True).returncode:
        return None
    wrong, kept, place.database = [], place.database, os.path.join(folder, "whole.db")
    for command in (["bound", MODEL], ["layers", MODEL], ["devices"], ["db", "info"], ["db", "check"], [MODEL, "--frame", "80x20"]):
        done = subprocess.run(mount + place.arguments(*command), env=place.env, text=True, capture_output=True, timeout=GIVEN_UP_S)
        wrong += expect(f"{command}: exit status and error", (done.returncode in (0, 1), done.stderr), (True, ""))
    for command in (["bench", MODEL], ["db", "import", place.path("results")]):
        done = subprocess.run(mount + place.arguments(*command), env=place.env, text=True, capture_output=True, timeout=GIVEN_UP_S)
        wrong += expect(f"{command}: exit status", done.returncode, 2) + one_line(done.stderr, "read-only file system", "--db", place.database)
    wrong += expect("rows", place.rows(), whole)
    place.database = kept
    return wrong


CASES = [
    ("bench on a full disk, and space is freed", full_and_freed),
    ("bench on a disk that stays full", full_to_the_end),
    ("an import on a full disk, and again", full_import),
    ("bench while another program has the database locked", locked_bench),
    ("import and merge while another program has it locked", locked_import),
    ("the explorer while another program has it locked", locked_explorer),
    ("the explorer is left while it is locked", locked_to_the_end),
    ("the database is moved away under bench", removed_bench),
    ("the database is removed under the explorer", removed_explorer),
    ("the database is removed under an import", removed_import),
    ("a database that is damaged in its middle", damaged),
    ("a database on a read-only file system", sealed),
]


def prepare(place):
    """A whole database and results as lines; what a run adds."""
    jobs = subprocess.run([python_tap.program(), "bench", "-q", "--emit-jobs", MODEL], env=place.env, text=True,
                          capture_output=True, check=True).stdout
    lines = subprocess.run(["sh", str(TESTS / "lib" / "word_runner.sh"), "Word 1", "words"], input=jobs, text=True,
                           capture_output=True, check=True).stdout
    open(place.path("results"), "w").write(lines)
    open(place.path("one"), "w").write("".join(lines.splitlines(True)[:2]))
    kept, place.database = place.database, place.path("whole.db")
    place.run("bench", "-q", MODEL)
    whole = place.rows()
    place.database = kept
    return whole


def main():
    tap = python_tap.Tap()
    for name, case in python_tap.wanted(CASES, lambda case: case[0]):
        # a runner that outlives its program for a moment may still create a file
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            place = Place(folder)
            whole = prepare(place)
            try:
                wrong = case(place, whole)
            except (OSError, ValueError, subprocess.SubprocessError, sqlite3.Error) as unexpected:
                wrong = [f"{type(unexpected).__name__}: {unexpected}"]
            if wrong is None:
                tap.skipped(name, "nothing can be mounted here")
            else:
                tap.result(name, wrong)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

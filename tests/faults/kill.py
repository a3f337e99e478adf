#!/usr/bin/env python3
"""Killed with -9 at any moment: is what was acknowledged there, sound and once?

bench and the explorer (in a terminal) measure with a runner that answers at once and writes down what it
is asked for.  What is acknowledged: a problem, once another one is asked for behind it, since its results
and its end go to the database before.  They are killed at random moments, over and over on one database
until all is measured, then on another.  Every time the database opens and passes its check, holds every
acknowledged problem with all its results and its end, and no run asks for one of those again.

KILL_SEED and KILL_COUNT repeat a run or make it longer.
"""

import fcntl
import os
import pathlib
import pty
import random
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

SEED = int(os.environ.get("KILL_SEED") or random.SystemRandom().randrange(10**6))
EXPLORERS = int(os.environ.get("KILL_COUNT") or 200)
BENCHES = EXPLORERS // 4
MODEL = str(python_tap.ROOT / "tests" / "models" / "tiny.onnx")
WORD_RUNNER = str(python_tap.ROOT / "tests" / "lib" / "word_runner.sh")
QUESTIONS = 7      # a database is filled by several runs
RESULTS_EACH = 4   # two cache states, two ways to launch
MOMENT_S = 0.004   # how long after a question it may still live
GIVEN_UP_S = 60
QUIET_S = 0.5      # nothing asked for so long: all is measured


class Run:
    """One process, from its start to its sudden end."""

    def __init__(self, folder, number, database, explorer):
        self.log = os.path.join(folder, f"asked{number}")
        os.mkfifo(self.log)
        self.asked_fd = os.open(self.log, os.O_RDONLY | os.O_NONBLOCK)
        self.asked, self.rest, self.screen = [], b"", b""
        self.pressed = not explorer
        command = [python_tap.program(), "--db", database, "-c", os.path.join(folder, "config.yaml"), "-d", "word"]
        command[1:1] = [MODEL] if explorer else ["bench", "-q", MODEL]
        env = python_tap.terminal_environment(folder) | {"ASKED": self.log}
        if explorer:
            self.pid, self.terminal = pty.fork()
            if self.pid == 0:
                os.execvpe(command[0], command, env)
            fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        else:
            # kept: when it is freed, a Popen whose process has ended takes the exit status
            self.process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL)
            self.pid = self.process.pid
            self.terminal = None

    def listen(self, seconds):
        """Takes what it says, for so long at most: False when it has ended, or nothing to do."""
        fds = [self.asked_fd] + ([self.terminal] if self.terminal is not None else [])
        ready = select.select(fds, [], [], seconds)[0]
        if self.asked_fd in ready:
            data = self.read_asked()
            if not data:  # the runner is gone, or not there yet
                time.sleep(0.001)
            self.take(data)
        if self.terminal in ready:
            try:
                self.screen = (self.screen + os.read(self.terminal, 65536))[-20000:]
            except OSError:
                return False
            if not self.pressed and b"not measured" in self.screen:
                try:
                    os.write(self.terminal, b"b")
                except OSError:
                    return False
                self.pressed = True
            if not self.asked and b"layers known" in self.screen:
                return False
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def read_asked(self):
        """What the runner wrote, or b"": select reports the end of one writer, and the next one may be there by now."""
        try:
            return os.read(self.asked_fd, 65536)
        except BlockingIOError:
            return b""

    def take(self, data):
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            if b'"type":"run"' in line:
                self.asked.append(line.split(b'"problem":"')[1].split(b'"')[0].decode())

    def live(self, questions, moment_s):
        """Waits for a number of questions and a moment more. Returns True if it asked no more questions."""
        end, known = time.monotonic() + GIVEN_UP_S, 0
        while len(self.asked) < questions and time.monotonic() < end:
            if not self.listen(0.05):
                return True
            if len(self.asked) > known:
                known, end = len(self.asked), time.monotonic() + QUIET_S
        over = len(self.asked) < questions
        end = time.monotonic() + moment_s
        while (left := end - time.monotonic()) > 0 and self.listen(left):
            pass
        return over

    def kill(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)
        while select.select([self.asked_fd], [], [], 0)[0]:
            data = self.read_asked()
            if not data:
                break
            self.take(data)
        os.close(self.asked_fd)
        if self.terminal is not None:
            os.close(self.terminal)
        os.unlink(self.log)


def wrong_with(database, acknowledged):
    """What is not as it must be, as lines."""
    if not os.path.exists(database):
        return ["acknowledged, and no file"] if acknowledged else []
    check = subprocess.run([python_tap.program(), "db", "check", "--db", database], capture_output=True, text=True)
    if check.returncode and not (not acknowledged and "an empty file" in check.stderr):
        return [f"db check: {check.returncode}: {check.stdout.strip()} {check.stderr.strip()}"]
    if check.returncode:
        return []
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    results = dict(db.execute("SELECT p.text, count(DISTINCT r.cache || r.launch) FROM result r"
                              " JOIN problem p ON p.id = r.problem GROUP BY p.id"))
    finished = {text for text, in db.execute("SELECT p.text FROM finished f JOIN problem p ON p.id = f.problem")}
    db.close()
    return [f"{p}: {results.get(p, 0)} results, {'' if p in finished else 'not '}finished"
            for p in sorted(acknowledged | finished) if results.get(p) != RESULTS_EACH or p not in finished]


def kills(tap, name, count, explorer, draw, folder):
    wrong, databases, acknowledged, lived = [], 1, set(), 0
    for i in range(count):
        database = os.path.join(folder, f"{name}{databases}.db")
        questions, moment_s = draw.randrange(0, QUESTIONS), draw.random() * MOMENT_S
        if questions == 0:
            moment_s *= 10  # it is opening
        run = Run(folder, f"{name}{i}", database, explorer)
        over = run.live(questions, moment_s)
        run.kill()
        lived += bool(run.asked)
        wrong += [f"asked again for {p}" for p in acknowledged & set(run.asked)]
        acknowledged |= set(run.asked[:-1])
        wrong += wrong_with(database, acknowledged)
        if wrong:
            wrong.insert(0, f"kill {i}, {moment_s * 1000:.2f} ms after question {questions}:")
            break
        if over:
            databases, acknowledged = databases + 1, set()
    print(f"# {name}: {count} kills, {lived} while it measured, {databases} databases")
    tap.result(f"{name} killed {count} times: nothing acknowledged is lost, nothing asked for again", wrong)
    tap.result(f"{name} was measuring most of the time", [f"{lived} of {count}"] if lived < count // 2 else [])


def main():
    tap = python_tap.Tap()
    draw = random.Random(SEED)
    print(f"# KILL_SEED={SEED}")
    # a runner that outlives its program for a moment may still create a file
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with open(os.path.join(folder, "config.yaml"), "w") as f:
            f.write(f"runners:\n  word: [sh, -c, 'tee -a \"$ASKED\" | sh \"{WORD_RUNNER}\" \"Word 1\" words']\n")
        kills(tap, "bench", BENCHES, False, draw, folder)
        kills(tap, "the explorer", EXPLORERS, True, draw, folder)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

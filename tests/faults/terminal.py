#!/usr/bin/env python3
"""The explorer's terminal is stopped, lags, changes its size all the time, sends a megabyte, is not there or
goes away. Whatever happens, the program goes on or ends soon, with the right status and the terminal as it
was.

By hand also with a program that was built with --enable-asan --enable-ubsan: BENANZA=build-asan/benanza."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import termios
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import job_control  # noqa: E402
import python_tap  # noqa: E402

MODEL = python_tap.ROOT / "data" / "models" / "resnet50.onnx"
WAIT_S = 60
BEGINNINGS = 20  # each is at another moment
PASTE_S = 60  # a megabyte: two seconds on an idle machine, more with sanitizers
PASTED = b"conv relu layer 1.0 " * 52429
SANITIZER = "exitcode=99:detect_leaks=1"
DRAWN = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


def environment(home):
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR", "TMUX")}
    places = {f"XDG_{kind}_HOME": home for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    return kept | places | {"HOME": home, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color",
                            "ASAN_OPTIONS": SANITIZER, "UBSAN_OPTIONS": "print_stacktrace=1"}


def command(home):
    config = pathlib.Path(home) / "terminal.yaml"
    config.write_text("measure: never\nrunners: { none: [sh, -c, 'exit 7'] }\n", encoding="utf-8")
    return [python_tap.program(), "-c", str(config), "-d", "none", "--fresh", str(MODEL)]


class Explorer(job_control.Terminal):
    def __init__(self, home, wrap=()):
        super().__init__([*wrap, *command(home)], environment(home), home)
        self.see(b"quit")

    def see(self, text, since=0):
        """Waits until it has drawn the text after it had sent `since` bytes."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            new = self.shown[-(self.heard - since):] if self.heard > since else b""
            if text in DRAWN.sub(b"", new):
                return True
            if not self.hear(0.1):
                break
        return False

    def all_heard(self):
        before = -1
        while before != self.heard:
            before = self.heard
            self.hear(0.2)
        return self.heard

    def sees_again(self, text):
        since = self.heard
        self.type(b"\x0c")
        return self.see(text, since)

    def waits_for_state(self, letter):
        end = time.monotonic() + WAIT_S
        while job_control.status_of(self.program).get("State", letter)[0] != letter:
            self.hear(0.02)
            if time.monotonic() > end:
                return False
        return True

    def leave(self):
        self.type(b"\x1b")
        self.hear(0.3)
        self.type(b"Q")
        end = time.monotonic() + WAIT_S
        while self.hear(0.2) and time.monotonic() < end:
            pass
        status = self.status
        self.kill()
        return status


def check(tap, good, name, term=None):
    wrong = [] if good else ["it is not so"]
    if wrong and term:
        wrong += [f"status {term.status}", f"shown last: {term.shown[-1500:]!r}"]
    tap.result(name, wrong)


def is_cooked(fd):
    return bool(termios.tcgetattr(fd)[3] & termios.ICANON)


def stopped(tap, home):
    term = Explorer(home)
    for turn in range(3):
        term.held.touch()
        term.type(b"j\x1a")
        check(tap, term.waits_for_state("T") and is_cooked(term.fd), f"^Z stops it, turn {turn}", term)
        term.resize((100 + turn, 30))
        os.write(term.fd, b"\x13")  # ^S, for the shell
        since = term.all_heard()
        term.held.unlink()
        check(tap, term.see(b"quit", since) and not is_cooked(term.fd), "fg draws it again", term)
        check(tap, term.sees_again(b"[1] Layers"), "and it takes keys", term)
    term.held.touch()
    term.type(b"\x1a")
    term.waits_for_state("T")
    os.kill(term.program, signal.SIGTERM)
    term.held.unlink()
    while term.hear(0.2):
        pass
    check(tap, term.status == 128 + signal.SIGTERM, "^Z, then SIGTERM: ends when it is continued", term)
    term.kill()


def lagging(tap, home):
    """Nobody reads for three seconds while keys arrive that draw all of the screen."""
    term = Explorer(home)
    for _ in range(60):
        try:
            os.write(term.fd, b"jjG\x0cg2\x0c1")
        except BlockingIOError:
            pass
        time.sleep(0.05)
    check(tap, term.sees_again(b"[1] Layers") and term.memory_kib() < 2**20, "a terminal that lags", term)
    check(tap, term.leave() == 0, "and the program leaves", term)


def flooded(tap, home):
    """Keys that wait are taken together: a frame for each of them would be sent otherwise."""
    term = Explorer(home)
    before = term.all_heard()
    term.type(b"\x0c")
    frame = term.all_heard() - before
    since = term.heard
    term.type(b"\t" * 220 + b"1")
    term.see(b"[1] Layers", since)
    sent = term.all_heard() - since
    check(tap, frame < sent < 55 * frame, f"a flood of 220 keys: {sent} bytes, {frame} for a frame", term)
    check(tap, term.sees_again(b"[1] Layers"), "and all of them were taken", term)
    check(tap, term.leave() == 0, "and the program leaves", term)


def clicked(tap, home):
    """A click that comes with the key before it, which has left the headings that it would sort by."""
    term = Explorer(home)
    term.type(b":mouse on\r")
    for column in range(2, 80, 6):
        term.type(b"1")
        term.hear(0.4)
        term.type(b"?" + b"\x1b[<0;%d;5M\x1b[<0;%d;5m" % (column, column))
        term.hear(0.1)
        term.type(b"q")
    check(tap, term.sees_again(b"bound"), "clicks that come with a key", term)
    check(tap, term.leave() == 0, "and the program leaves", term)


def resized(tap, home):
    term = Explorer(home)
    for i in range(2000):
        term.resize([(1, 1), (300, 100), (40, 10), (80, 24), (2, 200), (500, 3)][i % 6])
        if i % 10 == 0:
            term.type(b"jG\tk"[i // 10 % 4:][:1])
        term.hear(0)
    term.type(b"1")
    term.resize((100, 30))
    check(tap, term.sees_again(b"[1] Layers") and term.sees_again(b"quit"), "2,000 other sizes", term)
    check(tap, term.leave() == 0, "and the program leaves", term)


def pasted(tap, home):
    for key, shown in ((b"x", b"does not act as keys"), (b"/", b"layer 1.0"), (b"d", b"batch")):
        term = Explorer(home)
        began, since = time.monotonic(), term.heard
        term.type(key)
        written = term.type(b"\x1b[200~" + PASTED + b"\x1b[201~")
        check(tap, written and term.see(shown, since), f"a megabyte after {key.decode()}", term)
        took = time.monotonic() - began
        check(tap, took < PASTE_S, f"takes {took:.1f} s, less than {PASTE_S} s")
        check(tap, term.leave() == 0, "and the program leaves", term)
    term = Explorer(home)
    term.type(b":")
    began = time.monotonic()
    term.type(PASTED[:200000])
    term.leave()
    took = time.monotonic() - began
    check(tap, term.status == 0 and took < PASTE_S,
          f"200 kB of a terminal without bracketed paste: {took:.1f} s", term)


def gone(tap, home):
    for what in ("at once", "after keys", "stopped"):
        term = Explorer(home)
        if what != "at once":
            term.type(b"jjp2")
        if what == "stopped":
            term.held.touch()
            term.type(b"\x1a")
            term.waits_for_state("T")
            term.held.unlink()
        began = time.monotonic()
        term.hang_up()
        took = time.monotonic() - began
        ends = (128 + signal.SIGHUP, -signal.SIGHUP)
        check(tap, term.status in ends and took < WAIT_S,
              f"the terminal goes away, {what}: ends with SIGHUP", term)
        term.kill()
    kept = list((pathlib.Path(home) / "benanza" / "models").glob("*"))
    check(tap, kept, "what was shown is kept")


def began(tap, home):
    """SIGTERM at the first bytes drawn, while curses begins: the program ends by it, not with status 1."""
    ends, seen = (128 + signal.SIGTERM, -signal.SIGTERM), set()
    for _ in range(BEGINNINGS):
        term = job_control.Terminal(command(home), environment(home), home)
        while not term.heard and term.hear(0.1):
            pass
        term.signal(signal.SIGTERM)
        while term.hear(0.1):
            pass
        seen.add(term.status)
        term.kill()
    tap.result("SIGTERM while curses begins", [] if seen <= set(ends) else [f"ended with {seen}"])


def closed(tap, home):
    for what in ("</dev/null", "<&-", "2>&-"):
        term = Explorer(home, ["sh", "-c", f'exec "$@" {what}', "sh"])
        check(tap, term.sees_again(b"[1] Layers"), f"{what}: keys come from the terminal", term)
        check(tap, term.leave() == 0, "and the program leaves", term)
    for what, said in ((">/dev/null", "needs a terminal"), (">&-", "needs a terminal")):
        done = subprocess.run(["sh", "-c", f'exec "$@" {what}', "sh", *command(home)],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(home),
                              text=True, timeout=WAIT_S)
        check(tap, done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1,
              f"{what}: {done.stderr.strip()}")
    reader, writer = os.openpty()  # nobody's controlling terminal
    done = subprocess.run(command(home), stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE,
                          env=environment(home), text=True, timeout=WAIT_S, start_new_session=True)
    check(tap, done.returncode == 2 and "/dev/tty" in done.stderr,
          f"no terminal for keys: {done.stderr.strip()}")
    os.close(reader)
    os.close(writer)


def main():
    tap = python_tap.Tap()
    for part in (stopped, lagging, flooded, clicked, resized, pasted, gone, began, closed):
        with tempfile.TemporaryDirectory() as home:
            part(tap, home)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

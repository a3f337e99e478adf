"""A program in a terminal of our own, whose parent is a shell with job control: it continues it after ^Z.

LeakSanitizer stops a program with a SIGSTOP of its own at the end. A SIGCONT at that moment removes it, and
the program waits forever. So SIGCONT is only sent to a program that ^Z has stopped and that nobody traces.
"""

import fcntl
import os
import pathlib
import pty
import select
import signal
import struct
import termios
import time

GIVEN_UP_S = 120  # without a sign of life
WAIT_S = 0.5
FIRST_BYTES = 2000
LAST_BYTES = 20000
KEYS_OF_SHELL = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTOU, signal.SIGHUP)


def status_of(pid):
    """The lines of /proc/PID/status; {} when it is gone."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def run_as_shell(command, env, folder, told, held):
    """In the child that has the terminal: runs the program in the foreground, continues it after ^Z, unless
    the file `held` exists, and ends as it ends."""
    os.chdir(folder)
    for number in KEYS_OF_SHELL:
        signal.signal(number, signal.SIG_IGN)
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        for number in KEYS_OF_SHELL:
            signal.signal(number, signal.SIG_DFL)
        os.close(told)
        os.execvpe(command[0], command, env)
    os.write(told, str(pid).encode())
    os.close(told)
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            break
        while status_of(pid).get("TracerPid", "0") != "0" or held.exists():
            time.sleep(0.02)
        time.sleep(0.02)
        os.killpg(pid, signal.SIGCONT)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


class Terminal:
    """`first` and `shown`: what the program drew first and last; `status`: how it ended."""

    def __init__(self, command, env, folder, size=(80, 24)):
        self.heard, self.status = 0, None
        self.first = self.shown = b""
        self.held = pathlib.Path(folder) / "held"
        tells, told = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.close(tells)
            try:
                run_as_shell(command, env, folder, told, self.held)
            finally:
                os._exit(127)
        os.close(told)
        os.set_blocking(self.fd, False)
        self.resize(size)
        with os.fdopen(tells) as numbers:
            self.program = int(numbers.read())

    def resize(self, size):
        self.size = size
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def hear(self, seconds):
        """Takes what it draws. False when it has ended."""
        if self.status is not None:
            return False
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                data = os.read(self.fd, 65536)
            except BlockingIOError:
                return True
            except OSError:  # nobody has the terminal any more
                return self.ended()
            self.heard += len(data)
            self.first = (self.first + data)[:FIRST_BYTES]
            self.shown = (self.shown + data)[-LAST_BYTES:]
        return True

    def ended(self):
        """Waits for its end. False, as hear()."""
        end = time.monotonic() + GIVEN_UP_S
        while self.status is None and time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            else:
                time.sleep(0.01)
        return False

    def begin(self):
        """Until it draws: what is typed before is for the terminal, and ^S would stop it."""
        end = time.monotonic() + GIVEN_UP_S
        while b"\x1b[" not in self.first and self.hear(0.5):
            if time.monotonic() > end:
                raise TimeoutError("does not begin")

    def type(self, data):
        """False when it has ended; an error if it does not take the keys."""
        end = time.monotonic() + GIVEN_UP_S
        while data:
            if not self.hear(0):
                return False
            try:
                data = data[os.write(self.fd, data):]
            except BlockingIOError:
                self.hear(0.05)
            except OSError:
                return self.ended()
            if time.monotonic() > end:
                raise TimeoutError("takes no keys")
        return True

    def lives(self):
        """Another size makes it draw, whatever it is at."""
        before = self.heard
        waits = int(GIVEN_UP_S / WAIT_S)  # not by the clock: the machine may have been paused
        self.resize((82, 25) if self.size == (81, 24) else (81, 24))
        while self.heard == before:
            if not self.hear(WAIT_S):
                return False
            waits -= 1
            if not waits:
                raise TimeoutError("does not draw; " + "; ".join(self.state()))
        return True

    def signal(self, number):
        """It may have ended meanwhile."""
        try:
            os.kill(self.program, number)
        except ProcessLookupError:
            pass

    def state(self):
        """What the program and the shell are doing, for reports."""
        what = ("State", "TracerPid", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt")
        for name, pid in (("program", self.program), ("shell", self.pid)):
            status = status_of(pid)
            try:
                where = pathlib.Path(f"/proc/{pid}/wchan").read_text()
            except OSError:
                where = ""
            said = [f"{w} {status.get(w)}" for w in what] + [f"in {where}"]
            yield f"{name}: {', '.join(said) if status else 'gone'}"

    def hang_up(self):
        """The terminal is gone; waits for the program's end."""
        os.close(self.fd)
        self.fd = -1
        self.ended()

    def kill(self):
        if self.status is None:
            self.signal(signal.SIGKILL)
            os.waitpid(self.pid, 0)
        if self.fd >= 0:
            os.close(self.fd)

    def memory_kib(self):
        return int(status_of(self.program).get("VmRSS", "0 kB").split()[0])

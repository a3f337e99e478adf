"""A simulated clock for tests of the tiers: hours pass in seconds, and nothing depends on how fast the
machine is that runs the test.

    simulated.py CLOCK check_gpu.py [its arguments]      runs a program whose gpu_clock is CLOCK, a file

Two processes have part in it. The program moves the clock while it sleeps, once whoever it watches sleeps
too (standin_runner.py, a stand-in of PyTorch), and not beyond the moment at which that one wakes. One that is
not watched but read from moves the clock itself, and lets the reader look at it after each line. At the
clock's end the program is killed, as the time limit of a lent machine does it.
"""

import mmap
import os
import pathlib
import runpy
import signal
import sys
import time

NOW, END, LOOKS, PID, WAKE, FIELDS = range(6)
STEP_S = 1.0         # longest step of the clock: how late a program may notice that its time is up
POLL_S = 0.0003      # real
PATIENCE_S = 20.0    # real: a reader that does not look for so long will not


class Clock:
    """The numbers of a file: seconds now, seconds of the end, how often the program has looked; who sleeps,
    and until when."""

    def __init__(self, path):
        if not os.path.exists(path):
            pathlib.Path(path).write_bytes(bytes(8 * FIELDS))
        with open(path, "r+b") as file:
            self.at = memoryview(mmap.mmap(file.fileno(), 8 * FIELDS)).cast("d")

    # --- the program ---

    def now(self):
        self.at[LOOKS] += 1
        if self.at[END] and self.at[NOW] >= self.at[END]:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.at[NOW]

    def sleep(self, seconds):
        watched = children()
        while watched and not (int(self.at[PID]) in watched and self.at[WAKE] > self.at[NOW]):
            time.sleep(POLL_S)
            watched = children()
        wakes = self.at[WAKE] - self.at[NOW] if watched else seconds
        self.at[NOW] += max(seconds, min(wakes, STEP_S))

    # --- others ---

    def work(self, seconds, watched):
        """Seconds of work, of a process that the program watches or only reads from."""
        if not watched:
            self.at[NOW] += seconds
            return
        self.at[WAKE] = self.at[NOW] + seconds
        self.at[PID] = os.getpid()
        while self.at[NOW] < self.at[WAKE]:
            time.sleep(POLL_S)

    def read(self, write):
        """Writes a line and waits until its reader has looked at the clock."""
        before, until = self.at[LOOKS], time.monotonic() + PATIENCE_S
        write()
        while self.at[LOOKS] == before and time.monotonic() < until:
            time.sleep(POLL_S)


def children():
    """The living children of this process."""
    pids = []
    for task in pathlib.Path("/proc/self/task").iterdir():
        pids += (task / "children").read_text(encoding="ascii").split()
    return {int(pid) for pid in pids if is_alive(pid)}


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rsplit(
            ") ", 1)[1][0] not in "ZX"
    except OSError:
        return False


def main():
    clock, program = Clock(sys.argv[1]), sys.argv[2]
    sys.path.insert(0, os.path.dirname(program))
    import gpu_clock
    gpu_clock.now, gpu_clock.sleep = clock.now, clock.sleep
    sys.argv[:] = sys.argv[2:]
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()

"""The canary: a small fixed workload that shows when a core is slower than usual, because other programs or
virtual machines use it, its other hardware thread, or lower its clock."""

import os
import re
import threading
import time

from . import machine

SIZE, PRODUCTS, TIMES = 64, 3, 4  # of matrices: 20 us at 80 GFLOP/s, several times
SLOW = 1.3  # slower than usual by this factor is disturbed, as in the CPU runner
SLOWER_MOST = 4  # a larger factor means that the canary itself was interrupted
KEPT = 200  # times of a core that determine what is usual
FIRST = 5  # times before the first answer
RISE = 1.02  # of the usual time from one process to the next: a clock can fall and stay low
PAUSE_S = 0.002  # between two canaries while waiting
MAGIC = "benanza-agent-canary 1"


class Core:
    """One core's canary. The time is the thread's processor time, because the framework's threads can still
    spin on the core: two threads on one core each wait, and that says nothing about its speed."""

    def __init__(self, usual_ns=None):
        import numpy

        # Products use the units that vector code uses, and leave few of them to another hardware thread.
        self.matmul, self.factor = numpy.matmul, numpy.full((SIZE, SIZE), 0.5, numpy.float32)
        self.left = numpy.broadcast_to(self.factor, (PRODUCTS, SIZE, SIZE))
        self.product = numpy.empty(self.left.shape, numpy.float32)
        self.seen, self.usual_ns = [], usual_ns

    def run(self):
        """Runs the workload. The shortest time counts: at first the model has evicted it from the caches, and
        threads that meet at the interpreter's lock spend processor time there."""
        times = []
        for _ in range(TIMES):
            begin = time.thread_time_ns()
            self.matmul(self.left, self.factor, out=self.product)
            times.append(time.thread_time_ns() - begin)
        self.seen.append(min(times))
        del self.seen[:-KEPT]

    def usual(self):
        """Returns the usual time: the 10% quantile of the last times, or that of earlier processes if lower.
        Disturbances only add time."""
        own = sorted(self.seen)[len(self.seen) // 10]
        return min(own, self.usual_ns) if self.usual_ns else own

    def slowdown(self):
        return self.seen[-1] / max(1, self.usual())


class Canary:
    """The canaries of several cores, which run at the same time. `cores`: numbers of processors, the first
    the one of the calling thread; none: only the calling thread's, wherever it runs."""

    def __init__(self, cores=(), memory=None):
        self.memory = memory if memory is not None else Memory(cores)
        usual = self.memory.recall(max(1, len(cores)))
        self.cores = [Core(ns) for ns in usual]
        self.begin = threading.Barrier(len(self.cores))
        self.end = threading.Barrier(len(self.cores))
        for core, cpu in zip(self.cores[1:], cores[1:]):
            threading.Thread(target=self.serve, args=(core, cpu), daemon=True).start()
        for _ in range(FIRST):
            self.run()

    def serve(self, core, cpu):
        machine.bind(cpu)
        while True:
            self.begin.wait()
            core.run()
            self.end.wait()

    def run(self):
        self.begin.wait()
        self.cores[0].run()
        self.end.wait()

    def slowdown(self):
        """Runs the canary once. Returns the factor by which the slowest core is slower than usual; about 1 on
        a quiet machine."""
        self.run()
        return min(max(core.slowdown() for core in self.cores), SLOWER_MOST)

    def wait(self, limit_s, now=time.monotonic, sleep=time.sleep):
        """Waits until the machine is as usual, at most limit_s. Returns the time that it took, in s."""
        begin = now()
        while self.slowdown() > SLOW and now() - begin < limit_s:
            sleep(PAUSE_S)
        return now() - begin

    def remember(self):
        self.memory.remember([core.usual() for core in self.cores])


_of_process = []


def of_process(cores=()):
    """Returns the canary of this process; the first call decides on its cores."""
    if not _of_process:
        _of_process.append(Canary(cores))
    return _of_process[0]


class Memory:
    """The usual times of earlier processes on the same host and cores: a process that starts on a busy
    machine would take slow times as usual. A file in the cache directory; without one nothing is
    remembered."""

    def __init__(self, cores=()):
        name = "-".join(map(str, cores)) or "any"
        host = re.sub(r"[^A-Za-z0-9]", "-", os.uname().nodename)
        self.path = self.folder() and os.path.join(self.folder(), f"agent-canary-{host[:63]}-{name[:120]}")

    @staticmethod
    def folder():
        cache = os.environ.get("XDG_CACHE_HOME", "")
        home = os.environ.get("HOME", "")
        if not os.path.isabs(cache):
            cache = os.path.join(home, ".cache") if os.path.isabs(home) else ""
        return os.path.join(cache, "benanza") if cache else None

    @staticmethod
    def kind():
        import numpy

        return f"{MAGIC} numpy {numpy.__version__}"  # another version can have a faster product

    def recall(self, count):
        """Returns the usual time of each core in ns, raised by RISE; None if it is unknown."""
        kind, _, values = machine.read(self.path).strip().partition(": ") if self.path else ("", "", "")
        try:
            found = [float(value) for value in values.split()]
        except ValueError:
            found = []
        known = kind == self.kind() and len(found) == count and all(0 < ns < 1e9 for ns in found)
        return [ns * RISE for ns in found] if known else [None] * count

    def remember(self, usual):
        """Writes another file and renames it, because another process may read it meanwhile."""
        if not self.path:
            return
        draft = f"{self.path}.{os.getpid()}"
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            with open(draft, "w", encoding="ascii") as file:
                file.write(f"{self.kind()}: {' '.join(f'{ns:.0f}' for ns in usual)}\n")
            os.replace(draft, self.path)
        except OSError:  # the next process learns again
            pass

"""The change pages=2m of a trial: each side runs in a process of its own, and the heap of the changed one is
in transparent huge pages (docs/agents.md). malloc reads GLIBC_TUNABLES when a process starts."""

import multiprocessing
import os
import re
import sys

from . import machine, package, worker
from .request import Unsupported

KERNEL = "/sys/kernel/mm/transparent_hugepage"
LEAST_GLIBC = "2.35"
HUGE = 2 << 20
LEAST = 8 << 20  # bytes that the session must have in them: the interpreter's heap can gain some pages
TUNABLE = "glibc.malloc.hugetlb"


def environment(agent, kernel=KERNEL, given=None):
    """Returns the environment variables with which malloc asks for huge pages. Raises Unsupported if they
    would change nothing. given: the user's GLIBC_TUNABLES."""
    given = os.environ.get("GLIBC_TUNABLES", "") if given is None else given
    mode = re.search(r"\[(\w+)\]", machine.read(f"{kernel}/enabled"))
    size = machine.read(f"{kernel}/hpage_pmd_size").strip()
    advice = f"as root: echo madvise >{KERNEL}/enabled"
    if not getattr(agent, "MALLOC", False):
        raise Unsupported(f"the agent of {agent.NAME} cannot change the pages of its framework's heap")
    if not mode:
        raise Unsupported("this kernel has no transparent huge pages: CONFIG_TRANSPARENT_HUGEPAGE is off")
    if mode.group(1) == "always":
        raise Unsupported(f"both sides have huge pages, which are on for all memory (always); {advice}")
    if mode.group(1) != "madvise":
        raise Unsupported(f"transparent huge pages are off ({mode.group(1)}); {advice}")
    if size not in ("", str(HUGE)):
        raise Unsupported(f"huge pages have {size} bytes on this machine, not {HUGE}")
    if not package.at_least(glibc(), LEAST_GLIBC):
        raise Unsupported(f"malloc asks for huge pages in glibc {LEAST_GLIBC} or later; this is {glibc()}")
    if machine.huge_bytes() is None:
        raise Unsupported("the memory in huge pages is unknown: /proc/self/smaps_rollup needs Linux 4.14")
    if any(one.startswith(f"{TUNABLE}=") and one != f"{TUNABLE}=0" for one in given.split(":")):
        raise Unsupported(f"both sides have huge pages by GLIBC_TUNABLES={given}: take {TUNABLE} out of it")
    return {"GLIBC_TUNABLES": ":".join(filter(None, [given, f"{TUNABLE}=1"]))}


def huge_of(side):
    """Returns the memory in huge pages that a session and its tensors have, in bytes."""
    return (machine.huge_bytes(side.process) or 0) - side.huge_before


def effect(base, changed):
    """Returns what made the change, with the memory in huge pages of both sides. Raises Unsupported if the
    changed side has hardly more of it."""
    if changed - base < LEAST:
        raise Unsupported(
            f"huge pages have no effect: the changed session has {changed >> 20} MiB in them, the unchanged "
            f"one {base >> 20} MiB"
        )
    return f"{TUNABLE}=1: {changed >> 20} MiB in huge pages, unchanged {base >> 20} MiB"


def glibc():
    """Returns "glibc 2.36"; "another libc"."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or "another libc"
    except (OSError, ValueError):
        return "another libc"


def serve(pipe, parent, make, path, request, allowed):
    """Makes a side and answers calls of its methods until the pipe is closed."""
    machine.die_with_parent(parent)
    call, side = ("plain", ()), None
    try:
        while True:
            try:
                if not side:
                    agent = sys.modules["__main__"]
                    agent.load(request)
                    side = make(agent, path, request, allowed)
                answer = getattr(side, call[0])(*call[1]), None
            except Exception as error:  # whatever a framework raises
                answer = None, (worker.status_of(error), worker.one_line(error))
            pipe.send(answer)
            call = pipe.recv()
    except (EOFError, OSError):  # the other end is closed
        os._exit(0)


class Apart:
    """A side in a process of its own, with other environment variables. It passes calls to that process."""

    def __init__(self, make, path, request, allowed, variables):
        context, before = multiprocessing.get_context("spawn"), dict(os.environ)
        machine.allow(allowed)  # a session may have bound this thread
        self.pipe, theirs = context.Pipe()
        self.child = context.Process(
            target=serve, args=(theirs, os.getpid(), make, path, request, allowed), daemon=True
        )
        os.environ.update(variables)
        try:
            self.child.start()
        finally:
            for name in variables:
                os.environ.pop(name)
            os.environ.update(before)
        theirs.close()
        self.request, self.runs, self.process = request, range(request.requests), self.child.pid
        vars(self).update(self.receive())

    def receive(self):
        try:
            result, failure = self.pipe.recv()
        except (EOFError, OSError):
            self.child.join()
            raise RuntimeError(f"its process ended with exit status {self.child.exitcode}") from None
        if failure:
            kind = {"unsupported": Unsupported, "no_memory": MemoryError}.get(failure[0], RuntimeError)
            raise kind(failure[1])
        return result

    def ask(self, method, *arguments):
        try:
            self.pipe.send((method, arguments))
        except OSError:
            pass  # its end is noticed by reading
        return self.receive()

    def enter(self):
        machine.allow(self.allowed)  # the canary of the side's first core runs in this thread

    def computed(self):
        return self.ask("computed")

    def run_first(self, _feeds):
        return self.ask("run_first")  # makes the same inputs from the seed

    def block(self, count):
        return self.ask("block", count)

    def outputs(self):
        return self.ask("outputs")

    def end(self):
        self.ask("end")

    def close(self):
        self.pipe.close()
        self.child.join()

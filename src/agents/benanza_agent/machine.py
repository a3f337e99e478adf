"""Facts about the machine: processor, cores, memory of this process, waiting time of its threads."""

import os
import platform
import re


def read(path, default=""):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return default


def cpu_model(text=None):
    """Returns the model of the processor from /proc/cpuinfo."""
    text = read("/proc/cpuinfo") if text is None else text
    for key in ("model name", "Model", "Hardware", "Processor"):
        found = re.search(rf"^{key}\s*:\s*(\S.*)$", text, re.MULTILINE)
        if found:
            return " ".join(found.group(1).split())
    return platform.machine() or "unknown processor"


def gpu_model():
    """Returns the model of the first NVIDIA GPU from its driver; "" without a GPU."""
    folder = "/proc/driver/nvidia/gpus"
    try:
        first = sorted(os.listdir(folder))[0]
    except (OSError, IndexError):
        return ""
    found = re.search(r"^Model:\s*(\S.*)$", read(f"{folder}/{first}/information"), re.MULTILINE)
    return " ".join(found.group(1).split()) if found else ""


def affinity():
    """Returns the processors on which this process may run, in order."""
    try:
        return sorted(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return list(range(os.cpu_count() or 1))


def cores(cpus=None, siblings="/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"):
    """Returns one processor of each core that this process may use, in order."""
    first = {}
    for cpu in affinity() if cpus is None else cpus:
        first.setdefault(read(siblings.format(cpu)).strip() or str(cpu), cpu)
    return sorted(first.values())


def bind(cpu):
    """Binds the calling thread to a processor; threads that it starts later inherit the binding. Returns
    False if the system does not allow it."""
    return allow({cpu})


def allow(cpus):
    """Lets the calling thread, and threads that it starts later, run on these processors. Returns False if
    the system does not allow it."""
    try:
        os.sched_setaffinity(0, cpus)
        return True
    except (AttributeError, OSError):
        return False


def reset_peak():
    """Resets the peak of resident memory (VmHWM) to the current value."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        pass


def memory(key):
    """Returns VmHWM (peak resident memory) or VmRSS of this process in bytes; None if unknown."""
    found = re.search(rf"^{key}:\s*(\d+) kB", read("/proc/self/status"), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else None


def huge_bytes(process="self"):
    """Returns the memory of a process in transparent huge pages, in bytes; None if unknown."""
    found = re.search(r"^AnonHugePages:\s*(\d+) kB", read(f"/proc/{process}/smaps_rollup"), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else None


def waited_ns(*processes):
    """Returns the time that the threads of processes, by default of this one, were ready but had no core, in
    ns; None if unknown."""
    total = 0
    try:
        for process in processes or ("self",):
            for task in os.listdir(f"/proc/{process}/task"):
                fields = read(f"/proc/{process}/task/{task}/schedstat").split()
                if len(fields) >= 2:
                    total += int(fields[1])
                elif os.path.isdir(f"/proc/{process}/task/{task}"):
                    return None
    except (OSError, ValueError):
        return None
    return total


def die_with_parent(parent):
    """Makes the kernel end this process when its parent ends."""
    try:
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        pass
    if os.getppid() != parent:
        os._exit(1)

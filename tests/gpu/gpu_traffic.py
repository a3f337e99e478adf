"""Bytes that a kernel reads from memory, by Nsight Compute (ncu): whether caches are in the state that a
result names, without any clock.

ncu's CSV (version 2025.3, page `details`, options --csv --metrics), between lines "==PROF== ..." and what the
program prints:

    "ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",
        "Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
    "0","4711","benanza-runner-c","127.0.0.1","gemv2T_kernel_val","1","7","(128, 1, 1)","(1024, 1, 1)","0",
        "9.0","Command line profiler metrics","dram__bytes_read.sum","byte","33,554,432"

one row a launch and metric, numbers with separators of the locale. The form is that of published outputs;
here nobody has run ncu yet.
"""

import csv
import re
import statistics

METRIC = "dram__bytes_read.sum"
# one metric needs one pass: nothing is replayed. Caches stay as the runner leaves them, clocks as they are
OPTIONS = ["--csv", "--metrics", METRIC, "--print-units", "base", "--cache-control", "none",
           "--clock-control", "none", "--launch-count", "4000"]
# the runner's own, around what it measures (kernels/cuda_probe.cu, cuda_fill.cu)
AROUND = re.compile(r"\b(block|span_begin|span_end|spin|heat|nothing|fill|fill_packed)_kernel\b")
NOT_ALLOWED = re.compile(r"==ERROR== .*ERR_NVGPUCTRPERM.*")
UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}
# weights that fit in the cache are read from memory at most by this share of what net reads
WARM_MOST = 0.5
# what a cache must have for them, as a factor of their bytes
ROOM = 1.25


class Unreadable(Exception):
    """One line: what ncu wrote instead."""


def read(text):
    """{kernel: [bytes of each launch]} of what ncu and the program wrote. Raises Unreadable."""
    lines, found = [line for line in text.splitlines() if line.startswith('"')], {}
    head = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), None)
    if head is None:
        raise Unreadable((text.strip().splitlines() or ["ncu wrote nothing"])[-1])
    for row in csv.DictReader(lines[head:]):
        if row.get("Metric Name") != METRIC:
            continue
        number, unit = (row.get("Metric Value") or "").replace(",", ""), row.get("Metric Unit")
        if unit not in UNITS or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", number):
            raise Unreadable(f"{row.get('Kernel Name')}: {METRIC} is {row.get('Metric Value')!r} {unit!r}")
        if not AROUND.search(row["Kernel Name"]):
            found.setdefault(row["Kernel Name"], []).append(float(number) * UNITS[unit])
    if not found:
        raise Unreadable(f"no kernel has {METRIC}")
    return found


def most(found):
    """The kernel that reads the weights, and its bytes: the largest median. The first launches find caches
    in another state."""
    return max(((statistics.median(launches), kernel) for kernel, launches in found.items()))


def judge(net, warm, weights, cache):
    """[(good, text)]: of {kernel: launches} in the states net and warm, the bytes of weights and cache."""
    (net, kernel), (warm, _) = most(net), most(warm)
    told = [(net >= 0.75 * weights, f"net: {kernel} reads {net / 1e6:.1f} MB from memory, "
             f"required 75% of the weights' {weights / 1e6:.1f}")]
    if cache >= ROOM * weights:
        told.append((warm <= WARM_MOST * net, f"warm: {warm / 1e6:.1f} MB, required at most "
                     f"{100 * WARM_MOST:.0f}% of net, since the cache has {cache / 1e6:.0f} MB"))
    return told

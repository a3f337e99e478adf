#!/usr/bin/env python3
"""Sums as products with ones beside the fastest other algorithm of the CPU runner: oneDNN's own reduction or
plain C. Segments of 16 to 65536 values in f32 and bf16, 2^20 values in all: sums of rows, sums of columns,
running sums of rows (up to 512 values, as far as one product goes).

Both sides are measured in turn, each a few milliseconds a round, with the source where the last execution
left it (in a last-level cache of more than 4 MB: there). A table in microseconds (medians over the rounds),
and how many times as long the other algorithm takes: the median of the rounds' ratios, with an interval of
95% for the median.

    tests/bench/bench_ones.py [--builddir DIR] [--rounds 15] [--ms 3] [--types f32,bf16] [KIND...]

KIND: rows, columns, running (default: all three). Leaves with 77 where the runner is not built.
"""

import argparse
import os
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True
from bench_rows import TOP, Process, machine, median_interval  # noqa: E402

VALUES = 1 << 20
SEGMENTS = [1 << bits for bits in range(4, 17, 2)]
LONGEST_RUNNING = 512
SIDES = ("other", "ones")


def problem_of(kind, t, length):
    """The text of sums of `length` values each."""
    count = VALUES // length
    return {"rows": f"reduce:{t},{t}:sum:{count}x{length}:{count}x1",
            "columns": f"reduce:{t},{t}:sum:{length}x{count}:1x{count}",
            "running": f"scan:{t},{t}:cumsum:{count}x{length}:ax1"}[kind]


def lengths_of(kind):
    short = [n for n in SEGMENTS if n <= LONGEST_RUNNING]
    return short + [LONGEST_RUNNING] if kind == "running" else SEGMENTS


def measure(process, text, options):
    """side -> its times in ns, one a round; and side -> what it ran. None: a side has no algorithm."""
    ran = (process.ask(f"open {text}") or {"sides": {}})["sides"]
    if set(ran) != set(SIDES):
        return None, ran
    times = {name: [] for name in SIDES}
    for _ in range(options.rounds):
        for name, taken in times.items():
            taken.append(process.ask(f"run {name} {options.ms}")["ns"])
    return times, ran


def line_of(kind, t, length, times, ran):
    start = f"{kind:8} {t:5}{length:6}"
    if times is None:
        return f"{start}  " + ", ".join(f"no {name}" for name in SIDES if name not in ran)
    middle, low, high = median_interval([other / ones for other, ones in zip(times["other"], times["ones"])])
    cells = "".join(f"{statistics.median(times[name]) / 1e3:12.1f}" for name in SIDES)
    names = "  ".join(ran[name].split()[0] for name in SIDES)
    return f"{start}{cells}  {middle:8.2f} [{low:.2f}, {high:.2f}]  {names}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", default=[])
    parser.add_argument("--builddir", type=pathlib.Path, default=TOP / "build")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--ms", type=float, default=3)
    parser.add_argument("--types", default="f32,bf16", type=lambda text: text.split(","))
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    program = options.builddir / "tests/bench/bench_ones"
    if not program.exists():
        print("bench_ones is not built", file=sys.stderr)
        return 77
    threads = str(options.threads or len(machine.cores()))
    process = Process([str(program)], os.environ | {"OMP_NUM_THREADS": threads, "OMP_PROC_BIND": "close",
                                                    "OMP_PLACES": "cores"})
    print(f"{threads} threads bound one a core; {VALUES} values; {options.rounds} rounds of {options.ms:g} ms"
          f" a side; microseconds\n{'sums of':8} {'type':5}{'length':>6}" +
          "".join(f"{name:>12}" for name in SIDES) + "  other / ones  algorithms")
    for kind in options.kinds or ("rows", "columns", "running"):
        for t in options.types:
            for length in lengths_of(kind):
                times, ran = measure(process, problem_of(kind, t, length), options)
                print(line_of(kind, t, length, times, ran), flush=True)
    process.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

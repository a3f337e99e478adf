"""Two sides of the CPU runner in turn (bench_pair.c): what bench_ones.py and bench_lines.py share.

Both sides are measured in turn, each a few milliseconds a round, with the sources where the last execution
left them (in a last-level cache that holds them: there). A table in microseconds (medians over the rounds),
and how many times as long the other side takes: the median of the rounds' ratios, with an interval of 95% for
the median.
"""

import argparse
import os
import pathlib
import statistics
import sys

from bench_rows import TOP, Process, machine, median_interval


def parser(doc, kinds):
    """The options of a program whose arguments are kinds of problems."""
    made = argparse.ArgumentParser(description=doc.split("\n\n", maxsplit=1)[0])
    made.add_argument("kinds", nargs="*", metavar="KIND", default=[], help=", ".join(kinds))
    made.add_argument("--builddir", type=pathlib.Path, default=TOP / "build")
    made.add_argument("--rounds", type=int, default=15)
    made.add_argument("--ms", type=float, default=3)
    made.add_argument("--threads", type=int)
    return made


def measure(process, text, sides, options):
    """side -> its times in ns, one a round; and side -> what it ran. None: a side has no algorithm."""
    ran = (process.ask(f"open {text}") or {"sides": {}})["sides"]
    if set(ran) != set(sides):
        return None, ran
    times = {name: [] for name in sides}
    for _ in range(options.rounds):
        for name, taken in times.items():
            taken.append(process.ask(f"run {name} {options.ms}")["ns"])
    return times, ran


def line_of(label, sides, times, ran):
    if times is None:
        return f"{label}  " + ", ".join(f"no {name}" for name in sides if name not in ran)
    ratios = [other / ours for other, ours in zip(*(times[name] for name in sides))]
    middle, low, high = median_interval(ratios)
    cells = "".join(f"{statistics.median(times[name]) / 1e3:12.1f}" for name in sides)
    names = "  ".join(ran[name].split()[0] for name in sides)
    return f"{label}{cells}  {middle:8.2f} [{low:.2f}, {high:.2f}]  {names}"


def table(options, pair, sides, heading, cases):
    """Prints the table of (label, problem's text). sides: the other one, then ours; heading: what is
    measured, and the title of the labels. Returns the exit status."""
    program = options.builddir / "tests/bench/bench_pair"
    if not program.exists():
        print("bench_pair is not built", file=sys.stderr)
        return 77
    threads = str(options.threads or len(machine.cores()))
    bound = {"OMP_NUM_THREADS": threads, "OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}
    process = Process([str(program), pair], os.environ | bound)
    what, title = heading
    print(f"{threads} threads bound one a core; {what}{options.rounds} rounds of {options.ms:g} ms a side;"
          f" microseconds\n{title}" + "".join(f"{name:>12}" for name in sides) +
          "  {} / {}  algorithms".format(*sides))
    for label, text in cases:
        print(line_of(label, sides, *measure(process, text, sides, options)), flush=True)
    process.close()
    return 0

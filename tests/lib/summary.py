#!/usr/bin/env python3
"""The end of a run of the suite: each failure with its output, the ten slowest programs, and one line with
the totals. Exit status 1 if a check failed or a program did not run.

    summary.py [--failures] NAME.log ...    in the build directory; --failures: only if there are failures

The seconds of each program are kept in tests/seconds.txt, for check-quick (quick.py)."""

import argparse
import os
import pathlib
import re
import sys

SLOWEST = 10
SHOWN_CHECKS, SHOWN_LINES = 20, 16  # of a program; of a check
SECONDS = pathlib.Path("tests/seconds.txt")
TOTALS = pathlib.Path("tests/totals.txt")  # the last line
LONG = pathlib.Path("check-long.when")
FAILED = ("FAIL", "XPASS")


def read(path):
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


class Program:
    """The results of one test program: a count for each state, its seconds (None: it did not run)."""

    def __init__(self, log):
        self.name, self.log = log.removesuffix(".log"), pathlib.Path(log)
        trs = read(self.log.with_suffix(".trs"))
        states = re.findall(r"^:test-result: (\w+)", trs, re.M)
        self.passed = sum(state in ("PASS", "XFAIL") for state in states)
        # a program with a failed check also exits with status 1, which the driver calls an error
        self.failed = sum(state in FAILED for state in states) or int(not states or "ERROR" in states)
        self.skipped = states.count("SKIP")
        taken = re.search(r"^:seconds: ([\d.]+)", trs, re.M)
        self.seconds = float(taken.group(1)) if taken else None

    def failures(self):
        """The failed checks of the log, each with the lines that explain it: comments after it, or the lines
        before a Bail out."""
        # the driver adds a line of its own to each check
        lines = [line for line in read(self.log).splitlines()
                 if not re.match(r"(PASS|FAIL|SKIP|XFAIL|XPASS): ", line)]
        shown = []
        for at, line in enumerate(lines):
            if line.startswith("not ok") and "# TODO" not in line:
                notes = []
                for note in lines[at + 1:at + 1 + SHOWN_LINES]:
                    if re.match(r"(not )?ok\b|1\.\.|ERROR:", note):
                        break
                    notes.append(note)
                shown.append([line, *notes])
            elif line.startswith("Bail out!") or (
                    line.startswith("ERROR:") and not (shown and line.endswith("exited with status 1"))):
                shown.append([*lines[max(0, at - SHOWN_LINES):at], line])
        return shown or [lines[-SHOWN_LINES:] or ["it did not run"]]


def show(program):
    print(f"\n{program.name}: {program.failed} failed")
    failures = program.failures()
    for lines in failures[:SHOWN_CHECKS]:
        print("\n".join("  " + line for line in lines))
    if len(failures) > SHOWN_CHECKS:
        print(f"  and {len(failures) - SHOWN_CHECKS} more: {program.log}")


def read_seconds():
    """The seconds of each program in its last run, by its name without .sh and .py."""
    return {name: float(s) for name, s in re.findall(r"^(\S+) (\d+\.\d+)$", read(SECONDS), re.M)}


def keep_seconds(programs):
    """Replaces the seconds of these programs in the file, and keeps those of others."""
    known = read_seconds() | {p.name: p.seconds for p in programs if p.seconds is not None}
    SECONDS.parent.mkdir(exist_ok=True)
    new = SECONDS.with_suffix(".new")
    new.write_text("".join(f"{name} {seconds:.2f}\n" for name, seconds in sorted(known.items())))
    os.replace(new, SECONDS)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("logs", nargs="*")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    programs = [Program(log) for log in options.logs]
    failed = [p for p in programs if p.failed]
    if options.failures and not failed:
        return 0
    for program in failed:
        show(program)
    slowest = sorted((p for p in programs if p.seconds), key=lambda p: -p.seconds)[:SLOWEST]
    total = sum(p.seconds or 0 for p in programs)
    print(f"\nthe slowest of {len(programs)} programs ({total:.0f} s in all):")
    for program in slowest:
        print(f"  {program.seconds:6.1f} s  {program.name}")
    if LONG.exists():
        print(f"make check-long last ran: {read(LONG).strip()}")
    keep_seconds(programs)
    totals = (f"{sum(p.passed for p in programs)} passed, {sum(p.failed for p in programs)} failed, "
              f"{sum(p.skipped for p in programs)} skipped")
    print(totals)
    TOTALS.write_text(totals + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

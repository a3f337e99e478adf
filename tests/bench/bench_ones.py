#!/usr/bin/env python3
"""Sums as products with ones beside the fastest other algorithm of the CPU runner: oneDNN's own reduction or
plain C. Segments of 16 to 65536 values in f32 and bf16, 2^20 values in all: sums of rows, sums of columns,
running sums of rows (up to 512 values, as far as one product goes).

How both are measured: bench_pair.py.

    tests/bench/bench_ones.py [--builddir DIR] [--rounds 15] [--ms 3] [--types f32,bf16] [KIND...]

KIND: rows, columns, running (default: all three). Leaves with 77 where the runner is not built.
"""

import sys

sys.dont_write_bytecode = True
import bench_pair  # noqa: E402

VALUES = 1 << 20
SEGMENTS = [1 << bits for bits in range(4, 17, 2)]
LONGEST_RUNNING = 512
KINDS = ("rows", "columns", "running")


def problem_of(kind, t, length):
    """The text of sums of `length` values each."""
    count = VALUES // length
    return {"rows": f"reduce:{t},{t}:sum:{count}x{length}:{count}x1",
            "columns": f"reduce:{t},{t}:sum:{length}x{count}:1x{count}",
            "running": f"scan:{t},{t}:cumsum:{count}x{length}:ax1"}[kind]


def lengths_of(kind):
    short = [n for n in SEGMENTS if n <= LONGEST_RUNNING]
    return short + [LONGEST_RUNNING] if kind == "running" else SEGMENTS


def main():
    parser = bench_pair.parser(__doc__, KINDS)
    parser.add_argument("--types", default="f32,bf16", type=lambda text: text.split(","))
    options = parser.parse_args()
    cases = [(f"{kind:8} {t:5}{length:6}", problem_of(kind, t, length)) for kind in options.kinds or KINDS
             for t in options.types for length in lengths_of(kind)]
    heading = f"{VALUES} values; ", f"{'sums of':8} {'type':5}{'length':>6}"
    return bench_pair.table(options, "ones", ("other", "ones"), heading, cases)


if __name__ == "__main__":
    sys.exit(main())

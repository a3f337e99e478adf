#!/usr/bin/env python3
"""Elementwise problems and softmax in f32 with the kernels of src/runner/plain/plain_lines.c beside oneDNN's
fastest implementation, in sizes of image and language models: functions with an exponential, batch
normalizations with and without space, operands that broadcast, softmax along the last and along other axes.

How both are measured: bench_pair.py.

    tests/bench/bench_lines.py [--builddir DIR] [--rounds 15] [--ms 3] [KIND...]

KIND: eltwise, batchnorm, binary, softmax (default: all). Leaves with 77 where the runner is not built.
"""

import sys

sys.dont_write_bytecode = True
import bench_pair  # noqa: E402

CASES = {
    "eltwise": ["swish,1:1x128x112x112", "sigmoid:1x128x80x80", "gelu_erf:128x3072", "gelu_tanh:128x3072",
                "tanh:128x768", "swish,1:1x96"],
    "batchnorm": ["1x64x56x56", "8x256x14x14+relu", "1x2048x1x1", "64x1024"],
    "binary": ["mul:1x96x56x56:1x96x1x1", "add:1x12x128x128:1x1x1x128", "add:128x768:768", "mul:128x1:1x3072",
               "sub:128x768:128x1", "div:12x128x128:12x128x1"],
    "softmax": ["soft:12x128x128:ax2", "soft:1x1000:ax1", "soft:1x64x56x56:ax1", "soft:1x16x4x8400:ax1",
                "soft:512x64:ax0"],
}


def problem_of(kind, rest):
    return f"{kind}:" + ",".join(["f32"] * (3 if kind == "binary" else 2)) + f":{rest}"


def main():
    options = bench_pair.parser(__doc__, CASES).parse_args()
    cases = [(f"{kind:9} {rest:26}", problem_of(kind, rest)) for kind in options.kinds or CASES
             for rest in CASES[kind]]
    return bench_pair.table(options, "lines", ("onednn", "lines"), ("", f"{'kind':9} {'problem':26}"), cases)


if __name__ == "__main__":
    sys.exit(main())

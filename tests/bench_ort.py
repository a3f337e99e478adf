#!/usr/bin/env python3
"""Measure the latency of models in ONNX Runtime on the CPU: what a lower bound is held against.

All graph optimizations are on, so weights made by ConstantOfShape are folded
while the model loads.  Prints one JSON object a line, for each model and batch.

Leaves with 77 where ONNX Runtime is not installed.

    tests/bench_ort.py [-b 1,8] [--dim NAME=VALUE]... [--threads N] [-n RUNS] MODEL...
"""

import argparse
import json
import statistics
import sys
import time

sys.dont_write_bytecode = True
SKIP = 77


def choose_dims(common, path, given):
    """A value for each symbolic dimension: given, else the sidecar's, else 1 for the batch."""
    symbols = common.symbols(common.onnx.load(path))
    strange = sorted(set(given) - symbols)
    if strange:
        raise ValueError(f"no dimension '{strange[0]}'; there are {', '.join(sorted(symbols)) or 'none'}")
    dims = common.default_dims(path) | given
    missing = sorted(symbols - set(dims))
    if missing:
        raise ValueError(f"give the size of '{missing[0]}' with --dim")
    return {name: value for name, value in dims.items() if name in symbols}


def measure(path, dims, threads, warm, runs):
    import onnxruntime
    import ort_common
    model = ort_common.onnx.load(path)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feeds = ort_common.random_inputs(model, dims)
    for _ in range(warm):
        session.run(None, feeds)
    times_ns = []
    for _ in range(runs):
        start = time.perf_counter_ns()
        session.run(None, feeds)
        times_ns.append(time.perf_counter_ns() - start)
    return {"model": path, "dims": dims, "runtime": "onnxruntime", "version": onnxruntime.__version__,
            "provider": "CPUExecutionProvider", "threads": threads,
            "median_ns": round(statistics.median(times_ns)), "min_ns": min(times_ns), "n": runs}


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is below 1")
    return value


def main():
    try:
        import onnxruntime  # noqa: F401
        import ort_common
    except ImportError as error:
        print(f"{error.name} is not installed", file=sys.stderr)
        return SKIP
    parser = argparse.ArgumentParser(description="Measure models in ONNX Runtime.")
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("-b", "--batch", metavar="N,N",
                        type=lambda text: [positive(b) for b in text.split(",")],
                        help="batches, with commas between (default: the sidecar's)")
    parser.add_argument("--dim", action="append", default=[], type=ort_common.parse_dim, metavar="NAME=VALUE",
                        help="size of a symbolic dimension")
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--warm", type=positive, default=5, help="runs before the measured ones")
    parser.add_argument("-n", "--runs", type=positive, default=30)
    arguments = parser.parse_args()
    batches = [{"batch": batch} for batch in arguments.batch or []] or [{}]
    for path in arguments.models:
        for batch in batches:
            try:
                dims = choose_dims(ort_common, path, dict(arguments.dim) | batch)
            except (ValueError, OSError) as error:
                parser.error(f"{path}: {error}")
            result = measure(path, dims, arguments.threads, arguments.warm, arguments.runs)
            print(json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

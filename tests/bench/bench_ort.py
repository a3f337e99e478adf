#!/usr/bin/env python3
"""Measure the latency of models in ONNX Runtime on the CPU: what a lower bound is held against.

All graph optimizations are on, threads are bound one a core as the runner's are, and wait spinning (the default, and
what OpenMP does).  Weights that the model makes by ConstantOfShape are random ones here, since constant data may be
quicker.  Prints one JSON object a line, for each model and batch.

Leaves with 77 where ONNX Runtime is not installed.

    tests/bench/bench_ort.py [-b 1,8] [--dim NAME=VALUE]... [--threads N] [-n RUNS] [--seconds S] MODEL...
"""

import argparse
import functools
import json
import os
import pathlib
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


@functools.cache
def cores(siblings="/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"):
    """One processor of each core that this process may use, before it binds itself."""
    seen = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        try:
            core = pathlib.Path(siblings.format(cpu)).read_text()
        except OSError:
            core = str(cpu)
        seen.setdefault(core, cpu)
    return list(seen.values())


def session_options(threads):
    """Binds one thread to each core if there are enough cores: this one to the first, the runtime's to the
    others."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "1")
    places = cores()[:threads]
    if len(places) == threads:
        if threads > 1:  # processors are counted from 1 there
            options.add_session_config_entry("session.intra_op_thread_affinities",
                                             ";".join(str(cpu + 1) for cpu in places[1:]))
        os.sched_setaffinity(0, {places[0]})
    return options, "bound one a core" if len(places) == threads else "unbound"


def open_model(path, dims, threads, **settings):
    """A session with random weights, and what to feed it; settings: attributes of the session's options."""
    import onnxruntime
    import ort_common
    model = ort_common.onnx.load(path)
    feeds = ort_common.random_inputs(model, dims)
    options, affinity = session_options(threads)
    for name, value in settings.items():
        setattr(options, name, value)
    for node in model.graph.node:  # so that every node of the optimized graph can be told
        node.name = node.output[0] or node.name
    content = ort_common.with_random_weights(model).SerializeToString()
    del model
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"]), feeds, affinity


def measure(path, dims, threads, warm, runs, seconds):
    import onnxruntime
    session, feeds, affinity = open_model(path, dims, threads)
    for _ in range(warm):
        session.run(None, feeds)
    times_ns, until = [], time.perf_counter_ns() + seconds * 1e9
    while len(times_ns) < runs and (len(times_ns) < 5 or time.perf_counter_ns() < until):
        start = time.perf_counter_ns()
        session.run(None, feeds)
        times_ns.append(time.perf_counter_ns() - start)
    return {"model": path, "dims": dims, "runtime": "onnxruntime", "version": onnxruntime.__version__,
            "provider": "CPUExecutionProvider", "threads": threads, "affinity": affinity, "spinning": True,
            "median_ns": round(statistics.median(times_ns)), "min_ns": min(times_ns), "n": len(times_ns)}


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
    parser.add_argument("--seconds", type=float, default=10, help="runs end then, after five at least")
    arguments = parser.parse_args()
    batches = [{"batch": batch} for batch in arguments.batch or []] or [{}]
    for path in arguments.models:
        for batch in batches:
            try:
                dims = choose_dims(ort_common, path, dict(arguments.dim) | batch)
            except (ValueError, OSError) as error:
                parser.error(f"{path}: {error}")
            result = measure(path, dims, arguments.threads, arguments.warm, arguments.runs,
                             arguments.seconds)
            print(json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Products of few rows with weights that come from memory: the packed kernel beside oneDNN, OpenBLAS, ONNX
Runtime, OpenVINO, and a read of as many bytes as the weights.

The decode step of a language model is such products: of GPT-2, BERT and one layer of a 7B decoder. Every side
has copies of the weights that together exceed twice the last-level cache, and uses one after the other; for
the runtimes these are as many nodes with weights of their own in one model, and their time is that of a run
divided by the nodes. All have the same number of threads, bound one a core, and wait spinning. The sides are
measured in turn, each a few milliseconds a round; processes whose turn it is not are stopped.

Weights are f32, or of 4 or 8 bits with an f32 scale and a zero point for every 32 terms of a column
(MatMulNBits of com.microsoft with accuracy_level 0, so that products are in f32 there, too).

A table in microseconds (medians over the rounds), then of each shape: at one row the share of the read
bandwidth that the packed kernel reaches, with more rows its time beside the faster runtime's. Each is the
median of the rounds' ratios, with an interval of 95% for the median (order statistics: no assumption about
the distribution).

    tests/bench/bench_rows.py [--builddir DIR] [--rows 1,2,4,8,16] [--rounds 21] [--ms 8] [--tail +relu]
                              [--bits 32,4,8] [SHAPE...]

SHAPE: gpt2, bert, decoder or KxN (default: all three). A side that is not installed is "-". Leaves with 77
where the runner is not built.
"""

import argparse
import functools
import itertools
import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "src/agents"))
from benanza_agent import machine  # noqa: E402

SHAPES = {  # k, n
    "gpt2": [(768, 2304), (768, 768), (768, 3072), (3072, 768), (768, 50257)],
    "bert": [(768, 768), (768, 3072), (3072, 768)],
    "decoder": [(4096, 4096), (4096, 11008), (11008, 4096)],
}
OURS = ("read", "packed", "onednn", "openblas")
RUNTIMES = ("onnxruntime", "openvino")
BLOCK = 32  # terms that share a scale
LLC_GUESS, LLC_FACTOR = 32 << 20, 2
CONFIDENCE = 0.95


def llc_bytes():
    """Size of the last-level cache of the first core."""
    size = LLC_GUESS
    for path in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")):
        text = path.read_text().strip()
        size = int(text[:-1]) << {"K": 10, "M": 20, "G": 30}[text[-1]] if text[-1] in "KMG" else int(text)
    return size


def matmul_text(m, n, k, bits, tail):
    if bits == 32:
        return f"matmul:f32,f32.c,f32/f32:ba1bb1m{m}n{n}k{k}:ta0tb0{tail}"
    return f"matmul:f32,u{bits}.c,f32/f32:ba1bb1m{m}n{n}k{k}:ta0tb1:b{BLOCK}z1{tail}"


def weight_bytes(n, k, bits):
    scaled = math.ceil(k / BLOCK) * (32 + bits) if bits < 32 else 0
    return n * (k * bits + scaled) // 8


# --- a runtime, in a process of its own ---


@functools.cache
def cores():
    """One processor of each core, asked before this process is bound to the first."""
    return machine.cores()


def make_model(m, n, k, bits, nodes):
    """A model of `nodes` products, each with an input, an output and weights of its own."""
    import numpy
    from onnx import TensorProto, helper, numpy_helper
    rng = numpy.random.default_rng(1)
    made, inputs, outputs, weights = [], [], [], []

    def product(i):
        if bits == 32:
            content = rng.random((k, n), dtype=numpy.float32) * 2 - 1
            weights.append(numpy_helper.from_array(content, f"w{i}"))
            return helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"y{i}"])
        blocks = math.ceil(k / BLOCK)
        arrays = {"w": rng.integers(0, 256, (n, blocks, BLOCK * bits // 8), numpy.uint8),
                  "s": rng.random((n, blocks), dtype=numpy.float32),
                  "z": rng.integers(0, 256, (n, math.ceil(blocks * bits / 8)), numpy.uint8)}
        weights.extend(numpy_helper.from_array(array, f"{name}{i}") for name, array in arrays.items())
        return helper.make_node("MatMulNBits", [f"{name}{i}" for name in "xwsz"], [f"y{i}"],
                                domain="com.microsoft", K=k, N=n, bits=bits, block_size=BLOCK)

    for i in range(nodes):
        inputs.append(helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, [m, k]))
        outputs.append(helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, [m, n]))
        made.append(product(i))
    graph = helper.make_graph(made, "rows", inputs, outputs, weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    return model.SerializeToString(), {f"x{i}": rng.random((m, k), dtype=numpy.float32) for i in range(nodes)}


def open_onnxruntime(content, feeds, threads):
    """Returns a function that runs the model; inputs and outputs are bound, so that nothing is copied."""
    import onnxruntime
    options, places = onnxruntime.SessionOptions(), cores()[:threads]
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "1")
    if 1 < threads == len(places):  # this thread is the first; processors are counted from 1
        options.add_session_config_entry("session.intra_op_thread_affinities",
                                         ";".join(str(cpu + 1) for cpu in places[1:]))
        machine.bind(places[0])
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, value in feeds.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
    for output in session.get_outputs():
        place = onnxruntime.OrtValue.ortvalue_from_shape_and_type(output.shape, "float32")
        binding.bind_ortvalue_output(output.name, place)
    return lambda: session.run_with_iobinding(binding)


def open_openvino(content, feeds, threads):
    import openvino
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(content), "CPU", {
        "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads,
        "ENABLE_CPU_PINNING": True, "ENABLE_HYPER_THREADING": False})
    request = compiled.create_infer_request()
    for name, value in feeds.items():
        request.set_tensor(name, openvino.Tensor(value))
    return request.infer


def time_of(run, ms):
    """The time of one run in ns, after an untimed one."""
    run()
    count, start, now = 0, time.perf_counter_ns(), 0
    while now < ms * 1e6:
        run()
        count += 1
        now = time.perf_counter_ns() - start
    return now / count


def worker(name, threads):
    """Answers the lines "open M N K BITS NODES" and "run MS" with a line of JSON each, as bench_rows does."""
    try:
        import onnx  # noqa: F401
        __import__(name)
        version = sys.modules[name].__version__
    except ImportError:
        return 77
    opener = {"onnxruntime": open_onnxruntime, "openvino": open_openvino}[name]
    run, nodes = None, 0
    for line in sys.stdin:
        word, *numbers = line.split()
        if word == "open":
            run = None  # frees the session before the next
            m, n, k, bits, nodes = map(int, numbers)
            try:
                run = opener(*make_model(m, n, k, bits, nodes), threads)
            except RuntimeError:  # it has no such operator
                print(json.dumps({"sides": {}}), flush=True)
                continue
            print(json.dumps({"sides": {name: version}}), flush=True)
        else:
            print(json.dumps({"ns": time_of(run, float(numbers[0])) / nodes}), flush=True)
    return 0


# --- the sides in turn ---


class Process:
    """A child that answers a line with a line, stopped while it is not asked."""

    def __init__(self, words, environment):
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                      env=environment, stderr=subprocess.DEVNULL)

    def ask(self, line):
        """The answer, or None if the child ended."""
        try:
            self.child.send_signal(signal.SIGCONT)
            self.child.stdin.write(line + "\n")
            self.child.stdin.flush()
            answer = self.child.stdout.readline()
            self.child.send_signal(signal.SIGSTOP)
        except (BrokenPipeError, ProcessLookupError):
            return None
        return json.loads(answer) if answer else None

    def close(self):
        try:
            self.child.send_signal(signal.SIGCONT)
            self.child.communicate()
        except BrokenPipeError:
            self.child.wait()


def start(options):
    """side -> its process."""
    threads = str(options.threads)
    bound = os.environ | {"OMP_NUM_THREADS": threads, "OMP_PROC_BIND": "close", "OMP_PLACES": "cores",
                          "OPENBLAS_NUM_THREADS": threads}
    ours = Process([str(options.builddir / "tests/bench/bench_rows"), str(llc_bytes())], bound)
    found = dict.fromkeys(OURS, ours)
    for name in RUNTIMES:
        words = [sys.executable, __file__, "--worker", name, "--threads", threads]
        found[name] = Process(words, dict(os.environ))
    return found


def measure(processes, m, n, k, bits, options):
    """side -> its times in ns, one a round; and side -> what it ran."""
    text = matmul_text(m, n, k, bits, options.tail)
    nodes = math.ceil(LLC_FACTOR * llc_bytes() / weight_bytes(n, k, bits)) + 1
    ran = {}
    for name in ("packed", *RUNTIMES):
        if name == "packed" or not options.tail:
            line = f"open {text}" if name == "packed" else f"open {m} {n} {k} {bits} {nodes}"
            ran |= (processes[name].ask(line) or {"sides": {}})["sides"]
    times = {name: [] for name in (*OURS, *RUNTIMES) if name in ran}
    for _ in range(options.rounds):
        for name, taken in times.items():
            line = f"run {name} {options.ms}" if name in OURS else f"run {options.ms}"
            taken.append(processes[name].ask(line)["ns"])
    return times, ran


def median_interval(values):
    """The median and the order statistics around it that hold it with CONFIDENCE."""
    ordered, n = sorted(values), len(values)
    low, tail = 0, 0.5 ** n
    while low + 1 < n / 2 and tail + math.comb(n, low + 1) * 0.5 ** n <= (1 - CONFIDENCE) / 2:
        low += 1
        tail += math.comb(n, low) * 0.5 ** n
    return statistics.median(ordered), ordered[low], ordered[n - 1 - low]


def verdict(times, m):
    """The ratio that matters at this number of rows, in words."""
    if m == 1:
        shares = [read / ours for read, ours in zip(times["read"], times["packed"])]
        return "{:.2f} [{:.2f}, {:.2f}] of read".format(*median_interval(shares))
    there = [name for name in RUNTIMES if name in times]
    if not there:
        return ""
    best = min(there, key=lambda name: statistics.median(times[name]))
    ratios = [ours / theirs for ours, theirs in zip(times["packed"], times[best])]
    return "{:.2f} [{:.2f}, {:.2f}] of {}".format(*median_interval(ratios), best)


def line_of(times, m, n, k, bits):
    cells = "".join(f"{statistics.median(times[name]) / 1e3:12.1f}" if name in times else f"{'-':>12}"
                    for name in (*OURS, *RUNTIMES))
    rate = weight_bytes(n, k, bits) / statistics.median(times["read"])
    return f"{m:4} {bits:4} {k:6}x{n:<6}{cells} {rate:6.1f}  {verdict(times, m)}"


def shapes_of(words):
    found = []
    for word in words or SHAPES:
        found += SHAPES[word] if word in SHAPES else [tuple(map(int, word.split("x")))]
    return list(dict.fromkeys(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("shapes", nargs="*", metavar="SHAPE")
    parser.add_argument("--builddir", type=pathlib.Path, default=TOP / "build")
    parser.add_argument("--rows", default="1,2,4,8,16", type=lambda text: [int(m) for m in text.split(",")])
    parser.add_argument("--bits", default="32,4,8", type=lambda text: [int(bits) for bits in text.split(",")])
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--ms", type=float, default=8)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--tail", default="", help="epilogues of the problem; without the runtimes then")
    parser.add_argument("--worker", choices=RUNTIMES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.threads = options.threads or len(machine.cores())
    if options.worker:
        return worker(options.worker, options.threads)
    if not (options.builddir / "tests/bench/bench_rows").exists():
        print("bench_rows is not built", file=sys.stderr)
        return 77
    processes = start(options)
    print(f"{options.threads} threads bound one a core, spinning; weights from memory, more than "
          f"{LLC_FACTOR} x {llc_bytes() >> 20} MiB; {options.rounds} rounds of {options.ms:g} ms a side\n"
          f"{'rows':>4} {'bits':>4} {'k':>6}x{'n':<6}" +
          "".join(f"{name:>12}" for name in (*OURS, *RUNTIMES)) +
          f" {'GB/s':>6}  packed kernel")
    used = {}
    for bits, (k, n) in itertools.product(options.bits, shapes_of(options.shapes)):
        for m in options.rows:
            times, ran = measure(processes, m, n, k, bits, options)
            used[f"{m} rows {k}x{n} of {bits} bits"] = {name: ran[name] for name in ran if name in OURS}
            print(line_of(times, m, n, k, bits), flush=True)
    for process in set(processes.values()):
        process.close()
    for what, algorithms in used.items():
        print(f"# {what}: " + "; ".join(f"{name} {words}" for name, words in algorithms.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

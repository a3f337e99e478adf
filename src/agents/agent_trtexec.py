#!/usr/bin/env python3
"""Agent for TensorRT's program trtexec: each step of a job is a run of that program. Protocol: docs/wire.md.

It builds an engine, loads it to measure the latency, and loads it again with the profiler.
"""

import functools
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from benanza_agent import inputs, machine, measure, onnx_graph, package, wire, worker  # noqa: E402
from benanza_agent.request import Unsupported  # noqa: E402
from benanza_agent.trt_layers import HEAVY, PROVIDER, layers_of, rows_of, type_of  # noqa: E402
from benanza_agent.trt_program import number, program, read_json, spec  # noqa: E402

NAME, PROGRAM, FILE = "tensorrt", "benanza-agent-trtexec", os.path.abspath(__file__)
WARM_UP_MS = 200
LEAST_RUNS = 10
# Options by requested type. Without one of these options trtexec computes in the types of the model.
PRECISION = {
    "f32": ["--noTF32"],
    "tf32": [],
    "f16": ["--fp16"],
    "bf16": ["--bf16"],
    "s8": ["--int8"],
    "f8": ["--fp8"],
}
OWN_OPTIONS = (
    "--onnx",
    "--saveEngine",
    "--loadEngine",
    "--export",
    "--loadInputs",
    "--shapes",
    "--skipInference",
    "--buildOnly",
    "--help",
)


def precision(request):
    """The options of the type; of a model's own type that has none, those of f32."""
    return PRECISION.get(request.dtype, PRECISION["f32"])


@functools.lru_cache(maxsize=1)
def describe():
    try:
        version = program().version or "of an unknown version"
    except Unsupported:
        version = None
    return wire.hello(sys.modules[__name__], machine.gpu_model() or "no NVIDIA GPU", [PROVIDER], version, 1)


def load(request):
    """Finds the program and returns its version."""
    package.imported("numpy")
    tool = program(request.options.get("program", ""))
    request.provider = request.provider or PROVIDER
    if request.provider.lower() != PROVIDER.lower():
        raise Unsupported(f"trtexec has no provider '{request.provider}'; it has {PROVIDER}")
    request.needs_level_all("trtexec")
    if request.dtype not in PRECISION and not request.own_type:
        raise Unsupported(f"trtexec has no type {request.dtype}; it has {', '.join(PRECISION)}")
    for option in precision(request):
        if option not in tool.options:
            raise Unsupported(
                f"trtexec {tool.version} has no option {option}, so it cannot be made to compute in "
                f"{request.dtype}" + ("; request tf32" if request.dtype == "f32" else "")
            )
    for key in request.options:
        if key.startswith(OWN_OPTIONS):
            raise Unsupported(f"the option {key} is the agent's own")
        if not key.startswith("--") and key != "program":
            raise Unsupported(f"trtexec has no option '{key}': they begin with --, or are program")
    return tool.version


def device(_request):
    return machine.gpu_model()


# ---- engines


class Engine:
    """An engine in the job's folder, and the runs of trtexec that load it."""

    def __init__(self, source, request):
        self.tool, self.request = program(request.options.get("program", "")), request
        self.folder = tempfile.mkdtemp(prefix="benanza-trtexec-")
        path = source
        if isinstance(source, bytes):
            path = self.file("tiny.onnx")
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.write(source)
        self.graph = onnx_graph.read(path)
        self.inputs = onnx_graph.declared_inputs(self.graph)
        self.shapes = []
        tiny = isinstance(source, bytes)
        pairs = [
            (name, "x".join(map(str, shape)))
            for (name, _, shape, *_), (_, _, declared) in zip(
                [] if tiny else request.specs(self.inputs), self.inputs
            )
            if not all(isinstance(d, int) and d > 0 for d in declared)
        ]
        if pairs:
            self.shapes = ["--shapes=" + spec(pairs)]
        self.given = [
            key if value == "" else f"{key}={value}"
            for key, value in sorted(request.options.items())
            if key.startswith("--")
        ]
        skip = self.tool.has("--skipInference", "--buildOnly") or [
            "--warmUp=0",
            "--duration=0",
            "--iterations=1",
        ]
        self.built = self.tool.run(
            [
                f"--onnx={path}",
                f"--saveEngine={self.file('engine')}",
                *self.verbosity(),
                *skip,
                *self.shapes,
                *precision(request),
                *self.given,
            ]
        )
        if not os.path.exists(self.file("engine")):
            raise RuntimeError("trtexec ended without error but saved no engine")

    def file(self, name):
        return os.path.join(self.folder, name)

    def verbosity(self):
        return [option + "=detailed" for option in self.tool.has("--profilingVerbosity")]

    def save(self, feeds):
        """Writes the inputs as raw files. Engines before TensorRT 10 read 64-bit integers as 32-bit ones."""
        import numpy

        self.loads = []
        for index, (name, array) in enumerate(feeds.items()):
            old = self.tool.version and int(self.tool.version.split(".")[0]) < 10
            kept = array.astype(numpy.int32) if old and array.dtype == numpy.int64 else array
            path = self.file(f"input{index}")
            kept.tofile(path)
            self.loads.append((name, path))
        self.loads = ["--loadInputs=" + spec(self.loads)] if self.loads else []

    def run(self, budget_ns, *arguments):
        """Loads the engine and runs it for budget_ns."""
        return self.tool.run(
            [
                f"--loadEngine={self.file('engine')}",
                *self.shapes,
                *self.loads,
                *self.tool.has("--useCudaGraph"),
                *self.tool.has("--useSpinWait"),
                f"--duration={max(0.0, budget_ns / 1e9):g}",
                f"--iterations={LEAST_RUNS}",
                *arguments,
            ]
        )

    def times(self, budget_ns, name, *arguments):
        """Returns (records of the runs after the warm-up, output of trtexec)."""
        path = self.file(name)
        output = self.run(budget_ns, f"--warmUp={WARM_UP_MS}", f"--exportTimes={path}", *arguments)
        records = read_json(path, "the times")
        if not isinstance(records, list) or not all(isinstance(one, dict) for one in records):
            raise RuntimeError("the times that trtexec wrote are not a list of records")
        after = [one for one in records if (number(one.get("startComputeMs")) or 0) >= WARM_UP_MS]
        return after if len(after) >= LEAST_RUNS else records, output


def column(records, key):
    """Returns the valid times of a key, converted from ms to ns."""
    return [value * 1e6 for value in (number(one.get(key)) for one in records) if value is not None]


ENGINES = {}  # path of the model: its engine; the worker runs one job


class Session:
    """An engine with the interface of a framework's session; it has its own `sample`."""

    def __init__(self, source, request):
        self.request = request
        self.engine = Engine(source, request)
        if isinstance(source, str):
            ENGINES[source] = self.engine
        self.tool, self.inputs = self.engine.tool, self.engine.inputs
        self.threads, self.math = 1, "tf32" if request.dtype == "tf32" else "strict"
        self.device = ""
        self.settings = {
            "cuda_graph": bool(self.tool.has("--useCudaGraph")) or "--noCudaGraph" in self.tool.options,
            "spinning": bool(self.tool.has("--useSpinWait")),
            "precision": precision(request),
            "engine_bytes": os.path.getsize(self.engine.file("engine")),
            "program": self.tool.path,
            "latency": "on the GPU, without the time to enqueue",
        }
        if "build_s" in self.engine.built.facts:
            self.settings["build_s"] = float(self.engine.built.facts["build_s"])
        self.kept, self.h2d, self.d2h = [], None, None

    def bind(self, feeds, requests):
        self.feeds, self.requests = feeds, requests
        self.engine.save(feeds)

    def sample(self, budget_ns, say=lambda what: None):
        """Measures the latency with inputs and outputs on the device, then makes a short run with
        transfers."""
        streams = [f"{option}={self.requests}" for option in self.tool.has("--infStreams", "--streams")]
        if self.requests > 1 and not streams:
            raise Unsupported("this trtexec has no option for several streams")
        say("measuring")
        records, output = self.engine.times(
            budget_ns, "times", *self.tool.has("--noDataTransfers"), *(streams if self.requests > 1 else [])
        )
        values = (
            column(records, "computeMs")
            if "--noDataTransfers" in self.tool.options
            else column(records, "latencyMs")
        )
        if not values:
            raise RuntimeError("the times that trtexec wrote have no run")
        self.device = worker.one_line(output.facts.get("device", ""), 200)
        try:
            rate = float(output.facts["qps"])
        except (KeyError, ValueError):
            rate = None
        stats = measure.statistics(values)
        if narrow(stats):
            stats["stop"] = "converged"
        say("copies")
        self.transfers()
        values.sort()
        return stats, measure.quantile(values, 0.9), measure.quantile(values, 0.99), rate, ""

    def transfers(self):
        """Sets the times of the copies and the outputs."""
        on = [
            option
            for option in sorted(self.tool.options)
            if re.fullmatch(r"--(enable)?[dD]ataTransfers", option)
        ]
        records, _ = self.engine.times(0, "copies", *on, f"--exportOutput={self.engine.file('outputs')}")
        into, out = column(records, "h2dMs"), column(records, "d2hMs")
        self.h2d, self.d2h = (
            measure.median(values) if values and max(values) > 0 else None for values in (into, out)
        )

    def outputs(self):
        """Returns arrays in the order of the model's outputs; trtexec prints six digits."""
        import numpy

        listed = read_json(self.engine.file("outputs"), "the outputs")
        found = {}
        for one in listed if isinstance(listed, list) else []:
            sizes = [int(d) for d in re.findall(r"\d+", str(one.get("dimensions", "")))]
            values = numpy.array(one.get("values", []), numpy.float32)
            if values.size == numpy.prod(sizes, dtype=numpy.int64):
                found[one.get("name")] = values.reshape(sizes)
        return [found[name] for name in self.engine.graph.outputs if name in found]

    def copies(self):
        return self.h2d, self.d2h

    def quick(self, part=0.5):
        """Returns the median (or another quantile) of the latency in a short run, in ns."""
        records, _ = self.engine.times(0.2e9, "quick", *self.tool.has("--noDataTransfers"))
        return measure.quantile(sorted(column(records, "computeMs")), part)

    def peak_memory(self):
        """Returns the memory of the engine on the device, as the builder reports it; None if it does not."""
        return sum(self.engine.built.memory.values()) or None

    def dtype(self):
        """Returns the type of the heavy layers by the formats of their inputs; without formats, the type that
        the options force."""
        try:
            layers = self.layers()
        except RuntimeError:
            layers = []
        kinds = {type_of(one) for one in layers if HEAVY.search(str(one.get("LayerType", "")))} - {""}
        if kinds:
            return worker.one_type(kinds)
        return "f32" if self.request.dtype in ("f32", "tf32") else ""

    def layers(self):
        """Returns the engine's layers as objects; a layer without details has only its name."""
        path = self.engine.file("layers")
        if not os.path.exists(path):
            self.engine.run(0, "--warmUp=0", *self.engine.verbosity(), f"--exportLayerInfo={path}")
        return layers_of(read_json(path, "the layers"))

    def close(self):
        pass  # the engine serves the profile; the front removes the job's folder


def narrow(stats):
    middle = stats["median_ns"]
    return (
        stats["n"] >= measure.LEAST_SAMPLES and stats["hi_ns"] - stats["lo_ns"] <= 2 * measure.NARROW * middle
    )


open = Session  # noqa: A001 - the name that the worker calls


# ---- profile


def profiled(engine, budget_ns):
    """Returns (records of the layers' times, layers)."""
    tool, files = engine.tool, [engine.file("profile"), engine.file("layers")]
    engine.run(
        budget_ns,
        f"--warmUp={WARM_UP_MS}",
        "--dumpProfile",
        *tool.has("--separateProfileRun"),
        f"--exportProfile={files[0]}",
        f"--exportLayerInfo={files[1]}",
        *engine.verbosity(),
    )
    document = read_json(files[0], "the profile's times")
    records = (
        [one for one in document if isinstance(one, dict) and "name" in one]
        if isinstance(document, list)
        else []
    )
    if not records:
        raise RuntimeError("the profile that trtexec wrote has no layer")
    return records, layers_of(read_json(files[1], "the layers"))


def profile(path, _request, _feeds, budget_ns, say):
    engine = ENGINES[path]
    say("profiling")
    records, layers = profiled(engine, budget_ns)
    rows = rows_of(records, layers, engine.graph)
    gaps = []
    if not any("LayerType" in one for one in layers):
        gaps.append("the engine has no details of its layers")
    unknown = sum(one["ns"] is None for one in rows)
    if unknown:
        gaps.append(f"{unknown} of {len(rows)} layers have no time")
    return {"rows": rows, "profiled_ns": None, "gaps": gaps}


def profile_tiny(content, request):
    """Returns (sum of the layers of a tiny model, number of layers, the same sum): the profiler's cost is in
    the layers' times."""
    session = Session(content, request)
    session.bind(inputs.ones(session.inputs), 1)
    records, _ = profiled(session.engine, 0.2e9)
    times = [number(one.get("medianMs", one.get("averageMs"))) for one in records]
    total = sum(value for value in times if value is not None) * 1e6
    return total, len(times), total


reference = worker.onnxruntime_reference


if __name__ == "__main__":
    sys.exit(wire.main(sys.modules[__name__]))

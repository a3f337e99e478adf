#!/usr/bin/env python3
"""Agent for OpenVINO: each device of the installed package. Protocol: docs/wire.md."""

import collections
import copy
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from benanza_agent import inputs, machine, measure, onnx_graph, package, trace, wire, worker  # noqa: E402
from benanza_agent.request import Unsupported  # noqa: E402

NAME, PROGRAM, FILE = "openvino", "benanza-agent-openvino", os.path.abspath(__file__)
LEAST_VERSION = "2023.1"
MALLOC = True  # its tensors on a CPU are in memory of malloc (benanza_agent/pages.py)
PLUGINS = {"intel_cpu": "CPU", "intel_gpu": "GPU", "intel_npu": "NPU"}
# OpenVINO's names of types
TYPES = {
    "f32": "f32",
    "f16": "f16",
    "bf16": "bf16",
    "f64": "f64",
    "i8": "s8",
    "u8": "u8",
    "i16": "s16",
    "u16": "u16",
    "i32": "s32",
    "u32": "u32",
    "i64": "s64",
    "u64": "u64",
    "boolean": "bool",
}
PRECISION = {"f32": "f32", "f16": "f16", "bf16": "bf16"}
ADDED = ("Reorder", "Convert", "Transpose", "Reshape", "Input", "Output")  # never a part of another node
HEAVY = re.compile(r"Convolution|Deconvolution|MatMul|FullyConnected|RNN|LSTM|GRU|MHA|ScaledDotProduct")


def describe():
    version, _ = package.version("openvino", "openvino-nightly")
    found = " ".join(package.libraries("openvino", "libs"))
    providers = [name for plugin, name in PLUGINS.items() if f"openvino_{plugin}_plugin" in found] or ["CPU"]
    return wire.hello(
        sys.modules[__name__], machine.cpu_model(), providers, version and version.split("-")[0]
    )


def load(request):
    """Imports the framework and returns its version."""
    openvino = package.imported("openvino")
    version = package.version("openvino", "openvino-nightly")[0] or getattr(openvino, "__version__", "0")
    version = package.check_version("openvino", version.split("-")[0], LEAST_VERSION)
    request.provider = request.provider or "CPU"
    devices = openvino.Core().available_devices
    if request.provider not in devices and request.provider.split(":")[0].split(".")[0] not in devices:
        raise Unsupported(
            f"openvino {version} has no device '{request.provider}' here; it has {', '.join(devices)}"
        )
    if request.dtype not in PRECISION and not request.converted and not request.own_type:
        raise Unsupported(
            f"openvino has no inference precision {request.dtype}; it has {', '.join(PRECISION)}"
        )
    request.needs_level_all("openvino")
    for key in request.options:
        if not key.isupper():
            raise Unsupported(f"openvino has no option '{key}': its properties are in capitals (NUM_STREAMS)")
    return version


def device(request):
    if request.provider == "CPU":
        return machine.cpu_model()
    import openvino

    return str(openvino.Core().get_property(request.provider, "FULL_DEVICE_NAME"))


def configuration(request, threads, profiles):
    """Returns the properties of a compiled model: f32 unless another type is requested, one thread per
    core."""
    properties = {
        "INFERENCE_PRECISION_HINT": PRECISION.get(request.dtype, "f32"),
        "PERFORMANCE_HINT": "LATENCY" if request.requests == 1 else "THROUGHPUT",
        "PERFORMANCE_HINT_NUM_REQUESTS": request.requests,
        "PERF_COUNT": profiles,
    }
    if request.provider == "CPU":
        properties.update(
            {"INFERENCE_NUM_THREADS": threads, "ENABLE_CPU_PINNING": True, "ENABLE_HYPER_THREADING": False}
        )
    properties.update({key: value for key, value in request.options.items() if key.isupper()})
    return properties


def name_of(port, wanted):
    """Returns the name of the input that the request uses, else any of its names."""
    names = sorted(port.get_names())
    return next((name for name in names if name in wanted), names[0] if names else "")


class Session:
    """A compiled model, its inputs, and an inference request for each concurrent request."""

    def __init__(self, source, request, profiles=False):
        import openvino

        self.request = request
        self.threads = request.threads or len(request.own_cores)
        core = openvino.Core()
        model = core.read_model(source)
        self.ports = [name_of(port, request.given) for port in model.inputs]
        self.inputs = [
            (name, type_of(name, port), [d.get_length() if d.is_static else None for d in port.partial_shape])
            for name, port in zip(self.ports, model.inputs)
        ]
        if isinstance(source, str) and model.is_dynamic():
            shapes = {port: spec[2] for port, spec in zip(model.inputs, request.specs(self.inputs))}
            model.reshape(shapes)
        properties = configuration(request, self.threads, profiles)
        self.compiled = core.compile_model(model, request.provider, properties)
        self.math = "strict"
        self.settings = {
            name.lower(): self.property(name)
            for name in (
                "INFERENCE_PRECISION_HINT",
                "PERFORMANCE_HINT",
                "NUM_STREAMS",
                "ENABLE_CPU_PINNING",
                "EXECUTION_DEVICES",
            )
        }
        self.threads = self.property("INFERENCE_NUM_THREADS") or self.threads
        self.precision = TYPES.get(self.settings["inference_precision_hint"], "")

    def property(self, name):
        """Returns the value of a property in the compiled model, not the requested one; None if the device
        does not have it."""
        try:
            value = self.compiled.get_property(name)
        except Exception:  # the device does not have it
            return None
        if hasattr(value, "get_type_name"):
            return value.get_type_name()
        return value if isinstance(value, (bool, int, float, str, list, type(None))) else str(value)

    def bind(self, feeds, requests):
        import openvino

        self.feeds, self.requests = feeds, [self.compiled.create_infer_request() for _ in range(requests)]
        self.kept = []
        for one in self.requests:
            for i, (name, dtype, _) in enumerate(self.inputs):
                array = feeds[name]
                tensor = (
                    openvino.Tensor(array, array.shape, openvino.Type.bf16)
                    if dtype == "bf16"
                    else openvino.Tensor(array, shared_memory=True)
                )
                self.kept.append(tensor)
                one.set_input_tensor(i, tensor)
        self.runs = [self.runner(one) for one in self.requests]

    @staticmethod
    def runner(one):
        def run():
            one.start_async()
            one.wait()

        return run

    def outputs(self):
        import numpy

        return [numpy.array(tensor.data) for tensor in self.requests[0].output_tensors]

    def copies(self):
        """Returns the times to fill the inputs and to read the outputs."""
        out = [tensor.data for tensor in self.requests[0].output_tensors]
        return measure.copied(list(self.feeds.values())), measure.copied(out)

    def layers(self):
        """Returns [(name, information)] of the executed graph, in order of execution."""
        found = []
        for op in self.compiled.get_runtime_model().get_ordered_ops():
            information = {key: text_of(value) for key, value in op.get_rt_info().items()}
            order = information.get("execOrder", "")
            information["inputs"] = [port.get_node().get_friendly_name() for port in op.input_values()]
            found.append((int(order) if order.isdigit() else 1 << 30, op.get_friendly_name(), information))
        return [(name, information) for _, name, information in sorted(found, key=lambda f: f[0])]

    def dtype(self):
        """Returns the precision of the heavy layers, as the executed graph reports it."""
        kinds = {
            kind_of(information)
            for _, information in self.layers()
            if HEAVY.search(information.get("layerType", ""))
        }
        return worker.one_type(kinds - {""})

    def close(self):
        self.runs = self.requests = self.kept = []
        self.compiled = None


def text_of(value):
    return value.astype(str) if hasattr(value, "astype") else str(value)


def kind_of(information):
    kind = information.get("runtimePrecision", "")
    return TYPES.get(kind, kind if kind not in ("undef", "unspecified") else "")


def type_of(name, port):
    kind = port.get_element_type().get_type_name()
    if kind not in TYPES:
        raise Unsupported(f"input '{name}' has the type {kind}; agents generate no values of it")
    return TYPES[kind]


open = Session  # noqa: A001 - the name that the worker calls


CALIBRATED = 8  # inputs from which the ranges of a quantized model are taken


def convert(request, changed):
    """Returns (path of the model in the type of the changed request, what made it). OpenVINO converts to
    floating-point types while it compiles; NNCF quantizes into a file in the worker's temporary folder."""
    if changed.dtype != "s8":
        return request.path, f"INFERENCE_PRECISION_HINT {changed.dtype}"
    try:
        import nncf
    except ImportError:
        raise Unsupported(f"{sys.executable} has no package nncf, with which OpenVINO quantizes") from None
    import openvino

    changed.converted = True
    session = Session(request.path, request)
    specs = request.specs(session.inputs)
    session.close()
    calibration = []
    for seed in range(1, CALIBRATED + 1):
        one = copy.copy(request)
        one.seed = request.seed + seed
        calibration.append(one.feeds(specs))
    model = openvino.Core().read_model(request.path)
    model = nncf.quantize(model, nncf.Dataset(calibration), subset_size=CALIBRATED)
    made = os.path.join(tempfile.mkdtemp(prefix="benanza-int8-"), "model.xml")
    openvino.save_model(model, made, compress_to_fp16=False)
    return made, f"nncf, {CALIBRATED} random inputs"


# ---- profile


def counted(session, budget_ns, say):
    """Runs the model with performance counters. Returns ([latency in ns], {layer: [ns in each run]}, {layer:
    counter}); a layer without a run of 1 us or more is left out."""
    count = worker.profiled_count(session.runs[0], budget_ns)
    latencies, times, last = [], collections.defaultdict(list), {}
    for _ in worker.profiled_runs(count, say):
        latencies += measure.timed(session.runs[0], 1)
        for one in session.requests[0].profiling_info:
            last[one.node_name] = one
            times[one.node_name].append(one.real_time.total_seconds() * 1e9)
    return latencies, {name: values for name, values in times.items() if max(values) > 0}, last


def profile(path, request, feeds, budget_ns, say):
    one = copy.copy(request)
    one.requests = 1
    session = Session(path, one, True)
    session.bind(feeds, 1)
    latencies, times, counters = counted(session, budget_ns, say)
    layers = session.layers()
    session.close()
    rows = [
        layer_row(name, information, counters[name], times[name], request)
        for name, information in layers
        if name in times
    ]
    known = {name for name, _ in layers}
    gaps = [f"{len(set(times) - known)} counters belong to no executed layer"] if set(times) - known else []
    assign(rows, layers, onnx_graph.read(path))
    return {"rows": rows, "latencies": latencies, "profiled_ns": measure.median(latencies), "gaps": gaps}


def layer_row(name, information, counter, times, request):
    kernel = information.get("primitiveType") or counter.exec_type
    shapes = information.get("outputLayouts", "")
    return worker.row(
        name,
        information.get("layerType") or counter.node_type,
        times,
        provider=request.provider,
        kernel=kernel,
        dtype=kind_of(information),
        shapes=f"layout {shapes}" if shapes else "",
    )


def assign(rows, layers, original):
    """Sets the nodes of each row to those that the executed graph lists as its original layers."""
    tracer = trace.Trace(original)
    information = dict(layers)
    traced = []
    for one in rows:
        mine = trace.Row(one["name"], one["op"], information[one["name"]]["inputs"], [one["name"]])
        listed = information[one["name"]].get("originalLayersNames", "")
        tracer.by_names(mine, [name for name in listed.split(",") if name])
        traced.append(mine)
    tracer.once(traced)
    name_unnamed(original, traced)
    tracer.fill(traced)
    for one, mine in zip(rows, traced):
        tracer.write(mine, one)


def name_unnamed(original, traced):
    """Finds the nodes of rows for which the executed graph lists no node of the model.

    A scale factor that was moved to another operand executes the only multiplication beside its neighbours
    that is in no row, else the one in its readers. Another part of a split node (such as the normalization of
    a LayerNormalization, before its scale) executes the first node of its only reader.
    """
    readers, by_name = collections.defaultdict(list), {row.name: row for row in traced}
    for row in traced:
        for name in row.inputs:
            readers[name].append(row)
    owned = {i for row in traced for i in row.nodes}
    loose = {
        i
        for i, node in enumerate(original.nodes)
        if node.op in ("Mul", "Div") and i not in owned and i not in original.constant_nodes
    }
    for row in reversed(traced):
        if row.nodes or row.op in ADDED:
            continue
        after = [one for one in readers[row.name] if one.nodes]
        near = {i for one in after + [by_name[n] for n in row.inputs if n in by_name] for i in one.nodes}
        moved = [i for i in loose if original.neighbours(i) & near]
        moved = moved or [i for one in after for i in one.nodes if original.nodes[i].op in ("Mul", "Div")]
        if len(moved) == 1:
            row.nodes = {moved[0]}
            loose.discard(moved[0])
        elif len(after) == 1 and len(readers[row.name]) == 1:
            first = {i for i in after[0].nodes if original.reads(i, after[0].nodes)}
            row.nodes = first if len(first) == 1 else set()


def profile_tiny(content, request):
    """Returns (minimum profiled latency of a chain of poolings, number of its layers that were executed,
    minimum sum of their times)."""
    session = Session(content, request, True)
    session.bind(inputs.ones(session.inputs), 1)
    latencies, times, _ = counted(session, 20e6, lambda what: None)
    executed = sum(information.get("layerType") == "Pooling" for _, information in session.layers())
    session.close()
    return min(latencies), executed, min(map(sum, zip(*times.values()))) if times else None


def reference(path, request, feeds):
    """Returns the outputs of ONNX Runtime without graph optimizations. If it is not installed: those of
    OpenVINO in f32, or None if the job itself ran in f32."""
    found = worker.onnxruntime_reference(path, request, feeds)
    if found or request.dtype == "f32":
        return found
    import openvino

    plain = copy.copy(request)
    plain.dtype, plain.requests, plain.options = "f32", 1, {}
    outputs = worker.outputs_of(Session(path, plain), feeds)
    return outputs, f"openvino {openvino.__version__.split('-')[0]}, {request.provider}, f32"


if __name__ == "__main__":
    sys.exit(wire.main(sys.modules[__name__]))

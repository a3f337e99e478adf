#!/usr/bin/env python3
"""Agent for ONNX Runtime: every execution provider that the installed package has. Protocol: docs/wire.md."""

import collections
import copy
import json
import logging
import os
import platform
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from benanza_agent import inputs, machine, measure, onnx_graph, package, trace, wire, worker  # noqa: E402
from benanza_agent.request import Unsupported  # noqa: E402

NAME, PROGRAM, FILE = "onnxruntime", "benanza-agent-onnxruntime", os.path.abspath(__file__)
LEAST_VERSION = "1.14.0"
MALLOC = True  # its tensors on a CPU are in memory of malloc (benanza_agent/pages.py)
DISTRIBUTIONS = (
    "onnxruntime-gpu",
    "onnxruntime-openvino",
    "onnxruntime-rocm",
    "onnxruntime-migraphx",
    "onnxruntime-qnn",
    "onnxruntime-cann",
    "onnxruntime-training",
    "onnxruntime",
)
# By the library of a provider: its name, the memory of its device for I/O binding ("": host memory), and the
# options that force f32.
PROVIDERS = {
    "cuda": ("CUDAExecutionProvider", "cuda", {"use_tf32": "0"}),
    "tensorrt": ("TensorrtExecutionProvider", "cuda", {"trt_fp16_enable": "0", "trt_int8_enable": "0"}),
    "nv_tensorrt_rtx": ("NvTensorRTRTXExecutionProvider", "cuda", {}),
    "rocm": ("ROCMExecutionProvider", "cuda", {}),
    "migraphx": ("MIGraphXExecutionProvider", "", {"migraphx_fp16_enable": "0"}),
    "openvino": ("OpenVINOExecutionProvider", "", {"precision": "FP32"}),
    "dnnl": ("DnnlExecutionProvider", "", {}),
    "cann": ("CANNExecutionProvider", "", {}),
    "qnn": ("QNNExecutionProvider", "", {}),
    "vitisai": ("VitisAIExecutionProvider", "", {}),
}
BY_NAME = {name: (memory, options) for name, memory, options in PROVIDERS.values()}
CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
# (provider, type): options that make the provider compute in this type instead of the model's.
REDUCED = {
    ("CUDAExecutionProvider", "tf32"): {"use_tf32": "1"},
    ("TensorrtExecutionProvider", "f16"): {"trt_fp16_enable": "1"},
    ("TensorrtExecutionProvider", "bf16"): {"trt_bf16_enable": "1"},
    ("MIGraphXExecutionProvider", "f16"): {"migraphx_fp16_enable": "1"},
    ("OpenVINOExecutionProvider", "f16"): {"precision": "FP16"},
}
LEVELS = {
    "all": "ORT_ENABLE_ALL",
    "extended": "ORT_ENABLE_EXTENDED",
    "basic": "ORT_ENABLE_BASIC",
    "none": "ORT_DISABLE_ALL",
}
# ONNX Runtime's names of types, and the element types of onnx.proto
TYPES = {
    "float": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "double": "f64",
    "int8": "s8",
    "uint8": "u8",
    "int16": "s16",
    "uint16": "u16",
    "int32": "s32",
    "uint32": "u32",
    "int64": "s64",
    "uint64": "u64",
    "bool": "bool",
    "string": "string",
}
CODES = {1: "f32", 10: "f16", 16: "bf16", 11: "f64", 2: "u8", 3: "s8"}
BF16 = 16
HEAVY = re.compile(r"Conv|Gemm|MatMul|Attention|LSTM|GRU|RNN")
CONTAINERS = {"If", "Loop", "Scan", "SequenceMap"}
DROPPED_SUFFIX = "_kernel_time"


def describe():
    version, _ = package.version(*DISTRIBUTIONS)
    found = " ".join(package.libraries("onnxruntime", "capi"))
    providers = [
        name
        for library, (name, *_) in PROVIDERS.items()
        if re.search(rf"onnxruntime_providers_{library}\.", found)
    ]
    gpu = machine.gpu_model() if any(BY_NAME[name][0] == "cuda" for name in providers) else ""
    order = providers + [CPU] if gpu else [CPU] + providers
    order.sort(key=lambda name: name.startswith("Tensorrt") or name.startswith("Nv"))  # on request
    return wire.hello(sys.modules[__name__], gpu or machine.cpu_model(), order, version)


SWITCHES = ("enable_cpu_mem_arena", "enable_mem_pattern", "enable_mem_reuse")  # of the session's options


def check_options(options):
    """Raises Unsupported for an option that would have no effect."""
    for key, value in options.items():
        if key in SWITCHES and value not in ("0", "1"):
            raise Unsupported(f"the option '{key}' is 0 or 1, not '{value}'")
        if key not in SWITCHES and key != "model_type" and "." not in key:
            raise Unsupported(
                f"onnxruntime has no option '{key}': its options have a dot (session.intra_op.allow_spinning,"
                f" provider.NAME) or are model_type, {', '.join(SWITCHES)}"
            )


def load(request):
    """Imports the framework and returns its version."""
    check_options(request.options)
    onnxruntime = package.imported("onnxruntime")
    found = getattr(onnxruntime, "__version__", "0")
    version = package.check_version("onnxruntime", found, LEAST_VERSION)
    onnxruntime.set_default_logger_severity(4)
    available = onnxruntime.get_available_providers()
    request.provider = request.provider or describe()["attributes"]["providers"][0]
    if request.provider not in available:
        short = [
            name
            for name in available
            if name.lower().startswith(request.provider.lower() + "executionprovider")
        ]
        if not short:
            raise Unsupported(
                f"onnxruntime {version} has no provider '{request.provider}'; it has {', '.join(available)}"
            )
        request.provider = short[0]
    if (
        request.dtype != "f32"
        and not request.converted
        and not request.own_type
        and (request.provider, request.dtype) not in REDUCED
        and not request.options.get("model_type")
    ):
        raise Unsupported(
            f"{request.provider} computes in the types of the model: convert the model to {request.dtype}, "
            "or give the option model_type=1 if it is"
        )
    return version


def device(request):
    return BY_NAME.get(request.provider, ("", {}))[0] and machine.gpu_model() or machine.cpu_model()


def session_options(request, threads, cores):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[request.level])
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 4
    entries = {"session.intra_op.allow_spinning": "1"}
    if threads > 1 and cores:  # the calling thread is the first; processors are counted from 1
        entries["session.intra_op_thread_affinities"] = ";".join(str(cpu + 1) for cpu in cores[1:])
    entries.update(
        {
            key: value
            for key, value in request.options.items()
            if "." in key and not key.startswith("provider.")
        }
    )
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    for key in SWITCHES:
        if key in request.options:
            setattr(options, key, request.options[key] == "1")
    return options, entries


def provider_options(request):
    """The provider's options: f32 forced unless another type is requested, then those of the request."""
    forced = dict(BY_NAME.get(request.provider, ("", {}))[1])
    forced.update(REDUCED.get((request.provider, request.dtype), {}))
    forced.update({key[9:]: value for key, value in request.options.items() if key.startswith("provider.")})
    return forced


def fallbacks(request, onnxruntime):
    """Providers for the nodes that the requested one does not run: CUDA for TensorRT, then the CPU."""
    found = []
    if request.provider.startswith("Tensorrt") and CUDA in onnxruntime.get_available_providers():
        found.append((CUDA, BY_NAME[CUDA][1]))
    return found + [CPU] * (request.provider != CPU)


class Session:
    """A session, its inputs, and for each concurrent request a function that runs it."""

    def __init__(self, source, request, change=lambda options: None):
        import onnxruntime

        self.request = request
        self.threads, cores = request.cores()
        options, entries = session_options(request, self.threads, cores)
        change(options)
        forced = provider_options(request)
        providers = [(request.provider, forced)] + fallbacks(request, onnxruntime)
        self.session = onnxruntime.InferenceSession(source, options, providers=providers)
        self.session.disable_fallback()
        if self.session.get_providers()[0] != request.provider:
            raise Unsupported(
                f"onnxruntime could not load {request.provider}: are its libraries and its device there?"
            )
        if cores:
            machine.bind(cores[0])
        self.memory = BY_NAME.get(request.provider, ("", {}))[0]
        self.binds = request.io_binding or bool(self.memory)
        bf16 = request.options.get(ARM_BF16) == "1"
        self.math = "tf32" if forced.get("use_tf32") == "1" else "fast_bf16" if bf16 else "strict"
        spinning = entries["session.intra_op.allow_spinning"] != "0"
        self.settings = {
            "spinning": spinning,
            "cores": cores or None,
            "io_binding": self.binds,
            "provider_options": forced,
        }
        if self.memory:
            self.settings["memory"] = "of the host"
        self.inputs = [(value.name, dtype_of(value), value.shape) for value in self.session.get_inputs()]

    def bind(self, feeds, requests):
        self.feeds, self.names = feeds, [value.name for value in self.session.get_outputs()]
        self.runs = [self.runner(feeds) for _ in range(requests)]

    def runner(self, feeds):
        if not self.binds and not self.bf16():
            session, names = self.session, self.names

            def run():
                self.last = session.run(names, feeds)

            return run
        binding = self.session.io_binding()
        for name, array in feeds.items():
            binding.bind_ortvalue_input(name, self.value(name, array))
        for name in self.names:
            binding.bind_output(name, self.memory or "cpu")
        self.last = binding

        def run_bound():
            self.session.run_with_iobinding(binding)
            binding.synchronize_outputs()

        return run_bound

    def bf16(self):
        return {name for name, dtype, _ in self.inputs if dtype == "bf16"}

    def value(self, name, array):
        """An input in the memory of the device."""
        import onnxruntime

        if name in self.bf16():
            return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array, BF16)
        return onnxruntime.OrtValue.ortvalue_from_numpy(array, self.memory or "cpu", 0)

    def outputs(self):
        import numpy

        values = self.last if isinstance(self.last, list) else self.last.copy_outputs_to_cpu()
        return [numpy.array(value) for value in values if hasattr(value, "dtype")]

    def copies(self):
        """Returns the times to copy the inputs to the device and the outputs back; on the CPU, to fill and to
        read them."""
        if not self.memory:
            return measure.copied(list(self.feeds.values())), measure.copied(self.outputs())
        kept = [self.value(name, array) for name, array in self.feeds.items()]
        into = measure.quick(
            lambda: [value.update_inplace(array) for value, array in zip(kept, self.feeds.values())]
        )
        return into, measure.quick(self.last.copy_outputs_to_cpu)

    def dtype(self):
        """Returns the model's own type, in which the runtime computes unless the provider's options change
        it."""
        if REDUCED.get((self.request.provider, self.request.dtype)):
            return ""  # the provider chooses for each layer and does not report it
        graph = onnx_graph.read(self.request.path)
        kinds = {kind for _, kind, _ in graph.inputs} | set(graph.initializers.values())
        found = {CODES[kind] for kind in kinds if kind in (1, 10, 11, 16)}
        integers = any(re.search(r"QLinear|Integer|Quantize|NBits", node.op) for node in graph.nodes)
        return "mixed" if found and integers else worker.one_type(found)

    def close(self):
        self.runs, self.last, self.session = [], None, None


def dtype_of(value):
    found = re.fullmatch(r"tensor\((\w+)\)", value.type)
    if not found or found.group(1) not in TYPES:
        raise Unsupported(f"input '{value.name}' is a {value.type}; agents generate tensors only")
    return TYPES[found.group(1)]


open = Session  # noqa: A001 - the name that the worker calls


# ---- conversion: copies of the model in the worker's temporary folder

MOST_INLINE = 1 << 30  # bytes; larger weights are saved beside the model (protobuf ends at 2 GiB)
CALIBRATED = 8  # inputs from which the ranges of a quantized model are taken
ARM_BF16 = "mlas.enable_gemm_fastmath_arm64_bfloat16"


def convert(request, changed):
    """Returns (path of the model in the type of the changed request, what made it): ONNX Runtime's own
    converters; the path of the request if the provider converts by itself."""
    if (changed.provider, changed.dtype) in REDUCED:
        return request.path, "options of the provider"
    changed.converted = True
    maker = {"f16": half, "bf16": brain, "s8": quantized}.get(changed.dtype)
    if not maker:
        raise Unsupported(f"onnxruntime has no converter to {changed.dtype}")
    return maker(request, changed)


def brain(request, changed):
    """The CPU provider multiplies f32 matrices in bf16 on Arm; there is no converter to bf16."""
    if changed.provider != CPU or platform.machine() not in ("aarch64", "arm64"):
        raise Unsupported(
            "onnxruntime has no converter to bf16; its CPU provider has bf16 products on Arm only"
        )
    changed.options = {**changed.options, ARM_BF16: "1"}
    return request.path, ARM_BF16


def folded(request):
    """Saves the model with the basic optimizations, which fold constants: converters see weights only in
    initializers. Returns the path; weights are in a file beside it."""
    import onnxruntime

    folder = tempfile.mkdtemp(prefix="benanza-folded-")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = os.path.join(folder, "model.onnx")
    options.log_severity_level = 4
    name = "session.optimized_model_external_initializers_"
    options.add_session_config_entry(name + "file_name", "weights.bin")
    options.add_session_config_entry(name + "min_size_in_bytes", "1024")
    onnxruntime.InferenceSession(request.path, options, providers=[CPU])
    return options.optimized_model_filepath


def half(request, _changed):
    onnx = package.imported("onnx")
    float16 = package.imported("onnxruntime.transformers.float16")
    source = folded(request)
    large = sum(entry.stat().st_size for entry in os.scandir(os.path.dirname(source))) > MOST_INLINE
    model = float16.convert_float_to_float16(
        onnx.load(source), keep_io_types=True, disable_shape_infer=large
    )
    made = os.path.join(tempfile.mkdtemp(prefix="benanza-f16-"), "model.onnx")
    onnx.save(model, made, save_as_external_data=large, location="weights.bin" if large else None)
    return made, "onnxruntime.transformers.float16, inputs and outputs in f32"


def quantized(request, _changed):
    """Static quantization with ranges from inputs of other seeds than the measured ones."""
    package.imported("onnx")
    quantization = package.imported("onnxruntime.quantization")
    logging.disable(logging.WARNING)  # advice on standard error

    class Reader(quantization.CalibrationDataReader):
        def __init__(self, specs):
            self.specs, self.left = specs, CALIBRATED

        def get_next(self):
            if not self.left:
                return None
            one = copy.copy(request)
            one.seed, self.left = request.seed + self.left, self.left - 1
            return one.feeds(self.specs)

    source = folded(request)
    folder = tempfile.mkdtemp(prefix="benanza-int8-")
    made = os.path.join(folder, "model.onnx")
    specs = request.specs(onnx_graph.declared_inputs(onnx_graph.read(request.path)))
    large = sum(entry.stat().st_size for entry in os.scandir(os.path.dirname(source))) > MOST_INLINE
    quantization.quantize_static(source, made, Reader(specs), use_external_data_format=large)
    if not any(node.op == "QuantizeLinear" for node in onnx_graph.read(made).nodes):
        raise Unsupported("onnxruntime.quantization quantizes no node of this model")
    return made, f"onnxruntime.quantization, static, {CALIBRATED} random inputs"


# ---- profile


def profile_session(source, request, folder, save=True):
    """Returns a session that profiles. It saves the optimized model, whose weights go to /dev/null."""

    def change(options):
        options.enable_profiling = True
        options.profile_file_prefix = os.path.join(folder, "profile")
        if save:
            os.symlink("/dev/null", os.path.join(folder, "weights.bin"))
            options.optimized_model_filepath = os.path.join(folder, "optimized.onnx")
            options.add_session_config_entry(
                "session.optimized_model_external_initializers_file_name", "weights.bin"
            )
            options.add_session_config_entry(
                "session.optimized_model_external_initializers_min_size_in_bytes", "1024"
            )

    return Session(source, request, change)


def events_of(path):
    """Returns the runs in a profile as (event of the run, events of its nodes)."""
    with os.fdopen(os.open(path, os.O_RDONLY), encoding="utf-8", errors="replace") as file:
        events = json.load(file)
    nodes = [e for e in events if e.get("cat") == "Node" and e["name"].endswith(DROPPED_SUFFIX)]
    runs = [e for e in events if e.get("cat") == "Session" and e["name"] == "model_run"]
    nodes.sort(key=lambda e: (e["ts"], -e["dur"]))
    found, at = [], 0
    for run in sorted(runs, key=lambda e: e["ts"]):
        end, mine = run["ts"] + run["dur"], []
        while at < len(nodes) and nodes[at]["ts"] <= end:
            mine.append(nodes[at])
            at += 1
        found.append((run, mine))
    return found


def rows_of(runs):
    """Returns a row for each node, with its time in each run. The parent of a node in a loop's body is the
    loop's row."""
    rows = collections.OrderedDict()
    for index, (run, events) in enumerate(runs):
        around = []
        for event in events:
            while around and event["ts"] >= around[-1][1]:
                around.pop()
            args = event["args"]
            name = event["name"][: -len(DROPPED_SUFFIX)]
            parent = around[-1][0] if around else None
            key = (parent, name, args.get("op_name"), args.get("provider"), args.get("node_index"))
            known = rows.setdefault(
                key, {"ns": [0.0] * len(runs), "calls": 0, "start": [], "bytes": 0, "args": args}
            )
            known["ns"][index] += event["dur"] * 1e3
            known["calls"] += 1
            known["start"].append((event["ts"] - run["ts"]) * 1e3)
            known["bytes"] = max(known["bytes"], int(args.get("output_size") or 0))
            if args.get("op_name") in CONTAINERS:
                around.append((key, event["ts"] + event["dur"]))
    order = {key: i for i, key in enumerate(rows)}
    made = []
    for (parent, name, op, provider, _), known in rows.items():
        shapes = known["args"].get("input_type_shape") or []
        kinds = [TYPES.get(kind, kind) for one in shapes if isinstance(one, dict) for kind in one]
        made.append(
            worker.row(
                name,
                op or "",
                known["ns"],
                provider=provider or "",
                parent=order.get(parent),
                dtype=type_of(op, kinds),
                shapes=" ".join(
                    f"{k}:{'x'.join(map(str, s))}"
                    for one in shapes
                    if isinstance(one, dict)
                    for k, s in one.items()
                ),
                calls=known["calls"] / len(runs),
                start_ns=measure.median(known["start"][: len(runs)]),
                output_bytes=known["bytes"],
            )
        )
    return made


def type_of(op, kinds):
    """Returns the type of a node: that of its first input. The first input of a loop is a count; its type is
    that of its first float."""
    floats = [kind for kind in kinds if kind in inputs.FLOATS] if op in CONTAINERS else []
    return (floats + kinds + [""])[0]


def computed_type(rows):
    """Returns the type of the first input of the heavy operators; "mixed" if operators with more than 1% of
    the time have another type."""
    spent = collections.Counter()
    for one in rows:
        if HEAVY.search(one["op"]):
            spent[one["dtype"]] += one["ns"] or 0
    if not spent:
        return ""
    most, ns = spent.most_common(1)[0]
    return most if ns >= 0.99 * sum(spent.values()) else "mixed"


def profiled(source, request, feeds, budget_ns, say, save):
    """Runs a session with the profiler. Returns the runs after two warm-up runs, and the optimized graph or
    None."""
    with tempfile.TemporaryDirectory(prefix="benanza-agent-") as folder:
        session = profile_session(source, request, folder, save)
        session.bind(feeds, 1)
        for _ in worker.profiled_runs(worker.profiled_count(session.runs[0], budget_ns), say):
            session.runs[0]()
        path = session.session.end_profiling()
        session.close()
        runs = events_of(path)[2:]
        saved = os.path.join(folder, "optimized.onnx")
        graph = onnx_graph.read(saved) if save and os.path.exists(saved) else None
    if not runs or not any(events for _, events in runs):
        raise RuntimeError("the profile has no nodes")
    return runs, graph


def profile(path, request, feeds, budget_ns, say):
    gaps = []
    try:
        runs, optimized = profiled(path, request, feeds, budget_ns, say, True)
    except Exception as error:  # a graph with compiled nodes cannot be saved
        gaps.append(f"the optimized model is not saved: {worker.one_line(error, 120)}")
        runs, optimized = profiled(path, request, feeds, budget_ns, say, False)
    rows = rows_of(runs)
    assign(rows, onnx_graph.read(path), optimized)
    if BY_NAME.get(request.provider, ("", {}))[0]:
        gaps.append("times of GPU nodes are those of the host: the GPU works asynchronously")
    latencies = [run["dur"] * 1e3 for run, _ in runs]
    return {
        "rows": rows,
        "latencies": latencies,
        "profiled_ns": measure.median(latencies),
        "dtype": computed_type(rows) if request.dtype == "f32" or request.own_type else "",
        "gaps": gaps,
    }


def nodes_of_rows(rows, traced, nodes):
    """Returns {index of a row: its Row}. Rows are found by name. The profile names a node without a name by
    its operator and its index in the graph; the optimized model lists nodes in the order of that index."""
    found, unnamed, left = {}, collections.defaultdict(list), collections.defaultdict(list)
    by_name = {node.name: one for node, one in zip(nodes, traced) if node.name}
    for node, one in zip(nodes, traced):
        if not node.name:
            unnamed[node.op].append(one)
    for i, one in enumerate(rows):
        if one["parent"] is None and one["name"] in by_name:
            found[i] = by_name[one["name"]]
        elif one["parent"] is None and re.fullmatch(re.escape(one["op"]) + r"_\d+", one["name"]):
            left[one["op"]].append(i)
    for op, mine in left.items():
        mine.sort(key=lambda i: int(rows[i]["name"].rpartition("_")[2]))
        if len(mine) == len(unnamed[op]):
            found.update(zip(mine, unnamed[op]))
    return found


def assign(rows, original, optimized):
    """Gives each row the model's nodes that it executes."""
    tracer = trace.Trace(original)
    nodes = optimized.nodes if optimized else []
    traced = [
        trace.Row(node.label(), node.op, [n for n in node.inputs if n], [n for n in node.outputs if n])
        for node in nodes
    ]
    tracer.by_tensors(traced)
    found = nodes_of_rows(rows, traced, nodes)
    for i, one in enumerate(rows):
        if i in found:
            continue
        found[i] = trace.Row(one["name"], one["op"])
        if one["parent"] is None:
            tracer.by_names(found[i], [one["name"]])
            traced.append(found[i])
    tracer.fill(traced)
    for i, one in enumerate(rows):
        tracer.write(found[i], one)


def profile_tiny(content, request):
    """Returns (minimum profiled latency of a tiny model, number of rows, minimum sum of their times)."""
    with tempfile.TemporaryDirectory(prefix="benanza-agent-") as folder:
        session = profile_session(content, request, folder, False)
        session.bind(inputs.ones(session.inputs), 1)
        latency = measure.quick(session.runs[0], most=100, part=0)
        path = session.session.end_profiling()
        session.close()
        sums = [(len(events), sum(event["dur"] for event in events) * 1e3) for _, events in events_of(path)]
        return latency, sums[-1][0], min(ns for _, ns in sums)


def reference(path, request, feeds):
    """Returns the outputs of the CPU provider without graph optimizations, and a description of it."""
    import onnxruntime

    plain = copy.copy(request)
    plain.provider, plain.level, plain.options, plain.io_binding, plain.dtype = CPU, "none", {}, False, "f32"
    outputs = worker.outputs_of(Session(path, plain), feeds)
    return outputs, f"onnxruntime {onnxruntime.__version__}, CPUExecutionProvider, no graph optimizations"


if __name__ == "__main__":
    sys.exit(wire.main(sys.modules[__name__]))

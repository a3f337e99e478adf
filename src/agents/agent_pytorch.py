#!/usr/bin/env python3
"""Agent for PyTorch: eager or compiled, on the CPU or a CUDA device. Protocol: docs/wire.md.

The model is converted by onnx2torch, or a function in a Python file of the user returns the module.
"""

import collections
import copy
import importlib.util
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from benanza_agent import (  # noqa: E402
    inputs,
    kineto,
    machine,
    measure,
    onnx_graph,
    package,
    trace,
    wire,
    worker,
)
from benanza_agent.request import Unsupported  # noqa: E402

NAME, PROGRAM, FILE = "pytorch", "benanza-agent-pytorch", os.path.abspath(__file__)
LEAST_VERSION = "2.0.0"
CPU, CUDA = "CPU", "CUDA"
DTYPES = {"f32": "float32", "tf32": "float32", "f16": "float16", "bf16": "bfloat16"}
NAMES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64"}
MODES = ("eager", "compile")
OPTIONS = ("mode", "module", "cudnn_benchmark")
MOST_EVENTS = 400000  # of a profile
EVENTS_PER_MODULE = 8  # about: PyTorch's operators nest


def describe():
    version, _ = package.version("torch")
    gpu = machine.gpu_model() if "libtorch_cuda.so" in package.libraries("torch", "lib") else ""
    providers = [CUDA, CPU] if gpu else [CPU]
    return wire.hello(sys.modules[__name__], gpu or machine.cpu_model(), providers, version)


# ---- the framework


def bind_threads(request):
    """OpenMP binds one thread to each core. It reads these variables when PyTorch is loaded."""
    threads, cores = request.cores()
    if "torch" in sys.modules and threads != sys.modules["torch"].get_num_threads():
        raise Unsupported("pytorch's threads are those of the process: two sides cannot differ in them")
    if cores:
        os.environ["OMP_NUM_THREADS"] = str(threads)
        os.environ["OMP_PROC_BIND"] = "true"
        os.environ["OMP_PLACES"] = ",".join(f"{{{cpu}}}" for cpu in cores)
    return threads, cores


def load(request):
    """Imports the framework and returns its version."""
    for key in request.options:
        if key not in OPTIONS:
            raise Unsupported(f"the option '{key}' is not one of {', '.join(OPTIONS)}")
    if request.options.get("mode", "eager") not in MODES:
        raise Unsupported(f"the option 'mode' is not one of {', '.join(MODES)}: '{request.options['mode']}'")
    request.needs_level_all("pytorch")
    request.bound_threads, request.bound_cores = bind_threads(request)
    # The job has a new folder without kernels that an earlier job compiled
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    package.imported("numpy")
    torch = package.imported("torch")
    version = package.check_version("torch", str(getattr(torch, "__version__", "0")), LEAST_VERSION)
    choose_device(torch, version, request)
    force_type(torch, request)
    torch.set_num_threads(request.bound_threads)
    try:
        torch.set_num_interop_threads(1)
    except RuntimeError:
        pass  # it can be set only before the first parallel work
    if request.bound_cores:
        machine.bind(request.bound_cores[0])
    return version


def choose_device(torch, version, request):
    request.provider = (request.provider or (CUDA if torch.cuda.is_available() else CPU)).upper()
    if request.provider not in (CPU, CUDA):
        raise Unsupported(
            f"pytorch has no provider '{request.provider}' here; this agent has {CPU} and {CUDA}"
        )
    if request.provider == CUDA and not torch.cuda.is_available():
        built = getattr(getattr(torch, "version", None), "cuda", None)
        raise Unsupported(
            f"torch {version} finds no CUDA device"
            if built
            else f"torch {version} was built without CUDA: install one with CUDA, or request the provider CPU"
        )


def force_type(torch, request):
    """Allows TF32 only if it is requested: f32 is computed as f32."""
    if request.dtype not in DTYPES and not request.own_type:
        raise Unsupported(f"this agent has no type {request.dtype} for pytorch; it has {', '.join(DTYPES)}")
    if request.dtype == "tf32" and request.provider == CPU:
        raise Unsupported("the provider CPU has no tf32")
    tf32 = request.dtype == "tf32"
    torch.set_float32_matmul_precision("high" if tf32 else "highest")
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = request.options.get("cudnn_benchmark") == "1"


def device(request):
    if request.provider == CPU:
        return machine.cpu_model()
    import torch

    return str(torch.cuda.get_device_name())


# ---- the module


def folded(source):
    """Returns the ONNX model with its constant nodes folded into initializers, because onnx2torch reads
    weights only from those."""
    import onnx
    from onnx import numpy_helper
    from onnx.reference import ReferenceEvaluator

    model = onnx.load_from_string(source) if isinstance(source, bytes) else onnx.load(source)
    graph = model.graph
    read = onnx_graph.read(source)
    known, kept = {}, []
    constants = {one.name: one for one in graph.initializer}
    for i, node in enumerate(graph.node):
        if i in read.constant_nodes and not has_body(node) and "Quantize" not in node.op_type:
            try:
                feeds = {
                    n: known[n] if n in known else numpy_helper.to_array(constants[n])
                    for n in node.input
                    if n
                }
                values = ReferenceEvaluator(node).run(None, feeds)
                known.update({name: value for name, value in zip(node.output, values) if name})
                continue
            except Exception:  # whatever onnx does not compute: the node stays
                pass
        kept.append(node)
    used = {name for node in kept for name in node.input} | {value.name for value in graph.output}
    kept = [copy_of(node) for node in kept]
    del graph.node[:]
    graph.node.extend(kept)
    graph.initializer.extend(numpy_helper.from_array(v, n) for n, v in known.items() if n in used)
    return model


def copy_of(node):
    made = type(node)()
    made.CopyFrom(node)
    return made


def has_body(node):
    return any(one.HasField("g") or one.graphs for one in node.attribute)


def converted(source):
    """Returns (module, {name of a submodule: name of the node}). onnx2torch names a submodule after its node,
    or its operator if the node has no name, and appends a number to repeated names."""
    onnx2torch = package.imported("onnx2torch", "; or give the option module=FILE.py:FUNCTION")
    model = folded(source)
    seen, names = collections.Counter(), {}
    for node in model.graph.node:
        name = f"{node.domain}/{node.name.replace('.', '/') or node.op_type}".lstrip("/")
        number = f"_{seen[name]}" if seen[name] else ""
        seen[name] += 1
        names[name + number] = node.name or next((o for o in node.output if o), "")
    try:
        return onnx2torch.convert(model), names
    except NotImplementedError as error:
        raise Unsupported(f"onnx2torch: {worker.one_line(error, 400)}") from None
    except Exception as error:
        raise RuntimeError(f"onnx2torch cannot convert the model: {worker.one_line(error, 400)}") from error


def named(text, torch):
    """Returns the module that FUNCTION of FILE.py returns, for the option FILE.py:FUNCTION."""
    path, _, function = text.rpartition(":")
    if not path or not function.isidentifier():
        raise Unsupported(f"the option 'module' is not FILE.py:FUNCTION: '{text}'")
    if not os.path.isfile(path):
        raise Unsupported(f"{path}: no such file on {os.uname().nodename} (option 'module')")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("benanza_named_module", path)
    loaded = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(loaded)
        made = getattr(loaded, function)()
    except AttributeError:
        if hasattr(loaded, function):
            raise
        raise RuntimeError(f"{path} has no function '{function}' (option 'module')") from None
    if not isinstance(made, torch.nn.Module):
        raise RuntimeError(f"{path}: {function}() returns a {type(made).__name__}, not a torch.nn.Module")
    return made


def scope_of(label):
    """Returns the module path of a node that torch.onnx exported: layer1.0.conv1 for
    "/layer1/layer1.0/conv1/Conv". A part that begins with the part before it and a dot replaces that part."""
    parts = []
    for part in label.strip("/").split("/")[:-1]:
        if parts and part.startswith(parts[-1] + "."):
            parts[-1] = part
        else:
            parts.append(part)
    return ".".join(parts)


def flat(value):
    """Returns the tensors of an output, which may be nested, as a flat list."""
    if hasattr(value, "detach"):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [one for part in value for one in flat(part)] if isinstance(value, (list, tuple)) else []


class Session:
    """A module on its device, its inputs, and for each concurrent request a function that runs it."""

    def __init__(self, source, request):
        import torch

        self.torch, self.request = torch, request
        self.cuda = request.provider == CUDA
        self.device = torch.device("cuda" if self.cuda else "cpu")
        self.compiles = request.options.get("mode") == "compile"
        if self.cuda:
            torch.cuda.reset_peak_memory_stats()
        own = isinstance(source, bytes) or not request.options.get("module")
        self.module, self.names = (
            converted(source) if own else (named(request.options["module"], torch), None)
        )
        self.module.eval()
        if request.dtype in ("f16", "bf16"):
            self.module.to(getattr(torch, DTYPES[request.dtype]))
        self.module.to(self.device)
        self.inputs = onnx_graph.declared_inputs(onnx_graph.read(source))
        self.threads = request.bound_threads
        self.math = "tf32" if request.dtype == "tf32" else "strict"
        self.settings = {
            "mode": "compile" if self.compiles else "eager",
            "cores": request.bound_cores or None,
            "cuda_graph": self.compiles and self.cuda,
            "cudnn_benchmark": bool(torch.backends.cudnn.benchmark),
            "module": "onnx2torch" if own else request.options["module"],
            "onnx2torch": package.version("onnx2torch")[0] if own else None,
        }
        self.streams = []
        self.call = self.compiled(source) if self.compiles else self.module

    def compiled(self, source):
        """Compiles the module for the request's inputs and runs it until all compiling and capturing is
        done."""
        if self.request.requests > 1:
            raise Unsupported(
                "torch.compile with CUDA graphs runs one request at a time: request 1, or eager"
            )
        call = self.torch.compile(self.module, mode="reduce-overhead", dynamic=False)
        specs = (
            [(name, dtype, shape) for name, dtype, shape in self.inputs]
            if isinstance(source, bytes)
            else self.request.specs(self.inputs)
        )
        feeds = self.request.feeds([(*spec[:3], *(spec[3:] or (None, None))) for spec in specs])
        tensors = [self.tensor(feeds[name], dtype) for name, dtype, _ in self.inputs]
        with self.torch.no_grad():
            for _ in range(3):
                call(*tensors)
        self.wait()
        return call

    def wait(self):
        if self.cuda:
            self.torch.cuda.synchronize()

    def tensor(self, array, dtype):
        """Returns an input on the device; floats in the requested type."""
        import numpy

        bits = array.view(numpy.int16) if dtype == "bf16" else array
        found = self.torch.from_numpy(numpy.ascontiguousarray(bits))
        if dtype == "bf16":
            found = found.view(self.torch.bfloat16)
        if dtype in inputs.FLOATS and self.request.dtype in ("f16", "bf16"):
            found = found.to(getattr(self.torch, DTYPES[self.request.dtype]))
        return found.to(self.device)

    def bind(self, feeds, requests):
        self.feeds = feeds
        self.runs = [self.runner() for _ in range(requests)]

    def runner(self):
        """Returns a function that runs the model with inputs on the device and waits for the end of its
        work."""
        torch, call = self.torch, self.call
        tensors = [self.tensor(self.feeds[name], dtype) for name, dtype, _ in self.inputs]
        grad = torch.no_grad if self.compiles else torch.inference_mode
        mark = getattr(getattr(torch, "compiler", None), "cudagraph_mark_step_begin", None)
        mark = mark if self.compiles and self.cuda else None

        def run():
            with grad():
                if mark:
                    mark()
                self.last = call(*tensors)

        if not self.cuda:
            return run
        stream = torch.cuda.current_stream() if len(self.streams) == 0 else torch.cuda.Stream()
        self.streams.append(stream)

        def run_on_stream():
            with torch.cuda.stream(stream):
                run()
            stream.synchronize()

        return run_on_stream

    def outputs(self):
        found = [one.detach().cpu() for one in flat(self.last)]
        return [(one.float() if one.dtype == self.torch.bfloat16 else one).numpy().copy() for one in found]

    def copies(self):
        """Returns the times to copy the inputs to the device and the outputs back; on the CPU, to fill and
        read them."""
        pairs = [(self.tensor(self.feeds[name], dtype), self.feeds[name]) for name, dtype, _ in self.inputs]
        into = [self.host(there) for there, _ in pairs]
        out = [(one.detach(), self.host(one.detach())) for one in flat(self.last)]

        def copy_in():
            for (there, _), here in zip(pairs, into):
                there.copy_(here, non_blocking=True)
            self.wait()

        def copy_out():
            for there, here in out:
                here.copy_(there, non_blocking=True)
            self.wait()

        return measure.quick(copy_in), measure.quick(copy_out)

    def host(self, tensor):
        """Returns a copy in host memory, pinned if the device is a GPU."""
        return tensor.cpu().pin_memory() if self.cuda else tensor.clone()

    def peak_memory(self):
        return self.torch.cuda.max_memory_allocated() if self.cuda else machine.memory("VmHWM")

    def dtype(self):
        """Returns the type of the module's parameters and buffers; without those, that of its inputs."""
        values = list(self.module.parameters()) + list(self.module.buffers())
        kinds = {NAMES.get(str(one.dtype).split(".")[-1]) for one in values} - {None}
        if not kinds:
            kinds = {dtype for _, dtype, _ in self.inputs if dtype in inputs.FLOATS}
            if kinds and self.request.dtype in ("f16", "bf16"):
                return self.request.dtype
        return worker.one_type(kinds)

    def close(self):
        self.runs, self.last, self.call, self.module = [], None, None, None


open = Session  # noqa: A001 - the name that the worker calls


# ---- profile


def mark_modules(session):
    """Puts a range around each call of a module. Returns the number of modules."""
    record = session.torch.profiler.record_function
    around, count = [], 0

    def before(name):
        def hook(_module, _inputs):
            around.append(record(kineto.MODULE + name))
            around[-1].__enter__()

        return hook

    def after(_module, _inputs, _outputs):
        around.pop().__exit__(None, None, None)

    for name, module in session.module.named_modules():
        chosen = name in session.names if session.names is not None else name and not list(module.children())
        if chosen:
            module.register_forward_pre_hook(before(name))
            module.register_forward_hook(after)
            count += 1
    return count


def traced_runs(session, count, say):
    """Returns ([latency in ns], events) of `count` profiled runs. The latencies of the two runs before them
    are dropped."""
    profiler, record = session.torch.profiler, session.torch.profiler.record_function
    activities = [profiler.ProfilerActivity.CPU] + [profiler.ProfilerActivity.CUDA] * session.cuda
    latencies = []
    with profiler.profile(activities=activities, record_shapes=True) as one:
        for _ in worker.profiled_runs(count + 2, say):
            with record(kineto.RUN):
                latencies += measure.timed(session.runs[0], 1)
    handle, path = tempfile.mkstemp(prefix="benanza-trace-", suffix=".json")
    os.close(handle)
    say("reading the profile")
    one.export_chrome_trace(path)
    events = kineto.read(path)
    os.unlink(path)
    return latencies[2:], events


def profiled(session, budget_ns, say):
    """Returns (latencies, runs) of a profiled session. Modules are marked unless they are compiled."""
    modules = 0 if session.compiles else mark_modules(session)
    most = MOST_EVENTS // (EVENTS_PER_MODULE * max(modules, 100))
    count = max(worker.LEAST_RUNS, min(worker.profiled_count(session.runs[0], budget_ns), most))
    latencies, events = traced_runs(session, count, say)
    runs = kineto.runs_of(events)[2:]
    if not any(ops or device for _, ops, device in runs):
        raise RuntimeError("the profile has no operators")
    return latencies, runs


def profile(path, request, feeds, budget_ns, say):
    one = copy.copy(request)
    one.requests = 1
    session = Session(path, one)
    session.bind(feeds, 1)
    latencies, runs = profiled(session, budget_ns, say)
    names, compiles = session.names, session.compiles
    session.close()
    rows = kineto.rows_of(runs, request.provider, request.provider == CUDA)
    around = [one["dur"] * 1e3 for one, _, _ in runs]
    graph = onnx_graph.read(path)
    gaps = []
    if compiles:
        gaps.append("torch.compile fuses modules: rows have no nodes")
    else:
        assign(rows, graph, names)
    return {"rows": rows, "latencies": around, "profiled_ns": measure.median(latencies), "gaps": gaps}


def assign(rows, graph, names):
    """Sets the nodes of each row to those of its module: without onnx2torch, the nodes whose name or scope is
    that of the module."""
    tracer = trace.Trace(graph)
    scopes = collections.defaultdict(list)
    for i, node in enumerate(graph.nodes):
        if names is None and i not in graph.constant_nodes:
            scopes[node.label()].append(i)
            scopes[scope_of(node.label())].append(i)
    for row in rows:
        if row["level"] != "layer":
            row["nodes"] = []
            continue
        if names is None:
            found = scopes.get(row["name"]) or scopes.get(row["name"].replace(".", "/")) or []
        else:
            index = tracer.by_name.get(names.get(row["name"], ""))
            found = [] if index is None else [index]
        tracer.write(trace.Row(row["name"], row["op"], nodes=found), row)


def profile_tiny(content, request):
    """Returns (minimum profiled latency of a tiny model, number of layers, minimum sum of their times on the
    host)."""
    session = Session(content, request)
    session.bind(inputs.ones(session.inputs), 1)
    latencies, runs = profiled(session, 20e6, lambda what: None)
    session.close()
    sums = [sum(op.event["dur"] for op in ops) * 1e3 for _, ops, _ in runs]
    return min(latencies), len(runs[-1][1]), None if session.cuda else min(sums)


def reference(path, request, feeds):
    """Returns the outputs of ONNX Runtime without graph optimizations. If it is not installed: those of eager
    PyTorch in f32 on the CPU, or None if the job itself ran so."""
    found = worker.onnxruntime_reference(path, request, feeds)
    if found:
        return found
    if request.dtype == "f32" and request.provider == CPU and request.options.get("mode", "eager") == "eager":
        return None
    import torch

    plain = copy.copy(request)
    plain.dtype, plain.provider, plain.requests = "f32", CPU, 1
    plain.options = {key: value for key, value in request.options.items() if key == "module"}
    outputs = worker.outputs_of(Session(path, plain), feeds)
    return outputs, f"pytorch {torch.__version__}, eager, CPU, f32"


if __name__ == "__main__":
    sys.exit(wire.main(sys.modules[__name__]))

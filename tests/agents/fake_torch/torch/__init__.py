"""Stands in for PyTorch: as much of it as agent_pytorch.py uses, on numpy. Its traces have the format of
libkineto (output_json.cpp). FAKE_CUDA=1: a device whose kernels take invented times. FAKE_DOES: what fails.
"""

import json
import os
import threading
import time
import types

import numpy

__version__ = os.environ.get("FAKE_TORCH", "2.9.1+cpu")
CUDA = bool(os.environ.get("FAKE_CUDA"))
DOES = os.environ.get("FAKE_DOES", "")
state = {"threads": 0, "precision": "", "calls": [], "recording": None, "waits": 0}
thread = threading.local()


class dtype:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "torch." + self.name


float32, float16, bfloat16, float64, int64 = map(
    dtype, ("float32", "float16", "bfloat16", "float64", "int64")
)
OF_NUMPY = {"float32": float32, "float16": float16, "float64": float64, "int64": int64}
SCALAR = {"float32": "float", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "int64": "long int"}


class device:
    def __init__(self, name):
        self.type = name


class Tensor:
    """Values as numpy has them; bfloat16 is kept as f32."""

    def __init__(self, array, kind=None, where="cpu"):
        self.array, self.dtype, self.where = (
            array,
            kind or OF_NUMPY.get(array.dtype.name, dtype(array.dtype.name)),
            where,
        )

    def to(self, target):
        if isinstance(target, device):
            return Tensor(self.array, self.dtype, target.type)
        kind = "float32" if target.name == "bfloat16" else target.name
        return Tensor(self.array.astype(kind), target, self.where)

    def view(self, target):
        return Tensor(
            (self.array.view(numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32), target, self.where
        )

    def float(self):
        return Tensor(self.array.astype(numpy.float32), float32, self.where)

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.array.copy(), self.dtype)

    clone = cpu

    def pin_memory(self):
        assert self.where == "cpu"
        return self

    def copy_(self, other, non_blocking=False):
        numpy.copyto(self.array, other.array)
        return self

    def numpy(self):
        if self.where != "cpu" or self.dtype is bfloat16:
            raise TypeError("can't convert to numpy")
        return self.array


def from_numpy(array):
    return Tensor(array)


def set_num_threads(count):
    state["threads"] = count


def get_num_threads():
    return state["threads"]


def set_num_interop_threads(count):
    state["interop"] = count


def set_float32_matmul_precision(precision):
    state["precision"] = precision


class Mode:
    """Gradients are off within it, in its thread only."""

    def __enter__(self):
        thread.off = getattr(thread, "off", 0) + 1

    def __exit__(self, *_):
        thread.off -= 1


no_grad = inference_mode = Mode


class OutOfMemoryError(RuntimeError):
    pass


class Stream:
    def synchronize(self):
        state["waits"] += 1


class stream_of:
    def __init__(self, one):
        assert isinstance(one, Stream)

    __exit__ = __enter__ = lambda *_: None


default_stream = Stream()
backends = types.SimpleNamespace(
    cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=True)),
    cudnn=types.SimpleNamespace(allow_tf32=True, benchmark=False),
)
version = types.SimpleNamespace(cuda="13.0" if CUDA else None)
cuda = types.SimpleNamespace(
    is_available=lambda: CUDA,
    get_device_name=lambda: "NVIDIA Stand-In 9000",
    reset_peak_memory_stats=lambda: None,
    max_memory_allocated=lambda: 123456789,
    synchronize=default_stream.synchronize,
    Stream=Stream,
    stream=stream_of,
    current_stream=lambda: default_stream,
)
compiler = types.SimpleNamespace(cudagraph_mark_step_begin=lambda: state["calls"].append("mark"))


def compile(module, mode=None, dynamic=None):
    assert mode == "reduce-overhead" and dynamic is False
    state["compiled"] = True
    return module


# ---- modules


class Handle:
    pass


class Module:
    def __init__(self):
        self.subs, self.values, self.before, self.after, self.training = {}, {}, [], [], True

    def add_module(self, name, module):
        self.subs[name] = module

    def children(self):
        return self.subs.values()

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, module in self.subs.items():
            yield from module.named_modules(f"{prefix}.{name}" if prefix else name)

    def parameters(self):
        return []

    def buffers(self):
        return [value for _, module in self.named_modules() for value in module.values.values()]

    def eval(self):
        for _, module in self.named_modules():
            module.training = False
        return self

    def to(self, target):
        if DOES == "memory":
            raise OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has 0 bytes free.")
        for _, module in self.named_modules():
            for name, value in module.values.items():
                is_float = value.dtype.name in ("float32", "float16", "bfloat16", "float64")
                module.values[name] = value.to(target) if is_float or isinstance(target, device) else value
        return self

    def register_forward_pre_hook(self, hook):
        self.before.append(hook)
        return Handle()

    def register_forward_hook(self, hook):
        self.after.append(hook)
        return Handle()

    def __call__(self, *inputs):
        assert thread.off and not self.training
        for hook in self.before:
            hook(self, inputs)
        out = self.forward(*inputs)
        for hook in self.after:
            hook(self, inputs, out)
        return out


nn = types.SimpleNamespace(Module=Module)


# ---- profiler


def now():
    return time.perf_counter_ns() / 1e3


def event(cat, name, begin, end, **args):
    """An event of a trace while the profiler runs; returns its External id."""
    if state["recording"] is None:
        return 0
    number = len(state["recording"]) + 1
    state["recording"].append(
        {
            "ph": "X",
            "cat": cat,
            "name": name,
            "pid": 1,
            "tid": 7,
            "ts": round(begin, 3),
            "dur": round(end - begin, 3),
            "args": {"External id": number, "Ev Idx": number, **args},
        }
    )
    return number


def operator(name, inputs, kernels=(), inner=()):
    """Records an operator over `inputs`, its inner operators (name, us), and its kernels (name, us)."""
    begin = now()
    end = begin + 5 + sum(us for _, us in inner)
    dims, kinds = [list(t.array.shape) for t in inputs], [SCALAR.get(t.dtype.name, "") for t in inputs]
    id_ = event("cpu_op", name, begin, end, **{"Input Dims": dims + [[]], "Input type": kinds + ["Scalar"]})
    at = begin + 1
    for inner_name, us in inner:
        id_ = event("cpu_op", inner_name, at, at + us)
        at += us
    while now() < end:
        pass
    for kernel_name, us in kernels:
        event("cuda_runtime", "cudaLaunchKernel", begin, begin + 0.5, correlation=id_)
        event(
            "kernel",
            kernel_name,
            begin + 0.001,
            begin + 0.001 + us,
            stream=7,
            device=0,
            **{"External id": id_, "est. achieved occupancy %": 50},
        )


class record_function:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.begin = now()

    def __exit__(self, *_):
        event("user_annotation", self.name, self.begin, now())
        if CUDA:  # the same range on the device's time line
            event("gpu_user_annotation", self.name, self.begin, now())


class profile:
    def __init__(self, activities, record_shapes=False):
        assert record_shapes and len(activities) == 1 + CUDA

    def __enter__(self):
        state["recording"] = []
        return self

    def __exit__(self, *_):
        self.events, state["recording"] = state["recording"], None

    def export_chrome_trace(self, path):
        strange = [
            {"ph": "i", "name": "Record Window End", "ts": 0},
            {"ph": "X"},
            {"ph": "X", "ts": "0", "dur": 1},
            7,
        ]
        events = [] if DOES == "trace empty" else self.events + strange
        text = json.dumps(
            {"schemaVersion": 1, "deviceProperties": [], "displayTimeUnit": "ms", "traceEvents": events}
        )
        text = {"trace cut": text[: len(text) // 2], "trace strange": "[]"}.get(DOES, text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


profiler = types.SimpleNamespace(
    profile=profile, record_function=record_function, ProfilerActivity=types.SimpleNamespace(CPU=0, CUDA=1)
)

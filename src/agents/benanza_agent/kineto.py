"""Makes rows from a trace of PyTorch's profiler (Chrome trace events, libkineto/src/output_json.cpp).

The agent marks each run and each module by a range. The trace has one event for each operator, nested by
time, and on a GPU one for each kernel; its "External id" is that of the operator that launched it.
"""

import collections
import json

from . import measure, worker

RUN = "benanza run"
MODULE = "benanza module "
# PyTorch's names of types
TYPES = {
    "float": "f32",
    "double": "f64",
    "c10::Half": "f16",
    "c10::BFloat16": "bf16",
    "long int": "s64",
    "int": "s32",
    "short": "s16",
    "signed char": "s8",
    "unsigned char": "u8",
    "bool": "bool",
}
DEVICE = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "kernel"}


class Op:
    """An outermost operator that a module calls, in one run."""

    __slots__ = ("module", "event", "within", "kernels")

    def __init__(self, module, event):
        self.module, self.event, self.within, self.kernels = module, event, [event], []

    def kernel(self):
        """Returns the name of the inner operator with the largest self time."""
        own, around = {}, []
        for event in self.within:
            while around and event["ts"] >= around[-1]["ts"] + around[-1]["dur"]:
                around.pop()
            own[id(event)] = own.get(id(event), 0) + event["dur"]
            if around:
                own[id(around[-1])] -= event["dur"]
            around.append(event)
        return max(self.within, key=lambda event: own[id(event)])["name"]


def read(path):
    """Returns the events of a trace file that have all fields."""
    with open(path, encoding="utf-8", errors="replace") as file:
        document = json.load(file, strict=False)
    events = document.get("traceEvents") if isinstance(document, dict) else None
    if not isinstance(events, list):
        raise RuntimeError("the trace of PyTorch's profiler has no events")
    good = []
    for event in events:
        times = [event.get(key) for key in ("ts", "dur")] if isinstance(event, dict) else []
        if event_is_complete(event, times):
            good.append(event)
    return good


def event_is_complete(event, times):
    numbers = times and all(isinstance(t, (int, float)) and not isinstance(t, bool) for t in times)
    return numbers and event.get("ph") == "X" and isinstance(event.get("name"), str)


def args_of(event):
    found = event.get("args")
    return found if isinstance(found, dict) else {}


def runs_of(events):
    """Returns [(range of the run, operators in order, device events in order)]."""
    ranges = sorted(
        (e for e in events if e["name"] == RUN and e.get("cat") not in DEVICE), key=lambda e: e["ts"]
    )
    ranges = [e for e in ranges if not str(e.get("cat", "")).startswith("gpu_")]
    if not ranges:
        raise RuntimeError("the trace of PyTorch's profiler has no run")
    host = [e for e in events if e.get("tid") == ranges[0].get("tid") and e["name"] != RUN]
    host = [e for e in host if e["name"].startswith(MODULE) or e.get("cat") == "cpu_op"]
    host.sort(key=lambda e: (e["ts"], -e["dur"]))
    device = sorted((e for e in events if e.get("cat") in DEVICE), key=lambda e: e["ts"])
    found = []
    for one in ranges:
        begin, end = one["ts"], one["ts"] + one["dur"]
        found.append((one, operators([e for e in host if begin <= e["ts"] < end]),
                      [e for e in device if begin <= e["ts"] < end]))  # fmt: skip
    return found


def operators(host):
    """Returns the outermost operators, each with the operators inside it."""
    module, module_end, made = None, 0.0, []
    for event in host:
        if event["name"].startswith(MODULE):
            module, module_end = event["name"][len(MODULE) :], event["ts"] + event["dur"]
        elif made and event["ts"] < made[-1].event["ts"] + made[-1].event["dur"]:
            made[-1].within.append(event)
        else:
            made.append(Op(module if event["ts"] < module_end else None, event))
    return made


def launch(ops, device):
    """Assigns kernels to the operators that launched them. Returns the kernels without an operator."""
    owner = {}
    for op in ops:
        for event in op.within:
            if "External id" in args_of(event):
                owner[args_of(event)["External id"]] = op
    loose = []
    for event in device:
        op = owner.get(args_of(event).get("External id"))
        (op.kernels if op else loose).append(event)
    return loose


class Rows:
    """Rows by key, with their time in each run. Children follow their parent."""

    def __init__(self, count):
        self.count, self.found = count, collections.OrderedDict()

    def add(self, run, key, ns, start, **known):
        one = self.found.setdefault(key, {"ns": [0.0] * self.count, "starts": [], "known": known})
        one["ns"][run] += ns
        one["starts"].append(start)

    def made(self):
        order = {}
        for key in self.found:  # a kernel's key begins with that of its operator
            if len(key) == 2:
                order[key] = [key]
            else:
                order.setdefault(key[0], []).append(key)
        keys = [key for group in order.values() for key in group]
        index = {key: i for i, key in enumerate(keys)}
        rows = []
        for key in keys:
            one = self.found[key]
            known = {"start_ns": measure.median(one["starts"]), **one["known"]}
            if len(key) > 2:
                known["parent"] = index.get(key[0])
            rows.append(worker.row(times=one["ns"], **known))
        return rows


def numbered(names):
    """Returns [(name, number of earlier entries with this name)]."""
    seen = collections.Counter()
    found = []
    for name in names:
        found.append((name, seen[name]))
        seen[name] += 1
    return found


def rows_of(runs, provider, on_device):
    """Returns the rows of the runs: operators as layers, kernels as their children. On a GPU a layer's time
    is the sum of its kernels, because the host only launches them. A layer is named after its module; its
    `kernel` is the inner operator with the largest self time, on a GPU its longest kernel."""
    rows = Rows(len(runs))
    for run, (around, ops, device) in enumerate(runs):
        loose = launch(ops, device)
        keys = numbered([(op.module, op.event["name"]) for op in ops])
        for key, op in zip(keys, ops):
            rows.add(run, key, **layer(op, around["ts"], provider, on_device))
            for (name, at), event in zip(numbered([e["name"] for e in op.kernels]), op.kernels):
                rows.add(run, (key, name, at), **kernel(event, around["ts"], provider))
        for (name, at), event in zip(numbered([e["name"] for e in loose]), loose):
            rows.add(run, (None, name, at), **kernel(event, around["ts"], provider))
    return rows.made()


def layer(op, begin, provider, on_device):
    kinds = args_of(op.event).get("Input type") or []
    sizes = args_of(op.event).get("Input Dims") or []
    longest = max(op.kernels, key=lambda e: e["dur"])["name"] if op.kernels else ""
    return {
        "ns": (sum(e["dur"] for e in op.kernels) if on_device else op.event["dur"]) * 1e3,
        "start": ((op.kernels[0] if op.kernels else op.event)["ts"] - begin) * 1e3,
        "name": op.module or op.event["name"],
        "op": op.event["name"],
        "provider": provider,
        "kernel": longest if on_device else op.kernel(),
        "dtype": next((TYPES[kind] for kind in kinds if isinstance(kind, str) and kind in TYPES), ""),
        "shapes": " ".join("x".join(map(str, s)) for s in sizes if isinstance(s, list) and s)[:4000],
    }


def kernel(event, begin, provider):
    args = args_of(event)
    part = args.get("est. achieved occupancy %")
    good = isinstance(part, (int, float)) and 0 <= part <= 100
    is_copy = event.get("cat") == "gpu_memcpy" and "DtoD" not in event["name"]
    return {
        "ns": event["dur"] * 1e3,
        "start": (event["ts"] - begin) * 1e3,
        "level": "copy" if is_copy else "kernel",
        "name": event["name"],
        "op": "",
        "kernel": event["name"],
        "provider": provider,
        "stream": args.get("stream") if isinstance(args.get("stream"), int) else None,
        "occupancy": part / 100 if good else None,
    }

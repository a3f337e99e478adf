"""The worker: one job in a process of its own. It reads the job on its standard input and writes progress,
requests for file chunks, and its result as JSON lines to the front."""

import json
import math
import os
import re
import sys
import time
import traceback

from . import canary, compare, files, inputs, machine, measure, onnx_graph, trial
from .request import Refused, Request, RequestError, Unsupported

NO_MEMORY = re.compile(
    r"bad.?alloc|bad array new length|out.?of.?memory|cannot allocate|failed to allocate|"
    r"allocat\w+ .*failed|OOM",
    re.IGNORECASE,
)
UNSUPPORTED = re.compile(
    r"not.?implemented|unsupported|not supported|is not a registered|no op registered|"
    r"no conversion rule|opset \d+ is under development",
    re.IGNORECASE,
)
LEAST_RUNS = 10  # profiled runs that count
PATIENCE_S = 2  # that profiled runs wait for a quiet machine, together
MOST_ROWS = 200000
ROW_NUMBERS = (
    "ns",
    "lo_ns",
    "hi_ns",
    "start_ns",
    "output_bytes",
    "flops",
    "read_bytes",
    "write_bytes",
    "occupancy",
    "stream",
)


def one_line(error, most=600):
    """Returns the text of an error in one line, without control characters."""
    text = str(error) or type(error).__name__
    text = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())[:most]


def status_of(error):
    """Returns the status of docs/wire.md for an exception of a framework."""
    if isinstance(error, MemoryError):
        return "no_memory"
    if isinstance(error, Unsupported):
        return "unsupported"
    if isinstance(error, Refused):
        return "mistrusted"
    if isinstance(error, (RequestError, files.FileError, inputs.InputError)):
        return "failed"
    text = str(error)
    return "no_memory" if NO_MEMORY.search(text) else "unsupported" if UNSUPPORTED.search(text) else "failed"


def clean(value):
    """Returns the value with None for numbers that JSON cannot represent."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(k): clean(v) for k, v in value.items()}
    return [clean(v) for v in value] if isinstance(value, (list, tuple, set)) else value


class Link:
    """The pipe to the front."""

    def __init__(self):
        self.out = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
        self.input = os.fdopen(os.dup(0), "rb")
        os.dup2(2, 1)  # what a framework prints
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)

    def send(self, type_, **keys):
        self.out.write(json.dumps({"type": type_, **clean(keys)}) + "\n")
        self.out.flush()

    def say(self, what):
        self.send("progress", what=what)

    def receive(self):
        line = self.input.readline()
        if not line:
            os._exit(1)  # the front is gone
        return json.loads(line)

    def ask(self, digest, offset, count):
        self.send("need", sha256=digest, offset=offset, bytes=count)
        return self.receive()


def new_execution(agent, request):
    hello = agent.describe()
    return {
        "source": "agent",
        "framework": agent.NAME,
        "version": hello["attributes"]["version"] or "",
        "provider": request.provider if request else "",
        "device": hello["model"],
        "host": os.uname().nodename,
        "threads": 0,
        "dtype": "",
        "math": "",
        "settings": {},
        "model": request.name if request else "",
        "model_hash": "",
        "inputs": [],
        "batch": request.batch if request else 0,
        "requests": request.requests if request else 1,
        "status": "failed",
        "why": "",
        "output_compared": False,
        "output_finite": False,
        "measured_at": int(time.time()),
        "gaps": "",
    }


def outside(latencies, rows):
    """Returns (median over the runs, low and high end of its interval) of a run's time minus the sum of its
    topmost rows, in ns; None if a row has no time in some run, or the rows ran in parallel."""
    top = "layer" if any(one["level"] == "layer" for one in rows) else "kernel"
    mine = [
        one["times"]
        for one in rows
        if one["level"] == top and (one["parent"] is None or rows[one["parent"]]["level"] != top)
    ]
    if not mine or not latencies or any(len(times) != len(latencies) for times in mine):
        return None
    left = sorted(whole - sum(times) for whole, *times in zip(latencies, *mine))
    middle = measure.quantile(left, 0.5)
    low, high = measure.interval(left)
    return (middle, low and max(0.0, low), high) if middle >= 0 else None


def row(name, op, times, **known):
    """Returns a row of a profile from its times in the profiled runs, in ns. Its `times` are for
    outside()."""
    in_order, times = list(times), sorted(times)
    low, high = measure.interval(times) if times else (None, None)
    made = {
        "level": "layer",
        "parent": None,
        "name": name,
        "op": op,
        "provider": "",
        "kernel": "",
        "nodes": [],
        "inputs": [],
        "outputs": [],
        "shapes": "",
        "dtype": "",
        "calls": 1,
    }
    made.update({key: None for key in ROW_NUMBERS})
    made.update({"ns": measure.quantile(times, 0.5) if times else None, "lo_ns": low, "hi_ns": high})
    made.update(known, times=in_order)
    return made


def profiled_count(run, budget_ns):
    """Returns how many profiled runs fit in a budget: LEAST_RUNS, and at most 90 more."""
    one = max(measure.timed(run, 2)[1], 1)
    return LEAST_RUNS + min(90, math.ceil(max(0.0, budget_ns - LEAST_RUNS * one) / one))


def profiled_runs(count, say):
    """Yields 0 to count - 1, each when the machine is quiet or PATIENCE_S are over. Reports the progress."""
    left = PATIENCE_S
    for done in range(count):
        left -= canary.of_process().wait(left)
        yield done
        if done % 10 == 0:
            say(f"profiling: {done} of {count} runs")


def one_type(kinds):
    """Returns the one type of a set, "mixed" for several, "" for none."""
    return "mixed" if len(kinds) > 1 else next(iter(kinds), "")


def outputs_of(session, feeds):
    """Returns the outputs of one run and closes the session."""
    session.bind(feeds, 1)
    session.runs[0]()
    outputs = session.outputs()
    session.close()
    return outputs


def onnxruntime_reference(path, request, feeds):
    """Returns ONNX Runtime's outputs without graph optimizations, and what that was; None if it is not
    installed."""
    try:
        import agent_onnxruntime

        return agent_onnxruntime.reference(path, request, feeds)
    except ImportError:
        return None


class Job:
    """Loads, measures, profiles and compares one model; the execution so far is in `execution`."""

    def __init__(self, agent, message, link):
        self.agent, self.link, self.gaps, self.rows, self.trial = agent, link, [], [], None
        self.execution = new_execution(agent, None)
        self.request = Request(message)
        self.execution = new_execution(agent, self.request)

    def say(self, what):
        self.link.say(what)

    def attempt(self, what, step, *arguments):
        """Runs an optional step and returns its result. A failure is added to the gaps, and None returned."""
        self.say(what)
        self.execution["gaps"] = "; ".join(self.gaps)
        self.link.send("draft", execution=self.execution)
        try:
            return step(*arguments)
        except Exception as error:  # whatever a framework raises
            self.gaps.append(f"{what}: {one_line(error, 200)}")
            return None

    def run(self):
        request, agent, out = self.request, self.agent, self.execution
        self.say("checking the model's file")
        request.path = files.obtain(request.model, self.link.ask)
        out["model_hash"] = request.model["sha256"]
        out["model"] = out["model"] or out["model_hash"][:12]
        self.say(f"importing {agent.NAME}")
        begin = time.perf_counter_ns()
        out["version"] = agent.load(request)
        self.import_ns = import_ns = time.perf_counter_ns() - begin
        out["provider"], out["device"] = request.provider, agent.device(request)
        if request.changed:
            self.trial = trial.run(self)
            return
        machine.reset_peak()
        self.say("creating the session")
        begin = time.perf_counter_ns()
        session = agent.open(request.path, request)
        out["load_ns"] = time.perf_counter_ns() - begin
        out["settings"] = {"level": request.level, **session.settings, "import_ns": import_ns}
        if request.options:
            out["settings"]["options"] = request.options
        out["threads"], out["math"] = session.threads, session.math
        specs = request.specs(session.inputs)
        feeds = request.feeds(specs)
        out["inputs"] = [inputs.describe(name, dtype, shape) for name, dtype, shape, *_ in specs]
        session.bind(feeds, request.requests)
        self.measure(session)
        outputs = session.outputs()
        out["output_finite"] = compare.finite(outputs)
        out["settings"]["huge_bytes"] = machine.huge_bytes()
        out["copy_in_ns"], out["copy_out_ns"] = self.attempt("copies", session.copies) or (None, None)
        out["dtype"] = session.dtype()
        session.close()
        del session
        self.beside(feeds, outputs)
        out["gaps"] = "; ".join(self.gaps)

    def measure(self, session):
        """Measures the first run and the latency. A session may have its own `sample` (its program measures)
        and its own `peak_memory` (its memory is on a device)."""
        request, out = self.request, self.execution
        if hasattr(session, "sample"):
            stats, p90, p99, rate, why = session.sample(request.budget_ns, self.say)
            out["device"] = session.device or out["device"]
        else:
            self.say("first run")
            begin = time.perf_counter_ns()
            session.runs[0]()
            out["first_ns"] = time.perf_counter_ns() - begin
            self.say("warming up")
            on_cpu = out["device"] == machine.cpu_model()
            watch = canary.of_process(request.cores()[1] if on_cpu else ())
            stats, p90, p99, rate, why = measure.sample(
                session.runs, request.budget_ns, self.say, canary=watch
            )
            watch.remember()
        own = getattr(session, "peak_memory", None)
        out.update(
            {
                "status": "ok",
                "why": why,
                "stats": stats,
                "p90_ns": p90,
                "p99_ns": p99,
                "items_per_s": rate and rate * max(1, request.batch),
                "memory_bytes": own() if own else machine.memory("VmHWM"),
            }
        )

    def beside(self, feeds, outputs):
        """Measures what accompanies the latency: floor, profile, comparison with the reference."""
        request, agent, out = self.request, self.agent, self.execution
        out["floor_ns"] = self.attempt("the floor", self.tiny, onnx_graph.empty_model())
        if request.profile:
            cost = self.attempt("the profiler's cost", self.profiler_cost)
            out["profiler_row_ns"], out["profiler_inside_ns"], node = cost or (None, None, None)
            if node is not None:
                out["settings"]["node_ns"] = max(0.0, node - (out["floor_ns"] or 0.0) / onnx_graph.CHAIN)
            found = self.attempt(
                "profiling", agent.profile, request.path, request, feeds, request.budget_ns / 2, self.say
            )
            if found:
                self.rows = found["rows"]
                self.outside(found.get("latencies") or [])
                if len(self.rows) > MOST_ROWS:
                    self.gaps.append(f"{len(self.rows) - MOST_ROWS} rows are left out")
                out["profiled_ns"] = found["profiled_ns"]
                out["dtype"] = found.get("dtype") or out["dtype"]
                self.gaps += found.get("gaps", [])
        if request.compare:
            found = self.attempt("comparing outputs", agent.reference, request.path, request, feeds)
            if found:
                reference, out["settings"]["reference"] = found
                out["output_error"], out["output_compared"] = compare.error(outputs, reference), True
            elif not any(gap.startswith("comparing") for gap in self.gaps):
                self.gaps.append("outputs are not compared: there is no reference")

    def outside(self, latencies):
        """Sets the time of the profiled runs outside their rows."""
        found = outside(latencies, self.rows)
        for key, value in zip(("outside_ns", "outside_lo_ns", "outside_hi_ns"), found or ()):
            self.execution[key] = value
        for one in self.rows:
            del one["times"]

    def open_tiny(self, content):
        """Returns the session of a tiny model in the settings of the job, and its inputs."""
        session = self.agent.open(content, self.request)
        feeds = {name: inputs.make(name, dtype, shape) for name, dtype, shape in session.inputs}
        return session, feeds

    def tiny(self, content, part=0.5):
        """Returns the median (or another quantile) of the latency of a tiny model, in ns."""
        session, feeds = self.open_tiny(content)
        session.bind(feeds, 1)
        try:
            return (
                session.quick(part)
                if hasattr(session, "quick")
                else measure.quick(session.runs[0], part=part)
            )
        finally:
            session.close()

    def profiler_cost(self):
        """Returns (cost of profiling one node, the part of it in the node's own row or None, the plain
        latency of one): the profiled latency of a chain of tiny nodes, and the sum of its rows, each less its
        plain latency and divided by the number of nodes. It takes the minimum over the runs, because the
        difference is small."""
        content = onnx_graph.chain_model()
        plain = self.tiny(content, 0)
        profiled, rows, rows_ns = self.agent.profile_tiny(content, self.request)
        if rows < onnx_graph.CHAIN:
            raise RuntimeError(f"the framework executes {rows} of the chain's {onnx_graph.CHAIN} nodes")
        whole = max(0.0, (profiled - plain) / rows)
        inside = None if rows_ns is None else min(whole, max(0.0, (rows_ns - plain) / rows))
        return whole, inside, plain / rows


def main(agent):
    """Runs the one job on standard input."""
    link = Link()
    machine.die_with_parent(int(os.environ.get("BENANZA_AGENT_FRONT", os.getppid())))
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # numpy only makes inputs
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    job = None
    message = link.receive()
    execution = new_execution(agent, None)
    try:
        job = Job(agent, message, link)
        execution = job.execution
        job.run()
    except Exception as error:  # whatever a framework raises
        if os.environ.get("BENANZA_AGENT_TRACE"):
            traceback.print_exc()
        execution.update({"status": status_of(error), "why": one_line(error)})
        execution.pop("stats", None)
    link.send("execution", execution=execution, **({"trial": job.trial} if job and job.trial else {}))
    for one in job.rows[:MOST_ROWS] if job else []:
        link.send("row", row=one)
    link.send("end")
    sys.stderr.flush()
    os._exit(0)  # a framework's threads may not end

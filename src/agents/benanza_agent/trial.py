"""A trial: the model with one changed setting beside the unchanged one, in one process and in turn
(docs/wire.md, "Trials")."""

import time

from . import canary, compare, inputs, machine, measure, pages
from .request import Refused, RequestError, Unsupported

FLOATS = ("f32", "f16", "bf16")


class Side(measure.Crew):
    """A session with its inputs, and the processors that its calling thread may use."""

    process = "self"

    def __init__(self, agent, path, request, allowed):
        machine.allow(allowed)
        self.huge_before = machine.huge_bytes() or 0
        begin = time.perf_counter_ns()
        self.session = agent.open(path, request)
        self.load_ns = time.perf_counter_ns() - begin
        self.request, self.specs = request, request.specs(self.session.inputs)
        self.settings, self.threads, self.math = (
            self.session.settings,
            self.session.threads,
            self.session.math,
        )
        self.allowed = machine.affinity()

    def enter(self):
        machine.allow(self.allowed)

    def plain(self):
        """Returns the attributes that another process needs."""
        names = ("specs", "load_ns", "settings", "threads", "math", "allowed", "huge_before")
        return {name: getattr(self, name) for name in names}

    def computed(self):
        """Returns the type in which the session computes. A session may have its own `precision`, of layers
        that are no convolutions or products."""
        dtype = self.session.dtype()
        return dtype, dtype or getattr(self.session, "precision", "")

    def run_first(self, feeds=None):
        """Runs once, by default with the inputs of the request's seed. Returns the outputs and the time of
        the run."""
        feeds = self.request.feeds(self.specs) if feeds is None else feeds
        self.enter()
        self.session.bind(feeds, self.request.requests)
        super().__init__(self.session.runs)
        begin = time.perf_counter_ns()
        self.session.runs[0]()
        first_ns = time.perf_counter_ns() - begin
        return self.session.outputs(), first_ns

    def outputs(self):
        return self.session.outputs()

    def close(self):
        self.session.close()


def items_of(side):
    return max(1, side.request.batch)


def feeds_of(base, base_feeds, side):
    """Returns the inputs of the changed side: those of the unchanged one; for another batch its items again
    and again, or the first of them."""
    import numpy

    feeds = {}
    for name, dtype, shape, *_ in side.specs:
        array = base_feeds.get(name)
        if array is None or len(array.shape) != len(shape):
            raise Unsupported(f"input '{name}' differs from that of the unchanged model")
        for axis, (old, new) in enumerate(zip(array.shape, shape)):
            if old != new and old * items_of(side) != new * items_of(base):
                raise Unsupported(f"input '{name}': {array.shape} and {tuple(shape)} do not follow the batch")
            if old != new:
                array = numpy.take(array, numpy.arange(new) % old, axis)
        feeds[name] = numpy.ascontiguousarray(array)
    return feeds


def judged(outputs, reference):
    """Returns the error of the outputs; raises Refused if they are no numbers where the unchanged model's
    are."""
    error, why = compare.changed(outputs, reference)
    if why:
        raise Refused(why)
    return error


def side_of(agent, path, request, allowed, variables):
    """Returns a side; with environment variables, also without any in them, in a process of its own."""
    if variables is None:
        return Side(agent, path, request, allowed)
    return pages.Apart(Side, path, request, allowed, variables)


def opened(job, allowed, variables):
    """Returns the changed side: the converted model where the type differs."""
    agent, base, changed = job.agent, job.request, job.request.changed
    changed.path, made = base.path, ""
    changed.provider = changed.provider or base.provider
    if changed.dtype != base.dtype and hasattr(agent, "convert"):
        job.say(f"converting the model: {base.move}")
        changed.path, made = agent.convert(base, changed)
    agent.load(changed)
    job.say(f"creating the session: {base.move}")
    try:
        side = side_of(agent, changed.path, changed, allowed, variables)
    except RequestError as error:  # of the inputs' sizes: the unchanged side has accepted all else
        if changed.batch == base.batch:
            raise
        raise Unsupported(f"the model's batch is fixed: {error}") from error
    dtype, computed = side.computed()
    check_type(agent, base, side, computed)
    return side, dtype, made


def check_type(agent, base, side, computed):
    """Raises Unsupported if the framework does not compute in the type of the changed side."""
    wanted = side.request.dtype
    if wanted == base.dtype or computed not in FLOATS:
        return
    if wanted == "s8":
        raise Unsupported(f"{agent.NAME} computes in {computed}: it found nothing to quantize")
    if computed != wanted and not side.request.converted:
        raise Unsupported(f"{agent.NAME} computes in {computed} here, not in {wanted}")


def run(job):
    """Measures both sides in turn. Fills the job's execution, that of the changed side, and returns the
    `trial` of docs/wire.md."""
    request, agent, out = job.request, job.agent, job.execution
    if hasattr(agent.open, "sample"):
        raise Unsupported(f"{agent.NAME} is measured by its own program: two sides cannot take turns")
    allowed = machine.affinity()
    variables = pages.environment(agent) if request.changed.pages else None
    job.say("creating the session")
    base = side_of(agent, request.path, request, allowed, {} if variables else None)
    base_feeds = request.feeds(base.specs)
    reference, _ = base.run_first(base_feeds)
    base_huge = pages.huge_of(base)
    side, out["dtype"], made = opened(job, allowed, variables)
    settings = {"level": request.changed.level, **side.settings, "import_ns": job.import_ns}
    settings["try"] = {"move": request.move, "with": made}
    if request.changed.options:
        settings["options"] = request.changed.options
    out.update(
        {
            "provider": request.changed.provider,
            "device": agent.device(request.changed),
            "settings": settings,
            "batch": request.changed.batch,
            "threads": side.threads,
            "math": side.math,
            "inputs": [inputs.describe(name, dtype, shape) for name, dtype, shape, *_ in side.specs],
            "load_ns": side.load_ns,
        }
    )
    first, out["first_ns"] = side.run_first(feeds_of(base, base_feeds, side))
    judged(first, reference)
    settings["huge_bytes"] = machine.huge_bytes(side.process)
    if variables:
        settings["try"]["with"] = pages.effect(base_huge, pages.huge_of(side))
    job.say(f"measuring in turn: {request.move}")
    on_cpu = out["device"] == machine.cpu_model()
    watch = canary.of_process(request.cores()[1] if on_cpu else ())
    processes = {base.process, side.process}
    found = measure.alternate(
        (base, side), request.budget_ns, job.say, lambda: machine.waited_ns(*processes), watch
    )
    watch.remember()
    outputs, items = side.outputs(), items_of(side) / items_of(base)
    out["output_error"], out["output_compared"] = judged(outputs, reference), True
    out["output_finite"] = compare.finite(outputs)
    stats = found["stats"][1]
    out.update({"status": "ok", "why": found["why"], "stats": stats})
    out["items_per_s"] = 1e9 * items_of(side) * max(1, request.requests) / stats["median_ns"]
    side.close()
    base.close()
    low, high = found["interval"]
    return {
        "base": found["stats"][0],
        "gain": found["ratio"] * items,
        "gain_lo": low and low * items,
        "gain_hi": high and high * items,
        "rounds": found["rounds"],
    }

"""Checks the request of a job: the key `model` of a `run` message."""

import os

from . import inputs, machine

LEVELS = ("all", "extended", "basic", "none")
# keys that a trial may change
CHANGES = ("level", "threads", "provider", "batch", "inputs", "dtype", "pages")


class RequestError(Exception):
    pass


class Unsupported(Exception):
    """The framework lacks a provider, a type or an operator."""


class Refused(Exception):
    """The outputs of a changed model are no numbers."""


def _number(source, key, default, low, high):
    value = source.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise RequestError(f"'{key}' is not a number from {low} to {high}")
    return value


def _whole(source, key, default, low, high):
    value = _number(source, key, default, low, high)
    if value != int(value):
        raise RequestError(f"'{key}' is not an integer")
    return int(value)


def _text(source, key, default=""):
    value = source.get(key)
    if value is None:
        return default
    if not isinstance(value, str) or len(value) > 4096:
        raise RequestError(f"'{key}' is not a text")
    return value


class Request:
    """The checked values of a job's `model`, with the defaults of docs/wire.md."""

    def __init__(self, message):
        model = message.get("model")
        if not isinstance(model, dict):
            raise RequestError("a job of the kind model needs the key 'model'")
        self.model = model
        self.payload = message.get("payload") if isinstance(message.get("payload"), str) else ""
        self.budget_ns = _number(message, "budget_ms", 5000, 1, 3.6e6) * 1e6
        self.provider = _text(model, "provider")
        self.dtype = _text(model, "dtype") or "f32"
        self.own_type = bool(model.get("own_type"))  # that of the model: nothing is converted
        self.threads = _whole(model, "threads", 0, 0, 4096)
        self.requests = _whole(model, "requests", 1, 1, 1024)
        self.batch = _whole(model, "batch", 1, 0, 1 << 40)
        self.seed = _whole(model, "seed", 1, 0, 1 << 62)
        self.level = _text(model, "level") or "all"
        self.io_binding = bool(model.get("io_binding"))
        self.profile, self.compare = bool(model.get("profile")), bool(model.get("compare"))
        if self.level not in LEVELS:
            raise RequestError(f"'level' is not one of {', '.join(LEVELS)}: '{self.level}'")
        options = model.get("options") or {}
        if not isinstance(options, dict) or not all(isinstance(v, str) for v in options.values()):
            raise RequestError("'options' is not an object of texts")
        self.options = options
        self.name = _text(model, "name") or os.path.splitext(os.path.basename(_text(model, "path")))[0]
        self.given = self.read_inputs(model.get("inputs") or [])
        self.path, self.converted = None, False
        self.move, self.changed, self.pages = "", None, ""
        if model.get("try") is not None:
            self.read_try(message, model["try"])
        self.own_cores = machine.cores()  # before a session binds the calling thread to one of them

    def read_try(self, message, trial):
        """Sets `changed` to the request of the changed side."""
        if not isinstance(trial, dict) or not _text(trial, "move"):
            raise RequestError("'try' is not an object with a 'move'")
        strange = sorted(set(trial) - {"move", *CHANGES})
        if strange:
            raise Unsupported(f"this agent cannot change '{strange[0][:80]}'")
        self.move = trial["move"][:80]
        changes = {key: value for key, value in trial.items() if key != "move"}
        lost = ("try", "own_type") if "dtype" in changes else ("try",)
        model = {key: value for key, value in message["model"].items() if key not in lost}
        self.changed = Request({**message, "model": {**model, **changes}})
        self.changed.pages = _text(trial, "pages")
        if self.changed.pages not in ("", "2m"):
            raise Unsupported(f"this agent has no pages of '{self.changed.pages[:80]}', only 2m")

    @staticmethod
    def read_inputs(listed):
        given = {}
        if not isinstance(listed, list) or len(listed) > 100000:
            raise RequestError("'inputs' is not a list")
        for one in listed:
            if not isinstance(one, dict) or not isinstance(one.get("name"), str):
                raise RequestError("an input needs a name")
            shape = one.get("shape")
            if shape is not None and (
                not isinstance(shape, list)
                or len(shape) > 64
                or not all(isinstance(d, int) and not isinstance(d, bool) and 0 <= d < 1 << 40 for d in shape)
            ):
                raise RequestError(f"input '{one['name'][:200]}': its shape is not a list of sizes")
            for key in ("low", "high"):
                _number(one, key, 0, -1e300, 1e300)
            given[one["name"]] = one
        return given

    def needs_level_all(self, framework):
        """Raises Unsupported if the request wants another level of graph optimizations."""
        if self.level != "all":
            raise Unsupported(
                f"{framework} has no level of graph optimizations '{self.level}'; it has all"
            )

    def cores(self):
        """Returns (threads, their cores): one thread a core. No cores if the request has more threads than
        there are cores, or several requests at a time: then nothing is bound."""
        available = self.own_cores
        threads = self.threads or len(available)
        return threads, available[:threads] if threads <= len(available) and self.requests == 1 else []

    def specs(self, declared):
        """Returns [(name, dtype, shape, low, high)] of the inputs that the framework declares as (name,
        dtype, shape). Sizes come from the request, else from the model; a symbolic size is 1."""
        names = {name for name, *_ in declared}
        strange = sorted(set(self.given) - names)
        if strange:
            raise RequestError(
                f"the model has no input '{strange[0][:200]}'; it has "
                f"{', '.join(sorted(names))[:300] or 'no inputs'}"
            )
        specs = []
        for name, dtype, shape in declared:
            one = self.given.get(name, {})
            mine = [d if isinstance(d, int) and d > 0 else 1 for d in shape]
            if one.get("shape") is not None:
                fixed = [isinstance(d, int) and d > 0 and d != g for d, g in zip(shape, one["shape"])]
                if len(one["shape"]) != len(shape) or any(fixed):
                    raise RequestError(
                        f"input '{name}': the model declares {text_of(shape)}, the request has "
                        f"{text_of(one['shape'])}"
                    )
                mine = one["shape"]
            if one.get("dtype") not in (None, "", dtype):
                raise RequestError(
                    f"input '{name}': the model declares {dtype}, the request has {one['dtype']}"
                )
            specs.append((name, dtype, mine, one.get("low"), one.get("high")))
        return specs

    def feeds(self, specs):
        return {
            name: inputs.make(name, dtype, shape, low, high, self.seed)
            for name, dtype, shape, low, high in specs
        }


def text_of(shape):
    return "x".join("?" if d is None or d == -1 else str(d) for d in shape) or "a scalar"

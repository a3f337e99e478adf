#!/usr/bin/env python3
"""An agent whose framework is a stand-in: it does what the request's options name, for tests of the shared
parts."""

import os
import pathlib
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src" / "agents"))
from benanza_agent import wire, worker  # noqa: E402
from benanza_agent.request import Unsupported  # noqa: E402

MALLOC = True
NAME, PROGRAM, FILE = "stub", "benanza-agent-stub", os.path.abspath(__file__)


def describe():
    return wire.hello(sys.modules[__name__], "a stand-in", ["CPU"], "1.2")


def act(request, step):
    """The option that has the step's name says what happens there."""
    what = request.options.get(step, "")
    if what == "print":
        print("a framework prints this", flush=True)
        os.write(1, b'{"type":"done","id":1}\n')
    elif what == "hang":
        time.sleep(3600)
    elif what == "crash":
        os.kill(os.getpid(), signal.SIGABRT)
    elif what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "exit":
        os._exit(7)
    elif what == "memory":
        raise RuntimeError("std::bad_alloc")
    elif what == "unsupported":
        raise Unsupported("no provider 'X'")
    elif what == "wrong":
        raise ValueError("two\nlines \x1b[31m and a colour")
    elif what == "wait":
        time.sleep(0.001)
    elif what == "child":  # for the test that kills the front
        pathlib.Path(request.options["file"]).write_text(str(os.getpid()))
        time.sleep(3600)


def load(request):
    act(request, "load")
    return "1.2"


def device(_request):
    return "a stand-in"


class Session:
    threads, math, settings, inputs = 1, "strict", {}, []

    def __init__(self, request):
        self.request = request
        self.heap = b"x" * int(request.options.get("heap", "0"))

    def bind(self, _feeds, requests):
        self.runs = [lambda: act(self.request, "run")] * requests

    def outputs(self):
        import numpy

        return [numpy.array([float(self.request.options.get("output", "1"))], numpy.float32)]

    def copies(self):
        return 1.0, 1.0

    def dtype(self):
        return "f32"

    def close(self):
        pass


def open(_source, request):  # noqa: A001 - the name that the worker calls
    act(request, "open")
    if request.pages:
        act(request, "apart")
    return Session(request)


def profile(_path, request, _feeds, _budget_ns, _say):
    act(request, "profile")
    return {
        "rows": [worker.row("a" * 10000, "Op", [1.0, 2.0, 3.0], nodes=["n" * 100] * 2000)],
        "profiled_ns": 5.0,
    }


def profile_tiny(_content, _request):
    return 1e9, 100, None


def reference(_path, _request, _feeds):
    import numpy

    return [numpy.array([2.0], numpy.float32)], "two"


if __name__ == "__main__":
    sys.exit(wire.main(sys.modules[__name__]))

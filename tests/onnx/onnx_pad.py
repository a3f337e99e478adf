#!/usr/bin/env python3
"""A constant Pad before a convolution folds into it, and nothing else does.

Builds small models with the onnx package. Where the Pad folds, benanza would measure the convolution with the
padding of both, and the bound on a described device is that of the model written without a Pad. Prints TAP.

    BENANZA=build/benanza tests/onnx/onnx_pad.py
"""

import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, need, said  # noqa: E402

need("onnx", "numpy")
import numpy  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from onnx_forms import Graph, jobs  # noqa: E402

ONE = [0, 0, 1, 1, 0, 0, 1, 1]
random = numpy.random.default_rng(3)


def text(size, begin=(1, 1), end=(1, 1)):
    """The convolution of 3x3 of four channels on size x size, with these pads."""
    return (f"conv:f32,f32.c,f32/f32:n1c4h{size}w{size}k4r3s3:ph{begin[0]}pw{begin[1]}qh{end[0]}qw{end[1]}"
            ":sh1sw1:dh1dw1:g1")


def conv(g, x, **attributes):
    return g.node("Conv", x, g.const(random.standard_normal((4, 4, 3, 3))), **attributes)


def padded(pads=ONE, number=None, mode=None, axes=None, opset=13, more=None, after=conv, size=8):
    """Input, Pad, `after` it, Relu. more(g, value of the Pad): something else at the Pad."""
    g = Graph()
    x = g.input("x", 1, 4, size, size)
    attributes = {"mode": mode} if mode else {}
    if opset < 11:
        y = g.node("Pad", x, pads=pads, **attributes, **({"value": number} if number else {}))
    else:
        inputs = [g.ints(*pads)]
        if number is not None or axes:
            inputs.append("" if number is None else g.const(number))
        if axes:
            inputs.append(g.ints(*axes))
        y = g.node("Pad", x, *inputs, **attributes)
    if more:
        more(g, y)
    g.output(g.node("Relu", after(g, y)))
    return g, opset


def reads_too(g, y):
    g.output(g.node("Sigmoid", y))


def is_output(g, y):
    g.output(y)


def as_weights(g, y):
    return g.node("Conv", g.const(random.standard_normal((1, 4, 16, 16))), y)


def maximum(g, y):
    return g.node("MaxPool", y, kernel_shape=[3, 3])


def average(g, y):
    return g.node("AveragePool", y, kernel_shape=[3, 3], count_include_pad=1)


# the Pad folds: (name, model, the fused problem)
FOLDS = [
    ("all sides", padded(), text(8)),
    ("an attribute, as before opset 11", padded(opset=9), text(8)),
    ("a number that is zero", padded(number=0.0), text(8)),
    ("the mode in words", padded(mode="constant"), text(8)),
    ("one side", padded([0, 0, 0, 0, 0, 0, 1, 2]), text(8, (0, 0), (1, 2))),
    ("axes", padded([1, 2, 3, 0], axes=[2, 3], opset=18), text(8, (1, 2), (3, 0))),
    ("negative axes", padded([1, 3], axes=[-1], opset=18), text(8, (0, 1), (0, 3))),
    ("besides pads of its own", padded(after=lambda g, y: conv(g, y, pads=[2, 0, 0, 1])),
     text(8, (3, 1), (1, 2))),
    ("SAME", padded(after=lambda g, y: conv(g, y, auto_pad="SAME_UPPER")), text(8, (2, 2), (2, 2))),
]

# it does not
STAYS = [
    ("a number that is not zero", padded(number=1.0)),
    ("... as an attribute", padded(number=1.0, opset=9)),
    ("negative pads", padded([0, 0, -1, 1, 0, 0, 1, 1])),
    ("pads of channels", padded([0, 1, 1, 1, 0, 0, 1, 1],
                                after=lambda g, y: g.node("Conv", y, g.const(numpy.ones((4, 5, 3, 3)))))),
    ("pads of the batch", padded([1, 0, 1, 1, 0, 0, 1, 1])),
    ("reflected", padded(mode="reflect")),
    ("edges", padded(mode="edge")),
    ("a Pad that two layers read", padded(more=reads_too)),
    ("one that is an output", padded(more=is_output)),
    ("one that makes the weights", padded(after=as_weights)),
    ("before a maximum", padded(after=maximum)),
    ("before a maximum, with -inf", padded(number=-numpy.inf, after=maximum)),
    ("before an average", padded(after=average)),
]


def described(path, what_ifs):
    return said("bound", "-d", "h100", "-w", what_ifs, "--json", path)


def without(pads):
    g = Graph()
    g.output(g.node("Relu", conv(g, g.input("x", 1, 4, 8, 8), pads=pads)))
    return g, 13


def results(folder):
    """What a Pad and its convolution compute, and what the convolution with the pads of both does."""
    both, opset = padded([0, 0, 1, 0, 0, 0, 2, 3], after=lambda g, y: conv(g, y, pads=[1, 1, 0, 2]))
    one = Graph()
    one.output(one.node("Relu", conv(one, one.input("x", 1, 4, 8, 8), pads=[2, 1, 2, 5])))
    one.inits = [i for i in both.inits if list(i.dims) == [4, 4, 3, 3]]
    one.nodes[0].input[1] = one.inits[0].name
    x = random.standard_normal((1, 4, 8, 8)).astype("float32")
    for name, g in ("both", both), ("one", one):
        g.save(f"{folder}/{name}.onnx", opset)
        yield ReferenceEvaluator(f"{folder}/{name}.onnx").run(None, {"x": x})[0]


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model.onnx"
        for name, (g, opset), want in FOLDS:
            @tap.test(f"folds: {name}")
            def _(g=g, opset=opset, want=want):
                g.save(path, opset)
                found = jobs(path)
                if want not in found or want + "+relu" not in found:
                    yield f"{want} is not in {found}"
        for name, (g, opset) in STAYS:
            @tap.test(f"stays: {name}")
            def _(g=g, opset=opset):
                g.save(path, opset)
                layers = described(path, "fusion,fold")["layers"]
                origins = {one["op"]: one["origin"] for one in layers}
                if origins["Pad"] != "estimated" or origins.get("Conv") == "fused":
                    yield f"{origins}"
        for what_ifs, equal in ("fusion,fold", True), ("fusion", True), ("fusion=epilogue", False):
            @tap.test(f"{what_ifs}: the bound is {'' if equal else 'above '}that of the model without a Pad")
            def _(what_ifs=what_ifs, equal=equal):
                bounds = []
                for g, opset in padded(), without([1, 1, 1, 1]):
                    g.save(path, opset)
                    bounds.append(described(path, what_ifs)["bound_ns"])
                if not bounds[0] >= bounds[1] > 0 or (bounds[0] == bounds[1]) != equal:
                    yield f"{bounds}"

        @tap.test("the convolution with the pads of both computes the same")
        def _():
            both, one = results(folder)
            if both.shape != one.shape or not numpy.allclose(both, one, atol=1e-5):
                yield f"{both.shape}, {one.shape}"
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

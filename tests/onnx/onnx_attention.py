#!/usr/bin/env python3
"""Attention and normalizations as exporters write them: each form must become one group with the expected
problem, or say why not.

Builds small graphs with the onnx package, lists the jobs of `benanza bench --emit-jobs -w fusion` and reads
`not_fused` of the bound on a described device. Prints TAP.

    BENANZA=build/benanza tests/onnx/onnx_attention.py [NAME...]
"""

import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, need, said, wanted  # noqa: E402

need("onnx", "numpy")
import numpy  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402
from onnx_forms import Graph, jobs  # noqa: E402

N, HEADS, ROWS, KEYS, SIZE = 2, 8, 16, 16, 32
WIDTH = HEADS * SIZE
TEXT = "attention:f32,f32,f32,f32/f32:{mode}:n{n}hq{hq}hk{hk}lq16lk{lk}d32e32{mask}"


def heads(g, x, count=HEADS, perm=(0, 2, 1, 3)):
    return g.node("Transpose", g.node("Reshape", x, g.ints(N, -1, count, SIZE)), perm=perm)


def three(g, kv=HEADS):
    """Queries, keys and values from three products."""
    x = g.input("x", N, ROWS, WIDTH)
    return [heads(g, g.node("MatMul", x, g.const(numpy.zeros((WIDTH, n * SIZE)))), n)
            for n in (HEADS, kv, kv)]


def split(g):
    """The same from one product that is split."""
    x = g.input("x", N, ROWS, WIDTH)
    all_three = g.node("MatMul", x, g.const(numpy.zeros((WIDTH, 3 * WIDTH))))
    sizes = g.ints(WIDTH, WIDTH, WIDTH)
    g.nodes.append(helper.make_node("Split", [all_three, sizes], ["q", "k", "v"], axis=2))
    return [heads(g, name) for name in ("q", "k", "v")]


def turn(g, k):
    return g.node("Transpose", k, perm=(0, 1, 3, 2))


def end(g, scores, v):
    y = g.node("MatMul", g.node("Softmax", scores, axis=-1), v)
    g.output(g.node("Reshape", g.node("Transpose", y, perm=(0, 2, 1, 3)), g.ints(N, -1, WIDTH)))


def scale_after(g):
    q, k, v = three(g)
    end(g, g.node("Div", g.node("MatMul", q, turn(g, k)), g.const(5.65)), v)


def scale_on_both(g):
    q, k, v = split(g)
    root = g.node("Sqrt", g.const(0.176))
    end(g, g.node("MatMul", g.node("Mul", q, root), g.node("Mul", turn(g, k), root)), v)


def scale_on_queries(g):
    q, k, v = three(g)
    end(g, g.node("MatMul", g.node("Mul", q, g.const(0.176)), turn(g, k)), v)


def padding_mask(g):
    q, k, v = split(g)
    kept = g.node("Cast", g.input("m", N, 1, 1, KEYS, dtype=TensorProto.INT64), to=TensorProto.FLOAT)
    mask = g.node("Mul", g.node("Sub", g.const(1.0), kept), g.const(-1e9))
    end(g, g.node("Add", mask, g.node("Mul", g.node("MatMul", q, turn(g, k)), g.const(0.176))), v)


def full_mask(g):
    """Both sides of the sum have the shape of the scores."""
    q, k, v = three(g)
    mask = g.input("m", N, HEADS, ROWS, KEYS)
    end(g, g.node("Add", g.node("Relu", mask), g.node("MatMul", q, turn(g, k))), v)


def trilu(g):
    one = helper.make_tensor("one", TensorProto.FLOAT, [1], [1])
    ones = g.node("ConstantOfShape", g.ints(ROWS, KEYS), value=one)
    return g.node("Cast", g.node("Trilu", ones, upper=0), to=TensorProto.BOOL)


def causal_where(g):
    q, k, v = split(g)
    scores = g.node("Div", g.node("MatMul", q, turn(g, k)), g.const(5.65))
    end(g, g.node("Where", trilu(g), scores, g.const(-1e4)), v)


def causal_added(g):
    """torch.onnx with dynamo: the mask is a sum of its own, and rows without keys are guarded."""
    q, k, v = three(g)
    ones = g.node("Expand", g.const([1.0]), g.ints(1, 1, ROWS, KEYS))
    seen = g.node("Cast", g.node("Trilu", ones, upper=0), to=TensorProto.BOOL)
    mask = g.node("Where", seen, g.const(0.0), g.const(-numpy.inf))
    soft = g.node("Softmax", g.node("Add", g.node("MatMul", q, turn(g, k)), mask), axis=-1)
    g.output(g.node("MatMul", g.node("Where", g.node("IsNaN", soft), g.const(0.0), soft), v))


def positions(g, size, axis):
    """0, 1, 2 ... as exporters write them, in the given dimension."""
    first, end, step = (g.const(number, "int64") for number in (0, size, 1))
    return g.node("Unsqueeze", g.node("Range", first, end, step), g.ints(axis))


def causal_positions(g):
    """Keys up to the position of the query are seen."""
    q, k, v = three(g)
    seen = g.node("LessOrEqual", positions(g, KEYS, 0), positions(g, ROWS, 1))
    seen = g.node("Expand", g.node("Unsqueeze", seen, g.ints(0, 1)), g.ints(N, 1, ROWS, KEYS))
    end(g, g.node("Where", seen, g.node("MatMul", q, turn(g, k)), g.const(-3.4e38)), v)


def causal_later(g):
    """Later positions are hidden; the comparison is written from the query."""
    q, k, v = three(g)
    hidden = g.node("Less", positions(g, ROWS, 1), positions(g, KEYS, 0))
    end(g, g.node("Where", hidden, g.const(-3.4e38), g.node("MatMul", q, turn(g, k))), v)


def shifted_positions(g):
    """Each query also sees the next key, which is not causal attention."""
    q, k, v = three(g)
    next_one = g.node("Add", positions(g, ROWS, 1), g.const(1, "int64"))
    seen = g.node("LessOrEqual", positions(g, KEYS, 0), next_one)
    end(g, g.node("Where", seen, g.node("MatMul", q, turn(g, k)), g.const(-3.4e38)), v)


def one_row(g):
    """All queries see the first key only, which is not causal attention."""
    q, k, v = three(g)
    seen = g.node("Expand", g.const([[True] + [False] * (KEYS - 1)], "bool"), g.ints(ROWS, KEYS))
    end(g, g.node("Where", seen, g.node("MatMul", q, turn(g, k)), g.const(-3.4e38)), v)


def causal_constant(g):
    q, k, v = three(g)
    seen = g.const(numpy.tril(numpy.ones((1, 1, ROWS, KEYS))), "bool")
    end(g, g.node("Where", seen, g.node("MatMul", q, turn(g, k)), g.const(-1e4)), v)


def hidden_constant(g):
    q, k, v = three(g)
    hidden = g.const(1 - numpy.tril(numpy.ones((ROWS, KEYS))), "bool")
    end(g, g.node("Where", hidden, g.const(-1e4), g.node("MatMul", q, turn(g, k))), v)


def window_constant(g):
    """A constant mask that is no triangle is added."""
    q, k, v = three(g)
    band = numpy.triu(numpy.tril(numpy.ones((1, 1, ROWS, KEYS))), -3)
    seen = g.const(band, "bool")
    end(g, g.node("Where", seen, g.node("MatMul", q, turn(g, k)), g.const(-1e4)), v)


def repeated_keys(g):
    q, k, v = three(g, kv=2)
    five = [g.node("Expand", g.node("Unsqueeze", x, g.ints(2)), g.ints(N, 2, 4, KEYS, SIZE)) for x in (k, v)]
    wide = [g.node("Reshape", x, g.ints(N, HEADS, KEYS, SIZE)) for x in five]
    mask = g.input("m", N, 1, ROWS, KEYS)
    scores = g.node("Mul", g.node("MatMul", q, turn(g, wide[0])), g.const(0.176))
    end(g, g.node("Add", scores, mask), wide[1])


def casts(g):
    """Products in f16, softmax in f32."""
    q, k, v = [g.node("Cast", x, to=TensorProto.FLOAT16) for x in three(g)]
    scores = g.node("Cast", g.node("MatMul", q, turn(g, k)), to=TensorProto.FLOAT)
    soft = g.node("Softmax", scores, axis=-1)
    g.output(g.node("MatMul", g.node("Cast", soft, to=TensorProto.FLOAT16), v), TensorProto.FLOAT16)


def guard(g):
    """A row without any key gives NaN, which is replaced."""
    q, k, v = three(g)
    mask = g.input("m", ROWS, KEYS)
    soft = g.node("Softmax", g.node("Add", g.node("MatMul", q, turn(g, k)), mask), axis=-1)
    kept = g.node("Where", g.node("IsNaN", soft), g.const(0.0), soft)
    g.output(g.node("MatMul", kept, v))


def merged_heads(g):
    """Three dimensions: samples and heads are one, but for the mask."""
    q, k, v = [g.node("Reshape", x, g.ints(N * HEADS, -1, SIZE)) for x in three(g)]
    scores = g.node("MatMul", q, g.node("Transpose", k, perm=(0, 2, 1)))
    four = g.node("Reshape", scores, g.ints(N, HEADS, ROWS, KEYS))
    wide = g.node("Add", four, g.input("m", N, 1, ROWS, KEYS))
    soft = g.node("Softmax", g.node("Reshape", wide, g.ints(N * HEADS, ROWS, KEYS)), axis=-1)
    g.output(g.node("MatMul", soft, v))


def read_scores(g):
    q, k, v = three(g)
    soft = g.node("Softmax", g.node("MatMul", q, turn(g, k)), axis=-1)
    g.output(g.node("MatMul", soft, v))
    g.output(soft)


def selected(g):
    q, k, v = three(g)
    mask = g.input("m", N, 1, 1, KEYS, dtype=TensorProto.BOOL)
    end(g, g.node("Where", mask, g.node("MatMul", q, turn(g, k)), g.const(-1e9)), v)


def causal_and_padding(g):
    """A mask made of comparisons with the positions and of the padding, which stay outside."""
    q, k, v = three(g)
    rows, columns = g.ints(*range(ROWS)), g.input("positions", KEYS, dtype=TensorProto.INT64)
    later = g.node("Greater", g.node("Unsqueeze", columns, g.ints(0)), g.node("Unsqueeze", rows, g.ints(1)))
    padding = g.node("Cast", g.input("m", N, KEYS, dtype=TensorProto.INT64), to=TensorProto.BOOL)
    wide = g.node("Expand", g.node("Unsqueeze", padding, g.ints(1, 2)), g.ints(N, 1, ROWS, KEYS))
    hidden = g.node("Or", later, g.node("Not", wide))
    scores = g.node("Mul", g.node("MatMul", q, turn(g, k)), g.const(0.176))
    end(g, g.node("Where", hidden, g.const(-3.4e38), scores), v)


def fill_is_zero(g):
    q, k, v = three(g)
    mask = g.input("m", N, 1, 1, KEYS, dtype=TensorProto.BOOL)
    end(g, g.node("Where", mask, g.node("MatMul", q, turn(g, k)), g.const(0.0)), v)


def fill_is_computed(g):
    q, k, v = three(g)
    mask, fill = g.input("m", N, 1, 1, KEYS, dtype=TensorProto.BOOL), g.node("Neg", g.input("f", 1))
    end(g, g.node("Where", mask, g.node("MatMul", q, turn(g, k)), fill), v)


def soft_cap(g):
    q, k, v = three(g)
    scores = g.node("Tanh", g.node("Div", g.node("MatMul", q, turn(g, k)), g.const(50.0)))
    end(g, g.node("Mul", scores, g.const(50.0)), v)


def two_masks(g):
    q, k, v = three(g)
    causal = g.node("Where", trilu(g), g.node("MatMul", q, turn(g, k)), g.const(-1e4))
    end(g, g.node("Add", causal, g.input("m", N, 1, 1, KEYS)), v)


def text(mode="full", n=N, hq=HEADS, hk=HEADS, lk=KEYS, mask=""):
    return TEXT.format(mode=mode, n=n, hq=hq, hk=hk, lk=lk, mask=mask)


MASKED = {"mode": "masked"}
# form -> its problem
FORMS = {
    scale_after: text(), scale_on_both: text(), scale_on_queries: text(),
    padding_mask: text(**MASKED, mask=":2x1x1x16"), full_mask: text(**MASKED, mask=":2x8x16x16"),
    causal_where: text("causal"), causal_added: text("causal"),
    causal_positions: text("causal"), causal_later: text("causal"),
    one_row: text(**MASKED, mask=":1x1x16x16"),
    shifted_positions: text(**MASKED, mask=":1x1x16x16"), causal_constant: text("causal"),
    hidden_constant: text("causal"),
    window_constant: text(**MASKED, mask=":1x1x16x16"), guard: text(**MASKED, mask=":1x1x16x16"),
    repeated_keys: text(**MASKED, hk=2, mask=":2x1x16x16"), merged_heads: text(**MASKED, mask=":2x1x16x16"),
    selected: text(**MASKED, mask=":2x1x1x16"),
    causal_and_padding: text(**MASKED, mask=":2x1x16x16"),
    casts: text().replace("f32,f32,f32,f32", "f16,f16,f16,f16"),
}
# form -> a part of the reason why it is no group
REASONS = {
    read_scores: "other layers read", soft_cap: "lacks an operation", two_masks: "two masks",
    fill_is_zero: "does not hide", fill_is_computed: "computed at run time",
}


def norm(g, x, centred, inverts=False, square="Pow"):
    """A normalization of the last dimension in parts."""
    if centred:
        x = g.node("Sub", x, g.node("ReduceMean", x, axes=[-1], keepdims=1))
    squares = g.node("Pow", x, g.const(2.0)) if square == "Pow" else g.node("Mul", x, x)
    root = g.node("Sqrt", g.node("Add", g.node("ReduceMean", squares, axes=[-1], keepdims=1), g.const(1e-5)))
    return g.node("Mul", x, g.node("Reciprocal", root)) if inverts else g.node("Div", x, root)


def layer_norm(g):
    """The input is also read by the sum behind it."""
    x = g.node("Relu", g.input("x", N, ROWS, WIDTH))
    y = g.node("Mul", norm(g, x, True), g.const(numpy.ones(WIDTH)))
    g.output(g.node("Add", x, g.node("Relu", g.node("Add", y, g.const(numpy.ones(WIDTH))))))


def layer_norm_plain(g):
    g.output(g.node("Relu", norm(g, g.input("x", N, ROWS, WIDTH), True, inverts=True, square="Mul")))


def rms_norm(g):
    x = g.input("x", N, ROWS, WIDTH)
    g.output(g.node("Mul", g.const(numpy.ones(WIDTH)), norm(g, x, False, inverts=True)))


def rms_norm_casts(g):
    """Computed in f32 for elements of f16."""
    half = g.input("x", N, ROWS, WIDTH, dtype=TensorProto.FLOAT16)
    x = g.node("Cast", g.node("Relu", half), to=TensorProto.FLOAT)
    y = g.node("Cast", norm(g, x, False), to=TensorProto.FLOAT16)
    g.output(g.node("Mul", g.const(numpy.ones(WIDTH), "float16"), y), TensorProto.FLOAT16)


def norm_is_read(g):
    """Another layer reads the difference from the mean, which therefore stays a layer."""
    x = g.input("x", N, ROWS, WIDTH)
    y = norm(g, x, True)
    g.output(g.node("Add", y, g.node("Relu", g.nodes[1].output[0])))


SHAPE = f"{N}x{ROWS}x{WIDTH}:ax2"
NORMS = {layer_norm: ["layernorm:f32,f32:" + SHAPE], layer_norm_plain: ["layernorm:f32,f32:" + SHAPE],
         rms_norm: ["rmsnorm:f32,f32:" + SHAPE], rms_norm_casts: ["rmsnorm:f16,f16:" + SHAPE],
         norm_is_read: ["rmsnorm:f32,f32:" + SHAPE]}


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        for form in wanted([*FORMS, *REASONS], lambda f: f.__name__):
            path = pathlib.Path(folder) / f"{form.__name__}.onnx"

            @tap.test(f"{form.__name__}: {FORMS.get(form) or 'no group, ' + REASONS[form]}")
            def _(form=form, path=path):
                for opset in (14, 20):
                    g = Graph()
                    form(g)
                    g.save(path, opset)
                    found = [job for job in jobs(path) if job.startswith("attention:")]
                    missed = said("bound", "--json", "-q", "-d", "h100", path)["not_fused"]
                    if found != ([FORMS[form]] if form in FORMS else []):
                        yield f"opset {opset}: {found}, {missed}"
                    if form in REASONS and not (len(missed) == 1 and REASONS[form] in missed[0]["why"]):
                        yield f"opset {opset}: not fused: {missed}"
                    if form in FORMS and missed:
                        yield f"opset {opset}: not fused: {missed}"
        for form, expected in NORMS.items():
            @tap.test(f"{form.__name__}: {', '.join(expected)}")
            def _(form=form, expected=expected):
                path = pathlib.Path(folder) / f"{form.__name__}.onnx"
                g = Graph()
                form(g)
                g.save(path, 17)
                found = [job for job in jobs(path) if "norm:" in job]
                if found != expected:
                    yield f"{found}"
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Groups of fused layers compute what their layers compute.

Builds blocks of transformers as exporters write them (torch.onnx with and without dynamo, optimum, ONNX
Runtime's GenAI builder) and lets benanza find the groups, with prices made up from the problems' texts. Of
each group that is named here the fused form is computed with numpy from the values that the group reads, and
compared with what ONNX Runtime computes layer by layer. The values that a group reads are all that its
formula gets. Prints TAP.

    BENANZA=build/benanza tests/ort/fused_groups.py [NAME...]
"""

import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, Tap, need, said, wanted  # noqa: E402

need("onnx", "numpy", "onnxruntime")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402
from onnx_forms import Graph  # noqa: E402

N, ROWS, HEADS, KV, SIZE = 2, 6, 4, 2, 8
WIDTH = HEADS * SIZE
BOOL = TensorProto.BOOL
random = np.random.default_rng(7)


def weight(g, *shape):
    return g.const(random.standard_normal(shape) / np.sqrt(shape[0]))


# ---- fused forms: from the values that a group reads, in the order of their first readers

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def silu(x):
    return x / (1 + np.exp(-x))


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def joined(with_bias, transposed=False):
    """One product with the weights side by side; a member without a bias has zeros. Returns its columns."""

    def form(x, *constants):
        weights = [c.T if transposed else c for c in constants if c.ndim == 2]
        biases = iter([c for c in constants if c.ndim == 1])
        bias = [next(biases) if has else np.zeros(w.shape[1]) for w, has in zip(weights, with_bias)]
        y = x @ np.concatenate(weights, 1) + np.concatenate(bias)
        return np.split(y, np.cumsum([w.shape[1] for w in weights])[:-1], -1)

    return form


def attention(order="kqv", hidden=lambda m: m):
    """softmax(q k' scale + mask) v; keys and values serve a group of queries; hidden: a mask as a summand."""

    def form(*operands):
        named = dict(zip(order, operands, strict=True))
        q, k, v, mask = (named.get(name) for name in "qkvm")
        k, v = (np.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
        scores = q @ k.swapaxes(2, 3) / np.sqrt(SIZE)
        return [softmax(scores if mask is None else scores + hidden(mask)) @ v]

    return form


def rotary(interleaved=False):
    """RotaryEmbedding of ai.onnx 23 with tables for half of a row, or for a whole one."""

    def form(x, cosine, sine):
        half = x.shape[-1] // 2
        tables = [t if t.shape[-1] == half else t[..., ::2] if interleaved else t[..., :half]
                  for t in (cosine, sine)]
        x1, x2 = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
        y1, y2 = x1 * tables[0] - x2 * tables[1], x2 * tables[0] + x1 * tables[1]
        return [np.stack([y1, y2], -1).reshape(x.shape) if interleaved else np.concatenate([y1, y2], -1)]

    return form


def gated(activation):
    return lambda gate, up: [activation(gate) * up]


def gated_product(activation):
    return lambda x, w, up: [activation(x @ w) * up]


def rms(x, weights):
    return [x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weights]


def layer_norm(x, weights, bias):
    x = x - x.mean(-1, keepdims=True)
    return [rms(x, weights)[0] + bias]


# ---- blocks; each returns [(pattern, number of such groups, part of the problem, copied bytes, fused form)]

def heads(g, x, count=HEADS):
    return g.node("Transpose", g.node("Reshape", x, g.ints(N, -1, count, SIZE)), perm=(0, 2, 1, 3))


def projections(g, x, sizes, biases=(False,) * 3):
    made = []
    for size, bias in zip(sizes, biases):
        y = g.node("MatMul", x, weight(g, WIDTH, size))
        made.append(g.node("Add", weight(g, size), y) if bias else y)
    return made


def attend(g, q, k, v, mask=None):
    """Scores as torch.onnx writes them; mask: a function of the scores."""
    scores = g.node("MatMul", q, g.node("Transpose", k, perm=(0, 1, 3, 2)))
    scores = g.node("Div", scores, g.const(np.sqrt(SIZE)))
    y = g.node("MatMul", g.node("Softmax", mask(scores) if mask else scores, axis=-1), v)
    g.output(g.node("Reshape", g.node("Transpose", y, perm=(0, 2, 1, 3)), g.ints(N, -1, WIDTH)))


def bert(g):
    """torch.onnx: three products with biases, a mask that is added."""
    q, k, v = projections(g, g.input("x", N, ROWS, WIDTH), [WIDTH] * 3, [True] * 3)
    m = g.node("Mul", g.node("Sub", g.const(1.0), g.input("m", N, 1, 1, ROWS)), g.const(-10.0))
    attend(g, *(heads(g, y) for y in (q, k, v)), lambda scores: g.node("Add", scores, m))
    return [("MatMul+Bias x3", 1, f"m{N * ROWS}n{3 * WIDTH}k{WIDTH}:ta0tb0+bias:f32.c", 0,
             joined([True] * 3)),
            ("Attention(mask)", 1, f"masked:n{N}hq{HEADS}hk{HEADS}", 0, attention("kqmv"))]


def grouped_queries(g):
    """Fewer keys and values, which are repeated; no biases; a boolean mask that is made at run time."""
    q, k, v = projections(g, g.input("x", N, ROWS, WIDTH), [WIDTH, KV * SIZE, KV * SIZE])
    q, k, v = heads(g, q), heads(g, k, KV), heads(g, v, KV)
    wide = [g.node("Reshape", g.node("Expand", g.node("Unsqueeze", y, g.ints(2)), g.ints(
        N, KV, HEADS // KV, ROWS, SIZE)), g.ints(N, HEADS, ROWS, SIZE)) for y in (k, v)]
    seen = g.node("Greater", g.input("m", N, 1, ROWS, ROWS), g.const(-0.3))
    attend(g, q, *wide, lambda scores: g.node("Where", seen, scores, g.const(-1e9)))
    return [("MatMul x3", 1, f"n{WIDTH + 2 * KV * SIZE}k{WIDTH}:ta0tb0", 0, joined([False] * 3)),
            ("Attention(mask)", 1, f"masked:n{N}hq{HEADS}hk{KV}", 0,
             attention("kvqm", lambda seen: np.where(seen, 0, -1e9)))]


def scaled_dot_product(g):
    """torch.onnx with dynamo: keys transposed in three dimensions, both scaled, a guard against NaN."""
    q, k, v = projections(g, g.input("x", N, ROWS, WIDTH), [WIDTH, KV * SIZE, KV * SIZE])
    q, k, v = heads(g, q), heads(g, k, KV), heads(g, v, KV)
    k, v = (g.node("Reshape", g.node("Expand", g.node("Unsqueeze", y, g.ints(2)), g.ints(
        N, KV, HEADS // KV, ROWS, SIZE)), g.ints(N, HEADS, ROWS, SIZE)) for y in (k, v))
    k = g.node("Transpose", g.node("Reshape", k, g.ints(-1, ROWS, SIZE)), perm=(0, 2, 1))
    k = g.node("Reshape", k, g.ints(N, HEADS, SIZE, ROWS))
    scale = g.const(SIZE ** -0.25)
    scores = g.node("MatMul", g.node("Mul", q, scale), g.node("Mul", k, scale))
    y = g.node("Softmax", g.node("Add", scores, g.input("m", N, 1, ROWS, ROWS)), axis=-1)
    y = g.node("MatMul", g.node("Where", g.node("IsNaN", y), g.const(0.0), y), v)
    g.output(g.node("Reshape", g.node("Transpose", y, perm=(0, 2, 1, 3)), g.ints(N, -1, WIDTH)))
    return [("Attention(mask)", 1, f"masked:n{N}hq{HEADS}hk{KV}", 0, attention("kvqm"))]


def attention_operator(g):
    """torch.onnx with opset 23: one operator, behind what repeats the heads of keys and values."""
    q, k, v = projections(g, g.input("x", N, ROWS, WIDTH), [WIDTH, KV * SIZE, KV * SIZE])
    q, k, v = heads(g, q), heads(g, k, KV), heads(g, v, KV)
    k, v = (g.node("Reshape", g.node("Expand", g.node("Unsqueeze", y, g.ints(2)), g.ints(
        N, KV, HEADS // KV, ROWS, SIZE)), g.ints(N, HEADS, ROWS, SIZE)) for y in (k, v))
    seen = g.node("Greater", g.input("m", N, 1, ROWS, ROWS), g.const(-0.3))
    y = g.node("Attention", q, k, v, seen)
    g.output(g.node("Reshape", g.node("Transpose", y, perm=(0, 2, 1, 3)), g.ints(N, -1, WIDTH)))
    return [("Attention(repeat)", 1, f"masked:n{N}hq{HEADS}hk{KV}", 0,
             attention("kvqm", lambda seen: np.where(seen, 0, -1e9)))]


def hidden_where(g):
    """The mask says which scores are hidden, not which are seen."""
    x = g.input("x", N, HEADS, ROWS, SIZE)
    hidden = g.node("Not", g.node("Greater", g.input("m", N, 1, 1, ROWS), g.const(-0.3)))
    attend(g, x, g.node("Relu", x), g.node("Neg", x), lambda s: g.node("Where", hidden, g.const(-1e9), s))
    return [("Attention(mask)", 1, f"masked:n{N}hq{HEADS}hk{HEADS}", 0,
             attention("kqmv", lambda m: np.where(m, -1e9, 0)))]


def causal(order):
    """Each query sees the keys up to its own; a mask is a constant of the group, not an operand."""

    def form(*operands):
        seen = np.tril(np.ones((operands[0].shape[2],) * 2, bool))
        named = [x for x in operands if x.shape[1] != 1]
        return attention(order + "m")(*named, np.where(seen, 0, -1e9))

    return form


LONG = 40  # a mask of more elements than a plan keeps


def causal_constant(g):
    """torch.onnx with dynamo: the mask is a constant that is added."""
    x = g.input("x", N, HEADS, LONG, SIZE)
    mask = g.const(np.triu(np.full((1, 1, LONG, LONG), np.finfo("float32").min), 1))
    attend(g, x, g.node("Relu", x), g.node("Neg", x), lambda scores: g.node("Add", scores, mask))
    return [("Attention(causal)", 1, f"causal:n{N}hq{HEADS}hk{HEADS}", 0, causal("kqv"))]


def causal_operator(g):
    """torch.onnx with opset 23: a constant says which keys are seen."""
    q, k, v = (g.input(name, N, heads, LONG, SIZE) for name, heads in (("x", HEADS), ("k", KV), ("v", KV)))
    k, v = (g.node("Reshape", g.node("Expand", g.node("Unsqueeze", y, g.ints(2)), g.ints(
        N, KV, HEADS // KV, LONG, SIZE)), g.ints(N, HEADS, LONG, SIZE)) for y in (k, v))
    seen = g.const(np.tril(np.ones((1, 1, LONG, LONG))), "bool")
    y = g.node("Attention", q, k, v, seen)
    g.output(g.node("Reshape", g.node("Transpose", y, perm=(0, 2, 1, 3)), g.ints(N, -1, WIDTH)))
    return [("Attention(repeat)", 1, f"causal:n{N}hq{HEADS}hk{KV}", 0, causal("kvq"))]


def whisper(g):
    """Keys without a bias."""
    q, k, v = projections(g, g.input("x", N, ROWS, WIDTH), [WIDTH] * 3, [True, False, True])
    attend(g, *(heads(g, y) for y in (q, k, v)))
    return [("MatMul+Bias x3", 1, f"n{3 * WIDTH}k{WIDTH}:ta0tb0+bias:f32.c", 0, joined([True, False, True]))]


def linear_2d(g):
    """Gemm with transposed weights, of one matrix."""
    x = g.input("x", ROWS, WIDTH)
    for size in (WIDTH, 16):
        y = g.node("Gemm", x, weight(g, size, WIDTH), weight(g, size), transB=1)
        g.output(g.node("Tanh", y))
    return [("Gemm x2", 1, f"n{WIDTH + 16}k{WIDTH}:ta0tb1+bias:f32.c", 0,
             joined([True] * 2, transposed=True))]


def present(g):
    """Keys and values are outputs of the model, which have to be dense."""
    q, k, v = projections(g, g.input("x", N, ROWS, WIDTH), [WIDTH, KV * SIZE, KV * SIZE])
    g.output(k)
    g.output(v)
    g.output(g.node("Relu", q))
    return [("MatMul x3", 1, f"n{WIDTH + 2 * KV * SIZE}k", 2 * N * ROWS * KV * SIZE * 4, joined([False] * 3))]


def query_norm(g):
    """Queries and keys are normalized by head (Qwen3): that reads dense rows."""
    q, k, v = projections(g, g.input("x", N, ROWS, WIDTH), [WIDTH] * 3)
    q, k = (g.node("LayerNormalization", g.node("Reshape", y, g.ints(N, ROWS, HEADS, SIZE)), weight(g, SIZE),
                   axis=-1) for y in (q, k))
    q, k = (g.node("Transpose", y, perm=(0, 2, 1, 3)) for y in (q, k))
    attend(g, q, k, heads(g, v))
    return [("MatMul x3", 1, f"n{3 * WIDTH}k{WIDTH}:ta0tb0", 2 * N * ROWS * WIDTH * 4, joined([False] * 3))]


def query_norm_parts(g):
    """The same with RMS normalizations in parts: elementwise operators, but one kernel."""
    q, k, v = projections(g, g.input("x", N, ROWS, WIDTH), [WIDTH, WIDTH, WIDTH])
    q, k = (norm(g, g.node("Reshape", y, g.ints(N, ROWS, HEADS, SIZE)), False, SIZE) for y in (q, k))
    q, k = (g.node("Transpose", y, perm=(0, 2, 1, 3)) for y in (q, k))
    attend(g, q, k, heads(g, v))
    return [("MatMul x3", 1, f"n{3 * WIDTH}k{WIDTH}:ta0tb0", 2 * N * ROWS * WIDTH * 4, joined([False] * 3)),
            ("RMSNorm", 2, "rmsnorm:", 0, rms)]


def swiglu_parts(g, x, activation):
    gate, up = (g.node("MatMul", x, weight(g, WIDTH, 3 * WIDTH)) for _ in range(2))
    down = g.node("MatMul", g.node("Mul", activation(gate), up), weight(g, 3 * WIDTH, WIDTH))
    g.output(g.node("Add", x, down))


def swiglu(g):
    """Llama: gate and up, silu as Sigmoid and Mul."""
    x = g.input("x", N, ROWS, WIDTH)
    swiglu_parts(g, x, lambda gate: g.node("Mul", gate, g.node("Sigmoid", gate)))
    shape = f"{N}x{ROWS}x{3 * WIDTH}"
    return [("MatMul x2", 1, f"n{6 * WIDTH}k{WIDTH}", 0, joined([False] * 2)),
            ("SiLU+Mul", 1, f"eltwise:f32,f32:swish,1:{shape}+mul:f32", 0, gated(silu))]


def swiglu_epilogue(g):
    """Where a join cannot be measured, one product takes the gate along."""
    swiglu(g)
    return [("MatMul+Mul", 1, f"n{3 * WIDTH}k{WIDTH}:ta0tb0+mul:f32", 0, gated_product(lambda up: up))]


def gate_alone(g):
    """A gate of something else than a product."""
    gate = g.node("MatMul", g.input("x", N, ROWS, WIDTH), weight(g, WIDTH, WIDTH))
    silu_of = g.node("Mul", gate, g.node("Sigmoid", gate))
    g.output(g.node("Mul", g.node("Tanh", g.input("u", N, ROWS, WIDTH)), silu_of))
    return [("MatMul+SiLU+Mul", 1, f"n{WIDTH}k{WIDTH}:ta0tb0+swish,1+mul:f32", 0, gated_product(silu))]


def swiglu_split(g):
    """One product for both, which is split (Phi-3)."""
    both = g.node("MatMul", g.input("x", N, ROWS, WIDTH), weight(g, WIDTH, 6 * WIDTH))
    sizes = g.ints(3 * WIDTH, 3 * WIDTH)
    g.nodes.append(helper.make_node("Split", [both, sizes], ["gate", "up"], name="split", axis=2))
    silu_of = g.node("Mul", "gate", g.node("Sigmoid", "gate"))
    g.output(g.node("MatMul", g.node("Mul", "up", silu_of), weight(g, 3 * WIDTH, WIDTH)))
    return [("SiLU+Mul", 1, "+mul:f32", 0, gated(silu))]


def geglu(g):
    """Gemma: Gelu is one operator."""
    x = g.input("x", N, ROWS, WIDTH)
    swiglu_parts(g, x, lambda gate: g.node("Gelu", gate, approximate="tanh"))
    return [("MatMul x2", 1, f"n{6 * WIDTH}k{WIDTH}", 0, joined([False] * 2)),
            ("Gelu+Mul", 1, "eltwise:f32,f32:gelu_tanh:", 0, gated(gelu_tanh))]


def geglu_parts(g):
    """The same in parts."""
    def gelu(x):
        cube = g.node("Mul", g.const(0.044715), g.node("Pow", x, g.const(3.0)))
        t = g.node("Tanh", g.node("Mul", g.const(np.sqrt(2 / np.pi)), g.node("Add", x, cube)))
        return g.node("Mul", g.const(0.5), g.node("Mul", x, g.node("Add", g.const(1.0), t)))

    swiglu_parts(g, g.input("x", N, ROWS, WIDTH), gelu)
    return [("MatMul x2", 1, f"n{6 * WIDTH}k{WIDTH}", 0, joined([False] * 2)),
            ("Gelu(tanh)+Mul", 1, "eltwise:f32,f32:gelu_tanh:", 0, gated(gelu_tanh))]


def tables(g, row):
    """Cosines and sines of positions, computed in the model as dynamo exports them."""
    frequency = g.const(10000.0 ** -(np.arange(row) % (SIZE // 2) / (SIZE // 2)))
    angles = g.node("Mul", g.input("position", N, 1, ROWS, 1), frequency)
    return g.node("Cos", angles), g.node("Sin", angles)


def cut(g, x, first, end, step=1):
    return g.node("Slice", x, g.ints(first), g.ints(end), g.ints(-1), g.ints(step))


def turned_rows(g, x):
    negative = g.node("Neg", cut(g, x, SIZE // 2, 2 ** 63 - 1))
    return g.node("Concat", negative, cut(g, x, 0, SIZE // 2), axis=-1)


def turned_split(g, x):
    halves = [f"half{len(g.nodes)}{which}" for which in "ab"]
    g.nodes.append(helper.make_node("Split", [x], halves, name=halves[0], axis=-1, num_outputs=2))
    return g.node("Concat", g.node("Neg", halves[1]), halves[0], axis=3)


def turned_pairs(g, x):
    odd, even = g.node("Neg", cut(g, x, 1, 2 ** 63 - 1, 2)), cut(g, x, 0, 2 ** 63 - 1, 2)
    pairs = [g.node("Unsqueeze", y, g.ints(-1)) for y in (odd, even)]
    return g.node("Reshape", g.node("Concat", *pairs, axis=-1), g.ints(N, -1, ROWS, SIZE))


def embed(g, x, table, turned):
    cosine, sine = table
    return g.node("Add", g.node("Mul", x, cosine), g.node("Mul", sine, turned(g, x)))


def rotary_block(g, turned, row=SIZE):
    """Queries and keys of Llama; both read the same tables."""
    q, k, v = projections(g, g.input("x", N, ROWS, WIDTH), [WIDTH] * 3)
    table = tables(g, row)
    q, k = (embed(g, heads(g, y), table, turned) for y in (q, k))
    attend(g, q, k, heads(g, v))


def rotary_rows(g):
    rotary_block(g, turned_rows)
    bytes_read = (2 * N * HEADS * ROWS * SIZE + 2 * N * ROWS * SIZE) * 4
    return [("Rotary", 2, f"copy:u8,u8:b{bytes_read // 2}", 0, rotary()),
            ("MatMul x3", 1, f"n{3 * WIDTH}", 0, joined([False] * 3)),
            ("Attention", 1, "full:", 0, attention())]


def rotary_casts(g):
    """ModernBERT by torch.onnx: x is cast to its own type, once for each reader."""
    def cast_rows(g, x):
        return turned_rows(g, g.node("Cast", x, to=TensorProto.FLOAT))
    def once(*operands):
        return rotary()(*(y for i, y in enumerate(operands)
                          if not any(np.array_equal(y, z) for z in operands[:i])))
    rotary_block(g, cast_rows)
    return [("Rotary", 2, "copy:u8,u8:b", 0, once), ("Attention", 1, "full:", 0, attention())]


def rotary_split(g):
    rotary_block(g, turned_split)
    return [("Rotary", 2, "copy:u8,u8:b", 0, rotary())]


def interleave(g, table):
    """cos and sin with each column twice in a row."""
    twice = [g.node("Concat", *[g.node("Unsqueeze", y, g.ints(-1))] * 2, axis=-1) for y in table]
    return [g.node("Reshape", y, g.ints(N, 1, ROWS, SIZE)) for y in twice]


def rotary_interleaved(g):
    """GPT-J: even and odd elements."""
    x, table = heads(g, g.input("x", N, ROWS, WIDTH)), interleave(g, tables(g, SIZE // 2))
    g.output(g.node("Relu", embed(g, x, table, turned_pairs)))
    return [("Rotary", 1, "copy:u8,u8:b", 0, rotary(interleaved=True))]


def products(g, x1, x2, table):
    cosine, sine = table
    less = g.node("Sub", g.node("Mul", x1, cosine), g.node("Mul", sine, x2))
    return less, g.node("Add", g.node("Mul", x1, sine), g.node("Mul", x2, cosine))


def rotary_products(g):
    """The halves are rotated one by one; a part of each row is not (Phi)."""
    x = g.node("Relu", g.input("x", N, HEADS, ROWS, 2 * SIZE))
    turning, rest = cut(g, x, 0, SIZE), cut(g, x, SIZE, 2 ** 63 - 1)
    x1, x2 = cut(g, turning, 0, SIZE // 2), cut(g, turning, SIZE // 2, SIZE)
    y = g.node("Concat", *products(g, x1, x2, tables(g, SIZE // 2)), axis=-1)
    g.output(g.node("Concat", y, rest, axis=-1))
    return [("Rotary", 1, "copy:u8,u8:b", 0, rotary())]


def rotary_products_interleaved(g):
    x = g.node("Relu", g.input("x", N, HEADS, ROWS, SIZE))
    x1, x2 = cut(g, x, 0, SIZE, 2), cut(g, x, 1, SIZE, 2)
    pairs = [g.node("Unsqueeze", y, g.ints(-1)) for y in products(g, x1, x2, tables(g, SIZE // 2))]
    g.output(g.node("Reshape", g.node("Concat", *pairs, axis=-1), g.ints(N, HEADS, ROWS, SIZE)))
    return [("Rotary", 1, "copy:u8,u8:b", 0, rotary(interleaved=True))]


def rotary_operator(g):
    """RotaryEmbedding as one operator (GenAI builder) is no group; it reads its columns of the join."""
    q, k = projections(g, g.input("x", N, ROWS, WIDTH), [WIDTH] * 2)
    positions = g.const(np.tile(np.arange(ROWS), (N, 1)), "int64")
    for y in (q, k):
        reads = [y, positions, weight(g, ROWS, SIZE // 2), weight(g, ROWS, SIZE // 2)]
        g.nodes.append(helper.make_node("RotaryEmbedding", reads, [y + "r"], name=y + "r",
                                        domain="com.microsoft", num_heads=HEADS))
        g.output(y + "r")
    return [("MatMul x2", 1, f"n{2 * WIDTH}k{WIDTH}", 0, joined([False] * 2))]


def norm(g, x, centred, width=WIDTH):
    if centred:
        x = g.node("Sub", x, g.node("ReduceMean", x, g.ints(-1), keepdims=1))
    square = g.node("Pow", x, g.const(2.0))
    root = g.node("Sqrt", g.node("Add", g.node("ReduceMean", square, g.ints(-1), keepdims=1), g.const(1e-5)))
    y = g.node("Div", x, root) if centred else g.node("Mul", x, g.node("Reciprocal", root))
    return g.node("Mul", y, weight(g, width))


def llama_block(g):
    """A whole block, with its RMS normalizations in parts."""
    x = g.node("Relu", g.input("x", N, ROWS, WIDTH))
    q, k, v = projections(g, norm(g, x, False), [WIDTH, WIDTH, WIDTH])
    table = tables(g, SIZE)
    q, k = (embed(g, heads(g, y), table, turned_rows) for y in (q, k))
    attend(g, q, k, heads(g, v))
    y = g.node("MatMul", g.outputs.pop().name, weight(g, WIDTH, WIDTH))
    h = norm(g, g.node("Add", x, y), False)
    swiglu_parts(g, h, lambda gate: g.node("Mul", gate, g.node("Sigmoid", gate)))
    return [("MatMul x3", 1, f"n{3 * WIDTH}", 0, joined([False] * 3)), ("RMSNorm", 2, "rmsnorm:", 0, rms),
            ("Rotary", 2, "copy:", 0, rotary()), ("Attention", 1, "attention:", 0, attention()),
            ("MatMul x2", 1, f"n{6 * WIDTH}", 0, joined([False] * 2)),
            ("SiLU+Mul", 1, "+mul:f32", 0, gated(silu))]


def layer_norm_parts(g):
    x = g.node("Relu", g.input("x", N, ROWS, WIDTH))
    y = g.node("Add", norm(g, x, True), weight(g, WIDTH))
    g.output(g.node("Softmax", y))
    return [("LayerNorm", 1, "layernorm:", 0, layer_norm)]


def rms_casts(g):
    """Gemma in half precision: the whole normalization in f32, cast back behind the weights."""
    x = g.node("Cast", g.node("Relu", g.input("x", N, ROWS, WIDTH)), to=TensorProto.FLOAT16)
    y = norm(g, g.node("Cast", x, to=TensorProto.FLOAT), False)
    g.output(g.node("Softmax", g.node("Cast", y, to=TensorProto.FLOAT16), axis=-1), TensorProto.FLOAT16)

    def form(x, weights):
        return [y.astype(np.float16) for y in rms(x.astype(np.float32), weights)]
    return [("RMSNorm", 1, "rmsnorm:f16,f16:", 0, form)]


# block -> a pattern of problems that cannot be measured, or ""
BLOCKS = {block: "" for block in (
    bert, grouped_queries, scaled_dot_product, attention_operator, hidden_where, causal_constant,
    causal_operator, whisper, linear_2d,
    present, query_norm, query_norm_parts, swiglu, swiglu_split, geglu, geglu_parts, rotary_rows,
    rotary_casts, rotary_split, rotary_interleaved, rotary_products, rotary_products_interleaved,
    gate_alone, rotary_operator, llama_block, layer_norm_parts, rms_casts)}
BLOCKS[swiglu_epilogue] = f"*n{6 * WIDTH}k*"
BLOCKS[gate_alone] = "*:tanh:*+mul:*"


# ---- groups and their values

def groups_of(path, folder, refused):
    """pattern -> [(layers, problem, copy)] of the chosen groups."""
    config = folder / "word.yaml"
    words = ROOT / "tests" / "lib" / "word_runner.sh"
    config.write_text(f'device: word\nrunners:\n  word: [sh, "{words}", "Word 1", words, "1", "{refused}"]\n')
    said("bench", "-q", "--json", "-c", config, "-w", "fusion", path, home=folder)
    layers = said("bound", "--json", "-q", "-c", config, "-w", "fusion", path, home=folder)["layers"]
    found = {}
    for first in layers:
        if "pattern" in first:
            names = [layer["name"] for layer in layers if layer.get("fused_into") == first["index"]]
            found.setdefault(first["pattern"], []).append((names, first["problem"], first.get("copy")))
    return found


def values_of(path):
    """All values of the model, computed by ONNX Runtime with random inputs."""
    model = onnx.load(path)
    known = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.input}
    inputs = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    made = [name for node in model.graph.node for name in node.output]
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in made)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return known | inputs | dict(zip(made, session.run(made, inputs)))


def borders(model, names):
    """The values that a group reads, first readers first, and those that others read of it."""
    inside = [node for node in model.graph.node if node.name in names]
    made = {name for node in inside for name in node.output}
    read = {name for node in model.graph.node if node not in inside for name in node.input}
    read |= {value.name for value in model.graph.output}
    comes_in = dict.fromkeys(name for node in inside for name in node.input if name not in made)
    return list(comes_in), [name for node in inside for name in node.output if name in read]


def operands_of(names, values):
    """Tensors of floats with more than one element, and masks; the rest are scales, axes and shapes."""
    return [values[name] for name in names
            if values[name].size > 1 and values[name].dtype in (np.float32, np.float16, np.bool_)]


def wrong_group(path, values, group, problem, copied, form):
    names, found, copy = group
    if problem not in found:
        yield f"measured as {found}, not {problem}"
    if copy != (f"copy:u8,u8:b{copied}" if copied else None):
        yield f"copies {copy}, not {copied} bytes"
    reads, makes = borders(onnx.load(path), names)
    expected = form(*operands_of(reads, values))
    if len(expected) != len(makes):
        yield f"{len(makes)} values are read of the group, not {len(expected)}: {makes}"
    for name, value in zip(makes, expected):
        relative = 2e-3 if values[name].dtype == np.float16 else 1e-4
        if values[name].shape != value.shape or not np.allclose(values[name], value, relative, 1e-5):
            yield f"{name} differs by {np.abs(values[name] - value).max()}"


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        for block in wanted([*BLOCKS], lambda f: f.__name__):
            @tap.test(f"{block.__name__}: {(block.__doc__ or 'as above').splitlines()[0]}")
            def _(block=block):
                folder = pathlib.Path(work) / block.__name__
                folder.mkdir()
                path, g = folder / "model.onnx", Graph()
                expected = block(g)
                g.save(path, 23 if block in (attention_operator, causal_operator) else 20)
                found, values = groups_of(path, folder, BLOCKS[block]), values_of(path)
                for pattern, count, problem, copied, form in expected:
                    these = found.get(pattern, [])
                    if len(these) != count:
                        yield f"{len(these)} groups {pattern}, not {count}: {sorted(found)}"
                    for group in these:
                        for line in wrong_group(path, values, group, problem, copied, form):
                            yield f"{pattern}: {line}"
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

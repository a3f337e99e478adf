#!/usr/bin/env python3
"""Check models in forms that users bring: shapes against what ONNX Runtime makes, and what is said.

Constants in other files, batches that the file fixes, functions with the names of operators, inputs and
attributes of new versions, names of dimensions, windows wider than their inputs. Each row is a model as
text; the tables have the options for benanza, sizes for ONNX Runtime, and what the warnings must say. What is
known must be what ONNX Runtime makes; unknown is allowed only where a row says so. Prints TAP.

    BENANZA=build/benanza tests/ort/brought.py [NAME...]
"""

import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, need, program, said  # noqa: E402
need("onnxruntime", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnx.parser  # noqa: E402
from onnx import numpy_helper  # noqa: E402
from ort_common import real_inputs, session  # noqa: E402

TYPES = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.INT64: np.int64,
         onnx.TensorProto.INT32: np.int32, onnx.TensorProto.BOOL: np.bool_}


def models(text):
    """Rows by name: a line with the name, then the model's text, indented."""
    rows = {}
    for line in text.strip().splitlines():
        if line[0] != " ":
            name = line
        rows[name] = rows[name] + line if name in rows else ""
    return rows


def filled(m):
    """{0} as contents of a larger tensor stands for zeros."""
    for t in m.graph.initializer:
        zeros = np.zeros(t.dims, onnx.helper.tensor_dtype_to_np_dtype(t.data_type))
        if zeros.size != 1 and len(t.float_data) == 1:
            t.CopyFrom(numpy_helper.from_array(zeros, t.name))


def model(text, opset=21):
    """A model of opset 21 and of com.microsoft 1. The text may end in functions."""
    head = f'<ir_version: 10, opset_import: ["" : {opset}, "com.microsoft" : 1, "mine" : 1]>\n'
    made = onnx.parser.parse_model(head + text)
    filled(made)
    return made


def fed(m, sizes, values):
    """Random inputs with these sizes of symbols; integers are 1 unless given."""
    feeds, random = {}, np.random.default_rng(0)
    for v in real_inputs(m.graph):
        kind = TYPES[v.type.tensor_type.elem_type]
        shape = [sizes[d.dim_param] if d.dim_param else d.dim_value for d in v.type.tensor_type.shape.dim]
        made = random.random(shape).astype(np.float32) if kind == np.float32 else np.ones(shape, kind)
        feeds[v.name] = np.full(shape, values[v.name], kind) if v.name in values else made
    return feeds


def shapes_of_runtime(m, sizes, values):
    got = session(m).run(None, fed(m, sizes, values))
    return {v.name: list(a.shape) for v, a in zip(m.graph.output, got)}


def shapes_of_benanza(document, m):
    names = {v.name for v in m.graph.output}
    outputs = (o for layer in document["layers"] for o in layer["outputs"])
    return {o["name"]: o["shape"] for o in outputs if o["name"] in names}


def differences(wanted, got, unknown):
    for name, shape in wanted.items():
        mine = got.get(name)
        if mine != shape and name not in unknown:
            yield f"{name}: {mine}, ONNX Runtime makes {shape}"


def check(tap, name, text, options=(), sizes=None, values=None, says=(), unknown=(), opset=21, save=None):
    """says: parts of warnings: each must be there, and no others. save: writes the model to a path; else it
    is saved whole."""
    m = model(text, opset)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{name}.onnx"
        wanted = shapes_of_runtime(m, sizes or {}, values or {})
        (save or onnx.save)(m, path)
        document = said("layers", "--json", path, *options)
    warnings = document["warnings"]
    wrong = list(differences(wanted, shapes_of_benanza(document, m), unknown))
    wrong += [f"no warning says {part!r}" for part in says if not any(part in w for w in warnings)]
    wrong += [f"warning: {w}" for w in warnings if not any(part in w for part in says)]
    tap.result(f"{name}: {wanted}", wrong)
    return document


# ---- constants in other files

def tensors(nodes):
    for node in nodes:
        for a in node.attribute:
            if a.HasField("t"):
                yield a.t
            if a.HasField("g"):
                yield from a.g.initializer
                yield from tensors(a.g.node)


def outside(m, path):
    """Everything in another file, as some tools write it (ONNX Runtime refuses some of these)."""
    content = bytearray()
    nodes = [*m.graph.node, *(node for f in m.functions for node in f.node)]
    for t in [*m.graph.initializer, *tensors(nodes)]:
        raw = numpy_helper.from_array(numpy_helper.to_array(t)).raw_data
        kept = onnx.TensorProto(name=t.name, dims=t.dims, data_type=t.data_type, data_location=t.EXTERNAL)
        for key, value in (("location", "data.bin"), ("offset", len(content)), ("length", len(raw))):
            kept.external_data.add(key=key, value=str(value))
        t.CopyFrom(kept)
        content += raw
    (path.parent / "data.bin").write_bytes(content)
    path.write_bytes(m.SerializeToString())


EXTERNAL = models("""
reshape
  g (float[6,4] x) => (float[] y) <int64[3] s = {2,3,4}> { y = Reshape(x, s) }
reshape_copies
  g (float[6,4] x) => (float[] y) <int64[3] s = {0,-1,2}> { y = Reshape(x, s) }
constant_node
  g (float[6,4] x) => (float[] y) { s = Constant<value = int64[2] {8,3}>() y = Reshape(x, s) }
slice
  g (float[6,8] x) => (float[] y) <int64[1] a = {2}, int64[1] e = {7}, int64[1] d = {1}, int64[1] t
    = {2}>{ y = Slice(x, a, e, d, t) }
split
  g (float[2,9] x) => (float[] y, float[] z) <int64[2] s = {2,7}> { y, z = Split<axis=1>(x, s) }
pad
  g (float[2,3] x) => (float[] y) <int64[4] p = {0,1,2,0}> { y = Pad(x, p) }
resize
  g (float[1,3,4,4] x) => (float[] y) <float[4] s = {1,1,2,3}> { y = Resize<mode="nearest">(x, , s)
    }
topk
  g (float[2,9] x) => (float[] y, int64[] i) <int64[1] k = {4}> { y, i = TopK(x, k) }
tile
  g (float[2,3] x) => (float[] y) <int64[2] r = {3,2}> { y = Tile(x, r) }
expand
  g (float[2,1] x) => (float[] y) <int64[3] s = {4,1,5}> { y = Expand(x, s) }
reduce
  g (float[2,3,4] x) => (float[] y) <int64[2] a = {0,2}> { y = ReduceSum<keepdims=0>(x, a) }
squeeze
  g (float[2,1,4] x) => (float[] y) <int64[1] a = {1}> { y = Squeeze(x, a) }
range
  g (float[2,1] x) => (float[] y) <int64 a = {1}, int64 e = {8}, int64 d = {3}>{ r = Range(a, e, d)
    f = CastLike(r, x) y = Add(x, f) }
onehot
  g (int64[2,3] x) => (float[] y) <int64 d = {7}, float[2] v = {0,1}> { y = OneHot(x, d, v) }
computed
  g (float[2,3,4] x) => (float[] y) <int64[1] i = {1}, int64[1] m = {-1}>{ s = Shape(x) n =
    Gather(s, i) t = Concat<axis=0>(n, m) y = Reshape(x, t) }
cast
  g (float[6,4] x) => (float[] y) <int32[2] s = {3,8}> { t = Cast<to=7>(s) y = Reshape(x, t) }
branch
  g (float[6,4] x) => (float[] y) <bool c = {1}, int64[2] s = {3,8}> { y = If(c) <then_branch = a ()
    => (float[] p) { p = Reshape(x, s) }, else_branch = b () => (float[] q) { q = Neg(x) }> }
loop
  g (float[2,3] x) => (float[] y) <int64 n = {4}, bool c = {1}> { y = Loop(n, c) <body = b (int64 i,
    bool k) => (bool o, float[2,3] p) { o = Identity(k) p = Neg(x) }> }
function
  g (float[6,4] x) => (float[] y) { y = mine.cut(x) } <domain: "mine", opset_import: ["" : 21]> cut
    (a) => (b) { s = Constant<value = int64[2] {4,6}>() b = Reshape(a, s) }
""")


def test_external(tap, name, text):
    document = check(tap, f"external_{name}", text, save=outside)
    m = model(text)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.onnx"
        outside(m, path)
        (pathlib.Path(folder) / "data.bin").unlink()
        document = said("layers", "--json", path)
    part = 'there is no file "data.bin" beside the model: put it there'
    wrong = [] if any(part in w for w in document["warnings"]) else [f"warnings: {document['warnings']}"]
    wrong += [f"asks for {word}" for word in document.get("needs", [])]
    tap.result(f"external_{name}: without its file", wrong)


# ---- the batch that nobody gives

BATCH = models("""
reshape
  g (float[batch,6] x) => (float[] y) <int64[2] r = {4,-1}> { y = Reshape(x, r) }
reshape_image
  g (float[N,3,8,8] x) => (float[] y) <int64[3] r = {2,3,64}> { y = Reshape(x, r) }
initial_state
  g (float[batch,3,5] x) => (float[] y) <float[1,8,5] w = {0}, float[1,8,2] r = {0}, float[1,6,2] h = {0}>
  { t = Transpose<perm=[1,0,2]>(x) y = LSTM<hidden_size=2>(t, w, r, , , h, h) }
concatenated
  g (float[batch,6] x) => (float[] y) <float[3,2] c = {1,2,3,4,5,6}> { y = Concat<axis=1>(x, c) }
declared
  g (float[N,6] x) => (float[4,3] y) <float[6,3] w = {0}> { y = MatMul(x, w) }
window
  g (float[N,4] x) => (float[] y) <int64[1] a = {0}, float[3,4,3] w = {0}>
  { t = Transpose<perm=[1,0]>(x) u = Unsqueeze(t, a) y = Conv(u, w) }
top
  g (float[N,4] x) => (float[] y, int64[] i) <int64[1] k = {3}> { y, i = TopK<axis=0>(x, k) }
given
  g (float[batch,S] x) => (float[] y) <int64[2] r = {4,-1}> { y = Reshape(x, r) }
""")


def test_batch(tap):
    implied, left = "the batch is {}: the default of 1 does not fit", "the batch is not set: the default of 1"
    sizes = {"reshape": 4, "reshape_image": 2, "initial_state": 6, "concatenated": 3, "declared": 4}
    for name, size in sizes.items():
        symbol = "N" if "[N" in BATCH[name] else "batch"
        document = check(tap, f"batch_{name}", BATCH[name], sizes={symbol: size}, says=[implied.format(size)])
        tap.result(f"batch_{name}: {symbol} is {size}",
                   [] if document["dims"] == {symbol: size} else [document["dims"]])
        check(tap, f"batch_{name}_given", BATCH[name], ["-b", size], sizes={symbol: size})
    for name in ("window", "top"):
        document = check(tap, f"batch_{name}", BATCH[name], sizes={"N": 7}, says=[left], unknown="y i")
        needs = document["needs"]
        tap.result(f"batch_{name}: N is open", [] if needs == ["--dim N=VALUE"] else needs)
        check(tap, f"batch_{name}_given", BATCH[name], ["-b", 7], sizes={"N": 7})
    check(tap, "batch_given", BATCH["given"], ["--dim", "S=6"], sizes={"batch": 4, "S": 6},
          says=[implied.format(4)])


# ---- functions with the names of operators

FUNCTIONS = models("""
microsoft
  g (float[2,8] x) => (float[] z) { y = com.microsoft.Gelu(x) z = Neg(y) }
  <domain: "com.microsoft", opset_import: ["" : 21]> Gelu (a) => (b) { b = Concat<axis=1>(a, a) }
onnx
  g (float[2,8] x) => (float[] z) { z = Relu(x) }
  <domain: "", opset_import: ["" : 21]> Relu (a) => (b) { b = Concat<axis=1>(a, a) }
outputs
  g (float[2,3,8] x, float[2,3,8] k) => (float[] y, float[] v, float[] s) <float[8] g = {0}>
  { y, , v, s = com.microsoft.SkipSimplifiedLayerNormalization(x, k, g) }
  <domain: "com.microsoft", opset_import: ["" : 21]>
  SkipSimplifiedLayerNormalization (a, b, c) => (o, m, v, s)
  { s = Add(a, b) o = Mul(s, c) m = Constant<value_float=0.0>() v = Constant<value_float=0.0>() }
in_function
  g (float[2,8] x) => (float[] z) { z = mine.F(x) }
  <domain: "mine", opset_import: ["" : 21, "com.microsoft" : 1]> F (a) => (b) { b = com.microsoft.Gelu(a) }
  <domain: "com.microsoft", opset_import: ["" : 21]> Gelu (a) => (b) { b = Concat<axis=1>(a, a) }
other_domain
  g (float[2,8] x) => (float[] z) { z = mine.Gelu(x) }
  <domain: "mine", opset_import: ["" : 21]> Gelu (a) => (b) { b = Concat<axis=1>(a, a) }
other_name
  g (float[2,8] x) => (float[] z) { z = com.microsoft.Own(x) }
  <domain: "com.microsoft", opset_import: ["" : 21]> Own (a) => (b) { b = Concat<axis=1>(a, a) }
""")
EXPANDED = {"microsoft": ["Concat", "Neg"], "in_function": ["Concat"], "onnx": ["Concat"]}


def test_functions(tap):
    for name, text in FUNCTIONS.items():
        says = [] if name.startswith("other") else ["is not expanded: runtimes run their operator"]
        check(tap, f"function_{name}", text, says=says)
    for name, wanted in EXPANDED.items():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.onnx"
            onnx.save(model(FUNCTIONS[name]), path)
            document = said("layers", "--json", path, "--functions", "expand")
        ops = [layer["op"] for layer in document["layers"]]
        tap.result(f"function_{name}, expanded: {wanted}",
                   [] if ops == wanted and not document["warnings"] else [f"{ops} {document['warnings']}"])


# ---- windows wider than their input, names of dimensions

POOLS = [("MaxPool", [2, 2], [2, 2], 0, [2, 2, 1, 4]), ("AveragePool", [3, 3], [2, 2], 0, [2, 2, 1, 4]),
         ("AveragePool", [3, 3], [2, 2], 1, [2, 2, 1, 4]), ("LpPool", [7, 7], [3, 3], 0, [1, 1, 4, 9]),
         ("MaxPool", [7, 7], [3, 3], 1, [1, 1, 4, 9]), ("MaxPool", [4, 4], [4, 4], 0, [1, 2, 1, 2]),
         ("AveragePool", [5, 5], [3, 3], 1, [1, 2, 4, 4]), ("MaxPool", [3, 3], [1, 1], 0, [1, 1, 2, 8])]


def test_pools(tap):
    for i, (op, kernel, stride, up, shape) in enumerate(POOLS):
        text = f"g (float{shape} x) => (float[] y) {{ y = {op}<kernel_shape={kernel}, strides={stride}, " \
               f"ceil_mode={up}>(x) }}"
        check(tap, f"pool_{i}_{op}", text, opset=22)


NAMES = models("""
product
  g (float["2*n",4] x) => (float[] y) <int64[2] r = {-1,8}> { y = Reshape(x, r) }
both
  g (float["batch*8","2*n"] x) => (float[] y) <int64[3] r = {-1,8,2}> { y = Reshape(x, r) }
sum
  g (float["n+1",4] x) => (float["n+1",4] y, float[n,4] z)
  <int64[1] a = {0}, int64[1] b = {1}, int64[1] e = {99}>
  { y = Neg(x) z = Slice(x, b, e, a) }
quotient
  g (float[1,"floor(w/2)"] x, float[1,"w"] v) => (float[] y) { y = Concat<axis=1>(x, v) }
""")


def test_names(tap):
    check(tap, "names_product", NAMES["product"], ["--dim", "n=6"], {"2*n": 12})
    check(tap, "names_both", NAMES["both"], ["--dim", "batch=2", "--dim", "n=3"], {"batch*8": 16, "2*n": 6})
    whole = {"batch*8": 16, "2*n": 6}
    check(tap, "names_whole", NAMES["both"], ["--dim", "batch*8=16", "--dim", "2*n=6"], whole)
    check(tap, "names_sum", NAMES["sum"], ["--dim", "n=5"], {"n+1": 6})
    check(tap, "names_quotient", NAMES["quotient"], ["--dim", "w=9"], {"floor(w/2)": 4, "w": 9})


# ---- branches within branches

def nested(depth):
    text = "o0 = Neg(x)"
    for i in range(depth):
        text = f"o{i + 1} = If(c) <then_branch = t () => (float[] o{i}) {{ {text} }}, " \
               f"else_branch = e () => (float[] e{i}) {{ e{i} = Abs(x) }}>"
    return f"g (float[2,3] x, bool c) => (float[] o{depth}) {{ {text} }}"


def test_nested(tap):
    for depth in (15, 18, 32):
        check(tap, f"nested_{depth}", nested(depth))


# ---- what ONNX Runtime refuses

REFUSED = models("""
split_neither
  g (float[10,3] x) => (float[] a, float[] b) { a, b = Split<axis=0>(x) }
split_both
  g (float[10,3] x) => (float[] a, float[] b) <int64[2] s = {5,5}>
  { a, b = Split<axis=0, num_outputs=2>(x, s) }
resize_both
  g (float[1,3,16,16] x) => (float[] y) <float[4] s = {1,1,2,2}, int64[4] z = {1,3,40,24}>
  { y = Resize<mode="nearest">(x, , s, z) }
named_twice
  g (float[2,3] x) => (float[] y) { [same] a = Neg(x) [same] y = Abs(a) }
""")


def test_refused(tap):
    for name, text in REFUSED.items():
        m, wrong = model(text), []
        try:
            shapes_of_runtime(m, {}, {})
            wrong.append("ONNX Runtime runs it")
        except Exception:  # whatever the runtime throws
            pass
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.onnx"
            onnx.save(m, path)
            warnings = said("layers", "--json", path)["warnings"]
        if len(warnings) != 1 or "ONNX Runtime refuses the model" not in warnings[0]:
            wrong.append(f"warnings: {warnings}")
        tap.result(f"refused_{name}", wrong)


def main():
    program()
    tap = Tap()
    wanted = sys.argv[1:]
    for name, text in EXTERNAL.items():
        if not wanted or name in wanted:
            test_external(tap, name, text)
    for name, test in {"batch": test_batch, "functions": test_functions, "pools": test_pools,
                       "names": test_names, "nested": test_nested,
                       "refused": test_refused}.items():
        if not wanted or name in wanted:
            test(tap)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Variants of models in forms that users bring: shapes and FLOPs by hand, what is said and refused.

Each row is a model as text (onnx.parser), sometimes changed by a function, options, and what must come out:
"y=2x3" the shape of a value, "flops=12" of all layers, "asks=x,k" options that are proposed, "says TEXT" a
warning has it, "refused TEXT" exit status 2 and an error with it. A model without "says" has no warning.
Shapes that the onnx package infers must be the same. Prints TAP.

    BENANZA=build/benanza tests/onnx/onnx_variants.py [NAME...]
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import python_tap  # noqa: E402
python_tap.need("onnx")
import json  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnx.parser  # noqa: E402
import onnx.shape_inference  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

ROWS = {}


def row(name, text, wanted, options="", opset=21, change=None, own=False):
    """change(model, folder): edits it before it is saved. own: onnx's inference is not asked."""
    ROWS[name] = (text, wanted, options.split(), opset, change, own)


# ---- constants in other files: location, offset and length as other tools write them

def external(name, location="data.bin", content=None, size=None, **keys):
    """Moves an initializer to a file; size: its bytes in the file."""

    def change(model, folder):
        tensor = next(t for t in model.graph.initializer if t.name == name)
        raw = numpy_helper.from_array(numpy_helper.to_array(tensor)).raw_data
        kept = TensorProto(name=name, dims=tensor.dims, data_type=tensor.data_type,
                           data_location=TensorProto.EXTERNAL)
        for key, value in (("location", location), *keys.items()):
            kept.external_data.add(key=key, value=str(value))
        tensor.CopyFrom(kept)
        path = folder / location
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((b"\1" * int(keys.get("offset", 0)) + raw)[:size])
    return change


RESHAPE = "g (float[6,4] x) => (float[] y) <int64[2] s = {3,8}> { y = Reshape(x, s) }"
row("external_offset", RESHAPE, "y=3x8", change=external("s", offset=4096, length=16), own=True)
row("external_no_length", RESHAPE, "y=3x8", change=external("s", offset=16), own=True)
row("external_folder", RESHAPE, "y=3x8", change=external("s", "sub/a b.bin"), own=True)
row("external_above", RESHAPE, "y=?x? says s", change=external("s", "../outside.bin"), own=True)
row("external_short", RESHAPE, "y=?x? says s", change=external("s", size=9), own=True)


def linked(model, folder):
    external("s")(model, folder)
    outside = folder.parent / "secret.bin"
    os.replace(folder / "data.bin", outside)
    (folder / "data.bin").symlink_to(outside)


row("external_link", RESHAPE, "y=?x? says s", change=linked, own=True)


TABLE = """g (float[6,4] x) => (float[] y) <int64[1] t = {0}, int64 i = {5}, int64[1] a = {0},
  int64[1] k = {-1}> { d = Gather(t, i) e = Unsqueeze(d, a) f = Concat<axis=0>(e, k) y = Reshape(x, f) }"""


def table(count, outside):
    """A constant of so many numbers, in another file or not."""

    def change(model, folder):
        model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.arange(count) - 2, "t"))
        if outside:
            external("t")(model, folder)
    return change


for count, says in (512, ""), (513, " says needs the 513 numbers of constant \"t\""):
    for outside in False, True:
        row(f"{'external' if outside else 'constant'}_{count}", TABLE, ("y=?x?" if says else "y=3x8") + says,
            change=table(count, outside), own=True)
row("external_condition", "g (float[6,4] x) => (float[] y) <bool c = {0}> { y = If(c) <then_branch = a () "
    "=> (float[] p) { p = Neg(x) }, else_branch = b () => (float[] q) { q = Transpose(x) }> }",
    "y=4x6", change=external("c"), own=True)
row("external_trilu", "g (float[n,n] x) => (float[] y) <int64[1] a = {-1}, int64 i = {0}> "
    "{ s = Shape(x) d = Gather(s, i) e = Unsqueeze(d, a) f = Concat<axis=0>(e, a) y = Reshape(x, f) }",
    "y=7x7", "--dim n=7", change=external("a"), own=True)

# ---- the batch that nobody gives; what is given is never dropped

row("batch_split", "g (float[batch,6] x) => (float[] y, float[] z) <int64[2] s = {3,5}> "
    "{ y, z = Split<axis=0>(x, s) }", "y=3x6 z=5x6 says batch is 8")
row("batch_given_contradicts", "g (float[batch,6] x) => (float[] y) <int64[2] r = {4,-1}> "
    "{ y = Reshape(x, r) }", "refused Reshape_0", "-b 3")
row("batch_is_inner", "g (float[N,6] x) => (float[] y) <float[5,8] w = {0}> { y = MatMul(w, x) }",
    "y=5x6 flops=480 says batch is 8")
row("batch_of_two_inputs", "g (float[N,6] x, float[4,2] k) => (float[] y) { y = Concat<axis=1>(x, k) }",
    "y=4x8 says batch is 4")
row("batch_split_attribute", "g (float[batch,6] x) => (float[] y, float[] z) "
    "{ y, z = Split<axis=0, split=[3,5]>(x) }", "y=3x6 z=5x6 says batch is 8", opset=11)
row("batch_of_the_file", "g (float[6,4] x) => (float[] y) <int64[2] s = {5,-1}> { y = Reshape(x, s) }",
    "refused Reshape: the elements of 6x4 do not divide into 5x?")
row("batch_fits", "g (float[batch,6] x) => (float[] y) <float[1,6] c = {0}> { y = Concat<axis=0>(x, c) }",
    "y=2x6")

# ---- functions with known names

FALLBACK = """g (float[2,8] x) => (float[] y) {{ y = {0}(x) }}
  <domain: "{1}", opset_import: ["" : {2}]> {3} (a) => (b) {{ b = Concat<axis=1>(a, a) }}"""
row("function_before_its_operator", FALLBACK.format("Gelu", "", 17, "Gelu"), "y=2x16", opset=17, own=True)
row("function_of_this_opset", FALLBACK.format("Gelu", "", 20, "Gelu"), "y=2x8 says not expanded", opset=20,
    own=True)
row("function_named_ai_onnx", FALLBACK.format("Gelu", "ai.onnx", 20, "Gelu"), "y=2x8 says not expanded",
    opset=20, own=True)
row("function_in_function", """g (float[2,8] x) => (float[] y) { y = mine.A<k=3>(x) }
  <domain: "mine", opset_import: ["" : 21, "mine" : 1]> A <k> (a) => (b)
  { c = mine.B<n: int = @k>(a) b = Neg(c) }
  <domain: "mine", opset_import: ["" : 21]> B <n> (a) => (b)
  { i = Constant<value_int: int = @n>() j = Constant<value_int=1>() s = Constant<value_ints=[-1]>()
    r = Unsqueeze(i, s) o = Unsqueeze(j, s) t = Concat<axis=0>(o, r) b = Tile(a, t) }""",
    "y=2x24 flops=48", own=True)
row("function_of_itself", """g (float[2,8] x) => (float[] y) { y = mine.A(x) }
  <domain: "mine", opset_import: ["" : 21, "mine" : 1]> A (a) => (b) { b = mine.A(a) }""", "refused A",
    own=True)
row("function_in_branch", """g (float[2,8] x, bool c) => (float[] y) { y = If(c) <then_branch = t () =>
  (float[] p) { p = mine.A(x) }, else_branch = e () => (float[] q) { q = mine.A(x) }> }
  <domain: "mine", opset_import: ["" : 21]> A (a) => (b) { b = Concat<axis=0>(a, a, a) }""",
    "y=6x8", own=True)

# ---- more inputs than known, versions of long ago and to come


def with_inputs(count):
    def change(model, _):
        model.graph.node[0].input.extend(["x"] * count)
    return change


row("inputs_of_relu", "g (float[2,8] x) => (float[] y) { y = Relu(x) }", "y=2x8 flops=16 says 2 more inputs",
    change=with_inputs(2), own=True)
row("inputs_of_gelu", "g (float[2,8] x) => (float[] y) { y = com.microsoft.FastGelu(x) }",
    "y=2x8 says 3 more inputs", change=with_inputs(4), own=True)


def versions(*pairs):
    def change(model, _):
        del model.opset_import[:]
        model.opset_import.extend(helper.make_opsetid(*pair) for pair in pairs)
    return change


row("opset_1", "g (float[6,4] x) => (float[] y) { y = Reshape<shape=[2,-1]>(x) }", "y=2x12", opset=1)
row("opset_none", "g (float[6,4] x) => (float[] y) { y = Neg(x) }", "y=6x4 says operator set",
    change=versions(), own=True)
row("opset_999", "g (float[6,4] x) => (float[] y) { y = Relu(x) }", "y=6x4 flops=24 says 999",
    change=versions(("", 999)), own=True)
row("opset_twice", "g (float[6,4] x) => (float[] y) <int64[1] a = {0}> { y = ReduceSum<keepdims=0>(x, a) }",
    "y=4", change=versions(("ai.onnx", 13), ("", 13)), own=True)
row("opset_missing_domain", "g (float[2,8] x) => (float[] y) { y = com.microsoft.Gelu(x) }",
    "y=2x8 flops=16 says not given, 1 is assumed",
    change=versions(("", 21)), own=True)



def of_no_function(model, _):
    model.graph.node[0].attribute.add(name="axis", ref_attr_name="k", type=onnx.AttributeProto.INT)


row("attribute_of_no_function", "g (float[2,3] x) => (float[] y) { y = Softmax(x) }",
    "y=? asks=nothing says refers to attribute", change=of_no_function, own=True)
row("asked_of_slice", "g (float[6,4] x, int64[1] a, int64[1] e, int64[1] d, int64[1] k) => (float[] y, "
    "int64[] z) { y = Slice(x, a, e, d) z = Neg(k) }", "z=1 asks=a,e,d", own=True)
row("asked_of_tile", "g (float[6,4] x, int64[2] r, int64[2] k) => (float[] y) "
    "{ s = Add(r, k) y = Tile(x, s) }", "y=?x? asks=r,k", own=True)

# ---- no elements

row("zero_matmul", "g (float[2,0] x, float[0,3] w) => (float[] y) { y = MatMul(x, w) }",
    "y=2x3 flops=0 says dimension of 0")
row("zero_conv", "g (float[0,3,8,8] x) => (float[] y) <float[4,3,3,3] w = {0}> { y = Conv(x, w) }",
    "y=1x4x6x6 flops=7776", own=True)  # as -1: the batch
row("zero_slice", "g (float[4,8] x) => (float[] y, float[] z) <int64[1] a = {6}, int64[1] e = {2}, int64[1] "
    "d = {1}> { y = Slice(x, a, e, d) z = Concat<axis=1>(y, x) }", "y=4x0 z=4x8")
row("zero_reduce", "g (float[4,0] x) => (float[] y) <int64[1] a = {1}> { y = ReduceSum(x, a) }",
    "y=4x1 says dimension of 0")
row("zero_reshape", "g (float[4,0] x) => (float[] y) <int64[2] s = {0,7}> { y = Reshape<allowzero=1>(x, s) }",
    "y=0x7 says dimension of 0")
row("zero_topk", "g (float[4,9] x) => (float[] y, int64[] i) <int64[1] k = {0}> { y, i = TopK(x, k) }",
    "y=4x0 i=4x0")
row("zero_range", "g (float[4] x) => (int64[] y) <int64 a = {5}, int64 e = {1}, int64 d = {1}> "
    "{ y = Range(a, e, d) }", "y=0")

# ---- optional inputs left out, in the middle too; unused outputs

row("optional_clip", "g (float[2,3] x) => (float[] y) <float h = {6}> { y = Clip(x, , h) }", "y=2x3 flops=6")
row("optional_slice_steps", "g (float[2,9] x) => (float[] y) <int64[2] a = {0,0}, int64[2] e = {2,9}, "
    "int64[2] d = {1,2}> { y = Slice(x, a, e, , d) }", "y=2x5")
row("optional_lstm", "g (float[5,2,3] x) => (float[] y, float[] h, float[] c) <float[1,16,3] w = {0}, "
    "float[1,16,4] r = {0}, float[1,2,4] s = {0}> { y, h, c = LSTM<hidden_size=4>(x, w, r, , , , s) }",
    "y=5x1x2x4 h=1x2x4 c=1x2x4")
row("optional_output", "g (float[4,9] x) => (int64[] i) <int64[1] k = {2}> { , i = TopK(x, k) }", "i=4x2")
row("optional_pad_axes", "g (float[2,3] x) => (float[] y) <int64[2] p = {1,2}, int64[1] a = {-1}> "
    "{ y = Pad(x, p, , a) }", "y=2x6")

# ---- one element: of rank 0 or 1

row("rank_gather", "g (float[5,4] x) => (float[] y, float[] z) <int64 i = {2}, int64[1] j = {2}> "
    "{ y = Gather(x, i) z = Gather(x, j) }", "y=4 z=1x4")
row("rank_unsqueeze", "g (float[5,4] x) => (float[] y) <int64 a = {-1}> { y = Unsqueeze(x, a) }", "y=5x4x1",
    own=True)
row("rank_topk", "g (float[5,4] x) => (float[] y, int64[] i) <int64 k = {3}> { y, i = TopK(x, k) }",
    "y=5x3 i=5x3", own=True)
row("rank_trips", "g (float[2,3] x) => (float[] y) <int64[1] n = {4}, bool[1] c = {1}> { y = Loop(n, c) "
    "<body = b (int64 i, bool k) => (bool o, float[2,3] p) { o = Identity(k) p = Neg(x) }> }", "y=4x2x3",
    own=True)
row("rank_onehot", "g (int64[5] x) => (float[] y) <int64[1] d = {7}, float[2] v = {0,1}> "
    "{ y = OneHot(x, d, v) }", "y=5x7")

# ---- sequences, optionals, strings

row("sequence_split", "g (float[6,4] x) => (float[] y, int64 n) <int64 s = {2}, int64 i = {-1}> "
    "{ q = SplitToSequence(x, s) n = SequenceLength(q) y = SequenceAt(q, i) }", "y=2x4 n=scalar")
row("sequence_join", "g (float[6,4] x) => (float[] y, float[] z) { q = SequenceConstruct(x, x, x) "
    "y = ConcatFromSequence<axis=1>(q) z = ConcatFromSequence<axis=0, new_axis=1>(q) }", "y=6x12 z=3x6x4")
row("sequence_erase", "g (float[6,4] x, float[2] w) => (float[] y) <int64 i = {0}> "
    "{ q = SequenceConstruct(x, w) r = SequenceErase(q, i) y = SequenceAt(r, i) }", "y=2", own=True)
row("strings", 'g (string[3] x) => (int64[] y, string[] z) <string[1] s = {"a"}> '
    '{ y = ai.onnx.ml.LabelEncoder<keys_strings=["a","b"], values_int64s=[1,2]>(x) z = StringConcat(x, s) }',
    "y=3 z=3", own=True)

# ---- bodies that read outer values

row("captured_twice", """g (float[2,3] x, bool c) => (float[] y) <float[3,5] w = {0}>
  { y = If(c) <then_branch = a () => (float[] p) { p = If(c) <then_branch = d () => (float[] u)
    { u = MatMul(x, w) }, else_branch = e () => (float[] v) { v = MatMul(x, w) }> },
    else_branch = b () => (float[] q) { q = MatMul(x, w) }> }""", "y=2x5")
row("captured_in_scan", """g (float[7,3] x) => (float[] s, float[] y) <float[5] h = {0}, float[3,5] w = {0}>
  { s, y = Scan<num_scan_inputs=1, body = b (float[5] a, float[3] e) => (float[5] o, float[5] f)
    { m = MatMul(e, w) o = Add(a, m) f = Identity(o) }>(h, x) }""", "s=5 y=7x5 flops=245")
row("captured_output", """g (float[2,3] x, bool c) => (float[] y) { n = Neg(x) y = If(c)
  <then_branch = a () => (float[] p) { p = Identity(n) },
  else_branch = b () => (float[] q) { q = Abs(n) }> }""",
    "y=2x3")

# ---- names


def names(edit):
    return lambda model, _: edit(model.graph)


def same_output(graph):
    graph.node[1].output[0] = "a"


row("name_written_twice", "g (float[2,3] x) => (float[] a) { a = Neg(x) b = Abs(x) }", "refused a",
    change=names(same_output), own=True)
row("name_of_default", "g (float[2,3] x, float[3] w) => (float[] y) <float[3] w = {1,2,3}> { y = Add(x, w) }",
    "y=2x3 flops=6")
row("name_odd", 'g (float[2,3] x) => (float[] y) { y = Neg(x) }', "y?[31m=2x3 flops=6",
    change=names(lambda g: (g.node[0].output.__setitem__(0, "y\x1b[31m"),
                            setattr(g.output[0], "name", "y\x1b[31m"))), own=True)
row("name_undefined", "g (float[2,3] x) => (float[] y) { y = Add(x, nowhere) }", "refused nowhere", own=True)

# ---- domains

row("domain_ai_onnx", "g (float[2,3] x) => (float[] y) { y = ai.onnx.Neg(x) }", "y=2x3 flops=6",
    change=lambda m, _: setattr(m.graph.node[0], "domain", "ai.onnx"), own=True)
row("domain_unknown", "g (float[2,3] x) => (float[2,3] y, float[] z) { y = org.none.Neg(x) z = Abs(y) }",
    "z=2x3 says operator org.none.Neg of opset 1 is not known", own=True)
row("domain_nchwc", "g (float[1,16,8,8] x) => (float[] y) <float[32,16,3,3] w = {0}> "
    "{ y = com.microsoft.nchwc.Conv<kernel_shape=[3,3]>(x, w) }", "y=1x32x6x6 flops=331776", own=True)


# ---- the check

def filled(model):
    for tensor in model.graph.initializer:
        if len(tensor.float_data) == 1 and list(tensor.dims):
            zeros = np.zeros(tensor.dims, np.float32)
            tensor.CopyFrom(numpy_helper.from_array(zeros, tensor.name))


def made(text, opset):
    head = f'<ir_version: 10, opset_import: ["" : {opset}, "com.microsoft" : 1, "mine" : 1, ' \
           '"org.none" : 1, "ai.onnx.ml" : 4, "com.microsoft.nchwc" : 1]>\n'
    model = onnx.parser.parse_model(head + text)
    filled(model)
    return model


def text_of(shape):
    return "x".join(map(str, shape)) if shape else "scalar"


def inferred(model):
    """What the onnx package knows in full."""
    graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    for value in [*graph.value_info, *graph.output]:
        if value.type.tensor_type.HasField("shape"):
            dims = value.type.tensor_type.shape.dim
            if all(d.HasField("dim_value") for d in dims):
                yield value.name, text_of([d.dim_value for d in dims])


def check(name):
    text, wanted, options, opset, change, own = ROWS[name]
    model = made(text, opset)
    wanted, *says = wanted.split("says ", 1)
    wanted, *refused = wanted.split("refused ", 1)
    shapes = dict(one.rsplit("=", 1) for one in wanted.split())
    flops, asks = shapes.pop("flops", None), shapes.pop("asks", None)
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home) / "models"
        folder.mkdir()
        if not own and not options and not says:
            shapes = dict(inferred(model)) | shapes
        if change:
            change(model, folder)
        (folder / "m.onnx").write_bytes(model.SerializeToString())
        done = subprocess.run([python_tap.program(), "layers", "--constants", "--json", "m.onnx", *options],
                              cwd=folder, capture_output=True, text=True, timeout=python_tap.TIME_LIMIT_S,
                              env=python_tap.environment_at(home))
    if refused:
        if done.returncode != 2 or refused[0] not in done.stderr or done.stderr.count("\n") != 1:
            yield f"exit status {done.returncode}: {done.stderr}"
        return
    document = json.loads(python_tap.checked(done.stdout, done.returncode, done.stderr).splitlines()[-1])
    found = {o["name"]: o["shape"] for layer in document["layers"] for o in layer["outputs"]}
    for value, shape in shapes.items():
        got = found.get(value, "not there")
        got = "?" if got is None else got if isinstance(got, str) else text_of(
            ["?" if size is None else size for size in got])
        if got != shape:
            yield f"{value}: {got}, not {shape}"
    work = sum(layer["flops"] or 0 for layer in document["layers"])
    if flops and work != float(flops):
        yield f"{work} FLOP, not {flops}"
    asked = ",".join(word.split()[1].split("=")[0] for word in document.get("needs", [])) or "nothing"
    if asks and asked != asks:
        yield f"asks for {asked}, not {asks}"
    warnings = document["warnings"]
    if says and not any(says[0] in warning for warning in warnings):
        yield f"no warning says {says[0]}: {warnings}"
    if not says and warnings:
        yield f"warnings: {warnings}"


def main():
    python_tap.program()
    tap = python_tap.Tap()
    for name in python_tap.wanted(list(ROWS), str):
        try:
            wrong = list(check(name))
        except Exception as error:
            wrong = [f"{type(error).__name__}: {error}"]
        tap.result(name, wrong)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

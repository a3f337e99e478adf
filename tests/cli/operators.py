#!/usr/bin/env python3
"""Operators that the user describes: shapes, work and bounds of models with custom operators; wrong files."""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import python_tap  # noqa: E402

python_tap.need("onnx")
import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

tap = python_tap.Tap()
work = pathlib.Path(tempfile.mkdtemp())
home = work / "home"
home.mkdir()
RUNNER = python_tap.ROOT / "tests/lib/word_runner.sh"
(work / "config.yaml").write_text(f"device: word\nrunners:\n  word: [sh, '{RUNNER}', lex, words]\n")


def weight(name, *dims):
    return TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims,
                       raw_data=bytes(4 * math.prod(dims)))


def info(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(name, nodes, inputs, outputs, weights=(), values=()):
    path = work / f"{name}.onnx"
    graph = helper.make_graph(nodes, name, inputs, outputs, weights, value_info=values)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def node(op, inputs, outputs, domain="com.acme", **attributes):
    return helper.make_node(op, inputs, outputs, name=outputs[0], domain=domain, **attributes)


def run(*words, config=work / "config.yaml"):
    """Status, output and errors."""
    done = subprocess.run([python_tap.program(), *map(str, words), "-c", str(config)], text=True,
                          capture_output=True, timeout=python_tap.TIME_LIMIT_S,
                          env=python_tap.environment_at(home))
    return done.returncode, done.stdout, done.stderr


def read(*words, config=work / "config.yaml"):
    status, out, errors = run(*words, "--json", config=config)
    if status not in (0, 1):
        raise RuntimeError(f"{words}: {status}: {errors}")
    return json.loads(out.strip().splitlines()[-1])


def layers(path, *words, config=work / "config.yaml"):
    return {layer["name"]: layer for layer in read("layers", path, *words, config=config)["layers"]}


def differs(what, got, want):
    if got != want:
        yield f"{what}: {got}, not {want}"


# ---- three models

GATE = """\
operators:
  - name: GateUp
    domain: com.acme
    inputs: [x, w, bias?]
    outputs: "x[:-1] + [w[1] // 2]"
    flops: 2 * size(x) * w[1] + has(bias) * size(y0)
    kernel: matmul:{type(x)},{type(w)},{type(y0)}/f32:ba1bb1m{size(x[:-1])}n{w[1]}k{x[-1]}:ta0tb0
"""
gate = model("gate", [node("GateUp", ["x", "w"], ["h"]), node("GateUp", ["h", "v", "b"], ["y"])],
             [info("x", ["batch", 128, 256])], [info("y", ["batch", 128, 64])],
             [weight("w", 256, 1024), weight("v", 512, 128), weight("b", 64)])
(work / "gate.ops.yaml").write_text(GATE)

PATCH = """\
operators:
  - name: PatchPool   # cost: an expression of attributes; its kernel is similar work
    domain: com.acme
    attributes: { stride: 2, window: [3, 3], keep: 0.5 }
    outputs:
      - "x0[:2] + [ceil(x0[2] / stride), ceil(x0[3] / stride)]"
      - "[x0[0], floor(x0[1] * keep)]"
    types: [x0, s64]
    class: memory
    flops: size(y0) * window[0] * window[1]
    bytes: bytes(x0) + bytes(y0)
    proxy: "pool:{type(x0)},{type(y0)}:max:n{x0[0]}c{x0[1]}h{x0[2]}w{x0[3]}r{window[0]}s{window[1]}:\\
      ph1pw1qh1qw1:sh{stride}sw{stride}:dh1dw1"
  - name: Hash
    domain: com.acme
    outputs: "[x0[0]]"
    types: s32
    bytes: bytes(x0)
  - name: Rename
    domain: com.acme
    outputs: x0
    class: free
"""
patch = model("patch", [node("Rename", ["x"], ["n"]),
                        node("PatchPool", ["n"], ["p", "i"], stride=4, keep=0.25),
                        node("PatchPool", ["p"], ["q"]), node("Hash", ["q"], ["z"])],
              [info("x", ["batch", 8, 64, 64])], [info("z", None, TensorProto.INT32)])
(work / "patch.ops.yaml").write_text(PATCH)

TIMED = """\
operators:
  - { name: Sampler, domain: com.acme, outputs: "[x0[0]] + values(x1)", time: 40us, class: host }
  - { name: Sort, domain: com.acme, outputs: x0, time: 25 us }
  - { name: Fast, domain: com.acme, outputs: x0, kernel: "eltwise:{type(x0)},{type(y0)}:relu:{x0}", time: 2x }
"""
timed = model("timed", [node("Sampler", ["x", "n"], ["s"]), node("Sort", ["s"], ["t"]),
                        node("Fast", ["t"], ["u"]), node("Relu", ["u"], ["y"], domain="")],
              [info("x", ["batch", 16])], [info("y", None)],
              [helper.make_tensor("n", TensorProto.INT64, [2], [3, 5])])
(work / "timed.ops.yaml").write_text(TIMED)


@tap.test("a kernel: shapes, FLOPs, and the problem with the sizes of each layer")
def _():
    found = layers(gate, "-b", 2)
    yield from differs("h", found["h"]["outputs"][0]["shape"], [2, 128, 512])
    yield from differs("y", found["y"]["outputs"][0]["shape"], [2, 128, 64])
    yield from differs("FLOPs of h", found["h"]["flops"], 2 * 2 * 128 * 256 * 1024)
    yield from differs("FLOPs of y", found["y"]["flops"], 2 * 2 * 128 * 512 * 128 + 2 * 128 * 64)
    yield from differs("bytes of h", found["h"]["bytes"], 4 * (2 * 128 * 256 + 256 * 1024 + 2 * 128 * 512))
    yield from differs("problem of y", found["y"]["problem"],
                       "matmul:f32,f32.c,f32/f32:ba1bb1m256n128k512:ta0tb0")
    yield from differs("class", found["h"]["class"], "compute")
    yield from differs("place", found["h"]["described"], f"{work}/gate.ops.yaml:2")
    found = layers(gate, "-t", "bf16")
    yield from differs("problem in bf16", found["h"]["problem"],
                       "matmul:bf16,bf16.c,bf16/f32:ba1bb1m128n1024k256:ta0tb0")


@tap.test("attributes and their defaults, types, fractions, similar work, and none")
def _():
    found = layers(patch)
    yield from differs("p", found["p"]["outputs"][0]["shape"], [1, 8, 16, 16])
    yield from differs("i", [found["p"]["outputs"][1][k] for k in ("shape", "dtype")], [[1, 2], "s64"])
    yield from differs("q", found["q"]["outputs"][0]["shape"], [1, 8, 8, 8])
    yield from differs("z", [found["z"]["outputs"][0][k] for k in ("shape", "dtype")], [[1], "s32"])
    yield from differs("FLOPs of p", found["p"]["flops"], 8 * 16 * 16 * 9)
    yield from differs("bytes of p", found["p"]["bytes"], 4 * 8 * (64 * 64 + 16 * 16))
    yield from differs("problem of q", [found["q"][k] for k in ("problem", "proxy")],
                       ["pool:f32,f32:max:n1c8h16w16r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1", True])
    yield from differs("z is a copy", [found["z"][k] for k in ("problem", "proxy", "flops", "bytes")],
                       [f"copy:u8,u8:b{4 * 8 * 8 * 8 // 2}", True, None, 4 * 8 * 8 * 8])
    yield from differs("n is free", [found["n"][k] for k in ("class", "problem", "flops")], ["free", None, 0])


@tap.test("a size that is not bound stays a symbol, and nothing of it is zero")
def _():
    path = model("open", [node("GateUp", ["x", "w"], ["y"])], [info("x", [2, "tokens", 256])],
                 [info("y", None)], [weight("w", 256, 1024)])
    (work / "open.ops.yaml").write_text(GATE)
    found = layers(path)["y"]
    yield from differs("y", found["outputs"][0]["shape"], [2, "tokens", 512])
    yield from differs("unknown", [found[k] for k in ("flops", "bytes", "problem")], [None] * 3)
    yield from differs("why", found["why"], "tokens is not bound: give --dim tokens=VALUE")


@tap.test("bounds: measured as the kernel, by proxy, as a copy, free")
def _():
    for path in gate, patch:
        status, _, errors = run("bench", path)
        if status:
            yield f"bench: {status}: {errors}"
        found, bound = layers(path), read("bound", path)
        for layer in bound["layers"]:
            one = found[layer["name"]]
            want = ("free", 0) if one["class"] == "free" else (
                "proxy" if one["proxy"] else "measured", 1000 * len(one["problem"]))
            yield from differs(layer["name"], (layer["origin"], layer["cost_ns"]), want)
        yield from differs("complete", bound["complete"], True)


@tap.test("times: given as --assume does, which overrides them; a factor of the kernel's time")
def _():
    run("bench", timed)
    found = layers(timed)
    yield from differs("contents of an input", found["s"]["outputs"][0]["shape"], [1, 3, 5])
    costs = {one["name"]: (one["origin"], one["cost_ns"]) for one in read("bound", timed)["layers"]}
    relu = 1000 * len(found["u"]["problem"])
    want = {"s": ("assumed", 40000), "t": ("assumed", 25000), "u": ("assumed", relu / 2),
            "y": ("measured", relu)}
    yield from differs("costs", costs, want)
    costs = {one["name"]: one["cost_ns"] for one in read("bound", timed, "--assume", "t=1us")["layers"]}
    yield from differs("--assume", costs["t"], 1000)
    bound = read("bound", timed, "-w", "assume=off")
    yield from differs("without times", [bound["complete"], bound["coverage"]["missing"]], [False, 2])


@tap.test("reports and the explorer say where an operator is described")
def _():
    place = f"{work}/gate.ops.yaml:2"
    for words in ["layers"], ["bound"]:
        _, out, _ = run(*words, gate)
        if f"operators: GateUp ({place}, 2 layers)" not in out:
            yield f"{words}: {out}"
    if place not in run("report", gate)[1]:
        yield "the report does not"
    _, out, _ = run(gate, "--frame", "160x40", "--view", "detail")
    if f"operator {place}" not in " ".join(out.split()):
        yield out


@tap.test("a shape that the file declares otherwise is a warning; a rank that it leaves open is known")
def _():
    path = model("wrong", [node("GateUp", ["x", "w"], ["h"]), node("Relu", ["h"], ["y"], domain="")],
                 [info("x", [1, 8, 256])], [info("y", None)], [weight("w", 256, 1024)],
                 [info("h", [1, 8, 500])])
    (work / "wrong.ops.yaml").write_text(GATE)
    found = read("layers", path)
    yield from differs("warnings", found["warnings"],
                       ["value h: the file declares shape 1x8x500, its operators give 1x8x512"])


@tap.test("operators of the configuration; those beside the model come first; a built-in one is overridden")
def _():
    config = work / "more.yaml"
    text = (work / "config.yaml").read_text()
    config.write_text(text + GATE.replace("// 2", "// 4"))
    alone = model("alone", [node("GateUp", ["x", "w"], ["y"])], [info("x", [1, 8, 256])], [info("y", None)],
                  [weight("w", 256, 1024)])
    yield from differs("configuration", layers(alone, config=config)["y"]["outputs"][0]["shape"], [1, 8, 256])
    yield from differs("beside", layers(gate, config=config)["h"]["outputs"][0]["shape"], [1, 128, 512])
    own = "operators:\n  - {{ name: Relu, domain: ai.onnx, outputs: '[7]', bytes: 28, override: {} }}\n"
    config.write_text(text + own.format("true"))
    relu = model("relu", [node("Relu", ["x"], ["y"], domain="")], [info("x", [3])], [info("y", None)])
    yield from differs("override", layers(relu, config=config)["y"]["outputs"][0]["shape"], [7])
    config.write_text(text + own.format("false"))
    status, _, errors = run("layers", relu, config=config)
    yield from differs("no override", (status, errors),
                       (2, f"benanza: {config}:5: Relu is built in; override: true replaces it\n"))


@tap.test("in a subgraph")
def _():
    body = helper.make_graph([node("GateUp", ["x", "w"], ["b"])], "body", [], [info("b", None)])
    other = helper.make_graph([node("GateUp", ["x", "w"], ["c"])], "other", [], [info("c", None)])
    branch = helper.make_node("If", ["c0"], ["y"], name="y", then_branch=body, else_branch=other)
    path = model("inside", [branch],
                 [info("c0", [], TensorProto.BOOL), info("x", [1, 8, 256])], [info("y", None)],
                 [weight("w", 256, 1024)])
    (work / "inside.ops.yaml").write_text(GATE)
    yield from differs("y", layers(path)["y"]["outputs"][0]["shape"], [1, 8, 512])


@tap.test("bytes of 0: there is nothing to measure")
def _():
    path = model("nothing", [node("Hash", ["x"], ["y"])], [info("x", [1, 8])], [info("y", None)])
    (work / "nothing.ops.yaml").write_text(
        "operators:\n  - { name: Hash, domain: com.acme, outputs: x0, bytes: size(x0) - 8 }\n")
    out = run("layers", path)[1]
    if "its bytes are 0: there is nothing to measure; class: free takes no time" not in out:
        yield out


@tap.test("times in a loop, in a branch and in a function; off with assume=off")
def _():
    entry = "operators:\n  - {name: Sort, domain: com.acme, outputs: x0, time: 40us}\n"
    body = helper.make_graph([node("Sort", ["s"], ["b"]), node("Relu", ["b"], ["r"], domain="")], "body",
                             [info("i", [], TensorProto.INT64), info("c", [], TensorProto.BOOL),
                              info("s", [8])],
                             [info("c", [], TensorProto.BOOL), info("r", [8])])
    arms = [helper.make_graph([node("Sort", ["y"], [f"a{i}"])], f"arm{i}", [], [info(f"a{i}", None)])
            for i in range(2)]
    path = model("looped", [helper.make_node("Loop", ["n", "", "x"], ["y"], name="y", body=body),
                            helper.make_node("If", ["k"], ["z"], name="z", then_branch=arms[0],
                                             else_branch=arms[1])],
                 [info("x", [8]), info("k", [], TensorProto.BOOL)], [info("z", None)],
                 [helper.make_tensor("n", TensorProto.INT64, [], [3])])
    beside = work / "looped.ops.yaml"
    beside.write_text(entry)
    status, _, errors = run("bench", path)
    note = f"looped.onnx: not measured, their operators have a time only: Sort ({beside}:2, 3 layers)"
    if status or note not in errors:
        yield f"bench: {status}: {errors}"
    relu = 1000 * len("eltwise:f32,f32:relu:8")
    costs = {one["name"]: one["cost_ns"] for one in read("bound", path)["layers"]}
    yield from differs("costs", costs, {"y": 3 * (40000 + relu), "z": 40000})
    off = read("bound", path, "-w", "assume=off")
    yield from differs("without times", [off["complete"], off["coverage"]["missing"]], [False, 2])
    inside = onnx.load(path)
    call = helper.make_node("Outer", ["x"], ["z"], name="z", domain="com.acme")
    inside.graph.CopyFrom(helper.make_graph([call], "called", [info("x", [8])], [info("z", None)]))
    inside.functions.append(helper.make_function("com.acme", "Outer", ["a"], ["b"],
                                                 [node("Sort", ["a"], ["b"])], inside.opset_import))
    onnx.save(inside, work / "called.onnx")
    (work / "called.ops.yaml").write_text(entry)
    costs = [one["cost_ns"] for one in read("bound", work / "called.onnx")["layers"]]
    yield from differs("in a function", costs, [40000])


@tap.test("a time in a loop alone, without one in the main graph")
def _():
    body = helper.make_graph([node("Sort", ["s"], ["r"]),
                              helper.make_node("Identity", ["c"], ["d"])], "body",
                             [info("i", [], TensorProto.INT64), info("c", [], TensorProto.BOOL),
                              info("s", [8])],
                             [info("d", [], TensorProto.BOOL), info("r", [8])])
    path = model("alone", [helper.make_node("Loop", ["n", "", "x"], ["y"], name="y", body=body)],
                 [info("x", [8])], [info("y", None)], [helper.make_tensor("n", TensorProto.INT64, [], [3])])
    (work / "alone.ops.yaml").write_text(
        "operators:\n  - {name: Sort, domain: com.acme, outputs: x0, time: 40us}\n")
    found = read("bound", path, "-d", "h100")
    yield from differs("the total", [found["complete"], found["bound_ns"]], [True, 120000])


@tap.test("before a function of the model of the same name, which is said")
def _():
    path = model("local", [node("GateUp", ["x", "w"], ["y"])], [info("x", [1, 8, 256])], [info("y", None)],
                 [weight("w", 256, 1024)])
    own = onnx.load(path)
    own.functions.append(helper.make_function("com.acme", "GateUp", ["a", "b"], ["c"],
                                              [node("Relu", ["a"], ["c"], domain="")], own.opset_import))
    onnx.save(own, path)
    beside = work / "local.ops.yaml"
    yield from differs("the function", list(layers(path)), ["y/c"])
    beside.write_text(GATE)
    found = read("layers", path)
    yield from differs("the operator", [one["op"] for one in found["layers"]], ["GateUp"])
    yield from differs("warnings", found["warnings"], [
        f"function com.acme.GateUp is not expanded: it is described in {beside}:2; --functions expand lists "
        "its nodes"])
    yield from differs("expanded", list(layers(path, "--functions", "expand")), ["y/c"])


# ---- wrong files: what follows "operators:", then the line and the error. {} stands for a good entry

ENTRY = "  - name: GateUp\n    domain: com.acme\n    inputs: [x, w]\n"
GOOD = ENTRY + "    outputs: x\n"
WRONG = [
    ("  GateUp: x\n", 2, "operators: expected a list of operators: - name: ..."),
    ("  - GateUp\n", 2, "operators: expected an operator, a map with name and outputs"),
    ("  - domain: com.acme\n    outputs: x0\n", 2,
     "an operator needs a name and outputs, the shapes of its results"),
    (ENTRY, 2, "an operator needs a name and outputs, the shapes of its results"),
    (ENTRY + "    output: x\n", 5, "unknown key output of an operator; did you mean outputs?"),
    (ENTRY + "    command: [rm, x]\n", 5,
     "unknown key command of an operator; the keys are in benanza.yaml(5)"),
    (GOOD + "    outputs: w\n", 6, "outputs is given twice"),
    (GOOD + GOOD, 6, "GateUp is described in line 2 already"),
    (ENTRY + "    outputs: { x: 1 }\n", 5, "outputs: expected a text or number"),
    (ENTRY + "    outputs: 'x[0'\n", 5, 'outputs: at character 4: "]" is expected'),
    (ENTRY + "    outputs: x[0]\n", 5, 'outputs: a number; a shape is a list, e.g. "[x[0]]"'),
    (ENTRY + "    outputs: x + 1\n", 5, "outputs: at character 6: a list where a number is needed"),
    (ENTRY + "    outputs:\n      - x\n      - y1\n", 7,
     "outputs: at character 1: there is no y1: 1 outputs are given"),
    (ENTRY + "    outputs: x7\n", 5, "outputs: at character 1: there is no x7: 2 inputs are given"),
    (ENTRY + "    outputs: x\n    types: [f32, f32]\n", 6,
     "types: more types than outputs (1)"),
    (ENTRY + "    outputs: x\n    types: floaty\n", 6,
     "types: floaty is neither a data type, such as f32, nor an input"),
    (GOOD + "    class: fast\n", 6, "class: fast is not one of compute, memory, move, free, host"),
    (GOOD + "    class: free\n    flops: 3\n", 2, "class free takes no time: leave flops out"),
    (GOOD + "    flops: 2 *\n", 6, "flops: at character 4: a number, a name or a list is expected"),
    (GOOD + "    flops: -1\n", 6, "flops: negative: -1"),
    (GOOD + "    bytes: 1 // 0\n", 6, "bytes: at character 7: a division by zero"),
    (GOOD + "    bytes: 1" + "0" * 30 + "\n", 6, "bytes: at character 32: the number does not fit 64 bits"),
    (GOOD + "    bytes: " + "(" * 40 + "1\n", 6, "bytes: at character 16: nested deeper than 16 brackets"),
    (GOOD + "    bytes: " + "1+" * 600 + "1\n", 6, "bytes: longer than 1024 characters"),
    (GOOD + "    bytes: open(x)\n", 6,
     "bytes: at character 7: unknown function open; use size, rank, "
     "bytes, has, values, min, max, floor or ceil"),
    (GOOD + "    kernel: mat:f32\n", 6,
     "kernel: unknown kernel mat; a text begins with conv:, matmul:, softmax: ..."),
    (GOOD + "    kernel: copy:u8,u8:b{bytes(x)\n", 6, "kernel: a { without }"),
    (GOOD + "    kernel: copy:u8,u8:b{type(k)}\n", 6,
     "kernel: {type(k)}: k is neither an input nor an output"),
    (GOOD + "    kernel: copy:u8,u8:b1\n    proxy: copy:u8,u8:b1\n", 7,
     "proxy: kernel is given too: leave one out"),
    (GOOD + "    time: soon\n", 6,
     "time: 'soon' is not a cost; give 12us (ns, us, ms, s), 2x (twice as fast) or 0"),
    (GOOD + "    time: 2x\n", 6, "time: a factor (2x) needs a kernel, whose time it divides"),
    (GOOD + "    attributes: { k: x }\n", 6, "attributes: k: at character 1: x is not a number"),
    (GOOD + "    attributes: [k]\n", 6, "attributes: expected a map of names to numbers"),
    (GOOD + "    attributes: { x: 1 }\n", 6, "attributes: x is given twice"),
    (GOOD + "    override: maybe\n", 6, "override: maybe is not true or false"),
    (ENTRY.replace("[x, w]", "[x, x]") + "    outputs: x\n", 4, "inputs: x is given twice"),
    (ENTRY.replace("[x, w]", "[x, 2w]") + "    outputs: x\n", 4,
     "inputs: 2w is not a name: letters, digits and _"),
    (ENTRY.replace("GateUp", "''") + "    outputs: x\n", 2,
     "name: it is empty, longer than 128 bytes, or contains a NUL"),
    (ENTRY + "    outputs: *x\n", 5,
     "anchors and aliases (&name, *name) are not supported; write the value out"),
    ("".join(GOOD.replace("GateUp", f"G{i}") for i in range(257)), 2 + 4 * 256, "more than 256 operators"),
    ("  - name: X\n    outputs: [" + ", ".join(["x0"] * 40) + "]\n", 3, "outputs: expected a shorter list"),
    # the layer says it; x is 1x8x256, w 256x1024
    (ENTRY + "    outputs: 'x + [w[0] - w[1]]'\n", 5, "outputs: dimension 3 is negative: -768"),
    (ENTRY + "    outputs: 'x[:1] + [x[1] / 3]'\n", 5,
     "outputs: 8/3 is not an integer; // rounds down"),
    (ENTRY + "    outputs: '[x[3]]'\n", 5, "outputs: at character 6: there is no item 3 in a list of 3"),
    (ENTRY + "    outputs: '[w[1] // (w[0] - 256)]'\n", 5, "outputs: at character 22: a division by zero"),
    (ENTRY + "    outputs: '[w[1] * 4611686018427387904]'\n", 5,
     "outputs: at character 28: the number does not fit 64 bits"),
    (ENTRY + "    outputs: '[w[1] * 1000000000000]'\n", 5,
     "outputs: dimension 0 is too large: 1024000000000000"),
    (ENTRY + "    outputs: '[k]'\n", 5,
     "outputs: at character 2: k is not an input, and the layer has no such attribute; "
     "attributes: { k: VALUE } gives one"),
    (ENTRY + "    outputs: '[mode]'\n", 5,
     "outputs: at character 2: attribute mode is neither a number nor a list of numbers"),
    (ENTRY + "    outputs: x\n    flops: w[0] - w[1]\n", 6, "flops: negative: -768"),
    (ENTRY + "    outputs: x\n    bytes: x\n", 6, "bytes: a list where a number is needed"),
    (ENTRY + "    outputs: x\n    kernel: softmax:{type(x)},{type(y0)}:soft:{x}:ax7\n", 6,
     "kernel: problem: "),
    (ENTRY + "    outputs: x\n    kernel: matmul:{type(x)}\n", 6, "kernel: problem text: "),
]


def refused(text, line, error):
    path = work / "refused.ops.yaml"
    path.write_text(text)
    status, out, errors = run("layers", work / "refused.onnx")
    yield from differs("status, output and lines of errors", (status, out, errors.count("\n")), (2, "", 1))
    if f"{path}:{line}: {error}" not in errors:
        yield f"{errors.strip()}: not line {line}: {error}"


model("refused", [node("GateUp", ["x", "w"], ["y"], mode="fast")], [info("x", [1, 8, 256])],
      [info("y", None)], [weight("w", 256, 1024)])
for text, line, error in WRONG:
    tap.result(f"refused: {error}", refused("operators:\n" + text, line, error))
tap.result("a file beside a model has operators only", refused(
    "python: /bin/false\n", 1, "unknown key python; this file has operators only"))
tap.result("a type of an input that the layer lacks", refused(
    "operators:\n  - name: GateUp\n    domain: com.acme\n    outputs: x0\n    types: x5\n", 5,
    "types: x5 is left out"))
tap.result("a misspelt key there", refused("operator:\n" + GOOD, 1, "unknown key; did you mean operators?"))
tap.result("and is YAML", refused("operators: [\n", 2, "did not find expected node content"))
sys.exit(tap.end())

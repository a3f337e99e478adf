#!/usr/bin/env python3
"""Models whose own type is not f32: headers, -t, sweep, and a device that lacks the type. TAP; Python's own
library alone."""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from onnx_wire import field_bytes, field_int, graph, model, node, tensor, value_info  # noqa: E402
from python_tap import ROOT, Tap, environment_at, program  # noqa: E402

RUNNER = ROOT / "tests/lib/word_runner.sh"
TYPES = {"f32": (1, 4), "f16": (10, 2), "bf16": (16, 2), "f64": (11, 8)}
CONFIG = f"""runners:
  lex:
    command: [sh, {RUNNER}, Word 1, words 1, 1]
  half:
    command: [sh, {RUNNER}, Word 2, words 2, 1, "*f16*"]
  single:
    command: [sh, {RUNNER}, Word 3, words 3, 1, "*f64*"]
"""


def cast(source, target, type_name):
    to = field_bytes(1, "to") + field_int(3, TYPES[type_name][0]) + field_int(20, 2)
    return node("Cast", [source], [target], f"to_{target}", field_bytes(5, to))


def weights(name, type_name):
    number, size = TYPES[type_name]
    return tensor(name, [64, 64], bytes(64 * 64 * size), number)


def write(path, own, border=None, second=None):
    """MatMul and Relu in the type `own`; `border`: the type of input and output, between casts; `second`: a
    MatMul in that type follows."""
    inside, outside = ("cast", "y") if border else ("x", "y")
    nodes = [cast("x", "cast", own)] if border else []
    nodes += [node("MatMul", [inside, "w"], ["m"], "product"),
              node("Relu", ["m"], ["r" if border else "y"], "relu")]
    tensors = [weights("w", own)]
    if border:
        nodes.append(cast("r", "back" if second else "y", second or border))
    if second:
        nodes.append(node("MatMul", ["back", "v"], [outside], "second"))
        tensors.append(weights("v", second))
    number = TYPES[border or own][0]
    ends = [[value_info(name, [32, 64], number)] for name in "xy"]
    path.write_bytes(model(graph(nodes, *ends, tensors)))


class Place:
    def __init__(self, tap, folder):
        self.tap, self.folder = tap, pathlib.Path(folder)
        (self.folder / "config.yaml").write_text(CONFIG)
        for name in TYPES:
            write(self.folder / f"{name}.onnx", name)
        write(self.folder / "inside.onnx", "f16", "f32")
        write(self.folder / "mixed.onnx", "f16", "f32", "f32")

    def run(self, *words):
        done = subprocess.run([program(), *words, "-c", "config.yaml", "--db", "t.db"], cwd=self.folder,
                              env=environment_at(self.folder), stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def json(self, *words):
        return [json.loads(line) for line in self.run(*words, "--json")[1].splitlines()]

    def has(self, name, words, status, wanted, absent=()):
        """Runs, and looks for the status and for texts in what is printed, blanks apart."""
        got, out, error = self.run(*words)
        said = " ".join((out + error).split())
        wrong = [f"exit status {got}, not {status}"] * (got != status)
        wrong += [f"{text!r} is missing: {said[:400]}" for text in wanted if text not in said]
        wrong += [f"{text!r} is there: {said[:400]}" for text in absent if text in said]
        self.tap.result(name, wrong)

    def same(self, name, got, wanted):
        self.tap.result(name, [] if got == wanted else [f"{got} is not {wanted}"])


def profile(path, kind, rows, runs=3):
    """A profile of ONNX Runtime: rows are (name, operator, type of the first input, us)."""
    events, at = [], 0
    for _ in range(runs):
        begin = at
        for name, op, first, us in rows:
            args = {"op_name": op, "provider": kind, "input_type_shape": [{first: [32, 64]}, {"int64": [1]}]}
            events.append({"cat": "Node", "pid": 1, "tid": 1, "dur": us, "ts": at, "ph": "X",
                           "name": f"{name}_kernel_time", "args": args})
            at += us
        events.append({"cat": "Session", "pid": 1, "tid": 1, "dur": at - begin + 3, "ts": begin, "ph": "X",
                       "name": "model_run", "args": {}})
        at += 10
    path.write_text(json.dumps(events))


def comparable(p):
    half = [("product", "MatMul", "float16", 90), ("relu", "Relu", "float16", 10)]
    full = [("product", "MatMul", "float", 90), ("relu", "Relu", "float", 10)]
    for name, rows in ("f16.json", half), ("f32.json", full), ("both.json", [half[0], full[1]]):
        profile(p.folder / name, "CUDAExecutionProvider", rows)
    beside = ["compare", "-d", "a100"]
    p.has("an f32 run of an f16 model", [*beside, "f16.onnx", "f32.json"], 0,
          ["not comparable: f32 against f16 (run benanza compare -t f32 ...)", "batch 32 f16"], ["ratio"])
    p.has("... with that -t", [*beside, "-t", "f32", "f16.onnx", "f32.json"], 0, ["batch 32 f32", "ratio"],
          ["not comparable"])
    p.has("an f16 run of an f16 model", [*beside, "f16.onnx", "f16.json"], 0, ["batch 32 f16", "ratio"],
          ["not comparable"])
    p.has("an f16 run of an f32 model", [*beside, "f32.onnx", "f16.json"], 0, ["batch 32 f16", "ratio"],
          ["not comparable"])
    p.has("... beside f32", [*beside, "-t", "f32", "f32.onnx", "f16.json"], 0,
          ["not comparable: f16 against f32 (run benanza compare -t f16 ...)"], ["ratio"])
    p.has("... beside f32, which the hint converts back", [*beside, "-t", "f32", "f16.onnx", "f16.json"], 0,
          ["not comparable: f16 against f32 (run benanza compare -t f16 ...)"], ["ratio"])
    p.has("a tenth of the time in another type", [*beside, "f16.onnx", "both.json"], 0, ["ratio"],
          ["not comparable"])
    p.has("a GPU's run beside a CPU", ["compare", "-d", "lex", "f16.onnx", "f16.json"], 1,
          ["not comparable: CUDAExecutionProvider against a CPU (choose a GPU with -d)"], ["ratio"])


def problems(layers):
    return [layer["problem"].split("/")[0] for layer in layers["layers"] if layer["problem"]]


def own_types(p):
    for own in TYPES:
        file = f"{own}.onnx"
        status = 1 if own == "f64" else 0  # no estimates
        p.has(f"{own}: bound names it", ["bound", "-d", "a100", file], status, [f"batch 32 {own} "])
        p.same(f"{own}: JSON too", [p.json("bound", "-d", "a100", file)[0]["scenario"]["dtype"],
                                    p.json("layers", file)[0]["dtype"]], [own, own])
        p.has(f"{own}: and the explorer", ["--frame", "100x24", "-d", "a100", file], 0, [f"batch 32 {own} "])
        for other in TYPES:
            layers = p.json("layers", "-t", other, file)[0]
            p.same(f"{own} in {other}", problems(layers),
                   [f"matmul:{other},{other}.c,{other}", f"eltwise:{other},{other}:relu:32x64"])
    rows = p.json("sweep", "-d", "a100", "f16.onnx")
    p.same("sweep: the model's own", [row["scenario"]["dtype"] for row in rows], ["f16"])
    rows = p.json("sweep", "-d", "a100", "-t", "f32,f16,bf16", "f16.onnx")
    p.same("... and have their types", [row["scenario"]["dtype"] for row in rows], ["f32", "f16", "bf16"])
    p.same("... bytes", [row["memory_bytes"] / rows[1]["memory_bytes"] for row in rows], [2, 1, 1])
    p.same("... casts at the borders", [row["bound_ns"] > rows[1]["bound_ns"] for row in rows],
           [True, False, True])
    p.same("the model's own type changes nothing",
           p.json("bound", "-d", "a100", "-t", "f16", "f16.onnx"), p.json("bound", "-d", "a100", "f16.onnx"))
    p.has("a product between casts has its type", ["bound", "-d", "a100", "inside.onnx"], 0,
          ["batch 32 f16 "])
    p.same("... -t removes the casts", problems(p.json("layers", "-t", "f32", "inside.onnx")[0]),
           ["matmul:f32,f32.c,f32", "eltwise:f32,f32:relu:32x64"])
    p.has("several types are mixed", ["bound", "-d", "a100", "mixed.onnx"], 0, ["batch 32 mixed "])
    p.same("... in JSON", p.json("sweep", "-d", "a100", "mixed.onnx")[0]["scenario"]["dtype"], "mixed")
    p.same("... -t makes them one", {text.split(":")[1].split(",")[0] for text in problems(
        p.json("layers", "-t", "bf16", "mixed.onnx")[0])}, {"bf16"})
    p.has("models of several types", ["models", "-d", "a100", "f16.onnx", "f32.onnx"], 0, ["mixed "])
    p.has("models of one type", ["models", "-d", "a100", "f16.onnx", "inside.onnx"], 0, ["f16 "])


def without_type(p):
    """A device without f16: what frameworks do there is the advice."""
    lack = "this device has no f16 for 2 of 2 layers, where frameworks insert casts and compute in f32"
    half = ["-d", "half"]
    profile(p.folder / "cpu.json", "CPUExecutionProvider",
            [("product", "MatMul", "float", 90), ("relu", "Relu", "float", 10)])
    p.has("nothing is measured yet", ["advise", *half, "f16.onnx"], 1, ["no advice: nothing"], ["f32 model"])
    p.has("bench in f16", ["bench", "-q", *half, "f16.onnx"], 1, ["compute in f32 there: -t f32"])
    p.has("bound in f16", ["bound", *half, "f16.onnx"], 1, [lack])
    p.has("advice in f16", ["advise", *half, "f16.onnx"], 1,
          [f"use the f32 model (-t f32): {lack}", "model.float()"])
    p.has("... in the explorer", ["--frame", "140x30", "--view", "advice", *half, "f16.onnx"], 0,
          ["use the f32 model (-t f32)"])
    one, = p.json("advise", *half, "f16.onnx")[0]["advice"]
    p.same("... in JSON", [one["kind"], one["scenario"]["dtype"], one["layers"], one["bound_ns"],
                           one["measured"]], ["type", "f32", [0, 1], None, False])
    p.has("sweep: bench does not help", ["sweep", *half, "f16.onnx"], 1, [lack], ["run bench"])
    p.has("... but in f32", ["sweep", *half, "-t", "f32,f16", "f16.onnx"], 1, [lack, "run bench"])
    single = ["-d", "single", "f64.onnx"]
    p.has("a runner without f64", ["bench", "-q", *single], 1, ["no such word"], ["f32"])
    p.has("... is no device without it", ["bound", *single], 1, ["2 unsupported"], [lack[:15]])
    p.has("... advice", ["advise", *single], 1, ["nothing of the model can be measured here (benanza bound)"])
    p.has("... compare", ["compare", *single, "cpu.json"], 1,
          ["unknown: no layer can be measured on Word 3 (benanza bound)"], ["benanza bench"])
    p.has("bench in f64", ["bench", "-q", *half, "f64.onnx"], 0, [])
    p.has("a type that it has", ["advise", *half, "f64.onnx"], 0, [], ["f32 model"])
    left = p.json("advise", *half, "f64.onnx")[0]["left_out"]
    p.same("... types of fewer bits are tried", [one["dtype"] for one in left if one["dtype"]],
           ["f32", "f16", "bf16"])
    p.has("compare in f16", ["compare", *half, "f16.onnx", "cpu.json"], 1,
          [f"bound unknown: {lack} (-t f32)", "not comparable: f32 against f16"], ["benanza bench MODEL"])
    p.has("bench of types that it has and lacks", ["bench", "-q", *half, "mixed.onnx"], 1, [])
    p.has("advice there", ["advise", *half, "mixed.onnx"], 1,
          ["use the f32 model (-t f32): this device has no f16 for", "at least"])
    one = p.json("advise", *half, "mixed.onnx")[0]["advice"][0]
    p.same("... before others, without a bound in f32", [one["kind"], one["bound_ns"]], ["type", None])
    p.has("bench of it in f32", ["bench", "-q", *half, "-t", "f32", "mixed.onnx"], 0, [])
    bound = p.json("bound", *half, "-t", "f32", "mixed.onnx")[0]["bound_ns"]
    one = p.json("advise", *half, "mixed.onnx")[0]["advice"][0]
    p.same("... then measured", [one["bound_ns"], one["measured"]], [bound, True])


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="benanza-types-") as folder:
        p = Place(tap, folder)
        own_types(p)
        comparable(p)
        without_type(p)
    return tap.end()


sys.exit(main())

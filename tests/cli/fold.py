#!/usr/bin/env python3
"""The what-if fold: which layers it removes, what is said of them, and that ONNX Runtime removes them too."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import python_tap  # noqa: E402

python_tap.need("onnx", "numpy")
import numpy  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

SHAPE = [4, 32, 64]
REMOVED = {
    "add_zero": "returns its input unchanged", "mul_one": "returns its input unchanged",
    "there": "nothing reads its result", "back": "undoes there", "twice_again": "computes the same as twice",
    "tanh_again": "computes the same as tanh", "wide": "nothing reads its result", "narrow": "undoes wide",
    "unread": "nothing reads its result", "last_zero": "returns its input unchanged",
    "sub_zero": "returns its input unchanged"}
ALWAYS = {"id": "no kernel: passes its data on", "shape": "folded: known from shapes",
          "half": "folded: constant inputs"}
INTO = {"add_zero": None, "mul_one": "relu", "there": None, "back": "relu", "twice_again": "twice",
        "tanh_again": "tanh", "narrow": "tanh", "last_zero": "sub", "sub_zero": "relu"}
BY_BUILDERS_ONLY = {"unread", "add_zero", "last_zero"}  # ONNX Runtime keeps them: see benanza(1)
KEPT = {"relu", "twice", "tanh", "sub", "other_axis", "add_two", "narrower"}


def node(op, inputs, output, name, **attributes):
    return helper.make_node(op, inputs, [output], name=name, **attributes)


def make(path):
    constants = {"zero": numpy.zeros((), "f"), "one": numpy.ones((), "f"), "two": numpy.full(1, 2, "f"),
                 "two_again": numpy.full(1, 2, "f")}
    cast = {"to": TensorProto.DOUBLE}
    nodes = [
        node("Add", ["x", "zero"], "a", "add_zero"), node("Relu", ["a"], "r", "relu"),
        node("Sub", ["r", "zero"], "b", "sub_zero"),
        node("Mul", ["one", "b"], "c", "mul_one"),
        node("Transpose", ["c"], "d", "there", perm=[0, 2, 1]),
        node("Transpose", ["d"], "e", "back", perm=[0, 2, 1]),
        node("Mul", ["e", "two"], "f", "twice"), node("Mul", ["b", "two_again"], "g", "twice_again"),
        node("Tanh", ["f"], "h", "tanh"), node("Tanh", ["g"], "i", "tanh_again"),
        node("Exp", ["x"], "j", "unread"),
        node("Cast", ["h"], "k", "wide", **cast), node("Cast", ["k"], "l", "narrow", to=TensorProto.FLOAT),
        node("Sub", ["l", "i"], "m", "sub"), node("Identity", ["m"], "n", "id"),
        node("Transpose", ["n"], "o", "other_axis", perm=[1, 0, 2]),
        node("Add", ["o", "two"], "p", "add_two"),
        node("Cast", ["p"], "q", "narrower", to=TensorProto.FLOAT16),
        node("Shape", ["x"], "s", "shape"), node("Mul", ["two", "two"], "t", "half"),
        node("Add", ["m", "zero"], "y", "last_zero"), node("Add", ["t", "x"], "u", "with_constant")]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, SHAPE),
               helper.make_tensor_value_info("q", TensorProto.FLOAT16, [32, 4, 64]),
               helper.make_tensor_value_info("s", TensorProto.INT64, [3]),
               helper.make_tensor_value_info("u", TensorProto.FLOAT, SHAPE)]
    graph = helper.make_graph(nodes, "folds", [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
                              outputs, [numpy_helper.from_array(v, k) for k, v in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def bound(path, *what_ifs):
    return python_tap.said("bound", "--json", "-d", "h100", *(w for x in what_ifs for w in ("-w", x)), path)


def effect(of):
    return next(e for e in of["what_if"] if e["name"] == "fold")


def left_by_onnxruntime(path, folder):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(folder / "basic.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return {n.name for n in onnx.load(folder / "basic.onnx").graph.node}


def main():
    tap = python_tap.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = folder / "fold.onnx"
        make(path)
        said = {layer["name"]: layer.get("fold") for layer in python_tap.layers_of(path)}

        @tap.test("layers say why they fold, and others say nothing")
        def _():
            for layer, why in (REMOVED | ALWAYS | dict.fromkeys(KEPT)).items():
                if said[layer] != why:
                    yield f"{layer}: {said[layer]}, not {why}"

        off, on = bound(path), bound(path, "fold")
        cost = {layer["name"]: layer["cost_ns"] for layer in off["layers"]}

        @tap.test("on: they cost nothing, and the total is that of the others")
        def _():
            rest = sum(ns for layer, ns in cost.items() if layer not in REMOVED)
            if abs(on["estimate_ns"] - rest) > 1e-6 * rest:
                yield f"bound {on['estimate_ns']}, the others {rest}"
            if any(not cost[layer] > 0 for layer in REMOVED):
                yield f"off: some cost nothing: {cost}"
            for layer in on["layers"]:
                why = REMOVED.get(layer["name"])
                if why and (layer["cost_ns"] != 0 or layer["fold"] != why):
                    yield layer

        @tap.test("it is said that fold removed them, and which layer is read instead")
        def _():
            names = [layer["name"] for layer in on["layers"]]
            into = {layer["name"]: layer["folded_into"] for layer in on["layers"] if "folded_into" in layer}
            into = {layer: None if at is None else names[at] for layer, at in into.items()}
            if into != dict.fromkeys(REMOVED) | INTO or any("folded_into" in x for x in off["layers"]):
                yield into
            text = python_tap.printed("bound", "-d", "h100", "-w", "fold", path)
            if "13 free (11 removed by fold)" not in text:
                yield text
            for keys, shown in (("Enter", "cost removed by the what-if fold returns its input unchanged"),
                                ("5j Enter", "cost removed by the what-if fold, into relu undoes there"),
                                ("5j", "back removed by fold, into relu: undoes there"),
                                ("", "add_zero Add 4x32x64 folded - - folded")):
                screen = python_tap.printed("--frame", "100x40", "-d", "h100", "-w", "fold", "--keys", keys,
                                            path)
                if shown not in " ".join(screen.split()):
                    yield f"{keys}: {shown}: {screen}"

        @tap.test("the roofline is that of the others")
        def _():
            rest = sum(layer["roofline_ns"] for layer in off["layers"] if layer["name"] not in REMOVED)
            if abs((on["roofline_ns"] or 0) - rest) > 1e-6 * rest:
                yield f"{on['roofline_ns']}, not {rest}"

        @tap.test("the effect is the difference, with the number of layers")
        def _():
            e = effect(on)
            saves = off["estimate_ns"] - on["estimate_ns"]
            if abs(e["saves_ns"] - saves) > 1e-3 or e["layers"] != len(REMOVED):
                yield e
            if abs(effect(off)["estimate_ns"] - on["estimate_ns"]) > 1e-3:
                yield effect(off)

        @tap.test("with other what-ifs it never raises the bound")
        def _():
            for other in ("parallel", "parallel=path", "fusion", "fusion,parallel", "layout=priced",
                          "launch=isolated"):
                x, y = bound(path, other)["estimate_ns"], bound(path, other, "fold")["estimate_ns"]
                if not y <= x or (y == x and "parallel" not in other):
                    yield f"{other}: {y} after {x}"

        @tap.test("the longest path goes through the layer that computes the same")
        def _():
            at = {layer["name"]: layer for layer in bound(path, "parallel=path", "fold")["layers"]}
            least = at["relu"]["cost_ns"] + at["twice"]["cost_ns"] + at["tanh"]["cost_ns"]
            if at["sub"]["start_ns"] < least * (1 - 1e-9):
                yield f"sub starts at {at['sub']['start_ns']}, before {least}"

        try:
            left = left_by_onnxruntime(path, folder)
            tap.result("ONNX Runtime's basic level removes the same but at the borders",
                       [f"{layer} is left" for layer in REMOVED.keys() & left - BY_BUILDERS_ONLY] +
                       [f"{layer} is not left" for layer in KEPT - left])
        except ImportError:
            tap.skipped("ONNX Runtime's basic level removes the same layers", "onnxruntime is not installed")

        @tap.test("an exporter's model: GPT-2's mask is combined with a constant true")
        def _():
            model = python_tap.ROOT / "data" / "models" / "gpt2_small.onnx"
            folds = [layer for layer in python_tap.layers_of(model)
                     if layer["class"] != "free" and "fold" in layer]
            if [(f["op"], f["fold"]) for f in folds] != [("And", "returns its input unchanged")]:
                yield folds
            resnet = effect(bound(model.with_name("resnet50.onnx")))
            if resnet["available"] or resnet["layers"]:
                yield resnet
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""How `make bench` holds a bound against ONNX Runtime's nodes: whose layer is whose, that nothing is lost or counted twice,
and the words for each difference.  Needs neither ONNX Runtime nor a measurement."""

import pathlib
import sys
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import python_tap  # noqa: E402
import bench_layers  # noqa: E402


def layer(op, inputs, output, name=""):
    return {"op": op, "name": name or output, "inputs": [{"name": i} for i in inputs], "outputs": [{"name": output}]}


def cost(ns, problem="p", **more):
    return {"cost_ns": ns, "problem": problem, "algorithm": "jit", "layouts": "", **more}


def node(op, ns, *values):
    return {"op": op, "ns": ns, "values": list(values)}


def table(layers, bound, nodes, warm=None):
    """{names of the layers: (ours, theirs, verdict)}, after the sums were checked."""
    rows = bench_layers.compare(layers, bound, nodes, warm or {})
    ours, theirs = sum(c["cost_ns"] or 0 for c in bound), sum(n["ns"] for n in nodes)
    members = sorted(i for row in rows for i in row["layers"])
    wrong = [f"a layer twice: {members}"] * (len(members) != len(set(members)))
    wrong += [f"ours {sum(row['ours'] for row in rows)} of {ours}"] * (sum(row["ours"] for row in rows) != ours)
    wrong += [f"theirs {sum(row['theirs'] for row in rows)} of {theirs}"] * (sum(row["theirs"] for row in rows) != theirs)
    return {"+".join(layers[i]["name"] for i in row["layers"]): (row["ours"], row["theirs"], row["verdict"]) for row in rows}, wrong


CHAIN = [layer("Conv", ["x", "w"], "c"), layer("Relu", ["c"], "r"), layer("Conv", ["r", "v"], "d")]
CASES = [  # name, layers, bound, nodes, warm times, rows that are wanted: (ours, theirs, how the verdict begins)
    ("a node that took the activation in stands for both layers",
     CHAIN, [cost(50), cost(10), cost(70)], [node("FusedConv", 40, "r"), node("Conv", 60, "d")], {},
     {"c+r": (60, 40, "ONNX Runtime's kernel is quicker"), "d": (70, 60, "ONNX Runtime's kernel is quicker")}),
    ("our fused group and their single nodes are one piece",
     CHAIN, [cost(45), cost(0, fused_into=0), cost(50)], [node("Conv", 40, "c"), node("Relu", 9, "r"), node("Conv", 60, "d")], {},
     {"c+r": (45, 49, "our best kernels are quicker"), "d": (50, 60, "our best kernels are quicker")}),
    ("what runs warm in time is cold weights' doing",
     CHAIN[:1], [cost(50, "conv")], [node("Conv", 40, "c")], {"conv": 39},
     {"c": (50, 40, "cold weights: warm ours would be 0.0 us")}),
    ("what is not measured is no gain",
     CHAIN[:1], [cost(None)], [node("Conv", 40, "c")], {}, {"c": (0, 40, "not measured by us")}),
    ("a layer that ONNX Runtime has folded away",
     [layer("Relu", ["x"], "a"), *CHAIN[:1]], [cost(5), cost(50)], [node("Conv", 60, "c")], {},
     {"a": (5, 0, "we count what ONNX Runtime folds away"), "c": (50, 60, "our best kernels are quicker")}),
    ("a layout's conversion that only ONNX Runtime runs",
     CHAIN[:1], [cost(50)], [node("ReorderOutput", 7, "reorder"), node("Conv", 60, "c")], {},
     {"": (0, 7, "ONNX Runtime runs what we do not count: ReorderOutput"), "c": (50, 60, "our best kernels are quicker")}),
    ("a mover",
     [layer("Concat", ["x", "y"], "z")], [cost(50)], [node("Concat", 40, "z")], {}, {"z": (50, 40, "a mover: measured as a copy")}),
    ("several of ours that one of theirs does",
     [layer("MatMul", ["x", "w"], "a"), layer("Softmax", ["a"], "b"), layer("MatMul", ["b", "v"], "c")],
     [cost(20), cost(20), cost(20)], [node("Attention", 40, "c")], {},
     {"a+b+c": (60, 40, "ONNX Runtime runs 3 of ours as 1")}),
    ("a plain layout is said",
     CHAIN[:1], [cost(50, layouts="src=nchw wei=any dst=nchw")], [node("Conv", 40, "c")], {},
     {"c": (50, 40, "ONNX Runtime's kernel is quicker than our best (jit, in plain layout)")}),
]


def main():
    tap = python_tap.Tap()
    for name, layers, bound, nodes, warm, wanted in CASES:
        rows, wrong = table(layers, bound, nodes, warm)
        if rows.keys() != wanted.keys():
            wrong.append(f"rows {sorted(rows)} instead of {sorted(wanted)}")
        wrong += [f"{key}: {rows[key]}" for key, want in wanted.items()
                  if key in rows and not (rows[key][:2] == want[:2] and rows[key][2].startswith(want[2]))]
        tap.result(name, wrong)
    names = {"fused conv1": "conv1", "conv2_nchwc": "conv2", "conv3_nchwc_token_12": "conv3", "plain": "plain"}
    tap.result("the names that layouts add are seen through",
               [f"{name}: {found}" for name, want in names.items()
                if (found := bench_layers.ort_name(type("Node", (), {"name": name}))) != want])
    return tap.end()


if __name__ == "__main__":
    raise SystemExit(main())

#!/usr/bin/env python3
"""A bound beside ONNX Runtime, layer by layer: where the one is above the other, and whose doing that is.

Each node that ONNX Runtime runs after its optimizations stands for layers of the model: its value's name (kept in the node's
name where the layout is blocked) says where they end, its inputs where they begin.  Layers that the two sides have in
one piece are compared as one.  The bound comes from a database where `benanza bench` measured the model before.

    tests/bench/bench_layers.py [--benanza PATH] [--db FILE] [-b 1] [--what-if LIST] [--threads N] [--rows 10] MODEL
"""

import argparse
import collections
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
MOVERS = {"Concat", "Transpose", "Slice", "Split", "Gather", "Expand", "Pad", "Cast", "Tile", "DepthToSpace"}
NOISE = 0.02  # of the bound: a difference below this is no row


def ort_name(node):
    """The value that a node of the optimized graph is named for, where its outputs have names of the layout's."""
    return re.sub(r"_nchwc(_token_\d+)?$", "", node.name.removeprefix("fused "))


def ort_nodes(path, dims, threads, runs, of=statistics.median):
    """What ONNX Runtime runs: a list of dicts {op, values, ns}, in its order, and the time of a whole run."""
    import onnx
    import bench_ort
    processors = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as folder:
        optimized = os.path.join(folder, "optimized.onnx")
        session, feeds, _ = bench_ort.open_model(path, dims, threads, enable_profiling=True,
                                                 profile_file_prefix=os.path.join(folder, "profile"),
                                                 optimized_model_filepath=optimized)
        for _ in range(runs + 3):
            session.run(None, feeds)
        os.sched_setaffinity(0, processors)  # it bound this thread, and programs started from here would be bound, too
        events = json.loads(pathlib.Path(session.end_profiling()).read_text())
        graph = onnx.load(optimized, load_external_data=False).graph
    times = collections.defaultdict(list)
    for event in events:
        if event["cat"] == "Node" and event["name"].endswith("_kernel_time"):
            times[event["name"].removesuffix("_kernel_time")].append(event["dur"] * 1000)
    whole = [event["dur"] * 1000 for event in events if event["name"] == "model_run"]
    nodes = [{"op": node.op_type, "values": list(node.output) + [ort_name(node)], "ns": of(times[node.name][3:])}
             for node in graph.node if times.get(node.name)]
    return nodes, of(whole[3:])


def cover(layers, nodes):
    """For each layer the node of `nodes` that does its work, or None: it is not run."""
    maker = {value["name"]: i for i, layer in enumerate(layers) for value in layer["outputs"]}
    named = {value for node in nodes for value in node["values"]}
    owner = [None] * len(layers)
    for at, node in enumerate(nodes):
        ends = [maker[value] for value in node["values"] if value in maker]
        while ends:
            i = ends.pop()
            if owner[i] is not None:
                continue
            owner[i] = at
            if layers[i]["op"] == node["op"]:  # before its core nothing but its constants is its own
                continue
            ends += [maker[value["name"]] for value in layers[i]["inputs"]
                     if value["name"] in maker and value["name"] not in named]
    # what follows a node and has no name any more, a sum or an activation, is its part: of several, the last's
    for i, layer in enumerate(layers):
        before = [owner[maker[v["name"]]] for v in layer["inputs"] if v["name"] in maker]
        before = [b for b in before if b is not None]
        if owner[i] is None and before:
            owner[i] = max(before)
    return owner


def pieces(layers, bound, owner, nodes):
    """Layers and nodes that neither side divides: [(layers, nodes)], each a list of indices."""
    parent = {}

    def root(key):
        while parent.setdefault(key, key) != key:
            key = parent[key]
        return key

    for i, cost in enumerate(bound):
        if owner[i] is not None:
            parent[root(("layer", i))] = root(("node", owner[i]))
        if cost.get("fused_into") is not None:
            parent[root(("layer", i))] = root(("layer", cost["fused_into"]))
    found = collections.defaultdict(lambda: ([], []))
    for i in range(len(layers)):
        found[root(("layer", i))][0].append(i)
    for at in range(len(nodes)):
        found[root(("node", at))][1].append(at)
    return list(found.values())


def warm_of(benanza, database):
    """The least warm time of each problem."""
    out = subprocess.run([benanza, "db", "export", "--db", database], stdout=subprocess.PIPE, text=True, check=True)
    best = {}
    for line in out.stdout.splitlines():
        one = json.loads(line).get("result", {})
        ns = one.get("stats", {}).get("median_ns")
        if one.get("status") == "ok" and one["cache"] == "warm" and one["launch"] == "amortized" and ns:
            best[one["problem"]] = min(ns, best.get(one["problem"], ns))
    return best


def verdict(row, layers, nodes, bound, warm):
    """Whose doing a difference is, in words."""
    counted = [i for i in row["layers"] if bound[i]["cost_ns"]]
    if row["missing"]:
        return "not measured by us"
    if not row["nodes"]:
        return "we count what ONNX Runtime folds away"
    if not counted:
        return "ONNX Runtime runs what we do not count: " + ", ".join(sorted({nodes[n]["op"] for n in row["nodes"]}))
    if row["ours"] <= row["theirs"]:
        return "our best kernels are quicker"
    if all(layers[i]["op"] in MOVERS for i in counted):
        return "a mover: measured as a copy, ONNX Runtime's is quicker"
    warm_ns = sum(warm.get(bound[i].get("problem"), bound[i]["cost_ns"]) for i in counted)
    if warm_ns <= row["theirs"]:
        return f"cold weights: warm ours would be {warm_ns / 1e3:.1f} us"
    moved = sum(bound[i]["cost_ns"] for i in counted if layers[i]["op"] in MOVERS)
    if row["ours"] - moved <= row["theirs"]:
        return "movers that ONNX Runtime has within its kernel"
    if len(counted) > len(row["nodes"]):
        most = max(counted, key=lambda i: bound[i]["cost_ns"])
        if bound[most]["cost_ns"] <= row["theirs"]:
            return f"ONNX Runtime runs {len(counted)} of ours as {len(row['nodes'])}"
    plain = "src=nchw" in (bound[counted[0]].get("layouts") or "")
    return f"ONNX Runtime's kernel is quicker than our best ({bound[counted[0]].get('algorithm')}" + \
        (", in plain layout)" if plain else ")")


def compare(layers, bound, nodes, warm):
    owner = cover(layers, nodes)
    rows = []
    for members, runs in pieces(layers, bound, owner, nodes):
        costs = [bound[i]["cost_ns"] for i in members]
        row = {"layers": members, "nodes": runs, "ours": sum(c or 0 for c in costs), "missing": None in costs,
               "theirs": sum(nodes[n]["ns"] for n in runs)}
        if row["ours"] or row["theirs"] or row["missing"]:
            row["verdict"] = verdict(row, layers, nodes, bound, warm)
            rows.append(row)
    return rows


def name_of(row, layers, nodes, bound):
    counted = [i for i in row["layers"] if bound[i]["cost_ns"] or bound[i]["cost_ns"] is None]
    ours = "+".join(layers[i]["op"] for i in row["layers"] if i in counted or "fused_into" in bound[i])
    theirs = "+".join(nodes[n]["op"] for n in row["nodes"])
    where = layers[counted[0]]["name"] or layers[counted[0]]["outputs"][0]["name"] if counted else \
        nodes[row["nodes"][0]]["values"][0]
    return f"{where[-34:]:34} {(ours or '-')[-30:]:30} {(theirs or '-')[-26:]:26}"


def report(rows, layers, bound, nodes, most):
    """The largest differences, and sums by kind of operator and by verdict."""
    rows.sort(key=lambda row: row["theirs"] - row["ours"])
    total = sum(row["ours"] for row in rows)
    print(f"    {'layer':34} {'ours':30} {'ONNX Runtime':26} {'ours us':>9} {'ORT us':>9} {'more':>9}")
    for row in rows[:most]:
        if row["ours"] - row["theirs"] > NOISE / 10 * total:
            print(f"    {name_of(row, layers, nodes, bound)} {row['ours'] / 1e3:9.1f} {row['theirs'] / 1e3:9.1f} "
                  f"{(row['ours'] - row['theirs']) / 1e3:+9.1f}  {row['verdict']}")
    for title, key in (("by operator", lambda row: layers[max(row["layers"], key=lambda i: bound[i]["cost_ns"] or 0)]["op"]
                        if row["layers"] else nodes[row["nodes"][0]]["op"]),
                       ("by verdict", lambda row: re.sub(r"[(:].*", "", row["verdict"]).strip())):
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for row in rows:
            for i, value in enumerate((1, row["ours"], row["theirs"])):
                sums[key(row)][i] += value
        print(f"    {title}")
        for name, (count, ours, theirs) in sorted(sums.items(), key=lambda item: item[1][2] - item[1][1]):
            print(f"      {name:60} {count:4} {ours / 1e3:10.1f} {theirs / 1e3:9.1f} {(ours - theirs) / 1e3:+9.1f}")


def explain(benanza, model, batch, database, what_if, threads, most, of=statistics.median, runs=20):
    """Prints the table of one model; the sizes of dimensions are the sidecar's, but the batch."""
    import onnx
    import ort_common
    symbols = ort_common.symbols(onnx.load(model))
    dims = {name: value for name, value in (ort_common.default_dims(model) | {"batch": batch}).items() if name in symbols}
    size = ["-b", str(batch)] if "batch" in dims else []
    said = [json.loads(subprocess.run([benanza, *words, "--json", "--db", database, *size, str(model)], text=True,
                                      stdout=subprocess.PIPE).stdout) for words in (["layers"], ["bound", "-w", what_if])]
    layers, bound = (one["layers"] for one in said)
    nodes, whole_ns = ort_nodes(model, dims, threads, runs, of)
    rows = compare(layers, bound, nodes, warm_of(benanza, database))
    print(f"  {pathlib.Path(model).stem}, batch {batch}, {what_if}: ours {said[1]['bound_ns'] / 1e3:.1f} us; ONNX Runtime's nodes "
          f"{sum(node['ns'] for node in nodes) / 1e3:.1f} us of {whole_ns / 1e3:.1f} us while it is profiled")
    report(rows, layers, bound, nodes, most)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--benanza", default=str(TOP / "build/benanza"))
    parser.add_argument("--db", default=os.environ.get("BENANZA_DB"), required="BENANZA_DB" not in os.environ)
    parser.add_argument("-b", "--batch", type=int, default=1)
    parser.add_argument("--what-if", default="algorithm,fusion")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--least", action="store_true", help="ONNX Runtime's least times: where the machine is not quiet")
    options = parser.parse_args()
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        print("onnxruntime is not installed", file=sys.stderr)
        return 77
    explain(options.benanza, options.model, options.batch, options.db, options.what_if, options.threads, options.rows,
            min if options.least else statistics.median)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Are results of a GPU read rightly?  Proof without a GPU.

Jobs of bundled models become made-up results of the kind that benanza-runner-cuda gives: several
libraries, math modes and matrix units side by side, ranks over all of them, algorithms that failed
or are mistrusted, shortlists, enqueue times, times that are no times.  They are imported, and `bound` under
combinations of what-ifs (of bundled models a quarter, with CHECK_LONG=1 all) is held against what this
file computes by itself from the same results: prices, sums, longest paths, which groups to fuse, coverage,
gaps.
"""

import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile

TOP = os.environ.get("abs_srcdir") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("BENANZA") or os.path.join(os.environ.get("builddir", "."), "benanza")
PRODUCTS = ("conv", "matmul", "deconv", "attention", "rnn")
LLC_BYTES = 50 * 2**20
MODEL, STACK = "Imaginary G1", "cuDNN 9, cuBLASLt 13, CUDA 13"
WHAT_IFS = [("parallel", "on", "off"), ("fusion", "on", "off"), ("matrix", "on", "off"),
            ("algorithm", "best", "preferred"), ("launch", "amortized", "isolated"),
            ("math", "relaxed", "strict")]
count = failed = 0


def ok(good, what, *more):
    global count, failed
    count += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", count, what))
    if not good:
        for line in more:
            print("#", line)
    return good


def run(*args, status=(0, 1)):
    done = subprocess.run([PROGRAM, *args], capture_output=True, text=True)
    if done.returncode not in status:
        print("# %s: %d %s" % (" ".join(args), done.returncode, done.stderr))
    return done.stdout


# --- made-up results

def draw(text, *more):
    """A number from 0 to 1 that only the text decides."""
    digest = hashlib.sha256(repr((text,) + more).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def algorithms(problem):
    """(api, name, math, matrix, notes, speed, status, stop) in the order of ranks."""
    kernel, rest = problem.split(":", 1)
    f32 = rest.startswith("f32")
    if kernel not in PRODUCTS:
        return [("cuDNN", "eng1", "strict", "no", "", 1.0, "ok", "converged"),
                ("benanza, CUDA", "plain", "strict", "no", "", 1.4, "ok", "shortlist")]
    rows = []
    for i in range(3):
        math, matrix = ("tf32", "yes") if f32 and i == 0 else ("strict", "no" if f32 or i == 2 else "yes")
        rows.append(("cuDNN", "eng%d_k2=%d" % (i, i + 3), math, matrix, "tensor_core" if matrix == "yes" else "",
                     {"tf32": 0.3}.get(math, 1.0 if matrix == "no" else 0.2), "ok", "converged"))
    rows.append(("cuDNN legacy", "IMPLICIT_GEMM", "strict", "no", "", 1.3, "ok", "converged"))
    rows.append(("cuDNN legacy", "WINOGRAD", "strict", "unknown", "winograd", 0.7, "ok", "budget"))
    rows.append(("cuDNN legacy", "FFT", "strict", "no", "fft", 0.01, "mistrusted", ""))
    rows.append(("cuDNN legacy", "DIRECT", "strict", "no", "", 0.01, "unsupported", ""))
    if kernel == "matmul":
        name = "algo66_tile20"  # one name under two compute types
        rows.append(("cuBLASLt", name, "fast_bf16" if f32 else "f16_accumulate", "yes", "", 0.15, "ok", "converged"))
        rows.append(("cuBLASLt", name, "strict", "no" if f32 else "yes", "", 0.9, "ok", "converged"))
        rows.append(("cuBLASLt", "algo1", "fast_f16" if f32 else "strict", "no", "", 0.6, "ok", "shortlist"))
    rows.append(("cuDNN", "eng9", "strict", "no", "", 0.5, "no_memory", ""))
    return rows


def base_ns(problem):
    return 2000 + 60000 * draw(problem)


def whole_failure(problem):
    share = draw(problem, "whole")
    return "unsupported" if share < 0.04 else "failed" if share < 0.06 else ""


def result(problem, rank, row, cache, launch):
    api, name, math, matrix, notes, speed, status, stop = row
    ns = base_ns(problem) * speed * (0.8 + 0.4 * draw(problem, api, name, math, "speed"))
    ns *= {"net": 1, "warm": 0.8}[cache]
    ns += 2500 + 4000 * draw(problem, api, name, "launch") if launch == "isolated" else 0
    if api == "cuDNN" and name == "eng2_k2=5" and draw(problem, "zero") < 0.2:
        ns = 0  # no time: whoever reads it must not believe it
    stats = {"n": 2 if stop == "shortlist" else 12, "discarded": 0, "executions": 10, "min_ns": ns * 0.99,
             "q1_ns": ns, "median_ns": ns, "q3_ns": ns, "mean_ns": ns, "stdev_ns": ns / 100, "lo_ns": ns * 0.99,
             "hi_ns": ns * 1.02, "stop": stop}
    out = {"problem": problem, "algorithm": {
        "api": api, "name": name, "layouts": "src=ncx", "math": math, "rank": rank, "matrix": matrix,
        "workspace_bytes": 0, "notes": notes}, "status": status, "cache": cache, "launch": launch,
        "why": "" if status == "ok" else "not for this one", "kernels": "k1\nk2",
        "enqueue_ns": None if launch == "amortized" else 3000 + 9000 * draw(problem, name, "enqueue"),
        "clock_mhz": 1700, "measured_at": 1795234168, "runner_version": "0.2"}
    if status == "ok":
        out["stats"] = stats
    return out


def results_of(problem):
    status = whole_failure(problem)
    if status:
        return [{"problem": problem, "algorithm": {"api": "", "name": "", "layouts": "", "math": "", "rank": 0,
                 "matrix": "unknown", "workspace_bytes": None, "notes": ""}, "status": status, "cache": "net",
                 "launch": "amortized", "why": "all of it", "measured_at": 1795234168, "runner_version": "0.2"}]
    constant = ".c" in problem
    states = [(c, l) for c in (["net", "warm"] if constant else ["net"]) for l in ("amortized", "isolated")]
    out = []
    for rank, row in enumerate(algorithms(problem)):
        brief = row[6] != "ok" or row[7] == "shortlist"
        out += [result(problem, rank, row, *state) for state in (states[:1] if brief else states)]
    return out


def write_results(jobs, path):
    hello = {"magic": "BENANZA-RUNNER", "protocol": 1, "runner": "benanza-runner-cuda", "version": "0.2", "name": "cuda",
             "model": MODEL, "stack": STACK, "threads": 0, "llc_bytes": LLC_BYTES, "has_matrix": True, "host": "h",
             "attributes": {}}
    book = {}
    with open(path, "w") as out:
        out.write(json.dumps(hello) + "\n")
        for i, job in enumerate(jobs, 1):
            book[job["problem"]] = results_of(job["problem"])
            for one in reversed(book[job["problem"]]):  # the order of lines must not matter
                out.write(json.dumps({"type": "result", "id": i, "result": one}) + "\n")
            out.write(json.dumps({"type": "done", "id": i, "status": "ok", "why": "", "caches": ["net", "warm"],
                                  "launches": ["amortized", "isolated"], "problem": job["problem"]}) + "\n")
    return book


# --- what they mean, by the rules of the manual

def could_use_matrix(one):
    kernel, rest = one["problem"].split(":", 1)
    return kernel in PRODUCTS and not (rest.startswith("f32") and one["algorithm"]["math"] == "strict")


def allowed(one, s):
    if s["math"] == "strict" and one["algorithm"]["math"] != "strict":
        return False
    if s["matrix"] == "on" or one["algorithm"]["matrix"] == "no":
        return True
    return one["algorithm"]["matrix"] == "unknown" and not could_use_matrix(one)


def pick(book, problem, s, cache):
    """The result that a problem costs, or None."""
    rows = [r for r in book.get(problem, []) if r["launch"] == s["launch"] and r["status"] == "ok"]
    if cache == "warm" and not any(r["cache"] == "warm" for r in rows):
        cache = "net"
    rows = [r for r in rows if r["cache"] == cache and r["stats"]["median_ns"] > 0 and allowed(r, s)]
    full = [r for r in rows if r["stats"]["stop"] != "shortlist"]
    key = (lambda r: r["stats"]["median_ns"]) if s["algorithm"] == "best" else (lambda r: r["algorithm"]["rank"])
    return min(full or rows, key=key, default=None)


class Net:
    """A model as `layers` tells it: edges, who reads what, casts at its ends."""

    def __init__(self, told, read_outputs):
        self.layers = told["layers"]
        summary = told["summary"]
        self.cache = "warm" if summary["weight_bytes"] + summary["peak_live_bytes"] <= LLC_BYTES / 2 else "net"
        made, self.readers, self.preds = {}, {}, []
        self.inputs = {}
        for i, layer in enumerate(self.layers):
            preds = set()
            for v in layer["inputs"]:
                if not v or v.get("constant"):
                    continue
                self.readers.setdefault(v["name"], set()).add(i)
                if v["name"] in made:
                    preds.add(made[v["name"]])
                else:
                    self.inputs[v["name"]] = v
            self.preds.append(sorted(preds))
            made.update((v["name"], i) for v in layer["outputs"] if v and not v.get("constant"))
        self.ends = [v for l in self.layers for v in l["outputs"]
                     if v and not v.get("constant") and (v["name"] not in self.readers or v["name"] in read_outputs)]
        self.dtype = told["dtype"]

    def casts(self):
        if self.dtype == "f32":
            return [], []
        text = lambda a, b, v: "cast:%s,%s:%s" % (a, b, "x".join(map(str, v["shape"])))
        return ([(n, text("f32", self.dtype, v)) for n, v in self.inputs.items() if v["dtype"] == self.dtype],
                [(v["name"], text(self.dtype, "f32", v)) for v in self.ends if v["dtype"] == self.dtype])

    def groups(self):
        """Convolutions with batch norm, sum and activation behind, by this file's own reading: (layers, text)."""
        out = []
        for i, layer in enumerate(self.layers):
            if layer["op"] != "Conv" or not layer["problem"]:
                continue
            text, at, layers, added = layer["problem"], i, [i], False
            while True:
                value = self.layers[at]["outputs"][0]["name"]
                readers = self.readers.get(value, set())
                if len(readers) != 1:
                    break
                at = next(iter(readers))
                behind = self.layers[at]
                if behind["op"] == "BatchNormalization" and not added and "+relu" not in text and "+clip" not in text:
                    text += "" if "+bias" in text else "+bias:%s.c" % self.dtype
                elif behind["op"] == "Add" and not added and len(self.layers[at]["inputs"]) == 2 and \
                        not any(v.get("constant") for v in behind["inputs"]):
                    text += "+add:%s" % self.dtype
                    added = True
                elif behind["op"] in ("Relu", "Clip") and text.split("+")[-1].split(",")[0] not in ("relu", "clip"):
                    text += "+" + behind["problem"].split(":")[2]
                else:
                    break
                layers.append(at)
                out.append((list(layers), text))
        return out


def longest(net, cost, before, after):
    """Longest path; before, after: cost of casts by value."""
    finish = []
    for i, layer in enumerate(net.layers):
        ready = max([finish[p] for p in net.preds[i]] + [before.get(v["name"], 0) for v in layer["inputs"] if v], default=0)
        finish.append(ready + cost[i])
    ends = {v["name"]: finish[i] for i, l in enumerate(net.layers) for v in l["outputs"] if v}
    return max(finish + list(before.values()) + [ends[n] + ns for n, ns in after.items()])


def choose(net, own, groups, price):
    """Fewest gaps, then the least sum: every way to take groups apart, one cluster after the other."""
    chosen, parent = [], {}

    def root(i):
        while parent.setdefault(i, i) != i:
            i = parent[i]
        return i
    for layers, _ in groups:
        for i in layers[1:]:
            parent[root(i)] = root(layers[0])
    clusters = {}
    for g in groups:
        if price(g[1]):
            clusters.setdefault(root(g[0][0]), {}).setdefault(g[0][0], [None]).append(g)
    for anchors in clusters.values():
        least = None
        for ways in itertools.product(*anchors.values()):
            taken = [i for g in ways if g for i in g[0]]
            if len(taken) != len(set(taken)):
                continue
            covers = {i for way in anchors.values() for g in way if g for i in g[0]}
            rest = [own[i] for i in covers if i not in taken]
            key = (sum(x is None for x in rest), sum(x or 0 for x in rest) + sum(
                price(g[1])["stats"]["median_ns"] for g in ways if g))
            if least is None or key < least[0]:
                least = (key, ways)
        chosen += [g for g in least[1] if g]
    return chosen


def near(a, b):
    return (a is None and b is None) or (a is not None and b is not None and abs(a - b) <= 1e-6 * max(abs(a), abs(b), 1e-3))


def expect(net, book, s, groups):
    """The totals of a scenario in sequence, and the parallel one of a choice of groups."""
    price = lambda text: pick(book, text, s, net.cache)
    rows = [price(l["problem"]) if l["problem"] and l["class"] != "free" else None for l in net.layers]
    own = [0 if l["class"] == "free" else r["stats"]["median_ns"] if r else None for l, r in zip(net.layers, rows)]
    before, after = net.casts()
    ends = [{n: price(t) for n, t in side} for side in (before, after)]
    return price, rows, own, ends


def compare(net, book, told, s, groups):
    price, rows, own, ends = expect(net, book, s, groups)
    wrong = []
    parallel, fusion = s["parallel"] == "on", s["fusion"] == "on"
    if fusion and not parallel:
        chosen = choose(net, own, groups, price)
    else:  # the longest path's choice is taken as told, and only followed
        chosen = [g for g in groups if fusion and told["layers"][g[0][0]].get("fused_into") == g[0][0] and
                  [l["index"] for l in told["layers"] if l.get("fused_into") == g[0][0]] == g[0]]
    cost, used = list(own), list(rows)
    for layers, text in chosen:
        for i in layers:
            cost[i], used[i] = 0, None
        used[layers[-1]] = price(text)
        cost[layers[-1]] = used[layers[-1]]["stats"]["median_ns"]
    if len({l["fused_into"] for l in told["layers"] if "fused_into" in l}) != len(chosen):
        wrong.append("groups: told %s" % sorted({l["fused_into"] for l in told["layers"] if "fused_into" in l}))
    border = [r for side in ends for r in side.values()]
    everything = [r for r in used + border if r]
    gaps = sum(c is None for c in cost)
    cost = [c or 0 for c in cost]
    ns = [{n: r["stats"]["median_ns"] if r else 0 for n, r in side.items()} for side in ends]
    host = sum(r["enqueue_ns"] for r in everything) if s["launch"] == "isolated" else 0
    total = longest(net, cost, *ns) if parallel else sum(r["stats"]["median_ns"] for r in everything)
    for name, mine, theirs in (
            ("bound", max(total, host), told["bound_ns"]),
            ("same in parallel_ns or sequential_ns", told["bound_ns"], told["parallel_ns" if parallel else "sequential_ns"]),
            ("enqueue", host or None, told["enqueue_ns"]),
            ("border", sum(r["stats"]["median_ns"] for r in border if r) if border else 0, told["border_ns"] or 0),
            ("gaps", gaps, told["coverage"]["missing"] + told["coverage"]["unsupported"])):
        if not near(mine, theirs):
            wrong.append("%s: %r, told %r" % (name, mine, theirs))
    if told["complete"] != (gaps == 0 and all(border)):
        wrong.append("complete: told %r with %d gaps" % (told["complete"], gaps))
    # sorted: two equal convolutions in front of one sum may either take it along
    mine = sorted((r["algorithm"]["api"], r["algorithm"]["name"], r["algorithm"]["math"], r["algorithm"]["matrix"],
                   "%.6g" % r["stats"]["median_ns"]) for r in used if r)
    theirs = sorted((l["api"], l["algorithm"], l["math"], l["matrix"], "%.6g" % l["cost_ns"])
                    for l in told["layers"] if l["algorithm"] is not None)
    if mine != theirs:
        wrong.append("layers: %r, told %r" % (next(iter(set(mine) - set(theirs)), None), next(iter(set(theirs) - set(mine)), None)))
    c = told["coverage"]
    if sum(c[k] for k in ("measured", "proxy", "free", "fused", "estimated", "assumed", "missing", "unsupported")) != c["layers"]:
        wrong.append("coverage does not add up: %r" % c)
    return wrong


def words(s):
    return ",".join("%s=%s" % item for item in s.items())


def gaps(told):
    return {l["index"] for l in told["layers"] if l["cost_ns"] is None}


def check_saving(told, there, effect):
    """The saving is the difference of the two bounds; it is null if a problem is unmeasured or they lack different layers."""
    saves = effect["saves_ns"]
    if effect["unmeasured_problems"] or there["bound_ns"] is None or gaps(told) != gaps(there):
        return [] if saves is None else ["saving %r of partial sums" % saves]
    want = (there["bound_ns"] - told["bound_ns"]) * (1 if effect["on"] else -1)
    return [] if saves is not None and abs(saves - want) <= 1e-3 else ["saving %r, not %r" % (saves, want)]


def check_effects(bounds, wrong):
    """What flipping a toggle is said to do is what it does."""
    for key, told in bounds.items():
        for effect in told["what_if"]:
            names = [w[0] for w in WHAT_IFS]
            if effect["name"] not in names or not effect["available"]:
                continue
            at = names.index(effect["name"])
            other = list(key)
            other[at] = WHAT_IFS[at][2 if key[at] == WHAT_IFS[at][1] else 1]
            there = bounds.get(tuple(other))
            if not there:
                continue
            flipped = there["bound_ns"]
            wrong += ["%s: %s: %s" % (key, effect["name"], w) for w in check_saving(told, there, effect)]
            if not near(effect["bound_ns"], flipped):
                wrong.append("%s: %s %r, told %r" % (key, effect["name"], flipped, effect["bound_ns"]))


def every_three(every):
    """A quarter of the combinations: each of any three what-ifs is among them; and the
    first with one flipped."""
    first = [w[1] for w in WHAT_IFS]

    def even(key, *at):
        return sum(key[i] == first[i] for i in at) % 2 == 0

    return [key for key in every if even(key, 0, 1, 2, 4) and even(key, 1, 2, 3, 5) or
            sum(a != b for a, b in zip(key, first)) == 1]


def check_model(book, db, model, dtype, fusible, *read_outputs):
    whole = "tiny" in model or os.environ.get("CHECK_LONG")
    base = ["--db", db, "-t", dtype, "--json"]
    path = os.path.join(TOP, model)
    net = Net(json.loads(run("layers", "-t", dtype, "--json", path)), read_outputs)
    groups = net.groups() if fusible else []
    unknown = [t for _, t in groups if t not in book]
    ok(not unknown, "%s %s: fused problems are among the jobs" % (model, dtype), *unknown[:3])
    bounds, wrong = {}, []
    every = list(itertools.product(*[w[1:] for w in WHAT_IFS]))
    for key in every if whole else every_three(every):
        s = dict(zip([w[0] for w in WHAT_IFS], key))
        if s["fusion"] == "on" and not fusible:
            continue
        told = json.loads(run("bound", *base, "-d", MODEL, "-w", words(s), path))
        bounds[key] = told
        wrong += ["%s: %s" % (words(s), w) for w in compare(net, book, told, s, groups)]
    ok(not wrong, "%s %s: %d scenarios, read from cache state %s" % (model, dtype, len(bounds), net.cache), *wrong[:12])
    if fusible:
        wrong = []
        check_effects(bounds, wrong)
        ok(not wrong, "%s %s: what flipping one would do" % (model, dtype), *wrong[:12])


def twin(text):
    """The channels-last problem of a layer."""
    kernel, operands, rest = text.split(":", 2)
    if kernel not in ("conv", "pool", "batchnorm", "lrn", "resample", "concat"):
        return text
    types, slash, sums = operands.partition("/")
    return ":".join([kernel, ",".join(t + "@nxc" for t in types.split(",")) + slash + sums, rest])


def check_layout(book, db, model, dtype, conversions):
    path = os.path.join(TOP, model)
    net = Net(json.loads(run("layers", "-t", dtype, "--json", path)), ())
    wrong = []
    for math in ("strict", "relaxed"):
        s = {"fusion": "off", "matrix": "on", "algorithm": "best", "launch": "amortized", "math": math}
        told = json.loads(run("bound", "--db", db, "-d", MODEL, "-t", dtype, "--json", "-w", words(s) + ",layout", path))
        border = sum(r["stats"]["median_ns"] for r in (pick(book, c, s, net.cache) for c in conversions) if r)
        total = border
        for layer, l in zip(net.layers, told["layers"]):
            if not layer["problem"] or layer["class"] == "free":
                continue
            text = twin(layer["problem"])
            r = pick(book, text if text in book else layer["problem"], s, net.cache)
            total += r["stats"]["median_ns"] if r else 0
            if not near(r["stats"]["median_ns"] if r else None, l["cost_ns"]):
                wrong.append("%s: %r, told %r" % (text, r, l["cost_ns"]))
        if not near(total, told["bound_ns"]) or not near(border, told["border_ns"] or 0) or told["conversions"] != len(conversions):
            wrong.append("%r with %r at the border, reported %r with %r" % (total, border, told["bound_ns"], told["border_ns"]))
    ok(not wrong, "%s %s: channels last, %d conversion" % (model, dtype, len(conversions)), *wrong[:5])


def main():
    # model, type, does this file know its groups, outputs that the model itself reads on
    models = [("tests/models/tiny.onnx", "f32", True), ("tests/models/tiny.onnx", "f16", True),
              ("data/models/mobilenet_v2.onnx", "f32", True), ("data/models/resnet50.onnx", "f16", True),
              ("data/models/googlenet.onnx", "f32", False),
              ("data/models/bert_base.onnx", "f16", False, "last_hidden_state")]
    with tempfile.TemporaryDirectory() as work:
        for name, path in (("HOME", "home"), ("XDG_DATA_HOME", "data"), ("XDG_CONFIG_HOME", "config"),
                           ("XDG_STATE_HOME", "state")):
            os.environ[name] = os.path.join(work, path)
        # a database for each: every scenario reads all of it
        for path in dict.fromkeys(m[0] for m in models):
            db, lines = os.path.join(work, "g1.db"), os.path.join(work, "results.jsonl")
            jobs = run("bench", "-q", "--emit-jobs", "-d", "cuda", "-t", "f32,f16", "-w", "layout",
                       os.path.join(TOP, path))
            book = write_results([json.loads(line) for line in jobs.splitlines()], lines)
            run("db", "import", "-q", "--db", db, lines, status=(0,))
            for one in models:
                if one[0] == path:
                    check_model(book, db, *one)
            # only the model's input has to be turned: behind the last pooling both layouts are the same bytes
            if path in ("data/models/googlenet.onnx", "data/models/resnet50.onnx"):
                check_layout(book, db, path, "f32", ["transpose:f32,f32:3x50176:perm1x0"])
            os.remove(db)
    print("1..%d" % count)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""How `make bench-ratio` makes figures of what it measured: which runtime is the divisor, ratios, intervals,
limits, explanations, and what is kept when it is interrupted; and `make bench-ones`. Measures nothing."""

import argparse
import contextlib
import io
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import python_tap  # noqa: E402
import bench_lines  # noqa: E402
import bench_ones  # noqa: E402
import bench_pair  # noqa: E402
import bench_ratio  # noqa: E402

ORT, OPENVINO = bench_ratio.AGENTS
PLAIN, FUSED = bench_ratio.PLAIN, bench_ratio.FUSED


def run(ns):
    return {"measured_ns": ns, "interval_ns": [ns, ns], "noisy": False}


def bound(ns, spread=0, **more):
    return {"bound_ns": ns, "interval_ns": [ns - spread, ns + spread], "complete": True, "disturbed": 0,
            "mistrusted": 0} | more


def group(real, cost, again=True):
    return {"row": "conv", "kernel": "k", "algorithm": "a", "real_ns": real, "real_interval_ns": [real, real],
            "cost_ns": cost, "cost_interval_ns": [cost, cost], "gap": "algorithm", "measured_again": again,
            "ops": "Conv+Relu"}


def side(gaps=None, **more):
    return {"gaps": gaps or {}, "contradicted": [], "whole": False, "not_comparable": None, "slower": [],
            "faster": []} | more


def record(turns, bounds, case="model b1", **compared):
    """turns: (ONNX Runtime, OpenVINO) in ns; bounds: with fusion, without it twice that."""
    return {"case": case, "setup": "here", "budget_ms": 40, "measured_at": 1,
            "turns": [{ORT: run(a), OPENVINO: run(b)} for a, b in turns],
            "bounds": [{PLAIN: bound(2 * b["bound_ns"]), FUSED: b} for b in bounds],
            "compared": {name: compared.get(name, side()) for name in bench_ratio.AGENTS}}


def near(name, found, wanted):
    return [f"{name}: {found}, not {wanted}"] * (abs(found - wanted) > 1e-9)


def divisor():
    found = bench_ratio.figures(record([(110, 115), (120, 105), (100, 130)], [bound(90), bound(80)]))
    wrong = near("ONNX Runtime", found[ORT], 100) + near("OpenVINO", found[OPENVINO], 105)
    wrong += [f"divisor {found['faster']}"] * (found["faster"] != ORT)
    return wrong + near("ratio", found["ratio", FUSED], .8) + near("plain", found["ratio", PLAIN], 1.6)


def intervals():
    one = record([(100, 200), (110, 200), (120, 200)], [bound(95, 5), bound(105, 1)])
    one["turns"][0][ORT]["interval_ns"] = [90, 125]
    found = bench_ratio.figures(one)["interval"]
    one["turns"][0][ORT]["noisy"] = True
    later = bench_ratio.figures(one)["interval"]
    lone = bench_ratio.figures(record([(100, 200), (100, 200)], [bound(95) | {"interval_ns": None}]))
    told = bench_ratio.line(record([(100, 200), (120, 200)], [bound(95)]))
    return near("low", found[0], 90 / 125) + near("high", found[1], 100 / 90) + \
        near("without the disturbed run", later[1], 100 / 110) + near("unknown", lone["interval"][0], .95) + \
        ["a spread is not told"] * ("onnxruntime's runs took up to 1.2 times as long" not in told)


def flags():
    cases = (("over", 105, 1), ("", 105, 4), ("", 102, 0), ("", 85, 0), ("under", 84, 5))
    return [f"{ns} +- {spread}: '{found}' instead of '{flag}'" for flag, ns, spread in cases
            if (found := bench_ratio.figures(record([(100, 200)] * 2, [bound(ns, spread)]))["flag"]) != flag]


def unknown():
    one = record([(100, 90), (100, 90)], [bound(80)])
    del one["turns"][1][OPENVINO]  # it failed in one turn
    none = record([(100, 90), (100, 90)], [bound(80)])
    none["bounds"][0][FUSED]["bound_ns"] = None
    least = record([(100, 90), (100, 90)], [bound(80, complete=False)])
    slow = record([(100, 90), (100, 90)], [bound(80)])
    for turn in slow["turns"]:
        turn[OPENVINO]["measured_ns"] = None
    return [f"divisor {bench_ratio.figures(slow)}"] * (bench_ratio.figures(slow)["faster"] != ORT) + \
        ["one failure of two"] * (bench_ratio.figures(one)["faster"] != OPENVINO) + \
        ["an unknown bound has figures"] * (bench_ratio.figures(none) is not None) + \
        ["no word on the row"] * ("unknown" not in bench_ratio.line(none)) + \
        ["no word on a gap"] * ("at least" not in bench_ratio.line(least))


def explained():
    over = record([(100, 200)] * 2, [bound(120)], "over b1",
                  onnxruntime=side({"faster": -30, "fusion": 10}, faster=[group(10, 40)],
                                   slower=[group(9, 1)], contradicted=[group(10, 40, False)]))
    under = record([(300, 200)] * 2, [bound(100)], "under b8",
                   openvino=side({"algorithm": 60, "reorder": 50}, slower=[group(70, 10)], whole=True))
    inside = record([(100, 100)] * 2, [bound(95)], "inside b1")
    said = "\n".join(bench_ratio.summary([over, under, inside], -1))
    wanted = ("with fusion: 0.829 of 3", "over 1.02 beyond the interval: over b1",
              "over b1, 1.200: onnxruntime - bound in us: faster -0, fusion +0", "under 0.85: under b8",
              "under b8, 0.500: openvino", "+0.1 us:", "Conv+Relu", "k against a, conv", "not measured again",
              "under b8, openvino: the whole model is faster")
    wrong = [f"'{words}' is not said" for words in wanted if words not in said]
    wrong += ["explains more than asked"] * ("Conv+Relu" in "\n".join(
        bench_ratio.summary([under | {"compared": {OPENVINO: side(slower=[group(70, 10)])}}], 0)))
    return wrong + ["an explanation of the wrong side"] * (said.count("Conv+Relu") != 3)


class Stub:
    """Stands for the measurements: each takes 10 minutes."""

    def __init__(self):
        self.minutes, self.measured = 0, []

    def measure(self, model, batch):
        self.minutes += 10
        self.measured.append(bench_ratio.case_name(model, batch))
        if model.stem == "bad":
            raise bench_ratio.Failed("exit status 2")
        return record([(100, 90)] * 2, [bound(80)], self.measured[-1])


def measured(cases, minutes, path, setup="here"):
    """Returns (names of the cases that were measured, those left out, what was printed)."""
    stub, said = Stub(), io.StringIO()
    clock = bench_ratio.time.monotonic
    bench_ratio.Clock.__init__.__defaults__ = (lambda: 60 * stub.minutes,)
    try:
        with contextlib.redirect_stdout(said):
            left = bench_ratio.measure_all(stub, cases, bench_ratio.saved(path, setup),
                                           argparse.Namespace(time=minutes, save=path))
    finally:
        bench_ratio.Clock.__init__.__defaults__ = (clock,)
    return stub.measured, left, said.getvalue()


def interrupted(folder):
    path = pathlib.Path(folder) / "results.jsonl"
    cases = [(pathlib.Path(f"{name}.onnx"), batch) for name in "ab" for batch in (1, 8)] + \
        [(pathlib.Path("bad.onnx"), None)]
    first = measured(cases, 25, path)
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"case": "b b1", "setup"')  # it was killed while it wrote
    second = measured(cases, None, path)
    kept = [json.loads(line)["case"] for line in path.read_text().splitlines()]
    wrong = [f"first {first[:2]}"] * (first[:2] != (["a b1", "a b8"], ["b b1", "b b8", "bad"]))
    wrong += [f"then {second[:2]}"] * (second[:2] != (["b b1", "b b8", "bad"], []))
    wrong += [f"kept {kept}"] * (kept != ["a b1", "a b8", "b b1", "b b8"])
    wrong += ["a failure is not told"] * ("exit status 2" not in second[2])
    wrong += ["a kept row is not shown"] * ("a b1" not in second[2])
    for text, setup, words in ((None, "elsewhere", "here; here: elsewhere"),
                               ("[1]\n", "here", "no result of")):
        if text:
            path.write_text(text)
        try:
            bench_ratio.saved(path, setup)
            wrong.append(f"no error where it should be '{words}'")
        except bench_ratio.Failed as error:
            wrong += [str(error)] * (words not in str(error))
    return wrong


class Sides:
    """Answers as bench_pair, with times of its own."""

    def __init__(self, sides, ns):
        self.sides, self.ns, self.asked = sides, ns, []

    def ask(self, line):
        word, what, *_ = line.split()
        self.asked.append((word, what))
        return {"sides": self.sides} if word == "open" else {"ns": self.ns[what].pop(0)}


PAIR = ("other", "ones")


def products():
    options = argparse.Namespace(rounds=3, ms=1)
    both = Sides({"ones": "ones_left:a src=ab", "other": "b"},
                 {"ones": [10e3, 20e3, 40e3], "other": [30e3] * 3})
    text = bench_pair.line_of("rows  16", PAIR, *bench_pair.measure(both, "P", PAIR, options))
    wrong = [text] * (text.split()[2:5] != ["30.0", "20.0", "1.50"])
    wrong += [text] * (text.split()[-2:] != ["b", "ones_left:a"])
    wrong += ["not in turn"] * ([what for _, what in both.asked] != ["P"] + ["other", "ones"] * 3)
    lone = Sides({"other": "b"}, {})
    text = bench_pair.line_of("rows  16", PAIR, *bench_pair.measure(lone, "P", PAIR, options))
    wrong += [text] * (not text.endswith("no ones"))
    wrong += ["lengths"] * (max(bench_ones.lengths_of("running")) != 512 or
                            (min(bench_ones.SEGMENTS), max(bench_ones.SEGMENTS)) != (16, 65536))
    return wrong + [t for t, p in (("rows", "reduce:f32,f32:sum:65536x16:65536x1"),
                                   ("columns", "reduce:f32,f32:sum:16x65536:1x65536"),
                                   ("running", "scan:f32,f32:cumsum:65536x16:ax1"))
                    if bench_ones.problem_of(t, "f32", 16) != p]


def lines():
    return [kind for kind, rest, text in (("binary", "add:2x3:3", "binary:f32,f32,f32:add:2x3:3"),
                                          ("softmax", "soft:2x3:ax1", "softmax:f32,f32:soft:2x3:ax1"))
            if bench_lines.problem_of(kind, rest) != text]


def main():
    tap = python_tap.Tap()
    tap.result("the faster runtime is the divisor, and the fastest run of each side counts", divisor())
    tap.result("the interval of a ratio holds those of both sides; disturbed runs do not count", intervals())
    tap.result("over: beyond the interval; under: the ratio itself", flags())
    tap.result("what is unknown is no ratio, and a bound with gaps is at least", unknown())
    tap.result("cases beyond the limits are explained, contradictions listed", explained())
    tap.result("products with ones: both sides in turn, the median of the ratios", products())
    tap.result("problems of the kernels for lines", lines())
    with tempfile.TemporaryDirectory() as folder:
        tap.result("an interrupted run goes on, and time that is short leaves cases out", interrupted(folder))
    return tap.end()


if __name__ == "__main__":
    raise SystemExit(main())

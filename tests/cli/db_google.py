#!/usr/bin/env python3
"""db import and export --as google-benchmark: an invented file of SCOPE becomes a device to choose; what is
exported is what Google Benchmark's tools read, and comes back as it was. TAP."""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, TIME_LIMIT_S, Tap, program  # noqa: E402

MODEL = ROOT / "tests" / "models" / "tiny.onnx"
GPU = {"gpu_name:Tesla X-9": 1.0, "cudnn_version:7.6.3": 2.0, "compute_capability:7.0": 3.0}
ALGORITHMS = ("IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "GEMM", "DIRECT", "FFT", "FFT_TILING", "WINOGRAD",
              "WINOGRAD_NONFUSED")
AGGREGATES = {"mean", "median", "stddev", "cv"}


class Here:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        runner = ROOT / "tests" / "lib" / "word_runner.sh"
        words = {"cpu": ["sh", str(runner), "Word 1", "words 1, 1 thread", "1", "pool:*"]}
        (self.folder / "config.yaml").write_text(json.dumps({"runners": words}))

    def run(self, *words):
        env = os.environ | {"BENANZA_CONFIG": str(self.folder / "config.yaml"), "HOME": str(self.folder)}
        return subprocess.run([program(), *map(str, words)], capture_output=True, text=True,
                              timeout=TIME_LIMIT_S, env=env, cwd=self.folder)

    def said(self, *words):
        done = self.run(*words)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)


def relu(shape, us, **more):
    inputs = [*shape, *[-1] * (8 - len(shape))]
    named = "/".join(f"input[{i}]:{n}" for i, n in enumerate(inputs))
    name = f"LAYER_CUDNN_ACTIVATION_FWD_FLOAT32__BatchSize_{shape[0]}__12<CUDNN_ACTIVATION_RELU>/{named}"
    return {"name": f"{name}/batch_size:{shape[0]}/manual_time",
            "iterations": 100, "real_time": us, "cpu_time": us + 1, "time_unit": "us"} | GPU | more


def conv(problem, algorithm, us, advised):
    """The benchmark of the first convolution of a model, from its problem."""
    n, c, h, w, k, r, s = problem
    sizes = (f"input[0]:{n}/input[1]:{c}/input[2]:{h}/input[3]:{w}/filter_count:{k}/filter_height:{r}"
             f"/filter_width:{s}/pad_height:{r // 2}/pad_width:{s // 2}/stride_height:1/stride_width:1"
             f"/dilation_height:1/dilation_width:1/group:1")
    name = (f"LAYER_CUDNN_CONV_FWD_0_FLOAT32__BatchSize_1__34<CUDNN_CONVOLUTION_FWD_ALGO_{algorithm}>/{sizes}"
            "/manual_time")
    if us is None:
        return {"name": name, "error_occurred": True, "error_message": "of CUDNN_STATUS_NOT_SUPPORTED",
                "iterations": 1, "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns"}
    return {"name": name, "iterations": 10, "real_time": us, "cpu_time": us, "time_unit": "us",
            "advised_convolution_algorithm": float(ALGORITHMS.index(advised)), "workspace_bytes": 8.0,
            "convolution_algorithm": float(ALGORITHMS.index(algorithm)), "math_type": 0.0} | GPU


def write_scope(path):
    benchmarks = [conv((1, 3, 8, 8, 4, 3, 3), "FFT", None, None),
                  conv((1, 3, 8, 8, 4, 3, 3), "GEMM", 30.0, "GEMM"),
                  conv((1, 3, 8, 8, 4, 3, 3), "WINOGRAD", 20.0, "GEMM"),
                  relu((1, 4, 8, 8), 5.0),
                  {"name": "BM_other/1", "iterations": 3, "real_time": 1, "cpu_time": 1, "time_unit": "ns"}]
    context = {"date": "2019-09-30 10:25:24"}
    path.write_text(json.dumps({"context": context, "benchmarks": benchmarks}, indent=1))


def write_model(path):
    from onnx import TensorProto, helper, numpy_helper
    import numpy
    info = helper.make_tensor_value_info
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1] * 4),
             helper.make_node("Relu", ["c"], ["y"], "relu")]
    graph = helper.make_graph(nodes, "g", [info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
                              [info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(numpy.ones((4, 3, 3, 3), numpy.float32), "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path.write_bytes(model.SerializeToString())


def check_import(here):
    write_scope(here.folder / "scope.json")
    args = ("--db", "scope.db", "db", "import", "--as", "google-benchmark", "--json", "scope.json")
    first, again = here.said(*args), here.said(*args)
    reasons = [(reason["count"], reason["text"], reason["example"]) for reason in first["reasons"]]
    wrong = []
    if (first["benchmarks"], first["results"], first["added"], first["devices"]) != (5, 4, 4, 1):
        wrong.append(str(first))
    if reasons != [(1, "a benchmark of another program", "BM_other/1")] or first["left_out"] != 1:
        wrong.append(f"left out: {reasons}")
    if (again["added"], again["already"]) != (0, 4):
        wrong.append(f"again: {again}")
    if here.run("--db", "scope.db", "db", "check").returncode:
        wrong.append("db check has findings")
    return wrong


def check_hostile(here):
    """Numbers that no machine has, and an aggregate whose name has no '_'."""
    relus = [relu((shape, 4, 8, 8), 5.0) for shape in (1, 2, 3, 5)]
    relus[0] |= {"real_time": 1e300}
    relus[1] |= {"real_time": 1e-300}
    relus[2] |= {"workspace_bytes": -5}
    aggregates = [{"name": name, "run_type": "aggregate", "aggregate_name": "mean", "iterations": 1,
                   "real_time": 1, "cpu_time": 1, "time_unit": "ns"} for name in ("x", "abc", "_", "a_mean")]
    (here.folder / "hostile.json").write_text(json.dumps({"benchmarks": relus + aggregates}))
    said = here.said("--db", "hostile.db", "db", "import", "--as", "google-benchmark", "--json",
                     "hostile.json")
    wrong = [] if said["benchmarks"] == 8 and said["results"] + said["left_out"] == 8 else [str(said)]
    if said["results"] not in (1, 2) or not any("above 1e15 ns" in one["text"] for one in said["reasons"]):
        wrong.append(str(said))
    if here.run("--db", "hostile.db", "db", "check").returncode:
        wrong.append("db check has findings")
    return wrong


def check_repair(here):
    """What db check names is removed, and the rest stays."""
    path = here.folder / "repair.db"
    here.said("--db", "repair.db", "db", "import", "--as", "google-benchmark", "--json", "scope.json")
    with sqlite3.connect(path) as file:
        before = file.execute("SELECT count(*) FROM result").fetchone()[0]
        ok = "(SELECT min(id) FROM result WHERE status = 'ok')"
        file.executescript("DROP TRIGGER result_no_update;"
                           f"UPDATE result SET median_ns = 1e300, q3_ns = 1e300 WHERE id = {ok};"
                           "INSERT INTO problem (text) VALUES ('nonsense');"
                           "UPDATE attributes SET json = 'no JSON';"
                           "INSERT INTO model_dims VALUES ('m.onnx', '{', 1), ('n.onnx', '{}', 1);")
    file.close()
    found = here.run("--db", "repair.db", "db", "check")
    said = here.said("--db", "repair.db", "db", "repair", "--json")
    again = here.said("--db", "repair.db", "db", "repair", "--json")
    wrong = [] if found.returncode == 1 and len(found.stdout.splitlines()) >= 2 else [found.stdout]
    absent = here.run("--db", "absent.db", "db", "repair")
    if absent.returncode != 2 or "No such file" not in absent.stderr or (here.folder / "absent.db").exists():
        wrong.append(f"a database that is absent: {absent.returncode} {absent.stderr}")
    for row in ("removed  result ", "removed  problem ", "emptied  attributes "):
        if row not in said["rows"]:
            wrong.append(f"no row {row}: {said['rows']}")
    if said["findings"] or said["removed"] < 3 or again["removed"] or again["findings"]:
        wrong.append(f"{said}, {again}")
    if here.run("--db", "repair.db", "db", "check").returncode:
        wrong.append("findings are left")
    with sqlite3.connect(path) as file:
        if file.execute("SELECT count(*) FROM result").fetchone()[0] != before - 1:
            wrong.append("other results are gone")
        if file.execute("SELECT count(*) FROM finished").fetchone()[0] != 1:
            wrong.append("the problem that lost a result is not measured again")
        kept = file.execute("SELECT model FROM model_dims").fetchall()
        texts = file.execute("SELECT DISTINCT json FROM attributes").fetchall()
        if kept != [("n.onnx",)] or texts != [("{}",)]:
            wrong.append(f"texts that are no JSON: {kept}, {texts}")
        try:
            file.execute("DELETE FROM result")
            wrong.append("results can be deleted now")
        except sqlite3.DatabaseError:
            pass
    file.close()
    return wrong


def check_hostile_repair(here):
    """SQL of the file is never run: neither that of a changed trigger nor other triggers."""
    path = here.folder / "hostile.db"
    here.said("--db", "hostile.db", "db", "import", "--as", "google-benchmark", "--json", "scope.json")
    with sqlite3.connect(path) as file:
        file.executescript("""INSERT INTO problem (text) VALUES ('nonsense'); PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = sql || '; COMMIT; CREATE TABLE made (a); BEGIN'
                WHERE name = 'result_no_delete';""")
    file.close()
    here.said("--db", "hostile.db", "db", "repair", "--json")
    wrong = []
    with sqlite3.connect(path) as file:
        if file.execute("SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%made (%'").fetchone()[0]:
            wrong.append("SQL of the file was run, or is left")
        file.execute("INSERT INTO problem (text) VALUES ('nonsense')")
        file.execute("CREATE TRIGGER other AFTER DELETE ON problem BEGIN SELECT 1; END")
    file.close()
    refused = here.run("--db", "hostile.db", "db", "repair")
    if refused.returncode != 2 or "a trigger of another program, other" not in refused.stderr:
        wrong.append(f"another trigger: {refused}")
    return wrong


def check_device(here):
    """-d takes a part of the GPU's name; algorithm=preferred is what the library advised."""
    words = ("--db", "scope.db", "bound", "--json", "-d", "Tesla X", "model.onnx", "-w")
    choices = ("launch=isolated", "launch=isolated,algorithm=preferred")
    totals = [here.said(*words, choice)["bound_ns"] for choice in choices]
    return [] if totals == [25000, 35000] else [f"{totals}, not 25 and 35 us"]


def check_launch(here):
    said = here.run("--db", "scope.db", "bound", "-d", "Tesla X", "model.onnx").stdout
    return [] if "only measured isolated (-w launch=isolated)" in said else [said]


def results_of(here, db):
    lines = here.run("--db", db, "db", "export").stdout.splitlines()
    return {line.partition('"id":')[2].partition(",")[2] for line in lines if '"magic"' not in line}


def is_entry(entry):
    numbers = all(isinstance(entry[key], (int, float)) for key in ("iterations", "real_time", "cpu_time"))
    if entry["run_type"] == "aggregate":
        good = entry["name"] == f"{entry['run_name']}_{entry['aggregate_name']}" and \
            entry["aggregate_name"] in AGGREGATES and entry["repetitions"] > 1
    else:
        good = entry["run_type"] == "iteration" and entry["name"] == entry["run_name"]
    if entry.get("error_occurred"):
        good = good and entry["error_message"] and entry["real_time"] == 0
    return good and numbers and entry["time_unit"] == "ns" and " " not in entry["name"]


def check_round_trip(here, db, copy, arguments=()):
    done = here.run("--db", db, "db", "export", "--as", "google-benchmark", *arguments)
    (here.folder / "out.json").write_text(done.stdout)
    file = json.loads(done.stdout)
    wrong = [f"not an entry: {entry}" for entry in file["benchmarks"] if not is_entry(entry)]
    if not {"date", "host_name", "executable"} <= set(file["context"]):
        wrong.append(f"the context lacks something: {list(file['context'])}")
    here.said("--db", copy, "db", "import", "--json", "--as", "google-benchmark", "out.json")
    if not results_of(here, copy) or results_of(here, copy) != results_of(here, db):
        wrong.append("the results that came back are others")
    return wrong


def check_refused(here, words, says):
    done = here.run(*words)
    good = done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1
    return [] if good else [f"{done.returncode}: {done.stderr}"]


def main():
    program()
    with tempfile.TemporaryDirectory() as folder:
        here, tap = Here(folder), Tap(11)
        tap.result("benchmarks of SCOPE are imported, and others counted", check_import(here))
        tap.result("impossible numbers are left out", check_hostile(here))
        tap.result("db repair", check_repair(here))
        tap.result("db repair of a hostile file", check_hostile_repair(here))
        try:
            write_model(here.folder / "model.onnx")
            tap.result("the GPU is a device", check_device(here))
            tap.result("results in the other launch mode are named", check_launch(here))
        except ImportError as missing:
            tap.skipped("the GPU is a device", f"{missing.name} is not installed")
            tap.skipped("results in the other launch mode are named", f"{missing.name} is not installed")
        tap.result("what was imported comes back", check_round_trip(here, "scope.db", "scope2.db"))
        here.run("--db", "words.db", "bench", "-q", MODEL)
        tap.result("measurements come back", check_round_trip(here, "words.db", "words2.db"))
        tap.result("another format", check_refused(
            here, ("db", "import", "--as", "csv", "scope.json"), "format 'csv'; use google-benchmark"))
        here.run("--db", "both.db", "db", "merge", "scope.db", "words.db")
        tap.result("two devices are no file", check_refused(
            here, ("--db", "both.db", "db", "export", "--as", "google-benchmark"), "select one with -d"))
        tap.result("no file of benchmarks", check_refused(
            here, ("db", "import", "--as", "google-benchmark", "config.yaml"), 'has no "benchmarks"'))
        return tap.end()


if __name__ == "__main__":
    sys.exit(main())

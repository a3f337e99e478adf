#!/usr/bin/env python3
"""Executions of the bundled models by OpenVINO, stored and compared: at least 99% of the time of their rows
is matched or added. Prints TAP.

    BENANZA=build/benanza tests/agents/agents_compare.py [NAME...]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import TIME_LIMIT_S, Tap, need, program, said, wanted  # noqa: E402

need("numpy", "onnx", "openvino")
import onnx  # noqa: E402
import ort_common  # noqa: E402
from agent_wire import AGENTS, Agent, job  # noqa: E402

LEAST = 0.99
# The variable limits our own runner to a part of the CPU's instructions. OpenVINO obeys it only in its copy
# of oneDNN; with SSE41 that no longer fits OpenVINO's own kernels, and models end with "bad combination".
LIMIT = "ONEDNN_MAX_CPU_ISA"
ENVIRONMENT = {LIMIT: "DEFAULT"} if os.environ.get(LIMIT, "").upper() == "SSE41" else {}
TYPES = {onnx.TensorProto.FLOAT: "f32", onnx.TensorProto.INT64: "s64", onnx.TensorProto.INT32: "s32"}


def inputs_of(path):
    dims = ort_common.default_dims(path)
    for value in ort_common.real_inputs(onnx.load(path).graph):
        tensor = value.type.tensor_type
        shape = [dims[d.dim_param] if d.WhichOneof("value") == "dim_param" else d.dim_value
                 for d in tensor.shape.dim]
        yield {"name": value.name, "dtype": TYPES[tensor.elem_type], "shape": shape}


def differences(path, folder):
    agent = Agent(AGENTS / "agent_openvino.py", environment=ENVIRONMENT)
    request = job(path, list(inputs_of(path)), budget_ms=50, threads=2, dtype="f32", profile=True)
    execution, rows, done, _ = agent.run(request)
    agent.end()
    if not execution or done["status"] != "ok":
        yield f"{done}"
        return
    lines = [{"type": "execution", "id": 1, "execution": execution},
             *({"type": "row", "id": 1, "row": row} for row in rows), done]
    (folder / "lines").write_text("".join(json.dumps(line) + "\n" for line in lines))
    subprocess.run([program(), "db", "import", "-q", "--db", folder / "t.db", folder / "lines"], check=True,
                   timeout=TIME_LIMIT_S)
    d = said("compare", "--json", "-q", "-d", "a100", "--db", folder / "t.db", path)
    matched = d["matched"]
    share = (matched["matched_ns"] + matched["added_ns"]) / matched["total_ns"]
    gaps = sum(gap["ns"] for gap in d["gaps"])
    print(f"# {path.stem}: matched {matched['matched_ns'] / matched['total_ns']:.2%}, "
          f"added {matched['added_ns'] / matched['total_ns']:.2%}")
    if share < LEAST:
        yield f"{share:.2%}; not matched: {sorted({row['op'] or '?' for row in d['unmatched']})}"
    # the bundled BERT's weights are constants: query, key and value are equal, and one of them runs
    if path.stem == "bert_base" and not matched["merged_layers"]:
        yield "no layer is merged with an equal one"
    if abs(gaps - (d["measured_ns"] - d["bound_ns"])) > 1:
        yield f"the gaps add up to {gaps}, not {d['measured_ns'] - d['bound_ns']}"
    if [d["agent"]["name"], d["measured_from"]] != ["openvino", "latency"] or d["profiler_ns"] is None:
        yield f"{d['agent']} {d['measured_from']} {d['profiler_ns']}"


def main():
    tap = Tap()
    for path in wanted(ort_common.bundled_models(), lambda path: path.stem):
        with tempfile.TemporaryDirectory() as folder:
            tap.result(path.stem, differences(path, pathlib.Path(folder)))
    sys.exit(tap.end())


if __name__ == "__main__":
    main()

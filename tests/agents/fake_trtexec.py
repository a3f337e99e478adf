#!/usr/bin/env python3
"""Stands in for TensorRT's trtexec: takes the options that its help lists (sampleOptions.cpp), refuses others
and contradictions, prints and writes in its formats (sampleReporting.cpp, engine inspector).

FAKE_VERSION: 8601 (default 100300); FAKE_LOG: file for the command lines; FAKE_DOES: what goes wrong.
"""

import json
import os
import pathlib
import re
import signal
import struct
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src" / "agents"))
from benanza_agent import onnx_graph  # noqa: E402

VERSION = os.environ.get("FAKE_VERSION", "100300")
OLD = len(VERSION) == 4
DOES = os.environ.get("FAKE_DOES", "")
VALUES = (
    "onnx saveEngine loadEngine shapes loadInputs warmUp duration iterations exportTimes exportOutput "
    "exportProfile exportLayerInfo profilingVerbosity builderOptimizationLevel".split()
)
FLAGS = "noTF32 fp16 int8 useCudaGraph useSpinWait noDataTransfers dumpProfile separateProfileRun".split()
VALUES += ["streams"] if OLD else ["infStreams"]
FLAGS += ["buildOnly"] if OLD else ["skipInference", "bf16", "fp8"]
SIZE = {"f32": 4, "f16": 2, "s64": 4 if OLD else 8, "s32": 4}


def say(severity, text):
    print(f"[11/23/2026-03:00:00] [{severity}] {text}", flush=True)


def fail(*texts):
    for text in texts:
        say("E", text)
    print(f"&&&& FAILED TensorRT.trtexec [TensorRT v{VERSION}] # trtexec")
    sys.exit(1)


def options():
    found = {}
    for argument in sys.argv[1:]:
        name, _, value = argument.partition("=")
        if name[:2] != "--" or name[2:] not in VALUES + FLAGS or bool(value) != (name[2:] in VALUES):
            fail(f"Unknown option: {argument}")
        found[name[2:]] = value or True
    if ("onnx" in found) == ("loadEngine" in found):
        fail("Only one model format or engine can be given")
    if "saveEngine" in found and "loadEngine" in found:
        fail("Incompatible load and save engine options selected")
    return found


def split_spec(text):
    """{name: value} of name:value,name:value; names may be quoted."""
    return {a.strip("'"): b for a, b in (one.rsplit(":", 1) for one in text.split(","))} if text else {}


def layers(graph, kind):
    """A Conv takes the BatchNormalization, Add and Relu behind it; two last nodes form a region; the first
    layer changes a format."""
    groups, taken = [], set()
    nodes = [i for i in range(len(graph.nodes)) if i not in graph.constant_nodes]
    for i in nodes:
        if i in taken:
            continue
        group = [i]
        while graph.nodes[i].op == "Conv":
            readers = graph.consumers.get(graph.nodes[group[-1]].outputs[0], [])
            if len(readers) != 1 or graph.nodes[readers[0]].op not in ("BatchNormalization", "Add", "Relu"):
                break
            group.append(readers[0])
        groups.append(group)
        taken.update(group)
    if len(nodes) > 5:
        groups = [g for g in groups if not set(g) & set(nodes[-2:])] + [nodes[-2:]]
    made = [
        layer(
            "Reformatting CopyNode for Input Tensor 0 to first",
            "Reformat",
            graph.inputs[0][0],
            "copied",
            kind,
        )
    ]
    for group in groups:
        names = [graph.nodes[i].label() for i in group]
        region = len(nodes) > 5 and group == groups[-1]
        name = (
            "{ForeignNode[%s...%s]}" % (names[0], names[-1])
            if region
            else (
                "PWN(" + " + ".join(names) + ")"
                if graph.nodes[group[0]].op == "Sigmoid"
                else " + ".join(names)
            )
        )
        op = {"Conv": "CaskConvolution", "MaxPool": "TiledPooling"}.get(
            graph.nodes[group[0]].op, "PointWiseV2"
        )
        one = layer(
            name,
            "Myelin" if region else op,
            graph.nodes[group[0]].inputs[0],
            graph.nodes[group[-1]].outputs[0],
            kind,
        )
        if not OLD and not region:
            one["Metadata"] = "\x1e".join(f"[ONNX Layer: {n}]" for n in names)
        made.append(one)
    return made


def layer(name, op, into, out, kind):
    text = {"f32": "Row major linear FP32", "f16": "Channel major FP16 format where channel % 8 == 0"}[kind]
    tensor = {"Location": "Device", "Dimensions": [1, 3, 8, 8], "Format/Datatype": text}
    return {
        "Name": name,
        "LayerType": op,
        "Inputs": [{"Name": into, **tensor}],
        "Outputs": [{"Name": out, **tensor}],
        "TacticName": "sm80_xmma" if op == "CaskConvolution" else "",
        "StreamId": 0,
    }


def build(given):
    if DOES == "hang":
        pathlib.Path(os.environ["FAKE_LOG"] + ".pid").write_text(str(os.getpid()))
        time.sleep(3600)
    if DOES == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if DOES == "memory":
        fail(
            "[TRT] 1: [wrapper.cpp::plainCudaMalloc::53] Error Code 1: Cuda Runtime (something else)",
            "Error[2]: [virtualMemoryBuffer.cpp::resizePhysical::140] Error Code 2: OutOfMemory (size 9)",
            "Engine could not be created from network",
            "Engine set up failed",
        )
    try:
        graph = onnx_graph.read(given["onnx"])
    except onnx_graph.GraphError:
        fail(
            "[TRT] ModelImporter.cpp:773: Failed to parse ONNX model from file: " + given["onnx"],
            "Failed to parse onnx file",
            "Engine set up failed",
        )
    for node in graph.nodes:
        if node.op == "NoSuchOperator":
            fail(
                '[TRT] ModelImporter.cpp:771: While parsing node number 0 [NoSuchOperator -> "y"]: '
                "No importer registered for op: NoSuchOperator",
                "Failed to parse onnx file",
            )
    shapes = split_spec(given.get("shapes"))
    inputs = []
    for name, kind, shape in onnx_graph.declared_inputs(graph):
        if not all(isinstance(d, int) and d > 0 for d in shape):
            if name not in shapes:
                fail(f"Dynamic dimensions required for input: {name}, but no shapes were provided.")
            shape = [int(d) for d in shapes[name].split("x")]
        elif name in shapes:
            fail(f"Static input {name} has a shape")
        inputs.append([name, kind, shape])
    kind = "f16" if "fp16" in given else "f32"
    document = {
        "made": "by the stand-in",
        "inputs": inputs,
        "outputs": graph.outputs,
        "shapes": given.get("shapes"),
        "layers": layers(graph, kind),
        "detailed": given.get("profilingVerbosity") == "detailed",
    }
    if DOES != "no engine":
        pathlib.Path(given["saveEngine"]).write_text(json.dumps(document))
    say("I", "[TRT] Total Weights Memory: 1000000")
    say("I", "[TRT] Total Activation Memory: 500000")
    say("I", "Engine built in 12.5 sec.")
    if not {"skipInference", "buildOnly"} & set(given):
        fail("the agent should build only")


def check_inputs(given, engine):
    loads = split_spec(given.get("loadInputs"))
    for name, kind, shape in engine["inputs"]:
        volume = SIZE[kind]
        for size in shape:
            volume *= size
        if name not in loads or os.path.getsize(loads[name]) != volume:
            fail(f"Note: The file for input {name} has another size than {volume}")
    if engine["shapes"] != given.get("shapes"):
        fail("the engine was built for other shapes")
    return loads


def write_times(given):
    warm, records, at = float(given.get("warmUp", 200)), [], 0.0
    transfers = "noDataTransfers" not in given
    durations = [5.0] * int(warm / 5) + [
        1.0 + 0.01 * ((7 * i) % 10) for i in range(int(given.get("iterations", 10)) * 5)
    ]
    for ms in durations:
        h2d, d2h = (0.25, 0.125) if transfers else (0.0, 0.0)
        records.append(
            {
                "startEnqMs": at,
                "endEnqMs": at + 0.01,
                "startH2dMs": at,
                "endH2dMs": at + h2d,
                "startComputeMs": at,
                "endComputeMs": at + ms,
                "startD2hMs": at,
                "endD2hMs": at + d2h,
                "h2dMs": h2d,
                "computeMs": ms,
                "d2hMs": d2h,
                "latencyMs": h2d + ms + d2h,
            }
        )
        at += ms
    text = {
        "times garbage": "Segmentation fault",
        "times cut": json.dumps(records)[:-50],
        "times none": "[]",
        "times strange": '[{"computeMs": "fast"}, {"computeMs": -1}]',
        "times object": "{}",
    }
    pathlib.Path(given["exportTimes"]).write_text(text.get(DOES, json.dumps(records)))


def infer(given):
    try:
        engine = json.loads(pathlib.Path(given["loadEngine"]).read_text())
    except (OSError, ValueError):
        fail(f"Error opening engine file: {given['loadEngine']}")
    say("I", "=== Device Information ===")
    say("I", "Selected Device: NVIDIA Stand-In 9000")
    if DOES == "no device":
        fail("Cuda failure: no CUDA-capable device is detected")
    loads = check_inputs(given, engine)
    if "exportLayerInfo" in given:
        listed = engine["layers"] if engine["detailed"] else [one["Name"] for one in engine["layers"]]
        text = json.dumps({"Layers": listed, "Bindings": []}).replace("\\u001e", "\x1e")
        pathlib.Path(given["exportLayerInfo"]).write_text("{" if DOES == "layers garbage" else text)
    profiles = "dumpProfile" in given or "exportProfile" in given
    if "exportTimes" in given and DOES != "no times":
        if profiles and "separateProfileRun" not in given:
            fail("no times with the profiler")
        write_times(given)
    say("I", "=== Performance summary ===")
    say("I", "Throughput: 800.5 qps")
    if "exportOutput" in given:
        if "noDataTransfers" in given:
            fail("without transfers there are no outputs")
        name, kind, shape = engine["inputs"][0]
        data = pathlib.Path(loads[name]).read_bytes()
        values = struct.unpack(f"<{len(data) // 4}f", data) if kind == "f32" else [0.0]
        printed = ["nan" if DOES == "nan" else f"{v:g}" for v in values]
        pathlib.Path(given["exportOutput"]).write_text(
            '[\n  { "name" : "%s"\n  , "dimensions" : "%s"\n  , "values" : [ %s ]\n  }\n]\n'
            % (engine["outputs"][0], "x".join(map(str, shape)), ", ".join(printed))
        )
    if "exportProfile" in given:
        lines = ['[\n  { "count" : 20 }\n']
        for i, one in enumerate(engine["layers"]):
            ms = 0.01 * (i + 1)
            median = "" if OLD else f', "medianMs" : {ms:g}'
            lines.append(
                ', { "name" : "%s", "timeMs" : %g, "averageMs" : %g%s, "percentage" : 1 }\n'
                % (one["Name"], 20 * ms, ms if OLD else 2 * ms, median)
            )
        text = "".join(lines) + "]\n"
        pathlib.Path(given["exportProfile"]).write_text(text[:60] if DOES == "profile cut" else text)


def main():
    if sys.argv[1:] == ["--help"]:
        if DOES == "foreign":
            print("usage: trtexec FILE")
            sys.exit(0)
        print(f"&&&& RUNNING TensorRT.trtexec [TensorRT v{VERSION}] # trtexec --help\n=== Model Options ===")
        for name in VALUES + FLAGS:
            print(f"  --{name + '=<value>' * (name in VALUES):30} text")
        sys.exit(0)
    with open(os.environ["FAKE_LOG"], "a", encoding="utf-8") as log:
        log.write(" ".join(re.sub(r"/\S*?/benanza-\S*?/", "", a) for a in sys.argv[1:]) + "\n")
    print(f"&&&& RUNNING TensorRT.trtexec [TensorRT v{VERSION}] # trtexec {' '.join(sys.argv[1:])}")
    sys.stdout.write("x" * 200000 + "\n")  # a line of any length
    given = options()
    build(given) if "onnx" in given else infer(given)
    print(f"&&&& PASSED TensorRT.trtexec [TensorRT v{VERSION}] # trtexec")


main()

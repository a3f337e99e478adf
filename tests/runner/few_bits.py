#!/usr/bin/env python3
"""A quantized block (QDQ, u8 by s8) and one of products with weights of 4 bits (MatMulNBits) plan completely
for a described H100: no layer is without an algorithm. Products of 8 bits need cuDNN with a driver or its
stub, the others only our own kernels."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import onnx_wire as wire  # noqa: E402

SOURCE = os.environ.get("abs_srcdir", ".")
BUILD = os.environ.get("builddir", "build")
BENANZA = os.environ.get("BENANZA", os.path.join(BUILD, "benanza"))
RUNNER = os.path.join(BUILD, "benanza-runner-cuda")
FLOAT, UINT8, INT8, INT32, FLOAT16 = 1, 2, 3, 6, 10


def number(name, value):
    return wire.field_bytes(5, wire.field_bytes(1, name) + wire.field_int(3, value) + wire.field_int(20, 2))


def numbers(name, values):
    each = b"".join(wire.field_int(8, v) for v in values)
    return wire.field_bytes(5, wire.field_bytes(1, name) + each + wire.field_int(20, 7))


def quantized():
    """quantize, convolution 3x3 with padding, pooling, convolution 1x1, addition, average, dequantize."""
    nodes, tensors = [], []
    tensors.append(wire.tensor("s", [], b"\x00\x00\x80\x3c"))
    tensors.append(wire.tensor("z", [], b"\x80", element_type=UINT8))
    tensors.append(wire.tensor("ws", [], b"\x00\x00\x80\x3c"))
    tensors.append(wire.tensor("wz", [], b"\x00", element_type=INT8))

    def around(value):
        nodes.append(wire.node("QuantizeLinear", [value, "s", "z"], [value + "q"]))
        nodes.append(wire.node("DequantizeLinear", [value + "q", "s", "z"], [value + "d"]))
        return value + "d"

    def conv(source, to, kernel, pad):
        size = [64, 64, kernel, kernel]
        tensors.append(wire.tensor(to + "w", size, bytes(64 * 64 * kernel ** 2), element_type=INT8))
        tensors.append(wire.tensor(to + "b", [64], bytes(64 * 4), element_type=INT32))
        tensors.append(wire.tensor(to + "bs", [], b"\x00\x00\x80\x39"))
        nodes.append(wire.node("DequantizeLinear", [to + "w", "ws", "wz"], [to + "wd"]))
        nodes.append(wire.node("DequantizeLinear", [to + "b", to + "bs"], [to + "bd"]))
        pads = numbers("pads", [pad] * 4)
        nodes.append(wire.node("Conv", [source, to + "wd", to + "bd"], [to], attributes=pads))
        return around(to)

    first = conv(around("x"), "c1", 3, 1)
    nodes.append(wire.node("MaxPool", [first], ["p"], attributes=numbers("kernel_shape", [3, 3])
                           + numbers("pads", [1] * 4)))
    second = conv(around("p"), "c2", 1, 0)
    nodes.append(wire.node("Add", [second, "pd"], ["a"]))
    nodes.append(wire.node("GlobalAveragePool", [around("a")], ["g"]))
    nodes.append(wire.node("Identity", [around("g")], ["y"]))
    return wire.model(wire.graph(nodes, [wire.value_info("x", [1, 64, 16, 16])],
                                 [wire.value_info("y", [1, 64, 1, 1])], tensors))


def four_bits():
    """x + down(up(x)), by row of 1 and of 16, in blocks of 32 with zero points."""
    nodes, tensors = [], []

    def product(source, to, terms, columns):
        blocks = terms // 32
        packed, scales = bytes(columns * terms // 2), bytes(2 * columns * blocks)
        tensors.append(wire.tensor(to + "w", [columns, blocks, 16], packed, element_type=UINT8))
        tensors.append(wire.tensor(to + "s", [columns * blocks], scales, element_type=FLOAT16))
        zeros = columns * ((blocks + 1) // 2)
        tensors.append(wire.tensor(to + "z", [zeros], b"\x88" * zeros, element_type=UINT8))
        settings = [("K", terms), ("N", columns), ("bits", 4), ("block_size", 32)]
        nodes.append(wire.node("MatMulNBits", [source, to + "w", to + "s", to + "z"], [to],
                               domain="com.microsoft", attributes=b"".join(number(*s) for s in settings)))

    product("x", "up", 64, 160)
    product("up", "down", 160, 64)
    nodes.append(wire.node("Add", ["x", "down"], ["y"]))
    inside = wire.graph(nodes, [wire.value_info("x", ["rows", 64], FLOAT16)],
                        [wire.value_info("y", ["rows", 64], FLOAT16)], tensors)
    domain = wire.field_bytes(8, wire.field_bytes(1, "com.microsoft") + wire.field_int(2, 1))
    return wire.model_head() + domain + wire.field_bytes(7, inside)


def problems_of(content, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        pathlib.Path(path).write_bytes(content)
        env = dict(os.environ, **{f"XDG_{k}_HOME": folder for k in ("CONFIG", "DATA", "STATE", "CACHE")})
        out = subprocess.run([BENANZA, "layers", path, "--json", *options], capture_output=True, text=True,
                             env=env)
    if out.returncode:
        return [f"benanza layers: {out.stderr.strip()}"]
    layers = json.loads(out.stdout)["layers"]
    return sorted({layer["problem"] or f"{layer['op']} has no problem"
                   for layer in layers if layer["class"] != "free"})


def answers(problems):
    """Per problem: its algorithms as (api, name, layouts), and the reason if there is none."""
    jobs = "".join(json.dumps({"type": "algorithms", "id": i, "problem": p}) + "\n"
                   for i, p in enumerate(problems, 1))
    options = filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_leaks=0"])
    out = subprocess.run([RUNNER, "--plan", os.path.join(SOURCE, "data", "devices", "h100.json")], input=jobs,
                         capture_output=True, text=True, env=dict(os.environ, ASAN_OPTIONS=":".join(options)))
    found, why = {p: [] for p in problems}, {}
    for line in out.stdout.splitlines():
        answer = json.loads(line)
        if answer.get("type") == "algorithm":
            a = answer["algorithm"]
            found[problems[answer["id"] - 1]].append((a["api"], a["name"], a["layouts"]))
        elif answer.get("type") == "done":
            why[problems[answer["id"] - 1]] = answer.get("why", "")
    return found, why


count = 0


def ok(good, what, detail=""):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {what}")
    if not good and detail:
        print(f"# {detail}")


def check(name, content, least, *options):
    problems = problems_of(content, *options)
    found, why = answers(problems)
    missing = [p for p in problems if not found[p]]
    ok(len(problems) >= least and not missing, f"{name}: {len(problems)} problems, all with algorithms",
       "; ".join(f"{p}: {why.get(p)}" for p in missing) or str(problems))
    return problems, found


def main():
    if not os.access(RUNNER, os.X_OK):
        print("1..0 # SKIP no benanza-runner-cuda")
        return
    for rows in (1, 16):
        problems, found = check(f"4 bits, {rows} rows", four_bits(), 3, "--dim", f"rows={rows}")
        own = [p for p in problems if ",u4.c," in p]
        name = ("benanza", "dequantize_product:4columns_a_block")
        ok(len(own) == 2 and all(found[p][0][:2] == name for p in own), "the products are ours", str(own))
    probe = "eltwise:f32,f32:relu:1x64x28x28"
    found, why = answers([probe])
    if not any(a[0] == "cuDNN" for a in found[probe]):
        print(f"ok {count + 1} # SKIP cuDNN lists no engines here: {why.get(probe, '')[:200]}")
        print(f"1..{count + 1}")
        return
    problems, found = check("8 bits", quantized(), 6)
    convs = [p for p in problems if p.startswith("conv:u8,s8.c,u8/s32")]
    ok(len(convs) == 2 and all(found[p][0][1].startswith("s8:eng") for p in convs),
       "convolutions of u8 run as s8", str(problems))
    ok(all("src=nxc" in found[p][0][2] for p in convs), "channels last, which only has engines", str(found))
    print(f"1..{count}")


main()

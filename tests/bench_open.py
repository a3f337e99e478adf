#!/usr/bin/env python3
"""Opening a large model: `onnx.load` + `infer_shapes` beside `benanza layers`, on the same file, in turns.

Writes a chain of MatMuls whose weights lie in the file (default 10,000 weights of 102,400 bytes: 1 GB) to a temporary
folder, and prints the median wall time and the peak memory of both. Python's time starts after its imports; that of
benanza includes starting the program and writing the report. Both read a file that is in the page cache.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ONNX_PROGRAM = """
import sys, time, onnx, onnx.shape_inference
start = time.perf_counter()
model = onnx.load(sys.argv[1])
loaded = time.perf_counter()
model = onnx.shape_inference.infer_shapes(model)
done = time.perf_counter()
shaped = sum(len(v.type.tensor_type.shape.dim) == 2 for v in model.graph.value_info)
print(loaded - start, done - start, shaped)
"""


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field_int(number, value):
    return varint(number << 3) + varint(value)


def field_bytes(number, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def value_info(name, dims):
    shape = b"".join(field_bytes(1, field_int(1, d)) for d in dims)
    return field_bytes(1, name) + field_bytes(2, field_bytes(1, field_int(1, 1) + field_bytes(2, shape)))


def write_model(path, weights, side):
    """One pass over the file, without a model of this size in memory."""
    payload = side * side * 4
    noise = os.urandom(payload)
    body = []  # what stands before each payload; None is a payload
    length = 0
    for i in range(weights):
        head = field_int(1, side) * 2 + field_int(2, 1) + field_bytes(8, f"w{i}") + varint(9 << 3 | 2) + varint(payload)
        head = varint(5 << 3 | 2) + varint(len(head) + payload) + head
        body.append(head)
        length += len(head) + payload
    tail = b"".join(
        field_bytes(1, field_bytes(1, f"t{i}") + field_bytes(1, f"w{i}") + field_bytes(2, f"t{i + 1}")
                    + field_bytes(3, f"matmul{i}") + field_bytes(4, "MatMul"))
        for i in range(weights))
    tail += field_bytes(2, "chain") + field_bytes(11, value_info("t0", [1, side]))
    tail += field_bytes(12, value_info(f"t{weights}", [1, side]))
    with open(path, "wb") as out:
        out.write(field_int(1, 8) + field_bytes(8, field_int(2, 17)))
        out.write(varint(7 << 3 | 2) + varint(length + len(tail)))
        for head in body:
            out.write(head)
            out.write(noise)
        out.write(tail)


def run(command):
    """Wall seconds, peak resident bytes and output of a command."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        output = out.read()
    # benanza's status 1 is "done with gaps": no database is asked for here, but be lenient.
    if child.returncode not in (0, 1):
        sys.exit(f"bench_open: {' '.join(command[:2])} ended with status {child.returncode}")
    return wall, usage.ru_maxrss * 1024, output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benanza", default="build/benanza", help="the program (default: build/benanza)")
    parser.add_argument("--weights", type=int, default=10000)
    parser.add_argument("--side", type=int, default=160, help="a weight is side x side floats")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dir", help="where the model is written (default: the system's temporary folder)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()

    if not os.access(args.benanza, os.X_OK):
        sys.exit(f"bench_open: {args.benanza} is not there; build it, or name it with --benanza")
    need = args.weights * args.side * args.side * 4
    folder = tempfile.mkdtemp(prefix="benanza-bench-", dir=args.dir)
    try:
        if shutil.disk_usage(folder).free < need * 11 // 10:
            sys.exit(f"bench_open: {folder} has no room for {need} bytes; choose another with --dir")
        model = os.path.join(folder, "chain.onnx")
        write_model(model, args.weights, args.side)
        load, onnx_wall, onnx_peak, our_wall, our_peak = [], [], [], [], []
        has_onnx = subprocess.run([sys.executable, "-c", "import onnx"], stderr=subprocess.DEVNULL).returncode == 0
        for _ in range(args.rounds):
            wall, peak, output = run([args.benanza, "layers", "--json", model])
            our_wall.append(wall)
            our_peak.append(peak)
            layers = len(json.loads(output)["layers"])
            if layers != args.weights:
                sys.exit(f"bench_open: {layers} layers instead of {args.weights}")
            if has_onnx:
                _, peak, output = run([sys.executable, "-c", ONNX_PROGRAM, model])
                loaded, done, _ = output.split()
                load.append(float(loaded))
                onnx_wall.append(float(done))
                onnx_peak.append(peak)
        size = os.path.getsize(model)
    finally:
        shutil.rmtree(folder, ignore_errors=True)

    def middle(values):
        return statistics.median(values) if values else None

    result = {
        "file_bytes": size, "weights": args.weights, "rounds": args.rounds,
        "benanza_layers_s": middle(our_wall), "benanza_peak_bytes": middle(our_peak),
        "onnx_load_s": middle(load), "onnx_load_infer_s": middle(onnx_wall), "onnx_peak_bytes": middle(onnx_peak),
    }
    result["speedup"] = result["onnx_load_infer_s"] / result["benanza_layers_s"] if has_onnx else None
    if args.json:
        print(json.dumps(result))
        return
    print(f"a model of {size / 1e9:.2f} GB, {args.weights} weights, median of {args.rounds} runs in turns")
    print(f"  benanza layers             {result['benanza_layers_s'] * 1e3:9.1f} ms"
          f"   peak {result['benanza_peak_bytes'] / 2**20:8.1f} MiB")
    if has_onnx:
        print(f"  onnx.load + infer_shapes   {result['onnx_load_infer_s'] * 1e3:9.1f} ms"
              f"   peak {result['onnx_peak_bytes'] / 2**20:8.1f} MiB   (load alone {result['onnx_load_s'] * 1e3:.1f} ms)")
        print(f"  {result['speedup']:.1f} times faster")
    else:
        print("  Python has no onnx package here: nothing to compare with")


if __name__ == "__main__":
    main()

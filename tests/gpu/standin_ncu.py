"""A stand-in of Nsight Compute: prints what it would of a row times a matrix (gpu_traffic.py has the form).

    standin_ncu.py '{"net": BYTES, "warm": BYTES, "unit": WORD, "error": LINE}' [its options] RUNNER [options]
"""

import json
import sys

CHANGED = json.loads(sys.argv[1])
HEAD = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size",
        "Grid Size", "Device", "CC", "Section Name", "Metric Name", "Metric Unit", "Metric Value"]
WEIGHTS = "33,554,432"


def printed(words):
    print(",".join(f'"{word}"' for word in words))


def main():
    state = sys.argv[sys.argv.index("--cache") + 1]
    kept = "--cache-control none" in " ".join(sys.argv)  # else ncu empties the caches before each launch
    value = CHANGED.get(state, {"net": "32,505,856", "warm": "1,048,576"}[state]) if kept else WEIGHTS
    unit = CHANGED.get("unit", "byte")
    print("==PROF== Connected to process 4711 (benanza-runner-cuda)")
    print(CHANGED.get("error", '{"type": "result"}'))
    printed(HEAD)
    for number, (kernel, read) in enumerate((
            ("fill_kernel", "99,000,000"), ("gemv2T_kernel_val", WEIGHTS), ("gemv2T_kernel_val", value),
            ("block_kernel", "99,000,000"), ("gemv2T_kernel_val", value), ("splitKreduce_kernel", "4,096"))):
        printed([number, 4711, "benanza-runner-c", "127.0.0.1", kernel, 1, 7, "(128, 1, 1)", "(1024, 1, 1)",
                 0, "9.0", "Command line profiler metrics", "dram__bytes_read.sum", unit, read])
    print("==PROF== Disconnected from process 4711")
    return 0


if __name__ == "__main__":
    sys.exit(main())

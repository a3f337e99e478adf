#!/usr/bin/env python3
"""Writes tests/gpu/manifest.txt: the least number of algorithms that each library must list.

    tools/make_manifest.py --runner build/benanza-runner-cuda > new && mv new tests/gpu/manifest.txt
    tools/make_manifest.py --runner build/benanza-runner-cuda --from FOLDER

Libraries that plan without a device (cuDNN's graph API, our own kernels, CUB) are asked with --plan, for one
described GPU per compute capability. cuDNN's graph API may have half as many algorithms as planned here,
since versions differ; our own kernels all. cuBLASLt and cuDNN's legacy API list only on a device: what the
present manifest says of them is kept, and new problems get the rule of the table ALWAYS. --from FOLDER takes
the lists of a device from the results of check_gpu.py (list.jsonl) instead of that rule, for the column of
that device's compute capability. Review the difference before you commit it.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "tests" / "gpu"))
import gpu_feed  # noqa: E402
import gpu_manifest  # noqa: E402

DEVICES = {75: "t4", 80: "a100", 89: "l40s", 90: "h100", 100: "b200"}
COMMENT = """The least number of algorithms that each library must list for a problem, by compute capability;
'-' expects nothing. Written by tools/make_manifest.py: review the difference. Held by
tests/gpu/manifest_plan.py without a GPU, by check_gpu.py on one; gpu_manifest.py describes the format."""

# What these libraries document that they can do on every GPU of the list: api, problem, compute capabilities.
# At least one algorithm is expected.
EPILOGUE = r"(\+bias:\w+\.c)?(\+add:\w+)?(\+relu|\+gelu_tanh)?$"
ALWAYS = [
    ("cuBLASLt", r"matmul:(f32|f16),\1(\.c)?,\1/f32:[^+]*" + EPILOGUE, (75, 80, 89, 90, 100)),
    ("cuBLASLt", r"matmul:(bf16),\1(\.c)?,\1/f32:[^+]*" + EPILOGUE, (80, 89, 90, 100)),
    ("cuBLASLt", r"matmul:s8,s8\.c,s32/s32:[^+]*:ta0tb1$", (75, 80, 89, 90)),
    ("cuDNN legacy", r"pool:(f32|f16),\1:", (75, 80, 89, 90, 100)),
    ("cuDNN legacy", r"softmax:(f32|f16),\1:", (75, 80, 89, 90, 100)),
    ("cuDNN legacy", r"lrn:f32,f32:", (75, 80, 89, 90, 100)),
    ("cuDNN legacy", r"rnn:(f32|f16),\1\.c,\1:(lstm|gru):", (75, 80, 89, 90, 100)),
    ("cuDNN legacy", r"dropout:f32,f32:", (75, 80, 89, 90, 100)),
    ("cuDNN legacy", r"reduce:f32,f32:(mean|sum|rmax):", (75, 80, 89, 90, 100)),
]


def least(api, count):
    """The number that the manifest demands where `count` are listed today; None: nothing."""
    return (count + 1) // 2 if api == "cuDNN" and count else count or None


def planned(runner, device, wanted):
    """{problem: {api: number}} that the runner plans for a described device."""
    jobs = "\n".join(gpu_manifest.list_jobs(wanted)) + "\n"
    path = TOP / "data" / "devices" / f"{device}.json"
    out = subprocess.run([runner, "--plan", path], input=jobs, capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in out.stdout.splitlines()]
    hello = next(iter(lines), {})
    if out.returncode or "cuDNN " not in hello.get("stack", ""):
        sys.exit(f"make_manifest.py: {path}: {runner} cannot plan with cuDNN: {out.stderr.strip()[-200:]}")
    counts = gpu_manifest.counts_of(lines, wanted)
    if len(counts) < len(wanted):
        sys.exit(f"make_manifest.py: {path}: {runner} answered {len(counts)} of {len(wanted)} problems")
    return counts, hello["stack"]


def observed(folder, wanted):
    """The compute capability of a device, and {problem: {api: number}} that it listed."""
    try:
        lines = gpu_feed.read_lines(folder / "list.jsonl")
        jobs = map(json.loads, (folder / "list.jobs").read_text(encoding="utf-8").splitlines())
        names, sm = {job["id"]: job["problem"] for job in jobs}, lines[0]["attributes"]["sm"]
    except (OSError, ValueError, LookupError) as e:
        sys.exit(f"make_manifest.py: {folder}: no list.jsonl of check_gpu.py with a device's answers: {e!r}")
    return sm, {p: c for p, c in gpu_manifest.counts_of(lines, names).items() if p in wanted}


def on_device(problem, api, old, seen):
    """The row of a library that lists only on a device."""
    row = list(old.rows.get(problem, {}).get(api, [])) if old else []
    if not row:
        rules = [(rule, sms) for a, rule, sms in ALWAYS if a == api]
        row = [1 if any(sm in sms and re.match(rule, problem) for rule, sms in rules) else None
               for sm in DEVICES]
    for sm, counts in seen.items():
        if sm in DEVICES and problem in counts:
            row[list(DEVICES).index(sm)] = least(api, counts[problem].get(api, 0))
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--from", dest="folders", metavar="FOLDER", type=pathlib.Path, action="append",
                        default=[])
    here = TOP / "tests" / "gpu"
    parser.add_argument("--problems", type=pathlib.Path, default=here / "problems.txt")
    parser.add_argument("--old", type=pathlib.Path, default=here / "manifest.txt")
    args = parser.parse_args()
    wanted = gpu_manifest.problems(args.problems)
    old = gpu_manifest.read(args.old) if args.old.exists() else None
    if old and old.sms != list(DEVICES):
        sys.exit(f"make_manifest.py: {args.old}: its columns are not {', '.join(map(str, DEVICES))}")
    seen = dict(observed(folder, wanted) for folder in args.folders)
    plans = [planned(args.runner, device, wanted) for device in DEVICES.values()]
    manifest = gpu_manifest.Manifest(list(DEVICES), {})
    for problem in wanted:
        apis = dict.fromkeys(api for counts, _ in plans for api in counts[problem])
        rows = {api: [least(api, counts[problem].get(api, 0)) for counts, _ in plans] for api in apis}
        rows |= {api: on_device(problem, api, old, seen) for api in gpu_manifest.ON_DEVICE}
        manifest.rows[problem] = {api: row for api, row in rows.items() if any(row)}
    sys.stdout.write(gpu_manifest.text_of(manifest, f"{COMMENT}\nPlanned with {plans[0][1]}."))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except gpu_manifest.ManifestError as problem:
        sys.exit(f"make_manifest.py: {problem}")

#!/usr/bin/env python3
"""The manifest (tests/gpu/manifest.txt) is read as written, and `benanza-runner-cuda --plan` lists as many
algorithms as it demands, for one described GPU of each compute capability.

Of the problems of one type per GPU, another one on the next, every second is asked: CHECK_LONG=1 asks all.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
import gpu_manifest  # noqa: E402
from python_tap import BUILD, LONG, ROOT, Tap  # noqa: E402

RUNNER = BUILD / "benanza-runner-cuda"
DEVICES = {75: "t4", 80: "a100", 89: "l40s", 90: "h100", 100: "b200"}
THIRDS = {75: 1, 80: 2, 89: 1, 90: 0, 100: 1}  # of three types in a row: f32, f16, bf16

BAD = {
    "no columns": "conv:f32\n    cuDNN 1\n",
    "columns out of order": "sm 80 75\n",
    "a column that is no number": "sm 75 8x\n",
    "too few numbers": "sm 75 80\na:b\n    cuDNN 1\n",
    "no number": "sm 75 80\na:b\n    cuDNN 1 x\n",
    "zero": "sm 75 80\na:b\n    cuDNN 1 0\n",
    "negative": "sm 75 80\na:b\n    cuDNN 1 -3\n",
    "a library without its problem": "sm 75 80\n    cuDNN 1 1\n",
    "a problem twice": "sm 75\na:b\na:b\n",
}

# cuDNN's attention begins with sm 80
NOWHERE = {(75, "attention")}

tap = Tap()


def parse(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m"
        path.write_text(text)
        return gpu_manifest.read(path)


@tap.test("a manifest is read and written alike")
def _():
    text = "# why\nsm 75 90\na:f16\n    cuDNN - 3\n    cuDNN legacy 1 1\nb:f32\n"
    m = parse(text)
    if gpu_manifest.text_of(m, "why") != text:
        yield gpu_manifest.text_of(m, "why")
    for sm, want in ((70, {}), (75, {"cuDNN legacy": 1}), (86, {"cuDNN legacy": 1}),
                     (90, {"cuDNN": 3, "cuDNN legacy": 1}), (120, {"cuDNN": 3, "cuDNN legacy": 1})):
        if m.expected("a:f16", sm) != want:
            yield f"sm {sm}: {m.expected('a:f16', sm)}"
    for counts, apart, want in (({"cuDNN": 3, "cuDNN legacy": 1}, (), 0), ({"other": 9}, (), 2),
                                ({"cuDNN": 2, "cuDNN legacy": 1}, (), 1), ({}, ("cuDNN legacy",), 1)):
        if len(m.missing("a:f16", 90, counts, apart)) != want:
            yield f"{counts}: {m.missing('a:f16', 90, counts, apart)}"


@tap.test("a damaged manifest is refused with file and line")
def _():
    for name, text in BAD.items():
        try:
            parse(text)
            yield f"{name}: accepted"
        except gpu_manifest.ManifestError as e:
            if "\n" in str(e) or "/m" not in str(e):
                yield f"{name}: {e}"


manifest = gpu_manifest.read(HERE / "manifest.txt")
problems = gpu_manifest.problems(HERE / "problems.txt")


@tap.test("its problems are those of problems.txt, its columns those of the described GPUs")
def _():
    yield from sorted(set(problems) ^ set(manifest.rows))
    if manifest.sms != list(DEVICES):
        yield f"columns {manifest.sms}"
    for sm, device in DEVICES.items():
        if json.loads((ROOT / "data" / "devices" / f"{device}.json").read_text())["sm"] != sm:
            yield f"{device} is not sm {sm}"


@tap.test("each kernel has a library on each GPU")
def _():
    for sm in manifest.sms:
        for kernel in {gpu_manifest.kernel_of(p) for p in problems}:
            found = any(manifest.expected(p, sm) for p in problems if gpu_manifest.kernel_of(p) == kernel)
            if found == ((sm, kernel) in NOWHERE):
                yield f"sm {sm}: {kernel}"


def plan(sm):
    """The counts of a part of the problems, and what the runner said of itself."""
    gpus = [gpu for gpu in DEVICES if THIRDS[gpu] == THIRDS[sm]]  # of one type: each asks the other half
    wanted = problems if LONG else problems[THIRDS[sm]::3][gpus.index(sm) % 2::2]
    # what cuDNN leaks is not what this test is about
    asan = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_leaks=0"]))
    out = subprocess.run([RUNNER, "--plan", ROOT / "data" / "devices" / f"{DEVICES[sm]}.json"],
                         input="\n".join(gpu_manifest.list_jobs(wanted)) + "\n", capture_output=True,
                         text=True, env=dict(os.environ, ASAN_OPTIONS=asan))
    lines = [json.loads(line) for line in out.stdout.splitlines()]
    return wanted, gpu_manifest.counts_of(lines, wanted), next(iter(lines), {}).get("stack", ""), out


def main():
    if not os.access(RUNNER, os.X_OK):
        tap.skipped("planned for each GPU", "benanza-runner-cuda is not built")
        return tap.end()
    if "cuDNN " not in plan_nothing():
        tap.skipped("planned for each GPU", "cuDNN 9.8 or newer is not there")
        return tap.end()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for sm, (wanted, counts, stack, out) in zip(DEVICES, pool.map(plan, DEVICES)):
            apart = gpu_manifest.ON_DEVICE + (() if "NVRTC " in stack else ("NVRTC",))
            wrong = [f"{p}: no answer" for p in wanted if p not in counts]
            wrong += [f"{p}: {text}" for p, c in counts.items()
                      for text in manifest.missing(p, sm, c, apart)]
            wrong += out.stderr.splitlines()[-2:] if wrong else []
            tap.result(f"sm {sm}: {len(wanted)} problems as the manifest demands ({stack})", wrong)
    return tap.end()


def plan_nothing():
    """The stack of a runner that plans for a GPU."""
    out = subprocess.run([RUNNER, "--plan", ROOT / "data" / "devices" / "h100.json"], input="", text=True,
                         capture_output=True)
    return json.loads(out.stdout.splitlines()[0])["stack"] if out.stdout else ""


if __name__ == "__main__":
    sys.exit(main())

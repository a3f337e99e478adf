#!/usr/bin/env python3
"""check_gpu.py and first_hour.sh without a GPU: a stand-in runner obeys physics, or breaks one law at a time.

Each tier passes on a sound device, and each fault is found by the tier that is there for it. What was done
survives a kill, and travels in the tar.
"""

import concurrent.futures
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
import gpu_feed  # noqa: E402
import gpu_smoke  # noqa: E402
from python_tap import BUILD, ROOT, Tap  # noqa: E402
from standin_machine import CONV, H100, JOBS, MATMUL, PROBLEMS, Machine, environment, failed  # noqa: E402

tap = Tap()

# Faults of a device, and what smoke says of each: (hello, stand-in's faults, {name: pattern of a failure}).
FAULTS = [
    ({"stack": "CUDA 13.0, cuDNN 9.19.0, no cuBLASLt", "attributes": {"timer": None}},
     {"less": {"cuBLASLt": 0}},
     {"a library is missing": "library cuBLASLt is loaded",
      "the timer is not calibrated": "the runner calibrates it",
      "a library lists nothing": f"{re.escape(MATMUL)}: measured by cuDNN$"}),
    ({"attributes": {"timer": {"host_scale": 2.0, "event_scale": 1, "doubt": "why"},
                     "libraries": [{"name": "cuDNN", "present": False, "why": "no file", "fix": "get it"}]}},
     {"less": {"cuDNN legacy": 1}, "wrong": [CONV]},
     {"the host's clock disagrees": "a spin kernel takes as long as the host's clock",
      "the hello calls a library missing": "library cuDNN is present",
      "a library lists fewer algorithms than the manifest demands": "as many algorithms as the manifest",
      "a wrong result": re.escape(CONV) + ": measured by none"}),
    ({}, {"gemm": 0.35, "copy": 0.7, "row": 0.5, "cold": 0.4},
     {"a product at twice the peak": "f16 product: .* the peak is",
      "a copy above the bus": "bandwidth: a copy of .* the bus has 3352",
      "weights that stay in the cache": "of its weights cross the bus",
      "cold faster than net": "colder is not faster"}),
    ({}, {"gemm": 6, "waits": False, "copy": 2.7, "clock": 2900, "beside": 0.7, "streams": 1},
     {"a product at a tenth of the peak": "f16 product: .* required",
      "a copy at a third of the bus": "bandwidth: 33% of the bus",
      "a clock above the most": "ran at 2900 MHz",
      "branches that take less than the longest": "beside: .* the longest branch takes",
      "branches in one stream": "beside: 1 streams for 2 branches"}),
    ({"attributes": {"sm": 75, "timer": {"why": "another process measured"}}},
     {"hide": ["memory_bus_bits"], "per_clock": 1024},
     {"a compute capability below the manifest's": "compute capability 75",
      "a timer that was not calibrated yet": "timer: it is calibrated",
      "an unknown bus": "the width and clock of the bus"}),
    ({}, {"unsteady": 1, "dies": [CONV]},
     {"two runs that differ": r"twice: .* agree",
      "a runner that dies at one problem": re.escape(CONV)}),
    ({}, {"timer": 2}, {"times twice as long as they are": "bandwidth: 45% of the bus"}),
    ({}, {"beside": 9, "copy": 2.7},
     {"branches slower than one after the other": "beside: .* one after the other"}),
    ({}, {"dies": [gpu_smoke.BESIDE]}, {"branches that kill the runner": "smoke: beside: "}),
]


def faults(number):
    """The faults that smoke does not find; all of one device."""
    hello, of, told = FAULTS[number]
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, hello, **of)
        status, output = machine.check("--tier", "smoke")
        lines = failed(output)
        if status != 1 or machine.statuses() != {"smoke": 1}:
            yield f"exit status {status}, {machine.statuses()}"
        for name, pattern in told.items():
            if not any(re.search(pattern, line) for line in lines):
                yield f"not found: {name}; failed: {lines}"
        yield from output.splitlines() if "Traceback" in output else ()


def wall():
    """Samples must fit into the host's time, and fill a share of it."""
    for scale, share, good in ((1, 0.66, True), (1.6, 0.66, False), (0.1, 0.66, False), (1, 0.97, True)):
        told, at, found = [], 5.0, []
        for launch in ("amortized", "isolated"):
            at += 20 * 1e-3 / share
            stats = {"n": 10, "discarded": 0, "executions": 2, "median_ns": 1e6 * scale}
            found.append((at, {"cache": "net", "launch": launch, "stats": stats}))
        feeder = types.SimpleNamespace(tap=types.SimpleNamespace(say=lambda ok, *text: told.append(ok) or ok))
        smoke = gpu_smoke.Smoke(feeder, {}, None)
        smoke.wall(found)
        if told != [good] or smoke.doubts != (set() if good else {gpu_smoke.TIMES}):
            yield f"times of {scale}, {share} of the host's time: {told}"


def sound():
    """Nothing fails on a sound device; a second run measures nothing; the files are there."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder)
        status, output = machine.check("--tar", f"{folder}/all.tar.gz")
        want = {"smoke": 0, "first": 77, "correct": 0, "record": 0, "torch": 77, "repeat": 0, "sanitize": 77}
        if status or failed(output) or machine.statuses() != want:
            yield from (f"exit status {status}, {machine.statuses()}", *output.splitlines()[-40:])
        if sorted(machine.answered("recorded")) != sorted(PROBLEMS[:4]):
            yield f"recorded: {machine.answered('recorded')}"
        before = {p: p.stat().st_mtime_ns for p in machine.folder.glob("out/*/*.jsonl")}
        status, output = machine.check()
        if status or "tier correct: passed before" not in output:
            yield f"again: exit status {status}: {output}"
        if before != {p: p.stat().st_mtime_ns for p in machine.folder.glob("out/*/*.jsonl")}:
            yield "again: something was measured"
        with tarfile.open(f"{folder}/all.tar.gz") as tar:
            names = {pathlib.PurePath(n).name for n in tar.getnames()}
        if not {"recorded.jsonl", "status.txt", "state.json", "log.tap", "correct.jsonl",
                "one.plan"} <= names:
            yield f"packed: {names}"
        yield from imported(machine)
        yield from kept(machine)


def imported(machine):
    """`benanza db import` takes what was recorded."""
    program = os.environ.get("BENANZA") or str((BUILD / "benanza").resolve())
    if not os.access(program, os.X_OK):
        return
    path = next(machine.folder.glob("out/*/recorded.jsonl"))
    env = {**os.environ, "HOME": str(machine.folder), "XDG_DATA_HOME": str(machine.folder)}
    done = subprocess.run([program, "db", "import", "--db", machine.folder / "x.db", path], env=env,
                          capture_output=True, text=True)
    if done.returncode:
        yield f"db import: {done.stdout} {done.stderr}"


def kept(machine):
    """`tools/record.py` makes a file of data/recorded of the tar, and lists it once."""
    program = os.environ.get("BENANZA") or str((BUILD / "benanza").resolve())
    if not os.access(program, os.X_OK):
        return
    data = machine.folder / "data"
    (data / "recorded").mkdir(parents=True)
    (data / "local.mk").write_text((ROOT / "data" / "local.mk").read_text())
    tool = [sys.executable, ROOT / "tools" / "record.py", "--benanza", program, "--data", data]
    sizes = []
    for _ in range(2):
        done = subprocess.run([*tool, machine.folder / "all.tar.gz"], capture_output=True, text=True)
        if done.returncode:
            yield f"record.py: exit status {done.returncode}: {done.stderr}"
            return
        lines = gzip.decompress((data / "recorded/nvidia_h100_80gb_hbm3.jsonl.gz").read_bytes())
        sizes.append(lines.count(b'"type":"result"'))
    if sizes[0] != sizes[1] or sizes[0] < 4:
        yield f"recorded: {sizes} results"
    text = (data / "local.mk").read_text()
    if text.count("data/recorded/nvidia_h100_80gb_hbm3.jsonl.gz") != 1:
        yield text
    done = subprocess.run([*tool, machine.runner], capture_output=True, text=True)
    if done.returncode != 1 or len(done.stderr.splitlines()) != 1:
        yield f"no tar: exit status {done.returncode}: {done.stderr}"


def later_tiers():
    """Faults of the tiers after smoke."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, wrong=[CONV])
        status, output = machine.check("--tier", "correct,record")
        if status != 1 or machine.statuses() != {"correct": 1, "record": 1}:
            yield f"wrong results: {status} {machine.statuses()}"
        if not any("0 of 2 algorithms correct" in line for line in failed(output)):
            yield f"wrong results: {failed(output)}"
        machine.set(wrong=[], less={"cuBLASLt": 0})
        (machine.folder / "out").rename(machine.folder / "old")
        status, output = machine.check("--tier", "correct")
        if status != 1 or "no algorithm of cuBLASLt was right" not in output:
            yield f"a library without algorithms: {status} {failed(output)}"
        machine.set(less={}, unsteady=1)
        status, output = machine.check("--tier", "repeat")
        if status != 1 or not any(line.startswith("repeat:") for line in failed(output)):
            yield f"two runs that differ: {status} {failed(output)}"


def sanitizers():
    """A sanitizer that finds nothing passes; one that finds something, or does not run, fails."""
    for text, status, good in (("========= ERROR SUMMARY: 0 errors", 0, True),
                               ("========= ERROR SUMMARY: 2 errors", 99, False),
                               ("Target application terminated before the first call", 1, False)):
        with tempfile.TemporaryDirectory() as folder:
            machine = Machine(folder)
            tool = pathlib.Path(folder, "bin", "compute-sanitizer")
            tool.parent.mkdir()
            tool.write_text(f"#!/bin/sh\necho '{text}'\nexit {status}\n")
            tool.chmod(0o755)
            got, output = machine.check("--tier", "sanitize,races", variables={"CUDA_HOME": folder})
            if machine.statuses() != dict.fromkeys(("sanitize", "races"), 0 if good else 1):
                yield f"{text}: exit status {got}: {output}"
            if "races: transpose:" not in output:
                yield f"no kernel with shared memory: {output}"


def traffic():
    """ncu's bytes prove the cache states, or that they are others; without ncu or its counters it skips."""
    for change, want, text in (
            ({}, 0, "net: gemv2T_kernel_val reads 32.5 MB"), ({"net": "20,000,000"}, 1, "net: "),
            ({"warm": "30,000,000"}, 1, "warm: 30.0 MB"), ({"unit": "furlong"}, 1, "furlong"),
            ({"net": "n/a"}, 1, "n/a"), (None, 77, "ncu is not installed"),
            ({"error": "==ERROR== ERR_NVGPUCTRPERM - no permission"}, 77, "NVGPUCTRPERM")):
        with tempfile.TemporaryDirectory() as folder:
            machine, tool = Machine(folder), pathlib.Path(folder, "bin", "ncu")
            tool.parent.mkdir()
            if change is not None:
                tool.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{HERE}/standin_ncu.py' "
                                f"'{json.dumps(change)}' \"$@\"\n")
                tool.chmod(0o755)
            _, output = machine.check("--tier", "traffic", variables={"CUDA_HOME": folder})
            if machine.statuses() != {"traffic": want} or text not in output:
                yield f"{change}: {machine.statuses()}: {output}"


def unpackable():
    """If the tar cannot be written the tiers go on, and the output says where the answers are."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder)
        pathlib.Path(folder, "all.tar.gz.new").mkdir()
        status, output = machine.check("--tier", "correct", "--tar", f"{folder}/all.tar.gz")
        if status or "not packed: " not in output or "Traceback" in output:
            yield f"exit status {status}: {output}"


def unpacked():
    """A tar gives what the folder lacks: none of its answers are lost, none that are newer are replaced."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder)
        out, path = machine.folder / "out", f"{folder}/all.tar.gz"
        machine.check("--tier", "record", "--tar", path)
        whole = next(out.glob("*/recorded.jsonl"))
        text = whole.read_text()
        (machine.folder / "out.new").mkdir()
        (machine.folder / "out.new" / "recorded.jsonl").write_text("remains of a process that was killed")
        for left in ("", None, text[:text.rindex("\n", 0, -1) + 1], text + '{"type": "log"}\n'):
            subprocess.run(["rm", "-rf", out if left == "" else whole], check=True)
            if left == "":  # a start that failed has left an empty folder
                out.mkdir()
            elif left is not None:
                whole.write_text(left)
            status, output = machine.check("--tier", "record", "--tar", path)
            want = text if left is None or left in text else left
            if status or whole.read_text() != want or (machine.folder / "out.new").exists():
                yield f"{left and len(left)} bytes left: exit status {status}: {output}"
        with tarfile.open(path) as tar:
            packed = [m.size for m in tar if m.name.endswith("recorded.jsonl")]
        if packed != [len(text) + len('{"type": "log"}\n')]:
            yield f"packed at last: {packed}"


def full():
    """A disk that is full, and a folder that cannot be written, are one line with what to do."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder)
        limit = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); " \
            "os.execv(sys.argv[1], sys.argv[1:])"
        done = subprocess.run([sys.executable, "-c", limit, *machine.command("--tier", "smoke,correct")],
                              env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 2 or 'check_gpu.py", line' in done.stdout or \
                not re.search(r"^Bail out! .*the same command continues\n\Z", done.stdout, re.M):
            yield f"a full disk: exit status {done.returncode}: {done.stdout}"
        (machine.folder / "file").write_text("")
        status, output = machine.check("--out", f"{folder}/file/out")
        if status != 2 or len(output.splitlines()) != 1 or "--out FOLDER" not in output:
            yield f"no folder: exit status {status}: {output}"


def read():
    """Of a recording only the ends of its jobs are parsed, since it has hundreds of megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        path, parsed = pathlib.Path(folder) / "a.jsonl", []
        rows = [{"type": t, "why": w} for t, w in (("result", "no \u2028 done"), ("done", "a \u2028 b"),
                                                   ("log", '"done"'), ("result", "'done'"))]
        path.write_text("\n".join(json.dumps(x, ensure_ascii=False) for x in rows) + '\n{"type":"done",')
        loads = json.loads
        gpu_feed.json = types.SimpleNamespace(loads=lambda line: parsed.append(line) or loads(line))
        try:
            if gpu_feed.read_lines(path, "done") != [rows[1]] or len(parsed) > 2:
                yield f"parsed {parsed}"
            if gpu_feed.read_lines(path) != rows:
                yield f"read {gpu_feed.read_lines(path)}"
        finally:
            gpu_feed.json = json


def untrusted():
    """Nothing is recorded with a wrong timer, unless it is wished; a mended runner has its own folder."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, {"attributes": {"timer": {"host_scale": 1.5, "doubt": "why"}}})
        status, output = machine.check("--tier", "smoke,record")
        if status != 1 or machine.lines("recorded") or machine.statuses()["record"] != 1:
            yield f"{status} {machine.statuses()}"
        machine.check("--tier", "record", "--anyway")
        if len(machine.answered("recorded")) != 4:
            yield "--anyway does not record"
        machine.set(info=H100)
        machine.runner.write_text(machine.runner.read_text() + "# mended\n")
        status, output = machine.check("--tier", "smoke,record")
        if status or len(list(machine.folder.glob("out/*"))) != 2:
            yield f"mended: {status} {failed(output)} {list(machine.folder.glob('out/*'))}"


def doubted_still():
    """A smoke run that is cut off ends no doubt; one that passes does."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, {"attributes": {"timer": {"host_scale": 1.5, "doubt": "why"}}})
        machine.check("--tier", "smoke")
        machine.set(info=H100, info_s=2)
        status, output = machine.check("--tier", "smoke", "--minutes", "0.02")
        if status != 3 or machine.statuses() != {"smoke": 3}:
            yield f"cut off: {status} {machine.statuses()}: {output}"
        machine.set(info_s=0)
        status, output = machine.check("--tier", "record")
        if status != 1 or machine.lines("recorded"):
            yield f"recorded all the same: {status}: {output}"
        status, output = machine.check("--tier", "smoke,record")
        if status or len(machine.answered("recorded")) != 4:
            yield f"not recorded: {status} {failed(output)}"


def few_plans():
    """The tar has the newest compiled plans, up to 8 MiB; the folder keeps all."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder)
        path = f"{folder}/all.tar.gz"
        machine.check("--tier", "smoke", "--tar", path)
        plans = next((machine.folder / "out").glob("*/status.txt")).parent / "plans"
        plans.mkdir(exist_ok=True)
        for age in range(4):
            plan = plans / f"plan{age}"
            plan.write_bytes(bytes(3 << 20))
            os.utime(plan, (2e9 - age, 2e9 - age))
        machine.check("--tier", "correct", "--tar", path)
        with tarfile.open(path) as tar:
            packed = sorted(pathlib.PurePosixPath(m.name).name for m in tar if "/plan" in m.name)
        if packed != ["plan0", "plan1"] or len(list(plans.glob("plan*"))) != 4:
            yield f"of 12 MiB packed {packed}, kept {sorted(plans.iterdir())}"


def partly_trusted():
    """A failure stops only the recording of what it is about: weights in the cache those of net, a slow
    product nothing."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, row=0.5, gemm=6)
        status, output = machine.check("--tier", "smoke,record")
        if machine.statuses() != {"smoke": 1, "record": 0} or "without the state net" not in output:
            yield f"{status} {machine.statuses()} {failed(output)}"
        states = {x["result"]["problem"]: x["result"]["cache"] for x in machine.lines("recorded-warm")
                  if x.get("type") == "result"}
        if states != {p: "warm" if ".c" in p else "net" for p in PROBLEMS[:4]}:
            yield f"recorded in {states}"
        machine.check("--tier", "record", "--anyway")
        if {x["result"]["cache"] for x in machine.lines("recorded") if x.get("type") == "result"} != {"net"}:
            yield "--anyway leaves out net"


def plans():
    """If plans of other threads differ from those made in place, all are made in place; the tar says so."""
    for ahead, kept in (({}, "ahead"), ({"dies": [gpu_smoke.PLANNED[1]]}, "in place"),
                        ({"timer": 2}, "in place"), ({"wrong": gpu_smoke.PLANNED[:1]}, "in place")):
        with tempfile.TemporaryDirectory() as folder:
            machine = Machine(folder, ahead=ahead)
            status, output = machine.check("--tier", "smoke,record", "--tar", f"{folder}/all.tar.gz")
            told = [line for line in failed(output) if not line.startswith("plans: made by another thread")]
            if status != (kept != "ahead") or told or f"plans: made {kept} from" not in output:
                yield f"{ahead}: exit status {status}: {told}: {output}"
            with tarfile.open(f"{folder}/all.tar.gz") as tar:
                state = next(json.load(tar.extractfile(m)) for m in tar if m.name.endswith("/state.json"))
            if state.get("plans") != kept:
                yield f"{ahead}: the tar says {state.get('plans')}"
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, dies=[gpu_smoke.PLANNED[1]])
        _, output = machine.check("--tier", "smoke")
        if "plans: made ahead from" not in output or not re.search("not ok .*made in place they run", output):
            yield f"both fail: {output}"


def slow_info():
    """The time that --info takes counts."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, info_s=2)
        status, output = machine.check("--tier", "correct", "--minutes", "0.02")
        if status != 3 or "--- correct: 0.0 s ---" not in output:
            yield f"exit status {status}: {output}"


def shares():
    """When time runs out the later tiers had theirs, and the same command continues."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, sleep=1.6)
        status, output = machine.check("--tier", "correct,record,repeat", "--minutes", "0.52")
        if status != 3 or machine.statuses()["correct"] != 3 or machine.statuses()["repeat"] != 3:
            yield f"exit status {status}, {machine.statuses()}"
        for name in ("list", "recorded"):
            if not machine.answered(name):
                yield f"{name}: nothing was asked"
        given = [float(s) for s in re.findall(r"--- repeat: ([0-9.]+) s ---", output)]
        if not given or given[0] < 0.8:
            yield f"repeat was given {given} s of 31.2"
        before = machine.answered("list")
        machine.set(sleep=0)
        status, output = machine.check("--tier", "correct,record,repeat")
        if status or set(machine.statuses().values()) != {0}:
            yield f"then: exit status {status}, {machine.statuses()} {failed(output)}"
        for name in ("list", "recorded", "correct"):
            if len(machine.answered(name)) != len(set(machine.answered(name))):
                yield f"{name}: a problem was answered twice"
        if machine.answered("list")[:len(before)] != before:
            yield "it began anew"


def losses():
    """A lost device, a runner that dies and one that hangs cost one problem; the others are answered."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, loses=[MATMUL], dies=[CONV], hangs=[PROBLEMS[3]])
        status, output = machine.check("--tier", "record", "--silent", "3")
        if status != 1 or machine.answered("recorded") != [MATMUL, PROBLEMS[2]]:
            yield f"exit status {status}: {machine.answered('recorded')}"
        for text in ("signal 9", "nothing happened for 3 s"):
            if text not in output:
                yield f"not told: {text}"
        status, again = machine.check("--tier", "record")
        if status != 1 or "it is left out" in again:
            yield f"again: exit status {status}: {again}"
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, locked=[MATMUL])
        status, output = machine.check("--tier", "record", "--silent", "3")
        if status or len(machine.answered("recorded")) != 4:
            yield f"one that waits for another process: exit status {status}: {output}"


def kill():
    """Killed at any moment, it loses the running problem alone; the tar stays whole; the runner ends too."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, sleep=0.15)
        before = 0
        for sign in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            p = subprocess.Popen(machine.command("--tier", "correct,record", "--tar", f"{folder}/all.tar.gz"),
                                 stdout=subprocess.DEVNULL, env=environment())
            until = time.monotonic() + 20
            while machine.answers() < before + 2 and time.monotonic() < until:
                time.sleep(0.02)
            before = machine.answers()
            p.send_signal(sign)
            if p.wait() not in (-sign, 3):
                yield f"exit status {p.returncode} after signal {sign}"
            time.sleep(0.05)
            if alive(machine.folder):
                yield f"after signal {sign}: {alive(machine.folder)}"
            if sign == signal.SIGTERM:
                with tarfile.open(f"{folder}/all.tar.gz") as tar:
                    tar.getnames()
        machine.set(sleep=0)
        status, output = machine.check("--tier", "correct,record", "--tar", f"{folder}/all.tar.gz")
        if status:
            yield from (f"then: exit status {status}", *failed(output))
        if len(machine.answered("list")) != len(PROBLEMS):
            yield f"{len(machine.answered('list'))} answers"


def alive(folder):
    """Processes that have the folder on their command line."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"STANDIN={folder}".encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def first_hour():
    """One command on a bare machine: it finds runner, jobs and wheels, and resumes from the tar alone."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder)
        bundle = machine.folder / "benanza gpu"
        machine.bundle(bundle)
        (bundle / "gpu-jobs").mkdir()
        (bundle / "gpu-jobs" / "b1-f16.jsonl").write_text("\n".join(JOBS) + "\n")
        (bundle / "gpu-jobs" / "order.txt").write_text("b1-f16.jsonl\n")
        wheel = machine.folder / "site" / "nvidia" / "cudnn" / "lib"
        wheel.mkdir(parents=True)
        (wheel / "libcudnn.so.9").write_text("")
        env = {**environment(), "PYTHONPATH": str(machine.folder / "site"), "PYTHON": sys.executable,
               "LD_LIBRARY_PATH": "/first"}

        def start(tiers, tar=f"{folder}/r.tar.gz", **more):
            return subprocess.run(["sh", bundle / "first_hour.sh", "--minutes", "0.5", "--tar", tar,
                                   "--tier", tiers], cwd=folder, env={**env, **more},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

        done = start("record")
        if done.returncode:
            yield from (f"exit status {done.returncode}", *done.stdout.splitlines())
        info = json.loads(next(machine.folder.glob("gpu-results/*/info.json")).read_text())
        path = info["attributes"]["environment"]["LD_LIBRARY_PATH"].split(":")
        if path[0] != "/first" or str(wheel) not in path:
            yield f"LD_LIBRARY_PATH of the runner: {path}"
        if not (machine.folder / "gpu-results").exists():
            yield "no folder beside the tar"
        give, env["TMPDIR"] = machine.folder / "give", folder
        give.mkdir()
        given = start("record", f"{give}/r.tar.gz", OUT=str(give))
        if given.returncode or [p.name for p in give.iterdir()] != ["r.tar.gz"]:
            yield f"in $OUT: {list(give.iterdir())}: {given.stdout}"
        subprocess.run(["rm", "-rf", machine.folder / "gpu-results"], check=True)
        done = start("correct,record")
        if done.returncode or "tier record: passed before" not in done.stdout:
            yield f"from the tar: exit status {done.returncode}: {done.stdout}"
        machine.set(no_device=1)
        done = start("smoke")
        if done.returncode != 2 or "no NVIDIA driver found" not in done.stdout:
            yield f"no device: exit status {done.returncode}: {done.stdout}"


def manifest():
    """make_manifest.py takes what a device listed, keeps what it cannot ask, refuses what is no result."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, less={"cuBLASLt": 7, "cuDNN": 5})
        machine.check("--tier", "correct")
        results = next(machine.folder.glob("out/*"))
        tool = [sys.executable, ROOT / "tools" / "make_manifest.py", "--runner", machine.runner, "--problems",
                machine.folder / "problems.txt", "--old", machine.folder / "new.txt"]
        first = subprocess.run([*tool, "--from", results], capture_output=True, text=True)
        (machine.folder / "new.txt").write_text(first.stdout)
        again = subprocess.run(tool, capture_output=True, text=True)
        want = f"\n{MATMUL}\n    cuDNN 3 3 3 3 3\n    cuBLASLt 1 1 1 7 1\n"
        if first.returncode or want not in first.stdout or again.stdout != first.stdout:
            yield from (first.stdout + first.stderr + again.stderr).splitlines()
        bad = subprocess.run([*tool, "--from", folder], capture_output=True, text=True)
        if bad.returncode != 1 or len(bad.stderr.splitlines()) != 1:
            yield f"no results: exit status {bad.returncode}: {bad.stderr}"


def with_torch(machine):
    """A PyTorch and tool beside a copy of the program: an environment."""
    machine.bundle(machine.folder / "bundle")
    site = machine.folder / "site" / "torch"
    site.mkdir(parents=True)
    (site / "__init__.py").write_text("class cuda:\n    is_available = staticmethod(lambda: True)\n")
    (machine.folder / "bundle" / "torch_models.py").write_text(
        "import json, sys, time\nout = open(sys.argv[sys.argv.index('--output') + 1], 'a')\n"
        "print(json.dumps({'model': 'm', 'batch': 1, 'dtype': 'f16', 'mode': 'eager', "
        "'median_ns': 9.0, 'words': sys.argv[1:]}), file=out, flush=True)\n"
        "time.sleep(float(open(__file__ + '.s').read()))\n")
    return {**environment(), "PYTHONPATH": str(site.parent)}


def torch():
    """PyTorch has a tier of its own, after record, and is resumed."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder)
        env = with_torch(machine)
        command = machine.command("--tier", "torch", "--minutes", "0.1")
        command[1] = machine.folder / "bundle" / "check_gpu.py"
        for wait, want in (("9", 3), ("0", 0)):
            (machine.folder / "bundle" / "torch_models.py.s").write_text(wait)
            done = subprocess.run(command, env=env, capture_output=True, text=True)
            if done.returncode != want or "latencies, 0 not measured" not in done.stdout:
                yield f"waits {wait} s: exit status {done.returncode}: {done.stdout} {done.stderr}"


def model_by_model():
    """Each model is complete before the next one begins, and behind it is the same model in PyTorch."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, sleep=0.02)
        env = with_torch(machine)
        for name, jobs in (("first-a", JOBS[2:]), ("first-b", JOBS[:2])):
            (machine.folder / f"{name}.jsonl").write_text("\n".join(jobs) + "\n")
        command = machine.command("--tier", "first", "--jobs", machine.folder / "first-a.jsonl",
                                  machine.folder / "first-b.jsonl")
        command[1] = machine.folder / "bundle" / "check_gpu.py"
        (machine.folder / "bundle" / "torch_models.py.s").write_text("0")
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        asked = [x["words"] for x in machine.lines("torch")]
        if done.returncode or machine.answered("first") != [*PROBLEMS[2:4], *PROBLEMS[:2]]:
            yield f"exit status {done.returncode}, {machine.answered('first')}: {done.stdout} {done.stderr}"
        if [w[:2] for w in asked] != [["time", "a"], ["time", "b"]]:
            yield f"PyTorch was asked {asked}"


def hostile():
    """Tars and states that check_gpu.py did not write are refused, in one line."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder)
        path = machine.folder / "bad.tar.gz"
        link = tarfile.TarInfo("a/recorded.jsonl")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        for member in (tarfile.TarInfo("../out.jsonl"), tarfile.TarInfo("/tmp/out.jsonl"), link, None):
            with tarfile.open(path, "w:gz") as tar:
                if member:
                    tar.addfile(member)
            if not member:
                path.write_bytes(b"no tar")
            status, output = machine.check("--tier", "correct", "--tar", str(path))
            if status != 2 or len(output.splitlines()) != 1 or (machine.folder / "out").exists():
                yield f"{member}: exit status {status}: {output}"
        for bad in (("--tier", "everything"), ("--minutes", "nan"), ("--minutes", "0"), ("--minutes", "inf"),
                    ("--silent", "-1")):
            status, output = machine.check(*bad)
            if status != 2 or (machine.folder / "out").exists():
                yield f"{bad}: exit status {status}"
        (machine.folder / "manifest.txt").write_text("sm x\n")
        status, output = machine.check("--tier", "correct")
        if status != 2 or "manifest.txt:1:" not in output:
            yield f"a damaged manifest: exit status {status}: {output}"


def peaks():
    """The table of operations per clock agrees with the published peaks of the described GPUs."""
    for path in sorted((ROOT / "data" / "devices").glob("*.json")):
        d = json.loads(path.read_text())
        half = 0.5 if "GeForce" in d["name"] and "f16 accumulation" not in d["caveat"] else 1
        peak, told = half * gpu_smoke.peak_flops(d, d["clock_mhz"]), d["peak_flops"]["f16_matrix"]
        if not 0.85 <= told / peak <= 1.1:
            yield f"{path.name}: {told / 1e12} TFLOP/s, computed {peak / 1e12:.0f}"


def resumed_latencies():
    """tools/torch_models.py --output: skips what the file has, tries what ended it once more."""
    fake = types.ModuleType("torch")
    fake.nn = types.ModuleType("torch.nn")
    fake.nn.functional = types.ModuleType("torch.nn.functional")
    fake.nn.Module = fake.nn.Sequential = object
    for name in ("float32", "float16", "bfloat16"):
        setattr(fake, name, name)
    fake.device = str
    sys.modules.update({"torch": fake, "torch.nn": fake.nn, "torch.nn.functional": fake.nn.functional})
    sys.path.insert(0, str(ROOT / "tools"))
    import torch_models
    asked = []

    def measure(name, batch, dtype, mode, device, seconds):
        asked.append(dtype)
        if dtype == "bf16":
            raise RuntimeError("refused\nby it")
        return {"model": name, "batch": batch, "dtype": dtype, "mode": mode, "median_ns": 1.0}

    torch_models.measure = measure
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "t.jsonl"
        key = {"model": "bert_base", "batch": 1, "mode": "eager"}
        begun = [{**key, "dtype": "f16", "begun": True}, {**key, "dtype": "tf32", "begun": True},
                 {**key, "dtype": "f16", "begun": True}, {**key, "dtype": "f32", "median_ns": 2.0}]
        path.write_text("\n".join(map(json.dumps, begun)) + '\n{"model":"bert')
        args = types.SimpleNamespace(batch=[1], names=["bert_base"], dtype=["f16", "tf32", "f32", "bf16"],
                                     mode=["eager"], seconds=0, device="cpu", output=str(path))
        for want in (["tf32", "bf16"], []):
            torch_models.run_time(args)
            if asked != want:
                yield f"measured {asked}, expected {want}"
            asked.clear()
        if [x["dtype"] for x in torch_models.lines_of(path) if "median_ns" in x] != ["f32", "tf32"]:
            yield path.read_text()


def main():
    cases = {"smoke finds " + ", ".join(told): lambda n=n: faults(n) for n, (_, _, told) in enumerate(FAULTS)}
    cases |= {f.__doc__.split("\n")[0].rstrip("."): f for f in (
        sound, wall, later_tiers, sanitizers, traffic, unpackable, unpacked, full, read, untrusted, shares,
        losses, kill, first_hour, manifest, partly_trusted, doubted_still, few_plans, plans, slow_info,
        model_by_model, torch, hostile, peaks, resumed_latencies)}
    words = sys.argv[1:]
    cases = {n: f for n, f in cases.items() if not words or any(w in n for w in words)}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:  # most of the time is waiting
        for name, wrong in zip(cases, pool.map(lambda f: list(f()), cases.values())):
            tap.result(name, wrong)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

"""A machine with a made-up GPU, for tests of check_gpu.py: a folder with standin_runner.py as runner."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

CONV = "conv:f16,f16.c,f16/f32:n1c8h8w8k8r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
MATMUL = "matmul:f16,f16.c,f16/f32:ba1bb1m64n64k64:ta0tb0"
PROBLEMS = [CONV, MATMUL, "softmax:f32,f32:soft:1x1000:ax1", "eltwise:f16,f16:relu:1x64",
            "eltwise:f32,f32:relu:1x64", "copy:u8,u8:b1000003", "transpose:f32,f32:64x64:perm1x0",
            "cast:f32,f16:1x64"]
APIS = {"cuDNN": ["conv", "matmul", "eltwise"], "cuDNN legacy": ["softmax"], "cuBLASLt": ["matmul"],
        "benanza": ["copy", "transpose", "cast", "gather"], "beside": ["beside"]}
H100 = {"magic": "BENANZA-RUNNER", "protocol": 1, "runner": "benanza-runner-cuda", "version": "0.0.0",
        "name": "cuda:0", "model": "NVIDIA H100 80GB HBM3",
        "stack": "CUDA 13.0, cuDNN 9.19.0, cuBLASLt 13.1.0", "threads": 0, "llc_bytes": 52428800,
        "has_matrix": True, "host": "vm", "jobs": ["problem"],
        "attributes": {"sm": 90, "multiprocessors": 132, "clock_mhz": 1980, "most_clock_mhz": 1980,
                       "memory_clock_mhz": 2619, "memory_bus_bits": 5120, "memory_bytes": 85899345920,
                       "timer": {"host_scale": 1.001, "event_scale": 0.999, "doubt": "", "caveat": ""}}}
JOBS = [json.dumps({"type": "run", "id": i, "problem": p, "budget_ms": 5})
        for i, p in enumerate(PROBLEMS[:4], 1)]


TOOLS = ("compute-sanitizer", "ncu")


class Machine:
    """A folder with a stand-in runner, a manifest of what it lists, and a job file."""

    def __init__(self, folder, hello=(), **faults):
        self.folder = pathlib.Path(folder)
        attributes = {**H100["attributes"], **dict(hello).pop("attributes", {})}
        info = {**H100, **dict(hello), "attributes": attributes}
        self.set(info=info, apis=APIS, **faults)
        self.runner = self.folder / "benanza-runner-cuda"
        self.runner.write_text(f"#!/bin/sh\nexec env STANDIN='{self.folder}/standin.json' "
                               f"'{sys.executable}' -S '{HERE}/standin_runner.py' \"$@\"\n")
        self.runner.chmod(0o755)
        (self.folder / "problems.txt").write_text("\n".join(PROBLEMS) + "\n")
        rows = [p + "".join(f"\n    {api} 2" for api, kernels in APIS.items() if p.split(":")[0] in kernels)
                for p in PROBLEMS]
        (self.folder / "manifest.txt").write_text("sm 90\n" + "\n".join(rows) + "\n")
        (self.folder / "b1-f16.jsonl").write_text("\n".join(JOBS) + "\n")

    def bundle(self, to):
        """Copies into the folder what `make gpu-bundle` packs of tests/gpu, with this machine's runner."""
        packed = re.search(r"^gpu_bundle =((.*\\\n)*.*)", (HERE / "local.mk").read_text(), re.M)[1]
        to.mkdir(parents=True, exist_ok=True)
        for name in packed.replace("\\", " ").split():
            shutil.copy2(HERE / name, to)
        for name in ("manifest.txt", "problems.txt", "benanza-runner-cuda"):
            shutil.copy2(self.folder / name, to)

    def set(self, **values):
        path = self.folder / "standin.json"
        old = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**old, **values}))

    def command(self, *words):
        return [sys.executable, HERE / "check_gpu.py", "--runner", self.runner, "--out", self.folder / "out",
                "--problems", self.folder / "problems.txt", "--manifest", self.folder / "manifest.txt",
                "--jobs", self.folder / "b1-f16.jsonl", "--minutes", "1", *words]

    def check(self, *words, variables=()):
        """Runs it to its end. Returns its exit status and its output."""
        done = subprocess.run(self.command(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, env={**environment(), **dict(variables)})
        return done.returncode, done.stdout

    def statuses(self):
        """{tier: status} of its status.txt."""
        paths = list((self.folder / "out").glob("*/status.txt"))
        return {line.split()[0]: int(line.split()[1]) for line in paths[0].read_text().splitlines()}

    def lines(self, name):
        paths = list((self.folder / "out").glob(f"*/{name}.jsonl"))
        return [json.loads(line) for line in paths[0].read_text().splitlines()] if paths else []

    def answers(self):
        """How many answers all tiers have written so far."""
        return sum(p.read_text().count('"type": "done"') for p in self.folder.glob("out/*/*.jsonl"))

    def answered(self, name):
        return [x["problem"] for x in self.lines(name) if x.get("type") == "done" and not x.get("retry")]


def environment():
    """No torch, compute-sanitizer or ncu, wherever this runs; PATH keeps the rest."""
    return {**os.environ, "CUDA_HOME": "/nowhere", "PYTHONPATH": str(HERE / "nothing"),
            "PATH": ":".join(p for p in os.environ["PATH"].split(":")
                             if not any(os.path.exists(os.path.join(p, tool)) for tool in TOOLS))}


def failed(output):
    return re.findall(r"^not ok \d+ - (.*)", output, re.M)

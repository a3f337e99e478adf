#!/usr/bin/env python3
"""The three commands of docs/gpu.md for a machine that is lent for half an hour, on a stand-in runner and a
simulated clock, with the real jobs of the bundled models and the real manifest.

Afterwards tools/record.py makes a device's file of the last tar, with which every layer of GPT-2, BERT and
ResNet-50 has its cost; each has a latency of PyTorch beside it.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
import gpu_manifest  # noqa: E402
import simulated  # noqa: E402
from python_tap import BUILD, ROOT, Tap  # noqa: E402
from standin_machine import H100, Machine, environment, failed  # noqa: E402

MODELS = ("gpt2_small", "bert_base", "resnet50")
BENANZA = (BUILD / "benanza").resolve()
COMMAND_S = 600       # after which the lent machine kills a command
LIMIT_S = 1800        # of all commands
SM = H100["attributes"]["sm"]
# PyTorch, as far as tools/torch_models.py needs it to be imported; a measurement takes half a minute
TORCH = """
class cuda:
    is_available = staticmethod(lambda: True)
device, float32, float16, bfloat16 = str, 'f32', 'f16', 'bf16'
"""
TORCH_MODELS = """
import runpy, sys
sys.path[:0] = [{here!r}, {tools!r}]
import simulated, torch_models
clock = simulated.Clock({clock!r})
def measure(name, batch, dtype, mode, device, seconds):
    clock.work(30, True)
    return dict(model=name, batch=batch, dtype=dtype, mode=mode, median_ns=1e6)
torch_models.measure = measure
sys.exit(torch_models.main())
"""

tap = Tap()


def commands():
    """The commands of the recipe, as docs/gpu.md has them."""
    text = (ROOT / "docs" / "gpu.md").read_text(encoding="utf-8")
    return re.findall(r"^\./first_hour\.sh .*\$OUT/r\.tar\.gz.*", text, re.M)


class Lent:
    """A lent machine: the bundle, a PyTorch, a clock; `job_s` to twice as many seconds per problem."""

    def __init__(self, folder, job_s):
        self.folder, self.bundle, self.give = (pathlib.Path(folder) / n for n in ("", "bundle", "give"))
        self.machine, clock = Machine(folder), str(self.folder / "clock")
        self.clock, python, site = simulated.Clock(clock), self.folder / "python", self.folder / "site"
        manifest = gpu_manifest.read(HERE / "manifest.txt")
        apis = {}
        for problem in manifest.rows:
            for api in manifest.expected(problem, SM):
                apis.setdefault(api, set()).add(gpu_manifest.kernel_of(problem))
        self.machine.set(simulated=clock, job_s=job_s, info_s=5, apis={a: sorted(k) for a, k in apis.items()},
                         manifest={p: manifest.expected(p, SM) for p in manifest.rows})
        for name in ("manifest.txt", "problems.txt"):
            shutil.copy(HERE / name, self.folder)
        self.machine.bundle(self.bundle)
        shutil.copytree(BUILD / "gpu-jobs", self.bundle / "gpu-jobs")
        python.write_text(f"#!/bin/sh\n[ \"$1\" = - ] && exec '{sys.executable}' -\n"
                          f"exec '{sys.executable}' '{HERE}/simulated.py' '{clock}' \"$@\"\n")
        python.chmod(0o755)
        (site / "torch" / "nn").mkdir(parents=True)
        (site / "torch" / "__init__.py").write_text(TORCH)
        (site / "torch" / "nn" / "__init__.py").write_text("Module = Sequential = object\n")
        (site / "torch" / "nn" / "functional.py").write_text("")
        (self.bundle / "torch_models.py").write_text(
            TORCH_MODELS.format(here=str(HERE), tools=str(ROOT / "tools"), clock=clock))
        self.env = {**environment(), "PYTHON": str(python), "PYTHONPATH": str(site), "OUT": str(self.give)}
        self.number = 0

    def run(self, command, anew):
        """One command, on the machine of the last one or `anew` on another one. Returns its exit status and
        output; what comes back of $OUT alone remains."""
        if anew or not self.number:
            self.number += 1
        temporary = self.folder / f"tmp{self.number}"
        temporary.mkdir(exist_ok=True)
        kept = self.folder / "r.tar.gz"
        shutil.rmtree(self.give, ignore_errors=True)
        self.give.mkdir()
        if kept.exists():
            shutil.copy(kept, self.give)
        self.clock.at[simulated.END] = self.clock.at[simulated.NOW] + COMMAND_S
        done = subprocess.run(["sh", "-c", command], cwd=self.bundle, text=True, stdout=subprocess.PIPE,
                              env={**self.env, "TMPDIR": str(temporary)}, stderr=subprocess.STDOUT)
        if (self.give / "r.tar.gz").exists():
            shutil.copy(self.give / "r.tar.gz", kept)
        return done.returncode, done.stdout


def jobs_made():
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    done = subprocess.run(["make", "-s", "-C", BUILD, "gpu-jobs/order.txt"], env=env, text=True,
                          capture_output=True)
    return done.stdout + done.stderr if done.returncode else ""


def program(*words):
    done = subprocess.run([BENANZA, *words], capture_output=True, text=True,
                          env={**os.environ, "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"})
    return done.stdout if done.returncode in (0, 1) else done.stderr


def lacking(lent):
    """What the tar lacks of the models: text after text."""
    data = lent.folder / "data"
    (data / "recorded").mkdir(parents=True)
    shutil.copy(ROOT / "data" / "local.mk", data)
    tool = [sys.executable, ROOT / "tools" / "record.py", "--benanza", BENANZA, "--data", data]
    done = subprocess.run([*tool, lent.folder / "r.tar.gz"], capture_output=True, text=True)
    if done.returncode:
        yield done.stderr
        return
    database = lent.folder / "recorded.db"
    program("db", "import", "-q", "--db", database, *(data / "recorded").glob("*.gz"))
    with tarfile.open(lent.folder / "r.tar.gz") as tar:
        timed = [json.loads(line) for member in tar if member.name.endswith("/torch.jsonl")
                 for line in tar.extractfile(member)]
    for model in MODELS:
        told = program("bound", "--db", database, "-d", H100["model"], "-t", "f16", "-w", "matrix,fusion",
                       "--json", ROOT / "data" / "models" / f"{model}.onnx")
        try:
            cover = json.loads(told)["coverage"]
            known = sum(cover[k] for k in ("measured", "proxy", "free", "fused"))
        except (ValueError, KeyError):
            yield f"{model}: no bound: {told}"
            continue
        if known < cover["layers"]:
            yield f"{model}: {known} of {cover['layers']} layers have a cost: {cover}"
        modes = {x["mode"] for x in timed if x.get("median_ns") and (x["model"], x["batch"], x["dtype"]) ==
                 (model, 1, "f16")}
        if not {"eager", "compiled"} <= modes:
            yield f"{model}: PyTorch has {sorted(modes)}"


def lease(job_s, change=lambda command: command, anew=False):
    """The commands on a lent machine. Returns exit statuses, outputs, what is lacking, simulated seconds."""
    with tempfile.TemporaryDirectory() as folder:
        lent = Lent(folder, job_s)
        ran = [lent.run(change(command), anew) for command in commands()]
        return [status for status, _ in ran], [text for _, text in ran], list(lacking(lent)), \
            lent.clock.at[simulated.NOW]


def whole():
    """Three commands of nine minutes complete three models, each with PyTorch beside it."""
    statuses, output, wrong, passed = lease(1)
    yield from wrong
    if not set(statuses) <= {0, 3} or passed > LIMIT_S:
        yield f"exit statuses {statuses} after {passed:.0f} s"
    yield from (name for text in output for name in failed(text))


def killed():
    """Commands that are killed at their ten minutes, each on another machine, complete them too."""
    statuses, output, wrong, passed = lease(1, lambda c: re.sub(r"--minutes \d+", "--minutes 60", c), True)
    yield from wrong
    if [s for s in statuses if s not in (-9, 137)] or passed < 3 * COMMAND_S:
        yield f"exit statuses {statuses} after {passed:.0f} s"
    if "tier smoke: 0 passed" not in output[0] or "tier smoke" in output[1] + output[2]:
        yield "smoke was not in the first command alone"


def slow():
    """Of a machine so slow that the models do not end, the test says which lack what."""
    _, _, wrong, _ = lease(12)
    if not any(re.match(r"resnet50: \d+ of \d+ layers", text) for text in wrong) or \
            not any(text.endswith(": PyTorch has []") for text in wrong):
        yield f"told: {wrong}"


def main():
    if not (BUILD / "Makefile").exists() or not os.access(BENANZA, os.X_OK):
        tap.skipped("the recipe", "benanza is not built")
        return tap.end()
    tap.result("docs/gpu.md has three commands", [] if len(commands()) == 3 else commands())
    tap.result("the jobs of the bundled models are made", list(filter(None, [jobs_made()])))
    cases = [whole, killed, slow]
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        for case, wrong in zip(cases, pool.map(lambda f: list(f()), cases)):
            tap.result(case.__doc__.rstrip("."), wrong)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

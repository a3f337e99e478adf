#!/usr/bin/env python3
"""Memory of the explorer over an hour: three of them at the same time, in terminals of their own, about 20
keys a second. One goes through all views, what-ifs, commands, models, devices and measurements; one measures
without end; one is left alone. Prints the resident memory of each once a minute. It must not grow after the
first half.

    soak.py [--minutes 60] [--rate 20] [--growth KIB]

Not part of the suite; t_steady compares the bytes of the heap there."""

import argparse
import os
import pathlib
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import job_control  # noqa: E402
import python_tap  # noqa: E402

MODELS = python_tap.ROOT / "data" / "models"
SMALL = python_tap.ROOT / "tests" / "models"
VIEWS = [*"1234567890", *("g" + letter for letter in "mnrtdsyawielqhox")]
WALK = [key for view in VIEWS for key in (view, "j", "k", "G", "gg", "\r", "1")]
TOGGLES = [*"ppffmmaallootttt++--ccIIsSnN", "\x1b", "/conv\r", "&relu\r", "&\x15\r", "\x1b", "$f", "$p",
           ":sort number\r", "V", "V", "U", '"a', "5j", "'a", "]c", "[c", "^O", "zc", "zo", "zM", "zR", "*",
           "*", "d", "\x1b", ":set fusion=all,parallel\r", ":set fusion=off,parallel=off\r", ":theme light\r",
           ":theme dark\r", ":write! out.csv\r", ":write! out.html\r", ":write! out.json\r", "y", "Y",
           "=2x\r", "=\x15\r"]
OTHERS = [f":open {SMALL}/symbolic.onnx\r", "\x1b", ":dim batch=3\r", "2", "ge", "gt", "1",
          f":open {MODELS}/googlenet.onnx\r", "gs", "ga", "1", f":open {MODELS}/resnet50.onnx\r",
          ":device h100\r", "2", "gr", "5", "1", ":device words\r", "gq"]
MEASURING = ["b", "gq", "B", "x", "1", "B", "5j", "B", "e", "j", "k", "ge", "j", "1"]
PARTS = {"all": WALK + TOGGLES + OTHERS + MEASURING, "measuring": MEASURING, "idle": []}


def config_of(home):
    lib = python_tap.ROOT / "tests" / "lib"
    path = pathlib.Path(home) / "soak.yaml"
    path.write_text(
        "measure: never\nbatch: [1, 8]\ndtype: [f32, bf16]\nrunners:\n"
        f'  words: [sh, "{lib}/word_runner.sh", Word 1, "words, 1 thread"]\n'
        f'  cuda: [sh, "{lib}/plan_runner.sh", answers]\n'
        f'agents:\n  good: [python3, "{lib}/fake_agent.py", good]\n', encoding="utf-8")
    return path


class Part(threading.Thread):
    """An explorer with its keys; `memory`: KiB of each minute."""

    def __init__(self, name, home, options):
        super().__init__(daemon=True)
        self.name, self.options, self.memory, self.keys, self.wrong = name, options, [], 0, ""
        env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "TMUX")}
        env |= {f"XDG_{kind}_HOME": home for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
        env |= {"HOME": home, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "WORD_QUICK": "1"}
        command = [python_tap.program(), "-c", str(config_of(home)), "-d", "words", "--fresh",
                   "--db", f"{home}/soak.db", str(MODELS / "resnet50.onnx")]
        self.term = job_control.Terminal(command, env, home, (120, 40))

    def run(self):
        self.term.begin()
        began = time.monotonic()
        while time.monotonic() < began + 60 * self.options.minutes and not self.wrong:
            for key in PARTS[self.name] or [""]:
                good = self.term.type(key.encode())
                end = time.monotonic() + 1 / self.options.rate
                while good and time.monotonic() < end:
                    good = self.term.hear(max(0, end - time.monotonic()))
                self.keys += bool(key)
                if not good:
                    self.wrong = f"it has ended with {self.term.status}"
                    return
                if time.monotonic() - began > 60 * (len(self.memory) + 1):
                    self.memory.append(self.term.memory_kib())

    def grown(self):
        if self.wrong:
            return [self.wrong]
        half = self.memory[len(self.memory) // 2:]
        if len(half) < 2:
            return ["too short: --minutes 3 or more"]
        return [f"from {half[0]} to {half[-1]} KiB"] if half[-1] > half[0] + self.options.growth else []


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--minutes", type=float, default=60)
    p.add_argument("--rate", type=float, default=20)
    p.add_argument("--growth", type=int, default=4096)
    options, tap = p.parse_args(), python_tap.Tap()
    with tempfile.TemporaryDirectory() as folder:
        parts = []
        for name in PARTS:
            (pathlib.Path(folder) / name).mkdir()
            parts.append(Part(name, f"{folder}/{name}", options))
        for part in parts:
            part.start()
        for part in parts:
            part.join()
            part.term.kill()
            print(f"# {part.name}: KiB each minute:", *part.memory)
            tap.result(f"{part.name}, {part.keys} keys: memory stays", part.grown())
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

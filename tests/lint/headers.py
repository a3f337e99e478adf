#!/usr/bin/env python3
"""Headers that CUDA and C++ sources include are C++, too, as TAP. Those that include headers of the CUDA
toolkit are checked where nvcc is installed."""

import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, Tap, skip  # noqa: E402

TOOLKIT = re.compile(r'#include [<"](cuda|cudnn|cublas|cupti|nvml|nvrtc|cub/)')


def included(path):
    """The headers of ours that a file includes, as paths from src."""
    return [name for name in re.findall(r'^#include "([^"]+\.h)"', path.read_text(encoding="utf-8"), re.M)
            if (ROOT / "src" / name).exists()]


def reached(name, seen):
    """Adds a header and those that it includes to `seen`."""
    if name not in seen:
        seen.add(name)
        for other in included(ROOT / "src" / name):
            reached(other, seen)
    return seen


def main():
    compiler = shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")
    if not compiler:
        skip("no C++ compiler")
    tap = Tap()
    sources = [path for top in ("src", "tests") for kind in ("cu", "cuh", "cpp")
               for path in (ROOT / top).rglob(f"*.{kind}")]
    roots = sorted({name for path in sources for name in included(path)})
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    toolkit = ["-isystem", pathlib.Path(nvcc).resolve().parents[1] / "include"] if nvcc else []
    roots = [name for name in roots
             if toolkit or not any(TOOLKIT.search((ROOT / "src" / one).read_text(encoding="utf-8"))
                                   for one in reached(name, set()))]
    text = "".join(f'extern "C" {{\n#include "{name}"\n}}\n' for name in roots)
    command = [compiler, "-std=c++17", "-fsyntax-only", "-x", "c++", "-I", ROOT / "src", "-"] + toolkit
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    wrong = done.stderr.splitlines() if done.returncode else []
    tap.result(f"{len(roots)} headers compile as C++", wrong)
    tap.result("there are such headers", [] if len(roots) > 3 else roots or ["none"])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

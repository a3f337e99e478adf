#!/usr/bin/env python3
"""Small additions, a patch each: none changes more files than CONTRIBUTING.md promises, and each applies.
With CHECK_LONG=1 each is applied to a scratch copy of sources and build, built, and its tests run. A patch
begins with lines `NAME: VALUE`: `tests` (the programs that try it) and `generate` (commands that write
generated files)."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import BUILD, LONG, ROOT, Tap, skip  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PROMISE = re.compile(r"^\| ([^|]+) \| (\d+)( and one a backend)? \| `tests/additions/(\S+\.patch)` \|$", re.M)
LIMIT_S = 1800


def promises():
    """[(addition, files, patch)] of CONTRIBUTING.md; the examples are of one backend."""
    found = PROMISE.findall((ROOT / "CONTRIBUTING.md").read_text())
    return [(name, int(files) + bool(backend), patch) for name, files, backend, patch in found]


def head_of(patch, name):
    """The words of the line `name:` before the first file of a patch."""
    head = (HERE / patch).read_text().split("diff --git", 1)[0]
    found = re.search(rf"^{name}: (.*)$", head, re.M)
    return found[1] if found else ""


def files_of(patch):
    """Without sections of the manual, which every addition that users see has."""
    names = re.findall(r"^diff --git a/(\S+)", (HERE / patch).read_text(), re.M)
    return [name for name in names if not name.startswith("man/")]


def apply(patch, top, *options):
    """The lines of git's complaint; empty: it applies."""
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(top.parent)}
    done = subprocess.run(["git", "apply", "-C1", *options, str(HERE / patch)], cwd=top, env=environment,
                          capture_output=True, text=True)
    return done.stderr.splitlines() if done.returncode else []


class Scratch:
    """A copy of the sources, and of the build directory where that is in them (its objects are not compiled
    again)."""

    def __init__(self, folder):
        self.top = pathlib.Path(folder) / "benanza"
        self.build = self.top / "build"
        shutil.copytree(ROOT, self.top, symlinks=True, copy_function=shutil.copy2,
                        ignore=lambda path, names: {".git", "venv", "newest"} & set(names))
        self.broken = []
        inside = BUILD.resolve() == (ROOT / "build").resolve() and (BUILD / "config.status").exists()
        if not inside:
            shutil.rmtree(self.build, ignore_errors=True)
            self.build.mkdir()
            self.broken = self.checked(["../configure"])
        else:
            for name in ("config.status", "Makefile"):  # they have the original's path
                path = self.build / name
                path.write_text(path.read_text().replace(str(BUILD.resolve()), str(self.build)))

    def checked(self, words):
        environment = os.environ | {"srcdir": "..", "MAKEFLAGS": "", "CHECK_LONG": ""}
        done = subprocess.run(words, cwd=self.build, capture_output=True, text=True, timeout=LIMIT_S,
                              env=environment)
        return [] if done.returncode == 0 else [f"{' '.join(words)[:60]}: exit status {done.returncode}",
                                                *(done.stdout + done.stderr).splitlines()[-15:]]

    def tried(self, patch):
        """What is wrong with an addition, which is taken back afterwards."""
        wrong = self.broken or apply(patch, self.top)
        if wrong:
            return wrong
        self.touch(patch)
        tests = head_of(patch, "tests")
        wrong = wrong or self.checked(["make", f"-j{os.cpu_count()}"])
        for command in filter(None, head_of(patch, "generate").split(";")):
            wrong = wrong or self.checked(["sh", "-c", f"cd .. && {command}"])
        wrong = wrong or self.checked(["make", f"-j{os.cpu_count()}", "check-these", f"TESTS={tests}"])
        self.broken = apply(patch, self.top, "--reverse")
        self.touch(patch)
        return wrong

    def touch(self, patch):
        for name in files_of(patch):
            if (self.top / name).exists():
                (self.top / name).touch()


def main():
    if not shutil.which("git"):
        skip("git is not installed")
    tap = Tap()
    rows = promises()
    there = {path.name for path in HERE.glob("*.patch")}
    tap.result("every patch has its promise", there ^ {patch for _, _, patch in rows})
    for name, most, patch in rows:
        files = files_of(patch)
        tap.result(f"{name}: at most {most} files", files if len(files) > most else [])
        tap.result(f"{name}: applies", apply(patch, ROOT, "--check"))
        tap.result(f"{name}: has tests", [] if head_of(patch, "tests") else ["no line `tests:`"])
    if LONG:
        with tempfile.TemporaryDirectory() as folder:
            scratch = Scratch(folder)
            for name, _, patch in rows:
                tap.result(f"{name}: builds, its tests pass", scratch.tried(patch))
    sys.exit(tap.end())


main()

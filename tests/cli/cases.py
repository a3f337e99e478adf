#!/usr/bin/env python3
"""What users and attackers brought: the commands of tests/cases/cases.txt, their exit status and words."""

import gzip
import pathlib
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import python_tap  # noqa: E402

CASES = python_tap.ROOT / "tests/cases"
RUNNER = python_tap.ROOT / "tests/lib/word_runner.sh"
CONFIG = f"device: word\nrunners:\n  word: [sh, '{RUNNER}', lex, words, '2']\n"


def unpack(work):
    """Files above 4 KB are kept compressed."""
    for path in CASES.rglob("*"):
        if path.is_file():
            packed = path.suffix == ".gz"
            to = work / path.relative_to(CASES).with_suffix("" if packed else path.suffix)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(gzip.decompress(path.read_bytes()) if packed else path.read_bytes())


def rows():
    """(folder, command, status, wanted, unwanted) of each command."""
    folder, row = None, None
    for line in (CASES / "cases.txt").read_text().splitlines():
        kind, text = line[:1], line[2:]
        if kind == "[":
            folder = line[1:-1]
        elif kind == "$":
            row and (yield row)
            row = [folder, text, 0, [], []]
        elif kind == "=":
            row[2] = int(text)
        elif kind in "+-" and text:
            row[3 if kind == "+" else 4].append(text)
    yield row


def check(work, folder, command, status, wanted, unwanted):
    words = [str(work / "public/cnn.onnx") if word == "M" else word for word in shlex.split(command)]
    at = work / folder
    at.mkdir(exist_ok=True)
    config = [] if "-c" in words else ["-c", str(work / "config.yaml")]
    done = subprocess.run([python_tap.program(), *words, *config], cwd=at, capture_output=True, text=True,
                          timeout=python_tap.TIME_LIMIT_S, env=python_tap.environment_at(work / "home"))
    said = " ".join((done.stdout + done.stderr).split())
    if done.returncode != status:
        yield f"exit status {done.returncode}, not {status}: {said[-300:]}"
    yield from (f"not said: {text}: {said[:1500]}" for text in wanted if text not in said)
    yield from (f"said: {text}" for text in unwanted if text in said)


def main():
    tap = python_tap.Tap()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        unpack(work)
        (work / "config.yaml").write_text(CONFIG)
        for row in rows():
            tap.result(f"{row[0]}: {row[1]}", check(work, *row))
    return tap.end()


sys.exit(main())

"""Runs TensorRT's program trtexec: its options, its output, the files that it writes. Source of the formats:
samples/common/sampleOptions.cpp and sampleReporting.cpp of TensorRT."""

import collections
import functools
import json
import os
import re
import shutil
import subprocess

from . import machine, worker
from .request import Unsupported

HELP_S = 20  # limit of `trtexec --help`
MOST_BYTES = 1 << 29  # of a file that trtexec wrote
UNSUPPORTED = re.compile(
    r"no importer registered|unsupported|not supported|is not implemented", re.IGNORECASE
)


class Output:
    """The output of a run: its error lines, and the facts that later steps need."""

    def __init__(self):
        self.errors, self.last, self.facts, self.memory = [], "", {}, collections.OrderedDict()

    def take(self, line):
        self.last = line.strip() or self.last
        found = re.search(r"\[E\]\s*(?:\[TRT\]\s*)?(.*)", line)
        if found and found.group(1).strip() and len(self.errors) < 50:
            self.errors.append(found.group(1).strip())
        for key, pattern in (
            ("device", r"Selected Device:\s*(\S.*)"),
            ("qps", r"Throughput:\s*([0-9.eE+-]+) qps"),
            ("build_s", r"Engine built in ([0-9.]+) sec"),
        ):
            found = re.search(pattern, line)
            if found:
                self.facts[key] = found.group(1).strip()
        found = re.search(r"Total (Weights|Activation|Device Persistent|Scratch) Memory: (\d+)", line)
        if found:
            self.memory[found.group(1)] = int(found.group(2))

    def why(self, status):
        """Returns the reason of a failed run: the line about memory, else the first error."""
        if status < 0:
            return (
                f"trtexec was ended by signal {-status}"
                + (", most likely because memory ran out" if status == -9 else "")
                + self.behind()
            )
        chosen = next((text for text in self.errors if worker.NO_MEMORY.search(text)), None)
        return (
            "trtexec: " + (chosen or next(iter(self.errors), ""))
            if self.errors
            else f"trtexec ended with exit status {status}{self.behind()}"
        )

    def behind(self):
        return f"; its last line: {worker.one_line(self.last, 200)}" if self.last else ""


class Trtexec:
    """The program: its path, the options that its help lists, its version."""

    def __init__(self, path):
        self.path = path
        try:
            done = subprocess.run(
                [path, "--help"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=HELP_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Unsupported(f"{path} --help did not end within {HELP_S} seconds") from None
        except OSError as error:
            raise Unsupported(f"{path}: {error.strerror}") from None
        text = done.stdout[: 1 << 20].decode("utf-8", "replace")
        self.options = set(re.findall(r"--\w+", text))
        if not {"--onnx", "--loadEngine", "--exportTimes"} <= self.options:
            raise Unsupported(
                f"{path} is not a trtexec that this agent can use: its help (exit status {done.returncode}) "
                f"lacks --onnx, --loadEngine or --exportTimes: {worker.one_line(text, 120) or 'empty'}"
            )
        found = re.search(r"\[TensorRT v(\d+)\]", text)
        self.version = version_of(int(found.group(1))) if found else library_version(path)

    def has(self, *names):
        """Returns the first of the options that the help lists, as a list of one; else an empty list."""
        return next(([name] for name in names if name in self.options), [])

    def run(self, arguments):
        """Runs the program to its end. Returns its output; raises an error with its reason if it fails."""
        output, parent = Output(), os.getpid()
        try:
            process = subprocess.Popen(
                [self.path, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                preexec_fn=lambda: machine.die_with_parent(parent),
            )
        except OSError as error:
            raise RuntimeError(f"{self.path}: {error.strerror}") from None
        while True:
            line = process.stdout.readline(1 << 16)
            if not line:
                break
            output.take(line.decode("utf-8", "replace"))
        status = process.wait()
        if status:
            why = output.why(status)
            raise (
                Unsupported(why)
                if UNSUPPORTED.search(why) and not worker.NO_MEMORY.search(why)
                else RuntimeError(why)
            )
        return output


def version_of(number):
    """Returns "8.6.1" for 8601 and "10.3.0" for 100300 (NV_TENSORRT_VERSION)."""
    large = 10000 if number >= 100000 else 1000
    return f"{number // large}.{number % large // 100}.{number % 100}"


def library_version(path):
    """Returns the version in the name of the library beside the program; "" if no library is found."""
    top = os.path.dirname(os.path.dirname(os.path.realpath(path)))
    for folder in (
        os.path.join(top, "lib"),
        os.path.join(top, "targets", "x86_64-linux-gnu", "lib"),
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
    ):
        try:
            found = [
                re.fullmatch(r"libnvinfer\.so\.(\d+\.\d+\.\d+)", name) for name in sorted(os.listdir(folder))
            ]
        except OSError:
            continue
        for one in filter(None, found):
            return one.group(1)
    return ""


@functools.lru_cache(maxsize=4)
def program(path=""):
    """Returns the trtexec at a path, else that in PATH, else that of TensorRT's packages."""
    found = path or shutil.which("trtexec") or shutil.which("trtexec", path="/usr/src/tensorrt/bin")
    if not found:
        raise Unsupported(
            "trtexec is not in PATH: install TensorRT, or give the option program=/path/to/trtexec"
        )
    return Trtexec(found)


def read_json(path, what):
    """Returns the content of a file that trtexec wrote. Names may contain control characters (0x1e in
    metadata)."""
    try:
        if os.path.getsize(path) > MOST_BYTES:
            raise RuntimeError(f"{what} that trtexec wrote exceed {MOST_BYTES >> 20} MiB")
        with open_text(path) as file:
            text = file.read()
    except FileNotFoundError:
        raise RuntimeError(f"trtexec ended without error but wrote no {what.split(' ', 1)[-1]}") from None
    text = re.sub(
        r"(?<=[\s,\[-])(nan|inf)(?=[\s,\]])", lambda f: {"nan": "NaN", "inf": "Infinity"}[f[0]], text
    )
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        raise RuntimeError(f"{what} that trtexec wrote are not JSON: {error}") from None


def open_text(path):
    return os.fdopen(os.open(path, os.O_RDONLY), encoding="utf-8", errors="replace")


def number(value):
    """Returns a finite number >= 0; None for anything else."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e12
    return float(value) if good else None


def spec(pairs):
    """Returns "name:value,name:value" for the command line."""
    for name, _ in pairs:
        if "," in name or "'" in name:
            raise Unsupported(f"input '{name}': trtexec cannot take a name with a comma or a quote")
    return ",".join((f"'{name}':{value}" if ":" in name else f"{name}:{value}") for name, value in pairs)

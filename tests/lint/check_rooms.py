#!/usr/bin/env python3
"""The order of the rooms and boxes, the homes of foreign libraries (docs/architecture.md), and the sizes of
files and functions, as TAP."""

import itertools
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, Tap  # noqa: E402

# what each room may include: the rooms before it
ROOMS = ("base problem yaml model ops plan config store wire drive profile analyze doctor session table "
         "ui commands").split()
RUNNER_MAY = {"base", "problem", "wire", "runner"}
UI_BOXES = "screen model stage views frame".split()
# boxes of other rooms, below to above; headers in no box are for all. What they call: circles.py
BOXES = {"analyze": "scenario roof fusion study choose branches bound real tables advice",
         "ops": "rules onnx microsoft rare", "plan": "value infer quant work",
         "profile": "read kinds bench match"}
# what each box of the runner may include besides itself
RUNNER_BOXES = {
    "verify": "", "measure": "verify",
    "host": "verify measure", "kernels": "verify measure", "protocol": "verify measure",
    "onednn": "verify measure host", "plain": "verify measure host", "gemm": "verify measure host",
    "beside": "verify measure host",
    "gpu": "verify measure kernels",
    "own": "verify measure kernels gpu", "nvrtc": "verify measure kernels gpu",
    "cublaslt": "verify measure kernels gpu", "cudnn": "verify measure kernels gpu",
    "cudnn_legacy": "verify measure kernels gpu cudnn",
}
# main.c and the two platforms may include every box
RUNNER_TOP = {"main.c", "platform_cpu.c", "platform_cuda.c"}
# headers of a library, the only files that may include them, its name
HOMES = (
    (r"sqlite3\.h", r"src/store/", "sqlite3"),
    (r"zlib\.h", r"src/(drive/records|profile/read/stream)\.c$", "zlib"),
    (r"sha2\.h", r"src/base/digest\.c$", "libmd"),
    (r"yaml\.h", r"src/yaml/", "libyaml"),
    (r"protobuf-c|onnx\.pb-c\.h", r"src/model/", "protobuf-c"),
    (r"jansson\.h", r"src/base/json\.h$", "jansson"),
    (r"n?curses(?:w)?[./]|ncursesw/|term\.h>", r"ui/screen/term(_in|_out)?\.c$", "curses"),
    (r"dnnl", r"src/runner/onednn/", "oneDNN"),
    (r"cudnn", r"src/runner/cudnn", "cuDNN"),
    (r"cublasLt", r"src/runner/cublaslt/", "cuBLASLt"),
    (r"(?:cuda|nvml|cupti)[a-z_]*\.h", r"src/runner/(gpu|kernels)/", "the CUDA runtime"),
)
# A table indexed by kernel: one a backend, and one of its vectorized kernels. A switch: oneDNN's own
# primitives, one a version.
KERNEL_TABLES = re.compile(r"src/runner/(plain/plain_(kernels|lines)|onednn/onednn_(case|compat)|"
                           r"own/cuda_own)\.c$")
KERNEL_WORDS = re.compile(r"PROBLEM_KERNEL_H|KERNEL_(?:COUNT|LIST|ENUM|NAME|ROW|BINARY|ELTWISE|"
                          r"LAYOUT_[A-Z]*)")
FILE_LINES, FUNCTION_LINES = 700, 100

# but what protoc-c makes, in a build in the source directory
SOURCES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8", errors="replace")
           for top in ("src", "ui") for path in sorted((ROOT / top).rglob("*"))
           if path.suffix in (".c", ".h", ".cu", ".cuh") and path.is_file() and ".pb-c." not in path.name}
INCLUDES = {name: re.findall(r'^#include "([^"]+)"', text, re.M) for name, text in SOURCES.items()}


def within(folder):
    """Names of the sources below a folder."""
    return [name for name in SOURCES if name.startswith(folder + "/")]


def folder_of(room):
    return "ui" if room == "ui" else f"src/{room}"


def outside(folder, may, prefix=""):
    """Includes "PREFIXfolder/..." of the sources in a folder, whose folder is not one of `may`."""
    for name in within(folder):
        for other in sorted({m.group(1) for i in INCLUDES[name]
                             if (m := re.match(prefix + r"([a-z_]+)/", i))}):
            if other not in may:
                yield f"{name} includes {prefix}{other}"


def directly(folder, prefix):
    """Includes of headers that are in no box."""
    return [f"{name} includes {i}" for name in within(folder) for i in INCLUDES[name]
            if re.fullmatch(prefix + r"[a-z_]+\.h", i)]


def rooms(tap):
    for at, room in enumerate(ROOMS):
        tap.result(f"room {room} includes only rooms before it",
                   outside(folder_of(room), ROOMS[:at + 1]))
    tap.result("a private header is included in its own room only",
               [f"{name} includes {i}" for room in ROOMS for name in within(folder_of(room))
                for i in INCLUDES[name] if i.endswith("private.h") and not i.startswith(room + "/")])
    tap.result("the runner includes only base, problem and wire", outside("src/runner", RUNNER_MAY))


def runner_boxes(tap):
    for box, below in RUNNER_BOXES.items():
        tap.result(f"box runner/{box} includes only boxes below it",
                   [*outside(f"src/runner/{box}", {box, *below.split()}, "runner/"),
                    *directly(f"src/runner/{box}", "runner/")])
    lost = [name for name in within("src/runner")
            if (parts := name.split("/")[2:])[0] not in (RUNNER_BOXES if parts[1:] else RUNNER_TOP)]
    tap.result("every file of the runner is in a box", lost)


def boxes(tap):
    for room, order in BOXES.items():
        order = order.split()
        tap.result(f"boxes of {room} include only boxes below them",
                   [wrong for at, box in enumerate(order)
                    for wrong in outside(f"src/{room}/{box}", order[:at + 1], f"{room}/")])
        tap.result(f"every folder of {room} is a box",
                   {name for name in within(f"src/{room}")
                    if name.count("/") > 2 and name.split("/")[2] not in order})


def ui_boxes(tap):
    for at, box in enumerate(UI_BOXES):
        tap.result(f"box ui/{box} includes only boxes below it",
                   [*outside(f"ui/{box}", UI_BOXES[:at + 1], "ui/"), *directly(f"ui/{box}", "ui/")])
    lost = [name for name in within("ui") if name.split("/")[1] not in UI_BOXES]
    table = SOURCES["ui/views/view_list.h"]
    views = [view for name in within("ui/views")
             for view in re.findall(r"^const struct view view_([a-z_]+)", SOURCES[name], re.M)]
    lost += [f"view_{view} is not in ui/views/view_list.h" for view in views if f"V({view})" not in table]
    lost += [f"{name} names view_{view}" for name, view in itertools.product(within("ui/frame"), views)
             if re.search(rf"\bview_{view}\b", SOURCES[name])]
    tap.result("every view is in the table, and the frame names none", lost)


def homes(tap):
    for header, allowed, library in HOMES:
        pattern = re.compile(rf'#include [<"](?:{header})')
        tap.result(f"home of {library}",
                   [name for name, text in SOURCES.items() if name.endswith((".c", ".h"))
                    and pattern.search(text) and not re.match(allowed, name)])


def kernels(tap):
    """What differs between kernels is in their rows; epilogues are modes of eltwise and binary."""
    named = [f"{name}:{number}" for name, text in SOURCES.items()
             if re.fullmatch(r"src/problem/[^/]+\.[ch]", name)
             for number, line in enumerate(text.split("\n"), 1)
             if re.search("KERNEL_[A-Z]+", KERNEL_WORDS.sub("", line))]
    listed = [name for name, text in SOURCES.items() if name.endswith(".c") and not KERNEL_TABLES.match(name)
              and re.search(r"^\s+(\[KERNEL_[A-Z]+\] =|case KERNEL_)", text, re.M)]
    tap.result("kernels differ in their rows, not in lists and switches", named + listed)


def long_functions(name, text):
    title = start = None
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"[a-zA-Z_].*\)[ \t]*$", line):
            title = line
        elif line.startswith("{"):
            start = number
        elif line.startswith("}"):
            if start and number - start > FUNCTION_LINES:
                yield f"{name}:{start}: {number - start} lines: {title}"
            start = None


def sizes(tap):
    tap.result(f"no file over {FILE_LINES} lines",
               [f"{name}: {lines} lines" for name, text in SOURCES.items()
                if name.endswith((".c", ".h")) and (lines := text.count("\n")) > FILE_LINES])
    tap.result(f"no function over {FUNCTION_LINES} lines, config.h in every source",
               [wrong for name, text in SOURCES.items() if name.endswith(".c")
                for wrong in (*long_functions(name, text),
                              *([] if '\n#include "config.h"' in "\n" + "\n".join(text.split("\n")[:20])
                                else [f"{name} does not include config.h first"]))])


def main():
    tap = Tap()
    for check in (rooms, runner_boxes, boxes, ui_boxes, homes, kernels, sizes):
        check(tap)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

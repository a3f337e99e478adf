#!/usr/bin/env python3
"""The machine code of our CUDA kernels: made for every architecture that configure chose; moves keep nothing in local memory.
TAP; needs what nvcc made. What is within the code: machine_code.py."""
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

build = os.environ.get("builddir", ".")
count = failed = 0


def ok(good, name):
    global count, failed
    count += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", count, name))


def skip_all(why):
    print("1..0 # SKIP " + why)
    sys.exit(0)


def variable(name):
    with open(os.path.join(build, "Makefile"), encoding="utf-8") as makefile:
        found = re.search(r"^%s = ?(.*)$" % name, makefile.read(), re.M)
    return found.group(1) if found else ""


def codes(path):
    """(kind, architecture) of all images in an object: kind 1 is the intermediate form, 2 machine code. A container begins with
    its magic number, version, header size and the size of what follows; an image with kind, version, header size, size."""
    with open(path, "rb") as f:
        data = f.read()
    found, at = set(), data.find(b"\x50\xed\x55\xba")
    while at >= 0:
        _, _, header, size = struct.unpack_from("<IHHQ", data, at)
        here, end = at + header, at + header + size
        while here < end and end <= len(data):
            kind, _, image_header, image_size = struct.unpack_from("<HHIQ", data, here)
            found.add((kind, struct.unpack_from("<I", data, here + 28)[0]))
            if image_header == 0:
                break
            here += image_header + image_size
        at = data.find(b"\x50\xed\x55\xba", max(end, at + 4))
    return found


def run(*command):
    # nvcc hangs under faketime (make check-elsewhere), which is preloaded
    clean = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return subprocess.run(command, env=clean, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


if not variable("NVCC") or "-gencode" not in variable("CUDA_GENCODE"):
    skip_all("no CUDA toolkit")
top = os.environ.get("srcdir", ".")
if not os.path.exists(os.path.join(build, "librunner_kernels.a")):
    skip_all("the kernels are not built")
sources = sorted(glob.glob(os.path.join(top, "src/runner/kernels/*.cu")))
objects = [os.path.join(build, "src/runner/kernels", os.path.basename(source)[:-2] + "o")
           for source in sources]
ok(len(objects) >= 10, "there are kernels")

wanted = {(2, int(a)) for a in re.findall(r"code=sm_(\d+)", variable("CUDA_GENCODE"))}
later = {(1, int(a)) for a in re.findall(r"code=compute_(\d+)", variable("CUDA_GENCODE"))}
for o in objects:
    got = codes(o)
    ok(wanted | later <= got, "%s has code for sm %s, and a form for what comes later" % (
        os.path.basename(o), " ".join(str(a) for _, a in sorted(wanted))))
    if not wanted | later <= got:
        print("# found %s" % sorted(got))

# The source says what the registers hold: compile the moves once more for one architecture and listen to the assembler.
arch = 90 if (2, 90) in wanted else max(a for _, a in wanted)
with tempfile.TemporaryDirectory() as scratch:
    for name in ("copy", "tiled"):
        said = run(variable("NVCC"), "-std=c++17", "-O3", "-arch=sm_%d" % arch, "-I" + os.path.join(top, "src"), "-I" + top,
                   "-I" + build, "-Xptxas", "-v", "-cubin", "-o", os.path.join(scratch, name),
                   os.path.join(top, "src/runner/kernels/cuda_%s.cu" % name))
        frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", said)
        ok(len(frames) > 5 and all(f == ("0", "0", "0") for f in frames),
           "cuda_%s: %d kernels, none keeps anything in local memory (sm_%d)" % (name, len(frames), arch))
        used = [int(r) for r in re.findall(r"Used (\d+) registers", said)]
        ok(used and max(used) <= 64, "cuda_%s: at most 64 registers, so that an SM holds 1024 threads" % name)

print("1..%d" % count)
sys.exit(1 if failed else 0)

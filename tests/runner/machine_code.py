#!/usr/bin/env python3
"""The machine code of our CUDA kernels, without a GPU: nothing lies in local memory, and no figure of
machine_code.txt got worse, for each kernel and architecture. TAP; needs nvcc of the table's version, and the
cuobjdump and nvdisasm of requirements.txt. The figures, of the worst instantiation for an operation or type:
    registers      of a thread
    load, store    bytes that an instruction moves from or to memory, the mean; where 16 are loaded at once
    instructions   in the longest loop, for 1024 bytes of what STREAMS names
    ahead          loads of 16 bytes before its first store
make check compiles two sources for one architecture, make check-long everything (some minutes). After a
change that was meant, in a build directory: srcdir=.. python3 ../tests/runner/machine_code.py write
"""
import concurrent.futures
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import BUILD, LONG, ROOT, Tap, skip  # noqa: E402

KERNELS = ROOT / "src/runner/kernels"
TABLE = pathlib.Path(__file__).with_suffix(".txt")
ARCHITECTURES = (75, 80, 90, 100, 120)
QUICK = (("few", 90), ("product", 90))
# kernel -> bytes that one round of a warp's loop streams; their number bounds the bandwidth
STREAMS = {"few_rows_kernel": 4 * 512, "copy_kernel": 8 * 512}
BETTER_HIGH = ("load", "store", "ahead")
# What an H100 SXM issues and moves: a 4-bit product of one row may not be held up by its instructions.
ISSUE, BANDWIDTH, SHARE = 132 * 4 * 1.75e9, 3.35e12, 0.85


# ---- the toolkit

def variable(name):
    found = re.search(rf"^{name} = ?(.*)$", (BUILD / "Makefile").read_text(), re.M)
    return found.group(1) if found else ""


def environment():
    """With the programs of Python's packages; without faketime (check-elsewhere): nvcc hangs under it."""
    kept = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    places = [str(p) for p in pathlib.Path(sysconfig.get_path("purelib")).glob("nvidia/*/bin")]
    return kept | {"PATH": os.pathsep.join([*places, kept["PATH"], os.path.dirname(variable("NVCC"))])}


def said(*command):
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()[:500]}")
    return done.stdout


def version():
    return re.search(r"V(\d+\.\d+\.\d+)", said(variable("NVCC"), "--version")).group(1)


def disassembled(source, arch, folder):
    """Resources and code of a source's kernels."""
    cubin = os.path.join(folder, f"{source}_{arch}")
    said(variable("NVCC"), "-std=c++17", "-O3", f"-arch=sm_{arch}", f"-I{ROOT}/src", f"-I{ROOT}",
         f"-I{BUILD}", "-DHAVE_CONFIG_H", "-cubin", "-o", cubin, str(KERNELS / f"cuda_{source}.cu"))
    return said("cuobjdump", "-res-usage", cubin), said("cuobjdump", "-sass", cubin)


# ---- the figures

def family(name):
    """The name with the template's arguments, without those of these and the parameters; "" of a library."""
    short, depth = "", 0
    for letter in name.removeprefix("void "):
        depth -= letter == ">"
        if letter == "(" and depth == 0:
            break
        if depth < 2 and not (letter == ">" and depth == 1):
            short += letter
        depth += letter == "<"
    return "" if "::" in short else short


WIDTHS = (("128", 16), ("64", 8), ("U16", 2), ("S16", 2), ("U8", 1), ("S8", 1))


def instructions(text):
    """[(address, instruction)]"""
    return [(int(at, 16), what)
            for at, what in re.findall(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", text, re.M)]


def moved(code, what):
    """Bytes of each instruction that loads from (LDG) or stores to (STG) global memory."""
    suffixes = [found.group(1).split(".") for _, text in code
                if (found := re.search(rf"\b{what}(\.\S+)", text))]
    return [next((size for name, size in WIDTHS if name in suffix), 4) for suffix in suffixes]


def longest_loop(code):
    """Instructions of the longest loop that has no other within: from a jump's target to the jump."""
    loops = [(int(to, 16), at) for at, text in code
             for to in re.findall(r"\bBRA\b.*\b0x([0-9a-f]+)", text) if int(to, 16) <= at]
    inner = [(to, at) for to, at in loops
             if not any((to, at) != other and to <= other[0] and other[1] <= at for other in loops)]
    return max((sum(to <= at <= end for at, _ in code) for to, end in inner), default=0)


def ahead(code):
    """Loads of 16 bytes before the first store."""
    first = next((at for at, text in code if re.search(r"\bSTG\b", text)), 0)
    return moved([one for one in code if one[0] < first], "LDG").count(16)


def figures(resources, sass):
    """{kernel: {figure: value}}, and what lies in local memory."""
    found, local = {}, []
    codes = {part.split("\n", 1)[0].strip(): part for part in sass.split("Function : ")[1:]}
    rows = re.findall(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", resources)
    names = said("c++filt", *(row[0] for row in rows)).splitlines()
    for (symbol, registers, stack, array), name in zip(rows, names):
        kernel = family(name)
        if not kernel:
            continue
        code = instructions(codes[symbol])
        if int(stack) or int(array) or any(re.search(r"\b(LDL|STL)\b", text) for _, text in code):
            local.append(f"{kernel}: stack of {stack} bytes, {array} bytes of local memory")
        now = {"registers": int(registers)}
        loads, stores = moved(code, "LDG"), moved(code, "STG")
        wide = 16 in loads and stores
        now |= {"load": round(sum(loads) / len(loads), 1) if wide else 0,
                "store": round(sum(stores) / len(stores), 1) if wide else 0}
        streams = STREAMS.get(kernel.partition("<")[0])
        if streams:
            now |= {"instructions": math.ceil(longest_loop(code) * 1024 / streams),
                    "ahead": ahead(code)}
        old = found.setdefault(kernel, now)
        found[kernel] = {figure: worse(figure)(value, old[figure]) for figure, value in now.items()}
    return found, local


def worse(figure):
    return min if figure in BETTER_HIGH else max


def measured(jobs):
    """{(kernel, figure): {architecture: value}}, and what lies in local memory."""
    table, local = {}, []
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: figures(*disassembled(*job, folder)), jobs)
        for (_, arch), (now, there) in zip(jobs, results):
            local += [f"{one} (sm_{arch})" for one in there]
            for kernel, values in now.items():
                for figure, value in values.items():
                    at = table.setdefault((kernel, figure), {})
                    at[arch] = worse(figure)(value, at.get(arch, value))
    return table, local


# ---- the table

def written(table, nvcc):
    rows = [("nvcc " + nvcc, "figure", ARCHITECTURES)]
    for (kernel, figure), at in sorted(table.items()):
        if any(at.values()):
            rows.append((kernel, figure,
                         [f"{at[arch]:g}" if at.get(arch) else "-" for arch in ARCHITECTURES]))
    return "".join("\t".join((kernel, figure, " ".join(map(str, values)))) + "\n"
                   for kernel, figure, values in rows)


def read():
    """The version of nvcc and {(kernel, figure): {architecture: value}}."""
    head, *rows = TABLE.read_text().splitlines()
    first, _, columns = head.split("\t")
    table = {}
    for row in rows:
        kernel, figure, values = row.split("\t")
        table[kernel, figure] = {int(arch): float(value)
                                 for arch, value in zip(columns.split(), values.split()) if value != "-"}
    return first.removeprefix("nvcc "), table


def compared(now, limits, jobs):
    """A line for each figure that is worse than its limit or has none, and for each kernel that is gone."""
    lines = []
    for (kernel, figure), at in now.items():
        for arch, value in at.items():
            limit = limits.get((kernel, figure), {}).get(arch)
            if limit is None and value:
                lines.append(f"{kernel}, sm_{arch}: {figure} {value:g} is not in the table")
            elif limit is not None and worse(figure)(value, limit) != limit:
                most = "at least" if figure in BETTER_HIGH else "at most"
                lines.append(f"{kernel}, sm_{arch}: {figure} {value:g}, {most} {limit:g}")
    if jobs == everything():
        lines += [f"{kernel}, sm_{arch}: {figure} is in the table and was not found"
                  for (kernel, figure), at in limits.items()
                  for arch in at if arch not in now.get((kernel, figure), {})]
    return lines


def everything():
    return [(path.stem.removeprefix("cuda_"), arch) for path in sorted(KERNELS.glob("*.cu"))
            for arch in ARCHITECTURES]


def main():
    if not variable("NVCC") or "-gencode" not in variable("CUDA_GENCODE"):
        skip("no CUDA toolkit")
    for program in ("cuobjdump", "nvdisasm", "c++filt"):
        if not shutil.which(program, path=environment()["PATH"]):
            skip(f"no {program} (./bootstrap check installs cuobjdump and nvdisasm)")
    writes = sys.argv[1:] == ["write"]
    nvcc, tap = version(), Tap()
    if not writes and read()[0] != nvcc:
        skip(f"machine_code.txt is of nvcc {read()[0]}, not of {nvcc}")
    jobs = everything() if writes or LONG else list(QUICK)
    now, local = measured(jobs)
    if writes:
        TABLE.write_text(written(now, nvcc))
    tap.result(f"nothing of {len({k for k, _ in now})} kernels lies in local memory", local)
    tap.result("no figure is worse than in machine_code.txt", compared(now, read()[1], jobs))
    most = ISSUE / (BANDWIDTH * SHARE) * 1024
    one = {kernel: at[90] for (kernel, figure), at in now.items()
           if figure == "instructions" and re.fullmatch(r"few_rows_kernel<\d+, \w+, 1>", kernel)}
    slow = [f"{kernel}: {value:g} instructions for 1024 bytes, at most {most:.0f}"
            for kernel, value in one.items() if value > most]
    tap.result("4-bit products of one row reach 85% of an H100's bandwidth", slow if one else ["none found"])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

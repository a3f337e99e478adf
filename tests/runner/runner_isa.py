#!/usr/bin/env python3
"""Every kernel x data type x mode that the CPU offers, checked against plain C under each instruction set that oneDNN can be
limited to, as TAP.

A library has other implementations for each instruction set, so what is right on one CPU may be wrong on the next. The
problems below are made of one template a kernel, all data types of src/problem/dtype.h and all modes of
src/problem/problem.h: a kernel without a template, a mode or a type that nothing measures fails.

Fails if all implementations of a problem are suspect (then benanza's reference or its call of the library is wrong), if
one fails or the runner ends before its input does, or if one is inexact by design without being marked so. A single suspect
implementation is listed: it may be the library's own defect on this CPU, and benanza does not use its time.
"""

import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import BUILD, ROOT, skip  # noqa: E402

RUNNER = BUILD / "benanza-runner-cpu"
# oneDNN 2.6.3, "CPU Dispatcher Control"; what the CPU lacks gives a lower one, which is not run twice.
LIMITS = ["SSE41", "AVX", "AVX2", "AVX2_VNNI", "AVX512_CORE", "AVX512_CORE_VNNI", "AVX512_CORE_BF16", "AVX512_CORE_AMX", "DEFAULT"]
TIME_LIMIT_S = 600  # for all of them, on a busy machine too

PARAMETERS = {"leaky_relu": "0.1", "clip": "-0.5,0.5", "swish": "1.5", "hard_sigmoid": "0.2,0.5", "elu": "1.5", "pow": "2,1.5",
              "affine": "0.5,0.25", "across": "0.0001,0.75", "drop": "0.5"}

# {t}: the data type; {m}: the mode with its parameters; a mode that has templates of its own is in `only`.
CONV = "n1c16h10w10k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
DECONV = "n1c16h6w6k16r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:uh1uw1:g1"
MATMUL = "ba1bb1m16n32k24:ta0tb0"
SAME = {
    "conv": ["conv:{t},{t}.c,{t}/f32:" + CONV + "+bias:{t}.c+relu"],
    "deconv": ["deconv:{t},{t}.c,{t}/f32:" + DECONV],
    "matmul": ["matmul:{t},{t}.c,{t}/f32:" + MATMUL + "+bias:{t}.c",
               "matmul:{t},{t}.c,{t}/f32:ba1bb1m3n33k25:ta0tb1"],
    "pool": ["pool:{t},{t}:{m}:n1c16h9w9r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1"],
    "batchnorm": ["batchnorm:{t},{t}:1x16x7x7"],
    "layernorm": ["layernorm:{t},{t}:8x64:ax1"],
    "rmsnorm": ["rmsnorm:{t},{t}:8x64:ax1"],
    "instancenorm": ["instancenorm:{t},{t}:1x8x7x7"],
    "groupnorm": ["groupnorm:{t},{t}:2x8x7x7:g4"],
    "softmax": ["softmax:{t},{t}:{m}:4x33:ax1"],
    "eltwise": ["eltwise:{t},{t}:{m}:1x16x7x7"],
    "binary": ["binary:{t},{t},{t}:{m}:1x16x7x7:1x16x7x7", "binary:{t},{t}.c,{t}:{m}:1x16x7x7:16x1x1"],
    "reduce": ["reduce:{t},{t}:{m}:1x16x7x7:1x16x1x1"],
    "concat": ["concat:{t},{t}:1x16x7x7,1x32x7x7:ax1", "concat:{t},{t}:3x4,5x4,1x4:ax0",
               "concat:{t},{t}:3x2x1,3x2x7,3x2x5:ax2"],
    "transpose": ["transpose:{t},{t}:5x6x7:perm2x0x1"],
    "resample": ["resample:{t},{t}:{m}:n1c16h5w6:oh10ow12"],
    "lrn": ["lrn:{t},{t}:{m}:1x16x7x7:n5"],
    "copy": ["copy:{t},{t}:b10000"],
    "attention": ["attention:{t},{t},{t},{t}/f32:{m}:n1hq4hk2lq9lk12d16e8"],
    "rnn": ["rnn:{t},{t}.c,{t}:{m}:t5n2i10h20d1"],
    "dropout": ["dropout:{t},{t}:{m}:64"],
    "select": ["select:bool,{t},{t},{t}:8x1:8x9:8x9"],
    "topk": ["topk:{t},{t}:{m}:3x100:ax1:k4"],
    "scan": ["scan:{t},{t}:{m}:5x20:ax1"],
    "gather": ["gather:{t}.c,s64,{t}:50x8:ax0:1x16", "gather:{t}.c,s32,{t}:5x40:ax1:6"],
    "beside": ["beside:copy:{t},{t}:b10000%copy:{t},{t}:b20000"],
    "argreduce": ["argreduce:{t},s64:{m}:4x50:ax1", "argreduce:{t},s32:{m}:4x50:ax1"],
}
# {t} and {u}: each with each.
PAIRS = {
    "cast": ["cast:{t},{u}:6x50"],
    "quantize": ["quantize:{t},{u}:{m}:6x32"],
    "dequantize": ["dequantize:{t},{u}:{m}:6x32"],
}
SUFFIX = {"axis": ":ax0", "block": ":ax1:b16", "masked": ":1x4x9x12"}
# What has several types, and what is fused. {m}: each eltwise or binary mode.
INTEGERS = [
    "conv:{s},{w}.c,s32/s32:" + CONV, "deconv:{s},{w}.c,s32/s32:" + DECONV, "matmul:{s},{w}.c,s32/s32:" + MATMUL,
    "conv:{s},{w}.c,{d}/s32:" + CONV + "+scale:f32.c+bias:f32.c+relu",
    "deconv:{s},{w}.c,{d}/s32:" + DECONV + "+scale:f32.c+bias:f32.c",
    "matmul:{s},{w}.c,{d}/s32:" + MATMUL + "+scale:f32.c+bias:f32.c",
]
FUSED_ELTWISE = [
    "conv:{t},{t}.c,{t}/f32:" + CONV + "+bias:{t}.c+{m}", "matmul:{t},{t}.c,{t}/f32:" + MATMUL + "+{m}",
    "eltwise:{t},{t}:abs:1x16x7x7+{m}", "binary:{t},{t},{t}:mul:300:300+{m}",
]
FUSED_BINARY = [
    "conv:{t},{t}.c,{t}/f32:" + CONV + "+{m}:{t}", "matmul:{t},{t}.c,{t}/f32:" + MATMUL + "+{m}:{t}",
    "eltwise:{t},{t}:abs:1x16x7x7+{m}:{t}", "eltwise:{t},{t}:abs:300+{m}:{t}",
]
# Measured under every instruction set: each was suspect or refused once.
ALWAYS = [
    "matmul:f32,f32.c,f32/f32:" + MATMUL + "+affine,0.5,0.25+affine,2,-1",
    "matmul:f32,f32.c,f32/f32:" + MATMUL + "+affine,0.5,0.25+affine,2,-1+affine,3,2+relu",
    "matmul:f32,f32.c,f32/f32:" + MATMUL + "+affine,0.5,0.25+hard_sigmoid,0.2,0.5",
    "binary:f32,f32,f32:mul:300:300+affine,0.5,0.25+affine,2,-1+add:f32",
    "conv:f32,f32.c,f32/f32:" + CONV + "+clip,-0.5,0.5+relu+clip,-0.5,0.5",
    "eltwise:f32,f32:affine,0.5,0.25:300+affine,2,-1+mul:f32",
    "eltwise:f32,f32:square:300+affine,0.5,0.25+sqrt+logarithm", "eltwise:f32,f32:abs:300+add:f32+sqrt",
    "binary:f32,f32,f32:add:300:300+sqrt+div:f32",
    "eltwise:f32,f32:pow,2,3:5x7x11", "eltwise:f32,f32:pow,0.5,2:301",
    "reduce:f32,f32:sum:3x1x4:3x1x4", "reduce:f32,f32:mean:7:7+sqrt", "reduce:f32,f32:l2:3x1x4:3x1x4",
    "reduce:f32,f32:prod:1x1:1x1", "reduce:f32,f32:rmax:2x1x3x1:2x1x3x1+affine,2,1+add:f32",
    "reduce:f32,f32:mean:4x8x16:4x1x1+affine,1,1e-05+sqrt", "reduce:f32,f32:sum:4x8x16:4x1x16+mul:f32",
]

# Products of few rows, which have a kernel of their own (src/runner/gemm): rows of its tiles and passes, an
# odd k, a last panel that is not full, B stored transposed, rows of a batch, what language models fuse.
ROWS = "{t},{t}.c,{t}/f32:"
PACKED = ["matmul:" + text.format(t=t) for t in ("f32", "bf16") for text in (
    ROWS + "ba1bb1m1n50k37:ta0tb0", ROWS + "ba1bb1m1n50k37:ta1tb1", ROWS + "ba1bb1m2n49k130:ta0tb1",
    ROWS + "ba3bb1m2n33k25:ta0tb0", ROWS + "ba1bb1m9n130k70:ta0tb0+bias:{t}.c",
    ROWS + "ba1bb1m32n70k140:ta0tb0", ROWS + "ba1bb1m4n96k64:ta0tb0+bias:{t}.c+gelu_tanh",
    ROWS + "ba1bb1m4n96k64:ta0tb0+bias:{t}.c+add:{t}+relu", ROWS + "ba1bb1m8n100k64:ta0tb0+swish,1+mul:{t}")]
# By integers: without scales, blocks with and without zero points, one block, blocks that end early or fill
# no line; rows of its tiles, passes, and more than it keeps; epilogues.
PACKED += [f"matmul:{t},{w}.c,{t}/f32:ba{text}" for t in ("f32", "bf16")
           for w in ("u4", "s4", "u8", "s8", "u2", "s2") for text in (
               "1bb1m6n48k64:ta0tb1", "1bb1m1n130k128:ta0tb1:b32z1", "1bb1m2n81k96:ta0tb0:b32z0",
               "1bb1m3n50k70:ta0tb1:b16z1", "1bb1m1n33k45:ta1tb1:b45z0", "3bb1m4n20k40:ta0tb1:b20z1",
               "1bb1m17n40k64:ta0tb1:b32z1", "1bb1m8n64k9:ta0tb1:b3z0",
               f"1bb1m70n35k64:ta0tb1:b16z1+bias:{t}.c+gelu_tanh+mul:{t}")]

# Sums as products with ones (src/runner/onednn/onednn_ones.c): rows, columns, columns of a batch, a single
# sum, whole images in both layouts, running sums along rows and columns; a mean followed by a line.
ONES = [text.format(t=t) for t in ("f32", "bf16") for text in (
    "reduce:{t},{t}:sum:33x130:33x1", "reduce:{t},{t}:mean:33x130:33x1+affine,2,0.5+relu",
    "reduce:{t},{t}:mean:130x33:1x33", "reduce:{t},{t}:sum:3x50x7:3x1x7+add:{t}",
    "reduce:{t},{t}:sum:2x3x500:1x1x1", "reduce:{t}@nxc,{t}:mean:2x24x7x5:2x24x1x1",
    "pool:{t},{t}:avg_include:n2c24h7w5r7s5:ph0pw0qh0qw0:sh1sw1:dh1dw1",
    "pool:{t}@nxc,{t}@nxc:avg_exclude:n2c24h7w5r7s5:ph0pw0qh0qw0:sh2sw1:dh1dw1",
    "scan:{t},{t}:cumsum:9x65:ax1", "scan:{t},{t}:cumsum:3x65x7:ax1")]

# The CPU runner measures none of these; each is verified to be refused: branches, because it has one thread
# here.
NO_KERNEL = {"dropout", "beside"}
NO_TYPE = {"s2", "u2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0", "f6e2m3", "f6e3m2", "f4e2m1", "c64", "c128"}
NO_MODE = {("resample", "cubic"), ("dropout", "drop")}


def rows(path, name):
    """The rows of one X-macro list: tuples of words."""
    text = (ROOT / path).read_text()
    body = re.search(rf"#define {name}\(_\).*?\n((?:.*\\\n)*.*\n)", text).group(1)
    return [re.findall(r'[\w.]+', row) for row in re.findall(r"_\(([^)]*)\)", body)]


KERNELS = [name for _, name in rows("src/problem/problem.h", "KERNEL_LIST")]
TYPES = [row[1] for row in rows("src/problem/dtype.h", "DTYPE_LIST") if row[1] != "string"]  # no size: no problem has it
MODES = {}
for _, mode, kernel, _ in rows("src/problem/problem.h", "MODE_LIST"):
    MODES.setdefault(kernel.lower(), []).append(mode)


def with_parameters(mode):
    return f"{mode},{PARAMETERS[mode]}" if mode in PARAMETERS else mode


def gpu_templates():
    """kernel -> templates from the lists of the GPU, of kernels that have none here. Their mode is in the text."""
    lines = (ROOT / "tests/gpu/problems.txt").read_text().splitlines()
    made = {kernel: [] for kernel in KERNELS if kernel not in SAME and kernel not in PAIRS}
    for line in lines:
        made.get(line.split(":")[0], []).append(re.sub(r"\bT\b", "{t}", line))
    return made


def problems():
    """text -> (kernel, mode or None, the type that its template was given or None)."""
    made = {}
    for kernel, templates in gpu_templates().items():
        for template, t in itertools.product(templates, TYPES):
            mode = re.split("[:,]", template.split(":", 2)[2])[0]
            made[template.format(t=t)] = kernel, mode if mode in MODES.get(kernel, ()) else None, t
    for kernel, templates in SAME.items():
        for template, t, m in itertools.product(templates, TYPES, MODES.get(kernel, [None])):
            made[template.format(t=t, m=m and with_parameters(m)) + SUFFIX.get(m, "")] = kernel, m, t
    for kernel, templates in PAIRS.items():
        for template, t, u, m in itertools.product(templates, TYPES, TYPES, MODES.get(kernel, [None])):
            if m == "dynamic" and t.startswith("f8"):
                continue  # its few values put the zero point half way between two integers: either is right
            made[template.format(t=t, u=u, m=m) + SUFFIX.get(m, "")] = kernel, m, t
    for template, s, w, d in itertools.product(INTEGERS, ("u8", "s8"), ("u8", "s8"), ("u8", "s8", "f32", "bf16")):
        made[template.format(s=s, w=w, d=d)] = template.split(":")[0], None, None
    for templates, kind in ((FUSED_ELTWISE, "eltwise"), (FUSED_BINARY, "binary")):
        for template, t, m in itertools.product(templates, ("f32", "bf16"), MODES[kind]):
            made[template.format(t=t, m=with_parameters(m))] = template.split(":")[0], None, t
    fixed = ALWAYS + PACKED + ONES
    made |= {text: (text.split(":")[0], None, None) for text in fixed}
    return made


def environment(limit):
    return os.environ | {"ONEDNN_MAX_CPU_ISA": limit, "DNNL_MAX_CPU_ISA": limit, "OMP_NUM_THREADS": "1"}


def instruction_sets():
    """limit -> what oneDNN makes of it; each once."""
    found = {}
    for limit in LIMITS:
        info = subprocess.run([RUNNER, "--info"], env=environment(limit), capture_output=True, text=True, check=True)
        stack = re.search(r"^stack +(.*)", info.stdout, re.M).group(1)
        isa = re.search(r"oneDNN [^(]*\(([^)]*)\)", stack)
        isa = isa.group(1).split(", ")[-1] if isa else stack
        found.setdefault(isa, limit)
    return found


def checked(limit, texts):
    """The runner's messages about these problems: exit status, messages."""
    jobs = "".join(json.dumps({"type": "run", "id": i + 1, "problem": text}) + "\n" for i, text in enumerate(texts))
    done = subprocess.run([RUNNER, "--check"], env=environment(limit), input=jobs, capture_output=True, text=True,
                          timeout=TIME_LIMIT_S)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


class Tap:
    count = failed = 0

    def ok(self, good, name, notes=()):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        for note in () if good else list(notes)[:20]:
            print(f"# {note}")
        sys.stdout.flush()


def multiplies(checks, t):
    """True if the library has a matmul of this type that is more than plain loops."""
    text = f"matmul:{t},{t}.c,{t}/f32:ba1bb1m3n33k25:ta0tb1"
    found = [m["algorithm"] for m in checks if m["problem"] == text]
    return any(a["api"] == "oneDNN" and "ref" not in a["name"] for a in found)


def judge(tap, isa, texts, status, messages, errors):
    """What one instruction set gave. Returns the problems that were measured."""
    ends = {m["id"]: m for m in messages if m.get("type") == "done"}
    checks = [m for m in messages if m.get("type") == "check"]
    tap.ok(status in (0, 1) and len(ends) == len(texts), f"{isa}: {len(texts)} problems, none ends the runner",
           [f"exit status {status}, {len(ends)} ends; not ended: {[t for i, t in enumerate(texts) if i + 1 not in ends][:1]}",
            errors[-500:]])
    measured = {texts[i - 1] for i, m in ends.items() if m["status"] == "ok"}
    all_suspect = [f"{texts[i - 1]}: {m['why']}" for i, m in ends.items() if m["status"] == "ok" and m["why"]]
    tap.ok(not all_suspect, f"{isa}: of {len(measured)} that it measures none has only suspect implementations", all_suspect)
    broken = [f"{m['problem']}: {m['algorithm']['name']}: {m['status']}: {m['why']}" for m in checks
              if m["status"] not in ("ok", "mistrusted")]
    tap.ok(not broken, f"{isa}: {len(checks)} checks of implementations, none fails or lacks a reference", broken)
    bad = [f"{texts[i - 1]}: {m['why']}" for i, m in ends.items()
           if m["status"] not in ("ok", "unsupported") and not m["why"].startswith("problem: ")]  # types that do not go together
    tap.ok(not bad, f"{isa}: every text is one of a problem", bad)
    gone = [f"{text}: {ends.get(texts.index(text) + 1, {}).get('why')}" for text in ALWAYS if text not in measured]
    tap.ok(not gone, f"{isa}: chains and reductions that were wrong once are measured", gone)
    for m in checks:
        if m["status"] == "mistrusted" and "approximate" not in m["algorithm"]["notes"].split():
            print(f"# suspect: {m['problem']}: {m['algorithm']['name']} {m['algorithm']['layouts']}: "
                  f"{m['why'] or (m['worst'], m['allowed'])}")
    own = [m for m in checks if m["algorithm"]["api"] == "plain C"]
    wrong = [f"{m['problem']}: {m['algorithm']['name']}: {m['why'] or (m['worst'], m['allowed'])}"
             for m in own if m["status"] == "mistrusted"]
    tap.ok(own and not wrong, f"{isa}: none of {len(own)} kernels of our own is suspect", wrong)
    packed = {m["problem"] for m in own if m["algorithm"]["name"].startswith("packed:")}
    missing = [text for text in PACKED if text not in packed]
    tap.ok(not missing, f"{isa}: products of few rows are packed, {len(packed)} of them", missing)
    products = [m for m in checks if m["algorithm"]["name"].startswith("ones_")]
    right = {m["problem"] for m in products if m["status"] == "ok"}
    wanted = [text for text in ONES if ":f32" in text or multiplies(checks, "bf16")]
    missing = [text for text in wanted if text not in right]
    tap.ok(not missing, f"{isa}: sums are products with ones, {len(right)} of them", missing)
    joined = {m["problem"] for m in own if m["algorithm"]["name"].startswith("concat:")}
    missing = [text for text in measured if text.startswith("concat:") and text not in joined]
    tap.ok(joined and not missing, f"{isa}: each of {len(joined)} concats is one of our own, too", missing)
    last = {}
    for m in checks:
        last.setdefault(m["problem"], []).append("approximate" in m["algorithm"]["notes"].split())
    tap.ok(all(flags == sorted(flags) for flags in last.values()), f"{isa}: approximate implementations are the last choice")
    marked = {m["algorithm"]["name"].split(":")[0] for m in checks if "approximate" in m["algorithm"]["notes"].split()}
    tap.ok(marked <= {"jit_int8_wino"}, f"{isa}: approximate by design is the 8-bit Winograd alone", marked)
    return measured


def main():
    if not os.access(RUNNER, os.X_OK):
        skip("benanza-runner-cpu is not built")
    tap = Tap()
    lacking = [kernel for kernel, templates in gpu_templates().items() if not templates]
    tap.ok(not lacking, "every kernel has a template here or a line in tests/gpu/problems.txt", lacking)
    made = problems()
    texts = list(made)
    isas = instruction_sets()
    measured = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        work = {isa: pool.submit(checked, limit, texts) for isa, limit in isas.items()}
        for isa, future in work.items():
            measured[isa] = judge(tap, isa, texts, *future.result())
    some = set().union(*measured.values())
    kernels = {made[text][0] for text in some}
    tap.ok(set(KERNELS) - kernels == NO_KERNEL, "every kernel is measured", set(KERNELS) - kernels ^ NO_KERNEL)
    wanted = {(kernel, mode) for kernel, modes in MODES.items() for mode in modes}
    missing = wanted - {made[text][:2] for text in some}
    tap.ok(missing == NO_MODE, "every mode is measured", missing ^ NO_MODE)
    missing = set(TYPES) - {made[text][2] for text in some if made[text][0] != "copy"}
    tap.ok(missing == NO_TYPE, "every data type is measured, by more than a copy", missing ^ NO_TYPE)
    print(f"1..{tap.count}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())

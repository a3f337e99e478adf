#!/usr/bin/env python3
"""The bundled architectures as PyTorch modules: to export them, and to time them on the GPU that benanza
measured.

    tools/torch_models.py export NAME FILE.onnx [--batch N]
    tools/torch_models.py time [NAME...] [--batch 1,8,32] [--dtype f16,tf32,f32,bf16] [--mode eager,compiled]
                               [--output FILE]
    tools/torch_models.py table --bounds BOUNDS.jsonl LATENCIES.jsonl

`time` prints one JSON object per line: the median of single inferences with all inputs on the device, between
CUDA events (on a CPU: the wall clock). With --output it appends to a file and skips what the file has, so it
can be killed and started again; what ended the program twice is skipped too. `compiled` is torch.compile with
CUDA graphs. `table` compares these
with the lines of `benanza bound --json` (the Benanza ratio is bound / latency; above 1 the framework was
faster than the libraries' best). Weights are random. Needs torch and, for the image classifiers, torchvision.
Its GoogLeNet has 3x3 convolutions where the original has 5x5, so compare its latency with the exported model,
not with the bundled one.
"""

import argparse
import itertools
import json
import math
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

# --- transformers ---


class Attention(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)

    def forward(self, x, mask=None, past=None):
        b, n, c = x.shape
        q, k, v = (y.view(b, n, self.heads, c // self.heads).transpose(1, 2) for y in self.qkv(x).chunk(3, dim=-1))
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(b, n, c)), k, v


class Bert(nn.Module):
    """BERT-base: layer normalization after each half of a layer, GELU by erf."""

    class Layer(nn.Module):
        def __init__(self, c, heads):
            super().__init__()
            self.attention, self.norm1 = Attention(c, heads), nn.LayerNorm(c, eps=1e-12)
            self.up, self.down, self.norm2 = nn.Linear(c, 4 * c), nn.Linear(4 * c, c), nn.LayerNorm(c, eps=1e-12)

        def forward(self, x, mask):
            x = self.norm1(x + self.attention(x, mask)[0])
            return self.norm2(x + self.down(F.gelu(self.up(x))))

    def __init__(self, layers=12, c=768, heads=12, vocabulary=30522, positions=512):
        super().__init__()
        self.word, self.position, self.kind = (nn.Embedding(n, c) for n in (vocabulary, positions, 2))
        self.norm = nn.LayerNorm(c, eps=1e-12)
        self.layers = nn.ModuleList(Bert.Layer(c, heads) for _ in range(layers))
        self.pooler = nn.Linear(c, c)

    def forward(self, ids, mask, types):
        where = torch.arange(ids.shape[1], device=ids.device)[None]
        x = self.norm(self.word(ids) + self.kind(types) + self.position(where))
        bias = (1 - mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
        for layer in self.layers:
            x = layer(x, bias)
        return x, torch.tanh(self.pooler(x[:, 0]))


class Gpt2(nn.Module):
    """GPT-2 small as a decoder with a cache of keys and values; GELU by tanh."""

    class Layer(nn.Module):
        def __init__(self, c, heads):
            super().__init__()
            self.norm1, self.attention = nn.LayerNorm(c), Attention(c, heads)
            self.norm2, self.up, self.down = nn.LayerNorm(c), nn.Linear(c, 4 * c), nn.Linear(4 * c, c)

        def forward(self, x, mask, past):
            y, k, v = self.attention(self.norm1(x), mask, past)
            x = x + y
            return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh")), k, v

    def __init__(self, layers=12, c=768, heads=12, vocabulary=50257, positions=1024):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, c), nn.Embedding(positions, c)
        self.layers = nn.ModuleList(Gpt2.Layer(c, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(c)

    def forward(self, ids, mask, *past):
        before, n = past[0].shape[2], ids.shape[1]
        where = torch.arange(before, before + n, device=ids.device)
        keys = torch.arange(before + n, device=ids.device)
        visible = (keys[None] <= where[:, None])[None, None] & mask[:, None, None].bool()
        x = self.wte(ids) + self.wpe(where)[None]
        present = []
        for i, layer in enumerate(self.layers):
            x, k, v = layer(x, visible, past[2 * i:2 * i + 2])
            present += [k, v]
        return (F.linear(self.norm(x), self.wte.weight), *present)


# --- a detector ---


class Conv(nn.Sequential):
    """Convolution, its normalization already folded in, and SiLU."""

    def __init__(self, c, k, r=1, stride=1):
        super().__init__(nn.Conv2d(c, k, r, stride, r // 2), nn.SiLU())


class C2f(nn.Module):
    class Bottleneck(nn.Module):
        def __init__(self, c, shortcut):
            super().__init__()
            self.body, self.shortcut = nn.Sequential(Conv(c, c, 3), Conv(c, c, 3)), shortcut

        def forward(self, x):
            return x + self.body(x) if self.shortcut else self.body(x)

    def __init__(self, c, k, repeats, shortcut):
        super().__init__()
        half = k // 2
        self.before, self.after = Conv(c, k), Conv(half * (2 + repeats), k)
        self.repeats = nn.ModuleList(C2f.Bottleneck(half, shortcut) for _ in range(repeats))

    def forward(self, x):
        parts = list(self.before(x).chunk(2, dim=1))
        for block in self.repeats:
            parts.append(block(parts[-1]))
        return self.after(torch.cat(parts, dim=1))


class Sppf(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.before, self.after = Conv(c, c // 2), Conv(2 * c, c)

    def forward(self, x):
        parts = [self.before(x)]
        for _ in range(3):
            parts.append(F.max_pool2d(parts[-1], 5, 1, 2))
        return self.after(torch.cat(parts, dim=1))


class Yolo(nn.Module):
    """Like YOLOv8n: 80 classes, boxes as distributions over 16 bins, 640 x 640."""

    CLASSES, BINS, SIZE, STRIDES = 80, 16, 640, (8, 16, 32)

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(Conv(3, 16, 3, 2), Conv(16, 32, 3, 2), C2f(32, 32, 1, True), Conv(32, 64, 3, 2),
                                  C2f(64, 64, 2, True))
        self.down4 = nn.Sequential(Conv(64, 128, 3, 2), C2f(128, 128, 2, True))
        self.down5 = nn.Sequential(Conv(128, 256, 3, 2), C2f(256, 256, 1, True), Sppf(256))
        self.up4, self.up3 = C2f(384, 128, 1, False), C2f(192, 64, 1, False)
        self.down3to4, self.merge4 = Conv(64, 64, 3, 2), C2f(192, 128, 1, False)
        self.down4to5, self.merge5 = Conv(128, 128, 3, 2), C2f(384, 256, 1, False)
        self.boxes = nn.ModuleList(self.tower(c, 64, 4 * self.BINS) for c in (64, 128, 256))
        self.classes = nn.ModuleList(self.tower(c, self.CLASSES, self.CLASSES) for c in (64, 128, 256))
        self.bins = nn.Conv2d(self.BINS, 1, 1, bias=False)
        points, widths = [], []
        for stride in self.STRIDES:
            at = torch.arange(self.SIZE // stride) + 0.5
            y, x = torch.meshgrid(at, at, indexing="ij")
            points.append(torch.stack([x.flatten(), y.flatten()]))
            widths.append(torch.full((x.numel(),), float(stride)))
        self.register_buffer("points", torch.cat(points, dim=1)[None])
        self.register_buffer("widths", torch.cat(widths)[None])

    @staticmethod
    def tower(c, width, k):
        return nn.Sequential(Conv(c, width, 3), Conv(width, width, 3), nn.Conv2d(width, k, 1))

    def forward(self, image):
        p3 = self.stem(image)
        p4 = self.down4(p3)
        p5 = self.down5(p4)
        n4 = self.up4(torch.cat([F.interpolate(p5, scale_factor=2.0), p4], dim=1))
        n3 = self.up3(torch.cat([F.interpolate(n4, scale_factor=2.0), p3], dim=1))
        n4 = self.merge4(torch.cat([self.down3to4(n3), n4], dim=1))
        n5 = self.merge5(torch.cat([self.down4to5(n4), p5], dim=1))
        rows = [torch.cat([box(x), score(x)], dim=1).flatten(2)
                for x, box, score in zip((n3, n4, n5), self.boxes, self.classes)]
        box, score = torch.cat(rows, dim=2).split([4 * self.BINS, self.CLASSES], dim=1)
        b, _, n = box.shape
        sides = self.bins(box.view(b, 4, self.BINS, n).transpose(1, 2).softmax(1)).view(b, 4, n)
        low, high = sides.chunk(2, dim=1)
        low, high = self.points - low, self.points + high
        return torch.cat([torch.cat([(low + high) / 2, high - low], dim=1) * self.widths, score.sigmoid()], dim=1)


# --- the list ---


def classifier(name, **options):
    import torchvision
    return getattr(torchvision.models, name)(weights=None, **options)


def image(size):
    return lambda batch: (torch.rand(batch, 3, size, size),)


def sentences(batch, n=128):
    ids = torch.randint(0, 30522, (batch, n))
    return ids, torch.ones_like(ids), torch.zeros_like(ids)


def next_token(batch, past=128):
    cache = [torch.rand(batch, 12, past, 64) for _ in range(24)]
    return (torch.randint(0, 50257, (batch, 1)), torch.ones(batch, past + 1, dtype=torch.int64), *cache)


MODELS = {
    "resnet50": (lambda: classifier("resnet50"), image(224)),
    "mobilenet_v2": (lambda: classifier("mobilenet_v2"), image(224)),
    "googlenet": (lambda: classifier("googlenet", aux_logits=False, init_weights=False), image(224)),
    "bert_base": (Bert, sentences),
    "gpt2_small": (Gpt2, next_token),
    "yolov8n": (Yolo, image(640)),
}

DTYPES = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def prepared(name, batch, dtype, device):
    """The module and its inputs on the device, floats in the given type."""
    make, inputs = MODELS[name]
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = dtype == "tf32"
    type_ = DTYPES[dtype]
    values = [x.to(device, type_) if x.is_floating_point() else x.to(device) for x in inputs(batch)]
    return make().eval().to(device, type_), values


# --- timing ---

# a measurement that has ended the program so often is given up
TRIES = 2


def samples_ns(run, device, seconds):
    """Latencies of single runs in ns, after a warm-up of a fifth of the measurement time."""
    cuda = device.type == "cuda"
    taken, begin, warm = [], time.monotonic(), True
    while warm or len(taken) < 10 or time.monotonic() - begin < seconds:
        if cuda:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            run()
            end.record()
            end.synchronize()
            ns = start.elapsed_time(end) * 1e6
        else:
            at = time.perf_counter_ns()
            run()
            ns = time.perf_counter_ns() - at
        if warm:
            if time.monotonic() - begin > seconds / 5:
                warm, begin = False, time.monotonic()
        else:
            taken.append(ns)
    return taken


def measure(name, batch, dtype, mode, device, seconds):
    module, values = prepared(name, batch, dtype, device)
    if mode == "compiled":
        torch._dynamo.reset()
        module = torch.compile(module, mode="reduce-overhead" if device.type == "cuda" else "default")
    with torch.inference_mode():
        for _ in range(3):
            module(*values)
        taken = samples_ns(lambda: module(*values), device, seconds)
    q1, median, q3 = statistics.quantiles(taken, n=4)
    gpu = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    return {"model": name, "batch": batch, "dtype": dtype, "mode": mode, "median_ns": median, "q1_ns": q1, "q3_ns": q3,
            "n": len(taken), "device": gpu, "torch": torch.__version__}


def is_settled(before, wanted):
    """True if the lines of a file have the measurement, or it ended the program TRIES times."""
    same = [x for x in before if all(x.get(k) == v for k, v in wanted.items())]
    return any("median_ns" in x or "error" in x for x in same) or len(same) >= TRIES


def run_time(args):
    device = torch.device(args.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    before = lines_of(args.output) if args.output and os.path.exists(args.output) else []
    out = open(args.output, "a", encoding="utf-8") if args.output else sys.stdout
    if args.output and ends_torn(args.output):
        out.write("\n")
    failed = 0
    for batch, name, dtype, mode in itertools.product(args.batch, args.names or MODELS, args.dtype, args.mode):
        wanted = {"model": name, "batch": batch, "dtype": dtype, "mode": mode}
        if is_settled(before, wanted):
            continue
        if args.output:
            print(json.dumps(wanted | {"begun": True}), file=out, flush=True)
        try:
            line = measure(name, batch, dtype, mode, device, args.seconds)
        except Exception as e:  # a failure does not end the other measurements
            failed += 1
            line = wanted | {"error": str(e).splitlines()[0][:300] if str(e) else type(e).__name__}
        print(json.dumps(line), file=out, flush=True)
    return 1 if failed else 0


# --- export and table ---


def run_export(args):
    module, values = prepared(args.name, args.batch, "f32", torch.device("cpu"))
    with torch.inference_mode():
        torch.onnx.export(module, tuple(values), args.file, opset_version=17, dynamo=False)
    return 0


def lines_of(path):
    """The JSON objects of a file; a line that was cut off is left out."""
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.startswith("{") and line.endswith("}\n")]


def ends_torn(path):
    with open(path, "rb") as f:
        return f.read()[-1:] not in (b"", b"\n")


def scenario_of(bound):
    """(model, batch, dtype) of a line of `benanza bound --json`; f32 with relaxed math is tf32."""
    name = bound["model"]["path"].rsplit("/", 1)[-1].removesuffix(".onnx")
    dtype = bound["scenario"]["dtype"]
    relaxed = "math" in bound["scenario"]["what_if"]
    return name, bound["scenario"]["batch"] or 1, "tf32" if dtype == "f32" and relaxed else dtype


def run_table(args):
    bounds = {scenario_of(b): b for b in lines_of(args.bounds)}
    latency = {(x["model"], x["batch"], x["dtype"], x["mode"]): x["median_ns"]
               for x in lines_of(args.latencies) if "median_ns" in x}
    print("| model | batch | dtype | bound ms | what-ifs | eager ms | ratio | compiled ms | ratio |")
    print("| --- | ---: | --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for (name, batch, dtype), b in bounds.items():
        bound = b["bound_ns"] if b["bound_ns"] is not None else math.nan
        least = "" if b["complete"] or math.isnan(bound) else "at least "
        cells = [name, str(batch), dtype, f"{least}{bound / 1e6:.3f}",
                 " ".join(b["scenario"]["what_if"])]
        for mode in ("eager", "compiled"):
            ns = latency.get((name, batch, dtype, mode), math.nan)
            cells += [f"{ns / 1e6:.3f}", f"{bound / ns:.2f}"]
        print("| " + " | ".join(c.replace("nan", "-") for c in cells) + " |")
    return 0


def words(allowed):
    def parse(text):
        given = text.split(",")
        wrong = [w for w in given if w not in allowed]
        if wrong:
            raise argparse.ArgumentTypeError(f"{wrong[0]} is not one of {', '.join(allowed)}")
        return given
    return parse


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    export = verbs.add_parser("export")
    export.add_argument("name", choices=MODELS)
    export.add_argument("file")
    export.add_argument("--batch", type=int, default=1)
    timing = verbs.add_parser("time")
    timing.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    timing.add_argument("--batch", type=lambda t: [int(n) for n in t.split(",")], default=[1, 8, 32])
    timing.add_argument("--dtype", type=words(list(DTYPES)), default=["f16", "tf32", "f32", "bf16"])
    timing.add_argument("--mode", type=words(["eager", "compiled"]), default=["eager", "compiled"])
    timing.add_argument("--seconds", type=float, default=0.5, help="sampling time per measurement (0.5)")
    timing.add_argument("--output", help="append to this file, skip what it has")
    timing.add_argument("--device", help="a torch device (cuda if available)")
    table = verbs.add_parser("table")
    table.add_argument("--bounds", required=True)
    table.add_argument("latencies")
    args = parser.parse_args()
    for name in getattr(args, "names", []):
        if name not in MODELS:
            parser.error(f"unknown model {name}; the models are {', '.join(MODELS)}")
    return {"export": run_export, "time": run_time, "table": run_table}[args.verb](args)


if __name__ == "__main__":
    sys.exit(main())

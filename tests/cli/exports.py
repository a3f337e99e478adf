#!/usr/bin/env python3
"""`report` and the explorer's `:write`: a page that needs nothing else, a graph, the rows of `bound`."""

import base64
import csv
import hashlib
import html.parser
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import onnx_wire  # noqa: E402
import python_tap  # noqa: E402

MODELS = python_tap.ROOT / "tests" / "models"
RUNNER = python_tap.ROOT / "tests" / "lib" / "word_runner.sh"
VOID = {"meta", "br", "wbr"}


def outside(box, tag, given):
    """What of a shape is no number, or not in the chart."""
    numbers = {name: given[name] for name in ("x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width",
                                              "height") if name in given}
    pairs = [pair.split(",") for pair in given.get("points", "").split()]
    for name, text in [*numbers.items(), *(("x", p[0]) for p in pairs), *(("y", p[1]) for p in pairs)]:
        most = box[2] if name.lstrip("c")[0] in "xw" else box[3]
        if not re.fullmatch(r"\d+(\.\d+)?", text) or float(text) > most:
            yield f"{tag} {name}={text} in {box}"


class Page(html.parser.HTMLParser):
    """The text of a page, its layers' rows, and what it must not have."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.text, self.rows, self.cell = [], [], [], [], False
        self.charts, self.box = {}, None  # by name: shapes of each kind

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("script", "link", "img", "iframe", "object", "base", "a", "image", "use", "style",
                   "foreignobject") and self.open not in (
                       ["html", "head", "style"], ["html", "body", "script"]):
            self.wrong.append(f"<{tag}>")
        self.wrong += [f"{name}={value}" for name, value in attributes
                       if name in ("src", "background") or name.endswith("href") or name.startswith("on")]
        if tag == "svg":
            given = dict(attributes)
            self.box = [float(word) for word in given["viewbox"].split()]
            self.shapes = self.charts[given["aria-label"]] = []
        elif self.box and tag in ("line", "rect", "circle", "polyline", "text"):
            self.shapes.append((tag, dict(attributes)))
            self.wrong += outside(self.box, tag, dict(attributes))
        if tag == "tr":
            self.rows.append([])
        self.cell = tag in ("td", "th") or (self.cell and tag == "span")
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag == "svg":
            self.box = None
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing")
        if tag in ("td", "th"):
            self.cell = False

    def handle_data(self, data):
        self.text.append(data)
        if self.cell:
            self.rows[-1][-1] += data


def page_of(text):
    page = Page()
    page.feed(text)
    page.close()
    page.wrong += page.open + re.findall(r"url\(|@import|https?:", text)
    scripts = re.findall("<script>(.*?)</script>", text, re.S)  # one, which the page's policy allows
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    page.wrong += [] if re.findall(r"script-src 'sha256-([^']*)'", text) == digests else ["the script"]
    page.wrong += re.findall("[\x00-\x08\x0b-\x1f\x7f]", text)
    return page


class Home:
    """A home directory with results of a runner without a clock."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        config = self.folder / "config.yaml"
        config.write_text(f'runners:\n  cpu: [sh, "{RUNNER}", "Word 1", "words 1, 1 thread", 1]\n')
        places = {f"XDG_{kind}_HOME": folder for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
        self.environment = os.environ | places | {"BENANZA_CONFIG": str(config)}

    def run(self, *arguments):
        return subprocess.run([python_tap.program(), *map(str, arguments)], capture_output=True, text=True,
                              encoding="utf-8", timeout=python_tap.TIME_LIMIT_S, env=self.environment,
                              cwd=self.folder)

    def write(self, model, name, *before):
        keys = " ".join([*before, ": text:write", "Space", f"text:{name}", "Enter"])
        return self.run(model, "-q", "-d", "cpu", "--frame", "120x40", "--keys", keys)

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")


def wrong_page(page, bound):
    """What the page lacks of what `bound --json` says."""
    yield from page.wrong
    text = " ".join(page.text)
    yield from (f"no {word}" for word in (
        "Word 1", "words 1", "net:", "coverage", "trust", "interval", "written", "benanza",
        "Where the numbers come from")
        if word not in text)
    by_number = {row[0]: row for row in page.rows if len(row) == 9}
    for layer in bound["layers"]:
        row = by_number.get(str(layer["number"]))
        if layer["number"] is None:
            continue
        if not row or row[2] != layer["op"]:
            yield f"no row of layer {layer['number']}"
        elif (layer["cost_ns"] is None) != (row[3] == "unknown"):
            yield f"layer {layer['number']} costs {row[3]!r}"
        elif layer["origin"] == "measured" and "samples" not in row[8]:
            yield f"layer {layer['number']}: {row[8]!r}"
    advised = [row for row in page.rows if len(row) == 4 and row[0] != "saves"]
    if not advised and "No advice: " not in text:
        yield "neither advice nor why there is none"
    yield from (f"advice without a bound: {row}" for row in advised if row[2] == "unknown")
    names = {row[0] for row in page.rows if len(row) == 6}
    yield from (f"no what-if {e['name']}" for e in bound["what_if"] if e["name"] not in names)


NODE = re.compile(r'  l(\d+) \[label="((?:[^"\\]|\\.)*)", fillcolor="#[0-9a-f]{6}", fontcolor="#[0-9a-f]{6}"'
                  r'(?:, style="filled,dashed")?(?:, penwidth=3)?\];')


def wrong_graph(text, bound):
    lines = text.splitlines()
    nodes = {int(m[1]): m[2] for m in map(NODE.fullmatch, lines) if m}
    wanted = {layer["index"] for layer in bound["layers"] if layer["number"] is not None}
    if set(nodes) != wanted:
        yield f"nodes {sorted(set(nodes) ^ wanted)}"
    edges = [m for m in (re.fullmatch(r"  l(\d+) -> l(\d+);", line) for line in lines) if m]
    yield from (m[0] for m in edges if int(m[1]) not in nodes or int(m[2]) not in nodes)
    if len(wanted) > 1 and not edges:
        yield "no edges"
    if len(lines) != len(nodes) + len(edges) + 5 or lines[-1] != "}":
        yield f"{len(lines)} lines for {len(nodes)} nodes and {len(edges)} edges"
    yield from (f"layer {layer['index']} is not dashed" for layer in bound["layers"]
                if layer["number"] is not None and layer["cost_ns"] is None and layer["origin"] == "missing"
                and "cost unknown" not in nodes.get(layer["index"], ""))


def reports(tap, home, model, what):
    bound = json.loads(home.run("bound", "-q", "--json", "-d", "cpu", model).stdout)
    done = home.run("report", "-q", "-d", "cpu", model)
    told = done.returncode == (not bound["complete"])
    tap.result(f"{what}: the exit status tells gaps", [] if told else [done.stderr])
    tap.result(f"{what}: the page stands alone and has every layer", wrong_page(page_of(done.stdout), bound))
    tap.result("the page says what its marks mean",
               [] if "?: above the measured peak" in done.stdout else [done.stdout[-900:]])
    graph = home.run("report", "-q", "-d", "cpu", "--dot", model).stdout
    tap.result(f"{what}: the graph", wrong_graph(graph, bound))


def writes(tap, home, model):
    rows = home.run("bound", "-q", "--csv", "-d", "cpu", model).stdout
    numbered = [row for row in csv.DictReader(io.StringIO(rows)) if row["number"]]
    bound = json.loads(home.run("bound", "-q", "--json", "-d", "cpu", model).stdout)
    for name in ("all.csv", "all.json", "all.dot", "all.html", "all.txt", "all.svg"):
        said = home.write(model, name).stdout
        tap.result(f":write {name}", [] if f"wrote {name}, " in said else [said])
    got = list(csv.DictReader(io.StringIO(home.text("all.csv"))))
    tap.result("CSV: the rows of bound --csv", [] if got == numbered else [f"{len(got)} rows"])
    got = json.loads(home.text("all.json"))
    listed = [layer for layer in bound["layers"] if layer["number"]]
    tap.result("JSON: bound --json", [] if got == bound | {"layers": listed} else ["they differ"])
    tap.result("the page is that of report", wrong_page(page_of(home.text("all.html")), bound))
    tap.result("the graph is that of report", wrong_graph(home.text("all.dot"), bound))
    tap.result("text: the screen", [] if "[1] Layers" in home.text("all.txt") else [home.text("all.txt")])
    home.write(model, "some.csv", "&", "text:relu", "Enter", "s")
    some = list(csv.DictReader(io.StringIO(home.text("some.csv"))))
    wanted = [row for row in numbered if "relu" in (row["name"] + row["op"]).lower()]
    some.sort(key=lambda row: int(row["index"]))
    tap.result("filtered: only those rows", [] if some and some == wanted else [str(some)])
    said = home.write(model, "some.csv").stdout
    told = "some.csv: the file exists; :write! replaces it" in said
    tap.result("a file is not replaced", [] if told else [said])
    before = home.text("some.csv")
    said = home.write(model, "some.xls").stdout
    tap.result("an unknown form", [] if "end it in .txt .svg .csv .json .dot .html" in said else [said])
    same = home.text("some.csv") == before and not (home.folder / "some.xls").exists()
    tap.result("nothing was written", [] if same else ["it was"])


def shapes(page, chart, tag):
    return [given for kind, given in page.charts.get(chart, []) if kind == tag]


def wrong_charts(page, bound, real):
    yield from page.wrong
    names = ["Roofline", "Timeline", "Distribution of the cost", "Samples", "From the bound to reality"]
    if list(page.charts) != names:
        yield f"charts {list(page.charts)}"
        return
    costs = [layer["cost_ns"] for layer in bound["layers"] if layer["cost_ns"]]
    dots = shapes(page, "Roofline", "circle")
    if not len(costs) / 5 < len(dots) <= len(costs):
        yield f"{len(dots)} dots"
    widths = [float(bar["width"]) for bar in shapes(page, "Timeline", "rect")]
    scale = sum(widths) / sum(costs)  # bars of less than 0.05 are left out
    if len(widths) < 0.8 * len(costs) or abs(max(widths) / max(costs) / scale - 1) > 0.02:
        yield f"{len(widths)} bars of {sum(widths)}, {max(widths)}"
    steps = [float(bar["width"]) for bar in shapes(page, "From the bound to reality", "rect")]
    if abs(steps[0] / steps[-1] - real["bound_ns"] / real["measured_ns"]) > 0.001:
        yield f"bound {steps[0]}, measured {steps[-1]}"
    text = " ".join(page.text)
    yield from (f"no {word!r}" for word in ("onnxruntime", "CPUExecutionProvider",
                                            "median of 12 runs of 2026-",
                                            "of each measurement", "slower algorithms", "2026-")
                if word not in text)


def charts(tap, home):
    model, db = python_tap.ROOT / "data" / "models" / "resnet50.onnx", home.folder / "tour.db"
    home.run("db", "import", "-q", "--db", db, python_tap.ROOT / "data" / "tour" / "resnet50.jsonl.gz")
    options = ("-q", "--db", db, "-d", "1", model)
    bound = json.loads(home.run("bound", "--json", *options).stdout)
    real = json.loads(home.run("compare", "--json", *options).stdout.splitlines()[0])
    done = home.run("report", *options)
    tap.result("charts of a measured model", wrong_charts(page_of(done.stdout), bound, real))
    page = page_of(home.run("report", "-w", "parallel,fusion", *options).stdout)
    critical = [bar for bar in shapes(page, "Timeline", "rect") if bar["class"] == "k"]
    tap.result("the schedule, with the critical path",
               page.wrong + ([] if critical else ["none is critical"]))
    page = page_of(home.run("report", "-q", "-d", "h100", model).stdout)
    text = " ".join(page.text)
    tap.result("of a described device", page.wrong + [word for word in (
        "No cost in this total has samples", "no comparable execution", "~", "all times are estimates")
        if word not in text])


ODD = ["<script>alert(1)</script>", "a\"b'c&amp;<b>", "--></style><img src=x onerror=alert(1)>", "]]>",
       "\x1b[31m", "javascript:x", "`${1}`", "\u202egnp", "a" * 3000]


def chain(path, names):
    """A model of one layer for each name."""
    nodes = [onnx_wire.node("Relu", [f"v{i}"], [f"v{i + 1}"], name) for i, name in enumerate(names)]
    inputs, outputs = [onnx_wire.value_info("v0", [1, 64])], [onnx_wire.value_info(f"v{len(names)}", None)]
    path.write_bytes(onnx_wire.model(onnx_wire.graph(nodes, inputs, outputs)))
    return path


def odd_models(tap, home):
    model = chain(home.folder / "odd.onnx", ODD * 2)
    page = page_of(home.run("report", "-q", "-d", "h100", model).stdout)
    text = "".join(page.text)
    tap.result("names that look like HTML are text", page.wrong + [name for name in ODD if re.sub(
        "[\x1b\u202e]", "?", name) not in text])
    model = chain(home.folder / "long.onnx", [f"/model/layers.{i}/<relu>&\"" for i in range(10000)])
    done = home.run("report", "-q", "-d", "h100", model)
    page = page_of(done.stdout)
    rows = len(re.findall(r"/model/layers\.\d+/<relu>&\"", "".join(page.text)))
    tap.result("10,000 layers: all are on the page, of less than 8 MB", page.wrong + (
        [] if rows >= 10000 and len(done.stdout) < 8e6 else [f"{rows} rows, {len(done.stdout)} bytes"]))


def main():
    tap = python_tap.Tap()
    with tempfile.TemporaryDirectory() as folder:
        home = Home(folder)
        odd_models(tap, home)
        for name in ("tiny", "hostile"):
            model = MODELS / f"{name}.onnx"
            reports(tap, home, model, f"{name} without results")
            home.run("bench", "-q", model)
            reports(tap, home, model, name)
        evil = home.folder / "a<script>b&\"c\\.onnx"
        evil.write_bytes((MODELS / "tiny.onnx").read_bytes())
        reports(tap, home, evil, "a file's name")
        writes(tap, home, MODELS / "tiny.onnx")
        charts(tap, home)
        done = home.run("report", "-b", "1,2", "-d", "cpu", MODELS / "tiny.onnx")
        told = done.returncode == 2 and "one value of -b" in done.stderr
        tap.result("one batch a page", [] if told else [done.stderr])
    return tap.end()


if __name__ == "__main__":
    raise SystemExit(main())

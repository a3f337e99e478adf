#!/usr/bin/env python3
"""Models that nobody should have written, through the whole program: one clear line or a usable model, in bounded memory
and time, and never a raw control character in any output. TAP; nothing but Python's own library."""
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from onnx_wire import field_bytes, field_int, graph, model, node, tensor, value_info, varint  # noqa: E402

BENANZA = os.environ.get("BENANZA", "build/benanza")
SANITIZED = b"__asan_init" in pathlib.Path(BENANZA).read_bytes()
KIB = 1024
MIB = 1 << 20
# What a terminal may do something with: C0 but line feed, DEL, C1, bidirectional and invisible characters.
HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")

count = failed = 0


def ok(good, name, *notes):
    global count, failed
    count += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {count} - {name}")
    for note in notes if not good else ():
        print(*(f"# {line}" for line in str(note).splitlines()), sep="\n")
    sys.stdout.flush()
    return good


class Run:
    """The program, run to its end. seconds: CPU time, which no load of the machine changes; peak: at least what Python
    was when it started it."""

    def __init__(self, *arguments, stdin=None, seconds=60, memory=1024 * MIB):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            if not SANITIZED:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen([BENANZA, *arguments], stdout=out, stderr=err, stdin=stdin or subprocess.DEVNULL,
                                     preexec_fn=limit, env=dict(os.environ, HOME=FOLDER, TERM="xterm"))
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = self.status = os.waitstatus_to_exitcode(status)
            self.seconds = usage.ru_utime + usage.ru_stime
            self.peak = usage.ru_maxrss * 1024
            out.seek(0), err.seek(0)
            self.raw = out.read()
            self.error = err.read()

    def lines_are_clean(self):
        for part in (self.raw, self.error):
            try:
                if HARMFUL.search(part.decode()):
                    return False
            except UnicodeDecodeError:
                return False
        return True

    def __str__(self):
        return f"status {self.status}, {self.seconds:.1f} s, {self.peak // MIB} MiB\n{self.raw[:600]!r}\n{self.error[:600]!r}"


def write(name, content):
    path = os.path.join(FOLDER, name + ".onnx")
    pathlib.Path(path).write_bytes(content)
    return path


def refused(name, content, part):
    """One line on standard error that has `part` in it, status 2."""
    run = Run("layers", write("model", content))
    lines = run.error.decode(errors="replace").splitlines()
    good = run.status == 2 and len(lines) == 1 and part in lines[0] and not run.raw and run.lines_are_clean()
    ok(good, f"{name}: refused", run)


def usable(name, content, part="", layers=None, **limits):
    """A report in every form, `part` in one of its warnings."""
    path = write("model", content)
    run = Run("layers", "--json", path, **limits)
    good = ok(run.status in (0, 1) and part.encode() in run.raw + run.error and run.lines_are_clean(), f"{name}: usable", run)
    if good and layers is not None:
        ok(len(json.loads(run.raw)["layers"]) == layers, f"{name}: {layers} layers", run)
    return run


def everywhere(name, content):
    """Every way to see a model: no raw character in any."""
    path = write("model", content)
    for arguments in (["layers"], ["layers", "--csv"], ["layers", "--json"], ["bound"], ["bound", "--json"],
                      ["--frame", "100x30"], ["--frame", "100x30", "--ascii", "--view", "problems"],
                      ["bench", "--emit-jobs"]):
        for bound in ([], ["--dim", "\u202esym=2", "--dim", "batch\x1b[5m=2"]):
            run = Run(*arguments, *bound, path)
            good = run.status in (0, 1) or (not bound and b"not bound" in run.error)
            ok(good and run.lines_are_clean(), f"{name}: {' '.join(arguments + bound[:1])!r}", run)


def relu(i, o, name="", **more):
    return node("Relu", [i], [o], name, **more)


def attribute_graph(name, content):
    return field_bytes(5, field_bytes(1, name) + field_bytes(6, content) + field_int(20, 5))


def chain(length):
    nodes = [relu(f"{i:x}", f"{i + 1:x}") for i in range(length)]
    return graph(nodes, [value_info("0", ["batch", 64])], [value_info(f"{length:x}", None)])


def nested(depth):
    """If in If in If, written from the inside."""
    inner = graph([relu("x", "y")], [], [value_info("y", None)])
    for i in range(depth):
        body = node("If", ["c"], [f"y{i}"], attributes=attribute_graph("then_branch", inner))
        inner = field_bytes(1, body) + field_bytes(12, field_bytes(1, f"y{i}"))
    return inner + field_bytes(11, value_info("x", [1])) + field_bytes(11, value_info("c", [], 9))


def structure():
    x, y = value_info("x", [1, 4]), value_info("y", None)
    refused("bodies 10,000 deep", model(nested(10000)), "nested")
    usable("bodies 20 deep", model(nested(20)))
    refused("a cycle", model(graph([relu("b", "a", "first"), relu("a", "b")], [x], [value_info("a", None)])), "first")
    refused("a node that reads itself", model(graph([relu("a", "a", "self")], [x], [value_info("a", None)])), "self")
    refused("a name written twice", model(graph([relu("x", "y"), relu("x", "y")], [x], [y])), "both write")
    refused("a name that nothing makes", model(graph([relu("gone", "y")], [x], [y])), "gone")
    refused("an output that nothing makes", model(graph([relu("x", "z")], [x], [y])), "no node computes graph output")
    usable("the operator set is missing", field_int(1, 8) + field_bytes(7, graph([relu("x", "y")], [x], [y])), "", 1)
    usable("a version of the future", model(graph([relu("x", "y")], [x], [y]), 999, 99), "newer", 1)
    star = [relu("x", f"y{i}") for i in range(50000)]
    run = usable("50,000 layers read one value", model(graph(star, [x], [value_info("y7", None)])), "", 50000)
    ok(run.seconds < 20, "... in time", run)
    wide = [relu("x", f"y{i}") for i in range(20000)] + [node("Concat", [f"y{i}" for i in range(20000)], ["y"],
                                                              attributes=field_bytes(5, field_bytes(1, "axis") + field_int(3, 0) + field_int(20, 2)))]
    usable("20,000 inputs of one layer", model(graph(wide, [x], [y])), "", 20001)
    split = node("Split", ["x"], [f"y{i}" for i in range(50000)], attributes=field_bytes(5, field_bytes(1, "axis") + field_int(3, 0) + field_int(20, 2)))
    content = model(graph([split] + [relu(f"y{i}", f"z{i}") for i in range(50000)], [value_info("x", [50000, 4])], [value_info("z7", None)]))
    usable("50,000 outputs of one layer", content, "", 50001)
    run = Run("layers", write("model", content))
    ok(run.status in (0, 1) and run.raw.count(b"\n") > 50000, "... as a table", run)
    many = b"".join(field_bytes(5, field_bytes(1, f"a{i}") + field_int(3, i) + field_int(20, 2)) for i in range(50000))
    usable("50,000 attributes of one layer", model(graph([relu("x", "y", attributes=many)], [x], [y])), "", 1)


def function(name, nodes, inputs=("a",), outputs=("b",)):
    out = field_bytes(1, name) + b"".join(field_bytes(4, i) for i in inputs) + b"".join(field_bytes(5, o) for o in outputs)
    out += b"".join(field_bytes(7, n) for n in nodes)
    return field_bytes(25, out + field_bytes(9, field_bytes(1, "") + field_int(2, 17)) + field_bytes(10, "f"))


def reference(name, to):
    return field_bytes(5, field_bytes(1, name) + field_bytes(21, to) + field_int(20, 2))


def functions():
    """Bodies in place of calls: what doubles forty times, what calls itself, what lacks what it names."""
    x, y = value_info("x", [1, 4]), value_info("y", None)

    def call(name, i, o):
        return node(name, [i], [o], domain="f")

    def calling(*bodies):
        head = field_bytes(8, field_bytes(1, "f") + field_int(2, 1))
        return model(graph([call("f0", "x", "y")], [x], [y])) + head + b"".join(bodies)

    def either(name, content):
        run = Run("layers", "-q", write("model", content), seconds=60, memory=2048 * MIB)
        lines = run.error.count(b"\n")
        good = run.lines_are_clean() and (run.status in (0, 1) or (run.status == 2 and lines == 1))
        ok(good and (SANITIZED or run.peak < 1024 * MIB), f"{name}: one clear line or a usable model", run)
        print(f"# {name}: status {run.status}, {run.seconds:.2f} s, {run.peak / MIB:.0f} MiB")
        return run

    doubles = [function(f"f{i}", [call(f"f{i + 1}", "a", "m"), call(f"f{i + 1}", "m", "b")]) for i in range(40)]
    either("functions that double 40 times", calling(*doubles, function("f40", [relu("a", "b")])))
    nothing = [function(f"f{i}", [call(f"f{i + 1}", "a", "m"), call(f"f{i + 1}", "m", "b")]) for i in range(40)]
    either("... of nothing", calling(*nothing, function("f40", [], ("a",), ("a",))))
    either("a function that calls itself", calling(function("f0", [call("f0", "a", "b")])))
    either("two that call each other", calling(function("f0", [call("f1", "a", "b")]), function("f1", [call("f0", "a", "b")])))
    either("2,000 functions in a row", calling(*[function(f"f{i}", [call(f"f{i + 1}", "a", "b")]) for i in range(2000)],
                                               function("f2000", [relu("a", "b")])))
    either("a function without its output", calling(function("f0", [relu("a", "c")])))
    either("a function that reads what nothing makes", calling(function("f0", [relu("gone", "b")])))
    either("a function whose nodes go in a circle", calling(function("f0", [relu("b", "c"), relu("c", "b")])))
    either("two functions of one name", calling(function("f0", [relu("a", "b")]), function("f0", [relu("a", "b")])))
    body = attribute_graph("then_branch", graph([call("f1", "a", "z")], [], [value_info("z", None)]))
    either("a function in a body in a function", calling(function("f0", [node("If", ["a"], ["b"], attributes=body)]),
                                                        function("f1", [call("f0", "a", "b")])))
    wide = graph([relu("a", f"q{i}") for i in range(1000)], [], [value_info("q0", None)])
    branches = b"".join(attribute_graph(n, wide) for n in ("then_branch", "else_branch"))
    body = node("If", ["a"], ["b"], attributes=branches)
    calls = [call("f1", "a", f"r{i}") for i in range(1000)] + [relu("r0", "b")]
    either("a thousand calls of a thousand nodes", calling(function("f0", calls), function("f1", [body])))
    either("a thousand calls of a thousand nodes in one body", calling(function("f0", calls), function("f1", [
        relu("a", f"s{i}") for i in range(1000)] + [relu("s0", "b")])))
    passed = b"".join(reference("k", "q999") for _ in range(20000))
    either("a thousand calls of attributes that are not given", calling(
        function("f0", [call("f1", "a", f"r{i}") for i in range(3000)] + [relu("r0", "b")]),
        function("f1", [relu("a", "b", attributes=passed * 4)])))
    given = b"".join(reference(f"q{i}", f"q{i}") for i in range(1000))
    deep = [function(f"f{i}", [node(f"f{i + 1}", ["a"], ["b"], attributes=given, domain="f")]) for i in range(50)]
    run = either("a thousand attributes that are handed on 50 times", calling(*deep, function("f50", [relu("a", "b", attributes=passed)])))
    ok(run.seconds < 10, "... in time", run)


def bodies():
    """Many of them, and loops in loops whose bodies have few layers and very much else."""
    x, y = value_info("x", [1, 4]), value_info("y", None)
    body = graph([relu("x", "z")], [], [value_info("z", None)])
    many = b"".join(attribute_graph(f"g{i}", body) for i in range(50000))
    run = usable("50,000 bodies of one layer", model(graph([relu("w", "x"), node("Many", ["x"], ["y"], attributes=many)],
                                                            [value_info("w", [1, 4])], [y])))
    ok(run.seconds < 20, "... in time", run)
    counters = [value_info("i", [], 7), value_info("c", [], 9), value_info("s", None)]
    axis = field_bytes(5, field_bytes(1, "axis") + field_int(3, 0) + field_int(20, 2))
    for what, inner, tensors in (("100,000 inputs", [node("Concat", ["s"] * 100000, ["s0"], attributes=axis)], []),
                                 ("100,000 constants", [relu("s", "s0")], [tensor(f"t{i}", [1], b"abcd") for i in range(100000)])):
        g = graph(inner, counters, [value_info("c", None), value_info("s0", None)], tensors)
        for depth in range(1, 4):
            inside = [node("Loop", ["M", "", "s"], [f"l{depth}"], attributes=attribute_graph("body", g)),
                      node("Concat", ["s", f"l{depth}"], [f"s{depth}"], attributes=axis)]
            g = graph(inside, counters, [value_info("c", None), value_info(f"s{depth}", None)])
        outer = node("Loop", ["M", "", "x"], ["y"], attributes=attribute_graph("body", g))
        run = usable(f"loops in loops around {what}", model(graph([outer], [x], [y], [tensor("M", [], b"\x3c" + b"\0" * 7, 7)])))
        ok(run.seconds < 20, "... in time", run)


def dimensions():
    y = value_info("y", None)
    usable("a negative dimension", model(graph([relu("x", "y")], [value_info("x", [-5, 4])], [y])), "-5", 1)
    usable("2^62 elements", model(graph([relu("x", "y")], [value_info("x", [1 << 62])], [y])), "", 1)
    usable("more elements than can be counted",
           model(graph([relu("x", "y")], [value_info("x", [1 << 62, 1 << 62, 1 << 62])], [y])), "", 1)
    usable("a constant of 2^58 bytes",
           model(graph([node("Add", ["x", "w"], ["y"])], [value_info("x", [1])], [y], [tensor("w", [1 << 29, 1 << 29], element_type=2)])), "", 1)
    refused("a constant that cannot be counted",
            model(graph([node("Add", ["x", "w"], ["y"])], [value_info("x", [1])], [y], [tensor("w", [1 << 40, 1 << 40])])), "elements")
    # Each layer doubles the dimension: 2^200 at the end.
    double = [node("Concat", [f"{i}", f"{i}"], [f"{i + 1}"], attributes=field_bytes(5, field_bytes(1, "axis") + field_int(3, 0) + field_int(20, 2)))
              for i in range(200)]
    for first in (3, "batch"):
        usable(f"a dimension that doubles 200 times, from {first}", model(graph(double, [value_info("0", [first])], [value_info("200", None)])), "", 200)
    # A polynomial of ever more terms: each layer multiplies by another sum.
    square = [node("Shape", ["x"], ["s0"])] + [node("Mul", [f"s{i}", f"t{i}"], [f"s{i + 1}"]) for i in range(60)]
    square += [node("Add", [f"s{i}", "s0"], [f"t{i}"]) for i in range(60)]
    run = usable("polynomials that grow", model(graph(square + [node("ConstantOfShape", ["s60"], ["y"])],
                                                      [value_info("x", ["a", "b"])], [y])))
    ok(run.seconds < 10, "... in time", run)


def names():
    evil = ["\x1b]0;owned\x07", "\x1b[2J\x1b[31m", "a\nb\rc\td", "\x9b31m", "\u202egnp.exe", "nul\x00nul", "\u2028line", "\x7f"]
    raw = [b"\xff\xfe\xfd", b"\xc0\xaf", b"\xed\xa0\x80", b"cut \xe2\x82", b"\xf4\x90\x80\x80", b"x" * 60000]
    everything = [e.encode() for e in evil] + raw
    nodes, last = [], b"input\x1b[1m"
    for i, name in enumerate(everything):
        out = name[:50] + b"%d" % i
        nodes.append(node("Relu" if i % 2 else b"Op\x1b[7m" + name[:40], [last], [out], name, domain=b"" if i % 2 else name[:20]))
        last = out
    shape = ["batch\x1b[5m", "\u202esym", 4]
    g = graph(nodes, [value_info(b"input\x1b[1m", shape)], [value_info(last, None)], [tensor(b"w\x07", [2], b"\0" * 8)], b"gr\x1baph")
    content = model(g) + field_bytes(2, b"producer\x1b[0m") + field_bytes(3, b"\xff") + field_bytes(6, b"doc\x1b]")
    everywhere("hostile names", content)
    run = Run("layers", os.path.join(FOLDER, "no\x1b[31m such\n.onnx"))
    ok(run.status == 2 and run.lines_are_clean() and run.error.count(b"\n") == 1, "a path with escapes: one clean line", run)


def places():
    """Of external data only regular files are opened: a pipe that nobody writes to would block."""
    pipe = os.path.join(FOLDER, "pipe")
    os.mkfifo(pipe)
    os.symlink("pipe", os.path.join(FOLDER, "link"))
    os.symlink("loop.onnx", os.path.join(FOLDER, "loop.onnx"))
    for place in ("../../../../../../etc/passwd", "/etc/passwd", pipe, "link", "pipe", "", "\x1b[31m\x00", "x" * 5000):
        content = graph([node("Add", ["x", "w"], ["y"])], [value_info("x", [1, 4])], [value_info("y", None)],
                        [tensor("w", [4], external=place)])
        usable(f"external data in {place[:30]!r}", model(content), "", 1, seconds=5)
    for path, part in (("loop.onnx", b"loop.onnx"), (".", b"directory"), ("/dev/null", b"empty")):
        run = Run("layers", os.path.join(FOLDER, path))
        ok(run.status == 2 and part in run.error and run.error.count(b"\n") == 1, f"{path} as a model: refused", run)
    run = Run("layers", "/dev/zero", seconds=5, memory=256 * MIB)
    ok(run.status == 2 and run.error.count(b"\n") == 1 and run.seconds < 5, "/dev/zero as a model: refused", run)


def sizes():
    """Measured and told; the bounds are generous, and wide with sanitizers."""
    for layers in (300000, 1000000) if os.environ.get("CHECK_LONG") else (300000,):
        path = write(f"{layers}", model(chain(layers)))
        run = Run("layers", "--csv", path, seconds=120, memory=3 * layers * KIB)
        good = run.status in (0, 1) and run.raw.count(b"\n") > layers
        ok(good and (SANITIZED or run.peak < 2 * layers * KIB), f"{layers} layers", run)
        print(f"# {layers} layers: {run.seconds:.2f} s, {run.peak / MIB:.0f} MiB")
    path = os.path.join(FOLDER, "300000.onnx")
    run = Run("--frame", "100x30", "-d", "h100", path, seconds=120, memory=3072 * MIB)
    ok(run.status == 0 and (SANITIZED or run.peak < 420 * MIB), "a frame of 300000 layers: 1.4 KiB each", run)
    print(f"# a frame of 300000 layers: {run.seconds:.2f} s, {run.peak / MIB:.0f} MiB")
    os.unlink(path)
    endless = field_int(1, 8) + varint(7 << 3 | 2) + varint(1 << 62)
    refused("a graph of 2^62 bytes", endless, "damaged")
    refused("a field of 4 GB in a file of 20 bytes", field_int(1, 8) + varint(7 << 3 | 2) + varint(1 << 32), "missing")


def main():
    global FOLDER
    with tempfile.TemporaryDirectory(prefix="benanza-hostile-") as FOLDER:
        for part in (structure, functions, bodies, dimensions, names, places, sizes):
            part()
    print(f"1..{count}")
    sys.exit(failed > 0)


main()

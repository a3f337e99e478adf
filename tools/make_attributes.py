#!/usr/bin/env python3
"""Rewrite the table of src/ops/rules/op_attribute.c: the attributes that the rules read, and the kinds that
operators of the installed `onnx` (all opsets) and `onnxruntime` declare for them.

    tools/make_attributes.py [--check] [src/ops/rules/op_attribute.c]
"""

import argparse
import collections
import pathlib
import re
import sys

import onnx.defs
import onnxruntime.capi.onnxruntime_pybind11_state as ort

WIDTH = 108


def declared():
    kinds = collections.defaultdict(set)
    for schema in [*onnx.defs.get_all_schemas_with_history(), *ort.get_all_operator_schema()]:
        if schema.domain != "ai.onnx.ml":
            for name, attribute in schema.attributes.items():
                kinds[name].add(str(attribute.type).rsplit(".", 1)[-1].removesuffix("_PROTO"))
    return kinds


def wanted(path):
    """Yield the rows of the table: (name, kinds)."""
    rules = [*path.parent.glob("*.c"), *(path.parent.parent / "plan").glob("*.c")]
    read = {name for rule in rules if rule != path for name in re.findall(r'"(\w+)"', rule.read_text())}
    for name, kinds in sorted(declared().items()):
        if name in read and kinds <= {"INT", "FLOAT", "STRING", "TENSOR", "GRAPH", "INTS", "FLOATS", "STRINGS", "TYPE"}:
            yield name, kinds


def lacking(path):
    """Lines for the kinds that the installed packages declare and the table lacks.

    The reverse is allowed: the installed packages may be older than those that the table was made from.
    """
    rows = {name: set(re.findall(r"IS\((\w+)\)", kinds)) for name, kinds in re.findall(r'\{ "(\w+)", ([^}]*)\}', path.read_text())}
    return [f"{name} may be {', '.join(sorted(kinds - rows.get(name, set())))}"
            for name, kinds in wanted(path) if not kinds <= rows.get(name, set())]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only list missing kinds; exit status 1 if any")
    parser.add_argument("path", nargs="?", type=pathlib.Path, default="src/ops/rules/op_attribute.c")
    options = parser.parse_args()
    path = options.path
    if options.check:
        lines = lacking(path)
        print("".join(f"{line}\n" for line in lines), end="")
        return bool(lines)
    lines = [""]
    for name, kinds in wanted(path):
        cell = f'{{ "{name}", {" | ".join(f"IS({kind})" for kind in sorted(kinds))} }},'
        if len(lines[-1]) + len(cell) > WIDTH - 4:
            lines.append("")
        lines[-1] += " " * bool(lines[-1]) + cell
    table = "".join(f"\t{line}\n" for line in lines)
    path.write_text(re.sub(r"(\} rows\[\] = \{\n).*?(\};\n)", lambda m: m[1] + table + m[2], path.read_text(), flags=re.S))


if __name__ == "__main__":
    sys.exit(main())

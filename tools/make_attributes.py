#!/usr/bin/env python3
"""Writes the table of src/ops/op_attribute.c anew: the attributes that rules read, with the kinds that the operators of the
installed `onnx` (of all opsets) and `onnxruntime` declare them with.

    tools/make_attributes.py [src/ops/op_attribute.c]
"""

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


def main():
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "src/ops/op_attribute.c")
    rules = [*path.parent.glob("*.c"), *(path.parent.parent / "plan").glob("*.c")]
    read = {name for rule in rules if rule != path for name in re.findall(r'"(\w+)"', rule.read_text())}
    lines = [""]
    for name, kinds in sorted(declared().items()):
        if name not in read or not kinds <= {"INT", "FLOAT", "STRING", "TENSOR", "GRAPH", "INTS", "FLOATS", "STRINGS", "TYPE"}:
            continue
        cell = f'{{ "{name}", {" | ".join(f"IS({kind})" for kind in sorted(kinds))} }},'
        if len(lines[-1]) + len(cell) > WIDTH - 4:
            lines.append("")
        lines[-1] += " " * bool(lines[-1]) + cell
    table = "".join(f"\t{line}\n" for line in lines)
    path.write_text(re.sub(r"(\} rows\[\] = \{\n).*?(\};\n)", lambda m: m[1] + table + m[2], path.read_text(), flags=re.S))


if __name__ == "__main__":
    main()

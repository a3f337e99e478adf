#!/usr/bin/env python3
"""Write the tables of src/ops/rules/op_types.c: the element types that the schemas of the installed `onnx`
(all opsets) and `onnxruntime` allow for each input of the operators in benanza's table.

    PYTHONPATH=build/venv/newest tools/make_types.py --benanza build/benanza [--check] [PATH]
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import onnx.defs
import onnxruntime.capi.onnxruntime_pybind11_state as ort

WIDTH = 101  # after the tab and with a blank: 110 columns
# ONNX names in the order of `enum dtype`; None: TF32, which ONNX does not have.
TYPES = ["float", "float16", "bfloat16", "double", None, "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
         "uint64", "bool", "int4", "uint4", "int2", "uint2", "float8e4m3fn", "float8e5m2", "float8e4m3fnuz",
         "float8e5m2fnuz", "float8e8m0", "float6e2m3", "float6e3m2", "float4e2m1", "complex64", "complex128", "string"]


def mask_of(strings):
    """A bit per element type; 0 (no check) if a type is not a tensor, or not in TYPES."""
    mask = 0
    for text in strings:
        name = re.fullmatch(r"tensor\((\w+)\)", text)
        if not name or name[1] not in TYPES:
            return 0
        mask |= 1 << (TYPES.index(name[1]) + 1)
    return mask


def inputs_of(schema):
    """(type variable or None, mask) of each formal input; True if the last one is variadic."""
    sets = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    found, repeats = [], False
    for formal in schema.inputs:
        name = getattr(formal, "typeStr", None) or formal.type_str
        variadic = str(formal.option).endswith("Variadic")
        homogeneous = getattr(formal, "isHomogeneous", None)
        homogeneous = getattr(formal, "is_homogeneous", True) if homogeneous is None else homogeneous
        free = variadic and not homogeneous
        found.append((None if free or name not in sets else name, 0 if free else mask_of(sets.get(name, [name]))))
        repeats |= variadic
    return found, repeats


def collected(known):
    """(domain, name) -> {since: inputs}; where onnx and ONNX Runtime both have a schema, the wider types."""
    rows = {}
    for schema in [*onnx.defs.get_all_schemas_with_history(), *ort.get_all_operator_schema()]:
        if schema.deprecated or (schema.domain, schema.name) not in known:
            continue
        inputs, repeats = inputs_of(schema)
        versions = rows.setdefault((schema.domain, schema.name), {})
        old = versions.get(schema.since_version)
        if old and len(old[0]) == len(inputs):
            inputs = [(v if v == w else None, m | n if m and n else 0) for (v, m), (w, n) in zip(inputs, old[0])]
        versions[schema.since_version] = inputs, repeats
    return rows


def lines_of(known):
    """The mask table and the operator table as C source."""
    masks, rows = [0], []
    for (domain, name), versions in sorted(collected(known).items(), key=lambda x: (x[0][1], x[0][0])):
        last = None
        for since, (inputs, repeats) in sorted(versions.items()):
            variables, text = [], ""
            for variable, mask in inputs:
                if mask not in masks:
                    masks.append(mask)
                if variable and variable not in variables:
                    variables.append(variable)
                text += (str(variables.index(variable)) if variable else "-") + f"{masks.index(mask):02x}"
            text += "*" if repeats else ""
            if text != last:
                rows.append(f'{{ "{name}", "{domain}", {since}, "{text}" }},')
            last = text
    return masks, rows


def filled(cells):
    lines = [""]
    for cell in cells:
        if len(lines[-1]) + len(cell) > WIDTH:
            lines.append("")
        lines[-1] += " " * bool(lines[-1]) + cell
    return "".join(f"\t{line}\n" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benanza", default="build/benanza")
    parser.add_argument("--check", action="store_true", help="only compare; exit status 1 if the table differs")
    parser.add_argument("path", nargs="?", type=pathlib.Path, default="src/ops/rules/op_types.c")
    options = parser.parse_args()
    told = json.loads(subprocess.run([options.benanza, "ops", "--json"], capture_output=True, text=True, check=True).stdout)
    masks, rows = lines_of({(row["domain"], row["name"]) for row in told["operators"]})
    text = old = options.path.read_text()
    for array, cells in (("masks", [f"0x{mask:08x}," for mask in masks]), ("rows", rows)):
        text = re.sub(rf"(\b{array}\[\] = \{{\n).*?(\}};\n)", lambda m, c=cells: m[1] + filled(c) + m[2], text, flags=re.S)
    if not options.check:
        options.path.write_text(text)
    elif text != old:
        print(f"{options.path} is not what tools/make_types.py writes with onnx {onnx.__version__}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

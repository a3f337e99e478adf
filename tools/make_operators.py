#!/usr/bin/env python3
"""Write docs/operators.md: what benanza knows of each operator, and what measures it.

The operators are those of `benanza ops`; what each is measured as is read from its cases in tests/ops, which the suite
holds against the rules; which libraries have a kernel is asked of the runners, for problems of the cases. Without
runners the libraries are those that the page names already: so the suite can hold the page against the table.

    tools/make_operators.py --benanza build/benanza [--cpu build/benanza-runner-cpu]
        [--cuda build/benanza-runner-cuda --device data/devices/h100.json] [--check] docs/operators.md
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIDES = ("CPU", "CUDA")
ASKED = 24  # problems of a kernel, spread over all that the cases have
LATER = " (asked only of a GPU)"
HEAD = """# Operators

Written by tools/make_operators.py from the operator table, its cases in `tests/ops` and the runners' answers; the
suite holds it against the table. **Measured as** names the kernels of `docs/problem.md` that stand for the operator;
`~` before one: it stands in for a kernel that the libraries do not have (origin `proxy`). Every operator here has a
shape rule for all opsets of its rows; *free* ones cost nothing at run time, *host* ones run on the host by nature and
have no kernel. An operator that is not here stays unknown: its outputs have the shapes that the file declares, and
totals say that they lack it."""


def cases(folder):
    """(domain, operator) -> {(kernel, proxy)}, and kernel -> problems."""
    measured, problems = collections.defaultdict(set), collections.defaultdict(set)
    for path in sorted(folder.glob("*.case")):
        for line in path.read_text().splitlines():
            word, _, rest = line.partition(" ")
            if word == "op":
                domain, _, name = rest.split()[0].rpartition("/")
                key = (domain, name)
            elif word == "problem" and ":" in rest and "none:" not in rest:
                text = rest.split()[-1]
                kernel = text.split(":")[0]
                measured[key].add((kernel, " proxy " in f" {rest} "))
                problems[kernel].add(text)
    return measured, problems


def ask(command, problems):
    """The libraries that have a kernel for one of the problems."""
    apis = set()
    for problem in sorted(problems)[::max(1, len(problems) // ASKED)]:
        run = subprocess.run([*command, "--list", "--json", "--problem", problem], capture_output=True, text=True)
        for line in run.stdout.splitlines():
            answer = json.loads(line)
            if answer.get("type") == "algorithm":
                apis.add(answer["algorithm"]["api"])
        apis |= {f"{api.strip()}{LATER}" for api in re.findall(r"([\w ]+) cannot be asked without a GPU", run.stderr)}
    return {api for api in apis if not api.endswith(LATER) or api[:-len(LATER)] not in apis}


def told(page):
    """What an earlier page says: {kernel: {side: text}}."""
    libraries = {}
    for line in page.partition("## Kernels")[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            libraries[cells[0].strip("`")] = dict(zip(SIDES, cells[1:]))
    return libraries


def libraries_of(problems, commands, page):
    known = told(page)
    for kernel in problems:
        row = known.setdefault(kernel, dict.fromkeys(SIDES, "?"))
        for side, command in commands.items():
            row[side] = ", ".join(sorted(ask(command, problems[kernel]))) or "-"
    return {kernel: known[kernel] for kernel in sorted(problems)}


def opsets_text(rows):
    first, last = rows[0]["since"], rows[-1]["until"]
    return f"{first}-{'' if last is None else last}"


def kernels_text(kernels):
    real = sorted(kernel for kernel, proxy in kernels if not proxy)
    stand_in = sorted(kernel for kernel, proxy in kernels if proxy and (kernel, False) not in kernels)
    return ", ".join(real + [f"~{kernel}" for kernel in stand_in])


def side_text(kernels, libraries, side):
    found = {api for kernel, _ in kernels for api in libraries[kernel][side].split(", ")} - {"-"}
    return ", ".join(sorted(found)) or "-"


def operator_lines(operators, measured, libraries):
    groups = collections.OrderedDict()
    for row in operators:
        groups.setdefault(row["domain"], collections.OrderedDict()).setdefault(row["name"], []).append(row)
    for domain, names in groups.items():
        yield f"\n## {domain or 'ai.onnx'}\n"
        yield "| operator | opsets | class | cost | measured as | CPU | CUDA | note |"
        yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
        for name, rows in sorted(names.items()):
            last, kernels = rows[-1], measured[(domain, name)]
            notes = "; ".join(dict.fromkeys(row["note"] for row in rows if row["note"]))
            yield (f"| {name} | {opsets_text(rows)} | {last['class']} | {'yes' if last['cost'] else '-'} | "
                   f"{kernels_text(kernels) or '-'} | {side_text(kernels, libraries, 'CPU')} | "
                   f"{side_text(kernels, libraries, 'CUDA')} | {notes.replace('|', chr(92) + '|')} |")


def page_text(operators, measured, libraries):
    lines = [HEAD, *operator_lines(operators, measured, libraries), "\n## Kernels\n",
             "| kernel | CPU | CUDA |", "| --- | --- | --- |"]
    lines += [f"| `{kernel}` | {row['CPU']} | {row['CUDA']} |" for kernel, row in libraries.items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--benanza", required=True)
    parser.add_argument("--cpu")
    parser.add_argument("--cuda")
    parser.add_argument("--device", default=str(ROOT / "data/devices/h100.json"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("page", type=pathlib.Path)
    args = parser.parse_args()
    commands = {}
    if args.cpu:
        commands["CPU"] = [args.cpu]
    if args.cuda:
        commands["CUDA"] = [args.cuda, "--plan", args.device]
    answer = subprocess.run([args.benanza, "ops", "--json"], capture_output=True, text=True, check=True)
    measured, problems = cases(ROOT / "tests/ops")
    page = args.page.read_text() if args.page.exists() else ""
    operators = json.loads(answer.stdout)["operators"]
    text = page_text(operators, measured, libraries_of(problems, commands, page))
    if args.check:
        sys.exit(0 if text == page else f"{args.page} is not what the table says: run tools/make_operators.py")
    args.page.write_text(text)


main()

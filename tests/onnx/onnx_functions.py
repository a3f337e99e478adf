#!/usr/bin/env python3
"""Compare the layers of a model with those of the same model whose nodes are in model-local functions.

The nodes of the onnx package's expanded node tests are moved into a function, which is called by another
function, which is called by the model. Operators, shapes, costs and problems of the layers must stay the
same; the name of a layer is the path of calls, then the node's name. Prints TAP.

    BENANZA=build/benanza tests/onnx/onnx_functions.py [NAME...]
"""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, in_threads, layers_of  # noqa: E402
import onnx_nodes  # noqa: E402  (says so and ends where the onnx package is missing)
import onnx  # noqa: E402
from onnx import helper  # noqa: E402

CALL = "outer/in.ner/"


def wrapped(model):
    """The model with its nodes inside two nested functions, whose inputs and outputs have other names."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    graph = model.graph
    takes = [value.name for value in graph.input] + [tensor.name for tensor in graph.initializer]
    gives = [value.name for value in graph.output]
    if set(takes) & set(gives):
        return None
    sets = list(model.opset_import) + [helper.make_opsetid("own", 1)]
    inner = helper.make_function("own", "Inner", takes, gives, list(graph.node), sets)
    other_takes, other_gives = [f"i{i}" for i in range(len(takes))], [f"o{i}" for i in range(len(gives))]
    call = helper.make_node("Inner", other_takes, other_gives, domain="own", name="in.ner")
    outer = helper.make_function("own", "Outer", other_takes, other_gives, [call], sets)
    del graph.node[:], graph.value_info[:]
    graph.node.append(helper.make_node("Outer", takes, gives, domain="own", name="outer"))
    model.functions.extend([inner, outer])
    return model


def layers_or_error(path, model):
    path.write_bytes(model.SerializeToString())
    try:
        return layers_of(path)
    except RuntimeError as error:
        return str(error)


def figures(layers):
    """A tuple per layer of the values that must be equal, subgraphs included."""
    return [(layer["op"], layer["class"], layer["flops"], layer["bytes"], layer["problem"],
             [(o["dtype"], o["shape"]) for o in layer["outputs"]],
             [figures(body) for body in layer.get("body") or []])
            for layer in layers]


def check(case, path):
    """A line for the first difference of a case, or None."""
    plain = onnx_nodes.stripped(case, True)
    within = wrapped(plain)
    if within is None:
        return None
    want, got = layers_or_error(path, plain), layers_or_error(path, within)
    if isinstance(want, str) or isinstance(got, str):
        return None if isinstance(want, str) and isinstance(got, str) else f"{want} / {got}"
    names = [layer["name"] for layer in got if not layer["name"].startswith(CALL)]
    if names:
        return f"the name {names[0]}"
    for a, b in zip(figures(want), figures(got)):
        if a != b:
            return f"{a} / {b}"
    return None if len(want) == len(got) else f"{len(want)} layers / {len(got)}"


def main():
    if not sys.argv[1:]:
        sys.argv += ["_expanded", "test_if", "test_loop", "test_scan"]
    cases, tap = onnx_nodes.node_cases(), Tap()
    wrong = [f"{case.name}: {line}" for case, line in in_threads(check, cases) if line]
    tap.result(f"{len(cases)} models, nodes in functions", wrong if cases else ["no model was found"])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

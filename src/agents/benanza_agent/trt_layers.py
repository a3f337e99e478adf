"""Reads the layers of a TensorRT engine that trtexec writes, and finds the nodes that each executes."""

import collections
import re

from . import trace, worker
from .trt_program import number

PROVIDER = "TensorRT"
ADDED = ("reformat", "signal", "wait")
HEAVY = re.compile(r"conv|gemm|matmul|matrixmultiply|fullyconnected|attention|mha", re.IGNORECASE)
FORMATS = (
    (r"bf16|bfloat16", "bf16"),
    (r"fp16|half", "f16"),
    (r"fp32|float", "f32"),
    (r"fp8", "f8"),
    (r"int8", "s8"),
    (r"int32", "s32"),
    (r"int64", "s64"),
    (r"bool", "bool"),
)


def layers_of(document):
    listed = document.get("Layers") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise RuntimeError("the layers that trtexec wrote have no list 'Layers'")
    return [one if isinstance(one, dict) else {"Name": str(one)} for one in listed]


def tensors(layer, key):
    return [one for one in layer.get(key) or [] if isinstance(one, dict)]


def kind_of(tensor):
    text = str(tensor.get("Format/Datatype") or tensor.get("Format") or "")
    return next((kind for pattern, kind in FORMATS if re.search(pattern, text, re.IGNORECASE)), "")


def type_of(layer):
    """Returns the type of a layer's first input whose format is known."""
    return next((kind for kind in map(kind_of, tensors(layer, "Inputs")) if kind), "")


def plain_name(name):
    return re.sub(r" \[profile \d+\]$", "", name)


def metadata_nodes(text):
    """Returns the names in "[ONNX Layer: a]\\x1e[ONNX Layer: b]"."""
    return [
        part[:-1] if part.endswith("]") else part
        for part in (p.strip("\x1e\x1f ") for p in re.split(r"\[ONNX Layer: ", str(text))[1:])
    ]


def name_parts(name):
    """Returns the names that a layer's name joins: "a + b", "a || b", "PWN(a, b)". A region in braces stays
    whole."""
    inner = re.fullmatch(r"PWN\((.*)\)", name, re.DOTALL)
    if inner:
        return [part for one in split_top(inner.group(1), (", ", " + ")) for part in name_parts(one)]
    found = split_top(name, (" + ", " || "))
    return [part for one in found for part in name_parts(one)] if len(found) > 1 else [name.strip()]


def split_top(text, separators):
    """Splits a text at separators outside brackets."""
    parts, depth, start, at = [], 0, 0, 0
    while at < len(text):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        one = next((s for s in separators if depth <= 0 and text.startswith(s, at)), None)
        if one:
            parts.append(text[start:at])
            start = at = at + len(one)
        else:
            at += 1
    return parts + [text[start:]]


def nodes_of(name, layer, tracer):
    """Returns the indices of the nodes that a layer executes: by its metadata, else by its name. A copy that
    changes a format executes no node. {ForeignNode[a...b]} stands for the nodes from a to b in the order of
    the model."""
    if "Reformatting CopyNode" in name or str(layer.get("LayerType", "")).lower() in ADDED:
        return set()
    graph = tracer.graph
    listed = [tracer.node_named(one) for one in metadata_nodes(layer.get("Metadata", ""))]
    found = {i for i in listed if i is not None}
    if found:
        return found
    for part in name_parts(name):
        region = re.fullmatch(r"\{?ForeignNode\[(.*?)\.\.\.(.*)\]\}?", part, re.DOTALL)
        ends = [tracer.node_named(one) for one in region.groups()] if region else []
        if region and None not in ends:
            found |= set(range(min(ends), max(ends) + 1)) - graph.constant_nodes
        elif not region:
            index = tracer.node_named(part)
            found |= {index} if index is not None else set()
    return found


def rows_of(profile, layers, graph):
    """Returns the rows of a profile with the nodes of the model."""
    by_name = collections.defaultdict(collections.deque)
    for layer in layers:
        by_name[plain_name(str(layer.get("Name", "")))].append(layer)
    tracer, rows, traced = trace.Trace(graph), [], []
    for record in profile:
        name = plain_name(str(record["name"]))
        layer = by_name[name].popleft() if by_name[name] else {}
        ms = next(
            (
                value
                for value in (number(record.get(key)) for key in ("medianMs", "averageMs"))
                if value is not None
            ),
            None,
        )
        into, out = tensors(layer, "Inputs"), tensors(layer, "Outputs")
        stream = layer.get("StreamId")
        rows.append(
            worker.row(
                name,
                str(layer.get("LayerType") or ""),
                [] if ms is None else [ms * 1e6],
                provider=PROVIDER,
                kernel=str(layer.get("TacticName") or ""),
                dtype=type_of(layer),
                shapes=" ".join("x".join(map(str, one.get("Dimensions") or [])) for one in into),
                stream=stream if isinstance(stream, int) and stream >= 0 else None,
            )
        )
        traced.append(
            trace.Row(
                name,
                rows[-1]["op"],
                [str(one.get("Name", "")) for one in into],
                [str(one.get("Name", "")) for one in out],
                nodes_of(name, layer, tracer),
            )
        )
    tracer.fill(traced)
    for one, mine in zip(rows, traced):
        tracer.write(mine, one)
    return rows

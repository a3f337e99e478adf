"""Reads the parts of an ONNX file that tracing needs, without the onnx package, and writes two tiny models.

The reader is a minimal protobuf decoder over a memory map: payloads of tensors are skipped, every length
is checked against its enclosing message. Field numbers are those of onnx.proto.
"""

import mmap

from .request import Unsupported

MOST_DEPTH = 32
# element types of onnx.proto
TYPES = {1: "f32", 2: "u8", 3: "s8", 4: "u16", 5: "s16", 6: "s32", 7: "s64", 9: "bool", 10: "f16"}
TYPES.update({11: "f64", 12: "u32", 13: "u64", 16: "bf16"})


class GraphError(Exception):
    pass


def varint(data, at, end):
    value = shift = 0
    while True:
        if at >= end or shift > 63:
            raise GraphError("not an ONNX model: a number does not end")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data, at, end):
    """Yields (field number, value or (begin, end) of a payload) of the message in data[at:end]."""
    while at < end:
        key, at = varint(data, at, end)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at, end)
            yield number, value
            continue
        if wire == 2:
            size, at = varint(data, at, end)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise GraphError(f"not an ONNX model: wire type {wire}")
        if size > end - at:
            raise GraphError("not an ONNX model: a field is longer than its message")
        yield number, (at, at + size)
        at += size


def is_payload(value):
    return isinstance(value, tuple)


def text(data, span):
    return bytes(data[span[0] : span[1]]).decode("utf-8", "replace") if is_payload(span) else ""


class Node:
    __slots__ = ("name", "op", "domain", "inputs", "outputs", "bodies")

    def __init__(self):
        self.name = self.op = self.domain = ""
        self.inputs, self.outputs, self.bodies = [], [], []

    def label(self):
        """Returns the node's name; without a name, that of its first output."""
        return self.name or next((o for o in self.outputs if o), "")


class Graph:
    """Nodes in the order of the file; `constants` are the tensors that do not depend on inputs."""

    def __init__(self):
        self.nodes, self.inputs, self.outputs = [], [], []  # inputs: (name, element type, shape)
        self.initializers = {}  # name: element type

    def index(self):
        """Maps tensor names to producers and consumers, and finds the constants."""
        self.producer, self.consumers = {}, {}
        self.constants = set(self.initializers)
        self.constant_nodes = set()
        for i, node in enumerate(self.nodes):
            for name in node.outputs:
                if name:
                    self.producer.setdefault(name, i)
            for name in node.inputs:
                self.consumers.setdefault(name, []).append(i)
            if all(not name or name in self.constants for name in node.inputs) and not node.op.startswith(
                "Random"
            ):
                self.constant_nodes.add(i)
                self.constants.update(node.outputs)
        self.real_inputs = [entry for entry in self.inputs if entry[0] not in self.initializers]
        self.output_names = set(self.outputs)
        return self

    def neighbours(self, i):
        """Returns the indices of a node's producers and consumers, without constant ones."""
        found = {self.producer[name] for name in self.nodes[i].inputs if name in self.producer}
        found |= {reader for name in self.nodes[i].outputs for reader in self.consumers.get(name, [])}
        return found - self.constant_nodes

    def reads(self, i, inside):
        """Returns True if a node reads a tensor that is not constant and that no node in `inside` writes."""
        names = [name for name in self.nodes[i].inputs if name and name not in self.constants]
        return any(self.producer.get(name) not in inside for name in names)


def read_value(data, span):
    """Returns (name, element type, shape) of a ValueInfoProto; unknown sizes are None or a name."""
    name, kind, shape = "", 0, []
    for number, value in fields(data, *span):
        if number == 1 and is_payload(value):
            name = text(data, value)
        elif number == 2 and is_payload(value):
            for n1, v1 in fields(data, *value):
                if n1 != 1 or not is_payload(v1):
                    continue
                for n2, v2 in fields(data, *v1):
                    if n2 == 1 and not is_payload(v2):
                        kind = v2
                    elif n2 == 2 and is_payload(v2):
                        shape = [
                            read_dim(data, v3) for n3, v3 in fields(data, *v2) if n3 == 1 and is_payload(v3)
                        ]
    return name, kind, shape


def read_dim(data, span):
    size = None
    for number, value in fields(data, *span):
        if number == 1 and not is_payload(value):
            size = value
        elif number == 2 and is_payload(value):
            size = text(data, value)
    return size


def read_tensor(data, span):
    name, kind = "", 0
    for number, value in fields(data, *span):
        if number == 8 and is_payload(value):
            name = text(data, value)
        elif number == 2 and not is_payload(value):
            kind = value
    return name, kind


def read_node(data, span, depth):
    node = Node()
    for number, value in fields(data, *span):
        if not is_payload(value):
            continue
        if number == 1:
            node.inputs.append(text(data, value))
        elif number == 2:
            node.outputs.append(text(data, value))
        elif number == 3:
            node.name = text(data, value)
        elif number == 4:
            node.op = text(data, value)
        elif number == 7:
            node.domain = text(data, value)
        elif number == 5:
            node.bodies += [
                read_graph(data, v, depth + 1)
                for n, v in fields(data, *value)
                if n in (6, 11) and is_payload(v)
            ]
    for body in node.bodies:  # tensors of the outer graph that a body reads are inputs of its node
        own = {name for inner in body.nodes for name in inner.outputs} | set(body.initializers)
        own |= {name for name, *_ in body.inputs}
        node.inputs += sorted(
            {name for inner in body.nodes for name in inner.inputs if name} - own - set(node.inputs)
        )
    return node


def read_graph(data, span, depth=0):
    if depth > MOST_DEPTH:
        raise GraphError("the model's graphs are nested too deeply")
    graph = Graph()
    for number, value in fields(data, *span):
        if not is_payload(value):
            continue
        if number == 1:
            graph.nodes.append(read_node(data, value, depth))
        elif number == 5:
            name, kind = read_tensor(data, value)
            graph.initializers[name] = kind
        elif number == 11:
            graph.inputs.append(read_value(data, value))
        elif number == 12:
            graph.outputs.append(read_value(data, value)[0])
    return graph


def parse(data):
    """Returns the indexed graph in the bytes of a model."""
    found = [value for number, value in fields(data, 0, len(data)) if number == 7 and is_payload(value)]
    if not found:
        raise GraphError("not an ONNX model: it has no graph")
    return read_graph(data, found[-1]).index()


def read(source):
    """Returns the indexed graph of a model. source: the path of its file, or its bytes."""
    if isinstance(source, bytes):
        return parse(source)
    try:
        with open(source, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return parse(data)
    except (OSError, ValueError) as error:
        raise GraphError(f"{source}: {error}") from None


def declared_inputs(graph):
    """Returns [(name, dtype, shape)] of the inputs, for Request.specs()."""
    found = []
    for name, kind, shape in graph.real_inputs:
        if kind not in TYPES:
            raise Unsupported(f"input '{name}' has the element type {kind}; agents generate numbers only")
        found.append((name, TYPES[kind], shape))
    return found


# ---- tiny models


def number(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(key, value):
    if isinstance(value, int):
        return number(key << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(key << 3 | 2) + number(len(value)) + value


def tensor_info(name, shape):
    """Returns the ValueInfoProto of an f32 tensor."""
    dims = b"".join(field(1, field(1, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def attribute(name, values):
    """Returns an AttributeProto with integers."""
    return field(5, field(1, name) + b"".join(field(8, value) for value in values) + field(20, 7))


def tiny_model(op, count, shape, attributes=b"", opset=13):
    """Returns the bytes of a model: a chain of `count` nodes of one operator from `x` to `y`."""
    names = ["x"] + [f"t{i}" for i in range(1, count)] + ["y"]
    nodes = b"".join(
        field(1, field(1, a) + field(2, b) + field(3, f"{op}_{i}") + field(4, op) + attributes)
        for i, (a, b) in enumerate(zip(names, names[1:]))
    )
    graph = nodes + field(2, "tiny") + field(11, tensor_info("x", shape)) + field(12, tensor_info("y", shape))
    return field(1, 7) + field(7, graph) + field(8, field(1, "") + field(2, opset))


def empty_model():
    """Returns a model with one Identity. Its latency is the framework's floor: a run that computes
    nothing."""
    return tiny_model("Identity", 1, (1, 8))


CHAIN = 100


def chain_model():
    """Returns a chain of cheap nodes that no optimizer folds or fuses. Its profiled latency less its plain
    latency is the cost of profiling them."""
    return tiny_model(
        "MaxPool", CHAIN, (1, 1, 4, 4), attribute("kernel_shape", (3, 3)) + attribute("pads", (1, 1, 1, 1))
    )

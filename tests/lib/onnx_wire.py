"""Writes ONNX files field by field: larger than protobuf's limit, or invalid in ways libraries reject."""


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field_int(number, value):
    return varint(number << 3) + varint(value)


def field_bytes(number, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def value_info(name, dims, element_type=1):
    """dims: integers and symbol names; None: no shape."""
    shape = b"".join(field_bytes(1, field_bytes(2, d) if isinstance(d, str) else field_int(1, d)) for d in dims or [])
    tensor = field_int(1, element_type) + (b"" if dims is None else field_bytes(2, shape))
    return field_bytes(1, name) + field_bytes(2, field_bytes(1, tensor))


def tensor(name, dims, raw=None, element_type=1, external=None):
    """external: path of the file with the contents, relative to the model."""
    out = b"".join(field_int(1, d) for d in dims) + field_int(2, element_type) + field_bytes(8, name)
    if raw is not None:
        out += field_bytes(9, raw)
    if external is not None:
        out += field_bytes(13, field_bytes(1, "location") + field_bytes(2, external)) + field_int(14, 1)
    return out


def node(op, inputs, outputs, name="", attributes=b"", domain=""):
    out = b"".join(field_bytes(1, i) for i in inputs) + b"".join(field_bytes(2, o) for o in outputs)
    return out + field_bytes(3, name) + field_bytes(4, op) + attributes + (field_bytes(7, domain) if domain else b"")


def graph(nodes, inputs=(), outputs=(), tensors=(), name="g"):
    return (b"".join(field_bytes(1, n) for n in nodes) + field_bytes(2, name)
            + b"".join(field_bytes(5, t) for t in tensors)
            + b"".join(field_bytes(11, i) for i in inputs) + b"".join(field_bytes(12, o) for o in outputs))


def model_head(opset=17, ir=8):
    return field_int(1, ir) + field_bytes(8, field_int(2, opset))


def model(graph_bytes, opset=17, ir=8):
    return model_head(opset, ir) + field_bytes(7, graph_bytes)

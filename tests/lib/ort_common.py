"""Helpers of the tests that use ONNX Runtime: models, default sizes, random inputs, and running a model."""

import pathlib

import numpy as np
import onnx

from python_tap import ROOT


def bundled_models():
    return sorted((ROOT / "data" / "models").glob("*.onnx"))


def light_models():
    """The light models of the onnx package: real networks, batch 1, weights filled by ConstantOfShape."""
    return sorted((pathlib.Path(onnx.__file__).parent / "backend/test/data/light").glob("light_*.onnx"))


def default_dims(path):
    """Batch 1 and the `dims:` mapping of the model's sidecar file, if there is one."""
    sidecar = pathlib.Path(path).with_suffix(".yaml")
    dims, inside = {"batch": 1}, False
    for line in sidecar.read_text().splitlines() if sidecar.exists() else []:
        line = line.split("#")[0].rstrip()
        if line and not line.startswith(" "):
            inside = line == "dims:"
        elif line and inside:
            name, value = line.split(":")
            dims[name.strip()] = int(value)
    return dims


def save_model(path, nodes, inputs, outputs, weights=(), kind=onnx.TensorProto.FLOAT, **how):
    """Saves a model of nodes, opset 17, and returns its path. inputs and outputs: {name: shape}, of the type
    `kind`; how: more arguments of onnx.save."""

    def values(shapes):
        return [onnx.helper.make_tensor_value_info(name, kind, shape) for name, shape in shapes.items()]

    graph = onnx.helper.make_graph(nodes, path.stem, values(inputs), values(outputs), list(weights))
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path, **how)
    return path


def parse_dim(text):
    """(name, value) of a NAME=VALUE argument."""
    name, _, value = text.partition("=")
    if not name or not value.isdigit():
        raise ValueError(f"'{text}' is not NAME=VALUE")
    return name, int(value)


def symbols(model):
    """The names of the symbolic dimensions of the inputs."""
    return {dim.dim_param for value in real_inputs(model.graph) for dim in value.type.tensor_type.shape.dim
            if dim.WhichOneof("value") == "dim_param"}


def real_inputs(graph):
    """Inputs without an initializer; old models list initializers as inputs, too."""
    initialized = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in initialized]


def fills(graph):
    """Output name -> shape of each ConstantOfShape node whose shape is an initializer."""
    shapes = {tensor.name: onnx.numpy_helper.to_array(tensor).tolist() for tensor in graph.initializer
              if tensor.data_type == onnx.TensorProto.INT64 and len(tensor.dims) == 1}
    return {node.output[0]: shapes[node.input[0]] for node in graph.node
            if node.op_type == "ConstantOfShape" and node.input[0] in shapes}


def with_random_weights(model, seed=0):
    """Replace the weights that ConstantOfShape fills by random ones.

    They are scaled so that values do not vanish before the last layer.
    """
    generator = np.random.default_rng(seed)
    shapes = fills(model.graph)
    floats = [node.output[0] for node in model.graph.node if node.output[0] in shapes
              and (not node.attribute or node.attribute[0].t.data_type == onnx.TensorProto.FLOAT)]
    made = set(floats)
    kept = [node for node in model.graph.node if node.output[0] not in made]
    for name in floats:
        shape = shapes[name]
        if len(shape) < 2:  # biases, and the variances of a normalization
            values = generator.uniform(0.5, 1.5, shape).astype(np.float32)
        else:
            values = generator.standard_normal(shape, np.float32)
            values *= np.float32(max(shape[0], np.prod(shape[1:])) ** -0.5)
        model.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model


def random_inputs(model, dims, seed=0):
    """Valid inputs: floats in [0, 1), masks of ones, indices within the table of their Gather."""
    generator = np.random.default_rng(seed)
    tables = fills(model.graph)
    limits = {node.input[1]: tables[node.input[0]][0] for node in model.graph.node
              if node.op_type == "Gather" and node.input[0] in tables}
    feeds = {}
    for value in real_inputs(model.graph):
        tensor = value.type.tensor_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        shape = [dims[d.dim_param] if d.WhichOneof("value") == "dim_param" else d.dim_value
                 for d in tensor.shape.dim]
        if np.issubdtype(dtype, np.floating):
            feeds[value.name] = generator.random(shape).astype(dtype)
        elif "mask" in value.name or value.name not in limits:
            feeds[value.name] = np.ones(shape, dtype)
        else:
            feeds[value.name] = generator.integers(0, limits[value.name], shape).astype(dtype)
    return feeds


def session(model, optimize=False):
    """An ONNX Runtime session on the CPU; model: a ModelProto or a file name."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    if not optimize:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_cpu_mem_arena = False
    options.intra_op_num_threads = 2
    options.log_severity_level = 4
    content = model.SerializeToString() if isinstance(model, onnx.ModelProto) else str(model)
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def all_values(model, feeds, but=()):
    """Name -> value of every node output except `but`; a list of these if `feeds` is a list."""
    every = onnx.ModelProto.FromString(model.SerializeToString())
    declared = {value.name for value in every.graph.output}
    names = [name for node in every.graph.node for name in node.output if name and name not in but]
    every.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in declared)
    opened = session(every)
    listed = feeds if isinstance(feeds, list) else [feeds]
    values = [dict(zip(names, opened.run(names, one))) for one in listed]
    return values if isinstance(feeds, list) else values[0]

#!/usr/bin/env python3
"""Hold the bundled models against what is published about the networks they stand for.

For each: the file is what tools/make_models.py writes, it passes the ONNX checker
and strict shape inference, it is small, and it has the parameters and the
multiply-adds of the real network.  Prints TAP; -v also prints the figures.
"""

import math
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, Tap, apart, need  # noqa: E402

LARGEST_BYTES = 300_000
LAYERS = 12 * (4 + 2 * 4) * 768 * 768     # the weights of twelve layers, each used once a token
# Parameters, exactly: torchvision's for ResNet-50 and MobileNet-v2, the paper's net with its
# biases and without the side classifiers for GoogLeNet, the published checkpoints' for BERT
# and GPT-2, Ultralytics' for YOLOv8n after folding.
# Multiply-adds in units of 1e9 at the default sizes: torchvision's tables; the GoogLeNet
# paper's table of layers, its first row corrected (118e6; it says 34e6); Ultralytics' 8.7e9
# operations, halved; for BERT and GPT-2 the count by hand below.
PUBLISHED = {
    "resnet50": (25_557_032, 4.09),
    "mobilenet_v2": (3_504_872, 0.30),
    "googlenet": (6_998_552, 1.586),
    "bert_base": (109_482_240, (128 * LAYERS + 12 * 2 * 128 * 128 * 768 + 768 * 768) / 1e9),
    "gpt2_small": (124_439_808, (LAYERS + 12 * 2 * 129 * 768 + 768 * 50257) / 1e9),
    "yolov8n": (3_151_904, 4.35),
}


def weights(common, model):
    """Returns all weights, filled or stored, by name, without the statistics of normalizations."""
    shapes = common.fills(model.graph)
    shapes.update((tensor.name, list(tensor.dims)) for tensor in model.graph.initializer)
    return {name: shape for name, shape in shapes.items() if name.endswith((".weight", ".bias"))}


def multiply_adds(node, shapes):
    if node.op_type == "Conv":
        return math.prod(shapes[node.output[0]]) * math.prod(shapes[node.input[1]][1:])
    if node.op_type in ("Gemm", "MatMul"):
        return math.prod(shapes[node.output[0]]) * shapes[node.input[0]][-1]
    return 0


def check(common, path):
    """What is wrong with a model, as lines, and its figures."""
    import make_models
    import models_ort
    onnx = common.onnx
    lines = []
    model = onnx.load(path)
    make = {make.__name__: make for make in make_models.MODELS}[path.stem]
    # Equal messages: the bytes may differ with the version of the packages.
    if model != make_models.build(make):
        lines.append("the file is not what tools/make_models.py makes")
    if common.default_dims(path) != {"batch": 1} | make_models.MODELS[make]:
        lines.append("the sidecar is not what tools/make_models.py makes")
    try:
        onnx.checker.check_model(model, full_check=True)
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        lines.append(str(error))
    size = path.stat().st_size
    if size > LARGEST_BYTES:
        lines.append(f"{size} bytes, more than {LARGEST_BYTES}")
    tensors = weights(common, model)
    parameters = sum(math.prod(shape) for shape in tensors.values())
    published_parameters, published = PUBLISHED[path.stem]
    if parameters != published_parameters:
        lines.append(f"{parameters} parameters, not {published_parameters}")
    dims = common.default_dims(path)
    feeds = {name: list(value.shape) for name, value in common.random_inputs(model, dims).items()}
    shapes = tensors | feeds | apart(models_ort.runtime_shapes, path, dims)["shapes"]
    billions = sum(multiply_adds(node, shapes) for node in model.graph.node) / 1e9
    if abs(billions / published - 1) > 0.02:
        lines.append(f"{billions:.3f}e9 multiply-adds, not {published:.3f}e9")
    figures = (f"{size} bytes, {len(model.graph.node)} nodes, {parameters} parameters, "
               f"{billions:.4f}e9 multiply-adds")
    return lines, figures


def main():
    need("onnx", "onnxruntime")
    import ort_common
    sys.path.append(str(ROOT / "tools"))
    tap = Tap(len(PUBLISHED))
    for name in PUBLISHED:
        try:
            lines, figures = check(ort_common, ROOT / "data" / "models" / f"{name}.onnx")
        except (OSError, RuntimeError, KeyError) as error:
            lines, figures = [f"{type(error).__name__}: {error}"], "none"
        tap.result(name, lines)
        if "-v" in sys.argv:
            print("# " + figures)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

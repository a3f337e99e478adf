#!/usr/bin/env python3
"""Hold layer counts and multiply-adds against Table I of the Benanza paper, for those of its 30 models that can be had.

Nine come with the onnx package (light_*: without weights, which ConstantOfShape nodes stand for; these are no layers
here), one, the MNIST net, with the package qonnx, and three networks are bundled. Counted as the paper does: FLOPs of
all layers, halved, weights and constants apart. Where a file is another variant of the network than the paper's, the
difference is named here, and must be as large as it is said to be. Prints TAP.

    BENANZA=build/benanza tests/figures/paper_table.py
"""

import gzip
import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import ROOT, Tap, layers_of, need, program  # noqa: E402

NO_LAYERS = {"Constant", "ConstantOfShape"}
TOLERANCE = 0.03
GRAPHS = "golden_graphs_v100_b1.tsv.gz"  # the authors' own, where it is at hand

# file: (name in Table I, multiply-adds there, layers there, layers of the file more than there, factor of its
# multiply-adds, why)
TABLE = {
    "light_bvlc_alexnet": ("BVLC-Alexnet", 656e6, 24, 0, 1, None),
    "light_densenet121": ("Densenet-121", 2.87e9, 910, 0, 1, None),
    "light_inception_v1": ("Inception-v1", 1.44e9, 144, 0, 1, None),
    "light_inception_v2": ("Inception-v2", 2.03e9, 509, 0, 1, None),
    "light_resnet50": ("Resnet50-v1", 3.87e9, 175, 1, 4.109 / 3.87,
                       "the file ends in a Softmax, and its downsampling blocks stride in the 3x3 convolution (v1.5), "
                       "the paper's in the first 1x1"),
    "light_shufflenet": ("Shufflenet", 127e6, 203, 0, 1, None),
    "light_squeezenet": ("Squeezenet-v1.1", 352e6, 66, 0, 1, None),
    "light_vgg19": ("Vgg19", 19.55e9, 47, -1, 1,
                    "the file has one Reshape and a Softmax where the paper's has three Flattens"),
    "light_zfnet512": ("Zfnet512", 1.48e9, 22, 0, 1, None),
    "mnist": ("LeNet", 796e3, 12, 0, 1, None),
    "resnet50": ("Resnet50-v2", 4.10e9, 174, 1, 1, "the file is v1.5: a ReLU behind each sum instead of in front"),
    "googlenet": ("BVLC-Googlenet", 1.59e9, 143, -1, 1, "the file has no Dropout"),
    "mobilenet_v2": ("MobileNet-v2", 437e6, 155, -3, 310.6 / 437,
                     "the paper's halves the picture later: 64 channels still see 28x28 pixels, 96 see 14x14; its first block "
                     "has an expanding convolution, too, and it ends in a convolution"),
}


def files():
    """Those that are there, by name."""
    import ort_common
    import real_models
    found = {path.stem: path for path in ort_common.light_models() + ort_common.bundled_models()}
    mnist = real_models.fetch(real_models.MNIST)
    return found | ({"mnist": mnist} if mnist else {})


def count(path):
    """(layers, multiply-adds)"""
    layers = [layer for layer in layers_of(path) if layer["op"] not in NO_LAYERS]
    return len(layers), sum(layer["flops"] for layer in layers) / 2


def check(path, row):
    name, paper, paper_layers, more, factor, why = row
    layers, multiply_adds = count(path)
    good = layers == paper_layers + more and abs(multiply_adds / (paper * factor) - 1) <= TOLERANCE
    line = (f"{name}: {layers} layers, {multiply_adds / 1e6:.5g}e6 multiply-adds; "
            f"the paper's {paper_layers}, {paper / 1e6:.5g}e6")
    return good, line + (f" ({why})" if why else "")


def golden_mobilenet(path):
    """The multiply-adds of the paper's MobileNet-v2 by the shapes of its own graph: 1x1 convolutions around 3x3
    ones a channel."""
    total, before = 0, 3
    with gzip.open(path, "rt") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    convs = [row for row in rows if row[0] == "MobileNet-v2" and row[3] == "Conv"]
    for i, row in enumerate(convs):
        _, k, h, w = map(int, row[5].split("x"))
        inside = re.search(r"bottleneck\d+_conv1", row[2])
        total += k * h * w * (9 if inside else before * (9 if i == 0 else 1))
        before = k
    return total


def main():
    program()
    need("onnx")
    found, tap = files(), Tap(len(TABLE) + 1)
    for stem, row in TABLE.items():
        if stem in found:
            good, line = check(found[stem], row)
            tap.result(line, [] if good else ["more than the file and the paper differ by"])
        else:
            tap.skipped(row[0], "the model cannot be had")
    golden = pathlib.Path(os.environ.get("BENANZA_SHARED") or ROOT.parent / "shared") / "reference" / GRAPHS
    title = "the paper's MobileNet-v2 by its own graph"
    if golden.exists():
        total = golden_mobilenet(golden)
        tap.result(f"{title}: {total / 1e6:.5g}e6 multiply-adds, not the 437e6 of another file",
                   [] if abs(total / 437e6 - 1) <= TOLERANCE else ["they should be about as many"])
    else:
        tap.skipped(title, "the authors' data is not here")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

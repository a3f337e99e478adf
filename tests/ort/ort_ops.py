#!/usr/bin/env python3
"""Compare the types and shapes that `benanza layers` gives single operators with those of ONNX Runtime's
results.

Covers operators, opsets and ranks without a node test in the onnx package: classical machine learning
(ai.onnx.ml), experimental operators that the standard removed, attributes that became inputs. Prints TAP, one
line per operator.

    BENANZA=build/benanza tests/ort/ort_ops.py [NAME...]
"""

import collections
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import Tap, need, outputs_of, program  # noqa: E402
need("onnxruntime", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402
from ort_common import session  # noqa: E402

ML = "ai.onnx.ml"
NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "int64": "s64", "int32": "s32", "int8": "s8",
         "uint8": "u8", "bool": "bool", "object": "string", "str": "string"}


class Constant:
    """An input that is an initializer, such as a shape."""

    def __init__(self, values, dtype=np.int64):
        self.array = np.array(values, dtype)


class Map:
    """An input that maps keys to floats."""

    def __init__(self, values):
        self.values = values


def floats(*dims):
    return np.random.default_rng(7).standard_normal(dims).astype(np.float32)


def words(*values):
    return np.array(values, object)


Case = collections.namedtuple("Case", "op opset inputs attributes outputs data")


def case(op, opset, inputs, outputs=1, data=False, **attributes):
    """data: output sizes depend on the data; only known dimensions are compared."""
    return Case(op, opset, inputs, attributes, outputs, data)


TREE = {"nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_values": [.5, 0., 0.],
        "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0]}
CLASSES = {"class_treeids": [0, 0], "class_nodeids": [1, 2], "class_weights": [1., 2.]}
LINEAR = {"kernel_type": "LINEAR", "kernel_params": [0., 0., 3.]}


def svm(classes, probabilities):
    pairs = classes * (classes - 1) // 2
    more = {"prob_a": [1.] * pairs, "prob_b": [0.] * pairs} if probabilities else {}
    return dict(LINEAR, coefficients=[1.] * (classes * (classes - 1)), support_vectors=[1.] * (3 * classes),
                vectors_per_class=[1] * classes, rho=[0.] * pairs, classlabels_ints=list(range(classes)), **more)


def learning():
    for x in (floats(5, 3), floats(3)):
        yield case("LinearClassifier", 1, [x], 2, coefficients=[1.] * 9, intercepts=[0.] * 3,
                   classlabels_ints=[1, 2, 3])
        yield case("LinearClassifier", 1, [x], 2, coefficients=[1.] * 3, intercepts=[0.],
                   classlabels_strings=["a", "b"])
        yield case("LinearRegressor", 1, [x], coefficients=[1.] * 6, intercepts=[0.] * 2, targets=2)
        yield case("Normalizer", 1, [x], norm="L2")
        yield case("Scaler", 1, [x], offset=[0.], scale=[1.])
        yield case("OneHotEncoder", 1, [x], cats_int64s=[0, 1, 2, 3])
        yield case("Imputer", 1, [x], imputed_value_floats=[1.])
        yield case("SVMRegressor", 1, [x], coefficients=[1.] * 2, support_vectors=[1.] * 6, n_supports=2, rho=[0.],
                   **LINEAR)
        for classes in (2, 3, 4):
            yield case("SVMClassifier", 1, [x], 2, **svm(classes, False))
            yield case("SVMClassifier", 1, [x], 2, **svm(classes, True))
            yield case("SVMClassifier", 1, [x], 2, coefficients=[1.] * (3 * classes), rho=[0.],
                       classlabels_ints=list(range(classes)), **LINEAR)
        yield case("FeatureVectorizer", 1, [x, x], inputdimensions=[3, 3])
        yield case("ArrayFeatureExtractor", 1, [x, np.array([[0, 1]])])
    yield case("TreeEnsembleRegressor", 3, [floats(5, 3)], target_treeids=[0, 0], target_nodeids=[1, 2],
               target_ids=[0, 0], target_weights=[1., 2.], n_targets=1, **TREE)
    yield case("TreeEnsembleClassifier", 3, [floats(5, 3)], 2, class_ids=[0, 0], classlabels_int64s=[0, 1], **CLASSES,
               **TREE)
    yield case("TreeEnsembleClassifier", 3, [floats(5, 3)], 2, class_ids=[0, 1], classlabels_strings=["a", "b", "c"],
               **CLASSES, **TREE)
    yield case("ArrayFeatureExtractor", 1, [floats(2, 4, 3), np.array([0, 2, 1])])
    yield case("FeatureVectorizer", 1, [floats(5, 3), floats(5, 4)], inputdimensions=[2, 4])
    yield case("Scaler", 1, [np.ones((5, 3), np.int64)], offset=[0.], scale=[1.])
    yield case("Binarizer", 1, [floats(5, 3)])
    yield case("CategoryMapper", 1, [words("a", "b")], cats_int64s=[0, 1], cats_strings=["a", "b"])
    yield case("CategoryMapper", 1, [np.array([[1, 0]])], cats_int64s=[0, 1], cats_strings=["a", "b"])
    yield case("LabelEncoder", 1, [words("a", "b")], classes_strings=["a", "b"])
    yield case("LabelEncoder", 2, [words("a", "b")], keys_strings=["a"], values_floats=[1.])
    yield case("LabelEncoder", 2, [np.array([[1, 2]])], keys_int64s=[1], values_strings=["a"])
    yield case("DictVectorizer", 1, [Map({"a": 1., "b": 2.})], string_vocabulary=["a", "b", "c"])
    yield case("CastMap", 1, [Map({0: 1., 3: 2.})], data=True)
    yield case("CastMap", 1, [Map({0: 1., 3: 2.})], map_form="SPARSE", max_map=7, cast_to="TO_INT64")
    yield case("ZipMap", 1, [floats(5, 3)], classlabels_int64s=[0, 1, 2])
    yield case("ZipMap", 1, [floats(3)], classlabels_strings=["a", "b", "c"])


def dropped():
    yield case("Affine", 7, [floats(2, 3)], alpha=2., beta=1.)
    yield case("ParametricSoftplus", 7, [floats(2, 3)], alpha=2., beta=1.)
    yield case("ScaledTanh", 7, [floats(2, 3)], alpha=2., beta=1.)
    yield case("ThresholdedRelu", 7, [floats(2, 3)], alpha=2.)
    yield case("ImageScaler", 7, [floats(1, 3, 8, 9)], scale=2., bias=[1., 2., 3.])
    yield case("Crop", 7, [floats(1, 3, 20, 30)], border=[1, 2, 3, 4])
    yield case("DynamicSlice", 7, [floats(4, 5, 6), Constant([1, -3]), Constant([3, 100]), Constant([0, 2])])
    yield case("DynamicSlice", 7, [floats(4, 5, 6), Constant([1, 1]), Constant([3, 2])])
    yield case("Crop", 7, [floats(1, 3, 20, 30)], border=[1, 2, 3, 4], scale=[10, 11])
    yield case("MeanVarianceNormalization", 7, [floats(2, 3, 4, 5)], across_channels=1)
    yield case("Upsample", 7, [floats(1, 3, 7, 5)], scales=[1., 1., 2., 1.5])
    yield case("Upsample", 9, [floats(1, 3, 7, 5), Constant([1, 1, 2, 1.5], np.float32)])
    yield case("Scatter", 10, [floats(3, 4), np.array([[0, 1]]), floats(1, 2)], axis=1)


def standard():
    scalar = Constant
    for opset, mode in ((16, "bilinear"), (16, "bicubic"), (20, "nearest"), (22, "linear")):
        yield case("GridSample", opset, [floats(2, 3, 8, 9), floats(2, 4, 5, 2)], mode=mode)
    yield case("GridSample", 20, [floats(1, 3, 4, 8, 9), floats(1, 3, 4, 5, 3)])
    for opset in (10, 16):
        yield case("RoiAlign", opset, [floats(1, 4, 9, 8), floats(3, 4), Constant([0, 0, 0])], output_height=3,
                   output_width=2, sampling_ratio=2)
    yield case("MaxRoiPool", 1, [floats(1, 4, 9, 8), np.array([[0, 1, 1, 4, 4.]], np.float32)],
               pooled_shape=[3, 2])
    for most in ([scalar([5])], [scalar(0)], []):
        yield case("NonMaxSuppression", 11, [np.abs(floats(2, 6, 4)), np.abs(floats(2, 3, 6))] + most,
                   data=most != [] and most[0].array.any())
    yield case("Col2Im", 18, [floats(2, 12, 6), Constant([4, 6]), Constant([2, 3])], strides=[2, 2],
               dilations=[1, 1], pads=[0, 0, 0, 1])
    yield case("MaxUnpool", 11, [floats(1, 2, 3, 4), np.arange(24).reshape(1, 2, 3, 4)], kernel_shape=[3, 2],
               strides=[2, 2], pads=[1, 0, 1, 0])
    yield case("MaxUnpool", 9, [floats(1, 1, 2, 2), np.arange(4).reshape(1, 1, 2, 2), Constant([1, 1, 5, 5])],
               kernel_shape=[2, 2], strides=[2, 2])
    for axis in (-2, 0):
        yield case("CenterCropPad", 18, [floats(7, 8, 9), Constant([5, 11])], axes=[axis, 2])
        yield case("Compress", 11, [floats(7, 8, 9), Constant([0, 1, 1, 0, 1], bool)], axis=axis)
        yield case("Unique", 11, [np.ones((3, 4, 2), np.float32)], 4, data=True, axis=axis)
    yield case("Compress", 9, [floats(7, 8), np.array([True, False, True])], data=True)
    yield case("Unique", 11, [Constant([[3, 1, 3], [2, 1, 0]])], 4, sorted=0)
    yield case("Unique", 11, [Constant([[3, 1, 3], [3, 1, 3], [2, 1, 0]])], 4, axis=0)
    yield case("ReverseSequence", 10, [floats(4, 3, 2), Constant([1, 2, 4])])
    for opset in (9, 22):
        yield case("EyeLike", opset, [floats(4, 3)], k=1, dtype=TensorProto.INT64)
    yield case("GlobalLpPool", 2, [floats(2, 3, 4, 5)], p=1)
    yield case("LpNormalization", 1, [floats(2, 3, 4)], axis=1, p=1)
    yield case("MeanVarianceNormalization", 13, [floats(2, 3, 4, 5)], axes=[1, 3])
    for opset in (7, 11, 13):
        yield case("Hardmax", opset, [floats(2, 3, 4)])
    yield case("Det", 11, [floats(2, 3, 3)])
    yield case("Det", 11, [floats(3, 3)])
    signal = floats(2, 32, 1)
    yield case("DFT", 17, [signal], onesided=1)
    yield case("DFT", 17, [floats(2, 9, 7, 2), scalar(12)], axis=2, inverse=1)
    yield case("DFT", 20, [floats(2, 9, 7, 1), scalar(12), scalar(-3)], onesided=1)
    yield case("STFT", 17, [signal, scalar(5), floats(16)])
    yield case("STFT", 17, [signal, scalar(5), floats(16), scalar(16)], onesided=0)
    yield case("STFT", 17, [signal, scalar(5), None, scalar(8)])
    for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        yield case(op, 17, [scalar(9)], output_datatype=TensorProto.DOUBLE)
    yield case("MelWeightMatrix", 17, [scalar(8), scalar(16), scalar(8192), scalar(0, np.float32),
                                       scalar(4096, np.float32)])
    yield case("RandomNormal", 1, [], shape=[2, 3], dtype=TensorProto.DOUBLE)
    yield case("RandomUniform", 1, [], shape=[4])
    yield case("RandomNormalLike", 1, [np.zeros((2, 3), np.float64)])
    yield case("RandomUniformLike", 1, [np.zeros((2, 3), np.float64)], dtype=TensorProto.FLOAT)
    yield case("Bernoulli", 15, [np.full((2, 3), .5, np.float32)], dtype=TensorProto.BOOL)
    yield case("Multinomial", 7, [floats(2, 4)], sample_size=5)
    yield case("Multinomial", 7, [floats(2, 4)], dtype=TensorProto.INT64)
    for reduction in ("none", "sum", "mean"):
        yield case("SoftmaxCrossEntropyLoss", 13, [floats(3, 5, 2), np.ones((3, 2), np.int64)], 2,
                   reduction=reduction)
        yield case("NegativeLogLikelihoodLoss", 13, [floats(3, 5), np.ones(3, np.int64), floats(5)],
                   reduction=reduction)
    yield case("StringNormalizer", 10, [words("the", "cat", "a")], stopwords=["the", "a"], locale="C", data=True)
    yield case("StringNormalizer", 10, [np.array([["the", "cat"]], object)], case_change_action="UPPER", locale="C")
    yield case("StringSplit", 20, [np.array([["a b", "c"]], object)], 2, data=True, maxsplit=1)
    yield case("StringConcat", 20, [np.array([["a"], ["b"]], object), words("x", "y", "z")])
    yield case("RegexFullMatch", 20, [np.array([["a"], ["b"]], object)], pattern="a+")
    for shape in ((6,), (2, 6)):
        yield case("TfIdfVectorizer", 9, [np.ones(shape, np.int32)], mode="TF", min_gram_length=1, max_gram_length=1,
                   max_skip_count=0, ngram_counts=[0], ngram_indexes=[0, 4, 2], pool_int64s=[1, 2, 3])


def map_type(values):
    key = TensorProto.STRING if isinstance(next(iter(values)), str) else TensorProto.INT64
    return helper.make_map_type_proto(key, helper.make_tensor_type_proto(TensorProto.FLOAT, None))


def model_of(one, domain):
    """(model of one node, its input values)."""
    inputs, initializers, feeds, names = [], [], {}, []
    for i, value in enumerate(one.inputs):
        name = f"in{i}" if value is not None else ""
        names.append(name)
        if isinstance(value, Constant):
            initializers.append(onnx.numpy_helper.from_array(value.array, name))
        elif isinstance(value, Map):
            inputs.append(helper.make_value_info(name, map_type(value.values)))
            feeds[name] = value.values
        elif value is not None:
            kind = TensorProto.STRING if value.dtype == object else helper.np_dtype_to_tensor_dtype(value.dtype)
            inputs.append(helper.make_tensor_value_info(name, kind, value.shape))
            feeds[name] = value
    outputs = [onnx.ValueInfoProto(name=f"out{i}") for i in range(one.outputs)]
    node = helper.make_node(one.op, names, [o.name for o in outputs], domain=domain, **one.attributes)
    graph = helper.make_graph([node], one.op, inputs, outputs, initializers)
    opsets = [helper.make_opsetid(domain, one.opset)] + ([helper.make_opsetid("", 15)] if domain else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=8), feeds


def compare(name, value, have, data):
    """A line if the type or shape of an output differs, or is unknown although data is False; else none."""
    if isinstance(value, list):  # of maps
        length = have.get("length")
        line = f"{name} is {len(value)} maps, benanza reports {length}"
        return [] if length in (None, len(value)) else [line]
    want = (NAMES.get(value.dtype.name, value.dtype.name), list(value.shape))
    shape = have["shape"]
    line = [f"{name} is {want[0]} {want[1]}, benanza reports {have['dtype']} {shape}"]
    if have["dtype"] != want[0]:
        return line
    if shape is None or (None in shape and not data):
        return line
    same = len(shape) == len(want[1]) and all(h is None or h == w for h, w in zip(shape, want[1]))
    return [] if same else line


def check(path, one, domain):
    model, feeds = model_of(one, domain)
    path.write_bytes(model.SerializeToString())
    have = outputs_of(path)
    found = []
    for i, value in enumerate(session(path, optimize=True).run(None, feeds)):
        found += compare(f"out{i}", value, have[f"out{i}"], one.data)
    return found


def main():
    program()
    groups, tap = collections.defaultdict(list), Tap()
    for domain, cases in (("", standard()), ("", dropped()), (ML, learning())):
        for one in cases:
            groups[one.op].append((domain, one))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "one.onnx"
        for op in sorted(op for op in groups if not sys.argv[1:] or op in sys.argv[1:]):
            bad = []
            for domain, one in groups[op]:
                try:
                    bad += check(path, one, domain)
                except Exception as error:  # pylint: disable=broad-except
                    bad.append(f"opset {one.opset}: {str(error).splitlines()[0]}")
            tap.result(f"{op}: {len(groups[op])} models", bad)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

"""Generates inputs of a model from a seed. The same seed, name, type and shape give the same values on every
machine."""

import hashlib
import math

NUMPY_TYPE = {
    "f32": "float32",
    "f16": "float16",
    "bf16": "uint16",
    "f64": "float64",
    "s8": "int8",
    "u8": "uint8",
    "s16": "int16",
    "u16": "uint16",
    "s32": "int32",
    "u32": "uint32",
    "s64": "int64",
    "u64": "uint64",
    "bool": "bool",
}
FLOATS = ("f32", "f16", "bf16", "f64")
MOST_BYTES = 1 << 36


class InputError(Exception):
    pass


def generator(seed, name):
    """Returns the random generator of an input. Each input has its own, so the order of inputs does not
    matter."""
    import numpy

    digest = hashlib.sha256(f"{seed}:{name}".encode("utf-8", "surrogatepass")).digest()
    return numpy.random.Generator(numpy.random.PCG64(int.from_bytes(digest[:16], "little")))


def make(name, dtype, shape, low=None, high=None, seed=1):
    """Returns an array. Floats are normally distributed, or uniform from low to high, and large enough not to
    be denormal in f16. Integers are uniform from low to high, by default 0 to 1. bf16 values are the upper
    halves of f32 values, as uint16."""
    import numpy

    if dtype not in NUMPY_TYPE:
        raise InputError(f"input '{name}': values of type {dtype} cannot be generated")
    kind = numpy.dtype(NUMPY_TYPE[dtype])
    if math.prod(shape) * kind.itemsize > MOST_BYTES:
        raise InputError(
            f"input '{name}': {'x'.join(map(str, shape))} {dtype} exceeds {MOST_BYTES >> 30} GiB"
        )
    random = generator(seed, name)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype not in FLOATS:
        info = numpy.iinfo(kind)
        first = max(info.min, int(0 if low is None else low))
        last = min(info.max, int(1 if high is None else high))
        if last < first:
            raise InputError(f"input '{name}': {dtype} has no value from {first} to {last}")
        return random.integers(first, last, shape, dtype=kind, endpoint=True)
    if low is not None and high is not None:
        values = random.random(shape, dtype=numpy.float32) * numpy.float32(high - low) + numpy.float32(low)
    else:
        values = random.standard_normal(shape, dtype=numpy.float32)
        small = numpy.float32(2.0**-10)
        values = numpy.where(numpy.abs(values) < small, small, values)
    values = numpy.asarray(values, dtype=numpy.float32)
    if dtype == "bf16":
        return (values.view(numpy.uint32) >> 16).astype(numpy.uint16)
    return values.astype(kind)


def ones(declared):
    """Returns f32 inputs of ones for declared inputs (name, type, shape): those of a tiny model."""
    import numpy

    return {name: numpy.ones(shape, numpy.float32) for name, _, shape in declared}


def describe(name, dtype, shape):
    """Returns the text of an input in an execution, "data:f32:1x3x224x224"."""
    return f"{name}:{dtype}:{'x'.join(map(str, shape))}"

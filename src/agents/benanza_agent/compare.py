"""Checks the outputs of a model: finite, without denormals, error relative to the reference."""


def as_float(array):
    """Returns the values in f64. Frameworks return bf16 as a type of ml_dtypes, never as uint16."""
    import numpy

    array = numpy.asarray(array)
    return array.astype(numpy.float64) if array.dtype != numpy.float64 else array


def is_float(array):
    return array.dtype.kind == "f" or "float" in array.dtype.name


def finite(outputs):
    """Returns True if no output has a NaN, an infinity or a denormal number."""
    import numpy

    for array in outputs:
        if not hasattr(array, "dtype") or not is_float(array):
            continue
        if not numpy.isfinite(array.astype(numpy.float32) if array.dtype.kind != "f" else array).all():
            return False
        tiny = numpy.finfo(array.dtype).tiny if array.dtype.kind == "f" else 2.0**-126
        size = numpy.abs(as_float(array))
        if ((size > 0) & (size < float(tiny))).any():
            return False
    return True


def changed(outputs, reference):
    """Compares the outputs of a changed model with those of the unchanged one, whose items are repeated or
    cut to the changed batch. Returns (largest difference, relative to the largest unchanged value of the
    same output, ""), or (None, why the outputs are refused). Infinities and NaN of both sides are equal, but
    if outputs have no other values, their error is unknown and they are refused."""
    import numpy

    if len(outputs) != len(reference):
        return None, f"it has {len(outputs)} outputs, the unchanged model {len(reference)}"
    worst, numbers, strangers = 0.0, False, False
    for number, (mine, theirs) in enumerate(zip(outputs, reference), 1):
        if not hasattr(mine, "dtype") or mine.dtype.kind in "OSU":
            continue
        if mine.ndim != theirs.ndim:
            return None, f"output {number} has the shape {mine.shape}, not {theirs.shape}"
        for axis, (new, old) in enumerate(zip(mine.shape, theirs.shape)):
            if new != old and (not old or not new or (new % old and old % new)):
                return None, f"output {number} has the shape {mine.shape}, not {theirs.shape}"
            if new != old:
                theirs = numpy.take(theirs, numpy.arange(new) % old, axis)
        a, b = as_float(mine), as_float(theirs)
        strange = ~numpy.isfinite(a) & ~((numpy.isnan(a) & numpy.isnan(b)) | (a == b))
        if strange.any():
            kind = "NaN" if numpy.isnan(a[strange]).any() else "infinity"
            return None, f"output {number} has {int(strange.sum())} values that are {kind}"
        both = numpy.isfinite(a) & numpy.isfinite(b)
        if (numpy.isfinite(a) != numpy.isfinite(b)).any():
            return None, f"output {number} has numbers where the unchanged model has none"
        if both.any():
            a, b = a[both], b[both]
            largest, distance = float(numpy.abs(b).max()), float(numpy.abs(a - b).max())
            worst = max(worst, distance / largest if largest else (0.0 if distance == 0 else 1.0))
            numbers = True
        strangers |= not both.all()
    if strangers and not numbers:
        return None, "no output has a number, nor has one of the unchanged model"
    return worst, ""


def error(outputs, reference):
    """Returns the largest difference, relative to the largest reference value of the same output; None if it
    is not a number or if the outputs differ in number or shape."""
    import numpy

    if len(outputs) != len(reference):
        return None
    worst = 0.0
    for mine, theirs in zip(outputs, reference):
        if not hasattr(mine, "dtype") or mine.dtype.kind in "OSU":
            continue
        if mine.shape != theirs.shape:
            return None
        if not mine.size:
            continue
        a, b = as_float(mine), as_float(theirs)
        with numpy.errstate(invalid="ignore"):
            largest, distance = float(numpy.abs(b).max()), float(numpy.abs(a - b).max())
        one = distance / largest if largest else (0.0 if distance == 0 else float("inf"))
        if not one < float("inf"):
            return None
        worst = max(worst, one)
    return worst

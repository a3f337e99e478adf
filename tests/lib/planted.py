"""The verdict on a planted defect: its bar in the waterfall of `benanza compare` beside what removing it
saves."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src" / "agents"))
from benanza_agent import measure  # noqa: E402

LAYERS = ("algorithm", "faster", "cache")  # gaps of layers that both sides run
# Defect: the gaps that name it, then those of layers that it makes slower or faster: a convolution of padded
# data is another problem, and the node before it leaves its input in the caches. What more threads save
# beyond the bound is a layer that is faster than the bound.
KINDS = {
    "pad": ("pad", "reorder", *LAYERS),
    "cast": ("cast", "reorder", *LAYERS),
    "layout": ("reorder", *LAYERS),
    "threads": ("threads", "faster", "cache"),
    "optimizations": ("fusion", "free", "added", "reorder", "launch", *LAYERS),
}
ADDED = {"pad", "cast", "reorder"}  # gaps that need no bound


def middle(values):
    """(median, low and high end of its 95% interval)"""
    values = sorted(values)
    return (measure.median(values), *measure.interval(values))


def shown(figure):
    return "{:.0f} us ({:.0f} to {:.0f})".format(*(ns / 1e3 for ns in figure))


def changes_of(clean, planted):
    """What the defect changes in the gaps of an execution: {kind: ns}."""
    return {kind: planted.get(kind, 0) - clean.get(kind, 0) for kind in clean | planted}


def judge(name, saved, changes, noisy=0):
    """(verdict, figures). saved, changes: by round; noisy: layers of the bound whose costs are uncertain.
    "within": the median difference between bar and saving of a round is at most 10% of the saving, or the
    half width of its interval. "not resolvable": the interval of the saving contains 0, or that half width is
    more than half of the saving, or the bar differs and the gap that names the defect needs a bound, which is
    noisy."""
    bars = [sum(change.get(kind, 0) for kind in KINDS[name]) for change in changes]
    saving, bar, (apart, low, high) = map(middle, (saved, bars, [a - b for a, b in zip(bars, saved)]))
    half = (high - low) / 2
    every = {kind: measure.median([c.get(kind, 0) for c in changes]) for c in changes for kind in c}
    figures = (f"bar {shown(bar)}, saved {shown(saving)}; bar - saved by round {shown((apart, low, high))}, "
               f"{apart / abs(saving[0] or 1):+.0%}; "
               + ", ".join(f"{kind} {ns / 1e3:+.0f}" for kind, ns in every.items() if abs(ns) > 5e3))
    if saving[1] <= 0 or half > saving[0] / 2:
        return "not resolvable", figures
    if abs(apart) <= max(0.1 * saving[0], half):
        return "within", figures
    return "not resolvable" if noisy and KINDS[name][0] not in ADDED else "FAIL", figures

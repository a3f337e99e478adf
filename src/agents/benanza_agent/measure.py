"""Measures repeated runs of a model: warm-up, quiet samples, statistics (docs/wire.md, "Agents")."""

import math
import threading
import time

from . import machine
from .canary import SLOW, Canary

MOST_SAMPLES = 20000
LEAST_SAMPLES = 10  # fewer samples are never converged
LEAST_BLOCKS = 6  # with this number of quiet blocks the noisy ones are discarded
NARROW = 0.02  # half width of the interval, relative to the median
BLOCK_NS = 2e6  # a block of runs lasts at least this long
WAITED = 0.05  # share of a block that its threads may wait for a core
PATIENCE = 4  # budgets that a disturbed machine may take


def interval(values):
    """Returns the 95% confidence interval of the median of sorted values, from order statistics (binomial;
    normal approximation from 70 values on); the range for 2 to 5 values, (None, None) for one."""
    n = len(values)
    if n < 2:
        return None, None
    if n < 6:
        return values[0], values[-1]
    if n < 70:  # largest k with P(Bin(n, 1/2) < k) <= 2.5%
        below, k = 0.5**n, 0
        while below <= 0.025:
            k += 1
            below += math.comb(n, k) * 0.5**n
        k = max(k, 1)
    else:
        k = max(1, int(math.floor((n - 1.96 * math.sqrt(n)) / 2)))
    return values[k - 1], values[n - k]


def quantile(values, part):
    """Returns a quantile of sorted values, with linear interpolation between neighbours."""
    at = part * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def median(values):
    return quantile(sorted(values), 0.5)


def statistics(values, discarded=0, stop="budget"):
    """Returns the `stats` of docs/wire.md for times in ns."""
    values = sorted(values)
    n = len(values)
    mean = sum(values) / n
    low, high = interval(values)
    return {
        "n": n,
        "discarded": discarded,
        "executions": 1,
        "min_ns": values[0],
        "q1_ns": quantile(values, 0.25),
        "median_ns": quantile(values, 0.5),
        "q3_ns": quantile(values, 0.75),
        "mean_ns": mean,
        "stdev_ns": math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else None,
        "lo_ns": low,
        "hi_ns": high,
        "stop": stop,
    }


class Crew:
    """Runs blocks: each function `count` times in sequence; several functions run in threads of their own at
    the same time."""

    def __init__(self, runs):
        self.runs = runs
        self.error = None
        if len(runs) > 1:
            self.barrier = threading.Barrier(len(runs) + 1)
            self.threads = [
                threading.Thread(target=self.serve, args=(i,), daemon=True) for i in range(len(runs))
            ]
            self.times = [[] for _ in runs]
            self.count = 0
            for thread in self.threads:
                thread.start()

    def serve(self, index):
        while True:
            self.barrier.wait()
            if not self.count:
                return
            try:
                self.times[index] = timed(self.runs[index], self.count)
            except BaseException as error:  # block() raises it
                self.error, self.times[index] = error, []
            self.barrier.wait()

    def block(self, count):
        """Returns (times of the runs in ns, time of the block in ns)."""
        begin = time.perf_counter_ns()
        if len(self.runs) == 1:
            times = timed(self.runs[0], count)
        else:
            self.count = count
            self.barrier.wait()
            self.barrier.wait()
            times = [t for one in self.times for t in one]
            if self.error:
                raise self.error
        return times, time.perf_counter_ns() - begin

    def end(self):
        if len(self.runs) > 1:
            self.count = 0
            self.barrier.wait()


def timed(run, count):
    clock, times = time.perf_counter_ns, []
    for _ in range(count):
        begin = clock()
        run()
        times.append(clock() - begin)
    return times


def warm_up(crew, least_ns=20e6):
    """Runs at least twice and for at least 20 ms. Returns the median time of the last 9 runs: a block that is
    sized by one run that was interrupted has one run, the first after a pause, which takes several times as
    long."""
    spent, all_runs = 0, []
    while len(all_runs) < 2 or (spent < least_ns and len(all_runs) < 1000):
        times, elapsed = crew.block(1)
        spent += elapsed
        all_runs.append(max(min(times), 1))
    return median(sorted(all_runs[-9:]))


def block_count(crew, one):
    """Returns the number of runs in a block, from the time of one."""
    return max(1, min(1000, math.ceil(BLOCK_NS * (1 if len(crew.runs) == 1 else 10) / one)))


class Watch:
    """Runs blocks between two canaries and says which were disturbed."""

    def __init__(self, waited=machine.waited_ns, canary=None):
        self.waited, self.canary = waited, canary or Canary()
        self.before = self.canary.slowdown()

    def block(self, crew, count):
        """Returns (times of the runs, time of the block, slowdown of the core, why it is disturbed or "")."""
        waiting = self.waited()
        times, elapsed = crew.block(count)
        waiting = self.waited() - waiting if waiting is not None else None
        after = self.canary.slowdown()
        slow = max(self.before, after)
        self.before = after
        wait = waiting / elapsed / max(1, len(crew.runs)) if waiting is not None else 0
        why = (
            f"the core was {slow:.2f} times slower than usual"
            if slow > SLOW
            else f"threads waited for a core for {wait:.0%} of the time" if wait > WAITED else ""
        )
        return times, elapsed, slow, why


def sample(runs, budget_ns, say=lambda what: None, waited=machine.waited_ns, canary=None):
    """Takes samples until the interval of the median is within 2%, or the budget ends; without enough quiet
    blocks then, until there are or PATIENCE budgets end.

    A block is the runs between two canaries. It is disturbed if the canary was slow before or after it or if
    threads waited for a core; its runs are then discarded if enough quiet blocks remain. Returns (stats, p90,
    p99, runs per second, reason of noise).
    """
    crew = Crew(runs)
    count = block_count(crew, warm_up(crew))
    watch, quiet, noisy = Watch(waited, canary), [], []
    now = time.perf_counter_ns
    begin, total, stop, next_say = now(), 0, "budget", 0
    while True:
        block = watch.block(crew, count)
        times, why = block[0], block[3]
        (noisy if why else quiet).append(block)
        total += len(times)
        spent = now() - begin
        if now() >= next_say:
            next_say = now() + 250_000_000
            say(f"{total} samples")
        if not why and len(quiet) >= LEAST_BLOCKS and narrow(quiet):
            stop = "converged"
            break
        if total >= MOST_SAMPLES or spent >= (1 if len(quiet) >= LEAST_BLOCKS else PATIENCE) * budget_ns:
            break
    crew.end()
    return summary(quiet, noisy, stop, budget_ns)


LEAST_ROUNDS = 6  # of two sides in turn
SETTLE_S = 0.02  # a framework's threads spin for less after a run


def alternate(sides, budget_ns, say=lambda what: None, waited=machine.waited_ns, canary=None):
    """Runs two sides in turn, a block each (A B A B), until the interval of the ratio of their times is
    within 2%, or the budget ends; without enough quiet rounds then, until there are or PATIENCE budgets end.
    sides: (functions of concurrent requests, function to call before its block).

    Before each block the side runs once untimed: the other side has evicted it from the caches, and may have
    left threads that still spin. A round is a block of each side; its ratio is that of the medians, A / B. It
    is disturbed if one of the blocks is (sample()). Returns the `stats` of both sides, the median of the
    ratios with its 95% interval, the number of rounds, and the reason of noise.
    """
    crews = [Crew(runs) for runs, _ in sides]
    counts, watch, rounds, now = [], Watch(waited, canary), [], time.perf_counter_ns
    for (_, enter), crew in zip(sides, crews):
        enter()
        counts.append(block_count(crew, warm_up(crew)))
    begin = now()
    while True:
        blocks = []
        for (_, enter), crew, count in zip(sides, crews, counts):
            enter()
            time.sleep(SETTLE_S)
            crew.block(1)
            watch.before = watch.canary.slowdown()
            blocks.append(watch.block(crew, count))
        rounds.append(blocks)
        spent = now() - begin
        say(f"{len(rounds)} rounds in turn")
        quiet = [one for one in rounds if not disturbed(one)]
        if len(quiet) >= LEAST_SAMPLES and narrow_values(sorted(map(ratio_of, quiet))):
            stop = "converged"
            break
        if spent >= (1 if len(quiet) >= LEAST_ROUNDS else PATIENCE) * budget_ns:
            stop = "budget"
            break
    for crew in crews:
        crew.end()
    return summary_of_rounds(rounds, quiet, stop)


def disturbed(blocks):
    return next((why for *_, why in blocks if why), "")


def ratio_of(blocks):
    """Returns the time of the first side, divided by that of the second."""
    return median(blocks[0][0]) / median(blocks[1][0])


def summary_of_rounds(rounds, quiet, stop):
    """Returns the result of alternate(). With too few quiet rounds all count, and `stop` is `disturbed`:
    the ratios stay comparable, because the disturbance meets both sides."""
    enough = len(quiet) >= LEAST_ROUNDS or len(quiet) == len(rounds)
    kept = quiet if enough else rounds
    ratios = sorted(map(ratio_of, kept))
    stats = []
    for side in range(2):
        values = [t for blocks in kept for t in blocks[side][0]]
        dropped = sum(len(blocks[side][0]) for blocks in rounds) - len(values)
        stats.append(statistics(values, dropped, stop if enough else "disturbed"))
    return {
        "stats": stats,
        "ratio": quantile(ratios, 0.5),
        "interval": interval(ratios),
        "rounds": len(kept),
        "why": "" if enough else next(filter(None, map(disturbed, rounds))),
    }


def all_times(blocks):
    return sorted(t for times, *_ in blocks for t in times)


def narrow(blocks):
    return narrow_values(all_times(blocks))


def narrow_values(values):
    """Returns True if the interval of the median of sorted values is within 2%."""
    if len(values) < LEAST_SAMPLES:
        return False
    low, high = interval(values)
    middle = quantile(values, 0.5)
    return high - middle <= NARROW * middle and middle - low <= NARROW * middle


def summary(quiet, noisy, stop, budget_ns):
    """Returns the result of sample(). It uses the quiet samples if there are enough blocks of them or they
    took half of the budget; otherwise all samples, marked `disturbed`, with an interval that covers their
    range."""
    enough = len(quiet) >= LEAST_BLOCKS or quiet and (not noisy or sum(b[1] for b in quiet) >= budget_ns / 2)
    kept = quiet if enough else quiet + noisy
    values = all_times(kept)
    stats = statistics(
        values, sum(len(b[0]) for b in noisy) if enough else 0, stop if enough else "disturbed"
    )
    why = ""
    if not enough:
        stats["hi_ns"] = values[-1]
        stats["lo_ns"] = min(values[0], min(min(times) / max(slow, 1) for times, _, slow, _ in kept))
        why = max(noisy, key=lambda b: b[2])[3]
    rate = len(values) / (sum(b[1] for b in kept) / 1e9)
    return stats, quantile(values, 0.9), quantile(values, 0.99), rate, why


def quick(run, budget_ns=50e6, most=200, part=0.5):
    """Returns the median (or another quantile) of a few runs, in ns: for the floor and the copies."""
    run()
    times, begin = [], time.perf_counter_ns()
    while len(times) < 5 or (time.perf_counter_ns() - begin < budget_ns and len(times) < most):
        times += timed(run, 1)
    return quantile(sorted(times), part)


def copied(arrays):
    """Returns the median time to copy arrays to others in the host's memory, in ns."""
    import numpy

    targets = [numpy.empty_like(array) for array in arrays]
    return quick(lambda: [numpy.copyto(a, b) for a, b in zip(targets, arrays)])

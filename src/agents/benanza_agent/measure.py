"""Measures repeated runs of a model: warm-up, quiet samples, statistics (docs/wire.md, "Agents")."""

import math
import threading
import time

from . import machine
from .canary import SLOW, Canary

MOST_SAMPLES = 20000
LEAST_SAMPLES = 10  # fewer samples are never converged
LEAST_BLOCKS = 6  # with this number of quiet blocks the noisy ones are discarded
P10 = 0.1  # the quantile that other work on the machine disturbs least
P10_LEAST = 29  # fewer samples have no two-sided 95% interval of it: 0.9^28 > 0.05
OUTSIDE, NORMAL = 0.05, 1.959964  # share outside of an interval, and half its width in standard deviations
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
    if n < 70:
        k = max(rank_up_to(n, 0.5, OUTSIDE / 2), 1)
    else:
        k = max(1, int(math.floor((n - NORMAL * math.sqrt(n)) / 2)))
    return values[k - 1], values[n - k]


def below(n, part):
    """Yields P(X < k) for k from 0, where X of n values are below their quantile `part`, at most 0.5."""
    one, sum_ = (1 - part) ** n, 0.0
    for k in range(n + 1):
        yield sum_
        sum_ += one
        one *= (n - k) / (k + 1) * part / (1 - part)


def rank_up_to(n, part, share):
    """Returns the largest k with P(X < k) <= share."""
    return sum(p <= share for p in below(n, part)) - 1


def interval_of_p10(values):
    """Returns the 95% confidence interval of the 10th percentile of sorted values, from order statistics:
    the k-th and m-th enclose it with probability P(k <= X < m) (binomial; normal approximation beyond 400
    values). With fewer than P10_LEAST values the lower end is the minimum, which is no statistical end, and
    the upper a one-sided 95% end. (None, None) for one value."""
    n = len(values)
    if n < 2:
        return None, None
    if n > 400:
        spread = NORMAL * math.sqrt(n * P10 * (1 - P10))
        k, m = math.floor(n * P10 - spread), n + 1 - math.floor(n * (1 - P10) - spread)
    else:
        k, rest = rank_up_to(n, P10, OUTSIDE / 2), OUTSIDE / 2
        if k == 0:  # the minimum takes more than half of what may lie outside, or all of it
            k = 1 if n >= P10_LEAST else 0
            rest = OUTSIDE - (1 - P10) ** n * k
        m = sum(p < 1 - rest for p in below(n, P10))
    return values[max(k, 1) - 1], values[min(m, n) - 1]


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
    p10_low, p10_high = interval_of_p10(values)
    return {
        "n": n,
        "discarded": discarded,
        "executions": 1,
        "min_ns": values[0],
        "p10_ns": quantile(values, P10),
        "p10_lo_ns": p10_low,
        "p10_hi_ns": p10_high,
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
    """Takes samples until the intervals of median and 10th percentile are within 2%, or the budget ends;
    without enough quiet blocks then, until there are or PATIENCE budgets end.

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
    A side is a Crew with a function `enter`, called before its block.

    Before each block the side runs once untimed: the other side has evicted it from the caches, and may have
    left threads that still spin. A round is a block of each side; its ratio is that of the medians, A / B. It
    is disturbed if one of the blocks is (sample()). Returns the `stats` of both sides, the median of the
    ratios with its 95% interval, the number of rounds, and the reason of noise.
    """
    counts, watch, rounds, now = [], Watch(waited, canary), [], time.perf_counter_ns
    for side in sides:
        side.enter()
        counts.append(block_count(side, warm_up(side)))
    begin = now()
    while True:
        blocks = []
        for side, count in zip(sides, counts):
            side.enter()
            time.sleep(SETTLE_S)
            side.block(1)
            watch.before = watch.canary.slowdown()
            blocks.append(watch.block(side, count))
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
    for side in sides:
        side.end()
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
    """Returns True if there are enough runs for a 10th percentile, and its interval and that of the median
    are within 2%."""
    values = all_times(blocks)
    return (
        len(values) >= P10_LEAST
        and narrow_values(values)
        and within(quantile(values, P10), interval_of_p10(values))
    )


def narrow_values(values):
    """Returns True if the interval of the median of sorted values is within 2%."""
    return len(values) >= LEAST_SAMPLES and within(quantile(values, 0.5), interval(values))


def within(value, ends):
    return ends[1] - value <= NARROW * value and value - ends[0] <= NARROW * value


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
        stats["p10_lo_ns"] = stats["lo_ns"]  # other work only adds time: the upper end stays
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

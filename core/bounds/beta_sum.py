r"""The tail of a weighted sum of independent Betas, computed from above.

**Statement.** For independent L_k ~ Beta(r_k, m_k+1-r_k), `tail_of_sum` is at least P(sum_k w_k L_k > alpha), and
converges to it as the square of the grid's step.

*Proof.* Let S_k be the survival function of Y_k = w_k L_k, and let v_k >= S_k be a non-increasing function with finite
values, the survival function of a measure whose mass may exceed 1. Replace one law after the other: by Fubini,
E[S_1(alpha - Y_2)] <= E[v_1(alpha - Y_2)] = the integral of S_2(alpha - y) over the measure of v_1, and S_2 <= v_2. So
the tail of the convolution of the measures is an upper bound.

v_k is linear between the nodes of a grid of step h, so that its measure is uniform within each cell. It has the value
S_k at the nodes above the mode, where S_k is convex and lies below its chords. Below the mode S_k is concave: within a
cell where the density ranges over an interval of length d, S_k exceeds its chord by at most h d / 4 (two lines with
the extreme slopes, one through each end, meet no higher), and by so much the nodes at both ends are raised. A law that
is too narrow for the grid would have its mass multiplied by this: there, what lies in a cell is moved to the next one.
What lies below the first node is moved up to it; what lies beyond the last counts as exceeding alpha.

A sum of K positions, each uniform in its cell, is a whole number of cells plus a sum of K uniforms, whose integer part
is i with probability A(K, i) / K! (Eulerian numbers): so the numbers of cells are convolved, and nothing is rounded up
by a whole cell.

**Numerics.** The convolution is a product of Fourier transforms, long enough not to wrap round. Before it, masses are
multiplied by exp(t j), t chosen so that the tilted sum is centred at alpha, and afterwards divided by it: a tail of
1e-12 keeps its digits. The rounding error of the transforms, at most 8 u log2(N) in the Euclidean norm for each (u =
2^-53; Higham 2002, 24.1), is added, ten times over; so is what SciPy's Beta may be off by.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import fft
from scipy.special import betaincc, betainccinv, betaincinv

from certiset.core.bounds.beta import log_density
from certiset.core.bounds.domain import Floats

_BETA_ERROR = 1e-10
"""relative; that of SciPy is far smaller"""
_NEGLIGIBLE = 1e-8
"""of a member's mass below its first node, and of the tail beyond its last"""
_DOWN = 1 - 2.0**-48
"""nodes are looked up a hair too low, against rounding of their places"""
_SMALLEST = 1e-290
"""of a tail; below it floats lose digits"""
_FIRST_CELLS, _MOST_CELLS = 512, 2**16
_EXCESS = 1.0
"""of mass above 1 that a raised measure may have, in steps per standard deviation: about what moving up a step costs"""


@dataclass(frozen=True)
class WeightedBeta:
    """w L with L ~ Beta(rank, size + 1 - rank)."""

    size: int
    rank: int
    weight: float

    @property
    def mean(self) -> float:
        return self.weight * self.rank / (self.size + 1)

    @property
    def variance(self) -> float:
        return self.mean * (self.weight - self.mean) / (self.size + 2)

    def survival(self, y: Floats) -> Floats:
        """P(w L > y), rounded up."""
        x = np.clip(y * (_DOWN / self.weight), 0.0, 1.0)
        return np.asarray(betaincc(self.rank, self.size + 1.0 - self.rank, x)) * (1 + _BETA_ERROR)

    def density(self, y: Floats) -> Floats:
        x = y / self.weight
        inside = np.clip(x, 0.0, 1.0)
        logs = log_density(np.asarray(self.size), np.asarray(self.rank), inside)
        return np.where(x == inside, np.exp(logs), 0.0) / self.weight

    @property
    def mode(self) -> float:
        return self.weight * (self.rank - 1) / (self.size - 1)

    def tilted_peak(self, tilt: float) -> float:
        """Where exp(tilt y) times the density is largest: the root of a quadratic."""
        slope, successes, trials = tilt * self.weight, self.rank - 1.0, self.size - 1.0
        b = trials - slope
        root = math.sqrt(b * b + 4 * slope * successes)
        x = 2 * successes / (b + root) if b > 0 else (root - b) / (2 * slope)
        return self.weight * min(x, 1.0)

    def window(self, alpha: float, log_beyond: float) -> tuple[float, float]:
        """From where hardly anything lies below to where at most exp(log_beyond) lies beyond, or alpha."""
        a, b = float(self.rank), self.size + 1.0 - self.rank
        low = self.weight * float(betaincinv(a, b, _NEGLIGIBLE))
        beyond = math.exp(max(log_beyond, math.log(_SMALLEST)))
        high = min(self.weight * float(betainccinv(a, b, beyond)), alpha)
        return (low, high) if 0 <= low < high else (0.0, alpha)


def tail_of_sum(members: list[WeightedBeta], alpha: float, accuracy: float) -> float:
    """An upper bound on P(sum > alpha), refined until it changes by less than ``accuracy``, relatively."""
    # All members beyond alpha at once is one way to be beyond it in the mean: the tail is at least this.
    least = sum(math.log(max(float(m.survival(np.asarray(m.weight * alpha))), _SMALLEST)) for m in members)
    windows = [m.window(alpha, least + math.log(_NEGLIGIBLE / len(members))) for m in members]
    room = alpha - sum(low for low, _ in windows)
    if room <= 0:
        return 1.0
    cells_to_alpha = math.ceil(room * _FIRST_CELLS / max(high - low for low, high in windows))
    step = room / cells_to_alpha
    tilt = _centring_tilt(members, alpha)
    deviation = math.sqrt(sum(m.variance for m in members))
    # Equal members have equal columns.
    columns = {m: _Column.over(m, low, high, step) for m, (low, high) in zip(members, windows, strict=True)}
    alone = -math.expm1(math.fsum(math.log1p(-min(columns[m].beyond, 1 - 2.0**-53)) for m in members))
    bound = math.inf
    narrow: list[WeightedBeta] = []
    while True:
        masses = {m: column.masses(most_excess=_EXCESS * step / deviation) for m, column in columns.items()}
        coarser, bound = bound, alone + _tail([masses[m] for m in members], cells_to_alpha, tilt * step)
        cells = max(column.cells for column in columns.values())
        # An error that falls as the square of the step leaves a third of what the last halving gained; of members that
        # are too narrow it falls as the step, and leaves as much.
        before, narrow = narrow, [m for m, column in columns.items() if masses[m].size > column.cells + 1]
        settled = narrow == before and abs(coarser - bound) <= (1 if narrow else 3) * accuracy * bound
        if settled or 2 * cells > _MOST_CELLS:
            return min(1.0, min(coarser, bound) * (1 + _BETA_ERROR) + _SMALLEST)
        columns = {m: column.refined() for m, column in columns.items()}
        step, cells_to_alpha = step / 2, cells_to_alpha * 2


@dataclass(frozen=True)
class _Column:
    """Survival function and density of one member at the nodes of its grid."""

    member: WeightedBeta
    low: float
    step: float
    survival: Floats  # (cells + 1,)
    density: Floats  # (cells + 1,)

    @classmethod
    def over(cls, member: WeightedBeta, low: float, high: float, step: float) -> "_Column":
        nodes = low + step * np.arange(max(1, math.ceil((high - low) / step)) + 1)
        return cls(member, low, step, member.survival(nodes), member.density(nodes))

    @property
    def cells(self) -> int:
        return self.survival.size - 1

    def refined(self) -> "_Column":
        """Every cell halved; what is known at the old nodes is kept."""
        middles = self.low + self.step * (np.arange(self.cells) + 0.5)
        return _Column(
            self.member,
            self.low,
            self.step / 2,
            _woven(self.survival, self.member.survival(middles)),
            _woven(self.density, self.member.density(middles)),
        )

    @property
    def beyond(self) -> float:
        """The chance of lying beyond the last node."""
        return min(float(self.survival[-1]), 1.0)

    def masses(self, most_excess: float) -> Floats:
        """(cells,) of a measure that lies above the law up to the last node, and at the end what it has beyond all."""
        left, right = self.density[:-1], self.density[1:]
        mode = self.member.mode
        place = (mode - self.low) / self.step
        cell = np.arange(self.cells)
        peak = float(self.member.density(np.asarray(mode)))
        highest = np.where((cell <= place + 1e-6) & (place - 1e-6 <= cell + 1), peak, np.maximum(left, right))
        excess = np.where(cell > place + 1e-6, 0.0, 0.25 * self.step * (highest - np.minimum(left, right)))
        raised = self.survival + np.maximum(np.append(excess, 0.0), np.append(0.0, excess))
        raised[0] = max(raised[0], 1 + _BETA_ERROR)
        raised = np.maximum.accumulate(raised[::-1])[::-1]
        if raised[0] > 1 + most_excess:
            moved = -np.diff(self.survival, prepend=1 + _BETA_ERROR)
            return np.append(np.maximum(moved, 0.0), 0.0)
        return np.append(raised[:-1] - raised[1:], raised[-1] - self.survival[-1])


def _tail(columns: list[Floats], cells_to_alpha: int, tilt: float) -> float:
    """The mass of the convolution beyond alpha, rounding errors added."""
    everything = [float(column.sum()) for column in columns]
    if min(everything) <= 0:
        return 0.0
    leftover = math.prod(everything) * sum(
        float(column[-1]) / all_ for column, all_ in zip(columns, everything, strict=True)
    )
    columns = [column[:-1] for column in columns]
    length = sum(masses.size for masses in columns)
    padded = 1 << max(1, (length - 1).bit_length())
    product: Floats = np.ones(padded // 2 + 1)
    log_scale, widest = 0.0, 0.0
    for masses in columns:
        with np.errstate(divide="ignore"):
            logs = np.log(masses) + tilt * np.arange(masses.size)
        top = float(logs.max()) + math.log(masses.size)
        tilted = np.exp(np.maximum(logs - top, -700.0))
        sum_ = float(tilted.sum())
        tilted /= sum_
        log_scale += top + math.log(sum_)
        widest = max(widest, float(np.sqrt(tilted @ tilted)))
        product = product * fft.rfft(tilted, padded)
    found = fft.irfft(product, padded)[:length]
    # j cells beyond alpha weigh exp(-tilt j); the integer part of a sum of uniforms adds up to K - 1 cells.
    start = cells_to_alpha - (len(columns) - 1)
    if start >= length:
        return leftover
    start = max(start, 0)
    distance = np.arange(start, length) - cells_to_alpha
    reach = _reach(len(columns))[np.clip(-distance, 0, len(columns) - 1)]
    weights = reach * np.exp(-tilt * distance)
    rounding = 80 * 2.0**-53 * math.log2(padded) * (len(columns) + 2) * widest
    inside = float(weights @ found[start:]) + rounding * float(np.sqrt(weights @ weights))
    log_inside = math.log(max(inside, 1e-300)) + log_scale - tilt * cells_to_alpha
    return math.exp(min(log_inside, 1.0)) + leftover


def _reach(count: int) -> Floats:
    """(K,): P(a sum of K uniforms has an integer part of at least i)."""
    eulerian = [1]
    for n in range(2, count + 1):
        padded = [0, *eulerian, 0]
        eulerian = [(i + 1) * padded[i + 1] + (n - i) * padded[i] for i in range(n)]
    all_ = math.factorial(count)
    return np.array([float(Fraction(sum(eulerian[i:]), all_)) for i in range(count)])


def _centring_tilt(members: list[WeightedBeta], alpha: float) -> float:
    """t >= 0 for which the tilted members peak at alpha in all; any t is valid, and this one loses few digits."""
    if sum(member.mean for member in members) >= alpha:
        return 0.0

    def peaks(tilt: float) -> float:
        return sum(member.tilted_peak(tilt) for member in members)

    high = 1.0
    while peaks(high) < alpha and high < 1e18:
        high *= 2
    low = 0.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if peaks(middle) < alpha else (low, middle)
    return low


def _woven(old: Floats, new: Floats) -> Floats:
    """Old and new values in turn, an old one at both ends."""
    both = np.empty(old.size + new.size)
    both[::2], both[1::2] = old, new
    return both

"""Mechanisms that report a set of inputs: subset selection and unary encoding."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import exp, expm1, inf, log1p, perm
from typing import Any, ClassVar

import numpy as np

from mechdesign._typing import AnyArray, ByteArray, FloatArray, Int64Array
from mechdesign.channel import BITS
from mechdesign.domain import DomainLike, whole_number
from mechdesign.errors import InputError
from mechdesign.exact import Exact, exp_lower, sqrt_lower
from mechdesign.mechanisms.base import WHOLE, MergedReports, held_mass
from mechdesign.mechanisms.bit_rows import BitRows, read_bits, uniform_sets, write_bits
from mechdesign.mechanisms.set_system import LDPMechanism, SetMechanism, best_size
from mechdesign.reports import Tally
from mechdesign.sampling import Source, chances, coin_rows


class ReportedSets(LDPMechanism):
    """A mechanism under LDP whose reports are sets T of inputs, with a count for each input.

    There is a law m of sets that no permutation of the inputs changes, with m(z in T) = r for each
    input z: of all sets of a size j, uniformly, where r = j / k; or of sets of any size, each input
    with probability r = q. With p = Pr(x in T | x), the report of x has this law given whether x is
    in it:

        Q(T|x) = m(T) p / r if x is in T, else m(T) (1 - p) / (1 - r)
    """

    alphabet: BitRows
    """The sets of inputs."""

    @property
    def _rise(self) -> tuple[Fraction, Fraction]:
        """Q(T|x) / m(T) of sets with and without x: p / r, and (1 - p) / (1 - r)."""
        (p, q), size = self.chances, self.alphabet.size
        r = q if size is None else Fraction(size, len(self.inputs))
        return p / r, (1 - p) / (1 - r)

    def largest_ratio(self) -> Fraction:
        """Return p (1 - r) / (r (1 - p))."""
        inside, outside = self._rise
        return inside / outside

    @property
    def best_guess(self) -> float:
        """(p/r (1 - e) + (1 - p)/(1 - r) e) / k, by any input of a set, empty with m(T) = e."""
        (_, q), k = self.chances, len(self.inputs)
        empty = k * log1p(-float(q)) if self.alphabet.size is None else -inf
        inside, outside = map(float, self._rise)
        return (inside * -expm1(empty) + outside * exp(empty)) / k

    def combination(self, tally: Tally, weights: FloatArray) -> tuple[float, float]:
        """Return the estimate of a weighted sum, and the mean square of its score.

        Counts of inputs do not record which inputs were in the same report. But given the input z,
        and whether the report contains it, each of the N = k - 1 others is in it with probability
        r, independently or at a fixed size. With A the sum of their weights and B that of their
        squares, the sum of the weights of those in the report has mean r A and variance

            r (1 - r) B      or      r (1 - r) (B - (A**2 - B) / (N - 1)).

        This gives E[S**2 | z], and its mean over z at the estimated frequencies is unbiased, as it
        is linear in them. What these lack to 1, if the size is random, counts as an input of weight
        0. The mean square is raised to the square of the mean if it is smaller.
        """
        estimates, (hit, miss) = self.frequencies(tally).estimates, self._scores
        (p, q), size, k = map(float, self.chances), self.alphabet.size, len(weights)
        r_hit, r_miss = (q, q) if size is None else ((size - 1) / (k - 1), size / (k - 1))
        total, squares = weights.sum() - weights, weights @ weights - weights**2
        others = inf if size is None else max(k - 2, 1)
        spread = np.maximum(squares - (total**2 - squares) / others, 0) * (hit - miss) ** 2
        given = np.zeros(len(weights))
        for own, chance, r in ((hit, p, r_hit), (miss, 1 - p, r_miss)):
            mean = weights * own + total * (r * hit + (1 - r) * miss)
            given += chance * (mean**2 + r * (1 - r) * spread)
        mean, rest = float(weights @ estimates), float(1 - estimates.sum())
        away = r_miss * (1 - r_miss) * (hit - miss) ** 2 * float(weights @ weights)
        return mean, max(float(given @ estimates) + rest * away, mean**2)

    def merged_reports(self) -> MergedReports:
        """Return up to three inputs, with sets merged by which of these they contain."""
        k, size, q = len(self.inputs), self.alphabet.size, self.chances[1]
        few = min(k, 3)
        if size is None:
            shares = [q**n * (1 - q) ** (few - n) for n in range(few + 1)]
        else:
            ways = (perm(size, n) * perm(k - size, few - n) for n in range(few + 1))
            shares = [Fraction(n, perm(k, few)) for n in ways]
        inside, outside = self._rise
        found = [bits for bits in product((0, 1), repeat=few) if shares[sum(bits)]]
        least = tuple(shares[sum(bits)] * outside for bits in found)
        columns = [[shares[sum(bits)] * (inside if b else outside) for b in bits] for bits in found]
        return MergedReports(tuple(zip(*columns, strict=True)), least, complete=True)

    def decoding_work(self, n: int) -> float:
        """Return the approximate number of additions to count n reports, 16 bits at a time."""
        return n * (1 + len(self.inputs) / 16)


SETS_BLOCK = 1 << 22
"""Bytes of reports drawn at a time."""


class SubsetSelection(ReportedSets, SetMechanism):
    """Report a set T of j inputs, e**epsilon times as likely if it contains the own input.

        Q(T|x) = p / C(k - 1, j - 1) if x is in T, else (1 - p) / C(k - 1, j),
        p / (1 - p) = e**eps j / (k - j)

    Sets that contain x contain every other z equally often, so that Pr(z in T | x) = q = (p (j - 1)
    + (1 - p) j) / (k - 1) for z != x, and the score is s_z(T) = (1{z in T} - q) / (p - q).

    A draw starts from a uniform set with a uniform member a and a uniform nonmember b, independent
    of the record. A number of 62 bits decides whether x is in the set. If it should be and is not,
    x replaces a; if it should not be and is, b replaces x; the rest of the set stays uniform among
    the other inputs.

    The default j has the least variance. At the uniform distribution no channel under LDP has a
    smaller one: :attr:`risk` is the optimum.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    epsilon
        The budget in nats, > 0.
    size
        The size j of the sets, from 1 to k - 1; default the best.

    Notes
    -----
    Source: Ye and Barg 2018; Wang et al. 2016.

    Examples
    --------
    >>> some = SubsetSelection(["a", "b", "c", "d", "e", "f"], 1)
    >>> some
    SubsetSelection(6 inputs, LDP(epsilon=1), 3.907 bits a report)
    >>> some.size, round(some.risk, 4)
    (2, 15.7086)
    >>> float(some.probability("a", ("a", "b")) / some.probability("c", ("a", "b")))
    2.718281828459045
    """

    name = "subset-selection"
    source = "Ye and Barg 2018; Wang et al. 2016"
    options: ClassVar[Mapping[str, int | None]] = {"size": None}

    def __init__(self, inputs: DomainLike, epsilon: Exact, size: int | None = None) -> None:
        super().__init__(inputs, epsilon)
        self._k = k = len(self.inputs)
        self.size = j = (
            best_size(k, self._notion.epsilon)
            if size is None
            else whole_number(size, "size", 1, k - 1)
        )
        self.odds = (j, k - j)
        self.held = held_mass(self._notion.epsilon, *self.odds)
        if k * self.held <= j * WHOLE:  # as q (k - 1) = j - p
            raise InputError("epsilon", "a budget for which p is above q", f"p = q = {j / k}")
        self.alphabet = BitRows(self.inputs, j)

    @property
    def bits_per_report(self) -> float:
        """The base-2 logarithm of C(k, j)."""
        k, j = self._k, self.size
        return (math.lgamma(k + 1) - math.lgamma(j + 1) - math.lgamma(k - j + 1)) / math.log(2)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """The exact p and q: the probabilities of the own, and of another, input in a report."""
        p = Fraction(self.held, WHOLE)
        return p, (self.size - p) / (self._k - 1)

    def parameters(self) -> dict[str, Any]:
        """Return j, and the mass of all sets that contain the own input."""
        return {"size": self.size, "held": self.held}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports: rows of packed bits."""

        def some(piece: slice) -> ByteArray:
            own, coins = codes[piece], source.of(piece)
            rows, inside, outside = uniform_sets(len(own), self._k, self.size, coins)
            wanted = chances(coins, len(own), BITS) < self.held
            change = read_bits(rows, own) != wanted
            write_bits(rows, own, wanted)
            place = np.where(change, np.where(wanted, inside, outside), own)
            write_bits(rows, place, wanted ^ change)
            return rows

        return self.alphabet.in_pieces(len(codes), SETS_BLOCK, some)

    def uniform_counts(self) -> FloatArray:
        """Return j/k for each input."""
        return np.full(self._k, self.size / self._k)

    def draw_uniform(self, count: int, source: Source) -> AnyArray:
        """Draw reports that are uniform over the sets of j inputs."""

        def some(piece: slice) -> ByteArray:
            return uniform_sets(piece.stop - piece.start, self._k, self.size, source.of(piece))[0]

        return self.alphabet.in_pieces(count, SETS_BLOCK, some)

    def _holds(self, x: int, report: AnyArray) -> bool:
        return bool(read_bits(report, x)[0])


BLOCK = 1 << 19
"""Bytes of reports drawn at a time, which fit the processor's cache."""


class UnaryEncoding(ReportedSets):
    """Report a set that contains the own input with probability p, each other one with q.

        Q(y|x) = Prod_z Pr(bit z),     p (1 - q) / (q (1 - p)) <= e**epsilon

    All bits are independent. The coins of the other inputs have q = c / 2**b with few binary digits
    b, since each digit takes one random bit for each bit of a report; the coin of the own input has
    up to 62 digits, and overwrites its bit. So every report takes the same number of random bits.

    The score of an input is s_x(y) = (1{x in y} - q) / (p - q). The variance of its mean over n
    reports is q (1 - q) / (n (p - q)**2) for an input of frequency 0, and hardly more for a rare
    one: this is :attr:`variance`, which determines the digits.
    """

    options: ClassVar[Mapping[str, int | None]] = {"digits": None}
    tolerance: ClassVar[float]
    """Relative increase of the variance accepted for fewer digits."""

    def __init__(
        self,
        inputs: DomainLike,
        epsilon: Exact,
        digits: int | None = None,
        *,
        others: int | None = None,
    ) -> None:
        super().__init__(inputs, epsilon)
        self._digits = self._fewest() if digits is None else whole_number(digits, "digits", 1, BITS)
        self._others, self.held = self._law(self._digits, others)
        if self._difference <= 0:
            hint = "more digits would serve" if self._digits < BITS else ""
            expected = "a budget and digits for which p is above q"
            raise InputError("epsilon", expected, f"p = q = {float(self._q)}", hint)
        self.alphabet = BitRows(self.inputs)

    @abstractmethod
    def _law(self, digits: int, others: int | None = None) -> tuple[int, int]:
        """Return the numerator of q over 2**digits, default the best, and that of p over 2**62."""

    def _variance(self, digits: int) -> float:
        """Return the variance of the estimate of an input of frequency 0."""
        others, held = self._law(digits)
        q, rise = Fraction(others, 1 << digits), held - (others << BITS - digits)
        return float(q * (1 - q) / Fraction(rise, WHOLE) ** 2) if rise > 0 else math.inf

    def _fewest(self) -> int:
        """Return the fewest digits with an acceptable increase of the variance."""
        most = self._variance(BITS) * (1 + self.tolerance)
        return next((n for n in range(1, BITS) if self._variance(n) <= most), BITS)

    @property
    def _q(self) -> Fraction:
        return Fraction(self._others, 1 << self._digits)

    @property
    def _difference(self) -> int:
        """The difference of p and q, in units of 2**-62."""
        return self.held - (self._others << BITS - self._digits)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """The exact p and q: the probabilities of the own, and of another, input in a report."""
        return Fraction(self.held, WHOLE), self._q

    @property
    def variance(self) -> float:
        """The number of reports times the variance of the estimate of an input of frequency 0."""
        return self._variance(self._digits)

    @property
    def loss(self) -> float:
        """The relative increase of :attr:`variance` over the textbook's, due to few digits."""
        return self.variance / self._variance(BITS) - 1

    def parameters(self) -> dict[str, Any]:
        """Return q as a numerator and its digits, and the mass of p."""
        return {"digits": self._digits, "others": self._others, "held": self.held}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports: rows of packed bits."""

        def some(piece: slice) -> ByteArray:
            own, coins = codes[piece], source.of(piece)
            rows = coin_rows(coins, len(own), len(self.inputs), self._others, self._digits)
            # overwrite: a bit left at 1 would raise the odds beyond e**epsilon
            write_bits(rows, own, chances(coins, len(own), BITS) < self.held)
            return rows

        return self.alphabet.in_pieces(len(codes), BLOCK, some)

    def mass(self, x: int, report: AnyArray) -> Fraction:
        """Return the probability of a report."""
        own = int(read_bits(report, x)[0])
        ones = int(np.bitwise_count(report).sum()) - own
        zeros = len(self.inputs) - 1 - ones
        others = self._others**ones * ((1 << self._digits) - self._others) ** zeros
        held = self.held if own else WHOLE - self.held
        return Fraction(held * others, 1 << BITS + self._digits * (ones + zeros))


class OptimizedUnaryEncoding(UnaryEncoding):
    """Unary encoding with the least variance: p near 1/2, q near 1 / (e**epsilon + 1) (OUE).

    For each q the odds of p are e**epsilon q / (1 - q), up to 62 digits. The variance is

        (1 + q (e**eps - 1))**2 / (q (1 - q) (e**eps - 1)**2) >= 4 e**eps / (e**eps - 1)**2,

    with equality at the textbook's q. It is flat there: at epsilon = 1, q = 1/4 loses 0.24 %, for
    two random bits instead of 62. The default is the fewest digits that lose at most 0.5 %.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    epsilon
        The budget in nats, > 0.
    digits
        Binary digits of q, from 1 to 62; 62 is the textbook's mechanism.
    others
        The numerator of q over 2**digits; default the best. Another one is useful where only sums
        are observed (:func:`mechdesign.accounting.design_for_aggregation`).

    Notes
    -----
    Source: Wang, Blocki, Li and Jha 2017; few binary digits are ours.

    Examples
    --------
    >>> oue = OptimizedUnaryEncoding(["a", "b", "c"], 1)
    >>> oue
    OptimizedUnaryEncoding(3 inputs, LDP(epsilon=1), 3 bits a report)
    >>> p, q = oue.chances
    >>> round(float(p), 4), q, round(oue.loss, 4)
    (0.4754, Fraction(1, 4), 0.0024)
    >>> oue.privatize(["a", "b"], rng=4).labels()
    [('c',), ('a', 'b')]
    """

    name = "optimized-unary-encoding"
    options: ClassVar[Mapping[str, int | None]] = {"digits": None, "others": None}
    source = "Wang, Blocki, Li and Jha 2017"
    tolerance = 0.005

    def __init__(
        self,
        inputs: DomainLike,
        epsilon: Exact,
        digits: int | None = None,
        others: int | None = None,
    ) -> None:
        if others is not None and digits is None:
            raise InputError("digits", "the binary digits of q, as others is given", "none")
        super().__init__(inputs, epsilon, digits, others=others)

    def _law(self, digits: int, others: int | None = None) -> tuple[int, int]:
        """Return the better neighbor of the best q, and the largest mass of the own input for it.

        The variance is unimodal.
        """
        whole, odds = 1 << digits, exp_lower(self._notion.epsilon)
        below = int(whole / (odds + 1))

        def variance(c: int) -> Fraction:
            return (whole + c * (odds - 1)) ** 2 / (c * (whole - c))

        if others is None:
            others = min((c for c in (below, below + 1) if 0 < c < whole), key=variance)
        others = whole_number(others, "others", 1, whole - 1)
        return others, held_mass(self._notion.epsilon, others, whole - others)


class SymmetricUnaryEncoding(UnaryEncoding):
    """Unary encoding that flips each bit with the same probability: p = 1 - q (SUE, basic RAPPOR).

        q >= 1 / (e**(epsilon / 2) + 1),      variance q (1 - q) / (1 - 2 q)**2

    q is the least multiple of 2**-b that is private. The default is the fewest digits b whose
    variance is within 1 % of the textbook's, e**(eps/2) / (e**(eps/2) - 1)**2.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    epsilon
        The budget in nats, > 0.
    digits
        Binary digits of q, from 1 to 62; 62 is the textbook's mechanism.

    Raises
    ------
    InputError
        If a parameter is out of range, or the digits are too few for the budget.

    Notes
    -----
    Source: Erlingsson, Pihur and Korolova 2014; Wang, Blocki, Li and Jha 2017.

    Examples
    --------
    >>> sue = SymmetricUnaryEncoding(["a", "b", "c"], 1)
    >>> p, q = sue.chances
    >>> p + q, sue.loss < 0.01, sue.leakage <= 1
    (Fraction(1, 1), True, True)
    """

    name = "symmetric-unary-encoding"
    source = "Erlingsson, Pihur and Korolova 2014"
    tolerance = 0.01

    def _law(self, digits: int, _others: int | None = None) -> tuple[int, int]:
        """Return the least c with ((2**digits - c) / c)**2 <= e**epsilon, and 1 - q."""
        root = sqrt_lower(exp_lower(self._notion.epsilon))
        c = -int(-(1 << digits) // (1 + root))
        return c, (1 << digits) - c << BITS - digits

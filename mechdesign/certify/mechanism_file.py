"""The check of a saved structured mechanism: a few integers that determine a large channel.

A file names the kind of the mechanism, its inputs, the notion, and the parameters, integers that
are written as text under the key ``law``. For each kind one function below reads them, checks that
they determine a channel (every row sums to 1), and returns what it leaks: for most kinds the
largest ratio of two probabilities that the notion bounds by e**epsilon, as a rational. The notion
holds if and only if that ratio is at most e**epsilon, which :func:`~mechdesign.exact.exp_lower`
bounds from below. W is 2**62.

randomized-response
    own + (k - 1) other = W, and every report has one of the two: own / other.
hadamard-response
    Of B blocks of b numbers, the own one has S_x = {y : popcount(y & i) even} of b/2 numbers, as
    0 < i < b for the row i = x // B + 1. Together they have the mass h, each of the other 2B - 1
    half blocks has o, with h + (2B - 1) o = W: h / o.
projective-geometry-response
    Of the N = (q**t - 1) / (q - 1) points over the integers modulo the prime q, the points y with
    <x, y> = 0 are those of a space of one coordinate less, c = (q**(t - 1) - 1) / (q - 1). Together
    they have the mass h, the others W - h: h (N - c) / ((W - h) c).
optimized-unary-encoding, symmetric-unary-encoding
    Independent bits, so that rows sum to 1. The rows of x and z differ in the bits x and z only:
    p (1 - q) / (q (1 - p)) with p = held / W and q = others / 2**digits.
subset-selection
    Of the sets of j inputs, C(k - 1, j - 1) hold x and have the mass h together, C(k - 1, j) do not
    and have W - h: h (k - j) / ((W - h) j).
by-component
    A row is that of the part of its block. Two blocks are not bounded against each other, and the
    rows of one block are those of its part: the largest ratio of a part.
high-low
    A sensitive row is that of the inner part, which has N reports. Any other row has u / (W N) on
    each of them and (W - u) / W on its own label, which no sensitive row has. So ratios that are
    bounded are those of the part, and its largest probability against u / (W N).
lip-randomized-response
    t + Sum_y f_y = W, and Q(y|x) is f_y, and t more if y = x. The probability of y is f_y + t P_y:
    its lifts lie between f_y and f_y + t over that, so the ratio is the largest
    (f_y + t) / (f_y + t P_y) or (f_y + t P_y) / f_y.
geometric-noise, planar-laplace
    Weights by the length of a displacement: see :mod:`~mechdesign.certify.torus_noise`. What it was
    designed for, where the file says so: see :mod:`~mechdesign.certify.noise_design`.

Nothing here is shared with the code that draws. A file cannot prove that
reports are drawn with these parameters.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from mechdesign.certify.channel_file import Verified
from mechdesign.certify.fixed_point import over_one_denominator
from mechdesign.certify.noise_design import verify_design
from mechdesign.certify.privacy.check import blocks_of, places_of
from mechdesign.certify.problem import (
    Statement,
    distribution,
    nonnegative,
    number,
    statement_without_problem,
    whole_number,
)
from mechdesign.certify.torus_noise import TorusNoise, read_torus_noise
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower
from mechdesign.resources import spend

__all__ = ["FORMAT", "verify_mechanism"]

FORMAT = {"format": "mechdesign-mechanism", "version": 1}

WHOLE = 1 << 62
"""The probability 1, in the units that masses are counted in."""

MOST_DECIMALS = 20
"""The longest integers that are read, in digits of text: 2**62 has 19."""

MOST_DIGITS = 62
"""Binary digits of a probability of unary encoding, as many as are drawn at once."""

MOST_FIELD, MOST_COORDINATES = 1 << 31, 62
"""The largest prime and dimension of a projective space: beyond them reports are no words."""

LEAK_TOLERANCE = Fraction(1, 10**9)


@dataclass(frozen=True)
class LDPProof:
    """The proved ratio of a mechanism under LDP on ``k`` inputs.

    ``ratio`` is the largest of two probabilities of a report; ``most`` is the largest probability
    of one, times the number of reports, where high-low mechanisms need it, else 0.
    """

    ratio: Fraction
    most: Fraction = Fraction(0)


class Leak(Protocol):
    """What a law leaks under its notion."""

    def within(self, epsilon: Fraction) -> bool:
        """Return whether the notion is proved to hold for this epsilon."""

    def reaches(self, leakage: Fraction) -> bool:
        """Return whether that much is leaked, but for a small share."""


@dataclass(frozen=True)
class LargestRatio:
    """The largest ratio of two probabilities that a notion bounds by e**epsilon."""

    ratio: Fraction

    def within(self, epsilon: Fraction) -> bool:
        """Return whether the ratio is at most e**epsilon."""
        return self.ratio <= exp_lower(epsilon)

    def reaches(self, leakage: Fraction) -> bool:
        """Return whether the ratio is above e**leakage, but for a small share."""
        less = leakage - (1 + leakage) * LEAK_TOLERANCE
        return less < 0 or self.ratio > exp_lower(less)


def verify_mechanism(document: dict[str, Any]) -> Verified:
    """Check every claim of a saved structured mechanism, whose keys and digest are right.

    Raises
    ------
    CertificateError
        At the first claim that does not hold.
    """
    statement = statement_without_problem(document["domain"])
    table, kind, k = document["privacy"], document["mechanism"], len(statement.labels)
    notion, leak = table["notion"], KINDS[kind](kind, statement, table, document["law"])
    if not leak.within(nonnegative(table["epsilon"])):
        raise CertificateError(f"{notion}: not private: a ratio is too large")
    leakage = number(document["leakage"])
    if not leak.within(leakage):
        raise CertificateError(f"{notion}: leaks more than {float(leakage)!r}")
    if not leak.reaches(leakage):
        raise CertificateError(f"{notion}: leaks less than the claimed {float(leakage)!r}")
    claims = [
        f"{kind} on {k} inputs: rows sum to 1 exactly, by the integers of its law",
        f"{notion}: private as stated, exactly; leakage {float(leakage):.10g}",
    ]
    if "design" not in document:
        return Verified(tuple(claims))
    if not isinstance(leak, TorusNoise):
        raise CertificateError(f"no design is known of {kind}")
    more, value, bound = verify_design(statement, table, leak, document["design"])
    return Verified((*claims, *more), value, bound)


# --- parts: one mechanism under LDP -----------------------------------------------------------


def randomized_response(k: int, law: dict[str, Any]) -> LDPProof:
    """Check own + (k - 1) other = 2**62."""
    own, other = _mass(law["own"]), _mass(law["other"])
    if own + (k - 1) * other != WHOLE:
        raise CertificateError("randomized response: the rows do not sum to 1")
    return LDPProof(_ratio(own, other), Fraction(k * max(own, other), WHOLE))


def hadamard_response(k: int, law: dict[str, Any]) -> LDPProof:
    """Check that b is a power of 2 above the inputs of a block, and that all masses are whole."""
    size, held = whole_number(law["size"], MOST_DECIMALS), _mass(law["held"])
    copies = whole_number(law.get("copies", "1"), MOST_DECIMALS)
    if not 0 < copies <= k or size % copies:
        raise CertificateError("Hadamard response: the size is not that of equal blocks")
    block, others = size // copies, 2 * copies - 1
    if block & (block - 1) or (block - 1) * copies < k or held % (block // 2):
        raise CertificateError("Hadamard response: the size or the mass of the sets is wrong")
    other, left = divmod(WHOLE - held, others)
    if left or other == 0 or other % (block // 2):
        raise CertificateError("Hadamard response: the half blocks have no whole masses")
    return LDPProof(_ratio(held, other), Fraction(2 * copies * max(held, other), WHOLE))


def projective_geometry(k: int, law: dict[str, Any]) -> LDPProof:
    """Check that q is a prime, and that there are points enough."""
    q, t = (whole_number(law[key], MOST_DECIMALS) for key in ("field", "dimension"))
    held = _mass(law["held"])
    if not (2 <= q <= MOST_FIELD and 2 <= t <= MOST_COORDINATES):
        raise CertificateError("projective geometry: the field or the dimension is out of range")
    spend(math.isqrt(q), "the primes of projective geometry")
    if not all(q % n for n in range(2, math.isqrt(q) + 1)):
        raise CertificateError("projective geometry: the field is not of a prime")
    inside, size = (sum(q**m for m in range(d)) for d in (t - 1, t))
    if size < k:
        raise CertificateError("projective geometry: there are fewer points than inputs")
    within, without = Fraction(held, inside), Fraction(WHOLE - held, size - inside)
    most = max(within, without) * size / WHOLE
    return LDPProof(max(within / without, without / within), most)


def unary_encoding(k: int, law: dict[str, Any]) -> LDPProof:
    """Check that p and q are probabilities of few digits."""
    digits, others = (whole_number(law[key], MOST_DECIMALS) for key in ("digits", "others"))
    held = _mass(law["held"])
    if not 1 <= digits <= MOST_DIGITS or not 0 < others < 1 << digits or k < 2:
        raise CertificateError("unary encoding: q is no probability of its digits")
    p, q = Fraction(held, WHOLE), Fraction(others, 1 << digits)
    odds = p * (1 - q) / (q * (1 - p))
    return LDPProof(max(odds, 1 / odds))


def subset_selection(k: int, law: dict[str, Any]) -> LDPProof:
    """Check 0 < j < k; the masses of all sets with x and of all without sum to 2**62."""
    size, held = whole_number(law["size"], MOST_DECIMALS), _mass(law["held"])
    if not 0 < size < k:
        raise CertificateError("subset selection: the sets are not of some and not of all inputs")
    # C(k - 1, j - 1) = C(k, j) j / k sets hold x, C(k - 1, j) = C(k, j) (k - j) / k do not
    holding, without = Fraction(held, size), Fraction(WHOLE - held, k - size)
    most = max(holding, without) * k / WHOLE
    return LDPProof(max(holding / without, without / holding), most)


def single_input(k: int, _law: dict[str, Any]) -> LDPProof:
    """Check that there is one input: its one report reveals nothing, and has no parameter."""
    if k != 1:
        raise CertificateError("an input is told in clear that should not be")
    return LDPProof(Fraction(1), Fraction(1))


LDP_PARTS: dict[str, Callable[[int, dict[str, Any]], LDPProof]] = {
    "randomized-response": randomized_response,
    "hadamard-response": hadamard_response,
    "projective-geometry-response": projective_geometry,
    "optimized-unary-encoding": unary_encoding,
    "symmetric-unary-encoding": unary_encoding,
    "subset-selection": subset_selection,
}
"""Mechanisms that are private by themselves, or as parts of others."""

PARTS = {**LDP_PARTS, "in-clear": single_input}


def part(k: int, table: dict[str, Any]) -> LDPProof:
    """Check a part of another mechanism, on ``k`` inputs."""
    found = PARTS[table["mechanism"]](k, table["law"])
    if found.ratio > exp_lower(nonnegative(table["epsilon"])):
        raise CertificateError("a part leaks more than its epsilon")
    return found


# --- whole mechanisms: what they leak under their notion ----------------------------------------


def under_ldp(
    kind: str, statement: Statement, _table: dict[str, Any], law: dict[str, Any]
) -> LargestRatio:
    """Return the ratio of a mechanism under LDP."""
    return LargestRatio(PARTS[kind](len(statement.labels), law).ratio)


def by_component(
    _kind: str, statement: Statement, table: dict[str, Any], law: dict[str, Any]
) -> LargestRatio:
    """Return the largest ratio of a part, each on the inputs of its blocks."""
    sizes = [size for _, size in sorted(Counter(blocks_of(statement, table)).items())]
    part_of = [whole_number(n, MOST_DECIMALS) for n in law["part_of_block"]]
    if len(part_of) != len(sizes) or set(part_of) != set(range(len(law["parts"]))):
        raise CertificateError("the file has not one part for each block, and each part for some")
    used = set(zip(part_of, sizes, strict=True))
    return LargestRatio(max(part(size, law["parts"][n]).ratio for n, size in sorted(used)))


def high_low(
    _kind: str, statement: Statement, table: dict[str, Any], law: dict[str, Any]
) -> LargestRatio:
    """Return the larger of the inner ratio, and most by u / (2**62 N)."""
    sensitive = places_of(statement, table["sensitive"])
    if len(sensitive) == len(statement.labels):
        raise CertificateError("all inputs are sensitive, and some are treated otherwise")
    inner, uniform = part(len(sensitive), law["inner"]), _mass(law["uniform"])
    if not inner.most:
        raise CertificateError("the inner part is not known to have two probabilities")
    return LargestRatio(max(inner.ratio, inner.most * WHOLE / uniform))


def lip_randomized_response(
    _kind: str, statement: Statement, _table: dict[str, Any], law: dict[str, Any]
) -> LargestRatio:
    """Return the largest lift, or inverse lift, at the prior in the file."""
    fresh, truth = [_mass(f) for f in law["fresh"]], _mass(law["truth"])
    k = len(statement.labels)
    if len(fresh) != k or sum(fresh) + truth != WHOLE or k < 2:
        raise CertificateError("LIP randomized response: the rows do not sum to 1")
    prior, unit = over_one_denominator(distribution(law["prior"], k))
    outputs = [f * unit + truth * p for f, p in zip(fresh, prior, strict=True)]
    pairs = list(zip(fresh, outputs, strict=True))
    largest = max(Fraction((f + truth) * unit, total) for f, total in pairs)
    inverse = max(Fraction(total, f * unit) for f, total in pairs)
    return LargestRatio(max(largest, inverse))


Checker = Callable[[str, Statement, dict[str, Any], dict[str, Any]], Leak]

KINDS: dict[str, Checker] = {
    **dict.fromkeys(LDP_PARTS, under_ldp),
    "by-component": by_component,
    "high-low": high_low,
    "lip-randomized-response": lip_randomized_response,
    "geometric-noise": read_torus_noise,
    "planar-laplace": read_torus_noise,
}
"""The checker of each kind of mechanism; `schema` has its notion and its law."""


# --- reading ------------------------------------------------------------------------------------


def _mass(text: Any) -> int:
    """Return a mass above 0 and below 2**62."""
    mass = whole_number(text, MOST_DECIMALS)
    if not 0 < mass < WHOLE:
        raise CertificateError(f"expected a mass above 0 and below 2**62, found {mass}")
    return mass


def _ratio(a: int, b: int) -> Fraction:
    return max(Fraction(a, b), Fraction(b, a))

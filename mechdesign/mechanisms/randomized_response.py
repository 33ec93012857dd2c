"""Randomized response (k-ary, and for LIP), and the identity, a part of composite mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.channel import BITS
from mechdesign.domain import Domain, DomainLike
from mechdesign.errors import UnsupportedError
from mechdesign.exact import Exact, exp_lower, short_text
from mechdesign.kernel.arithmetic import over_one_denominator
from mechdesign.mechanisms.base import (
    WHOLE,
    held_mass,
    informative,
    inputs_of,
)
from mechdesign.mechanisms.set_system import NumberedSets, ScoredMechanism
from mechdesign.notions import LIP, BlockLDP
from mechdesign.prior import Prior
from mechdesign.reports import Labels
from mechdesign.sampling import AliasTable, Source, chances


class GeneralizedRandomizedResponse(NumberedSets):
    """Report the truth with odds e**epsilon against each other input (GRR).

        Q[x, x] = e**eps / (e**eps + k - 1),      Q[x, y] = 1 / (e**eps + k - 1)

    One draw of 62 bits: each other input has an integer mass o, the truth the rest. The score is
    s_x(y) = (1{y = x} - q) / (p - q).

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    epsilon
        The budget in nats, > 0.

    Notes
    -----
    Source: Kairouz, Bonawitz and Ramage 2016.

    Examples
    --------
    >>> grr = GeneralizedRandomizedResponse(["a", "b", "c"], 1)
    >>> grr
    GeneralizedRandomizedResponse(3 inputs, LDP(epsilon=1), 1.585 bits a report)
    >>> float(grr.probability("a", "a") / grr.probability("b", "a"))
    2.718281828459045
    >>> grr.leakage <= 1
    True
    """

    name = "randomized-response"
    source = "Kairouz, Bonawitz and Ramage 2016"
    _are_alike = True

    def __init__(self, inputs: DomainLike, epsilon: Exact) -> None:
        super().__init__(inputs, epsilon)
        self._k = len(self.inputs)
        others = WHOLE - held_mass(self._notion.epsilon, 1, self._k - 1)
        self._other = -(-others // (self._k - 1))
        self.held, self.odds = WHOLE - (self._k - 1) * self._other, (1, self._k - 1)
        self.alphabet = Labels(self.inputs)

    def parameters(self) -> dict[str, Any]:
        """Return the masses of the truth and of each other input."""
        return {"own": self.held, "other": self._other}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports: input numbers."""
        # the masses of the others come first, o each; the truth has the rest
        step = chances(source, len(codes), 62).view(np.uint64)
        step //= np.uint64(self._other)
        np.minimum(step, np.uint64(self._k - 1), out=step)
        step += codes.view(np.uint64)
        step += np.uint64(1)  # codes + 1 .. codes + k, the last for the truth
        wrapped = step - np.uint64(self._k)  # very large if negative
        np.minimum(step, wrapped, out=wrapped)
        return wrapped.view(np.int64)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """The exact p and q: the probabilities of the truth, and of each other input."""
        return self.most, self.least

    def _holds(self, x: int, report: AnyArray) -> bool:
        return int(report[0]) == x


class IdentityMechanism(GeneralizedRandomizedResponse):
    """Report the input: Q[x, x] = 1, with the score 1{y = x}.

    A single input has a single report.

    Examples
    --------
    >>> IdentityMechanism(1).bits_per_report
    0.0
    """

    name = "in-clear"
    source = "the identity channel"
    held = WHOLE

    def __init__(self, inputs: DomainLike) -> None:
        self.inputs = Domain.of(inputs, "inputs")
        self.odds = (1, len(self.inputs) - 1)
        self.alphabet = Labels(self.inputs)

    @property
    def privacy(self) -> BlockLDP:
        """Every input is a block of its own."""
        return BlockLDP(0, blocks=[[label] for label in self.inputs])

    def parameters(self) -> dict[str, Any]:
        """Return an empty dict."""
        return {}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Return the input numbers."""
        return codes.copy()

    def largest_ratio(self) -> Fraction:
        """Return 1, the ratio inside a block of one."""
        return Fraction(1)


class LIPRandomizedResponse(ScoredMechanism):
    """Report the truth with probability 1 - e**-eps, else a fresh draw from the prior.

        Q[x, x] = 1 - (1 - P_x) e**-eps,      Q[x, y] = P_y e**-eps

    Its largest lift is (e**eps - 1 + P_x) / (e**eps P_x), so it satisfies eps-LIP if and only if
    P_min >= 1/(e**eps + 1); there it is optimal for every utility that post-processing cannot
    raise. The papers claim LIP for every prior; outside this region the constructor raises an
    error.

    One draw of 62 bits decides: y with mass f_y, for every x, and the truth with the remaining mass
    t. With P(y) = f_y + t P_y, in units of 2**-62, both sides of LIP hold exactly if

        f_y >= t P_y / (e**eps - 1)     and     f_y >= t (1 - e**eps P_y) / (e**eps - 1),

    so t is the largest value that leaves room for these f_y, rounded up. The score is s_x(y) = (1{y
    = x} - f_x) / t, in the same units.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    epsilon
        The budget in nats, > 0.
    prior
        The prior of the inputs, which is public.

    Raises
    ------
    InputError
        If a parameter is out of range.
    UnsupportedError
        If P_min < 1/(e**eps + 1); the message gives the leakage of the formula.

    Notes
    -----
    Source: Jiang et al. 2018 (CNS), Theorem 2; the region is ours.

    Examples
    --------
    >>> survey = LIPRandomizedResponse(["yes", "no"], 1, Prior([0.4, 0.6]))
    >>> round(float(survey.probability("yes", "no")), 6)  # 0.6 / e
    0.220728
    >>> survey.leakage
    1.0
    """

    name = "lip-randomized-response"
    source = "Jiang et al. 2018 (CNS), Theorem 2"
    prior: Prior
    _notion: LIP

    def __init__(self, inputs: DomainLike, epsilon: Exact, prior: Prior) -> None:
        self.inputs = inputs_of(inputs)
        self._notion = informative(LIP(epsilon), LIP)
        prior = self.fitting_prior(prior)
        self.prior = prior
        epsilon = self._notion.epsilon
        if not in_region(prior, epsilon):
            least = least_mass(epsilon)
            expected = f"probabilities of at least 1/(e^epsilon + 1) = {least:.6g}"
            hint = f"there {_would_leak(prior, epsilon)}; "
            hint += "an optimal channel for this prior comes from `design`"
            given = f"P_min = {short_text(prior.minimum)}"
            raise UnsupportedError("prior", expected, given, hint)
        fresh, self._truth = _masses(prior, exp_lower(epsilon))
        self._fresh = np.array(fresh, dtype=np.int64)
        self._table = AliasTable(np.array([[*fresh, self._truth]]), BITS)
        self.alphabet = Labels(self.inputs)

    def parameters(self) -> dict[str, Any]:
        """Return the mass of the truth, and that of each report by a fresh draw."""
        return {"truth": self._truth, "fresh": self._fresh.tolist()}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports: input numbers."""
        drawn = self._table.draw(np.zeros(len(codes), dtype=np.int64), source)
        return np.where(drawn == len(self.inputs), codes, drawn).astype(np.int64)

    def mass(self, x: int, report: AnyArray) -> Fraction:
        """Return the probability of a report."""
        y = int(report[0])
        return Fraction(int(self._fresh[y]) + (self._truth if y == x else 0), WHOLE)

    @property
    def least_known_risk(self) -> float:
        """Its own risk: it is optimal for every utility that post-processing cannot raise."""
        return self.risk

    def _reference(self) -> Prior:
        return self.prior

    @cached_property
    def _scores(self) -> tuple[FloatArray, FloatArray]:
        fresh, truth = np.ldexp(self._fresh.astype(np.float64), -BITS), self._truth / WHOLE
        return (1 - fresh) / truth, -fresh / truth

    def largest_ratio(self) -> Fraction:
        """Return the largest (f_y + t) / (f_y + t P_y) or (f_y + t P_y) / f_y over the reports."""
        pairs = zip(self._fresh.tolist(), self.prior, strict=True)
        laws: list[tuple[Fraction, Fraction]] = [
            (Fraction(f), f + self._truth * p) for f, p in pairs
        ]
        return max(max((f + self._truth) / law, law / f) for f, law in laws)


def _masses(prior: Prior, odds: Fraction) -> tuple[list[int], int]:
    """Return the least f_y at the largest possible t, in units of 2**-62.

    The largest f_y absorbs the rounding error: all bounds are lower bounds.
    """
    weights, unit = over_one_denominator(prior)
    top, bottom = odds.numerator, odds.denominator
    # max(P_y, 1 - odds P_y) / (odds - 1), over one denominator
    below = [max(w * bottom, unit * bottom - top * w) for w in weights]
    scale = unit * (top - bottom)
    truth = (WHOLE - len(weights)) * scale // (scale + sum(below))
    fresh = [-(-truth * part // scale) for part in below]
    fresh[fresh.index(max(fresh))] += WHOLE - truth - sum(fresh)
    return fresh, truth


def in_region(prior: Prior, epsilon: Fraction) -> bool:
    """Return whether P_min (e**epsilon + 1) >= 1, exactly: where the formula is private."""
    return prior.minimum * (exp_lower(epsilon) + 1) >= 1


def least_mass(epsilon: Fraction) -> float:
    """Return 1 / (e**epsilon + 1), the border of the region."""
    return math.exp(-epsilon) / (1 + math.exp(-epsilon))


def leakage_of_formula(prior: Prior, epsilon: Fraction) -> float:
    """Return the leakage of the formula in nats: max(epsilon, ln of its largest lift).

    Examples
    --------
    At prior 0.01 and epsilon = 1 the leakage is 4.15 times the budget.

    >>> round(leakage_of_formula(Prior([0.01, 0.99]), Fraction(1)), 2)
    4.16
    """
    least, e = float(prior.minimum), float(epsilon)
    if least == 0:
        return math.inf
    return max(e, math.log((-math.expm1(-e) + least * math.exp(-e)) / least))


def outside_region(prior: Prior, epsilon: Fraction) -> str:
    """Return a message that the prior is outside of the region, with the leakage of the formula."""
    return (
        f"outside its region: P_min = {short_text(prior.minimum)} is below 1/(e^epsilon + 1) = "
        f"{least_mass(epsilon):.6g}; {_would_leak(prior, epsilon)}"
    )


def _would_leak(prior: Prior, epsilon: Fraction) -> str:
    leak = leakage_of_formula(prior, epsilon)
    ratio = f" = {leak / float(epsilon):.3g} epsilon" if epsilon > 0 else ""
    return f"the published formula would leak {leak:.6g}{ratio}"

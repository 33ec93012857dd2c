"""Two mechanisms under LIP: Laplace noise on finitely many values, and sampling.

Source: Jiang et al. 2021 (TIFS), Section IV-C.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any

from mechdesign.accounting.arguments import limited, noises, numbers, positive
from mechdesign.accounting.crossings import least_noise, within
from mechdesign.channel import Channel
from mechdesign.errors import InputError, shown
from mechdesign.exact import Exact, as_fraction, exp_lower, exp_upper, log_lower, log_upper
from mechdesign.exact.enclosures import Bounds, Enclosure, exponential, logarithm
from mechdesign.prior import Prior


@dataclass(frozen=True, init=False)
class LaplaceMechanism:
    """Y = X + b(X) L for X among finitely many values, with L of density e**-|l| / 2.

    It is epsilon-LIP iff e**-epsilon <= g(y) / f_x(y) <= e**epsilon for every report y and value x,
    with f_x the density of Y given X = x and g that of Y.

    **Theorem.** With one scale b for all values, the leakage is

        D / b + ln max over both ends c of  Sum_z P_z e**(-|z - c| / b),

    D the distance of the ends, which are the least and the largest value.

    *Proof.* g / f_x = Sum_z P_z e**((|y - x| - |y - z|) / b) rises with y above x, and falls with y
    below x. So it is largest for y beyond one of the ends, where it is at most its value for x at
    the other end, Sum_z P_z e**(|z - x| / b): the formula. It is least at y = x, and by the
    inequality of the arithmetic and the harmonic mean 1 / Sum_z P_z e**(-|x - z| / b) is at most
    Sum_z P_z e**(|x - z| / b). That is convex in x, so an end is the worst. QED

    With different scales the leakage is infinite, since far from all values the density of the
    wider noise is unboundedly larger. So (26) of the paper, whose scale depends on the value, is
    not epsilon-LIP for any epsilon.

    Parameters
    ----------
    values
        ``(n,)`` distinct numbers, at least two: the discretized data.
    prior
        ``(n,)`` probabilities of the values, all positive.
    scales
        ``(n,)`` the scale b of the noise at each value, or a number for all of them.

    Examples
    --------
    Fig. 10: (25) is valid, but adds more noise than necessary.

    >>> values, prior = [0, 1, 2], Prior(["13/30", "10/30", "7/30"])
    >>> scale = laplace_scale(values, prior, 1)
    >>> LaplaceMechanism(values, prior, scale).leakage()
    Bounds(low=0.80557..., high=0.80557...)
    >>> least_laplace_scale(values, prior, 1).high < scale
    True
    >>> LaplaceMechanism(values, prior, [1, 1, 2]).leakage().low
    inf
    """

    values: tuple[float, ...]
    prior: Prior
    scales: tuple[float, ...]

    def __init__(self, values: Iterable[Any], prior: Prior, scales: Any) -> None:
        points = _points(values, prior)
        widths = noises(scales, len(points), "scales", "value")
        vars(self).update(values=points, prior=prior, scales=widths)

    def leakage(self) -> Bounds:
        """Return bounds on the least epsilon for which it is LIP, in nats."""
        if len(set(self.scales)) > 1:
            return Bounds(math.inf, math.inf)
        points, scale = list(map(Fraction, self.values)), Fraction(self.scales[0])
        low, high = min(points), max(points)

        def leak(end: Fraction) -> Bounds:
            terms = (exponential(-abs(z - end) / scale) for z in points)
            near = sum(map(mul, terms, self.prior), Enclosure.of(0))
            return (logarithm(near) + (high - low) / scale).positive().ends

        return Bounds.largest(map(leak, (low, high)))

    def expected_error(self) -> float:
        """Return E|Y - X|, the mean of b(X), in floats."""
        return float(self.prior.array @ self.scales)


def laplace_scale(values: Iterable[Any], prior: Prior, epsilon: Exact) -> float:
    """Return the scale of (25), the same for all values, rounded up.

    With D the distance of the extreme values and p the least prior probability, it is
    D / ln((e**epsilon - p) / (1 - p)), and D / epsilon if epsilon >= ln(1/p). The first is valid at
    every epsilon > 0: g / f_x <= p + (1 - p) e**(D/b), and f_x / g <= 1/(p + (1 - p) e**(-D/b)),
    which is at most e**epsilon too since (e**epsilon - p)(e**-epsilon - p) <= (1 - p)**2. The
    second is larger.
    """
    points = _points(values, prior)
    given, least = limited(epsilon), min(prior)
    positive(given, "epsilon")
    reach = Fraction(max(points)) - Fraction(min(points))
    if given >= log_upper(1 / least):
        return Enclosure.of(reach / given).ends.high
    rise = max(exp_lower(given) - 1, given) / (1 - least)
    # ln(1 + v) >= v / (1 + v) > 0 for v below the precision of the logarithm
    return Enclosure.of(reach / max(log_lower(1 + rise), rise / (1 + rise))).ends.high


def least_laplace_scale(
    values: Iterable[Any], prior: Prior, epsilon: Exact, relative: float = 1e-9
) -> Bounds:
    """Return bounds on the least scale, equal for all values, that is epsilon-LIP.

    Laplace noise of a larger scale b' is noise of scale b plus independent noise, which is 0 with
    probability (b/b')**2 and else of scale b' (the characteristic functions are 1/(1 + b**2 t**2)),
    so the leakage decreases with the scale. It is provably within the budget at the upper bound,
    and provably not at the lower bound.
    """
    points, given = numbers(values, "values"), limited(epsilon)
    return least_noise(
        lambda scale: within(LaplaceMechanism(points, prior, scale).leakage(), given),
        laplace_scale(points, prior, epsilon),
        relative,
    )


def _points(values: Iterable[Any], prior: Prior) -> tuple[float, ...]:
    points = numbers(values, "values")
    if len(set(points)) < max(2, len(points)):
        raise InputError("values", "at least two numbers, all different", shown(list(points)))
    if len(prior) != len(points) or min(prior) == 0:
        raise InputError("prior", f"{len(points)} positive probabilities", shown(prior))
    return points


@dataclass(frozen=True)
class SamplingMechanism:
    """Release X with probability ``keep``, else a fresh draw from the law of X.

    **Theorem.** If the law of X has no atoms, the mechanism is (epsilon, delta)-LIP
    (Definition 5) iff

        keep <= min{ delta e**epsilon, 1 - e**-epsilon + delta e**-epsilon }.

    So the probability of Proposition 2, which the paper calls feasible, is the largest.

    *Proof.* Let P be the law of X, which is also that of Y. Given X = x, the law of Y is
    Q = keep d_x + (1 - keep) P, d_x the unit mass at x. For a set S,

        Q(S) - e**epsilon P(S) = keep 1{x in S} - (e**epsilon - 1 + keep) P(S).

    The last factor is not negative and P{x} = 0, so the supremum over S is keep, attained by
    S = {x}: the first inequality, Pr(Y in S) >= e**-epsilon Q(S) - delta for all S, holds iff
    e**-epsilon keep <= delta. And

        P(S) - e**epsilon Q(S) = (1 - e**epsilon (1 - keep)) P(S) - e**epsilon keep 1{x in S},

    whose supremum is max(0, 1 - e**epsilon (1 - keep)), attained by the empty set or by the
    complement of {x}. So the second inequality holds iff
    keep <= 1 - e**-epsilon + delta e**-epsilon. For a set of inputs in place of x, Q is a mixture
    of these laws, and both suprema are convex. QED

    With atoms both suprema are smaller: at an atom of mass p the first is
    max(0, keep - (e**epsilon - 1 + keep) p), the second at most max(0, 1 - e**epsilon (1 - keep)).
    So ``keep`` is sufficient for every law, and again the largest if there are points of
    arbitrarily small mass.

    Parameters
    ----------
    keep
        The probability of releasing X, exact, from 0 to 1.

    Examples
    --------
    >>> best = SamplingMechanism.best(1, 0.01)
    >>> round(float(best.keep), 6)  # 0.01 e
    0.027183
    >>> best.delta(1)
    Bounds(low=0.00999999..., high=0.01)
    """

    keep: Fraction

    def __init__(self, keep: Exact) -> None:
        object.__setattr__(self, "keep", _share(keep, "keep"))

    @classmethod
    def best(cls, epsilon: Exact, delta: Exact) -> SamplingMechanism:
        """Return the mechanism with the largest ``keep``, rounded down by less than 1e-40.

        Parameters
        ----------
        epsilon
            In nats, from 0 to 100.
        delta
            From 0 to 1. With 0, X is never released.
        """
        given, failure = limited(epsilon), _share(delta, "delta")
        most = min(failure * exp_lower(given), 1 - (1 - failure) * exp_upper(-given))
        return cls(min(most, Fraction(1)))

    def delta(self, epsilon: Exact) -> Bounds:
        """Return the least delta at a budget, for a law of X without atoms.

        That is max{keep e**-epsilon, 1 - e**epsilon (1 - keep)}.
        """
        given = limited(epsilon)
        two = exponential(-given) * self.keep, 1 - exponential(given) * (1 - self.keep)
        return Bounds.largest(side.ends for side in two)

    def channel(self, prior: Prior) -> Channel:
        """Return the mechanism on finitely many inputs: keep I + (1 - keep) 1 P.

        Examples
        --------
        >>> print(SamplingMechanism("1/2").channel(Prior(["1/4", "3/4"])).matrix)
        [[0.625 0.375]
         [0.125 0.875]]
        """
        rest = [(1 - self.keep) * p for p in prior]
        rows = [[r + self.keep * (x == y) for y, r in enumerate(rest)] for x in range(len(prior))]
        return Channel.from_matrix(rows, inputs=prior.labels, outputs=prior.labels)


def _share(value: Exact, key: str) -> Fraction:
    return as_fraction(value, key, expected="a number from 0 to 1", least=0, most=1)

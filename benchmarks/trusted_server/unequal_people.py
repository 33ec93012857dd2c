"""A trusted server that counts people whose bits have different chances of being 1."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.optimize
import scipy.sparse as sp

from mechdesign.errors import InputError, SolverError, UnsupportedError, shown
from mechdesign.exact import Exact, as_fraction
from mechdesign.notions.base import budget

FloatArray = npt.NDArray[np.float64]

MOST_PEOPLE = 40


def sum_distribution(chances: Iterable[float]) -> FloatArray:
    """Return the distribution of the sum of independent bits, ``(n + 1,)``.

    Examples
    --------
    >>> sum_distribution([0.5, 0.1]).round(3).tolist()
    [0.45, 0.5, 0.05]
    """
    distribution = np.ones(1)
    for p in chances:
        distribution = np.convolve(distribution, [1 - p, p])
    return distribution


def central_bounds(
    probabilities: Iterable[Exact], epsilon: Exact, *, points: int = 200
) -> tuple[float, float]:
    """Return bounds on the least error of a server's report on the sum S of unequal bits.

    The report keeps Pr(D_i = d | y) / Pr(D_i = d) within e**-eps and e**eps for each person i, who
    says yes with chance P_i. With w_i(s) = Pr(D_i = 1 | S = s) these are linear in the mass
    v(s, d) of sums s that are reported as the value d. The linear program

        min Sum v(s, d) (s - d)**2,    Sum_d v(s, d) = Pr(S = s)

    over a grid of values of step h exceeds the least error by at most h**2 / 4, and a report that
    it finds errs by no more than its value.

    Parameters
    ----------
    probabilities
        P_i, each in (0, 1); at most 40 people.
    epsilon
        The budget in nats, >= 0.
    points
        The size of the grid, >= 2.

    Returns
    -------
    tuple of float
        Below and above, to the tolerance of the solver.

    Raises
    ------
    InputError, UnsupportedError
        If a parameter is out of range.
    SolverError
        If the program is not solved.

    Notes
    -----
    Source of the notion: Jiang et al. 2019 (arXiv), Definition 4. Where all P_i are equal the
    optimum is known: see :func:`~benchmarks.trusted_server.survey.central_survey`.

    Examples
    --------
    >>> low, high = central_bounds([0.2, 0.5, 0.7], 1)
    >>> 0 < high - low < 1e-4
    True
    """
    chances = _chances(probabilities)
    spent = float(budget(epsilon))
    if isinstance(points, bool) or points < 2:
        raise InputError("points", "a whole number >= 2", shown(points))
    n, distribution = len(chances), sum_distribution(chances)
    sums = np.arange(n + 1)
    grid = np.linspace(0, n, points)
    shares = np.array([_posterior(chances, i, distribution) for i in range(n)])
    limits = []
    for p, share in zip(chances, shares, strict=True):
        low = max(math.exp(-spent) * p, 1 - math.exp(spent) * (1 - p))
        high = min(math.exp(spent) * p, 1 - math.exp(-spent) * (1 - p))
        limits += [low - share, share - high]
    private: Any = sp.kron(np.array(limits), sp.eye_array(points), format="csr")
    whole: Any = sp.kron(sp.eye_array(n + 1), np.ones((1, points)), format="csr")
    solved: Any = scipy.optimize.linprog(
        ((sums[:, None] - grid) ** 2).ravel(),
        A_ub=private,
        b_ub=np.zeros(2 * n * points),
        A_eq=whole,
        b_eq=distribution,
    )
    if solved.status != 0:
        raise SolverError(f"the program of the central report was not solved: {solved.message}")
    mass = solved.x.reshape(n + 1, points)
    total, moment = mass.sum(axis=0), sums @ mass
    used = total > 0
    error = float(sums**2 @ distribution - (moment[used] ** 2 / total[used]).sum())
    step = n / (points - 1)
    return max(0.0, float(solved.fun) - step**2 / 4), max(0.0, error)


def _posterior(chances: list[float], i: int, distribution: FloatArray) -> FloatArray:
    """Return Pr(D_i = 1 | S = s) for each s."""
    others = sum_distribution(chances[:i] + chances[i + 1 :])
    posterior: FloatArray = chances[i] * np.concatenate([[0.0], others]) / distribution
    return posterior


def _chances(probabilities: Iterable[Any]) -> list[float]:
    chances = []
    for i, given in enumerate(probabilities):
        key = f"probabilities[{i}]"
        p = as_fraction(given, key, expected="a number in (0, 1)")
        if not 0 < p < 1:
            raise InputError(key, "a number in (0, 1)", shown(given))
        chances.append(float(p))
    if not chances:
        raise InputError("probabilities", "at least one number", "none")
    if len(chances) > MOST_PEOPLE:
        raise UnsupportedError("probabilities", f"at most {MOST_PEOPLE} people", len(chances))
    return chances

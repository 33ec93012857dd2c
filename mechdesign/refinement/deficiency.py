r"""The deficiency of one table of laws with respect to another, as an exact linear program.

For tables A and B with rational rows that sum to 1, Le Cam's deficiency is

    min over row-stochastic W of max_x TV(B_x, (A W)_x)
      = max over u of  Sum_xy u_xy B_xy - Sum_z max_y Sum_x u_xy A_xz,

where 0 <= u_xy <= pi_x for a prior pi: u_xy / pi_x is the gain of the action y at the input x, and
the difference is the advantage of the outputs of B over those of A. It is 0 iff B = A W
(Blackwell 1951, Sherman 1951, Stein 1951; Le Cam 1964; Torgersen 1991, Theorem 6.3.1).

A floating-point solver gives W and u. The support of W determines an exact W, and any u gives an
exact gain. If neither decides, the program is solved again for its scaled residuals (iterative
refinement: Gleixner, Steffy and Wolter 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import LimitError, SolverError
from mechdesign.kernel.arithmetic import over_one_denominator
from mechdesign.refinement.linear_system import Equation, solved
from mechdesign.solver_guard import called, checked

Table: TypeAlias = Sequence[Sequence[Fraction]]
"""Rows of probabilities, each with sum 1."""

MOST_ENTRIES = 50_000
"""Maximum number of unknowns of the linear program."""

SOLVER = "HiGHS"

SETTINGS = [("highs-ds", True, 1e-10), ("highs-ds", False, 1e-9), ("highs-ipm", True, 1e-8)]
"""Methods, presolve and tolerances, tried in order until one finds an optimum."""

ROUNDS = 12

GAIN_PER_ROUND = 10**6
"""Factor by which each round increases the precision."""

LARGEST_STEP = 1e5
"""Limit on scaled unknowns and costs in one round, so that no program is unbounded and the solver
treats no cost as infinite. An unknown with a clipped cost is at its bound in any case."""

ONE, NEAR_ZERO = Fraction(1), Fraction(1, 10**8)

SHARE_KEPT = Fraction(99, 100)
"""Share of the separation that must remain when the gains are rounded to readable numbers."""


class Separation(NamedTuple):
    """A decision problem in which B has a larger expected gain than A.

    ``gain``, of shape ``(n_inputs, n_outputs of B)``, is in [0, 1]. ``first`` is the largest
    expected gain from the outputs of A, ``second`` the expected gain from the outputs of B taken as
    actions, ``nearest`` a row-stochastic W, and ``distance`` the largest total variation between a
    row of A W and that of B. All numbers are rationals.
    """

    prior: tuple[Fraction, ...]
    gain: tuple[tuple[Fraction, ...], ...]
    first: Fraction
    second: Fraction
    nearest: tuple[tuple[Fraction, ...], ...]
    distance: Fraction


def decided(first: Table, second: Table) -> tuple[tuple[Fraction, ...], ...] | Separation:
    """Return an exact W with B = A W, or a separation, which proves that none exists.

    SolverError is raised if neither is found: B is within 1e-60 of a post-processing of A.
    """
    program = _Program(first, second)
    for _ in range(ROUNDS):
        program.refine()
        found = program.separation()
        if found is not None:
            return found
        exact = program.post_processing()
        if exact is not None:
            return exact
    raise SolverError(f"{SOLVER} failed: refinement was not decided in {ROUNDS} rounds")


class _Program:
    """Minimize t over W, R, S, v, t >= 0: A W + R - S = B, rows of W sum to 1, of R and v to t."""

    def __init__(self, first: Table, second: Table) -> None:
        self._exact = A, B = np.array(first, dtype=object), np.array(second, dtype=object)
        (k, m), n = A.shape, B.shape[1]
        size = m * n + 2 * k * n + k + 1
        if size > MOST_ENTRIES:
            expected = f"at most {MOST_ENTRIES:,} unknowns, outputs times outputs and more"
            raise LimitError("other", expected, f"{size:,}")
        self._W, (R, S) = (
            np.arange(m * n).reshape(m, n),
            np.arange(m * n, size - k - 1).reshape(2, k, n),
        )
        v, t = np.arange(size - k - 1, size - 1), size - 1
        self._balance = balance = np.arange(k * n).reshape(k, n)
        sums, spread = np.split(np.arange(k * n, k * n + m + k), [m])
        blocks: list[tuple[Any, Any, Any]] = [
            (balance[:, None, :], self._W, A[:, :, None]),
            (balance, R, 1),
            (balance, S, -1),
            (sums[:, None], self._W, 1),
            (spread[:, None], R, 1),
            (spread, v, 1),
            (spread, t, -1),
        ]
        parts = [[part.ravel() for part in np.broadcast_arrays(*block)] for block in blocks]
        self._row, self._column, self._value = map(np.concatenate, zip(*parts, strict=True))
        self._right: Any = np.concatenate([B.ravel(), np.full(m, ONE), np.full(k, 0 * ONE)])
        self._cost: Any = np.array([0 * ONE] * (size - 1) + [ONE])
        self.primal, self.dual, self.scale = 0 * self._cost, 0 * self._right, 1

    @cached_property
    def _matrix(self) -> Any:
        """The constraints in floating point."""
        import scipy.sparse as sp

        entries = self._value.astype(np.float64), (self._row, self._column)
        return sp.csr_array(entries, shape=(len(self.dual), len(self.primal)))

    def _solved(self, right: FloatArray, cost: FloatArray, low: FloatArray) -> Any:
        """Solve the program for another right-hand side, costs and lower bounds."""
        from scipy import optimize

        linprog: Any = optimize.linprog
        bounds = np.column_stack([low, np.full(len(low), LARGEST_STEP)])
        # the simplex method cycles on some programs
        steps = 20 * (len(right) + len(low)) + 1000
        for method, presolve, tolerance in SETTINGS:
            options = {
                "maxiter": steps,
                "presolve": presolve,
                "primal_feasibility_tolerance": tolerance,
                "dual_feasibility_tolerance": tolerance,
            }
            given = {"A_eq": self._matrix, "b_eq": right, "bounds": bounds, "options": options}
            result = called(SOLVER, linprog, cost, method=method, **given)
            if result.status == 0:
                prices = checked(SOLVER, result.eqlin.marginals, right.shape)
                return checked(SOLVER, result.x, low.shape), prices
        raise SolverError(f"{SOLVER} failed: {result.message}")

    def refine(self) -> None:
        """Correct both solutions by solving the program for their scaled residuals."""
        scale, missing, reduced = self.scale, self._right.copy(), self._cost.copy()
        np.subtract.at(missing, self._row, self._value * self.primal[self._column])
        np.subtract.at(reduced, self._column, self._value * self.dual[self._row])
        right = [float(scale * v) for v in missing]
        cost = [min(float(scale * v), LARGEST_STEP) for v in reduced]
        low = [-min(float(scale * v), LARGEST_STEP) for v in self.primal]
        primal, dual = self._solved(np.array(right), np.array(cost), np.array(low))
        self.primal = self.primal + [Fraction(v) / scale for v in primal.tolist()]
        self.dual = self.dual + [Fraction(v) / scale for v in dual.tolist()]
        self.scale = scale * GAIN_PER_ROUND

    def post_processing(self) -> tuple[tuple[Fraction, ...], ...] | None:
        """Return a rational W from the support of the numerical one; None if that fails."""
        least = NEAR_ZERO * GAIN_PER_ROUND / self.scale
        support = np.flatnonzero(self.primal[: self._W.size] > least).tolist()
        used = {j: place for place, j in enumerate(support)}
        k = len(self._exact[0])
        rows: list[dict[int, Fraction]] = [{} for _ in self._right[: len(self._right) - k]]
        for row, j, value in zip(self._row, self._column, self._value, strict=True):
            if value and j in used:
                rows[row][used[j]] = value
        equations = [_whole(*equation) for equation in zip(rows, self._right, strict=False)]
        values = solved(equations, len(used))
        if values is None or min(values) < 0:
            return None
        W = np.full(self._W.size, Fraction(0))
        W[support] = values
        return tuple(map(tuple, W.reshape(self._W.shape).tolist()))

    def separation(self) -> Separation | None:
        """Return the decision problem of the dual variables if it is an exact separation."""
        weights = self.dual[self._balance]
        weights = weights - weights.min(axis=1)[:, None]
        if not weights.any():
            return None
        weights, first, second = self._worth(weights)
        gap = second - first
        if gap <= 0:
            return None
        for digits in range(1, 13):
            rounded = np.frompyfunc(round, 2, 1)(weights, digits)
            found = self._worth(rounded) if rounded.any() else (weights, first, first)
            if found[2] - found[1] >= SHARE_KEPT * gap:
                weights, first, second = found
                break
        prior = tuple(weights.max(axis=1))
        gain = tuple(
            tuple(v / p if p else Fraction(0) for v in row)
            for row, p in zip(weights, prior, strict=True)
        )
        return Separation(prior, gain, first, second, *self._nearest())

    def _worth(self, weights: Any) -> tuple[Any, Fraction, Fraction]:
        """Return weights with a prior of sum 1, and the expected gains from A and of B's outputs.

        The outputs of A are used as well as possible, those of B are the actions.
        """
        A, B = self._exact
        weights = weights / sum(weights.max(axis=1))
        return weights, sum((A.T @ weights).max(axis=1), Fraction(0)), (weights * B).sum()

    def _nearest(self) -> tuple[tuple[tuple[Fraction, ...], ...], Fraction]:
        """Return a row-stochastic W, and the largest total variation between A W and B."""
        W = self.primal[self._W]
        W = W * (W > 0)
        W = W / W.sum(axis=1)[:, None]
        A, B = self._exact
        missing = abs(B - A @ W).sum(axis=1) / 2
        return tuple(map(tuple, W.tolist())), max(missing)


def _whole(terms: dict[int, Fraction], right: Fraction) -> Equation:
    """Return an equation multiplied by its common denominator."""
    (whole, *scaled), _ = over_one_denominator((right, *terms.values()))
    return dict(zip(terms, scaled, strict=True)), whole

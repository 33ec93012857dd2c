"""Evidence for a bound on a risk of estimation: an estimator, and prices of its gain."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.rows import Proof, alike, averaged, certificate, estimator, negated
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.objectives import Risk
from mechdesign.kernel.oracles import Classes, Oracles, Rays
from mechdesign.kernel.relaxations import Implied
from mechdesign.notions import LDP
from mechdesign.prior import Prior
from mechdesign.prior_sets import Weights
from mechdesign.problem import Problem
from mechdesign.search.cones.forms import OneBudgetCone, closure
from mechdesign.search.estimation_risk.ray_classes import RayClasses
from mechdesign.search.estimation_risk.saddle_point import Mixture
from mechdesign.search.rays.extreme_rays import listed_rays, set_vertices
from mechdesign.solver_guard import called, checked
from mechdesign.utilities import EstimationRisk

MOST_INPUTS = 12
"""The number of inputs up to which the checker lists the rays of LDP quickly."""

LARGEST_BUDGET = 50.0
"""With a larger budget the bound without privacy is as good."""


@dataclass(frozen=True)
class RiskProof:
    """An optimum, and the kernel's oracle for its estimator.

    Attributes
    ----------
    inverse, potentials, prior
        ``(n_inputs, n_inputs)`` and ``(n_inputs,)``: M**-1, and the potentials of the gain.
    oracle
        Returns the oracle for a problem, the prior of the bound, and the potentials.
    worst
        For a worst case, the exact prior of the bound.
    """

    inverse: FloatArray
    potentials: FloatArray
    prior: FloatArray
    oracle: Oracle
    worst: Weights | None = None

    @classmethod
    def of(cls, mixture: Mixture, oracle: Oracle, worst: Weights | None) -> RiskProof:
        """Return the proof of a mixture of rays."""
        return cls(mixture.inverse, mixture.potentials, mixture.prior, oracle, worst)

    def __call__(self, problem: Problem) -> Certificate:
        """Return the certificate."""
        aim = problem.compiled.statement.objective
        if not isinstance(aim, Risk):
            raise UnsupportedError("objective", "a risk of estimation", problem.utility.name)
        prices = self.potentials * getattr(problem.utility, "scale", 1.0)
        oracle = self.oracle(problem, self.worst or problem.prior.probabilities, prices)
        step = estimator(self.inverse, self.prior, aim.roots)
        # ray oracles use the vertices of a set of priors; other oracles the whole set
        priors = set_vertices(problem.cone) if self.oracle is by_rays else None
        return certificate(
            problem,
            oracle=oracle,
            weights=self.worst,
            priors=priors,
            estimator=step,
            prices=negated(prices),
        )


Oracle: TypeAlias = Callable[[Problem, Weights, FloatArray], Oracles]


def by_rays(problem: Problem, _prior: Weights, _potentials: FloatArray) -> Oracles:
    """Price all extreme rays."""
    return listed_rays(problem)


def by_classes(problem: Problem, prior: Weights, potentials: FloatArray) -> Oracles:
    """Price classes of rays that are equal up to a permutation."""
    budget = OneBudgetCone.of(problem.cone)
    if budget is None:
        raise UnsupportedError("privacy", "one budget in blocks", problem.privacy)
    inner = [inputs.tolist() for _, inputs in budget.blocks]
    return Rays(Classes(alike(inner, prior, potentials.tolist()), budget.block_groups))


def implied(proof: Proof, larger: Problem, worst: Weights | None, problem: Problem) -> Certificate:
    """Return the certificate of a problem from that of a larger cone, which its notions imply."""
    found = proof(larger)
    if found is None:
        raise UnsupportedError("privacy", "a bound for the larger cone", "none")
    steps = (*averaged(problem.compiled.statement, worst), Implied(), *found.relaxations)
    return replace(found, relaxations=steps)


def channel_proof(matrix: FloatArray, problem: Problem) -> Certificate | None:
    """Return the certificate of an optimal channel at a prior, by classes of rays, if any.

    The gain of each of its columns is its price, which determines the potential of each group of
    equivalent inputs.
    """
    classes, utility, p = RayClasses.of(problem.cone), problem.utility, problem.prior.array
    if classes is None or not isinstance(utility, EstimationRisk) or not classes.fit(problem):
        return None
    if utility.worst_case or not p.all():
        return None
    M = (matrix / (p @ matrix)) @ matrix.T
    A = checked("LAPACK", called("LAPACK", np.linalg.inv, M), M.shape)
    slope = utility.deviations(np.diag(A).copy(), p).slope
    gain = slope @ (A @ matrix) ** 2 / (p @ matrix)
    member = (classes.groups[:, None] == np.unique(classes.groups)).astype(np.float64)
    levels = called("LAPACK", np.linalg.lstsq, matrix.T @ member, gain, rcond=None)[0]
    mixture = classes.evened(Mixture(np.ones(0), p, A, member @ levels, gain, 0.0))
    return RiskProof.of(mixture, by_classes, None)(problem)


def relaxed(problem: Problem, worst: Weights | None) -> Problem | None:
    """Return the problem under local differential privacy; None if there is no such budget.

    If the notions bound the ratio of any two entries of a column, q_x <= e**budget q_z, private
    channels are locally differentially private at that budget, for which the rays are known. The
    least risk under that notion is a lower bound. A worst case is bounded at the prior ``worst``.
    """
    by_ratios = [rows for rows in problem.cone.ratios.values() if max(rows.scales) <= 1]
    budgets = [float(closure(rows.lengths()).max()) for rows in by_ratios]
    lifts = [rows.sides() for f in problem.cone.families if (rows := f.lift_rows()) is not None]
    budgets += [float(sum(sides.values())) for sides in lifts if len(sides) == 2]
    budget = min(budgets, default=math.inf)
    if len(problem.domain) > MOST_INPUTS or not 0 < budget <= LARGEST_BUDGET:
        return None
    utility, prior = problem.utility, problem.prior
    if worst is not None:
        utility, prior = type(utility)(), Prior(worst)
    return Problem(problem.domain, LDP(budget), utility, prior=prior)

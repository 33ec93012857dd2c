"""Maximal leakage: the likeliest inputs are reported, the others merged with them."""

from __future__ import annotations

from benchmarks.atlas.base import Formula, Point, Region
from benchmarks.atlas.formulas.randomized_response import GRRHamming
from mechdesign.channel import Channel
from mechdesign.closed_forms import LikeliestInputs
from mechdesign.notions import MaximalLeakage
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.utilities import BayesAccuracy


class LeakageAccuracy(Formula):
    """The best guess under maximal leakage, where one of four inputs is rarer.

    Its accuracy is measured in place of the Hamming loss, which is 0 from e**eps = 4 on.
    """

    name = "leakage-accuracy"
    title = "The likeliest inputs, maximal leakage\naccuracy of the best guess, four inputs"
    source = "Saeidian, Cervia, Oechtering and Skoglund 2021 (arXiv 2105.01033)"
    claim = "least Hamming loss, which is 1 less the accuracy measured here, for every prior"
    axis = GRRHamming.axis

    def prior(self, at: Point) -> Prior:
        """Return one rare input among four."""
        return GRRHamming().prior(at)

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        prior = self.prior(at)
        return Problem(range(len(prior)), MaximalLeakage(at.epsilon), BayesAccuracy(), prior=prior)

    def channel(self, at: Point) -> Channel:
        """Return the matrix."""
        problem = self.problem(at)
        found = LikeliestInputs().optimum(problem).formula()
        return Channel.from_matrix(found.matrix, inputs=problem.domain, outputs=found.outputs)

    def proved(self, at: Point) -> Region | None:
        """Return optimal: see the closed form."""
        return Region.OPTIMAL

"""Objectives by name that are sums of gains of best guesses, and of convex gains."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from mechdesign.kernel.arithmetic import dot, known, need
from mechdesign.kernel.gains import Entropy, Hellinger, Squares, units
from mechdesign.kernel.generators import distribution
from mechdesign.kernel.losses import GuessLosses, TableLosses
from mechdesign.kernel.names.base import NamedObjective, Outputs, Table
from mechdesign.kernel.names.domains import Inputs
from mechdesign.kernel.names.losses import table_losses
from mechdesign.kernel.objectives import GainObjective, Loss, Objective

Numbers = tuple[Fraction, ...]
ONE = Fraction(1)


@dataclass(frozen=True)
class BayesAccuracy(NamedObjective):
    """How often the best guess is the input."""

    kind: ClassVar[str] = "bayes-accuracy"
    sign: ClassVar[int] = -1
    reads: ClassVar[str] = "likeliest"
    of_pairs: ClassVar[bool] = True

    def form(self, on: Inputs, outputs: Outputs) -> Objective:
        """Return a loss with free outputs, one for each input."""
        labels = list(on.labels)
        return Loss(GuessLosses(labels, labels), on.masses, free=True)


@dataclass(frozen=True)
class GVulnerability(NamedObjective):
    """The gain of the best guess: a row of the matrix for each guess."""

    kind: ClassVar[str] = "g-vulnerability"
    sign: ClassVar[int] = -1
    gain_matrix: Table

    def form(self, on: Inputs, outputs: Outputs) -> Objective:
        """Return a loss with free outputs, one for each guess."""
        table_losses(self.gain_matrix, len(self.gain_matrix), on.size)
        costs = [[-g for g in gains] for gains in zip(*self.gain_matrix, strict=True)]
        return Loss(TableLosses(costs), on.masses, free=True)


@dataclass(frozen=True)
class PosteriorError(NamedObjective):
    """The squared error of the posterior mean of f(X), or of the posterior of the histogram."""

    kind: ClassVar[str] = "posterior-mean-squared-error"
    of_pairs: ClassVar[bool] = True
    values: Numbers | None = None
    histogram: bool = False

    @property
    def reads(self) -> str:  # type: ignore[override]
        """The reading of an output by the aggregator."""
        return "posterior" if self.histogram else "mean"

    def form(self, on: Inputs, outputs: Outputs) -> Objective:
        """Return the second moment of f(X), less a gain."""
        p, f = on.masses, self.values
        if self.histogram:
            need(f is None, "the error must be of values or of the histogram, not both")
            return GainObjective(Squares(units(p), p), ONE)
        words = "the objective in the file has not one value for each input"
        f = known(f, words)
        need(len(f) == on.size, words)
        vector = tuple(a * v for a, v in zip(f, p, strict=True))
        return GainObjective(Squares((vector,), p), Fraction(dot(vector, f)))


@dataclass(frozen=True)
class FisherInformation(NamedObjective):
    """Sum_y Sum_j (Sum_x P_x s_xj q_x)**2 / (P . q), with a list of scores for each input."""

    kind: ClassVar[str] = "fisher-information"
    sign: ClassVar[int] = -1
    scores: Table

    def form(self, on: Inputs, outputs: Outputs) -> Objective:
        """Return a gain."""
        p, s = on.masses, self.scores
        fits = len(s) == on.size and len(set(map(len, s))) == 1 and len(s[0]) > 0
        need(fits, "the objective in the file must have as many scores for each input")
        vectors = (tuple(a * v for a, v in zip(c, p, strict=True)) for c in zip(*s, strict=True))
        return GainObjective(Squares(tuple(vectors), p))


@dataclass(frozen=True)
class MutualInformation(NamedObjective):
    """I(X; Y)."""

    kind: ClassVar[str] = "mutual-information"
    sign: ClassVar[int] = -1
    of_pairs: ClassVar[bool] = True

    def form(self, on: Inputs, outputs: Outputs) -> Objective:
        """Return a gain."""
        return GainObjective(Entropy.of_inputs(on.masses))


@dataclass(frozen=True)
class OfMixtures(NamedObjective):
    """How far apart the reports of two mixtures of inputs are."""

    sign: ClassVar[int] = -1
    first: Numbers
    second: Numbers

    def mixtures(self, on: Inputs) -> tuple[Numbers, Numbers]:
        """Return both, of inputs that occur."""
        a, b = (distribution(side, on.size) for side in (self.first, self.second))
        if on.prior is not None:
            occur = all(p or not (v or w) for p, v, w in zip(on.prior, a, b, strict=True))
            need(occur, "a mixture in the file has an input of prior 0")
        return a, b


@dataclass(frozen=True)
class TotalVariation(OfMixtures):
    """Sum_y |a . q - b . q| / 2."""

    kind: ClassVar[str] = "total-variation"

    def form(self, on: Inputs, outputs: Outputs) -> Objective:
        """Return a loss with two free outputs, the signs."""
        half = [(a - b) / 2 for a, b in zip(*self.mixtures(on), strict=True)]
        return Loss(TableLosses([[v, -v] for v in half]), (ONE,) * on.size, free=True)


@dataclass(frozen=True)
class KullbackLeibler(OfMixtures):
    """Sum_y a . q ln(a . q / b . q)."""

    kind: ClassVar[str] = "kullback-leibler"

    def form(self, on: Inputs, outputs: Outputs) -> Objective:
        """Return a relative entropy."""
        a, b = self.mixtures(on)
        return GainObjective(Entropy((a,), (ONE,), b))


@dataclass(frozen=True)
class ChiSquared(OfMixtures):
    """Sum_y (a . q - b . q)**2 / b . q."""

    kind: ClassVar[str] = "chi-squared"

    def form(self, on: Inputs, outputs: Outputs) -> Objective:
        """Return a square."""
        a, b = self.mixtures(on)
        return GainObjective(Squares((tuple(v - w for v, w in zip(a, b, strict=True)),), b))


@dataclass(frozen=True)
class SquaredHellinger(OfMixtures):
    """Sum_y (sqrt(a . q) - sqrt(b . q))**2 / 2."""

    kind: ClassVar[str] = "squared-hellinger"

    def form(self, on: Inputs, outputs: Outputs) -> Objective:
        """Return its own form."""
        a, b = self.mixtures(on)
        return GainObjective(Hellinger(a, b))


Guesses = BayesAccuracy | GVulnerability
"""A gain of the best guess."""

Divergences = TotalVariation | KullbackLeibler | ChiSquared | SquaredHellinger
"""A distance of two mixtures."""

Gains = Guesses | PosteriorError | FisherInformation | MutualInformation | Divergences
"""An objective of this file."""

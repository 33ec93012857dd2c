"""Base classes of mechanisms whose score of an input takes two values, and of those under LDP."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.domain import Domain
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import (
    Frequencies,
    Mechanism,
    NumberedMechanism,
    informative,
    inputs_of,
)
from mechdesign.mechanisms.optimum import least_ldp_risk
from mechdesign.notions import LDP

__all__ = ["LDPMechanism", "TwoScoreMechanism"]


class TwoScoreMechanism(NumberedMechanism):
    """A mechanism with one score of an input where a report hits it, and one where it misses it.

    The hits of each input are counted.
    """

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """The exact p and q of a report to hit its input, and any other one."""
        raise NotImplementedError

    def _scores(self) -> tuple[float | FloatArray, float | FloatArray]:
        """Return the scores of a hit and of a miss: one for all inputs, or one for each."""
        p, q = self.chances
        return float((1 - q) / (p - q)), float(-q / (p - q))

    def batch_frequencies(self, counts: FloatArray, totals: FloatArray) -> Frequencies:
        """Return the estimates of many tallies, one in each row of the counts."""
        hit, (score, miss) = counts / totals[:, None], self._scores()
        return Frequencies(hit * score + (1 - hit) * miss, hit * score**2 + (1 - hit) * miss**2)

    def expected_counts(self, weights: FloatArray) -> FloatArray:
        """Return how likely a report hits each input: as likely as makes the scores unbiased."""
        score, miss = self._scores()
        return np.asarray((weights - miss * weights.sum()) / (score - miss))

    def _combined(self, weights: FloatArray) -> FloatArray:
        """Return Sum_x w_x s_x(y) for each report y; report y hits the input of the same number."""
        score, miss = self._scores()
        return np.asarray(weights * (score - miss) + (weights * miss).sum())


class LDPMechanism(Mechanism):
    """A mechanism under LDP: its largest ratio is that of every two inputs."""

    options: ClassVar[Mapping[str, int | None]] = {}
    """Arguments beyond inputs and epsilon; the saved parameters have them under the same names, or
    lack them where they are as stated here."""

    _notion: LDP

    def __init__(self, inputs: Domain | Iterable[Any] | int, epsilon: Exact) -> None:
        self.inputs = inputs_of(inputs)
        self._notion = informative(LDP(epsilon), LDP)

    @classmethod
    def restored(cls, inputs: Domain, notion: LDP, parameters: Mapping[str, Any]) -> LDPMechanism:
        """Return the mechanism of saved parameters."""
        make: Callable[..., LDPMechanism] = cls
        options = {key: parameters.get(key, usual) for key, usual in cls.options.items()}
        return make(inputs, notion.epsilon, **options)

    @property
    def least_known_risk(self) -> float:
        """The least l2 risk of all channels under LDP, at the uniform prior (Ye and Barg 2018)."""
        return least_ldp_risk(len(self.inputs), self._notion.epsilon)

    @property
    @abstractmethod
    def best_guess(self) -> float:
        """How likely the best guess of a uniform input from one report is right.

        That is Sum_y max_x Q(y|x) / k, exact but for floating point; 1/k without a report.
        """

    def decoding_work(self, n: int) -> float:
        """Return about how many additions the estimates from n reports take."""
        return float(n + self.alphabet.n_counts)

    def ratio(self, x: int, other: int) -> Fraction:
        """Return the largest ratio of two rows."""
        return Fraction(1) if x == other else self.largest_ratio()

    @property
    def common_ratio(self) -> Fraction:
        """The largest ratio of every two rows."""
        return self.largest_ratio()

"""The tables of a file of a rounded problem, and the problem that they state."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, pairwise
from typing import Any, ClassVar, Literal

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.certificate import Certificate, Steps
from mechdesign.kernel.documents import ChannelTable, Claims
from mechdesign.kernel.names.base import MeanOrWorst
from mechdesign.kernel.names.lifts import LIP, PML, AsymmetricLift
from mechdesign.kernel.names.losses import (
    Euclidean,
    MeanAbsoluteError,
    MeanSquaredDistance,
)
from mechdesign.kernel.names.ratios import LDP, Metric
from mechdesign.kernel.names.sums import (
    ApproximateLDP,
    ApproximateLIP,
    MaximalLeakage,
    MutualInformation,
)
from mechdesign.kernel.rounding.families import End
from mechdesign.kernel.rounding.nodes import Rounded
from mechdesign.kernel.rounding.priors import Prior, moments_of, steps as moment_steps
from mechdesign.resources import check_size

__all__ = ["Linear", "NodeChannel", "Released", "RoundedFile", "RoundedProblem", "rounded_problem"]


@dataclass(frozen=True)
class ReadNumber(MeanOrWorst):
    """An error of what is read from an output."""

    def form(self, on: Any, outputs: Any) -> None:
        """Return None: it is compiled on the nodes."""


@dataclass(frozen=True)
class Estimate(ReadNumber):
    """The squared error of the posterior mean of the number."""

    kind: ClassVar[str] = "posterior-mean-squared-error"
    reads: ClassVar[str] = "mean"
    worst_case: bool = field(default=False, init=False)


@dataclass(frozen=True)
class UnbiasedReading(ReadNumber):
    """The variance of readings whose mean is the number."""

    kind: ClassVar[str] = "unbiased-variance"
    reads: ClassVar[str] = "readings"


@dataclass(frozen=True)
class Side:
    """An interval, the domain on one axis."""

    interval: tuple[Fraction | Literal["-inf"], Fraction | Literal["inf"]]

    @property
    def ends(self) -> tuple[End, End]:
        """Its ends; infinite ones as floats."""
        low, high = self.interval
        return (
            -math.inf if isinstance(low, str) else low,
            math.inf if isinstance(high, str) else high,
        )


MixedNotions = (
    LDP
    | LIP
    | PML
    | AsymmetricLift
    | ApproximateLDP
    | ApproximateLIP
    | MaximalLeakage
    | MutualInformation
    | Metric
)
"""The notions that hold for mixtures of rows, and that by distance on a line."""

RoundedLosses = MeanAbsoluteError | MeanSquaredDistance | Euclidean | Estimate | UnbiasedReading


@dataclass(frozen=True)
class RoundedProblem:
    """A problem on an interval or a box.

    Attributes
    ----------
    domain
        An interval for each axis.
    prior
        The law of the input.
    privacy, utility
        What is asked, and the loss.
    """

    domain: tuple[Side, ...]
    prior: Prior
    privacy: tuple[MixedNotions, ...]
    utility: RoundedLosses


@dataclass(frozen=True)
class Linear:
    """Each coordinate goes to a node beside it, at random, with the coordinate as the mean."""

    kind: ClassVar[str] = "linear"
    axes: tuple[tuple[Fraction, ...], ...]


Released = float | tuple[float, float]


@dataclass(frozen=True)
class NodeChannel(ChannelTable):
    """A channel of the nodes; its outputs are numbers, or points, or numbered from 0."""

    outputs: tuple[Released, ...]  # type: ignore[assignment]


@dataclass(frozen=True, kw_only=True)
class RoundedFile(Claims):
    """A kernel on an interval or a box that was designed, with the problem and the proof."""

    sense: Literal["minimize"]
    channel: NodeChannel
    rounding: Linear
    problem: RoundedProblem
    certificate: Certificate


def rounded_problem(
    problem: RoundedProblem, axes: tuple[tuple[Fraction, ...], ...], steps: Steps | None = None
) -> Rounded:
    """Return a problem on its nodes, with the moments of the cells.

    Raises
    ------
    CertificateError
        If it contradicts itself.
    """
    ends, sides = tuple(side.ends for side in problem.domain), len(problem.domain)
    need(sides in (1, 2) and len(axes) == sides, "expected one or two intervals, and nodes on each")
    for axis, (low, high) in zip(axes, ends, strict=True):
        need(
            len(axis) > 1 and all(a < b for a, b in pairwise(axis)),
            "the nodes are not increasing",
        )
        fits = low in (-math.inf, axis[0]) and high in (math.inf, axis[-1])
        need(fits, f"the nodes do not go from end to end of the {_domain(sides)}")
    is_bounded = not {-math.inf, math.inf} & set(chain(*ends))
    need(is_bounded or sides == 1, "an unbounded box")
    check_size("inputs", math.prod(map(len, axes)), "rounding")
    if steps is not None:
        steps.take(moment_steps(problem.prior, axes), "the moments of the cells")
    notions, loss = problem.privacy, problem.utility
    need(notions, "the file claims no notion of privacy")
    for notion in notions:
        notion.check()
        need(getattr(notion, "secret", None) is None, f"{notion.name}: a secret behind a number")
    metric = [notion for notion in notions if isinstance(notion, Metric)]
    known = sides == 1 and len(metric) == 1 and metric[0].distance == "absolute"
    need(known or not metric, "expected one notion by distance, by that of numbers")
    distances = ("euclidean", "squared") if sides == 2 else ("absolute", "squared", None)
    need(getattr(loss, "distance", None) in distances, f"{loss.name} of a number or a point")
    moments = moments_of(problem.prior, axes, ends)
    need(len(moments.cells) == math.prod(len(axis) - 1 for axis in axes), "expected all cells")
    beyond = zip(moments.tails, ((ends[0][0], axes[0][0]), (ends[0][1], axes[0][-1])), strict=True)
    need(
        all(end != node or not any(tail) for tail, (end, node) in beyond),
        "there is mass beyond the ends",
    )
    moments.check(sides)
    return Rounded(axes, is_bounded, moments, notions, loss)


def _domain(sides: int) -> str:
    return "interval" if sides == 1 else "box"

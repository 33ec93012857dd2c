"""What a route returns: a raw channel, not yet private to the last bit, and dual weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mechdesign.domain import Label
from mechdesign.notions.cone import Multipliers
from mechdesign.prior_sets import Weights

__all__ = ["Dual", "FamilyDual", "RawSolution"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class FamilyDual:
    """Dual weights on the rows of the notion number ``notion`` of the problem.

    Attributes
    ----------
    notion
        Its place among the problem's notions.
    multipliers
        The weights; ``other`` of a lift row is a place in ``priors``.
    priors
        The priors that lift rows refer to; empty for rows on ratios.
    """

    notion: int
    multipliers: tuple[Multipliers, ...]
    priors: tuple[Weights, ...] = ()


@dataclass(frozen=True)
class Dual:
    """Dual weights of a linear problem: evidence for a bound, to be checked and not believed.

    Attributes
    ----------
    families
        Weights on the rows of the notions.
    weights
        For a worst case, ``(n_inputs,)`` weights on the inputs; else None.
    decoders
        For a posterior-mean squared error, the decoders that the outputs in the multipliers
        stand for, in rising order; else None.
    potential
        For a sum of gains, ``(n_inputs,)`` prices; else None.
    search
        How the checker finds what the prices leave: ``"rays"`` or ``"lifts"``.
    nodes, surplus
        For a search over lifts: at most so many boxes, or until the surplus is at most this.
    priors
        For a search over rays: the priors of a notion about a set whose rows are used.
    """

    families: tuple[FamilyDual, ...]
    weights: FloatArray | None = None
    decoders: tuple[Fraction, ...] | None = None
    potential: FloatArray | None = None
    search: str = ""
    nodes: int = 0
    surplus: float = 0.0
    priors: Mapping[int, tuple[Weights, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class RawSolution:
    """An answer of a solver.

    Attributes
    ----------
    matrix
        ``(n_inputs, n_outputs)`` floats, a channel up to the solver's tolerance.
    outputs
        Labels of its columns.
    dual
        Evidence of optimality, if the solver gives any.
    route
        How it was found, for the report.
    notes
        Sentences for the report: reductions, components, rounds.
    numeric_bound
        A bound on the objective computed in floating point, for an objective that the checker does
        not know: it stands in the place of a proof. None where the dual is to be checked.
    """

    matrix: FloatArray
    outputs: tuple[Label, ...]
    dual: Dual | None
    route: str
    notes: Sequence[str] = field(default=())
    numeric_bound: Fraction | None = None

"""What a route returns: a channel, private up to rounding, and the dual variables for a bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from mechdesign._typing import FloatArray
from mechdesign.domain import Label
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.prior_sets import Weights

__all__ = ["Dual", "EstimationData", "FamilyDual", "Information", "Path", "RawSolution"]


class Tree(Protocol):
    """A tree of boxes that can be written as a list."""

    def to_list(self) -> list[list[Any]]:
        """Return the list."""


@dataclass(frozen=True)
class FamilyDual:
    """Multipliers of the rows of the notion number ``notion`` of the problem.

    Attributes
    ----------
    notion
        Its place among the problem's notions.
    multipliers
        Numbers >= 0; ``other`` of a lift row is a place in ``priors``.
    priors
        The priors that lift rows refer to; empty for rows on ratios.
    """

    notion: int
    multipliers: tuple[Multipliers, ...]
    priors: tuple[Weights, ...] = ()


@dataclass(frozen=True)
class Information:
    """Dual variables of bounds on the mutual information of X and Y.

    Attributes
    ----------
    multipliers
        That of each such notion, by its place among the problem's notions: loss per nat.
    potentials
        ``(n_inputs,)`` numbers in the unit of the loss, as in
        :mod:`mechdesign.routes.conic.blahut_arimoto`.
    """

    multipliers: Mapping[int, float]
    potentials: FloatArray


@dataclass(frozen=True)
class EstimationData:
    """What, with potentials, bounds the risk of estimating a distribution.

    Attributes
    ----------
    rows
        ``(n_inputs, n_inputs)``: a vector for each input, a row of M**-1; with tangents, over its
        entry there.
    tangents
        ``(n_inputs,)`` deviations at which roots are linearized; None where there are no roots.
    prior
        For a worst case, the distribution that the bound is for and the estimator is made for.
    """

    rows: FloatArray
    tangents: FloatArray | None = None
    prior: Weights | None = None


@dataclass(frozen=True)
class Dual:
    """Dual variables: evidence for a bound, which the checker recomputes from them.

    Attributes
    ----------
    families
        Multipliers of the rows of the notions.
    input_multipliers
        For a worst case, ``(n_inputs,)`` multipliers of the losses of the inputs; else None.
    decoders
        For a posterior-mean squared error, the decoders that the outputs in the multipliers
        stand for, in rising order; else None.
    potentials
        ``(n_inputs,)`` dual variables of the equations that rows sum to 1: for a sum of gains, and
        for a linear loss where they prove the bound.
    decoder_potentials
        For a posterior-mean squared error with potentials, ``(n_decoders,)``: for each decoder that
        of P . r = 1 for the column r. Decoders and potentials are then in units in which f runs
        from 0 to 1.
    search
        How the checker finds the largest gain less its price at the potentials: ``"rays"``,
        ``"classes"``, either of them with ``"ldp-"`` before it, ``"sums"``, ``"sets"``,
        ``"boxes"`` or ``"decoders"``; or the least reduced cost of a linear loss: ``"chain"``,
        ``"one-budget"`` or ``"lifts"``. Empty where potentials are no evidence.
    tree
        For a search over boxes: an object whose ``to_list()`` is the tree of them.
    evidence
        What else the proof needs, by the keys of a saved file.
    priors
        For a search over rays: the priors of a notion about a set whose rows are used.
    information
        Dual variables of bounds on the mutual information, where they bind; else None.
    estimation
        For a risk of estimation, what the bound is made from.
    """

    families: tuple[FamilyDual, ...]
    input_multipliers: FloatArray | None = None
    decoders: tuple[Fraction, ...] | None = None
    potentials: FloatArray | None = None
    decoder_potentials: FloatArray | None = None
    search: str = ""
    tree: Tree | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    priors: Mapping[int, tuple[Weights, ...]] = field(default_factory=dict)
    estimation: EstimationData | None = None
    information: Information | None = None


@dataclass(frozen=True)
class Path:
    """A point near the central path of an interior-point method: a warm start for a larger cone.

    Attributes
    ----------
    v
        ``(batch, n_vars, m)``: the columns with their auxiliary variables.
    products
        ``(batch, n_rows, m)``: the complementarity products w s of the rows.
    """

    v: FloatArray
    products: FloatArray


@dataclass(frozen=True)
class RawSolution:
    """The answer of a route.

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
        Sentences for the report: reductions, groups of inputs, rounds.
    numeric_bound
        A bound on the objective computed in floating point, for an objective that the checker does
        not know: it stands in the place of a proof. None where the dual is to be checked.
    path
        Where a warm start for a problem nearby begins; None for methods that have none.
    value
        The objective at the channel in floating point, where the route knows it.
    theorem
        A bound that the checker proves without data; None if the dual must do.
    theorem_data
        What the certificate must name for the theorem.
    """

    matrix: FloatArray
    outputs: tuple[Label, ...]
    dual: Dual | None
    route: str
    notes: Sequence[str] = field(default=())
    numeric_bound: Fraction | None = None
    path: Path | None = field(default=None, repr=False)
    value: float | None = None
    theorem: str | None = None
    theorem_data: Mapping[str, Any] = field(default_factory=dict)

"""The worst column in a cone, by linear programming, and a private channel that contains it.

Any ray r of a cone of columns is a column of some private channel: t r and 1 - t r, for a small t,
since the column of ones is in the interior of the cone. (If it is not, because a bound of 1 forces
rows to be equal, the entries of r are equal there too.) If a leakage is the largest ratio of two
linear forms of a column, its maximum over all private channels is a linear program over rays:

    max left . r    subject to    right . r = 1,   G r <= 0,   r >= 0.

Relations between notions: the exact guarantee that one notion implies under another, by LPs.

The exact value is the largest leakage of any channel that satisfies the first notion. Optimization
over the polytope of these channels gives it with a channel that attains it. The papers' bounds are
reported as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

from mechdesign._typing import FloatArray
from mechdesign.accounting.conversions import best_bound
from mechdesign.accounting.ratios import log_above
from mechdesign.channel import Channel
from mechdesign.designs.design import design
from mechdesign.domain import Domain
from mechdesign.errors import (
    InfeasibleError,
    InputError,
    SolverError,
    UnsupportedError,
    choose,
    shown_kind,
)
from mechdesign.notions import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    Cone,
    DifferentialIdentifiability,
    MaximalLeakage,
    MutualInformationLeakage,
    Notion,
)
from mechdesign.prior import Prior, as_prior
from mechdesign.problem import Problem
from mechdesign.repair import repair
from mechdesign.solver_guard import called, checked
from mechdesign.text import Table, Tabular
from mechdesign.utilities import Distortion, MutualInformation

TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}

SOME = 1e-9
"""A form that reaches this value on a ray of sum 1 counts as nonzero."""

DUST = 1e-12

APART = 1e-3
"""A channel that leaks this much less than the supremum shows that floats did not resolve it."""

TOO_LARGE = "no worst column was found: the ratios are too large for floats, take a smaller epsilon"


class ExtremalColumns:
    """The rays r of a cone of private columns, as a linear program: G r <= 0, H r = 0.

    H contains the inputs whose rows of Q must be equal.
    """

    def __init__(self, cone: Cone) -> None:
        self.cone, self.matrix = cone, cone.matrix().toarray()
        classes, k = cone.equal_classes(), cone.size
        first = np.unique(classes, return_index=True)[1][classes]
        self.equal = (np.eye(k) - np.eye(k)[first])[first != np.arange(k)]

    def worst(self, left: FloatArray, right: FloatArray) -> tuple[float, FloatArray]:
        """Return the supremum of left . r / right . r, possibly inf, and a ray that attains it.

        A supremum of inf is the solver's word: whether the channel with this ray leaks without
        limit is to be checked. A finite ratio above about e**18 may raise SolverError.
        """
        found = _program(left, self.matrix, self.equal, right)
        if found.status == 0:
            column = checked("HiGHS", found.x, left.shape)
            return float(left @ column), np.maximum(column, 0)
        size = np.abs(self.matrix).max(axis=1, initial=0.0)
        rows = self.matrix[size > 0] / size[size > 0, None]
        found = _program(left, rows, np.vstack([self.equal, right]), np.ones(len(left)))
        if found.status != 0 or -found.fun < SOME:
            raise SolverError(TOO_LARGE)
        column = checked("HiGHS", found.x, left.shape)
        return math.inf, np.where((column > DUST) & (right == 0), column, 0.0)

    def channel(self, ray: FloatArray, domain: Domain) -> Channel:
        """Return an exact private channel with columns t r and 1 - t r for a ray r."""
        r = ray / ray.max()
        slack, push = -self.matrix.sum(axis=1), -(self.matrix @ r)
        # the column 1 - t r keeps G (1 - t r) <= 0 as long as t push <= slack
        rows = push > DUST
        most = min([1.0, *(np.maximum(slack[rows], 0) / push[rows]).tolist()])
        t = most / 2
        numerators, kept = repair(self.cone, np.column_stack([t * r, 1 - t * r]))
        return Channel(numerators, inputs=domain, outputs=kept)


def _program(goal: FloatArray, rows: FloatArray, equal: FloatArray, unit: FloatArray) -> Any:
    """Maximize goal . r where rows r <= 0, equal r = 0 and unit . r = 1, r >= 0."""
    solver: Any = linprog
    return called(
        "HiGHS",
        solver,
        -goal,
        rows,
        np.zeros(len(rows)),
        np.vstack([equal, unit]),
        np.append(np.zeros(len(equal)), 1.0),
        options=TOLERANCES,
    )


ANY = 600
"""Placeholder epsilon of the targets below, replaced by :func:`_without_budget`."""

TARGETS: dict[str, Notion] = {
    "ldp": LDP(ANY),
    "lip": LIP(ANY),
    "max-lift": AsymmetricLift("inf", 0),
    "min-lift": AsymmetricLift(0, "inf"),
    "pml": PML(ANY),
    "differential-identifiability": DifferentialIdentifiability(ANY),
    "mutual-information": MutualInformationLeakage(ANY),
    "maximal-leakage": MaximalLeakage(ANY),
}
"""The notions that guarantees are translated to, by name."""

MOST_PROGRAMS = 1024
"""Maximum number of linear programs for one exact value."""

NEAR = 1e-10
"""Differences of leakages up to this count as rounding."""

LEAST_SHARE = Fraction(1, 2**40)
"""Smaller probabilities count as 0: of releasing the input in the erasure channel, and of an input
in an expected loss."""


@dataclass(frozen=True)
class Implied:
    """The guarantee under one notion that a guarantee under another implies.

    Attributes
    ----------
    notion
        The given guarantee.
    target
        The name of the implied notion.
    tight
        The largest leakage of any channel that satisfies ``notion``, in nats, to 1e-9; inf if it is
        unbounded; None if it is not computed. For a target with budgets but no epsilon, such as
        lift bounds, this and the other values are the largest excess over the budgets.
    channel
        A channel that satisfies ``notion`` exactly and attains ``tight``; None if that is None.
    attained
        The exact leakage of that channel, rounded up.
    bound
        The least bound in closed form, in nats; None if no theorem relates the two notions.
    source
        The source of the bound.
    """

    notion: Notion
    target: str
    tight: float | None
    channel: Channel | None
    attained: float | None
    bound: float | None
    source: str

    def __repr__(self) -> str:
        tight = "not computed exactly" if self.tight is None else f"exactly {self.tight:.6f} nats"
        bound = "none" if self.bound is None else f"{self.bound:.6f} ({self.source})"
        return f"{self.notion!r} implies {self.target}: {tight}, bound {bound}"


@dataclass(frozen=True, repr=False)
class Relations(Tabular):
    """The guarantees that one guarantee implies under every other notion. Its repr is a table.

    Attributes
    ----------
    notion
        The given guarantee.
    rows
        One implied guarantee for each notion.
    """

    indent = "  "

    notion: Notion
    rows: tuple[Implied, ...]

    def __getitem__(self, target: str) -> Implied:
        return choose({row.target: row for row in self.rows}, target, "target")

    def _head(self) -> str:
        return f"{self.notion!r} implies, in nats"

    def _table(self) -> Table:
        rows = [(r.target, _nats(r.tight), _nats(r.bound), r.source) for r in self.rows]
        return Table(("notion", "exactly", "bound", ""), rows, "<>><")


def _nats(value: float | None) -> str:
    return "-" if value is None else f"{value:.6f}"


def implied(
    notion: Notion,
    target: str | Notion,
    prior: Prior | None = None,
    *,
    domain: Domain | None = None,
) -> Implied:
    """Return the guarantee implied under another notion, exactly and by the papers' bounds.

    Parameters
    ----------
    notion
        The guarantee, with its epsilon.
    target
        A name in :data:`TARGETS`, or a notion, whose epsilon is ignored. For a notion with budgets
        but no epsilon, such as lift bounds, values are the largest excess over its budgets.
    prior
        The distribution of X, if either notion needs it.
    domain
        The inputs; default the labels of the prior, or ``0..len(prior)-1``.

    Raises
    ------
    InputError
        If neither prior nor domain is given, or they differ in size.
    InfeasibleError
        If no channel satisfies the notion.
    UnsupportedError
        If there are too many inputs.
    SolverError
        If ratios exceed about e**18, which floats cannot distinguish from infinite ones.

    Notes
    -----
    The exact value is problem (9) of Jiang et al. 2021 (TIFS), generalized to any two notions that
    are cones of columns: the largest ratio of two linear forms over the rays of the first cone.
    :func:`mechdesign.design` maximizes averages; the exact value is then its proved bound.

    Examples
    --------
    >>> found = implied(LIP(1), "ldp", Prior([0.1, 0.2, 0.7]))
    >>> found
    LIP(epsilon=1) implies ldp: exactly 2.000000 nats, bound 2.000000 (Jiang et al. ...)
    >>> found.channel.shape, LIP(1).holds(found.channel, Prior([0.1, 0.2, 0.7]))
    ((3, 2), True)
    """
    if not isinstance(notion, Notion):
        raise InputError("notion", "a notion, such as LDP(1)", shown_kind(notion))
    prior = None if prior is None else as_prior(prior)
    if domain is None:
        if prior is None:
            raise InputError("prior", "a prior, or the inputs as domain=", "neither")
        domain = Domain(prior.labels or range(len(prior)))
    domain = Domain.of(domain)
    prior = None if prior is None else prior.aligned(domain)
    notion = notion.aligned(domain)
    name = target.name if isinstance(target, Notion) else target
    wanted = target if isinstance(target, Notion) else choose(TARGETS, target, "target")
    wanted = _without_budget(wanted.aligned(domain), prior)
    bound, source = best_bound(notion, wanted, prior) or (None, "")
    if not notion.is_conic:
        tight, channel = _by_erasure(notion, wanted, domain, prior)
    elif not wanted.is_conic:
        tight, channel = _average(notion, wanted, domain, prior)
    else:
        tight, channel = _worst(notion, wanted, domain, prior)
    attained = None
    if channel is not None:
        attained = math.inf if tight == math.inf else wanted.leakage(channel, prior)
    return Implied(notion, name, tight, channel, attained, bound, source)


def relations(
    notion: Notion, prior: Prior | None = None, *, domain: Domain | None = None
) -> Relations:
    """Return the guarantees implied under all applicable notions of :data:`TARGETS`.

    Parameters
    ----------
    notion, prior, domain
        As for :func:`implied`. Without a prior, notions that need one are left out.

    Examples
    --------
    >>> relations(LIP(1), Prior([0.1, 0.2, 0.7]))
    LIP(epsilon=1) implies, in nats
      notion                         exactly     bound
      ldp                           2.000000  2.000000  Jiang et al. 2021 (TIFS), Proposition 1
      lip                           1.000000         -
      max-lift                      1.000000  1.000000  the definitions
      min-lift                      1.000000  1.000000  the definitions
      pml                           1.000000  1.000000  the definitions
      differential-identifiability  3.185642  3.945910  Jiang et al. 2021 (TIFS), Theorem 3
      mutual-information            0.197737  1.000000  Jiang et al. 2021 (TIFS), Theorem 3; ...
      maximal-leakage               0.717560  1.000000  Jiang et al. 2021 (TIFS), Theorem 3; ...
    """
    rows = [
        implied(notion, name, prior, domain=domain)
        for name, target in TARGETS.items()
        if prior is not None or not target.needs_prior
    ]
    return Relations(notion, tuple(rows))


def _without_budget(target: Notion, prior: Prior | None) -> Notion:
    """Return the target at an epsilon that is feasible for every ratio of prior probabilities."""
    if not target.has_epsilon:
        return target
    least = min((p for p in prior or () if p), default=Fraction(1))
    return target.at(ANY + math.ceil(log_above(1 / least)))


def _worst(
    notion: Notion, target: Notion, domain: Domain, prior: Prior | None
) -> tuple[float, Channel]:
    """Maximize each ratio bounded by the target over the rays of the notion."""
    rays = ExtremalColumns(notion.cone(domain, prior))
    try:
        family = target.family(domain, prior)
    except InfeasibleError:  # at every epsilon: even a constant channel has infinite leakage
        return math.inf, rays.channel(np.ones(len(domain)), domain)
    rows = list(family.at(Fraction(0)).rows())
    if len(rows) > MOST_PROGRAMS:
        expected = f"at most {MOST_PROGRAMS} ratios that {target.name} bounds"
        raise UnsupportedError("domain", expected, f"{len(rows)}, of {len(domain)} inputs")
    best, ray = -math.inf, np.ones(len(domain))
    for row in rows:
        scale, left = _form(row.left, domain)
        unit, right = _form(row.right, domain)
        ratio, found = rays.worst(left, right)
        log_ratio = math.log(ratio) + log_above(scale) - log_above(unit)
        leakage = _leakage(log_ratio, float(row.exponent), float(row.slope))
        if leakage > best + NEAR:
            best, ray = leakage, found
    channel = rays.channel(ray, domain)
    if rows and target.leakage(channel, prior) < best - APART:
        raise SolverError(TOO_LARGE)
    return (best if rows else 0.0), channel


def _form(entries: Mapping[int, Fraction], domain: Domain) -> tuple[Fraction, FloatArray]:
    """Return the largest coefficient of a linear form, and the form divided by it."""
    scale = max(entries.values())
    form = np.zeros(len(domain))
    for x, entry in entries.items():
        form[x] = float(entry / scale)
    return scale, form


def _leakage(log_ratio: float, base: float, slope: float) -> float:
    """Return the epsilon at which ``base + slope epsilon`` reaches the logarithm of a ratio."""
    if slope == 0:
        return math.inf if log_ratio > base + NEAR else -math.inf
    return (log_ratio - base) / slope


def _average(
    notion: Notion, target: Notion, domain: Domain, prior: Prior | None
) -> tuple[float | None, Channel | None]:
    """Maximize a sum over outputs: a design problem, solved with a proved bound."""
    largest = AVERAGES.get(target.name)
    return largest(notion, domain, prior or Prior.uniform(len(domain))) if largest else (None, None)


def _most_information(
    notion: Notion, domain: Domain, prior: Prior
) -> tuple[float | None, Channel | None]:
    solution = design(Problem(domain, notion, MutualInformation(), prior=prior))
    return float(solution.bound), solution.channel


def _most_maximal_leakage(
    notion: Notion, domain: Domain, prior: Prior
) -> tuple[float | None, Channel | None]:
    """Maximize Sum_y max_x Q[x,y] = k - min Sum_(x != y) Q[x,y], where y is a guess of x."""
    if prior.minimum < LEAST_SHARE:
        return None, None  # the expected loss below ignores inputs of probability near 0
    k = len(prior)
    loss = [[(x != y) / p for y in range(k)] for x, p in enumerate(prior)]
    solution = design(Problem(domain, notion, Distortion(loss), prior=prior, outputs=range(k)))
    return math.log(k - solution.bound), solution.channel


AVERAGES = {"mutual-information": _most_information, "maximal-leakage": _most_maximal_leakage}
"""Notions of the whole channel whose maximum is a design problem, by name."""


def _by_erasure(
    notion: Notion, target: Notion, domain: Domain, prior: Prior | None
) -> tuple[float | None, Channel | None]:
    """Show by an erasure channel that a notion of the whole channel bounds no ratio.

    The channel releases the input with a small probability, which an average allows, else a blank.
    An output that is possible for one input only has an infinite ratio. Averages are not compared.
    """
    k, share = len(domain), LEAST_SHARE
    rows = [[share * (x == y) for y in range(k)] + [1 - share] for x in range(k)]
    channel = Channel.from_matrix(rows, inputs=domain)
    if k == 1 or not target.is_conic or not notion.holds(channel, prior):
        return None, None
    is_infinite = math.isinf(target.leakage(channel, prior))
    return (math.inf, channel) if is_infinite else (None, None)

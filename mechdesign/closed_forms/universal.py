"""Universal channels, which are optimal for every purpose, where one exists.

The columns of private channels lie in a cone. If it has as many facets as inputs, it has as many
extreme rays, every column is a unique mixture of them, and the rays scaled to sum to the constant
column are a channel U. Every private channel is a post-processing of U, which is optimal for every
utility that no post-processing raises.

Scaled to the value 1 on the constant column, each row f . q >= 0 of the cone is a point of a
polytope, and the facets of the cone are the vertices of that polytope: the cone is simplicial
exactly if the polytope is a simplex. A vertex is an extreme point in some direction. So n vertices
that span are found, in floating point, each in a direction orthogonal to the plane of those before.
Whether these n rows imply all others is decided on the rays, the columns of their inverse, with 80
digits. Budgets are exact: if some add up to
another, the rows agree to nearly as many digits, and numbers that agree to 60 digits count as
equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from mechdesign._typing import FloatArray, IntArray
from mechdesign.channel import Channel
from mechdesign.domain import Domain
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.evidence.facets import NamedRow
from mechdesign.notions import Cone, Notion, cone_of
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.prior import Prior, prior_on
from mechdesign.prior_sets import PriorSet, Weights
from mechdesign.problem import notions_of
from mechdesign.repair import repair

__all__ = ["Decision", "Universality", "decide_cone", "universal_channel"]

ZERO, ONE = Decimal(0), Decimal(1)
DIGITS, EQUAL = 80, Decimal("1e-60")
"""Digits of numbers, and the relative size below which a difference counts as 0."""

SAME, NUDGE, SPREAD = 1e-9, 1e-6, 0.01

FIRST = 4
"""The number of facets sought about two inputs: lifts have two for each in most cones."""

LARGEST = Fraction(700)
"""The largest exponent of e that gives a finite float."""

GRAIN = 2.0**40

LEAST = 5e-324
"""The least positive float."""

MOST_FACETS_SHOWN = 8


@dataclass(frozen=True, eq=False)
class Decision:
    """Whether a cone has as many facets as dimensions.

    Attributes
    ----------
    simplicial
        None if undecided.
    reason
        The reason, in a sentence.
    facets
        The facets, one for each input, if it is simplicial; rows that tie inputs come last.
    matrix
        ``(n_inputs, n_outputs)`` floats: the universal channel, if there is one.
    """

    simplicial: bool | None
    reason: str
    facets: tuple[NamedRow, ...] = ()
    matrix: FloatArray | None = None


def decide_cone(cone: Cone) -> Decision:
    """Decide whether a cone is simplicial, and find its universal channel.

    Inputs whose rows of Q must be equal count as one.
    """
    if not all(isinstance(family, PairRows | LiftRows) for family in cone.families):
        return Decision(None, "not decided for rows of this kind")
    classes, ties = _ties(cone)
    rows = _Rows(cone, classes)
    if rows.n == 1:
        facet: NamedRow = (None, "positive", 0, None, None)
        alone = "all rows of the channel are equal"
        return Decision(True, alone, (facet, *ties), np.ones((cone.size, 1)))
    with localcontext(prec=DIGITS):
        try:
            facets = rows.facets()
            matrix = None if facets is None else rows.channel(facets)
        except (SolverError, UnsupportedError) as error:
            return Decision(None, f"not decided: {error}")
    if facets is None or matrix is None:
        return Decision(False, f"there are more than {rows.n} facets for {rows.n} inputs")
    reason = "as many rows as there are inputs imply all others"
    return Decision(True, reason, (*facets, *ties), matrix[classes])


def _ties(cone: Cone) -> tuple[IntArray, list[NamedRow]]:
    """Return the classes of inputs tied by bounds of exactly 1, and rows that tie them.

    A tree of rows q_x <= q_z spans each class: its slacks sum to 0 over the outputs. For lifts, the
    rows of all inputs but one of positive probability: q_x = P . q makes that one equal too.
    """
    tied = np.zeros((cone.size, cone.size), dtype=np.intp)
    for n, family in enumerate(cone.families):
        if isinstance(family, LiftRows):
            for side, exponent in family.sides().items():
                if exponent == 0:
                    prior = family.priors.extreme(range(cone.size), largest=True)
                    spared = next(x for x, p in enumerate(prior) if p)
                    others = (x for x in range(cone.size) if x != spared)
                    return np.zeros_like(tied[0]), [(n, side, x, None, prior) for x in others]
        elif isinstance(family, PairRows) and (ones := family.bounds_of_one()):
            tied[np.isin(family.index, ones) & (tied == 0)] = n + 1
    if not tied.any():
        return np.arange(cone.size), []
    tree = minimum_spanning_tree(tied).tocoo()
    edges = zip(tree.data.tolist(), tree.row.tolist(), tree.col.tolist(), strict=True)
    _, classes = connected_components(tree, directed=False)
    return classes.astype(np.intp), [(int(n) - 1, "ratio", x, z, None) for n, x, z in edges]


class _Rows:
    """The rows of a cone, on columns with one entry for each class of inputs.

    In floats the rows on ratios are ``at_z q_z - at_x q_x >= 0``, scaled to 1 on constants.
    """

    def __init__(self, cone: Cone, classes: IntArray) -> None:
        self.cone, self.classes, self.n = cone, classes, int(classes.max()) + 1
        self.first = np.unique(classes, return_index=True)[1].tolist()
        self.lifts = {
            (n, side): (family.priors, exponent)
            for n, family in enumerate(cone.families)
            if isinstance(family, LiftRows) and family.binds()
            for side, exponent in family.sides().items()
        }
        self._laws: dict[tuple[int, ...], tuple[Weights, FloatArray]] = {}
        self._priors: dict[Weights, Weights] = {}  # equal priors are one object, quick to compare
        pairs = [np.empty((4, 0))]
        for n, family in enumerate(cone.families):
            if isinstance(family, PairRows):
                lengths = family.lengths()
                lengths[classes[:, None] == classes] = np.inf
                x, z = np.nonzero(np.isfinite(lengths))
                pairs.append(np.array([np.full(len(x), n), x, z, lengths[x, z]]))
        rows = np.hstack(pairs)
        rows = rows[:, np.argsort(rows[3], kind="stable")]  # of equal floats the shortest is first
        self.named, length = rows[:3].astype(np.intp), rows[3]
        self.x, self.z = classes[self.named[1:]]
        self.shrink = np.exp(-length)
        with np.errstate(over="ignore", divide="ignore"):
            self.at_z, self.at_x = 1 / -np.expm1(-length), 1 / np.expm1(length)

    def facets(self) -> list[NamedRow] | None:
        """Return n facets that span; None if some of them show that there are more.

        Those of a simplex are affinely independent, and those of ratios are each about one input.

        Raises
        ------
        SolverError
            If the facets are too close to each other.
        """
        n, rng = self.n, np.random.default_rng(0)
        found, vectors, about = list[NamedRow](), list[FloatArray](), set[int]()
        plane = np.empty((n - 1, n))  # an orthonormal basis of the differences of the vertices
        noise = np.zeros(n)
        while (k := len(found)) < n:
            known = plane[: max(0, k - 1)]
            noise = -noise if k % 2 else SPREAD * rng.standard_normal(n)
            near = noise.copy()  # two facets about one input, for ratios or for lifts
            near[(n // 2 + k // 2) % n] += 1 if self.lifts and k % 2 else -1
            away = near.copy()
            for _ in range(2):  # once more, for the rounding errors
                away -= known.T @ (known @ away)
            away /= np.linalg.norm(away)
            for direction in (near, away, -away) if k < FIRST else (away, -away):
                vector, row = self._furthest(direction + NUDGE * rng.standard_normal(n))
                if not found:
                    break
                step = vector - vectors[0]
                scale = float(np.abs(step).max()) or 1.0
                step /= scale  # squares would overflow
                for _ in range(2):
                    step -= known.T @ (known @ step)
                if (size := float(np.linalg.norm(step))) > SAME:
                    plane[k - 1] = step / size
                    break
                if size * scale <= SAME * np.abs(vector).max() and _differs(vector, vectors):
                    return None
            else:
                raise SolverError("the facets are too near to each other to count")
            found.append(row)
            vectors.append(vector)
            about.add(int(self.classes[_about(row)]))
            if not self.lifts and len(about) < len(found):  # each input has a facet about it
                return None
        return sorted(found, key=lambda row: (_about(row), row[1]))

    def _furthest(self, v: FloatArray) -> tuple[FloatArray, NamedRow]:
        """Return the scaled row f of least f . v, for a column with entries of order 1."""
        x = int(v.argmin())
        best, vector = float(v[x]), np.zeros(self.n)
        vector[x] = 1.0
        found: NamedRow = (None, "positive", self.first[x], None, None)
        if len(self.z):
            value = self.at_z * v[self.z] - self.at_x * v[self.x]
            i = int(value.argmin())
            if value[i] <= best:  # if both are equal in floats, q_x >= 0 is implied
                best, vector = float(value[i]), np.zeros(self.n)
                vector[self.z[i]], vector[self.x[i]] = self.at_z[i], -self.at_x[i]
                n, x, z = self.named[:, i].tolist()
                found = (n, "ratio", x, z, None)
        column = np.rint(v[self.classes] * GRAIN).astype(np.int64).tolist() if self.lifts else []
        for (n, side), (priors, exponent) in self.lifts.items():
            upper, most = side == "upper", min(exponent, LARGEST)
            x = int(v.argmax() if upper else v.argmin())
            prior, law = self._law(priors, column, largest=not upper)
            grown = math.expm1(most if upper else -most)
            trial = law + law / grown
            trial[x] -= 1 / grown
            if trial @ v <= best:
                best, vector = float(trial @ v), trial
                found = (n, side, self.first[x], None, prior)
        return vector, found

    def _law(
        self, priors: PriorSet, column: list[int], largest: bool
    ) -> tuple[Weights, FloatArray]:
        """Return the prior that makes a column most or least probable, by inputs and classes."""
        numerators = tuple(priors.extreme_numerators(column, largest=largest))
        key = (priors.denominator, *numerators)
        if key not in self._laws:
            prior = tuple(Fraction(p, priors.denominator) for p in numerators)
            law = np.bincount(self.classes, np.array(prior, dtype=np.float64), self.n)
            self._laws[key] = self._priors.setdefault(prior, prior), law.astype(np.float64)
        return self._laws[key]

    def _exact(self, row: NamedRow) -> tuple[dict[int, Decimal], Weights | None]:
        """Return f by class, without P . q; and the prior of P . q, whose coefficient is at n."""
        n, side, x, other, prior = row
        own = int(self.classes[x])
        if n is None:
            return {own: ONE}, None
        if (n, side) in self.lifts:
            shrink = _shrink(self.lifts[n, side][1])
            terms = {self.n: ONE, own: -shrink} if side == "upper" else {own: ONE, self.n: -shrink}
            return terms, prior
        family: Any = self.cone.families[n]
        bound = family.index[x, other]
        factor = _decimal(family.scales[bound])
        return {int(self.classes[other]): factor, own: -_shrink(family.exponents[bound])}, None

    def channel(self, facets: Sequence[NamedRow]) -> FloatArray | None:
        """Return the rays on which all but one of n rows are 0, with sum 1; None if one is cut off.

        Each P . q of a lift is an additional unknown, so that all rows stay sparse.
        """
        laws, rows = dict[int, tuple[int, Weights]](), list[dict[int, Decimal]]()
        slacks = list[Decimal]()
        for facet in facets:
            terms, prior = self._exact(facet)
            slacks.append(sum(terms.values(), ZERO))
            if prior is not None:
                place, _ = laws.setdefault(id(prior), (self.n + len(laws), prior))
                terms = {place if z == self.n else z: v for z, v in terms.items()}
            rows.append(terms)
        for place, prior in laws.values():
            law = dict[int, Decimal]()
            for z, p in zip(self.classes.tolist(), prior, strict=True):
                if p:
                    law[z] = law.get(z, ZERO) - _decimal(p)
            rows.append(law | {place: ONE})
        rays = _Rays(rows, slacks)
        return None if self._cuts_off(rays, facets) else rays.near * (rays.near > LEAST)

    def _cuts_off(self, rays: _Rays, facets: Sequence[NamedRow]) -> bool:
        """Return whether some row is negative on a ray, in floats where they decide it."""
        sizes = rays.near.max(axis=0)
        if (rays.near < -float(EQUAL) * np.maximum(sizes, 0.0)).any():
            return True
        if not ((sizes > 0) & (sizes < np.inf)).all():
            raise SolverError("the rays are beyond the range of floats")
        near = np.maximum(rays.near / sizes, 0.0)
        known = np.array([row[:1] + row[2:4] for row in facets if row[1] == "ratio"]).reshape(-1, 3)
        units = [self.cone.size**2, self.cone.size, 1]
        others = ~np.isin(units @ self.named, known @ units)
        named, x, z = self.named[:, others], self.x[others], self.z[others]
        for i, q in enumerate(near.T if len(x) else ()):
            left, right = q[z], self.shrink[others] * q[x]
            if (left < (1 - SAME) * right).any():
                return True
            for row in np.flatnonzero((q[x] > 0) & (left <= (1 + SAME) * right)).tolist():
                n, own, other = named[:, row].tolist()
                terms, _ = self._exact((n, "ratio", own, other, None))
                values = [v * rays.entry(c, i) for c, v in terms.items()]
                if sum(values) < -EQUAL * max(map(abs, values)):
                    return True
        return any(self._lift_cuts_off(rays, near, facets, *lift) for lift in self.lifts)

    def _lift_cuts_off(
        self, rays: _Rays, near: FloatArray, facets: Sequence[NamedRow], n: int, side: str
    ) -> bool:
        """Return whether a bound on the lift is negative on a ray."""
        (priors, exponent), upper = self.lifts[n, side], side == "upper"
        shrink, is_one, left = _shrink(exponent), len(priors.members) == 1, list(range(self.n))
        if is_one:
            known = {row[2] for row in facets if row[:2] == (n, side)}
            left = [c for c, x in enumerate(self.first) if x not in known]
            if not left:
                return False
        for i, q in enumerate(near.T):
            column = np.rint(q[self.classes] * GRAIN).astype(np.int64).tolist()
            law = float(self._law(priors, column, largest=not upper)[1] @ q)
            entry = float(q[left].max() if upper else q[left].min())
            more, less = (law, entry) if upper else (entry, law)
            less *= float(shrink)
            doubt = SAME * max(more, less) if is_one else SAME
            if more - less < -doubt:
                return True
            if more - less <= doubt and self._lift_is_negative(rays, i, n, side):
                return True
        return False

    def _lift_is_negative(self, rays: _Rays, i: int, n: int, side: str) -> bool:
        """Return whether a bound on the lift is negative on one ray, with all digits."""
        (priors, exponent), upper = self.lifts[n, side], side == "upper"
        ray = [rays.entry(c, i) for c in range(self.n)]
        exact = [Fraction(entry) for entry in ray]
        column = [exact[c] for c in self.classes.tolist()]
        law = _decimal(priors.extreme_mean(column, largest=not upper))
        more, less = (law, max(ray)) if upper else (min(ray), law)
        less *= _shrink(exponent)
        return more - less < -EQUAL * max(abs(more), abs(less))


class _Rays:
    """The solutions of linear equations for right-hand sides with one nonzero entry each.

    Parameters
    ----------
    rows
        The coefficients by unknown; beyond the first n the right-hand sides are 0.
    right
        ``(n,)``: the nonzero entry of each right-hand side.

    Attributes
    ----------
    near
        ``(n, n)`` floats: the first n unknowns, by right-hand side; 0 only where they are 0.

    Notes
    -----
    Gauss-Jordan elimination. The next pivot is in the row with the fewest remaining unknowns, at
    the unknown in the fewest rows (Markowitz). Entries that cancel to the last digits become 0. The
    last unknown is not eliminated from the other rows, which stay sparse: P . q is in many rows and
    depends on all right-hand sides.
    """

    def __init__(self, rows: list[dict[int, Decimal]], right: Sequence[Decimal]) -> None:
        n = len(right)
        sides = [{i: right[i]} if i < n else {} for i in range(len(rows))]
        place, pivot, used = dict[int, int](), 0, set[int]()
        heap = sorted((len(row), e) for e, row in enumerate(rows))
        holders: list[set[int]] = [set() for _ in rows]
        for e, row in enumerate(rows):
            for u in row:
                holders[u].add(e)
        while len(used) < len(rows):
            length, e = heappop(heap)
            if e in used or length != len(rows[e]):
                continue
            used.add(e)
            if not rows[e]:
                raise SolverError("the facets are too near to each other to count")
            pivot = min(rows[e], key=lambda u: len(holders[u]))
            place[pivot], head = e, rows[e].pop(pivot)
            for table in (rows, sides):
                table[e] = {u: v / head for u, v in table[e].items()}
            for other in holders[pivot] - {e} if len(used) < len(rows) else ():
                times = rows[other].pop(pivot)
                for table in (rows, sides):
                    row = table[other]
                    for u, v in table[e].items():
                        old, step = row.get(u, ZERO), times * v
                        row[u] = old - step
                        if abs(row[u]) <= EQUAL * abs(step):
                            del row[u]
                for u in rows[e]:
                    (holders[u].add if u in rows[other] else holders[u].discard)(other)
                heappush(heap, (len(rows[other]), other))
        last = sides[place[pivot]]
        size = max(map(abs, last.values()), default=ONE)
        self._last = {i: v / size for i, v in last.items()}
        self._times = [-rows[place[u]].get(pivot, ZERO) * size for u in range(n)]
        self._own = [sides[place[u]] for u in range(n)]
        by_last = [self._last.get(i, ZERO) for i in range(n)]
        self.near = np.outer(*(np.array(v, dtype=np.float64) for v in (self._times, by_last)))
        signs = np.outer(
            *(np.array([(x > 0) - (x < 0) for x in v]) for v in (self._times, by_last))
        )
        for u, own in enumerate(self._own):
            for i in own:
                exact = self.entry(u, i)
                self.near[u, i], signs[u, i] = float(exact), (exact > 0) - (exact < 0)
        self.near[self.near == 0] = LEAST * signs[self.near == 0].astype(float)

    def entry(self, u: int, i: int) -> Decimal:
        """Return an unknown for the right-hand side i."""
        own, step = self._own[u].get(i, ZERO), self._times[u] * self._last.get(i, ZERO)
        return ZERO if abs(own + step) <= EQUAL * abs(step) else own + step


def _differs(vector: FloatArray, known: list[FloatArray]) -> bool:
    """Return whether a vertex differs from all known ones."""
    return bool(np.abs(known - vector).max(axis=1).min() > SAME * np.abs(vector).max())


def _about(row: NamedRow) -> int:
    """Return the input whose entry a ratio row bounds from below, or the input of the row."""
    return row[2] if row[3] is None else row[3]


@lru_cache(maxsize=4096)
def _shrink(exponent: Fraction) -> Decimal:
    return (-_decimal(exponent)).exp()


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


@dataclass(frozen=True, eq=False)
class Universality:
    """Whether one private channel is optimal for every purpose.

    Attributes
    ----------
    domain
        The inputs.
    privacy
        The notions, all of which must hold.
    decision
        The decision on their cone.
    """

    domain: Domain
    privacy: tuple[Notion, ...]
    decision: Decision
    _cone: Cone

    @property
    def simplicial(self) -> bool | None:
        """Whether the cone has as many facets as inputs; None if undecided."""
        return self.decision.simplicial

    @property
    def reason(self) -> str:
        """The reason, in a sentence."""
        return self.decision.reason

    @property
    def facets(self) -> tuple[str, ...]:
        """The names of the rows that imply all others, one for each input; empty if there are more.

        Rows that tie inputs come last.
        """
        families: Any = self._cone.families
        return tuple(
            f"{side if n is None else f'{families[n].name} {side}'} x={x}"
            f"{'' if other is None else f' to {other}'}"
            for n, side, x, other, _ in self.decision.facets
        )

    @cached_property
    def channel(self) -> Channel | None:
        """The exactly private universal channel; None if there is none, or it is unknown."""
        if self.decision.matrix is None:
            return None
        rows, _ = repair(self._cone, self.decision.matrix)
        return Channel(rows, inputs=self.domain)

    def __repr__(self) -> str:
        notions = " and ".join(repr(notion) for notion in self.privacy)
        word = {True: "there is one", False: "there is none", None: "not known"}[self.simplicial]
        lines = [f"universal channel for {notions}: {word}", f"because {self.reason}"]
        if self.facets:
            shown, more = self.facets[:MOST_FACETS_SHOWN], len(self.facets) - MOST_FACETS_SHOWN
            lines.append(f"facets: {', '.join(shown)}{f', and {more} more' if more > 0 else ''}")
        return "\n".join([*lines, "" if self.channel is None else repr(self.channel)]).rstrip()


def universal_channel(
    domain: Domain | Iterable[Any],
    privacy: Notion | Sequence[Notion],
    *,
    prior: Prior | Iterable[Any] | None = None,
) -> Universality:
    """Decide whether one channel is optimal for every purpose, and find it.

    A channel U is universal if every private channel is U followed by post-processing. Then no
    private channel has more information, fewer errors, or, if each report is replaced by the best
    output for the purpose, a smaller expected loss. (This does not extend to worst cases over the
    inputs.) A universal channel exists if the cone of columns has as many facets as inputs.

    Parameters
    ----------
    domain
        The inputs, or their labels.
    privacy
        A notion, or several: their intersection.
    prior
        The law of the input, if a notion depends on it.

    Returns
    -------
    Universality
        Whether there is such a channel, the reason, the facets, and the channel.

    Raises
    ------
    InputError
        If the parts do not match each other.
    UnsupportedError
        If a notion is not a condition on columns.

    Notes
    -----
    Source: Warner 1965, Mangat 1994 and Acharya et al. 2020, Theorem 2, for two inputs; ours for
    more.

    Examples
    --------
    With one sensitive input of three, it always sends a report that the others send sometimes.

    >>> from mechdesign.notions import LDP, HighLowLDP
    >>> universal_channel(["ill", "well", "unknown"], HighLowLDP(1, ["ill"]))
    universal channel for HighLowLDP(epsilon=1, sensitive=['ill']): there is one
    because as many rows as there are inputs imply all others
    facets: positive x=0, high-low ratio x=0 to 1, high-low ratio x=0 to 2
    Channel(3 inputs, 3 outputs, exact over 2**62)
                  0       1       2
    ill      1.0000       0       0
    well     0.3679  0.6321       0
    unknown  0.3679       0  0.6321
    >>> print(universal_channel(range(3), LDP(1)).channel)
    None
    """
    inputs = Domain.of(domain)
    notions = notions_of(privacy)
    for notion in notions:
        if not notion.is_conic:
            raise UnsupportedError("privacy", "conditions on single columns", notion.name)
    notions = tuple(notion.aligned(inputs) for notion in notions)
    given = None if prior is None else prior_on(prior, inputs)
    cone = cone_of(notions, inputs, given)
    return Universality(inputs, notions, decide_cone(cone), cone)

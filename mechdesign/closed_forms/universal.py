"""Universal channels, which are optimal for every purpose, where one exists.

The columns of private channels lie in a cone. If it has as many facets as inputs, it has as many
extreme rays, every column is a unique mixture of them, and the rays scaled to sum to the constant
column are a channel U. Every private channel is a post-processing of U, which is optimal for every
utility that no post-processing raises.

**The only candidates.** A row q_z >= c q_x, q_z >= e**-b P . q or q_z >= 0 bounds q_z from below by
other entries, as q_x <= e**a P . q does if P has one other input z. A row q_x <= e**a P . q with
two others or more is here called an upper row. Let n >= 2 inputs, of which no two are tied, have a
cone with n facets, F its matrix and r_i its rays, the columns of F**-1.

*Without upper facets*, each input has exactly one facet below it: if q_z were bounded from below by
none, 1 - s e_z would be in the cone for every s. That facet is larger than any other lower bound on
q_z on the whole cone, since q_z may be lowered to it, which loosens the facets below the other
inputs. So it is the largest at q = 1, an interior point, and equal to no other one there.

*With an upper facet a*, e**a P . q >= q_x, all facets are upper ones, one about each input. The
row holds for every input, so r_i has its largest entry at x for i other than a. No facet is below
x: on such a ray it would bound the largest entry by less than itself. The mean Sum_i (f_i . 1) r_i
= 1 has equal entries, so r_a has its least entry at x; two upper facets about x would make r_a
constant. Let X be the inputs of the upper facets, and B the other facets. On the rays of B, all
q_X are equal to t, and all upper rows say t = k . q of the other entries, with one k, as these rays
span |B| dimensions. In these entries B is a cone of |B| facets, each of them below an input: one
below each. If B is not empty, let q have q_X = 1, and q_w on its facet for every other w: q = Sum_a
s_a r_a. A ray r of B with q_X = 1 exceeds q by d, with d_X = 0, f . d >= 0 for f in B, so d >= 0,
and so s_a = -e**a P . d <= 0 for all a, and q <= 0: a contradiction.

Then every ray r_x is 1 - e_x / h_x: with t = 1 - e**-a, the upper row about any other input says
that P_x = t h_x. The facet about x is the smallest upper bound on q_x at q = 1.

So two systems of rows are tried. All other rows are checked on their rays, in floats where these
decide, and else with 80 digits. Budgets are exact: if some add up to another, the rows agree to
nearly as many digits, and numbers that agree to 60 digits count as equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from mechdesign._typing import FloatArray, IntArray
from mechdesign.channel import Channel
from mechdesign.domain import Domain
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.simplicial import NamedRow
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

SAME, TINY = 1e-9, 1e-290
"""Relative and absolute size of differences of floats that are decided with all digits."""

LEAST = 5e-324
"""The least positive float, in place of smaller numbers."""

MOST_PRIORS = 128
"""The number of priors that may bound a lift in a candidate."""

MOST_FACETS_SHOWN = 8

AS_MANY = "as many rows as there are inputs imply all others"

Ray: TypeAlias = dict[int, Decimal]
"""Entries by number."""


@dataclass(frozen=True, eq=False)
class Decision:
    """Whether a cone has as many facets as dimensions.

    ``simplicial`` is None if undecided. There is a facet for each input, if it is simplicial; rows
    that tie inputs come last.
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
    families: Any = cone.families
    exponents = [f.exponents if isinstance(f, PairRows) else f.sides().values() for f in families]
    if cone.size > 1 and any(0 < exponent < EQUAL for exponent in chain(*exponents)):
        return Decision(None, f"not decided for budgets below {EQUAL}")
    classes, ties = _ties(cone)
    if len(ties) == cone.size:
        return Decision(True, AS_MANY, tuple(ties), np.ones((cone.size, 1)))
    rows = _Rows(cone, classes)
    with localcontext(prec=DIGITS):
        for bounds in rows.candidates():
            try:
                matrix = rows.channel(bounds)
            except UnsupportedError as error:
                return Decision(None, f"not decided: {error}")
            if matrix is not None:
                facets = (*(bound.row for bound in bounds), *ties)
                return Decision(True, AS_MANY, facets, matrix[classes])
    return Decision(False, f"there are more than {rows.n} facets for {rows.n} inputs")


def _ties(cone: Cone) -> tuple[IntArray, list[NamedRow]]:
    """Return the classes of inputs tied by bounds of exactly 1, and rows that tie them.

    A tree of rows q_x <= q_z spans each class: its slacks sum to 0 over the outputs. For lifts, the
    rows of all inputs but one of positive probability: q_x = P . q makes that one equal too, and
    q >= 0 is its facet.
    """
    tied = np.zeros((cone.size, cone.size), dtype=np.intp)
    for n, family in enumerate(cone.families):
        if isinstance(family, LiftRows):
            bounds = family.sides()
            side = next((side for side in ("lower", "upper") if bounds.get(side) == 0), None)
            if side is not None:
                prior = family.priors.extreme(range(cone.size), largest=True)
                spared = next(x for x, p in enumerate(prior) if p)
                others = (x for x in range(cone.size) if x != spared)
                ties: list[NamedRow] = [(n, side, x, None, prior) for x in others]
                return np.zeros_like(tied[0]), [(None, "positive", spared, None, None), *ties]
        elif isinstance(family, PairRows) and (ones := family.bounds_of_one()):
            tied[np.isin(family.index, ones) & (tied == 0)] = n + 1
    if not tied.any():
        return np.arange(cone.size), []
    tree = minimum_spanning_tree(tied).tocoo()
    edges = zip(tree.data.tolist(), tree.row.tolist(), tree.col.tolist(), strict=True)
    _, classes = connected_components(tree, directed=False)
    return classes.astype(np.intp), [(int(n) - 1, "ratio", x, z, None) for n, x, z in edges]


class _Bound(NamedTuple):
    """A bound on the entry of one class of inputs by those of others.

    Attributes
    ----------
    value
        Its value where all other entries are 1; the inverse for an upper bound.
    source
        The class that bounds it, or the number of classes plus the place of a law of the input.
    factor
        The coefficient of the source; for an upper bound the share t of the law.
    row
        Its name.
    """

    value: Decimal
    source: int
    factor: Decimal
    row: NamedRow


class _Rows:
    """The rows of a cone, on columns with one entry for each class of inputs."""

    def __init__(self, cone: Cone, classes: IntArray) -> None:
        self.cone, self.classes, self.n = cone, classes, int(classes.max()) + 1
        self.first = np.unique(classes, return_index=True)[1].tolist()
        self.lifts = [
            (n, side, family.priors, exponent)
            for n, family in enumerate(cone.families)
            if isinstance(family, LiftRows)
            for side, exponent in family.sides().items()
        ]
        self.laws: list[list[Decimal]] = []  # by class
        self._places: dict[tuple[int, ...], tuple[int, Weights]] = {}
        pairs = [np.empty((4, 0))]
        for n, family in enumerate(cone.families):
            if isinstance(family, PairRows):
                lengths = family.lengths()
                lengths[classes[:, None] == classes] = np.inf
                x, z = np.nonzero(np.isfinite(lengths))
                pairs.append(np.array([np.full(len(x), n), x, z, lengths[x, z]]))
        rows = np.hstack(pairs)
        rows = rows[:, np.lexsort((rows[3], classes[rows[2].astype(np.intp)]))]
        self.named, self.length = rows[:3].astype(np.intp), rows[3]
        self.x, self.z = classes[self.named[1:]]

    def candidates(self) -> Iterator[list[_Bound]]:
        """Yield the largest lower bounds of all classes, then the smallest upper bounds."""
        lower: list[list[_Bound]] = [
            [_Bound(ZERO, z, ZERO, (None, "positive", x, None, None))]
            for z, x in enumerate(self.first)
        ]
        upper: list[list[_Bound]] = [[] for _ in self.first]
        for n, side, priors, exponent in self.lifts:
            for x, name in enumerate(self.first):
                place, prior = self._law(priors, x)
                own, shrink, row = (
                    self.laws[place][x],
                    _exp(-exponent),
                    (n, side, name, None, prior),
                )
                others = [z for z, p in enumerate(self.laws[place]) if p and z != x]
                source = others[0] if len(others) == 1 else self.n + place
                if side == "lower" and others:
                    value = shrink * (1 - own) / (1 - shrink * own)
                    factor = value if source < self.n else shrink
                    lower[x].append(_Bound(value, source, factor, row))
                elif side == "upper" and own < shrink:
                    value = (shrink - own) / (1 - own)
                    if source < self.n:
                        lower[source].append(_Bound(value, x, value, row))
                    else:
                        upper[x].append(_Bound(value, source, 1 - shrink, row))
        starts = np.searchsorted(self.z, range(self.n + 1)).tolist()
        largest = list[_Bound]()
        for z, (start, end) in enumerate(pairwise(starts)):
            lengths = self.length[start:end]
            near = lengths <= (lengths[0] + SAME * (1 + lengths[0]) if end > start else 0)
            best = _tightest([*lower[z], *map(self._ratio, start + np.flatnonzero(near))])
            if best is None:
                break
            largest.append(best)
        else:
            yield largest
        smallest = [best for bounds in upper if bounds and (best := _tightest(bounds))]
        if len(smallest) == self.n:
            yield smallest

    def _law(self, priors: PriorSet, x: int) -> tuple[int, Weights]:
        """Return the place of the law with the least probability of a class, and the prior."""
        numerators = priors.extreme_numerators((self.classes == x).tolist(), largest=False)
        key = (priors.denominator, *numerators)
        if key not in self._places:
            prior = tuple(Fraction(p, priors.denominator) for p in numerators)
            sums = [Fraction(0)] * self.n
            for c, p in zip(self.classes.tolist(), prior, strict=True):
                sums[c] += p
            law = list(map(_decimal, sums))
            if law not in self.laws:
                self.laws.append(law)
            self._places[key] = self.laws.index(law), prior
        return self._places[key]

    def _ratio(self, i: int) -> _Bound:
        n, x, z = self.named[:, i].tolist()
        family: Any = self.cone.families[n]
        bound = family.index[x, z]
        value = _exp(-family.exponents[bound]) / _decimal(family.scales[bound])
        return _Bound(value, int(self.x[i]), value, (n, "ratio", x, z, None))

    def channel(self, bounds: Sequence[_Bound]) -> FloatArray | None:
        """Return the rays on which all bounds but one are met; None if another row is broken."""
        is_upper = bounds[0].row[1] == "upper" and bounds[0].source >= self.n
        entries = self._above(bounds) if is_upper else self._below(bounds)
        near = np.zeros((self.n, self.n))
        for z, row in enumerate(entries):
            near[z, list(row)] = [max(float(v), LEAST) for v in row.values()]
        return near * (near > LEAST) if entries and self._hold(entries, near, bounds) else None

    def _below(self, bounds: Sequence[_Bound]) -> list[Ray]:
        """Return, for each class, the entries of the rays, by substitution of sums >= 0."""
        sources = sorted({bound.source for bound in bounds if bound.source >= self.n})
        if len(sources) > MOST_PRIORS:
            raise UnsupportedError(
                "priors", f"at most {MOST_PRIORS} that bound lifts", len(sources)
            )
        place = {source: self.n + j for j, source in enumerate(sources)}
        rows: list[Ray] = [{place.get(b.source, b.source): b.factor} for b in bounds]
        rows += [{z: p for z, p in enumerate(self.laws[s - self.n]) if p} for s in sources]
        right: list[Ray] = [{z: 1 - bound.factor} for z, bound in enumerate(bounds)]
        right += [{} for _ in sources]
        for z in range(len(rows)):
            rest = 1 - rows[z].pop(z, ZERO)
            for table in (rows, right):
                table[z] = {u: v / rest for u, v in table[z].items()}
            for other, row in enumerate(rows):
                if other != z and (times := row.pop(z, ZERO)):
                    for table in (rows, right):
                        for u, v in table[z].items():
                            table[other][u] = table[other].get(u, ZERO) + times * v
        return right[: self.n]

    def _above(self, bounds: Sequence[_Bound]) -> list[Ray]:
        """Return, for each class, the entries of the rays 1 - e_x / h_x; none if some h_x < 1."""
        heights = list[Decimal]()
        for x in range(self.n):
            laws = {(b.source - self.n, b.factor) for z, b in enumerate(bounds) if z != x}
            found = [self.laws[place][x] / share for place, share in laws]
            if min(found) < max(ONE, *found) * (1 - EQUAL):
                return []
            heights.append(found[0])
        unit = 1 / (sum(heights, ZERO) - 1)
        scaled = [unit * height for height in heights]
        return [
            {i: v for i, v in enumerate(scaled) if i != z} | {z: max(ZERO, scaled[z] - unit)}
            for z in range(self.n)
        ]

    def _hold(self, entries: list[Ray], near: FloatArray, bounds: Sequence[_Bound]) -> bool:
        """Return whether no row is negative on a ray, in floats where they decide it."""
        met = np.array([b.row[:1] + b.row[2:4] for b in bounds if b.row[1] == "ratio"])
        units = np.array([self.cone.size**2, self.cone.size, 1])
        places = np.flatnonzero(~np.isin(units @ self.named, met.reshape(-1, 3) @ units))
        x, z, shrink = self.x[places], self.z[places], np.exp(-self.length[places])
        for i, q in enumerate(near.T if len(places) else ()):
            left, right = q[z], shrink * q[x]
            if (left + TINY < (1 - SAME) * right).any():
                return False
            for n in np.flatnonzero((q[x] > 0) & (left <= (1 + SAME) * right + TINY)).tolist():
                value, own = self._ratio(places[n]).value, entries[z[n]].get(i, ZERO)
                if own < value * entries[x[n]].get(i, ZERO) * (1 - EQUAL):
                    return False
        for i in range(self.n) if self.lifts else ():
            ray = [row.get(i, ZERO) for row in entries]
            column = [ray[c] for c in self.classes.tolist()]
            for _, side, priors, exponent in self.lifts:
                law = _decimal(priors.extreme_mean(column, largest=side == "lower"))
                more, less = (law, max(ray)) if side == "upper" else (min(ray), law)
                if more < less * _exp(-exponent) * (1 - EQUAL):
                    return False
        return True


def _tightest(bounds: Sequence[_Bound]) -> _Bound | None:
    """Return the bound of the largest value; None if another one is as large, and not 0."""
    best = max(bounds, key=lambda bound: bound.value)
    near = [b for b in bounds if b.value and b.value >= best.value * (1 - EQUAL)]
    return best if all(b.source == best.source for b in near) else None


@lru_cache(maxsize=4096)
def _exp(exponent: Fraction) -> Decimal:
    return _decimal(exponent).exp()


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
    simplicial
        Whether the cone has as many facets as inputs; None if undecided.
    reason
        The reason, in a sentence.
    facets
        The names of the rows that imply all others, one for each input; empty if there are more.
        Rows that tie inputs come last.
    channel
        The exactly private universal channel; None if there is none, or it is unknown.
    """

    domain: Domain
    privacy: tuple[Notion, ...]
    simplicial: bool | None
    reason: str
    facets: tuple[str, ...]
    channel: Channel | None

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
    found = decide_cone(cone)
    channel = None
    if found.matrix is not None:
        channel = Channel(repair(cone, found.matrix)[0], inputs=inputs)
    families: Any = cone.families
    names = tuple(
        f"{side if n is None else f'{families[n].name} {side}'} x={x}"
        f"{'' if other is None else f' to {other}'}"
        for n, side, x, other, _ in found.facets
    )
    return Universality(inputs, notions, found.simplicial, found.reason, names, channel)

"""A gain of squares q'Bq / (p . q), by products of rows: no rays, for any number of inputs.

Forms f that are >= 0 on private columns have products that are. With multipliers w >= 0, n unknowns
q_x, and v = -u, let

    T  =  (p v' + v p') / 2 - B - Sum w (f f' + f' f) / 2 + c diag(s)**2 / n

be positive definite, where s_x q_x <= p . q for private columns. Then q'Tq >= 0, and

    q'Bq  <=  (v . q) (p . q) - Sum w (f . q) (f' . q) + (c / n) Sum_x (s_x q_x)**2
          <=  (v . q) (p . q) + c (p . q)**2:

u - c p is safe. Such s are p_x + Sum_{z != x} p_z / M_xz over the bounds q_x <= M_xz q_z, and
min_z (p_z / p'_z) / high for a prior p' with q_x <= high p' . q. Entries of T are rounded down, as
q >= 0.

Forms are pairs: (x, x) is q_x, and (x, z) is M_xz q_z - q_x. The number k stands for p' . q of the
prior p' of ``lift``: (x, k) is high p' . q - q_x, and (k, z) is q_z / low - p' . q.

With ``levels`` let M be the largest of all bounds on ratios, all of which there are. The gain is
convex, so it is enough to prove the claim on the rays of the larger cone q_x <= M q_z. In those
every entry is t or M t for a further unknown t, number k + 1 among the forms, and
(q_x - t)(t - q_x / M) = 0 may have any multiplier; t <= p . q, as p sums to 1. Only the rows of the
larger cone are forms then: every M_xz is M, and there are no lifts. For ratios that are scaled by a
prior P all this holds of P_x q_x in the place of q_x, and t Sum_x p_x / P_x <= p . q.

``spreads`` are multipliers of inequalities for a set of priors about a p, that of ``lift``, with
lifts low p' . q <= q_x <= high p' . q. For r = q / (p . q) let V = Sum_x p_x (r_x - 1)**2 be the
variance. The set has p' = p (1 + c (r - 1)) and p (1 - c (r - 1)) for some c, and p' . r is 1 + c V
and 1 - c V. So all r_x are between a = low (1 + c V) and b = high (1 - c V), and
Sum_x p_x (b - r_x)(r_x - a) >= 0 is

    V  <=  (b - 1)(1 - a),

which no V above some v satisfies. The last multiplier is of V <= v, and that of x is of

    (high - r_x)(r_x - low)  =  (b - r_x)(r_x - a) + c V (high - low) r_x - c**2 V**2 low high
                             >=  c V low (high - low (1 + c v)),    as r_x >= a and V <= v.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mechdesign.kernel.arithmetic import UNIT, expect, known, need, scaled
from mechdesign.kernel.gains import Gain, Squares, Vector
from mechdesign.kernel.generators import Ball, Box, Lift, Listed, distribution
from mechdesign.kernel.oracles.common import GRID, lift_ends, scales
from mechdesign.kernel.packed import Numbers, Places, Weights
from mechdesign.kernel.proof import Cost, Oracle, Program
from mechdesign.kernel.statement import Statement

Form = dict[int, Fraction]
Bounds = Callable[[int, int], Fraction | None]
Priors = Listed | Ball | Box
ONE = Fraction(1)

HALVINGS, ROUNDS = 20, 12
"""Steps of the bisection for the largest variance, and rounds of each."""


@dataclass(frozen=True)
class Products(Oracle):
    """A gain of squares, c, and multipliers of products of two forms of a list."""

    surplus: Fraction
    forms: tuple[tuple[int, int], ...]
    left: Places
    right: Places
    weight: Weights
    lift: tuple[Fraction, ...] | None = None
    levels: Numbers | None = None
    spreads: Weights | None = None

    def gain(self, statement: Statement, gain: Gain, prices: Cost) -> Cost:
        """Return u - c p, rounded down; entries of T are rounded down too."""
        gain = expect(gain, Squares, "products need a gain of squares")
        k, c, p = statement.k, self.surplus, distribution(gain.p, statement.k)
        need(c >= 0, "expected a surplus >= 0")
        bound, n = self._bounds(statement), k if self.levels is None else k + 1
        forms = [self._form(k, bound, x, z) for x, z in self.forms]
        terms = [(b, _form(v), _form(v)) for b, v in zip(gain.numbers, gain.vectors, strict=True)]
        terms.append((ONE, _form([Fraction(u, UNIT) for u in prices]), _form(p)))
        least = min([w / v for w, v in zip(p, self.lift or p, strict=True) if v])
        for x in range(k):
            bounds = [(w, bound(x, z)) for z, w in enumerate([*p, least])]
            *parts, by_lift = (Fraction(0) if m is None else w / m for w, m in bounds)
            share = {x: max(sum(parts, Fraction(0)), by_lift)}
            terms.append((-c / n, share, share))
        lengths = {len(self.left), len(self.right), len(self.weight)}
        need(len(lengths) == 1, "the lists of products differ in length")
        need(max([*self.left, *self.right], default=-1) < len(forms), "no such form")
        for i, j, weight in zip(self.left, self.right, self.weight, strict=True):
            need(weight >= 0, "a negative multiplier of a product")
            terms.append((Fraction(weight), forms[i], forms[j]))
        if self.levels is not None:
            need(len(self.levels) == k, "expected a level for each input")
            least = Fraction(0)
            for x, level in enumerate(map(Fraction, self.levels)):
                one, other = (known(bound(*pair), "a level") for pair in ((k + 1, x), (x, k + 1)))
                terms.append((-level, {x: one, k: -ONE}, {x: 1 / other, k: -ONE}))
                least += p[x] / one
            terms.append((-c / n, {k: least}, {k: least}))
        if self.spreads is not None:
            center = known(self.lift, "spreads need the prior of a lift")
            terms += _spread_terms(statement, center, self.spreads)
        need(_positive(_rest(n, terms)), "the products do not prove the claim")
        return [u - scaled(c * w, up=True) for u, w in zip(prices, p, strict=True)]

    def steps(self, statement: Statement, program: Program) -> int:
        k, squares = statement.k, 0
        if isinstance(program.gain, Squares):
            squares = sum([20 * sum(map(bool, v)) ** 2 for v in program.gain.vectors])
        entries = k + 1 if self.lift else 2
        products = 40 * entries**2 * len(self.weight) + 20 * entries * len(self.forms)
        spreads = 0 if self.spreads is None else 60 * k**3 + 100 * HALVINGS * ROUNDS
        return k * k * (60 + 4 * k) + squares + products + spreads

    def _bounds(self, statement: Statement) -> Bounds:
        """Return bounds on the ratios of two entries, rounded up: the cone grows.

        Index k is p' . q of the lift; with levels k + 1 is t, and all others, divided by their
        scales, have one bound.
        """
        k = statement.k
        low, high = (0, None) if self.lift is None else lift_ends(statement, self.lift)

        def bound(x: int, z: int) -> Fraction | None:
            if x == k:
                return Fraction(1 << GRID, low) if low else None
            if z == k:
                return None if high is None else Fraction(high, 1 << GRID)
            ratio = statement.ratio(x, z)
            return ratio and Fraction(scaled(ratio, up=True, bits=GRID), 1 << GRID)

        if self.levels is None:
            return bound
        alone = self.lift is None and self.spreads is None
        need(alone, "levels need a cone of ratios only")
        s = [*scales(statement), ONE, ONE]
        ratios = [[bound(x, z) for z in range(k)] for x in range(k)]
        most = max(
            known(m, "levels need a bound on every ratio") * s[z] / s[x]
            for x, row in enumerate(ratios)
            for z, m in enumerate(row)
        )

        def by_levels(x: int, z: int) -> Fraction | None:
            return None if k in (x, z) else (ONE if x in (z, k + 1) else most) * s[x] / s[z]

        return by_levels

    def _form(self, k: int, bound: Bounds, x: int, z: int) -> Form:
        """Return a linear form that is >= 0 on every private column, or ray of the larger cone."""
        most = k if self.levels is None else k + 1
        exists = max(x, z) <= most and (x != z or x < k)
        need(exists, "a form names an entry that does not exist")
        if x == z:
            return {x: ONE}
        factor = known(bound(x, z), "a form names a row that does not exist")
        found = {y: factor * v for y, v in self._entry(k, z).items()}
        for y, v in self._entry(k, x).items():
            found[y] = found.get(y, Fraction(0)) - v
        return found

    def _entry(self, k: int, x: int) -> Form:
        """Return the form of an entry: of an input, of p' . q for k, of the least one for k + 1."""
        return _form(self.lift or ()) if x == k else {min(x, k): ONE}


@dataclass(frozen=True)
class Spread:
    """Bounds on r = q / (p . q): see the module.

    ``low``, ``high``: on all entries.
    ``most``: v >= V.
    ``share``: of V, at most (high - r_x)(r_x - low).
    """

    low: Fraction
    high: Fraction
    most: Fraction
    share: Fraction

    @classmethod
    def of(cls, statement: Statement, p: Vector) -> Spread | None:
        """Return the bounds of the first lifts of a set of priors about p, or None."""
        for part in statement.cone:
            if isinstance(part, Lift) and part.upper is not None and part.priors.has(p):
                low, high = part.ends()
                a, b = _down(low), -_down(-known(high, "an upper end"))
                if a < 1 < b and (c := _tilt(part.priors, p, a, b)) > 0:
                    most = _most(part.priors, p, a, b)
                    return cls(a, b, most, max(Fraction(0), c * a * (b - a * (1 + c * most))))
        return None


def _down(v: Fraction) -> Fraction:
    return Fraction(scaled(v, bits=GRID), 1 << GRID)


def _tilt(priors: Priors, p: Vector, a: Fraction, b: Fraction) -> Fraction:
    """Return a c for all r between a and b with p . r = 1."""
    return _down(priors.tilt(p, max(b - 1, 1 - a), (b - 1) * (1 - a) / (b - a)))


def _most(priors: Priors, p: Vector, low: Fraction, high: Fraction) -> Fraction:
    """Return a bound on V, by bisection: if V were above it, c would be larger in each round."""

    def is_too_large(v: Fraction) -> bool:
        a, b = low, high
        for _ in range(ROUNDS):
            c = _tilt(priors, p, a, b)
            a, b = low * (1 + c * v), high * (1 - c * v)
            if not a < 1 < b or (b - 1) * (1 - a) < v:
                return True
        return False

    least, most = Fraction(0), (high - 1) * (1 - low)
    for _ in range(HALVINGS):
        middle = _down((least + most) / 2)
        least, most = (least, middle) if is_too_large(middle) else (middle, most)
    return most


def _spread_terms(
    statement: Statement, p: Vector, weights: Weights
) -> Iterator[tuple[Fraction, Form, Form]]:
    """Yield the products of forms in the inequalities of a set of priors."""
    found = known(Spread.of(statement, p), "expected lifts of a set of priors about p")
    need(len(weights) == len(p) + 1, "expected a weight for each input, and one more")
    *shares, last = map(Fraction, weights)
    total = last + found.share * sum(shares)
    yield total + last * found.most, _form(p), _form(p)
    for x, (weight, mass) in enumerate(zip(shares, p, strict=True)):
        yield -total * mass, {x: ONE}, {x: ONE}
        if weight:
            above = {z: found.high * w for z, w in enumerate(p)}
            below = {z: -found.low * w for z, w in enumerate(p)}
            above[x], below[x] = above[x] - 1, below[x] + 1
            yield weight, above, below


def _form(v: Sequence[Fraction]) -> Form:
    return {x: a for x, a in enumerate(v) if a}


def _rest(n: int, terms: list[tuple[Fraction, Form, Form]]) -> list[list[int]]:
    """Return the symmetric matrix of minus a sum of products of two forms, rounded down."""
    T = [[Fraction(0)] * n for _ in range(n)]
    for weight, one, other in terms:
        for x, a in one.items():
            half = weight * a / 2
            for z, b in other.items():
                product = half * b
                T[x][z] -= product
                T[z][x] -= product
    return [[scaled(v) for v in row] for row in T]


def _positive(T: list[list[int]]) -> bool:
    """Return whether elimination shows that a symmetric matrix is positive definite.

    The rest S - r r' / pivot is rounded, so that no entry is off by 1. A symmetric matrix of k rows
    with such entries is at most k times the identity, which is subtracted: numbers stay short.
    """
    k = len(T)
    for n, top in enumerate(T):
        pivot, tail = top[n], top[n + 1 :]
        if pivot <= 0:
            return False
        for x in range(n + 1, k):
            row, factor = T[x], T[x][n]
            row[n + 1 :] = [
                a - factor * b // pivot for a, b in zip(row[n + 1 :], tail, strict=True)
            ]
            row[x] -= k
    return True

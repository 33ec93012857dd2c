"""A statement in four words, from the words of a problem: rows, limits, and what is minimized.

Everything is written out: a row for each pair of inputs, for each input and prior, for each extreme
prior of a set. Irrational numbers are pairs of rationals around them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tests.independent.rationals import (
    ONE,
    ZERO,
    Interval,
    Unable,
    Vector,
    dot,
    exactly,
    exp,
    ln,
    need,
    root,
    times,
)
from tests.independent.reading import (
    Inputs,
    distribution,
    exact,
    index,
    keys,
    labels,
    read_domain,
    sequence,
)

Key = tuple[str, int, int]
Prior = Vector


@dataclass(frozen=True)
class Row:
    """left . q <= e**exponent right . q."""

    left: Vector
    right: Vector
    exponent: Interval

    def net(self) -> Vector:
        """Return e**-exponent left - right, from above: what a private column keeps, or more."""
        high = exp(-self.exponent[0])[1]
        return tuple(high * a - b for a, b in zip(self.left, self.right, strict=True))

    def holds(self, q: Vector) -> bool:
        left, right = dot(self.left, q), dot(self.right, q)
        return decided(
            left <= exp(self.exponent[0])[0] * right, left > exp(self.exponent[1])[1] * right
        )

    def moved(self, factor: Fraction, by: Fraction) -> Row:
        ends = sorted(factor * e + by for e in self.exponent)
        return replace(self, exponent=(ends[0], ends[1]))


def decided(yes: bool, no: bool) -> bool:
    if yes == no:
        raise Unable("two numbers that cannot be told apart")
    return yes


@dataclass
class Part:
    """Rows of one generator, a `ratio`, `lift` or `rows`; of lifts also the sides and priors."""

    rows: dict[Key, Row]
    kind: str = "rows"
    scaled: bool = False
    sides: dict[str, Fraction] = field(default_factory=dict)
    extremes: list[Prior] | None = None
    has: Callable[[Prior], bool] | None = None
    matrix: list[Vector] | None = None

    def moved(self, factor: Fraction, by: Fraction) -> Part:
        return replace(self, rows={key: r.moved(factor, by) for key, r in self.rows.items()})

    def listed(self, priors: Sequence[Prior]) -> Part:
        return lifts(self.sides, priors, self.matrix)


@dataclass
class Limit:
    """Sum_y max_j A_j . q_y <= e**exponent limit; or, with a prior, information <= limit."""

    parts: list[Row]
    limit: Fraction
    exponent: Interval = (ZERO, ZERO)
    prior: Prior | None = None

    def most(self, up: bool) -> Fraction:
        return (max if up else min)(e * self.limit for e in exp_of(self.exponent))

    def holds(self, columns: Sequence[Vector]) -> bool:
        if self.prior is not None:
            low, high = information(columns, self.prior)
            return decided(high <= self.limit, low > self.limit)
        low = high = ZERO
        for q in columns:
            ends = [_value(part, q) for part in self.parts]
            low, high = low + max(a for a, _ in ends), high + max(b for _, b in ends)
        return decided(high <= self.most(False), low > self.most(True))

    def moved(self, factor: Fraction, by: Fraction) -> Limit:
        if self.prior is not None:
            return replace(self, limit=factor * self.limit + by)
        ends = [factor * e + by for e in self.exponent]
        parts = [part.moved(factor, by) for part in self.parts]
        return replace(self, parts=parts, exponent=(min(ends), max(ends)))


def exp_of(exponent: Interval) -> Interval:
    return exp(exponent[0])[0], exp(exponent[1])[1]


def _value(part: Row, q: Vector) -> Interval:
    left, right = dot(part.left, q), dot(part.right, q)
    low, high = exp_of((-part.exponent[1], -part.exponent[0]))
    return low * left - right, high * left - right


def information(columns: Sequence[Vector], p: Prior) -> Interval:
    found = [information_of(q, p) for q in columns]
    return sum((a for a, _ in found), ZERO), sum((b for _, b in found), ZERO)


def information_of(q: Vector, p: Prior) -> Interval:
    """Return bounds on sum_x p_x q_x ln(q_x / p . q)."""
    terms = [times(ln(b / dot(p, q)), a * b) for a, b in zip(p, q, strict=True) if a and b]
    return sum((a for a, _ in terms), ZERO), sum((b for _, b in terms), ZERO)


@dataclass
class Aim:
    """What is minimized: `loss`, `gain`, `risk` or `reading`; the file's value is sign times it."""

    form: str
    sign: int = 1
    weights: Vector | None = None
    costs: list[list[Interval]] = field(default_factory=list)
    free: bool = False
    gain: Callable[[Vector], Interval] | None = None
    constant: Fraction = ZERO
    vectors: list[Vector] = field(default_factory=list)
    p: Vector = ()
    roots: bool = False
    values: Vector = ()


@dataclass
class Statement:
    k: int
    cone: list[Part]
    limits: list[Limit]
    aim: Aim


# --- generators -----------------------------------------------------------------------------------


def unit(x: int, k: int, scale: Fraction = ONE) -> Vector:
    return tuple(scale if z == x else ZERO for z in range(k))


def ratios(
    k: int, exponent: Callable[[int, int], Interval | None], prior: Prior | None = None
) -> Part:
    rows = {}
    for x, z in itertools.permutations(range(k), 2):
        a = exponent(x, z)
        if a is not None:
            scale = ONE if prior is None else prior[z] / prior[x]
            rows["", x, z] = Row(unit(x, k), unit(z, k, scale), a)
    return Part(rows, "ratio", prior is not None)


def lifts(
    sides: dict[str, Fraction], priors: Sequence[Prior], B: list[Vector] | None = None
) -> Part:
    k, rows = len(priors[0]), {}
    for n, p in enumerate(priors):
        for x in range(k):
            for side, bound in sides.items():
                ends = (unit(x, k), p) if side == "upper" else (p, unit(x, k))
                rows[side, x, n] = Row(*ends, exactly(bound))
    found = Part(rows, "lift", False, dict(sides), list(priors), lambda p: p in priors)
    return found if B is None else pulled(found, B)


def pulled(part: Part, B: list[Vector]) -> Part:
    """Return rows on w = B q as rows on q."""
    turn = list(zip(*B, strict=True))

    def back(side: Vector) -> Vector:
        return tuple(dot(side, column) for column in turn)

    rows = {key: Row(back(r.left), back(r.right), r.exponent) for key, r in part.rows.items()}
    return replace(part, rows=rows, matrix=B)


def private(cone: Sequence[Part], limits: Sequence[Limit], columns: Sequence[Vector]) -> bool:
    rows = [row for part in cone for row in part.rows.values()]
    return all(r.holds(q) for r in rows for q in columns) and all(v.holds(columns) for v in limits)


def fillings(low: Sequence[Fraction], high: Sequence[Fraction], total: Fraction) -> list[Vector]:
    """Return the vertices of a box that sum to a total: all entries but one at an end."""
    found = set()
    for free in range(len(low)):
        ends = [(low[x], high[x]) if x != free else (ZERO,) for x in range(len(low))]
        for choice in itertools.product(*ends):
            rest = total - sum(choice)
            if low[free] <= rest <= high[free]:
                found.add((*choice[:free], rest, *choice[free + 1 :]))
    return sorted(found)


def prior_set(table: dict[str, Any], k: int) -> tuple[list[Prior], Callable[[Prior], bool]]:
    """Return the extreme priors of a list, a box or a ball, and whether a prior is in it."""
    if set(table) == {"priors"}:
        listed = [distribution(p, k) for p in sequence(table["priors"])]
        need(listed, "priors")
        return listed, lambda p: p in listed
    if k > 6:
        raise Unable("the extreme priors of more than six inputs")
    if set(table) == {"lower", "upper"}:
        low, high = ([exact(b) for b in sequence(table[end], k)] for end in ("lower", "upper"))
        need(all(0 <= a <= b for a, b in zip(low, high, strict=True)), "a box")
        need(sum(low) <= 1 <= sum(high), "a box with a distribution")
        return fillings(low, high, ONE), lambda p: all(
            a <= v <= b for a, v, b in zip(low, p, high, strict=True)
        )
    need(set(table) == {"center", "radius"}, "one way to state a set of priors")
    center, radius = distribution(table["center"], k), exact(table["radius"])
    need(radius >= 0, "a radius >= 0")
    found = []
    for target in range(k):  # what moves comes from the others, and all of it goes to one
        most = [c if x != target else ZERO for x, c in enumerate(center)]
        moved = min(radius, sum(most))
        for taken in fillings([ZERO] * k, most, moved):
            member = [c - t for c, t in zip(center, taken, strict=True)]
            member[target] += moved
            found.append(tuple(member))
    return found, lambda p: sum(abs(a - b) for a, b in zip(p, center, strict=True)) <= 2 * radius


def distance(kind: Any, a: Vector, b: Vector) -> Interval:
    steps = [abs(s - t) for s, t in zip(a, b, strict=True)]
    if kind == "squared":
        return exactly(sum((s * s for s in steps), ZERO))
    if kind == "euclidean" and len(steps) > 1:
        return root(sum((s * s for s in steps), ZERO))
    need(
        kind == "manhattan" or (kind in ("absolute", "euclidean") and len(steps) == 1), "a distance"
    )
    return exactly(sum(steps, ZERO))


# --- notions --------------------------------------------------------------------------------------

NAMED = {
    "ldp": {"epsilon"},
    "high-low": {"epsilon", "sensitive"},
    "block": {"epsilon", "blocks", "block_rows", "block_columns"},
    "metric": {"epsilon", "distance"},
    "context-aware": {"matrix"},
    "differential-identifiability": {"epsilon"},
    "lip": {"epsilon"},
    "pml": {"epsilon"},
    "lift": {"lower", "upper"},
    "bounded-prior-lip": {"epsilon", "priors", "lower", "upper", "center", "radius"},
    "bounded-prior-pml": {"epsilon", "priors", "lower", "upper", "center", "radius"},
    "bounded-prior-lift": {"lower", "upper", "priors"},
    "linear": {"rows", "epsilon", "title"},
    "approximate-ldp": {"epsilon", "delta"},
    "approximate-lip": {"epsilon", "delta"},
    "maximal-leakage": {"epsilon"},
    "mutual-information": {"epsilon"},
    "g-vulnerability": {"limit", "gain_matrix"},
    "attack-error": {"least", "distance"},
}


@dataclass
class Notion:
    """A notion; :meth:`at` writes it out at another epsilon, or with all exponents moved."""

    table: dict[str, Any]
    inputs: Inputs
    prior: Prior | None

    def __post_init__(self) -> None:
        need(isinstance(self.table, dict) and isinstance(self.table.get("notion"), str), "a notion")
        self.name = self.table["notion"]
        own = {"cone", "limits", "epsilon", "title", "parameters"}
        keys(self.table, ["notion"], [*NAMED.get(self.name, own), "secret"])
        self.epsilon = exact(self.table["epsilon"]) if "epsilon" in self.table else None
        need(self.epsilon is None or self.epsilon >= 0, "an epsilon >= 0")
        self.delta = exact(self.table.get("delta", 0))
        need(0 <= self.delta <= 1, "a delta from 0 to 1")

    def at(self, t: Fraction) -> tuple[list[Part], list[Limit]]:
        """Return generators and limits at epsilon t; without an epsilon, moved by t."""
        inputs, prior, B = self.inputs, self.prior, None
        if "secret" in self.table:
            inputs, prior, B = self._secret(self.table["secret"])
        if self.name not in NAMED:
            cone = [own_part(part, len(inputs)) for part in sequence(self.table.get("cone", []))]
            limits = [own_limit(v, len(inputs)) for v in sequence(self.table.get("limits", []))]
            factor = t / self.epsilon if self.epsilon else ONE
            by = t if self.epsilon is None else ZERO
            return [p.moved(factor, by) for p in cone], [v.moved(factor, by) for v in limits]
        if self.epsilon is None and self.name not in ("g-vulnerability", "attack-error"):
            part, limits = self._named(inputs, prior, ZERO)
            part, limits = part and part.moved(ONE, t), [v.moved(ONE, t) for v in limits]
        else:
            part, limits = self._named(inputs, prior, t)
        need(B is None or not limits, "a limit on a secret")
        return [] if part is None else [part if B is None else pulled(part, B)], limits

    def stated(self) -> tuple[list[Part], list[Limit]]:
        return self.at(ZERO if self.epsilon is None else self.epsilon)

    def holds(self, columns: Sequence[Vector], t: Fraction) -> bool:
        return private(*self.at(t), columns)

    def _secret(self, table: Any) -> tuple[Inputs, Prior, list[Vector]]:
        table, prior = keys(table, ["values", "given_input"]), self._prior()
        values = labels(table["values"])
        rows = sequence(table["given_input"], len(self.inputs))
        given = [distribution(r, len(values)) for r in rows]
        joint = [
            tuple(p * g[s] for p, g in zip(prior, given, strict=True)) for s in range(len(values))
        ]
        masses = tuple(map(sum, joint))
        need(min(masses) > 0, "a value of probability 0")
        B = [tuple(v / m for v in row) for row, m in zip(joint, masses, strict=True)]
        return Inputs(values, ONE, None), tuple(map(Fraction, masses)), B

    def _prior(self) -> Prior:
        need(self.prior is not None, "a prior")
        return self.prior

    def _named(
        self, inputs: Inputs, p: Prior | None, t: Fraction
    ) -> tuple[Part | None, list[Limit]]:
        name, table, k = self.name, self.table, len(inputs)
        every, zero = exactly(t), (ZERO,) * k
        if name == "ldp" or (name == "approximate-ldp" and not self.delta):
            return ratios(k, lambda *_: every), []
        if name == "high-low":
            chosen = [inputs.at(v) for v in sequence(table["sensitive"])]
            need(chosen and len(set(chosen)) == len(chosen), "sensitive inputs")
            return ratios(k, lambda x, _: every if x in chosen else None), []
        if name == "block":
            of = blocks(table, inputs)
            return ratios(k, lambda x, z: every if of[x] == of[z] else None), []
        if name == "context-aware":
            matrix = [[budget(v) for v in sequence(r, k)] for r in sequence(table["matrix"], k)]
            return ratios(k, lambda x, z: matrix[x][z]), []
        if name == "metric":
            far = distances(table["distance"], inputs)
            return ratios(k, lambda x, z: times(far[x][z], t)), []
        if name == "maximal-leakage":
            if not t:
                return ratios(k, lambda *_: every), []
            return None, [Limit([Row(unit(x, k), zero, every) for x in range(k)], ONE)]
        if name in ("bounded-prior-lip", "bounded-prior-pml", "bounded-prior-lift"):
            own = name == "bounded-prior-lift"
            stated = {v: table[v] for v in set(table) - {"notion", "epsilon"}}
            if own:
                inside = table["priors"]
                stated = inside if isinstance(inside, dict) else {"priors": inside}
            extremes, has = prior_set(stated, k)
            part = lifts(self._sides(t), extremes)
            return replace(part, has=has, extremes=extremes), []
        if name == "linear":
            return self._linear(inputs, t), []
        prior = self._prior() if p is None else p
        if name == "differential-identifiability":
            need(min(prior) > 0, "a prior without zeros")
            return ratios(k, lambda *_: every, prior), []
        if name in ("lip", "pml", "lift") or (name == "approximate-lip" and not self.delta):
            return lifts(self._sides(t), [prior]), []
        if name == "mutual-information":
            if t:
                return None, [Limit([], t, prior=prior)]
            some = [x for x in range(k) if prior[x]]
            return ratios(k, lambda x, z: every if x in some and z in some else None), []
        return None, list(self._limits(inputs, prior, t))

    def _sides(self, t: Fraction) -> dict[str, Fraction]:
        if self.name.endswith("lift"):
            ends = {side: budget(self.table[side]) for side in ("upper", "lower")}
            return {side: e[0] for side, e in ends.items() if e is not None}
        return {"upper": t} if self.name.endswith("pml") else {"upper": t, "lower": t}

    def _linear(self, inputs: Inputs, t: Fraction) -> Part:
        k, rows = len(inputs), {}
        for n, stated in enumerate(sequence(self.table["rows"])):
            row = keys(stated, ["left", "right", "exponent"], ["slope", "name"])
            ends = []
            for side in ("left", "right"):
                pairs = [sequence(v, 2) for v in sequence(row[side])]
                at = [inputs.at(v) for v, _ in pairs]
                need(len(set(at)) == len(at), "a label twice")
                value = dict(zip(at, (exact(c) for _, c in pairs), strict=True))
                need(min(value.values(), default=ZERO) >= 0, "a coefficient >= 0")
                ends.append(tuple(value.get(x, ZERO) for x in range(k)))
            slope = exact(row.get("slope", 0))
            need(self.epsilon is not None or slope == 0, "no slope without an epsilon")
            rows["", n, 0] = Row(*ends, exactly(exact(row["exponent"]) + slope * t))
        return Part(rows)

    def _limits(self, inputs: Inputs, p: Prior, t: Fraction) -> Iterator[Limit]:
        k, zero = len(inputs), (ZERO,) * len(inputs)
        nothing, every, less = Row(zero, zero, exactly(ZERO)), exactly(t), exactly(-t)
        if self.name == "approximate-ldp":
            for x, z in itertools.permutations(range(k), 2):
                yield Limit([nothing, Row(unit(x, k), unit(z, k), every)], self.delta, less)
        elif self.name == "approximate-lip":
            for x in range(k):
                yield Limit([nothing, Row(unit(x, k), p, every)], self.delta)
                yield Limit([nothing, Row(p, unit(x, k), every)], self.delta, less)
        elif self.name == "g-vulnerability":
            rows = [[ONE * (x == w) for x in range(k)] for w in range(k)]
            if "gain_matrix" in self.table:
                given = sequence(self.table["gain_matrix"])
                rows = [[exact(g) for g in sequence(row, k)] for row in given]
            parts = [tuple(g * m for g, m in zip(row, p, strict=True)) for row in rows]
            need(parts and min(map(min, parts)) >= 0, "gains >= 0")
            if "gain_matrix" not in self.table:
                parts = [a for a in parts if any(a)]
            most = exact(self.table["limit"]) + t
            yield Limit([Row(a, zero, exactly(ZERO)) for a in parts], most)
        else:
            need(self.name == "attack-error", "a notion")
            far = distances(self.table["distance"], inputs)
            parts = [
                Row(zero, tuple(d[0] * m for d, m in zip(column, p, strict=True)), exactly(ZERO))
                for column in zip(*far, strict=True)
            ]
            yield Limit(parts, t - exact(self.table["least"]))


def budget(value: Any) -> Interval | None:
    if value == "inf":
        return None
    need(exact(value) >= 0, "a budget >= 0")
    return exactly(exact(value))


def blocks(table: dict[str, Any], inputs: Inputs) -> list[int]:
    k, shape = len(inputs), inputs.shape
    if "blocks" in table:
        stated = [[inputs.at(v) for v in sequence(b)] for b in sequence(table["blocks"])]
        need(sorted(itertools.chain(*stated)) == list(range(k)) and all(stated), "a partition")
        return [next(n for n, b in enumerate(stated) if x in b) for x in range(k)]
    need(shape is not None, "a grid")
    high, wide = (index(table.get(key), k + 1) for key in ("block_rows", "block_columns"))
    need(high and wide and not shape[0] % high and not shape[1] % wide, "blocks that fill the grid")
    return [x // shape[1] // high * k + x % shape[1] // wide for x in range(k)]


def distances(kind: Any, inputs: Inputs, outputs: list[Any] | None = None) -> list[list[Interval]]:
    if isinstance(kind, list):
        rows = sequence(kind, len(inputs))
        width = len(sequence(rows[0]))
        found = [[exactly(exact(d)) for d in sequence(row, width)] for row in rows]
        need(min(a for row in found for a, _ in row) >= 0, "distances >= 0")
        return found
    names = inputs.labels if outputs is None else outputs
    if kind == "hamming":
        return [[exactly(ONE * (x != z)) for z in names] for x in inputs.labels]
    return [
        [distance(kind, a, b) for b in inputs.points(names)] for a in inputs.points(inputs.labels)
    ]


# --- generators and limits of a user's own --------------------------------------------------------


def own_part(table: Any, k: int) -> Part:
    need(isinstance(table, dict), "a generator")
    kind = table.get("kind")
    if kind == "ratio":
        keys(table, ["kind", "exponents"], ["prior"])
        p = table.get("prior")
        p = None if p is None else tuple(map(exact, sequence(p, k)))
        return ratios(k, own_exponents(table["exponents"], k), p)
    if kind == "lift":
        keys(table, ["kind", "priors"], ["upper", "lower"])
        stated = {key: v for key, v in table["priors"].items() if key != "kind"}
        if table["priors"].get("kind") == "box":
            stated = {"lower": stated["low"], "upper": stated["high"]}
        extremes, has = prior_set(stated, k)
        sides = [side for side in ("upper", "lower") if table.get(side) is not None]
        ends = {side: exact(table[side]) for side in sides}
        return replace(lifts(ends, extremes), has=has)
    if kind == "rows":
        found = [own_row(row, k) for row in sequence(keys(table, ["kind", "rows"])["rows"])]
        return Part({("", n, 0): row for n, row in enumerate(found)})
    need(kind == "latent", "a generator")
    B = [tuple(exact(v) for v in sequence(row, k)) for row in sequence(table["matrix"])]
    return pulled(own_part(table["inner"], len(B)), B)


def own_exponents(table: Any, k: int) -> Callable[[int, int], Interval | None]:
    if table["kind"] == "constant":
        e, block = exactly(exact(table["exponent"])), table.get("block")
        some = table.get("protected")
        need(block is None or len(block) == k, "a block for each input")
        return lambda x, z: (
            e if (some is None or x in some) and (block is None or block[x] == block[z]) else None
        )
    if table["kind"] == "matrix":
        rows = [sequence(row, k) for row in sequence(table["table"], k)]
        return lambda x, z: None if rows[x][z] == "inf" else exactly(exact(rows[x][z]))
    slope, more = exact(table["per_unit"]), exact(table.get("offset", 0))
    points = [tuple(map(exact, p)) for p in sequence(table["points"], k)]

    def far(x: int, z: int) -> Interval:
        ends = sorted(slope * d + more for d in distance(table["name"], points[x], points[z]))
        return ends[0], ends[1]

    return far


def own_row(table: Any, k: int) -> Row:
    ends = []
    for side in ("left", "right"):
        pairs = [sequence(v, 2) for v in sequence(table[side])]
        value = {index(x, k): exact(v) for x, v in pairs}
        need(len(value) == len(pairs) and min(value.values(), default=0) >= 0, "a row")
        ends.append(tuple(value.get(x, ZERO) for x in range(k)))
    return Row(ends[0], ends[1], exactly(exact(table["exponent"])))


def own_limit(table: Any, k: int) -> Limit:
    if table.get("kind") == "information":
        return Limit([], exact(table["limit"]), prior=distribution(table["prior"], k))
    parts = [own_row(row, k) for row in sequence(table["parts"])]
    return Limit(parts, exact(table["limit"]), exactly(exact(table.get("exponent", 0))))


# --- objectives -----------------------------------------------------------------------------------

LOSSES = {
    "mean-absolute-error": "absolute",
    "mean-squared-distance": "squared",
    "euclidean": "euclidean",
    "hamming": "hamming",
    "distortion": "",
}
WORDS = {
    "distortion": {"matrix", "worst_case"},
    "g-vulnerability": {"gain_matrix"},
    "posterior-mean-squared-error": {"values", "histogram"},
    "fisher-information": {"scores"},
    "unbiased-variance": {"values", "worst_case"},
    "mutual-information": set(),
    "bayes-accuracy": set(),
}
MIXTURES = {"total-variation", "kullback-leibler", "chi-squared", "squared-hellinger"}


def squares(vectors: list[Vector], p: Vector) -> Callable[[Vector], Interval]:
    def gain(q: Vector) -> Interval:
        moments = [dot(v, q) for v in vectors]
        need(not any(moments) or dot(p, q) > 0, "a gain that is finite")
        return exactly(sum((m * m for m in moments), ZERO) / dot(p, q) if any(moments) else ZERO)

    return gain


def read_aim(u: Any, inputs: Inputs, p: Prior | None, outputs: list[Any] | None) -> Aim:
    need(isinstance(u, dict) and isinstance(u.get("objective"), str), "an objective")
    name, k = u["objective"], len(inputs)
    need(name in LOSSES or name in MIXTURES or p is not None, "a prior")
    own = {"first", "second"} if name in MIXTURES else {"worst_case"}
    keys(u, ["objective"], WORDS.get(name, own))
    prior = p or ()
    worst = u.get("worst_case", False)
    need(isinstance(worst, bool), "worst_case")
    weights = None if worst else prior
    if name in LOSSES:
        need(outputs, "outputs")
        far = distances(u["matrix"] if name == "distortion" else LOSSES[name], inputs, outputs)
        need(len(far[0]) == len(outputs or []), "a loss for each output")
        return Aim("loss", 1, weights, costs=[list(column) for column in zip(*far, strict=True)])
    if name in ("bayes-accuracy", "g-vulnerability"):
        rows = [[ONE * (x == w) for x in range(k)] for w in range(k)]
        if name == "g-vulnerability":
            rows = [[exact(g) for g in sequence(row, k)] for row in sequence(u["gain_matrix"])]
        return Aim("loss", -1, prior, costs=[[exactly(-g) for g in row] for row in rows], free=True)
    if name == "posterior-mean-squared-error":
        if "histogram" in u:
            need(u["histogram"] is True and "values" not in u, "histogram")
            vectors, constant = [unit(x, k, m) for x, m in enumerate(prior)], ONE
        else:
            f = [exact(v) for v in sequence(u["values"], k)]
            vectors = [tuple(a * b for a, b in zip(f, prior, strict=True))]
            constant = sum((m * v * v for m, v in zip(prior, f, strict=True)), ZERO)
        return Aim(
            "gain", 1, gain=squares(vectors, prior), constant=constant, vectors=vectors, p=prior
        )
    if name == "fisher-information":
        scores = [[exact(s) for s in sequence(row)] for row in sequence(u["scores"], k)]
        vectors = [
            tuple(m * s for m, s in zip(prior, col, strict=True))
            for col in zip(*scores, strict=True)
        ]
        return Aim("gain", -1, gain=squares(vectors, prior), vectors=vectors, p=prior)
    if name == "mutual-information":
        return Aim("gain", -1, gain=lambda q: information_of(q, prior), p=prior)
    if name in ("l2-risk", "tv-risk"):
        return Aim("risk", 1, weights, roots=name == "tv-risk", p=prior)
    if name == "unbiased-variance":
        f = tuple(exact(v) for v in sequence(u["values"], k))
        return Aim("reading", 1, weights, values=f)
    need(name in MIXTURES, "an objective")
    a, b = (distribution(u[side], k) for side in ("first", "second"))
    d = tuple(s - t for s, t in zip(a, b, strict=True))
    if name == "total-variation":
        costs = [[exactly(s * v / 2) for v in d] for s in (1, -1)]
        return Aim("loss", -1, (ONE,) * k, costs=costs, free=True)
    if name == "chi-squared":
        return Aim("gain", -1, gain=squares([d], b), vectors=[d], p=b)
    if name == "squared-hellinger":

        def hellinger(q: Vector) -> Interval:
            need(min(dot(a, q), dot(b, q)) >= 0, "masses >= 0")
            low, high = root(dot(a, q) * dot(b, q))
            return (dot(a, q) + dot(b, q)) / 2 - high, (dot(a, q) + dot(b, q)) / 2 - low

        both = tuple(s + t for s, t in zip(a, b, strict=True))
        return Aim("gain", -1, gain=hellinger, vectors=[a], p=both)

    def leibler(q: Vector) -> Interval:
        need(min(dot(a, q), dot(b, q)) >= 0, "masses >= 0")
        need(not dot(a, q) or dot(b, q), "a divergence that is finite")
        return times(ln(dot(a, q) / dot(b, q)), dot(a, q)) if dot(a, q) else exactly(ZERO)

    return Aim("gain", -1, gain=leibler, vectors=[a], p=b)


@dataclass
class Problem:
    inputs: Inputs
    prior: Prior | None
    notions: list[Notion]
    outputs: list[Any] | None
    statement: Statement


def read_problem(table: Any) -> Problem:
    keys(table, ["domain", "privacy"], ["prior", "utility", "outputs", "constraints"])
    inputs = read_domain(table["domain"])
    stated = table.get("prior")
    prior = None if stated is None else distribution(stated, len(inputs))
    notions = [Notion(v, inputs, prior) for v in sequence(table["privacy"])]
    need(notions, "a notion")
    outputs = None if table.get("outputs") is None else labels(table["outputs"])
    if "constraints" in table:
        raise Unable("constraints of a user's own")
    written = [notion.stated() for notion in notions]
    cone = [part for parts, _ in written for part in parts]
    limits = [limit for _, found in written for limit in found]
    aim = read_aim(table.get("utility"), inputs, prior, outputs)
    return Problem(inputs, prior, notions, outputs, Statement(len(inputs), cone, limits, aim))

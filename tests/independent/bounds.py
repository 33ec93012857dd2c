"""Values and bounds of objectives: each bound proved anew, over all rays where rays are needed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from tests.independent.privacy import LIFTS, RATIOS, SUMS, Notion, Row, information, information_of
from tests.independent.purposes import GUESS, PURPOSES, SCORES, gain_of, is_infinite, losses_of
from tests.independent.rationals import (
    BITS,
    ONE,
    PI,
    ZERO,
    Interval,
    Unable,
    Vector,
    dot,
    exactly,
    exp,
    ln,
    need,
    plus,
    root,
    times,
)
from tests.independent.reading import (
    Inputs,
    claim,
    distance,
    distribution,
    fraction,
    index,
    keys,
    number,
    numbers,
    sequence,
)

LOSSES = {"mean-absolute-error", "mean-squared-distance", "hamming", "euclidean", "distortion"}
RISKS = {"l2-risk", "tv-risk"}
MAXIMIZED = {"mutual-information", "bayes-accuracy"} | PURPOSES
READ = "unbiased-variance"
OBJECTIVES = LOSSES | RISKS | MAXIMIZED | {"posterior-mean-squared-error", READ}

Matrix = list[list[Fraction]]
MOST_CHOICES = 30_000


@dataclass
class Problem:
    inputs: Inputs
    prior: Vector
    notions: list[Notion]
    objective: str
    worst: bool
    f: Vector | None
    outputs: list[Any] | None
    losses: list[list[Interval]] | None
    terms: list[Vector] | None = None

    @property
    def k(self) -> int:
        return len(self.prior)


def costs(table: dict[str, Any], inputs: Inputs, outputs: list[Any]) -> list[list[Interval]]:
    """Return bounds on the loss of each input and output."""
    name, k = table["objective"], len(inputs)
    if name == "distortion":
        rows = [sequence(r, len(outputs)) for r in sequence(table["matrix"], k)]
        return [[exactly(fraction(entry)) for entry in r] for r in rows]
    if name == "hamming":
        return [[exactly(ONE * (x != y)) for y in outputs] for x in inputs.labels]
    here, there = inputs.points(inputs.labels), inputs.points(outputs)
    if name == "mean-squared-distance":
        return [
            [exactly(sum((s - t) ** 2 for s, t in zip(a, b, strict=True))) for b in there]
            for a in here
        ]
    need(name == "euclidean" or len(here[0]) == 1, "numbers")
    found = [[distance("euclidean", a, b) for b in there] for a in here]
    return [[times(root(radicand), c) for c, radicand in r] for r in found]


# --- values of a channel, which is a list of columns ----------------------------------------------


def value(problem: Problem, columns: list[Vector], used: Sequence[int] = ()) -> Interval:
    """Return bounds on the objective of a channel; `used` are its outputs among those allowed."""
    p, name = problem.prior, problem.objective
    if problem.losses is not None:
        each = [exactly(ZERO)] * problem.k
        for q, y in zip(columns, used, strict=True):
            each = [plus(e, times(problem.losses[x][y], q[x])) for x, e in enumerate(each)]
        if problem.worst:
            return max(low for low, _ in each), max(high for _, high in each)
        return sum(v * e[0] for v, e in zip(p, each, strict=True)), sum(
            v * e[1] for v, e in zip(p, each, strict=True)
        )
    if name == "mutual-information":
        return information(columns, p)
    if name in RISKS:
        return risk(name, columns, p)
    need(name != READ, "readings")
    if problem.terms is not None:
        found = [gain(problem, q) for q in columns]
        return sum((low for low, _ in found), ZERO), sum((high for _, high in found), ZERO)
    gained = sum((gain(problem, q)[0] for q in columns), ZERO)
    return exactly(gained if name == "bayes-accuracy" else without_report(problem) - gained)


def variance(problem: Problem, columns: list[Vector], v: Vector) -> Fraction:
    """Return the variance of readings whose mean is f at every input, on average or at worst."""
    f = problem.f or ()
    rows = list(zip(*columns, strict=True))
    need(all(dot(row, v) == a for row, a in zip(rows, f, strict=True)), "readings without bias")
    squares = tuple(a * a for a in v)
    each = [dot(row, squares) - a * a for row, a in zip(rows, f, strict=True)]
    return max(each) if problem.worst else dot(problem.prior, each)


def without_report(problem: Problem) -> Fraction:
    f = problem.f
    return ONE if f is None else dot(problem.prior, tuple(v * v for v in f))


def gain(problem: Problem, q: Vector) -> Interval:
    """Return bounds on g(q), where the objective is a sum of such gains, or a constant less it."""
    p, law = problem.prior, dot(problem.prior, q)
    if problem.objective == "mutual-information":
        return information_of(q, p)
    if problem.terms is not None:
        return gain_of(problem.objective, problem.terms, p, q)
    if problem.objective == "bayes-accuracy":
        return exactly(max(a * b for a, b in zip(p, q, strict=True)))
    if law == 0:
        return exactly(ZERO)
    weighed = [a * b for a, b in zip(p, q, strict=True)]
    if problem.f is None:
        return exactly(sum(v * v for v in weighed) / law)
    return exactly(dot(tuple(weighed), problem.f) ** 2 / law)


def second_moments(columns: list[Vector], p: Vector) -> Matrix:
    k = len(p)
    found = [[ZERO] * k for _ in range(k)]
    for q in columns:
        law = dot(p, q)
        for x, z in itertools.product(range(k), repeat=2):
            found[x][z] += q[x] * q[z] / law if law else ZERO
    return found


def inverse(matrix: Matrix) -> Matrix | None:
    """Return the inverse by Gauss and Jordan, None if there is none."""
    k = len(matrix)
    rows = [[*row, *unit_row(x, k)] for x, row in enumerate(matrix)]
    for x in range(k):
        pivot = next((z for z in range(x, k) if rows[z][x]), None)
        if pivot is None:
            return None
        rows[x], rows[pivot] = rows[pivot], rows[x]
        rows[x] = [v / rows[x][x] for v in rows[x]]
        for z in range(k):
            if z != x and rows[z][x]:
                rows[z] = [a - rows[z][x] * b for a, b in zip(rows[z], rows[x], strict=True)]
    return [row[k:] for row in rows]


def unit_row(x: int, k: int) -> list[Fraction]:
    return [ONE * (z == x) for z in range(k)]


def risk(name: str, columns: list[Vector], p: Vector) -> Interval:
    M = inverse(second_moments(columns, p))
    need(min(p) > 0 and M is not None, "an estimator")
    assert M is not None
    variances = [M[x][x] - p[x] ** 2 for x in range(len(p))]
    return deviations(name, variances)


def deviations(name: str, variances: list[Fraction]) -> Interval:
    if name == "l2-risk":
        return exactly(sum(variances))
    roots = [root(max(v, ZERO)) for v in variances]
    low, high = sum(r[0] for r in roots), sum(r[1] for r in roots)
    return low * root(1 / (2 * PI[1]))[0], high * root(1 / (2 * PI[0]))[1]


def estimator(columns: list[Vector], p: Vector) -> list[Vector]:
    """Return the reading W_y = M^-1 q_y / (p . q_y) of each output."""
    M = inverse(second_moments(columns, p))
    need(M is not None, "an estimator")
    laws = [dot(p, q) for q in columns]
    need(all(laws), "outputs that occur")
    return [
        tuple(dot(tuple(row), q) / law for row in M or [])
        for q, law in zip(columns, laws, strict=True)
    ]


def risk_at(name: str, columns: list[Vector], W: list[Vector], p: Vector) -> Interval:
    """Return the risk, at p, of an unbiased reading W."""
    laws = [dot(p, q) for q in columns]
    moments = [sum(law * w[x] ** 2 for law, w in zip(laws, W, strict=True)) for x in range(len(p))]
    return deviations(name, [m - v * v for m, v in zip(moments, p, strict=True)])


def worst_risk(name: str, columns: list[Vector], W: list[Vector]) -> Interval:
    """Return bounds on the largest risk over all distributions.

    The risk is concave in p: it is above its value anywhere, and below each of its tangents.
    """
    k = len(columns[0])
    second = [
        [sum(q[z] * w[x] ** 2 for q, w in zip(columns, W, strict=True)) for z in range(k)]
        for x in range(k)
    ]
    V = [[float(v) for v in row] for row in second]

    def slopes(p: Sequence[float]) -> list[float]:
        if name == "l2-risk":
            return [sum(V[x][z] for x in range(k)) - 2 * p[z] for z in range(k)]
        roots = [
            math.sqrt(max(1e-30, sum(a * b for a, b in zip(V[x], p, strict=True)) - p[x] ** 2))
            for x in range(k)
        ]
        return [
            sum((V[x][z] - 2 * p[x] * (x == z)) / 2 / roots[x] for x in range(k)) for z in range(k)
        ]

    p, step = [1 / k] * k, 0.5
    for _ in range(
        4000
    ):  # moves mass from the least slope to the largest, in smaller and smaller steps
        s = slopes(p)
        to = max(range(k), key=s.__getitem__)
        source = min((z for z in range(k) if p[z] > 0), key=s.__getitem__)
        moved = [v + min(step, p[source]) * ((z == to) - (z == source)) for z, v in enumerate(p)]
        t = slopes(moved)
        if t[to] >= t[source]:
            p = moved
        else:
            step /= 1.5
    at = [Fraction(max(v, 0.0)) for v in p]
    at = [v / sum(at) for v in at]
    low, high = risk_at(name, columns, W, tuple(at))
    s = slopes([float(v) for v in at])
    rise = max(s) - sum(a * float(b) for a, b in zip(s, at, strict=True))
    need(rise <= 1e-9 * float(high), "the largest risk")  # the search, not the file, is to blame
    return low, high + Fraction(max(rise, 0.0)) + high / 10**12


# --- the cone -------------------------------------------------------------------------------------


def outer_rows(notions: Sequence[Notion], k: int) -> list[Vector]:
    """Return rows with row . q >= 0 on every private column, e**-a rounded down."""
    found = {tuple(ONE * (z == x) for z in range(k)) for x in range(k)}
    for notion in notions:
        found |= {outer(row, notion.epsilon) for row in notion.rows}
    return sorted(row for row in found if any(v < 0 for v in row) or sum(map(bool, row)) == 1)


def outer(row: Row, epsilon: Fraction) -> Vector:
    less = row.shrink(epsilon)[0]
    return tuple(b - less * a for a, b in zip(row.left, row.right, strict=True))


@cache
def rays(rows: tuple[Vector, ...]) -> tuple[Vector, ...]:
    """Return the extreme rays of a cone, which are among the lines on which k - 1 rows are 0."""
    k = len(rows[0])
    if math.comb(len(rows), k - 1) > MOST_CHOICES:
        raise Unable("too many choices of rows")
    scaled = [integers(row) for row in rows]
    found = set()
    for chosen in itertools.combinations(scaled, k - 1):
        q = orthogonal(chosen, k)
        if q is None:
            continue
        signs = [sum(a * b for a, b in zip(row, q, strict=True)) for row in scaled]
        if max(signs) <= 0:
            q = [-v for v in q]
        elif min(signs) < 0:
            continue
        found.add(tuple(Fraction(v, sum(q)) for v in q))
    return tuple(sorted(found))


def integers(row: Vector) -> list[int]:
    scale = math.lcm(*(v.denominator for v in row))
    return [int(v * scale) for v in row]


def orthogonal(rows: Sequence[Sequence[int]], k: int) -> list[int] | None:
    """Return the minors of k - 1 rows, which are orthogonal to all of them; None if all are 0."""
    found = [(-1) ** x * determinant([[*row[:x], *row[x + 1 :]] for row in rows]) for x in range(k)]
    return found if any(found) else None


def determinant(rows: list[list[int]]) -> int:
    if not rows:
        return 1
    return sum(
        (-1) ** x * v * determinant([[*row[:x], *row[x + 1 :]] for row in rows[1:]])
        for x, v in enumerate(rows[0])
        if v
    )


# --- bounds ---------------------------------------------------------------------------------------


class Prover:
    """Proves a bound on the objective from what a certificate holds."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.k, self.p = problem.k, problem.prior
        self.maximized = problem.objective in MAXIMIZED
        self.kind = problem.objective
        if problem.worst:
            self.kind = "worst loss" if problem.losses is not None else "worst risk"
            self.kind = self.kind if problem.objective != READ else "worst reading"
        elif self.kind == "posterior-mean-squared-error":
            self.kind = "histogram" if problem.f is None else "posterior"
        self.names = {notion.name for notion in problem.notions if not notion.secret}

    def rays(self) -> list[Vector]:
        """Return the extreme rays of the cone."""
        return list(rays(tuple(outer_rows(self.problem.notions, self.k))))

    def bound(self, certificate: dict[str, Any]) -> list[Fraction]:
        """Return what the parts of a certificate prove."""
        table = keys(certificate, ["theorem", "dual"], ["facets"])
        theorem, dual = table["theorem"], table["dual"]
        need(("facets" in table) == (theorem == "simplicial"), "facets for simplicial cones only")
        found = []
        if theorem is not None:
            need(isinstance(theorem, str) and theorem in THEOREMS, "a theorem")
            prove, objectives, notions = THEOREMS[theorem]
            need(self.kind in objectives, "a theorem for the objective")
            need(notions is None or self.names & notions, "a theorem for the notion")
            found.append(prove(self, table))
        if dual is not None:
            found.append(self.dual(dual))
        return [bound for bound in found if bound is not None]

    # theorems

    def at(self, columns: list[Vector]) -> Fraction | None:
        """Bound the objective by its value at a channel of which all are post-processings."""
        problem, p = self.problem, self.p
        if problem.losses is not None:
            m = len(problem.losses[0])
            if problem.worst:
                return None
            return sum(
                min(
                    sum(p[x] * q[x] * problem.losses[x][y][0] for x in range(self.k))
                    for y in range(m)
                )
                for q in columns
            )
        if problem.worst:
            return value_at_any(problem, columns)
        low, high = value(problem, columns)
        return high if self.maximized else low

    def truth(self, _: Any) -> Fraction | None:
        problem = self.problem
        if problem.objective == READ:
            return ZERO
        if problem.losses is not None and problem.worst:
            return max(min(low for low, _ in row) for row in problem.losses)
        if is_infinite(problem.objective, problem.terms):
            return None
        return self.at([tuple(unit_row(x, self.k)) for x in range(self.k)])

    def nothing_told(self, _: Any) -> Fraction | None:
        need(len(self.rays()) == 1, "a budget of 0 for all inputs")
        if self.problem.losses is not None and self.problem.worst:
            columns = list(zip(*self.problem.losses, strict=True))
            return min(sum((v[0] for v in c), ZERO) / self.k for c in columns)
        return self.at([(ONE,) * self.k])

    def two_inputs(self, _: Any) -> Fraction | None:
        need(self.k == 2, "two inputs")
        found = self.rays()
        if len(found) == 1:
            return self.at([(ONE, ONE)])
        (a, b), (c, d) = found
        s, t = (d - c) / (a * d - b * c), (a - b) / (a * d - b * c)
        return self.at([(s * a, s * b), (t * c, t * d)])

    def simplicial(self, table: dict[str, Any]) -> Fraction | None:
        F = [list(self.facet(stated)) for stated in sequence(table["facets"], self.k)]
        G, theta = inverse(F), [sum(row) for row in F]
        need(G is not None and min(theta) >= 0, "facets that are independent")
        U = [[g * t for g, t in zip(row, theta, strict=True)] for row in G or []]
        need(min(map(min, U)) >= 0, "a universal channel")
        return self.at(list(zip(*U, strict=True)))

    def facet(self, stated: Any) -> Vector:
        notion, side, x, other = sequence(stated, 4)
        if side == "positive":
            need(notion is None and other is None, "nothing but an input")
            return tuple(unit_row(index(x, self.k), self.k))
        found = self.problem.notions[index(notion, len(self.problem.notions))]
        members = None
        if isinstance(side, str) and side.removeprefix("secret-") in ("upper", "lower"):
            if other is None:
                need(found.members is None, "the prior")
                other = 0
            else:
                need(found.members is not None, "no other prior")
                members = [distribution(other, self.k)]
                need(found.contains(members[0]), "a prior of the set")
                other = 0
        elif side == "row":
            need(other is None, "nothing but a row")
            other = 0
        return outer(found.row(side, x, other, members), found.epsilon)

    def erasure(self, _: Any) -> Fraction | None:
        notions = [n for n in self.problem.notions if n.name in ("lip", "lift") and not n.secret]
        budgets = [n.epsilon + n.down for n in notions if n.down is not None]
        need(budgets, "bounds of lifts from below")
        told = 1 - exp(-min(budgets))[0]
        return self.at(
            [
                *(tuple(told * v for v in unit_row(x, self.k)) for x in range(self.k)),
                (1 - told,) * self.k,
            ]
        )

    def randomized_response(self, _: Any) -> Fraction | None:
        budgets = self.ldp_budgets()
        need(self.is_uniform(), "a uniform prior")
        high = exp(min(budgets))[1]
        return (self.k - 1) / (high + self.k - 1)

    def ldp_budgets(self) -> list[Fraction]:
        found = [n.epsilon for n in self.problem.notions if n.name == "ldp" and not n.secret]
        need(found, "LDP")
        return found

    def contracted(self, _: Any) -> Fraction | None:
        """Bound total variation by the coefficient of contraction (Dobrushin 1956)."""
        e = exp(min(self.ldp_budgets()))[1]
        first, second = self.problem.terms or []
        return sum(abs(a - b) for a, b in zip(first, second, strict=True)) / 2 * (e - 1) / (e + 1)

    def is_uniform(self) -> bool:
        return len(set(self.p)) == 1

    def best_ray(self, _: Any) -> Fraction | None:
        """Bound a sum of g(q_y) by the largest g(q) / (p . q), as the p . q_y sum to 1."""
        problem = self.problem
        guess = problem.objective == "hamming" and not problem.worst
        need(self.is_uniform(), "a uniform prior")
        if guess:
            problem = Problem(
                problem.inputs, self.p, problem.notions, "bayes-accuracy", False, None, None, None
            )
        most = max(gain(problem, q)[1] / dot(self.p, q) for q in self.rays())
        return most if self.maximized else (1 if guess else without_report(problem)) - most

    def subsets(self, _: Any) -> Fraction | None:
        """Bound tr M by the largest |q|^2, and tr M^-1 by tr M, as M 1 = k 1.

        The cone does not change when inputs are permuted, and the risk is convex in M: some best M
        does not change either, and has equal entries on the diagonal.
        """
        problem, k = self.problem, self.k
        need(problem.worst or self.is_uniform(), "a uniform prior")
        found = self.rays() if self.is_uniform() else []
        if {(q[1], q[0], *q[2:]) for q in found} | {(*q[1:], q[0]) for q in found} != set(found):
            found = []
        if not found:
            high = exp(min(self.ldp_budgets()))[1]
            found = [(high,) * n + (ONE,) * (k - n) for n in range(1, k)]
        even = (Fraction(1, k),) * k
        most = max(dot(q, q) / dot(even, q) ** 2 for q in found)
        need(most > k, "an estimator")
        trace = Fraction(1, k) + Fraction(k - 1) ** 2 / (most - k)
        return deviations(problem.objective, [(trace - Fraction(1, k)) / k] * k)[0]

    def paid_guesses(self, _: Any) -> Fraction | None:
        """Bound right guesses c_x <= 1 with sum(c) <= e**epsilon by linear programming duality.

        For any price t of leakage, p . c <= t e**epsilon + sum of the positive parts of p - t; it
        is least at one of the prior's entries, or at 0.
        """
        problem, k, p = self.problem, self.k, self.p
        budgets = [n.epsilon for n in problem.notions if n.name == "maximal-leakage"]
        need(budgets, "maximal leakage")
        leakage, losses, most = exp(min(budgets))[1], problem.losses, ONE
        if problem.objective == GUESS:
            losses, most = losses_of(problem.terms or [])
        if losses is None:
            losses = [[exactly(ONE * (x != y)) for y in range(k)] for x in range(k)]
        right = set()
        for column in zip(*losses, strict=True):
            cheap = [x for x, (low, _) in enumerate(column) if low < 1]
            need(len(cheap) < 2 and all(low >= 0 for low, _ in column), "one right input each")
            right |= set(cheap)
        if problem.worst:
            return 1 - min(ONE, leakage / k) if len(right) == k else ONE
        mass = [p[x] if x in right else ZERO for x in range(k)]
        paid = min(t * leakage + sum(max(m - t, ZERO) for m in mass) for t in [ZERO, *mass])
        return most - 1 + paid if self.maximized else 1 - paid

    # what a dual proves

    def dual(self, stated: Any) -> Fraction | None:
        need(isinstance(stated, dict), "a dual")
        must, may = {"weights", "rows"}, set()
        search = stated.get("search")
        if self.kind in RISKS | {"worst risk"}:
            known = ("rays", "classes", "products", "ldp-rays", "ldp-classes")
            need(search in known, "a search")
            must |= {"potential", "search", "estimator"}
            must |= {"prior"} if self.kind == "worst risk" else set()
            must |= {"tangents"} if self.problem.objective == "tv-risk" else set()
            must |= {"surplus", "products"} if search == "products" else set()
            may |= {"levels"} if search == "products" else set()
        elif self.problem.objective == READ:
            must |= {"slope", "decoders"}
            if search is not None:
                need(search == "one-budget-readings" and len(self.problem.notions) == 1, "a search")
                need(self.names & (RATIOS | SUMS), "pairs of inputs")
                must |= {"potential", "search"}
        elif search is not None:
            need(isinstance(search, str) and search in SEARCHES, "a search")
            objectives, notions = SEARCHES[search]
            need(self.kind in objectives, "a search for the objective")
            if search in PRICES:
                need(len(self.problem.notions) == 1 or search == "chain", "a single notion")
                need(self.names & (notions or set()), "pairs of inputs")
            elif notions is not None:
                need(len(self.names) > 0 and self.names <= notions, "a search for the notions")
                need(not any(notion.secret for notion in self.problem.notions), "no secret")
            must |= {"potential", "search"}
            more = {"boxes": {"tree"}, "decoders": {"decoders", "levels"}}
            must |= more.get(search, {"surplus", "intervals"} if search == "sets" else set())
        elif self.kind in DECODED:
            must |= {"decoders"}
        elif "representatives" in stated:
            need(self.kind in LOSSES, "an expected loss")
            need(self.names & (RATIOS | SUMS), "pairs of inputs")
            must |= {"representatives", "mixtures"}
        else:
            need(self.kind in LOSSES | {"worst loss", "bayes-accuracy", GUESS}, "a search")
            may |= {"information"}
        may |= {"priors"} if search in ("rays", "boxes") else set()
        dual = keys(stated, must, may)
        dual["rows"] = [unpacked(block) for block in sequence(dual["rows"])]
        weighed = self.kind in ("worst loss", "worst reading")
        need((dual["weights"] is not None) == weighed, "weights")
        for key, priors in self.table(dual.get("priors", {})).items():
            self.priors_of(self.problem.notions[self.notion_index(key)], priors)
        if "representatives" in dual:
            return self.representatives_bound(dual)
        if self.problem.objective == READ:
            return self.reading_bound(dual)
        if search is None:
            return self.decoder_bound(dual) if "decoders" in dual else self.row_bound(dual)
        need(not sequence(dual["rows"]), "potentials or rows")
        u = tuple(number(v) for v in sequence(dual["potential"], self.k))
        if self.problem.objective in RISKS:
            return self.risk_bound(dual, u)
        return self.prices(dual, u) if search in PRICES else self.ray_bound(dual, u)

    def table(self, stated: Any) -> dict[str, Any]:
        need(isinstance(stated, dict), "a table")
        return dict(stated)

    def notion_index(self, key: str) -> int:
        need(key in [str(n) for n in range(len(self.problem.notions))], "the number of a notion")
        return int(key)

    def priors_of(self, notion: Notion, stated: Any) -> list[Vector]:
        need(notion.members is not None, "a set of priors")
        found = [distribution(prior, self.k) for prior in sequence(stated)]
        need(all(notion.contains(prior) for prior in found), "priors of the set")
        return found

    def reduced(self, dual: dict[str, Any], m: int) -> tuple[list[list[Fraction]], Fraction]:
        """Return sum_r w_r (e^-a left - right) by input and output, and what sums subtract."""
        terms = [[ZERO] * m for _ in range(self.k)]
        spent = ZERO
        for stated in sequence(dual["rows"]):
            table = keys(stated, ["notion", "side", "output", "x", "other", "weight"], ["priors"])
            notion = self.problem.notions[index(table["notion"], len(self.problem.notions))]
            lists = [sequence(table[key]) for key in ("output", "x", "other", "weight")]
            need(len(set(map(len, lists))) == 1, "lists of one length")
            members = self.priors_of(notion, table["priors"]) if "priors" in table else None
            totals: dict[Any, dict[int, Fraction]] = {}
            for output, x, other, weight in zip(*lists, strict=True):
                y, w = index(output, m), number(weight)
                need(w >= 0, "weights >= 0")
                row, each, limit = self.term(notion, table["side"], x, other, members)
                less = row.shrink(notion.epsilon)[0]
                for z in range(self.k):
                    terms[z][y] += w * (less * row.left[z] - row.right[z])
                if each is not None:
                    total = totals.setdefault((each, limit), {})
                    total[y] = total.get(y, ZERO) + w
            spent += sum(
                (limit * max(total.values()) for (_, limit), total in totals.items()), ZERO
            )
        return terms, spent

    def term(
        self, notion: Notion, side: Any, x: Any, other: Any, members: Any
    ) -> tuple[Row, Any, Fraction]:
        """Return a row, and for a sum of excesses which one it is and its limit."""
        k, name = self.k, notion.name
        if name not in SUMS or (notion.delta == 0 and side in ("ratio", "upper", "lower")):
            return notion.row(side, x, other, members), None, ZERO
        if notion.guessing is not None:
            need(side == ("guess" if name == "g-vulnerability" else "attack"), "a side of a sum")
            need(other == 0, "no other input")
            guess = index(x, len(notion.guessing.gains))
            return Row(notion.guessing.left(guess), (ZERO,) * k), 0, notion.guessing.limit
        x, other = index(x, k), index(other, k)
        me, law = tuple(unit_row(x, k)), notion.prior
        shrunk = exp(-notion.epsilon)[1]
        if (name, side) == ("approximate-ldp", "excess") and x != other:
            return Row(me, tuple(unit_row(other, k))), (x, other), shrunk * notion.delta
        need(other == 0, "no other input")
        if (name, side) == ("approximate-lip", "excess-upper"):
            return Row(me, law), x, notion.delta
        if (name, side) == ("approximate-lip", "excess-lower"):
            return Row(law, me), x, shrunk * notion.delta
        need((name, side) == ("maximal-leakage", "largest"), "a side of a sum")
        return Row(me, (ZERO,) * k), 0, ONE

    def row_bound(self, dual: dict[str, Any]) -> Fraction:
        problem, k = self.problem, self.k
        losses, weights, most = problem.losses, [*self.p], ONE
        if problem.objective == GUESS:
            losses, most = losses_of(problem.terms or [])
        if losses is None:
            losses = [[exactly(ONE * (x != y)) for y in range(k)] for x in range(k)]
        scale = ONE
        if problem.worst:
            weights = [number(v) for v in sequence(dual["weights"], k)]
            need(min(weights) >= 0 and sum(weights) > 0, "weights of inputs")
            scale = sum(weights)
        m = len(losses[0])
        terms, spent = self.reduced(dual, m)
        found = []
        for share in {
            scale,
            ONE,
        }:  # both are bounds: the weights divided by their sum, or all of it
            c = [
                [weights[x] * losses[x][y][0] / (scale / share) + terms[x][y] for y in range(m)]
                for x in range(k)
            ]
            found.append((self.least(c, dual.get("information")) - spent) / share)
        return most - max(found) if self.maximized else max(found)

    def least(self, c: list[list[Fraction]], stated: Any) -> Fraction:
        """Bound sum_xy Q[x, y] c[x, y] from below."""
        if stated is None:
            return sum(map(min, c))
        table = keys(stated, ["multipliers", "levels"])
        v = spent = ZERO
        for key, multiplier in self.table(table["multipliers"]).items():
            notion, w = self.problem.notions[self.notion_index(key)], number(multiplier)
            need(notion.name == "mutual-information" and w >= 0, "a bound on the information")
            v, spent = v + w, spent + w * notion.epsilon
        b = [number(level) for level in sequence(table["levels"], self.k)]
        need(v > 0, "a multiplier above 0")
        some = [x for x in range(self.k) if self.p[x]]
        sums = [
            sum(self.p[x] * exp(rounded((b[x] - c[x][y] / self.p[x]) / v))[1] for x in some)
            for y in range(len(c[0]))
        ]
        free = sum((min(c[x]) for x in range(self.k) if not self.p[x]), ZERO)
        return sum(self.p[x] * b[x] for x in some) - v * ln(max(sums))[1] - spent + free

    def prices(self, dual: dict[str, Any], u: Vector) -> Fraction:
        """Bound a linear loss by potentials, and one less an accuracy by that of the best guess."""
        problem, k, mass, most = self.problem, self.k, self.p, ONE
        losses = problem.losses
        if problem.objective == GUESS:
            losses, most = losses_of(problem.terms or [])
        losses = losses or [[exactly(ONE * (x != y)) for y in range(k)] for x in range(k)]
        if problem.worst:
            weights = [number(v) for v in sequence(dual["weights"], k)]
            need(min(weights) >= 0 and sum(weights) > 0, "weights of inputs")
            mass = tuple(w / sum(weights) for w in weights)

        def costs() -> list[Vector]:
            outputs = range(len(losses[0]))
            return [tuple(mass[x] * losses[x][y][0] - u[x] for x in range(k)) for y in outputs]

        alone = {q.index(max(q)) for q in self.rays() if sum(map(bool, q)) == 1}
        if dual["search"] == "lifts":
            alone = {x for x in alone if not self.p[x]}
        if dual["search"] != "chain":  # where an entry may be above 0 alone, no cost is below 0
            least = [min(ZERO, *(c[x] for c in costs())) if x in alone else ZERO for x in range(k)]
            u = tuple(v + less for v, less in zip(u, least, strict=True))
        prove = {"chain": self.chain, "one-budget": self.one_budget, "lifts": self.lifts}
        found = sum(u) + prove[dual["search"]](costs())
        return most - found if self.maximized else found

    def chain(self, costs: list[Vector]) -> Fraction:
        """Bound c . q >= W q_x for private q, at the root x of an output."""
        worst = [ZERO] * self.k
        need(all(map(all, self.rays())), "columns above 0")
        for c in costs:
            W, root_of_y = max(
                (min(dot(c, q) / q[x] for q in self.rays()), x) for x in range(self.k)
            )
            worst[root_of_y] = min(worst[root_of_y], W)
        return sum(worst)

    def one_budget(self, costs: list[Vector]) -> Fraction:
        """Bound c . q >= W t, with t the least entry in a block, which sums to 1 at most."""
        blocks: dict[tuple[bool, ...], Fraction] = {}
        tall = {max(q) / min(v for v in q if v) for q in self.rays() if sum(map(bool, q)) > 1}
        need(len(tall) <= 1, "one budget")
        for q in self.rays():
            block, t = tuple(map(bool, q)), min(v for v in q if v)
            W = min(dot(c, q) / t for c in costs)
            blocks[block] = min(blocks.get(block, ZERO), W)
        for a, b in itertools.combinations([block for block in blocks if sum(block) > 1], 2):
            need(not any(x and z for x, z in zip(a, b, strict=True)), "blocks apart")
        return sum(blocks.values())

    def lifts(self, costs: list[Vector]) -> Fraction:
        """Bound c . q >= K (P . q), whose sum over the outputs is K."""
        (notion,) = self.problem.notions
        need(notion.members is None or set(notion.members) == {self.p}, "the lift for the prior")
        likely = [q for q in self.rays() if dot(self.p, q)]
        return min(dot(c, q) / dot(self.p, q) for c in costs for q in likely)

    def representatives_bound(self, dual: dict[str, Any]) -> Fraction:
        """Bound a loss by that of the inputs that stand for others, q_x >= s q_r for private q."""
        losses, k, most = self.problem.losses or [], self.k, 1 << 53
        stands = [index(r, k) for r in sequence(dual["representatives"], k)]
        need(all(stands[r] == r for r in stands), "inputs that stand for themselves")
        blocks = [dict(block) for block in sequence(dual["rows"])]
        outputs = [index(y, most) for block in blocks for y in sequence(block["output"])]
        names = sorted(set(outputs))
        for block in blocks:
            need(block["side"] == "ratio", "rows on ratios")
            inputs = [index(x, k) for x in sequence(block["x"]) + sequence(block["other"])]
            need(all(stands[x] == x for x in inputs), "rows of inputs that stand for others")
            block["output"] = [names.index(y) for y in block["output"]]
        terms, _ = self.reduced({"rows": blocks}, len(names))
        costs = [[] for _ in range(k)]
        for y, stated in enumerate(sequence(dual["mixtures"], len(losses[0]))):
            at = [ZERO] * k
            for x, r in enumerate(stands):
                at[r] += self.p[x] * self.least_share(x, r) * losses[x][y][0]
            for entry in sequence(stated):
                column, weight = sequence(entry, 2)
                column, w = index(column, most), number(weight)
                need(w >= 0, "weights >= 0")
                for x in range(k):
                    at[x] += w * terms[x][names.index(column)] if column in names else ZERO
            for x in range(k):
                costs[x].append(at[x])
        return sum(min(c) for x, c in enumerate(costs) if stands[x] == x)

    def least_share(self, x: int, r: int) -> Fraction:
        """Return the largest s that a pair states with q_x >= s q_r."""
        found = [ONE * (x == r)]
        for notion in self.problem.notions:
            row = None if notion.secret else notion.pairs.get((r, x))
            if row is not None:
                found.append(row.shrink(notion.epsilon)[0] / row.right[x])
        return max(found)

    def decoder_bound(self, dual: dict[str, Any]) -> Fraction:
        """Interpolate multipliers between decoders s: the loss at s is P_x (f_x - s)^2."""
        f = self.problem.f
        need(self.kind in DECODED and f is not None, "decoders")
        assert f is not None
        s = self.decoders(dual)
        need(s[0] <= min(f) and max(f) <= s[-1], "decoders around all values")
        terms, spent = self.reduced(dual, len(s))
        found = []
        for x in range(self.k):
            ends = [self.p[x] * (f[x] - t) ** 2 + v for t, v in zip(s, terms[x], strict=True)]
            least = ends[:1]
            for (a, b), (c, d) in zip(itertools.pairwise(s), itertools.pairwise(ends), strict=True):
                # between a and b: the chord less P_x (t - a) (b - t)
                at = (
                    min(max((a + b) / 2 - (d - c) / (b - a) / 2 / self.p[x], a), b)
                    if self.p[x]
                    else a
                )
                least += [d, c + (d - c) * (at - a) / (b - a) - self.p[x] * (at - a) * (b - at)]
            found.append(min(least))
        error = sum(found) - spent
        return without_report(self.problem) - error if self.maximized else error

    def reading_bound(self, dual: dict[str, Any]) -> Fraction:
        """Bound the costs of parabolas c_x(v) = P_x v^2 - m_x v, in units in which |f| <= 1."""
        f, k = self.problem.f or (), self.k
        middle, half = (max(f) + min(f)) / 2, (max(f) - min(f)) / 2
        need(half > 0, "values that differ")
        m = tuple(claim(v) for v in sequence(dual["slope"], k))
        s = [(t - middle) / half for t in self.decoders(dual)]
        need(len(s) >= 2 and s[0] < 0 < s[-1], "probes around 0")
        p = self.p
        if dual["weights"] is not None:
            weights = [claim(w) for w in sequence(dual["weights"], k)]
            need(min(weights) >= 0 and sum(weights) > 0, "weights")
            p = tuple(w / sum(weights) for w in weights)
        if "potential" in dual:
            need(not sequence(dual["rows"]), "potentials or rows")
            least = self.ray_costs(p, m, [claim(v) for v in sequence(dual["potential"], k)])
        else:
            terms, _ = self.reduced(dual, len(s))
            least = sum((parabola(p[x], m[x], s, terms[x]) for x in range(k)), ZERO)
        moved = tuple((v - middle) / half for v in f)
        return (dot(m, moved) + least - dot(p, tuple(v * v for v in moved))) * half**2

    def ray_costs(self, p: Vector, m: Vector, u: list[Fraction]) -> Fraction:
        """Return Sum u, less what rays cost that lie below u, each at its cheapest reading.

        A column of a cone of one budget is a sum of rays, one for each block, with least entries
        that sum to 1 at most over the outputs, and of entries of inputs that are bounded nowhere.
        """
        blocks: dict[tuple[bool, ...], list[Vector]] = {}
        for q in self.rays():
            blocks.setdefault(tuple(v > 0 for v in q), []).append(q)
        total = ZERO
        for support, found in sorted(blocks.items(), key=lambda item: sum(item[0])):
            costs = [ZERO]
            for q in found:
                square, linear = dot(p, q), dot(m, q)
                need(square or not linear, "readings that are bounded")
                lost = linear * linear / (4 * square) if square else ZERO
                costs.append((-dot(tuple(u), q) - lost) / min(v for v in q if v))
            if sum(support) == 1:
                u[support.index(True)] += min(costs)
            else:
                total += min(costs)
        return total + sum(u)

    def decoders(self, dual: dict[str, Any]) -> list[Fraction]:
        s = [fraction(t, signed=True) for t in sequence(dual["decoders"])]
        need(s and all(a < b for a, b in itertools.pairwise(s)), "decoders that rise")
        return s

    def ray_bound(self, dual: dict[str, Any], u: Vector) -> Fraction | None:
        """Find the largest reduced gain over all rays."""
        problem, search = self.problem, dual["search"]
        offset = without_report(problem)
        if search == "decoders":
            need(problem.f is not None, "decoders of numbers")
            f = problem.f or ()
            self.decoders(dual)
            need(len(sequence(dual["levels"])) == len(dual["decoders"]), "a level for each decoder")
            scale = (max(f) - min(f)) ** 2
            squares = [p * (v - min(f)) ** 2 for p, v in zip(self.p, f, strict=True)]
            u = tuple(s - scale * v for s, v in zip(squares, u, strict=True))
            moved = tuple(v - min(f) for v in f)
            problem = Problem(
                problem.inputs, self.p, problem.notions, problem.objective, False, moved, None, None
            )
            offset = without_report(problem)
        most = []
        for q in self.rays():
            law, reduced = dot(self.p, q), gain(problem, q)[1] - dot(u, q)
            need(law or reduced <= 0, "a bound on columns that never occur")
            if law:
                most.append(reduced / law)
        if search == "sets":  # a claim of the largest, which holds where it is
            self.check_intervals(dual["intervals"])
            most.append(number(dual["surplus"]))
        found = sum(u) + max(most)
        if search == "decoders" and self.maximized:
            return without_report(self.problem) - (offset - found)
        return found if self.maximized else offset - found

    def check_intervals(self, stated: Any) -> None:
        """Check that one budget protects inputs in blocks, and the intervals of P . q in each."""
        (notion,), k = self.problem.notions, self.k
        rows = notion.pairs.values()
        need(len({(r.exponent(notion.epsilon), max(r.right)) for r in rows}) == 1, "one budget")
        low, factor = next((r.shrink(notion.epsilon)[0], max(r.right)) for r in rows)
        need(Fraction(1, 1 << 80) <= low < 1 and factor == 1, "a budget of its own")
        blocks: dict[tuple[int, ...], list[int]] = {}
        for x in range(k):
            block = tuple(z for z in range(k) if z == x or (x, z) in notion.pairs)
            if len(block) > 1:
                blocks.setdefault(block, []).append(x)
        members = list(itertools.chain(*blocks))
        need(len(set(members)) == len(members), "blocks apart")
        listed = [sequence(entry, 2) for entry in sequence(stated, len(blocks))]
        for (inner, multipliers), (block, inputs) in zip(listed, blocks.items(), strict=True):
            least = low * sum(self.p[z] for z in block)
            most = least + (1 - low) * sum(self.p[x] for x in inputs)
            ends = [number(t) for t in sequence(inner)]
            need(sum(self.p[z] for z in block) > 0, "a block that occurs")
            need(all(a <= b for a, b in itertools.pairwise([least, *ends, most])), "rising ends")
            need(len([number(m) for m in sequence(multipliers)]) == len(ends) + 2, "multipliers")

    def risk_bound(self, dual: dict[str, Any], u: Vector) -> Fraction | None:
        problem, k = self.problem, self.k
        p = distribution(dual["prior"], k) if problem.worst else self.p
        need(min(p) > 0, "a prior above 0")
        a = [tuple(number(v) for v in sequence(row, k)) for row in sequence(dual["estimator"], k)]
        if problem.objective == "l2-risk":
            constant = sum(2 * a[x][x] - p[x] ** 2 for x in range(k))
            b = [ONE] * k
        else:
            t = [number(v) for v in sequence(dual["tangents"], k)]
            constant, b = ZERO, []
            for x in range(k):  # sqrt(1/m - p^2) >= t - (m - m0) b, a tangent at m0 = 1/(t^2 + p^2)
                need(t[x] > 0, "tangents above 0")
                if t[x] < p[x] or a[x][x] == 0:  # the root is at least 0
                    b.append(ZERO)
                    continue
                square = t[x] ** 2 + p[x] ** 2
                constant += t[x] + square / (2 * t[x])
                b.append(square**2 / (2 * t[x]) / a[x][x] ** 2)
        most = []
        for q in self.rays():
            g = sum(v * dot(row, q) ** 2 for v, row in zip(b, a, strict=True)) / dot(p, q)
            most.append((g - dot(u, q)) / dot(p, q))
        if dual["search"] == "products":  # a claim of the largest, which holds where it is
            lists = [sequence(part) for part in sequence(dual["products"], 5)]
            need(len({len(part) for part in lists}) == 1, "lists of one length")
            most_forms = k + 2 if "levels" in dual else k + 1
            need(all(index(n, most_forms) >= 0 for part in lists[:4] for n in part), "forms")
            if "levels" in dual:
                need(all(abs(number(v)) >= 0 for v in sequence(dual["levels"], k)), "levels")
            need(all(number(w) >= 0 for w in lists[4]), "multipliers")
            most.append(number(dual["surplus"]))
            need(most[-1] >= 0, "a claim from 0")
        found = constant - sum(u) - max(most)
        return (
            found * root(1 / (2 * PI[found > 0]))[found < 0]
            if problem.objective == "tv-risk"
            else found
        )


def parabola(p: Fraction, m: Fraction, s: list[Fraction], rows: list[Fraction]) -> Fraction:
    """Return the least over all v of p v^2 - m v + R(v), R interpolated between probes s.

    Beyond the last probe t it is c (v / t)^2 - m v with c = p t^2 + R(t), which has to grow.
    """
    ends = [p * t * t - m * t + r for t, r in zip(s, rows, strict=True)]
    least = list(ends)
    for (a, b), (c, d) in zip(itertools.pairwise(s), itertools.pairwise(ends), strict=True):
        slope = (d - c) / (b - a)
        at = min(max((a + b) / 2 - slope / p / 2, a), b) if p else a
        least.append(c + slope * (at - a) - p * (at - a) * (b - at))
    for t, end in ((s[0], ends[0]), (s[-1], ends[-1])):
        need(end + m * t >= 0 and 2 * (end + m * t) >= m * t, "probes that reach far enough")
    return min(least)


def unpacked(block: Any) -> dict[str, Any]:
    need(isinstance(block, dict), "a block")
    lists = {"output", "x", "other", "weight"} & set(block)
    return {**block, **{key: numbers(block[key], key != "weight") for key in lists}}


def rounded(x: Fraction) -> Fraction:
    return Fraction(-((-x.numerator << BITS) // x.denominator), 1 << BITS)


def value_at_any(problem: Problem, columns: list[Vector]) -> Fraction:
    """Bound the worst-case risk at a channel by that at the uniform distribution."""
    return risk(problem.objective, columns, (Fraction(1, problem.k),) * problem.k)[0]


GAINS = {"posterior", "histogram", "mutual-information", "bayes-accuracy"} | PURPOSES
DECODED = {"posterior", SCORES}
ALL = LOSSES | RISKS | {"worst risk"} | GAINS
LIFT_BOUNDS = LIFTS | {"approximate-lip"}
ALIKE = {"histogram", "mutual-information", "bayes-accuracy"}

THEOREMS: dict[str, tuple[Callable[..., Fraction | None], set[str], set[str] | None]] = {
    "nothing-constrained": (Prover.truth, ALL | {"worst loss", READ, "worst reading"}, None),
    "equal-rows": (Prover.nothing_told, ALL, None),
    "binary-universal": (Prover.two_inputs, ALL, None),
    "simplicial": (Prover.simplicial, ALL, None),
    "erasure": (Prover.erasure, ALL, {"lip", "lift"}),
    "randomized-response": (Prover.randomized_response, {"hamming"}, {"ldp"}),
    "uniform-subsets": (Prover.best_ray, ALIKE, {"ldp"}),
    "binary-mechanism": (Prover.contracted, {"total-variation"}, {"ldp"}),
    "uniform-lift": (Prover.best_ray, ALIKE | {"hamming"}, LIFT_BOUNDS),
    "leakage-budget": (
        Prover.paid_guesses,
        LOSSES | {"worst loss", "bayes-accuracy", GUESS},
        {"maximal-leakage"},
    ),
    "subset-selection": (Prover.subsets, RISKS | {"worst risk"}, {"ldp", "lip", "lift", "pml"}),
}
"""What proves a bound, for which objectives, and one of which notions there has to be."""

PRICED = LOSSES | {"worst loss", "bayes-accuracy", GUESS}
PRICES = ("chain", "one-budget", "lifts")
SEARCHES: dict[str, tuple[set[str], set[str] | None]] = {
    "chain": (PRICED, RATIOS | SUMS),
    "one-budget": (PRICED, RATIOS | SUMS),
    "lifts": (PRICED, LIFT_BOUNDS),
    "rays": (GAINS, None),
    "sums": ({"histogram", "mutual-information"}, LIFT_BOUNDS),
    "sets": ({"histogram", "mutual-information"}, RATIOS | SUMS),
    "boxes": ({"histogram", "mutual-information"}, None),
    "decoders": (DECODED, RATIOS | SUMS | LIFT_BOUNDS),
}

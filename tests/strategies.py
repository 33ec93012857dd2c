"""Random problems to test statements on, and what the statements mean, written out.

The problems are small and exact, with ties, zeros and infinities on purpose. The notions are
written down a second time in `demands`, straight from their definitions and in high-precision
decimals; the optima come from a textbook linear program and from an enumeration of rays. None of it
uses the rows, the checker or the routes of the library.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.optimize
from hypothesis import HealthCheck, assume, settings, strategies as st

import mechdesign as md
from mechdesign.kernel.statement import Statement, private
from mechdesign.notions import Notion
from mechdesign.tables import ExactTable
from mechdesign.utilities import Utility

WHOLE = 1 << 62
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}

ORACLE = 1e-8
"""Tolerance for the textbook linear program and its solver."""

DIGITS = Context(prec=60, Emin=-(10**9), Emax=10**9)


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


def decimal(value: Fraction) -> Decimal:
    return DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


def exp(value: Fraction) -> Decimal:
    return DIGITS.exp(decimal(value))


# --- strategies -----------------------------------------------------------------------------------


@cache
def weights(size: int, least: int = 0) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(least, 9), min_size=size, max_size=size).filter(any)


@cache
def simplex(size: int, least: int = 0) -> st.SearchStrategy[list[Fraction]]:
    return weights(size, least).map(lambda w: [Fraction(n, sum(w)) for n in w])


@cache
def priors(size: int, least: int = 0) -> st.SearchStrategy[md.Prior]:
    return weights(size, least).map(md.Prior.from_counts)


@cache
def budgets(least: str = "0", most: str = "3") -> st.SearchStrategy[Fraction]:
    low, high = Fraction(least), Fraction(most)
    short = st.sampled_from(["0", "0.1", "0.5", "0.6931471805599453", "1", "2", "3"]).map(Fraction)
    return st.one_of(
        short.filter(lambda e: low <= e <= high), st.fractions(low, high, max_denominator=1000)
    )


@cache
@st.composite
def channels(draw: st.DrawFn, k: int, least: int = 0, most_outputs: int = 4) -> md.Channel:
    m = draw(st.integers(1, most_outputs))
    return md.Channel.from_matrix([draw(simplex(m, least)) for _ in range(k)])


@dataclass(frozen=True)
class Case:
    """A notion with all that it refers to."""

    notion: Notion
    domain: md.Domain
    prior: md.Prior
    at: Callable[[Fraction], Notion] | None
    """The same notion at another epsilon, if it has one."""

    def __repr__(self) -> str:
        return f"Case({self.notion!r}, {self.domain!r}, {self.prior!r})"


KINDS = (
    *("ldp", "context-aware", "high-low", "block", "metric", "grid", "lip", "lift", "pml"),
    *("bounded-prior-lip", "bounded-prior-pml", "bounded-prior-lift"),
    "differential-identifiability",
)

ATTRIBUTES = ("attribute ldp", "attribute lip", "attribute pml", "attribute lift")
"""Notions of a sensitive attribute behind the input."""


@cache
@st.composite
def cases(
    draw: st.DrawFn,
    kinds: tuple[str, ...] = KINDS,
    k: int | None = None,
    least: str = "0",
    zero_prior: bool = True,
) -> Case:
    """Draw a notion; ``least`` is the least epsilon or entry of E."""
    kind = draw(st.sampled_from(kinds))
    if kind in ATTRIBUTES:
        return draw(attribute_cases(kind.split()[-1], k, least))
    k = k or draw(st.integers(2, 4))
    domain = md.Domain.range(k)
    epsilon = draw(budgets(least))
    prior = draw(priors(k, 0 if zero_prior else 1))
    make: Callable[[Fraction], Notion]
    if kind in ("ldp", "lip", "pml"):
        make = {"ldp": md.LDP, "lip": md.LIP, "pml": md.PML}[kind]
    elif kind == "high-low":
        sensitive = draw(st.lists(st.integers(0, k - 1), min_size=1, unique=True))
        make = partial(md.HighLowLDP, sensitive=sensitive)
    elif kind == "block":
        member = draw(st.lists(st.integers(0, 2), min_size=k, max_size=k))
        blocks = [[x for x in range(k) if member[x] == b] for b in sorted(set(member))]
        make = partial(md.BlockLDP, blocks=blocks)
    elif kind == "metric":
        distance = draw(st.sampled_from(["absolute", "euclidean", "manhattan"]))
        domain = md.Domain(draw(st.lists(st.integers(-5, 9), min_size=k, max_size=k, unique=True)))
        make = partial(md.MetricPrivacy, distance=distance)
    elif kind == "grid":
        distance = draw(st.sampled_from(["euclidean", "manhattan"]))
        rows, columns = (2, 2) if k == 4 else (1, k)
        domain = md.Domain.grid(rows, columns, draw(st.sampled_from(["1", "0.5", "3/7"])))
        make = partial(md.MetricPrivacy, distance=distance)
    elif kind in ("bounded-prior-lip", "bounded-prior-pml"):
        stated = md.BoundedPriorLIP if kind == "bounded-prior-lip" else md.BoundedPriorPML
        make = partial(stated, **draw(prior_sets(k)))
    elif kind == "differential-identifiability":
        prior = draw(priors(k, 1))
        ratio = max(prior) / prior.minimum
        epsilon += Fraction(str(round(float(np.log(float(ratio))) + 5e-4, 3)))
        make = md.DifferentialIdentifiability
    else:
        entry = st.one_of(st.just("inf"), budgets(least))
        if kind == "lift":
            return Case(md.AsymmetricLift(draw(entry), draw(entry)), domain, prior, None)
        if kind == "bounded-prior-lift":
            way = draw(prior_sets(k))
            stated = way.get("priors", way)
            notion = md.BoundedPriorLift(draw(entry), draw(entry), stated)
            return Case(notion, domain, prior, None)
        matrix = [[draw(entry) for _ in range(k)] for _ in range(k)]
        return Case(md.ContextAwareLDP(matrix), domain, prior, None)
    return Case(make(epsilon), domain, prior, make)


@cache
@st.composite
def attributes(draw: st.DrawFn, k: int) -> tuple[md.SensitiveAttribute, md.Prior]:
    """A sensitive attribute of two or three values behind k inputs, all of some probability."""
    n, prior = draw(st.integers(2, 3)), md.Prior(draw(simplex(k)))
    rows = [draw(simplex(n)) for _ in range(k)]
    assume(all(sum(row[s] * p for row, p in zip(rows, prior, strict=True)) for s in range(n)))
    return md.SensitiveAttribute([f"s{s}" for s in range(n)], given_input=rows), prior


@cache
@st.composite
def attribute_cases(draw: st.DrawFn, kind: str, k: int | None = None, least: str = "0") -> Case:
    k = k or draw(st.integers(2, 4))
    (attribute, prior), inner = draw(attributes(k)), draw(cases((kind,), 2, least))

    def make(e: Fraction) -> Notion:
        return md.SensitiveAttributePrivacy(inner.notion.at(e), attribute)

    notion = md.SensitiveAttributePrivacy(inner.notion, attribute)
    return Case(notion, md.Domain.range(k), prior, None if inner.at is None else make)


@cache
@st.composite
def prior_sets(draw: st.DrawFn, k: int) -> dict[str, Any]:
    """Draw the keys of a set of priors."""
    way = draw(st.sampled_from(["list", "box", "ball"]))
    if way == "list":
        return {"priors": draw(st.lists(simplex(k), min_size=1, max_size=3))}
    center = draw(simplex(k))
    if way == "ball":
        radius = draw(st.sampled_from(["0", "0.05", "0.2", "0.5", "1"]))
        return {"center": center, "radius": radius}
    down = draw(st.lists(st.integers(0, 4), min_size=k, max_size=k))
    up = draw(st.lists(st.integers(0, 4), min_size=k, max_size=k))
    tenth = Fraction(1, 10)
    return {
        "lower": [max(Fraction(0), p - tenth * d) for p, d in zip(center, down, strict=True)],
        "upper": [min(Fraction(1), p + tenth * u) for p, u in zip(center, up, strict=True)],
    }


# --- the definitions ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Demand:
    """left . q <= e**(base + slope * epsilon) * right . q"""

    side: str
    x: int
    other: Any
    left: tuple[Fraction, ...]
    right: tuple[Fraction, ...]
    base: Decimal
    slope: Decimal

    def values(self, q: list[Fraction]) -> tuple[Fraction, Fraction]:
        left = sum((a * v for a, v in zip(self.left, q, strict=True) if a), Fraction(0))
        right = sum((a * v for a, v in zip(self.right, q, strict=True) if a), Fraction(0))
        return left, right

    def budget(self, epsilon: Fraction) -> Decimal:
        return DIGITS.add(self.base, DIGITS.multiply(self.slope, decimal(epsilon)))

    def leakage(self, q: list[Fraction]) -> Decimal:
        """The least epsilon at which the demand holds; that it may be negative is no matter."""
        left, right = self.values(q)
        if left == 0:
            return Decimal("-Infinity")
        if right == 0:
            return Decimal("Infinity")
        excess = DIGITS.subtract(DIGITS.ln(decimal(left / right)), self.base)
        if self.slope == 0:
            return Decimal("-Infinity") if excess <= 0 else Decimal("Infinity")
        return DIGITS.divide(excess, self.slope)


def demands(notion: Notion, domain: md.Domain, prior: md.Prior) -> Iterator[Demand]:
    """Yield what the definition of a notion asks of every column."""
    k, zero, one = len(domain), Decimal(0), Decimal(1)
    if isinstance(notion, md.SensitiveAttributePrivacy):
        yield from _demands_on_attribute(notion, prior)
        return

    def unit(x: int, scale: Fraction = Fraction(1)) -> tuple[Fraction, ...]:
        return tuple(scale * (z == x) for z in range(k))

    def pair(x: int, other: int, base: Decimal, slope: Decimal) -> Demand:
        return Demand("ratio", x, other, unit(x), unit(other), base, slope)

    pairs = [
        (x, z, domain.labels[x], domain.labels[z]) for x, z in itertools.permutations(range(k), 2)
    ]
    if isinstance(notion, md.LDP):
        yield from (pair(x, z, zero, one) for x, z, *_ in pairs)
    elif isinstance(notion, md.HighLowLDP):
        yield from (pair(x, z, zero, one) for x, z, a, _ in pairs if a in notion.sensitive)
    elif isinstance(notion, md.BlockLDP):
        blocks = [set(block) for block in notion.blocks or ()]
        inside = [(x, z) for x, z, a, b in pairs if any({a, b} <= block for block in blocks)]
        yield from (pair(x, z, zero, one) for x, z in inside)
    elif isinstance(notion, md.ContextAwareLDP):
        bounded = [(x, z, notion.matrix[x][z]) for x, z, *_ in pairs]
        yield from (pair(x, z, decimal(e), one) for x, z, e in bounded if e is not None)
    elif isinstance(notion, md.MetricPrivacy):
        apart = [(x, z, distance(notion.distance, domain, x, z)) for x, z, *_ in pairs]
        yield from (pair(x, z, zero, d) for x, z, d in apart)
    elif isinstance(notion, md.DifferentialIdentifiability):
        for x, z, *_ in pairs:
            yield Demand("ratio", x, z, unit(x, prior[x]), unit(z, prior[z]), zero, one)
    else:
        upper: tuple[Decimal, Decimal] | None = (zero, one)
        lower: tuple[Decimal, Decimal] | None = (zero, one)
        laws: tuple[tuple[Fraction, ...], ...] = (prior.probabilities,)
        if isinstance(notion, md.AsymmetricLift):
            upper = None if notion.upper is None else (decimal(notion.upper), one)
            lower = None if notion.lower is None else (decimal(notion.lower), one)
        elif isinstance(notion, md.PML | md.BoundedPriorPML):
            lower = None
        if isinstance(notion, md.BoundedPriorLIP | md.BoundedPriorPML | md.BoundedPriorLift):
            laws = notion.priors.vertices()
        for law, x in itertools.product(laws, range(k)):
            if upper is not None:
                yield Demand("upper", x, law, unit(x), law, *upper)
            if lower is not None:
                yield Demand("lower", x, law, law, unit(x), *lower)


def _demands_on_attribute(
    notion: md.SensitiveAttributePrivacy, prior: md.Prior
) -> Iterator[Demand]:
    """Yield what the notion asks of Pr(y|s) = Sum_x P(x|s) q_x, from the joint law."""
    given, values = notion.attribute.given_input, range(len(notion.attribute.domain))
    joint = [[row[s] * p for row, p in zip(given, prior, strict=True)] for s in values]
    masses = [sum(row) for row in joint]
    laws = [[p / mass for p in row] for row, mass in zip(joint, masses, strict=True)]

    def on_inputs(side: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        return tuple(
            sum((a * p for a, p in zip(side, column, strict=True)), Fraction(0))
            for column in zip(*laws, strict=True)
        )

    for d in demands(notion.notion, notion.attribute.domain, md.Prior(masses)):
        yield replace(d, left=on_inputs(d.left), right=on_inputs(d.right))


def distance(kind: str | ExactTable, domain: md.Domain, x: int, z: int) -> Decimal:
    if isinstance(kind, ExactTable):
        return decimal(Fraction(int(kind.numerators[x, z]), kind.denominator))
    steps = [abs(a - b) for a, b in zip(domain.coordinates[x], domain.coordinates[z], strict=True)]
    if kind == "euclidean":
        return DIGITS.sqrt(decimal(sum((s * s for s in steps), Fraction(0))))
    return decimal(sum(steps, Fraction(0)))


def epsilon_of(notion: Notion) -> Fraction:
    return getattr(notion, "epsilon", Fraction(0))


def columns_of(channel: md.Channel) -> list[list[Fraction]]:
    return [[Fraction(v, channel.denominator) for v in column] for column in channel.columns()]


def leakage(case: Case, channel: md.Channel) -> Decimal:
    """The leakage of a channel by the definition, to 50 digits."""
    asked = list(demands(case.notion, case.domain, case.prior))
    return max(
        (d.leakage(q) for d in asked for q in columns_of(channel)), default=Decimal("-Infinity")
    )


# --- optima ---------------------------------------------------------------------------------------


def statement_of(problem: md.Problem) -> Statement:
    return problem.compiled.statement


def broken(
    problem: md.Problem, channel: md.Channel, number: int = 0, leakage: Fraction | None = None
) -> str | None:
    """Return what breaks a notion, at another leakage perhaps, by the kernel; None if it holds."""
    compiled = problem.compiled
    notion = compiled.table.privacy[number]
    statement = compiled.alone(notion if leakage is None else notion.at(leakage))
    return private(statement, channel.columns(), channel.denominator)


def bare_problem(case: Case, *more: Notion) -> md.Problem:
    """A problem whose utility is of no interest."""
    utility = md.PosteriorMeanSquaredError(values=list(range(len(case.domain))))
    return md.Problem(case.domain, [case.notion, *more], utility, prior=case.prior)


def float_rows(problem: md.Problem) -> tuple[np.ndarray, list[tuple[int, Demand]]]:
    """The rows e**-budget left - right <= 0 as floats, and what each stands for."""
    found = [
        (n, d)
        for n, notion in enumerate(problem.privacy)
        for d in demands(notion, problem.domain, problem.prior)
    ]
    k = len(problem.domain)
    rows = np.zeros((len(found), k))
    for i, (n, d) in enumerate(found):
        shrink = float(DIGITS.exp(-d.budget(epsilon_of(problem.privacy[n]))))
        rows[i] = [shrink * float(a) - float(b) for a, b in zip(d.left, d.right, strict=True)]
    return rows, found


@dataclass(frozen=True)
class Optimum:
    value: float
    matrix: np.ndarray
    row_weights: np.ndarray
    """``(n_rows, n_outputs)``, >= 0."""
    input_weights: np.ndarray | None
    potentials: np.ndarray
    """``(k,)``: the multipliers of the row sums."""


def lp_optimum(problem: md.Problem) -> Optimum:
    """Solve the textbook linear program of a problem."""
    utility, k = problem.utility, len(problem.domain)
    outputs = problem.outputs or ()
    m = len(outputs)
    loss = utility.loss(problem.domain, outputs).array
    worst = utility.worst_case
    G, _ = float_rows(problem)
    body = np.kron(G, np.eye(m))
    sums = np.kron(np.eye(k), np.ones(m))
    if worst:
        per_input = np.hstack([sums * loss.ravel(), -np.ones((k, 1))])
        body = np.vstack([np.hstack([body, np.zeros((len(body), 1))]), per_input])
        sums = np.hstack([sums, np.zeros((k, 1))])
        cost = np.append(np.zeros(k * m), 1.0)
        bounds = [(0, None)] * (k * m) + [(None, None)]
    else:
        cost = (problem.prior.array[:, None] * loss).ravel()
        bounds = [(0, None)] * (k * m)
    # without presolve, which is known to stop at times on programs as degenerate as these
    found = scipy.optimize.linprog(
        cost,
        body,
        np.zeros(len(body)),
        sums,
        np.ones(k),
        bounds,
        options={"presolve": False, **TIGHT},
    )
    assert found.status == 0, found.message
    weight = np.maximum(-found.ineqlin.marginals, 0)
    n = len(G) * m
    return Optimum(
        found.fun,
        found.x[: k * m].reshape(k, m),
        weight[:n].reshape(len(G), m),
        weight[n:] if worst else None,
        found.eqlin.marginals,
    )


def rays(problem: md.Problem) -> list[np.ndarray]:
    """All extreme rays r of the cone with sum 1, by trying every set of k - 1 rows."""
    G, _ = float_rows(problem)
    k = len(problem.domain)
    rows = np.vstack([-np.eye(k), G[np.abs(G).max(axis=1, initial=0.0) > 0]])
    rows = np.unique(np.round(rows / np.abs(rows).max(axis=1, keepdims=True), 14), axis=0)
    found: list[np.ndarray] = []
    for chosen in itertools.combinations(range(len(rows)), k - 1):
        tight = rows[list(chosen)]
        _, size, basis = np.linalg.svd(tight)
        if k > 1 and size[-1] < 1e-11:
            continue
        r = basis[-1] / basis[-1].sum() if abs(basis[-1].sum()) > 1e-12 else basis[-1] * 0
        if r.any() and (rows @ r <= 1e-11).all():
            r = np.maximum(r, 0)
            if not any(np.abs(r - other).max() < 1e-10 for other in found):
                found.append(r)
    return found


def ray_optimum(problem: md.Problem, usefulness: Callable[[np.ndarray], float]) -> float:
    """The largest Sum_y usefulness(q_y) for a convex homogeneous usefulness: a mixture of rays."""
    found = rays(problem)
    gain = np.array([usefulness(r) for r in found])
    k = len(problem.domain)
    answer = scipy.optimize.linprog(
        -gain, A_eq=np.array(found).T, b_eq=np.ones(k), options=dict(TIGHT)
    )
    assert answer.status == 0, answer.message
    return -answer.fun


def explained_variance(prior: md.Prior, values: Any) -> Callable[[np.ndarray], float]:
    """The usefulness behind the posterior mean squared error."""
    p = prior.array
    pf = p * np.array([float(v) for v in values])

    def usefulness(q: np.ndarray) -> float:
        law = float(p @ q)
        return float(pf @ q) ** 2 / law if law > 0 else 0.0

    return usefulness


def optimum(problem: md.Problem) -> float:
    """The true optimum: a textbook linear program, or a mixture of all extreme rays."""
    utility = problem.utility
    if not isinstance(utility, md.PosteriorMeanSquaredError):
        return lp_optimum(problem).value
    f = utility.values(problem.domain)
    second = float(problem.prior.mean([v * v for v in f]))
    return second - ray_optimum(problem, explained_variance(problem.prior, f))


@cache
@st.composite
def distortions(draw: st.DrawFn, k: int, worst_case: bool | None = None) -> md.Distortion:
    m = draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 9), min_size=m, max_size=m)
    matrix = draw(st.lists(row, min_size=k, max_size=k))
    return md.Distortion(matrix, draw(st.booleans()) if worst_case is None else worst_case)


@cache
@st.composite
def losses_in_line(draw: st.DrawFn, fewest: int = 1) -> np.ndarray:
    """Losses that fall to the best site and rise from there, not always strictly."""
    k, m = draw(st.integers(fewest, 5)), draw(st.integers(1, 6))
    loss = np.zeros((k, m))
    for row in loss:
        best = draw(st.integers(0, m - 1))
        steps = draw(st.lists(st.integers(0, 3), min_size=m, max_size=m))
        row[best:] = np.cumsum(steps[best:])
        row[:best] = row[best] + np.cumsum(steps[:best])[::-1]
    return loss


@cache
@st.composite
def utilities(draw: st.DrawFn, k: int) -> Utility:
    """A distortion by any matrix, or the error of the best estimate of any function."""
    values = st.lists(st.integers(-5, 9), min_size=k, max_size=k)
    return draw(
        st.one_of(distortions(k, worst_case=False), values.map(md.PosteriorMeanSquaredError))
    )

"""A paper's inequalities typed into cvxpy, with loops over x, x' and y as they are printed.

It reads what a user writes in a problem file and nothing that the library compiles from it, so it
is a second opinion on every row and every loss. Exponentials are on the smaller side, since e**800
does not fit a float; that is the only liberty taken.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.problem import Problem
from solvers.base import FailedError, Solver, SolverResult, UnsuitableError, stopwatch

if TYPE_CHECKING:
    import cvxpy as cp

OPTIONS: dict[str, dict[str, Any]] = {
    "CLARABEL": {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10},
    "ECOS": {"abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10},
    "HIGHS": {},
    "SCS": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 100_000},
}
"""Settings by solver."""

Table = dict[str, Any]
Statements = Iterator[Any]


@dataclass(frozen=True)
class Given:
    """What a notion is stated for: its own keys, the inputs, the length of a step, the prior."""

    table: Table
    labels: list[Any]
    spacing: float
    P: list[float]

    @property
    def epsilon(self) -> float:
        return exact(self.table["epsilon"])


def by_conic_solver(
    backend: str = "CLARABEL", name: str = "textbook", options: Mapping[str, Any] | None = None
) -> Solver:
    """Return the solver that hands the transcription to one solver of cvxpy's.

    Parameters
    ----------
    backend
        The solver, as cvxpy calls it.
    name
        What to call this one.
    options
        Its settings; default those of :data:`OPTIONS`, ``{}`` as it comes.
    """
    return by_statement(transcribe, backend, name, options)


def by_statement(
    state: Callable[[Problem], tuple[cp.Problem, cp.Variable]],
    backend: str,
    name: str,
    options: Mapping[str, Any] | None = None,
) -> Solver:
    """Return the solver that states a problem in cvxpy and hands it to one solver of cvxpy's."""
    settings = OPTIONS.get(backend, {}) if options is None else options

    def solve(problem: Problem) -> SolverResult:
        import cvxpy as cp

        with stopwatch() as seconds:
            stated, Q = state(problem)
            build = seconds()
            try:
                stated.solve(solver=backend, **settings)
            except cp.SolverError as error:
                raise FailedError(f"{name}: {error}") from None
            if Q.value is None:
                raise FailedError(f"{name}: {stated.status}")
            whole = seconds()
        build += stated.compilation_time or 0.0  # what cvxpy takes until the solver starts
        parts = {"build": build, "solve": whole - build}
        return SolverResult(float(stated.value), np.array(Q.value), whole, name, parts)

    return solve


def transcribe(problem: Problem) -> tuple[cp.Problem, cp.Variable]:
    """Return the convex problem and its channel.

    Raises
    ------
    UnsuitableError
        If a notion or the objective is not one that this file transcribes.
    """
    import cvxpy as cp

    file = problem.to_table()
    labels, outputs = inputs_of(file["domain"]), file["outputs"]
    objective = file["utility"]["objective"]
    if objective not in LOSSES or outputs is None:
        raise UnsuitableError(f"textbook: no transcription of {objective!r}")
    k, m = len(labels), len(outputs)
    P = [float(p) for p in problem.prior]
    Q = cp.Variable((k, m))

    constraints: list[Any] = []
    for x in range(k):
        constraints.append(sum(Q[x, y] for y in range(m)) == 1)
        for y in range(m):
            constraints.append(Q[x, y] >= 0)  # noqa: PERF401
    for table in file["privacy"]:
        notion = table["notion"]
        if notion not in NOTIONS:
            raise UnsuitableError(f"textbook: no transcription of {notion!r}")
        given = Given(table, labels, spacing_of(file["domain"]), P)
        if "secret" in table:
            constraints += of_secret(Q, given)
        else:
            constraints += NOTIONS[notion](Q, given)

    def loss_at(x: int) -> Any:
        terms = []
        for y in range(m):
            if objective == "distortion":
                d = exact(file["utility"]["matrix"][x][y])
            else:
                d = LOSSES[objective](labels[x], outputs[y], spacing_of(file["domain"]))
            terms.append(d * Q[x, y])
        return sum(terms)

    if file["utility"]["worst_case"]:
        worst = cp.Variable()
        constraints += [loss_at(x) <= worst for x in range(k)]
        return cp.Problem(cp.Minimize(worst), constraints), Q
    return cp.Problem(cp.Minimize(sum(P[x] * loss_at(x) for x in range(k))), constraints), Q


def exact(text: Any) -> float:
    """Return a number of a problem file as a float; ``inf`` for "inf"."""
    return math.inf if text == "inf" else float(Fraction(str(text)))


def inputs_of(domain: Table) -> list[Any]:
    """Return the inputs: numbers, words, or [row, column]."""
    if "grid" in domain:
        rows, columns = domain["grid"]["rows"], domain["grid"]["columns"]
        return [[r, c] for r in range(rows) for c in range(columns)]
    return list(domain["values"])


def spacing_of(domain: Table) -> float:
    """Return the length of one step of a grid; 1 for numbers."""
    return exact(domain["grid"]["spacing"]) if "grid" in domain else 1.0


def apart(a: Any, b: Any, spacing: float) -> tuple[float, ...]:
    """Return how far apart two points are along each axis."""
    if isinstance(a, list):
        return abs(a[0] - b[0]) * spacing, abs(a[1] - b[1]) * spacing
    return (abs(a - b),)


LOSSES: dict[str, Callable[[Any, Any, float], float]] = {
    "mean-absolute-error": lambda a, b, s: apart(a, b, s)[0],
    "mean-squared-distance": lambda a, b, s: sum(step**2 for step in apart(a, b, s)),
    "euclidean": lambda a, b, s: math.sqrt(sum(step**2 for step in apart(a, b, s))),
    "hamming": lambda a, b, _s: float(a != b),
    "distortion": lambda _a, _b, _s: math.nan,  # read from its matrix
}


# Notions on pairs of inputs: Q(y|x) <= e**E(x, x') Q(y|x').


def pairs(Q: Any, budget: Callable[[int, int], float]) -> Statements:
    k, m = Q.shape
    for x in range(k):
        for other in range(k):
            if x == other or budget(x, other) == math.inf:
                continue
            for y in range(m):
                yield math.exp(-budget(x, other)) * Q[x, y] <= Q[other, y]


def ldp(Q: Any, given: Given) -> Statements:
    return pairs(Q, lambda _x, _other: given.epsilon)


def context_aware(Q: Any, given: Given) -> Statements:
    return pairs(Q, lambda x, other: exact(given.table["matrix"][x][other]))


def high_low(Q: Any, given: Given) -> Statements:
    sensitive = given.table["sensitive"]
    return pairs(Q, lambda x, _: given.epsilon if given.labels[x] in sensitive else math.inf)


def block(Q: Any, given: Given) -> Statements:
    def block_of(label: Any) -> Any:
        if "blocks" in given.table:
            return next(b for b, members in enumerate(given.table["blocks"]) if label in members)
        return label[0] // given.table["block_rows"], label[1] // given.table["block_columns"]

    def budget(x: int, other: int) -> float:
        together = block_of(given.labels[x]) == block_of(given.labels[other])
        return given.epsilon if together else math.inf

    return pairs(Q, budget)


def metric(Q: Any, given: Given) -> Statements:
    kind = given.table["distance"]

    def distance(x: int, other: int) -> float:
        if isinstance(kind, list):
            return exact(kind[x][other])
        steps = apart(given.labels[x], given.labels[other], given.spacing)
        return math.sqrt(sum(s**2 for s in steps)) if kind == "euclidean" else sum(steps)

    return pairs(Q, lambda x, other: given.epsilon * distance(x, other))


def differential_identifiability(Q: Any, given: Given) -> Statements:
    """State P(x|y) <= e**epsilon P(x'|y), both sides times Pr(Y = y)."""
    k, m = Q.shape
    for x, other in itertools.permutations(range(k), 2):
        for y in range(m):
            yield math.exp(-given.epsilon) * given.P[x] * Q[x, y] <= given.P[other] * Q[other, y]


# Notions on the lift: Q(y|x) against Pr(Y = y) = Sum_x P(x) Q(y|x).


def lift_bounds(Q: Any, P: list[float], lower: float, upper: float) -> Statements:
    k, m = Q.shape
    for y in range(m):
        law = sum(P[x] * Q[x, y] for x in range(k))
        for x in range(k):
            if upper < math.inf:
                yield math.exp(-upper) * Q[x, y] <= law
            if lower < math.inf:
                yield math.exp(-lower) * law <= Q[x, y]


def lip(Q: Any, given: Given) -> Statements:
    return lift_bounds(Q, given.P, given.epsilon, given.epsilon)


def pml(Q: Any, given: Given) -> Statements:
    return lift_bounds(Q, given.P, math.inf, given.epsilon)


def lift(Q: Any, given: Given) -> Statements:
    return lift_bounds(Q, given.P, exact(given.table["lower"]), exact(given.table["upper"]))


def bounded_prior_lip(Q: Any, given: Given) -> Statements:
    return robust_lift_bounds(Q, given.table, given.epsilon, given.epsilon)


def bounded_prior_pml(Q: Any, given: Given) -> Statements:
    return robust_lift_bounds(Q, given.table, math.inf, given.epsilon)


def bounded_prior_lift(Q: Any, given: Given) -> Statements:
    stated, ends = given.table["priors"], [given.table["lower"], given.table["upper"]]
    table = {"priors": stated} if isinstance(stated, list) else stated
    return robust_lift_bounds(Q, table, *map(exact, ends))


def robust_lift_bounds(Q: Any, table: Table, lower: float, upper: float) -> Statements:
    """Bound the lift for each listed prior; for a box or a ball, by duality of linear programs.

    Over the set, the least expectation of q is the largest bound that a dual point proves, and the
    greatest is minus the least of -q.
    """
    if "priors" in table:
        for prior in table["priors"]:
            yield from lift_bounds(Q, [exact(p) for p in prior], lower, upper)
        return
    k, m = Q.shape
    for y in range(m):
        least, why_least = least_expectation(table, Q[:, y])
        minus_greatest, why_greatest = least_expectation(table, -Q[:, y])
        yield from why_least
        yield from why_greatest
        for x in range(k):
            if upper < math.inf:
                yield math.exp(-upper) * Q[x, y] <= least
            if lower < math.inf:
                yield math.exp(-lower) * -minus_greatest <= Q[x, y]


def least_expectation(table: Table, q: Any) -> tuple[Any, list[Any]]:
    """Return a number at most min P . q over the set, and the constraints that make it so.

    Box, l <= P <= u:   l . a - u . b + v     with a - b + v = q,  a, b >= 0.
    Ball, |P - c| <= 2 r:   c . w + v - r (a + b)   with w + v <= q,  -a <= w <= b,  a, b >= 0.
    """
    import cvxpy as cp

    k, v = q.shape[0], cp.Variable()
    if "lower" in table:
        low = np.array([exact(p) for p in table["lower"]])
        high = np.array([exact(p) for p in table["upper"]])
        a, b = cp.Variable(k), cp.Variable(k)
        return low @ a - high @ b + v, [a - b + v == q, a >= 0, b >= 0]
    center = np.array([exact(p) for p in table["center"]])
    w, a, b = cp.Variable(k), cp.Variable(), cp.Variable()
    value = center @ w + v - exact(table["radius"]) * (a + b)
    return value, [w + v <= q, -a <= w, w <= b, a >= 0, b >= 0]


def of_secret(Q: Any, given: Given) -> Statements:
    """State a notion of Pr(y|s) = Sum_x P(s, x) Q(y|x) / P(s), for a file that has P(s|x)."""
    secret = given.table["secret"]
    values, P = secret["values"], given.P
    joint = [
        [exact(row[s]) * P[x] for x, row in enumerate(secret["given_input"])]
        for s in range(len(values))
    ]
    masses = [sum(row) for row in joint]
    table = {key: value for key, value in given.table.items() if key != "secret"}
    W = (np.array(joint) / np.array(masses)[:, None]) @ Q
    yield from NOTIONS[table["notion"]](W, Given(table, values, 1.0, masses))


# Notions on the channel as a whole.


def approximate_ldp(Q: Any, given: Given) -> Statements:
    """State Sum_y max(0, Q(y|x) - e**epsilon Q(y|x')) <= delta, both sides times e**-epsilon."""
    import cvxpy as cp

    k, m = Q.shape
    shrink, delta = math.exp(-given.epsilon), exact(given.table["delta"])
    for x, other in itertools.permutations(range(k), 2):
        yield sum(cp.pos(shrink * Q[x, y] - Q[other, y]) for y in range(m)) <= shrink * delta


def approximate_lip(Q: Any, given: Given) -> Statements:
    """State both sums of excesses over the law of the output, both sides times e**-epsilon."""
    import cvxpy as cp

    k, m = Q.shape
    shrink, delta = math.exp(-given.epsilon), exact(given.table["delta"])
    law = [sum(given.P[x] * Q[x, y] for x in range(k)) for y in range(m)]
    for x in range(k):
        yield sum(cp.pos(shrink * Q[x, y] - law[y]) for y in range(m)) <= delta
        yield sum(cp.pos(shrink * law[y] - Q[x, y]) for y in range(m)) <= shrink * delta


def maximal_leakage(Q: Any, given: Given) -> Statements:
    import cvxpy as cp

    k, m = Q.shape
    most = min(math.exp(min(given.epsilon, 700)), k)  # k is what it is at most anyway
    yield sum(cp.max(Q[:, y]) for y in range(m)) <= most


def mutual_information(Q: Any, given: Given) -> Statements:
    """State the sum of P(x, y) ln(P(x, y) / (P(x) P(y))) over all x and y."""
    import cvxpy as cp

    k, m = Q.shape
    law = [sum(given.P[x] * Q[x, y] for x in range(k)) for y in range(m)]
    yield (
        sum(
            cp.rel_entr(given.P[x] * Q[x, y], given.P[x] * law[y])
            for x in range(k)
            for y in range(m)
            if given.P[x] > 0
        )
        <= given.epsilon
    )


def g_vulnerability(Q: Any, given: Given) -> Statements:
    """State that no rule that names a guess for each output gains more than the limit."""
    import cvxpy as cp

    k, m = Q.shape
    gains = given.table.get("gain_matrix") or np.eye(k).astype(int).tolist()
    yield (
        sum(
            cp.max(
                cp.hstack(
                    [sum(exact(g[x]) * given.P[x] * Q[x, y] for x in range(k)) for g in gains]
                )
            )
            for y in range(m)
        )
        <= exact(given.table["limit"])
    )


def attack_error(Q: Any, given: Given) -> Statements:
    """State that the guess of least expected error errs by as much as is asked for."""
    import cvxpy as cp

    k, m = Q.shape
    kind, labels = given.table["distance"], given.labels

    def distance(x: int, z: int) -> float:
        if isinstance(kind, list):
            return exact(kind[x][z])
        if kind == "hamming":
            return float(labels[x] != labels[z])
        square = float(sum(s**2 for s in apart(labels[x], labels[z], given.spacing)))
        return square if kind == "squared" else math.sqrt(square)

    guesses = range(len(kind[0]) if isinstance(kind, list) else k)
    yield (
        sum(
            cp.min(
                cp.hstack(
                    [sum(given.P[x] * distance(x, z) * Q[x, y] for x in range(k)) for z in guesses]
                )
            )
            for y in range(m)
        )
        >= exact(given.table["least"])
    )


# Rows of one's own: left . q <= e**a right . q for every column q.


def linear(Q: Any, given: Given) -> Statements:
    for row in given.table["rows"]:
        left, right = (
            sum(exact(c) * Q[given.labels.index(label), :] for label, c in row[side])
            for side in ("left", "right")
        )
        yield math.exp(-exact(row["exponent"])) * left <= right


NOTIONS: dict[str, Callable[[Any, Given], Statements]] = {
    "linear": linear,
    "ldp": ldp,
    "context-aware": context_aware,
    "high-low": high_low,
    "block": block,
    "metric": metric,
    "differential-identifiability": differential_identifiability,
    "lip": lip,
    "pml": pml,
    "lift": lift,
    "bounded-prior-lip": bounded_prior_lip,
    "bounded-prior-pml": bounded_prior_pml,
    "bounded-prior-lift": bounded_prior_lift,
    "approximate-ldp": approximate_ldp,
    "approximate-lip": approximate_lip,
    "maximal-leakage": maximal_leakage,
    "mutual-information": mutual_information,
    "g-vulnerability": g_vulnerability,
    "attack-error": attack_error,
}
"""A generator of constraints for each notion, by its word in problem files."""

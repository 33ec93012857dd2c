"""Each name of a notion asks what its formula says; each name of an objective is its formula."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from mechdesign.errors import CertificateError
from mechdesign.kernel.names import (
    Compiled,
    Notion,
    ProblemTable,
    compile_problem,
)
from mechdesign.kernel.schema import read, write
from mechdesign.kernel.statement import private

K, WHOLE = 4, 1 << 20
PRIOR = [Fraction(n, 10) for n in (1, 2, 3, 4)]
PRIORS = [[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]]
GRID = {"grid": {"rows": 2, "columns": 2, "spacing": "1/2"}}
POINTS = [(0, 0), (0, 0.5), (0.5, 0), (0.5, 0.5)]
SECRET = {"values": ["a", "b"], "given_input": [["1/2", "1/2"], [1, 0], ["1/4", "3/4"], [0, 1]]}
Q = list[list[float]]


def channel(seed: int) -> list[list[int]]:
    """Return random columns of a channel with all entries above 0."""
    rng, rows = random.Random(seed), []
    for _ in range(K):
        cuts = sorted(rng.sample(range(WHOLE // 20, WHOLE - WHOLE // 20), 2))
        rows.append([cuts[0], cuts[1] - cuts[0], WHOLE - cuts[1]])
    return [list(q) for q in zip(*rows, strict=True)]


def ratios(q: Q, allowed: Callable[[int, int], float] = lambda *_: 1.0) -> float:
    """Return the largest ln(q_x / q_z) / allowed(x, z), where this is not 0."""
    return max(
        math.log(c[x] / c[z]) / allowed(x, z)
        for c in q
        for x in range(len(c))
        for z in range(len(c))
        if x != z and allowed(x, z)
    )


def lifts(q: Q, priors: Any = (PRIOR,), sides: str = "both") -> float:
    """Return the largest ln of lifts, or of their inverses."""
    found = []
    for c in q:
        for p in priors:
            mean = sum(float(a) * v for a, v in zip(p, c, strict=True))
            found.append(math.log(max(c) / mean))
            if sides == "both":
                found.append(math.log(mean / min(c)))
    return max(found)


def box_ends(low: float, high: float) -> list[list[float]]:
    """Return the vertices of the box between two bounds on all entries."""
    return [
        [high if x == a else 1 - high - 2 * low if x == b else low for x in range(K)]
        for a in range(K)
        for b in range(K)
        if a != b
    ]


def ball_ends(radius: float) -> list[list[float]]:
    """Return the vertices of a ball smaller than each mass of the prior."""
    return [
        [float(p) + radius * ((x == a) - (x == b)) for x, p in enumerate(PRIOR)]
        for a in range(K)
        for b in range(K)
        if a != b
    ]


def behind(q: Q) -> Q:
    """Return the columns given the secret."""
    given = [[float(Fraction(v)) for v in row] for row in SECRET["given_input"]]
    joint = [[given[x][s] * float(PRIOR[x]) for x in range(K)] for s in range(2)]
    return [[sum(map(float.__mul__, w, c)) / sum(w) for w in joint] for c in q]


def distances(power: float) -> Callable[[int, int], float]:
    """Return distances of the points of the grid."""
    return lambda x, z: (
        sum(abs(a - b) ** power for a, b in zip(POINTS[x], POINTS[z], strict=True)) ** (1 / power)
    )


def joint(q: Q) -> Q:
    """Return P_x q_x."""
    return [[float(p) * v for p, v in zip(PRIOR, c, strict=True)] for c in q]


def excess(q: Q, delta: float) -> float:
    """Return the least epsilon of approximate LDP, by bisection."""

    def over(a: float) -> float:
        sums = (
            sum(max(0.0, c[x] - math.exp(a) * c[z]) for c in q) for x in range(K) for z in range(K)
        )
        return max(sums) - delta

    return root(over)


def excess_of_lift(q: Q, delta: float) -> float:
    """Return the least epsilon of approximate LIP, by bisection."""
    laws = [sum(c) for c in joint(q)]

    def over(a: float) -> float:
        found = []
        for x in range(K):
            pairs = [(c[x], law) for c, law in zip(q, laws, strict=True)]
            found.append(sum(max(0.0, math.exp(-a) * v - law) for v, law in pairs))
            found.append(sum(max(0.0, law - math.exp(a) * v) for v, law in pairs))
        return max(found) - delta

    return root(over)


def root(over: Callable[[float], float]) -> float:
    """Return where a falling function is 0."""
    low, high = 0.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if over(middle) > 0 else (low, middle)
    return low


def information(q: Q) -> float:
    """Return I(X; Y)."""
    return sum(
        j * math.log(v / sum(w))
        for c, w in zip(q, joint(q), strict=True)
        for j, v in zip(w, c, strict=True)
    )


def attack(q: Q) -> float:
    """Return the least mean distance that a guess has."""
    far = distances(2)
    return sum(min(sum(j * far(x, z) for x, j in enumerate(w)) for z in range(K)) for w in joint(q))


E = {"epsilon": 0}
BUDGETS = [["inf" if x == z else 0 for z in range(K)] for x in range(K)]
OWN = [{"kind": "ratio", "exponents": {"kind": "constant", "exponent": 1}}]
CASES: list[tuple[dict[str, Any], Callable[[Q], float]]] = [
    ({"notion": "ldp", **E}, ratios),
    ({"notion": "ldp", **E, "secret": SECRET}, lambda q: ratios(behind(q))),
    ({"notion": "high-low", **E, "sensitive": [[0, 1]]}, lambda q: ratios(q, lambda x, _: x == 1)),
    (
        {"notion": "block", **E, "block_rows": 1, "block_columns": 2},
        lambda q: ratios(q, lambda x, z: x // 2 == z // 2),
    ),
    (
        {"notion": "block", **E, "blocks": [[[0, 0], [1, 1]], [[0, 1], [1, 0]]]},
        lambda q: ratios(q, lambda x, z: (x in (0, 3)) == (z in (0, 3))),
    ),
    *(
        ({"notion": "metric", **E, "distance": name}, lambda q, p=power: ratios(q, distances(p)))
        for name, power in (("manhattan", 1), ("euclidean", 2))
    ),
    (
        {"notion": "metric", **E, "distance": [[abs(x - z) for x in range(K)] for z in range(K)]},
        lambda q: ratios(q, lambda x, z: abs(x - z)),
    ),
    ({"notion": "context-aware", "matrix": BUDGETS}, ratios),
    ({"notion": "differential-identifiability", **E}, lambda q: ratios(joint(q))),
    ({"notion": "lip", **E}, lifts),
    ({"notion": "lip", **E, "secret": SECRET}, lambda q: lifts(behind(q), [mass()])),
    ({"notion": "pml", **E}, lambda q: lifts(q, sides="upper")),
    ({"notion": "lift", "lower": "inf", "upper": 0}, lambda q: lifts(q, sides="upper")),
    ({"notion": "bounded-prior-lip", **E, "priors": PRIORS}, lambda q: lifts(q, PRIORS)),
    (
        {"notion": "bounded-prior-pml", **E, "lower": ["0.1"] * K, "upper": ["0.6"] * K},
        lambda q: lifts(q, box_ends(0.1, 0.6), "upper"),
    ),
    (
        {"notion": "bounded-prior-lift", "lower": 0, "upper": 0,
         "priors": {"center": list(map(str, PRIOR)), "radius": "0.05"}},
        lambda q: lifts(q, ball_ends(0.05)),
    ),
    (
        {"notion": "linear", "rows": [
            {"name": "a", "left": [[[0, 0], 2]], "right": [[[1, 1], 3]], "exponent": 0}]},
        lambda q: max(math.log(2 * c[0] / (3 * c[3])) for c in q),
    ),
    ({"notion": "approximate-ldp", **E, "delta": "0.05"}, lambda q: excess(q, 0.05)),
    ({"notion": "approximate-ldp", **E, "delta": 0}, ratios),
    ({"notion": "approximate-lip", **E, "delta": "0.05"}, lambda q: excess_of_lift(q, 0.05)),
    ({"notion": "approximate-lip", **E, "delta": 0}, lifts),
    ({"notion": "maximal-leakage", **E}, lambda q: math.log(sum(map(max, q)))),
    ({"notion": "mutual-information", **E}, information),
    ({"notion": "g-vulnerability", "limit": 0}, lambda q: sum(map(max, joint(q)))),
    ({"notion": "attack-error", "least": 0, "distance": "euclidean"}, lambda q: -attack(q)),
    ({"notion": "neighbor", "epsilon": 1, "cone": OWN}, ratios),
]  # fmt: skip


def mass() -> list[float]:
    """Return the prior of the secret."""
    given = [[Fraction(v) for v in row] for row in SECRET["given_input"]]
    return [float(sum(p * row[s] for p, row in zip(PRIOR, given, strict=True))) for s in range(2)]


def compiled(**table: Any) -> Compiled:
    """Return the statement of a problem on the grid."""
    form = {"domain": GRID, "prior": list(map(str, PRIOR)), "privacy": [], **table}
    return compile_problem(read(ProblemTable, form, "problem"))


@pytest.mark.parametrize(("table", "leak"), CASES, ids=[table["notion"] for table, _ in CASES])
def test_a_notion_holds_at_its_leakage_and_not_below(
    table: dict[str, Any], leak: Callable[[Q], float]
) -> None:
    problem = compiled(privacy=[table])
    (notion,) = problem.table.privacy
    assert read(ProblemTable, write(problem.table)) == problem.table
    for seed in range(5):
        columns = channel(seed)
        least = leak([[v / WHOLE for v in q] for q in columns])
        for off, holds in ((1e-9, True), (-1e-9, False)):
            asked = problem.alone(notion.at(Fraction(least + off)))
            assert (private(asked, columns, WHOLE) is None) == holds


def test_every_name_of_a_notion_has_a_case() -> None:
    named = set(Notion.forms()) - {""}
    assert named == {table["notion"] for table, _ in CASES} - {"neighbor"}


@pytest.mark.parametrize(
    "table",
    [
        {"notion": "ldp", "epsilon": "-1"},
        {"notion": "ldp"},
        {"notion": "ldp", "epsilon": 1, "delta": 0},
        {"notion": "high-low", "epsilon": 1, "sensitive": ["x"]},
        {"notion": "block", "epsilon": 1, "blocks": [[[0, 0]]]},
        {"notion": "block", "epsilon": 1, "block_rows": 3, "block_columns": 1},
        {"notion": "metric", "epsilon": 1, "distance": "absolute"},
        {"notion": "metric", "epsilon": 1, "distance": [[0]]},
        {"notion": "bounded-prior-lip", "epsilon": 1, "lower": [0] * K},
        {"notion": "bounded-prior-lip", "epsilon": 1, "lower": ["0.5"] * K, "upper": [1] * K},
        {"notion": "bounded-prior-lip", "epsilon": 1, "lower": ["0.5", 0, 0, 0],
         "upper": ["0.2", 1, 1, 1]},
        {"notion": "lip", "epsilon": 1, "secret": {**SECRET, "given_input": [[1, 0]] * K}},
        {"notion": "attack-error", "least": 0, "distance": "absolute"},
        {"notion": "own", "cone": [
            {"kind": "rows", "rows": [{"left": [[9, 1]], "exponent": 0, "right": []}]}]},
        {"notion": "own", "limits": [{"kind": "gauge", "parts": [], "limit": 1}]},
        {"notion": 3, "epsilon": 1},
    ],
)  # fmt: skip
def test_a_table_that_contradicts_itself_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(CertificateError):
        compiled(privacy=[table])


@pytest.mark.parametrize("seed", range(3))
def test_a_metric_on_points_without_a_grid_is_checked_for_all_pairs(seed: int) -> None:
    rng = random.Random(seed)
    points = [[rng.randrange(9), rng.randrange(9)] for _ in range(K)]
    domain = {"points": {"coordinates": points, "metric": "euclidean"}}
    columns = channel(seed)
    q = [[v / WHOLE for v in c] for c in columns]
    least = ratios(q, lambda x, z: math.dist(points[x], points[z]))
    table = {"notion": "metric", "epsilon": 0, "distance": "euclidean"}
    problem = compiled(domain=domain, privacy=[table])
    for off, holds in ((1e-9, True), (-1e-9, False)):
        asked = problem.alone(problem.table.privacy[0].at(Fraction(least + off)))
        assert (private(asked, columns, WHOLE) is None) == holds

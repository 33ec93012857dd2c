"""The value of each objective is its formula; what is read from outputs minimizes the error."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechdesign.errors import CertificateError
from mechdesign.kernel.names import Utility
from mechdesign.kernel.value import decoder, value
from tests.kernel.test_names import (
    POINTS,
    PRIOR,
    WHOLE,
    K,
    Q,
    channel,
    compiled,
)

F = [1.0, 2.0, 0.0, 4.0]
A, B = [0.5, 0.5, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4]
P = list(map(float, PRIOR))
OUTPUTS = [[1, 1], [0, 0], [0, 1]]


def joint(q: Q) -> Q:
    """Return P_x q_x."""
    return [[p * v for p, v in zip(P, c, strict=True)] for c in q]


def information(q: Q) -> float:
    """Return I(X; Y)."""
    pairs = [(c, w) for c, w in zip(q, joint(q), strict=True)]
    return sum(j * math.log(v / sum(w)) for c, w in pairs for j, v in zip(w, c, strict=True))


def mean_loss(q: Q, loss: Callable[[int, int], float], worst: bool = False) -> float:
    """Return the mean loss, or the largest; the loss is of the places of input and output."""
    rows = [sum(q[y][x] * loss(x, y) for y in range(3)) for x in range(K)]
    return max(rows) if worst else sum(p * r for p, r in zip(P, rows, strict=True))


def dot(a: list[float], b: list[float]) -> float:
    """Return a . b."""
    return sum(map(float.__mul__, a, b))


def apart(x: int, y: int) -> float:
    """Return the straight distance of an input and an output."""
    row, column = OUTPUTS[y]
    return math.dist(POINTS[x], (row / 2, column / 2))


def posterior(q: Q) -> float:
    """Return the error of the posterior mean of f(X)."""
    return dot(P, [f * f for f in F]) - sum(dot(w, F) ** 2 / sum(w) for w in joint(q))


def risk(q: Q, p: list[float]) -> Any:
    """Return the variances of the best estimate."""
    m = [[sum(c[x] * c[z] / dot(p, c) for c in q) for z in range(K)] for x in range(K)]
    return np.diag(np.linalg.inv(m)) - np.square(p)


def square_channel() -> list[list[int]]:
    """Return a channel with as many outputs as inputs, which determines them."""
    rows = [[1 + 3 * (x == y) + (x + 2 * y) % 3 for y in range(K)] for x in range(K)]
    whole = [[v * (WHOLE // sum(row)) for v in row] for row in rows]
    for row in whole:
        row[0] += WHOLE - sum(row)
    return [list(c) for c in zip(*whole, strict=True)]


GAINS = [[1, 0, "1/2", 0], [0, 2, 0, 1]]
MIX = {"first": ["1/2", "1/2", 0, 0], "second": ["0.1", "0.2", "0.3", "0.4"]}
MATRIX = [[x * y + 1 for y in range(3)] for x in range(K)]
SCORES = [[1, 0], [-1, 1], [2, 0], [0, 1]]


def divergence(term: Callable[[float, float], float]) -> Callable[[Q], float]:
    """Return the sum of a term of both laws of the reports."""
    return lambda q: sum(term(dot(A, c), dot(B, c)) for c in q)


def fisher(q: Q) -> float:
    """Return the sum of the squared scores of outputs."""
    scores = zip(*SCORES, strict=True)
    return sum(dot(w, list(map(float, s))) ** 2 / sum(w) for s in scores for w in joint(q))


CASES: list[tuple[dict[str, Any], Callable[[Q], float]]] = [
    ({"objective": "distortion", "matrix": MATRIX}, lambda q: mean_loss(q, lambda x, y: x * y + 1)),
    ({"objective": "hamming"}, lambda q: mean_loss(q, lambda x, y: apart(x, y) > 0)),
    (
        {"objective": "hamming", "worst_case": True},
        lambda q: mean_loss(q, lambda x, y: apart(x, y) > 0, worst=True),
    ),
    (
        {"objective": "mean-squared-distance"},
        lambda q: mean_loss(q, lambda x, y: apart(x, y) ** 2),
    ),
    ({"objective": "euclidean"}, lambda q: mean_loss(q, apart)),
    ({"objective": "bayes-accuracy"}, lambda q: sum(map(max, joint(q)))),
    (
        {"objective": "g-vulnerability", "gain_matrix": GAINS},
        lambda q: sum(
            max(dot(w, [float(Fraction(g)) for g in r]) for r in GAINS) for w in joint(q)
        ),
    ),
    ({"objective": "posterior-mean-squared-error", "values": [1, 2, 0, 4]}, posterior),
    (
        {"objective": "posterior-mean-squared-error", "histogram": True},
        lambda q: 1 - sum(dot(w, w) / sum(w) for w in joint(q)),
    ),
    ({"objective": "fisher-information", "scores": SCORES}, fisher),
    ({"objective": "mutual-information"}, information),
    ({"objective": "total-variation", **MIX}, divergence(lambda a, b: abs(a - b) / 2)),
    ({"objective": "kullback-leibler", **MIX}, divergence(lambda a, b: a * math.log(a / b))),
    ({"objective": "chi-squared", **MIX}, divergence(lambda a, b: (a - b) ** 2 / b)),
    (
        {"objective": "squared-hellinger", **MIX},
        divergence(lambda a, b: (math.sqrt(a) - math.sqrt(b)) ** 2 / 2),
    ),
]


@pytest.mark.parametrize(("table", "formula"), CASES, ids=[t["objective"] for t, _ in CASES])
def test_a_value_is_that_of_the_formula(
    table: dict[str, Any], formula: Callable[[Q], float]
) -> None:
    statement = compiled(utility=table, outputs=OUTPUTS).statement
    for seed in range(3):
        columns = channel(seed)
        exact = statement.sign * value(statement, columns, WHOLE, range(3))
        assert float(exact) == pytest.approx(formula([[v / WHOLE for v in q] for q in columns]))


def test_every_name_of_an_objective_has_a_case() -> None:
    named = set(Utility.forms()) - {""}
    others = {"mean-absolute-error", "l2-risk", "tv-risk", "unbiased-variance"}
    assert named == {table["objective"] for table, _ in CASES} | others


@pytest.mark.parametrize("worst", [False, True])
def test_a_mean_absolute_error_is_of_numbers(worst: bool) -> None:
    labels = [0, 1, 3, 7]
    utility = {"objective": "mean-absolute-error", "worst_case": worst}
    problem = compiled(domain={"values": labels}, utility=utility, outputs=[1, 3, 7])
    columns = channel(0)
    q = [[v / WHOLE for v in c] for c in columns]
    wanted = mean_loss(q, lambda x, y: abs(labels[x] - [1, 3, 7][y]), worst)
    assert float(value(problem.statement, columns, WHOLE, range(3))) == pytest.approx(wanted)


@pytest.mark.parametrize("name", ["l2-risk", "tv-risk"])
def test_a_risk_is_that_of_the_inverse_and_no_more_than_the_worst(name: str) -> None:
    columns = square_channel()
    q = [[v / WHOLE for v in c] for c in columns]
    mean, worst = (
        compiled(utility={"objective": name, "worst_case": w}).statement for w in (False, True)
    )
    spread = risk(q, P)
    wanted = sum(spread)
    if name == "tv-risk":
        wanted = sum(map(math.sqrt, spread)) / math.sqrt(2 * math.pi)
    found = value(mean, columns, WHOLE)
    assert float(found) == pytest.approx(wanted)
    assert found <= value(worst, columns, WHOLE, prior=PRIOR)
    readings = decoder(mean, "estimator", range(K), columns, WHOLE) or []
    for z, row in enumerate(zip(*q, strict=True)):
        means = [dot(list(row), [float(w[x]) for w in readings]) for x in range(K)]
        assert means == pytest.approx([float(x == z) for x in range(K)], abs=1e-9)
    with pytest.raises(CertificateError, match="infinite"):
        value(mean, channel(0), WHOLE)


def test_readings_are_unbiased_and_their_variance_exact() -> None:
    columns = [
        [WHOLE // 4, WHOLE // 2, WHOLE // 4, 0],
        [3 * WHOLE // 4, WHOLE // 2, 3 * WHOLE // 4, WHOLE],
    ]
    utility = {"objective": "unbiased-variance", "values": [1, 2, 1, 0], "worst_case": True}
    statement = compiled(utility=utility).statement
    readings = [Fraction(4), Fraction(0)]
    assert value(statement, columns, WHOLE, readings=readings) == 4
    assert decoder(statement, "readings", range(K), columns, WHOLE, readings) == readings
    for wrong in (None, readings[:1], [Fraction(4), Fraction(1)]):
        with pytest.raises(CertificateError, match="reading"):
            value(statement, columns, WHOLE, readings=wrong)


def test_a_decoder_is_of_the_posterior() -> None:
    columns = [*channel(0), [0] * K]
    for objective, wanted in (
        ({"values": [1, 2, 0, 4]}, lambda w: dot(w, F)),
        ({"histogram": True}, lambda w: w),
    ):
        problem = compiled(utility={"objective": "posterior-mean-squared-error", **objective})
        assert problem.table.utility is not None
        found = decoder(
            problem.statement, problem.table.utility.reads, problem.labels, columns, WHOLE
        )
        assert found is not None
        laws = [
            *(
                [j / sum(w) for j in w]
                for w in joint([[float(v) for v in c] for c in columns[:-1]])
            ),
            P,
        ]
        for shown, law in zip(found, laws, strict=True):
            exact = [float(v) for v in shown] if isinstance(shown, list) else float(shown)
            assert exact == pytest.approx(wanted(law))
    accuracy = compiled(utility={"objective": "bayes-accuracy"})
    likeliest = decoder(accuracy.statement, "likeliest", accuracy.labels, columns, WHOLE)
    places = [w.index(max(w)) for w in joint([[float(v) for v in c] for c in columns[:-1]])]
    assert likeliest == [accuracy.labels[x] for x in [*places, 3]]


@pytest.mark.parametrize(
    "table",
    [
        {"objective": "distortion", "matrix": [[1] * 3] * (K - 1)},
        {"objective": "distortion", "matrix": [["-1"] * 3] * K},
        {"objective": "mean-absolute-error"},
        {"objective": "g-vulnerability", "gain_matrix": [[1, "-1", 0, 0]]},
        {"objective": "posterior-mean-squared-error"},
        {"objective": "posterior-mean-squared-error", "values": [1]},
        {"objective": "fisher-information", "scores": [[]] * K},
        {"objective": "total-variation", "first": [1, 0, 0, 0], "second": [1, 1, 0, 0]},
        {"objective": "unbiased-variance", "values": [1]},
    ],
)
def test_an_objective_that_contradicts_itself_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(CertificateError):
        compiled(utility=table, outputs=OUTPUTS)

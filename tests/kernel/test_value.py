"""Values are those of the second verifier; what is read from outputs minimizes the error."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from mechdesign.errors import CertificateError
from mechdesign.kernel.names import Utility
from mechdesign.kernel.value import decoder, value
from tests.independent import files as independent
from tests.independent.rationals import Interval
from tests.independent.reading import labels, read_domain
from tests.independent.statement import read_aim
from tests.kernel.test_names import (
    GRID,
    PRIOR,
    WHOLE,
    K,
    Q,
    channel,
    compiled,
)

F = [1.0, 2.0, 0.0, 4.0]
P = list(map(float, PRIOR))
OUTPUTS = [[1, 1], [0, 0], [0, 1]]
NEAR = Fraction(1, 10**30)


def joint(q: Q) -> Q:
    """Return P_x q_x."""
    return [[p * v for p, v in zip(P, c, strict=True)] for c in q]


def dot(a: list[float], b: list[float]) -> float:
    """Return a . b."""
    return sum(map(float.__mul__, a, b))


def second(
    table: dict[str, Any], columns: list[list[int]], domain: Any = GRID, outputs: Any = OUTPUTS
) -> Interval:
    """Return the value by the second verifier, minimized."""
    aim = read_aim(table, read_domain(domain), tuple(PRIOR), labels(outputs))
    exact = [tuple(Fraction(v, WHOLE) for v in q) for q in columns]
    return independent.value(aim, exact, list(range(len(exact))), {})


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


CASES: list[dict[str, Any]] = [
    {"objective": "distortion", "matrix": MATRIX},
    {"objective": "hamming"},
    {"objective": "hamming", "worst_case": True},
    {"objective": "mean-squared-distance"},
    {"objective": "euclidean"},
    {"objective": "bayes-accuracy"},
    {"objective": "g-vulnerability", "gain_matrix": GAINS},
    {"objective": "posterior-mean-squared-error", "values": [1, 2, 0, 4]},
    {"objective": "posterior-mean-squared-error", "histogram": True},
    {"objective": "fisher-information", "scores": SCORES},
    {"objective": "mutual-information"},
    {"objective": "total-variation", **MIX},
    {"objective": "kullback-leibler", **MIX},
    {"objective": "chi-squared", **MIX},
    {"objective": "squared-hellinger", **MIX},
]


@pytest.mark.parametrize("table", CASES, ids=[table["objective"] for table in CASES])
def test_a_value_is_that_of_the_second_verifier(table: dict[str, Any]) -> None:
    """It is rounded up by less than 1e-30."""
    statement = compiled(utility=table, outputs=OUTPUTS).statement
    for seed in range(3):
        low, high = second(table, channel(seed))
        assert low <= value(statement, channel(seed), WHOLE, range(3)) <= high + NEAR


def test_every_name_of_an_objective_has_a_case() -> None:
    named = set(Utility.forms()) - {""}
    others = {"mean-absolute-error", "l2-risk", "tv-risk", "unbiased-variance"}
    assert named == {table["objective"] for table in CASES} | others


@pytest.mark.parametrize("worst", [False, True])
def test_a_mean_absolute_error_is_of_numbers(worst: bool) -> None:
    domain, outputs = {"values": [0, 1, 3, 7]}, [1, 3, 7]
    utility = {"objective": "mean-absolute-error", "worst_case": worst}
    statement = compiled(domain=domain, utility=utility, outputs=outputs).statement
    low, high = second(utility, channel(0), domain, outputs)
    assert low == high == value(statement, channel(0), WHOLE, range(3))


@pytest.mark.parametrize("name", ["l2-risk", "tv-risk"])
def test_a_risk_is_that_of_the_inverse_and_no_more_than_the_worst(name: str) -> None:
    columns = square_channel()
    q = [[v / WHOLE for v in c] for c in columns]
    mean, worst = (
        compiled(utility={"objective": name, "worst_case": w}).statement for w in (False, True)
    )
    low, high = second({"objective": name}, columns)
    found = value(mean, columns, WHOLE)
    assert low <= found <= high + NEAR
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
            problem.statement, problem.table.utility.reads, problem.inputs.labels, columns, WHOLE
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
    likeliest = decoder(accuracy.statement, "likeliest", accuracy.inputs.labels, columns, WHOLE)
    places = [w.index(max(w)) for w in joint([[float(v) for v in c] for c in columns[:-1]])]
    assert likeliest == [accuracy.inputs.labels[x] for x in [*places, 3]]


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


def test_mixtures_and_risks_are_of_inputs_that_occur() -> None:
    mixtures, prior = {"first": [1, 0, 0, 0], "second": ["1/2", 0, "1/2", 0]}, ["1/2", "1/2", 0, 0]
    with pytest.raises(CertificateError, match="an input of prior 0"):
        compiled(utility={"objective": "chi-squared", **mixtures}, prior=prior)
    with pytest.raises(CertificateError, match="a prior without zeros"):
        compiled(utility={"objective": "l2-risk"}, prior=prior)

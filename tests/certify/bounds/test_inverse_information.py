"""The inverse of an information matrix: its stated error, by elimination in rationals."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, strategies as st

from mechdesign import CertificateError
from mechdesign.certify.bounds.inverse_information import LEAST_BITS, inverse_information
from tests.strategies import examples, simplex

Matrix = list[list[Fraction]]


def dots(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return sum((s * t for s, t in zip(a, b, strict=True)), Fraction(0))


def information(columns: Matrix, p: list[Fraction]) -> Matrix:
    """Return M = Sum_y q_y q_y' / (p . q_y), as it is defined."""
    k = len(p)
    M = [[Fraction(0)] * k for _ in range(k)]
    for q in columns:
        law = dots(p, q)
        for x in range(k):
            for z in range(k):
                M[x][z] += q[x] * q[z] / law if law else 0
    return M


def inverse(M: Matrix) -> Matrix | None:
    """Return M**-1 by Gauss and Jordan with any pivot; None if M is singular."""
    k = len(M)
    T = [[*row, *(Fraction(int(x == z)) for z in range(k))] for x, row in enumerate(M)]
    for c in range(k):
        pivot = next((x for x in range(c, k) if T[x][c]), None)
        if pivot is None:
            return None
        T[c], T[pivot] = T[pivot], T[c]
        T[c] = [entry / T[c][c] for entry in T[c]]
        for x in range(k):
            if x != c:
                T[x] = [a - T[x][c] * b for a, b in zip(T[x], T[c], strict=True)]
    return [row[k:] for row in T]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Matrix, list[Fraction]]:
    """Draw the columns of a channel, with zeros and empty columns, and a prior without zeros."""
    k, m = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    rows = [draw(simplex(m)) for _ in range(k)]
    return [list(column) for column in zip(*rows, strict=True)], draw(simplex(k, 1))


@examples(150)
@given(cases())
def test_every_entry_is_within_the_stated_error_and_that_is_tiny(
    case: tuple[Matrix, list[Fraction]],
) -> None:
    columns, p = case
    exact = inverse(information(columns, p))
    assume(exact is not None)
    assert exact is not None
    found = inverse_information(columns, p)
    unit = Fraction(1, 2**found.bits)
    assert found.bits >= LEAST_BITS
    assert 0 < found.error * unit < Fraction(1, 2**200)
    for row, true_row in zip(found.entries, exact, strict=True):
        for entry, true in zip(row, true_row, strict=True):
            assert abs(entry * unit - true) <= found.error * unit
    low, high = found.variances(up=False), found.variances(up=True)
    for x in range(len(p)):
        assert low[x] <= exact[x][x] <= high[x]
        assert high[x] - low[x] == 2 * found.error * unit


@examples(150)
@given(cases())
def test_the_estimator_is_within_its_error_of_the_unbiased_one(
    case: tuple[Matrix, list[Fraction]],
) -> None:
    columns, p = case
    exact = inverse(information(columns, p))
    assume(exact is not None)
    assert exact is not None
    found = inverse_information(columns, p)
    unit = Fraction(1, 2**found.bits)
    for q, (readings, slack) in zip(columns, found.estimator(), strict=True):
        law = dots(p, q)
        # a report that never occurs is read as the prior
        true = [dots(row, q) / law for row in exact] if law else p
        assert 0 < slack * unit < Fraction(1, 2**180)
        for reading, entry in zip(readings, true, strict=True):
            assert abs(reading * unit - entry) <= slack * unit
    sums = [
        sum(q[z] * w[x] * unit for q, (w, _) in zip(columns, found.estimator(), strict=True))
        for x in range(len(p))
        for z in range(len(p))
    ]
    ones = [Fraction(int(x == z)) for x in range(len(p)) for z in range(len(p))]
    assert all(abs(a - b) < Fraction(1, 2**180) for a, b in zip(sums, ones, strict=True))


@examples(100)
@given(simplex(3, 1), simplex(3), st.integers(2, 4))
def test_a_channel_that_does_not_tell_inputs_apart_has_no_inverse(
    p: list[Fraction], row: list[Fraction], k: int
) -> None:
    columns = [[entry] * k for entry in row]
    prior = [Fraction(1, k)] * k if k != 3 else p
    with pytest.raises(CertificateError, match="the risk is infinite"):
        inverse_information(columns, prior)


def test_bits_are_added_where_the_least_prior_is_tiny() -> None:
    """Four for each bit of 1 / p, since the entries of M**-1 and of W grow with it."""
    identity = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]
    for power in (1, 10, 100, 300):
        tiny = Fraction(1, 2**power)
        for prior in ([tiny, 1 - tiny], [1 - tiny, tiny]):
            found = inverse_information(identity, prior)
            assert found.bits == LEAST_BITS + 4 * (power + 1)
            assert found.variances(up=False) <= prior <= found.variances(up=True)
            relative = Fraction(found.error, 2**found.bits) / tiny
            assert relative < Fraction(1, 2**200)


@pytest.mark.parametrize("prior", [["0", "1"], ["1", "0"]])
def test_a_prior_with_a_zero_is_refused(prior: list[str]) -> None:
    identity = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]
    with pytest.raises(CertificateError, match="without zeros"):
        inverse_information(identity, [Fraction(p) for p in prior])


def test_a_channel_next_to_a_singular_one_has_its_inverse_or_is_refused() -> None:
    """The determinant of M shrinks with the square of the gap: no wrong inverse comes out."""
    half, outcomes = Fraction(1, 2), []
    for power in range(10, 200, 10):
        gap = Fraction(1, 2**power)
        columns = [[half + gap, half - gap], [half - gap, half + gap]]
        exact = inverse(information(columns, [half, half]))
        assert exact is not None
        try:
            found = inverse_information(columns, [half, half])
        except CertificateError:
            outcomes.append(False)
            continue
        outcomes.append(True)
        for x in range(2):
            assert found.variances(up=False)[x] <= exact[x][x] <= found.variances(up=True)[x]
    assert outcomes == sorted(outcomes, reverse=True)
    assert outcomes[0] is True
    assert outcomes[-1] is False

"""Refinement is decided exactly: by a post-processing matrix or a decision problem."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Channel, InputError, LimitError, SolverError, save
from mechdesign.cli import main
from mechdesign.mechanisms import HadamardResponse
from mechdesign.refinement import linear_system
from mechdesign.refinement.linear_system import Equation, solved
from mechdesign.refinement.result import Refinement
from tests.refusals_support import check_refused
from tests.strategies import channels, examples, simplex


def product(first: Channel, W: Any) -> list[list[Fraction]]:
    return [
        [sum((p * W[z][y] for z, p in enumerate(row)), Fraction(0)) for y in range(len(W[0]))]
        for row in first.rows()
    ]


def check(found: Refinement, first: Channel, second: Channel) -> None:
    """Check what proves the answer, from the definitions alone."""
    if found:
        assert all(sum(row) == 1 and min(row) >= 0 for row in found.matrix)
        assert product(first, found.matrix) == second.rows()
        assert found.deficiency == (0, 0)
        return
    prior, gain, best, worth, nearest, distance = found.separation
    assert sum(prior) == 1
    assert all(0 <= g <= 1 for row in gain for g in row)
    k, actions = len(prior), range(len(gain[0]))

    def total(column: list[Fraction], action: int) -> Fraction:
        return sum((prior[x] * column[x] * gain[x][action] for x in range(k)), Fraction(0))

    columns = [list(column) for column in zip(*second.rows(), strict=True)]
    assert worth == sum(total(column, y) for y, column in enumerate(columns))
    best_use = [max(total(list(c), y) for y in actions) for c in zip(*first.rows(), strict=True)]
    assert best == sum(best_use)
    assert best < worth
    made = product(first, nearest)
    assert all(sum(row) == 1 and min(row) >= 0 for row in nearest)
    assert distance == max(
        sum(abs(a - b) for a, b in zip(row, other, strict=True)) / 2
        for row, other in zip(made, second.rows(), strict=True)
    )
    assert 0 < found.deficiency[0] <= found.deficiency[1]


@examples(30)
@given(st.data())
def test_a_post_processed_channel_is_refined_and_the_matrix_proves_it(data: st.DataObject) -> None:
    first = data.draw(channels(data.draw(st.integers(1, 3))))
    size = data.draw(st.integers(1, 4))
    W = Channel.from_matrix([data.draw(simplex(size)) for _ in first.outputs])
    found = first.refines(first.then(W))
    assert found
    check(found, first, first.then(W))


@examples(30)
@given(st.data())
def test_whatever_the_answer_it_is_proved(data: st.DataObject) -> None:
    k = data.draw(st.integers(1, 3))
    first, second = (
        Channel.from_matrix([data.draw(simplex(n)) for _ in range(k)])
        for n in data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    )
    check(first.refines(second), first, second)


def test_the_deficiency_of_two_coins_is_the_distance_of_their_biases() -> None:
    """Post-processing moves the two rows of a coin only nearer to each other (by hand)."""
    weak = Channel.from_matrix([["5/8", "3/8"], ["3/8", "5/8"]])
    strong = Channel.from_matrix([["7/8", "1/8"], ["1/8", "7/8"]])
    found = weak.refines(strong)
    assert found.deficiency[0] <= Fraction(1, 4) <= found.deficiency[1]
    assert found.deficiency[1] - found.deficiency[0] < Fraction(1, 10**8)
    third = Fraction(1, 3)
    assert strong.refines(weak).matrix == ((2 * third, third), (third, 2 * third))


def test_entries_that_differ_in_their_last_bit_differ() -> None:
    """A separation of 1e-19 is found, far below the tolerance of any solver."""
    first = Channel([[2**61, 2**61], [2**60, 3 * 2**60]])
    again = Channel([[2**61 + 1, 2**61 - 1], [2**60, 3 * 2**60]])
    assert first.refines(first)
    check(first.refines(first), first, first)
    found = first.refines(again)
    assert not found
    check(found, first, again)
    assert 0 < found.deficiency[1] < Fraction(1, 10**17)


def test_inputs_count_by_label() -> None:
    first = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["a", "b"])
    other = Channel.from_matrix([["5/8", "3/8"], ["1/2", "1/2"]], inputs=["b", "a"])
    found = first.refines(other)
    assert found.matrix is not None
    assert product(first, found.matrix) == other.rows()[::-1]
    with pytest.raises(InputError, match="other: expected a channel on Domain"):
        first.refines(Channel.from_matrix([[1], [1]]))
    check_refused("other: expected a Channel, given 3", first.refines, 3)


def test_channels_that_are_too_large_are_refused_before_anything_is_solved() -> None:
    wide = Channel.from_matrix(np.full((2, 400), 1 / 400))
    with pytest.raises(LimitError, match="other: expected at most 50,000 unknowns"):
        wide.refines(wide)


def test_a_failing_solver_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_given: Any, **_named: Any) -> Any:
        raise RuntimeError("no")

    monkeypatch.setattr("scipy.optimize.linprog", broken)
    coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    with pytest.raises(SolverError, match="HiGHS failed: RuntimeError: no"):
        coin.refines(coin)


@pytest.mark.parametrize("large", [False, True])
def test_wrong_numbers_of_a_solver_prove_nothing(
    monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    """Every answer has a proof, even with wrong solver output."""
    from scipy import optimize

    rng, honest = np.random.default_rng(5), optimize.linprog

    def noisy(*given_: Any, **named: Any) -> Any:
        result = honest(*given_, **named)
        result.x = result.x + rng.normal(0, 1 if large else 1e-3, result.x.shape)
        marginals = result.eqlin.marginals
        result.eqlin.marginals = marginals + rng.normal(0, 1 if large else 1e-3, marginals.shape)
        return result

    monkeypatch.setattr("scipy.optimize.linprog", noisy)
    coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    for first, second in ((coin, coin.then(coin)), (coin.then(coin), coin)):
        try:
            check(first.refines(second), first, second)
        except SolverError as error:
            assert "not decided" in str(error) or "failed" in str(error)  # noqa: PT017


def test_the_command_compares_in_both_directions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text("3/4,1/4\n1/4,3/4\n")
    (tmp_path / "b.csv").write_text("5/8,3/8\n3/8,5/8\n")
    save(HadamardResponse(4, 1), tmp_path / "c.json")
    a, b, c = (str(tmp_path / name) for name in ("a.csv", "b.csv", "c.json"))
    assert main(["compare", a, b]) == 0
    message = capsys.readouterr().out
    assert message.startswith("the first is better: ")
    assert "Refinement(yes)" in message
    assert "Refinement(no)" in message
    assert main(["compare", a, a, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"].startswith("equivalent")
    assert found["first_refines_second"]["matrix"] == [["1", "0"], ["0", "1"]]
    assert main(["compare", c, c]) == 0
    assert capsys.readouterr().out.startswith("equivalent")
    assert main(["compare", a, c]) == 2
    assert f"{c}: expected a channel on Domain" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(6))
def test_a_channel_refines_itself_at_other_bits(seed: int) -> None:
    """Reduced costs of a program for residuals may be as large as its scale, 1e24 and more."""
    draw = np.random.default_rng(seed)
    k, m, n = draw.integers(3, 6, size=3)
    A, W = draw.integers(0, 10, (k, m)) + np.eye(k, m, dtype=int), draw.integers(1, 10, (m, n))
    whole = A.sum(axis=1)
    W[:, 0] += 1
    rows = [[Fraction(int(v), int(s)) for v in row] for row, s in zip(A, whole, strict=True)]
    kernel = [[Fraction(int(v), int(sum(row))) for v in row] for row in W]
    made = [[sum(p * w[y] for p, w in zip(r, kernel, strict=True)) for y in range(n)] for r in rows]
    first, second = Channel.from_matrix(rows), Channel.from_matrix(made)
    check(first.refines(second), first, second)


# Solutions of integer systems are exact for numbers of any size.


LARGE = st.integers(-(2**70), 2**70)


@st.composite
def systems(draw: st.DrawFn) -> tuple[list[list[int]], list[Fraction]]:
    """Rows, as many as unknowns or more, and a solution."""
    size = draw(st.integers(1, 5))
    rows = draw(
        st.lists(st.lists(LARGE, min_size=size, max_size=size), min_size=size, max_size=size + 2)
    )
    values = [Fraction(draw(st.integers(-99, 99)), draw(st.integers(1, 99))) for _ in range(size)]
    return rows, values


def equations(rows: list[list[int]], values: list[Fraction]) -> list[Equation]:
    found = []
    for row in rows:
        right = sum((a * v for a, v in zip(row, values, strict=True)), Fraction(0))
        found.append(({j: a * right.denominator for j, a in enumerate(row)}, right.numerator))
    return found


@examples(50)
@given(systems())
def test_a_system_that_has_a_solution_is_solved(
    system: tuple[list[list[int]], list[Fraction]],
) -> None:
    rows, values = system
    given_equations = equations(rows, values)
    found = solved(given_equations, len(values))
    for terms, right in given_equations:
        assert sum(a * found[j] for j, a in terms.items()) == right


def test_a_contradiction_and_a_system_that_is_too_large_have_no_solution() -> None:
    assert solved([({0: 1, 1: 1}, 1), ({0: 2, 1: 2}, 3)], 2) is None
    assert solved([], linear_system.MOST_UNKNOWNS + 1) is None


@pytest.mark.parametrize("digits", [1, 40, 400])
def test_fractions_of_many_digits_are_found(digits: int) -> None:
    top, bottom = 10**digits + 7, 3**digits
    assert solved([({0: bottom}, top)], 1) == [Fraction(top, bottom)]

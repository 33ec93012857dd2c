"""Outside solvers are called in one way: a failure is a SolverError, and numbers are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import InputError, SolverError
from mechdesign.solver_guard import Guarded, called, checked
from tests.faults_support import ERRORS
from tests.refusals_support import check_refused


def throw(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    "kind", [kind for kind in ERRORS if kind is not KeyError], ids=lambda kind: kind.__name__
)
def test_what_a_solver_raises_is_a_solver_error_in_one_line(kind: type[BaseException]) -> None:
    with pytest.raises(SolverError) as caught:
        called("a solver", throw, kind("line one\nline two"))
    assert str(caught.value) == f"a solver failed: {kind.__name__}: line one line two"
    assert type(caught.value.__cause__) is kind


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_the_end_of_the_program_passes(kind: type[BaseException]) -> None:
    with pytest.raises(kind):
        called("a solver", throw, kind())


def test_errors_of_the_library_pass_unchanged() -> None:
    error = InputError("prior", "numbers", "text")
    assert check_refused("", called, "a solver", throw, error) is error


def test_methods_are_guarded_and_arguments_arrive() -> None:
    numbers = Guarded("a list", [3, 1, 2])
    numbers.sort(reverse=True)
    assert numbers.index(1) == 2
    with pytest.raises(SolverError, match="a list failed: ValueError"):
        numbers.remove(7)


@given(st.lists(st.floats(-1e100, 1e100)))
def test_numbers_of_the_right_shape_arrive_as_they_are(numbers: list[float]) -> None:
    assert checked("a solver", numbers, (len(numbers),)).tolist() == numbers


WRONG: list[Any] = [None, [], [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], ["1.0", "2.0"]]
WRONG += [[1.0, other] for other in ([2.0], np.nan, np.inf, -np.inf, 1e300, 2.0j, None)]


@pytest.mark.parametrize("found", WRONG, ids=repr)
def test_other_numbers_are_refused(found: Any) -> None:
    with pytest.raises(SolverError, match="a solver failed: "):
        checked("a solver", found, (2,))


def test_infinite_numbers_pass_if_allowed() -> None:
    found = checked("a solver", [np.nan, np.inf], (2,), finite=False)
    assert np.isnan(found[0])
    assert np.isinf(found[1])

"""Faults of outside solvers: every call of one can be made to raise or to return something else.

A :class:`Faults` replaces the functions of the solvers themselves, not the place in the library
through which they are called, so that a call that went around it would be hit too.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import highspy
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize

from mechdesign.search.interior import newton, sparse


class Panic(BaseException):
    """Like the panics of Rust, which are no ``Exception``."""


ERRORS: list[type[BaseException]] = [RuntimeError, ValueError, IndexError, KeyError, OverflowError]
ERRORS += [MemoryError, ZeroDivisionError, FloatingPointError, np.linalg.LinAlgError, OSError]
ERRORS += [TypeError, AssertionError, RuntimeWarning, StopIteration, Panic, cp.SolverError]

Change = Callable[[Any], Any]


@dataclass(frozen=True)
class Fault:
    """What goes wrong: an exception, other numbers, or another status.

    Attributes
    ----------
    raises
        What the call raises; None to return.
    primal, dual
        What becomes of the solution and of the dual variables; None to leave them.
    status
        The status that is claimed, in cvxpy's words.
    value
        The objective value that is claimed.
    """

    raises: BaseException | None = None
    primal: Change | None = None
    dual: Change | None = None
    status: str | None = None
    value: float | None = None


def noise(numbers: Any, size: float) -> Any:
    rng = np.random.default_rng(0)
    return np.asarray(numbers) + size * rng.standard_normal(np.shape(numbers))


def put(value: Any) -> Change:
    """Replace the first number."""

    def change(numbers: Any) -> Any:
        found = np.array(numbers, dtype=float)
        if found.ndim == 0:
            return np.array(value)
        found.ravel()[:1] = value
        return found

    return change


def full(value: float) -> Change:
    return lambda numbers: np.full(np.shape(numbers), value)


def shorter(numbers: Any) -> Any:
    return np.atleast_1d(numbers)[:-1]


def longer(numbers: Any) -> Any:
    return np.concatenate([np.atleast_1d(numbers)] * 2)


NUMBERS = {"all NaN": np.nan, "all infinite": np.inf, "zeros": 0.0, "ones": 1.0, "minus ones": -1.0}
NUMBERS |= {f"all {number}": number for number in (-1e300, 1e300, 1e90, -1e90, 5e-324)}

EVERY = {
    **{name: full(number) for name, number in NUMBERS.items()},
    "a NaN": put(np.nan),
    "an infinity": put(-np.inf),
    "empty": lambda _: np.zeros(0),
    "None": lambda _: None,
    "too short": shorter,
    "too long": longer,
    "one dimension more": lambda numbers: np.asarray(numbers)[None],
    "transposed": lambda numbers: np.asarray(numbers).T,
    "complex": lambda numbers: np.asarray(numbers) + 1j,
    "objects": lambda numbers: np.array([None] * np.size(numbers), dtype=object),
    "text": lambda numbers: np.full(np.shape(numbers), "one"),
    "reversed": lambda numbers: np.flip(np.asarray(numbers)),
    "signs changed": lambda numbers: -np.asarray(numbers),
    "doubled": lambda numbers: 2 * np.asarray(numbers),
    "noise of 1e-3": lambda numbers: noise(numbers, 1e-3),
    "noise of 1": lambda numbers: noise(numbers, 1.0),
}

STATUS = highspy.HighsModelStatus
HIGHS_STATUS = {
    "infeasible": STATUS.kInfeasible,
    "unbounded": STATUS.kUnbounded,
    "user_limit": STATUS.kTimeLimit,
    "unknown": STATUS.kUnknown,
    "optimal": STATUS.kOptimal,
}

FAULTS: dict[str, Fault] = {
    **{f"raises {kind.__name__}": Fault(raises=kind("no")) for kind in ERRORS},
    **{f"primal: {name}": Fault(primal=change) for name, change in EVERY.items()},
    **{f"dual: {name}": Fault(dual=change) for name, change in EVERY.items()},
    **{f"both: {name}": Fault(primal=EVERY[name], dual=EVERY[name]) for name in EVERY},
    **{f"claims {status}": Fault(status=status) for status in HIGHS_STATUS},
    "wrong value": Fault(value=1e6),
    "value NaN": Fault(value=np.nan),
}


class Faults:
    """Makes calls of outside solvers go wrong.

    Parameters
    ----------
    fault
        What goes wrong; None to count calls only.
    at
        The number of the call, from 0.
    lasting
        Whether all later calls go wrong as well.
    most
        How many calls are allowed: one more fails the test, as what never ends would hang.
    """

    def __init__(
        self, fault: Fault | None = None, at: int = 0, *, lasting: bool = False, most: int = 100_000
    ) -> None:
        self.fault, self.at, self.lasting, self.most = fault, at, lasting, most
        self.calls: list[str] = []
        self._lock = threading.Lock()

    def next(self, name: str) -> Fault | None:
        """Count a call; return the fault if this one goes wrong."""
        with self._lock:
            number = len(self.calls)
            self.calls.append(name)
        if number > self.most:
            raise KeyboardInterrupt(f"more than {self.most} calls of solvers")
        hit = self.fault is not None and (number == self.at or (self.lasting and number > self.at))
        if hit and self.fault is not None and self.fault.raises is not None:
            raise self.fault.raises
        return self.fault if hit else None

    @contextmanager
    def planted(self) -> Iterator[Faults]:
        """Replace the functions of the solvers."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(highspy, "Highs", _faulty_highs(self))
            answered = _faulty_answer(self, cp.Problem.unpack_results)
            patch.setattr(cp.Problem, "unpack_results", answered)
            for owner, name in FUNCTIONS:
                patch.setattr(owner, name, self._faulty(f"{name}", getattr(owner, name)))
            patch.setattr(newton, "lapack", self._lapack())
            patch.setattr(sparse, "lapack", self._lapack())
            yield self

    def _lapack(self) -> SimpleNamespace:
        from scipy.linalg import lapack

        names = ("dpotrf", "dpotri", "dgetrf", "dgetrs")
        return SimpleNamespace(**{n: self._faulty(n, getattr(lapack, n)) for n in names})

    def _faulty(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def faulty(*args: Any, **kwargs: Any) -> Any:
            fault = self.next(name)
            found = function(*args, **kwargs)
            if fault is None or fault.primal is None:
                return found
            if isinstance(found, tuple):  # the first array is the answer
                return (fault.primal(found[0]), *found[1:])
            return fault.primal(found)

        return faulty


FUNCTIONS: list[tuple[Any, str]] = [
    *((np.linalg, name) for name in ("inv", "solve", "lstsq", "eigh", "svd")),
    *((scipy.linalg, name) for name in ("svd", "eigh", "cho_solve")),
    (scipy.optimize, "nnls"),
]


def _faulty_highs(faults: Faults) -> type:
    class Highs(highspy.Highs):
        fault: Fault | None = None

        def run(self) -> Any:
            self.fault = None
            self.fault = faults.next("HiGHS")
            return super().run()

        def getModelStatus(self) -> Any:  # noqa: N802
            if self.fault is not None and self.fault.status is not None:
                return HIGHS_STATUS[self.fault.status]
            return super().getModelStatus()

        def getSolution(self) -> Any:  # noqa: N802
            found = super().getSolution()
            primal = (self.fault and self.fault.primal) or np.asarray
            dual = (self.fault and self.fault.dual) or np.asarray
            return SimpleNamespace(
                col_value=primal(found.col_value),
                col_dual=dual(found.col_dual),
                row_dual=dual(found.row_dual),
            )

    return Highs


def _faulty_answer(faults: Faults, unpack: Callable[..., Any]) -> Callable[..., Any]:
    def faulty(self: cp.Problem, *args: Any, **kwargs: Any) -> Any:
        fault = faults.next("cvxpy")
        found = unpack(self, *args, **kwargs)
        if fault is None:
            return found
        if fault.primal is not None:
            for variable in self.variables():
                variable.save_value(fault.primal(variable.value))
        if fault.dual is not None:
            for one in itertools.chain(*(c.dual_variables for c in self.constraints)):
                one.save_value(fault.dual(one.value))
        if fault.status is not None:
            self._status = fault.status
            if fault.status != "optimal":
                for variable in self.variables():
                    variable.save_value(None)
        if fault.value is not None:
            self._value = fault.value
        return found

    return faulty

"""Guarded calls of external solvers: failures become SolverError, and results are checked.

Solvers of other packages fail in their own ways: exceptions of any class, panics of Rust, which are
not an ``Exception``, arrays of another length, NaN. Wrong numbers that pass these checks do no
harm, as repair and checker trust no solver; the arithmetic of a route on them may raise one of
:data:`NUMERICAL`, which the caller treats as a failure of the route.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec, TypeVar

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import MechdesignError, SolverError

P = ParamSpec("P")
R = TypeVar("R")

NUMERICAL = (ArithmeticError, ValueError, LookupError, MemoryError, Warning)
"""Exceptions of arithmetic on wrong numbers, or for lack of memory. A TypeError, an AttributeError
or an AssertionError is a bug, and never counts as a failure of a solver."""

LARGEST = 1e100
"""The largest accepted number: products of a few of them are finite floats."""

RESIDUAL = 1e-9
"""Largest difference between a product of factors and the matrix, relative to its largest entry."""

LONGEST = 200
"""Quoted characters of a foreign message."""

ENDS = (KeyboardInterrupt, SystemExit, GeneratorExit, MechdesignError)
"""Exceptions that pass unchanged: the end of the program, and those of this library."""


def called(solver: str, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function of an external solver: what it raises, except ENDS, is a SolverError.

    Examples
    --------
    >>> called("LAPACK", np.linalg.inv, np.zeros((2, 2)))
    Traceback (most recent call last):
    mechdesign.errors.SolverError: LAPACK failed: LinAlgError: Singular matrix
    """
    try:
        return function(*args, **kwargs)
    except ENDS:
        raise
    except BaseException as error:  # a panic of Rust is not an Exception
        raise SolverError(f"{solver} failed: {failure(error)}") from error


def checked(solver: str, found: Any, shape: tuple[int, ...], *, finite: bool = True) -> FloatArray:
    """Return the numbers of a solver as floats of a shape; SolverError if they are others.

    Numbers that are not finite, or above 1e100, are rejected if ``finite``.

    Examples
    --------
    >>> checked("HiGHS", [1.0, float("nan")], (2,))
    Traceback (most recent call last):
    mechdesign.errors.SolverError: HiGHS failed: its numbers are not finite, or too large
    """
    array = called(solver, np.asarray, found)
    if array.dtype.kind not in "fiub":
        raise SolverError(f"{solver} failed: it returned no numbers, but {array.dtype}")
    if array.shape != shape:
        raise SolverError(f"{solver} failed: its numbers have shape {array.shape}, not {shape}")
    numbers: FloatArray = array.astype(np.float64, copy=False)
    if finite and not (np.abs(numbers) <= LARGEST).all():
        raise SolverError(f"{solver} failed: its numbers are not finite, or too large")
    return numbers


def check_product(solver: str, product: FloatArray, matrix: FloatArray) -> None:
    """Raise SolverError if the product of the factors from a solver is not the matrix."""
    off = np.abs(product - matrix).max(initial=0.0)
    if not off <= RESIDUAL * np.abs(matrix).max(initial=0.0):
        raise SolverError(f"{solver} failed: its factors are not those of the matrix")


class Guarded:
    """An object of an outside solver whose methods are all called by :func:`called`.

    Examples
    --------
    >>> Guarded("a list", [1, 2]).index(3)
    Traceback (most recent call last):
    mechdesign.errors.SolverError: a list failed: ValueError: 3 is not in list
    """

    def __init__(self, solver: str, inner: Any) -> None:
        self._solver, self._inner = solver, inner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(called, self._solver, getattr(self._inner, name))


def failure(error: BaseException) -> str:
    """Return a one-line description of a failure."""
    told = " ".join(str(error).split())[:LONGEST]
    name = type(error).__name__
    return f"{name}: {told}" if told else name

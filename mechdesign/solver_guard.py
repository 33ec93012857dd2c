"""The one way to call an outside solver: it fails with a SolverError, and its numbers are checked.

Solvers of other packages fail in ways of their own: exceptions of any class, panics of Rust, which
are no ``Exception``, arrays of another length, NaN. To everything else in the library a solver that
failed is one :class:`~mechdesign.errors.SolverError`. Wrong numbers that pass these checks do no
harm either: the repair and the checker trust no solver.

A route computes on with a solver's numbers. Where those are wrong its own arithmetic may fail, in
one of the ways of :data:`NUMERICAL`: whoever tries a route takes that for a failure of the route.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec, TypeVar

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import MechdesignError, SolverError

__all__ = ["NUMERICAL", "Guarded", "called", "check_product", "checked", "failure"]

P = ParamSpec("P")
R = TypeVar("R")

NUMERICAL = (ArithmeticError, ValueError, LookupError, MemoryError, Warning)
"""Exceptions of arithmetic on wrong numbers, or for lack of memory. A TypeError, an AttributeError
or an AssertionError is a mistake in the program, and is never taken for a failure of a solver."""

LARGEST = 1e100
"""The largest number that counts as an answer: products of a few of them are still floats."""

RESIDUAL = 1e-9
"""How far the product of factors may be from the matrix, relative to its largest entry."""

LONGEST = 200
"""Characters of a foreign message that are quoted."""

ENDS = (KeyboardInterrupt, SystemExit, GeneratorExit, MechdesignError)
"""Exceptions that pass unchanged: the end of the program, and the library's own."""


def called(solver: str, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call an outside solver.

    Parameters
    ----------
    solver
        Its name, for the message.
    function
        What to call, with the arguments that follow.

    Raises
    ------
    SolverError
        If the call raises anything, but for what ends the program.

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
    except BaseException as error:  # a panic of Rust is no Exception
        raise SolverError(f"{solver} failed: {failure(error)}") from error


def checked(solver: str, found: Any, shape: tuple[int, ...], *, finite: bool = True) -> FloatArray:
    """Return the numbers of a solver as an array of floats.

    Parameters
    ----------
    solver
        Its name, for the message.
    found
        What it returned.
    shape
        That of the array wanted.
    finite
        Whether numbers that are not finite, or above 1e100 in size, are refused too.

    Raises
    ------
    SolverError
        If these are no real numbers, too many or too few, or not finite.

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
    """Check that the product of the factors that a solver returned is the matrix.

    Raises
    ------
    SolverError
        If they differ by more than 1e-9 of the largest entry.
    """
    off = np.abs(product - matrix).max(initial=0.0)
    if not off <= RESIDUAL * np.abs(matrix).max(initial=0.0):
        raise SolverError(f"{solver} failed: its factors are not those of the matrix")


class Guarded:
    """An object of an outside solver whose methods are all called by :func:`called`.

    Parameters
    ----------
    solver
        Its name, for messages.
    inner
        The object.

    Examples
    --------
    >>> Guarded("a list", [1, 2]).index(2)
    1
    >>> Guarded("a list", [1, 2]).index(3)
    Traceback (most recent call last):
    mechdesign.errors.SolverError: a list failed: ValueError: 3 is not in list
    """

    def __init__(self, solver: str, inner: Any) -> None:
        self._solver, self._inner = solver, inner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(called, self._solver, getattr(self._inner, name))


def failure(error: BaseException) -> str:
    """Return in one line what went wrong."""
    told = " ".join(str(error).split())[:LONGEST]
    name = type(error).__name__
    return f"{name}: {told}" if told else name

"""The variance of a reading of the reports with mean f(x), exactly, for every input x."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import frexp, lcm
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel, as_channel
from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, SolverError
from mechdesign.exact import fraction_text
from mechdesign.prior import Prior, prior_on
from mechdesign.refinement.linear_system import solved
from mechdesign.solver_guard import called, checked
from mechdesign.utilities.base import MeanOrWorstCase
from mechdesign.utilities.input_values import InputValues

GUESS_BITS = 64
"""Number of binary digits of the guess that exact readings are corrected from."""

SOLVER = "CLARABEL"
TIGHT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


class ReadingVariance(MeanOrWorstCase):
    """A variance of readings of the outputs with mean f(x) for every input x."""

    @abstractmethod
    def values(self, domain: Domain) -> tuple[Fraction, ...]:
        """Return f(x) for each input, exact."""


class UnbiasedVariance(ReadingVariance):
    """The variance of v(Y), where the readings v of the outputs have E[v(Y) | x] = f(x) exactly.

    mean over the prior:  Sum_y lambda_y v_y**2 - Sum_x P_x f(x)**2;
    worst case:           max_x Sum_y Q(y|x) v_y**2 - f(x)**2.

    The mean of v over n reports is an unbiased estimate of the mean of f over the records, with 1 /
    n of this variance. The readings are those of least variance: v = D**-1 Q' M**-1 f with D =
    diag(lambda) and M = Q D**-1 Q', so the second moment is f' M**-1 f (c-optimality in the design
    of experiments). They are rational numbers with means exactly f(x).

    Parameters
    ----------
    values
        ``(n_inputs,)`` numbers f(x), a dict or a Series by label; default: the inputs themselves,
        if they are numbers.
    worst_case
        Whether to take the maximum over the inputs instead of the mean over the prior.

    Notes
    -----
    No post-processing lowers the variance, so it does not depend on the labels of the outputs.

    Source: Duchi, Jordan and Wainwright 2018 (the problem); Pukelsheim 2006, chapter 2
    (c-optimality).

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> bit = UnbiasedVariance(values=[0, 1])
    >>> bit.decoder(warner, Prior([0.5, 0.5]))
    (Fraction(-1, 2), Fraction(3, 2))
    >>> bit.value(warner, Prior([0.5, 0.5]))
    Fraction(3, 4)
    """

    name = "unbiased-variance"
    title = "variance of an unbiased reading of f(X)"
    exact = True
    definition = "value"
    needs_positive_prior = True
    states_decoder = True
    most_inputs = 129

    def __init__(
        self, values: Sequence[Any] | Mapping[Any, Any] | None = None, worst_case: bool = False
    ) -> None:
        super().__init__(worst_case)
        self._values = InputValues.of(values)

    @property
    def on_interval(self) -> str:  # type: ignore[override]
        """The reading of the number itself."""
        return "reading" if self._values.given is None else ""

    def values(self, domain: Domain) -> tuple[Fraction, ...]:
        """Return f(x) for each input, exact."""
        return self._values.numbers(domain)

    def aligned(self, domain: Domain, outputs: Sequence[Label] | None) -> UnbiasedVariance:
        """Return the utility with its values in the order of the domain."""
        values = self.values(domain)
        return self if self._values.labels is None else UnbiasedVariance(values, self.worst_case)

    def decoder(self, channel: Channel, prior: Prior) -> tuple[Fraction, ...]:
        """Return the readings v of the outputs, with mean exactly f(x) at x.

        They have the least variance of all such readings, up to rounding: on average over the
        prior, or in the worst case over the inputs.

        Raises
        ------
        InputError
            If there are none: f is not a combination of the columns of the channel.
        """
        channel = as_channel(channel)
        values, p = self.values(channel.inputs), prior_on(prior, channel.inputs).array
        weights = np.full(len(p), 1 / len(p)) if self.worst_case else p
        middle, half = (max(values) + min(values)) / 2, (max(values) - min(values)) / 2
        if not half:
            return (middle,) * len(channel.outputs)
        f = np.array([float((value - middle) / half) for value in values])
        root = np.sqrt(weights @ channel.matrix)
        root = np.where(root > 0, root, 1.0)  # an output that never occurs may have any reading
        scaled = channel.matrix / root
        guess = np.asarray(called("LAPACK", np.linalg.lstsq, scaled, f, rcond=None)[0], dtype=float)
        if self.worst_case:
            guess = _least_largest(scaled, root, f, guess)
        found = exact_readings(channel, [(v - middle) / half for v in values], guess / root)
        return tuple(middle + half * v for v in found)

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the ``[utility]`` table, values included."""
        return {**super().to_table(domain), "values": list(map(fraction_text, self.values(domain)))}

    def __repr__(self) -> str:
        values = "" if self._values.given is None else f"values={self._values!r}"
        worst = "worst_case=True" if self.worst_case else ""
        return f"{type(self).__name__}({', '.join(filter(None, [values, worst]))})"


def _least_largest(
    scaled: FloatArray, root: FloatArray, f: FloatArray, guess: FloatArray
) -> FloatArray:
    """Return the readings, times ``root``, of least maximal variance over the inputs.

    With z = root v: minimize the largest Sum_y (Q / root**2)_xy z_y**2 - f_x**2 over the z with
    (Q / root) z = f. The guess is returned if every solver fails.
    """
    import cvxpy as cp

    unit = float(np.abs(guess).max()) or 1.0
    z = cp.Variable(len(guess))
    second = (scaled / root) @ cp.square(z)
    unbiased = scaled @ z == f / unit
    program = cp.Problem(cp.Minimize(cp.max(second - f**2 / unit**2)), [unbiased])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # accuracy warnings: the variance decides
            called(SOLVER, program.solve, solver=SOLVER, **TIGHT)
        return unit * checked(SOLVER, z.value, guess.shape)
    except SolverError:
        return guess


def exact_readings(
    channel: Channel, f: Sequence[Fraction], guess: FloatArray
) -> tuple[Fraction, ...]:
    """Return readings near ``guess``, one for each output, with mean exactly f(x) at x.

    The guess is rounded to short numbers v_0. The remaining error f - Q v_0 is a combination of
    some independent columns of Q, chosen by a pivoted QR factorization to keep the correction
    small. An InputError says that there are no such readings.

    Examples
    --------
    >>> warner = Channel.from_matrix([["2/3", "1/3"], ["1/3", "2/3"]])
    >>> found = exact_readings(warner, [Fraction(0), Fraction(1)], np.array([-0.9, 2.1]))
    >>> [float(v) for v in found]
    [-1.0, 2.0]
    """
    import scipy.linalg

    N, whole = channel.numerators.astype(object), channel.denominator
    unit = lcm(*(value.denominator for value in f))
    shift = GUESS_BITS - frexp(float(np.abs(guess).max()))[1]
    start = [int(Fraction(v) * Fraction(2) ** shift) for v in guess.tolist()]
    one = Fraction(1, unit) / Fraction(2) ** shift
    shifted = [int(value / one) * whole for value in f]
    lack = np.array(shifted, dtype=object) - unit * (N @ np.array(start, dtype=object))
    size = np.sqrt(channel.matrix.sum(axis=0))
    columns = channel.matrix / np.where(size > 0, size, 1.0)
    order = called("LAPACK", scipy.linalg.qr, columns, mode="r", pivoting=True)[1]
    rows = [(dict(enumerate(row)), b) for row, b in zip(N[:, order].tolist(), lack, strict=True)]
    first = [({j: v for j, v in row.items() if j < len(f)}, b) for row, b in rows]
    found = solved(first, min(len(f), len(order))) or solved(rows, len(order))
    if found is None:
        fault = "its reports have no unbiased reading of f"
        raise InputError("channel", "rows of which f is a combination", "others", fault=fault)
    readings = [Fraction(v * unit) for v in start]
    for y, value in zip(order.tolist(), found, strict=False):
        readings[y] += value
    return tuple(v * one for v in readings)

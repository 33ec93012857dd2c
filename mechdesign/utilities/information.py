"""Information in a report: about the input, or about the parameter of a family of laws of it."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any, cast

import numpy as np

from mechdesign.errors import InputError, shown
from mechdesign.exact import as_fraction, short_text
from mechdesign.labels import Labels, split, split_matrix
from mechdesign.prior import Prior
from mechdesign.utilities.input_values import InputValues
from mechdesign.utilities.kernel_gain import KernelGain


class MutualInformation(KernelGain):
    """I(X; Y) = Sum_xy P_x Q[x,y] ln(Q[x,y] / lambda_y) in nats, maximized.

    Notes
    -----
    Source: Kairouz, Oh and Viswanath 2016, for LDP; convex in Q, so the maximum is at extreme rays.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> round(float(MutualInformation().value(warner, Prior([0.5, 0.5]))), 6)
    0.130812
    """

    name = "mutual-information"
    title = "information that Y carries about X, in nats"
    exact = True
    sense = "maximize"
    treats_inputs_alike = True


Row = tuple[Fraction, ...]

MEAN_TOLERANCE = 1e-6
"""Largest mean of a score, relative to the root of its mean square."""


class FisherInformation(KernelGain):
    """Sum_y |Sum_x P_x s(x) Q[x,y]|**2 / lambda_y, the Fisher information in Y, maximized.

    The prior P is a member of a family of laws p(x; theta), and s(x) = d/dtheta ln p(x; theta)
    there. Then d/dtheta lambda_y = Sum_x P_x s(x) Q[x,y], so the sum is the Fisher information
    about theta in one report: by the Cramer-Rao bound no unbiased estimate of theta from n reports
    has a variance below 1/n of its inverse. For several parameters it is the trace of the
    information matrix.

    Parameters
    ----------
    scores
        ``(n_inputs,)`` numbers s(x), or ``(n_inputs, n_parameters)``; a dict, a Series or a frame
        counts by label. Like every score, they have mean 0 at the prior.

    Raises
    ------
    InputError
        If the scores are invalid, or all 0.

    Notes
    -----
    It is E |s(X)|**2 minus the posterior-mean squared error of s(X), so both have the same optimal
    channels. Source: Barnes, Chen and Ozgur 2020 (Fisher information under privacy); Kalinin and
    Steinberger 2024 for the location of a Gaussian law.

    Examples
    --------
    The probability of "yes" in Warner's survey, at 1/2: the score is 1/p or -1/(1 - p).

    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> FisherInformation([2, -2]).value(warner, Prior([0.5, 0.5]))
    Fraction(1, 1)
    """

    name = "fisher-information"
    title = "Fisher information in Y about the parameter of a family of laws"
    exact = True
    sense = "maximize"

    def __init__(self, scores: Any) -> None:
        rows, labels = _read(scores)
        if not any(map(any, rows)):
            raise InputError("scores", "a nonzero score", "only zeros", fault="all scores are 0")
        super().__init__(scores=InputValues("scores", tuple(rows), labels))

    @property
    def _scores(self) -> InputValues:
        return cast(InputValues, self._arguments["scores"])

    def check_prior(self, prior: Prior) -> None:
        """Check that the scores have mean 0, as P sums to 1 at every parameter."""
        for score in zip(*(self._scores.given or ()), strict=True):
            mean, square = prior.mean(score), prior.mean([s * s for s in score])
            if abs(mean) > MEAN_TOLERANCE * sqrt(square):
                expected = "scores d/dtheta ln p(x), whose mean at the prior is 0"
                raise InputError("scores", expected, f"a mean of {short_text(mean)}")


def _read(scores: Any) -> tuple[list[Row], Labels | None]:
    """Return rows of scores, and the labels of their inputs."""
    expected = "a list of numbers, one for each input, or a list of them for several parameters"
    if not hasattr(scores, "columns"):
        entries, labels = split(scores, "scores", expected)
        if entries and not any(isinstance(e, (list, tuple, np.ndarray)) for e in entries):
            names = range(len(entries)) if labels is None else labels
            return [
                (as_fraction(s, f"scores[{shown(n)}]"),)
                for n, s in zip(names, entries, strict=True)
            ], labels
    listed, labels, _ = split_matrix(scores, "scores", expected, "a list of numbers")
    rows = [
        tuple(as_fraction(s, f"scores[{x}][{j}]") for j, s in enumerate(row))
        for x, row in enumerate(listed)
    ]
    if not rows or len(set(map(len, rows))) > 1 or not rows[0]:
        fault = "the lists of scores differ in length or are empty"
        raise InputError("scores", "as many scores for each input", "others", fault=fault)
    return rows, labels

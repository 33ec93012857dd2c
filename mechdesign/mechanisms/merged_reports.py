"""Merging of reports whose probabilities at a few inputs are proportional."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple


class MergedReports(NamedTuple):
    """The rows of a few inputs over classes of reports, for a mechanism with symmetries.

    In a class the probabilities at these inputs and their minimum over all inputs are proportional.

    Attributes
    ----------
    rows
        ``(n_rows, n_classes)`` probabilities of the classes at two inputs or more.
    least
        ``(n_classes,)`` lower bounds on the sum over the class of the least probability over
        inputs.
    pairs
        Pairs of rows that represent all ordered pairs of inputs, up to symmetry.
    inputs
        The indices of the inputs of the rows; by default the first ones.
    complete
        Whether one of the pairs, with a third input, represents every pair with a third input.
    """

    rows: tuple[tuple[Fraction, ...], ...]
    least: tuple[Fraction, ...]
    pairs: tuple[tuple[int, int], ...] = ((0, 1),)
    inputs: tuple[int, ...] = (0, 1, 2)
    complete: bool = False

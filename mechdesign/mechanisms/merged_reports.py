"""Merging of reports whose probabilities at a few inputs are proportional."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

__all__ = ["MergedReports", "merged_sets"]


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


def merged_sets(
    inside: Fraction, outside: Fraction, shares: dict[tuple[int, ...], Fraction]
) -> MergedReports:
    """Merge reports that are sets of inputs, more likely by one factor if they contain the input.

    All inputs are equivalent.

        Q(y|x) = m(y) inside if x is in y, else m(y) outside

    Parameters
    ----------
    inside, outside
        The two factors.
    shares
        The sum of m(y) for each pattern of membership of a few inputs in y.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> merged_sets(3 * half, half, {(1, 0): half, (0, 1): half}).rows
    ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    """
    present = [(bits, share) for bits, share in shares.items() if share]
    columns = [[share * (inside if b else outside) for b in bits] for bits, share in present]
    least = tuple(share * outside for _, share in present)
    return MergedReports(tuple(zip(*columns, strict=True)), least, complete=True)

"""Reports merged where a few inputs give them proportional probabilities: small tables for many."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

__all__ = ["MergedReports", "merged_sets"]


class MergedReports(NamedTuple):
    """The rows of a few inputs over classes of reports, for a mechanism with symmetries.

    In a class the probabilities at these inputs, and the least over all inputs, are proportional.

    Attributes
    ----------
    rows
        ``(n_rows, n_classes)`` probabilities of the classes at two inputs or more.
    least
        ``(n_classes,)`` sums over the class of the least probability over all inputs, or less.
    pairs
        Pairs of rows: every ordered pair of inputs is like one of them.
    inputs
        The numbers of the inputs whose rows these are; by default the first ones.
    complete
        Whether every input, beside any pair, is like one of these beside one of the pairs.
    """

    rows: tuple[tuple[Fraction, ...], ...]
    least: tuple[Fraction, ...]
    pairs: tuple[tuple[int, int], ...] = ((0, 1),)
    inputs: tuple[int, ...] = (0, 1, 2)
    complete: bool = False


def merged_sets(
    inside: Fraction, outside: Fraction, shares: dict[tuple[int, ...], Fraction]
) -> MergedReports:
    """Merge reports that are sets of inputs, likelier by one factor if they hold the own input.

    All inputs are alike.

        Q(y|x) = m(y) inside if x is in y, else m(y) outside

    Parameters
    ----------
    inside, outside
        The two factors.
    shares
        For each pattern of bits, whether each of a few inputs is in y, the sum of m(y).

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

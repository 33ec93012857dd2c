"""A sensitive attribute whose joint law with the input is known only up to a set."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Self

from mechdesign.domain import Domain, plain_label
from mechdesign.errors import InputError, UnsupportedError, listed
from mechdesign.exact import as_fraction, fraction_text
from mechdesign.labels import Labels, by_label, places
from mechdesign.notions.base import Notion
from mechdesign.notions.joint_laws.base import Attribute, check_rows, matrix_of
from mechdesign.notions.joint_laws.sets import (
    Ranges,
    ball_ranges,
    box_ranges,
    extreme_rows,
    spread_rows,
)
from mechdesign.prior import Prior, distribution, exact_numbers
from mechdesign.prior_sets import Weights

__all__ = ["UncertainAttribute"]

Table = tuple[Weights, ...]
"""P(s|x), a row for each input."""


class UncertainAttribute(Attribute):
    """What is to be protected, where P(s|x) is known up to a set: the notion holds for every law.

    The set is stated in one of three ways. The prior of the input is that of the problem.

    Parameters
    ----------
    values
        The values of S, in order.
    laws
        A list of tables P(s|x), each ``(n_inputs, n_values)`` with rows that sum to 1; or
    given_input, radius
        one such table, and how far in total variation a row may be from its own: a number, or one
        for each input; or
    lower, upper
        bounds on P(s|x), ``(n_inputs, n_values)`` each.

    Raises
    ------
    InputError
        If not exactly one way is used, or there is no law in the set.

    Notes
    -----
    It is for bounds on the lift (LIP, pointwise maximal leakage, asymmetric lift), where mixtures
    of the laws are in the set too; and for LDP of two values, or under each law of a list. See
    :mod:`mechdesign.notions.joint_laws.sets` for the proof.

    Examples
    --------
    >>> from mechdesign import LIP, Channel, Prior, SensitiveAttributePrivacy
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> rows = [[0.8, 0.2], [0.2, 0.8]]
    >>> for radius in (0, 0.1, 0.2):
    ...     illness = UncertainAttribute(["ill", "well"], given_input=rows, radius=radius)
    ...     notion = SensitiveAttributePrivacy(LIP(1), illness)
    ...     print(round(notion.leakage(warner, Prior([0.5, 0.5])), 6))
    0.356675
    0.510826
    0.693147
    """

    KEYS = ("values", "laws", "given_input", "radius", "lower", "upper")

    def __init__(
        self,
        values: Domain | Iterable[Any],
        laws: Any = None,
        given_input: Any = None,
        radius: Any = None,
        lower: Any = None,
        upper: Any = None,
    ) -> None:
        self.values = Domain.of(values, "values")
        stated = {
            "laws": laws,
            "given_input": given_input,
            "radius": radius,
            "lower": lower,
            "upper": upper,
        }
        used = [key for key, value in stated.items() if value is not None]
        if used not in (["laws"], ["given_input", "radius"], ["lower", "upper"]):
            expected = "exactly one of: laws; given_input and radius; lower and upper"
            raise InputError("given_input", expected, " and ".join(used) or "none")
        self._labels: Labels | None = None
        self._first = ""
        self._tables: dict[str, tuple[Table, ...]] = {}
        self._radii: tuple[Fraction, ...] | None = None
        if laws is not None:
            given = listed(laws, "laws", "a list of tables P(s|x)")
            if not given:
                raise InputError("laws", "at least one table", "an empty list")
            self._tables["laws"] = tuple(
                self._table(law, f"laws[{t}]", sums=True) for t, law in enumerate(given)
            )
        elif radius is not None:
            self._tables["given_input"] = (self._table(given_input, "given_input", sums=True),)
            self._radii = self._read_radii(radius)
        else:
            for key, table in (("lower", lower), ("upper", upper)):
                self._tables[key] = (self._table(table, key, sums=False),)
            self._check_box()
        self.domain = Domain([f"{n}: {label}" for n, label in self._spread_labels()])

    def _table(self, given: Any, key: str, *, sums: bool) -> Table:
        rows, inputs, columns = matrix_of(given, key)
        if columns is not None:
            order = places(columns, self.values.labels, f"{key}, columns", "value")
            rows = [[row[s] for s in order] for row in rows]
        if not self._first:
            self._first, self._labels, self._size = key, inputs, len(rows)
        elif (inputs is None) != (self._labels is None):
            raise InputError(key, "labels everywhere or nowhere", "tables with and without labels")
        elif inputs is not None and self._labels is not None:
            rows = [rows[x] for x in places(inputs, self._labels, key)]
        if len(rows) != self._size:
            expected = f"{self._size} rows, as in {self._first}"
            raise InputError(key, expected, f"{len(rows)} rows")
        found = []
        for x, row in enumerate(rows):
            numbers = exact_numbers(row, f"{key}[{x}]", size=None)
            if len(numbers) != len(self.values):
                expected = f"{len(self.values)} numbers, one for each value"
                raise InputError(f"{key}[{x}]", expected, f"{len(numbers)} numbers")
            found.append(distribution(numbers, f"{key}[{x}]") if sums else numbers)
        return tuple(found)

    def _read_radii(self, radius: Any) -> tuple[Fraction, ...]:
        expected, size = "a number in [0, 1], or one for each input", self._size
        given = list(radius) if isinstance(radius, list | tuple) else [radius] * size
        if len(given) != size:
            raise InputError("radius", f"{size} numbers, one for each input", f"{len(given)}")
        return tuple(as_fraction(r, "radius", expected=expected, least=0, most=1) for r in given)

    def _check_box(self) -> None:
        (lower,), (upper,) = self._tables["lower"], self._tables["upper"]
        for x, (low, high) in enumerate(zip(lower, upper, strict=True)):
            if any(a > b for a, b in zip(low, high, strict=True)):
                raise InputError(
                    f"upper[{x}]", f"numbers at least those of lower[{x}]", "a less one"
                )
            if not sum(low) <= 1 <= sum(high):
                expected = "bounds with sums on both sides of 1"
                given = f"sums {float(sum(low)):.6g} and {float(sum(high)):.6g}"
                raise InputError(f"lower[{x}]", expected, given)

    @property
    def _ranges(self) -> Ranges | None:
        """The ranges of P(s|x), where the set is no list."""
        if "laws" in self._tables:
            return None
        if self._radii is not None:
            return ball_ranges(self._tables["given_input"][0], self._radii)
        return box_ranges(self._tables["lower"][0], self._tables["upper"][0])

    def _laws(self) -> list[list[Weights]]:
        """Return the laws that suffice, each as P(s|x) with a row for each input."""
        ranges = self._ranges
        if ranges is None:
            return [list(law) for law in self._tables["laws"]]
        return [[(a, 1 - a) for a in row] for _, row in extreme_rows(ranges)]

    def _spread_labels(self) -> list[tuple[int, str]]:
        """Return what S' = (t, S) takes: the number of the law, and the value or what is left."""
        ranges, labels = self._ranges, [str(plain_label(v)) for v in self.values.labels]
        if ranges is None:
            return [(t + 1, label) for t in range(len(self._laws())) for label in labels]
        rest = {0: labels[1]} if len(labels) == 2 else {}
        return [
            (t + 1, label)
            for t, (s, _) in enumerate(extreme_rows(ranges))
            for label in (labels[s], rest.get(s, f"not {labels[s]}"))
        ]

    def aligned(self, inputs: Domain) -> Self:
        """Return the same with the inputs in the order of the domain."""
        if self._labels is None:
            return self
        order = places(self._labels, inputs.labels, self._first)
        found = copy.copy(self)
        found._labels = None
        found._tables = {
            key: tuple(tuple(table[x] for x in order) for table in tables)
            for key, tables in self._tables.items()
        }
        if self._radii is not None:
            found._radii = tuple(self._radii[x] for x in order)
        return found

    def spread(self, notion: Notion) -> Notion:
        """Return what a notion asks of S' = (t, S), the attribute together with the law.

        Raises
        ------
        UnsupportedError
            If the laws that suffice are not known for the notion.
        """
        ranges, labels = self._ranges, self.domain.labels
        width = len(labels) // len(self._laws())
        blocks = [labels[n : n + width] for n in range(0, len(labels), width)]
        exact = ranges is None or len(self.values) == 2
        found = notion.of_each_law(blocks, every_law=exact)
        if found is None:
            expected = "LIP, pml or lift; or ldp, of two values or with a list of laws"
            raise UnsupportedError("notion", f"for a set of joint laws {expected}", notion.name)
        return found

    def distributions(self, prior: Prior) -> tuple[Prior, list[Weights]]:
        """Return the distribution of S' = (t, S), and that of the input given each of its values.

        Raises
        ------
        InputError
            If they do not fit the prior of the input, or a value of a listed law never occurs.
        """
        check_rows(self._first, self._size, prior)
        rows = spread_rows(self._laws(), tuple(prior), listed="laws" in self._tables)
        return self._given_value(rows, prior, "laws")

    def to_table(self) -> dict[str, Any]:
        """Return the table of a problem file, numbers as exact text."""
        table: dict[str, Any] = {"values": [plain_label(v) for v in self.values.labels]}
        for key, tables in self._tables.items():
            texts = [
                by_label([[fraction_text(p) for p in row] for row in one], self._labels)
                for one in tables
            ]
            table[key] = texts if key == "laws" else texts[0]
        if self._radii is not None:
            table["radius"] = [fraction_text(r) for r in self._radii]
        return table

    def _extent(self) -> str:
        return f"{self._size} inputs, {len(self._laws())} laws"

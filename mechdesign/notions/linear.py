"""User-defined notions: any linear rows on the columns of a channel, with exponents of e."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from mechdesign.domain import Domain, clean_label, plain_label
from mechdesign.errors import InfeasibleError, InputError, check_keys, shown
from mechdesign.exact import Exact, as_fraction, exp_lower, fraction_text
from mechdesign.notions.base import Notion, budget
from mechdesign.notions.rows.family import Family
from mechdesign.notions.rows.row import Row
from mechdesign.prior import Prior

ROUNDING = Fraction(1, 10**9)
"""Exponents this close to a straight line in epsilon count as on it, in floating point."""


class LinearNotion(Notion):
    """User-defined rows: left . q <= e**exponent (right . q) for every column q of the channel.

    A subclass defines only :meth:`rows`; everything that works for the library's notions then works
    for it. Used directly, the class takes the rows as data.

    Parameters
    ----------
    rows
        Rows (name, left, exponent, right), as a :class:`Row`, a tuple, or a table with these keys.
        ``left`` and ``right`` are coefficients >= 0 by label, as a dict or a list of pairs.
    epsilon
        The budget in nats, if any. Exponents are then ``exponent + slope * epsilon``,
        with a fifth entry or key ``slope``, >= 0, for each row; at least one is positive.
    title
        The name of the notion in reports.

    Notes
    -----
    In a subclass with an attribute ``epsilon``, :meth:`rows` returns the exponents at
    ``self.epsilon``; their growth is found by evaluation at larger values. Without an epsilon the
    leakage is the largest excess ln(left . q / right . q) - exponent, at most 0 when the channel is
    private.

    Examples
    --------
    An answer may count twice as much against its neighbor as the neighbor against it:

    >>> from itertools import pairwise
    >>> from mechdesign import Channel, Domain
    >>> class Ladder(LinearNotion):
    ...     def __init__(self, epsilon):
    ...         self.epsilon = epsilon
    ...     def rows(self, domain, prior):
    ...         for low, high in pairwise(domain):
    ...             yield f"{low} against {high}", {low: 1}, self.epsilon, {high: 1}
    ...             yield f"{high} against {low}", {high: 1}, 2 * self.epsilon, {low: 1}
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> Ladder(1.2).holds(warner), Ladder(1).holds(warner)
    (True, False)
    >>> round(Ladder(1).leakage(warner), 6)  # ln 3
    1.098612
    """

    name = "linear"
    title = "rows of your own"
    example = """
title = "Each answer against others"       # what reports call the rows; optional
# left . q <= e^exponent (right . q) for the column q of every output; coefficients by label
rows = [
    { name = "0 against 1 and 2", left = { 0 = 1 }, exponent = 1, right = { 1 = "1/2", 2 = 0.5 } },
    { name = "1 against 0", left = { 1 = 1 }, exponent = 0.5, right = { 0 = 1 } },
    { name = "2 against 1", left = { 2 = 1 }, exponent = 0.5, right = { 1 = 1 } },
    { name = "1 and 3 against 2", left = { 1 = 1, 3 = 1 }, exponent = 0.2, right = { 2 = 2 } },
]
# rows = { file = "rows.csv" }      # with columns name, side, label, coefficient, exponent
# epsilon = 1.0                     # exponents are then exponent + slope * epsilon, slope by row
"""

    epsilon: Any = None
    """The budget; None without one."""

    _title = ""
    _given: tuple[Row, ...] = ()

    def __init__(self, rows: Any = None, epsilon: Exact | None = None, title: str = "") -> None:
        if rows is None and type(self).rows is LinearNotion.rows:
            fault = "there are no rows: give them, or define a class with a method rows"
            raise InputError("rows", "rows", "none", fault=fault)
        self._given = () if rows is None else tuple(_parsed(rows))
        self.epsilon = None if epsilon is None else budget(epsilon)
        if not isinstance(title, str):
            raise InputError("title", "text", shown(title))
        self._title = title

    def rows(self, domain: Domain, prior: Prior | None) -> Iterable[Any]:
        """Yield the rows, each ``(name, left, exponent, right)``: what a subclass defines.

        Parameters
        ----------
        domain
            The inputs; iteration yields their labels, the keys of coefficients.
        prior
            The prior of the problem, with the probabilities of the inputs in order.
        """
        return self._given

    @property
    def _states_data(self) -> bool:
        """Whether the rows were given as data, with slopes, rather than computed by a subclass."""
        return type(self).rows is LinearNotion.rows

    @property
    def called(self) -> str:
        """The given title, or else that of the class, or its name."""
        own = "" if self.title == LinearNotion.title else self.title
        return self._title or own or ("" if self._states_data else type(self).__name__)

    @classmethod
    def keys(cls) -> dict[str, bool]:
        """Return the keys of the ``[privacy]`` table: ``rows`` is required."""
        return {"rows": True, "epsilon": False, "title": False}

    @property
    def heading(self) -> str:
        """The name of the notion in reports."""
        return f"{LinearNotion.name} ({self.called})" if self.called else LinearNotion.name

    @property
    def has_epsilon(self) -> bool:
        """Whether it has a budget, which :meth:`at` changes."""
        return self.epsilon is not None

    def at(self, epsilon: Exact) -> LinearNotion:
        """Return the same notion with another budget."""
        found = copy.copy(self)
        found.epsilon = budget(epsilon)
        return found

    def _at_zero(self, domain: Domain, prior: Prior | None) -> list[Row]:
        """Return the exact rows by label, with their exponents at budget 0 and slopes."""
        if not self.has_epsilon:
            rows = _parsed(self.rows(domain, prior))
            if any(row.slope for row in rows):
                fault = "the rows have slopes, so a budget is needed"
                raise InputError("epsilon", "a budget", "none", fault=fault)
            return rows
        rows = list(self._given) if self._states_data else self._with_slopes(domain, prior)
        if rows and not any(row.slope > 0 for row in rows):
            fault, hint = "no exponent grows with epsilon", "state a slope, or no epsilon"
            raise InputError("rows", "a row with a slope", "none", hint, fault)
        return rows

    def _with_slopes(self, domain: Domain, prior: Prior | None) -> list[Row]:
        """Return the rows with their exponents at budget 0 and slopes; exponents must be linear."""
        epsilon = budget(self.epsilon)
        at = [_parsed(self.at(epsilon + n).rows(domain, prior)) for n in range(3)]
        found = []
        for n, (row, *further) in enumerate(zip(*at, strict=False)):
            if any((row.name, row.left, row.right) != (r.name, r.left, r.right) for r in further):
                fault = f"a name or a coefficient of {row.name} changes with epsilon"
                raise InputError(f"rows[{n}]", "fixed coefficients", row.name, fault=fault)
            one, two, three = (r.exponent for r in (row, *further))
            slope = two - one
            if slope < 0 or abs(three - two - slope) > ROUNDING * (1 + abs(three)):
                expected = "an exponent a + b * epsilon with b >= 0"
                raise InputError(f"rows[{n}].exponent", expected, row.name)
            found.append(row._replace(exponent=one - slope * epsilon, slope=slope))
        if len({len(rows) for rows in at}) > 1:
            fault = "the number of rows changes with epsilon"
            raise InputError("rows", "a fixed number of rows", "others", fault=fault)
        return found

    def check(self, domain: Domain, prior: Prior | None) -> None:
        """Reject a row that no channel satisfies.

        The columns of a channel sum to the column of ones, which therefore satisfies every row that
        all of them satisfy.
        """
        for row in self._at_zero(domain, prior):
            one, other = (sum(side.values(), Fraction(0)) for side in (row.left, row.right))
            exponent = row.exponent + row.slope * budget(self.epsilon or 0)
            if one > exp_lower(exponent) * other:
                raise InfeasibleError(
                    f"{self.name}: no channel satisfies row {row.name!r}: its coefficients sum to "
                    f"{float(one):.6g} on the left, and to {float(other):.6g} times "
                    f"e**{float(exponent):.6g} on the right"
                )

    def family(self, domain: Domain, prior: Prior | None = None) -> Family:
        """Compile to the rows, one by one, by their names and slopes."""
        stated, epsilon = self.stated(domain, prior), budget(self.epsilon or 0)
        stated.check(domain, prior)
        rows = [
            row._replace(
                left={domain.index(label): v for label, v in row.left.items()},
                exponent=row.exponent + row.slope * epsilon,
                right={domain.index(label): v for label, v in row.right.items()},
                slope=row.slope + (not self.has_epsilon),
            )
            for row in stated._given
        ]
        return Family(rows, len(domain), epsilon, has_epsilon=self.has_epsilon)

    def stated(self, domain: Domain, prior: Prior | None) -> LinearNotion:
        """Return the same notion with its rows as data."""
        placed = [
            row._replace(
                left=_relabeled(row.left, domain, f"rows[{n}].left"),
                right=_relabeled(row.right, domain, f"rows[{n}].right"),
            )
            for n, row in enumerate(self._at_zero(domain, prior))
        ]
        return LinearNotion(placed, self.epsilon, self.called)

    def to_table(self) -> dict[str, Any]:
        """Return the ``[privacy]`` table, or a substitute if the rows are defined by code.

        A saved file contains the table of :meth:`stated`, which lists the rows.
        """
        table: dict[str, Any] = {"notion": LinearNotion.name}
        if self.called:
            table["title"] = self.called
        if self.has_epsilon:
            table["epsilon"] = fraction_text(budget(self.epsilon))
        if not self._states_data:
            own = {k: v for k, v in vars(self).items() if k[0] != "_" and v is not None}
            return {**table, "attributes": own}
        return {**table, "rows": [_row_table(row) for row in self._given]}

    def __repr__(self) -> str:
        table = self.to_table()
        given = {k: table[k] for k in ("title", "epsilon") if k in table and self._states_data}
        given |= table.get("attributes", {"rows": f"<{len(self._given)}>"})
        return f"{type(self).__name__}({', '.join(f'{k}={v}' for k, v in given.items())})"


def _row_table(row: Row) -> dict[str, Any]:
    table: dict[str, Any] = {"name": row.name}
    for key, side in (("left", row.left), ("right", row.right)):
        table[key] = [[plain_label(label), fraction_text(v)] for label, v in side.items()]
    table["exponent"] = fraction_text(row.exponent)
    return {**table, "slope": fraction_text(row.slope)} if row.slope else table


def _parsed(given: Any) -> list[Row]:
    """Return rows with exact numbers and unresolved labels."""
    expected = "rows (name, left, exponent, right)"
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InputError("rows", f"a list of {expected}", shown(given))
    rows: list[Row] = []
    for n, row in enumerate(given):
        rows.append(_parsed_row(row, f"rows[{n}]", n))
    names = [row.name for row in rows]
    if len(set(names)) < len(names):
        twice = next(name for n, name in enumerate(names) if name in names[:n])
        fault = f"the name {shown(twice)} occurs twice"
        raise InputError("rows", "distinct names", shown(twice), fault=fault)
    return rows


def _parsed_row(given: Any, key: str, number: int) -> Row:
    if isinstance(given, Mapping):
        check_keys(given, key, Row._fields, required=("left", "exponent", "right"))
        parts = {"name": f"row {number}", **given}
    elif isinstance(given, tuple | list) and 4 <= len(given) <= 5:
        parts = dict(zip(Row._fields, given, strict=False))
    else:
        raise InputError(key, "a row (name, left, exponent, right)", shown(given))
    name = parts["name"]
    if not isinstance(name, str) or not name:
        raise InputError(f"{key}.name", "text", shown(name))
    slope = budget(parts.get("slope", 0), f"{key}.slope")
    left, right = (_coefficients(parts[side], f"{key}.{side}") for side in ("left", "right"))
    if not left:
        fault = "every coefficient is 0"
        raise InputError(f"{key}.left", "a nonzero coefficient", "none", fault=fault)
    return Row(name, left, as_fraction(parts["exponent"], f"{key}.exponent"), right, slope)


def _coefficients(given: Any, key: str) -> dict[Any, Fraction]:
    """Return coefficients by label, without those that are 0."""
    expected = "a table of coefficients >= 0 by label"
    pairs = given.items() if isinstance(given, Mapping) else given
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise InputError(key, expected, shown(given))
    found: dict[Any, Fraction] = {}
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(key, expected, shown(given))
        label, value = clean_label(pair[0], key), pair[1]
        if label in found:
            raise InputError(key, "distinct labels", f"{shown(label)} twice")
        found[label] = budget(value, f"{key}.{label}")
    return {label: number for label, number in found.items() if number}


def _relabeled(side: Mapping[Any, Fraction], domain: Domain, key: str) -> dict[Any, Fraction]:
    """Return coefficients by the labels of the domain, which may be given as text."""
    found: dict[Any, Fraction] = {}
    for label, value in side.items():
        x = (domain.index_of_text if isinstance(label, str) else domain.index)(label, key)
        if (own := domain.labels[x]) in found:
            raise InputError(key, "distinct labels", f"{shown(label)} twice")
        found[own] = value
    return found

"""Groups of records that share a mechanism, by distinct budgets."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np

from mechdesign._typing import Int64Array
from mechdesign.designs.solution import Solution
from mechdesign.errors import InputError, listed, shown
from mechdesign.exact import as_fraction, fraction_text
from mechdesign.prior import Prior
from mechdesign.reports import Reports
from mechdesign.sampling import SIMULATION, Randomness, stream_of

MOST_SHOWN = 12
"""Maximum number of groups in a repr."""


def distinct(values: Any, count: int, key: str) -> tuple[list[Fraction], Int64Array]:
    """Return the sorted distinct numbers in ``values``, and the index of each record's number.

    Parameters
    ----------
    values
        One number for all records, or a list or NumPy array with one for each. A float stands for
        its shortest decimal.
    count
        Number of records.

    Raises
    ------
    InputError
        If a value is not a finite number, or their number is not that of the records.

    Examples
    --------
    >>> distinct([1, 0.5, "1/2"], 3, "epsilons")
    ([Fraction(1, 2), Fraction(1, 1)], array([1, 0, 0]))
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [as_fraction(values, key)], np.zeros(count, dtype=np.int64)
    if isinstance(values, set | frozenset):
        raise InputError(key, "a list, in the order of the records", "a set")
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iuf":
        entries, places = np.unique(values, return_inverse=True)
        given = list(entries)
    else:
        known: dict[Any, int] = {}
        rows = listed(values, key, "a list of numbers")
        rows = values.tolist() if isinstance(values, np.ndarray) else rows
        tokens = (
            (type(row), row if isinstance(row, Hashable) else as_fraction(row, f"{key}[{n}]"))
            for n, row in enumerate(rows)
        )
        places = np.array([known.setdefault(one, len(known)) for one in tokens], dtype=np.int64)
        given = [row for _, row in known]
    if len(places) != count:
        expected = f"one number, or {count}: one for each record"
        raise InputError(key, expected, f"{len(places)} numbers")
    first = np.unique(places, return_index=True)[1].tolist()
    exact = [as_fraction(row, f"{key}[{n}]") for row, n in zip(given, first, strict=True)]
    return _increasing(exact, places)


def _increasing(
    numbers: Sequence[Fraction], places: Int64Array
) -> tuple[list[Fraction], Int64Array]:
    """Return the sorted distinct numbers, and the index of each record's number."""
    ordered = sorted(set(numbers))
    order = {number: n for n, number in enumerate(ordered)}
    return ordered, np.array([order[number] for number in numbers], dtype=np.int64)[places]


def rounded_down(budgets: Sequence[Fraction], places: Int64Array, levels: Any) -> list[Fraction]:
    """Return for each budget the largest level not above it.

    Privacy at the level implies privacy at the budget.

    Parameters
    ----------
    budgets
        Increasing budgets.
    places
        The index of the budget of each record.
    levels
        Levels to round down to, or the number of levels: the records are then split into parts as
        equal as ties permit, and the level of a part is its least budget.

    Raises
    ------
    InputError
        If the levels are invalid, or a budget is below all of them.

    Examples
    --------
    >>> budgets = [Fraction(n, 10) for n in (1, 2, 3, 4)]
    >>> [float(level) for level in rounded_down(budgets, np.array([0, 1, 2, 3]), 2)]
    [0.1, 0.1, 0.3, 0.3]
    """
    if isinstance(levels, Iterable) and not isinstance(levels, str):
        known = sorted({as_fraction(level, f"levels[{n}]") for n, level in enumerate(levels)})
    elif type(levels) is int and levels >= 1:
        ranked = np.sort(places)
        starts = [len(ranked) * n // levels for n in range(min(levels, len(ranked)))]
        known = sorted({budgets[ranked[start]] for start in starts})
    else:
        expected = "a list of budgets, or how many to choose: a whole number >= 1"
        raise InputError("levels", expected, shown(levels))
    if budgets and not (known and known[0] <= budgets[0]):
        least = fraction_text(known[0]) if known else "none at all"
        raise InputError("levels", f"one at most {fraction_text(budgets[0])}", f"from {least} on")
    return [known[bisect_right(known, budget) - 1] for budget in budgets]


def budgets_of(epsilons: Any, count: int, levels: Any) -> tuple[list[Fraction], Int64Array]:
    """Return the distinct budgets, rounded down to levels if given, and each record's index."""
    budgets, places = distinct(epsilons, count, "epsilons")
    if levels is None:
        return budgets, places
    return _increasing(rounded_down(budgets, places, levels), places)


M = TypeVar("M")


@dataclass(frozen=True, eq=False)
class Group(Generic[M]):
    """The records whose reports one mechanism drew.

    Attributes
    ----------
    mechanism
        The channel or mechanism that drew the reports.
    places
        The indices of the records.
    reports
        Their reports, in the same order.
    epsilon
        The budget used.
    prior
        The prior of the records, or None.
    solution
        The certified design of the mechanism; None if there is none.
    """

    mechanism: M
    places: Int64Array
    reports: Reports
    epsilon: Fraction
    prior: Prior | None = None
    solution: Solution | None = None


@dataclass(frozen=True, eq=False)
class GroupedReports:
    """Reports in groups that share a mechanism. Its repr is a table.

    Attributes
    ----------
    groups
        The groups, by increasing budget.
    """

    groups: tuple[Group[Any], ...]

    def __len__(self) -> int:
        return sum(len(group.reports) for group in self.groups)

    @property
    def simulated(self) -> bool:
        """Whether the reports were drawn from a seed and must not be released."""
        return any(group.reports.simulated for group in self.groups)

    def labels(self) -> list[Any]:
        """Return the reports as Python values, in the order of the records."""
        labels: list[Any] = [None] * len(self)
        for group in self.groups:
            for place, label in zip(group.places.tolist(), group.reports.labels(), strict=True):
                labels[place] = label
        return labels

    @abstractmethod
    def _line(self, group: Any) -> str:
        """Return the line of the repr for a group."""

    def __repr__(self) -> str:
        note = f"; {SIMULATION}" if self.simulated else ""
        head = f"{type(self).__name__}({len(self)} records in {len(self.groups)} groups{note})"
        lines = [head, *(f"  {self._line(group)}" for group in self.groups[:MOST_SHOWN])]
        return "\n".join(lines if len(self.groups) <= MOST_SHOWN else [*lines, "  ..."])


def draw_groups(
    records: Any,
    indices: Sequence[Int64Array],
    mechanism_at: Callable[..., tuple[Any, ...]],
    rng: Randomness,
    progress: bool | None,
    **how: Any,
) -> tuple[Group[Any], ...]:
    """Return the groups of records with equal indices, each drawn by its mechanism.

    ``mechanism_at`` returns the mechanism for some indices, and the further attributes of its
    group. Errors give the index of a record among all records.
    """
    from tqdm import tqdm

    shape = [int(index.max(initial=0)) + 1 for index in indices]
    keys = np.ravel_multi_index(tuple(indices), shape)
    stream, order = stream_of(rng), np.argsort(keys, kind="stable")
    different, starts = np.unique(keys[order], return_index=True)
    hidden = None if progress is None else not progress
    groups: list[Group[Any]] = []
    with tqdm(
        total=len(keys), desc="privatize", unit="record", disable=hidden, leave=False, delay=0.5
    ) as bar:
        for key, places in zip(different, np.split(order, starts[1:]), strict=False):
            own = (
                records[places] if isinstance(records, np.ndarray) else [records[n] for n in places]
            )
            mechanism, *others = mechanism_at(*np.unravel_index(key, shape))
            try:
                reports = mechanism.privatize(own, stream, **how)
            except InputError as error:
                head, _, tail = error.key.partition("[")
                if not tail.rstrip("]").isdigit():
                    raise
                raise error.at(f"{head}[{places[int(tail.rstrip(']'))]}]") from None
            groups.append(Group(mechanism, places, reports, *others))
            bar.update(len(places))
    return tuple(groups)

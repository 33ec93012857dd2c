"""The inputs of a channel: labels, whole numbers, numbers, the points of a grid, or any points."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeAlias

from mechdesign.errors import InputError, did_you_mean, listed, shown, shown_kind
from mechdesign.exact import Exact, as_fraction, fraction_text, is_whole, whole_number
from mechdesign.geography.points import (
    HAVERSINE,
    NearestPoint,
    check_metric,
    exact_points,
    great_circle,
)
from mechdesign.labels import Label, clean_label, clean_labels, first_twice, plain_label
from mechdesign.resources import check_size

if TYPE_CHECKING:
    from mechdesign._typing import AnyArray, Int64Array

__all__ = [
    "Domain",
    "DomainLike",
    "Label",
    "clean_label",
    "first_twice",
    "is_whole",
    "plain_label",
    "whole_number",
]

CELL = re.compile("[0-9]{1,9}")
"""The number of a grid point as text."""

MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.0{1,9})?")
"""A date and time without a zone, to the second."""

WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.0)?")
"""An integer as text, with or without the ``.0`` of a column of floats."""

MIDNIGHT = "00:00:00"


class Domain:
    """An ordered set of inputs, with exact coordinates if they are numeric.

    Parameters
    ----------
    values
        The labels, in order: text, integers or floats, without duplicates.

    Attributes
    ----------
    labels
        The labels as a tuple; those of a grid are pairs ``(row, column)``.
    coordinates
        1-tuples of exact rationals for numbers; ``spacing * (row, column)`` for a grid; pairs for
        points of a plane; None for text and for places on the Earth.
    positions
        The exact coordinates given to :meth:`points`; else None.
    metric
        ``"euclidean"`` or ``"haversine"`` for a domain made by :meth:`points`; else None.

    Examples
    --------
    >>> Domain(["yes", "no"])
    Domain(2 inputs: 'yes', 'no')
    >>> Domain.grid(2, 2, spacing=0.5).coordinates[3]
    (Fraction(1, 2), Fraction(1, 2))
    """

    __slots__ = (
        "_by_number",
        "_by_text",
        "_index",
        "_nearest",
        "_points",
        "grid_shape",
        "labels",
        "metric",
        "positions",
        "spacing",
    )

    labels: tuple[Label, ...]
    grid_shape: tuple[int, int] | None
    spacing: Fraction | None
    positions: tuple[tuple[Fraction, Fraction], ...] | None
    metric: str | None

    def __init__(self, values: Iterable[Any]) -> None:
        given = listed(values, "values", "a list of labels or numbers")
        check_size("inputs", len(given), "values")
        if not given:
            raise InputError("values", "at least one input", "an empty list")
        self._fill(clean_labels(given, "values"), None, None)

    def _fill(
        self,
        labels: tuple[Label, ...],
        grid_shape: tuple[int, int] | None,
        spacing: Fraction | None,
    ) -> None:
        self.labels, self.grid_shape, self.spacing = labels, grid_shape, spacing
        self.positions = self.metric = None
        self._index = {label: i for i, label in enumerate(labels)}
        # computed on first use
        self._by_number: dict[Fraction, int] | None = None
        self._by_text: dict[str, int] | None = None
        self._nearest: NearestPoint | None = None
        self._points: tuple[tuple[Fraction, ...], ...] | None = None

    @classmethod
    def of(cls, given: Any, key: str = "domain") -> Domain:
        """Return a domain unchanged, ``range(n)`` for a number of inputs, or a domain of labels.

        Raises
        ------
        InputError
            If it is neither a domain, nor a number of inputs, nor a list of labels.

        Examples
        --------
        >>> Domain.of(3), Domain.of(["yes", "no"])
        (Domain(3 inputs: 0, 1, 2), Domain(2 inputs: 'yes', 'no'))
        """
        if isinstance(given, Domain):
            return given
        if isinstance(given, Number):
            return cls.range(given)  # type: ignore[arg-type]
        expected = "a Domain, a list of labels, or the number of inputs"
        if hasattr(given, "as_domain"):
            raise InputError(key, expected, shown(given), given.as_domain)
        return cls(listed(given, key, expected))

    @classmethod
    def range(cls, size: int) -> Domain:
        """Return the domain 0, 1, ..., size - 1.

        Examples
        --------
        >>> Domain.range(21)
        Domain(21 inputs: 0, 1, 2, ..., 20)
        """
        wanted = whole_number(size, "size")
        check_size("inputs", wanted, "size")
        return cls(list(range(wanted)))

    @classmethod
    def grid(cls, rows: int, columns: int, spacing: Exact = 1) -> Domain:
        """Return the points of a grid, row by row; labels are ``(row, column)``.

        Parameters
        ----------
        rows, columns
            The number of points along each side.
        spacing
            The distance between neighbors; ``epsilon`` is per the same unit.
        """
        n, m = whole_number(rows, "grid.rows"), whole_number(columns, "grid.columns")
        check_size("inputs", n * m, "grid")
        step = as_fraction(spacing, "grid.spacing", expected="a number > 0", above=0)
        domain = cls.__new__(cls)
        domain._fill(tuple((r, c) for r in range(n) for c in range(m)), (n, m), step)
        return domain

    @classmethod
    def points(cls, coordinates: Iterable[Any], metric: str = "euclidean") -> Domain:
        """Return points of a plane or of the Earth; their labels are 0, 1, ..., n - 1.

        Parameters
        ----------
        coordinates
            ``(n, 2)`` numbers, as a list, an array or a DataFrame, without duplicates; for
            ``"haversine"`` latitude and longitude in degrees.
        metric
            ``"euclidean"``, which supports named distances and losses, or ``"haversine"``, for
            which :meth:`distance` is the great-circle distance in metres, as in
            ``MetricPrivacy(0.001, city.distance)``.

        Raises
        ------
        InputError
            If a point is invalid.

        Examples
        --------
        >>> beijing = Domain.points([[39.9, 116.4], [39.8, 116.3]], metric="haversine")
        >>> beijing, float(beijing.distance(0, 1))
        (Domain(2 points, haversine), 14018.522)
        """
        name = check_metric(metric)
        pairs = exact_points(coordinates, name)
        check_size("inputs", len(pairs), "points")
        domain = cls.__new__(cls)
        domain._fill(tuple(range(len(pairs))), None, None)
        domain.positions, domain.metric = pairs, name
        return domain

    def distance(self, one: Any, other: Any) -> Fraction:
        """Return the distance of two places on the Earth in metres, rounded down.

        Accepted wherever a function of two labels is: as a loss, or as the distance of metric
        privacy, where rounding down never weakens the guarantee.

        Raises
        ------
        InputError
            If the metric is not ``"haversine"``, or a label is not in the domain.
        """
        if self.metric != HAVERSINE or self.positions is None:
            raise InputError("distance", "points of the metric 'haversine' as the domain", self)
        x, z = self.index(one), self.index(other)
        return great_circle(self.positions[x], self.positions[z])

    @property
    def coordinates(self) -> tuple[tuple[Fraction, ...], ...] | None:
        """Points with exact coordinates, or None where the inputs are text."""
        if self._points is None:
            self._points = self._place()
        return self._points

    def _place(self) -> tuple[tuple[Fraction, ...], ...] | None:
        if self.grid_shape is not None and self.spacing is not None:
            rows, columns = ([self.spacing * n for n in range(size)] for size in self.grid_shape)
            return tuple(product(rows, columns))
        if self.positions is not None:
            return None if self.metric == HAVERSINE else self.positions
        if all(isinstance(label, int | float) for label in self.labels):
            return tuple(
                (Fraction(label) if type(label) is int else as_fraction(label),)
                for label in self.labels
            )
        return None

    @property
    def numbers(self) -> tuple[Fraction, ...] | None:
        """The exact numeric values, or None where the inputs are not numbers."""
        if self.coordinates is None or len(self.coordinates[0]) != 1:
            return None
        return tuple(point[0] for point in self.coordinates)

    @property
    def lattice(self) -> tuple[tuple[int, int], Fraction] | None:
        """The numbers of rows and columns and the spacing, or None.

        Only grids and equally spaced increasing numbers, which count as one row, form a lattice.
        """
        if self.grid_shape is not None and self.spacing is not None:
            return self.grid_shape, self.spacing
        is_whole_line = set(map(type, self.labels)) == {int} and self.positions is None
        # sums of fractions are slow
        numbers: Sequence[Any] | None = self.labels if is_whole_line else self.numbers
        if numbers is not None and len(numbers) > 1:
            step = numbers[1] - numbers[0]
            if step > 0 and all(b - a == step for a, b in pairwise(numbers)):
                return (1, len(numbers)), Fraction(step)
        return None

    def index(self, label: Any, key: str = "label") -> int:
        """Return the position of a label.

        Raises
        ------
        InputError
            If it is not in the domain; the message suggests a similar label.
        """
        wanted = clean_label(label, key)
        if wanted not in self._index:
            hint = self._same_text(wanted)
            if not hint and isinstance(wanted, str):
                hint = did_you_mean(wanted, map(str, self.labels))
            raise InputError(key, f"labels of the domain ({self.listed()})", shown(label), hint)
        return self._index[wanted]

    def code(self, record: Any, key: str) -> int:
        """Return the position of a record; an error does not quote it, since it may be private."""
        try:
            return self.index(record, key)
        except InputError:
            text = record if isinstance(record, str) else shown(record)
            is_plain = isinstance(record, str | Number)
            kind = "another value" if is_plain else f"a value of {shown_kind(type(record))}"
            hint = "a label has this text, but another type" if self._same_text(text) else ""
            given = kind if text.strip() else "an empty one"
            raise InputError(key, f"labels of the domain ({self.listed()})", given, hint) from None

    def _same_text(self, wanted: Label) -> str:
        """Return a hint if a label of another type has the same text."""
        for label in self.labels:
            if str(label) == str(wanted):
                one, other = ("number", "text") if isinstance(wanted, str) else ("text", "number")
                return f"the {one} {shown(label)} is one, the {other} {shown(wanted)} is not"
        return ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The labels as text, as in a file of records."""
        return tuple(map(str, self.labels))

    def codes(self, values: Iterable[Any], key: str = "records") -> Int64Array:
        """Return the positions of many labels.

        Parameters
        ----------
        values
            Labels: a list, a NumPy array or a pandas Series; fastest as an array of integers where
            the labels are 0, 1, ..., k - 1. The points of a grid may be given by number, row by
            row, instead of as pairs.

        Raises
        ------
        InputError
            If a label is not in the domain; the key has its position, from 0.

        Examples
        --------
        >>> Domain(["yes", "no"]).codes(["no", "no", "yes"])
        array([1, 1, 0])
        """
        import numpy as np

        if hasattr(values, "__array__"):
            values = np.asanyarray(values)  # with its mask, if it has one
            whole = values.dtype.kind in "iu" and not np.ma.is_masked(values)
            if values.ndim == 1 and whole and self._is_range():
                return self._own_codes(np.asarray(values), key)
            values = values.tolist()
        given = listed(values, key, "a list of labels of the domain", quoted=False)
        if self.grid_shape is not None and given and all(map(is_whole, given)):
            return self._own_codes(np.array(given), key)
        try:
            found = [self._index.get(value) for value in given]
        except TypeError:  # not hashable, such as a list
            found = [self._index.get(v) if isinstance(v, Hashable) else None for v in given]
        for n, (value, place) in enumerate(zip(given, found, strict=True)):
            if place is None or value is True or value is False:
                found[n] = self.code(value, f"{key}[{n}]")
        return np.array(found, dtype=np.int64)

    def _is_range(self) -> bool:
        if self.grid_shape is not None:
            return True
        return self.positions is not None or self.labels == tuple(range(len(self)))

    def _own_codes(self, values: AnyArray, key: str) -> Int64Array:
        """Return an array of positions unchanged, after a range check."""
        import numpy as np

        if values.size and (values.min() < 0 or values.max() >= len(self)):
            n = int(np.argmax((values < 0) | (values >= len(self))))
            self.code(int(values[n]), f"{key}[{n}]")
        return values.astype(np.int64, copy=False)

    def read(self, texts: Sequence[str], key: str = "records") -> Int64Array:
        """Return the positions of labels given as text, as in a file of records.

        ``"0.50"`` is the number 0.5; spaces around a label are ignored.

        Raises
        ------
        InputError
            If a label is not in the domain; the key has its position, from 0.

        Examples
        --------
        >>> Domain([0, 0.5]).read(["0.50", " 0"])
        array([1, 0])
        """
        found = self.find_texts(texts)
        for n in (found < 0).nonzero()[0][:1].tolist():
            self.code(texts[n], f"{key}[{n}]")
        return found

    def find_text(self, text: str) -> int | None:
        """Return the position of one label given as text; None if it is not in the domain."""
        place = int(self.find_texts([text])[0])
        return None if place < 0 else place

    def find_texts(self, texts: Sequence[str]) -> Int64Array:
        """Return the positions of labels given as text; -1 for text that is not in the domain.

        An integer may be given with or without ``.0``, even where labels are text. A grid point may
        be given by its number, row by row. In a domain of points a pair of coordinates stands for
        the nearest point. A date and time without a zone may be given with or without a zero
        fraction of a second; at midnight it may stand for the date, since some libraries have no
        date type.

        Raises
        ------
        InputError
            If two labels have the same text.

        Examples
        --------
        >>> Domain(["2026-01-01", "2026-01-02"]).find_texts(
        ...     ["2026-01-02 00:00:00", "2026-01-01T00:00:00.000000", "2026-01-01 06:00:00"]
        ... )
        array([ 1,  0, -1])
        """
        import numpy as np

        index = self._text_index()
        found = [index.get(text) for text in texts]
        for n, place in enumerate(found):
            if place is None:
                found[n] = self._find_written(texts[n].strip())
        rest = [n for n, place in enumerate(found) if place is None]
        if rest and self.positions is not None:
            if self._nearest is None:
                self._nearest = NearestPoint(self.positions, str(self.metric))
            for n, place in zip(rest, self._nearest.find([texts[n] for n in rest]), strict=True):
                found[n] = place
        return np.array([-1 if place is None else place for place in found], dtype=np.int64)

    def _find_written(self, text: str) -> int | None:
        """Return the position of a label in another notation; None if it is not in the domain."""
        place = self._text_index().get(text)
        if place is None and self.numbers is not None:
            if self._by_number is None:
                self._by_number = {number: n for n, number in enumerate(self.numbers)}
            with contextlib.suppress(InputError):
                place = self._by_number.get(as_fraction(text))
        if place is None and self.grid_shape is not None and CELL.fullmatch(text):
            place = int(text) if int(text) < len(self) else None
        whole = WHOLE.fullmatch(text) if place is None else None
        if whole is not None:
            place = self._text_index().get(whole[1] if whole[2] else f"{text}.0")
        moment = MOMENT.fullmatch(text) if place is None else None
        if moment is not None:
            date, time = moment.groups()
            place = self._text_index().get(f"{date} {time}")
            if place is None and time == MIDNIGHT:
                place = self._text_index().get(date)
        return place

    def index_of_text(self, text: str, key: str, *, quoted: bool = True) -> int:
        """Return the position of a label given as text.

        Parameters
        ----------
        text
            The label as a file has it.
        key
            The place in the input, for the error.
        quoted
            Whether an error quotes the text; False for cells of a file of records.

        Raises
        ------
        InputError
            If it is not in the domain, or two labels have the same text.
        """
        place = self.find_text(text)
        if place is None:
            return self.index(text, key) if quoted else self.code(text, key)
        return place

    def _text_index(self) -> dict[str, int]:
        if self._by_text is None:
            index = {text: place for place, text in enumerate(self.texts)}
            if len(index) < len(self):
                fault = f"two labels of {self!r} have the same text"
                raise InputError("domain", "distinct texts", repr(self), fault=fault)
            self._by_text = index
        return self._by_text

    def to_table(self) -> dict[str, Any]:
        """Return the ``[domain]`` table of a problem file; numbers of a grid as exact text."""
        if self.grid_shape is not None and self.spacing is not None:
            rows, columns = self.grid_shape
            spacing = fraction_text(self.spacing)
            return {"grid": {"rows": rows, "columns": columns, "spacing": spacing}}
        if self.positions is not None:
            pairs = [[fraction_text(part) for part in pair] for pair in self.positions]
            return {"points": {"coordinates": pairs, "metric": self.metric}}
        return {"values": [plain_label(x) for x in self.labels]}

    def listed(self) -> str:
        """Return a short list of the labels, without the middle ones if there are many."""
        few = len(self) <= 6
        named = self.labels if few else (*self.labels[:3], self.labels[-1])
        texts = [text if len(text) <= 100 else f"{text[:97]}..." for text in map(repr, named)]
        return ", ".join(texts if few else [*texts[:3], "...", texts[-1]])

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Label]:
        return iter(self.labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Domain):
            return NotImplemented
        mine, theirs = (
            (each.grid_shape, each.spacing, each.positions, each.metric) for each in (self, other)
        )
        return self.labels == other.labels and mine == theirs

    def __hash__(self) -> int:
        return hash(self.labels)

    def __repr__(self) -> str:
        if self.grid_shape is not None and self.spacing is not None:
            rows, columns = self.grid_shape
            return f"Domain(grid {rows} x {columns}, spacing {fraction_text(self.spacing)})"
        if self.positions is not None:
            return f"Domain({len(self)} point{'s' * (len(self) > 1)}, {self.metric})"
        return f"Domain({len(self)} input{'s' * (len(self) > 1)}: {self.listed()})"


DomainLike: TypeAlias = Domain | Iterable[Any] | int
"""A domain, its labels, or its size."""

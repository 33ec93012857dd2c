"""Labels of inputs and outputs, and alignment of labeled numbers.

A dict, a pandas Series and a DataFrame carry labels; a list and an array are positional. Labels
take precedence: numbers whose labels differ from those of the inputs are rejected, never read by
position. Every part of the library that takes numbers for inputs or outputs reads them here. pandas
is not imported: an object with an ``index`` counts as a Series or a frame.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from mechdesign.errors import InputError, UnsupportedError, listed, shown
from mechdesign.exact import as_fraction, is_whole

if TYPE_CHECKING:
    import pandas as pd

Label = Hashable
"""A label is text, a number, or a pair ``(row, column)``."""

Labels = tuple[Label, ...]

Split = tuple[list[Any], Labels | None]
"""Entries in the order given, and their labels; None for positional entries."""

T = TypeVar("T")

MOST_NAMED = 3

LARGE = 10**18
"""Integers below it need no further check."""


def clean_label(value: Any, key: str) -> Label:
    """Return ``value`` as a plain label: text, int, float, or a tuple of them."""
    if isinstance(value, str) or (type(value) is int and abs(value) < LARGE):
        return value
    if isinstance(value, list | tuple) and value:
        if any(isinstance(part, list | tuple) for part in value):
            raise InputError(key, "labels that are text, numbers, or lists of them", shown(value))
        return tuple(clean_label(part, key) for part in value)
    number = as_fraction(value, key, expected="labels that are text or finite numbers")
    return int(number) if is_whole(value) else float(number)


def clean_labels(given: Any, key: str, expected: str = "a list of labels") -> Labels:
    """Return labels without duplicates."""
    clean = tuple(clean_label(label, key) for label in listed(given, key, expected))
    if len(set(clean)) < len(clean):
        twice = shown(first_twice(clean))
        raise InputError(key, "distinct labels", twice, fault=f"{twice} occurs twice")
    return clean


def first_twice(labels: Iterable[Label]) -> Label:
    """Return the first duplicate label; None if all labels differ."""
    seen: set[Label] = set()
    for label in labels:
        if label in seen:
            return label
        seen.add(label)
    return None


def plain_label(label: Label) -> Any:
    """Return a label for JSON: pairs as lists."""
    return [plain_label(part) for part in label] if isinstance(label, tuple) else label


def labels_of(given: Any, key: str = "labels") -> Labels | None:
    """Return the labels of numbers: keys of a dict, the index of a Series or a frame; or None."""
    index = given.keys() if isinstance(given, Mapping) else getattr(given, "index", None)
    if index is None or callable(index):  # lists and arrays; `index` is a method of lists
        return None
    return clean_labels(index, key)


def check_index(records: Any, given: Any, key: str) -> None:
    """Check that numbers for records have the index of the records, if both have an index."""
    one, other = (getattr(entries, "index", None) for entries in (records, given))
    if one is None or other is None or callable(one) or callable(other):
        return
    if list(one) != list(other):
        hint = "to_numpy() counts by position"
        fault = "the index differs from that of the records"
        raise InputError(key, "the index of the records", "another index", hint, fault)


def split(given: Any, key: str, expected: str) -> Split:
    """Return the entries of numbers in the order given, and their labels."""
    labels = labels_of(given, key)
    if isinstance(given, set | frozenset) or _is_frame(given):
        raise InputError(key, expected, f"a {type(given).__name__}")
    if isinstance(given, Mapping):
        return list(given.values()), labels
    # a Series would convert 32-bit floats to doubles that print longer
    entries = given.to_numpy() if hasattr(given, "to_numpy") else given
    return listed(entries, key, expected), labels


def split_matrix(
    given: Any, key: str, expected: str, row_expected: str
) -> tuple[list[list[Any]], Labels | None, Labels | None]:
    """Return the rows of a matrix, the labels of its rows and those of its columns.

    It is a frame, or a list or a dict of rows, each of which may be a dict or a Series; their
    lengths are not compared. ``key``, ``expected`` and ``row_expected`` are for errors.
    """
    if _is_frame(given):
        if not hasattr(given, "index"):
            hint = "to_numpy() counts by position"
            fault = "the rows of this data frame have no labels"
            raise InputError(key, "a frame with an index", "none", hint, fault)
        columns = clean_labels(given.columns, f"{key}.columns")
        return [list(row) for row in given.to_numpy()], labels_of(given, key), columns
    listed, labels = split(given, key, expected)
    names = range(len(listed)) if labels is None else map(shown, labels)
    keys = [f"{key}[{name}]" for name in names]
    rows = [split(row, name, row_expected) for name, row in zip(keys, listed, strict=True)]
    if len({frozenset(row_labels or ()) for _, row_labels in rows}) > 1:
        fault = "the rows have different labels"
        raise InputError(key, "the same labels in each row", "others", fault=fault)
    names_of_columns = rows[0][1] if rows else None
    if names_of_columns is None:
        return [row for row, _ in rows], labels, None
    ordered = [aligned(*row, names_of_columns, name) for name, row in zip(keys, rows, strict=True)]
    return ordered, labels, names_of_columns


def places(labels: Labels, wanted: Sequence[Label], key: str, what: str = "input") -> list[int]:
    """Return the position of each wanted label among the given ones.

    Examples
    --------
    >>> places(("no", "maybe"), ["yes", "no"], "prior")
    Traceback (most recent call last):
    mechdesign.errors.InputError: prior: expected one entry for each input, by its label, given none
    for 'yes', and 'maybe', which is no input
    """
    index = {label: place for place, label in enumerate(labels)}
    missing = [label for label in wanted if label not in index]
    extra = index.keys() - set(wanted)
    if missing or extra:
        parts = [f"none for {_named(missing)}"] if missing else []
        unknown = [label for label in labels if label in extra]
        no = f"which {'is' if len(extra) == 1 else 'are'} no {what}{'s' * (len(extra) > 1)}"
        parts += [f"{_named(unknown)}, {no}"] if unknown else []
        raise InputError(key, f"one entry for each {what}, by its label", ", and ".join(parts))
    return [index[label] for label in wanted]


def aligned(
    values: Sequence[T],
    labels: Labels | None,
    wanted: Sequence[Label],
    key: str,
    what: str = "input",
    entries: str = "numbers",
) -> list[T]:
    """Return values in the order of the wanted labels, or unchanged if they have none.

    ``what`` has the labels and what the ``entries`` are go into the error.
    """
    if labels is not None:
        return [values[place] for place in places(labels, wanted, key, what)]
    if len(values) != len(wanted):
        expected = f"{len(wanted)} {entries}, one for each {what}"
        raise InputError(key, expected, f"{len(values)} {entries}")
    return list(values)


def by_label(values: Sequence[T], labels: Labels | None) -> list[T] | dict[Label, T]:
    """Return values in a form that can be read again: a list, or a dict sorted by label.

    The result does not depend on the order of a given dict.
    """
    if labels is None:
        return list(values)
    pairs = zip(labels, values, strict=True)
    return dict(sorted(pairs, key=lambda pair: repr(pair[0])))


def data_frame(data: Any, index: Sequence[Label], columns: Sequence[Label]) -> pd.DataFrame:
    """Return a pandas DataFrame whose labels may be pairs."""
    try:
        import pandas as pd
    except ImportError:
        hint = "pip install pandas"
        raise UnsupportedError("to_frame", "pandas to be installed", "none", hint) from None
    rows, names = (pd.Index(labels, tupleize_cols=False) for labels in (index, columns))
    return pd.DataFrame(data, index=rows, columns=names)


def _is_frame(given: Any) -> bool:
    return hasattr(given, "columns") and hasattr(given, "to_numpy")


def _named(labels: Sequence[Label]) -> str:
    named = ", ".join(map(shown, labels[:MOST_NAMED]))
    more = len(labels) - MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named

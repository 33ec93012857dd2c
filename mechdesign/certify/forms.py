"""Forms: what the values of a saved file may be, of which `schema` makes the tables of a file.

A form refuses every value but its own, and says in a few words what that is; the docs print these
words. A table is closed: it has every key that is required, and no key that it does not name.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import Any, ClassVar

from mechdesign.certify.packed import is_packed
from mechdesign.errors import CertificateError

__all__ = [
    "BUDGET",
    "COUNT",
    "EXACT",
    "INDEX",
    "LABEL",
    "NUMBER",
    "SIGNED",
    "SIZE",
    "TEXT",
    "TRUTH",
    "WHOLE",
    "AnyOf",
    "Fixed",
    "Form",
    "Leaf",
    "ListOf",
    "MapOf",
    "Row",
    "Table",
    "Variants",
    "exact_number",
    "list_or_packed",
    "or_null",
]

LARGEST = 1 << 53
"""Integers of JSON are below it: other readers keep 53 bits only."""

LONGEST = 2000
"""Characters of an exact number, at most."""

LEAST_SIZE, MOST_SIZE = Fraction("1e-300"), Fraction("1e100")
"""Exact numbers are 0 or between these in size."""

DECIMAL_OR_RATIO = re.compile(r"-?[0-9]+((\.[0-9]+)?(e[+-]?[0-9]{1,3})?|/[0-9]+)")


def exact_number(value: Any) -> Fraction:
    """Return the rational that a number or exact text stands for.

    A float stands for the shortest decimal that prints as it.

    Raises
    ------
    CertificateError
        If it is neither.

    Examples
    --------
    >>> exact_number("1/3"), exact_number("2.5e-1"), exact_number(0.1)
    (Fraction(1, 3), Fraction(1, 4), Fraction(1, 10))
    """
    if type(value) is str and len(value) <= LONGEST:
        found = _of_text(value)
        if found is not None:
            return found
    elif type(value) in (int, Fraction):
        return Fraction(value)
    elif isinstance(value, float) and isfinite(value):
        return Fraction(float.__repr__(value))
    raise CertificateError(f"expected an exact number, found {value!r:.60}")


@lru_cache(maxsize=4096)
def _of_text(text: str) -> Fraction | None:
    """Return the rational that text stands for, None for none; kept, as forms are read first."""
    if not DECIMAL_OR_RATIO.fullmatch(text):
        return None
    top, _, bottom = text.partition("/")
    if bottom and not bottom.strip("0"):
        return None
    found = Fraction(int(top), int(bottom)) if bottom else Fraction(text)
    return found if found == 0 or LEAST_SIZE <= abs(found) <= MOST_SIZE else None


class Form(ABC):
    """What a value may be."""

    says: str
    """The form in a few words."""

    holds_parts: ClassVar[type | None] = None
    """``list`` or ``dict`` for forms of values with parts."""

    @abstractmethod
    def check(self, value: Any, place: str) -> None:
        """Raise CertificateError unless ``value``, which stands at ``place``, is of the form."""

    def accepts(self, value: Any) -> bool:
        """Return whether a value is of the form."""
        try:
            self.check(value, "")
        except CertificateError:
            return False
        return True

    def refused(self, value: Any, place: str) -> CertificateError:
        """Return the error that names the form, and what is there instead."""
        return self.wrong(place, f"expected {self.says}, found {value!r:.60}")

    @staticmethod
    def wrong(place: str, words: str) -> CertificateError:
        """Return the error that names a place; that of the whole file has no name."""
        return CertificateError(f"{place}: {words}" if place else words)


class Plain(Form):
    """The form of values whose parts, if any, have no forms of their own, as ``holds`` decides."""

    holds: Callable[[Any], bool]

    def check(self, value: Any, place: str) -> None:
        """Raise unless it holds."""
        if not self.holds(value):
            raise self.refused(value, place)


@dataclass(frozen=True)
class Leaf(Plain):
    """A form with a name."""

    says: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class Fixed(Plain):
    """One value, and its type: 1 is neither ``true`` nor 1.0."""

    value: Any

    @property
    def says(self) -> str:  # type: ignore[override]
        """The value as JSON."""
        return json.dumps(self.value)

    def holds(self, value: Any) -> bool:
        """Return whether it is the value."""
        return type(value) is type(self.value) and bool(value == self.value)


@dataclass(frozen=True)
class ListOf(Form):
    """A list of any length, at least ``least``, whose entries have one form."""

    part: Form
    least: int = 0
    holds_parts: ClassVar[type | None] = list

    @property
    def says(self) -> str:  # type: ignore[override]
        """``list of`` and the form of an entry."""
        words = self.part.says
        if " or " in words:
            words = f"({words})"
        return f"{'nonempty ' if self.least else ''}list of {words}"

    def check(self, value: Any, place: str) -> None:
        """Raise unless every entry is of the form."""
        if type(value) is not list or len(value) < self.least:
            raise self.refused(value, place)
        if isinstance(self.part, Plain) and all(map(self.part.holds, value)):
            return  # a file may hold millions
        for n, part in enumerate(value):
            self.part.check(part, f"{place}[{n}]")


@dataclass(frozen=True)
class Row(Form):
    """A list with a form for each place."""

    parts: Sequence[Form]
    holds_parts: ClassVar[type | None] = list

    @property
    def says(self) -> str:  # type: ignore[override]
        """The forms in brackets."""
        return f"[{', '.join(part.says for part in self.parts)}]"

    def check(self, value: Any, place: str) -> None:
        """Raise unless there is one entry for each place, of its form."""
        if type(value) is not list or len(value) != len(self.parts):
            raise self.refused(value, place)
        for n, (form, part) in enumerate(zip(self.parts, value, strict=True)):
            form.check(part, f"{place}[{n}]")


@dataclass(frozen=True)
class AnyOf(Form):
    """One of several forms, none a choice itself, which may have a name together."""

    forms: Sequence[Form]
    name: str = ""

    @property
    def says(self) -> str:  # type: ignore[override]
        """The name, or all of the forms."""
        return self.name or self.choices

    @property
    def choices(self) -> str:
        """All of the forms."""
        return ", ".join(form.says for form in self.forms[:-1]) + f" or {self.forms[-1].says}"

    def check(self, value: Any, place: str) -> None:
        """Raise unless one of the forms accepts it."""
        plain = [form for form in self.forms if isinstance(form, Plain)]
        others = [form for form in self.forms if form.holds_parts is type(value)]
        if any(form.holds(value) for form in plain):
            return
        if len(others) == 1:  # it says what is wrong in the value
            others[0].check(value, place)
        elif not any(form.accepts(value) for form in others):
            raise self.refused(value, place)


def or_null(form: Form) -> AnyOf:
    """Return the form of null, or what has another form."""
    return AnyOf([Fixed(None), form])


def list_or_packed(part: Form, types: Mapping[str, str]) -> AnyOf:
    """Return the form of a list, or of text that by its looks is one (`certify.packed`)."""
    packed = Leaf(f"packed {', '.join(types)}", lambda value: is_packed(value, types))
    return AnyOf([ListOf(part), packed])


@dataclass(frozen=True)
class MapOf(Form):
    """A table whose keys are numbers from 0 as text, in decimals."""

    part: Form
    holds_parts: ClassVar[type | None] = dict

    @property
    def says(self) -> str:  # type: ignore[override]
        """``table by number of`` and the form of an entry."""
        return f"table by number of {self.part.says}"

    def check(self, value: Any, place: str) -> None:
        """Raise unless every key is a number, and every entry of the form."""
        if type(value) is not dict:
            raise self.refused(value, place)
        for key, part in value.items():
            WHOLE.check(key, f"{place}: a key")
            self.part.check(part, f"{place}.{key}")


@dataclass(frozen=True)
class Table(Form):
    """A closed table: the keys that it must have, those that it may have, and no others.

    Attributes
    ----------
    says
        Its name.
    required, optional
        The form of each key.
    """

    says: str
    required: Mapping[str, Form]
    optional: Mapping[str, Form] = field(default_factory=dict)
    holds_parts: ClassVar[type | None] = dict

    @property
    def keys(self) -> dict[str, Form]:
        """The form of each key, required or not."""
        return {**self.required, **self.optional}

    def is_named_by(self, value: Mapping[str, Any]) -> bool:
        """Return whether no entry contradicts a fixed one of the table."""
        fixed = {key: form for key, form in self.required.items() if isinstance(form, Fixed)}
        return all(form.holds(value[key]) for key, form in fixed.items() if key in value)

    def misfit(self, value: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with the keys of a value, each in a phrase; empty if nothing is."""
        spare = [f"{key!r:.60} is no key of {self.says}" for key in value if key not in self.keys]
        missing = [f"{self.says} has no {key!r}" for key in self.required if key not in value]
        return spare + missing

    def check(self, value: Any, place: str) -> None:
        """Raise unless it has the keys of the table, each of its form."""
        if type(value) is not dict:
            raise self.refused(value, place)
        for wrong in self.misfit(value):
            raise self.wrong(place, wrong)
        keys = self.keys
        for key, entry in value.items():
            keys[key].check(entry, f"{place}.{key}" if place else key)


@dataclass(frozen=True)
class Variants(Form):
    """One of several closed tables, told apart by their fixed entries and their keys.

    Attributes
    ----------
    says
        What all of them are.
    tables
        The tables.
    """

    says: str
    tables: Sequence[Table]
    holds_parts: ClassVar[type | None] = dict

    def find(self, value: Any, place: str) -> Table:
        """Return the table whose keys and fixed entries a value has.

        Raises
        ------
        CertificateError
            If there is none.
        """
        if type(value) is not dict:
            raise self.refused(value, place)
        named = [table for table in self.tables if table.is_named_by(value)]
        wrong = [table.misfit(value) for table in named]
        if [] in wrong:
            return named[wrong.index([])]
        for key, entry in value.items():
            known = [table.required[key] for table in self.tables if key in table.required]
            fixed = [form for form in known if isinstance(form, Fixed)]
            if fixed and fixed == known and not any(form.holds(entry) for form in fixed):
                raise self.wrong(place, f"the {key} {entry!r:.60} is not known")
        closest = min(wrong, key=len)[0] if wrong else f"this is no {self.says}"
        raise self.wrong(place, closest)

    def check(self, value: Any, place: str) -> None:
        """Raise unless it is one of the tables."""
        self.find(value, place).check(value, place)


def _is_text(value: Any) -> bool:
    """Return whether a value is text; halves of a surrogate pair are no characters."""
    return type(value) is str and not any("\ud800" <= c <= "\udfff" for c in value)


def _is_number(value: Any) -> bool:
    return (type(value) is float and isfinite(value)) or _is_integer(value)


def _is_integer(value: Any) -> bool:
    return type(value) is int and -LARGEST < value < LARGEST


def _is_exact(value: Any) -> bool:
    try:
        exact_number(value)
    except CertificateError:
        return False
    return type(value) is str


def _is_label(value: Any) -> bool:
    if type(value) is list:
        return bool(value) and all(type(part) is not list and _is_label(part) for part in value)
    if type(value) is int:
        return abs(value) <= MOST_SIZE
    if type(value) is float:
        return value == 0 or bool(LEAST_SIZE <= abs(value) <= MOST_SIZE)
    return _is_text(value)


def _is_whole(value: Any) -> bool:
    return type(value) is str and re.fullmatch("0|[1-9][0-9]*", value) is not None


def _is_signed(value: Any) -> bool:
    return type(value) is str and re.fullmatch("0|-?[1-9][0-9]*", value) is not None


TEXT = Leaf("text", _is_text)
TRUTH = Leaf("true or false", lambda value: type(value) is bool)
NUMBER = Leaf("number", _is_number)
SIZE = Leaf("number >= 0", lambda value: _is_number(value) and value >= 0)
INDEX = Leaf("index", lambda value: _is_integer(value) and value >= 0)
COUNT = Leaf("count", lambda value: _is_integer(value) and value >= 1)
EXACT = Leaf("exact", _is_exact)
BUDGET = Leaf("exact >= 0", lambda value: _is_exact(value) and value[0] != "-")
WHOLE = Leaf("whole", _is_whole)
SIGNED = Leaf("signed whole", _is_signed)
LABEL = Leaf("label", _is_label)

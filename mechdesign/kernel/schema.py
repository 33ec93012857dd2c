"""The keys of a saved file, read from the dataclasses that hold them.

A file is a tree of tables. Each kind of table is one frozen dataclass here in the kernel, and its
annotations are the whole grammar: :func:`read` makes the object from JSON or refuses it in one line
that names the place, :func:`write` makes JSON from the object, and :func:`describe` prints the keys
for docs/certificates.md. A table is closed: every field without a default must be there, and no
other key may be.

| annotation | JSON |
|---|---|
| ``Fraction`` | a number, or exact text: ``"1/3"``, ``"0.25"`` |
| ``Whole`` | an integer >= 0 as text, of any length that the limits allow |
| ``Signed`` | an integer as text, of any length that the limits allow |
| ``float`` | a number of JSON, as it is |
| ``int`` | an integer >= 0 below 2**53 |
| ``str``, ``bool`` | the same |
| ``Label`` | text, a number, or a list of these (two integers for a point of a grid) |
| ``Json`` | anything (only quoted, never believed) |
| ``Places``, ``Numbers``, ``Weights`` | integers >= 0, numbers, numbers >= 0: a list, or packed |
| ``T | None`` | null, or T |
| ``tuple[T, ...]``, ``tuple[A, B]`` | a list |
| ``dict[str, T]`` | a table with any keys |
| ``Literal["a", "b"]`` | one of the words |
| a dataclass | a table; of several in a union the one whose ``kind`` the key ``"kind"`` names |

A union may name its tag differently (``tag = "notion"``), and may have one dataclass without a
``kind``: it takes every table whose tag is not the kind of another.
"""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

from mechdesign.errors import CertificateError
from mechdesign.kernel.packed import (
    LARGEST,
    Numbers,
    Places,
    Weights,
    exact,
    packed,
    refused,
    unpacked,
    written,
)

Label = NewType("Label", object)
"""An input or an output: text, a number, or the row and the column of a point of a grid."""

Json = NewType("Json", object)
"""A value that the kernel does not interpret."""

Whole = NewType("Whole", int)
"""An integer of any length, which JSON holds as text."""

Signed = NewType("Signed", int)
"""The same, or a negative one."""

MOST_DIGITS = 4096
"""Digits of an integer in text, at most."""


# ---- reading -----------------------------------------------------------------------------------


def read(form: Any, value: Any, place: str = "") -> Any:
    """Return the object of an annotation that a value in JSON stands for.

    Parameters
    ----------
    form
        A dataclass, or any annotation of the table above.
    value
        What a file holds.
    place
        Where it stands, for the error.

    Raises
    ------
    CertificateError
        If the value is not of that form.
    """
    return _reader(form)(value, place)


Reader = Callable[[Any, str], Any]


@cache
def _reader(form: Any) -> Reader:
    origin, parts = get_origin(form), get_args(form)
    if form in _LEAVES:
        return _LEAVES[form][1]
    if origin in (Union, types.UnionType):
        return _union(parts)
    if origin is Literal:
        words = ", ".join(repr(word) for word in parts)
        return _leaf(f"one of {words}", lambda v: type(v) is str and v in parts)[1]
    if origin is tuple:
        return _sequence(parts)
    if origin is dict:
        return _mapping(_reader(parts[1]))
    if dataclasses.is_dataclass(form):
        return _table(form)
    raise TypeError(f"no form in a file is known for the annotation {form!r}")


def _leaf(
    words: str,
    holds: Callable[[Any], bool],
    make: Callable[[Any], Any] | None = None,
    expected: str = "",
) -> tuple[str, Reader]:
    """Return a form in words, and the reader of what holds, which makes something of it."""

    def reader(value: Any, place: str) -> Any:
        if not holds(value):
            raise refused(expected or words, value, place)
        return value if make is None else make(value)

    return words, reader


def _is_index(value: Any) -> bool:
    return type(value) is int and 0 <= value < LARGEST


def _is_number(value: Any) -> bool:
    if type(value) is float:
        return isfinite(value)
    return type(value) is int and abs(value) < LARGEST


def _is_label(value: Any) -> bool:
    parts = value if isinstance(value, list) else [value]
    return bool(parts) and all(type(v) is str or _is_number(v) for v in parts)


def _is_whole(value: Any) -> bool:
    digits = type(value) is str and value.isascii() and value.isdigit()
    return digits and len(value) <= MOST_DIGITS


def _is_signed(value: Any) -> bool:
    return type(value) is str and _is_whole(value.removeprefix("-"))


_LEAVES: dict[Any, tuple[str, Reader]] = {
    Fraction: ("number", exact),
    int: _leaf("integer", _is_index, expected="an integer >= 0"),
    bool: _leaf("true or false", lambda v: type(v) is bool),
    str: _leaf("text", lambda v: type(v) is str),
    type(None): _leaf("null", lambda v: v is None),
    Json: ("anything", lambda value, _: value),
    Label: _leaf("label", _is_label, lambda v: tuple(v) if isinstance(v, list) else v, "a label"),
    Whole: _leaf("integer >= 0 as text", _is_whole, int, "an integer as text"),
    Signed: _leaf("integer as text", _is_signed, int, "an integer as text"),
    float: _leaf("number", _is_number, expected="a number"),
    Places: ("integers", lambda value, place: unpacked(value, Places, place)),
    Numbers: ("numbers", lambda value, place: unpacked(value, Numbers, place)),
    Weights: ("numbers >= 0", lambda value, place: unpacked(value, Weights, place)),
}
"""The leaves of files: each in words, and its reader."""


def _sequence(parts: tuple[Any, ...]) -> Reader:
    many = parts[-1] is Ellipsis
    entries = [_reader(part) for part in parts if part is not Ellipsis]
    first = entries[0]

    def reader(value: Any, place: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or not (many or len(value) == len(entries)):
            raise refused("a list" if many else f"a list of {len(entries)}", value, place)
        if many:
            return tuple([first(item, place) for item in value])
        return tuple(entry(item, place) for entry, item in zip(entries, value, strict=True))

    return reader


def _mapping(entry: Reader) -> Reader:
    def reader(value: Any, place: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise refused("a table", value, place)
        return {key: entry(item, f"{place}.{key}") for key, item in value.items()}

    return reader


def _union(parts: tuple[Any, ...]) -> Reader:
    members: list[Any] = [part for part in parts if dataclasses.is_dataclass(part)]
    tables = {part.kind: _reader(part) for part in members if hasattr(part, "kind")}
    fallback = next((_reader(part) for part in members if not hasattr(part, "kind")), None)
    tag = next((_tag(part) for part in members), "kind")
    plain = [_reader(part) for part in parts if part not in (*members, type(None))]

    def reader(value: Any, place: str) -> Any:
        if value is None and type(None) in parts:
            return None
        if isinstance(value, dict) and members:
            kind = value.get(tag)
            found = tables.get(kind, fallback) if type(kind) is str else fallback
            if found is None:
                raise refused(f"a {tag} among {', '.join(tables)}", kind, place)
            return found(value, place)
        for other in plain[:-1]:
            with suppress(CertificateError):
                return other(value, place)
        if plain:
            return plain[-1](value, place)
        raise refused("a table", value, place)

    return reader


def _tag(form: Any) -> str:
    return str(getattr(form, "tag", "kind"))


@cache
def _keys(form: Any) -> dict[str, tuple[str, Any, Any]]:
    """Return of each key of a table the field, its annotation, and its default, or MISSING.

    The tag of a kind is a key without a field.
    """
    hints, found = get_type_hints(form), dict[str, tuple[str, Any, Any]]()
    if hasattr(form, "kind"):
        found[_tag(form)] = "", Literal[form.kind], dataclasses.MISSING
    for f in dataclasses.fields(form):
        if f.init:
            make = f.default_factory
            default = f.default if make is dataclasses.MISSING else make()
            found[f.metadata.get("key", f.name)] = f.name, hints[f.name], default
    return found


def _table(form: Any) -> Reader:
    def reader(value: Any, place: str) -> Any:
        if not isinstance(value, dict):
            raise refused(f"a table: {table_name(form)}", value, place)
        keys, given, inside = _keys(form), dict[str, Any](), f"{place}." if place else ""
        for key, item in value.items():
            if key not in keys:
                raise CertificateError(f"{inside}{key}: {table_name(form)} has no such key")
            name, hint, _ = keys[key]
            given[name] = _reader(hint)(item, inside + key)
        for key, (name, _, default) in keys.items():
            if name not in given and default is dataclasses.MISSING:
                raise CertificateError(f"{place + ': ' if place else ''}the key {key!r} is missing")
        given.pop("", None)
        return form(**given)

    return reader


def table_name(form: Any) -> str:
    """Return what messages and docs call a table."""
    return str(
        getattr(form, "kind", None) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", form.__name__).lower()
    )


# ---- writing -----------------------------------------------------------------------------------


def _written(value: Any, form: Any) -> Any:
    """Return the JSON of a field: integers of any length are text."""
    if form in (Whole, Signed):
        return str(value)
    if get_origin(form) is tuple and get_args(form)[1:] == (Ellipsis,):
        return [_written(v, get_args(form)[0]) for v in value]
    return write(value)


def write(value: Any) -> Any:
    """Return the JSON of an object: the inverse of :func:`read`.

    Keys that have their default are left out.

    Examples
    --------
    >>> write((Fraction(1, 3), Fraction(2), None))
    ['1/3', 2, None]
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        table: dict[str, Any] = {}
        for key, (name, hint, default) in _keys(type(value)).items():
            content = getattr(value, name or "kind")
            if content != default:
                table[key] = _written(content, hint)
        return table
    if isinstance(value, Places | Numbers):
        return packed(value)
    if isinstance(value, tuple | list):
        return [write(item) for item in value]
    if isinstance(value, dict):
        return {key: write(item) for key, item in value.items()}
    return written(value) if isinstance(value, Fraction) else value


# ---- describing --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    """A key of a table, for the documentation."""

    name: str
    form: str
    required: bool


def describe(form: Any) -> list[Key]:
    """Return the keys of a table, in order, each with its form in words."""
    return [
        Key(key, _words(hint), default is dataclasses.MISSING)
        for key, (_, hint, default) in _keys(form).items()
    ]


def _words(form: Any) -> str:
    origin, parts = get_origin(form), get_args(form)
    if form in _LEAVES:
        return _LEAVES[form][0]
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_words, parts)))
    if origin is Literal:
        return " or ".join(f'"{word}"' for word in parts)
    if origin is tuple and parts[-1] is Ellipsis:
        return f"list of {_words(parts[0])}"
    if origin is tuple:
        return f"[{', '.join(map(_words, parts))}]"
    if origin is dict:
        return f"table of {_words(parts[1])}"
    return table_name(form)

"""The keys of a saved file, defined by dataclasses and function signatures.

A file is a tree of tables. Each kind of table is a frozen dataclass of the kernel, or a function
with keyword arguments, and its annotations define the grammar: :func:`read` makes the object from
JSON or rejects it with a one-line error that names the place, :func:`write` makes JSON from the
object, and docs/schema.py prints the keys into docs/certificates.md. A table is closed: every key
without a default is required, and no other key is allowed.

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
| a :class:`Named` | a table; the key ``tag`` names the function that takes the other keys |
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import Any, ClassVar, Literal, NewType, Union, get_args, get_origin, get_type_hints

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
"""The largest number of digits of an integer in text."""


class Kind:
    """A table that the key ``"kind"`` names: the name of its class, in lower case with hyphens.

    Examples
    --------
    >>> class LIPResponse(Kind): ...
    >>> LIPResponse.kind
    'lip-response'
    """

    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str = "") -> None:
        super().__init_subclass__()
        words = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z]+", cls.__name__)
        if "kind" not in vars(cls):
            cls.kind = kind or "-".join(words).lower()


@dataclass(frozen=True)
class Named:
    """A name in a file and its keys, which are the arguments of a function of the kernel.

    ``name``: the name.
    ``keys``: the other keys of the table. A missing key has the default of the function.
    """

    tag: ClassVar[str]
    """The key of the name."""

    name: str
    keys: dict[str, Any]

    @classmethod
    def forms(cls) -> dict[str, Callable[..., Any]]:
        """Return the functions by name; the function of ``""`` takes every other name."""
        raise NotImplementedError

    @classmethod
    def common(cls, _word: str) -> dict[str, tuple[Any, Any]]:
        """Return additional keys of a name, with annotation and default."""
        return {}


# ---- tables ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Table:
    """One kind of table.

    ``name``: its name in messages and docs.
    ``tag``, ``kind``: the key that names its kind, and the kind; None if there is only one.
    ``keys``: the annotation and the default of each key.
    ``make``: makes the object from the keys.
    """

    name: str
    tag: str
    kind: str | None
    keys: dict[str, tuple[Any, Any]]
    make: Callable[[dict[str, Any]], Any]


@cache
def tables(form: Any) -> tuple[Table, ...]:
    """Return the tables of an annotation: one for each dataclass or name in it."""
    if get_origin(form) in (Union, types.UnionType):
        return tuple(table for part in get_args(form) for table in tables(part))
    if isinstance(form, type) and issubclass(form, Named):
        return tuple(_of_function(form, word, make) for word, make in form.forms().items())
    if not (isinstance(form, type) and dataclasses.is_dataclass(form)):
        return ()
    kind, hints = getattr(form, "kind", None), get_type_hints(form)
    keys = {} if kind is None else {"kind": (Literal[kind], MISSING)}
    for f in dataclasses.fields(form):
        make = f.default_factory
        keys[f.name] = hints[f.name], f.default if make is MISSING else make()

    def made(given: dict[str, Any]) -> Any:
        if kind is not None:
            del given["kind"]
        return form(**given)

    name = kind or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", form.__name__).lower()
    return (Table(name, "kind", kind, keys, made),)


def _of_function(form: Any, word: str, function: Callable[..., Any]) -> Table:
    """Return the table of a name: its keys are the keyword arguments of a function."""
    hints, keys = get_type_hints(function), {form.tag: (Literal[word] if word else str, MISSING)}
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.KEYWORD_ONLY:
            keys[p.name] = hints[p.name], MISSING if p.default is p.empty else p.default
    keys |= form.common(word)
    name = word or function.__name__.replace("_", " ")
    return Table(name, form.tag, word or None, keys, lambda given: form(given.pop(form.tag), given))


# ---- reading -----------------------------------------------------------------------------------


def read(form: Any, value: Any, place: str = "") -> Any:
    """Return the object of an annotation from a JSON value.

    ``form``: A dataclass, or any annotation of the table above.
    ``value``: the value in a file.
    ``place``: its place, for errors.
    """
    return _form(form)[1](value, place)


Reader = Callable[[Any, str], Any]
"""Makes an object from a value and its place."""

Form = tuple[str, Reader]
"""A description of the expected value, and its reader."""


def words(form: Any) -> str:
    """Return an annotation as text, for the documentation."""
    return _form(form)[0]


@cache
def _form(form: Any) -> Form:
    origin, parts = get_origin(form), get_args(form)
    if form in _LEAVES:
        return _LEAVES[form]
    if origin is Literal:
        choices = " or ".join(f'"{word}"' for word in parts)
        return _leaf(choices, lambda v: type(v) is str and v in parts)
    if origin is tuple and parts[-1] is Ellipsis:
        return _list(parts[0])
    if origin is tuple:
        return _fixed([_form(part) for part in parts])
    if origin is dict:
        return _mapping(_form(parts[1]))
    union = parts if origin in (Union, types.UnionType) else ()
    if not (found := tables(form)) and not union:
        raise TypeError(f"no form in a file is known for the annotation {form!r}")
    plain = [_form(part) for part in union if not tables(part) and part is not type(None)]
    null = ["null"] if type(None) in union else []
    listed = dict.fromkeys([*(t.name for t in found), *(name for name, _ in plain), *null])
    return " or ".join(listed), _union(found, plain, bool(null))


def _leaf(
    words: str, holds: Callable[[Any], bool], make: Callable[[Any], Any] | None = None
) -> Form:
    """Return the form of a value that satisfies a condition and is then converted."""

    def reader(value: Any, place: str) -> Any:
        if not holds(value):
            raise refused(words, value, place)
        return value if make is None else make(value)

    return words, reader


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


_LEAVES: dict[Any, Form] = {
    Fraction: ("number", exact),
    int: _leaf("integer", lambda v: type(v) is int and 0 <= v < LARGEST),
    bool: _leaf("true or false", lambda v: type(v) is bool),
    str: _leaf("text", lambda v: type(v) is str),
    type(None): _leaf("null", lambda v: v is None),
    Json: ("anything", lambda value, _: value),
    Label: _leaf("label", _is_label, lambda v: tuple(v) if isinstance(v, list) else v),
    Whole: _leaf("integer >= 0 as text", _is_whole, int),
    Signed: _leaf(
        "integer as text", lambda v: type(v) is str and _is_whole(v.removeprefix("-")), int
    ),
    float: _leaf("number", _is_number),
    Places: ("integers", lambda value, place: unpacked(value, Places, place)),
    Numbers: ("numbers", lambda value, place: unpacked(value, Numbers, place)),
    Weights: ("numbers >= 0", lambda value, place: unpacked(value, Weights, place)),
}


def _list(part: Any) -> Form:
    words, entry = _form(part)

    def reader(value: Any, place: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise refused("a list", value, place)
        return tuple([entry(item, place) for item in value])

    return f"list of {words}", reader


def _fixed(entries: Sequence[Form]) -> Form:
    def reader(value: Any, place: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) != len(entries):
            raise refused(f"a list of {len(entries)}", value, place)
        return tuple(entry(item, place) for (_, entry), item in zip(entries, value, strict=True))

    return f"[{', '.join(words for words, _ in entries)}]", reader


def _mapping(entry: Form) -> Form:
    def reader(value: Any, place: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise refused("a table", value, place)
        return {key: entry[1](item, f"{place}.{key}") for key, item in value.items()}

    return f"table of {entry[0]}", reader


def _union(listed: Sequence[Table], plain: Sequence[Form], null: bool) -> Reader:
    kinds = {table.kind: table for table in listed}

    def reader(value: Any, place: str) -> Any:
        if value is None and null:
            return None
        if isinstance(value, dict) and listed:
            kind = value.get(listed[0].tag)
            table = kinds.get(kind if type(kind) is str else None, kinds.get(None))
            if table is None and len(listed) > 1:
                raise refused(f"a {listed[0].tag} among {', '.join(map(str, kinds))}", kind, place)
            return _of_table(table or listed[0], value, place)
        for _, other in plain[:-1]:
            with suppress(CertificateError):
                return other(value, place)
        if not plain:
            raise refused("a table", value, place)
        return plain[-1][1](value, place)

    return reader


def _of_table(table: Table, value: dict[str, Any], place: str) -> Any:
    given, inside = dict[str, Any](), f"{place}." if place else ""
    for key, item in value.items():
        if key not in table.keys:
            raise CertificateError(f"{inside}{key}: {table.name} has no such key")
        given[key] = read(table.keys[key][0], item, inside + key)
    for key, (_, default) in table.keys.items():
        if default is MISSING and key not in given:
            raise CertificateError(f"{place + ': ' if place else ''}the key {key!r} is missing")
    return table.make(given)


# ---- writing -----------------------------------------------------------------------------------


def write(value: Any) -> Any:
    """Return the JSON of an object: the inverse of :func:`read`.

    Keys with default values are omitted.

    Examples
    --------
    >>> write((Fraction(1, 3), Fraction(2), None))
    ['1/3', 2, None]
    """
    if isinstance(value, Named):
        form: Any = type(value)
        listed = {table.kind: table.keys for table in tables(form)}
        keys = listed[value.name if value.name in listed else None]
        own = {key: _written(item, keys[key][0]) for key, item in value.keys.items()}
        return {value.tag: value.name} | own
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        (table,) = tables(type(value))
        found = ((key, *keyed, getattr(value, key)) for key, keyed in table.keys.items())
        return {key: _written(v, hint) for key, hint, default, v in found if v != default}
    if isinstance(value, Places | Numbers):
        return packed(value)
    if isinstance(value, tuple | list):
        return [write(item) for item in value]
    if isinstance(value, dict):
        return {key: write(item) for key, item in value.items()}
    return written(value) if isinstance(value, Fraction) else value


def _written(value: Any, form: Any) -> Any:
    """Return the JSON of a field: integers of any length are text."""
    if form in (Whole, Signed):
        return str(value)
    if get_origin(form) is tuple and get_args(form)[1:] == (Ellipsis,):
        return [_written(v, get_args(form)[0]) for v in value]
    return write(value)

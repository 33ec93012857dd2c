"""Access to the tables of a problem file: sections, text, lists, and alternative forms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from mechdesign.errors import InputError, check_keys, inside, shown

R = TypeVar("R")

Table = dict[str, Any]
"""A table of a problem file."""


def section_of(table: Table, key: str) -> Table:
    """Return the table under a key, or raise InputError."""
    if not isinstance(table[key], dict):
        raise InputError(key, f"a table [{key}]", shown(table[key]))
    section: Table = table[key]
    return section


def text_of(table: Table, key: str) -> str:
    """Return the text under a key, empty if missing, or raise InputError."""
    value = table.get(key, "")
    if not isinstance(value, str):
        raise InputError(key, "text", shown(value))
    return value


def a_list(value: Any, key: str) -> list[Any]:
    """Return a list unchanged, or raise InputError."""
    if not isinstance(value, list):
        raise InputError(key, "a list", shown(value))
    return value


def one_form(section: Table, where: str, forms: Iterable[str]) -> str:
    """Return the only key of a section, or raise InputError unless it is one of the forms."""
    words = tuple(forms)
    check_keys(section, where, words)
    if len(section) != 1:
        given, expected = " and ".join(section) or "none", f"exactly one of {', '.join(words)}"
        raise InputError(where, expected, given, fault=f"needs {expected}; it has {given}")
    return next(iter(section))


def read_form(section: Table, where: str, forms: Mapping[str, Callable[[Any], R]]) -> R:
    """Apply the function of the only key of a section to its value."""
    form = one_form(section, where, forms)
    with inside(where):
        return forms[form](section[form])


def table_of(given: Any, key: str, required: tuple[str, ...], *others: str) -> Table:
    """Return a table with these keys and no others, or raise InputError."""
    if not isinstance(given, dict):
        raise InputError(key, f"a table {{ {', '.join((*required, *others))} }}", shown(given))
    check_keys(given, key, (*required, *others), required=required)
    return given


def is_true(value: Any) -> None:
    """Raise InputError unless a value is true, as for the key ``uniform``."""
    if value is not True:
        raise InputError("uniform", "true", shown(value))

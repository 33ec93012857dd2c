"""The tables of a problem file: sections, text, lists, and one of several forms."""

from __future__ import annotations

from typing import Any

from mechdesign.errors import InputError, check_keys, shown

__all__ = ["Table", "a_list", "one_form", "section_of", "text_of"]

Table = dict[str, Any]
"""A table of a problem file."""


def section_of(table: Table, key: str) -> Table:
    """Return the table under a key, or raise InputError if it is none."""
    if not isinstance(table[key], dict):
        raise InputError(key, f"a table [{key}]", shown(table[key]))
    section: Table = table[key]
    return section


def text_of(table: Table, key: str) -> str:
    """Return the text under a key, empty where there is none, or raise InputError."""
    value = table.get(key, "")
    if not isinstance(value, str):
        raise InputError(key, "text", shown(value))
    return value


def a_list(value: Any, key: str) -> list[Any]:
    """Return a list as it is, or raise InputError."""
    if not isinstance(value, list):
        raise InputError(key, "a list", shown(value))
    return value


def one_form(section: Table, where: str, forms: tuple[str, ...]) -> str:
    """Return the one key of a section, or raise InputError if it is not just one of the forms."""
    check_keys(section, where, forms)
    if len(section) != 1:
        given, expected = " and ".join(section) or "none", f"exactly one of {', '.join(forms)}"
        raise InputError(where, expected, given, fault=f"needs {expected}; it has {given}")
    return next(iter(section))

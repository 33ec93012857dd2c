"""Options by name: look-up of a user's choice in a registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from mechdesign.errors import InputError, did_you_mean, shown

__all__ = ["choose"]

T = TypeVar("T")


def choose(options: Mapping[str, T], name: object, key: str) -> T:
    """Return the option of a name.

    Raises
    ------
    InputError
        If there is none; a near miss is named.

    Examples
    --------
    >>> choose({"up": 1, "down": -1}, "up", "direction")
    1
    """
    if not isinstance(name, str) or name not in options:
        hint = did_you_mean(str(name), options)
        raise InputError(key, f"one of {', '.join(map(repr, options))}", shown(name), hint)
    return options[name]

"""A user's word for one of several ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from mechdesign.errors import InputError, did_you_mean, shown

__all__ = ["choose"]

T = TypeVar("T")


def choose(ways: Mapping[str, T], word: object, key: str) -> T:
    """Return the estimator that has this word.

    Raises
    ------
    InputError
        If there is none; a near miss is named.

    Examples
    --------
    >>> choose({"up": 1, "down": -1}, "up", "direction")
    1
    """
    if not isinstance(word, str) or word not in ways:
        hint = did_you_mean(str(word), ways)
        raise InputError(key, f"one of {', '.join(map(repr, ways))}", shown(word), hint)
    return ways[word]

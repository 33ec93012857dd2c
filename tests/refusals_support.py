"""How a wrong argument is refused: one line, of the type for wrong input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mechdesign.errors import InputError


def check_refused(match: str, call: Callable[..., Any], /, *words: Any, **options: Any) -> Any:
    """Check the error with which a call is refused, and return it."""
    with pytest.raises(InputError, match=match or None) as caught:
        call(*words, **options)
    assert "\n" not in str(caught.value)
    return caught.value

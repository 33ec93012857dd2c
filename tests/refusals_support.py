"""How a wrong argument is refused: one line, of the type for wrong input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mechdesign.errors import InputError, MechdesignError, UnsupportedError


def check_refused(call: Callable[[], Any], match: str) -> None:
    with pytest.raises(MechdesignError, match=match) as caught:
        call()
    assert isinstance(caught.value, InputError | UnsupportedError)
    assert "\n" not in str(caught.value)

"""What holds for all tests: no clock decides anything, and every run tries the same examples."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")

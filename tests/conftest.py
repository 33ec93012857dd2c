"""What holds for all tests: no clock decides anything, and every run tries the same examples."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")

# Real data stay out of the repository: a folder beside the checkout is used where there is one.
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
if DATA.is_dir():
    os.environ.setdefault("MECHDESIGN_DATA", str(DATA))

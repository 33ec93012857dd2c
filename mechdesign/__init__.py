"""mechdesign: optimal local-privacy mechanisms, with proof.

A privacy notion is compiled to linear constraints on a channel Q(y|x), a utility is a loss of the
channel, and the best channel comes back exactly private, with a rigorous bound on the optimum.

>>> import mechdesign as md
>>> survey = md.Problem(["yes", "no"], md.LIP(1), md.PosteriorMeanSquaredError(values=[1, 0]),
...                     prior=[0.1, 0.9])
>>> round(float(md.design(survey).value), 7)
0.0791384
"""

from __future__ import annotations

import importlib
from typing import Any

import lazy_loader

__version__ = "0.1.0"

NAMESPACES = (
    "mechanisms",
    "accounting",
    "continuous",
    "estimation",
    "collection",
    "sweeps",
    "plots",
    "reports",
    "problem",
    "closed_forms",
    "notions",
    "utilities",
)
"""Modules whose public names an AttributeError suggests for a name that is not at the top."""

_at_the_top, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import mechdesign`` is quick."""
    try:
        return _at_the_top(name)
    except AttributeError:
        if name in __all__ or name.startswith("_"):
            raise
    rooms = [f"{__name__}.{room}" for room in NAMESPACES]
    homes = [room for room in rooms if name in importlib.import_module(room).__all__]
    hint = f"; {__name__}.{name} is {homes[0]}.{name}" if homes else ""
    if longer := [known for known in __all__ if known.startswith(name)]:
        hint += f"; at the top there is {', '.join(longer)}"
    raise AttributeError(f"module '{__name__}' has no attribute {name!r}{hint}")

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

import ast
import importlib
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

ROOT = "mechdesign"


def _listed() -> dict[str, str]:
    """Return the module of each public name, as the stub beside this file lists them.

    What the stub imports from the package itself are the namespaces: modules of their own.
    """
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}


_MODULE_OF = _listed()
_NAMESPACES = tuple(f"{ROOT}.{name}" for name, home in _MODULE_OF.items() if home == ROOT)

# `import *` asks for every name in it, so what needs an extra is left out, but can be imported.
_LEFT_OUT = (*_NAMESPACES, f"{ROOT}.collection.transformer")

__all__ = ["__version__"]
__all__ += [name for name, home in _MODULE_OF.items() if not home.startswith(_LEFT_OUT)]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import mechdesign`` is quick."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'mechdesign' has no attribute {name!r}")
    home = _MODULE_OF[name]
    if home == ROOT:
        return importlib.import_module(f"{ROOT}.{name}")
    found = getattr(importlib.import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__

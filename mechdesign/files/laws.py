"""The laws of numbers and of points that a problem file states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mechdesign.continuous.laws import (
    KDE,
    GaussianMixture,
    Histogram,
    Law,
    NamedLaw,
    PlaneHistogram,
    PlaneMixture,
    PlaneSamples,
    ProductLaw,
    Samples,
)
from mechdesign.errors import InputError, check_keys, inside, shown
from mechdesign.files.data_files import DataFile
from mechdesign.files.sections import Table, a_list, one_form

__all__ = ["read_law", "read_plane_law"]


def read_plane_law(section: Table, folder: Path) -> Law | None:
    """Read the ``[prior]`` table of a point."""
    forms: dict[str, Callable[[Any], Law | None]] = {
        "samples": lambda given: PlaneSamples(_sample_points(given, folder)),
        "histogram": lambda given: PlaneHistogram(
            **_keys_of(given, "histogram", ("edges", "masses"))
        ),
        "product": lambda given: ProductLaw(*_pair_of_laws(given, "product", folder)),
        "mixture": lambda given: _plane_mixture(given, folder),
        "uniform": _uniform_law,
    }
    form = one_form(section, "prior", tuple(forms))
    with inside("prior"):
        return forms[form](section[form])


def _plane_mixture(given: Any, folder: Path) -> PlaneMixture:
    table = _keys_of(given, "mixture", ("weights", "parts"))
    parts = enumerate(a_list(table["parts"], "mixture.parts"))
    pairs = [_pair_of_laws(part, f"mixture.parts[{n}]", folder) for n, part in parts]
    return PlaneMixture(table["weights"], pairs)


def _pair_of_laws(given: Any, key: str, folder: Path) -> list[Any]:
    """Read the laws of the two coordinates."""
    pair = a_list(given, key)
    if len(pair) != 2 or not all(isinstance(law, dict) for law in pair):
        raise InputError(key, "two tables, one for each coordinate", shown(given))
    with inside(key):
        return [read_law(law, folder) for law in pair]


def _sample_points(given: Any, folder: Path) -> list[Any]:
    """Return a list of points, or those in two columns of a file."""
    if isinstance(given, list):
        return given
    expected = "a list of points, or { file, columns }"
    return DataFile(given, "samples", folder, "columns", expected=expected).numbers()


def read_law(section: Table, folder: Path) -> Law | None:
    """Read the ``[prior]`` table of a number; a file of samples is looked for from ``folder``."""
    forms: dict[str, Callable[[Any], Law | None]] = {
        "samples": lambda given: Samples(_sample_values(given, folder)),
        "kde": lambda given: _kde(given, folder),
        "histogram": lambda given: Histogram(**_keys_of(given, "histogram", ("edges", "masses"))),
        "law": lambda given: NamedLaw(**_keys_of(given, "law", ("name", "parameters"))),
        "mixture": lambda given: GaussianMixture(**_keys_of(given, "mixture", MIXTURE)),
        "uniform": _uniform_law,
    }
    form = one_form(section, "prior", tuple(forms))
    with inside("prior"):
        return forms[form](section[form])


MIXTURE = ("weights", "means", "deviations")


def _uniform_law(value: Any) -> None:
    if value is not True:
        raise InputError("uniform", "true", shown(value))


def _keys_of(given: Any, key: str, keys: tuple[str, ...]) -> Table:
    """Return a table that has these keys and no others."""
    if not isinstance(given, dict):
        raise InputError(key, f"a table {{ {', '.join(keys)} }}", shown(given))
    check_keys(given, key, keys, required=keys)
    return given


def _kde(given: Any, folder: Path) -> KDE:
    file = DataFile(given, "kde", folder, "column", ("bandwidth",))
    return KDE([number for (number,) in file.numbers()], given.get("bandwidth"))


def _sample_values(given: Any, folder: Path) -> list[Any]:
    """Return a list of numbers, or the numbers in a column of a file."""
    if isinstance(given, list):
        return given
    expected = "a list of numbers, or a table { file, column }"
    file = DataFile(given, "samples", folder, "column", expected=expected)
    return [number for (number,) in file.numbers()]

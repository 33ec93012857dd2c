"""Laws of numbers and points in problem files."""

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
from mechdesign.errors import InputError, inside, shown
from mechdesign.files.data_files import DataFile
from mechdesign.files.sections import Table, a_list, is_true, read_form, table_of

HISTOGRAM = ("edges", "masses")
MIXTURE = ("weights", "means", "deviations")


def read_plane_law(section: Table, folder: Path) -> Law | None:
    """Read the ``[prior]`` table of a point."""
    forms: dict[str, Callable[[Any], Law | None]] = {
        "samples": lambda given: PlaneSamples(_samples(given, folder, "columns")),
        "histogram": lambda given: PlaneHistogram(**table_of(given, "histogram", HISTOGRAM)),
        "product": lambda given: ProductLaw(*_pair_of_laws(given, "product", folder)),
        "mixture": lambda given: _plane_mixture(given, folder),
        "uniform": is_true,
    }
    return read_form(section, "prior", forms)


def _plane_mixture(given: Any, folder: Path) -> PlaneMixture:
    table = table_of(given, "mixture", ("weights", "parts"))
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


def read_law(section: Table, folder: Path) -> Law | None:
    """Read the ``[prior]`` table of a number; ``folder`` is the base of files of samples."""
    forms: dict[str, Callable[[Any], Law | None]] = {
        "samples": lambda given: Samples(_samples(given, folder, "column")),
        "kde": lambda given: _kde(given, folder),
        "histogram": lambda given: Histogram(**table_of(given, "histogram", HISTOGRAM)),
        "law": lambda given: NamedLaw(**table_of(given, "law", ("name", "parameters"))),
        "mixture": lambda given: GaussianMixture(**table_of(given, "mixture", MIXTURE)),
        "uniform": is_true,
    }
    return read_form(section, "prior", forms)


def _kde(given: Any, folder: Path) -> KDE:
    file = DataFile(given, "kde", folder, "column", ("bandwidth",))
    return KDE(file.numbers(), given.get("bandwidth"))


def _samples(given: Any, folder: Path, columns: str) -> list[Any]:
    """Return numbers or points from a list, or from one or two columns of a file."""
    if isinstance(given, list):
        return given
    noun = "numbers, or a table" if columns == "column" else "points, or"
    expected = f"a list of {noun} {{ file, {columns} }}"
    return DataFile(given, "samples", folder, columns, expected=expected).numbers()

"""Problem files: TOML with a domain, a prior, notions of privacy and a utility."""

from __future__ import annotations

import contextlib
import csv
import gzip
import os
import tomllib
import zlib
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from mechdesign.domain import Domain
from mechdesign.errors import InputError, did_you_mean, shown
from mechdesign.exact import as_fraction
from mechdesign.files.disk import DATA_VARIABLE, data_folder, read_text
from mechdesign.notions import NOTIONS, Notion, SensitiveAttributePrivacy
from mechdesign.prior import Prior
from mechdesign.problem import Expected, Problem
from mechdesign.utilities import UTILITIES, Utility

__all__ = [
    "TABLES",
    "check_keys",
    "load_problem",
    "read_domain",
    "read_prior",
    "read_privacy",
    "read_toml",
    "section_of",
]

Table = dict[str, Any]

TABLES = ("title", "source", "domain", "prior", "privacy", "utility", "outputs", "expected")
"""What a problem file may hold."""


def load_problem(path: str | os.PathLike[str]) -> Problem:
    """Read a problem file.

    Parameters
    ----------
    path
        A TOML file; the format is in ``docs/problem_files.md``.

    Raises
    ------
    InputError
        If it is not such a file; the message names the file, the key, what was expected and what
        was given.
    InfeasibleError
        If no channel satisfies its notion.
    """
    file = Path(path)
    table = read_toml(file)
    try:
        return _problem(table, file.parent)
    except InputError as error:
        raise error.inside_file(str(file)) from None


def read_toml(file: Path) -> Table:
    """Return the tables of a TOML file, numbers with a point as exact decimals.

    Raises
    ------
    InputError
        If it cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(read_text(file), parse_float=Decimal)
    except (ValueError, RecursionError) as error:  # no TOML, or absurdly deep or long
        if isinstance(error, InputError):
            raise
        raise InputError(str(file), "a TOML file", error) from None


def _problem(table: Table, folder: Path) -> Problem:
    check_keys(table, "", TABLES, required=("domain", "privacy", "utility"))
    domain = read_domain(section_of(table, "domain"))
    outputs = None
    if "outputs" in table:
        section = section_of(table, "outputs")
        check_keys(section, "outputs", ("values",), required=("values",))
        outputs = _a_list(section["values"], "outputs.values")
    return Problem(
        domain,
        read_privacy(table["privacy"]),
        _utility(section_of(table, "utility")),
        prior=read_prior(section_of(table, "prior"), domain, folder) if "prior" in table else None,
        outputs=outputs,
        title=_text(table, "title"),
        source=_text(table, "source"),
        expected=_expected(section_of(table, "expected")) if "expected" in table else None,
    )


def read_domain(section: Table) -> Domain:
    """Read a ``[domain]`` table."""
    form = _one_form(section, "domain", ("values", "size", "grid"))
    with _inside("domain"):
        if form == "size":
            return Domain.range(section["size"])
        if form == "values":
            return Domain(_a_list(section["values"], "values"))
        grid = section["grid"]
        if not isinstance(grid, dict):
            raise InputError("grid", "a table { rows, columns, spacing }", shown(grid))
        check_keys(grid, "grid", ("rows", "columns", "spacing"), required=("rows", "columns"))
        return Domain.grid(**grid)


def read_prior(section: Table, domain: Domain, folder: Path) -> Prior:
    """Read a ``[prior]`` table; a file of data is looked for from ``folder``."""
    forms: dict[str, Callable[[], Prior]] = {
        "probabilities": lambda: Prior(section["probabilities"]),
        "counts": lambda: Prior.from_counts(section["counts"]),
        "uniform": lambda: _uniform(section["uniform"], domain),
        "data": lambda: _prior_from_file(section["data"], domain, folder),
    }
    form = _one_form(section, "prior", tuple(forms))
    with _inside("prior"):
        return forms[form]().aligned(domain, form)


def _uniform(value: Any, domain: Domain) -> Prior:
    if value is not True:
        raise InputError("uniform", "true", shown(value))
    return Prior.uniform(len(domain))


def _prior_from_file(data: Any, domain: Domain, folder: Path) -> Prior:
    if not isinstance(data, dict):
        raise InputError("data", "a table { file, column }", shown(data))
    known = ("file", "column", "separator", "smoothing")
    check_keys(data, "data", known, required=("file", "column"))
    for key in ("file", "column", "separator"):
        if not isinstance(data.get(key, ""), str):
            raise InputError(f"data.{key}", "text", shown(data[key]))
    path = _find(data["file"], folder)
    cells = _column(path, data["column"], data.get("separator", ","))
    counts = [0] * len(domain)
    for row, cell in enumerate(cells, 1):
        where = f"data.file: record {row} of {path.name}"
        counts[domain.index_of_text(cell, where)] += 1
    if not any(counts):
        raise InputError("data.file", "a table with at least one record", f"none in {path.name}")
    with _inside("data"):
        return Prior.from_counts(counts, data.get("smoothing", 0))


def _find(name: str, folder: Path) -> Path:
    """Return the data file: beside the problem file, else in the data folder."""
    places = [folder / name]
    shared = data_folder()
    if shared is not None:
        places.append(shared / name)
    for place in places:
        if place.is_file():
            return place
    hint = "" if shared else f"set {DATA_VARIABLE} to the folder of data"
    raise InputError("data.file", "a file beside the problem or in the data folder", name, hint)


def _column(path: Path, column: str, separator: str) -> list[str]:
    """Return the cells in one column of a table with a header line, gzipped or not."""
    if len(separator) != 1 or separator in '"\r\n':
        raise InputError("data.separator", "one character, no quote or line end", shown(separator))
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as lines:
            reader = csv.reader(lines, delimiter=separator)
            header = next(reader, [])
            if header.count(column) != 1:
                expected = f"one column of {path.name} ({', '.join(header[:8])}, ...)"
                given = "two of that name" if column in header else shown(column)
                raise InputError("data.column", expected, given, did_you_mean(column, header))
            place = header.index(column)
            return [row[place].strip() if place < len(row) else "" for row in reader if row]
    except (OSError, EOFError, ValueError, zlib.error, csv.Error) as error:
        if isinstance(error, InputError):
            raise
        expected = "a table in UTF-8, whole"
        raise InputError("data.file", expected, f"{path.name}: {error}") from None


def read_privacy(given: Any) -> list[Notion]:
    """Read a ``[privacy]`` table, or a list of them."""
    tables = given if isinstance(given, list) else [given]
    if not tables or not all(isinstance(table, dict) for table in tables):
        raise InputError("privacy", "a table, or a list of tables [[privacy]]", shown(given))
    notions = []
    for n, table in enumerate(tables):
        where = f"privacy[{n}]" if isinstance(given, list) else "privacy"
        notions.append(_notion(table, where))
    return notions


def _notion(table: Table, where: str) -> Notion:
    """Read one notion; with the key ``secret`` it is about that."""
    own = {key: value for key, value in table.items() if key != "secret"}
    notion: Notion = _build(own, where, "notion", NOTIONS, ("secret",))
    if "secret" not in table:
        return notion
    with _inside(where):
        return SensitiveAttributePrivacy(notion, table["secret"])


def _utility(section: Table) -> Utility:
    utility: Utility = _build(section, "utility", "objective", UTILITIES)
    return utility


def _build(
    table: Table,
    where: str,
    naming_key: str,
    registry: Mapping[str, Any],
    apart: tuple[str, ...] = (),
) -> Any:
    """Make the object that a table names, from its other keys; those ``apart`` are read elsewhere.

    They are named where a key is not known.
    """
    if naming_key not in table:
        _check_no_near_miss(table, where, naming_key)
        raise InputError(f"{where}.{naming_key}", f"one of {', '.join(registry)}", "none")
    name = table[naming_key]
    if not isinstance(name, str) or name not in registry:
        hint = did_you_mean(str(name), registry)
        raise InputError(
            f"{where}.{naming_key}", f"one of {', '.join(registry)}", shown(name), hint
        )
    keys = registry[name].keys()
    required = [key for key, needed in keys.items() if needed]
    check_keys(table, where, (naming_key, *keys, *apart), required=required)
    with _inside(where):
        return registry[name](**{key: v for key, v in table.items() if key != naming_key})


def _check_no_near_miss(table: Table, where: str, key: str) -> None:
    """Name a key that is nearly ``key``, which is missing."""
    for given in table:
        hint = did_you_mean(given, [key])
        if hint:
            raise InputError(f"{where}.{given}", f"the key {key}", shown(given), hint)


def _expected(section: Table) -> Expected:
    check_keys(section, "expected", ("value", "rtol"), required=("value",))
    value = as_fraction(section["value"], "expected.value")
    rtol = as_fraction(section.get("rtol", Decimal("1e-6")), "expected.rtol")
    if rtol < 0:
        raise InputError("expected.rtol", "a number >= 0", shown(section["rtol"]))
    return Expected(float(value), float(rtol))


@contextlib.contextmanager
def _inside(where: str) -> Any:
    """Put ``where`` before the key of an input error."""
    try:
        yield
    except InputError as error:
        raise error.within(where) from None


def section_of(table: Table, key: str) -> Table:
    """Return the table under a key, or raise InputError if it is none."""
    if not isinstance(table[key], dict):
        raise InputError(key, f"a table [{key}]", shown(table[key]))
    section: Table = table[key]
    return section


def _text(table: Table, key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise InputError(key, "text", shown(value))
    return value


def _a_list(value: Any, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(key, "a list", shown(value))
    return value


def _one_form(section: Table, where: str, forms: tuple[str, ...]) -> str:
    check_keys(section, where, forms)
    if len(section) != 1:
        given = " and ".join(section) or "none"
        raise InputError(where, f"exactly one of {', '.join(forms)}", given)
    return next(iter(section))


def check_keys(
    table: Table, where: str, known: Iterable[str], required: Iterable[str] = ()
) -> None:
    """Raise InputError unless a table has all keys that are required, and only known ones."""
    known = tuple(known)
    prefix = f"{where}." if where else ""
    for key in table:
        if key not in known:
            expected = f"one of the keys {', '.join(known)}"
            raise InputError(f"{prefix}{key}", expected, shown(key), did_you_mean(key, known))
    for key in required:
        if key not in table:
            raise InputError(f"{prefix}{key}", "this key, which is required", "none")

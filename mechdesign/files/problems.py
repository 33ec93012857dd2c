"""Problem files: TOML with a domain, a prior, notions of privacy and a utility."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from mechdesign.continuous import Box, ContinuousProblem, Interval
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
from mechdesign.domain import Domain
from mechdesign.errors import (
    InputError,
    UnsupportedError,
    check_keys,
    choose,
    did_you_mean,
    inside,
    shown,
)
from mechdesign.exact import as_fraction
from mechdesign.files.data_files import DataFile, is_file, read_matrix, read_rows
from mechdesign.files.reading import read_toml, reading_from
from mechdesign.geography.points import HAVERSINE, check_metric
from mechdesign.notions import NOTIONS, Notion, SensitiveAttributePrivacy
from mechdesign.notions.sensitive_attribute import attribute_of
from mechdesign.prior import Prior
from mechdesign.problem import Expected, Problem
from mechdesign.resources import check_size
from mechdesign.utilities import UTILITIES, Utility

R = TypeVar("R")
K = TypeVar("K", dict[str, Any], list[Any], str)

ATTRIBUTE_KEYS = ("sensitive_attribute", "secret")
"""The equivalent keys for the sensitive attribute of a notion."""

GRID = ("rows", "columns")

TABLES = ("title", "source", "domain", "prior", "privacy", "utility", "outputs", "expected")
"""The sections of a problem file."""


@dataclass(frozen=True)
class Setting:
    """The domain, the notions and the prior, if any, of a problem file."""

    domain: Domain
    privacy: tuple[Notion, ...]
    prior: Prior | None


AnyPath = str | os.PathLike[str]


AnyProblem = Problem | ContinuousProblem


def load_problem(path: AnyPath, *, allow_paths: Iterable[AnyPath] = ()) -> AnyProblem:
    """Read a problem file.

    Parameters
    ----------
    path
        A TOML file in the format of ``docs/problem_files.md``.
    allow_paths
        Further folders for data files, which must otherwise be in the folder of the problem file or
        in the data folder.

    Raises
    ------
    InputError
        If the file is invalid; the message names the file, the key, the expected and the given
        value.
    InfeasibleError
        If no channel satisfies its notion.
    """
    with reading_from(allowed=allow_paths):
        return _read(path, _problem)


def load_problem_on_labels(path: AnyPath) -> Problem:
    """Read a problem file whose domain consists of labels; errors as in :func:`load_problem`."""
    problem = load_problem(path)
    if not isinstance(problem, Problem):
        fault = "this needs inputs that are labels, not an interval or a box"
        raise UnsupportedError(f"{path}: domain", "labels", "an interval or a box", fault=fault)
    return problem


def load_setting(path: AnyPath, *, allow_paths: Iterable[AnyPath] = ()) -> Setting:
    """Read the tables ``[domain]``, ``[privacy]`` and ``[prior]`` of a problem file.

    The other tables are not read, and the domain may be too large for a matrix.
    """
    with reading_from(allowed=allow_paths):
        return _read(path, _setting)


def _read(path: AnyPath, make: Callable[[Table, Path], R]) -> R:
    """Convert the tables of a file; errors name the file."""
    file = Path(path)
    table = read_toml(file)
    try:
        return make(table, file.parent)
    except InputError as error:
        raise error.inside_file(str(file)) from None


def _setting(table: Table, folder: Path, *required: str, **continuous: Any) -> Setting:
    """Read a domain, notions and a prior; ``continuous`` are forms of a domain without labels."""
    check_keys(table, "", TABLES, required=("domain", "privacy", *required))
    domain: Any = read_domain(checked(table["domain"], dict, "domain"), folder, **continuous)
    inputs = domain if isinstance(domain, Domain) else Domain.range(1)
    privacy, prior = _privacy(table["privacy"], inputs, folder), None
    if "prior" in table:
        law: Any = read_law if isinstance(domain, Interval) else read_plane_law
        section = checked(table["prior"], dict, "prior")
        labels = isinstance(domain, Domain)
        prior = _prior(section, domain, folder) if labels else law(section, folder)
    return Setting(domain, tuple(privacy), prior)


def _problem(table: Table, folder: Path) -> AnyProblem:
    """Read a problem on labels, an interval or a box."""
    own: dict[str, Any] = {
        "title": checked(table.get("title", ""), str, "title"),
        "source": checked(table.get("source", ""), str, "source"),
    }
    if "expected" in table:
        own["expected"] = _expected(checked(table["expected"], dict, "expected"))
    setting, outputs = _setting(table, folder, "utility", interval=Interval.of, box=Box.of), None
    on_labels = isinstance(setting.domain, Domain)
    if not on_labels:
        check_keys(table, "", [key for key in TABLES if key != "outputs"])
    elif "outputs" in table:
        section = table_of(checked(table["outputs"], dict, "outputs"), "outputs", ("values",))
        own["outputs"] = outputs = checked(section["values"], list, "outputs.values")
    inputs = setting.domain if on_labels else Domain.range(1)
    utility = _utility(checked(table["utility"], dict, "utility"), inputs, outputs, folder)
    kind: Callable[..., AnyProblem] = Problem if on_labels else ContinuousProblem
    return kind(setting.domain, setting.privacy, utility, prior=setting.prior, **own)


def read_domain(section: Table, folder: Path | None = None, **others: Any) -> Domain:
    """Read a ``[domain]`` table; ``folder`` is the base of files of points."""
    forms: dict[str, Callable[[Any], Domain]] = {
        "values": lambda given: Domain(checked(given, list, "values")),
        "size": Domain.range,
        "grid": lambda given: Domain.grid(**table_of(given, "grid", GRID, "spacing")),
        "points": lambda given: _points(given, folder),
    }
    domain: Domain = read_form(section, "domain", {**forms, **others})
    return domain


def _points(given: Any, folder: Path | None) -> Domain:
    """Read points: a list of pairs, or a table with a list or a file, and optionally a metric."""
    if not isinstance(given, dict):
        return Domain.points(checked(given, list, "points"))
    if "coordinates" in given or folder is None:
        table = table_of(given, "points", ("coordinates",), "metric")
        points = checked(table["coordinates"], list, "points.coordinates")
    else:
        points = DataFile(given, "points", folder, "columns", ("metric",)).numbers()
    return Domain.points(points, check_metric(given.get("metric", "euclidean")))


def _prior(section: Table, domain: Domain, folder: Path) -> Prior:
    """Read a ``[prior]`` table; ``folder`` is the base of data files."""

    def uniform(given: Any) -> Prior:
        is_true(given)
        return Prior.uniform(len(domain))

    forms: dict[str, Callable[[Any], Prior]] = {
        "probabilities": Prior,
        "counts": Prior.from_counts,
        "uniform": uniform,
        "data": lambda given: _prior_from_file(given, domain, folder),
    }
    prior = read_form(section, "prior", forms)
    (form,) = section
    with inside("prior"):
        return prior.aligned(domain, form, "counts" if form == "counts" else "probabilities")


def _prior_from_file(data: Any, domain: Domain, folder: Path) -> Prior:
    file = DataFile(data, "data", folder, "column", ("smoothing",))
    counts = [0] * len(domain)
    for where, (cell,) in file.cells():
        place = domain.find_text(cell)
        if place is None:
            place = domain.index_of_text(cell, where, quoted=False)
        counts[place] += 1
    if not any(counts):
        fault = f"{file.path.name} has no records"
        raise InputError("data.file", "at least one record", "none", fault=fault)
    with inside("data"):
        return Prior.from_counts(counts, data.get("smoothing", 0))


def _privacy(given: Any, domain: Domain, folder: Path) -> list[Notion]:
    """Read a ``[privacy]`` table, or a list of them; ``folder`` is the base of data files."""
    tables = given if isinstance(given, list) else [given]
    if not tables or not all(isinstance(table, dict) for table in tables):
        raise InputError("privacy", "a table, or a list of tables [[privacy]]", shown(given))
    check_size("notions", len(tables), "privacy")
    notions = []
    for n, table in enumerate(tables):
        where = f"privacy[{n}]" if isinstance(given, list) else "privacy"
        notions.append(_notion(table, where, domain, folder))
    return notions


def _notion(table: Table, where: str, domain: Domain, folder: Path) -> Notion:
    """Read a notion; a key of :data:`ATTRIBUTE_KEYS` makes it one for a sensitive attribute."""
    keys = [key for key in ATTRIBUTE_KEYS if key in table]
    if len(keys) > 1:
        fault = f"{keys[0]} and {keys[1]} exclude each other"
        raise InputError(f"{where}.{keys[1]}", "one of them", "both", fault=fault)
    own = {key: value for key, value in table.items() if key not in keys}
    attribute, labels = table[keys[0]] if keys else None, domain
    if isinstance(attribute, dict):
        with inside(f"{where}.{keys[0]}"):
            attribute = attribute_of(attribute)
        labels = attribute.domain
    with inside(where):
        own = _with_files(own, folder, labels)
    notion: Notion = _build(own, where, "notion", NOTIONS, ATTRIBUTE_KEYS)
    if not keys:
        return notion
    with inside(where):
        return SensitiveAttributePrivacy(notion, attribute)


def _utility(section: Table, domain: Domain, outputs: list[Any] | None, folder: Path) -> Utility:
    with inside("utility"):
        own = _with_files(section, folder, domain, outputs)
    utility: Utility = _build(own, "utility", "objective", UTILITIES)
    return utility


def _with_files(
    table: Table, folder: Path, inputs: Domain, outputs: list[Any] | None = None
) -> Table:
    """Return a table with the matrices and rows of its data files."""
    read = dict(table)
    for key, value in table.items():
        if key in ("matrix", "distance") and value == HAVERSINE:
            read[key] = inputs.distance
        elif is_file(value) and key in ("matrix", "distance"):
            columns = inputs if outputs is None else Domain(outputs)
            read[key] = read_matrix(value, key, folder, columns, inputs)
        elif is_file(value) and key == "gain_matrix":
            read[key] = read_matrix(value, key, folder, inputs)
        elif is_file(value) and key == "rows":
            read[key] = read_rows(value, key, folder, inputs)
    return read


def _build(
    table: Table,
    where: str,
    naming_key: str,
    registry: Mapping[str, Any],
    apart: tuple[str, ...] = (),
) -> Any:
    """Create the object named by a table from its other keys, except those in ``apart``.

    The error for an unknown key lists them as well.
    """
    if naming_key not in table:
        _check_no_near_miss(table, where, naming_key)
        raise InputError(f"{where}.{naming_key}", f"one of {', '.join(registry)}", "none")
    kind = choose(registry, table[naming_key], f"{where}.{naming_key}")
    keys = kind.keys()
    required = [key for key, needed in keys.items() if needed]
    check_keys(table, where, (naming_key, *keys, *apart), required=required)
    with inside(where):
        return kind(**{key: v for key, v in table.items() if key != naming_key})


def _check_no_near_miss(table: Table, where: str, key: str) -> None:
    """Raise InputError for a misspelling of a missing ``key``."""
    for word in table:
        hint = did_you_mean(word, [key])
        if hint:
            raise InputError(f"{where}.{word}", f"the key {key}", shown(word), hint)


def _expected(section: Table) -> Expected:
    table_of(section, "expected", ("value",), "rtol")
    value = as_fraction(section["value"], "expected.value")
    rtol = section.get("rtol", Decimal("1e-6"))
    rtol = as_fraction(rtol, "expected.rtol", expected="a number >= 0", least=0)
    return Expected(float(value), float(rtol))


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
    parts = enumerate(checked(table["parts"], list, "mixture.parts"))
    pairs = [_pair_of_laws(part, f"mixture.parts[{n}]", folder) for n, part in parts]
    return PlaneMixture(table["weights"], pairs)


def _pair_of_laws(given: Any, key: str, folder: Path) -> list[Any]:
    """Read the laws of the two coordinates."""
    pair = checked(given, list, key)
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


Table = dict[str, Any]
"""A table of a problem file."""


def checked(value: Any, kind: type[K], key: str) -> K:
    """Return a table, a list or text unchanged, or raise InputError."""
    if not isinstance(value, kind):
        expected = {dict: f"a table [{key}]", list: "a list", str: "text"}[kind]
        raise InputError(key, expected, shown(value))
    return value


def one_form(section: Table, where: str, forms: Iterable[str]) -> str:
    """Return the only key of a section, or raise InputError unless it is one of the forms."""
    words = tuple(forms)
    check_keys(section, where, words)
    if len(section) != 1:
        given, expected = " and ".join(section) or "none", f"exactly one of {', '.join(words)}"
        raise InputError(where, expected, given, fault=f"needs {expected}; it has {given}")
    return next(iter(section))


def read_form(section: Table, where: str, forms: Mapping[str, Callable[[Any], R]]) -> R:
    """Apply the function of the only key of a section to its value."""
    form = one_form(section, where, forms)
    with inside(where):
        return forms[form](section[form])


def table_of(given: Any, key: str, required: tuple[str, ...], *others: str) -> Table:
    """Return a table with these keys and no others, or raise InputError."""
    if not isinstance(given, dict):
        raise InputError(key, f"a table {{ {', '.join((*required, *others))} }}", shown(given))
    check_keys(given, key, (*required, *others), required=required)
    return given


def is_true(value: Any) -> None:
    """Raise InputError unless a value is true, as for the key ``uniform``."""
    if value is not True:
        raise InputError("uniform", "true", shown(value))

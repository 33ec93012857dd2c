"""Default dependencies have permissive licenses; ECOS, which is GPL-3, is an extra."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import cvxpy as cp
import pytest
from packaging.requirements import Requirement

import mechdesign as md

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

PERMISSIVE = re.compile(
    r"\b(Apache|BSD|0BSD|MIT|MIT-0|MIT-CMU|MIT License|ISC|Zlib|CC0|PSF|matplotlib"
    r"|Python Software Foundation)\b",
    re.IGNORECASE,
)
COPYLEFT = re.compile(r"\b[AL]?GPL|GNU|MPL|EUPL|CDDL|EPL", re.IGNORECASE)
FILE_BY_FILE = {"tqdm": "MPL-2.0 AND MIT"}
"""Copyleft that holds for changes of a package's own files only, and is accepted."""


def name_of(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", Requirement(requirement).name).lower()


def license_of(name: str) -> str:
    """Return what a package says of its license: an expression, classifiers, or the first line."""
    found = metadata.metadata(name)
    if found.get("License-Expression"):
        return str(found["License-Expression"])
    classifiers = [c for c in found.get_all("Classifier") or [] if c.startswith("License ::")]
    return " ".join(classifiers) or str(found.get("License", "")).strip().split("\n")[0]


def installed() -> dict[str, str]:
    """Return the licenses of the default dependencies and of theirs, where they are installed."""
    found: dict[str, str] = {}
    open_ = [name_of(requirement) for requirement in PROJECT["dependencies"]]
    while open_:
        name = open_.pop()
        if name in found:
            continue
        try:
            found[name] = license_of(name)
            needed = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        for text in needed:
            marker = Requirement(text).marker
            if marker is None or marker.evaluate({"extra": ""}):
                open_.append(name_of(text))
    return found


def test_default_dependencies_have_permissive_licenses() -> None:
    found = installed()
    assert {"numpy", "cvxpy", "pyarrow"} <= set(found)
    assert "ecos" not in found
    for name, said in found.items():
        if name in FILE_BY_FILE:
            assert said == FILE_BY_FILE[name]
            continue
        assert PERMISSIVE.search(said), f"{name}: {said}"
        assert not COPYLEFT.search(said), f"{name}: {said}"


def test_the_documentation_lists_every_dependency() -> None:
    lines = (ROOT / "docs" / "licenses.md").read_text(encoding="utf-8").splitlines()
    listed = [line.split("|")[1].strip() for line in lines if line.startswith("| ")][1:]
    assert listed == [name_of(requirement) for requirement in PROJECT["dependencies"]]


def test_ecos_is_an_extra_and_its_absence_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    extras = PROJECT["optional-dependencies"]
    for extra in ("ecos", "test", "peers"):
        assert "ecos" in map(name_of, extras[extra])
    others = [name for name in cp.installed_solvers() if name != "ECOS"]
    monkeypatch.setattr(cp, "installed_solvers", lambda: others)
    problem = md.Problem(md.Domain(["a", "b"]), md.LDP(1), md.HammingLoss())
    with pytest.raises(md.InputError, match=r'^route: .*; pip install -e "\.\[ecos\]"$'):
        md.design(problem, route="cvxpy:ECOS")

"""A utility that is none of ours: one file and one line, and all that a utility has follows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import mechdesign as md
from mechdesign import LDP, Domain, Problem, design, load_channel, load_problem, save
from mechdesign.utilities import UTILITIES, Utility
from tests.documents import proved
from tests.modules_support import module_at

GUIDE = (Path(__file__).resolve().parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
(FILE,) = re.findall(r'```python\n("""Absolute error up to a cap.*?)```', GUIDE, re.DOTALL)
"""The example of the guide."""

PARAMETERS: dict[str, dict[str, Any]] = {
    "distortion": {"matrix": [[0, 1], [1, 0], [1, 1], [0, 2]]},
    "unbiased-variance": {"values": [0, 1, 2, 3]},
}


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[Any]:
    """The class of the file, registered by one line."""
    path = tmp_path / "capped.py"
    path.write_text(FILE)
    module = module_at(path)
    monkeypatch.setitem(UTILITIES, module.CappedError.name, module.CappedError)
    return module.CappedError


def test_tables_and_plots_call_it_by_its_name(own: type[Any]) -> None:
    curve = md.design_frontier(Problem(3, LDP(1), own(1)), [1, 2])
    assert repr(curve).startswith("Frontier of ldp: loss is capped-error,")
    assert md.plots.plot_frontier(curve).get_ylabel() == "loss: capped-error"


def test_it_designs_saves_and_verifies(own: type[Any], tmp_path: Path) -> None:
    k, cap = 5, 2
    cost = np.minimum(abs(np.subtract.outer(np.arange(k), np.arange(k))), cap)
    rows = []
    for y in range(k):
        for x, z in np.argwhere(~np.eye(k, dtype=bool)).tolist():
            row = np.zeros((k, k))
            row[x, y], row[z, y] = 1, -np.e
            rows.append(row.ravel())
    sums = np.kron(np.eye(k), np.ones(k))
    best = scipy.optimize.linprog(cost.ravel() / k, rows, np.zeros(len(rows)), sums, np.ones(k)).fun

    solution = proved(Problem(range(k), LDP(1), own(cap)))
    assert float(solution.value) == pytest.approx(best, rel=1e-6)
    assert repr(solution.problem.at(2).utility) == repr(own(cap)) == "CappedError(cap=2)"
    assert f"loss       {own.name} = " in repr(solution)
    save(solution, tmp_path / "channel.json")
    found = load_channel(tmp_path / "channel.json")
    assert (found.verified.value, found.channel) == (solution.value, solution.channel)


def test_a_problem_file_names_it_and_its_keys(own: type[Any], tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_text(
        "[domain]\nsize = 5\n[privacy]\nnotion = 'ldp'\nepsilon = 1\n"
        "[utility]\nobjective = 'capped-error'\ncap = 1\nworst_case = true\n"
    )
    problem = load_problem(path)
    assert problem.to_table() == Problem(range(5), LDP(1), own(1, True)).to_table()


@pytest.mark.parametrize("kind", UTILITIES.values(), ids=UTILITIES)
def test_a_subclass_with_another_name_is_saved_or_refused(kind: type[Any], tmp_path: Path) -> None:
    """The checker knows a utility by its name, so that another name is not that utility."""
    if not kind.is_of_outputs:
        with pytest.raises(
            md.UnsupportedError, match="the parent of a class with a name of its own"
        ):
            type("Own", (kind,), {"name": "own"})
        return
    own: type[Utility] = type("Own", (kind,), {"name": "own"})
    domain = Domain.grid(2, 2) if kind.name == "euclidean" else Domain(range(4))
    solution = design(Problem(domain, LDP(1), own(**PARAMETERS.get(kind.name, {}))))
    save(solution, tmp_path / "channel.json")
    assert load_channel(tmp_path / "channel.json").verified.value == solution.value

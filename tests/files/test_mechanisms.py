"""Mechanism files: what is read is what was written, checked, and made by name."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

import mechdesign as md
from mechdesign.exact import as_fraction, exp_lower
from mechdesign.mechanisms import (
    MECHANISMS,
    ByComponent,
    GeneralizedRandomizedResponse,
    HighLow,
    LIPRandomizedResponse,
    SubsetSelection,
    mechanism_for,
)
from mechdesign.mechanisms.registry import FORMS
from mechdesign.notions import Notion
from tests.documents import sealed
from tests.kernel.changes import places, put
from tests.kernel.laws.support import MADE
from tests.refusals_support import check_refused


@pytest.mark.parametrize("name", MADE)
def test_saved_mechanisms_are_loaded_equal(name: str, tmp_path: Path) -> None:
    file, mechanism = tmp_path / "mechanism.json", MADE[name]
    md.save(mechanism, file)
    loaded = md.load_mechanism(file)
    assert loaded.mechanism == mechanism
    assert hash(loaded.mechanism) == hash(mechanism)
    assert all(mechanism != other for key, other in MADE.items() if key != name)
    assert loaded.prior == getattr(mechanism, "prior", None)
    labels = [mechanism.inputs.labels[0]] * 5
    assert isinstance(loaded.mechanism, type(mechanism))
    drawn = loaded.mechanism.privatize(labels, rng=1)
    assert drawn.texts() == mechanism.privatize(labels, rng=1).texts()
    md.save(loaded.mechanism, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_channel_file_is_loaded_by_the_same_function(tmp_path: Path) -> None:
    problem = md.Problem(["yes", "no"], md.LIP(1), md.HammingLoss(), prior=[0.4, 0.6])
    md.save(md.design(problem), tmp_path / "channel.json")
    loaded, channel = md.load_mechanism(tmp_path / "channel.json"), md.load_channel
    assert loaded.mechanism == channel(tmp_path / "channel.json").channel
    assert loaded.prior == problem.prior
    assert loaded.verified.value is not None


def test_a_mechanism_file_holds_no_matrix(tmp_path: Path) -> None:
    md.save(MADE["subsets"], tmp_path / "x.json")
    with pytest.raises(md.CertificateError, match="the file has no channel on labels"):
        md.load_channel(tmp_path / "x.json")


def test_what_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    channel: Any = [[1]]
    with pytest.raises(
        md.InputError, match="result: expected a Solution, a Channel or a Mechanism"
    ):
        md.save(channel, tmp_path / "x.json")
    assert not list(tmp_path.iterdir())
    with pytest.raises(md.InputError, match="cannot write the file"):
        md.save(MADE["LIP"], tmp_path / "none" / "x.json")


@pytest.mark.parametrize("name", MADE)
def test_a_changed_file_is_refused(name: str, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    md.save(MADE[name], file)
    document = json.loads(file.read_text())
    document["privacy"][0]["leakage"] /= 2
    file.write_text(json.dumps(document))
    with pytest.raises(md.CertificateError, match="digest"):
        md.load_mechanism(file)
    file.write_text(json.dumps(sealed(document)))
    with pytest.raises(md.CertificateError, match="leaks more"):
        md.load_mechanism(file)


def test_integers_that_this_library_would_not_make_are_refused(tmp_path: Path) -> None:
    """Private according to the checker, but not the mechanism that draws."""
    file = tmp_path / "x.json"
    for name, change in (
        ("subsets", lambda law: law.update(held=str(int(law["held"]) - 1))),
        ("blocks", lambda law: law["parts"][0].update(epsilon="2")),
    ):
        md.save(MADE[name], file)
        document = json.loads(file.read_text())
        change(document["law"])
        file.write_text(json.dumps(sealed(document)))
        with pytest.raises(md.CertificateError, match="contains no valid mechanism"):
            md.load_mechanism(file)


ODD: list[Any] = [
    *(None, True, 0, 1, -1, 0.5, 10**30, 1e300, float("nan"), float("inf"), "", "0", "1", "-1"),
    *("1/2", "1/0", "nan", "x", "٣", str(2**62), str(2**62 - 1), [], {}, [[]], [1], ["x"]),
    {"a": 1},
]


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE)
def test_a_changed_file_is_refused_or_still_true(name: str, tmp_path: Path) -> None:
    md.save(MADE[name], tmp_path / "x.json")
    whole, rng = (tmp_path / "x.json").read_text(), random.Random(7)
    paths = [path for path in places(json.loads(whole)) if path[0] != "digest"]
    for path, odd in rng.sample(list(itertools.product(paths, ODD)), 60):
        document = json.loads(whole)
        put(*path, odd)(document)
        (tmp_path / "y.json").write_text(json.dumps(sealed(document)))
        try:
            found = md.load_mechanism(tmp_path / "y.json").mechanism
        except (md.CertificateError, md.InputError):  # InputError: no JSON, such as NaN
            continue
        (stated,) = document["problem"]["privacy"]
        if found.leakage_factor is None:  # each pair of inputs has a bound of its own
            assert found.privacy.holds(found.dense())
        else:
            assert found.largest_ratio() <= exp_lower(as_fraction(stated["epsilon"]))
        assert found.privacy.to_table()["notion"] == stated["notion"]


@pytest.mark.parametrize(
    "text",
    [
        *("[]", "{}", "{", ""),
        *(
            json.dumps({"format": kind, "version": 1})
            for kind in ([], {}, ["mechdesign-continuous"], None, 1, True, "other")
        ),
    ],
)
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    """Whatever stands where the name of the format is expected."""
    file = tmp_path / "x.json"
    for load in (md.load_mechanism, md.load_channel):
        with pytest.raises(md.InputError, match="cannot read the file"):
            load(tmp_path / "none.json")
        file.write_text(text)
        with pytest.raises(md.CertificateError if text.endswith(("}", "]")) else md.InputError):
            load(file)


# --- by name ------------------------------------------------------------------------------------

GRID = md.Domain.grid(2, 4)
PRIOR = md.Prior.uniform(8)
NOTIONS: dict[str, Notion] = {
    "ldp": md.LDP(1),
    "block": md.BlockLDP(1, block_rows=1, block_columns=2),
    "high-low": md.HighLowLDP(1, [(0, 0), (0, 1), (1, 3)]),
    "lip": md.LIP(3),
}


@pytest.mark.parametrize("notion", NOTIONS.values(), ids=NOTIONS)
def test_every_kind_that_is_there_for_a_notion_is_made_and_satisfies_it(notion: Notion) -> None:
    for kind in FORMS[type(notion)]:
        mechanism = mechanism_for(kind, GRID, notion, PRIOR)
        assert mechanism.privacy == notion
        assert mechanism.inputs == GRID
        assert mechanism.leakage <= float(notion.to_table()["epsilon"])


def test_every_kind_is_there_for_some_notion_and_described() -> None:
    assert set(MECHANISMS) == {kind for forms in FORMS.values() for kind in forms}
    assert all(line.endswith((".", ").")) and "\n" not in line for line in MECHANISMS.values())


def test_the_form_goes_by_the_notion() -> None:
    kind = "subset-selection"
    assert isinstance(mechanism_for(kind, GRID, NOTIONS["ldp"]), SubsetSelection)
    blocks = mechanism_for(kind, GRID, NOTIONS["block"])
    assert isinstance(blocks, ByComponent)
    assert blocks.parts[0] == SubsetSelection(2, 1)
    apart = mechanism_for(kind, GRID, NOTIONS["high-low"])
    assert isinstance(apart, HighLow)
    assert isinstance(apart.inner, SubsetSelection)
    single = mechanism_for(kind, GRID, md.HighLowLDP(1, [(0, 0)]))
    assert single.n_outputs == 8
    plain = mechanism_for("randomized-response", GRID, md.LDP(1))
    assert plain == GeneralizedRandomizedResponse(GRID, 1)
    lip = mechanism_for("lip-randomized-response", GRID, md.LIP(3), PRIOR)
    assert lip == LIPRandomizedResponse(GRID, 3, PRIOR)


def test_a_size_is_for_subsets() -> None:
    assert mechanism_for("subset-selection", GRID, md.LDP(1), size=4).parameters()["size"] == 4
    found = mechanism_for("subset-selection", GRID, NOTIONS["high-low"], size=2)
    assert found.parameters()["inner"]["law"]["size"] == 2
    for kind in ("hadamard-response", "randomized-response", "optimized-unary-encoding"):
        with pytest.raises(md.InputError, match="size: expected none, as"):
            mechanism_for(kind, GRID, md.LDP(1), size=2)
    check_refused("size", lambda: mechanism_for("subset-selection", GRID, md.LDP(1), size=8))


@pytest.mark.parametrize(
    ("kind", "notion", "words"),
    [
        ("hadamard", md.LDP(1), "kind: expected one of .*did you mean 'hadamard-response'"),
        (
            "subset-selection",
            md.PML(1),
            "privacy.notion: expected one of ldp, block, high-low, lip",
        ),
        ("subset-selection", md.LIP(1), "kind: expected one of lip-randomized-response under lip"),
        ("lip-randomized-response", md.LDP(1), "kind: expected one of randomized-response,"),
        ("symmetric-unary-encoding", md.HighLowLDP(1, [(0, 0)]), "under high-low"),
        ("lip-randomized-response", md.LIP(1), "prior: expected a prior"),
        ("subset-selection", md.BlockLDP(1, [[(0, 0)]]), "is in no block"),
        ("subset-selection", md.HighLowLDP(0, [(0, 0), (0, 1)]), "epsilon"),
    ],
)
def test_mismatched_arguments_are_refused(kind: str, notion: Notion, words: str) -> None:
    check_refused(words, mechanism_for, kind, GRID, notion)


def test_off_its_region_a_mechanism_is_refused() -> None:
    with pytest.raises(md.UnsupportedError, match="would leak"):
        mechanism_for("lip-randomized-response", GRID, md.LIP(1), PRIOR)

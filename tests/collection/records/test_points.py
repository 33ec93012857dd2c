"""Two columns of points through a channel of the plane: what is read, refused, clipped, counted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mechdesign import Channel, InputError, RepeatedDrawWarning
from mechdesign.accounting import leakages
from mechdesign.collection.records import privatize_file, read_ledger, tally_file
from mechdesign.collection.tables import privatize, tally
from mechdesign.collection.tables.readers import NumberReader
from mechdesign.continuous import ContinuousChannel
from mechdesign.estimation import estimate
from tests.records_support import load, save

CORNERS = [(-1, 0), (-1, 2.5), (3, 0), (3, 2.5)]
TELLING = ContinuousChannel(
    [(-1, 0), (3, "5/2")],
    "linear",
    [[-1, 3], [0, "5/2"]],
    Channel.from_matrix(np.eye(4), outputs=CORNERS),
)
"""The report of a corner of the box is the corner."""

SHARES = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0, 0.2, 0.8, 0], [0.2, 0, 0, 0.8]])
NOISY = ContinuousChannel(
    TELLING.domain, "linear", TELLING.axes, Channel.from_matrix(SHARES, outputs=CORNERS)
)
X, Y = ["-1", " 3 ", "3.0", "-1e0"], ["0", "2.5", "0.0", "+2.50"]
SEEN = [0, 3, 2, 1]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_points_go_in_and_reports_come_out(ending: str, tmp_path: Path) -> None:
    source = save(tmp_path / f"in.{ending}", {"id": ["x"] * 4, "x": X, "y": Y})
    target = tmp_path / f"out.{ending}"
    done = privatize_file(TELLING, source, target, ("x", "y"), chunk=3, force=True)
    assert (done.rows, done.reports) == (4, 4)
    written = load(target)
    pairs = zip(written["x"], written["y"], strict=True)
    assert [(float(x), float(y)) for x, y in pairs] == [CORNERS[n] for n in SEEN]
    found = tally_file(TELLING, target, ("x", "y"))
    assert found.counts.tolist() == [1, 1, 1, 1]
    assert estimate(TELLING, found).values == pytest.approx([0.25] * 4)


def test_inside_a_cell_the_reports_have_the_density(tmp_path: Path) -> None:
    n = 4000
    source = save(tmp_path / "in.csv", {"x": ["0.5"] * n, "y": ["1"] * n})
    privatize_file(NOISY, source, tmp_path / "out.csv", ("x", "y"), rng=5, force=True)
    counts = tally_file(NOISY, tmp_path / "out.csv", ("x", "y")).counts
    wanted = np.array([float(q) for q in NOISY.density((0.5, 1))])
    assert (abs(counts / n - wanted) < 5 * np.sqrt(wanted * (1 - wanted) / n)).all()


@pytest.mark.parametrize(
    ("x", "y", "given"),
    [
        ("ten", "1", "another text"),
        ("nan", "1", "another text"),
        ("inf", "1", "another text"),
        ("3.01", "1", "a point outside"),
        ("1", "-1e-300", "a point outside"),
        ("1", "1, 2", "another text"),
        ("", "1", "an empty cell"),
    ],
)
def test_points_outside_the_box_are_refused(x: str, y: str, given: str, tmp_path: Path) -> None:
    source = save(tmp_path / "in.csv", {"x": [*X, x], "y": [*Y, y]})
    with pytest.raises(InputError, match=r"line 6.*expected points of Box") as raised:
        privatize_file(TELLING, source, tmp_path / "out.csv", ("x", "y"), force=True)
    if given != "an empty cell":
        assert raised.value.given == given
    rules = {"unknown": "drop", "missing": "map:(3, 2.5)"}
    done = privatize_file(TELLING, source, tmp_path / "out.csv", ("x", "y"), **rules, force=True)
    assert done.reports == 4 + (x == "")
    if x == "":
        assert load(tmp_path / "out.csv")["x"][-1] in ("3", 3)


def test_points_outside_are_clipped_to_the_nearest(tmp_path: Path) -> None:
    source = save(tmp_path / "in.csv", {"x": ["-1e999", "7", "-1"], "y": ["-5", "0", "99"]})
    done = privatize_file(
        TELLING, source, tmp_path / "out.csv", ("x", "y"), unknown="clip", force=True
    )
    assert [n for n, _ in done.unknown.values()] == [3]
    found = tally_file(TELLING, tmp_path / "out.csv", ("x", "y"))
    assert found.counts.tolist() == [1, 1, 1, 0]


@pytest.mark.parametrize("label", ["7", "(7, 0)", "(0, 0, 0)", "(0, x)"])
def test_a_policy_names_a_point_of_the_box(label: str) -> None:
    with pytest.raises(InputError, match="expected points of Box"):
        NumberReader(TELLING, f"map:{label}", "refuse")


def test_a_column_of_points_as_text() -> None:
    given = ["(-1, 0)", "(3,2.5)", " ( 3 , 0 ) "]
    reports = privatize(given, TELLING)
    assert tally(reports, TELLING).counts.tolist() == [1, 0, 1, 1]


def test_draws_of_points_are_known_again(tmp_path: Path) -> None:
    source = save(tmp_path / "in.csv", {"x": X, "y": Y})
    same = save(tmp_path / "same.csv", {"x": X[::-1], "y": Y[::-1]})
    other = save(tmp_path / "other.csv", {"x": X, "y": ["0"] * 4})
    ledger = tmp_path / "ledger.json"
    for n, file in enumerate((source, other)):
        privatize_file(NOISY, file, tmp_path / f"out{n}.csv", ("x", "y"), ledger=ledger, force=True)
    with pytest.warns(RepeatedDrawWarning, match="drawn for 1 time before"):
        privatize_file(NOISY, same, tmp_path / "out2.csv", ("x", "y"), ledger=ledger, force=True)
    assert json.dumps(read_ledger(ledger).to_json())


def test_a_plane_leaks_what_its_nodes_leak() -> None:
    assert leakages(NOISY).to_json() == leakages(NOISY.nodes).to_json()

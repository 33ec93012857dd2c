"""Designs whose channel is noise: between the proof and the optimum, saved, loaded and used."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from mechdesign import (
    LDP,
    Domain,
    EuclideanDistance,
    HammingLoss,
    MeanAbsoluteError,
    MeanSquaredDistance,
    MetricPrivacy,
    Prior,
    Problem,
    UnsupportedError,
    design,
    load_mechanism,
    resources,
    save,
)
from mechdesign.cli import main
from mechdesign.mechanisms import GeometricNoise, PlanarLaplace
from mechdesign.mechanisms.lattice_noise import LatticeNoise
from mechdesign.search import routes as coarse_route
from tests.refusals_support import check_refused

COUNTS = [(x * 7) % 5 for x in range(36)]

CITY = Problem(
    Domain.grid(6, 6, spacing="0.5"),
    MetricPrivacy("1.6", "euclidean"),
    EuclideanDistance(),
    prior=Prior.from_counts(COUNTS),
)

WALKS = Problem(
    Domain.grid(5, 4), MetricPrivacy(1, "manhattan"), HammingLoss(), prior=Prior.uniform(20)
)

LINE = Problem(Domain.range(30), MetricPrivacy("0.5", "absolute"), MeanAbsoluteError())

SQUARES = Problem(Domain([0, 2, 4, 6]), MetricPrivacy(1, "euclidean"), MeanSquaredDistance())


@pytest.mark.parametrize("problem", [CITY, WALKS, LINE, SQUARES])
def test_the_optimum_lies_between_value_and_bound(problem: Problem, tmp_path: Path) -> None:
    found, best = design(problem, route="noise"), design(problem)
    assert isinstance(found.channel, LatticeNoise)
    assert best.gap < 1e-6
    assert 0.9 * best.value <= found.bound <= best.value <= found.value <= 1.6 * best.value
    prior, loss = problem.prior, {"mean-absolute-error": "absolute"}
    name = loss.get(problem.utility.name, problem.utility.name.removeprefix("mean-"))
    low, high = found.channel.expected_loss(prior, name.removesuffix("-distance"))
    assert low <= found.value <= high * (1 + 1e-12)
    save(found, tmp_path / "noise.json")
    saved = load_mechanism(tmp_path / "noise.json")
    assert saved.mechanism == found.channel
    assert saved.prior == problem.prior
    assert saved.verified.value == found.value
    assert saved.verified.bound == found.bound


def test_on_a_line_the_remapped_noise_is_the_optimum() -> None:
    """Ghosh, Roughgarden and Sundararajan: for the absolute error at any prior."""
    found = design(LINE, route="noise")
    assert isinstance(found.channel, GeometricNoise)
    assert float(found.value) == pytest.approx(float(design(LINE).value), rel=1e-6)


def test_the_report_names_the_noise_and_the_proofs() -> None:
    found = design(CITY, route="noise")
    assert "planar-laplace with the best remap" in str(found)
    assert "rectangles for outputs" in str(found)
    printed = found.to_json()
    assert printed["channel"]["mechanism"] == "planar-laplace"
    assert printed["bound"] <= printed["value"] == pytest.approx(float(found.value))
    assert found.dense().shape[0] == 36
    assert found.binding == ()


def test_large_problems_are_noise_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not isinstance(design(CITY).channel, LatticeNoise)
    monkeypatch.setattr(coarse_route, "TOO_MANY", 1000)
    assert isinstance(design(CITY, time_limit=20).channel, LatticeNoise)
    tiny = CITY.at("1e-6")  # too small a budget for noise, not for a matrix
    assert not isinstance(design(tiny).channel, LatticeNoise)
    assert not isinstance(design(CITY, route="coarse", time_limit=5).channel, LatticeNoise)


def test_more_inputs_than_a_matrix_may_have() -> None:
    """Ten crowded cells of 70 x 70: nothing is made for each pair of inputs."""
    counts = [0] * 4900
    counts[::490] = range(1, 11)
    domain, notion = Domain.grid(70, 70), MetricPrivacy("0.4", "euclidean")
    city = Problem(domain, notion, EuclideanDistance(), prior=Prior.from_counts(counts))
    found = design(city, gap=0.9)
    assert isinstance(found.channel, PlanarLaplace)
    assert 0 < found.bound <= found.value
    assert not city.is_written_out
    for ask in (
        lambda: city.cone,
        lambda: Problem(domain, LDP(1), EuclideanDistance()),
        lambda: Problem(domain, notion, EuclideanDistance(), outputs=[(0, 0)]),
    ):
        with pytest.raises(UnsupportedError, match="at most 4096 inputs"):
            ask()


def test_a_proof_of_too_many_steps_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mechdesign.designs.noise.FEWEST_STEPS", 1)
    with resources.allow(proof_steps=10_000):
        found = design(CITY, route="noise")
    assert any(note.startswith("a closer bound is not proved") for note in found.notes)
    assert found.bound == 0


@pytest.mark.parametrize(
    "problem",
    [
        Problem(Domain.range(4), LDP(1), MeanAbsoluteError()),
        Problem([0, 1, 3], MetricPrivacy(1, "absolute"), MeanAbsoluteError()),
        Problem(Domain.range(4), MetricPrivacy(1, "absolute"), MeanAbsoluteError(worst_case=True)),
        Problem(Domain.range(4), MetricPrivacy(1, "absolute"), HammingLoss(), outputs=[0, 1]),
    ],
)
def test_problems_unsuitable_for_noise_are_refused(problem: Problem) -> None:
    with pytest.raises(UnsupportedError, match="for noise"):
        design(problem, route="noise")


def test_a_budget_too_small_for_noise_is_refused() -> None:
    check_refused("for each step", lambda: design(CITY.at("1e-6"), route="noise"))


TOML = """\
[domain]
grid = { rows = 5, columns = 5 }
[prior]
counts = [9, 0, 1, 2, 3, 9, 0, 1, 2, 3, 9, 0, 1, 2, 3, 9, 0, 1, 2, 3, 9, 0, 1, 2, 3]
[privacy]
notion = "metric"
epsilon = 1.0
distance = "euclidean"
[utility]
objective = "euclidean"
"""


def test_the_command_line_solves_and_verifies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("city.toml").write_text(TOML, encoding="utf-8")
    arguments = ["city.toml", "--route", "noise", "-o", "city.json", "--plot", "city.png"]
    assert main(["solve", *arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert main(["verify", "city.json"]) == 0
    message = capsys.readouterr().out
    assert f"no private channel has a loss below {answer['bound']:.10g}" in message
    document = json.loads(Path("city.json").read_text("utf-8"))
    assert Fraction(document["bound"]) <= Fraction(document["value"])
    document["bound"] *= 1.001
    Path("city.json").write_text(json.dumps(document), encoding="utf-8")
    assert main(["verify", "city.json"]) != 0
    assert "digest" in capsys.readouterr().err

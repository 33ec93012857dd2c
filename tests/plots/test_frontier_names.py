"""Names of frontiers in a picture, and their points as a frame."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

from mechdesign import LDP, HammingLoss, Problem
from mechdesign.plots import plot_frontier
from mechdesign.sweeps import Frontier, trace_frontier


def curve(prior: list[float], title: str = "") -> Frontier:
    survey = Problem(["yes", "no"], LDP(1), HammingLoss(), prior=prior, title=title)
    return trace_frontier(survey, [0.5, 1], progress=False)


def legend(*given: object) -> list[str]:
    ax = plot_frontier(*given, Figure().subplots())  # type: ignore[arg-type]
    return ax.get_legend_handles_labels()[1]


def test_frontiers_of_two_priors_have_two_names() -> None:
    assert legend([curve([0.5, 0.5]), curve([0.1, 0.9])]) == [
        "ldp, Prior(0.5, 0.5)",
        "ldp, Prior(0.1, 0.9)",
    ]
    assert legend([curve([0.5, 0.5], "men"), curve([0.5, 0.5], "women")]) == [
        "ldp, men",
        "ldp, women",
    ]
    assert legend(curve([0.5, 0.5])) == ["ldp"]


def test_the_keys_of_a_dict_are_the_names() -> None:
    assert legend({"even": curve([0.5, 0.5]), "rare": curve([0.1, 0.9])}) == ["even", "rare"]


def test_a_frame_has_a_row_for_each_budget() -> None:
    frame = curve([0.5, 0.5]).to_frame()
    assert list(frame.columns) == ["epsilon", "status", "value", "bound", "gap", "route"]
    assert frame["epsilon"].tolist() == [0.5, 1]
    for epsilon, value in zip(frame["epsilon"], frame["value"], strict=True):
        assert math.isclose(value, 1 / (1 + math.exp(epsilon)), rel_tol=1e-9)
    assert set(frame["status"]) == {"optimal"}

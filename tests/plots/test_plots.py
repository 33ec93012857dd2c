"""Plots show the given data, every axis is labeled, and no text is cut off."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, strategies as st
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from mechdesign import (
    LDP,
    LIP,
    PML,
    ApproximateLDP,
    Channel,
    DifferentialIdentifiability,
    HammingLoss,
    HighLowLDP,
    MetricPrivacy,
    MutualInformation,
    Prior,
    Problem,
    design,
    min_epsilon,
    plots,
)
from mechdesign.accounting import error_region, leakages, relations, trade_off
from mechdesign.continuous import ContinuousChannel
from mechdesign.errors import InputError, UnsupportedError
from mechdesign.notions import Notion
from mechdesign.plots import polytope
from mechdesign.sweeps import design_frontier
from mechdesign.sweeps.frontier import Frontier, FrontierPoint
from tests.refusals_support import check_refused
from tests.strategies import channels, examples, priors

WARNER = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["$yes$", "no"])
SKEWED = Prior([0.2, 0.8])
THREE = Prior([0.2, 0.3, 0.5])


def axes() -> Axes:
    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots()


def drawn(ax: Axes) -> Axes:
    """Draw for good, and see that no text is outside the picture."""
    figure = ax.figure
    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    for text in [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts]:
        if text.get_text() and text.get_visible() and ax.axison:
            box = text.get_window_extent()
            assert box.x0 >= -1
            assert box.y0 >= -1
            assert box.x1 <= width + 1
            assert box.y1 <= height + 1
    return ax


def legend(ax: Axes) -> list[str]:
    found = ax.get_legend()
    return [text.get_text() for text in found.get_texts()]


def ticks(axis: object) -> list[str]:
    return [text.get_text() for text in axis.get_ticklabels()]


# channels and posteriors


def test_a_channel_is_its_matrix() -> None:
    ax = drawn(plots.plot_channel(WARNER, axes()))
    (image,) = ax.images
    assert np.array_equal(image.get_array(), WARNER.matrix)
    assert [text.get_text() for text in ax.texts] == ["0.750", "0.250", "0.250", "0.750"]
    assert ticks(ax.yaxis) == [r"\$yes\$", "no"]
    assert [other.get_ylabel() for other in ax.figure.axes[1:]] == ["Q(y|x)"]


def test_channels_in_one_figure_share_a_color_scale() -> None:
    panels, clear = Figure().subplots(1, 2), Channel.from_matrix(np.eye(2))
    for ax, channel in zip(panels, (WARNER, clear), strict=True):
        plots.plot_channel(channel, ax)
    assert [ax.images[0].get_clim() for ax in panels] == [(0, 1), (0, 1)]


@pytest.mark.parametrize("prior", [SKEWED, Prior([0.5, 0.5])])
def test_posteriors_are_bars_over_the_prior(prior: Prior) -> None:
    ax = drawn(plots.plot_posterior(WARNER, prior, axes()))
    heights = [bar.get_height() for bar in ax.patches]
    p = prior.array
    expected = [
        p[x] * WARNER.matrix[x, y] / sum(p[z] * WARNER.matrix[z, y] for z in (0, 1))
        for x in (0, 1)
        for y in (0, 1)
    ]
    assert heights == pytest.approx(expected)
    for x, lines in enumerate(ax.collections):
        ends = np.array(lines.get_segments())
        assert ends[:, :, 1] == pytest.approx(p[x])
        middles = [b.get_x() + b.get_width() / 2 for b in ax.patches[2 * x : 2 * x + 2]]
        assert ends[:, :, 0].mean(axis=1) == pytest.approx(middles)
    assert legend(ax) == ["prior P(x)", r"\$yes\$", "no"]


def test_many_posteriors_are_a_map_of_log_lifts() -> None:
    k, prior = 12, Prior.uniform(12)
    channel = design(Problem(range(k), LDP(1), HammingLoss())).channel
    ax = drawn(plots.plot_posterior(channel, prior, axes(), "Twelve inputs"))
    (image,) = ax.images
    lift = np.log(channel.matrix / channel.matrix.mean(axis=0))
    assert np.asarray(image.get_array()) == pytest.approx(lift)
    assert image.get_clim() == pytest.approx((-np.abs(lift).max(), np.abs(lift).max()))
    assert "nats" in ax.figure.axes[1].get_ylabel()
    clear = plots.plot_posterior(Channel.from_matrix(np.eye(9)), Prior.uniform(9), axes())
    shown = drawn(clear).images[0].get_array()
    assert np.array_equal(np.ma.getmaskarray(shown), ~np.eye(9, dtype=bool))  # impossible cells
    assert shown.compressed() == pytest.approx(math.log(9))


@examples(5)
@given(st.data())
def test_any_posterior_can_be_drawn(data: st.DataObject) -> None:
    k = data.draw(st.integers(1, 9))
    channel, prior = data.draw(channels(k)), data.draw(priors(k))
    ax = drawn(plots.plot_posterior(channel, prior, axes()))
    if ax.patches:
        heights = np.array([bar.get_height() for bar in ax.patches]).reshape(k, -1)
        assert heights.sum(axis=0) == pytest.approx(
            [float(share > 0) for share in channel.output_distribution(prior)]
        )


# frontiers


def frontier(notion: Notion, *epsilons: str) -> Frontier:
    return design_frontier(
        Problem(range(3), notion, HammingLoss(), prior=THREE), epsilons, errors="return"
    )


def test_frontiers_are_lines_of_their_values() -> None:
    curves = [frontier(notion, "2", "0.5", "1") for notion in (LDP(1), LIP(1))]
    ax = drawn(plots.plot_frontier(curves, axes()))
    assert len(ax.lines) == 2
    assert not ax.collections  # nothing is undecided
    for line, curve in zip(ax.lines, curves, strict=True):
        by_budget = sorted((float(p.epsilon), float(p.solution.value)) for p in curve.points)
        assert line.get_xydata() == pytest.approx(np.array(by_budget))
    assert legend(ax) == ["ldp", "lip"]
    colours, marks = ({getattr(line, get)() for line in ax.lines} for get in LINE_STYLES)
    assert len(colours) == len(marks) == 2


LINE_STYLES = ("get_color", "get_marker")


def test_an_undecided_part_is_shaded_down_to_the_bound() -> None:
    found = frontier(LDP(1), "1", "2")
    wide = tuple(
        FrontierPoint(p.epsilon, replace(p.solution, bound=Fraction("0.1"))) for p in found.points
    )
    ax = drawn(plots.plot_frontier(Frontier(found.problem, wide), axes(), labels=["mine"]))
    (shade,) = ax.collections
    heights = shade.get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(0.1)
    assert heights.max() == pytest.approx(max(float(p.solution.value) for p in wide))
    assert legend(ax) == ["mine", "mine: undecided, down to the proved bound"]


def test_budgets_without_a_channel_and_the_wanted_loss_are_marked() -> None:
    curve = frontier(DifferentialIdentifiability(2), "0.5", "0.9", "1.5", "2.5")
    reach = min_epsilon(curve.problem, "0.3", precision="1e-3")
    ax = plots.plot_frontier(curve, axes(), reached=[reach], logarithmic=True)
    drawn(ax)
    line, crosses, wanted, star = ax.lines
    assert crosses.get_xdata().tolist() == [0.5, 0.9]  # ln 2.5 = 0.916 is needed
    assert line.get_xdata().tolist() == [1.5, 2.5]
    assert set(wanted.get_ydata()) == {0.3}
    assert star.get_xydata().tolist() == [[float(reach.epsilon), 0.3]]
    assert legend(ax)[1:] == [
        "differential-identifiability: infeasible",
        f"0.3 from epsilon = {float(reach.epsilon):.4g} on",
    ]
    assert ax.get_xscale() == "log"
    assert {"0.5", "1", "2"} <= set(ticks(ax.xaxis))


def test_frontiers_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    information = design_frontier(Problem(range(3), LDP(1), MutualInformation()), [1])
    with pytest.raises(InputError, match="one objective, given hamming, mutual-information"):
        plots.plot_frontier([frontier(LDP(1), "1"), information], axes())
    check_refused("at least one", lambda: plots.plot_frontier([], axes()))
    check_refused("results of design_frontier, given 1", lambda: plots.plot_frontier([1], axes()))
    with pytest.raises(InputError, match="labels: expected 1 names"):
        plots.plot_frontier(information, axes(), labels=["a", "b"])
    assert plots.plot_frontier(information, axes()).get_ylabel() == "gain: mutual-information"
    plots.save_plot(tmp_path / "out.png", lambda ax: plots.plot_frontier(information, ax))
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


def curve(prior: list[float], title: str = "") -> Frontier:
    survey = Problem(["yes", "no"], LDP(1), HammingLoss(), prior=prior, title=title)
    return design_frontier(survey, [0.5, 1], progress=False)


def names(found: object) -> list[str]:
    return legend(plots.plot_frontier(found, Figure().subplots()))


def test_frontiers_of_two_priors_have_two_names() -> None:
    even, rare = curve([0.5, 0.5]), curve([0.1, 0.9])
    assert names([even, rare]) == ["ldp, Prior(0.5, 0.5)", "ldp, Prior(0.1, 0.9)"]
    titled = [curve([0.5, 0.5], title) for title in ("men", "women")]
    assert names(titled) == ["ldp, men", "ldp, women"]
    assert names(even) == ["ldp"]
    assert names({"even": even, "rare": rare}) == ["even", "rare"]


# the polytope of three inputs


def share_of(ax: Axes, places: np.ndarray) -> np.ndarray:
    """Return the posteriors that points of the triangle stand for, one in a row."""
    system = np.vstack([polytope.CORNERS.T, np.ones(3)])
    return np.linalg.solve(system, np.column_stack([places, np.ones(len(places))]).T).T


def marks(ax: Axes, label: str) -> np.ndarray:
    (line,) = [line for line in ax.lines if line.get_label() == label]
    return share_of(ax, line.get_xydata())


def near(found: np.ndarray, expected: list[list[float]]) -> bool:
    """Whether two sets of points are the same."""
    distance = np.abs(found[:, None] - np.array(expected)[None]).max(axis=2)
    return len(found) == len(expected) and bool((distance.min(axis=1) < 1e-8).all())


def lifted(*columns: list[float]) -> list[list[float]]:
    joint = [THREE.array * column for column in columns]
    return [(j / j.sum()).tolist() for j in joint]


E, ROOT = math.e, math.exp(0.5)
RAYS: dict[str, tuple[Notion, list[list[float]]]] = {
    # all columns with entries 1 and e but the constant ones
    "ldp": (LDP(1), lifted([E, 1, 1], [1, E, 1], [1, 1, E], [1, E, E], [E, 1, E], [E, E, 1])),
    # one sensitive input: a ray with all inputs, and the others alone
    "high-low": (HighLowLDP(1, [0]), lifted([E, 1, 1], [0, 1, 0], [0, 0, 1])),
    # on a line every step is up or down by the whole budget
    "metric": (
        MetricPrivacy(1, "absolute"),
        lifted([1, E, E * E], [E, 1, E], [1, E, 1], [E * E, E, 1]),
    ),
    # posteriors are at most so much times the prior: two inputs at the end of their range
    "pml": (
        PML("0.5"),
        [
            [0.2 * ROOT, 0.3 * ROOT, 1 - 0.5 * ROOT],
            [0.2 * ROOT, 0, 1 - 0.2 * ROOT],
            [1 - 0.5 * ROOT, 0, 0.5 * ROOT],
            [0, 1 - 0.5 * ROOT, 0.5 * ROOT],
            [0, 0.3 * ROOT, 1 - 0.3 * ROOT],
        ],
    ),
    "pml, wide": (PML(3), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    "nothing is told": (LDP(0), [THREE.array.tolist()]),
}


@pytest.mark.parametrize("name", RAYS)
def test_the_corners_are_the_rays_of_the_cone(name: str) -> None:
    notion, expected = RAYS[name]
    problem = Problem(range(3), notion, MutualInformation(), prior=THREE)
    ax = drawn(plots.plot_polytope(problem, ax=axes()))
    assert near(marks(ax, "extreme rays"), expected)
    assert near(marks(ax, "prior"), [THREE.array.tolist()])
    texts = {text.get_text() for text in ax.texts}
    assert {"0", "1", "2", "P(0 | y)", "P(1 | y)", "P(2 | y)", "0.2", "0.8"} <= texts
    assert ax.get_title() == repr(notion)


@pytest.mark.parametrize("notion", [LIP("0.8"), LDP(2), MetricPrivacy("0.3", "absolute")])
def test_the_outputs_of_a_channel_are_where_their_posteriors_are(notion: Notion) -> None:
    problem = Problem(range(3), notion, MutualInformation(), prior=THREE)
    channel = design(problem).channel
    ax = drawn(plots.plot_polytope(problem, channel, axes()))
    (circles,) = [found for found in ax.collections if isinstance(found, PathCollection)]
    places = share_of(ax, np.asarray(circles.get_offsets()))
    assert pytest.approx(channel.posterior(THREE)) == places.T
    areas, shares = circles.get_sizes(), THREE.array @ channel.matrix
    assert (areas - areas.min()) / 420 == pytest.approx(shares - shares.min())
    named = [text.get_text() for text in ax.texts if text.get_color() == plots.style.VERMILION]
    assert sorted(", ".join(named).split(", ")) == [str(y) for y in channel.outputs]


def test_the_scale_of_an_input_is_on_its_side() -> None:
    """The text 0.2 of an input stands beside a point of an edge at which its share is 0.2."""
    problem = Problem(["a", "b", "c"], LDP(1), MutualInformation(), prior=THREE)
    ax = plots.plot_polytope(problem, ax=axes())
    numbers = [text for text in ax.texts if text.get_text() == "0.2"]
    places = share_of(ax, np.array([text.get_position() for text in numbers]))
    assert len(numbers) == 3
    for x, place in enumerate(places):
        assert place[x] == pytest.approx(0.2, abs=0.03)
        assert place[(x + 2) % 3] < 0  # just outside the edge to the input after


@pytest.mark.parametrize(
    ("problem", "channel", "kind", "message"),
    [
        (Problem(range(2), LDP(1), HammingLoss()), None, InputError, "three inputs, given 2"),
        (Problem(range(3), LDP(1), HammingLoss()), WARNER, InputError, r"three .* \(3, 2\)"),
        (
            Problem(range(3), LDP(1), HammingLoss(), prior=[0, 0.5, 0.5]),
            None,
            InputError,
            "prior: expected a probability > 0",
        ),
        (
            Problem(range(3), ApproximateLDP(1, "0.1"), HammingLoss()),
            None,
            UnsupportedError,
            "conditions on single columns, given approximate-ldp",
        ),
    ],
)
def test_problems_without_a_polytope_are_refused(
    problem: Problem, channel: Channel | None, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        plots.plot_polytope(problem, channel, axes())


# tests, leakages, relations


def test_an_error_region_and_its_tests() -> None:
    curve, region = trade_off(WARNER, "$yes$", "no"), error_region(1)
    ax = drawn(plots.plot_error_region(curve, region, axes()))
    (shade,) = ax.patches
    corner = 1 / (1 + math.e)
    assert shade.get_xy()[:3] == pytest.approx(np.array([[0, 1], [corner, corner], [1, 0]]))
    edge, tests, guessing = ax.lines
    assert edge.get_xydata() == pytest.approx(shade.get_xy()[:3])
    assert tests.get_xydata().tolist() == [[0, 1], [0.25, 0.25], [1, 0]]
    assert guessing.get_xydata().sum(axis=1).tolist() == [1, 1]
    assert legend(ax) == ["allowed at 1 nats", r"best tests, \$yes\$ against no", "guessing"]
    assert ax.get_aspect() == 1


def test_several_tests_and_a_one_sided_region() -> None:
    curve = trade_off(WARNER, "no", "$yes$")
    two = plots.plot_error_region([curve, curve], error_region(1, "inf"), axes(), labels=["p", "q"])
    assert legend(drawn(two)) == ["allowed at 1, inf nats", "p", "q", "guessing"]
    assert len(plots.plot_error_region([curve], ax=axes()).patches) == 0
    with pytest.raises(InputError, match="labels: expected 1 names"):
        plots.plot_error_region(curve, ax=axes(), labels=[])


def test_leakages_are_bars_with_their_numbers() -> None:
    mangat = Channel.from_matrix([[1, 0], ["1/4", "3/4"]])
    found = leakages(mangat, SKEWED)
    ax = drawn(plots.plot_leakages(found, axes()))
    values = [row.value for row in found.rows]
    assert math.inf in values
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == [value if value < math.inf else 0 for value in values]
    assert ticks(ax.yaxis) == [row.notion for row in found.rows]
    words = [text.get_text() for text in ax.texts]
    assert words == [f"{value:.4g}" if value < math.inf else "infinite" for value in values]
    bottom, top = ax.get_ylim()
    assert bottom > top  # the first on top


def test_relations_are_pairs_of_bars() -> None:
    found = relations(LIP(1), SKEWED)
    ax = drawn(plots.plot_relations(found, axes()))
    widths = [bar.get_width() for bar in ax.patches]
    sides = [[row.tight for row in found.rows], [row.bound for row in found.rows]]
    expected = [0 if v is None or math.isinf(v) else v for side in sides for v in side]
    assert widths == pytest.approx(expected)
    assert legend(ax) == ["exactly", "bound in closed form"]
    assert ax.get_title() == "LIP(epsilon=1) implies"


# what all have in common


SURVEY = Problem(range(3), LDP(1), MutualInformation(), prior=THREE)
KERNEL = ContinuousChannel(
    [0, 2], "linear", [0, 2], Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], outputs=[0, 3])
)
X, Y = "input x (the truth)", "output y (what is reported)"
PLOTS: dict[str, tuple[Callable[..., Axes], str, str]] = {
    "channel": (partial(plots.plot_channel, WARNER), Y, X),
    "posterior": (partial(plots.plot_posterior, WARNER, SKEWED), Y, "posterior P(x|y)"),
    "frontier": (
        lambda ax=None, **named: plots.plot_frontier(design_frontier(SURVEY, [1]), ax, **named),
        "epsilon (nats)",
        "gain: mutual-information",
    ),
    "polytope": (partial(plots.plot_polytope, SURVEY), "", ""),
    "error region": (
        partial(plots.plot_error_region, trade_off(WARNER, "$yes$", "no")),
        "false alarm rate",
        "missed detection rate",
    ),
    "leakages": (partial(plots.plot_leakages, leakages(WARNER, SKEWED)), "leakage (nats)", ""),
    "relations": (partial(plots.plot_relations, relations(LDP(1), THREE)), "nats", ""),
    "kernel": (partial(plots.plot_kernel, KERNEL), "x (the truth)", Y),
    "quantiles": (partial(plots.plot_report_quantiles, KERNEL), "x (the truth)", "report y"),
    "loss": (partial(plots.plot_loss, KERNEL), "x (the truth)", "expected absolute error"),
}
"""Every plot with the names of its axes."""


@pytest.mark.parametrize("name", PLOTS)
def test_every_plot_is_on_given_or_new_axes_with_their_names(name: str) -> None:
    draw, *names = PLOTS[name]
    given_axes = axes()
    assert draw(ax=given_axes, title="for $5") is given_axes
    new = draw(title="for $5")
    assert new is not given_axes
    drawn(given_axes)
    for ax in (given_axes, new):
        assert [ax.get_title(), ax.get_xlabel(), ax.get_ylabel()] == [r"for \$5", *names]
    plt.close(new.figure)


def test_solutions_are_drawn_as_their_channels_and_frontiers() -> None:
    problem = Problem(["yes", "no"], LDP(1), HammingLoss())
    solutions = design_frontier(problem, [0.5, 1])
    lines = [plots.plot_frontier(given, Figure().subplots()).lines for given in (
        solutions, [solutions], {"a": solutions}, design_frontier(problem, [0.5, 1]),
    )]  # fmt: skip
    assert len({str(line.get_xydata()) for (line,) in lines}) == 1
    for draw in (plots.plot_channel, lambda one, ax: plots.plot_posterior(one, [0.5, 0.5], ax)):
        made = [draw(one, Figure().subplots()) for one in (solutions[0], solutions[0].channel)]
        texts = [[text.get_text() for text in ax.texts] for ax in made]
        assert texts[0] == texts[1]


def test_a_picture_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    def draw(ax: Axes) -> None:
        plots.plot_channel(WARNER, ax)

    for name in ("out.png", "out.PDF", "out.svg"):
        plots.save_plot(tmp_path / name, draw)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.PDF", "out.png", "out.svg"]
    with pytest.raises(InputError, match="cannot write the file"):
        plots.save_plot(tmp_path / "no" / "out.png", draw)
    check_refused(r"ends in \.png", lambda: plots.save_plot(tmp_path / "out.jpg", draw))


# continuous channels

HALF_LINES = ContinuousChannel(
    [-math.inf, math.inf],
    "cells",
    [-math.inf, 0, 10, math.inf],
    Channel.from_matrix(np.eye(3), outputs=[-5, 5, 15]),
)


def test_a_kernel_is_its_densities() -> None:
    ax = drawn(plots.plot_kernel(KERNEL, axes(), "two nodes"))
    (image,) = ax.images
    seen = np.asarray(image.get_array())
    assert seen[:, 0] == pytest.approx([0.75, 0.25])
    assert seen[:, 200] == pytest.approx([0.5, 0.5])
    assert image.get_extent() == [0, 2, -0.5, 1.5]
    assert ticks(ax.yaxis) == ["0", "3"]
    assert [other.get_ylabel() for other in ax.figure.axes[1:]] == ["Q(y|x)"]


def test_half_lines_are_cut_a_little_beyond_the_edges() -> None:
    (image,) = plots.plot_kernel(HALF_LINES, axes()).images
    assert image.get_extent()[:2] == [-1, 11]
    (image,) = plots.plot_kernel(HALF_LINES, axes(), span=(-100, 5)).images
    assert image.get_extent()[:2] == [-100, 5]
    for span in ((5, 5), (1, math.inf), "ab", 3):
        with pytest.raises(InputError, match="span: expected"):
            plots.plot_kernel(KERNEL, axes(), span=span)


def test_reports_and_losses_by_the_truth() -> None:
    ax = drawn(plots.plot_report_quantiles(KERNEL, axes()))
    bands = ["90 % of the reports", "half of the reports"]
    assert legend(ax) == [*bands, "median report", "the truth"]
    median, truth = ax.lines
    assert set(median.get_ydata()) == {0, 3}
    assert np.array_equal(truth.get_xdata(), truth.get_ydata())
    ax = drawn(plots.plot_loss(KERNEL, axes(), distance="squared", label="$2 nodes"))
    (line,) = ax.lines
    assert np.asarray(line.get_ydata())[[0, -1]] == pytest.approx([9 / 4, 7 / 4])
    assert legend(ax) == [r"\$2 nodes"]
    assert ax.get_ylabel() == "expected squared error"

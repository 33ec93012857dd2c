"""First steps of a user: wrong types end in one line, results have HTML, channels are copied."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import Channel, Domain, MechdesignError, Prior, Problem
from tests.refusals_support import check_refused

WARNER = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
PROBLEM = Problem(["a", "b"], md.LDP(1), md.HammingLoss())
HOSTILE = "<script>alert('x')</script> & \"more\""


NOTION = "expected a notion, such as LDP(1), or a list of them, given the class"
LABELS = "expected labels of the domain"
HAMMING = md.HammingLoss()
WRONG: dict[str, Callable[[], Any]] = {
    f"privacy: {NOTION} LDP; LDP(...) makes one": lambda: Problem([1, 2], md.LDP, HAMMING),
    f"privacy[1]: {NOTION} LIP; LIP(...) makes one": lambda: Problem(
        [1, 2], [md.LDP(1), md.LIP], HAMMING
    ),
    "utility: expected a utility, such as HammingLoss(), given the class HammingLoss; "
    "HammingLoss(...) makes one": lambda: Problem(2, md.LDP(1), md.HammingLoss),
    "domain: expected a Domain, a list of labels, or the number of inputs, given 'abc'": (
        lambda: Problem("abc", md.LDP(1), HAMMING)
    ),
    "channel: expected a Channel, given a list; Channel.from_matrix makes one of probabilities": (
        lambda: md.LDP(1).leakage([[1, 0], [0, 1]])
    ),
    "channel: expected a Channel, given a Solution; pass its .channel": (
        lambda: md.accounting.tightest_matrix(md.design(PROBLEM))
    ),
    "channels[0]: expected a Channel, given a SubsetSelection; pass its .dense()": (
        lambda: md.accounting.compose([md.mechanisms.SubsetSelection(3, 1)])
    ),
    "channel: expected a ContinuousChannel, given a Solution; pass its .channel": (
        lambda: md.plots.plot_kernel(md.design(PROBLEM))
    ),
    "channel: expected a ContinuousChannel, given a Channel; plot_channel draws a matrix": (
        lambda: md.plots.plot_reports(md.design(PROBLEM).channel, (1, 1))
    ),
    "bits: expected a whole number >= 1, given -1": lambda: Channel([[1]], bits=-1),
    "numerators: expected integers, given 0.5; Channel.from_matrix takes probabilities": (
        lambda: Channel([[0.5, 0.5]])
    ),
    f"records[0]: {LABELS} (0, 1), given another value; a label has this text, but another type": (
        lambda: Domain([0, 1]).codes(["0"])
    ),
    f"label: {LABELS} ('0', '1'), given 1; the text '1' is one, the number 1 is not": (
        lambda: Domain(["0", "1"]).index(1)
    ),
    "matrix: expected a matrix of numbers, given a Variable; pass Q.value; it is None until cvxpy "
    "has solved the program": lambda: md.certify(PROBLEM, PROBLEM.Q),
    "mechanism: expected a Channel or a Mechanism, given a Solution; pass its .channel": (
        lambda: md.estimate(md.design(PROBLEM), ["a"])
    ),
    "utility.objective: expected numbers or a grid as the domain for mean-absolute-error, given "
    "Domain(2 inputs: 'low', 'high'); number ordered answers, as range(5); HammingLoss takes any "
    "labels": lambda: Problem(["low", "high"], md.LDP(1), md.MeanAbsoluteError()),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_type_is_named_with_the_expected_one(message: str) -> None:
    assert str(check_refused("", WRONG[message])) == message


JUNK: list[Any] = [
    None, True, -1, 0, 1, 1.5, float("nan"), float("inf"), 10**30, "", "x", "1/3", b"x", [], [[]],
    [None], [[None]], ["x", "x"], [1, "x"], [[1, 2], [3]], [[0.5, 0.5], [0.5, 0.5]], {}, {"a": 1},
    {"a": "x"}, set(), {1, 2}, (), ((),), object(), int, md.LDP, md.HammingLoss, md.LDP(1),
    md.HammingLoss(), Domain([0, 1]), Prior([0.5, 0.5]), WARNER, np.zeros(0), np.zeros((2, 2)),
    np.array(1.0), np.array(["a"]), np.ones((2, 2, 2)), range(3), iter([1, 2]), len, complex(1, 1),
]  # fmt: skip
"""Values of every kind that somebody may put in a wrong place."""

junk = st.sampled_from(JUNK)

BY_NAME = [Domain, Domain.of, Domain.range, Prior, Prior.from_counts, Prior.uniform, md.PriorList]
BY_NAME += [Channel, Channel.from_matrix, md.LDP, md.LIP, md.PML, md.ContextAwareLDP, md.L2Risk]
BY_NAME += [md.MaximalLeakage, md.MutualInformationLeakage, md.DifferentialIdentifiability]
BY_NAME += [md.HammingLoss, md.MeanAbsoluteError, md.TVRisk, md.Distortion, md.design]
BY_NAME += [md.PosteriorMeanSquaredError, WARNER.then, WARNER.merge, WARNER.to_latex]
BY_NAME += [md.accounting.compose, md.accounting.product, md.accounting.tightest_matrix]
BY_NAME += [md.accounting.error_region]

ONE: dict[str, Callable[[Any], Any]] = {
    **{call.__qualname__: call for call in BY_NAME},
    "design by a route": lambda v: md.design(PROBLEM, route=v),
    "design with symmetries": lambda v: md.design(PROBLEM, symmetries=v),
    "design_many": lambda v: md.design_many(v, n_jobs=1, progress=False),
    "design_frontier": lambda v: md.design_frontier(v, [1], progress=False),
    "ByComponent": lambda v: md.mechanisms.ByComponent(3, v, [None]),
    "HighLow": lambda v: md.mechanisms.HighLow(3, v, None),
    "adaptive": lambda v: md.accounting.adaptive(v, v),
    "compose_sequence": lambda v: md.accounting.compose_sequence(v, [0.5, 0.5]),
    "trade_off": lambda v: md.accounting.trade_off(v, "yes", "no"),
    "attribute leakage": lambda v: md.accounting.sensitive_attribute_leakage([[0.5, 0.5]], v),
    "normal_quantile": lambda v: md.estimation.normal_quantile(0.9, v),
    "survey": lambda v: md.estimation.survey(WARNER, md.reports.Tally.of([3, 4]), v),
}

PAIRS = [Domain.grid, md.PriorBox, md.PriorBall, md.MetricPrivacy, md.HighLowLDP, md.BlockLDP]
PAIRS += [md.AsymmetricLift, md.ApproximateLDP, md.BoundedPriorLIP, md.BoundedPriorPML]
PAIRS += [md.SensitiveAttribute, md.SensitiveAttributePrivacy, Prior.from_data]
PAIRS += [md.mechanisms.GeneralizedRandomizedResponse, md.accounting.total_variation]
PAIRS += [md.accounting.log_ratio_bound, md.accounting.family_bound, md.accounting.privacy_profile]
PAIRS += [md.universal_channel]

TWO: dict[str, Callable[[Any, Any], Any]] = {
    **{call.__qualname__: call for call in PAIRS},
    "BoundedPriorLift": lambda a, b: md.BoundedPriorLift(a, 1, b),
    "Problem": lambda a, b: Problem(2, a, b),
    "Problem with a prior": lambda a, b: Problem(a, md.LIP(1), HAMMING, prior=b),
    "Problem with outputs": lambda a, b: Problem(a, md.LDP(1), HAMMING, outputs=b),
    "prior_mismatch": lambda a, b: md.accounting.prior_mismatch(a, b, [0.5, 0.5]),
    "relations": lambda a, b: md.accounting.relations(a, domain=b),
    "implied": lambda a, b: md.accounting.implied(md.LDP(1), a, b),
    "leakage": lambda a, b: md.LIP(1).leakage(a, b),
    "value": HAMMING.value,
    "Channel with inputs": lambda a, b: Channel.from_matrix(a, inputs=b),
}


def check(call: Callable[[], Any]) -> None:
    """Let a call return or refuse in one line; whatever else it raises fails the test."""
    try:
        call()
    except MechdesignError as error:
        message = str(error)
    else:
        message = ""
    assert "\n" not in message


@pytest.mark.parametrize("name", ONE)
def test_junk_ends_in_one_line(name: str) -> None:
    for value in JUNK:
        check(lambda value=value: ONE[name](value))


@pytest.mark.parametrize("name", TWO)
@given(a=junk, b=junk)
def test_two_values_of_junk_end_in_one_line(name: str, a: Any, b: Any) -> None:
    check(lambda: TWO[name](a, b))


LINE = md.continuous.ContinuousChannel([0, 9], "linear", [0, 9], WARNER)
CORNERS = Channel.from_matrix([["3/4", "1/4"]] * 2 + [["1/4", "3/4"]] * 2)
PLANE = md.continuous.ContinuousChannel([(0, 0), (9, 9)], "linear", [[0, 9]] * 2, CORNERS)
COLLECTING: dict[str, Callable[[Any], Any]] = {
    "channel": WARNER.privatize,
    "mechanism": md.mechanisms.GeneralizedRandomizedResponse(range(3), 1).privatize,
    "grid": md.mechanisms.GeneralizedRandomizedResponse(Domain.grid(2, 2), 1).privatize,
    "interval": LINE.privatize,
    "box": PLANE.privatize,
    "column": lambda v: md.privatize(v, WARNER),
    "categories": lambda v: md.collection.privatize_each(v, 1, PROBLEM),
    "numbers": lambda v: md.collection.collect_numbers(v, 1, 0, 9),
    "transformer": md.collection.ChannelTransformer(WARNER).fit([["yes"], ["no"]]).transform,
    "prior": lambda v: Prior.from_data(v, WARNER.inputs),
}


@pytest.mark.parametrize("secret", ["S3971", 3971, 3971.5, -3971, "-3971", (0, 3971), [3971]])
@pytest.mark.parametrize("name", COLLECTING)
def test_errors_do_not_quote_records(name: str, secret: Any) -> None:
    """They may be private, also where one stands alone in place of a list."""
    for records in ([secret], np.array([secret]), secret):
        message = str(check_refused("", COLLECTING[name], records))
        assert "3971" not in message


WHOLE: dict[str, list[Any]] = {name: ["yes", "no"] for name in COLLECTING}
WHOLE |= {name: [0, 1] for name in ("mechanism", "grid", "interval", "numbers")}
WHOLE |= {"box": [[0, 1], [2, 3]], "categories": ["a", "b"]}


@pytest.mark.parametrize("name", COLLECTING)
def test_nothing_is_drawn_for_what_a_mask_hides(name: str) -> None:
    records = np.ma.array(WHOLE[name])
    assert COLLECTING[name](records) is not None
    records[1] = np.ma.masked
    check_refused("", COLLECTING[name], records)


def test_a_problem_takes_a_size() -> None:
    for size in (3, np.int64(3)):
        assert Problem(size, md.LDP(1), md.HammingLoss()).domain == Domain.range(3)


def shown_things() -> list[Any]:
    inputs = [HOSTILE, "no"]
    problem = Problem(inputs, md.LIP(1), md.HammingLoss(), prior=[0.4, 0.6], title=HOSTILE)
    solution = md.design(problem)
    return [
        *(problem, solution, solution.channel),
        md.estimate(solution.channel, counts=[60, 40]),
        md.estimation.survey(solution.channel, md.reports.Tally.of([60, 40]), HOSTILE),
        md.accounting.leakages(solution.channel, problem.prior),
        md.accounting.compose([solution.channel] * 2, problem.prior),
        md.accounting.relations(md.LIP(1), problem.prior),
        md.accounting.privacy_profile(solution.channel, [0, 1], problem.prior),
        md.accounting.sensitive_attribute_leakage([[0.4, 0.2], [0, 0.4]], solution.channel),
        md.accounting.prior_mismatch(solution.channel, problem.prior, md.Prior([0.5, 0.5])),
    ]


def test_everything_shown_has_html_in_which_labels_are_escaped() -> None:
    for thing in shown_things():
        html = thing._repr_html_()
        assert html.startswith("<div>"), type(thing)
        assert "<table>" in html
        assert "<script" not in html
        assert html.count("<td") == html.count("</td>")
    assert "&lt;script&gt;" in shown_things()[0]._repr_html_()
    assert "background:rgba" in WARNER._repr_html_()


def test_a_channel_is_a_frame_and_an_array_and_comes_back() -> None:
    assert Channel.from_matrix(WARNER.to_frame()) == Channel.from_matrix(
        WARNER.matrix, inputs=["yes", "no"]
    )
    assert WARNER.to_frame().loc["yes", 0] == 0.75
    assert np.array_equal(np.asarray(WARNER), WARNER.matrix)
    assert np.asarray(WARNER, dtype=np.float32).dtype == np.float32
    grid = Channel.from_matrix(np.eye(4), inputs=Domain.grid(2, 2), outputs=[HOSTILE, 1, 2, 3])
    assert list(grid.to_frame().index) == list(grid.inputs)
    with pytest.raises(ValueError, match="copy"):
        np.asarray(WARNER, copy=False)


def test_without_pandas_a_frame_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(md.UnsupportedError, match="pip install pandas"):
        WARNER.to_frame()


def test_a_channel_is_written_as_csv_and_latex(tmp_path: Path) -> None:
    file = tmp_path / "channel.csv"
    channel = Channel.from_matrix([[1, 0]], inputs=['a,"b"'], outputs=["50% & x_1", "\\~^"])
    channel.to_csv(file)
    with file.open(newline="", encoding="utf-8") as lines:
        assert list(csv.reader(lines)) == [["", "50% & x_1", "\\~^"], ['a,"b"', "1.0", "0.0"]]
    check_refused("this is not a regular file", channel.to_csv, tmp_path)
    assert r"50\% \& x\_1 & \textbackslash{}\textasciitilde{}\textasciicircum{} \\" in (
        channel.to_latex()
    )


def test_reports_that_are_all_alike_show_no_standard_error_of_zero() -> None:
    found = md.estimate(WARNER, counts=[3, 0])
    assert "0.000000\n" not in f"{found!r}\n"
    assert "not estimable: the reports show no spread" in repr(found)
    assert "+- 0" not in repr(md.estimation.survey(WARNER, md.reports.Tally.of([3, 0]), "yes"))
    assert "not estimable" not in repr(md.estimate(WARNER, counts=[3, 1]))


def test_a_report_warns_where_frequencies_cannot_be_estimated() -> None:
    few = md.design(Problem(range(5), md.LDP(1), md.MeanAbsoluteError()))
    assert len(few.channel.outputs) < 5
    assert "frequencies of all 5 inputs do not follow from reports (rank" in str(few)
    assert "do not follow" not in str(md.design(PROBLEM))


def test_estimates_print_without_rounding_errors() -> None:
    report = str(md.design(Problem(range(4), md.HighLowLDP(1, [0]), md.L2Risk())))
    assert "report 0 stands for 0: (1, 0, 0, 0)" in report


def test_a_name_that_is_part_of_others_points_to_them() -> None:
    with pytest.raises(AttributeError, match=r"at the top there is HighLowLDP$"):
        getattr(md, "High" + "Low")

"""Utilities of the user's own wherever a formula applies, and at the edges of every notion.

Each kind of utility that a user may write is one that the library knows, in disguise; so its
optimum is that of its twin, which is proved. Inputs are one to three, budgets run from 0 over ones
that floats cannot tell from it to inf, priors have zeros, and notions tie, merge or free inputs.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, strategies as st

import mechdesign as md
from mechdesign import LDP, LIP, Domain, HammingLoss, InputError, L2Risk, Prior, Problem, Solution
from mechdesign.kernel import verify
from mechdesign.notions import Notion, Row, SensitiveAttribute, SensitiveAttributePrivacy
from mechdesign.tables import ExactTable
from mechdesign.utilities import LinearUtility, Utility
from tests.refusals_support import check_refused
from tests.strategies import examples

EPSILONS = ["0", "1e-300", "1e-9", "0.1", "1", "5", "50", "700", "1e6"]

Floats = np.ndarray[Any, np.dtype[np.float64]]


# What a user may write, each with its twin.


class LikeliestInput(md.ColumnUtility):
    name = "likeliest-input"
    sense = "maximize"

    def gain(self, columns: Floats, prior: Floats) -> Floats:
        best: Floats = (prior[:, None] * columns).max(axis=0)
        return best


class ErrorLeft(md.ColumnUtility):
    """The histogram error, as a loss with an offset; inputs are alike."""

    name = "error-left"

    def gain(self, columns: Floats, prior: Floats) -> Floats:
        law = prior @ columns
        square = ((prior[:, None] * columns) ** 2).sum(axis=0)
        return np.divide(square, law, out=np.zeros_like(law), where=law > 0)

    def offset(self, domain: Domain, prior: Prior) -> Fraction:
        return Fraction(1)

    treats_inputs_alike = True


class Nameless(md.ColumnUtility):
    sense = "maximize"

    def gain(self, columns: Floats, prior: Floats) -> Floats:
        return LikeliestInput().gain(columns, prior)


class HistogramError(md.PosteriorMeanSquaredError):
    """A constructor of its own only: the checker still knows it."""

    def __init__(self) -> None:
        super().__init__(histogram=True)


class Differs(LinearUtility):
    name = "differs"

    def loss(self, domain: Domain, outputs: Sequence[Any]) -> ExactTable:
        rows = [[int(x != y) for y in outputs] for x in domain.labels]
        return ExactTable.of(rows, "loss")


class Squares(HammingLoss):
    """Another loss under the name of one that the checker knows."""

    def loss(self, domain: Domain, outputs: Sequence[Any]) -> ExactTable:
        return ExactTable.of([[(x - y) ** 2 for y in outputs] for x in domain.labels], "loss")


TWINS: dict[str, tuple[Callable[[], Utility], tuple[Any, ...]]] = {
    "gain": (LikeliestInput, (md.BayesAccuracy,)),
    "loss with an offset": (ErrorLeft, (md.PosteriorMeanSquaredError, None, True)),
    "nameless": (Nameless, (md.BayesAccuracy,)),
    "constructor": (HistogramError, (md.PosteriorMeanSquaredError, None, True)),
    "linear": (Differs, (HammingLoss,)),
    "linear, worst case": (lambda: Differs(True), (HammingLoss, True)),
    "linear, derived": (Squares, (md.MeanSquaredDistance,)),
    "function": (lambda: md.Distortion(lambda x, y: (x - y) ** 2), (md.MeanSquaredDistance,)),
}

PROVED = ("constructor", "linear", "linear, worst case", "linear, derived", "function")


# Notions, from those that tie all inputs to those that free them.


class OwnRows(md.LinearNotion):
    def __init__(self, epsilon: Fraction) -> None:
        self.epsilon = epsilon

    def rows(self, domain: Domain, prior: Prior | None) -> Iterator[Row]:
        for x, z in itertools.permutations(domain.labels, 2):
            yield Row(f"{x} against {z}", {x: 1}, self.epsilon, {z: 1})


def _matrix(k: int, entry: Callable[[int, int], Any]) -> md.ContextAwareLDP:
    return md.ContextAwareLDP([[0 if x == z else entry(x, z) for z in range(k)] for x in range(k)])


def _secret(inner: Notion, k: int) -> Notion:
    law = [["0.9", "0.1"], ["0.2", "0.8"], ["0.2", "0.8"]]
    return SensitiveAttributePrivacy(inner, SensitiveAttribute([0, 1], given_input=law[:k]))


NOTIONS: dict[str, Callable[[int, Fraction, Prior], Any]] = {
    "ldp": lambda _k, e, _p: LDP(e),
    "lip": lambda _k, e, _p: LIP(e),
    "pml": lambda _k, e, _p: md.PML(e),
    "lift from below": lambda _k, e, _p: md.AsymmetricLift(e, "inf"),
    "nothing": lambda _k, _e, _p: md.AsymmetricLift("inf", "inf"),
    "high-low": lambda _k, e, _p: md.HighLowLDP(e, [0]),
    "block": lambda k, e, _p: md.BlockLDP(e, [[x] for x in range(k - 1)] + [[k - 1]]),
    "metric": lambda _k, e, _p: md.MetricPrivacy(e, lambda x, z: abs(x - z)),
    "one pair": lambda k, e, _p: _matrix(k, lambda x, z: e if (x, z) == (0, 1) else "inf"),
    "merged": lambda k, e, _p: _matrix(k, lambda x, z: 0 if x + z == 1 else e),
    "bounded prior": lambda _k, e, p: md.BoundedPriorLIP(e, center=list(p), radius="0.05"),
    "identifiability": lambda _k, e, _p: md.DifferentialIdentifiability(e),
    "leakage": lambda _k, e, _p: md.MaximalLeakage(e),
    "own rows": lambda _k, e, _p: OwnRows(e),
    "secret": lambda k, e, _p: _secret(LDP(e), k),
    "two": lambda _k, e, _p: [LDP(e), LIP("0.5")],
}

PRIORS = {
    1: [["1"]],
    2: [["1/2", "1/2"], ["0.1", "0.9"], ["0", "1"]],
    3: [["1/3", "1/3", "1/3"], ["0.2", "0.3", "0.5"], ["0.4", "0.6", "0"]],
}


def solved(k: int, notion: str, epsilon: str, prior: Prior, utility: Utility) -> Solution | str:
    """The certified answer, or why there is none; both are what the library may say."""
    try:
        asked = NOTIONS[notion](k, Fraction(epsilon), prior)
        solution = md.design(Problem(range(k), asked, utility, prior=prior))
    except (InputError, md.InfeasibleError, md.UnsupportedError) as error:
        return type(error).__name__
    notions, sign = solution.problem.privacy, -1 if utility.is_maximized else 1
    assert all(each.holds(solution.channel, prior) for each in notions)
    assert sign * solution.bound <= sign * solution.value
    verify(json.loads(json.dumps(solution.document())))
    return solution


@cache
def answer(k: int, notion: str, epsilon: str, prior: Prior, twin: type[Utility], *key: Any) -> Any:
    """The answer for a utility that the library knows, once for all its disguises."""
    return solved(k, notion, epsilon, prior, twin(*key))


def compare(k: int, notion: str, epsilon: str, prior: Prior, kind: str) -> None:
    own = solved(k, notion, epsilon, prior, TWINS[kind][0]())
    twin = answer(k, notion, epsilon, prior, *TWINS[kind][1])
    if isinstance(twin, str):
        assert own == twin
        return
    if isinstance(own, str):  # a sum of gains has no rays where no cone says all
        assert (own, notion) == ("UnsupportedError", "leakage")
        return
    assert own.bound_proved is (kind in PROVED)
    assert float(own.value) == pytest.approx(float(twin.value), rel=1e-6, abs=1e-9)
    assert float(own.bound) == pytest.approx(float(twin.bound), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "kind"), [*(("1", kind) for kind in TWINS), ("0", "gain"), ("0", "linear")]
)
@pytest.mark.parametrize("notion", NOTIONS)
def test_a_utility_of_ones_own_has_the_optimum_of_its_twin(
    notion: str, epsilon: str, kind: str
) -> None:
    for k in PRIORS:
        compare(k, notion, epsilon, Prior(PRIORS[k][-2 if k > 1 else 0]), kind)


@given(
    st.sampled_from(sorted(TWINS)),
    st.sampled_from(sorted(NOTIONS)),
    st.sampled_from(EPSILONS),
    st.sampled_from([Prior(prior) for priors in PRIORS.values() for prior in priors]),
)
@example("constructor", "identifiability", "700", Prior(["1/3"] * 3))  # ratios beyond 1e150
@example("constructor", "bounded prior", "700", Prior(["1/3"] * 3))  # ratios beyond doubles
@example("constructor", "bounded prior", "1e-300", Prior(PRIORS[3][1]))  # 1 to 80 digits
@examples(30)
def test_at_any_budget_and_prior(kind: str, notion: str, epsilon: str, prior: Prior) -> None:
    # a worst case near 0 is not solved to a small relative gap
    assume(kind != "linear, worst case" or Fraction(epsilon) <= 5)
    compare(len(prior), notion, epsilon, prior, kind)


def test_formulas_are_taken_for_gains_of_ones_own() -> None:
    """Two inputs, a budget of 0, nothing constrained, a simplicial cone, inputs that are alike."""
    uniform, skewed = Prior.uniform(3), Prior(["0.2", "0.3", "0.5"])
    routes = {
        solution.route
        for k, notion, epsilon, prior, utility in (
            (2, "ldp", "1", Prior(["0.1", "0.9"]), LikeliestInput()),
            (3, "ldp", "0", skewed, LikeliestInput()),
            (3, "nothing", "0", skewed, LikeliestInput()),
            (3, "lip", "2", skewed, LikeliestInput()),
            (3, "high-low", "1", skewed, LikeliestInput()),
            (3, "lift from below", "1", skewed, LikeliestInput()),
            (3, "lip", "0.3", uniform, ErrorLeft()),
            (3, "ldp", "0.3", uniform, ErrorLeft()),
        )
        if isinstance(solution := solved(k, notion, epsilon, prior, utility), Solution)
        and solution.status == "optimal"
    }
    names = ("binary universal", "independent release", "identity", "LIP randomized response")
    names += ("universal channel", "uniform lifts", "subset selection by shifts")
    assert routes == {f"closed-form: {name}" for name in names}


# What is refused.


@pytest.mark.parametrize(
    ("gain", "message"),
    [
        (lambda q: q, "the shape"),
        (lambda q: q.max(), "the shape"),
        (lambda q: np.full(q.shape[1], np.nan), "a finite number for each column"),
        (lambda q: np.full(q.shape[1], "1"), "a finite number for each column"),
        (lambda q: (q**2).sum(axis=0), r"g\(2 q\) = 2 g\(q\)"),
        (lambda q: q.min(axis=0), "the constant channel gains"),
    ],
)
def test_an_invalid_gain_is_refused(gain: Callable[..., Any], message: str) -> None:
    class Odd(md.ColumnUtility):
        sense = "maximize"

        def gain(self, columns: Floats, prior: Floats) -> Floats:
            found: Floats = gain(columns)
            return found

    check_refused(message, lambda: Problem(range(3), LDP(1), Odd()))


def test_another_gain_for_a_utility_that_is_known_is_refused() -> None:
    with pytest.raises(md.UnsupportedError, match="MutualInformation"):

        class Odd(md.MutualInformation):
            def gain(self, columns: Floats, prior: Floats) -> Floats:
                return np.zeros(columns.shape[1])


def test_another_risk_of_estimation_is_refused() -> None:
    with pytest.raises(md.UnsupportedError, match="as the parent of a class with a deviations"):

        class Odd(L2Risk):
            def deviations(self, variances: Floats, prior: Floats) -> Any:
                return super().deviations(2 * variances, prior)


@pytest.mark.parametrize("kind", ["linear", "linear, derived", "function"])
def test_a_loss_of_ones_own_is_stated_as_a_matrix(kind: str) -> None:
    problem = Problem(range(3), LDP(1), TWINS[kind][0]())
    channel = md.Channel.from_matrix(np.eye(3, dtype=int).tolist())
    assert problem.to_table()["utility"]["objective"] == "distortion"
    assert problem.utility.value(channel, problem.prior, problem.outputs) == 0

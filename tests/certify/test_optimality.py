"""Bounds are bounds: no dual and no theorem ever claims more than the optimum."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mechdesign import (
    LDP,
    LIP,
    PML,
    BoundedPriorLIP,
    CertificateError,
    Channel,
    ContextAwareLDP,
    Distortion,
    Domain,
    EuclideanDistance,
    HammingLoss,
    LiftBounds,
    MeanAbsoluteError,
    MeanSquaredDistance,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    design,
)
from mechdesign.certify import digest, verify
from mechdesign.certify.optimality import THEOREMS, dual_bound, value
from mechdesign.exact import exp_lower
from mechdesign.utilities import Utility
from tests.strategies import (
    KINDS,
    WHOLE,
    Case,
    budgets,
    cases,
    channels,
    distortions,
    dual_table,
    examples,
    explained_variance,
    float_rows,
    lp_optimum,
    priors,
    ray_optimum,
    statement_of,
)

PLAIN = tuple(kind for kind in KINDS if kind != "bounded-prior-lip")


@st.composite
def linear_problems(
    draw: st.DrawFn, kinds: tuple[str, ...] = KINDS, worst_case: bool | None = None
) -> Problem:
    case = draw(cases(kinds))
    utility = draw(distortions(len(case.domain), worst_case))
    notions = [case.notion]
    if draw(st.integers(0, 3)) == 0:
        notions.append(draw(cases(("ldp", "lip", "pml", "lift"), k=len(case.domain))).notion)
    return Problem(case.domain, notions, utility, prior=case.prior)


def shape_of(problem: Problem) -> tuple[int, int]:
    return len(float_rows(problem)[0]), len(problem.outputs or ())


# --- dual weights ---------------------------------------------------------------------------------


@examples(200)
@given(linear_problems(), st.integers(0, 2**32), st.sampled_from([0.01, 0.3, 1.0, 30.0]))
def test_any_nonnegative_dual_is_a_bound(problem: Problem, seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size, shape_of(problem)) * (rng.random(shape_of(problem)) < 0.3)
    mass = rng.exponential(1, len(problem.domain))
    bound = dual_bound(statement_of(problem), dual_table(problem, weights, mass))
    assert float(bound) <= lp_optimum(problem).value + 1e-9


@examples(200)
@given(linear_problems(), st.integers(0, 2**32), st.sampled_from([0.0, 1e-6, 1e-2]))
def test_the_optimal_dual_attains_the_optimum_and_its_neighbours_do_not_pass_it(
    problem: Problem, seed: int, noise: float
) -> None:
    best = lp_optimum(problem)
    rng = np.random.default_rng(seed)
    weights = np.maximum(best.row_weights + noise * rng.normal(size=best.row_weights.shape), 0)
    bound = float(
        dual_bound(statement_of(problem), dual_table(problem, weights, best.input_weights))
    )
    assert bound <= best.value + 1e-9
    if noise == 0:
        assert bound == pytest.approx(best.value, abs=1e-8)


def test_a_dual_of_nothing_gives_every_input_its_best_output() -> None:
    problem = Problem([0, 1], LDP(1), Distortion([[2, 5], [4, 3]]), prior=["1/4", "3/4"])
    assert dual_bound(statement_of(problem), {"weights": None, "rows": []}) == Fraction(11, 4)
    worst = Problem([0, 1], LDP(1), Distortion([[2, 5], [4, 3]], worst_case=True))
    empty: dict[str, Any] = {"weights": ["1", "3"], "rows": []}
    assert dual_bound(statement_of(worst), empty) == Fraction(11, 4)


def row(notion: int = 0, side: str = "ratio", **entries: Any) -> dict[str, Any]:
    found = {"notion": notion, "side": side, "output": [0], "x": [0], "other": [1], "weight": ["1"]}
    return {"weights": None, "rows": [{**found, **entries}]}


BASE = Problem([0, 1], LDP(1), HammingLoss())
FREE = Problem([0, 1], ContextAwareLDP([["0", "inf"], ["1", "0"]]), HammingLoss())
ONE_SIDE = Problem([0, 1], LiftBounds("inf", 1), HammingLoss(), prior=["0.5", "0.5"])
LISTED = Problem([0, 1], BoundedPriorLIP(1, priors=[[0.4, 0.6], [0.5, 0.5]]), HammingLoss())
BOXED = Problem([0, 1], BoundedPriorLIP(1, lower=[0.3, 0.4], upper=[0.6, 1]), HammingLoss())
BALL = Problem([0, 1], BoundedPriorLIP(1, center=[0.4, 0.6], radius="0.1"), HammingLoss())
FAR = Problem([0, 1], BoundedPriorLIP(1, center=[0.2, 0.8], radius="0.1"), HammingLoss())
WORST = Problem([0, 1], LDP(1), HammingLoss(worst_case=True))
ELSEWHERE = {"side": "upper", "other": [0]}


@pytest.mark.parametrize(
    ("problem", "dual"),
    [
        (BASE, row(weight=["-1"])),
        (BASE, row(weight=["-1e-30"])),
        (BASE, row(weight=["nan"])),
        (BASE, row(weight=["inf"])),
        (BASE, row(weight=[True])),
        (BASE, row(x=[0], other=[0])),
        (BASE, row(x=[-1], other=[1])),
        (BASE, row(x=[1], other=[-1])),
        (BASE, row(output=[-1])),
        (BASE, row(output=[2])),
        (BASE, row(x=[2])),
        (BASE, row(other=[2])),
        (BASE, row(x=[0.5])),
        (BASE, row(x=["0"])),
        (BASE, row(x=[0, 1])),
        (BASE, row(notion=1)),
        (BASE, row(side="upper")),
        (BASE, row(side="lower")),
        (BASE, {"weights": None}),
        (FREE, row()),
        (ONE_SIDE, row(side="lower", other=[0])),
        (ONE_SIDE, row()),
        (ONE_SIDE, row(side="upper", other=[1])),
        (ONE_SIDE, row(side="upper", other=[-1])),
        (ONE_SIDE, row(**ELSEWHERE, priors=[["0.4", "0.6"]])),
        (LISTED, row(**ELSEWHERE, priors=[["0.45", "0.55"]])),
        (LISTED, row(**ELSEWHERE, priors=[["0.3", "0.7"]])),
        (LISTED, row(**ELSEWHERE, priors=[["0.4", "0.6", "0"]])),
        (BOXED, row(**ELSEWHERE, priors=[["0.61", "0.39"]])),
        (BOXED, row(**ELSEWHERE, priors=[["0.5", "0.6"]])),
        (BOXED, row(**ELSEWHERE, priors=[["0.5"]])),
        (BALL, row(**ELSEWHERE, priors=[["0.51", "0.49"]])),
        (BALL, row(**ELSEWHERE, priors=[["0.45", "0.45"]])),
        (FAR, row(**ELSEWHERE)),
        (FAR, row(**ELSEWHERE, priors=[])),
        (WORST, {"weights": ["1"], "rows": []}),
        (WORST, {"weights": ["-1", "2"], "rows": []}),
        (WORST, {"weights": ["0", "0"], "rows": []}),
        (WORST, {"weights": [], "rows": []}),
        (WORST, {"weights": None, "rows": []}),
        (WORST, {"rows": []}),
    ],
)
def test_a_dual_that_proves_nothing_is_refused(problem: Problem, dual: dict[str, Any]) -> None:
    with pytest.raises((CertificateError, LookupError, TypeError, ValueError)):
        dual_bound(statement_of(problem), dual)


@pytest.mark.parametrize(
    ("problem", "prior"),
    [
        (LISTED, ["0.4", "0.6"]),
        (BOXED, ["0.6", "0.4"]),
        (BOXED, ["0.45", "0.55"]),
        (BALL, ["0.5", "0.5"]),
        (BALL, ["0.37", "0.63"]),
    ],
)
def test_priors_inside_the_set_are_taken(problem: Problem, prior: list[str]) -> None:
    bound = dual_bound(statement_of(problem), row(**ELSEWHERE, priors=[prior], weight=["0.1"]))
    assert float(bound) <= lp_optimum(problem).value + 1e-9


# --- the value ------------------------------------------------------------------------------------


@st.composite
def utilities(draw: st.DrawFn) -> tuple[Domain, Utility, list[Any] | None]:
    k = draw(st.integers(1, 4))
    worst = draw(st.booleans())
    kind = draw(st.sampled_from(["distortion", "hamming", "mae", "msd", "euclidean", "posterior"]))
    numbers = Domain(draw(st.lists(st.integers(-9, 9), min_size=k, max_size=k, unique=True)))
    if kind == "distortion":
        return numbers, draw(distortions(k, worst)), None
    if kind == "hamming":
        return Domain([f"x{x}" for x in range(k)]), HammingLoss(worst), ["x0", "other", "x1"]
    if kind == "posterior":
        values = draw(st.lists(st.integers(-9, 9), min_size=k, max_size=k))
        return numbers, PosteriorMeanSquaredError(values=values), None
    if kind == "mae":
        return numbers, MeanAbsoluteError(worst), [0, 0.5, -1.1]
    domain = draw(st.sampled_from([numbers, Domain.grid(2, 2, "1/3"), Domain.grid(1, 3)]))
    pairs = domain.grid_shape is not None
    utility = MeanSquaredDistance(worst) if kind == "msd" else EuclideanDistance(worst)
    return domain, utility, [(0, 0), (1, 0.5), (3, -1)] if pairs else [0, 0.5, -1.1]


@examples(200)
@given(utilities(), st.data())
def test_the_value_is_that_of_the_utility_exactly(
    drawn: tuple[Domain, Utility, list[Any] | None], data: Any
) -> None:
    domain, utility, outputs = drawn
    k = len(domain)
    problem = Problem(domain, LDP(1), utility, prior=data.draw(priors(k)), outputs=outputs)
    m = 3 if problem.outputs is None else len(problem.outputs)
    used = data.draw(st.lists(st.integers(0, m - 1), min_size=1, unique=True))
    drawn_rows = data.draw(channels(k, most_outputs=len(used)))
    used = used[: len(drawn_rows.outputs)]
    labels = used if problem.outputs is None else [problem.outputs[y] for y in used]
    channel = Channel(drawn_rows.numerators, inputs=domain, outputs=labels)
    found = value(statement_of(problem), channel.columns(), used, channel.bits)
    assert found == utility.value(channel, problem.prior, problem.outputs)
    twice = channel.then(Channel.from_matrix(np.eye(len(used)), inputs=labels, outputs=labels))
    assert found == value(statement_of(problem), twice.columns(), used, twice.bits)


# --- theorems -------------------------------------------------------------------------------------


def optimum(problem: Problem) -> float:
    """The true optimum: a textbook linear program, or a mixture of all extreme rays."""
    utility = problem.utility
    if not isinstance(utility, PosteriorMeanSquaredError):
        return lp_optimum(problem).value
    f = utility.values(problem.domain)
    second = float(problem.prior.mean([v * v for v in f]))
    return second - ray_optimum(problem, explained_variance(problem.prior, f))


def bound_of(theorem: str, problem: Problem) -> float:
    return float(THEOREMS[theorem](statement_of(problem)))


@st.composite
def any_problems(draw: st.DrawFn, kinds: tuple[str, ...], k: int | None = None) -> Problem:
    case = draw(cases(kinds, k=k))
    size = len(case.domain)
    utility: Utility = draw(
        st.one_of(
            distortions(size, worst_case=False),
            st.lists(st.integers(-5, 9), min_size=size, max_size=size).map(
                PosteriorMeanSquaredError
            ),
        )
    )
    return Problem(case.domain, case.notion, utility, prior=case.prior)


@examples(250)
@given(any_problems(KINDS, k=2))
def test_the_binary_theorem_gives_the_optimum(problem: Problem) -> None:
    bound, best = bound_of("binary-universal", problem), optimum(problem)
    assert bound <= best + 1e-9
    assert bound == pytest.approx(best, abs=1e-7)


@examples(200)
@given(any_problems(("lip", "lift"), k=3))
def test_the_erasure_theorem_never_passes_the_optimum(problem: Problem) -> None:
    notion = problem.privacy[0]
    assume(not isinstance(notion, LiftBounds) or notion.lower is not None)
    bound, best = bound_of("erasure", problem), optimum(problem)
    assert bound <= best + 1e-9
    if isinstance(notion, LiftBounds) and notion.upper is None:
        assert bound == pytest.approx(best, abs=1e-7)


@examples(100)
@given(linear_problems())
def test_doing_as_well_as_without_privacy_is_a_bound(problem: Problem) -> None:
    assert bound_of("nothing-constrained", problem) <= lp_optimum(problem).value + 1e-9


@examples(100)
@given(any_problems(KINDS), st.sampled_from(range(4)))
def test_equal_rows_are_best_under_a_budget_of_nothing(problem: Problem, which: int) -> None:
    k = len(problem.domain)
    chain = [["0" if z == x + 1 else "inf" for z in range(k)] for x in range(k)]
    tied = (LDP(0), PML(0), LiftBounds(0, "inf"), ContextAwareLDP(chain))[which]
    more = Problem(problem.domain, tied, problem.utility, prior=problem.prior)
    bound = bound_of("equal-rows", more)
    if not isinstance(more.utility, PosteriorMeanSquaredError):
        assert bound == pytest.approx(lp_optimum(more).value, abs=1e-9)
        return
    f = more.utility.values(more.domain)
    variance = more.prior.mean([v * v for v in f]) - more.prior.mean(f) ** 2
    assert bound == pytest.approx(float(variance))


@examples(60)
@given(st.integers(1, 5), budgets(), st.data())
def test_randomized_response_is_best_for_hamming(k: int, epsilon: Fraction, data: Any) -> None:
    outputs = data.draw(st.lists(st.sampled_from([*range(5), "other"]), min_size=1, unique=True))
    problem = Problem(range(k), LDP(epsilon), HammingLoss(), outputs=outputs)
    bound, best = bound_of("randomized-response", problem), lp_optimum(problem).value
    assert bound <= best + 1e-9
    if set(range(k)) <= set(outputs):
        assert bound == pytest.approx(best, abs=1e-9)


skewed = ["0.4", "0.6"]


@pytest.mark.parametrize(
    ("theorem", "problem"),
    [
        ("binary-universal", Problem([0, 1, 2], LDP(1), HammingLoss())),
        ("binary-universal", Problem([0], LDP(1), HammingLoss())),
        ("binary-universal", WORST),
        ("erasure", BASE),
        ("erasure", Problem([0, 1], PML(1), HammingLoss(), prior=skewed)),
        ("erasure", Problem([0, 1], LiftBounds("inf", 1), HammingLoss(), prior=skewed)),
        ("erasure", Problem([0, 1], LIP(1), HammingLoss(worst_case=True), prior=skewed)),
        ("erasure", FAR),
        ("equal-rows", BASE),
        ("equal-rows", Problem([0, 1], LDP("1e-30"), HammingLoss())),
        ("equal-rows", Problem([0, 1], LDP(0), HammingLoss(worst_case=True))),
        (
            "equal-rows",
            Problem(
                [0, 1, 2],
                ContextAwareLDP([["0", "0", "inf"], ["inf", "0", "inf"], ["inf", "inf", "0"]]),
                HammingLoss(),
            ),
        ),
        ("randomized-response", Problem([0, 1], LDP(1), HammingLoss(), prior=skewed)),
        ("randomized-response", WORST),
        ("randomized-response", Problem([0, 1], LDP(1), MeanAbsoluteError())),
        ("randomized-response", Problem([0, 1], LIP(1), HammingLoss(), prior=["0.5", "0.5"])),
        ("randomized-response", FREE),
    ],
)
def test_theorems_refuse_what_they_do_not_speak_of(theorem: str, problem: Problem) -> None:
    with pytest.raises(CertificateError):
        THEOREMS[theorem](statement_of(problem))


@examples(100)
@given(any_problems(KINDS), st.sampled_from(sorted(THEOREMS)))
def test_no_theorem_passes_the_optimum_of_any_problem(problem: Problem, theorem: str) -> None:
    assume(len(problem.domain) < 4)
    try:
        bound = bound_of(theorem, problem)
    except CertificateError:
        return
    assert bound <= optimum(problem) + 1e-9


# --- saved files: what an adversary would try -----------------------------------------------------


def saved(problem: Problem, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(design(problem, **options).document()))
    return found


def seal(document: dict[str, Any]) -> dict[str, Any]:
    document["digest"] = digest(document)
    return document


def with_channel(document: dict[str, Any], rows: list[list[int]], leakage: float) -> dict[str, Any]:
    document = copy.deepcopy(document)
    channel = document["channel"]
    channel["numerators"] = [[str(v) for v in r] for r in rows]
    channel["matrix"] = [[v / WHOLE for v in r] for r in rows]
    document["privacy"][0]["leakage"] = leakage
    return document


@examples(60)
@given(any_problems(("ldp", "lip", "pml", "lift", "bounded-prior-lip", "context-aware"), k=2))
def test_honest_files_pass(problem: Problem) -> None:
    verify(saved(problem))


@examples(40)
@given(linear_problems(), st.integers(1, 12), st.data())
def test_honest_linear_files_pass(problem: Problem, digits: int, data: Any) -> None:
    document = saved(problem)
    verified = verify(document)
    best = lp_optimum(problem).value
    assert verified.bound is not None
    assert float(verified.bound) <= best + 1e-9 <= float(verified.value) + 2e-9


THREE = Problem([0, 1, 2], LDP(1), HammingLoss())
BLIND = [[WHOLE // 2, WHOLE // 4, WHOLE // 4]] * 3


def test_a_poor_channel_cannot_be_sold_as_optimal() -> None:
    honest = with_channel(saved(THREE), BLIND, 0.0)
    best = 2 / (np.e + 2)
    honest["value"] = 2 / 3
    for bound, gap, status in [
        (None, 0.0, "optimal"),
        (None, None, "optimal"),
        (2 / 3, 0.0, "optimal"),
        (best - 1e-12, 0.0, "optimal"),
        (best - 1e-12, float("nan"), "optimal"),
        (best - 1e-12, abs(2 / 3 - best) * 1.5, "optimal"),
        (0.0, 1e-7, "optimal"),
        ("0", "0", "optimal"),
    ]:
        lie = {**honest, "bound": bound, "gap": gap, "status": status}
        with pytest.raises(CertificateError):
            verify(seal(lie))


@pytest.mark.parametrize("claimed", [0.0, 0.5, 2 / 3 - 1e-9, 2 / 3 + 1e-9, float("nan"), None])
def test_the_value_cannot_be_misstated(claimed: Any) -> None:
    lie = with_channel(saved(THREE), BLIND, 0.0)
    lie |= {"value": claimed, "bound": None, "gap": None, "status": "bounded"}
    lie["certificate"] = {"theorem": None, "dual": None}
    with pytest.raises(CertificateError):
        verify(seal(lie))
    lie["value"] = 2 / 3
    verify(seal(lie))


@pytest.mark.parametrize("scale", ["1e-9", "1e-13"])
def test_small_losses_are_no_excuse(scale: str) -> None:
    loss = [[scale if x != y else "0" for y in range(3)] for x in range(3)]
    honest = saved(Problem([0, 1, 2], LDP(1), Distortion(loss)), route="linear-program")
    outputs = honest["channel"]["outputs"]
    lie = with_channel(honest, BLIND, 0.0)
    if len(outputs) < 3:
        lie["channel"]["outputs"] = [0, 1, 2]
    lie |= {"value": float(scale) * 2 / 3, "bound": 0.0, "status": "optimal"}
    lie["certificate"] = {"theorem": "nothing-constrained", "dual": None}
    for value_claimed in (float(scale) * 2 / 3, 0.0):
        for gap in (0.0, float(scale) * 2 / 3 / 1e-12, 1.0):
            with pytest.raises(CertificateError):
                verify(seal({**lie, "value": value_claimed, "gap": gap}))


@pytest.mark.parametrize("leakage", [0.1, 0.999, 1.001, 2.0, -1.0, "1e400", float("nan"), None])
def test_the_leakage_cannot_be_misstated(leakage: Any) -> None:
    lie = saved(THREE)
    lie["privacy"][0]["leakage"] = leakage
    with pytest.raises(CertificateError):
        verify(seal(lie))


def test_a_channel_that_is_not_private_by_one_unit_is_refused() -> None:
    """a <= e (2**62 - a) holds for one whole number and for none above it."""
    e = exp_lower(Fraction(1))
    most = int(WHOLE * e / (1 + e))
    document = saved(Problem([0, 1], LDP(1), HammingLoss()))
    document["certificate"] = {"theorem": None, "dual": None}
    document |= {"bound": None, "gap": None, "status": "bounded"}
    for a in (most, most + 1):
        claim = with_channel(document, [[a, WHOLE - a], [WHOLE - a, a]], 1.0)
        claim["value"] = (WHOLE - a) / WHOLE
        if a == most:
            verify(seal(claim))
        else:
            with pytest.raises(CertificateError, match="not private"):
                verify(seal(claim))


def change(document: dict[str, Any], path: str, new: Any) -> None:
    *parts, last = path.split(".")
    place: Any = document
    for part in parts:
        place = place[int(part)] if isinstance(place, list) else place[part]
    if isinstance(place, list):
        place[int(last)] = new
    else:
        place[last] = new


@pytest.mark.parametrize(
    ("path", "new"),
    [
        ("format", "other"),
        ("version", 2),
        ("channel.bits", 61),
        ("channel.bits", 0),
        ("channel.bits", -1),
        ("channel.bits", 10**9),
        ("channel.bits", True),
        ("channel.bits", 62.0),
        ("channel.inputs", [0, 1]),
        ("channel.inputs", [0, 1, 3]),
        ("channel.outputs", [0, 1, 1]),
        ("channel.outputs", [0, 1, 9]),
        ("channel.outputs", [0, 1]),
        ("channel.outputs", [2, 1, 0]),
        ("channel.numerators", []),
        ("channel.numerators.0", ["4611686018427387904", "0", "0"]),
        ("channel.numerators.0", ["4611686018427387905", "-1", "0"]),
        ("channel.numerators.0.0", "+1"),
        ("channel.numerators.0.0", 1.5),
        ("channel.numerators.0.0", None),
        ("channel.matrix.0.0", 0.9),
        ("channel.matrix", []),
        ("privacy", []),
        ("privacy.0.notion", "lip"),
        ("privacy.0.certified", False),
        ("privacy.0.certified", 1),
        ("privacy.0.epsilon", 0.5),
        ("problem.privacy.0.epsilon", "0.5"),
        ("problem.privacy.0.notion", "lip"),
        ("problem.prior", ["0.4", "0.3", "0.3"]),
        ("problem.utility.objective", "mean-absolute-error"),
        ("problem.utility.objective", "none"),
        ("problem.utility.worst_case", True),
        ("problem.outputs", None),
        ("problem.outputs", [0, 1]),
        ("problem.domain.values", [0, 1, 3]),
        ("certificate", {}),
        ("certificate.theorem", "binary-universal"),
        ("certificate.theorem", "fermat"),
        ("certificate.theorem", None),
        ("bound", 0.5),
        ("bound", "1/0"),
        ("gap", 1.0),
        ("status", "bounded"),
        ("status", "Optimal"),
        ("objective", "mean-absolute-error"),
        ("sense", "maximize"),
        ("problem", None),
        ("channel", None),
        ("value", [0.4]),
    ],
)
def test_no_part_of_a_file_can_be_changed(path: str, new: Any) -> None:
    document = saved(THREE)
    document["certificate"]["dual"] = None  # so that the theorem alone proves it
    verify(seal(document))
    change(document, path, new)
    with pytest.raises(CertificateError):
        verify(document)  # the digest
    if path == "problem.utility.worst_case":
        return  # that claim is true as well: randomized response treats all inputs alike
    with pytest.raises(CertificateError):
        verify(seal(document))


@pytest.mark.parametrize("junk", [None, [], "x", 3, {}, {"format": "mechdesign-channel"}])
def test_what_is_no_document_is_refused(junk: Any) -> None:
    with pytest.raises(CertificateError):
        verify(junk)


def test_missing_parts_are_refused() -> None:
    document = saved(THREE)
    for key in ("problem", "channel", "privacy", "certificate", "value", "bound", "gap", "status"):
        rest = {k: v for k, v in document.items() if k != key}
        with pytest.raises(CertificateError):
            verify(seal(rest))
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(CertificateError):
        verify({**document, "title": deep})


def test_infeasible_statements_prove_nothing() -> None:
    """No channel meets a budget below what the prior gives: none can be certified under it."""
    notion = {"notion": "differential-identifiability", "epsilon": "0.1"}
    problem = Problem([0, 1], LDP(1), HammingLoss(), prior=["0.9", "0.1"])
    for rows in ([[WHOLE, 0], [WHOLE, 0]], [[WHOLE // 2] * 2] * 2):
        lie = with_channel(saved(problem), rows, 0.0)
        lie["channel"]["outputs"] = [0, 1]
        lie["problem"]["privacy"] = [notion]
        lie["privacy"] = [{**notion, "epsilon": 0.1, "leakage": 0.1, "certified": True}]
        with pytest.raises(CertificateError, match="not private"):
            verify(seal(lie))


def test_prior_of_a_case_is_kept_exact() -> None:
    prior = Prior.from_counts([1, 2, 4])
    problem = Problem(range(3), LIP(1), HammingLoss(), prior=prior)
    assert statement_of(problem).prior == list(prior)
    assert Case(LIP(1), problem.domain, prior, LIP).prior == problem.prior

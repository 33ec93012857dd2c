"""A saved file that claims anything false is refused; an honest one passes."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    CertificateError,
    Distortion,
    HammingLoss,
    PosteriorMeanSquaredError,
    Problem,
    TotalVariation,
    design,
)
from mechdesign.certify import verify
from mechdesign.exact import exp_lower
from tests.documents import sealed
from tests.strategies import (
    KINDS,
    ORACLE,
    WHOLE,
    cases,
    distortions,
    examples,
    lp_optimum,
    utilities,
)


@st.composite
def any_problems(draw: st.DrawFn) -> Problem:
    case = draw(cases(KINDS))
    utility = draw(utilities(len(case.domain)))
    return Problem(case.domain, case.notion, utility, prior=case.prior)


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


def saved(problem: Problem, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(design(problem, **options).document()))
    return found


def with_channel(document: dict[str, Any], rows: list[list[int]], leakage: float) -> dict[str, Any]:
    document = copy.deepcopy(document)
    channel = document["channel"]
    channel["numerators"] = [[str(v) for v in r] for r in rows]
    channel["matrix"] = [[v / WHOLE for v in r] for r in rows]
    document["privacy"][0]["leakage"] = leakage
    return document


@examples(60)
@given(any_problems())
def test_honest_files_pass(problem: Problem) -> None:
    verify(saved(problem))


@examples(40)
@given(linear_problems())
def test_honest_linear_files_pass(problem: Problem) -> None:
    document = saved(problem)
    verified = verify(document)
    best = lp_optimum(problem).value
    assert verified.bound is not None
    assert float(verified.bound) <= best + ORACLE <= float(verified.value) + 2 * ORACLE


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
            verify(sealed(lie))


@pytest.mark.parametrize("claimed", [0.0, 0.5, 2 / 3 - 1e-9, 2 / 3 + 1e-9, float("nan"), None])
def test_the_value_cannot_be_misstated(claimed: Any) -> None:
    lie = with_channel(saved(THREE), BLIND, 0.0)
    lie |= {"value": claimed, "bound": 0.0, "gap": 1.0, "status": "bounded"}
    lie["certificate"] = {"theorem": None, "dual": None}
    with pytest.raises(CertificateError):
        verify(sealed(lie))
    lie["value"] = 2 / 3
    verify(sealed(lie))


def test_a_value_of_0_has_a_huge_gap_that_is_no_lie() -> None:
    """Gains of 0 are far below any bound: the gap, over 1e-12, is a float like others."""
    problem = Problem([0, 1], LDP(1), TotalVariation(0, 1), prior=["0.7", "0.3"])
    honest = with_channel(saved(problem), [[WHOLE // 2, WHOLE // 2]] * 2, 0.0)
    honest |= {"value": 0.0, "status": "bounded"}
    for bound in np.linspace(honest["bound"] + 1e-9, 1.0, 20).tolist():
        gap = bound / 1e-12
        assert verify(sealed({**honest, "bound": bound, "gap": gap})).value == 0
    for lie in (gap * (1 - 1e-8), 1.0, 0.0):
        with pytest.raises(CertificateError):
            verify(sealed({**honest, "bound": bound, "gap": lie}))


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
                verify(sealed({**lie, "value": value_claimed, "gap": gap}))


@pytest.mark.parametrize("size", ["1e-160", "1e-162", "1e-200", "1e-300"])
def test_values_below_the_least_float_are_written_as_the_nearest_float(size: str) -> None:
    values = [Fraction(size) * x for x in range(3)]
    document = saved(Problem([0, 1, 2], LDP(1), PosteriorMeanSquaredError(values)))
    verify(document)
    with pytest.raises(CertificateError, match="the value is"):
        verify(sealed({**document, "value": document["value"] * (1 + 1e-9) + 1e-320}))


@pytest.mark.parametrize("leakage", [0.1, 0.999, 1.001, 2.0, -1.0, "1e400", float("nan"), None])
def test_the_leakage_cannot_be_misstated(leakage: Any) -> None:
    lie = saved(THREE)
    lie["privacy"][0]["leakage"] = leakage
    with pytest.raises(CertificateError):
        verify(sealed(lie))


def test_a_channel_that_is_not_private_by_one_unit_is_refused() -> None:
    """a <= e (2**62 - a) holds for one whole number and for none above it."""
    e = exp_lower(Fraction(1))
    most = int(WHOLE * e / (1 + e))
    document = saved(Problem([0, 1], LDP(1), HammingLoss()))
    document["certificate"] = {"theorem": None, "dual": None}
    document |= {"bound": 0.0, "gap": 1.0, "status": "bounded"}
    for a in (most, most + 1):
        claim = with_channel(document, [[a, WHOLE - a], [WHOLE - a, a]], 1.0)
        claim["value"] = (WHOLE - a) / WHOLE
        if a == most:
            verify(sealed(claim))
        else:
            with pytest.raises(CertificateError, match="not private"):
                verify(sealed(claim))


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
    verify(sealed(document))
    change(document, path, new)
    with pytest.raises(CertificateError):
        verify(document)  # the digest
    if path == "problem.utility.worst_case":
        return  # that claim is true as well: randomized response treats all inputs alike
    with pytest.raises(CertificateError):
        verify(sealed(document))


@pytest.mark.parametrize("junk", [None, [], "x", 3, {}, {"format": "mechdesign-channel"}])
def test_what_is_no_document_is_refused(junk: Any) -> None:
    with pytest.raises(CertificateError):
        verify(junk)


def test_missing_parts_are_refused() -> None:
    document = saved(THREE)
    for key in ("problem", "channel", "privacy", "certificate", "value", "bound", "gap", "status"):
        rest = {k: v for k, v in document.items() if k != key}
        with pytest.raises(CertificateError):
            verify(sealed(rest))
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
            verify(sealed(lie))

"""Binding rows: their names, their multipliers, and what these say of the optimum."""

from __future__ import annotations

import json
from typing import Any

import pytest

import mechdesign as md
from mechdesign import HammingLoss, Problem, Solution, design
from mechdesign.kernel import verify
from mechdesign.utilities import Distortion

DISEASES = ["flu", "healthy", "rare"]
PRIOR = [0.5, 0.3, 0.2]
STEP = 1e-5


def survey(privacy: Any, utility: Any = None) -> Solution:
    return design(Problem(DISEASES, privacy, utility or HammingLoss(), prior=PRIOR))


def ratio(solution: Solution, row: str, at: Any) -> float:
    """Return ln(q_x / q_x') at an output, for a row called ``x against x'``."""
    x, other = (part.strip("'") for part in row.split(" against "))
    q = dict(
        zip(solution.channel.inputs, solution.channel.matrix[:, place(solution, at)], strict=True)
    )
    return float(q[x] / q[other])


def place(solution: Solution, output: Any) -> int:
    return solution.channel.outputs.index(output)


def pairs(solution: Solution) -> set[tuple[str, Any]]:
    return {(row.row, row.output) for row in solution.binding}


def test_ldp_binds_between_the_inputs_that_are_distinguished() -> None:
    """At e < 0.3 / 0.1 the likeliest two inputs get randomized response, and the third is given up.

    Each output binds against the input that it is likeliest to be mistaken for.
    """
    solution = survey(md.LDP(1))
    assert set(solution.channel.outputs) == {"flu", "healthy"}
    assert pairs(solution) == {
        ("'healthy' against 'flu'", "healthy"),
        ("'flu' against 'healthy'", "flu"),
    }
    ratios = [ratio(solution, row.row, row.output) for row in solution.binding]
    assert ratios == pytest.approx([2.718281828] * 2, rel=1e-6)


def test_lip_binds_on_lifts_by_label() -> None:
    solution = survey(md.LIP(1))
    lifts = solution.channel.matrix / (PRIOR @ solution.channel.matrix)
    for row in solution.binding:
        side, _, label = row.row.partition(" of ")
        lift = lifts[DISEASES.index(label.strip("'")), place(solution, row.output)]
        bound = {"max-lift": 2.718281828, "min-lift": 1 / 2.718281828}[side]
        assert lift == pytest.approx(bound, rel=1e-6), row
    assert ("max-lift of 'rare'", "rare") in pairs(solution)


@pytest.mark.parametrize("outputs", [None, ["p", "q"], ["rare", "flu", "healthy"]])
@pytest.mark.parametrize(
    "utility",
    [md.BayesAccuracy(), md.GVulnerability([[1, 1, 0], [0, 1, 1], [0, 0, 2], [0.6, 0.6, 0.6]])],
)
@pytest.mark.parametrize(
    "notion", [md.LDP(1), md.ContextAwareLDP([[0, 1, 1], [1, 0, 1], [1, 1, 0]])]
)
def test_guesses_have_labels_of_their_own(utility: Any, outputs: Any, notion: Any) -> None:
    """Whatever labels the reports have, the rows that bind are tight, and the optimum is one."""
    problem = Problem(DISEASES, notion, utility, prior=PRIOR, outputs=outputs)
    solution, plain = design(problem), survey(notion, utility)
    assert solution.status == "optimal"
    assert float(solution.value) == pytest.approx(float(plain.value), rel=1e-9)
    assert solution.binding
    for row in solution.binding:
        assert ratio(solution, row.row, row.output) == pytest.approx(2.718281828, rel=1e-6)
    assert verify(json.loads(json.dumps(solution.document()))).bound is not None


LINES = [
    ("flu hidden", {"flu": 1}, 0.5, {"healthy": 0.5, "rare": 0.5}),
    ("rare hidden", {"rare": 1}, 1, {"healthy": 1}),
    ("of no effect", {"healthy": 1}, 9, {"flu": 1, "healthy": 1}),
]


def linear(shift: float = 0.0, name: str = "") -> Solution:
    rows = [(n, left, a + shift * (n == name), right) for n, left, a, right in LINES]
    return survey(md.LinearNotion(rows))


def test_rows_of_your_own_are_called_by_their_names() -> None:
    assert pairs(linear()) == {
        ("rare hidden", "rare"),
        ("flu hidden", "flu"),
        ("rare hidden", "flu"),
    }


@pytest.mark.parametrize("name", [line[0] for line in LINES])
def test_multipliers_are_the_rate_of_gain_of_a_looser_exponent(name: str) -> None:
    """Sensitivity: dV / da = -Sum_y multiplier (right . q_y), 0 where the row does not bind."""
    solution, looser = linear(), linear(STEP, name)
    right = next(line[3] for line in LINES if line[0] == name)
    channel = solution.channel
    promised = sum(
        row.multiplier
        * sum(
            v * channel.matrix[DISEASES.index(x), place(solution, row.output)]
            for x, v in right.items()
        )
        for row in solution.binding
        if row.row == name
    )
    gained = (float(solution.value) - float(looser.value)) / STEP
    assert gained == pytest.approx(promised, rel=1e-3, abs=1e-6)
    assert (promised > 0) == (name != "of no effect")


@pytest.mark.parametrize("values", [None, [0, 1, 2]])
def test_the_rate_at_which_a_budget_gains(values: list[int] | None) -> None:
    """The same for the epsilon of LIP, whose rows all move; with decoders, at what is read."""
    utility = HammingLoss() if values is None else md.PosteriorMeanSquaredError(values=values)
    notions = [md.LDP(1), md.LIP("0.6")]
    solution = survey(notions, utility)
    Q = solution.channel.matrix
    promised = 0.0
    for row in solution.binding:
        if row.notion == "lip" and row.output in solution.channel.outputs:
            y = place(solution, row.output)
            entry = Q[DISEASES.index(row.row.partition(" of ")[2].strip("'")), y]
            promised += row.multiplier * (entry if row.row.startswith("min") else PRIOR @ Q[:, y])
    looser = survey([md.LDP(1), md.LIP(0.6 + STEP)], utility)
    assert promised > 0.01
    gained = (float(solution.value) - float(looser.value)) / STEP
    assert gained == pytest.approx(promised, rel=1e-3)


@pytest.mark.parametrize(
    ("make", "least"), [(md.MutualInformationLeakage, "0.2"), (md.MaximalLeakage, "0.5")]
)
def test_a_bound_on_all_outputs_has_a_rate(make: Any, least: str) -> None:
    """Sum_y max_x Q <= e**eps is stated as e**-eps Sum_y max_x Q <= 1."""
    utility = Distortion([[0, 1, 3], [1, 0, 2], [3, 2, 0]])  # no closed form solves it
    solution, looser = survey(make(least), utility), survey(make(f"{least}0001"), utility)
    (row,) = solution.binding
    assert row.output is None
    gained = (float(solution.value) - float(looser.value)) / STEP
    assert gained == pytest.approx(row.multiplier, rel=1e-3)


def test_sums_of_excesses_are_called_by_their_inputs() -> None:
    found = survey(md.ApproximateLDP(1, "0.05")).binding
    assert found
    assert all(row.output is None and " against " in row.row for row in found)
    found = survey(md.ApproximateLIP(1, "0.05")).binding
    assert found
    assert {row.row.partition(" of ")[0] for row in found} <= {"max-lift", "min-lift"}


def test_a_row_about_a_set_of_priors_names_the_prior() -> None:
    """Each row that binds is tight at its prior; multipliers are not unique here."""
    priors = {"(0.5, 0.3, 0.2)": PRIOR, "(0.2, 0.3, 0.5)": [0.2, 0.3, 0.5]}
    solution = survey(md.BoundedPriorLIP(1, list(priors.values())))
    seen = set()
    for row in solution.binding:
        side, _, rest = row.row.partition(" of ")
        label, _, at = rest.partition(" at the prior ")
        column = solution.channel.matrix[:, place(solution, row.output)]
        lift = column[DISEASES.index(label.strip("'"))] / (priors[at] @ column)
        bound = {"max-lift": 2.718281828, "min-lift": 1 / 2.718281828}[side]
        assert lift == pytest.approx(bound, rel=1e-6), row
        seen.add(at)
    assert seen


def test_rows_about_a_sensitive_attribute_are_called_by_its_values() -> None:
    """Here they bind only at an output that is never sent, and are why it is not."""
    secret = md.SensitiveAttribute(
        ["ill", "well"], given_input=[[0.9, 0.1], [0.1, 0.9], [0.8, 0.2]]
    )
    for inner, names in (
        (md.LDP("0.3"), {"'well' against 'ill'"}),
        (md.LIP("0.3"), {"max-lift of 'well'", "min-lift of 'ill'"}),
    ):
        solution = survey(md.SensitiveAttributePrivacy(inner, secret))
        assert "healthy" not in solution.channel.outputs
        assert pairs(solution) == {(name, "healthy") for name in names}
        assert solution.binding[0].notion == f"{inner.name} of the sensitive attribute"


def test_the_report_and_the_json_name_them_and_the_file_does_not() -> None:
    solution = survey(md.LDP(1))
    told = json.loads(json.dumps(solution.to_json()))["binding"]
    assert [set(row) for row in told] == [{"notion", "row", "output", "multiplier", "inputs"}] * 2
    multipliers = [row["multiplier"] for row in told]
    assert multipliers == sorted(multipliers, reverse=True)
    assert min(multipliers) > 0
    assert told[0] == {**vars(solution.binding[0]), "inputs": ["healthy", "flu"]}
    line = next(line for line in repr(solution).splitlines() if line.startswith("binding"))
    assert line.startswith("binding    report 'healthy': inputs 'healthy' and 'flu' (price 0.45")
    assert "<td" in solution._repr_html_()
    assert "inputs &#x27;healthy&#x27; and &#x27;flu&#x27;" in solution._repr_html_()
    assert r"inputs 'healthy' and 'flu' (price 0.45" in solution.to_latex()
    document = solution.document()
    assert "binding" not in document  # the certificate has the multipliers
    verify(document)


def test_the_json_names_the_largest_only() -> None:
    prior = [(x + 1) / 820 for x in range(40)]
    solution = design(Problem(range(40), md.LIP(1), md.MeanAbsoluteError(), prior=prior))
    told = solution.to_json()["binding"]
    assert len(told) == min(1000, len(solution.binding))
    assert f"           and {len(solution.binding) - 5} more rows\n" in repr(solution)


@pytest.mark.parametrize(
    "problem",
    [
        Problem(2, md.LIP(1), md.MutualInformation(), prior=[0.4, 0.6]),  # a theorem
        Problem(range(3), md.LDP(1), md.L2Risk()),  # potentials
        Problem(range(3), md.LDP(1), md.PosteriorMeanSquaredError()),  # potentials and levels
    ],
)
def test_nothing_is_named_where_no_rows_prove_the_bound(problem: Problem) -> None:
    solution = design(problem)
    assert solution.binding == ()
    assert solution.to_json()["binding"] == []
    assert "\nbinding" not in repr(solution)

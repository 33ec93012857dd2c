"""The finite programs below the loss of every private kernel: against kernels that are better."""

from __future__ import annotations

from fractions import Fraction

import pytest

import mechdesign as md
from mechdesign.certify.continuous.law import Continuous
from mechdesign.certify.continuous.relaxation import relaxation
from mechdesign.designs.continuous import search
from mechdesign.designs.continuous.solution import ContinuousSolution

MAE, MSE = md.MeanAbsoluteError, md.MeanSquaredDistance


def designed(problem: md.ContinuousProblem, nodes: int) -> ContinuousSolution:
    """Design on about so many nodes, and no more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "FIRST", nodes)
        return md.design(problem, gap=100)


@pytest.mark.parametrize(
    ("notion", "atoms"),
    [
        (md.PML(1), [0.4, 0.6]),
        (md.PML(1), [0.1, 0.5]),
        (md.LIP("1/2"), [0.45, 0.55, 0.55]),
        (md.AsymmetricLift("inf", 1), [0.4, 0.6]),
        (md.ApproximateLIP(1, "0.1"), [0.4, 0.6]),
    ],
)
@pytest.mark.parametrize("loss", [MAE(worst_case=True), MSE(worst_case=True)])
def test_a_bound_on_few_nodes_is_below_the_value_on_many(
    notion: md.Notion, atoms: list[float], loss: md.Utility
) -> None:
    """Rows at the nodes are not bounded by the law of the nodes, if a notion is by that of x."""
    problem = md.ContinuousProblem([0, 1], notion, loss, prior=md.Samples(atoms))
    least = designed(problem, 33).value
    for nodes in (3, 5, 9):
        assert designed(problem, nodes).bound <= least


@pytest.mark.parametrize("loss", [MAE(worst_case=True), MSE(worst_case=True)])
def test_a_law_at_one_number_has_no_information_to_hide(loss: md.Utility) -> None:
    """Each number may be released as it is: the mutual information is 0, and so is the loss."""
    notion = md.MutualInformationPrivacy("0.1")
    problem = md.ContinuousProblem([0, 1], notion, loss, prior=md.Samples([0.3]))
    assert all(designed(problem, nodes).bound == 0 for nodes in (3, 5, 9))


def test_the_worst_case_of_lifts_converges_on_a_smooth_law() -> None:
    problem = md.ContinuousProblem(
        [0, 1], md.LIP(1), MAE(worst_case=True), prior=md.NamedLaw("beta", [2, 5])
    )
    coarse, fine = designed(problem, 9), designed(problem, 65)
    assert 0 < coarse.bound <= fine.bound <= fine.value <= coarse.value
    assert fine.gap <= coarse.gap / 4


def test_the_worst_case_by_distance_and_by_the_law_has_no_bound() -> None:
    nodes, cells = (Fraction(0), Fraction(1)), ((Fraction(1), Fraction(1, 2), Fraction(1, 3)),)
    tables = [notion.to_table() for notion in (md.MetricPrivacy(1, "absolute"), md.LIP(1))]
    utility = {"objective": "mean-absolute-error", "worst_case": True}
    stated = Continuous(nodes, cells, ((Fraction(0),) * 3,) * 2, tables, utility)
    with pytest.raises(md.CertificateError, match="no bound is known for the worst case"):
        relaxation(stated)
    notions = [md.MetricPrivacy(1, "absolute"), md.LIP(1)]
    law = md.NamedLaw("beta", [2, 5])
    with pytest.raises(md.UnsupportedError, match="an error on average"):
        md.ContinuousProblem([0, 1], notions, MAE(worst_case=True), prior=law)

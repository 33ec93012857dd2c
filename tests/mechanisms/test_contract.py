"""Every mechanism: exactly as private as stated, unbiased, and drawn from its law."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from mechdesign import LDP, BlockLDP, HighLowLDP, Prior
from mechdesign.exact import exp_lower
from mechdesign.mechanisms import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    LIPRandomizedResponse,
    Mechanism,
    OptimizedUnaryEncoding,
    ProjectiveGeometryResponse,
    SubsetSelection,
    SymmetricUnaryEncoding,
    around_sensitive,
    by_block,
)
from mechdesign.mechanisms.set_system import LDPMechanism
from tests.mechanisms_support import (
    block_hadamard,
    block_projective_geometry,
    block_randomized_response,
    block_subset_selection,
    check_budget,
    check_draws,
    check_lifts,
    check_moments,
    check_outputs,
    check_ratios,
    check_unbiased,
    exact_table,
    high_low_hadamard,
    high_low_projective_geometry,
    high_low_randomized_response,
    high_low_subset_selection,
    largest_ratio,
    mixed,
)
from tests.strategies import examples

OPTIONS: dict[type[LDPMechanism], tuple[int, Callable[[int], st.SearchStrategy[Any]]]] = {
    GeneralizedRandomizedResponse: (20, lambda _: st.just({})),
    HadamardResponse: (17, lambda k: st.sampled_from([{}, {"copies": 1}, {"copies": min(k, 3)}])),
    ProjectiveGeometryResponse: (16, lambda _: st.sampled_from([{}, {"field": 2}, {"field": 3}])),
    SubsetSelection: (6, lambda k: st.fixed_dictionaries({"size": st.integers(1, k - 1)})),
    OptimizedUnaryEncoding: (6, lambda _: st.sampled_from([{}, {"digits": 62}])),
    SymmetricUnaryEncoding: (6, lambda _: st.sampled_from([{}, {"digits": 62}])),
}
"""The most inputs to try, and the options for so many."""

INNER = (
    HadamardResponse,
    ProjectiveGeometryResponse,
    GeneralizedRandomizedResponse,
    SubsetSelection,
)


@st.composite
def under_ldp(draw: st.DrawFn, kind: type[LDPMechanism]) -> Mechanism:
    most, options = OPTIONS[kind]
    k = draw(st.integers(2, most))
    epsilon = draw(st.sampled_from(["0.01", "0.5", "1", "3", "20"]))
    assume(kind is not ProjectiveGeometryResponse or epsilon != "20")
    make: Callable[..., LDPMechanism] = kind
    return make(k, epsilon, **draw(options(k)))


@st.composite
def in_blocks(draw: st.DrawFn, kind: type[LDPMechanism]) -> Mechanism:
    member = draw(st.lists(st.integers(0, 2), min_size=2, max_size=7).filter(any))
    blocks = [[x for x in range(len(member)) if member[x] == b] for b in sorted(set(member))]
    epsilon = draw(st.sampled_from(["0.05", "1", "3"]))
    return by_block(kind, len(member), BlockLDP(epsilon, blocks))


@st.composite
def among_sensitive(draw: st.DrawFn, kind: type[LDPMechanism]) -> Mechanism:
    k = draw(st.integers(2, 7))
    sensitive = draw(st.lists(st.integers(0, k - 1), min_size=1, max_size=k - 1, unique=True))
    epsilon = draw(st.sampled_from(["0.05", "1", "3"]))
    return around_sensitive(kind, k, HighLowLDP(epsilon, sensitive))


@st.composite
def under_lip(draw: st.DrawFn) -> Mechanism:
    epsilon = Fraction(draw(st.sampled_from(["0.2", "1", "2", "5", "25"])))
    prior = Prior.from_counts(draw(st.lists(st.integers(1, 60), min_size=2, max_size=7)))
    assume(prior.minimum * (exp_lower(epsilon) + 1) >= 1)
    return LIPRandomizedResponse(len(prior), epsilon, prior)


PAIRWISE: dict[str, st.SearchStrategy[Mechanism]] = {
    **{kind.name: under_ldp(kind) for kind in OPTIONS},
    **{f"{kind.name} in blocks": in_blocks(kind) for kind in INNER},
    **{f"{kind.name} among sensitive inputs": among_sensitive(kind) for kind in INNER},
}
"""Mechanisms of a notion that bounds ratios of two rows."""

EVERY = {**PAIRWISE, LIPRandomizedResponse.name: under_lip(), "mixed": st.builds(mixed)}


@pytest.mark.parametrize("name", PAIRWISE)
@given(st.data())
@examples(15)
def test_it_is_private_and_not_more(name: str, data: st.DataObject) -> None:
    made = data.draw(PAIRWISE[name])
    table, pairs = exact_table(made), range(len(made.inputs))
    ratios = [largest_ratio(table, x, z) for x in pairs for z in pairs if x != z]
    assert made.largest_ratio() == max([r for r in ratios if r is not None], default=1)
    notion: Any = made.privacy
    if "digits" in getattr(made, "options", {}):  # a matrix of so many sets is rounded
        made = type(made).restored(made.inputs, notion, {"digits": 62})  # type: ignore[attr-defined]
    else:
        assert at(notion, notion.epsilon + Fraction(1, 10**6)).holds(made.dense())
        narrower = at(notion, notion.epsilon * Fraction(999, 1000))
        assert set(ratios) <= {None, 1} or not narrower.holds(made.dense())
    if not set(ratios) <= {None, 1}:
        check_budget(made, notion.epsilon, slack=1e-8)


def at(notion: Any, epsilon: Fraction) -> Any:
    """Return the same notion at another budget."""
    if isinstance(notion, LDP):
        return LDP(epsilon)
    if isinstance(notion, HighLowLDP):
        return HighLowLDP(epsilon, notion.sensitive)
    return BlockLDP(epsilon, notion.blocks)


@pytest.mark.parametrize("name", EVERY)
@given(st.data())
@examples(10)
def test_its_estimates_are_unbiased(name: str, data: st.DataObject) -> None:
    made = data.draw(EVERY[name])
    check_unbiased(made)
    check_moments(made)
    check_outputs(made)
    check_ratios(made)


@pytest.mark.parametrize("name", EVERY)
@given(st.data())
@examples(15)
def test_its_lifts_are_those_of_all_outputs(name: str, data: st.DataObject) -> None:
    made = data.draw(EVERY[name])
    k = len(made.inputs)
    counts = data.draw(st.lists(st.integers(0, 5), min_size=k, max_size=k).filter(any))
    check_lifts(made, Prior.from_counts(counts))


BLOCKS, SENSITIVE = [(5, 1, [[0, 2, 4], [1], [3]])], [(5, 1, [1, 2, 4]), (3, 1, [1])]


@pytest.mark.parametrize(
    ("make", "cases"),
    [
        (GeneralizedRandomizedResponse, [(2, 1), (3, 1), (10, 1)]),
        (HadamardResponse, [(2, 1, 1), (3, 1, 1), (8, 1, 1), (2, 1, 2), (5, 1, 2), (7, 1, 3)]),
        (ProjectiveGeometryResponse, [(3, 1, 2), (7, 1, 2), (9, 1, 3), (6, 1, 5)]),
        (SubsetSelection, [(2, 1, 1), (3, 1, 1), (5, 1, 2), (6, 1, 3), (5, 1, 4), (5, 4)]),
        (OptimizedUnaryEncoding, [(2, 1), (3, 1), (4, 1), (3, Fraction("0.3"))]),
        (SymmetricUnaryEncoding, [(2, 1), (3, 1), (4, 1), (3, Fraction("0.3"))]),
        (LIPRandomizedResponse, [(["a", "b", "c"], 1, Prior(["0.3", "0.3", "0.4"]))]),
        (block_hadamard, BLOCKS),
        (block_projective_geometry, BLOCKS),
        (block_randomized_response, BLOCKS),
        (block_subset_selection, BLOCKS),
        (mixed, [()]),
        (high_low_hadamard, SENSITIVE),
        (high_low_projective_geometry, SENSITIVE),
        (high_low_randomized_response, SENSITIVE),
        (high_low_subset_selection, SENSITIVE),
    ],
)
def test_its_draws_follow_the_law(
    make: Callable[..., Mechanism], cases: list[tuple[Any, ...]]
) -> None:
    for seed, case in enumerate(cases):
        check_draws(make(*case), seed=10 * seed)

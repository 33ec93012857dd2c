"""Sensitive attributes behind the input: exact leakages, linkage and post-processing."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from mechdesign import LIP, Channel, Prior
from mechdesign.accounting import leakages
from mechdesign.accounting.measure.sensitive_attribute import (
    sensitive_attribute_channel,
    sensitive_attribute_leakage,
)
from tests.strategies import channels, examples, simplex

Case = tuple[list[list[Fraction]], Channel]
WARNER = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A joint law of two or three secrets and inputs, and a channel without zeros."""
    secrets, k = draw(st.integers(2, 3)), draw(st.integers(2, 3))
    flat = draw(simplex(secrets * k))
    joint = [flat[s * k : (s + 1) * k] for s in range(secrets)]
    assume(all(any(row) for row in joint))
    return joint, draw(channels(k, least=1, most_outputs=3))


@given(cases())
@examples(60)
def test_the_leakage_is_that_of_the_channel_from_the_attribute(case: Case) -> None:
    """Its entries are Sum_x Pr(x|s) Q(y|x)."""
    joint, channel = case
    found = sensitive_attribute_leakage(joint, channel)
    whole, prior = sensitive_attribute_channel(joint, channel)
    assert list(prior) == [sum(row) for row in joint]
    for s, row in enumerate(joint):
        for y in channel.outputs:
            exact = sum(p * channel.probability(x, y) for x, p in enumerate(row)) / sum(row)
            assert abs(whole.probability(s, y) - exact) < Fraction(1, 2**60)
    expected = leakages(whole, prior)
    for line in found.rows:
        assert line.value == pytest.approx(expected[line.notion].value, abs=1e-12)
    np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-13)


@given(cases())
@examples(60)
def test_linkage(case: Case) -> None:
    """No attribute correlated with X leaks more than X."""
    joint, channel = case
    found = sensitive_attribute_leakage(joint, channel)
    prior = Prior([sum(entries) for entries in zip(*joint, strict=True)])
    own = leakages(channel, prior)
    for row in found.rows:
        if row.notion != "differential-identifiability":  # which compares with another prior
            assert row.value <= own[row.notion].value + 1e-13


def test_a_secret_that_is_the_data_and_one_that_is_not() -> None:
    same = sensitive_attribute_leakage([["1/5", 0], [0, "4/5"]], WARNER)
    assert same["ldp"].factor == 3
    assert same["lip"].value == LIP(1).leakage(WARNER, Prior(["1/5", "4/5"]))
    apart = sensitive_attribute_leakage([["1/10", "3/10"], ["3/20", "9/20"]], WARNER)
    assert apart["ldp"].value == apart["lip"].value == apart["maximal-leakage"].value == 0
    known = sensitive_attribute_leakage(
        [["1/2", 0], [0, "1/2"]], Channel.from_matrix([[1, 0], [0, 1]])
    )
    assert known["ldp"].value == known["min-lift"].value == math.inf
    assert known["max-lift"].factor == 2

"""Facility location on a line is the best of all sets of sites, and its dual has the same value."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import given, strategies as st

from mechdesign.closed_forms.response_on_bins import Sites, are_in_line
from tests.strategies import examples, losses_in_line


def cost(loss: np.ndarray, mass: np.ndarray, opening: np.ndarray, sites: Any) -> float:
    return float(opening[list(sites)].sum() + mass @ loss[:, list(sites)].min(axis=1))


@examples(60)
@given(losses_in_line(), st.data())
def test_no_set_of_sites_is_better_and_the_payments_prove_it(loss: np.ndarray, data: Any) -> None:
    k, m = loss.shape
    number = st.integers(0, 5)
    mass = np.array(data.draw(st.lists(number, min_size=k, max_size=k).filter(any)), dtype=float)
    opening = np.array(data.draw(st.lists(number, min_size=m, max_size=m)), dtype=float)
    sites = Sites(loss, mass)
    sets = [c for n in range(1, m + 1) for c in itertools.combinations(range(m), n)]
    least = min(cost(loss, mass, opening, chosen) for chosen in sets)
    assert cost(loss, mass, opening, sites.best(opening)) == least
    paid = sites.payments(opening)
    assert np.isclose(paid.sum(), least, atol=1e-12)
    for y in range(m):  # with v_x = paid / mass: no site gets more than it costs
        assert np.maximum(0.0, paid - mass * loss[:, y]).sum() <= opening[y] + 1e-12


@examples(40)
@given(st.data())
def test_sites_are_in_line_where_all_sets_of_them_up_to_a_loss_are_intervals(data: Any) -> None:
    k, m = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 5))
    row = st.lists(st.integers(0, 3), min_size=m, max_size=m)
    loss = np.array(data.draw(st.lists(row, min_size=k, max_size=k)), dtype=float)
    sets = [np.flatnonzero(own <= d) for own in loss for d in own]
    intervals = all(np.ptp(members) + 1 == len(members) for members in sets)
    assert are_in_line(loss) == intervals

"""Random changes of honest files: what is accepted is no better than what can be."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mechdesign.errors import MechdesignError
from mechdesign.kernel.packed import exact
from mechdesign.kernel.verify import verify
from tests.kernel.changes import Changer
from tests.kernel.rounding.test_files import made

NAMES = ["lip", "pml", "metric", "averages", "estimate", "read", "tails", "box", "box-worst"]


@pytest.mark.parametrize("name", NAMES)
def test_accepted_bounds_hold(name: str) -> None:
    changer, accepted = Changer([made(name)], NAMES.index(name)), 0
    for _ in range(25):
        found, honest = changer.document()
        try:
            verified = verify(found)
        except MechdesignError:
            continue
        accepted += 1
        assert verified.value is not None
        assert verified.bound is not None
        assert exact(found["bound"]) <= verified.bound <= verified.value
        assert abs(exact(found["value"]) - verified.value) <= Fraction(1, 10**11) * verified.value
        if found["problem"] == honest["problem"]:
            # the honest kernel is private there, and has this loss
            assert verified.bound <= exact(honest["value"])
            for claim, own in zip(found["privacy"], honest["privacy"], strict=True):
                if found["channel"]["numerators"] == honest["channel"]["numerators"]:
                    assert abs(claim["leakage"] - own["leakage"]) <= 1e-6
    assert accepted < 15

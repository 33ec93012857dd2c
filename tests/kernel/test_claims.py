"""A claim is compared with what is computed again, from its side and to its tolerance."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest

from mechdesign.kernel.claims import Leak, check_status, same_reading, verify_bound, verify_decoder
from mechdesign.kernel.documents import is_close, parse, relative_gap
from tests.kernel.draws import refused

HALF, ONE, SMALL = Fraction(1, 2), Fraction(1), Fraction(1, 10**14)


class Least(Leak):
    """A channel that is private from one leakage on."""

    def __init__(self, least: Fraction, signed: bool) -> None:
        self.least, self._signed = least, signed

    @property
    def signed(self) -> bool:
        return self._signed

    def breaks(self, leakage: Fraction) -> str | None:
        return "too little" if leakage < self.least else None


@pytest.mark.parametrize(
    ("least", "claimed", "signed", "reached"),
    [
        ("0", "0", False, True),
        ("0", "0.5e-9", False, True),
        ("0", "1.5e-9", False, False),
        ("3", "3.0000000039", False, True),
        ("3", "3.0000000041", False, False),
        ("-1", "0", True, False),
        ("-1", "-1", True, True),
        ("-3", "-2.9999999961", True, True),
        ("-3", "-2.9999999959", True, False),
    ],
)
def test_a_leakage_is_the_least_one(least: str, claimed: str, signed: bool, reached: bool) -> None:
    """It may be off by 1e-9 of 1 and of itself; one that may not be negative is reached at 0."""
    leak = Least(Fraction(least), signed)
    assert leak.reaches(Fraction(claimed)) is reached


@pytest.mark.parametrize("sign", [1, -1])
def test_a_claimed_bound_does_not_exceed_the_proved_one(sign: int) -> None:
    """Of a loss it is a lower bound, of a gain an upper one; the proved number itself will do."""
    maximized = sign < 0
    for shown in (0.5, 0.5 - sign * 1e-6):
        assert f"{shown:.10g}" in verify_bound(HALF, HALF, shown, "x", maximized)
    with refused("the bound proved is"):
        verify_bound(HALF, HALF, 0.5 + sign * 1e-6, "x", maximized)
    with refused("contradicts itself"):
        verify_bound(HALF - sign * Fraction(1, 10**6), HALF, 0.5 - sign, "x", maximized)


@pytest.mark.parametrize(
    ("value", "bound", "off", "near"),
    [
        (1.0, 0.75, 1e-9, True),
        (1.0, 0.75, -9e-10, True),
        (1.0, 0.75, 1.1e-9, False),
        (1.0, 0.75, -1.1e-9, False),
        (1.0, -9.0, 9e-9, True),
        (1.0, -9.0, 1.1e-8, False),
    ],
)
def test_a_gap_is_that_of_the_claimed_value_and_bound(
    value: float, bound: float, off: float, near: bool
) -> None:
    """It may be off by 1e-9, or by this share of a gap above 1."""
    gap = relative_gap(value, bound) + off
    file = SimpleNamespace(value=value, bound=bound, gap=gap, status="bounded")
    if near:
        assert check_status(file) == "bounded"
    else:
        with refused("the gap is"):
            check_status(file)


@pytest.mark.parametrize(("off", "status"), [(1.0, "optimal"), (1.1, "bounded")])
def test_a_status_follows_from_the_gap(off: float, status: str) -> None:
    """A gap of 1e-6 is optimal."""
    value, bound = 1e6, 1e6 - off
    gap = relative_gap(value, bound)
    file = SimpleNamespace(value=value, bound=bound, gap=gap, status=status)
    assert check_status(file) == status
    file.status = "bounded" if status == "optimal" else "optimal"
    with refused(f"the status is '{status}'"):
        check_status(file)


@pytest.mark.parametrize("size", [Fraction(1, 1000), ONE, Fraction(1000)])
def test_a_float_is_close_relative_to_the_exact_number(size: Fraction) -> None:
    for off, near in ((HALF, True), (-HALF, True), (2, False), (-2, False)):
        assert is_close(Fraction(size + off * size / 10**12), size) is near
    assert is_close(Fraction(1, 1 << 1074), Fraction(0))
    assert not is_close(Fraction(1, 1 << 1073), Fraction(0))


def test_a_decoder_is_compared_relative_to_its_numbers_or_the_largest() -> None:
    """Entries of an estimator may cancel: they are compared with the largest of their column."""
    assert not same_reading([SMALL, ONE], [0.0, 1.0])
    assert same_reading([SMALL, ONE], [0.0, 1.0], signed=True)
    assert same_reading([SMALL, -ONE], [0.0, -1.0], signed=True)
    assert same_reading([[SMALL, ONE], [ONE, SMALL]], [[0.0, 1.0], [1.0, 0.0]], signed=True)
    assert not same_reading([[SMALL, SMALL], [ONE, ONE]], [[0.0, 0.0], [1.0, 1.0]], signed=True)
    assert same_reading([[ONE], (0, 1)], [[1.0], [0, 1]])
    assert same_reading([ONE], [1 + 0.9e-12])
    assert not same_reading([ONE], [1 + 1.1e-12])
    assert not same_reading([ONE], [True])
    assert not same_reading([ONE, ONE], [1.0])
    assert not same_reading([ONE], 1.0)


@pytest.mark.parametrize("reads", ["readings", "mean"])
def test_only_readings_are_unbiased(reads: str) -> None:
    claims = verify_decoder([ONE], SimpleNamespace(decoder=[1.0]), reads)
    assert any("the mean of the readings is f(x)" in claim for claim in claims) == (
        reads == "readings"
    )
    with refused("the decoder differs"):
        verify_decoder([ONE], SimpleNamespace(decoder=[2.0]), reads)


def test_a_repeated_key_is_named() -> None:
    with pytest.raises(ValueError, match="the key 'b' twice"):
        parse('{"a": 1, "b": 2, "c": 3, "b": 4}')

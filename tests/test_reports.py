"""Reports keep the order of the records, and tallies of parts add up to the tally of the whole."""

from __future__ import annotations

import pytest

from mechdesign import Channel, InputError, Tally

CHANNEL = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
RECORDS = ["yes", "no", "no", "yes"] * 25


def test_reports_are_written_and_read_back() -> None:
    reports = CHANNEL.privatize(RECORDS)
    assert len(reports) == len(RECORDS)
    assert list(reports.alphabet.read(reports.texts())) == list(reports.data)
    assert not reports.simulated
    assert "operating system" in repr(reports)


def test_a_seed_marks_reports_and_every_tally_with_them() -> None:
    simulated = CHANNEL.privatize(RECORDS, rng=0)
    real = CHANNEL.privatize(RECORDS)
    assert simulated.texts() == CHANNEL.privatize(RECORDS, rng=0).texts()
    both = CHANNEL.tally(simulated) + CHANNEL.tally(real)
    assert both.simulated
    assert not CHANNEL.tally(real).simulated
    assert "not for release" in repr(simulated)
    assert "not for release" in repr(both)


def test_tallies_of_parts_add_up() -> None:
    first, second = CHANNEL.privatize(RECORDS, rng=1), CHANNEL.privatize(RECORDS, rng=2)
    both = CHANNEL.tally(first) + CHANNEL.tally(second)
    labels = first.labels() + second.labels()
    assert both.total == 2 * len(RECORDS)
    assert list(both.counts) == [labels.count(label) for label in CHANNEL.outputs]


def test_tallies_of_two_mechanisms_do_not_add_up() -> None:
    other = Channel.from_matrix([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    with pytest.raises(InputError, match="the same mechanism"):
        _ = CHANNEL.tally(CHANNEL.privatize(RECORDS)) + other.tally(other.privatize([0, 1, 2]))
    assert Tally.__add__(CHANNEL.tally(CHANNEL.privatize(RECORDS)), 3) is NotImplemented

"""Errors survive what happens to exceptions: pickling between processes, a prefix, long values."""

from __future__ import annotations

import pickle

import pytest

from mechdesign import errors
from mechdesign.errors import InputError, MechdesignError, UnsupportedError, did_you_mean, listed
from tests.refusals_support import check_refused


def test_whoever_catches_the_base_class_catches_all() -> None:
    raised = [getattr(errors, name) for name in errors.__all__ if name.endswith("Error")]
    assert len(raised) == 7
    assert all(issubclass(kind, MechdesignError) for kind in raised)
    assert issubclass(InputError, ValueError)


@pytest.mark.parametrize("kind", [InputError, UnsupportedError])
def test_an_input_error_comes_back_whole_from_another_process(kind: type[InputError]) -> None:
    sent = kind("epsilon", "a number >= 0", "-1", "give a budget in nats")
    received = pickle.loads(pickle.dumps(sent))
    assert type(received) is kind
    assert str(received) == str(sent)
    assert (received.key, received.hint) == ("epsilon", "give a budget in nats")


def test_keys_are_placed_and_the_kind_of_error_stays() -> None:
    placed = UnsupportedError("epsilon", "less", "more").within("privacy").inside_file("t.toml")
    assert type(placed) is UnsupportedError
    assert str(placed) == "t.toml: privacy.epsilon: expected less, given more"


def test_messages_stay_on_one_line() -> None:
    message = str(InputError("values", "numbers", "1\n2 " * 200))
    assert "\n" not in message
    assert len(message) < 200


def test_a_misspelled_name_is_found() -> None:
    assert "healthy" in did_you_mean("heathy", ["flu", "healthy"])
    assert did_you_mean("zzz", ["flu", "healthy"]) == ""


@pytest.mark.parametrize("value", ["text", b"bytes", {"a": 1}, int, 3])
def test_non_lists_are_refused(value: object) -> None:
    check_refused("a list of labels", listed, value, "values", "a list of labels")

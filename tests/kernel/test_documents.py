"""A text is read under limits before it is parsed; what is no file says so in one line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mechdesign.errors import CertificateError, LimitError
from mechdesign.kernel.documents import canonical, digest, parse
from mechdesign.kernel.verify import verify
from mechdesign.resources import allow

BARE: dict[str, Any] = {
    "format": "mechdesign-channel",
    "version": 2,
    "problem": {"domain": {"values": ["a", "b"]}},
    "channel": {
        "inputs": ["a", "b"],
        "outputs": [0, 1],
        "matrix": [[0.75, 0.25], [0.5, 0.5]],
        "bits": 2,
        "numerators": [["3", "1"], ["2", "2"]],
    },
}


def signed(document: dict[str, Any]) -> dict[str, Any]:
    """Return it with its digest."""
    return {**document, "digest": digest(document)}


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        ({"bytes": 10}, " " * 11),
        ({"entries": 3}, "[1,2,3,4,5]"),
        ({"lists": 2}, "[[],[]]"),
        ({"levels": 2}, '["[[[",[[]]]'),
        ({"digits": 4}, "12345"),
    ],
)
def test_texts_beyond_a_limit_are_not_parsed(limit: dict[str, int], text: str) -> None:
    with allow(**limit), pytest.raises(LimitError):
        parse(text)


def test_brackets_in_text_do_not_count_as_levels() -> None:
    with allow(levels=1):
        assert parse('["[[[\\"[", "]"]') == ['[[["[', "]"]


def test_a_bare_channel_claims_to_be_one_only() -> None:
    claims = verify(json.loads(canonical(signed(BARE)))).claims
    assert claims[0] == "rows sum to 1 exactly: integers over 2**2"
    assert claims[1].startswith("NOT claimed")


@pytest.mark.parametrize(
    "change",
    [
        {"bits": 3},
        {"bits": 10**9},
        {"inputs": ["b", "a"]},
        {"outputs": [0, 0]},
        {"matrix": [[0.75, 0.25], [0.5, 0.4]]},
        {"matrix": [[0.75, 0.25]]},
        {"numerators": [["3", "1"], ["2", "3"]]},
        {"numerators": [["3", "1"], ["4"]]},
        {"numerators": [["3", "1"], [2, 2]]},
        {"more": 1},
    ],
)
def test_an_invalid_channel_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(CertificateError):
        verify(signed({**BARE, "channel": {**BARE["channel"], **change}}))


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({**BARE, "version": 1}, "design it again"),
        ({"format": "mechdesign-mechanism", "version": 1}, "design it again"),
        ({**BARE, "version": 3}, "version 2"),
        ({**BARE, "version": "2"}, "version 2"),
        ({**BARE, "version": True}, "design it again"),
        ({**BARE, "digest": "sha256:0"}, "digest"),
        *((other, "version 2") for other in (None, 0, 1.5, "", [], {}, [{}], {"format": []})),
    ],
)
def test_another_document_is_refused_in_one_line(document: Any, why: str) -> None:
    with pytest.raises(CertificateError, match=why) as error:
        verify(document)
    assert "\n" not in str(error.value)

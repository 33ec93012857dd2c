"""Saved documents in tests: changed, given the digest that fits again, and refused all the same."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mechdesign import CertificateError
from mechdesign.kernel import digest, verify

Document = dict[str, Any]


def sealed(document: Document) -> Document:
    """Give a document the digest that fits what it says, in place."""
    document["digest"] = digest(document)
    return document


def refused(document: Document, reason: str = "") -> str:
    """Assert that a document is refused for a reason other than its digest; return the words."""
    with pytest.raises(CertificateError) as found:
        verify(sealed(document))
    words = str(found.value)
    assert re.search(reason, words), words
    assert "digest" not in words
    return words

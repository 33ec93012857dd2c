"""Saved documents in tests: changed, given the digest that fits again, and refused all the same."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from mechdesign import CertificateError, Problem, Solution, design
from mechdesign.kernel import Verified, digest, verify
from mechdesign.mechanisms import Mechanism

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


def as_read(answer: Solution | Mechanism) -> Document:
    """Return the document of a solution or a mechanism as it is read from its file."""
    document: Document = json.loads(json.dumps(answer.document()))
    return document


def is_proved(solution: Solution) -> Verified:
    """Assert that a solution is optimal and private as stated, and that its file proves that."""
    problem, found = solution.problem, verify(as_read(solution))
    sign = -1 if problem.utility.is_maximized else 1
    assert solution.status == "optimal"
    assert sign * solution.bound <= sign * solution.value == sign * found.value
    assert all(notion.holds(solution.channel, problem.prior) for notion in problem.privacy)
    return found


def proved(problem: Problem, **options: Any) -> Solution:
    """Design a problem, and assert that the answer is proved."""
    solution = design(problem, **options)
    is_proved(solution)
    return solution

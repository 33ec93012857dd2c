"""The check of a saved channel without a problem: its rows sum to 1, and it claims no more."""

from __future__ import annotations

from typing import Any

from mechdesign.certify.channel_file import Verified, read_channel
from mechdesign.certify.problem import statement_without_problem

__all__ = ["FORMAT", "verify_bare_channel"]

FORMAT = {"format": "mechdesign-bare-channel", "version": 1}


def verify_bare_channel(document: dict[str, Any]) -> Verified:
    """Check the integers of a channel without a problem, whose keys and digest are right.

    Raises
    ------
    CertificateError
        If they are no channel on the inputs.
    """
    statement = statement_without_problem(document["domain"])
    _, bits, _ = read_channel(statement, document["channel"])
    return Verified(
        (
            f"rows sum to 1 exactly: integers over 2**{bits}",
            "NOT claimed: privacy under any notion, and optimality for any objective",
        )
    )

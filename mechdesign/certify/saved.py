"""Checking a saved document from end to end, from itself alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.certify.optimality import THEOREMS, dual_bound, value
from mechdesign.certify.privacy import check
from mechdesign.certify.statement import Statement, number, read_statement
from mechdesign.errors import CertificateError

__all__ = ["FORMAT", "OPTIMAL_GAP", "Verified", "digest", "prove", "relative_gap", "verify"]

FORMAT = {"format": "mechdesign-channel", "version": 1}
OPTIMAL_GAP = 1e-6
"""The largest gap that is called optimal."""

VALUE_TOLERANCE = Fraction(1, 10**12)


@dataclass(frozen=True)
class Verified:
    """What has been checked of a document: each claim in a sentence."""

    claims: tuple[str, ...]
    value: Fraction
    bound: Fraction | None

    def __str__(self) -> str:
        return "\n".join(f"verified  {claim}" for claim in self.claims)


def verify(document: Any) -> Verified:
    """Check every claim of a saved document.

    Parameters
    ----------
    document
        The parsed JSON of a channel file.

    Returns
    -------
    Verified
        The claims that hold.

    Raises
    ------
    CertificateError
        At the first claim that does not hold, saying which.
    """
    if not isinstance(document, dict) or any(document.get(k) != v for k, v in FORMAT.items()):
        raise CertificateError("this is no mechdesign channel file of version 1")
    if document.get("digest") != digest(document):
        raise CertificateError("the digest does not match: the file was changed after it was made")
    try:
        return _verify(document)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise CertificateError(f"the file is incomplete or malformed: {error!r}") from None


def digest(document: dict[str, Any]) -> str:
    """Return the SHA-256 of everything but the digest itself, as canonical JSON."""
    rest = {key: entry for key, entry in document.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def relative_gap(value: float, bound: float) -> float:
    """Return ``|value - bound| / max(1e-12, |value|)``."""
    return abs(value - bound) / max(1e-12, abs(value))


def _verify(document: dict[str, Any]) -> Verified:
    statement = read_statement(document["problem"])
    columns, bits, used = _read_channel(statement, document["channel"])
    claims = [f"rows sum to 1 exactly: integers over 2**{bits}"]
    if len(document["privacy"]) != len(statement.privacy):
        raise CertificateError("the file does not claim every notion of its problem")
    for claim, table in zip(document["privacy"], statement.privacy, strict=True):
        claims.append(_verify_privacy(statement, table, claim, columns))
    exact, bound = prove(statement, document["certificate"], columns, used, bits)
    if abs(number(document["value"]) - exact) > VALUE_TOLERANCE * max(Fraction(1), abs(exact)):
        raise CertificateError(f"the value is {float(exact)!r}, not {document['value']!r}")
    claims.append(f"value {float(exact):.10g}, recomputed from the integers")
    if document["bound"] is not None:
        if bound is None or number(document["bound"]) > bound:
            shown = "none" if bound is None else repr(float(bound))
            raise CertificateError(f"the bound proved is {shown}, not {document['bound']!r}")
        claims.append(f"no private channel has a loss below {document['bound']:.10g}")
        gap = relative_gap(document["value"], document["bound"])
        if abs(gap - document["gap"]) > 1e-9:
            raise CertificateError(f"the gap is {gap!r}, not {document['gap']!r}")
    wanted = "optimal" if bound is not None and document["gap"] <= OPTIMAL_GAP else "bounded"
    if document["status"] != wanted:
        raise CertificateError(f"the status is {wanted!r}, not {document['status']!r}")
    claims.append(f"status {wanted}")
    return Verified(tuple(claims), exact, bound)


def prove(
    statement: Statement,
    certificate: dict[str, Any],
    columns: list[list[int]],
    used: list[int],
    bits: int,
) -> tuple[Fraction, Fraction | None]:
    """Return the value of the channel and the best bound that the certificate proves."""
    bounds = []
    theorem = certificate.get("theorem")
    if theorem is not None:
        if theorem not in THEOREMS:
            raise CertificateError(f"the theorem {theorem!r} is not known to the checker")
        bounds.append(THEOREMS[theorem](statement))
    if certificate.get("dual") is not None:
        bounds.append(dual_bound(statement, certificate["dual"]))
    return value(statement, columns, used, bits), max(bounds, default=None)


def _read_channel(
    statement: Statement, channel: dict[str, Any]
) -> tuple[list[list[int]], int, list[int]]:
    """Return the integer columns, their bits, and which allowed output each one is."""
    if channel["inputs"] != statement.labels:
        raise CertificateError("the inputs of the channel are not those of the problem")
    bits = channel["bits"]
    rows = [[int(entry) for entry in row] for row in channel["numerators"]]
    outputs = channel["outputs"]
    if len(rows) != len(statement.labels) or any(len(row) != len(outputs) for row in rows):
        raise CertificateError("the channel has not one row for each input")
    for x, row in enumerate(rows):
        if min(row) < 0 or sum(row) != 1 << bits:
            raise CertificateError(f"row {x} of the channel does not sum to 2**{bits}")
        shown = channel["matrix"][x]
        if len(shown) != len(row) or any(
            abs(number(a) * (1 << bits) - b) > b * VALUE_TOLERANCE
            for a, b in zip(shown, row, strict=True)
        ):
            raise CertificateError(f"row {x} of the matrix is not that of the integers")
    allowed = outputs if statement.outputs is None else statement.outputs
    if any(outputs.count(y) != 1 or y not in allowed for y in outputs):
        raise CertificateError("the channel has an output that the problem does not allow")
    columns = [list(column) for column in zip(*rows, strict=True)]
    return columns, bits, [allowed.index(y) for y in outputs]


def _verify_privacy(
    statement: Statement, table: dict[str, Any], claim: dict[str, Any], columns: list[list[int]]
) -> str:
    """Check the notion as stated, and that the leakage is the least that holds, to 1e-9."""
    notion = table["notion"]
    if claim["notion"] != notion or claim["certified"] is not True:
        raise CertificateError(f"the notion {notion!r} is not claimed as certified")
    if "epsilon" in table and claim["epsilon"] != float(number(table["epsilon"])):
        raise CertificateError(f"{notion}: the epsilon claimed is not that of the problem")
    broken = check(statement, table, columns)
    if broken is not None:
        raise CertificateError(f"{notion}: not private: {broken}")
    if claim["leakage"] is None:
        return f"{notion}: private as stated, exactly"
    leakage = number(claim["leakage"])
    broken = check(statement, table, columns, leakage)
    if broken is not None:
        raise CertificateError(f"{notion}: leaks more than {float(leakage)!r}: {broken}")
    less = leakage - (1 + abs(leakage)) / 10**9
    if ("epsilon" not in table or less >= 0) and check(statement, table, columns, less) is None:
        raise CertificateError(f"{notion}: leaks less than the claimed {float(leakage)!r}")
    return f"{notion}: private as stated, exactly; leakage {float(leakage):.10g}"

"""The check of a saved channel: its integers, its privacy, its value, and the bound on all others.

Nothing is taken from the document but the problem, the integers of the channel and the data of the
certificate. Every other number in it is a claim, which is recomputed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.certify.bounds.duality import decoder, value
from mechdesign.certify.bounds.readings import Readings, read_readings
from mechdesign.certify.fixed_point import product_steps
from mechdesign.certify.forms import NUMBER
from mechdesign.certify.privacy.check import check, lift_limits, ratio_bound
from mechdesign.certify.privacy.linear_rows import is_linear, linear_rows, title_of
from mechdesign.certify.privacy.non_conic import NON_CONIC
from mechdesign.certify.privacy.sensitive_attribute import read_sensitive_attribute
from mechdesign.certify.problem import (
    LINEAR,
    MOST_DIGITS,
    SECRET,
    Statement,
    check_different,
    number,
    plain_label,
    statement_of,
    whole_number,
)
from mechdesign.certify.proof import prove
from mechdesign.errors import CertificateError
from mechdesign.resources import entries_of, spend

__all__ = [
    "FORMAT",
    "OPTIMAL_GAP",
    "Verified",
    "canonical",
    "check_status",
    "digest",
    "is_close",
    "read_channel",
    "relative_gap",
    "same_decoder",
    "verify_bound",
    "verify_channel",
    "verify_privacy",
    "verify_value",
]

FORMAT = {"format": "mechdesign-channel", "version": 1}
OPTIMAL_GAP = 1e-6
"""The largest relative gap whose status is ``optimal``."""

VALUE_TOLERANCE = Fraction(1, 10**12)
"""Relative distance of a float from the exact number that it stands for; a float has 2**-53."""

LEAST_FLOAT = Fraction(1, 1 << 1074)
"""The least float above 0, which numbers near it or below it may be off by."""

GAP_TOLERANCE = Fraction(1, 10**9)
"""Distance of a claimed gap from that of the claimed value and bound, or share of one above 1."""

LEAKAGE_TOLERANCE = Fraction(1, 10**9)
"""A leakage is refused if the channel would pass with less, by so much of it or of 1."""


@dataclass(frozen=True)
class Verified:
    """The claims of a document that have been checked, each in a sentence.

    The value and the bound are those of a channel that was designed for an objective.
    """

    claims: tuple[str, ...]
    value: Fraction | None = None
    bound: Fraction | None = None

    def __str__(self) -> str:
        return "\n".join(
            claim if claim.startswith("NOT") else f"verified  {claim}" for claim in self.claims
        )


def canonical(value: Any) -> bytes:
    """Return canonical JSON, of which digests and signatures are made: sorted keys, no spaces.

    Examples
    --------
    >>> canonical({"b": [1, 2], "a": None})
    b'{"a":null,"b":[1,2]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest(document: dict[str, Any]) -> str:
    """Return the SHA-256 of everything but the digest itself, as canonical JSON."""
    rest = {key: entry for key, entry in document.items() if key != "digest"}
    return "sha256:" + hashlib.sha256(canonical(rest)).hexdigest()


def relative_gap(value: float, bound: float) -> float:
    """Return ``|value - bound| / max(1e-12, |value|)``."""
    return abs(value - bound) / max(1e-12, abs(value))


def verify_channel(document: dict[str, Any]) -> Verified:
    """Check every claim of a saved channel, whose keys and digest are right.

    Raises
    ------
    CertificateError
        At the first claim that does not hold.
    """
    statement = statement_of(document["problem"])
    columns, bits, used = read_channel(statement, document["channel"])
    if statement.outputs is None and document["channel"]["outputs"] != list(range(len(columns))):
        raise CertificateError("the outputs that the optimizer chose are not numbered from 0")
    claims = [f"rows sum to 1 exactly: integers over 2**{bits}"]
    if len(document["privacy"]) != len(statement.privacy):
        raise CertificateError("the file does not claim every notion of its problem")
    for claim, table in zip(document["privacy"], statement.privacy, strict=True):
        claims.append(verify_privacy(statement, table, claim, columns))
    if document["objective"] != statement.utility["objective"]:
        raise CertificateError("the objective claimed is not that of the problem")
    certificate, own = document["certificate"], document["problem"].get("constraints", [])
    if "numeric" in certificate:
        return _verify_numeric(statement, document, claims, (columns, used, bits))
    if own or not statement.is_known:
        raise CertificateError("the file claims a proof under terms of the user's own")
    readings = read_readings(statement, document["channel"], columns, bits)
    exact, bound = prove(statement, certificate, columns, used, bits, readings)
    if readings is not None:
        claims.append("the mean of the readings is f(x) exactly, for every input x")
    claims += _verify_optimality(statement, document, exact, bound)
    claims += _verify_decoder(statement, document, (columns, used, bits), readings)
    return Verified(tuple(claims), exact, bound)


def _verify_numeric(
    statement: Statement,
    document: dict[str, Any],
    claims: list[str],
    channel: tuple[list[list[int]], list[int], int],
) -> Verified:
    """Check a document with an objective or constraints of the user's own: no bound is proved."""
    own = document["problem"].get("constraints", [])
    if statement.is_known and not own:
        raise CertificateError("the file carries no proof for an objective that can be proved")
    if document["bound_proved"]:
        raise CertificateError("the file claims a proof of its bound, and carries none")
    found, bound = number(document["value"]), number(document["bound"])
    check_status(document)
    if statement.is_read:
        raise CertificateError("readings are not proved under constraints of the user's own")
    if statement.is_known:
        _check_sense(statement, document)
        claims.append(verify_value(value(statement, *channel), document))
        claims += _verify_decoder(statement, document, channel)
        claims.append(
            f"NOT checked: the bound {float(bound):.10g}, and {len(own)} constraints of the "
            "user's own, which the file only quotes"
        )
    else:
        name = str(statement.utility["objective"])
        read = ", what is read from each output," if "decoder" in document["channel"] else ""
        claims.append(
            f"NOT checked: the value {float(found):.10g}{read} and the bound {float(bound):.10g} "
            f"of the objective {name!r:.60}, whose definition the file does not carry"
        )
    sign = -1 if document["sense"] == "maximize" else 1
    if sign * bound > sign * found:
        raise CertificateError("the bound is beyond the value: the file contradicts itself")
    return Verified(tuple(claims), found, bound)


def _verify_optimality(
    statement: Statement, document: dict[str, Any], exact: Fraction, bound: Fraction
) -> list[str]:
    """Check the sense, the value, the bound, the gap and the status that are claimed."""
    if not document["bound_proved"]:
        raise CertificateError("the file claims no proof of its bound, and carries one")
    _check_sense(statement, document)
    claims = [verify_value(exact, document)]
    claims.append(verify_bound(exact, bound, document, "channel", statement.is_maximized))
    return [*claims, f"status {check_status(document)}"]


def _check_sense(statement: Statement, document: dict[str, Any]) -> None:
    sense = "maximize" if statement.is_maximized else "minimize"
    if document["sense"] != sense:
        raise CertificateError(f"the sense is {sense!r}, not {document['sense']!r}")


def verify_value(exact: Fraction, document: dict[str, Any]) -> str:
    """Check the value that is claimed, and return the claim in words."""
    if not is_close(document["value"], exact):
        raise CertificateError(f"the value is {float(exact)!r}, not {document['value']!r}")
    return f"value {float(exact):.10g}, recomputed from the integers"


def verify_bound(
    exact: Fraction,
    bound: Fraction,
    document: dict[str, Any],
    of_all: str,
    is_maximized: bool = False,
) -> str:
    """Check the bound that is claimed against the one that is proved; return the claim in words.

    ``of_all`` names what it is a bound on: no private ... is better.
    """
    claimed, sign = number(document["bound"]), -1 if is_maximized else 1
    if sign * claimed > sign * bound:
        raise CertificateError(f"the bound proved is {float(bound)!r}, not {document['bound']!r}")
    if sign * bound > sign * exact:
        raise CertificateError("the bound is beyond the value: the problem contradicts itself")
    than = "is above" if is_maximized else "has a loss below"
    return f"no private {of_all} {than} {float(claimed):.10g}"


def check_status(document: dict[str, Any]) -> str:
    """Return the status that the claimed value and bound have; the claimed gap must fit it too."""
    gap = relative_gap(float(document["value"]), float(document["bound"]))
    value, bound = number(document["value"]), number(document["bound"])
    exact = abs(value - bound) / max(Fraction(1, 10**12), abs(value))
    if abs(number(document["gap"]) - exact) > GAP_TOLERANCE * max(Fraction(1), exact):
        raise CertificateError(f"the gap is {gap!r}, not {document['gap']!r}")
    status = "optimal" if gap <= OPTIMAL_GAP else "bounded"
    if document["status"] != status:
        raise CertificateError(f"the status is {status!r}, not {document['status']!r}")
    return status


def _verify_decoder(
    statement: Statement,
    document: dict[str, Any],
    channel: tuple[list[list[int]], list[int], int],
    readings: Readings | None = None,
) -> list[str]:
    """Check what the aggregator is said to read from each output, where the objective has it."""
    columns, _, bits = channel
    wanted = decoder(statement, columns, bits, document["certificate"]["dual"], readings)
    claimed = document["channel"].get("decoder")
    if wanted is None and claimed is None:
        return []
    if wanted is None:
        raise CertificateError("the objective has no decoder, and the channel claims one")
    if claimed is None or not same_decoder(wanted, claimed, statement.is_risk or statement.is_read):
        raise CertificateError("the decoder is not what the aggregator reads from each output")
    return ["the decoder is what the aggregator reads from each output"]


def same_decoder(wanted: list[Any], claimed: list[Any], signed: bool = False) -> bool:
    """Return whether numbers are close, labels the same, and lists so item by item.

    Close means relative to the number; if ``signed``, to the largest of its list, since entries
    that cancel to nearly 0 are as good as that.
    """
    if len(wanted) != len(claimed):
        return False
    numeric = signed and all(isinstance(entry, Fraction) for entry in wanted)
    largest = max((abs(entry) for entry in wanted), default=0) if numeric else 0
    for exact, shown in zip(wanted, claimed, strict=True):
        if isinstance(exact, Fraction):
            around = largest if signed else abs(exact)
            off = max(VALUE_TOLERANCE * around, LEAST_FLOAT)
            same = NUMBER.holds(shown) and abs(number(shown) - exact) <= off
        elif isinstance(exact, list) and exact and isinstance(exact[0], Fraction):
            same = isinstance(shown, list) and same_decoder(exact, shown, signed)
        else:
            same = exact == shown
        if not same:
            return False
    return True


def is_close(claimed: Any, exact: Fraction) -> bool:
    """Return whether a float is an exact number up to rounding."""
    return abs(number(claimed) - exact) <= max(VALUE_TOLERANCE * abs(exact), LEAST_FLOAT)


def read_channel(
    statement: Statement, channel: dict[str, Any]
) -> tuple[list[list[int]], int, list[int]]:
    """Return the integer columns, their bits, and which allowed output each one is."""
    if channel["inputs"] != statement.labels:
        raise CertificateError("the inputs of the channel are not those of the problem")
    bits: int = channel["bits"]
    if bits > MOST_DIGITS:
        raise CertificateError(f"expected bits from 1 to {MOST_DIGITS}, found {bits}")
    length = product_steps(1 << bits)
    spend(entries_of(channel["numerators"]) * 10 * length * length, "the integers of the channel")
    rows = [[whole_number(entry, MOST_DIGITS) for entry in row] for row in channel["numerators"]]
    outputs = channel["outputs"]
    if len(channel["matrix"]) != len(rows):
        raise CertificateError("the matrix has not one row for each input")
    if len(rows) != len(statement.labels) or any(len(row) != len(outputs) for row in rows):
        raise CertificateError("the channel has not one row for each input")
    for x, row in enumerate(rows):
        if sum(row) != 1 << bits:
            raise CertificateError(f"row {x} of the channel does not sum to 2**{bits}")
        shown, whole = channel["matrix"][x], 1 << bits
        if len(shown) != len(row) or any(
            (type(a) is not float or a != b / whole) and not is_close(a, Fraction(b, whole))
            for a, b in zip(shown, row, strict=True)
        ):
            raise CertificateError(f"row {x} of the matrix is not that of the integers")
    allowed = outputs if statement.outputs is None else statement.outputs
    check_different(outputs, "output")
    place = {plain_label(y): n for n, y in enumerate(allowed)}
    if any(plain_label(y) not in place for y in outputs):
        raise CertificateError("the channel has an output that the problem does not allow")
    columns = [list(column) for column in zip(*rows, strict=True)]
    return columns, bits, [place[plain_label(y)] for y in outputs]


def verify_privacy(
    statement: Statement, table: dict[str, Any], claim: dict[str, Any], columns: list[list[int]]
) -> str:
    """Check the notion as stated, and that the claimed leakage is the least that holds."""
    is_secret = table["notion"] == SECRET
    notion = table["of"] if is_secret else table["notion"]
    if claim["notion"] != notion:
        raise CertificateError(f"the notion {notion!r} is not claimed as certified")
    if claim.get("secret") != (table["secret"]["values"] if is_secret else None):
        raise CertificateError(f"{notion}: what the claim is about is not that of the problem")
    for key in ("epsilon", "delta"):
        if claim.get(key) != (float(number(table[key])) if key in table else None):
            raise CertificateError(f"{notion}: the {key} claimed is not that of the problem")
    broken = check(statement, table, columns)
    if broken is not None:
        raise CertificateError(f"{notion}: not private: {broken}")
    leakage = number(claim["leakage"])
    _check_leakage(statement, table, columns, leakage)
    own = " (rows of the user's own, not a known notion)" if notion == LINEAR else ""
    about = title_of(table) if own else notion
    about += " of the sensitive attribute" if is_secret else ""
    return f"{about}: private as stated, exactly{own}; leakage {float(leakage):.10g}"


def _check_leakage(
    statement: Statement, table: dict[str, Any], columns: list[list[int]], leakage: Fraction
) -> None:
    """Check that a leakage holds and that no smaller one does; it is 0 where nothing leaks.

    It is an epsilon, and so not negative; or, where the notion has none, the largest excess over
    its budgets, and 0 if it has no row.
    """
    notion = table["of"] if table["notion"] == SECRET else table["notion"]
    signed = "epsilon" not in table and _has_rows(statement, table)
    least = None if signed else Fraction(0)
    broken = check(statement, table, columns, leakage)
    if broken is not None or (least is not None and leakage < least):
        raise CertificateError(f"{notion}: leaks more than {float(leakage)!r}: {broken or least}")
    less = leakage - (1 + abs(leakage)) * LEAKAGE_TOLERANCE
    if (least is None or less >= least) and check(statement, table, columns, less) is None:
        raise CertificateError(f"{notion}: leaks less than the claimed {float(leakage)!r}")


def _has_rows(statement: Statement, table: dict[str, Any]) -> bool:
    """Return whether a notion without an epsilon has any row at all."""
    if table["notion"] == SECRET:
        attribute = read_sensitive_attribute(statement, table)
        return _has_rows(attribute.statement, attribute.table)
    if is_linear(table):
        return any(any(row.left.values()) for row in linear_rows(statement, table))
    if table["notion"] in NON_CONIC:
        return True
    bound, inputs = ratio_bound(statement, table), range(len(statement.labels))
    if bound is None:
        return lift_limits(table) != (None, None)
    spend(3 * len(inputs) ** 2, "pairs of inputs")
    return any(bound(x, other) is not None for x in inputs for other in inputs if x != other)

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

from mechdesign.certify.bounds.chain import chain_bound
from mechdesign.certify.bounds.decoders import band_bound
from mechdesign.certify.bounds.duality import decoder, decoder_bound, dual_bound, value
from mechdesign.certify.bounds.estimation_risk import estimation_bound
from mechdesign.certify.bounds.gains import has_gain
from mechdesign.certify.bounds.reduced_gains import potentials_bound
from mechdesign.certify.bounds.theorems import THEOREMS, nothing_constrained
from mechdesign.certify.fixed_point import product_steps
from mechdesign.certify.privacy.check import check, lift_limits, ratio_bound
from mechdesign.certify.privacy.linear_rows import is_linear, title_of
from mechdesign.certify.privacy.sensitive_attribute import read_sensitive_attribute
from mechdesign.certify.problem import (
    ACCURACY,
    LINEAR,
    SECRET,
    Statement,
    check_different,
    number,
    plain_label,
    read_statement,
    whole_number,
)
from mechdesign.errors import CertificateError
from mechdesign.resources import counted_apart, entries_of, spend

__all__ = [
    "FORMAT",
    "OPTIMAL_GAP",
    "Verified",
    "digest",
    "prove",
    "read_channel",
    "relative_gap",
    "verify_channel",
]

FORMAT = {"format": "mechdesign-channel", "version": 1}
OPTIMAL_GAP = 1e-6
"""The largest relative gap whose status is ``optimal``."""

VALUE_TOLERANCE = Fraction(1, 10**12)
"""Relative distance of a float from the exact number that it stands for; a float has 2**-53."""

GAP_TOLERANCE = Fraction(1, 10**9)
"""Distance of a claimed gap from the one of the claimed value and bound."""

LEAKAGE_TOLERANCE = Fraction(1, 10**9)
"""A leakage is refused if the channel would pass with less, by so much of it or of 1."""

MOST_BITS = 4096
"""The longest integers that are read, in bits and in digits of text."""


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


def digest(document: dict[str, Any]) -> str:
    """Return the SHA-256 of everything but the digest itself, as canonical JSON."""
    rest = {key: entry for key, entry in document.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def relative_gap(value: float, bound: float) -> float:
    """Return ``|value - bound| / max(1e-12, |value|)``."""
    return abs(value - bound) / max(1e-12, abs(value))


def verify_channel(document: dict[str, Any]) -> Verified:
    """Check every claim of a saved channel, whose digest fits.

    Raises
    ------
    CertificateError
        At the first claim that does not hold.
    """
    statement = read_statement(document["problem"])
    columns, bits, used = read_channel(statement, document["channel"])
    claims = [f"rows sum to 1 exactly: integers over 2**{bits}"]
    if len(document["privacy"]) != len(statement.privacy):
        raise CertificateError("the file does not claim every notion of its problem")
    for claim, table in zip(document["privacy"], statement.privacy, strict=True):
        claims.append(_verify_privacy(statement, table, claim, columns))
    if document["certificate"].get("numeric") is True:
        return _verify_numeric(statement, document, claims, (columns, used, bits))
    exact, bound = prove(statement, document["certificate"], columns, used, bits)
    claims += _verify_optimality(statement, document, exact, bound)
    wanted = decoder(statement, columns, bits, document["certificate"].get("dual"))
    if wanted is not None:
        claims.append(_verify_decoder(wanted, document["channel"]["decoder"], statement.is_risk))
    elif "decoder" in document["channel"]:
        raise CertificateError("the objective has no decoder, and the channel claims one")
    return Verified(tuple(claims), exact, bound)


def _verify_numeric(
    statement: Statement,
    document: dict[str, Any],
    claims: list[str],
    channel: tuple[list[list[int]], list[int], int],
) -> Verified:
    """Check a document with an objective or constraints of the user's own: no bound is proved."""
    own = document["problem"].get("constraints", [])
    if not isinstance(own, list) or not all(isinstance(text, str) and text for text in own):
        raise CertificateError("the constraints of the user's own are not quoted as text")
    if statement.is_known and not own:
        raise CertificateError("the file carries no proof for an objective that can be proved")
    _check_objective(statement, document)
    if document["bound_proved"] is not False:
        raise CertificateError("the file claims a proof of its bound, and carries none")
    found, bound = number(document["value"]), number(document["bound"])
    _check_status(document)
    if statement.is_known:
        claims.append(_verify_value(value(statement, *channel), document))
        claims.append(
            f"NOT checked: the bound {float(bound):.10g}, and {len(own)} constraints of the "
            "user's own, which the file only quotes"
        )
    else:
        name = str(statement.utility["objective"])
        claims.append(
            f"NOT checked: the value {float(found):.10g} and the bound {float(bound):.10g} of the "
            f"objective {name!r:.60}, whose definition the file does not carry"
        )
    return Verified(tuple(claims), found, bound)


def _verify_optimality(
    statement: Statement, document: dict[str, Any], exact: Fraction, bound: Fraction
) -> list[str]:
    """Check the objective, the value, the bound, the gap and the status that are claimed."""
    if document.get("bound_proved", True) is not True:
        raise CertificateError("the file claims no proof of its bound, and carries one")
    _check_objective(statement, document)
    maximized = statement.is_maximized
    sense = "maximize" if maximized else "minimize"
    if document["sense"] != sense:
        raise CertificateError(f"the sense is {sense!r}, not {document['sense']!r:.60}")
    claims = [_verify_value(exact, document)]
    if document["bound"] is not None:
        claimed_bound, sign = number(document["bound"]), -1 if maximized else 1
        if sign * claimed_bound > sign * bound:
            raise CertificateError(
                f"the bound proved is {float(bound)!r}, not {document['bound']!r}"
            )
        if sign * bound > sign * exact:
            raise CertificateError("the bound is beyond the value: the problem contradicts itself")
        than = "is above" if maximized else "has a loss below"
        claims.append(f"no private channel {than} {float(claimed_bound):.10g}")
    return [*claims, f"status {_check_status(document)}"]


def _check_objective(statement: Statement, document: dict[str, Any]) -> None:
    if document["objective"] != statement.utility["objective"]:
        raise CertificateError("the objective claimed is not that of the problem")


def _verify_value(exact: Fraction, document: dict[str, Any]) -> str:
    if not _close(document["value"], exact):
        raise CertificateError(f"the value is {float(exact)!r}, not {document['value']!r}")
    return f"value {float(exact):.10g}, recomputed from the integers"


def _check_status(document: dict[str, Any]) -> str:
    """Return the status that the claimed value and bound have; the claimed gap must fit it too."""
    claimed, gap, status = document["gap"], None, "bounded"
    if document["bound"] is not None:
        gap = relative_gap(float(document["value"]), float(document["bound"]))
        status = "optimal" if gap <= OPTIMAL_GAP else "bounded"
    if (gap is None) != (claimed is None) or (
        gap is not None and not abs(number(claimed) - number(gap)) <= GAP_TOLERANCE
    ):
        raise CertificateError(f"the gap is {gap!r}, not {claimed!r}")
    if document["status"] != status:
        raise CertificateError(f"the status is {status!r}, not {document['status']!r}")
    return status


def _verify_decoder(wanted: list[Any], claimed: Any, signed: bool) -> str:
    if not isinstance(claimed, list) or not _same_decoder(wanted, claimed, signed):
        raise CertificateError("the decoder is not what the aggregator reads from each output")
    return "the decoder is what the aggregator reads from each output"


def _same_decoder(wanted: list[Any], claimed: list[Any], signed: bool = False) -> bool:
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
            same = abs(number(shown) - exact) <= VALUE_TOLERANCE * around
        elif isinstance(exact, list) and exact and isinstance(exact[0], Fraction):
            same = isinstance(shown, list) and _same_decoder(exact, shown, signed)
        else:
            same = exact == shown
        if not same:
            return False
    return True


def _close(claimed: Any, exact: Fraction) -> bool:
    """Return whether a float is an exact number up to rounding."""
    return abs(number(claimed) - exact) <= VALUE_TOLERANCE * abs(exact)


def prove(
    statement: Statement,
    certificate: dict[str, Any],
    columns: list[list[int]],
    used: list[int],
    bits: int,
) -> tuple[Fraction, Fraction]:
    """Return the value of the channel and the best bound that the certificate proves.

    Its steps are counted apart, so that a designer knows beforehand which proofs a reader accepts.
    """
    with counted_apart():
        return _prove(statement, certificate, columns, used, bits)


def _prove(
    statement: Statement,
    certificate: dict[str, Any],
    columns: list[list[int]],
    used: list[int],
    bits: int,
) -> tuple[Fraction, Fraction]:
    bounds = [nothing_constrained(statement)]
    theorem = certificate.get("theorem")
    if theorem is not None:
        if theorem not in THEOREMS:
            raise CertificateError(f"the theorem {theorem!r} is not known to the checker")
        data = [certificate["facets"]] if "facets" in certificate else []
        bounds.append(THEOREMS[theorem](statement, *data))
    if certificate.get("dual") is not None:
        bounds.append(_bound_by_data(statement, certificate["dual"]))
    best = min(bounds) if statement.is_maximized else max(bounds)
    return value(statement, columns, used, bits, certificate.get("dual")), best


def _bound_by_data(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound that the dual variables of a certificate prove, by their form."""
    if statement.is_risk:
        return estimation_bound(statement, dual)
    if dual.get("search") == "chain":
        return chain_bound(statement, dual)
    if dual.get("levels") is not None:
        return band_bound(statement, dual)
    if dual.get("potential") is not None:
        return potentials_bound(statement, dual)
    if dual.get("decoders") is not None:
        return decoder_bound(statement, dual)
    if has_gain(statement) and statement.utility["objective"] != ACCURACY:
        raise CertificateError("the certificate has no potential and no decoders")
    return dual_bound(statement, dual)


def read_channel(
    statement: Statement, channel: dict[str, Any]
) -> tuple[list[list[int]], int, list[int]]:
    """Return the integer columns, their bits, and which allowed output each one is."""
    if channel["inputs"] != statement.labels:
        raise CertificateError("the inputs of the channel are not those of the problem")
    bits = channel["bits"]
    if type(bits) is not int or not 1 <= bits <= MOST_BITS:
        raise CertificateError(f"expected bits from 1 to {MOST_BITS}, found {bits!r:.60}")
    length = product_steps(1 << bits)
    spend(entries_of(channel["numerators"]) * 10 * length * length, "the integers of the channel")
    rows = [[whole_number(entry, MOST_BITS) for entry in row] for row in channel["numerators"]]
    outputs = channel["outputs"]
    if len(channel["matrix"]) != len(rows):
        raise CertificateError("the matrix has not one row for each input")
    if len(rows) != len(statement.labels) or any(len(row) != len(outputs) for row in rows):
        raise CertificateError("the channel has not one row for each input")
    for x, row in enumerate(rows):
        if min(row) < 0 or sum(row) != 1 << bits:
            raise CertificateError(f"row {x} of the channel does not sum to 2**{bits}")
        shown, whole = channel["matrix"][x], 1 << bits
        if len(shown) != len(row) or any(
            (type(a) is not float or a != b / whole) and not _close(a, Fraction(b, whole))
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


def _verify_privacy(
    statement: Statement, table: dict[str, Any], claim: dict[str, Any], columns: list[list[int]]
) -> str:
    """Check the notion as stated, and that the claimed leakage is the least that holds."""
    is_secret = table["notion"] == SECRET
    notion = table["of"] if is_secret else table["notion"]
    if claim["notion"] != notion or claim["certified"] is not True:
        raise CertificateError(f"the notion {notion!r} is not claimed as certified")
    if claim.get("secret") != (table["secret"]["values"] if is_secret else None):
        raise CertificateError(f"{notion}: what the claim is about is not that of the problem")
    for key in ("epsilon", "delta"):
        stated = float(number(table[key])) if key in table else None
        if type(claim.get(key)) is bool or claim.get(key) != stated:
            raise CertificateError(f"{notion}: the {key} claimed is not that of the problem")
    broken = check(statement, table, columns)
    if broken is not None:
        raise CertificateError(f"{notion}: not private: {broken}")
    leakage = number(claim["leakage"])
    broken = check(statement, table, columns, leakage)
    if broken is not None:
        raise CertificateError(f"{notion}: leaks more than {float(leakage)!r}: {broken}")
    less = leakage - (1 + abs(leakage)) * LEAKAGE_TOLERANCE
    could_be_less = less >= 0 if "epsilon" in table else _has_rows(statement, table)
    if could_be_less and check(statement, table, columns, less) is None:
        raise CertificateError(f"{notion}: leaks less than the claimed {float(leakage)!r}")
    own = " (rows of the user's own, not a known notion)" if notion == LINEAR else ""
    about = title_of(table) if own else notion
    about += " of the sensitive attribute" if is_secret else ""
    return f"{about}: private as stated, exactly{own}; leakage {float(leakage):.10g}"


def _has_rows(statement: Statement, table: dict[str, Any]) -> bool:
    """Return whether a notion has any row at all; without one, its leakage is 0."""
    if table["notion"] == SECRET:
        attribute = read_sensitive_attribute(statement, table)
        return _has_rows(attribute.statement, attribute.table)
    if is_linear(table):
        return bool(table["rows"])
    bound, inputs = ratio_bound(statement, table), range(len(statement.labels))
    if bound is None:
        return lift_limits(table) != (None, None)
    spend(3 * len(inputs) ** 2, "pairs of inputs")
    return any(bound(x, other) is not None for x in inputs for other in inputs if x != other)

"""The check of a saved file: its integers, its privacy, its value, and the bound on all others.

Only the problem, the integers of the channel and the certificate are taken from a file. Every other
number in it is a claim, which is recomputed.
"""

from __future__ import annotations

from typing import Any

from mechdesign.errors import CertificateError, MechdesignError
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.certificate import Steps
from mechdesign.kernel.claims import (
    Verified,
    check_status,
    used_places,
    verify_bound,
    verify_decoder,
    verify_privacy,
    verify_value,
)
from mechdesign.kernel.documents import (
    FORMAT,
    VERSION,
    BareFile,
    ChannelFile,
    digest,
    read_file,
)
from mechdesign.kernel.names import compile_problem
from mechdesign.kernel.objectives import Reading, Risk
from mechdesign.kernel.packed import denominator_bits, exact as number, packed_entries
from mechdesign.kernel.value import decoder, value, value_steps
from mechdesign.resources import STEPS_PER_ENTRY, current, entries_of

__all__ = ["verify"]

STEPS_PER_PACKED = 10
"""Steps to read a packed number."""

STEP_BITS = 2000
"""The largest bit length of a single-step operation."""


def verify(document: Any) -> Verified:
    """Check every claim of a saved file.

    Parameters
    ----------
    document
        The result of :func:`~mechdesign.kernel.documents.parse`.

    Returns
    -------
    Verified
        The verified claims.

    Raises
    ------
    CertificateError
        At the first claim that does not hold, which the message names; or at the first unknown or
        missing key.
    LimitError
        If the check takes more steps than `resources` allows.
    """
    try:
        _check_head(document)
        allowed = _allowed(document)
        if "law" in document:
            from mechdesign.kernel.laws import verify_law

            return verify_law(document)
        if "rounding" in document:
            from mechdesign.kernel.rounding import verify_rounded

            return verify_rounded(document)
        file = read_file(document)
        if isinstance(file, BareFile):
            return _verify_bare(file)
        return _verify_file(file, allowed)
    except RecursionError:
        raise CertificateError("the file is nested too deeply") from None
    except MechdesignError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise CertificateError(f"the file is malformed: {error}") from None


def _allowed(document: Any) -> int:
    """Return the allowed steps of a file, after a check of the number of its packed entries.

    Long numbers with a common denominator reduce them.
    """
    allowed = current().steps + STEPS_PER_ENTRY * entries_of(document)
    Steps(allowed).take(STEPS_PER_PACKED * packed_entries(document), "packed numbers")
    if "law" in document or "rounding" in document:
        return allowed
    certificate = document.get("certificate")
    given = certificate if isinstance(certificate, dict) else {}
    long = [given.get(key) for key in ("relaxations", "linearization", "oracle")]
    return allowed // (1 + denominator_bits([document.get("problem"), long]) // STEP_BITS)


def _check_head(document: Any) -> None:
    """Raise unless the file has this format and version, and a valid digest."""
    known = isinstance(document, dict) and str(document.get("format")).startswith("mechdesign-")
    old = known and document.get("version") == 1
    need(not old, "written by an older version of mechdesign; design it again")
    known = known and document.get("format") == FORMAT and type(document["version"]) is int
    known = known and document["version"] == VERSION
    need(known, f"this is not a mechdesign channel file of version {VERSION}")
    same = document.get("digest") == digest(document)
    need(same, "the digest does not match: the file was changed")


def _verify_bare(file: BareFile) -> Verified:
    """Check a channel without further claims."""
    file.channel.columns(file.problem.domain.inputs().labels)
    read = (file.channel.decoder, file.channel.readings)
    need(read == (None, None), "a channel without a problem has no decoder or readings")
    return Verified(
        (
            f"rows sum to 1 exactly: integers over 2**{file.channel.bits}",
            "NOT claimed: privacy under any notion, and optimality for any objective",
        )
    )


def _verify_file(file: ChannelFile, allowed: int) -> Verified:
    """Check a design; with the user's own terms no bound is proved."""
    steps, channel, certificate = Steps(allowed), file.channel, file.certificate
    steps.take(5 * file.problem.steps(), "the statement")
    problem = compile_problem(file.problem)
    columns, whole = channel.columns(problem.labels), 1 << channel.bits
    used = used_places(problem, channel.outputs)
    claims = [f"rows sum to 1 exactly: integers over 2**{channel.bits}"]
    need(len(file.privacy) == len(problem.table.privacy), "the file does not claim every notion")
    need(file.privacy, "the file claims no notion of privacy")
    for notion, claim in zip(problem.table.privacy, file.privacy, strict=True):
        claims.append(verify_privacy(problem, notion, claim, columns, whole, steps))
    utility, statement = problem.table.utility, problem.statement
    aim, own = statement.objective, problem.table.constraints
    same = utility is not None and file.objective == utility.name
    need(same, "the claimed objective is not that of the problem")
    proved, provable = certificate is not None, aim is not None and not own
    need(proved or not provable, "the file has no proof, but its objective can be proved")
    need(provable or not proved, "the file claims a proof under the user's own terms")
    words = ("no proof", "one") if proved else ("a proof", "none")
    same = file.bound_proved == proved
    need(same, f"the file claims {words[0]} of its bound, but contains {words[1]}")
    found, bound, read = number(file.value), number(file.bound), list[str]()
    if aim is not None and utility is not None:
        sense = "maximize" if statement.is_maximized else "minimize"
        need(file.sense == sense, f"the sense is {sense!r}, not {file.sense!r}")
        readings = channel.numbers_read(isinstance(aim, Reading))
        prior = certificate.reference if certificate and isinstance(aim, Risk) else None
        steps.take(value_steps(statement, len(columns)), "the value")
        exact = statement.sign * value(statement, columns, whole, used, readings, prior)
        if readings is not None:
            claims.append("the mean of the readings is f(x) exactly, for every input x")
        claims.append(verify_value(exact, file.value))
        wanted = decoder(statement, utility.reads, problem.labels, columns, whole, readings, prior)
        read = verify_decoder(wanted, channel.decoder, isinstance(aim, Risk | Reading))
    if certificate is not None:
        found, bound = exact, statement.sign * certificate.bound(statement, Steps(allowed))
        claims.append(verify_bound(found, bound, file.bound, "channel", statement.is_maximized))
        return Verified((*claims, f"status {check_status(file)}", *read), exact, bound)
    check_status(file)
    beyond = found < bound if file.sense == "minimize" else bound < found
    need(not beyond, "the bound exceeds the value: the file contradicts itself")
    shown = f"the bound {float(bound):.10g}"
    if aim is not None:
        shown += f", and {len(own)} constraints of the user's own, which the file only quotes"
    else:
        decoded = ", what is read from each output," if channel.decoder is not None else ""
        shown = (
            f"the value {float(found):.10g}{decoded} and {shown} of the objective "
            f"{file.objective!r:.60}, whose definition the file does not carry"
        )
    return Verified((*claims, *read, f"NOT checked: {shown}"), found, bound)

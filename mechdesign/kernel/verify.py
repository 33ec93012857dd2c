"""The check of a saved file: its integers, its privacy, its value, and the bound on all others.

Only the problem, the integers of the channel and the certificate are taken from a file. Every other
number in it is a claim, which is recomputed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mechdesign.errors import CertificateError, MechdesignError
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.certificate import Steps
from mechdesign.kernel.claims import (
    ColumnsLeak,
    Subject,
    Verified,
    used_places,
    verify_claims,
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
from mechdesign.kernel.packed import denominator_bits, packed_entries
from mechdesign.kernel.value import decoder, value, value_steps
from mechdesign.resources import STEPS_PER_ENTRY, current, entries_of

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
        extra, share = allowance(document)
        allowed = current().steps + extra
        Steps(allowed).take(STEPS_PER_PACKED * packed_entries(document), "packed numbers")
        allowed //= share
        if "law" in document:
            from mechdesign.kernel.laws import read_law

            return verify_claims(*read_law(document, Steps(allowed)), allowed)
        if "rounding" in document:
            from mechdesign.kernel.rounding import read_rounded

            return verify_claims(*read_rounded(document, Steps(allowed)), allowed)
        file = read_file(document)
        if isinstance(file, BareFile):
            return _verify_bare(file)
        return verify_claims(file, _of_channel(file, Steps(allowed)), allowed)
    except RecursionError:
        raise CertificateError("the file is nested too deeply") from None
    except MechdesignError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise CertificateError(f"the file is malformed: {error}") from None


def allowance(document: dict[str, Any]) -> tuple[int, int]:
    """Return the steps allowed for the entries of a file, and the divisor of all its steps.

    A long common denominator divides them by the square of its length, as reducing fractions does.
    """
    certificate = document.get("certificate")
    given = certificate if isinstance(certificate, dict) else {}
    long = [given.get(key) for key in ("relaxations", "linearization", "oracle")]
    stated = [document.get(key) for key in ("problem", "rounding")]
    share = 1 + denominator_bits([stated, long]) ** 2 // STEP_BITS**2
    return STEPS_PER_ENTRY * entries_of(document), share


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
    file.channel.columns(file.problem.domain.inputs().labels)
    read = (file.channel.decoder, file.channel.readings)
    need(read == (None, None), "a channel without a problem has no decoder or readings")
    return Verified(
        (
            f"rows sum to 1 exactly: integers over 2**{file.channel.bits}",
            "NOT claimed: privacy under any notion, and optimality for any objective",
        )
    )


def _of_channel(file: ChannelFile, steps: Steps) -> Subject:
    """Return the channel of a file, checked to be one on the inputs of its problem."""
    steps.take(file.problem.steps(), "the statement")
    problem, channel, certificate = compile_problem(file.problem), file.channel, file.certificate
    statement, utility = problem.statement, file.problem.utility
    labels, aim = problem.inputs.labels, statement.objective
    columns = channel.columns(labels)
    whole = 1 << channel.bits  # of a checked length
    used = used_places(problem, channel.outputs)

    def found() -> tuple[Fraction, list[Any] | None]:
        readings = channel.numbers_read(isinstance(aim, Reading))
        prior = certificate.reference if certificate and isinstance(aim, Risk) else None
        steps.take(value_steps(statement, len(columns)), "the value")
        exact = statement.sign * value(statement, columns, whole, used, readings, prior)
        reads = utility.reads if utility else ""
        return exact, decoder(statement, reads, labels, columns, whole, readings, prior)

    return Subject(
        f"rows sum to 1 exactly: integers over 2**{channel.bits}",
        [(n, ColumnsLeak(n, problem, columns, whole, steps)) for n in file.problem.privacy],
        utility,
        statement.sign,
        None if aim is None else found,
        lambda proof, allowed: statement.sign * proof.bound(statement, allowed),
        own=len(file.problem.constraints),
    )

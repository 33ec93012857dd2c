"""A saved channel as a plain listing, for the formally verified checker.

``formal/mechdesign-check`` reads it; ``formal/main.ml`` defines the format. Nothing is decided
here: the problem is compiled as in :mod:`~mechdesign.kernel.verify`, and its statement, the
integers of the channel and the certificate are written number by number. Parts that the verified
checker does not support raise an error with their name.
"""

from __future__ import annotations

from typing import Any

from mechdesign.errors import CertificateError
from mechdesign.files.listing.certificates import certificate_words
from mechdesign.files.listing.statements import (
    UnprovedError,
    answer_words,
    cone_words,
    limit_words,
    line,
    objective_words,
)
from mechdesign.kernel.claims import used_places
from mechdesign.kernel.documents import ChannelFile, read_file
from mechdesign.kernel.names import compile_problem
from mechdesign.kernel.packed import exact as number

__all__ = ["UnprovedError", "listing"]

CLAIMS = ("value", "bound")


def listing(document: Any) -> str:
    """Return the listing of a saved file.

    ``document``: the result of :func:`~mechdesign.kernel.documents.parse`.

    Raises
    ------
    UnprovedError
        If the checker does not support a part of it.
    CertificateError
        If it is not a file of a designed channel.

    Notes
    -----
    Privacy, value and bound are not checked here; the listing contains all claims of the file. If
    the file claims a maximized value v, the listing claims -v.
    """
    if not isinstance(document, dict) or not {"problem", "channel"} <= set(document):
        raise UnprovedError("a file without a table")
    file = read_file(document)
    if not isinstance(file, ChannelFile):
        raise UnprovedError("a channel that claims nothing")
    problem = compile_problem(file.problem)
    columns, statement = file.channel.columns(problem.inputs.labels), problem.statement
    words = ["mechdesign-listing 1", f"inputs {statement.k}", *cone_words(statement)]
    words += [f"limits {len(statement.limits)}", *map(limit_words, statement.limits)]
    words += [f"channel {len(columns)} {1 << file.channel.bits}", *map(line, columns)]
    if file.certificate is None or statement.objective is None:
        words.append("objective none")
    else:
        words += objective_words(statement.objective)
        words.append(answer_words(statement.objective, used_places(problem, file.channel.outputs)))
        words += [f"{key} {statement.sign * number(getattr(file, key))}" for key in CLAIMS]
        try:
            words += certificate_words(statement, file.certificate)
        except (LookupError, ValueError):
            raise CertificateError("the certificate names a row that does not exist") from None
    return "\n".join([*words, "end", ""])

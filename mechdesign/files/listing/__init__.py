"""A saved channel as a plain listing, for the checker that a proof assistant proved.

``formal/mechdesign-check`` reads it; ``formal/main.ml`` states the words. Nothing is decided here:
the problem is compiled as :mod:`~mechdesign.kernel.verify` does, and its statement, the integers of
the channel and the certificate are written number by number. What the proved checker does not know
is refused by name.
"""

from __future__ import annotations

from typing import Any

from mechdesign.files.listing.certificates import certificate_words
from mechdesign.files.listing.statements import (
    answer_words,
    cone_words,
    limit_words,
    objective_words,
)
from mechdesign.files.listing.words import UnprovedError, line
from mechdesign.kernel.claims import used_places
from mechdesign.kernel.documents import ChannelFile, read_file
from mechdesign.kernel.names import compile_problem
from mechdesign.kernel.packed import exact as number

__all__ = ["UnprovedError", "listing"]

CLAIMS = ("value", "bound")


def listing(document: Any) -> str:
    """Return the listing of a saved file.

    Parameters
    ----------
    document
        What :func:`~mechdesign.kernel.documents.parse` returns.

    Raises
    ------
    UnprovedError
        If a part of it is outside of what the checker knows.
    CertificateError
        If it is no file of a channel that was designed.

    Notes
    -----
    Privacy, value and bound are not checked here, and no word of the file is lost: where it claims
    a value v to be maximized the listing claims -v.
    """
    if not isinstance(document, dict) or not {"problem", "channel"} <= set(document):
        raise UnprovedError("a file without a table")
    file = read_file(document)
    if not isinstance(file, ChannelFile):
        raise UnprovedError("a channel that claims nothing")
    problem = compile_problem(file.problem)
    columns, statement = file.channel.columns(problem.labels), problem.statement
    words = ["mechdesign-listing 1", f"inputs {statement.k}", *cone_words(statement)]
    words += [f"limits {len(statement.limits)}", *map(limit_words, statement.limits)]
    words += [f"channel {len(columns)} {1 << file.channel.bits}", *map(line, columns)]
    if file.certificate is None or statement.objective is None:
        words.append("objective none")
    else:
        words += objective_words(statement.objective)
        words.append(answer_words(statement.objective, used_places(problem, file.channel.outputs)))
        words += [f"{key} {statement.sign * number(getattr(file, key))}" for key in CLAIMS]
        words += certificate_words(statement, file.certificate)
    return "\n".join([*words, "end", ""])

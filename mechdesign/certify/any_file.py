"""The entry of the checker: it finds the kind of a saved document, and checks its digest first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mechdesign.certify import bare_channel, channel_file, mechanism_file
from mechdesign.certify.channel_file import Verified, digest
from mechdesign.errors import CertificateError, LimitError
from mechdesign.resources import counted, entries_of

__all__ = ["verify"]

CHECKERS: list[tuple[dict[str, Any], Callable[[dict[str, Any]], Verified]]] = [
    (channel_file.FORMAT, channel_file.verify_channel),
    (mechanism_file.FORMAT, mechanism_file.verify_mechanism),
    (bare_channel.FORMAT, bare_channel.verify_bare_channel),
]
"""The head of every kind of document, and the checker of the rest."""


def verify(document: Any) -> Verified:
    """Check every claim of a saved document.

    Parameters
    ----------
    document
        The parsed JSON of a channel file or of a mechanism file.

    Returns
    -------
    Verified
        The claims that hold.

    Raises
    ------
    CertificateError
        At the first claim that does not hold, saying which.
    LimitError
        If the check takes more steps than `resources` allows.
    """
    check = _checker(document)
    try:
        if document.get("digest") != digest(document):
            raise CertificateError("the digest does not match: the file was changed")
        with counted(entries_of(document)):
            return check(document)
    except RecursionError:
        raise CertificateError("the file is nested too deeply") from None
    except (CertificateError, LimitError):
        raise
    except KeyError as error:
        raise CertificateError(f"the file is incomplete: it has no {error}") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise CertificateError(f"the file is malformed: {error}") from None


def _checker(document: Any) -> Callable[[dict[str, Any]], Verified]:
    if isinstance(document, dict):
        for head, check in CHECKERS:
            if all(document.get(key) == entry for key, entry in head.items()):
                return check
    raise CertificateError("this is no mechdesign channel file of version 1")

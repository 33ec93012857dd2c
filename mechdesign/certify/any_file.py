"""The entry of the checker: the kind of a saved document, its digest, its keys, and its claims."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mechdesign.certify import bare_channel, channel_file, mechanism_file
from mechdesign.certify.channel_file import Verified, digest
from mechdesign.certify.continuous import continuous_file
from mechdesign.certify.forms import Form
from mechdesign.certify.schema.channel_files import BARE_CHANNEL_FILE, CHANNEL_FILE
from mechdesign.certify.schema.continuous_files import CONTINUOUS_FILE, PLANE_FILE
from mechdesign.certify.schema.mechanism_files import MECHANISM_FILE
from mechdesign.errors import CertificateError, MechdesignError
from mechdesign.resources import counted, entries_of

__all__ = ["parse", "verify"]

CHECKERS: list[tuple[dict[str, Any], Form, Callable[[dict[str, Any]], Verified]]] = [
    (channel_file.FORMAT, CHANNEL_FILE, channel_file.verify_channel),
    (mechanism_file.FORMAT, MECHANISM_FILE, mechanism_file.verify_mechanism),
    (continuous_file.FORMAT, CONTINUOUS_FILE, continuous_file.verify_continuous),
    (continuous_file.PLANE_FORMAT, PLANE_FILE, continuous_file.verify_plane),
    (bare_channel.FORMAT, BARE_CHANNEL_FILE, bare_channel.verify_bare_channel),
]
"""The head of every kind of document, its keys, and the checker of the rest."""


def parse(text: str | bytes) -> Any:
    """Return what a text in JSON holds, as every reader of JSON would.

    Raises
    ------
    ValueError
        If it is no JSON, has a key twice in one table, or a number that is none.

    Examples
    --------
    >>> parse('{"epsilon": 1, "epsilon": 2}')
    Traceback (most recent call last):
    ValueError: the key 'epsilon' twice in one table
    """
    return json.loads(text, object_pairs_hook=_table, parse_constant=_no_number)


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for n, key in enumerate(keys) if key in keys[:n])
        raise ValueError(f"the key {twice!r:.60} twice in one table")
    return found


def _no_number(constant: str) -> Any:
    raise ValueError(f"{constant}, which is no number")


def verify(document: Any) -> Verified:
    """Check every claim of a saved document.

    Parameters
    ----------
    document
        What :func:`parse` returns for a channel file or a mechanism file.

    Returns
    -------
    Verified
        The claims that hold.

    Raises
    ------
    CertificateError
        At the first claim that does not hold, saying which; or at the first key that is not of such
        a file, or is missing.
    LimitError
        If the check takes more steps than `resources` allows.
    """
    form, check = _kind(document)
    try:
        if document.get("digest") != digest(document):
            raise CertificateError("the digest does not match: the file was changed")
        form.check(document, "")
        with counted(entries_of(document)):
            return check(document)
    except RecursionError:
        raise CertificateError("the file is nested too deeply") from None
    except MechdesignError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise CertificateError(f"the file is malformed: {error}") from None


def _kind(document: Any) -> tuple[Form, Callable[[dict[str, Any]], Verified]]:
    if isinstance(document, dict):
        for head, form, check in CHECKERS:
            if all(document.get(key) == entry for key, entry in head.items()):
                return form, check
    raise CertificateError("this is no mechdesign channel file of version 1")

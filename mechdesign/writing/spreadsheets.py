"""CSV cells that a spreadsheet displays but does not run as formulas."""

from __future__ import annotations

import re

RUN = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20']|[\t\r\n]")
"""Beginnings of cells that may be run as a formula, or that look as if already escaped."""

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def spreadsheet_safe(text: str) -> str:
    """Return the text of a cell, prefixed with an apostrophe if a spreadsheet might run it.

    These are cells that begin with ``=``, ``+``, ``-`` or ``@``, also as wide letters or after
    spaces, with a tab or with a line end, except numbers. A cell that begins with an apostrophe
    gets another one, so that :func:`spreadsheet_restored` is the inverse.

    Notes
    -----
    Source: OWASP, CSV Injection. The cell is safe if the file is opened with the separator that it
    was written with.

    Examples
    --------
    >>> spreadsheet_safe("=1+1"), spreadsheet_safe("-1.5"), spreadsheet_safe("'tis")
    ("'=1+1", '-1.5', "''tis")
    """
    return f"'{text}" if RUN.match(text) and not NUMBER.fullmatch(text) else text


def spreadsheet_restored(text: str) -> str:
    """Return the original text of a cell from :func:`spreadsheet_safe`.

    Examples
    --------
    >>> spreadsheet_restored("'=1+1"), spreadsheet_restored("-1.5")
    ('=1+1', '-1.5')
    """
    return text.removeprefix("'")

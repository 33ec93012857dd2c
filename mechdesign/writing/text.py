r"""Text that is safe for a terminal, with control characters escaped, or for a spreadsheet.

Labels, titles and file names are untrusted text. An escape sequence in them can clear the screen,
set the clipboard or overwrite an error message; a direction override can display letters in
another order.
"""

from __future__ import annotations

import re
from typing import Any, TextIO, cast

STEERING = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f"  # the controls C0 and C1 and DEL, but not the line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks and overrides
    "\u2028\u2029]"  # other line ends
)


def visible(text: str) -> str:
    r"""Return text with every terminal control character escaped as in JSON.

    Examples
    --------
    >>> print(visible("red\x1b[2Jherring"))
    red\u001b[2Jherring
    """
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class VisibleStream:
    """A text stream that escapes control characters; a stream of None discards everything."""

    def __init__(self, stream: TextIO | None) -> None:
        self.below = stream

    def write(self, text: str) -> int:
        """Write text, and return its length."""
        if self.below is not None:
            self.below.write(visible(text))
        return len(text)

    def flush(self) -> None:
        """Flush the underlying stream."""
        if self.below is not None:
            self.below.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.below, name)

    def as_text(self) -> TextIO:
        """Return this stream, typed as one that Python can print to."""
        return cast(TextIO, self)


def below(stream: TextIO) -> TextIO:
    """Return the underlying stream of a :class:`VisibleStream`, or any other stream itself.

    Progress bars use it, as they move the cursor and show no untrusted text.
    """
    found = stream.below if isinstance(stream, VisibleStream) else stream
    return cast(TextIO, found)


# --- spreadsheets ---------------------------------------------------------------------------------

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
    """Return the original text of a cell from :func:`spreadsheet_safe`."""
    return text.removeprefix("'")

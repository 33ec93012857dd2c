r"""Text for a terminal: whatever would steer it is shown, not obeyed.

A label, a title or a name of a file is text of somebody else. An escape sequence in it can clear
the screen, set the clipboard or repaint the line with the refusal; an override of the
direction of writing shows letters in another order than they are in.
"""

from __future__ import annotations

import re
from typing import Any, TextIO, cast

__all__ = ["VisibleStream", "below", "visible"]

STEERING = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f"  # the controls C0 and C1 and DEL, but not the line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks and overrides of direction
    "\u2028\u2029]"  # other ends of lines
)


def visible(text: str) -> str:
    r"""Return text with every character that steers a terminal written as JSON has it.

    Text in JSON means the same afterwards.

    Examples
    --------
    >>> print(visible("red\x1b[2Jherring"))
    red\u001b[2Jherring
    """
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class VisibleStream:
    """A stream of text on which nothing steers the terminal: it writes :func:`visible` text.

    Parameters
    ----------
    stream
        Where the text goes; None, as Python has it for a closed one, takes everything and shows
        nothing.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.below = stream

    def write(self, text: str) -> int:
        """Write text, and return how long it was."""
        if self.below is not None:
            self.below.write(visible(text))
        return len(text)

    def flush(self) -> None:
        """Pass on what was written."""
        if self.below is not None:
            self.below.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.below, name)

    def as_text(self) -> TextIO:
        """Return this stream; it does what Python asks of one that it prints to."""
        return cast(TextIO, self)


def below(stream: TextIO) -> TextIO:
    """Return what a stream writes to, for a bar that moves on its line and holds no foreign text.

    A stream that is not a :class:`VisibleStream` is returned itself.
    """
    found = stream.below if isinstance(stream, VisibleStream) else stream
    return cast(TextIO, found)

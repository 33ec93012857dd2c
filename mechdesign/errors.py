"""The exceptions: one class for each thing that a user can act on.

Every message names the key, the mistake and, if it helps, the remedy.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

__all__ = [
    "CertificateError",
    "InfeasibleError",
    "InputError",
    "LimitError",
    "MechdesignError",
    "RepeatedDrawWarning",
    "SolverError",
    "UnsupportedError",
    "check_keys",
    "choose",
    "did_you_mean",
    "inside",
    "known_word",
    "listed",
    "shown",
    "shown_kind",
]

R = TypeVar("R")

LONGEST_WORD = 100
"""Longer words get no suggestion."""


class MechdesignError(Exception):
    """Base class of all exceptions of this library."""


class InputError(MechdesignError, ValueError):
    """A problem, a file or an argument is wrong.

    Parameters
    ----------
    key
        The argument or key at fault, as the user wrote it: ``"privacy.epsilon"``.
    expected
        A valid value.
    given
        The invalid value: a phrase, or :func:`shown` of a value.
    hint
        How to correct it, if there is one way.
    fault
        What is wrong, in place of "expected ..., given ..." where that would not read well.

    Examples
    --------
    >>> str(InputError("epsilon", "a number >= 0", "-1"))
    'epsilon: expected a number >= 0, given -1'
    >>> str(InputError("a.csv", "a header row", "none", fault="the file has no header row"))
    'a.csv: the file has no header row'
    """

    def __init__(
        self, key: str, expected: str, given: object, hint: str = "", fault: str = ""
    ) -> None:
        self.key, self.expected, self.given, self.hint = key, expected, _short(given), hint
        self.fault = fault
        text = _short(fault, 300) or f"expected {expected}, given {self.given}"
        super().__init__(f"{key}: {text}{f'; {hint}' if hint else ''}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.key, self.expected, self.given, self.hint, self.fault)

    def at(self, key: str) -> InputError:
        """Return the same error with another key."""
        return type(self)(key, self.expected, self.given, self.hint, self.fault)

    def within(self, prefix: str) -> InputError:
        """Return the same error with the key placed inside ``prefix``."""
        return self.at(f"{prefix}.{self.key}")

    def inside_file(self, name: str) -> InputError:
        """Return the same error with the name of the file in front of the key."""
        return self.at(f"{name}: {self.key}")


class UnsupportedError(InputError):
    """The input is valid, but the library does not support it."""


class LimitError(InputError):
    """A file needs more bytes, entries or work than the reader allows (`resources`)."""


class InfeasibleError(MechdesignError):
    """No channel satisfies the privacy notion; the message gives the reason."""


class SolverError(MechdesignError):
    """A solver stopped without an answer; the message contains its status."""


class CertificateError(MechdesignError):
    """A claim of privacy or optimality does not hold; the message names it."""


class RepeatedDrawWarning(UserWarning):
    """Reports were drawn before for the same records: the leakage of the draws adds up."""


def shown(value: Any) -> str:
    """Return a value as its user wrote it: text quoted, decimals plain, true, none.

    Examples
    --------
    >>> from decimal import Decimal
    >>> shown(["a", True, None, Decimal("0.5")])
    "['a', true, none, 0.5]"
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return repr(value if len(value) <= 100 else f"{value[:97]}...")
    if isinstance(value, list | tuple):
        inner = ", ".join(shown(part) for part in value[:20])
        return f"[{inner}]"
    if isinstance(value, int) and value.bit_length() > 1000:
        return f"a whole number of some {value.bit_length() * 30103 // 100_000} digits"
    return str(value)


def shown_kind(value: Any) -> str:
    """Describe a value by its type: ``"the class LDP"``, ``"a list"``."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, str):
        return f"the text {shown(value)}"
    if value is None or isinstance(value, bool | int | float):
        return shown(value)
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def listed(values: Any, key: str, expected: str, *, quoted: bool = True) -> list[Any]:
    """Return the entries of an iterable that is neither text, nor a dict, nor a class.

    An error quotes the value unless it may be private.
    """
    no_list = isinstance(values, str | bytes | Mapping | type) or getattr(values, "ndim", 1) == 0
    if no_list or not isinstance(values, Iterable):
        given = shown(values) if quoted else f"a value of {shown_kind(type(values))}"
        raise InputError(key, expected, given)
    return list(values)


def known_word(word: Any, known: Iterable[str], key: str, also: str = "") -> str:
    """Return a word if it is known; ``also`` extends the list of known words in the error."""
    words = list(known)
    if not isinstance(word, str) or word not in words:
        expected = f"one of {', '.join(words)}{also}"
        raise InputError(key, expected, shown(word), did_you_mean(str(word), words))
    return word


def choose(options: Mapping[str, R], name: Any, key: str) -> R:
    """Return the option of a name; the error lists the names and suggests a similar one."""
    return options[known_word(name, options, key)]


def check_keys(
    table: Mapping[str, Any], where: str, known: Iterable[str], required: Iterable[str] = ()
) -> None:
    """Check that a table has all required keys and only known ones; errors are inside ``where``."""
    words = tuple(known)
    with inside(where):
        for key in table:
            if key not in words:
                expected = f"one of the keys {', '.join(words)}"
                raise InputError(key, expected, shown(key), did_you_mean(str(key), words))
        for key in required:
            if key not in table:
                raise InputError(key, "a value", "none", fault="this key is required")


@contextlib.contextmanager
def inside(section: str, apart: str = "") -> Iterator[None]:
    """Prefix the keys of input errors with a section, except keys that begin with ``apart``.

    Examples
    --------
    >>> with inside("privacy"):
    ...     raise InputError("epsilon", "a number >= 0", "-1")
    Traceback (most recent call last):
    mechdesign.errors.InputError: privacy.epsilon: expected a number >= 0, given -1
    """
    try:
        yield
    except InputError as error:
        stays = not section or (apart and error.key.startswith(apart))
        raise error if stays else error.within(section) from None


def _short(given: object, limit: int = 120) -> str:
    text = " ".join(str(given).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``"did you mean 'x'?"`` for a misspelt word, or an empty string.

    Only short words are compared, and not more than a thousand of them.

    Examples
    --------
    >>> did_you_mean("epsilom", ["epsilon", "matrix"])
    "did you mean 'epsilon'?"
    """
    words = [other for other in islice(known, 1000) if len(other) <= LONGEST_WORD]
    if len(word) > LONGEST_WORD:
        return ""
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else ""

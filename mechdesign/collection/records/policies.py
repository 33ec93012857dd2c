"""What becomes of cells that are no label: refused, dropped, or taken as a label of choice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from mechdesign.domain import Domain
from mechdesign.errors import InputError, shown

__all__ = ["Cells", "Policy", "policy_of", "read_strictly"]

POLICIES = "refuse, drop or map:LABEL"
MAP = "map:"
EMPTY = "an empty cell"

D = TypeVar("D")


class Policy(ABC):
    """A rule for cells of one sort, and how often it was used."""

    done: str
    """What is said of a row that it was used on."""

    def __init__(self) -> None:
        self.count = 0

    @abstractmethod
    def settle(self, error: Callable[[], InputError]) -> str | None:
        """Return the text of the label to take, or None to leave the row out.

        Raises
        ------
        InputError
            The error that is given, if such cells are refused.
        """


class _Refuse(Policy):
    done = "refused"

    def settle(self, error: Callable[[], InputError]) -> str | None:
        raise error()


class _Drop(Policy):
    done = "dropped"

    def settle(self, error: Callable[[], InputError]) -> str | None:
        self.count += 1
        return None


class _Map(Policy):
    def __init__(self, label: str) -> None:
        super().__init__()
        self._label, self.done = label, f"taken as {label!r}"

    def settle(self, error: Callable[[], InputError]) -> str | None:
        self.count += 1
        return self._label


def policy_of(text: Any, key: str, domain: Domain) -> Policy:
    """Return the policy that a user named: ``"refuse"``, ``"drop"`` or ``"map:LABEL"``.

    Raises
    ------
    InputError
        If it is none of these, or the label is not in the domain.
    """
    plain = {"refuse": _Refuse, "drop": _Drop}
    if text in ("refuse", "drop"):
        return plain[text]()
    if not isinstance(text, str) or not text.startswith(MAP):
        raise InputError(key, POLICIES, shown(text))
    label = text.removeprefix(MAP)
    return _Map(domain.texts[domain.index_of_text(label, key)])


def read_strictly(
    read: Callable[[Sequence[str]], D], cells: Sequence[str | None], place: Callable[[int], str]
) -> D:
    """Read cells of which each must be one that ``read`` knows.

    Raises
    ------
    InputError
        For the first cell that is not; the key is its place.
    """
    filled = [cell for cell in cells if cell is not None]
    try:
        if len(filled) == len(cells):
            return read(filled)
    except InputError:
        pass
    for n, cell in enumerate(cells):
        try:
            if cell is None:
                raise InputError("", "a report", EMPTY)
            read([cell])
        except InputError as error:
            given = error.given if cell and cell.strip() else EMPTY
            raise InputError(place(n), error.expected, given, error.hint) from None
    return read(filled)


class Cells:
    """Turns the cells of a column into labels of a domain, by the policies of a user.

    A cell that holds nothing, or spaces only, is missing unless the domain has such a label.

    Parameters
    ----------
    domain
        The inputs.
    unknown, missing
        What becomes of cells that are no label, and of cells that hold nothing.

    Raises
    ------
    InputError
        If two labels of the domain read alike.
    """

    def __init__(self, domain: Domain, unknown: Policy, missing: Policy) -> None:
        domain.read([])  # refuses labels that read alike
        self._domain, self._unknown, self._missing = domain, unknown, missing
        self._are_numbers = domain.labels == tuple(range(len(domain)))  # which arrays serve best

    def read(
        self, cells: Sequence[str | None], place: Callable[[int], str]
    ) -> tuple[Sequence[Any] | npt.NDArray[np.int64], Sequence[int]]:
        """Return the labels of the rows that stay, and which rows those are.

        Raises
        ------
        InputError
            For the first cell that is refused; the key is its place.
        """
        labels, filled = self._domain.labels, [cell for cell in cells if cell is not None]
        try:
            if len(filled) == len(cells):
                codes, rows = self._domain.read(filled), range(len(cells))
                return codes if self._are_numbers else [labels[n] for n in codes.tolist()], rows
        except InputError:
            pass  # one by one, to see which
        kept, stay = [], []
        for n, cell in enumerate(cells):
            code = self._code(cell, partial(self._refusal, cell, n, place))
            if code is not None:
                kept.append(labels[code])
                stay.append(n)
        return kept, stay

    def _code(self, cell: str | None, refusal: Callable[[], InputError]) -> int | None:
        code = None if cell is None else self._domain.find_text(cell)
        if code is not None:
            return code
        policy = self._unknown if cell and cell.strip() else self._missing
        text = policy.settle(refusal)
        return None if text is None else self._domain.index_of_text(text, "")

    def _refusal(self, cell: str | None, n: int, place: Callable[[int], str]) -> InputError:
        try:
            self._domain.index_of_text(cell or "", "")
        except InputError as error:
            given = error.given if cell and cell.strip() else EMPTY
            return InputError(place(n), error.expected, given, error.hint)
        return InputError(place(n), "a label of the domain", EMPTY)

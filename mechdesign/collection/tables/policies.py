"""Policies for cells that are not labels: refuse them, drop their rows, or map them to a label."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, BoolArray, Int64Array
from mechdesign.collection.tables.cells import Cells
from mechdesign.domain import Domain
from mechdesign.errors import InputError, shown

__all__ = ["EMPTY", "OTHER", "LabelReader", "Policy", "Reader", "policy_of", "read_strictly"]

POLICIES = "refuse, drop or map:LABEL"
MAP = "map:"
EMPTY, OTHER = "an empty cell", "another text"
"""What is said of a cell: never what stands in it, which is what is to be private."""


class Policy(ABC):
    """A rule for cells of one sort, and how often it was used."""

    done: str
    """What is said of a row that it was used on."""

    def __init__(self) -> None:
        self.count = 0

    @property
    def used(self) -> tuple[int, str]:
        """How many cells it was used on, and what became of them."""
        return self.count, self.done

    @abstractmethod
    def settle(self, count: int, error: Callable[[], InputError]) -> str | None:
        """Return the text of the label that some cells are taken as, or None to leave them out.

        Raises
        ------
        InputError
            The error that is given, if such cells are refused.
        """

    def settle_outside(
        self, count: int, error: Callable[[], InputError], nearest: str
    ) -> str | None:
        """Return the same for numbers outside an interval, whose nearer end is given."""
        return self.settle(count, error)


class _Refuse(Policy):
    done = "refused"

    def settle(self, count: int, error: Callable[[], InputError]) -> str | None:
        raise error()


class _Drop(Policy):
    done = "dropped"

    def settle(self, count: int, error: Callable[[], InputError]) -> str | None:
        self.count += count
        return None


class _Clip(_Refuse):
    done = "taken as the nearer end of the interval"

    def settle_outside(
        self, count: int, error: Callable[[], InputError], nearest: str
    ) -> str | None:
        self.count += count
        return nearest


class _Map(Policy):
    def __init__(self, label: str) -> None:
        super().__init__()
        self._label, self.done = label, f"taken as {label!r}"

    def settle(self, count: int, error: Callable[[], InputError]) -> str | None:
        self.count += count
        return self._label


def policy_of(text: Any, key: str, known: Callable[[str, str], str], *, clips: bool) -> Policy:
    """Return the policy that a user named: ``"refuse"``, ``"drop"``, ``"map:LABEL"``, ``"clip"``.

    Parameters
    ----------
    text, key
        What the user named, and where.
    known
        Returns a label as it is written, from its text and its key, or raises InputError.
    clips
        Whether numbers outside an interval may be clipped.

    Raises
    ------
    InputError
        If it is none of these, or the label is not known.
    """
    plain: dict[str, type[Policy]] = {"refuse": _Refuse, "drop": _Drop}
    if clips:
        plain["clip"] = _Clip
    if isinstance(text, str) and text in plain:
        return plain[text]()
    if not isinstance(text, str) or not text.startswith(MAP):
        raise InputError(key, POLICIES + (" or clip" if clips else ""), shown(text))
    return _Map(known(text.removeprefix(MAP), key))


def read_strictly(read: Callable[[Sequence[str]], AnyArray], cells: Cells) -> AnyArray:
    """Read cells of which each must be one that ``read`` knows.

    Raises
    ------
    InputError
        For the first cell that is not; the key is its place.
    """
    filled = [text for text in cells.texts if text is not None]
    with contextlib.suppress(InputError):
        if len(filled) == len(cells.texts):
            return read(filled)[cells.which]
    if not len(cells.which):
        return read([])[cells.which]
    found: list[AnyArray | None] = [None] * len(cells.texts)
    for n in cells.as_they_occur():
        text = cells.texts[n]
        try:
            if text is None:
                raise InputError("", "a report", EMPTY)
            found[n] = read([text])
        except InputError as error:
            given = OTHER if text and text.strip() else EMPTY
            raise InputError(cells.place(n), error.expected, given) from None
    known = next(one for one in found if one is not None)
    all_of_them = [known if one is None else one for one in found]  # no cell has the others
    return np.concatenate(all_of_them)[cells.which]


class Reader(ABC):
    """Turns the cells of a column into what a mechanism draws for, by the policies of a user.

    Attributes
    ----------
    unknown, missing
        What becomes of cells that are no label, and of cells that hold nothing.
    """

    def __init__(self, unknown: Policy, missing: Policy) -> None:
        self.unknown, self.missing = unknown, missing

    @abstractmethod
    def read(self, cells: Cells) -> tuple[AnyArray, BoolArray | None]:
        """Return what is drawn for in each row, and which rows stay; None if all do.

        Raises
        ------
        InputError
            For the first cell that is refused; the key is its place.
        """

    @abstractmethod
    def count(self, drawn_for: AnyArray) -> None:
        """Count rows that a report was drawn for."""

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Return how many rows were counted of each sort; the same for the same records."""


class LabelReader(Reader):
    """Turns the cells of a column into positions of labels in a domain.

    A cell that holds nothing, or spaces only, is missing unless the domain has such a label.

    Parameters
    ----------
    domain
        The inputs.
    unknown, missing
        What becomes of cells that are no label, and of cells that hold nothing: policies by name.

    Raises
    ------
    InputError
        If two labels of the domain read alike, or there is no such policy.
    """

    def __init__(self, domain: Domain, unknown: str, missing: str) -> None:
        def known(label: str, key: str) -> str:
            return domain.texts[domain.index_of_text(label, key)]

        super().__init__(
            policy_of(unknown, "unknown", known, clips=False),
            policy_of(missing, "missing", known, clips=False),
        )
        domain.read([])  # refuses labels that read alike
        self._domain = domain
        self._counts = np.zeros(len(domain), dtype=np.int64)

    def read(self, cells: Cells) -> tuple[Int64Array, BoolArray | None]:
        """Return the position in the domain of each row, and which rows stay; None if all do.

        Raises
        ------
        InputError
            For the first cell that is refused; the key is its place.
        """
        codes = self._codes(cells)
        stays = (codes >= 0)[cells.which] if (codes < 0).any() else None
        return codes[cells.which], stays

    def count(self, drawn_for: Int64Array) -> None:
        """Count rows that a report was drawn for."""
        self._counts += np.bincount(drawn_for, minlength=len(self._counts))

    def counts(self) -> dict[str, int]:
        """Return how many rows were counted, for each label of which there is one, as text."""
        some = np.flatnonzero(self._counts)
        return {self._domain.texts[n]: int(self._counts[n]) for n in some.tolist()}

    def _codes(self, cells: Cells) -> Int64Array:
        """Return the position in the domain of each different text; -1 if its rows are left out."""
        held = [n for n, text in enumerate(cells.texts) if text is not None]
        codes = np.full(len(cells.texts), -1, dtype=np.int64)
        codes[held] = self._domain.find_texts([cells.texts[n] or "" for n in held])
        others = codes < 0
        if others.any():
            counts = np.bincount(cells.which, minlength=len(codes))
            for n in cells.as_they_occur():
                if others[n]:
                    codes[n] = self._settled(cells, n, int(counts[n]))
            codes[counts == 0] = 0  # any: no cell has such a text
        return codes

    def _settled(self, cells: Cells, n: int, count: int) -> int:
        """Return the position that cells of a text are taken as by the policies; -1 for none."""
        policy = self.unknown if (cells.texts[n] or "").strip() else self.missing
        label = policy.settle(count, partial(self._refusal, cells, n))
        return -1 if label is None else self._domain.index_of_text(label, "")

    def _refusal(self, cells: Cells, n: int) -> InputError:
        text = cells.texts[n] or ""
        given = OTHER if text.strip() else EMPTY
        return InputError(cells.place(n), f"labels of the domain ({self._domain.listed()})", given)

"""Experiments: two sides of panels, and the rows that they give to the table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mechdesign.files.reading import data_folder

CLAIM = "claim"
"""The paper claims an optimum: ours is equal where its formula is private, and larger elsewhere."""

SCHEME = "scheme"
"""The paper's channel is private: ours is as good or better."""

SAME = "same"
"""Ours is equal."""


class MissingDataError(Exception):
    """The data of an experiment are not there."""


@dataclass(frozen=True)
class Panel:
    """One plot of a figure.

    Attributes
    ----------
    title, axis, unit
        The title, and the labels of both axes.
    x
        Where the curves are known.
    curves
        By name, a value for each x; NaN where there is none.
    leakage
        By name, the exact leakage of the published channel over the budget that it promises.
    relations
        By name, how our and the published curve compare; none where theory is silent.
    log
        Which axes are logarithmic: "", "x", "y" or "xy".
    ticks
        Words for the x, if these are no numbers.
    """

    title: str
    axis: str
    unit: str
    x: list[float]
    curves: dict[str, list[float]]
    leakage: dict[str, list[float]] = field(default_factory=dict)
    relations: dict[str, str] = field(default_factory=dict)
    log: str = ""
    ticks: list[str] = field(default_factory=list)

    def at(self, curve: str, x: float) -> float:
        """Return the value of a curve at an x; NaN if it is not known there."""
        for where, value in zip(self.x, self.curves[curve], strict=True):
            if math.isclose(where, x, abs_tol=1e-12):
                return value
        return math.nan


Pair = tuple[list[Panel], list[Panel]]
"""(ours, published), panel by panel."""


@dataclass(frozen=True)
class Row:
    """One published number beside ours.

    Attributes
    ----------
    place, quantity
        Where it is, and what it is.
    published
        As printed, in words; or a number, if the paper's formula was evaluated.
    ours
        What is true.
    why
        Why they differ.
    """

    place: str
    quantity: str
    published: str | float
    ours: float | str
    why: str = ""

    @property
    def is_printed(self) -> bool:
        """Whether the number itself is in the paper, not only a formula for it."""
        return isinstance(self.published, str)

    @property
    def difference(self) -> float | None:
        """Ours minus the published number, if both are numbers."""
        try:
            return float(self.ours) - float(str(self.published).replace(",", ""))
        except ValueError:
            return None

    @property
    def agrees(self) -> bool:
        """Whether they are equal, up to half a unit of the last printed digit."""
        difference = self.difference
        if difference is None:
            return str(self.ours) == str(self.published)
        if isinstance(self.published, str):
            decimals = len(self.published.partition(".")[2])
            return abs(difference) <= 0.5 * 10**-decimals * (1 + 1e-9)
        return abs(difference) <= 1e-6 * abs(self.published)


@dataclass(frozen=True)
class Experiment:
    """A figure or a table of a paper.

    Attributes
    ----------
    name
        Of its module, its picture and its file of results.
    title
        The paper and the figure.
    data
        Which data is real and which synthetic.
    run
        Returns (ours, published); quick or whole.
    rows
        What it gives to the table.
    caption
        What to see in the picture.
    columns
        Panels in a line of the picture.
    """

    name: str
    title: str
    data: str
    run: Callable[[bool], Pair]
    rows: Callable[[Pair], list[Row]]
    caption: Callable[[Pair], str]
    columns: int = 2


def data_file(*parts: str) -> Any:
    """Return the path of a file of data.

    Raises
    ------
    MissingDataError
        If it is not there.
    """
    folder = data_folder()
    path = None if folder is None else folder.joinpath(*parts)
    if path is None or not path.is_file():
        name = "/".join(parts)
        raise MissingDataError(f"{name} is not there: set MECHDESIGN_DATA to the folder of data")
    return path

"""One cell of the atlas: a closed form at one point, against the optimum there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from benchmarks.atlas.base import NEAR, Entry, Optimum, Point, Region
from mechdesign.designs.solution import Solution
from mechdesign.exact import fraction_text

ROUNDING = 1e-9
"""How far above epsilon, relative to it, a channel may leak that is private but for rounding."""


@dataclass(frozen=True)
class Cell:
    """A closed form at one point.

    Attributes
    ----------
    formula
        Its name.
    epsilon, parameter
        The point: exact numbers as text.
    leakage_ratio
        What the exact channel leaks, by epsilon; rounded up. For a bound on one side of the lift,
        which has no epsilon, one plus the excess by the budget.
    sense
        ``"minimize"`` a loss or ``"maximize"`` a gain.
    loss
        The loss of the formula, or its gain.
    optimum
        That of the best channel found, which is exactly private.
    bound
        What no private channel's is better than, proved.
    loss_ratio
        The loss by the optimum, or the optimum by the gain. Below 1 only where the formula is not
        private.
    region
        Optimal, feasible or infeasible.
    proved
        The region that a proof gives, empty where there is none.
    route
        How the optimum was found.
    """

    formula: str
    epsilon: str
    parameter: str
    leakage_ratio: float
    sense: str
    loss: float
    optimum: float
    bound: float
    loss_ratio: float
    region: Region
    proved: str
    route: str

    @classmethod
    def of(cls, formula: Entry, at: Point, optimum: Optimum | Solution) -> Cell:
        """Measure a formula at a point, where the optimum is known."""
        problem, epsilon = formula.problem(at), float(at.epsilon)
        utility, (notion,) = problem.utility, problem.privacy
        leakage, own = formula.measured(at)
        ratio = leakage / epsilon if notion.has_epsilon else 1 + leakage / epsilon
        best, bound = float(optimum.value), float(optimum.bound)
        worse = bound - own if utility.is_maximized else own - bound
        region = Region.FEASIBLE
        if ratio > 1 + ROUNDING:
            region = Region.INFEASIBLE
        elif worse <= NEAR * abs(bound):
            region = Region.OPTIMAL
        return cls(
            formula=formula.name,
            epsilon=fraction_text(at.epsilon),
            parameter=fraction_text(at.parameter),
            leakage_ratio=ratio,
            sense=utility.sense,
            loss=own,
            optimum=best,
            bound=bound,
            loss_ratio=best / own if utility.is_maximized else own / best,
            region=region,
            proved=formula.proved(at) or "",
            route=optimum.route,
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {**asdict(self), "region": str(self.region), "proved": str(self.proved)}

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> Cell:
        """Return the cell of plain data; numbers may be text.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it is none.
        """
        read: dict[str, Any] = {key: str(table[key]) for key in COLUMNS}
        read |= {key: float(table[key]) for key in NUMBERS}
        return cls(**{**read, "region": Region(table["region"])})


COLUMNS = tuple(field.name for field in fields(Cell))
NUMBERS = ("leakage_ratio", "loss", "optimum", "bound", "loss_ratio")

"""The results of `implied` and `relations`: one implied guarantee, and a table of them."""

from __future__ import annotations

from dataclasses import dataclass

from mechdesign.channel import Channel
from mechdesign.errors import choose
from mechdesign.notions import Notion
from mechdesign.text import Table, Tabular

__all__ = ["Implied", "Relations"]


@dataclass(frozen=True)
class Implied:
    """The guarantee under one notion that one under another implies.

    Attributes
    ----------
    notion
        The guarantee.
    target
        The name of the notion that it is translated to.
    tight
        The largest leakage of any channel that satisfies ``notion``, in nats, to 1e-9; inf where
        there is no limit; None where it is not computed. For a target with budgets but no epsilon,
        as lift bounds, this and the other values are the largest excess over the budgets.
    channel
        A channel that satisfies ``notion`` exactly and attains it; None with ``tight``.
    attained
        The exact leakage of that channel, rounded up.
    bound
        The least bound in closed form, in nats; None where no theorem is about the two.
    source
        Where the bound is from.
    """

    notion: Notion
    target: str
    tight: float | None
    channel: Channel | None
    attained: float | None
    bound: float | None
    source: str

    def __repr__(self) -> str:
        tight = "not computed" if self.tight is None else f"{self.tight:.6f}"
        bound = "none" if self.bound is None else f"{self.bound:.6f} ({self.source})"
        return f"{self.notion!r} implies {self.target}: exactly {tight} nats, bound {bound}"


@dataclass(frozen=True, repr=False)
class Relations(Tabular):
    """The guarantees that one guarantee implies under every other notion. Its repr is a table.

    Attributes
    ----------
    notion
        The guarantee.
    rows
        One implied guarantee for each notion.
    """

    indent = "  "

    notion: Notion
    rows: tuple[Implied, ...]

    def __getitem__(self, target: str) -> Implied:
        return choose({row.target: row for row in self.rows}, target, "target")

    def _head(self) -> str:
        return f"{self.notion!r} implies, in nats"

    def _table(self) -> Table:
        rows = [(r.target, _nats(r.tight), _nats(r.bound), r.source) for r in self.rows]
        return Table(("notion", "exactly", "bound", ""), rows, "<>><")


def _nats(value: float | None) -> str:
    return "-" if value is None else f"{value:.6f}"

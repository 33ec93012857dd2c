"""Total leakage about a person whose record has several columns."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, TypeVar

from mechdesign.accounting.channel_leakage import leakages, rounded
from mechdesign.accounting.ratios import float_above
from mechdesign.collection.tables.jobs import Drawer
from mechdesign.errors import InputError
from mechdesign.kernel import canonical
from mechdesign.mechanisms import Mechanism
from mechdesign.text import Table, Tabular

SHORT = 12
"""Number of digits of an abbreviated digest."""

N = TypeVar("N")


@dataclass(frozen=True, repr=False)
class Spending(Tabular):
    """The leakage of the reports of one person, by column and in total.

    Attributes
    ----------
    columns
        The leakage of each column in nats under each notion that adds up, rounded up.
    one_each
        Whether each person is asked for one column only.
    """

    columns: Mapping[str, Mapping[str, float]]
    one_each: bool = False

    @property
    def total(self) -> dict[str, float]:
        """Total leakage in nats about a person, by notion, rounded up.

        This is the sum over the columns, whose draws are independent given the record; or the
        maximum if each person is asked for one column, chosen independently of the record.
        """
        return totals(list(self.columns.values()), largest=self.one_each)

    def to_json(self) -> dict[str, Any]:
        """Return plain data for JSON, with infinity as null."""
        columns = {name: _finite(nats) for name, nats in self.columns.items()}
        return {"columns": columns, "total": _finite(self.total), "one_each": self.one_each}

    def _head(self) -> str:
        how = "the largest column" if self.one_each else "the sum over the columns"
        return f"nats that one person spends, rounded up; in all, {how}"

    def _table(self) -> Table:
        total = self.total
        rows = [
            (notion, *(rounded(one[notion]) for one in self.columns.values()), rounded(nats))
            for notion, nats in total.items()
        ]
        return Table(("notion", *self.columns, "in all"), rows, "<" + ">" * (len(self.columns) + 1))


def spending(mechanisms: Mapping[Any, Drawer], *, one_each: bool = False) -> Spending:
    """Return the total leakage about a person whose columns are drawn by several mechanisms.

    Parameters
    ----------
    mechanisms
        By column, as for :func:`mechdesign.privatize`.
    one_each
        Whether each person is asked for one column only.

    Notes
    -----
    Two neighbors may differ in every column. LDP, notions about pairs of inputs and maximal leakage
    add up over independent draws; lifts (LIP, PML) do not, but are at most the sum for LDP.
    Source: Dwork and Roth 2014, Theorem 3.14.

    Examples
    --------
    >>> from mechdesign.mechanisms import GeneralizedRandomizedResponse
    >>> age, sex = GeneralizedRandomizedResponse(9, 1), GeneralizedRandomizedResponse(2, "1/2")
    >>> spending({"age": age, "sex": sex})
    nats that one person spends, rounded up; in all, the sum over the columns
    notion                age       sex    in all
    ldp              1.000000  0.500000  1.500000
    >>> spending({"age": age, "sex": sex}, one_each=True).total["ldp"]
    1.0
    """
    if not mechanisms:
        raise InputError("mechanisms", "a mechanism for at least one column", "none")
    found = {
        str(name): {
            f"{notion} {parameters[:SHORT]}".strip(): nats
            for (notion, parameters), nats in adding_leakages(each).items()
        }
        for name, each in mechanisms.items()
    }
    return Spending(found, one_each)


def adding_leakages(mechanism: Drawer) -> dict[tuple[str, str], float]:
    """Return the leakage in nats, rounded up, under each notion that adds up over draws.

    The keys are the name of a notion and a digest of its parameters other than epsilon.
    """
    own = mechanism.privacy if isinstance(mechanism, Mechanism) else None
    found: dict[tuple[str, str], float] = {}
    for row in leakages(mechanism).rows:  # without a prior: these add up
        table = own.to_table() if own is not None and own.name == row.notion else {}
        beside = {key: table[key] for key in table if key not in ("notion", "epsilon")}
        parameters = hashlib.sha256(canonical(beside)).hexdigest() if beside else ""
        found[row.notion, parameters] = row.value
    return found


def totals(each: Sequence[Mapping[N, float | str]], *, largest: bool = False) -> dict[N, float]:
    """Return the sum, or the maximum, of nats under each common notion, rounded up."""
    shared = [notion for notion in (each[0] if each else ()) if all(notion in own for own in each)]
    found = {}
    for notion in shared:
        nats = [own[notion] for own in each]
        if inf in map(float, nats):
            found[notion] = inf
        else:
            exact = map(Fraction, nats)
            found[notion] = float_above(max(exact) if largest else sum(exact, Fraction()))
    return found


def _finite(nats: Mapping[str, float]) -> dict[str, float | None]:
    return {notion: value if value < inf else None for notion, value in nats.items()}

"""Checks the claims of a file one by one: privacy, value, bound, status, decoder.

Each check raises a :class:`~mechdesign.errors.CertificateError`, or returns the claim as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.certificate import Steps
from mechdesign.kernel.documents import OPTIMAL_GAP, Claim, is_close, relative_gap
from mechdesign.kernel.names import Compiled, Notion
from mechdesign.kernel.packed import exact as number
from mechdesign.kernel.statement import Statement, private

GAP_TOLERANCE = Fraction(1, 10**9)
"""Distance of a claimed gap from that of the claimed value and bound, or share of one above 1."""

LEAKAGE_TOLERANCE = Fraction(1, 10**9)
"""A leakage is rejected if the channel passes with a smaller one, by this share of it or of 1."""

DECODER_TOLERANCE, LEAST_FLOAT = Fraction(1, 10**12), Fraction(1, 1 << 1074)


@dataclass(frozen=True)
class Verified:
    """The verified claims of a file, one sentence each.

    The value and the bound are those of a channel designed for an objective.
    """

    claims: tuple[str, ...]
    value: Fraction | None = None
    bound: Fraction | None = None

    def __str__(self) -> str:
        return "\n".join(
            claim if claim.startswith("NOT") else f"verified  {claim}" for claim in self.claims
        )


# ---- privacy -----------------------------------------------------------------------------------


def verify_privacy(
    problem: Compiled,
    notion: Notion,
    claim: Claim,
    columns: list[list[int]],
    whole: int,
    steps: Steps,
) -> str:
    """Check a notion as stated, and that the claimed leakage is the least possible."""
    keys, secret = notion.keys, notion.keys.get("secret")
    name = f"{notion.name!r:.60}" if notion.is_own else notion.name
    wanted = Claim(
        notion.name,
        claim.leakage,
        certified=True,
        epsilon=_float(keys.get("epsilon")),
        delta=_float(keys.get("delta")),
        secret=None if secret is None else secret.values,
    )
    need(
        claim == wanted,
        f"the notion {name} is not claimed as certified, or the epsilon claimed, the delta, or "
        "what it is about is not that of the problem",
    )

    def broken(asked: Notion) -> str | None:
        statement = problem.alone(asked)
        steps.take(_steps_of(statement, len(columns)), "the check of privacy")
        return private(statement, columns, whole)

    why = broken(notion)
    need(why is None, f"{name}: not private: {why}")
    leakage, statement = number(claim.leakage), problem.alone(notion)
    rows = (True for part in statement.cone for _ in part.keys(statement.k))
    signed = notion.epsilon is None and (any(rows) or bool(statement.limits))
    why = broken(notion.at(leakage)) if signed or leakage >= 0 else "it is at least 0"
    need(why is None, f"{name}: leaks more than {float(leakage)!r}: {why}")
    less = leakage - (1 + abs(leakage)) * LEAKAGE_TOLERANCE
    least = (not signed and less < 0) or broken(notion.at(less)) is not None
    need(least, f"{name}: leaks less than the claimed {float(leakage)!r}")
    own, title = notion.is_own or notion.name == "linear", keys.get("title", "")
    whom = (f" ({title!r:.60})" if title else "") + " of the sensitive attribute" * bool(secret)
    rows_of = " (rows of the user's own, not a known notion)" if own else ""
    return f"{name}{whom}: private as stated, exactly{rows_of}; leakage {float(leakage):.10g}"


def _float(budget: Fraction | None) -> float | None:
    return None if budget is None else float(budget)


def _steps_of(statement: Statement, n_outputs: int) -> int:
    """Return a bound on the work of one check of privacy, from sizes."""
    parts = (*statement.cone, *statement.limits)
    return sum(part.size(statement.k) for part in parts) * (4 + n_outputs)


def privacy_steps(problem: Compiled, n_outputs: int) -> int:
    """Bound the work of the statement and the claims of privacy: three checks of each."""
    alone = map(problem.alone, problem.table.privacy)
    return 5 * problem.table.steps() + sum(
        3 * _steps_of(statement, n_outputs) for statement in alone
    )


# ---- value and bound ---------------------------------------------------------------------------


def verify_value(exact: Fraction, claimed: float) -> str:
    """Check the claimed value, and return the claim as text."""
    close = is_close(number(claimed), exact)
    need(close, f"the value is {float(exact)!r}, not {claimed!r}")
    return f"value {float(exact):.10g}, recomputed from the integers"


def verify_bound(
    exact: Fraction, bound: Fraction, claimed: float, of_all: str, is_maximized: bool = False
) -> str:
    """Check the claimed bound against the proved one; return the claim as text.

    ``of_all`` names the private objects of the bound.
    """
    shown, sign = number(claimed), -1 if is_maximized else 1
    proved = sign * shown <= sign * bound
    need(proved, f"the bound proved is {float(bound)!r}, not {claimed!r}")
    beyond = "the bound is beyond the value: the problem contradicts itself"
    need(sign * bound <= sign * exact, beyond)
    than = "is above" if is_maximized else "has a loss below"
    return f"no private {of_all} {than} {float(shown):.10g}"


def check_status(file: Any) -> str:
    """Return the status of the claimed value and bound; the claimed gap must agree."""
    gap = relative_gap(float(file.value), float(file.bound))
    exact = relative_gap(number(file.value), number(file.bound))
    near = abs(number(file.gap) - exact) <= GAP_TOLERANCE * max(Fraction(1), exact)
    need(near, f"the gap is {gap!r}, not {file.gap!r}")
    status = "optimal" if gap <= OPTIMAL_GAP else "bounded"
    need(file.status == status, f"the status is {status!r}, not {file.status!r}")
    return status


# ---- what is read from outputs -----------------------------------------------------------------


def verify_decoder(wanted: list[Any] | None, claimed: Any, signed: bool) -> list[str]:
    """Check the decoder: the aggregator's reading of each output, if the objective has one."""
    if wanted is None:
        need(claimed is None, "the channel has a decoder, but the objective has none")
        return []
    same = claimed is not None and same_reading(wanted, list(claimed), signed)
    need(same, "the decoder differs from the readings of the objective")
    return ["the decoder is what the aggregator reads from each output"]


def same_reading(wanted: Any, claimed: Any, signed: bool = False, size: Any = None) -> bool:
    """Return whether numbers are close, labels equal, and lists equal item by item.

    Close means relative to the number or to a ``size``; if ``signed``, relative to the largest of
    its list, since entries may cancel to nearly 0.
    """
    if isinstance(wanted, Fraction):
        off = DECODER_TOLERANCE * (abs(wanted) if size is None else size)
        shown = type(claimed) in (int, float)
        return shown and abs(number(claimed) - wanted) <= max(off, LEAST_FLOAT)
    if not isinstance(wanted, list):
        same: bool = (list(wanted) if isinstance(wanted, tuple) else wanted) == claimed
        return same and type(claimed) is not bool
    if not isinstance(claimed, list) or len(wanted) != len(claimed):
        return False
    if signed and all(isinstance(entry, Fraction) for entry in wanted):
        size = max(map(abs, wanted), default=None)
    pairs = zip(wanted, claimed, strict=True)
    return all(same_reading(one, other, signed, size) for one, other in pairs)


def used_places(problem: Compiled, outputs: Sequence[Any]) -> list[int]:
    """Return the index of each output among the allowed ones."""
    if problem.table.outputs is None:
        return numbered(outputs)
    place = {y: n for n, y in enumerate(problem.table.outputs)}
    need(set(outputs) <= set(place), "the channel has an output that the problem does not allow")
    return [place[y] for y in outputs]


def numbered(outputs: Sequence[Any]) -> list[int]:
    """Return the numbers of outputs chosen by the optimizer, from 0."""
    places = list(range(len(outputs)))
    need(list(outputs) == places, "the outputs that the optimizer chose are not numbered from 0")
    return places

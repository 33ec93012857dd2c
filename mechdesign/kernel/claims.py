"""Checks the claims of a file one by one: privacy, value, bound, status, decoder.

A file is of a :class:`Subject`: a channel, a law, or a kernel on an interval or a box. Each check
raises a :class:`~mechdesign.errors.CertificateError`, or returns the claim as text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.certificate import Certificate, Steps
from mechdesign.kernel.documents import OPTIMAL_GAP, Claim, Claims, is_close, relative_gap
from mechdesign.kernel.names import Compiled, Notion, Utility
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


class Leak(ABC):
    """The leakage of a channel under one notion."""

    @property
    def signed(self) -> bool:
        """Whether it may be negative."""
        return False

    @abstractmethod
    def breaks(self, leakage: Fraction) -> str | None:
        """Return why the notion does not hold with a leakage; None if it holds."""

    def reaches(self, leakage: Fraction) -> bool:
        """Return whether the notion holds with no smaller leakage, up to the tolerance."""
        less = leakage - (1 + abs(leakage)) * LEAKAGE_TOLERANCE
        return (not self.signed and less < 0) or self.breaks(less) is not None


@dataclass(frozen=True)
class Subject:
    """What a file is of, checked to be a channel: its claims are compared with this.

    ``rows``: the claim that its rows sum to 1.
    ``leaks``: its leakage under each notion of the problem.
    ``utility``, ``sign``: the objective, and -1 if it is maximized.
    ``found``: returns the value, rounded to the worse side, and the decoder if there is one; None
        if the file does not define the objective.
    ``bound``: returns the bound that a certificate proves.
    ``proved``: the objects of the bound.
    ``own``: the number of the user's own constraints.
    ``about``: further claims, on the problem itself.
    """

    rows: str
    leaks: Sequence[tuple[Notion, Leak]]
    utility: Utility | None
    sign: int
    found: Callable[[], tuple[Fraction, list[Any] | None]] | None
    bound: Callable[[Certificate, Steps], Fraction]
    proved: str = "channel"
    own: int = 0
    about: tuple[str, ...] = ()


def verify_claims(file: Any, subject: Subject, allowed: int) -> Verified:
    """Check the claims of a file; with the user's own terms no bound is proved."""
    claims, sign, utility = [subject.rows], subject.sign, subject.utility
    channel: Any = getattr(file, "channel", None)
    need(len(file.privacy) == len(subject.leaks), "the file does not claim every notion")
    need(file.privacy, "the file claims no notion of privacy")
    for (notion, leak), claim in zip(subject.leaks, file.privacy, strict=True):
        claims.append(verify_privacy(notion, leak, claim))
    if not isinstance(file, Claims):
        return Verified(tuple(claims))
    same = utility is not None and file.objective == utility.name
    need(same, "the claimed objective is not that of the problem")
    proved = file.certificate is not None
    provable = subject.found is not None and not subject.own
    need(proved or not provable, "the file has no proof, but its objective can be proved")
    need(provable or not proved, "the file claims a proof under the user's own terms")
    words = ("no proof", "one") if proved else ("a proof", "none")
    same = file.bound_proved == proved
    need(same, f"the file claims {words[0]} of its bound, but contains {words[1]}")
    exact, read = number(file.value), list[str]()
    if subject.found is not None:
        sense = "maximize" if sign < 0 else "minimize"
        need(file.sense == sense, f"the sense is {sense!r}, not {file.sense!r}")
        exact, wanted = subject.found()
        claims.append(verify_value(exact, file.value))
        read = verify_decoder(wanted, channel, utility.reads if utility else "")
    if file.certificate is not None:
        bound = subject.bound(file.certificate, Steps(allowed))
        claims.append(verify_bound(exact, bound, file.bound, subject.proved, sign < 0))
        claims += [f"status {check_status(file)}", *read, *subject.about]
        return Verified(tuple(claims), exact, bound)
    check_status(file)
    bound, shown = number(file.bound), f"the bound {file.bound:.10g}"
    beyond = exact < bound if file.sense == "minimize" else bound < exact
    need(not beyond, "the bound exceeds the value: the file contradicts itself")
    if subject.found is not None:
        shown += f", and {subject.own} constraints of the user's own, which the file only quotes"
    else:
        decoded = ", what is read from each output," if channel.decoder is not None else ""
        shown = (
            f"the value {file.value:.10g}{decoded} and {shown} of the objective "
            f"{file.objective!r:.60}, whose definition the file does not carry"
        )
    return Verified((*claims, *read, f"NOT checked: {shown}"), exact, bound)


# ---- privacy -----------------------------------------------------------------------------------


def verify_privacy(notion: Notion, leak: Leak, claim: Claim) -> str:
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
    leakage, why = number(claim.leakage), leak.breaks(notion.stated)
    need(why is None, f"{name}: not private: {why}")
    why = leak.breaks(leakage) if leak.signed or leakage >= 0 else "it is at least 0"
    need(why is None, f"{name}: leaks more than {float(leakage)!r}: {why}")
    need(leak.reaches(leakage), f"{name}: leaks less than the claimed {float(leakage)!r}")
    own, title = notion.is_own or notion.name == "linear", keys.get("title", "")
    whom = (f" ({title!r:.60})" if title else "") + " of the sensitive attribute" * bool(secret)
    rows_of = " (rows of the user's own, not a known notion)" if own else ""
    measure = "largest excess over the bounds" if leak.signed else "leakage"
    return f"{name}{whom}: private as stated, exactly{rows_of}; {measure} {float(leakage):.10g}"


@dataclass(frozen=True)
class ColumnsLeak(Leak):
    """The leakage of integer columns, on which each requirement is tested."""

    notion: Notion
    problem: Compiled
    columns: list[list[int]]
    whole: int
    steps: Steps

    @property
    def signed(self) -> bool:
        """Whether there is a requirement without an epsilon."""
        statement = self.problem.alone(self.notion)
        rows = (True for part in statement.cone for _ in part.keys(statement.k))
        return self.notion.epsilon is None and (any(rows) or bool(statement.limits))

    def breaks(self, leakage: Fraction) -> str | None:
        statement = self.problem.alone(self.notion.at(leakage))
        self.steps.take(_steps_of(statement, len(self.columns)), "the check of privacy")
        return private(statement, self.columns, self.whole)


def _float(budget: Fraction | None) -> float | None:
    return None if budget is None else float(budget)


def _steps_of(statement: Statement, n_outputs: int) -> int:
    k, seen = statement.k, set[int]()
    entries = sum(part.size(k) for part in statement.cone)
    return (entries + sum(limit.size(k, seen) for limit in statement.limits)) * (4 + n_outputs)


def privacy_steps(problem: Compiled, n_outputs: int) -> int:
    """Bound the work of the statement and the claims of privacy: three checks of each."""
    alone = map(problem.alone, problem.table.privacy)
    return problem.table.steps() + sum(3 * _steps_of(statement, n_outputs) for statement in alone)


# ---- value and bound ---------------------------------------------------------------------------


def verify_value(exact: Fraction, claimed: float) -> str:
    """Check the claimed value, and return the claim as text."""
    close = is_close(number(claimed), exact)
    need(close, f"the value is {float(exact)!r}, not {claimed!r}")
    return f"value {float(exact):.10g}, recomputed from the integers"


def verify_bound(
    exact: Fraction, bound: Fraction, claimed: float, of_all: str, is_maximized: bool
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


def verify_decoder(wanted: list[Any] | None, channel: Any, reads: str) -> list[str]:
    """Check the decoder: the aggregator's reading of each output, if the objective has one."""
    claimed = getattr(channel, "decoder", None)
    if wanted is None:
        need(claimed is None, "the channel has a decoder, but the objective has none")
        return []
    signed = reads in ("estimator", "readings")
    same = claimed is not None and same_reading(wanted, list(claimed), signed)
    need(same, "the decoder differs from the readings of the objective")
    exactly = "the mean of the readings is f(x) exactly, for every input x"
    decoder = "the decoder is what the aggregator reads from each output"
    return [exactly, decoder] if reads == "readings" else [decoder]


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

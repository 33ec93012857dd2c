"""The inverse of the frontier: the least budget for a given loss, with proof."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.designs.design import check_limits, design_until, time_left
from mechdesign.designs.progress import tqdm_bar
from mechdesign.designs.solution import Solution
from mechdesign.errors import InfeasibleError, InputError, SolverError, shown
from mechdesign.exact import Exact, as_fraction, short_text
from mechdesign.problem import Problem

__all__ = ["MOST", "Reach", "min_epsilon"]

MOST = 40
"""Nats above which multiples of 2**-62 cannot represent different budgets."""


SHARE = 0.25
"""The share of the remaining time for one budget."""


@dataclass(frozen=True)
class Reach:
    """The least budget for a given loss, between two proved numbers.

    A larger budget allows more channels, so the least loss does not increase with epsilon.

    Attributes
    ----------
    wanted
        The required loss, or the required gain if the objective is maximized.
    epsilon
        A budget in nats whose certified channel reaches it.
    solution
        That channel.
    below
        No budget up to this one reaches it; 0 without a ``proof`` if every budget does.
    proof
        The solution at ``below``, whose bound is worse than ``wanted``; None if no channel is
        private there, or there is nothing to prove.
    reason
        The reason why no channel is private at ``below``, in that case.
    """

    wanted: Fraction
    epsilon: Fraction
    solution: Solution
    below: Fraction
    proof: Solution | None
    reason: str = ""

    @property
    def is_free(self) -> bool:
        """Whether every budget reaches it, including 0."""
        return self.epsilon == 0

    def to_json(self) -> dict[str, Any]:
        """Return plain data; ``unreachable_up_to`` is null if every budget reaches it."""
        proof = None if self.proof is None else self.proof.to_json()["bound"]
        proved = self.solution.bound_proved if self.proof is None else self.proof.bound_proved
        return {
            "wanted": float(self.wanted),
            "epsilon": float(self.epsilon),
            "value": float(self.solution.value),
            "unreachable_up_to": None if self.is_free else float(self.below),
            "bound_there": proof,
            "bound_proved": proved,
            "reason": self.reason,
        }

    def __repr__(self) -> str:
        maximized = self.solution.problem.utility.is_maximized
        what, side = ("gain", "above") if maximized else ("loss", "below")
        value = float(self.solution.value)
        lines = [
            f"epsilon = {float(self.epsilon):.12g} reaches the {what} {short_text(self.wanted)}: "
            f"its certified channel has {value:.9g}"
        ]
        if self.is_free:
            lines.append("no smaller epsilon is needed: the reports do not depend on the input")
        elif self.proof is not None:
            bound = self.proof.to_json()["bound"]
            proved = "" if self.proof.bound_proved else ", computed and not proved"
            lines.append(
                f"no epsilon up to {float(self.below):.12g} does: no private channel is {side} "
                f"{bound:.9g} there{proved}"
            )
        elif self.reason:
            lines.append(f"no epsilon up to {float(self.below):.12g} does: {self.reason}")
        return "\n".join(lines)


def min_epsilon(
    problem: Problem,
    wanted: Exact,
    *,
    precision: Exact = "1e-6",
    most: Exact = MOST,
    gap: float | None = None,
    time_limit: float | None = None,
    progress: bool | None = None,
) -> Reach:
    """Return the least budget whose best channel reaches a wanted loss, with proof on both sides.

    Parameters
    ----------
    problem
        With one notion that has an epsilon, whose value is ignored.
    wanted
        The largest accepted loss, or the least accepted gain if the objective is maximized.
    precision
        In nats, above 0: the search is over its multiples, until one reaches ``wanted`` and the
        previous one is proved not to. If a gap is too wide to decide, the two ends stay further
        apart; both are valid.
    most
        The largest budget to try, in nats.
    gap
        As for :func:`~mechdesign.design`.
    time_limit
        Seconds in total. The two ends found by then are returned.
    progress
        Whether to show a bar; None if standard error is a terminal.

    Returns
    -------
    Reach
        A budget that reaches it, one that is proved not to, and the channel.

    Raises
    ------
    InputError
        If the number of notions with an epsilon is not one, or an argument is out of range.
    InfeasibleError
        If no budget up to ``most`` reaches it; the message has the proved bound.
    SolverError
        If this is undecided.

    Notes
    -----
    Every step designs a channel at one budget. If its exact value is good enough, this budget and
    all larger ones reach ``wanted``; if its bound is not, this budget and all smaller ones do not.
    Otherwise the budget is undecided.

    Examples
    --------
    Warner's randomized response has error probability 1 / (1 + e**epsilon), which is 1/4 at ln 3.

    >>> from mechdesign import LDP, HammingLoss
    >>> min_epsilon(Problem(["yes", "no"], LDP(1), HammingLoss()), "1/4")
    epsilon = 1.098613 reaches the loss 0.25: its certified channel has 0.249999867
    no epsilon up to 1.098612 does: no private channel is below 0.250000054 there
    """
    check_limits(gap, time_limit)
    deadline = math.inf if time_limit is None else time.time() + time_limit
    step = as_fraction(precision, "precision", expected="a number > 0")
    largest = as_fraction(most, "most", expected="a number > 0")
    for key, number, given in (("precision", step, precision), ("most", largest, most)):
        if number <= 0:
            raise InputError(key, "a number > 0", shown(given))
    if step > largest:
        raise InputError("precision", f"at most {short_text(largest)}", shown(precision))
    target = as_fraction(wanted, "wanted")
    search = _Search(problem, target, step, gap, deadline)
    solution = search.run(int(largest / step), progress)
    return Reach(
        wanted=target,
        epsilon=search.within * step,
        solution=solution,
        below=max(search.out, 0) * step,
        proof=search.proof,
        reason=search.reason,
    )


class _Search:
    """The search for the first multiple of a step whose best channel is good enough.

    Attributes
    ----------
    out, proof, reason
        The largest multiple that is proved too small, -1 before the first one; and the solution
        there, or the reason why no channel is private.
    within
        The smallest multiple known to reach.
    unsure
        The ends of the undecided multiples; None if there are none.
    """

    def __init__(
        self,
        problem: Problem,
        wanted: Fraction,
        step: Fraction,
        gap: float | None,
        deadline: float,
    ) -> None:
        self._problem, self._step, self._gap, self._deadline = problem, step, gap, deadline
        self._share = SHARE if math.isfinite(deadline) else 1.0
        self._sign = -1 if problem.utility.is_maximized else 1
        self._wanted, self._failure = self._sign * wanted, ""
        self.out, self.within = -1, -1
        self.unsure: tuple[int, int] | None = None
        self.proof: Solution | None = None
        self.reason = ""
        self._excess: list[tuple[int, float]] = []

    def run(self, most: int, progress: bool | None) -> Solution:
        """Search up to a multiple; return the solution at the one that reaches.

        Raises
        ------
        InfeasibleError
            If all are proved too small.
        SolverError
            If this is undecided.
        """
        with tqdm_bar(progress, desc="reach", unit=" budgets") as bar:
            n, first = 0, min(most, max(1, int(1 / self._step)))
            while (upper := self._try(n, bar)) is None:
                if n == most:
                    raise self._beyond(most)
                n = min(most, 2 * n or first)
            while (following := self._next()) is not None and time_left(self._deadline):
                upper = self._try(following, bar) or upper
        return upper

    def _try(self, n: int, bar: Any) -> Solution | None:
        """Design at a multiple of the step, and move the ends; return a solution that reaches."""
        epsilon, found, reason = n * self._step, None, ""
        reaches = is_out = False
        bar.set_postfix_str(f"epsilon {float(epsilon):.6g}")
        bar.update()
        try:
            there = self._problem.at(epsilon)
            found = design_until(self._deadline, there, self._gap, share=self._share)
            self._excess.append((n, float(self._sign * found.value - self._wanted)))
            reaches = self._sign * found.value <= self._wanted
            is_out = self._sign * found.bound > self._wanted
        except InfeasibleError as error:
            is_out, reason = True, str(error)
        except SolverError as error:
            self._failure = str(error)
        low, high = self.unsure or (n, n)
        if reaches:
            self.within = n
            self.unsure = None if n < high else self.unsure
            return found
        if is_out:
            self.out, self.proof, self.reason = n, found, reason
            self.unsure = None if n > low else self.unsure
        else:
            self.unsure = min(low, n), max(high, n)
        return None

    def _next(self) -> int | None:
        """Return the next multiple to try; None if all are decided."""
        if self.unsure is None:
            return None if self.within - self.out <= 1 else self._guess()
        low, high = self.unsure
        below, above = low - self.out, self.within - high
        if max(below, above) <= 1:
            return None
        return (self.out + low) // 2 if below >= above else (high + self.within) // 2

    def _guess(self) -> int:
        """Return the root of a secant, or regularly the middle."""
        low, high = self.out, self.within
        middle = (low + high) // 2
        if len(self._excess) % 3 == 0 or len(self._excess) < 2:
            return middle
        (a, at_a), (b, at_b) = self._excess[-2:]
        if at_a == at_b:
            return middle
        root = b - at_b * (b - a) / (at_b - at_a)
        # round away from the nearer end, so that the next guess approaches from the other side
        guess = int(root // 1) + (root - low < high - root)
        return min(max(guess, low + 1), high - 1)

    def _beyond(self, most: int) -> InfeasibleError | SolverError:
        """Return the error, with the bounds known at the largest budget."""
        what, side = ("gain", "above") if self._sign < 0 else ("loss", "below")
        what = f"the {what} {short_text(self._sign * self._wanted)}"
        epsilon = f"{float(most * self._step):.12g}"
        if self.out == most:
            told = self.reason
            if self.proof is not None:
                told = f"no private channel is {side} {self.proof.to_json()['bound']:.9g} there"
            return InfeasibleError(f"no epsilon up to {epsilon} reaches {what}: {told}")
        hint = self._failure or "its gap is too wide to tell; ask for a smaller one, or more time"
        return SolverError(f"it is not decided whether epsilon = {epsilon} reaches {what}: {hint}")

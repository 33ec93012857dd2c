"""The inverse of the frontier: the least budget for a given loss, with proof."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from mechdesign.designs.design import check_limits, design_until, time_left
from mechdesign.designs.progress import tqdm_bar
from mechdesign.designs.solution import Solution
from mechdesign.errors import InfeasibleError, InputError, MechdesignError, SolverError, shown
from mechdesign.exact import Exact, as_fraction, short_text
from mechdesign.problem import Problem

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
        return {
            "wanted": float(self.wanted),
            "epsilon": float(self.epsilon),
            "value": float(self.solution.value),
            "unreachable_up_to": None if self.is_free else float(self.below),
            "bound_there": None if self.proof is None else self.proof.float_bound,
            "bound_proved": (self.proof or self.solution).bound_proved,
            "reason": self.reason,
        }

    def __repr__(self) -> str:
        what, side = _words(self.solution.problem)
        lines = [
            f"epsilon = {float(self.epsilon):.12g} reaches the {what} {short_text(self.wanted)}: "
            f"its certified channel has {float(self.solution.value):.9g}"
        ]
        if self.is_free:
            lines.append("no smaller epsilon is needed: the reports do not depend on the input")
        elif self.proof is not None:
            proved = "" if self.proof.bound_proved else ", computed and not proved"
            told = f"no private channel is {side} {self.proof.float_bound:.9g} there{proved}"
            lines.append(f"no epsilon up to {float(self.below):.12g} does: {told}")
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
    with tqdm_bar(progress, desc="reach", unit=" budgets") as bar:
        search = _Search(problem, as_fraction(wanted, "wanted"), step, gap, deadline, bar)
        return search.run(int(largest / step))


@dataclass
class _Search:
    """The search for the first multiple of a step whose best channel is good enough.

    ``tried`` has the answers by multiple, in the order in which they were found. The loss of the
    channel and its bound both decrease with the multiple, up to the gap.
    """

    problem: Problem
    wanted: Fraction
    step: Fraction
    gap: float | None
    deadline: float
    bar: Any
    tried: dict[int, Solution | MechdesignError] = field(default_factory=dict)

    def run(self, most: int) -> Reach:
        """Search up to a multiple."""
        n, first = 0, min(most, max(1, int(1 / self.step)))
        while self._excess(self._try(n), "value") > 0:
            if n == most:
                raise self._beyond(most)
            n = min(most, 2 * n or first)
        _, within = self._narrowed("value")
        out, _ = self._narrowed("bound")
        solution, last = self.tried[within], self.tried.get(out)
        assert not isinstance(solution, MechdesignError)  # noqa: S101 (for mypy)
        proof, reason = (None, str(last)) if isinstance(last, MechdesignError) else (last, "")
        below = max(out, 0) * self.step
        return Reach(self.wanted, within * self.step, solution, below, proof, reason)

    def _try(self, n: int) -> int:
        """Design at a multiple of the step."""
        epsilon, share = n * self.step, SHARE if math.isfinite(self.deadline) else 1.0
        self.bar.set_postfix_str(f"epsilon {float(epsilon):.6g}")
        self.bar.update()
        try:
            there = self.problem.at(epsilon)
            self.tried[n] = design_until(self.deadline, there, self.gap, share=share)
        except (InfeasibleError, SolverError) as error:
            self.tried[n] = error
        return n

    def _excess(self, n: int, key: str) -> Fraction | float:
        """Return the amount by which a loss exceeds the wanted one, or a gain falls short.

        ``key`` is ``"value"``, which is good enough at 0, or ``"bound"``, which proves above 0 that
        no channel is.
        """
        found = self.tried[n]
        if isinstance(found, MechdesignError):
            undecided = key == "bound" and not isinstance(found, InfeasibleError)
            return -math.inf if undecided else math.inf
        sign = -1 if self.problem.utility.is_maximized else 1
        return sign * (Fraction(getattr(found, key)) - self.wanted)

    def _narrowed(self, key: str) -> tuple[int, int]:
        """Return the last multiple with an excess, or -1, and the next one, as time permits."""
        while True:
            high = min(n for n in self.tried if self._excess(n, key) <= 0)
            above = (n for n in self.tried if n < high and self._excess(n, key) > 0)
            low = max(above, default=-1)
            if high - low <= 1 or not time_left(self.deadline):
                return low, high
            self._try(self._guess(key, low, high))

    def _guess(self, key: str, low: int, high: int) -> int:
        """Return the root of a secant, or regularly the middle."""
        excesses = [(n, float(self._excess(n, key))) for n in self.tried]
        known = [(n, excess) for n, excess in excesses if math.isfinite(excess)]
        if len(known) % 3 == 0 or len(known) < 2 or known[-1][1] == known[-2][1]:
            return (low + high) // 2
        (a, at_a), (b, at_b) = known[-2:]
        root = b - at_b * (b - a) / (at_b - at_a)
        # round away from the nearer end, so that the next guess approaches from the other side
        guess = int(root // 1) + (root - low < high - root)
        return min(max(guess, low + 1), high - 1)

    def _beyond(self, most: int) -> MechdesignError:
        """Return the error, with the bounds known at the largest budget."""
        found: Any = self.tried[most]
        word, side = _words(self.problem)
        epsilon, what = f"{float(most * self.step):.12g}", f"the {word} {short_text(self.wanted)}"
        if self._excess(most, "bound") > 0:
            if not isinstance(found, MechdesignError):
                found = f"no private channel is {side} {found.float_bound:.9g} there"
            return InfeasibleError(f"no epsilon up to {epsilon} reaches {what}: {found}")
        if not isinstance(found, MechdesignError):
            found = "its gap is too wide to tell; ask for a smaller one, or more time"
        return SolverError(f"it is not decided whether epsilon = {epsilon} reaches {what}: {found}")


def _words(problem: Problem) -> tuple[str, str]:
    """Return the name of the objective, and the side of better values."""
    return ("gain", "above") if problem.utility.is_maximized else ("loss", "below")

"""Bisection among budgets, by certified designs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from mechdesign.designs.design import Series
from mechdesign.designs.progress import tqdm_bar
from mechdesign.designs.solution import Solution
from mechdesign.errors import InfeasibleError, SolverError, UnsupportedError
from mechdesign.exact import short_text
from mechdesign.notions import AsymmetricLift
from mechdesign.problem import Problem

__all__ = ["Search"]

SHARE = 0.25
"""Of the time left, for one budget: the next ones need some too."""


class Search:
    """Search among the multiples of a step for the first whose best channel is good enough.

    Parameters
    ----------
    problem
        With one notion that has an epsilon.
    wanted
        The loss to stay within, or the gain to reach.
    step
        In nats: budgets are numbered by it.
    steps
        What designs at a budget.

    Attributes
    ----------
    out
        The largest number known to be out of reach; -1 before there is one.
    within
        The smallest number known to reach.
    unsure
        The ends of those between that were not decided; None where there are none.
    proof, reason
        The solution at ``out``, or why no channel is private there.
    """

    def __init__(self, problem: Problem, wanted: Fraction, step: Fraction, steps: Series) -> None:
        self._problem, self._wanted, self._step, self._steps = problem, wanted, step, steps
        self._share = SHARE if math.isfinite(steps.left) else 1.0
        self._sign = -1 if problem.utility.is_maximized else 1
        self.out, self.within = -1, -1
        self.unsure: tuple[int, int] | None = None
        self.proof: Solution | None = None
        self.reason, self._failure = "", ""
        self._excess: list[tuple[int, float]] = []

    def run(self, most: int, progress: bool | None) -> Solution:
        """Search up to a number; return the solution at the one that reaches.

        Raises
        ------
        InfeasibleError
            If it is proved that none does.
        SolverError
            If it is not decided.
        """
        with tqdm_bar(progress, desc="reach", unit=" budgets") as bar:
            self._check_possible(self._problem.at(most * self._step))
            first = min(most, max(1, int(1 / self._step)))
            n = 0
            while (upper := self._try(n, bar)) is None:
                if n == most:
                    raise self._beyond(most)
                n = min(most, 2 * n or first)
            while (following := self._next()) is not None and self._steps.left:
                found = self._try(following, bar)
                upper = upper if found is None else found
        return upper

    def _check_possible(self, problem: Problem) -> None:
        """Raise if what is wanted is out of reach even where the notion with an epsilon is left."""
        kept = [notion for notion in problem.privacy if not notion.has_epsilon]
        prior, outputs = problem.prior, problem.outputs
        notions = [AsymmetricLift("inf", "inf"), *kept]
        try:
            best = self._steps.design(
                Problem(problem.domain, notions, problem.utility, prior=prior, outputs=outputs)
            )
        except (SolverError, UnsupportedError):
            return  # the largest budget will tell
        if self._is_out(best):
            other = "the other notions alone leave" if kept else "without any privacy there is"
            raise InfeasibleError(
                f"no epsilon reaches {self._what()}: {other} no channel "
                f"{self._side()} {best.to_json()['bound']:.9g}"
            )

    def _try(self, n: int, bar: Any) -> Solution | None:
        """Design at a multiple of the step, and move the ends; return what reaches."""
        epsilon = n * self._step
        bar.set_postfix_str(f"epsilon {float(epsilon):.6g}")
        bar.update()
        try:
            found: Solution = self._steps.design(self._problem.at(epsilon), self._share)
        except InfeasibleError as error:
            self._set_out(n, None, str(error))
            return None
        except SolverError as error:
            self._failure = str(error)
            self._set_unsure(n)
            return None
        self._excess.append((n, float(self._sign * (found.value - self._wanted))))
        if self._sign * found.value <= self._sign * self._wanted:
            self.within = n
            if self.unsure is not None and n < self.unsure[1]:
                self.unsure = None
            return found
        if self._is_out(found):
            self._set_out(n, found, "")
        else:
            self._set_unsure(n)
        return None

    def _is_out(self, found: Solution) -> bool:
        return self._sign * found.bound > self._sign * self._wanted

    def _set_out(self, n: int, proof: Solution | None, reason: str) -> None:
        self.out, self.proof, self.reason = n, proof, reason
        if self.unsure is not None and n > self.unsure[0]:
            self.unsure = None

    def _set_unsure(self, n: int) -> None:
        low, high = self.unsure or (n, n)
        self.unsure = min(low, n), max(high, n)

    def _next(self) -> int | None:
        """Return where to look next; None if nothing is left to decide."""
        if self.unsure is None:
            return None if self.within - self.out <= 1 else self._guess()
        low, high = self.unsure
        below, above = low - self.out, self.within - high
        if max(below, above) <= 1:
            return None
        return (self.out + low) // 2 if below >= above else (high + self.within) // 2

    def _guess(self) -> int:
        """Return where a secant meets what is wanted, now and then the middle."""
        low, high = self.out, self.within
        middle = (low + high) // 2
        if len(self._excess) % 3 == 0 or len(self._excess) < 2:
            return middle
        (a, at_a), (b, at_b) = self._excess[-2:]
        if at_a == at_b:
            return middle
        root = b - at_b * (b - a) / (at_b - at_a)
        # rounded away from the nearer end, so that the next one closes in from the other side
        guess = int(root // 1) + (root - low < high - root)
        return min(max(guess, low + 1), high - 1)

    def _beyond(self, most: int) -> InfeasibleError | SolverError:
        """Return the error, with the bounds known at the largest budget."""
        epsilon = f"{float(most * self._step):.12g}"
        if self.out == most:
            told = self.reason
            if self.proof is not None:
                bound = self.proof.to_json()["bound"]
                told = f"no private channel is {self._side()} {bound:.9g} there"
            return InfeasibleError(f"no epsilon up to {epsilon} reaches {self._what()}: {told}")
        hint = self._failure or "its gap is too wide to tell; ask for a smaller one, or more time"
        return SolverError(
            f"it is not decided whether epsilon = {epsilon} reaches {self._what()}: {hint}"
        )

    def _what(self) -> str:
        what = "gain" if self._sign < 0 else "loss"
        return f"the {what} {short_text(self._wanted)}"

    def _side(self) -> str:
        return "above" if self._sign < 0 else "below"

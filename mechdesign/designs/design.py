"""One call that solves a problem, repairs the channel and certifies both.

problem -> rows and cost -> raw channel and dual variables -> exact channel -> certified solution
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, overload

from mechdesign.continuous.problem import ContinuousProblem
from mechdesign.designs.answers import SolutionPool
from mechdesign.designs.progress import GapBar
from mechdesign.designs.solution import Solution
from mechdesign.errors import InputError, MechdesignError, SolverError, UnsupportedError, shown
from mechdesign.problem import Problem
from mechdesign.search import AUTO, NOISE, Attempt, RejectedRoute, plan
from mechdesign.search.coarse.route import is_too_large
from mechdesign.search.limits import OPTIMAL, Limits, Progress, available_memory
from mechdesign.search.starts.route import Start

if TYPE_CHECKING:
    from mechdesign.designs.continuous.solution import ContinuousSolution
    from mechdesign.designs.noise.solution import NoiseSolution
    from mechdesign.search.conic.user_terms import UserTerms

__all__ = ["check_limits", "design"]

ENTRY_SECONDS = 4e-6
"""Seconds that each entry of a matrix takes at least, to be repaired and proved private."""


@overload
def design(
    problem: Problem,
    *,
    route: str = ...,
    gap: float | None = ...,
    time_limit: float | None = ...,
    memory_limit: float | None = ...,
    progress: bool | Callable[[Progress], None] = ...,
    symmetries: Iterable[Sequence[Any]] | None = ...,
    constraints: Iterable[Any] = ...,
    objective: Any = ...,
) -> Solution: ...


@overload
def design(
    problem: ContinuousProblem,
    *,
    route: str = ...,
    gap: float | None = ...,
    time_limit: float | None = ...,
    memory_limit: float | None = ...,
    progress: bool | Callable[[Progress], None] = ...,
) -> ContinuousSolution: ...


def design(
    problem: Problem | ContinuousProblem,
    *,
    route: str = "auto",
    gap: float | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    progress: bool | Callable[[Progress], None] = False,
    symmetries: Iterable[Sequence[Any]] | None = None,
    constraints: Iterable[Any] = (),
    objective: Any = None,
) -> Solution | ContinuousSolution:
    """Design the best private channel for a problem, and prove both.

    Parameters
    ----------
    problem
        What to keep secret and what to keep useful. For a
        :class:`~mechdesign.ContinuousProblem` the interval is divided into more and more cells, and
        what comes back is a :class:`~mechdesign.designs.continuous.solution.ContinuousSolution`.
    route
        ``"auto"`` to let the router choose, or one of ``"closed-form"``, ``"columns"``,
        ``"coarse"``, ``"interior"``, ``"linear-program"``, ``"decoder-grid"``, ``"extreme-rays"``,
        ``"estimation"``, ``"readings"``, ``"conic"`` and ``"cvxpy:NAME"`` for a solver that cvxpy
        knows. Whatever the route, the channel is repaired and certified in the same way. With
        ``"noise"``, and by itself for Euclidean grids beyond 24 x 24 points, the channel is a
        structured mechanism.
    gap
        A gap that is small enough: iterative routes stop there. Default: as small as rounding
        allows, about 1e-8; 0.01 for a continuous problem.
    time_limit
        Seconds. An iterative route stops soon after, and the best channel and the best bound so
        far are certified; the gap is then their distance. The first Ctrl-C does the
        same; a second one interrupts as usual.
    memory_limit
        Bytes; default half of the machine's. A route that is known to need more is not tried, and
        the report says how much it needs.
    progress
        True for a bar on standard error, or a function to call with each
        :class:`~mechdesign.search.limits.Progress`.
    symmetries
        Permutations of the inputs that change nothing: neither the notions nor the prior nor the
        loss. Each lists, for every input in order, the input that takes its place. They are checked
        exactly. Those of grids and lines, and interchangeable inputs, are found without being
        named.
    constraints
        Constraints of your own, in cvxpy, on ``problem.Q`` and ``problem.output_distribution``. The
        channel is private exactly; your constraints hold to what the report says.
    objective
        An objective of your own, ``cp.Minimize(...)``, ``cp.Maximize(...)`` or an expression to be
        minimized, in place of the problem's utility.

    Returns
    -------
    Solution
        Its channel satisfies every notion exactly; its bound is rigorous, or, with terms of your
        own, computed in floating point. A
        :class:`~mechdesign.designs.noise.solution.NoiseSolution` where the channel is noise.

    Raises
    ------
    InputError, UnsupportedError
        If the route does not exist or does not solve such a problem.
    SolverError
        If every attempt failed, and the best channel that ignores its input will not do: the loss
        is infinite there, or constraints of your own are not met.

    Examples
    --------
    >>> from mechdesign.notions import LIP
    >>> from mechdesign.utilities import PosteriorMeanSquaredError
    >>> survey = Problem(["yes", "no"], LIP(1), PosteriorMeanSquaredError(values=[1, 0]),
    ...                  prior=[0.1, 0.9])
    >>> solution = design(survey)
    >>> solution.status, round(float(solution.value), 7), solution.route
    ('optimal', 0.0791384, 'closed-form: binary universal')

    With a constraint of your own, that the reports are distributed as the answers are:

    >>> from mechdesign.utilities import HammingLoss
    >>> survey = Problem(["yes", "no"], LIP(1), HammingLoss(), prior=[0.1, 0.9])
    >>> fair = design(survey, constraints=[survey.output_distribution == [0.1, 0.9]])
    >>> fair.status, round(float(fair.value), 6), fair.bound_proved
    ('optimal', 0.145634, False)
    """
    if isinstance(problem, ContinuousProblem):
        own_terms = {"constraints": tuple(constraints), "objective": objective}
        others = {"symmetries": symmetries, **own_terms}
        with _limits(gap, time_limit, memory_limit, progress) as limits:
            return _continuous(problem, route, gap, limits, others)
    check_problem(problem)
    own = _own_terms(problem, constraints, objective)
    if own is None and symmetries is None and _asks_for_noise(problem, route):
        from mechdesign.designs.noise.design import design_noise  # scipy on demand

        try:
            with _limits(gap, time_limit, memory_limit, progress) as limits:
                return design_noise(problem, limits, _part(limits))
        except MechdesignError:
            if route == NOISE or not problem.is_written_out:
                raise  # else its budget is none for noise
    problem, noise = problem if own is None else own.problem, None
    with _limits(gap, time_limit, memory_limit, progress) as limits:
        _check_time(problem, route, limits)
        if own is None and symmetries is None:
            noise = _noise_first(problem, route, limits)
        answers, considered = _answers(problem, route, limits, own, symmetries)
    best = answers.best
    notes = [] if own is None or best is None else own.notes(best.channel)
    found = answers.solution(considered, notes)
    return noise.bounded_by(found) if noise and noise.value < found.value else found


def _check_time(problem: Problem, route: Any, limits: Limits) -> None:
    """Refuse at once what is so large that even the simplest channel takes far too long."""
    if problem.utility.linear_form is None or math.isinf(limits.seconds):
        return
    k, n = len(problem.domain), len(problem.guesses)
    most = int(limits.longest / ENTRY_SECONDS)
    if k * n > most and not _asks_for_noise(problem, route):
        size, least = f"{k:,} inputs and {n:,} outputs", k * n * ENTRY_SECONDS
        raise SolverError(
            f"a matrix of {size} takes about {least:.0f} s: "
            f"for a time limit of {limits.seconds:g} s it may have {most:,} entries"
        )


def _noise_first(problem: Problem, route: Any, limits: Limits) -> NoiseSolution | None:
    """Return noise with a remap, where a search is sure to be long; it may be better than that."""
    is_limited = isinstance(route, str) and route == AUTO and math.isfinite(limits.seconds)
    if not (is_limited and problem.suits_noise and Start().is_first(problem)):
        return None
    from mechdesign.designs.noise.design import design_noise  # scipy on demand

    try:
        return design_noise(problem, limits)
    except MechdesignError:  # its budget is none for noise
        return None


def _asks_for_noise(problem: Problem, route: Any) -> bool:
    """Return whether noise is named, or is what the router takes."""
    if not isinstance(route, str) or route not in (AUTO, NOISE):
        return False
    return route == NOISE or (problem.suits_noise and is_too_large(problem))


def _continuous(
    problem: ContinuousProblem,
    route: str,
    gap: float | None,
    limits: Limits,
    others: dict[str, Any],
) -> ContinuousSolution:
    """Design for a continuous input: finite programs are designed as any other problem."""
    from mechdesign.designs.continuous.search import design_continuous

    for key, given in others.items():
        if given:
            raise UnsupportedError(key, "none for a continuous problem", shown(given))

    return design_continuous(problem, limits, gap, _part(limits, route))


def _part(limits: Limits, route: str = AUTO) -> Callable[[Problem, float, float], Solution]:
    """Return what designs for a smaller problem with a gap, in so many seconds."""

    def part(program: Problem, gap: float, seconds: float) -> Solution:
        limit = None if math.isinf(seconds) else max(seconds, 0.1)
        memory = limits.memory if math.isfinite(limits.memory) else None
        return design(program, route=route, gap=gap, time_limit=limit, memory_limit=memory)

    return part


def check_limits(
    gap: float | None, time_limit: float | None = None, memory_limit: float | None = None
) -> None:
    """Check what may end a search; None is no limit.

    Raises
    ------
    InputError
        If one of them is no number above 0.
    """
    for key, given, least in (
        ("gap", gap, "> 0"),
        ("time_limit", time_limit, "> 0, in seconds"),
        ("memory_limit", memory_limit, "> 0, in bytes"),
    ):
        number = isinstance(given, int | float) and not isinstance(given, bool)
        if given is not None and not (number and 0 < given < math.inf):
            raise InputError(key, f"a number {least}", shown(given))


@contextmanager
def _limits(
    gap: float | None,
    time_limit: float | None,
    memory_limit: float | None,
    progress: bool | Callable[[Progress], None],
) -> Iterator[Limits]:
    """Check what ends the search, and let Ctrl-C end it too."""
    check_limits(gap, time_limit, memory_limit)
    limits = Limits(OPTIMAL if gap is None else gap, time_limit or math.inf)
    limits.memory = memory_limit or available_memory() / 2
    with limits.hold():
        if progress is True:
            with GapBar(limits.gap, shown=True) as bar:
                limits.watch = bar
                yield limits
        else:
            limits.watch = progress or None
            yield limits


def _answers(
    problem: Problem,
    route: str,
    limits: Limits,
    own: UserTerms | None,
    symmetries: Iterable[Sequence[Any]] | None,
) -> tuple[SolutionPool, list[RejectedRoute]]:
    """Try one route after the other until an answer is good enough."""
    answers, considered, symmetry = SolutionPool(problem, limits), list[RejectedRoute](), None
    if symmetries is not None:
        from mechdesign.search.presolve.find_symmetries import given_symmetries  # scipy on demand

        symmetry = given_symmetries(problem, symmetries)
    if own is None:
        attempts = plan(problem, route, considered, symmetry, limits.memory)
    else:
        custom = own.route(route)
        attempts = iter([Attempt(custom, custom.check(problem).reason)])
    answers.run(attempts, Start(None if own is None else own.constraints))
    return answers, considered


def check_problem(given: object) -> None:
    """Raise InputError unless what is given is a problem."""
    if not isinstance(given, Problem):
        hint = "as in Problem(inputs, notion, utility, prior=...)"
        raise InputError("problem", "a Problem", shown(given), hint)


def _own_terms(problem: Problem, constraints: Iterable[Any], objective: Any) -> UserTerms | None:
    """Return the terms of the user's own, None if there are none."""
    try:
        listed = tuple(constraints)
    except TypeError:
        expected = "a list of cvxpy constraints"
        raise InputError("constraints", expected, shown(constraints)) from None
    if objective is None and not listed:
        return None
    from mechdesign.search.conic.user_terms import UserTerms  # cvxpy on demand

    return UserTerms(problem, listed, objective)

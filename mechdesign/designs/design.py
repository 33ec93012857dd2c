"""Design of a problem in one call: solve, repair and certify; and repair of a user's own matrix.

problem -> rows and cost -> raw channel and dual variables -> exact channel -> certified solution
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel
from mechdesign.continuous.problem import ContinuousProblem
from mechdesign.designs.answers import SolutionPool
from mechdesign.designs.progress import GapBar
from mechdesign.designs.solution import EARLY, Solution
from mechdesign.domain import Label
from mechdesign.errors import (
    InputError,
    MechdesignError,
    SolverError,
    UnsupportedError,
    shown,
    shown_kind,
)
from mechdesign.labels import aligned, split_matrix
from mechdesign.problem import Problem
from mechdesign.search import AUTO, NOISE, RawSolution, RejectedRoute, plan
from mechdesign.search.conic.route import Cvxpy
from mechdesign.search.limits import OPTIMAL, Limits, Progress, available_memory
from mechdesign.search.routes import is_too_large
from mechdesign.search.starts.route import Start

if TYPE_CHECKING:
    from mechdesign.search.conic.user_terms import UserTerms

LEAST_SECONDS = 0.1
"""The least time of a part of a design when the time is nearly over."""

ENTRY_SECONDS = 4e-6
"""Least seconds per entry of a matrix for repair and proof of privacy."""

LISTED_SECONDS = 2e-5
"""The same where the loss is a matrix of numbers, which a file lists."""

TOLERANCE = 1e-4
"""Largest deviation of entries below 0 and of row sums from 1: more than that of solvers."""

FAR = 1e-3
"""A larger repair is reported as another channel rather than as rounding."""


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
) -> Solution:
    """Design the best private channel for a problem, and prove both.

    Parameters
    ----------
    problem
        The privacy requirement and the utility. For a :class:`~mechdesign.ContinuousProblem` the
        interval is divided into more and more cells.
    route
        ``"auto"`` for the router's choice, or one of ``"closed-form"``, ``"columns"``,
        ``"coarse"``, ``"interior"``, ``"linear-program"``, ``"decoder-grid"``, ``"extreme-rays"``,
        ``"estimation"``, ``"readings"``, ``"conic"`` and ``"cvxpy:NAME"`` for a solver of cvxpy.
        The channel is repaired and certified in the same way for every route. With ``"noise"``, and
        by default for Euclidean grids beyond 24 x 24 points, the channel is a structured mechanism.
    gap
        The gap at which iterative routes stop. Default: as small as rounding allows, about 1e-8;
        0.01 for a continuous problem.
    time_limit
        Seconds. An iterative route stops soon after, and the best channel and the best bound so far
        are certified, with a larger gap. The first Ctrl-C has the same effect; a second one
        interrupts as usual.
    memory_limit
        Bytes; default half of the machine's memory. Routes known to need more are skipped, and the
        report has their requirement.
    progress
        True for a bar on standard error, or a function that is called with each
        :class:`~mechdesign.search.limits.Progress`.
    symmetries
        Permutations of the inputs that leave the notions, the prior and the loss invariant. Each
        lists the image of every input in order. They are checked exactly. Symmetries of grids and
        lines, and interchangeable inputs, are detected automatically.
    constraints
        Your own constraints, in cvxpy, on ``problem.Q`` and ``problem.output_distribution``. The
        channel is private exactly; your constraints hold up to a tolerance in the report.
    objective
        Your own objective, ``cp.Minimize(...)``, ``cp.Maximize(...)`` or an expression to be
        minimized, in place of the problem's utility.

    Returns
    -------
    Solution
        The channel satisfies every notion exactly; the bound is rigorous, or, with your own terms,
        computed in floating point. Noise is a
        :class:`~mechdesign.mechanisms.lattice_noise.LatticeNoise`.

    Raises
    ------
    InputError, UnsupportedError
        If the route does not exist or does not support the problem.
    SolverError
        If every attempt failed, and so does the best channel that ignores its input: the loss is
        infinite there, or your own constraints are violated.

    Examples
    --------
    >>> from mechdesign.notions import LIP
    >>> from mechdesign.utilities import PosteriorMeanSquaredError
    >>> survey = Problem(["yes", "no"], LIP(1), PosteriorMeanSquaredError(values=[1, 0]),
    ...                  prior=[0.1, 0.9])
    >>> solution = design(survey)
    >>> solution.status, round(float(solution.value), 7), solution.route
    ('optimal', 0.0791384, 'closed-form: binary universal')

    With your own constraint that the reports have the distribution of the answers:

    >>> from mechdesign.utilities import HammingLoss
    >>> survey = Problem(["yes", "no"], LIP(1), HammingLoss(), prior=[0.1, 0.9])
    >>> fair = design(survey, constraints=[survey.output_distribution == [0.1, 0.9]])
    >>> fair.status, round(float(fair.value), 6), fair.bound_proved
    ('optimal', 0.145634, False)
    """
    own, symmetry = None, None
    if isinstance(problem, ContinuousProblem):
        others = {"symmetries": symmetries, "constraints": constraints, "objective": objective}
        for key, given in others.items():
            if given:
                raise UnsupportedError(key, "none for a continuous problem", shown(given))
    else:
        own = _own_terms(problem, constraints, objective)
        if symmetries is not None:
            # imports scipy
            from mechdesign.search.presolve.symmetry import given_symmetries

            symmetry = given_symmetries(problem, symmetries)
    check_limits(gap, time_limit, memory_limit)
    limits = limits_of(gap, time_limit or math.inf, memory_limit)
    limits.symmetry = symmetry
    bar = GapBar(limits.gap, shown=True) if progress is True else nullcontext(progress or None)
    with limits.hold(), bar as limits.watch:
        return designed(problem, limits, route, gap, own)


def certify(
    problem: Problem,
    matrix: Any,
    *,
    reference: Solution | None = None,
    gap: float | None = None,
    time_limit: float | None = None,
) -> Solution:
    """Repair a matrix of your own to be exactly private; prove its value and a bound.

    Columns keep their labels, even if a remap would be better. The bound is the best that
    :func:`~mechdesign.design` proves within the limits; it holds for every private channel, for any
    matrix; no channel improves on the value by more than the gap.

    Parameters
    ----------
    problem
        The notions, the utility and the prior.
    matrix
        ``(n_inputs, n_outputs)`` probabilities up to a solver's tolerance, such as
        ``problem.Q.value``. A Channel, a DataFrame or a dict of dicts counts by label: its rows are
        the inputs, its columns a subset of the allowed outputs. Other matrices count by position.
    reference
        A solution of the same problem, whose certificate proves the bound without a search.
        Default: the problem is designed.
    gap, time_limit
        As for :func:`~mechdesign.design`, for the bound.

    Returns
    -------
    Solution
        The solution with the repaired matrix as its channel, and a note with the size of the
        repair.

    Raises
    ------
    InputError
        If the matrix is not a channel on these inputs and outputs, up to 1e-4, or the reference is
        a solution of another problem.
    SolverError
        If no bound is found.

    Examples
    --------
    Rounded probabilities violate ln 3-LDP; the certified channel satisfies it.

    >>> from mechdesign import LDP, HammingLoss
    >>> survey = Problem(["yes", "no"], LDP("1.0986"), HammingLoss())
    >>> found = certify(survey, {"yes": {"yes": 0.7501, "no": 0.2499},
    ...                          "no": {"yes": 0.25, "no": 0.75}})
    >>> found.status, round(float(found.value), 4), found.privacy[0].leakage <= 1.0986
    ('bounded', 0.25, True)
    """
    check_problem(problem)
    check_limits(gap, time_limit)
    Q, outputs = _aligned(problem, matrix)
    if reference is None:
        reference = design(problem, gap=gap, time_limit=time_limit)
    check_problem(getattr(reference, "problem", None))
    if reference.problem.to_table() != problem.to_table():
        raise InputError("reference", "a solution of the same problem", "that of another")
    certificate = reference.certificate
    raw = RawSolution(
        matrix=Q,
        outputs=outputs,
        proofs=() if certificate is None else (lambda _: certificate,),
        route="a matrix of your own",
        numeric_bound=None if reference.bound_proved else reference.bound,
    )
    why = f"it was given; the bound is by {reference.route}"
    answers = SolutionPool(problem, Limits())
    answers.take(raw, why, as_given=True)
    found = answers.solution(notes=[n for n in reference.notes if EARLY in n])
    kept = answers.best.kept if answers.best else []
    moved = abs(found.channel.matrix - Q[:, kept]).max()
    note = f"the repair moved no probability by more than {moved:.1e}"
    if not moved:
        note = "the matrix is private: the repair changed nothing"
    elif moved > FAR:
        note = f"the matrix is not private: the repair changed probabilities by up to {moved:.2g}"
    return replace(found, notes=(*found.notes, note))


def _aligned(problem: Problem, given: Any) -> tuple[FloatArray, tuple[Label, ...]]:
    """Return the matrix in the order of the inputs, and the labels of its columns."""
    if given is None or hasattr(given, "is_dcp"):
        hint = "pass Q.value; it is None until cvxpy has solved the program"
        raise InputError("matrix", "a matrix of numbers", shown_kind(given), hint)
    if isinstance(given, Channel):
        by_row = zip(given.inputs, given.matrix.tolist(), strict=True)
        given = {x: dict(zip(given.outputs, row, strict=True)) for x, row in by_row}
    rows, inputs, outputs = split_matrix(
        given, "matrix", "a matrix: a list of rows", "a list of probabilities"
    )
    if inputs is not None:
        rows = aligned(rows, inputs, problem.domain.labels, "matrix, rows")
    try:
        Q = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("matrix", "numbers in rows of one length", shown(rows)) from None
    allowed: Sequence[Label] | None = problem.outputs
    width = Q.shape[1] if Q.ndim == 2 else 0
    named: tuple[Sequence[Label] | None, ...] = (outputs, allowed)
    labels = next((known for known in named if known is not None), range(width))
    shape = (len(problem.domain), len(labels))
    if Q.shape != shape:
        raise InputError("matrix", f"a matrix of shape {shape}", f"one of shape {Q.shape}")
    off = max(-Q.min(), abs(Q.sum(axis=1) - 1).max())
    if not off <= TOLERANCE:  # NaN fails
        expected = f"entries >= 0 in rows that sum to 1, up to {TOLERANCE}"
        raise InputError("matrix", expected, f"one that is off by {off:.2g}")
    if allowed is None:
        return Q, tuple(labels)
    strange = [label for label in labels if label not in allowed]
    if strange:
        expected = f"outputs among {shown(list(allowed))}"
        raise InputError("matrix, columns", expected, shown(strange[0]))
    order = sorted(range(width), key=lambda y: allowed.index(labels[y]))
    return Q[:, order], tuple(labels[y] for y in order)


def designed(
    problem: Problem | ContinuousProblem,
    limits: Limits,
    route: str = AUTO,
    gap: float | None = None,
    own: UserTerms | None = None,
) -> Solution:
    """Design a problem within limits, with the user's own terms if there are any."""
    if isinstance(problem, ContinuousProblem):
        from mechdesign.designs.continuous import design_continuous

        return design_continuous(problem, limits, gap, _part(limits, route))
    check_problem(problem)
    noise, custom, considered = None, None, list[RejectedRoute]()
    if own is not None:
        problem, custom = own.problem, Cvxpy.of_terms(route, own.constraints)
    elif limits.symmetry is None:
        noise = _noise(problem, route, limits)
        if noise is not None and _asks_for_noise(problem, route):
            return noise
    _check_time(problem, limits)
    answers = SolutionPool(problem, limits)
    attempts = plan(problem, route, limits, considered)
    if custom is not None:
        attempts = iter([(custom, custom.suits(problem) or "")])
    answers.run(attempts, Start(own.constraints if own else None))
    notes = [] if own is None or answers.best is None else own.notes(answers.best.channel)
    found = answers.solution(considered, notes)
    if noise is None or noise.value >= found.value:
        return found
    if found.certificate is None or found.bound <= noise.bound:
        return noise
    told = [note for note in found.notes if "outputs allowed" not in note]
    return replace(
        noise,
        bound=found.bound,
        certificate=found.certificate,
        notes=(*noise.notes, f"the bound is by {found.route}", *told),
        seconds=found.seconds,
    )


def _check_time(problem: Problem, limits: Limits) -> None:
    """Reject a problem that is too large even for the simplest channel in the time limit."""
    form = problem.utility.linear_form
    if form is None or math.isinf(limits.seconds):
        return
    k, n = len(problem.domain), len(problem.guesses)
    each = LISTED_SECONDS if form.is_listed else ENTRY_SECONDS
    most = int(limits.longest / each)
    if k * n > most:
        size, least = f"{k:,} inputs and {n:,} outputs", k * n * each
        raise SolverError(
            f"a matrix of {size} takes about {least:.0f} s: "
            f"for a time limit of {limits.seconds:g} s it may have {most:,} entries"
        )


def _noise(problem: Problem, route: Any, limits: Limits) -> Solution | None:
    """Return noise with a remap, if it is requested, or if a search is surely long.

    None otherwise, and if the budget does not suit noise.
    """
    is_asked = _asks_for_noise(problem, route)
    is_limited = isinstance(route, str) and route == AUTO and math.isfinite(limits.seconds)
    if not (is_asked or (is_limited and problem.suits_noise and Start().is_first(problem))):
        return None
    from mechdesign.designs.noise import design_noise  # imports scipy

    try:
        return design_noise(problem, limits, _part(limits) if is_asked else None)
    except MechdesignError:
        if is_asked and (route == NOISE or not problem.is_written_out):
            raise
        return None


def _asks_for_noise(problem: Problem, route: Any) -> bool:
    """Return whether noise is requested, or the router's choice."""
    if not isinstance(route, str) or route not in (AUTO, NOISE):
        return False
    return route == NOISE or (problem.suits_noise and is_too_large(problem))


def _part(limits: Limits, route: str = AUTO) -> Callable[[Problem, float, float], Solution]:
    """Return a function that designs smaller problems with a gap and a time limit."""

    def part(program: Problem, gap: float, seconds: float) -> Solution:
        within = limits.part()
        within.gap, within.seconds = gap, max(seconds, LEAST_SECONDS)
        return designed(program, within, route)

    return part


def time_left(deadline: float) -> float:
    """Return the seconds until a deadline on the system clock, at least 0."""
    return max(0.0, deadline - time.time())


def design_until(
    deadline: float,
    problem: Problem | ContinuousProblem,
    gap: float | None = None,
    route: str = AUTO,
    share: float = 1.0,
) -> Solution:
    """Design a problem in a share of the time until a deadline, which all processes share.

    A search that Ctrl-C has ended raises KeyboardInterrupt, which ends a whole series of designs.
    """
    limits = limits_of(gap, max(time_left(deadline) * share, LEAST_SECONDS / 100))
    with limits.hold():
        found = designed(problem, limits, route, gap)
    if limits.interrupted:
        raise KeyboardInterrupt
    return found


def check_limits(
    gap: float | None, time_limit: float | None = None, memory_limit: float | None = None
) -> None:
    """Check the limits of a search; None for no limit."""
    for key, given, least in (
        ("gap", gap, "> 0"),
        ("time_limit", time_limit, "> 0, in seconds"),
        ("memory_limit", memory_limit, "> 0, in bytes"),
    ):
        number = isinstance(given, int | float) and not isinstance(given, bool)
        if given is not None and not (number and 0 < given < math.inf):
            raise InputError(key, f"a number {least}", shown(given))


def limits_of(gap: float | None, seconds: float, memory: float | None = None) -> Limits:
    """Return the limits of a design; None for the defaults."""
    memory = available_memory() / 2 if memory is None else memory
    return Limits(OPTIMAL if gap is None else gap, seconds, memory=memory)


def check_problem(given: object) -> None:
    """Raise InputError unless the argument is a problem."""
    if isinstance(given, ContinuousProblem):
        fault = "this needs inputs that are labels, not an interval or a box"
        raise InputError("problem", "a Problem", shown_kind(given), fault=fault)
    if not isinstance(given, Problem):
        hint = "as in Problem(inputs, notion, utility, prior=...)"
        raise InputError("problem", "a Problem", shown(given), hint)


def _own_terms(problem: Problem, constraints: Iterable[Any], objective: Any) -> UserTerms | None:
    """Return the user's own terms; None if there are none."""
    try:
        listed = tuple(constraints)
    except TypeError:
        expected = "a list of cvxpy constraints"
        raise InputError("constraints", expected, shown(constraints)) from None
    if objective is None and not listed:
        return None
    from mechdesign.search.conic.user_terms import UserTerms  # imports cvxpy

    return UserTerms(problem, listed, objective)

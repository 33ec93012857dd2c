"""Repair of a user's own matrix to an exactly private channel, with a proved gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel
from mechdesign.designs.answers import SolutionPool
from mechdesign.designs.design import check_limits, check_problem, design
from mechdesign.designs.solution import EARLY, Solution
from mechdesign.domain import Label
from mechdesign.errors import InputError, shown, shown_kind
from mechdesign.labels import aligned, split_matrix
from mechdesign.problem import Problem
from mechdesign.search import RawSolution
from mechdesign.search.limits import Limits

TOLERANCE = 1e-4
"""Largest deviation of entries below 0 and of row sums from 1: more than that of solvers."""

FAR = 1e-3
"""A larger repair is reported as another channel rather than as rounding."""


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

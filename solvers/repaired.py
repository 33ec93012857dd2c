"""Repair of a solver's matrix: an exactly private channel, and its value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign.channel import Channel
from mechdesign.problem import Problem
from mechdesign.repair import mixed, repair


def repaired(problem: Problem, matrix: npt.NDArray[Any]) -> tuple[Channel, float]:
    """Return the exactly private channel next to a matrix, and its loss or gain.

    Parameters
    ----------
    problem
        What the matrix was designed for.
    matrix
        ``(n_inputs, n_outputs)`` floats, a channel up to a solver's tolerance.

    Examples
    --------
    >>> from problems.families import randomized_response
    >>> coin = randomized_response(2, epsilon=0.5)
    >>> nearly = np.array([[0.6225, 0.3775], [0.3775, 0.6225]])  # leaks 0.5002
    >>> channel, loss = repaired(coin, nearly)
    >>> round(loss, 6), round(float(channel.matrix[0, 0]), 6)
    (0.377549, 0.622451)
    """
    rows, kept = repair(problem.cone, np.asarray(matrix, dtype=float))
    if not problem.is_conic:
        rows = mixed(problem.cone, problem.channel_constraints, rows, problem.prior)
    allowed = problem.outputs
    labels = list(range(len(kept))) if allowed is None else [allowed[y] for y in kept]
    channel = Channel(rows, inputs=problem.domain, outputs=labels)
    return channel, float(problem.utility.value(channel, problem.prior, allowed))

"""Representatives on large lattices, with rectangles of outputs.

Inputs are points of a lattice, and losses and budgets depend on the steps between two points. No
array is quadratic in their number: candidates for representatives are the likeliest inputs, and a
sparse regular subset; and an output of the program is a rectangle of points, which costs at every
input as much as its nearest point (:mod:`mechdesign.kernel.relaxations.grids`). Rectangles that the
program uses, or that are too cheap, are divided into four for the next round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.kernel.generators import Distance, Ratio
from mechdesign.notions import MetricPrivacy
from mechdesign.notions.rows.cone import Cone
from mechdesign.notions.rows.of_generators import family_of
from mechdesign.problem import Problem
from mechdesign.search.coarse.representatives import (
    CoarseBound,
    CoarseProgram,
    chosen,
    coarse_bound,
    refined,
)
from mechdesign.search.limits import Limits

AT_ONCE = 2 * 10**7
"""Entries of losses in memory at a time."""

MOST_CANDIDATES, A_SECOND = 3_600, 40
"""Candidates for representatives besides the regular ones, at most and per second of a time limit:
the bounds on their pairs are in memory."""

ALONG, EVERYWHERE = 32, 16
"""Rectangles along the longer side in the first round; and regular candidates for representatives
along each side."""

HELD = 3
"""Rounds with the first representatives, which find the rectangles to divide."""

WORTH = 3e-4
"""The least weight of a rectangle that is divided or used in the next program."""

ROUGH = 5e-2
"""The gap of a program on some of the candidates: on a city of 64 x 64 cells its bound was as close
as with 1e-2, in two thirds of the time."""


class Lattice:
    """The inputs of a problem for which noise is supported.

    ``most`` is the number of likeliest inputs among the candidates.

    Attributes
    ----------
    sides
        The numbers of rows and columns.
    places
        ``(n_inputs, 2)``: the row and the column of each input.
    populated
        The inputs whose prior is not 0.
    candidates
        The candidates for representatives, in increasing order.
    cone, lengths
        The bounds on their ratios, and their lengths.
    exponent, power
        The budget of one step; and 2 for Euclidean, 1 for Manhattan distances.
    """

    def __init__(self, problem: Problem, most: int = MOST_CANDIDATES) -> None:
        domain, notion, loss = (
            problem.domain,
            problem.sole_notion(MetricPrivacy),
            problem.expected_loss,
        )
        if notion is None or loss is None or domain.lattice is None:
            raise SolverError("no bound is known by steps between the inputs")
        self.sides, step = domain.lattice
        self.prior: FloatArray = problem.prior.array
        self.exponent = float(notion.epsilon * step)
        self.power = 2 if notion.distance == "euclidean" else 1
        self.places = np.stack(np.divmod(np.arange(len(domain)), self.sides[1]), axis=1)
        self.populated = np.flatnonzero(self.prior)
        self.candidates = self._candidates(most)
        points = tuple((step * int(a), step * int(b)) for a, b in self.places[self.candidates])
        unit = Ratio(Distance(Fraction(1), notion.distance, points))  # type: ignore[arg-type]
        rows = family_of((unit,), notion.name, len(points), notion.epsilon, has_epsilon=True)
        self.cone = Cone([rows])
        self.lengths = self.cone.lengths()
        corner = loss.loss(domain, domain.labels[:1]).array
        self._corner = corner.reshape(self.sides)

    def _candidates(self, most: int) -> IntArray:
        likeliest = np.argsort(-self.prior, kind="stable")[:most]
        some = [np.arange(-(-n // EVERYWHERE) // 2, n, -(-n // EVERYWHERE)) for n in self.sides]
        everywhere = (some[0][:, None] * self.sides[1] + some[1]).ravel()
        return np.union1d(likeliest[self.prior[likeliest] > 0], everywhere)

    def losses(self, inputs: IntArray, cells: IntArray) -> FloatArray:
        """Return the losses of rectangles, ``(n, n_cells)``."""
        sides = zip(self.places[inputs].T, cells[:, ::2].T, cells[:, 1::2].T, strict=True)
        steps = (
            np.maximum(np.maximum(first - side[:, None], side[:, None] - last), 0)
            for side, first, last in sides
        )
        return np.asarray(self._corner[tuple(steps)])


class LatticeProgram(CoarseProgram):
    """The program on representatives of a lattice, for rectangles of outputs.

    ``inputs`` are increasing indices of candidates.
    """

    def __init__(self, lattice: Lattice, inputs: IntArray) -> None:
        places = lattice.places[lattice.candidates[inputs]]
        found = cKDTree(places).query(lattice.places, p=lattice.power)
        steps, own = np.asarray(found[0]), np.asarray(found[1])
        shares = np.exp(-lattice.exponent * steps)
        self._take(lattice.cone, inputs, lattice.candidates[inputs], own, shares)
        self._lattice, populated = lattice, lattice.populated
        self._weights = self.shares[:, populated] @ sp.diags_array(lattice.prior[populated])

    def cell_costs(self, cells: IntArray) -> FloatArray:
        """Return the costs of rectangles at the representatives, ``(n, n_cells)``."""
        populated = self._lattice.populated
        parts = np.array_split(cells, 1 + len(populated) * len(cells) // AT_ONCE)
        losses = (self._lattice.losses(populated, part) for part in parts)
        return np.hstack([np.asarray(self._weights @ loss) for loss in losses])


def lattice_bounds(
    problem: Problem, value: float, limits: Limits, most_cells: float = math.inf
) -> Iterator[CoarseBound]:
    """Yield increasing bounds until the time is over.

    ``value``, the loss of a known channel, is for progress reports. ``most_cells`` limits the
    rectangles of the first bound, so that there is time to prove it.
    """
    with limits.phase("presolve"):
        lattice = Lattice(problem, limits.steps(MOST_CANDIDATES, A_SECOND))
    along = max(1, int(min(ALONG, math.sqrt(most_cells))))
    cells = first_cells(lattice.sides, -(-max(lattice.sides) // along))
    weights = np.ones(len(cells))

    def bound(count: int) -> tuple[CoarseBound, bool]:
        nonlocal cells, weights
        (inputs,) = chosen(lattice.lengths, lattice.prior[lattice.candidates], [count])
        found, cells, weights = _round(lattice, inputs, cells, weights, limits)
        return found, len(found.cells) == len(cells)

    yield from refined(bound, len(lattice.candidates), value, limits, HELD)


def _round(
    lattice: Lattice, inputs: IntArray, cells: IntArray, weights: FloatArray, limits: Limits
) -> tuple[CoarseBound, IntArray, FloatArray]:
    """Return a bound from some inputs and rectangles, and the rectangles of the next round."""
    program = LatticeProgram(lattice, inputs)
    places = lattice.places[lattice.candidates[inputs]]
    first, last = cells[:, None, ::2], cells[:, None, 1::2]
    inside: BoolArray = (first <= places) & (places <= last)
    around: BoolArray = np.any(np.all(inside, axis=2), axis=1)
    heavy = np.argsort(-weights)[: len(inputs) // 2]
    around[heavy[weights[heavy] >= WORTH]] = True
    part = limits.part()
    if len(inputs) < len(lattice.candidates):
        part.gap = max(part.gap, ROUGH)
    found = coarse_bound(program, program.cell_costs(cells), np.flatnonzero(around), part)
    rectangles = tuple((a, b, c, d) for a, b, c, d in cells.tolist())
    bound = replace(found, cells=rectangles)
    worth = (found.weights >= WORTH) & (cells[:, ::2] < cells[:, 1::2]).any(axis=1)
    parts = [cut(cells[n : n + 1]) for n in np.flatnonzero(worth)]
    cut_up = zip(parts, found.weights[worth], strict=True)
    share = [np.full(len(part), weight) for part, weight in cut_up]
    return (
        bound,
        np.vstack([cells[~worth], *parts]),
        np.concatenate([found.weights[~worth], *share]),
    )


def first_cells(sides: tuple[int, int], size: int) -> IntArray:
    """Return rectangles of at most ``size`` steps, ``(n_cells, 4)``: first and last of each side.

    Examples
    --------
    >>> first_cells((1, 5), 2).tolist()
    [[0, 0, 0, 1], [0, 0, 2, 3], [0, 0, 4, 4]]
    """
    return np.array(
        [
            (a, min(a + size, sides[0]) - 1, b, min(b + size, sides[1]) - 1)
            for a in range(0, sides[0], size)
            for b in range(0, sides[1], size)
        ]
    )


def cut(cells: IntArray) -> IntArray:
    """Return each rectangle divided into four, or into two if it has one row or one column.

    Examples
    --------
    >>> cut(np.array([[0, 0, 0, 4]])).tolist()
    [[0, 0, 0, 2], [0, 0, 3, 4]]
    """
    parts = [
        (a, b, c, d)
        for top, bottom, left, right in cells.tolist()
        for a, b in _halves(top, bottom)
        for c, d in _halves(left, right)
    ]
    return np.array(parts, dtype=np.intp).reshape(-1, 4)


def _halves(first: int, last: int) -> list[tuple[int, int]]:
    middle = (first + last) // 2
    return [(first, middle), (middle + 1, last)] if middle < last else [(first, last)]

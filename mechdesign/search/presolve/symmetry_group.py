"""Symmetry groups of a problem: permutations of the inputs that leave it invariant, and orbits.

A permutation g of the inputs, with a corresponding permutation of the outputs, is a symmetry if

    E[g x, g x'] = E[x, x'],    P[g x] = P[x],    D[g x, g y] = D[x, y]      for all x, x', y,

exactly. The mean of a private channel over a group of them is private and has the same cost, so
some optimum has q_{gy}(gx) = q_y(x): one column for each orbit of outputs determines all. With n_y
the size of the orbit of y, the reduced program is

    minimize  Sum n_y c_y . q_y,   q_y in the cone,   Sum_y n_y Sum_{x in o} q_y(x) = |o|

over one output y of each orbit, with one equation for each orbit o of inputs. The images of the
multipliers of the rows of those columns prove the same bound for the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions.rows.cone import Family, Multipliers
from mechdesign.prior_sets import Weights
from mechdesign.search.presolve.reduction import Answer, ConicProgram, Reduced


@dataclass(frozen=True)
class Action:
    """A symmetry: input x goes to ``inputs[x]``, output y to ``outputs[y]``."""

    inputs: IntArray
    outputs: IntArray

    @property
    def moves(self) -> bool:
        """Whether the action is not the identity."""
        fixed = (self.inputs == np.arange(len(self.inputs))).all()
        return not (fixed and (self.outputs == np.arange(len(self.outputs))).all())


class Symmetry:
    """A group of symmetries, given by generators.

    Parameters
    ----------
    actions
        The generators; at least one.

    Attributes
    ----------
    input_orbit
        ``(n_inputs,)``: the orbit of each input, from 0.
    representatives
        ``(n_orbits,)``: the first output of each orbit of outputs.
    output_orbit
        ``(n_outputs,)``: the index of the orbit of each output.
    multiplicity
        ``(n_orbits,)``: the sizes n_y.
    carrier
        ``(n_outputs, n_inputs)``: for each output y the permutation of the inputs that, with the
        permutation of outputs, takes the representative to y.

    Examples
    --------
    Reversal of a line of three:

    >>> swap = np.array([2, 1, 0])
    >>> line = Symmetry([Action(swap, swap)])
    >>> line.representatives, line.multiplicity
    (array([0, 1]), array([2, 1]))
    >>> line.expand(np.array([[0.6, 0.2], [0.3, 0.4], [0.1, 0.4]])).round(2)
    array([[0.6, 0.3, 0.1],
           [0.3, 0.4, 0.3],
           [0.1, 0.3, 0.6]])

    One column of each orbit is enough:

    >>> from mechdesign import LDP, Problem
    >>> from mechdesign.search.lp.solve import solve_linear
    >>> from mechdesign.search.presolve.find_symmetries import symmetries
    >>> from mechdesign.utilities import HammingLoss
    >>> problem = Problem(range(4), LDP(1), HammingLoss())
    >>> raw = solve_linear(problem, symmetry=symmetries(problem))
    >>> raw.matrix[0].round(6)
    array([0.475367, 0.174878, 0.174878, 0.174878])
    """

    def __init__(self, actions: Iterable[Action]) -> None:
        self.actions = tuple(actions)
        inputs = [action.inputs for action in self.actions]
        outputs = [action.outputs for action in self.actions]
        self.input_orbit = _orbits(len(inputs[0]), map(_moved_by, inputs))
        self.output_orbit = _orbits(len(outputs[0]), map(_moved_by, outputs))
        self.representatives: IntArray = np.unique(self.output_orbit, return_index=True)[1]
        self.multiplicity: IntArray = np.bincount(self.output_orbit)
        self.carrier = self._carriers()

    @property
    def orbit_size(self) -> IntArray:
        """``(n_input_orbits,)``: the sizes |o|."""
        return np.bincount(self.input_orbit)

    @property
    def note(self) -> str:
        """A description of the reduced problem."""
        left, of = len(self.representatives), len(self.output_orbit)
        orbits, inputs = len(self.orbit_size), len(self.input_orbit)
        return f"symmetries leave {left} of {of} outputs and {orbits} of {inputs} row sums"

    def _carriers(self) -> IntArray:
        """Follow the generators from every representative through its orbit."""
        k, m = len(self.input_orbit), len(self.output_orbit)
        carrier = np.full((m, k), -1, dtype=np.intp)
        carrier[self.representatives] = np.arange(k)
        found = self.representatives.tolist()
        while found:
            y = found.pop()
            for action in self.actions:
                z = int(action.outputs[y])
                if carrier[z, 0] < 0:
                    carrier[z] = action.inputs[carrier[y]]
                    found.append(z)
        return carrier

    @cached_property
    def pair_orbit(self) -> IntArray:
        """``(n_inputs, n_outputs)``: the orbit of each entry of the channel, from 0.

        An action changes only the rows and the columns of entries that it moves, so many swaps of
        two inputs are many small steps.
        """
        k, m = len(self.input_orbit), len(self.output_orbit)

        def moved(action: Action) -> tuple[IntArray, IntArray]:
            (x, _), (y, _) = _moved_by(action.inputs), _moved_by(action.outputs)
            rows, columns = x[:, None] * m + np.arange(m), np.arange(k)[:, None] * m + y
            start = np.concatenate([rows.ravel(), columns.ravel()])
            return start, action.inputs[start // m] * m + action.outputs[start % m]

        return _orbits(k * m, map(moved, self.actions)).reshape(k, m)

    def reduce(self, program: ConicProgram) -> Reduced:
        """Keep one output of each orbit of a program, also for a worst case."""

        def invert(answers: Sequence[Answer]) -> Answer:
            (answer,) = answers
            totals, families = answer.worst_case_multipliers, program.cone.families
            return replace(
                answer,
                matrix=self.expand(answer.matrix),
                duals=[m for w in answer.duals for m in self.expand_dual(families[w.notion], w)],
                route=f"{answer.route}, by symmetry",
                worst_case_multipliers=None if totals is None else self.expand_inputs(totals),
            )

        left = replace(
            program,
            cost=program.cost[:, self.representatives],
            output_count=self.multiplicity.astype(np.float64),
            input_orbit=self.input_orbit,
        )
        return Reduced((left,), self.note, invert)

    def expand(self, columns: FloatArray) -> FloatArray:
        """Return the whole channel from the columns of the representatives.

        Parameters
        ----------
        columns
            ``(n_inputs, n_orbits)``: the columns q_y, averaged here over the symmetries that fix y.
        """
        labels = self.pair_orbit[:, self.representatives]
        count = np.bincount(labels.ravel())
        mean = np.bincount(labels.ravel(), weights=columns.ravel()) / count
        return mean[self.pair_orbit]

    def expand_inputs(self, totals: FloatArray) -> FloatArray:
        """Return multipliers of all inputs, ``(n_inputs,)``, from the totals of the orbits."""
        return (totals / self.orbit_size)[self.input_orbit]

    def expand_dual(self, family: Family, dual: Multipliers) -> Iterator[Multipliers]:
        """Yield multipliers of rows of all outputs that prove the same bound.

        Parameters
        ----------
        family
            The family of the rows.
        dual
            Multipliers of rows of the representatives, for costs c_y (not n_y c_y) and potentials
            that are the same for all inputs of an orbit; ``output`` counts the representatives.
        """
        for orbit in np.unique(dual.output):
            mine = dual.chosen(dual.output == orbit).with_used_priors()
            for y in np.flatnonzero(self.output_orbit == orbit):
                carry = self.carrier[y]
                moved = tuple(_moved(prior, carry) for prior in mine.priors)
                output = np.full_like(mine.output, y)
                yield replace(family.renamed(mine, carry), output=output, priors=moved)


def _moved(prior: Weights, carry: IntArray) -> Weights:
    """Return the prior that gives ``carry[x]`` what the prior gives x."""
    return tuple(prior[x] for x in np.argsort(carry).tolist())


def _moved_by(permutation: IntArray) -> tuple[IntArray, IntArray]:
    """Return the elements that a permutation moves, and their images."""
    moved = np.flatnonzero(permutation != np.arange(len(permutation)))
    return moved, permutation[moved]


def _orbits(n: int, moves: Iterable[tuple[IntArray, IntArray]]) -> IntArray:
    """Return the orbit of each of n elements, numbered in the order of their first elements.

    Each move consists of some elements and their images.
    """
    start, end = (np.concatenate(one) for one in zip(*moves, strict=True))
    edges = (np.ones(len(start)), (start, end))
    _, labels = connected_components(sp.csr_array(edges, shape=(n, n)), directed=False)
    _, first, label = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[label].astype(np.intp)

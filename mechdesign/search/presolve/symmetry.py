"""Symmetries of a problem: permutations of the inputs that leave it invariant, and orbits.

A permutation g of the inputs, with a corresponding permutation of the outputs, is a symmetry if

    E[g x, g x'] = E[x, x'],    P[g x] = P[x],    D[g x, g y] = D[x, y]      for all x, x', y,

exactly. The mean of a private channel over a group of them is private and has the same cost, so
some optimum has q_{gy}(gx) = q_y(x): one column for each orbit of outputs determines all. With n_y
the size of the orbit of y, the reduced program is

    minimize  Sum n_y c_y . q_y,   q_y in the cone,   Sum_y n_y Sum_{x in o} q_y(x) = |o|

over one output y of each orbit, with one equation for each orbit o of inputs. The images of the
multipliers of the rows of those columns prove the same bound for the whole.

The candidates are symmetries of grids, lines, circles and exchangeable inputs: flips and rotations
of a grid, the reversal of a line, shifts, and swaps of two inputs. Users may give any other
permutation. Each is checked exactly.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import InputError, UnsupportedError, listed, shown
from mechdesign.exact import short_text
from mechdesign.notions.rows.cone import Family, Multipliers
from mechdesign.notions.rows.pair_rows import FREE
from mechdesign.prior_sets import Weights
from mechdesign.problem import Problem
from mechdesign.search.presolve.reductions import Answer, ConicProgram, Reduced


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
    >>> from mechdesign.search.lp.linear_program import solve_linear
    >>> from mechdesign.search.presolve.symmetry import symmetries
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

        Columns are averaged over the symmetries that fix y.
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


def symmetries(problem: Problem) -> Symmetry | None:
    """Return the detected symmetries, or None.

    Examples
    --------
    >>> from mechdesign import Domain, MetricPrivacy
    >>> from mechdesign.utilities import EuclideanDistance
    >>> square = Problem(Domain.grid(7, 7), MetricPrivacy(1, "euclidean"), EuclideanDistance())
    >>> found = symmetries(square)
    >>> found.note
    'symmetries leave 10 of 49 outputs and 10 of 49 row sums'
    """
    if problem.utility.linear_form is not problem.utility or not problem.is_conic:
        return None
    checker = _Checker(problem)
    judged = map(checker.action, _candidates(problem, checker))
    found = [action for action in judged if isinstance(action, Action) and action.moves]
    return Symmetry(found) if found else None


def given_symmetries(problem: Problem, permutations: Iterable[Sequence[Any]]) -> Symmetry:
    """Return the group generated by permutations of the inputs, each checked exactly.

    Parameters
    ----------
    problem
        As in :func:`symmetries`.
    permutations
        For each, the labels of the inputs in the order of their images: the first input goes to
        the first label.

    Raises
    ------
    InputError
        If one is not a permutation, or not a symmetry; the message names the change.
    UnsupportedError
        If the loss is not linear in the channel, or a notion is about the whole channel.

    Examples
    --------
    >>> from mechdesign import LDP
    >>> from mechdesign.utilities import HammingLoss
    >>> problem = Problem(["a", "b", "c"], LDP(1), HammingLoss(), prior=[0.2, 0.2, 0.6])
    >>> given_symmetries(problem, [["b", "a", "c"]]).multiplicity
    array([2, 1])
    """
    checker = _Checker(problem)
    found = [Action(np.arange(checker.size), np.arange(checker.losses.shape[1]))]
    given = listed(permutations, "symmetries", "a list of permutations")
    for n, labels in enumerate(given):
        key = f"symmetries[{n}]"
        action = checker.action(_read(problem, labels, key))
        if isinstance(action, str):
            expected = "a permutation of the inputs that leaves the problem as it is"
            raise InputError(key, expected, shown(list(labels)), action)
        found.append(action)
    return Symmetry(found)


def _read(problem: Problem, labels: Sequence[Any], key: str) -> IntArray:
    expected = "every input once, in the order of their images"
    given = listed(labels, key, expected)
    places = [problem.domain.index(label, f"{key}[{x}]") for x, label in enumerate(given)]
    if sorted(places) != list(range(len(problem.domain))):
        raise InputError(key, expected, shown(given))
    return np.array(places, dtype=np.intp)


class _Checker:
    """The exact data of a problem as integers, with tests of permutations."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.size, utility = problem, len(problem.domain), problem.utility.linear_form
        if utility is None or utility is not problem.utility or not problem.is_conic:
            expected = "a loss that is linear in the channel, and notions on its columns"
            raise UnsupportedError("symmetries", expected, repr(problem))
        matters = not utility.worst_case
        self.prior = _numbers(problem.prior.probabilities if matters else [0] * self.size)
        """The index of the probability of each input; 0 if the prior does not matter."""
        self.bounds: list[tuple[str, IntArray]] = []
        """For each family of ratios its name and the index of the bound on each pair."""
        for rows in problem.cone.ratios.values():
            numbers = _numbers(zip(rows.exponents, rows.scales, strict=True))
            self.bounds.append((rows.name, np.append(numbers, FREE)[rows.index]))
        table = utility.loss(problem.domain, problem.outputs or ()).numerators
        if table.dtype == object:
            table = _numbers(table.ravel().tolist()).reshape(table.shape)
        self.losses: IntArray = np.ascontiguousarray(table, dtype=np.intp)
        """``(n_inputs, n_outputs)``: equal numbers where losses are equal."""

    @cached_property
    def _columns(self) -> dict[bytes, list[int]]:
        """The outputs with each column of losses."""
        found: dict[bytes, list[int]] = {}
        for y, column in enumerate(np.ascontiguousarray(self.losses.T)):
            found.setdefault(column.tobytes(), []).append(y)
        return found

    def action(self, permutation: IntArray) -> Action | str:
        """Return the action on inputs and outputs, or what the permutation changes."""
        return self._changed(permutation) or self._on_outputs(permutation)

    def _label(self, x: Any) -> str:
        return shown(self.problem.domain.labels[int(x)])

    def _changed(self, g: IntArray) -> str | None:
        """Return which part of the prior and the notions a permutation changes, or None."""
        for x in np.flatnonzero(self.prior[g] != self.prior)[:1]:
            p, moved = (short_text(self.problem.prior[int(z)]) for z in (x, g[x]))
            one, other = self._label(x), self._label(g[x])
            return f"it changes the prior: {one} has {p}, {other}, where it goes, {moved}"
        for name, index in self.bounds:
            for x, z in np.argwhere(index[np.ix_(g, g)] != index)[:1]:
                one, other, *to = map(self._label, (x, z, g[x], g[z]))
                moved = f"({one}, {other}) is not that on ({to[0]}, {to[1]})"
                return f"it changes {name}: the bound on {moved}"
        families = zip(self.problem.cone.families, self.problem.privacy, strict=True)
        for family, notion in families:
            lifts = family.lift_rows()
            if lifts is not None:
                if not lifts.priors.is_fixed_by(g.tolist()):
                    return f"it changes the priors of {lifts.name}"
            elif family.ratio_rows() is None and (g != np.arange(self.size)).any():
                return f"no symmetries are known of the rows of {notion.name} here"
        return None

    def _on_outputs(self, g: IntArray) -> Action | str:
        """Find for each output the one with its permuted losses."""
        left = {key: iter(equal) for key, equal in self._columns.items()}
        outputs = np.zeros(self.losses.shape[1], dtype=np.intp)
        for y, column in enumerate(np.ascontiguousarray(self.losses[np.argsort(g)].T)):
            image = next(left.get(column.tobytes(), iter(())), None)
            if image is None:
                label = shown((self.problem.outputs or ())[y])
                return f"it changes the loss: that of output {label}, moved, is of no output"
            outputs[y] = image
        return Action(g, outputs)

    def may_swap(self, a: int, b: int) -> bool:
        """Return whether two inputs can be swapped, by a hash of the losses.

        True may be a hash collision, which the exact check of the candidate later detects.
        """
        swap = np.arange(self.size)
        swap[[a, b]] = b, a
        for _, index in self.bounds:
            if (index[a, swap] != index[b]).any() or (index[swap, a] != index[:, b]).any():
                return False
        weights, sums = self._hash
        change = (self.losses[b] - self.losses[a]).astype(np.uint64)
        moved = sums + (weights[[a]] - weights[[b]]) * change  # mod 2**64
        return bool((np.sort(moved) == np.sort(sums)).all())

    @cached_property
    def _hash(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """A random number for each input, and their sum of losses for each output, mod 2**64."""
        top = np.iinfo(np.uint64).max
        weights = np.random.default_rng(0).integers(0, top, self.size, dtype=np.uint64)
        return weights, weights @ self.losses.astype(np.uint64)


def _numbers(items: Iterable[Hashable]) -> IntArray:
    """Return an index for each item, equal for equal items."""
    number: dict[Hashable, int] = {}
    return np.array([number.setdefault(item, len(number)) for item in items], dtype=np.intp)


def _candidates(problem: Problem, checker: _Checker) -> Iterator[IntArray]:
    """Yield likely symmetries, to be checked."""
    domain, k = problem.domain, len(problem.domain)
    places = np.arange(k)
    if domain.grid_shape is not None:
        grid = places.reshape(domain.grid_shape)
        images = [grid[::-1], grid[:, ::-1], np.roll(grid, 1, axis=0), np.roll(grid, 1, axis=1)]
        square = domain.grid_shape[0] == domain.grid_shape[1]
        yield from (image.ravel() for image in [*images, *[grid.T] * square])
    else:
        numbers = domain.numbers or places.tolist()
        order = np.array(sorted(range(k), key=numbers.__getitem__), dtype=np.intp)
        yield from (image[np.argsort(order)] for image in (order[::-1], np.roll(order, 1)))
    for members in _exchangeable(checker):
        for some in (members[:2], members):
            cycle = places.copy()
            cycle[some] = np.roll(some, 1)
            yield cycle


def _exchangeable(checker: _Checker) -> list[list[int]]:
    """Return the classes of two or more inputs of which any two can probably be swapped."""
    alike: dict[bytes, list[list[int]]] = {}
    for x in np.flatnonzero(np.bincount(checker.prior)[checker.prior] > 1).tolist():
        parts = [np.sort(part) for _, E in checker.bounds for part in (E[x], E[:, x])]
        parts += [checker.prior[x : x + 1], np.sort(checker.losses[x])]
        classes = alike.setdefault(b"".join(part.tobytes() for part in parts), [])
        joined = next((known for known in classes if checker.may_swap(known[0], x)), None)
        if joined is None:
            classes.append([x])
        else:
            joined.append(x)
    return [known for classes in alike.values() for known in classes if len(known) > 1]

"""Symmetry detection: which permutations of the inputs leave a problem as it is.

Candidates are the symmetries of grids, lines, circles and exchangeable inputs: flips and turns of a
grid, the reversal of a line, shifts, and swaps of two inputs. Any other permutation can be given.
Each is checked exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign._typing import IntArray
from mechdesign.errors import InputError, UnsupportedError, listed, shown
from mechdesign.exact import short_text
from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.problem import Problem
from mechdesign.routes.presolve.symmetry_group import Action, Symmetry

__all__ = ["given_symmetries", "symmetries"]


def symmetries(problem: Problem) -> Symmetry | None:
    """Return the symmetries that are found, None if there are none.

    Parameters
    ----------
    problem
        With a loss that is linear in the channel and notions that are rows on columns.

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
    found = []
    for permutation in _candidates(problem, checker):
        action = checker.action(permutation)
        if isinstance(action, Action) and action.moves:
            found.append(action)
    return Symmetry(found) if found else None


def given_symmetries(problem: Problem, permutations: Iterable[Sequence[Any]]) -> Symmetry:
    """Return the group that permutations of the inputs generate, each checked exactly.

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
        If one is no permutation of the inputs, or is no symmetry; the message says what it changes.
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
    """The exact data of a problem as whole numbers, and whether a permutation changes them."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.size, utility = problem, len(problem.domain), problem.utility.linear_form
        if utility is None or utility is not problem.utility or not problem.is_conic:
            expected = "a loss that is linear in the channel, and notions on its columns"
            raise UnsupportedError("symmetries", expected, repr(problem))
        self._utility = utility
        prior = [] if utility.worst_case else list(problem.prior.probabilities)
        number = {p: n for n, p in enumerate(dict.fromkeys(prior))}
        self.prior: IntArray | None = None
        """The number of the probability of each input; None where the prior does not matter."""
        if prior:
            self.prior = np.array([number[p] for p in prior], dtype=np.intp)

    @cached_property
    def bounds(self) -> list[tuple[str, IntArray]]:
        """For each family of ratios its name and the number of the bound on each pair."""
        families = (family.ratio_rows() for family in self.problem.cone.families)
        return [(rows.name, _numbered(rows)) for rows in families if rows is not None]

    @cached_property
    def losses(self) -> IntArray:
        """``(n_inputs, n_outputs)``: equal numbers where losses are equal."""
        outputs = self.problem.outputs or ()
        table = self._utility.loss(self.problem.domain, outputs).numerators
        if table.dtype != object:
            return np.ascontiguousarray(table, dtype=np.intp)
        number = {loss: n for n, loss in enumerate(dict.fromkeys(table.ravel().tolist()))}
        return np.array([[number[loss] for loss in row] for row in table.tolist()], dtype=np.intp)

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
        """Return what of the prior and the notions a permutation changes, None if nothing."""
        if self.prior is not None:
            wrong = np.flatnonzero(self.prior[g] != self.prior)
            if len(wrong):
                x = wrong[0]
                p, moved = (short_text(self.problem.prior[int(z)]) for z in (x, g[x]))
                one, other = self._label(x), self._label(g[x])
                return f"it changes the prior: {one} has {p}, {other}, where it goes, {moved}"
        for name, index in self.bounds:
            differ = np.argwhere(index[np.ix_(g, g)] != index)
            if len(differ):
                x, z = differ[0]
                one = f"({self._label(x)}, {self._label(z)})"
                other = f"({self._label(g[x])}, {self._label(g[z])})"
                return f"it changes {name}: the bound on {one} is not that on {other}"
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
        """Find for each output the one whose losses are those of it, moved."""
        back = np.argsort(g)
        outputs = np.full(self.losses.shape[1], -1, dtype=np.intp)
        taken: dict[bytes, int] = {}
        for y, column in enumerate(np.ascontiguousarray(self.losses[back].T)):
            key = column.tobytes()
            equal, nth = self._columns.get(key, []), taken.get(key, 0)
            if nth >= len(equal):
                label = shown((self.problem.outputs or ())[y])
                return f"it changes the loss: that of output {label}, moved, is of no output"
            outputs[y], taken[key] = equal[nth], nth + 1
        return Action(g, outputs)

    def may_swap(self, a: int, b: int) -> bool:
        """Return whether two inputs can be swapped, by a hash of the losses.

        True may be a collision: what is found is checked exactly later.
        """
        for _, index in self.bounds:
            for one, other in ((index[a], index[b]), (index[:, a], index[:, b])):
                differ = one != other
                differ[[a, b]] = False
                if differ.any():
                    return False
            if index[a, b] != index[b, a]:
                return False
        weights, sums = self._hash
        change = (self.losses[b] - self.losses[a]).astype(np.uint64)
        moved = sums + (weights[[a]] - weights[[b]]) * change  # sums wrap mod 2**64
        return bool((np.sort(moved) == np.sort(sums)).all())

    @cached_property
    def _hash(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """A random number for each input, and their sum of losses for each output, mod 2**64."""
        top = np.iinfo(np.uint64).max
        weights = np.random.default_rng(0).integers(0, top, self.size, dtype=np.uint64)
        return weights, weights @ self.losses.astype(np.uint64)


def _numbered(family: PairRows) -> IntArray:
    """Return the bounds on pairs by numbers that differ where the bounds do; FREE where none is."""
    number: dict[tuple[Fraction, Fraction], int] = {}
    of_bound = [
        number.setdefault((exponent, bound.factor), len(number))
        for exponent, bound in zip(family.exponents, family.bounds, strict=True)
    ]
    index: IntArray = np.array([*of_bound, FREE], dtype=np.intp)[family.index]
    return index


def _candidates(problem: Problem, checker: _Checker) -> Iterator[IntArray]:
    """Yield permutations that are likely to be symmetries, to be checked."""
    domain, k = problem.domain, len(problem.domain)
    places = np.arange(k)
    if domain.grid_shape is not None:
        grid = places.reshape(domain.grid_shape)
        yield grid[::-1].ravel()
        yield grid[:, ::-1].ravel()
        if domain.grid_shape[0] == domain.grid_shape[1]:
            yield grid.T.ravel()
        yield np.roll(grid, 1, axis=0).ravel()
        yield np.roll(grid, 1, axis=1).ravel()
    else:
        order = places
        if domain.numbers is not None:
            numbers = domain.numbers
            order = np.array(sorted(range(k), key=lambda x: numbers[x]), dtype=np.intp)
        for image in (order[::-1], np.roll(order, 1)):
            permutation = np.empty(k, dtype=np.intp)
            permutation[order] = image
            yield permutation
    for members in _exchangeable(checker):
        swap, cycle = places.copy(), places.copy()
        swap[members[:2]] = members[1::-1]
        yield swap
        if len(members) > 2:
            cycle[members] = np.roll(members, 1)
            yield cycle


def _exchangeable(checker: _Checker) -> list[list[int]]:
    """Return the classes, of two or more, of inputs any two of which can probably be swapped."""
    alike: dict[bytes, list[int]] = {}
    prior = np.zeros(checker.size, dtype=np.intp) if checker.prior is None else checker.prior
    for x in np.flatnonzero(np.bincount(prior)[prior] > 1).tolist():
        parts = [np.sort(part) for _, E in checker.bounds for part in (E[x], E[:, x])]
        parts += [prior[x : x + 1], np.sort(checker.losses[x])]
        alike.setdefault(b"".join(part.tobytes() for part in parts), []).append(x)
    classes: list[list[int]] = []
    for group in alike.values():
        mine: list[list[int]] = []
        for x in group:
            joins = next((c for c in mine if checker.may_swap(c[0], x)), None)
            if joins is None:
                mine.append([x])
            else:
                joins.append(x)
        classes += [c for c in mine if len(c) > 1]
    return classes

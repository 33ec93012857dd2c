"""Symmetry detection: which permutations of the inputs leave a problem as it is.

Candidates are the symmetries of grids, lines, circles and exchangeable inputs: flips and turns of a
grid, the reversal of a line, shifts, and swaps of two inputs. Any other permutation can be given.
Each is checked exactly.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign._typing import IntArray
from mechdesign.errors import InputError, UnsupportedError, listed, shown
from mechdesign.exact import short_text
from mechdesign.notions.rows.pair_rows import FREE
from mechdesign.problem import Problem
from mechdesign.search.presolve.symmetry_group import Action, Symmetry

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
    judged = map(checker.action, _candidates(problem, checker))
    found = [action for action in judged if isinstance(action, Action) and action.moves]
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
        matters = not utility.worst_case
        self.prior = _numbers(problem.prior.probabilities if matters else [0] * self.size)
        """The number of the probability of each input; 0 where the prior does not matter."""
        self.bounds: list[tuple[str, IntArray]] = []
        """For each family of ratios its name and the number of the bound on each pair."""
        for rows in (family.ratio_rows() for family in problem.cone.families):
            if rows is not None:
                factors = (bound.factor for bound in rows.bounds)
                numbers = _numbers(zip(rows.exponents, factors, strict=True))
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
        """Return what of the prior and the notions a permutation changes, None if nothing."""
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
        """Find for each output the one whose losses are those of it, moved."""
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

        True may be a collision: what is found is checked exactly later.
        """
        swap = np.arange(self.size)
        swap[[a, b]] = b, a
        for _, index in self.bounds:
            if (index[a, swap] != index[b]).any() or (index[swap, a] != index[:, b]).any():
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


def _numbers(items: Iterable[Hashable]) -> IntArray:
    """Return a number for each item, the same where they are equal."""
    number: dict[Hashable, int] = {}
    return np.array([number.setdefault(item, len(number)) for item in items], dtype=np.intp)


def _candidates(problem: Problem, checker: _Checker) -> Iterator[IntArray]:
    """Yield permutations that are likely to be symmetries, to be checked."""
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
    """Return the classes, of two or more, of inputs any two of which can probably be swapped."""
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

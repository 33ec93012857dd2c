"""Spanners: fewer pairs in place of all, as a relaxation and as a restriction of the cone.

A subset of the pairs with their true lengths E is a relaxation: its multipliers prove a bound. With
lengths l <= E such that a chain over the subset is no longer than any pair that is left out,

    Sum_{e on the chain from x to x'} l_e <= E[x, x'],

the subset implies all pairs: a restriction, whose channels are private. A small linear program
decides which pairs of the chains are shortened: with w_e >= 0 the sensitivity of the optimum to the
length of the pair e, from the multipliers of the relaxation, minimize Sum_e w_e (E_e - l_e). So
pairs that do not bind are shortened first. On Euclidean grids of 7 x 7 points with pairs up to 3.2
steps, half of those that no others imply, value and bound were 0.2 percent off the optimum; with
one factor for all pairs, the value was 0.6 percent off.

Source: Bordenabe et al. 2014, who take one stretch for all pairs instead.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.notions.rows.cone import Bound
from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.routes.highs import LPModel, solve_lp
from mechdesign.routes.presolve.implied_pairs import implied_pairs
from mechdesign.routes.presolve.shortest_paths import closure

__all__ = ["Spanner", "spanner"]


MOST_STRETCH = 1.5
"""Pairs are added until no chain is longer than the pair that it stands for by this factor."""

MARGIN = 1e-12
"""By so much more than rounding asks for are the lengths made shorter."""

SHORTEST = 1e-9
LEAST_SENSITIVITY = 1e-4
"""That of a pair that binds nowhere, as a share of the largest, so that no pair is shortened for
nothing."""


class Spanner:
    """A subset of the pairs of a family, true to length and made shorter.

    Parameters
    ----------
    family
        All pairs, with bounds above 1 and without factors.
    matter
        Those that no chain of others implies.
    kept
        The subset.

    Attributes
    ----------
    outer
        The subset with the bounds of the family: a relaxation, whose rows are rows of the family.
    rows
        The number of pairs kept.
    stretch
        The largest ratio of a chain to the pair that it stands for, before any is made shorter.
    """

    def __init__(self, family: PairRows, matter: BoolArray, kept: BoolArray) -> None:
        self.outer, self.kept = family.on_pairs(kept), kept
        self.rows = int(kept.sum())
        self._name, self._E = family.name, family.lengths()
        paths, before = _chains(self._E, kept)
        ratio = _stretches(paths, self._E, matter)
        self.stretch = float(ratio.max())
        is_long = ratio > 1 + MARGIN
        self._chains = _chain_matrix(np.argwhere(is_long), before, kept)
        self._lack = paths[is_long] - self._E[is_long]

    def inner(self, sensitivities: FloatArray | None = None) -> PairRows:
        """Return the subset with shorter lengths, which imply every pair of the family.

        Parameters
        ----------
        sensitivities
            ``(n_inputs, n_inputs)`` numbers >= 0: what shortening each pair by a nat costs. None:
            the same for all.
        """
        true = self._E[self.kept]
        short = np.zeros_like(self._E)
        short[self.kept] = true - self._cuts(
            np.ones_like(true) if sensitivities is None else sensitivities[self.kept]
        )
        rest = np.where(self.kept, short, np.inf)
        stretch = float(_stretches(closure(rest), self._E, np.isfinite(self._E)).max())
        final = short[self.kept] / (max(1.0, stretch) * (1 + MARGIN))
        index = np.full(self.kept.shape, FREE)
        index[self.kept] = np.arange(self.rows)
        bounds = [Bound(base=Fraction(length), slope=Fraction(0)) for length in final.tolist()]
        return PairRows(self._name, bounds, index, Fraction(0))

    def _cuts(self, sensitivities: FloatArray) -> FloatArray:
        """Return by how much each pair that is kept is shortened, at the least cost in all."""
        true = self._E[self.kept]
        n_chains = self._chains.shape[0]
        if n_chains == 0:
            return np.zeros_like(true)
        top = float(sensitivities.max()) or 1.0
        most = true * (1 - 1 / (2 * self.stretch))  # shortening all by the stretch stays feasible
        program = LPModel(
            sensitivities / top + LEAST_SENSITIVITY,
            sp.csr_array(sp.vstack([self._chains, sp.eye_array(len(true))])),
            np.concatenate([self._lack, np.full(len(true), -np.inf)]),
            np.concatenate([np.full(n_chains, np.inf), most]),
        )
        try:
            return np.clip(solve_lp(program, "ipm").primal, 0.0, most)
        except SolverError:
            return true * (1 - 1 / self.stretch)


def spanner(family: PairRows, per_input: float) -> Spanner | None:
    """Choose the shortest pairs that matter; None where all of them are needed, or none can go.

    Parameters
    ----------
    family
        Ratios of entries.
    per_input
        How many pairs to keep for each input, in the mean. Pairs of one length stay together; the
        shortest stay, and more are added while a chain is longer than its pair by half.

    Examples
    --------
    >>> from mechdesign import Domain, MetricPrivacy
    >>> family = MetricPrivacy(1, "euclidean").family(Domain.grid(7, 7))
    >>> for per_input in (8, 12, 16):
    ...     found = spanner(family, per_input)
    ...     print(found.rows, round(found.stretch, 4))
    312 1.0824
    552 1.0275
    744 1.0131
    >>> spanner(family, 40) is None
    True
    """
    E = family.lengths()
    finite = np.isfinite(E)
    np.fill_diagonal(finite, False)
    if any(bound.factor != 1 for bound in family.bounds):
        return None
    if not finite.any() or E[finite].min() <= SHORTEST:
        return None
    matter = finite & ~implied_pairs(E)
    kept = _shortest_pairs(E, matter, per_input)
    while (kept != matter).any():
        paths, _ = _chains(E, kept)
        ratio = _stretches(paths, E, matter)
        worst = ratio.argmax(axis=1)
        rows = np.flatnonzero(ratio.max(axis=1) > MOST_STRETCH)
        if not len(rows):
            return Spanner(family, matter, kept)
        kept[rows, worst[rows]] = True
    return None


def _shortest_pairs(E: FloatArray, matter: BoolArray, per_input: float) -> BoolArray:
    """Return the pairs up to the largest length at which there are few enough."""
    sizes = np.sort(E[matter])
    wanted = round(per_input * len(E))
    if wanted >= len(sizes):
        return matter.copy()
    beyond = sizes[wanted] * (1 - MARGIN)
    few = sizes[sizes < beyond]
    longest = few[-1] if len(few) else sizes[0]
    near: BoolArray = longest * (1 + MARGIN) >= E
    return matter & near


def _chains(E: FloatArray, kept: BoolArray) -> tuple[FloatArray, IntArray]:
    """Return shortest paths over some pairs, and the last but one input on each."""
    x, other = np.nonzero(kept)
    graph = sp.csr_array((E[kept], (x, other)), shape=E.shape)
    paths, before = shortest_path(graph, method="D", return_predecessors=True)
    return np.asarray(paths), np.asarray(before, dtype=np.intp)


def _stretches(paths: FloatArray, E: FloatArray, pairs: BoolArray) -> FloatArray:
    """Return paths as multiples of the lengths of some pairs, 1 elsewhere."""
    ratio = np.ones_like(E)
    of = pairs & ~np.eye(len(E), dtype=bool)
    ratio[of] = paths[of] / E[of]
    return ratio


def _chain_matrix(pairs: IntArray, before: IntArray, kept: BoolArray) -> sp.csr_array:
    """Return which kept pairs the chain of each pair is made of, ``(n_pairs, n_kept)``."""
    number = np.cumsum(kept.ravel()).reshape(kept.shape) - 1
    x, at = pairs.T
    chain = np.arange(len(pairs))
    rows: list[IntArray] = []
    columns: list[IntArray] = []
    while len(chain):
        step = before[x, at]
        rows.append(chain)
        columns.append(number[step, at])
        go_on = step != x
        chain, x, at = chain[go_on], x[go_on], step[go_on]
    shape = (len(pairs), int(kept.sum()))
    if not rows:
        return sp.csr_array(shape)
    places = (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_array((np.ones(len(places[0])), places), shape=shape)

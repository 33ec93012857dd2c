"""The rows of a family with helper variables: the same cone, far fewer entries.

A family of k**2 rows is often a statement about a few numbers of the column. LDP says that no entry
exceeds e**eps times the least entry: with a helper t for the least, 2k rows do for k (k - 1). The
output law P . q is a helper of the lift rows. What a dual says about the helpers is carried back to
the original rows, since those are what a certificate speaks of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions.rows.cone import Family, Multipliers
from mechdesign.notions.rows.latent_rows import SecretRows, about_secrets
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.prior_sets import Weights
from mechdesign.routes.presolve.shortest_paths import implied_pairs, lengths, masked

__all__ = ["Compressed", "chain_reduced", "compress", "stacked"]


FEWEST_IN_SET = 3

TIED = 1 - 1e-10
"""Stands for a bound of 1 against the law, whose float coefficients may not sum to 1."""


@dataclass(frozen=True)
class Least:
    """A helper t that stands for the least entry of a set, so that q = t + s with s >= 0 there.

    Attributes
    ----------
    helper
        Its column in A.
    members
        The inputs of the set.
    rows
        The rows t <= q_x of the members, in their order; with s in place of q they are bounds.
    """

    helper: int
    members: IntArray
    rows: IntArray


@dataclass(frozen=True)
class Compressed:
    """Rows ``low <= A (q, helpers) <= 0`` on one column and its helpers.

    Attributes
    ----------
    A
        ``(n_rows, n_inputs + n_helpers)``.
    equal
        Which rows are equations.
    least
        Helpers that stand for the least entry of a set, no two sets sharing an input.
    shares_least
        Whether most rows go through such helpers: those programs suit the simplex method.
    carry_back
        Takes the weights of the rows, shape ``(n_rows,)``, and the number of the output, and
        returns multipliers on rows of the family.
    """

    A: sp.csr_array
    equal: npt.NDArray[np.bool_]
    least: tuple[Least, ...]
    shares_least: bool
    carry_back: Callable[[FloatArray, int], list[Multipliers]]


@singledispatch
def compress(family: Family, _priors: tuple[Weights, ...] = ()) -> Compressed:
    """Return an extended formulation of the rows of a family on one column.

    Lift rows are stated for the priors given; rows of other families need none. A family of which
    nothing is known here has no auxiliary variables: its rows stay as they are, each divided by its
    largest coefficient, since the tolerances of solvers are absolute.
    """
    G = family.matrix()
    largest = np.asarray(abs(G).max(axis=1).todense()).ravel()
    largest[largest == 0] = 1.0

    def carry_back(weights: FloatArray, output: int) -> list[Multipliers]:
        """Undo the scaling of the rows."""
        found, _ = family.read_dual((np.maximum(weights, 0.0) / largest)[:, None])
        return [replace(m, output=np.full(len(m.output), output)) for m in found]

    A = sp.csr_array(sp.diags_array(1 / largest) @ G)
    none = np.zeros(A.shape[0], dtype=bool)
    return Compressed(A, none, (), shares_least=False, carry_back=carry_back)


@compress.register
def _lift(family: LiftRows, priors: tuple[Weights, ...] = ()) -> Compressed:
    """One helper for the law of each prior, and two rows for each input and prior."""
    k, n = family.size, len(priors)
    entries = np.arange(k)
    sides: list[tuple[str, int]] = []
    values: list[FloatArray] = []
    columns: list[IntArray] = []
    lengths: list[IntArray] = []
    for number, prior in enumerate(priors):
        helper = k + number
        values.append(np.array([*map(float, prior), -1.0]))
        columns.append(np.append(entries, helper))
        lengths.append(np.array([k + 1]))
        for side, bound in family.sides():
            shrink = min(float(np.exp(-float(bound.exponent(family.epsilon)))), TIED)
            row = [shrink, -1.0] if side == "upper" else [-1.0, shrink]
            values.append(np.tile(row, k))
            columns.append(np.column_stack([entries, np.full(k, helper)]).ravel())
            lengths.append(np.full(k, 2))
            sides.append((side, number))
    starts = np.concatenate([[0], np.cumsum(np.concatenate([[], *lengths]))]).astype(np.intp)
    places = np.concatenate([np.zeros(0, dtype=np.intp), *columns])
    A = sp.csr_array(
        (np.concatenate([[], *values]), places, starts), shape=(len(starts) - 1, k + n)
    )
    per_prior = 1 + k * len(family.sides())
    equal = np.zeros(A.shape[0], dtype=bool)
    equal[::per_prior] = True

    def carry_back(weights: FloatArray, output: int) -> list[Multipliers]:
        """Take the rows on entries as they are; the law's equation only defines its helper."""
        kept = weights[~equal].reshape(len(sides), k) if sides else np.zeros((0, k))
        found = []
        for (side, number), weight in zip(sides, kept, strict=True):
            x = np.flatnonzero(weight > 0)
            places = (np.full(len(x), output), x, np.full(len(x), number))
            found.append(Multipliers(side, *places, weight=weight[x]))
        return found

    return Compressed(A, equal, (), shares_least=False, carry_back=carry_back)


@compress.register
def _pairs(family: PairRows, _priors: tuple[Weights, ...] = ()) -> Compressed:
    """One helper for the least entry of each set that several rows are bounded by."""
    reduced = chain_reduced(family)
    used = np.bincount([s for _, _, s in reduced.groups], minlength=len(reduced.sets))
    helped = [
        s
        for s, members in enumerate(reduced.sets)
        if used[s] >= 2 and len(members) >= FEWEST_IN_SET
    ]
    number = {s: h for h, s in enumerate(helped)}
    k, factors = family.size, family.factors
    # rows e**-a q_x <= factor q_x', divided by their larger coefficient
    larger = np.maximum(family.inverse, factors)
    left, right = family.inverse / larger, factors / larger
    entries: list[tuple[int, int, float]] = []
    direct: list[tuple[int, int, int, int]] = []  # (row, x, other, bound)
    above: list[tuple[int, int, int, int]] = []  # (row, x, helper, bound)
    below: list[tuple[int, int, int]] = []  # (row, helper, member)
    row = 0
    for x, b, s in reduced.groups:
        if s in number:
            entries += [(row, x, left[b]), (row, k + number[s], -right[b])]
            above.append((row, x, number[s], b))
            row += 1
            continue
        for other in reduced.sets[s]:
            if other != x:
                entries += [(row, x, left[b]), (row, other, -right[b])]
                direct.append((row, x, other, b))
                row += 1
    for s in helped:
        for member in reduced.sets[s]:
            entries += [(row, k + number[s], 1.0), (row, member, -1.0)]
            below.append((row, number[s], member))
            row += 1
    A = _sparse(entries, (row, k + len(helped)))
    plain = np.array(direct, dtype=np.intp).reshape(-1, 4)

    def carry_back(weights: FloatArray, output: int) -> list[Multipliers]:
        """Send the weight above each helper to the members below it."""
        x, other = [plain[:, 1]], [plain[:, 2]]
        weight = [weights[plain[:, 0]] / larger[plain[:, 3]]]
        for h in range(len(helped)):
            supply = [(i, weights[r] / larger[b], b) for r, i, helper, b in above if helper == h]
            demand = [(member, weights[r]) for r, helper, member in below if helper == h]
            scale = np.array([factors[b] for _, _, b in supply])
            sent = np.array([w for _, w, _ in supply]) * scale
            i, j, flow = transport(sent, np.array([w for _, w in demand]))
            x.append(np.array([s for s, _, _ in supply], dtype=np.intp)[i])
            other.append(np.array([m for m, _ in demand], dtype=np.intp)[j])
            weight.append(flow / scale[i])
        all_x, all_other = np.concatenate(x), np.concatenate(other)
        all_weight = np.concatenate(weight)
        # a flow from x to x says q_x >= 0, which costs the bound and proves nothing
        kept = (all_weight > 0) & (all_x != all_other)
        places = (np.full(int(kept.sum()), output), all_x[kept], all_other[kept])
        return [Multipliers("ratio", *places, weight=all_weight[kept])]

    equal = np.zeros(row, dtype=bool)
    shares_least = len(direct) < len(above) + len(below)
    least: list[Least] = []
    taken: set[int] = set()
    for h in range(len(helped)):
        places = np.array([(r, member) for r, helper, member in below if helper == h])
        if taken.isdisjoint(places[:, 1].tolist()):
            taken.update(places[:, 1].tolist())
            least.append(Least(k + h, places[:, 1], places[:, 0]))
    return Compressed(A, equal, tuple(least), shares_least=shares_least, carry_back=carry_back)


@compress.register
def _secrets(family: SecretRows, _priors: tuple[Weights, ...] = ()) -> Compressed:
    """One helper w_s = B_s . q for each secret, and the inner rows on those, for their own prior.

    A helper that an equation of the inner rows defines is defined by q instead.
    """
    inner, n = family.inner, len(family.laws)
    own = inner.priors.vertices() if isinstance(inner, LiftRows) else ()
    rows, B = compress(inner, own), sp.csr_array(family.array)
    on_secrets, on_helpers = rows.A[:, :n], rows.A[:, n:]
    defines = sp.diags_array(rows.equal.astype(np.float64))
    A = sp.block_array(
        [
            [B, -sp.eye_array(n), None],
            [defines @ on_secrets @ B, on_secrets - defines @ on_secrets, on_helpers],
        ],
        format="csr",
    )
    A.eliminate_zeros()

    def carry_back(weights: FloatArray, output: int) -> list[Multipliers]:
        """Take the inner rows as they are; the equations only define helpers."""
        return [about_secrets(found) for found in rows.carry_back(weights[n:], output)]

    equal = np.concatenate([np.ones(n, dtype=bool), rows.equal])
    return Compressed(sp.csr_array(A), equal, (), shares_least=False, carry_back=carry_back)


def _sparse(entries: list[tuple[int, int, float]], shape: tuple[int, int]) -> sp.csr_array:
    if not entries:
        return sp.csr_array(shape)
    rows, columns, values = zip(*entries, strict=True)
    return sp.csr_array((np.array(values), (np.array(rows), np.array(columns))), shape=shape)


def stacked(parts: Sequence[Compressed], k: int) -> sp.csr_array:
    """Stack the rows of several families on one column of k entries, each with its own helpers."""
    width = k + sum(part.A.shape[1] - k for part in parts)
    blocks = []
    first = k
    for part in parts:
        A = sp.coo_array(part.A)
        columns = np.where(A.col < k, A.col, A.col - k + first)
        blocks.append(sp.csr_array((A.data, (A.row, columns)), shape=(A.shape[0], width)))
        first += A.shape[1] - k
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def chain_reduced(family: PairRows) -> PairRows:
    """Drop every pair that a chain through other inputs implies.

    With E the exponents, all positive, a pair with some z such that E[x, z] + E[z, x'] <= E[x, x']
    follows from the other two, and all such pairs can go at once: of the pairs that imply one, each
    is shorter than it. On a line only neighbours stay, on a city-block grid the four next to each.
    What is dropped by rounding only is caught by the exact check of the result.
    """
    finite = family.index != FREE
    if family.near is None:
        kept = finite & ~implied_pairs(lengths(family))
    else:
        kept = np.zeros_like(finite)
        kept[family.near] = True
    return family if (kept == finite).all() else masked(family, kept)


def transport(supply: FloatArray, demand: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return a flow from supplies to demands by the north-west corner rule.

    What is left of the larger total stays. Returns (source, target, amount), at most as many as
    there are supplies and demands together.
    """
    out, into = np.cumsum(supply), np.cumsum(demand)
    total = min(out[-1], into[-1])
    cuts = np.unique(np.concatenate([[0.0], np.minimum(out, total), np.minimum(into, total)]))
    middle, amount = (cuts[:-1] + cuts[1:]) / 2, np.diff(cuts)
    return np.searchsorted(out, middle), np.searchsorted(into, middle), amount

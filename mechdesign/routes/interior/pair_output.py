"""Bounds on ratios of entries for the interior-point method: one output at a time, in few rows.

Of thousands of rows that an output has, a few for each input are tight at the optimum. A step works
with the rows of the shortest pairs, and with those that have joined since: a row joins, with a
product at the target, once a step would use up its slack. Rows that are left out limit the steps as
well, so that every iterate is inside the whole cone; as their multipliers are 0, the bound is valid
too. On a Euclidean grid of 10 x 10 points this leaves a quarter of the rows, and 47 steps of 91, as
steps are longer where fewer rows are in the way. Source: Tits, Absil and Woessner 2006.

What is kept for a row is its multiplier and the change of that; its slack follows from the column,
a few kilobytes that stay in the cache. The kernels, and LAPACK, which inverts the block B in place,
let other threads run.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cython_lapack

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.outside import called
from mechdesign.routes.interior import pair_kernels as kernels
from mechdesign.routes.interior.kernel import REGULARIZATIONS
from mechdesign.routes.interior.newton import MOST_CHANGE, RESTORING_ROUNDS

__all__ = ["PairBlocks"]


FIRST_ROWS = 8
"""Rows for each input to begin with, in the mean; pairs of one length, but for TIES, together."""

TIES = 1e-9

JOINS = 0.3
"""A row joins once a step would lower its slack by so many times that slack."""


@dataclass(frozen=True)
class PairBlocks:
    """Rows g q[x] <= q[other] of a column, sorted by x; the last of each x is 0 <= q[x].

    Attributes
    ----------
    first
        ``(k + 1,)``: where the rows of each input begin.
    other, g
        ``(n,)``.
    places
        ``(n_rows,)``: where among these n the rows given stand, in their order.
    scale
        ``(n_rows,)``: what each of them was divided by.
    """

    first: Any
    other: Any
    g: FloatArray
    places: IntArray
    scale: FloatArray

    batch = 1
    cheap = False

    @classmethod
    def of(cls, A: sp.csr_array) -> PairBlocks | None:
        """Return the blocks of rows A q <= 0; None if one is no bound on a ratio of two entries."""
        n_rows, k = A.shape
        if n_rows == 0 or (np.diff(A.indptr) != 2).any():
            return None
        rows, values = np.arange(n_rows), A.data.reshape(-1, 2)
        at, low = values.argmax(axis=1), values.argmin(axis=1)
        left, right = values[rows, at], values[rows, low]
        if not ((left > 0) & (right < 0)).all():
            return None
        pairs = A.indices.reshape(-1, 2)
        x, other = pairs[rows, at], pairs[rows, low]
        inputs = np.arange(k)
        order = np.argsort(np.concatenate([x, inputs]), kind="stable")
        places = np.empty(n_rows + k, dtype=np.intp)
        places[order] = np.arange(n_rows + k)
        first = np.concatenate([[0], np.cumsum(np.bincount(x, minlength=k) + 1)])
        return cls(
            first.astype(np.int32),
            np.concatenate([other, inputs])[order].astype(np.int32),
            np.concatenate([-left / right, np.zeros(k)])[order],
            places[:n_rows],
            -right,
        )

    @cached_property
    def x(self) -> IntArray:
        """``(n,)``: the input of each row."""
        return np.repeat(np.arange(self.size), np.diff(self.first))

    @cached_property
    def near(self) -> BoolArray:
        """``(n,)``: the rows to begin with, those of the shortest pairs and q >= 0."""
        wanted = min(len(self.g) - 1, FIRST_ROWS * self.size)
        least = -np.partition(-self.g, wanted)[wanted] * (1 - TIES)
        found: BoolArray = self.g >= least
        found[self.first[1:] - 1] = True
        return found

    @property
    def size(self) -> int:
        """Inputs, k."""
        return len(self.first) - 1

    @property
    def n_vars(self) -> int:
        """Inputs: there are no auxiliary variables."""
        return self.size

    @property
    def n_rows(self) -> int:
        """Rows given."""
        return len(self.places)

    def groups(
        self, cost: FloatArray, counts: FloatArray, start: float, target: FloatArray
    ) -> list[PairOutput]:
        """Return a group for each output."""
        return [
            PairOutput(self, np.ascontiguousarray(c), n, start, float(target[0]))
            for c, n in zip(cost[0].T, counts, strict=True)
        ]


class PairOutput:
    """The column of one output, its multipliers, and Newton steps on them.

    This is what :class:`~mechdesign.routes.interior.newton.OutputGroup` is for general rows.

    Parameters
    ----------
    blocks
        The rows.
    cost
        ``(k,)``.
    count
        How many outputs it stands for.
    start, target
        The entries and, about, the products to begin with.
    """

    n_outputs = 1

    def __init__(
        self, blocks: PairBlocks, cost: FloatArray, count: float, start: float, target: float
    ) -> None:
        self.blocks, self.cost, self.count = blocks, cost, count
        self.q: FloatArray = np.full(blocks.size, start)
        self._choose(blocks.near)
        self._set_multipliers(target / self._slacks(self.q)[self._index])
        self._inverse: FloatArray = np.zeros((blocks.size, blocks.size))

    def _choose(self, chosen: BoolArray) -> None:
        """Work with some of the rows; the others are left out."""
        blocks = self.blocks
        self._states: Any = chosen.astype(np.int8)
        self._index: IntArray = np.flatnonzero(chosen)
        sizes = np.bincount(blocks.x[self._index], minlength=blocks.size)
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        self._rows = (first, blocks.other[self._index], blocks.g[self._index])
        self._own = first[1:] - 1
        n = len(self._index)
        self.rw: FloatArray = np.zeros(n)
        self.dual: FloatArray = np.zeros(n)
        self._spare: FloatArray = np.empty(n)

    def _set_multipliers(self, w: FloatArray) -> None:
        self.w = w
        self.best_q, self._best = self.q, (self._index, w)

    def _slacks(self, q: FloatArray) -> FloatArray:
        return np.asarray(q[self.blocks.other] - self.blocks.g * q[self.blocks.x])

    @property
    def n_products(self) -> float:
        """How many products there are."""
        return self.count * len(self.w)

    @property
    def z(self) -> FloatArray:
        """The multipliers of q >= 0: reduced costs."""
        return np.asarray(self.w[self._own])

    def least_slack_at(self, v: FloatArray) -> float:
        """Return the least slack of a column, ``(1, k, 1)``."""
        return float(self._slacks(v[0, :, 0]).min())

    def start_at(self, v: FloatArray, products: FloatArray) -> None:
        """Set the column, and multipliers such that the products are those of a path."""
        self.q = np.ascontiguousarray(v[0, :, 0])
        given = np.ones(len(self.blocks.g))
        given[self.blocks.places] = products[0, :, 0]
        self._choose(given > 0)
        self._set_multipliers((given / self._slacks(self.q))[self._index])

    def point(self) -> tuple[FloatArray, FloatArray]:
        """Return the column and the products of the rows, 0 for those left out."""
        found = self._whole(self._index, self.w) * self._slacks(self.q)
        return self.q[None, :, None], found[self.blocks.places][None, :, None]

    def _whole(self, index: IntArray, w: FloatArray) -> FloatArray:
        """Return multipliers of all rows from those of some."""
        found: FloatArray = np.zeros(len(self.blocks.g))
        found[index] = w
        return found

    def highest_potentials(self, target: FloatArray) -> FloatArray:
        """Return the potentials at which products q z are the target."""
        self.w[self._own] = 0.0
        return np.asarray(self._columns(self.w) + self.cost - target[0] / self.q)[None]

    def set_reduced_costs(self, potentials: FloatArray) -> None:
        """Set the multipliers of q >= 0 to the reduced costs."""
        self.w[self._own] = 0.0
        self.w[self._own] = self._columns(self.w) + self.cost - potentials[0]

    def _columns(self, w: FloatArray) -> FloatArray:
        out = np.empty_like(self.q)
        kernels.columns(*self._rows, w, out)
        return out

    def value(self) -> FloatArray:
        """Return the loss."""
        return np.array([self.count * (self.cost @ self.q)])

    def row_sums(self) -> FloatArray:
        """Return what each input's entries sum to."""
        return (self.count * self.q)[None]

    def measure_dual(self, potentials: FloatArray) -> FloatArray:
        """Return the largest entry of the dual residual; keep it, and the reduced costs."""
        self.dual_residual = self._columns(self.w) + self.cost - potentials[0]
        self.least_reduced: FloatArray = (self.dual_residual + self.z)[None]
        self.auxiliary_error: FloatArray = np.zeros(1)
        return np.array([np.abs(self.dual_residual).max()])

    def restore_dual_feasibility(self, potentials: FloatArray, allowed: FloatArray) -> None:
        """Change multipliers until A' w + c - pi = 0 holds again, as with general rows."""
        if np.abs(self.dual_residual).max() <= allowed[0]:
            return
        self._invert(restoring=True)
        for _ in range(RESTORING_ROUNDS):
            u = self._solve(-self.dual_residual)
            least = kernels.restoring(*self._rows, self.w, u, self.rw)
            self._move(MOST_CHANGE / max(MOST_CHANGE, -least))
            self.measure_dual(potentials)

    def products(self) -> tuple[FloatArray, FloatArray]:
        """Return the sum of the products, and the least slack."""
        found = kernels.products(*self._rows, self.q, self.w, self.q, self.w, 0.0, 0.0)
        return np.array([self.count * found[0]]), np.array([found[1]])

    def keep(self, lower: Any, higher: Any) -> None:
        """Keep the column with the best value so far, and the multipliers with the best bound."""
        if lower[0]:
            self.best_q = self.q
        if higher[0]:
            self._best = (self._index, self.w)

    @property
    def best_columns(self) -> FloatArray:
        """``(1, k, 1)``."""
        return self.best_q[None, :, None]

    @property
    def best_multipliers(self) -> FloatArray:
        """``(1, n_rows, 1)``."""
        found = self._whole(*self._best)[self.blocks.places] / self.blocks.scale
        return np.asarray(found[None, :, None])

    def factor(self, _ended: Any) -> FloatArray:
        """Invert B; return its part of the Schur complement, the lower triangle."""
        self._invert(restoring=False)
        self.dq: FloatArray = np.zeros_like(self.q)
        self.rw[:] = 0.0
        schur = self._inverse if self.count == 1 else self.count * self._inverse
        return schur[None]

    def _invert(self, *, restoring: bool) -> None:
        for added in REGULARIZATIONS:
            kernels.assemble(*self._rows, self.q, self.w, restoring, added, self._inverse)
            if called("LAPACK", _invert, self._inverse):
                return
        raise SolverError("a matrix has no Cholesky factor")

    def _solve(self, right: FloatArray) -> FloatArray:
        out = np.empty_like(right)
        kernels.symmetric_product(self._inverse, right, out)
        return out

    def state_predictor(self) -> FloatArray:
        """State the Newton step to products of 0 and to a dual residual of 0."""
        return self._state(kernels.PREDICTOR, 0.0, 0.0, 0.0, self.dual_residual)

    def state_corrector(self, target: FloatArray) -> FloatArray:
        """State the correction of the predictor."""
        return self._state(kernels.CORRECTOR, 0.0, 0.0, float(target[0]))

    def state_centrality_corrector(
        self, a: FloatArray, b: FloatArray, target: FloatArray
    ) -> FloatArray:
        """State a correction for products that longer steps a and b would leave far from target."""
        return self._state(kernels.CENTRALITY, float(a[0]), float(b[0]), float(target[0]))

    def _state(
        self, goal: int, a: float, b: float, target: float, residual: FloatArray | float = 0.0
    ) -> FloatArray:
        """State B dv = right for the goals of the rows; return the row sums of dv at d pi = 0."""
        self._goal, self._after = goal, (a, b, target)
        out = np.empty_like(self.q)
        kernels.right_side(*self._step(), goal, *self._after, out)
        self.right = self.rest = out - residual
        self.more: FloatArray = np.zeros_like(self.q)
        return self._sums(self._solve(self.right))

    def _step(self) -> tuple[Any, ...]:
        return (*self._rows, self.q, self.w, self.dq, self.rw)

    def _sums(self, dv: FloatArray) -> FloatArray:
        return (self.count * dv)[None]

    def advance(self, more: FloatArray) -> FloatArray:
        """Solve for the rest of the right side and for more d pi; return the row sums of dv."""
        self.more = self.more + self._solve(self.rest + more[0])
        return self._sums(self.more)

    def measure_rest(self, change: FloatArray) -> FloatArray:
        """Set the rest of the right side to right - B dv; return the row sums it would yet add."""
        applied = np.empty_like(self.q)
        kernels.apply(*self._rows, self.q, self.w, self.more, applied)
        self.rest = self.right - (applied - change[0])
        return self._sums(self._solve(self.rest))

    def lengths(self, shares: FloatArray) -> FloatArray:
        """Return the least relative changes with shares of what was stated last in the step."""
        out = np.empty((len(shares), 2))
        kernels.lengths(*self._step(), self._goal, *self._after, self.more, shares, self.dual, out)
        return out[:, :, None]

    def take(self, share: FloatArray) -> None:
        """Add a share of what was stated last to the step."""
        self.dq = self.dq + share[0] * self.more
        self.rw += share[0] * self.dual

    def products_after(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return what the sum of the products is after steps of length a and b."""
        return np.array([self.count * kernels.products(*self._step(), a[0], b[0])[0]])

    def blocked(self) -> FloatArray:
        """Return the least relative change of slacks of rows left out so far; note what joins."""
        blocks = self.blocks
        least, self._joining = kernels.blocking(
            blocks.first, blocks.other, blocks.g, self.q, self.dq, self._states, JOINS
        )
        return np.array([least])

    def move(self, a: FloatArray, b: FloatArray, target: FloatArray) -> None:
        """Step by a in the column, by b in the multipliers; then rows join."""
        before, self.q = self.q, self.q + a[0] * self.dq
        self._move(float(b[0]))
        if self._joining:
            index, w = self._index, self.w
            self._choose(self._states > 0)
            slacks = np.maximum(self._slacks(before), self._slacks(self.q))[self._index]
            old = np.searchsorted(self._index, index)
            self.w = target[0] / slacks
            self.w[old] = w

    def _move(self, b: float) -> None:
        """Step by b in the multipliers; the best ones are not written over."""
        kernels.move(self.w, self.rw, b, self._spare)
        spare = np.empty_like(self.w) if self._best[1] is self.w else self.w
        self.w, self._spare = self._spare, spare


def _routine(name: str) -> Callable[..., Any]:
    """Return a routine of LAPACK that lets other threads run, as SciPy's own wrappers do not."""
    capsule = ctypes.py_object(vars(cython_lapack)["__pyx_capi__"][name])
    name_of, place_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    place_of.restype, place_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    place = place_of(capsule, name_of(capsule))
    integer = ctypes.POINTER(ctypes.c_int)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_char_p, integer, ctypes.c_void_p, integer, integer)
    return kind(place)


_POTRF, _POTRI = _routine("dpotrf"), _routine("dpotri")


def _invert(B: FloatArray) -> bool:
    """Replace the lower triangle of a matrix by that of its inverse; False if there is none."""
    n, info = ctypes.c_int(len(B)), ctypes.c_int(0)
    # rows here are columns there, so that the lower triangle is the upper one
    for routine in (_POTRF, _POTRI):
        routine(b"U", n, B.ctypes.data, n, info)
        if info.value != 0:
            return False
    return True

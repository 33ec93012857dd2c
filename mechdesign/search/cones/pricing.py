"""The pricing problem of column generation: the extreme ray of least reduced cost.

With potentials u of the inputs, the reduced cost of a ray r for an output y is (c_y - u) . r. A
pricer finds, for every output at once, a ray of low reduced cost, and how far below Sum_x u_x
the loss of any private channel can be; and it has the dual variables that prove that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.evidence.multipliers import FamilyDual
from mechdesign.search.cones.shortest_paths import closure
from mechdesign.solver_guard import called, checked

__all__ = ["PricedColumns", "Pricer", "Start", "closure_start", "inverse"]


NOTHING = 1e-13
"""Entries of an inverse below this share of the largest are rounding errors."""

INVERSE_ERROR = 1e-9
"""How far the product of a matrix and its inverse may be from the identity."""


@dataclass(frozen=True)
class Start:
    """Rays to start with.

    Attributes
    ----------
    rays
        ``(n_inputs, n_rays)``: one for each input, on which it is largest, where there are.
    change
        The inverse of ``rays``, where they are as many as inputs and independent; else None. Rays
        are sparse in the coordinates that it changes to, and those of the start are unit vectors.
    """

    rays: FloatArray
    change: sp.csr_array | None


@dataclass(frozen=True)
class PricedColumns:
    """The result of a pricer at potentials u.

    Attributes
    ----------
    reduced
        ``(n_outputs,)``: the reduced cost of the ray found for each output, where it sums to 1. It
        is negative where that of any ray is.
    shortfall
        A number <= 0 such that no private channel has a loss below Sum_x u_x + shortfall; -inf
        where the search was cut short.
    rays
        Returns the rays of some outputs, ``(n_inputs, n)``, of any size.
    multipliers
        Returns multipliers of rows that prove the shortfall, in the unit of the loss; none where
        the potentials do (:mod:`mechdesign.search.cones.price_search`).
    """

    reduced: FloatArray
    shortfall: float
    rays: Callable[[IntArray], FloatArray]
    multipliers: Callable[[], tuple[FamilyDual, ...]] = tuple


class Pricer(Protocol):
    """Finds rays of least reduced cost in one kind of cone."""

    route: str
    """In a few words, for the report."""

    def start(self) -> Start:
        """Return rays to start with."""

    def price(self, potentials: FloatArray, expired: Callable[[], bool]) -> PricedColumns:
        """Return rays for all outputs.

        Parameters
        ----------
        potentials
            ``(n_inputs,)``, in the unit of the costs.
        expired
            Tells whether to cut the search short.
        """


def closure_start(E: FloatArray) -> Start:
    """Return the rays e**-d(z, x) of the inputs z, d the length of the shortest path from z to x.

    Each is the least column that is 1 at z.
    """
    rays = np.exp(-closure(E)).T
    return Start(rays, inverse(rays))


def inverse(rays: FloatArray) -> sp.csr_array | None:
    """Return the inverse of a square matrix as a sparse one; None if it has none, or a bad one."""
    k, n = rays.shape
    if n != k:
        return None
    try:
        found = checked("LAPACK", called("LAPACK", np.linalg.inv, rays), rays.shape)
    except SolverError:
        return None
    found[np.abs(found) < NOTHING * np.abs(found).max()] = 0.0
    sparse = sp.csr_array(found)
    error = np.abs(sparse @ rays - np.eye(k)).max()
    return sparse if error < INVERSE_ERROR else None

"""What the benchmark of design speed runs: kinds of problem, sizes, contenders, and the goals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mechdesign.problem import Problem
from mechdesign.routes import ROUTES
from problems.families import FAMILIES
from solvers import Solver
from solvers.libqif import solve as libqif
from solvers.ours import by_route
from solvers.textbook import by_conic_solver
from solvers.vectorised import by_backend

__all__ = ["GOALS", "QUICK", "SUITES", "TARGETS", "Suite", "Target", "contenders"]

BACKENDS = ("CLARABEL", "HIGHS", "ECOS", "SCS")


@dataclass(frozen=True)
class Suite:
    """One kind of problem in several sizes.

    Attributes
    ----------
    family
        Its name in :data:`problems.families.FAMILIES`.
    sizes
        Numbers of inputs, or sides of grids, in rising order.
    options
        Passed on to the family.
    limits
        What our routes are told: ``gap``, ``time_limit``.
    only
        The contenders, where not all of them have a chance.
    small
        A size that takes no time.
    """

    family: str
    sizes: tuple[int, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    small: int = 3

    def problem(self, size: int) -> Problem:
        """Return the problem of one size."""
        return FAMILIES[self.family](size, **self.options)


SUITES: dict[str, Suite] = {
    "ldp-numeric": Suite("ldp-numeric", (10, 20, 30, 50, 100, 300)),
    "lip-numeric": Suite("lip-numeric", (10, 20, 30, 50, 100, 200)),
    "line-metric": Suite("line-metric", (10, 20, 30, 100, 300, 1000, 2000)),
    "manhattan-grid": Suite("manhattan-grid", (4, 7, 10, 14, 20), small=2),
    "manhattan-grid, random prior": Suite(
        "manhattan-grid", (4, 7, 10, 14, 20), {"seed": 0}, small=2
    ),
    "euclidean-grid": Suite("euclidean-grid", (5, 7, 8, 10), small=2),
    "euclidean-grid, random prior": Suite("euclidean-grid", (5, 7, 8, 10), {"seed": 0}, small=2),
    "euclidean-grid, random prior, to 0.1 %": Suite(
        "euclidean-grid", (10,), {"seed": 0}, limits={"gap": 1e-3}, only=("ours",), small=2
    ),
    "euclidean-grid, random prior, to 2 %": Suite(
        "euclidean-grid",
        (15,),
        {"seed": 0},
        limits={"gap": 0.02, "time_limit": 180},
        only=("ours",),
        small=2,
    ),
    "random-context-aware": Suite("random-context-aware", (10, 20, 40)),
    "block-grid": Suite("block-grid", (4, 6, 8, 12), small=2),
    "high-low": Suite("high-low", (10, 30, 100)),
    "lip-and-ldp": Suite("lip-and-ldp", (10, 30, 60)),
}
"""Every suite by name; priors are random but for the grids that do not say so."""

QUICK: tuple[tuple[str, ...], tuple[str, ...]] = (
    ("ldp-numeric", "euclidean-grid"),
    ("ours", "textbook", "vectorised:HIGHS", "libqif"),
)
"""Suites and contenders of the quick mode."""


def contenders(limits: Mapping[str, float] | None = None) -> dict[str, Solver]:
    """Return every contender by name: each of our routes, and the peers with default settings.

    ``limits`` is what our routes are told.
    """
    told = limits or {}
    routes = [name for name in ROUTES if name not in ("auto", "cvxpy")]
    return {
        "ours": by_route("auto", "ours", **told),
        **{f"ours:{route}": by_route(route, f"ours:{route}", **told) for route in routes},
        "textbook": by_conic_solver("CLARABEL", "textbook", {}),
        **{
            f"vectorised:{backend}": by_backend(backend, f"vectorised:{backend}", {})
            for backend in BACKENDS
        },
        "libqif": libqif,
    }


@dataclass(frozen=True)
class Target:
    """How many times as fast as a peer ours should be."""

    suite: str
    size: int
    peer: str
    ratio: float


TARGETS = (
    Target("ldp-numeric", 30, "textbook", 100),
    Target("line-metric", 30, "textbook", 100),
    Target("euclidean-grid", 7, "libqif", 10),
    Target("euclidean-grid", 8, "libqif", 10),
    Target("euclidean-grid, random prior", 7, "libqif", 10),
    Target("euclidean-grid, random prior", 8, "libqif", 10),
    Target("random-context-aware", 20, "textbook", 20),
)

GOALS: dict[tuple[str, int], float] = {
    ("ldp-numeric", 50): 0.5,
    ("ldp-numeric", 300): 4,
    ("lip-numeric", 200): 10,
    ("line-metric", 300): 1,
    ("line-metric", 1000): 6,
    ("line-metric", 2000): 25,
    ("manhattan-grid", 10): 1.5,
    ("manhattan-grid", 14): 6,
    ("manhattan-grid", 20): 45,
    ("manhattan-grid, random prior", 10): 1.5,
    ("manhattan-grid, random prior", 14): 6,
    ("manhattan-grid, random prior", 20): 45,
    ("euclidean-grid, random prior", 7): 1.5,
    ("euclidean-grid, random prior", 10): 35,
    ("euclidean-grid, random prior, to 0.1 %", 10): 12,
    ("euclidean-grid", 10): 8,
    ("random-context-aware", 40): 5,
    ("euclidean-grid, random prior, to 2 %", 15): 180,
}
"""Seconds in which ours should be done, proof included, by suite and size."""

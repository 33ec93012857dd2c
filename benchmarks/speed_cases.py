"""Cases of the benchmark of design speed: kinds of problem, sizes, contenders, and the goals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.speed_problems import PROBLEMS
from mechdesign.problem import Problem
from mechdesign.search import ROUTES
from solvers import Solver
from solvers.libqif import solve as libqif
from solvers.ours import by_route
from solvers.textbook import by_conic_solver
from solvers.vectorised import by_backend

GAP = 1e-6
"""Gap that counts as optimal."""

BACKENDS = ("CLARABEL", "HIGHS", "ECOS", "SCS")


@dataclass(frozen=True)
class Suite:
    """One kind of problem in several sizes.

    Attributes
    ----------
    family
        Its name in :data:`benchmarks.speed_problems.PROBLEMS`.
    sizes
        Numbers of inputs, or sides of grids, in rising order.
    options
        Passed on to the family.
    limits
        Options of our routes: ``gap``, ``time_limit``.
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
        return PROBLEMS[self.family](size, **self.options)


def _of_ours(
    family: str, sizes: tuple[int, ...], seed: int | None = None, **limits: float
) -> Suite:
    """Return a suite that only ours has a chance at."""
    options = {} if seed is None else {"seed": seed}
    small = 2 if family.endswith(("grid", "city")) or family.startswith("grid") else 3
    return Suite(family, sizes, options, limits, ("ours",), small)


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
    "city, 5 s": _of_ours("city", (16,), time_limit=5),
    "city, 20 s": _of_ours("city", (16,), time_limit=20),
    "city, 60 s": _of_ours("city", (16,), time_limit=60),
    "city, 120 s": _of_ours("city", (64,), time_limit=120),
    "city, 300 s": _of_ours("city", (256,), time_limit=300),
    "ldp-absolute": _of_ours("ldp-absolute", (1000, 1500, 2000), time_limit=120),
    "euclidean-grid, random prior, 20 s": _of_ours(
        "euclidean-grid", (12,), seed=0, gap=1e-6, time_limit=60
    ),
    "euclidean-grid, random prior, to 0.01 %": _of_ours(
        "euclidean-grid", (15,), seed=0, gap=1e-4, time_limit=120
    ),
    "manhattan-grid, large": _of_ours("manhattan-grid", (30,), seed=0, time_limit=120),
    "worst-case-absolute": Suite("worst-case-absolute", (50, 200), limits={"time_limit": 120}),
    "approximate-ldp": Suite("approximate-ldp", (10, 20, 40, 60), limits={"time_limit": 120}),
    "bounded-prior-ball": Suite("bounded-prior-ball", (20, 60, 200), limits={"time_limit": 120}),
    "context-aware-histogram": _of_ours("context-aware-histogram", (12, 20), time_limit=120),
    "grid-histogram": _of_ours("grid-histogram", (4,), time_limit=120),
    "ldp-histogram": _of_ours("ldp-histogram", (24,), time_limit=120),
    "ldp-information": _of_ours("ldp-information", (16,), time_limit=120),
    "context-aware-information": _of_ours("context-aware-information", (12, 20), time_limit=120),
    "line-information": _of_ours("line-information", (20,), time_limit=120),
    "context-aware-l2-risk": _of_ours("context-aware-l2-risk", (16,), time_limit=120),
    "ldp-numeric, its file": _of_ours("ldp-numeric", (1000,), time_limit=120),
    "lip-numeric, its file": _of_ours("lip-numeric", (1000,), time_limit=120),
}
"""Every suite by name; priors are random, except for grids with a uniform one."""

QUICK: tuple[tuple[str, ...], tuple[str, ...]] = (
    ("ldp-numeric", "euclidean-grid"),
    ("ours", "textbook", "vectorised:HIGHS", "libqif"),
)
"""Suites and contenders of the quick mode."""


def contenders(limits: Mapping[str, float] | None = None) -> dict[str, Solver]:
    """Return every contender by name: each of our routes, and the peers with default settings.

    ``limits`` are the options of our routes.
    """
    options = limits or {}
    routes = [name for name in ROUTES if name not in ("auto", "cvxpy")]
    return {
        "ours": by_route("auto", "ours", **options),
        **{f"ours:{route}": by_route(route, f"ours:{route}", **options) for route in routes},
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


@dataclass(frozen=True)
class Goal:
    """Goals for our routes.

    Attributes
    ----------
    seconds
        Of a run, proof included.
    gap
        At most, as it is proved.
    megabytes, verify
        Of the saved file, and the seconds to load and verify it.
    """

    seconds: float
    gap: float = GAP
    megabytes: float = math.inf
    verify: float = math.inf


GOALS: dict[tuple[str, int], Goal] = {
    ("ldp-numeric", 50): Goal(0.5),
    ("ldp-numeric", 300): Goal(4),
    ("lip-numeric", 200): Goal(10),
    ("line-metric", 300): Goal(1),
    ("line-metric", 1000): Goal(6),
    ("line-metric", 2000): Goal(25),
    ("manhattan-grid", 10): Goal(1.5),
    ("manhattan-grid", 14): Goal(6),
    ("manhattan-grid", 20): Goal(45),
    ("manhattan-grid, random prior", 10): Goal(1.5),
    ("manhattan-grid, random prior", 14): Goal(6),
    ("manhattan-grid, random prior", 20): Goal(45),
    ("euclidean-grid, random prior", 7): Goal(1.5),
    ("euclidean-grid, random prior", 10): Goal(35),
    ("euclidean-grid, random prior, to 0.1 %", 10): Goal(12, 1e-3),
    ("euclidean-grid", 10): Goal(8),
    ("random-context-aware", 40): Goal(5),
    ("euclidean-grid, random prior, to 2 %", 15): Goal(180, 0.02),
    ("city, 5 s", 16): Goal(6.5, 0.15),
    ("city, 20 s", 16): Goal(22, 0.05),
    ("city, 60 s", 16): Goal(64, 0.005),
    ("city, 120 s", 64): Goal(127, 0.25),
    ("city, 300 s", 256): Goal(316, 1.0),
    ("ldp-absolute", 1000): Goal(1),
    ("ldp-absolute", 1500): Goal(2),
    ("ldp-absolute", 2000): Goal(3),
    ("euclidean-grid, random prior, 20 s", 12): Goal(20),
    ("euclidean-grid, random prior, to 0.01 %", 15): Goal(60, 1e-4),
    ("manhattan-grid, large", 30): Goal(60),
    ("worst-case-absolute", 200): Goal(3),
    ("approximate-ldp", 40): Goal(5),
    ("bounded-prior-ball", 60): Goal(5),
    ("bounded-prior-ball", 200): Goal(60),
    ("context-aware-histogram", 12): Goal(30, 1e-4),
    ("context-aware-histogram", 20): Goal(120, 1e-2),
    ("grid-histogram", 4): Goal(60, 1e-4),
    ("ldp-histogram", 24): Goal(5, 1e-9),
    ("ldp-information", 16): Goal(3, 1e-9),
    ("context-aware-information", 12): Goal(60, 1e-3),
    ("context-aware-information", 20): Goal(120, 5e-2),
    ("line-information", 20): Goal(60, 1e-3),
    ("ldp-numeric, its file", 1000): Goal(60, megabytes=2, verify=3),
    ("lip-numeric, its file", 1000): Goal(60, megabytes=2, verify=3),
}
"""Goals for our routes, by suite and size."""

"""Problems of the benchmark of design speed beside the families: other objectives, real cities.

The cities are windows of Gowalla's check-ins, from the folder of data that ``MECHDESIGN_DATA``
names: 16 x 16 cells of a grid of the world around Austin, and all of it (256 x 256), are real;
64 x 64 cells of the United States are semi-synthetic (see the provenance beside the data).
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

import mechdesign as md
from mechdesign.exact import Exact
from mechdesign.files import data_folder
from problems.families import (
    FAMILIES,
    context_aware_information,
    euclidean_grid,
    line_metric,
    random_context_aware,
    random_prior,
)

CITY = "city"


class Window(NamedTuple):
    """A window of a grid of counts, and the budget for a step of a cell."""

    file: str
    shape: tuple[int, int]
    row: int
    column: int
    epsilon: str


WORLD, STATES = "world_256x256_all.csv.gz", "us_cells_semisynthetic.csv.gz"
WINDOWS = {
    16: Window(WORLD, (256, 256), 160, 50, "0.7"),
    64: Window(STATES, (125, 350), 22, 156, "0.175"),
    256: Window(WORLD, (256, 256), 0, 0, "0.1"),
}
"""By the side of the window; smaller ones are corners of the first."""


def missing(family: str) -> str:
    """Return why a family cannot be built here; empty if it can."""
    folder = data_folder()
    if family != CITY or (folder is not None and (folder / "gowalla" / WORLD).exists()):
        return ""
    return "without data (MECHDESIGN_DATA)"


def city(n: int) -> md.Problem:
    """Metric privacy by Euclidean distance for the people of a city, expected distance."""
    window, folder = WINDOWS.get(n, WINDOWS[16]), data_folder()
    if folder is None:
        raise FileNotFoundError(missing(CITY))
    counts = np.zeros(window.shape, dtype=np.int64)
    with gzip.open(folder / "gowalla" / window.file, "rt", encoding="utf-8") as stream:
        for cell in csv.DictReader(stream):
            counts[int(cell["lat_cell"]), int(cell["lon_cell"])] += int(cell["count"])
    counts = counts[window.row : window.row + n, window.column : window.column + n]
    notion = md.MetricPrivacy(window.epsilon, "euclidean")
    prior = md.Prior.from_counts(counts.ravel().tolist())
    return md.Problem(md.Domain.grid(n, n), notion, md.EuclideanDistance(), prior=prior)


def ldp_absolute(k: int, epsilon: Exact = 4) -> md.Problem:
    """LDP at a budget at which a few outputs are best, mean absolute error."""
    return FAMILIES["ldp-numeric"](k, epsilon)


def worst_case_absolute(k: int, epsilon: Exact = 1) -> md.Problem:
    """LDP, the expected absolute error at the number that fares worst."""
    domain = md.Domain.range(k)
    return md.Problem(domain, md.LDP(epsilon), md.MeanAbsoluteError(worst_case=True))


def approximate_ldp(
    k: int, epsilon: Exact = 1, delta: Exact = Fraction(1, 20), seed: int = 0
) -> md.Problem:
    """Approximate LDP, mean absolute error."""
    notion, utility = md.ApproximateLDP(epsilon, delta), md.MeanAbsoluteError()
    return md.Problem(md.Domain.range(k), notion, utility, prior=random_prior(k, seed))


def _with(problem: md.Problem, utility: md.Utility) -> md.Problem:
    """Return the domain, the notions and the prior of a problem with another utility."""
    return md.Problem(problem.domain, problem.privacy, utility, prior=problem.prior)


def _histogram(problem: md.Problem) -> md.Problem:
    return _with(problem, md.PosteriorMeanSquaredError(histogram=True))


PROBLEMS: dict[str, Callable[..., md.Problem]] = {
    **FAMILIES,
    CITY: city,
    "ldp-absolute": ldp_absolute,
    "worst-case-absolute": worst_case_absolute,
    "approximate-ldp": approximate_ldp,
    "context-aware-histogram": lambda k: _histogram(random_context_aware(k)),
    "grid-histogram": lambda n: _histogram(euclidean_grid(n, seed=0)),
    "context-aware-information": context_aware_information,
    "line-information": lambda k: _with(line_metric(k), md.MutualInformation()),
    "context-aware-l2-risk": lambda k: _with(random_context_aware(k), md.L2Risk()),
}
"""Every kind of problem by name; the first argument of each is the size."""

"""The route by a search over decoders, for the squared error of the best estimate of a scalar."""

from __future__ import annotations

from collections.abc import Iterator

from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.route import Route

__all__ = ["DecoderGrid"]

MOST_SEARCHED_TWICE = 64
"""Inputs up to which the general search follows the one by bands, where that ends short."""


class DecoderGrid(Route):
    """Searches for the numbers that an aggregator reads from the outputs.

    Parameters
    ----------
    by_bands
        Whether to use the faster search for columns in a band, where the cone allows it.
    """

    name = "decoder-grid"
    summary = "a search over decoders, for the posterior-mean error of a scalar"

    def __init__(self, by_bands: bool = True) -> None:
        self._by_bands = by_bands

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Ask for the error of the best estimate of a scalar."""
        if problem.utility.scalar_values(problem.domain) is None:
            return None
        return "for fixed decoders the error is linear in the channel"

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Search until the bound is as close as asked."""
        from mechdesign.search.decoders.decoder_grid import solve_decoder_grid  # scipy on demand

        return solve_decoder_grid(problem, limits, by_bands=self._by_bands)

    def alternatives(self, problem: Problem) -> Iterator[DecoderGrid]:
        """Yield the general search, where the one by bands came first."""
        from mechdesign.search.interior.band_cone import Band

        if len(problem.domain) <= MOST_SEARCHED_TWICE and Band.of(problem) is not None:
            yield DecoderGrid(by_bands=False)

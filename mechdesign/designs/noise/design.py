"""The design of noise: law, remap, value, and bounds as long as there is time.

problem -> private noise with the best remap -> bounds from coarse to fine -> proof
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from mechdesign.certify.noise_design import NoiseDesign
from mechdesign.certify.problem import statement_without_problem
from mechdesign.certify.torus_noise import read_torus_noise
from mechdesign.designs.multiplier_tables import rounded_tables
from mechdesign.designs.noise.solution import NoiseSolution, design_table
from mechdesign.designs.solution import EARLY, PrivacyClaim
from mechdesign.errors import LimitError, UnsupportedError
from mechdesign.mechanisms.noise.lattice_noise import GeometricNoise, LatticeNoise, PlanarLaplace
from mechdesign.notions import MetricPrivacy
from mechdesign.problem import Problem
from mechdesign.resources import STEPS_PER_ENTRY, Resources, counted, entries_of
from mechdesign.routes.coarse.lattice import LatticeBound, lattice_bounds
from mechdesign.routes.limits import Limits

__all__ = ["design_noise"]

MOST_PAIRS = 2 * 10**7
"""Pairs of an input with a mass and a square of points up to which a remap is by smaller ones."""

DIGITS = 16
"""Binary digits of multipliers: they change the bound by less than the search leaves open."""


def design_noise(problem: Problem, limits: Limits) -> NoiseSolution:
    """Return noise with the best remap, and the best bound that is found and proved in time.

    Raises
    ------
    UnsupportedError
        If the problem suits no noise.
    InputError
        If the budget of a step is too small or too large for it.
    """
    notion = problem.sole_notion(MetricPrivacy)
    loss, prior = problem.expected_loss, problem.prior
    if notion is None or loss is None or not problem.suits_noise:
        expected = "metric privacy by a named distance on a lattice, and a loss by distance"
        raise UnsupportedError("route", f"{expected}, for noise", repr(problem))
    seconds = limits.stopwatch
    with seconds.phase("solve"):
        kind = PlanarLaplace if _is_planar(problem, notion) else GeometricNoise
        block = _block(problem)
        noise = kind.for_notion(problem.domain, notion).remapped(prior, loss.distance, block)
    proofs = _Proofs(problem, noise)
    with seconds.phase("certify"), counted(stop=limits.proof_stop()) as work:
        value = proofs.design(None).value()
        steps = work.apart
    reserve = 2 * seconds.timings["certify"]
    limits.keep(reserve)
    with seconds.phase("solve"):
        bounds = list(lattice_bounds(problem, float(value), limits))
    with seconds.phase("certify"):
        bound, dual, found, notes = proofs.best(bounds, limits)
    notes = [*notes, *_read_notes(steps, proofs.entries(dual))]
    if found is not None:
        said = f"{found.n_inputs} of {len(problem.domain):,} inputs stand for all in the bound"
        notes.insert(0, f"Coarse to fine: {said}, and {found.n_cells:,} rectangles for outputs")
    if limits.ended:
        notes.insert(0, f"{EARLY}: {limits.ended}")
    if block > 1:
        notes.append(f"Reports are replaced alike in squares of {block} x {block} points")
    return NoiseSolution(
        problem=problem,
        channel=noise,
        value=value,
        bound=bound,
        privacy=(PrivacyClaim(notion, noise.leakage),),
        route=f"noise: {noise.name} with the best remap",
        why="the inputs are too many for a matrix, and noise is given by a few integers",
        considered=(),
        notes=tuple(notes),
        certificate={"theorem": None, "dual": dual},
        decoder=None,
        seconds=seconds.seconds,
        timings=dict(seconds.timings),
    )


def _is_planar(problem: Problem, notion: MetricPrivacy) -> bool:
    return notion.distance == "euclidean" and problem.domain.grid_shape is not None


def _block(problem: Problem) -> int:
    """Return the side of squares of points of which there are few enough."""
    massive = int((problem.prior.array > 0).sum())
    return max(1, math.ceil(math.sqrt(massive * len(problem.domain) / MOST_PAIRS)))


class _Proofs:
    """What the checker says of a noise, and of bounds."""

    def __init__(self, problem: Problem, noise: LatticeNoise) -> None:
        self._problem, table = problem.to_table(), noise.to_table()
        self._privacy = table["privacy"]
        self._statement = statement_without_problem(table["domain"])
        asked = (table["mechanism"], self._statement, self._privacy, table["law"])
        self._noise = read_torus_noise(*asked)
        self._own = entries_of(table)

    def design(self, dual: dict[str, Any] | None) -> NoiseDesign:
        """Return the design as the checker reads it."""
        table = design_table(self._problem, dual)
        return NoiseDesign(self._statement, self._privacy, self._noise, table)

    def entries(self, dual: dict[str, Any] | None) -> int:
        """Return how many entries a file has."""
        return self._own + entries_of(design_table(self._problem, dual))

    def best(
        self, bounds: list[LatticeBound], limits: Limits
    ) -> tuple[Fraction, dict[str, Any] | None, LatticeBound | None, list[str]]:
        """Return the bound of the last evidence that is proved in time; and what is to be said."""
        notes, stop = list[str](), limits.proof_stop()
        for found in reversed(bounds):
            tables = rounded_tables(found.dual.families, DIGITS)
            dual = {"rows": tables, **found.dual.evidence}
            entries = self.entries(dual)
            try:
                with counted(entries, stop) as work:
                    bound = self.design(dual).bound(dual)
            except LimitError as error:
                notes.append(f"a closer bound is not proved: {error}")
                continue
            return bound, dual, found, [*notes, *_read_notes(work.apart, entries)]
        return Fraction(0), None, None, notes


def _read_notes(steps: int, entries: int) -> list[str]:
    """Return what a reader must allow, if it is more than what is allowed."""
    if steps <= Resources().steps + STEPS_PER_ENTRY * entries:
        return []
    more = 10 ** len(str(steps))
    return [f"a reader must allow more work: verify with --allow steps={more}"]

"""The design of noise: its law, remap and value, and the best bound within the time limit.

problem -> private noise with the best remap -> bounds from coarse to fine -> proof
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from mechdesign._typing import Int64Array
from mechdesign.designs.answers import asked_of_readers, too_long
from mechdesign.designs.solution import EARLY, PrivacyClaim, Solution
from mechdesign.domain import Domain
from mechdesign.errors import LimitError, SolverError, UnsupportedError
from mechdesign.evidence.rows import block, rounded
from mechdesign.kernel.certificate import Certificate, Steps
from mechdesign.kernel.laws import Laws
from mechdesign.kernel.laws.design import loss_of_noise, loss_steps
from mechdesign.kernel.laws.torus import Torus, TorusNoise
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.names import ProblemTable, compile_problem
from mechdesign.kernel.oracles import Orthant
from mechdesign.kernel.packed import Numbers, Weights
from mechdesign.kernel.relaxations import Cells, Representatives, Tiles
from mechdesign.kernel.schema import read, write
from mechdesign.mechanisms.lattice_noise import GeometricNoise, LatticeNoise, PlanarLaplace
from mechdesign.notions import MetricPrivacy
from mechdesign.problem import Problem
from mechdesign.resources import current
from mechdesign.search.coarse.lattice import lattice_bounds
from mechdesign.search.coarse.representatives import CoarseBound
from mechdesign.search.limits import Limits

Designer: TypeAlias = Callable[[Problem, float, float], Solution]
"""Designs a problem with a gap and a time limit."""

MOST_PAIRS, SMALL = 2 * 10**7, 1.0
"""Largest number of pairs of an input with mass and a square of points for a remap by smaller
squares; and the largest exponent of the noise along a small square."""

MOST_STEPS, SHARE, REACH_NATS = 3 * 10**8, 0.15, 28
"""Kernel steps for the loss of individually replaced reports, the share of the time limit for them,
and the exponent of the noise up to the inputs that affect one."""

TILES, TILE_SECONDS, TILE_GAP, ALIKE = ((60, 10), (15, 8), (3, 6), (1, 4)), 120.0, 0.02, 0.5
"""Side lengths of a tile by the seconds left; the time and the gap of the solution of a tile; and
the share of the prior in tiles of equal mass from which it is used: on 256 x 256 points with
epsilon 1 a step, 8 x 8 prove 76 percent of plain noise, 10 x 10 80."""

LEAST = 1e-9
"""Smaller relative savings are not worth a remap table."""

POINT_SECONDS = 2e-5
"""Least seconds per point for the statement and the sum of its loss."""

STEPS_A_SECOND, PROOF_STEPS_A_SECOND = 10_000_000, 5_500_000
"""Steps per second of the loss, most of which are entries of long lists (measured: 16 to 36
million), and of the bound (measured: 4.2 to 4.7 million; at a time limit of 20 s it may end at
25)."""

FEWEST_STEPS = 4_000_000
"""Steps that every proof may take, so that a large grid has a bound."""

DIGITS = 16
"""Binary digits of multipliers: their rounding changes the bound by less than the gap."""


def design_noise(problem: Problem, limits: Limits, design: Designer | None = None) -> Solution:
    """Return noise with the best remap, and the best bound proved within the time limit."""
    notion = problem.sole_notion(MetricPrivacy)
    loss = problem.expected_loss
    if notion is None or loss is None or not problem.suits_noise:
        expected = "metric privacy by a named distance on a lattice, and a loss by distance"
        raise UnsupportedError("route", f"{expected}, for noise", repr(problem))
    k = len(problem.domain)
    if k * POINT_SECONDS > limits.longest:
        most = int(limits.longest / POINT_SECONDS)
        told = f"noise on {k:,} points takes about {k * POINT_SECONDS:.0f} s"
        raise SolverError(
            f"{told}: for a time limit of {limits.seconds:g} s there may be {most:,} points"
        )
    with limits.phase("solve"):
        is_planar = notion.distance == "euclidean" and problem.domain.grid_shape is not None
        plain = (PlanarLaplace if is_planar else GeometricNoise)(problem.domain, notion)
    proofs = _Proofs(problem, limits)
    noise, value, remap_notes = _best_remap(problem, plain, loss.distance, proofs, limits)
    reserve = 2 * limits.timings["certify"]
    limits.keep(reserve)
    tiles, bounds = list[Certificate](), list[CoarseBound]()
    with limits.phase("solve"):
        if design is not None and not problem.is_written_out:
            tiles += _tiled(problem, plain.law.sides, limits, design)
        if design is not None and not tiles:
            steps = PROOF_STEPS_A_SECOND * max(reserve, limits.seconds / 4)
            bounds += lattice_bounds(problem, float(value), limits, steps / k)
    with limits.phase("certify"):
        bound, certificate, found, notes = proofs.best(noise, tiles, bounds)
    if found is not None:
        said = f"{found.proof.n_inputs} of {k:,} inputs stand for all in the bound"
        notes.insert(0, f"Coarse to fine: {said}, and {len(found.cells):,} rectangles for outputs")
    if limits.ended:
        notes.insert(0, f"{EARLY}: {limits.ended}")
    notes += remap_notes
    return Solution(
        problem=problem,
        channel=noise,  # type: ignore[arg-type]
        value=value,
        bound=bound,
        privacy=(PrivacyClaim(notion, noise.leakage),),
        route=f"noise: {noise.name}" + " with the best remap" * (noise.remap is not None),
        why="the inputs are too many for a matrix, and noise is given by a few integers",
        notes=tuple(notes),
        certificate=certificate,
        seconds=limits.elapsed,
        timings=dict(limits.timings),
    )


def _best_remap(
    problem: Problem, plain: LatticeNoise, distance: str, proofs: _Proofs, limits: Limits
) -> tuple[LatticeNoise, Fraction, list[str]]:
    """Return plain noise, or with a remap of smaller loss; its exact loss; and notes.

    If there are too many posteriors, either points are replaced in squares, if these are small
    compared to the noise, or the individual points that save most are.
    """
    prior, k = problem.prior, len(problem.domain)
    with limits.phase("certify"):
        value = proofs.value(plain)
    losses, exponent = plain.losses(prior, distance), plain.exponent
    with limits.phase("solve"):
        block = max(1, math.ceil(math.sqrt(int((prior.array > 0).sum()) * k / MOST_PAIRS)))
        found = list[tuple[float, str, Int64Array]]()
        if block * exponent < SMALL or block == 1:
            said = f"Reports are replaced alike in squares of {block} x {block} points"
            table, total = losses.remap(exponent, block)
            found.append((total, said * (block > 1), table))
        if block > 1:
            wide = min(2 * REACH_NATS / exponent, *plain.law.sides)
            steps = limits.steps(MOST_STEPS, SHARE * STEPS_A_SECOND)
            table, saved = losses.moves(exponent, int(steps / (wide * (20 + 2 * wide))))
            said = f"{int((table != np.arange(k)).sum()):,} reports are replaced"
            found.append((float(value) - saved, said, table))
        total, said, table = min(found)
    if total < (1 - LEAST) * value:
        remapped = plain.replacing(table)
        with limits.phase("certify"), contextlib.suppress(SolverError):
            lost = proofs.value(remapped)
            if lost < value:
                return remapped, lost, [said] * bool(said)
    return plain, value, []


def _tiled(
    problem: Problem, sides: tuple[int, int], limits: Limits, design: Designer
) -> list[Certificate]:
    """Return the proof that every tile of a grid loses as much as one; none if few are equal."""
    seconds = min(limits.left, TILE_SECONDS)
    side = next((n for least, n in TILES if seconds >= least), 2)
    a, b = (min(side if min(sides) > 1 else side**2, n) for n in sides)
    prior = problem.prior.array.reshape(sides)[: sides[0] // a * a, : sides[1] // b * b]
    parts = prior.reshape(sides[0] // a, a, sides[1] // b, b)
    share = float(parts.min(axis=(1, 3)).sum()) * a * b
    if share < ALIKE:
        return []
    labels = [x for n, x in enumerate(problem.domain) if n // sides[1] < a and n % sides[1] < b]
    step = problem.domain.lattice[1] if problem.domain.lattice else 1
    tile = Domain(labels) if problem.domain.grid_shape is None else Domain.grid(a, b, step)
    small = Problem(tile, problem.privacy, problem.utility)
    found = design(small, TILE_GAP, max(seconds, 1.0)).certificate
    if found is None:
        return []

    def shrunk(numbers: Numbers) -> list[float]:
        return [share * float(v) for v in numbers]

    blocks = [replace(one, weight=Weights(shrunk(one.weight))) for one in found.multipliers]
    prices = None if found.prices is None else Numbers(shrunk(found.prices))
    relaxations = (Tiles((a, b)), *found.relaxations)
    return [replace(found, relaxations=relaxations, multipliers=tuple(blocks), prices=prices)]


class _Proofs:
    """The kernel's results for noise and its bounds."""

    def __init__(self, problem: Problem, limits: Limits) -> None:
        # in the file of a law the outputs are the inputs
        self._table = {key: v for key, v in problem.to_table().items() if key != "outputs"}
        table, self._limits = read(ProblemTable, self._table), limits
        named = replace(table, outputs=table.domain.inputs().labels)
        self._statement = compile_problem(named).statement

    def _law(self, noise: LatticeNoise) -> tuple[Torus, int]:
        """Return the law in the kernel, and the steps to check its privacy."""
        law, part = read(Laws, noise.to_table()["law"]), self._statement.cone[0]
        k = self._statement.k
        assert isinstance(law, TorusNoise)  # noqa: S101 (for mypy)
        return law.leak(part, k), law.steps(part, k) + 100 * k

    def value(self, noise: LatticeNoise) -> Fraction:
        """Return the loss of a noise."""
        law, _ = self._law(noise)
        seconds = loss_steps(law, self._statement) / STEPS_A_SECOND
        if seconds > self._limits.longest:
            what = f"the loss of noise on {self._statement.k:,} points"
            given = f"a time limit of {self._limits.seconds:g} s"
            raise SolverError(f"{what} takes about {seconds:.0f} s, too long for {given}")
        return loss_of_noise(law, self._statement)

    def best(
        self, noise: LatticeNoise, tiles: list[Certificate], bounds: list[CoarseBound]
    ) -> tuple[Fraction, Certificate, CoarseBound | None, list[str]]:
        """Return the bound of the last evidence proved in time, and notes."""
        notes, (n, m) = list[str](), noise.law.sides
        named = [(one, self._certificate(one)) for one in reversed(bounds)]
        for found, certificate in [*((None, tile) for tile in tiles), *named]:
            try:
                bound, note = self._proved(noise, certificate)
            except LimitError as error:
                notes.append(f"a closer bound is not proved, {too_long(error, self._limits)}")
                continue
            if bound > 0:
                return bound, certificate, found, [*notes, *note]
        # a rectangle of all outputs has loss 0
        trivial = Certificate(Costs(), Orthant(), (Cells(((0, n - 1, 0, m - 1),)),))
        bound, note = self._proved(noise, trivial, is_trivial=True)
        return bound, trivial, None, [*notes, *note]

    def _certificate(self, found: CoarseBound) -> Certificate:
        """Return multipliers of representatives, for rectangles of outputs."""
        parts = found.proof.renumbered(rounded(found.proof.duals, DIGITS))
        relaxations = Cells(found.cells), Representatives(found.proof.stands)
        return Certificate(Costs(), Orthant(), relaxations, tuple(map(block, parts)))

    def _proved(
        self, noise: LatticeNoise, certificate: Certificate, *, is_trivial: bool = False
    ) -> tuple[Fraction, list[str]]:
        """Return the bound, and a note on a reader's limit, if it exceeds the default."""
        law, own = self._law(noise)
        most = current().proof_steps
        if not is_trivial:
            most = max(FEWEST_STEPS, self._limits.proof_steps(most, PROOF_STEPS_A_SECOND))
        steps = Steps(most)
        bound = certificate.bound(self._statement, steps)
        needed = max(steps.spent, own, loss_steps(law, self._statement))
        named = {"law": noise.to_table()["law"], "certificate": write(certificate)}
        return bound, asked_of_readers(needed, problem=self._table, **named)

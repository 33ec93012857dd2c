"""The design of noise: law, remap, value, and bounds as long as there is time.

problem -> private noise with the best remap -> bounds from coarse to fine -> proof
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from mechdesign.designs.multipliers import rounded
from mechdesign.designs.noise.solution import NoiseSolution, problem_table
from mechdesign.designs.solution import EARLY, PrivacyClaim
from mechdesign.errors import LimitError, UnsupportedError
from mechdesign.kernel.certificate import Certificate, Steps
from mechdesign.kernel.generators import Block
from mechdesign.kernel.laws import Laws
from mechdesign.kernel.laws.design import loss_of_noise, loss_steps
from mechdesign.kernel.laws.torus import TorusNoise
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.names import ProblemTable, compile_problem
from mechdesign.kernel.oracles import Orthant
from mechdesign.kernel.packed import Places, Weights
from mechdesign.kernel.relaxations import Cells, Representatives
from mechdesign.kernel.schema import read, write
from mechdesign.mechanisms.noise.lattice_noise import GeometricNoise, LatticeNoise, PlanarLaplace
from mechdesign.notions import MetricPrivacy
from mechdesign.problem import Problem
from mechdesign.resources import STEPS_PER_ENTRY, Resources, current, entries_of
from mechdesign.routes.coarse.lattice import LatticeBound, lattice_bounds
from mechdesign.routes.limits import Limits

__all__ = ["design_noise"]

MOST_PAIRS = 2 * 10**7
"""Pairs of an input with a mass and a square of points up to which a remap is by smaller ones."""

STEPS_A_SECOND = 10_000_000
"""Steps of a proof that are taken in a second, at least: most are entries of long lists."""

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
    with seconds.phase("certify"):
        value = proofs.value()
    reserve = 2 * seconds.timings["certify"]
    limits.keep(reserve)
    with seconds.phase("solve"):
        bounds = list(lattice_bounds(problem, float(value), limits))
    with seconds.phase("certify"):
        bound, certificate, found, notes = proofs.best(bounds, limits)
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
        certificate=certificate,
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
    """What the kernel says of a noise, and of bounds."""

    def __init__(self, problem: Problem, noise: LatticeNoise) -> None:
        self._tables = [noise.to_table()["law"], problem_table(problem)]
        law, table = read(Laws, self._tables[0]), read(ProblemTable, self._tables[1])
        assert isinstance(law, TorusNoise)  # noqa: S101 (for mypy)
        self._compiled = compile_problem(replace(table, outputs=table.domain.inputs().labels))
        self._statement = self._compiled.statement
        part, k = self._statement.cone[0], self._statement.k
        self._noise = law.leak(part, k)
        self._steps = max(law.steps(part, k) + 100 * k, loss_steps(self._noise, self._statement))

    def value(self) -> Fraction:
        """Return the loss."""
        return loss_of_noise(self._noise, self._statement)

    def best(
        self, bounds: list[LatticeBound], limits: Limits
    ) -> tuple[Fraction, Certificate, LatticeBound | None, list[str]]:
        """Return the bound of the last evidence that is proved in time; and what is to be said."""
        notes = list[str]()
        for found in reversed(bounds):
            certificate = self._certificate(found)
            try:
                bound, note = self._proved(certificate, limits.proof_seconds())
            except LimitError as error:
                notes.append(f"a closer bound is not proved: {error}")
                continue
            if bound > 0:
                return bound, certificate, found, [*notes, *note]
        n, m = self._noise.sides  # a rectangle of all outputs loses nothing
        trivial = Certificate(Costs(), Orthant(), (Cells(((0, n - 1, 0, m - 1),)),))
        bound, note = self._proved(trivial, None)
        return bound, trivial, None, [*notes, *note]

    def _certificate(self, found: LatticeBound) -> Certificate:
        """Return multipliers of representatives, for rectangles of outputs."""
        stands = tuple(found.dual.evidence["representatives"])
        at = {x: n for n, x in enumerate(sorted(set(stands)))}
        cells = tuple((a, b, c, d) for a, b, c, d in found.dual.evidence["cells"])
        blocks = []
        for part in rounded(found.dual.families, DIGITS):
            m = part.multipliers
            node, weight = Places(m.output.tolist()), Weights(m.weight.tolist())
            x, other = (Places(at[x] for x in places.tolist()) for places in (m.x, m.other))
            blocks.append(Block("cone", 0, node, x, weight, other))
        relaxations = Cells(cells), Representatives(stands)
        return Certificate(Costs(), Orthant(), relaxations, tuple(blocks))

    def _proved(
        self, certificate: Certificate, seconds: float | None
    ) -> tuple[Fraction, list[str]]:
        """Return the bound, and what a reader must allow, if it is more than what is allowed."""
        entries = entries_of([*self._tables, write(certificate)])
        usual = Resources().steps + STEPS_PER_ENTRY * entries
        most = max(usual, current().proof_steps)
        if seconds is not None:
            most = min(most, int(max(0.1, seconds) * STEPS_A_SECOND))
        steps = Steps(most)
        bound = certificate.bound(self._statement, steps)
        needed = max(steps.spent, self._steps)
        note = f"a reader must allow more work: verify with --allow steps={10 ** len(str(needed))}"
        return bound, [note] * (needed > usual)

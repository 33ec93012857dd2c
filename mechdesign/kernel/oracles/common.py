"""Shared by oracles and by sources of rays: weights, blocks, and the bounds of a cone on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mechdesign.kernel.arithmetic import need, over_one_denominator, scaled
from mechdesign.kernel.gains import Gain, Vector
from mechdesign.kernel.generators import Constant, distribution
from mechdesign.kernel.objectives import Risk
from mechdesign.kernel.proof import Cost
from mechdesign.kernel.schema import Kind
from mechdesign.kernel.statement import Statement
from mechdesign.resources import check_size

GRID = 96
"""Bounds of cones are over 2**GRID, rounded outward."""


def natural(statement: Statement) -> Vector:
    """Return the weights of the objective: those of inputs, or the p of a gain."""
    aim, found = statement.objective, None
    if isinstance(aim, Gain):
        found = aim.p
    elif aim is not None:
        found = aim.prior if isinstance(aim, Risk) else aim.weights
    need(found is not None, "an objective without weights")
    return found or ()


def integers(weights: Vector, k: int) -> list[int]:
    """Return weights >= 0 as integers; a positive factor does not matter."""
    need(len(weights) == k, "expected a weight for each input")
    found, _ = over_one_denominator(weights)
    need(min(found) >= 0, "a negative weight")
    return found


def distinct(lists: Sequence[Sequence[int]], k: int) -> None:
    """Raise CertificateError unless the lists contain inputs without duplicates."""
    members = [x for part in lists for x in part]
    need(len(set(members)) == len(members), "blocks or groups overlap")
    need(
        all(lists) and max(members, default=0) < k,
        "a block is empty, or names an input that does not exist",
    )


def parts_of(blocks: tuple[tuple[int, ...], ...] | None, k: int) -> tuple[tuple[int, ...], ...]:
    """Return checked blocks; None is one block of all inputs."""
    found = (tuple(range(k)),) if blocks is None else blocks
    distinct(found, k)
    return found


def scales(statement: Statement) -> list[Fraction]:
    """Return the s of q_x = s_x r_x: 1 / P_x for ratios that are all scaled by one prior P, else 1.

    Bounds on ratios that are scaled by P are plain bounds on ratios of P_x q_x.
    """
    priors = {part.prior for part in statement.ratios}
    prior = priors.pop() if len(priors) == 1 else None
    return [1 / mass for mass in prior] if prior else [Fraction(1)] * statement.k


def ceilings(
    statement: Statement, block: Sequence[int], scale: Sequence[Fraction] | None = None
) -> list[int | None]:
    """Return the largest bound on r_x / r_z over z of a block, at least 1, for each x.

    r_x is q_x, over ``scale`` if given.
    Over ``2**GRID`` and rounded up: the cone grows. None if some z gives no bound. Inputs that no
    generator distinguishes have the same bounds, computed once.
    """
    kinds: dict[tuple[object, ...], list[int]] = {}
    names = []
    for x in block:
        name: list[object] = []
        for part in statement.ratios:
            e = part.exponents
            if isinstance(e, Constant):
                name += [e.block and e.block[x], e.protected is None or x in e.guarded]
                name.append(part.prior and part.prior[x])
            else:
                name.append(x)
        names.append(tuple(name))
        kinds.setdefault(names[-1], []).append(x)
    found: dict[tuple[object, ...], int | None] = {}
    for name_x, (x, *more) in kinds.items():
        others = [z for (z, *_) in kinds.values() if z != x] + more[:1]
        known = [statement.ratio(x, z) for z in others]
        factors = [scale[z] / scale[x] if scale else 1 for z in others]
        bounds = [m * f for m, f in zip(known, factors, strict=True) if m is not None]
        whole = scaled(max([Fraction(1), *bounds]), up=True, bits=GRID)
        found[name_x] = whole if len(bounds) == len(known) else None
    return [found[name] for name in names]


def lift_ends(statement: Statement, p: Vector) -> tuple[int, int | None]:
    """Return bounds on q_x / (p . q) of all lifts that hold at p, over ``2**GRID``.

    They are rounded outward: the cone grows. The upper one is None if there is none.
    """
    distribution(p, statement.k)
    low, high = statement.lift(p)
    top = None if high is None else scaled(high, up=True, bits=GRID)
    return scaled(low, bits=GRID), top


ONE = 1 << GRID

GAINS = "the rays of this source are for gains"

Ray = Sequence[int]
"""A ray, times any number > 0."""


@dataclass(frozen=True)
class Found:
    """Rays, and the rest that they do not generate.

    ``rays``: integers >= 0.
    ``claim``: A number c, over UNIT and some integer: no unlisted ray needs more than c of the
        weights. None if all rays are listed.
    ``rest``: if every column is a mixture of the rays plus a rest e >= 0, linear in the column:
        maps D >= 0 to coefficients of a linear form that is at least D . e on all private columns.
    """

    rays: Sequence[Ray]
    claim: tuple[int, int] | None = None
    rest: Callable[[list[int]], list[int]] | None = None


@dataclass(frozen=True)
class Ask:
    """The test of a ray: a gain and the prices, which fall along the weights of the gain."""

    gain: Gain
    prices: Cost

    def alike(self, x: int, z: int) -> bool:
        """Return whether gain and prices are invariant when two inputs are swapped."""
        return self.prices[x] == self.prices[z] and self.gain.alike(x, z)


class Source(Kind, ABC):
    """A source of rays. Each states the cone that they generate, and why it is large enough."""

    @abstractmethod
    def __call__(self, statement: Statement, ask: Ask | None) -> Found:
        """Return the rays, for a gain, or for linear costs (None)."""

    @abstractmethod
    def count(self, statement: Statement) -> int:
        """Return the approximate number of rays."""

    def steps(self, statement: Statement) -> int:
        """Return the work of listing them, from sizes."""
        return 4 * statement.k * (self.count(statement) + 10 * statement.k)


def limited(count: int) -> None:
    """Raise LimitError if there are more rays than the reader allows."""
    check_size("rays", count, "rays of a certificate")


def units(
    statement: Statement, blocks: Sequence[Sequence[int]], scale: Sequence[Fraction]
) -> tuple[list[Ray], list[list[int | None]]]:
    """Return unbounded inputs as single rays; and all bounds of scaled entries by block."""
    bounds = [ceilings(statement, block, scale) for block in blocks]
    limits = {
        x: m
        for block, found in zip(blocks, bounds, strict=True)
        for x, m in zip(block, found, strict=True)
    }
    k = statement.k
    alone: list[Ray] = [[int(x == z) for z in range(k)] for x in range(k) if limits.get(x) is None]
    return alone, bounds


def spread(block: Sequence[int], entries: Sequence[int], factors: Sequence[int]) -> Ray:
    """Return a ray that is 0 outside of a block, and in it these entries times factors."""
    found = [0] * len(factors)
    for x, v in zip(block, entries, strict=True):
        found[x] = v * factors[x]
    return found

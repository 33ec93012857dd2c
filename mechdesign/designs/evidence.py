"""From the dual variables of a route to a certificate of the kernel.

Nothing here is trusted: whatever multipliers and prices come out, the kernel makes them safe.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from mechdesign.designs.box_evidence import boxes
from mechdesign.designs.multipliers import SideMultipliers, block_of, shortened
from mechdesign.errors import UnsupportedError
from mechdesign.exact import as_fraction
from mechdesign.kernel.arithmetic import BITS, scaled
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Block, Latent, Lift, Listed
from mechdesign.kernel.limits import NOTHING, Gauge
from mechdesign.kernel.linearizations import (
    AsGain,
    Costs,
    Decoders,
    Estimator,
    Linearizations,
    Readings,
)
from mechdesign.kernel.names import Compiled
from mechdesign.kernel.objectives import GainObjective, Loss, Reading, Risk
from mechdesign.kernel.oracles import (
    Entropy,
    Knapsack,
    Line,
    OneBudget,
    Oracles,
    Orthant,
    Products,
    Rays,
)
from mechdesign.kernel.oracles.sources import (
    Classes,
    DoubleDescription,
    Sources,
    Subsets,
    Walk,
)
from mechdesign.kernel.packed import Numbers, Places, Weights
from mechdesign.kernel.proof import least
from mechdesign.kernel.relaxations import (
    Average,
    Implied,
    Members,
    Relaxations,
    Representatives,
)
from mechdesign.notions.non_conic.excess_constraint import ExcessConstraint
from mechdesign.notions.rows.row import LATENT
from mechdesign.prior_sets import Weights as Prior
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, EstimationData, Information
from mechdesign.routes.cones.input_line import InputLine
from mechdesign.routes.cones.one_budget import OneBudgetCone

__all__ = [
    "blocks_of",
    "ceiling_of",
    "certificate_of",
    "estimator",
    "limit_rows",
    "members_of",
]

FAR = 100
"""Where values are farther from 0 than so many times their range, prices stay exact."""

SLACK, MOST_PROBES = Fraction(1, 10**9), 2000
"""What the gaps between probes may take off the bound, as a share of the largest square; and how
many probes there are at most."""

LIFTS = ("upper", "lower")
MOST_SUBSETS = 1 << 14
"""Rays up to which subsets are listed, where inputs are not alike."""

Prices = Sequence[float]
Groups = tuple[tuple[int, ...], ...]


def certificate_of(
    problem: Problem, compiled: Compiled, dual: Dual, spare: Callable[[], float]
) -> Certificate:
    """Return the certificate that dual variables are.

    Parameters
    ----------
    problem, compiled
        What was asked, and the same as the kernel reads it.
    dual
        The dual variables.
    spare
        How much the bound may fall by leaving out multipliers, in the unit of the loss.

    Raises
    ------
    UnsupportedError
        If they prove nothing.
    """
    return _Evidence(problem, compiled, dual).certificate(spare)


def members_of(
    compiled: Compiled, priors: Iterable[tuple[int, Sequence[Prior]]]
) -> dict[int, list[Prior]]:
    """Return the members of sets of priors that rows are about, by the place of the generator."""
    found: dict[int, list[Prior]] = {}
    for notion, listed in priors:
        cone = compiled.parts[notion].cone
        if not len(cone):
            continue
        place, part = cone.start, compiled.statement.cone[cone.start]
        lift = part.inner if isinstance(part, Latent) else part
        if not isinstance(lift, Lift):
            continue
        if isinstance(lift.priors, Listed) and lift.priors.count == 1:
            continue
        have = found.setdefault(place, [])
        have += [p for p in dict.fromkeys(listed) if p not in have and lift.priors.has(p)]
    return found


def blocks_of(
    problem: Problem,
    compiled: Compiled,
    parts: Iterable[SideMultipliers],
    members: dict[int, list[Prior]],
) -> list[Block]:
    """Return multipliers as the kernel has them: of generators, and of parts of limits."""
    found: list[Block] = []
    for part in parts:
        m, at = part.multipliers, compiled.parts[part.notion]
        side = m.side.removeprefix(LATENT)
        node, x, other = (Places(numbers.tolist()) for numbers in (m.output, m.x, m.other))
        weight = Weights(m.weight.tolist())
        if len(at.cone):
            place = at.cone.start
            if side in LIFTS and place in members:
                numbers = [members[place].index(tuple(p)) for p in part.priors]
                other = Places(numbers[n] for n in other)
            of = side if side in LIFTS else ""
            found.append(
                Block("cone", place, node, x, weight, other if any(other) else Places(), of)
            )
            continue
        rows = limit_rows(problem, compiled, part.notion)
        places = [rows[m.side, a, b] for a, b in zip(x, other, strict=True)]
        first = min(place for place, _ in places)
        after = Places(place - first for place, _ in places)
        parts_ = Places(number for _, number in places)
        found.append(Block("limit", first, node, parts_, weight, after if any(after) else Places()))
    return found


def limit_rows(
    problem: Problem, compiled: Compiled, notion: int
) -> dict[tuple[str, int, int], tuple[int, int]]:
    """Return the limit and the part that each row of a notion on the whole channel is."""
    constraint, found = problem.channel_constraints[notion], {}
    if not isinstance(constraint, ExcessConstraint):
        return {}
    limits = compiled.parts[notion].limits
    for place, excess in zip(limits, constraint.excesses, strict=True):
        limit = compiled.statement.limits[place]
        first = int(isinstance(limit, Gauge) and limit.parts[0] == NOTHING)
        for part, row in enumerate(excess.rows, first):
            found[excess.side, row.x, row.other] = (place, part)
    return found


def ceiling_of(problem: Problem) -> float:
    """Return what a gain is more than, by the loss that stands for it; 0 for a loss."""
    return float(problem.utility.ceiling) if problem.utility.is_maximized else 0.0


def _rounded(exact: Sequence[Fraction], far: bool) -> Numbers:
    """Return numbers as floats; exactly where they differ by little beside what they are."""
    return Numbers(exact if far else map(float, exact))


def _denser(
    probes: Sequence[Fraction],
    mass: Sequence[Fraction],
    slopes: Numbers,
    prices: Numbers,
    price: Callable[..., list[int]],
) -> tuple[Fraction, ...]:
    """Halve the gaps between probes that take most off the bound, until they take little."""
    m, given = [Fraction(v) for v in slopes], prices.scaled(BITS)
    known: dict[Fraction, list[int]] = {}

    def safe(v: Fraction) -> list[int]:
        if v not in known:
            cost = [scaled(v * v * w - v * s) for w, s in zip(mass, m, strict=True)]
            known[v] = price(cost, given, None)
        return known[v]

    found, enough = (
        list(probes),
        scaled(sum(mass, Fraction(0)) * SLACK * max(map(abs, probes)) ** 2),
    )
    while len(found) < MOST_PROBES:
        middles = []
        for a, b in pairwise(found):
            bent = [scaled((b - a) ** 2 * w, up=True) for w in mass]
            ends = zip(safe(a), safe(b), bent, given, strict=True)
            if sum(max(0, u - least(x, y, c)) for x, y, c, u in ends) > enough:
                middles.append((a + b) / 2)
        if not middles:
            break
        found = sorted([*found, *middles])
    return tuple(found)


class _Evidence:
    """Dual variables, and the statement that they are about."""

    def __init__(self, problem: Problem, compiled: Compiled, dual: Dual) -> None:
        self.problem, self.compiled, self.dual = problem, compiled, dual
        self.statement = compiled.statement
        self.aim, self.k = compiled.statement.objective, compiled.statement.k
        self.budget = OneBudgetCone.of(problem.cone) if problem.is_conic else None

    def certificate(self, spare: Callable[[], float]) -> Certificate:
        """Return the certificate."""
        dual, aim = self.dual, self.aim
        if "representatives" in dual.evidence:
            return self._representatives(spare)
        n_nodes = len(dual.decoders or self.problem.guesses)
        rows = shortened(self.problem, dual.families, n_nodes, spare)
        priors: list[tuple[int, Sequence[Prior]]] = [(part.notion, part.priors) for part in rows]
        priors += dual.priors.items()
        if dual.search == "boxes":  # the boxes are of lifts at the prior of the gain
            priors += [(n, [self.problem.prior.probabilities]) for n in dual.priors]
        members = members_of(self.compiled, priors)
        relaxations: list[Relaxations] = [*self._average()]
        relaxations += [Members(place, tuple(listed)) for place, listed in members.items()]
        multipliers = blocks_of(self.problem, self.compiled, rows, members)
        if isinstance(aim, Reading):
            return self._readings(aim, relaxations, multipliers)
        if isinstance(aim, Loss):
            oracle, prices = self._of_loss()
            return Certificate(Costs(), oracle, tuple(relaxations), tuple(multipliers), prices)
        if isinstance(aim, Risk):
            return self._risk(relaxations)
        if not isinstance(aim, GainObjective):
            raise UnsupportedError("objective", "one that the kernel knows", "another")
        if dual.decoders is not None:
            return self._decoders(aim, relaxations, multipliers)
        if dual.search == "boxes":
            return boxes(self.statement, dual, relaxations, members)
        oracle = Knapsack() if dual.search == "sums" else Rays(self._source())
        return Certificate(AsGain(), oracle, tuple(relaxations), (), self._negated())

    def _average(self) -> list[Relaxations]:
        """Return what stands for a worst case."""
        dual, aim, data = self.dual, self.aim, self.dual.estimation
        if isinstance(aim, Risk) and aim.prior is None:
            own = None if data is None else data.prior
            listed: Sequence[Any] = [Fraction(1, self.k)] * self.k if own is None else own
            return [Average(Weights(listed))]
        weighted = isinstance(aim, Loss | Reading) and aim.weights is None
        if not weighted or dual.input_multipliers is None:
            return []
        return [Average(Weights(dual.input_multipliers.tolist()))]

    def _negated(self) -> Numbers:
        return Numbers([-v for v in self._potentials()])

    def _potentials(self) -> list[float]:
        found = self.dual.potentials
        return [0.0] * self.k if found is None else found.tolist()

    # ---- losses ----------------------------------------------------------------------------

    def _of_loss(self) -> tuple[Oracles, Numbers | None]:
        """Return the oracle and its prices; a gain is a loss less its ceiling at each input."""
        dual, ceiling = self.dual, ceiling_of(self.problem)
        mass = [ceiling * p for p in self.problem.prior.array.tolist()]
        if dual.information is not None:
            return self._entropy(dual.information, ceiling), None
        if dual.potentials is None or not dual.search:
            return Orthant(), None
        prices = Numbers([v - m for v, m in zip(self._potentials(), mass, strict=True)])
        if dual.search == "chain":
            line = InputLine.of_problem(self.problem)
            order = None if line is None else tuple(line.order.tolist())
            return Line(None if order == tuple(range(self.k)) else order), prices
        if dual.search == "one-budget":
            return OneBudget(self._blocks()), prices
        if dual.search == "lifts":
            return Knapsack(), prices
        return Rays(self._source()), self._negated()

    def _entropy(self, found: Information, ceiling: float) -> Entropy:
        multipliers = tuple(
            (self.compiled.parts[n].limits.start, as_fraction(v))
            for n, v in found.multipliers.items()
        )
        levels = Numbers([v - ceiling for v in found.potentials.tolist()])
        return Entropy(multipliers, levels)

    def _representatives(self, spare: Callable[[], float]) -> Certificate:
        """Return multipliers in columns, which mixtures of them make those of outputs."""
        evidence = self.dual.evidence
        stands = tuple(evidence["representatives"])
        at = {x: n for n, x in enumerate(sorted(set(stands)))}
        rows = shortened(self.problem, self.dual.families, len(evidence["mixtures"]), spare)
        found = []
        for block in blocks_of(self.problem, self.compiled, rows, {}):
            columns: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
            others = block.other or [0] * len(block.x)
            for y, x, z, w in zip(block.node, block.x, others, block.weight, strict=True):
                columns[y].append((at[x], at[z], w))
            mixed = [
                (y, x, z, w * share)
                for y, mixture in enumerate(evidence["mixtures"])
                for column, share in mixture
                for x, z, w in columns[column]
            ]
            found.append(block_of("cone", block.place, "", mixed))
        return Certificate(Costs(), Orthant(), (Representatives(stands),), tuple(found))

    # ---- readings and decoders -------------------------------------------------------------

    def _readings(
        self, aim: Reading, relaxations: list[Relaxations], given: list[Block]
    ) -> Certificate:
        """Return probes: the search had values f from -1 to 1, here they are as they are."""
        dual, probes = self.dual, tuple(self.dual.decoders or ())
        middle = (max(aim.values) + min(aim.values)) / 2
        half = (max(aim.values) - min(aim.values)) / 2
        n, ends = len(probes), (probes[0], probes[-1])
        tails = [float(2 * half * half / abs(end - middle)) for end in ends]
        unit = float(half * half)
        mass, slope = self._mass(), map(Fraction, dual.evidence["slope"])
        slopes = [2 * middle * p + half * s for p, s in zip(mass, slope, strict=True)]
        blocks = []
        for block in given:
            others = block.other or [0] * len(block.x)
            entries = []
            for y, x, z, w in zip(block.node, block.x, others, block.weight, strict=True):
                entries.append((y, x, z, w * unit))
                for tail, end in ((0, 0), (1, n - 1)):
                    if y == end:
                        entries.append((n + tail, x, z, w * tails[tail]))
            blocks.append(block_of(block.of, block.place, block.side, entries))
        prices = None
        if dual.potentials is not None:
            terms = zip(map(Fraction, self._potentials()), mass, slopes, strict=True)
            prices = _rounded(
                [half * half * v + middle * middle * p - middle * m for v, p, m in terms],
                abs(middle) > FAR * half,
            )
        oracle: Oracles = OneBudget(self._blocks()) if dual.search else Orthant()
        numbers = _rounded(slopes, abs(middle) > FAR * half)
        if prices is not None:
            relaxed = self.statement
            for relaxation in relaxations:
                relaxed = relaxation(relaxed)
            probes = _denser(probes, mass, numbers, prices, oracle.linear(relaxed))
        line: Linearizations = Readings(probes, numbers)
        return Certificate(line, oracle, tuple(relaxations), tuple(blocks), prices)

    def _mass(self) -> list[Fraction]:
        """Return the weights of the inputs in the mean that is bounded."""
        given = self.dual.input_multipliers
        if given is None:
            return list(self.problem.prior)
        weights = [Fraction(w) for w in given.tolist()]
        return [w / sum(weights) for w in weights]

    def _decoders(
        self, aim: GainObjective, relaxations: list[Relaxations], multipliers: list[Block]
    ) -> Certificate:
        """Return decoders; with potentials they are in units in which f runs from 0 to 1."""
        dual, v, p = self.dual, aim.form.vectors[0], aim.form.p
        decoders = tuple(dual.decoders or ())
        if dual.potentials is None:
            line = Decoders(decoders)
            return Certificate(line, Orthant(), tuple(relaxations), tuple(multipliers))
        f = [a / b for a, b in zip(v, p, strict=True) if b]
        low, width = min(f), max(f) - min(f)
        nodes = tuple(low + width * s for s in decoders)
        terms = zip(map(Fraction, self._potentials()), v, p, strict=True)
        prices = _rounded(
            [width * width * c - a * a / b if b else Fraction(0) for c, a, b in terms],
            max(map(abs, f)) > FAR * width,
        )
        has_lift = any(isinstance(part, Lift) for part in self.statement.cone)
        oracle: Oracles = Knapsack(p) if has_lift else OneBudget(self._blocks())
        return Certificate(Decoders(nodes), oracle, tuple(relaxations), (), prices)

    # ---- gains and risks -------------------------------------------------------------------

    def _risk(self, relaxations: list[Relaxations]) -> Certificate:
        """Return the rows of an estimator, and what prices their gain."""
        dual, data = self.dual, self.dual.estimation
        if data is None:
            raise UnsupportedError("objective", "evidence for a risk of estimation", "none")
        if dual.search.startswith("ldp-"):
            relaxations.append(Implied())
        oracle = self._products() if dual.search == "products" else Rays(self._source())
        line = estimator(data)
        return Certificate(line, oracle, tuple(relaxations), (), self._negated())

    def _products(self) -> Products:
        evidence, forms = self.dual.evidence, dict[tuple[int, int], int]()
        a, b, c, d, weight = evidence["products"]
        left = Places(forms.setdefault(form, len(forms)) for form in zip(a, b, strict=True))
        right = Places(forms.setdefault(form, len(forms)) for form in zip(c, d, strict=True))
        lifts = [part for part in self.statement.cone if isinstance(part, Lift)]
        levels = evidence.get("levels")
        return Products(
            as_fraction(evidence["surplus"]),
            tuple(forms),
            left,
            right,
            Weights(weight),
            self.problem.prior.probabilities if lifts else None,
            None if levels is None else Numbers(levels),
        )

    def _source(self) -> Sources:
        """Return the rays that the search was about."""
        search, evidence = self.dual.search, self.dual.evidence
        if search == "sets":
            ends = tuple(tuple(map(as_fraction, inner)) for inner, _ in evidence["intervals"])
            slopes = tuple(Numbers(given) for _, given in evidence["intervals"])
            return Walk(as_fraction(evidence["surplus"]), ends, slopes, self._blocks())
        if search == "ldp-rays":
            return Subsets()
        if search == "ldp-classes":
            return Classes(self._alike([range(self.k)]))
        budget = self.budget
        if search == "classes":
            inner = [inputs.tolist() for _, inputs in budget.blocks] if budget else []
            return Classes(self._alike(inner), self._blocks())
        few = budget and sum(1 << len(inputs) for _, inputs in budget.blocks) <= MOST_SUBSETS
        return Subsets(self._blocks()) if few else DoubleDescription()

    def _blocks(self) -> Groups | None:
        """Return the blocks of inputs that bound each other; None where it is one of all."""
        blocks = [block.tolist() for block, _ in self.budget.blocks] if self.budget else []
        if len(blocks) == 1 and len(blocks[0]) == self.k:
            return None
        return tuple(map(tuple, blocks))

    def _alike(self, blocks: Iterable[Iterable[int]]) -> Groups:
        """Return groups of inputs with one prior and one price in a block."""
        prior, prices = self.problem.prior.probabilities, self._potentials()
        if self._average():
            data = self.dual.estimation
            prior = (data.prior if data else None) or (Fraction(1, self.k),) * self.k
        found = []
        for block in blocks:
            groups: dict[tuple[Any, float], list[int]] = defaultdict(list)
            for x in block:
                groups[prior[x], prices[x]].append(x)
            found += [tuple(group) for group in groups.values()]
        return tuple(found)


def estimator(data: EstimationData) -> Estimator:
    """Return the vectors and the tangents of an estimator, ones on the diagonal where asked."""
    rows = np.array(data.rows)
    tangents = None
    if data.tangents is not None:
        np.fill_diagonal(rows, 1.0)
        tangents = Numbers(data.tangents.tolist())
    return Estimator(tuple(Numbers(row) for row in rows.tolist()), tangents)

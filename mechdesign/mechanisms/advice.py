"""Choice of a mechanism under LDP, and of the size of blocks, by exact variances."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mechdesign.domain import Domain, DomainLike, is_whole, whole_number
from mechdesign.errors import InputError, choose, shown
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import inputs_of
from mechdesign.mechanisms.registry import LDP_MECHANISMS, mechanism_for
from mechdesign.notions import BlockLDP
from mechdesign.prior import Prior
from mechdesign.text import Table, Tabular

MOST_REPORTS = 1 << 62

NEAR = 0.05
"""Relative increase of the error accepted for shorter reports."""

NANOSECONDS = 2.5
"""Measured time of an addition while counting and decoding, on one core."""

MOST_SIDES = 2
"""Largest ratio of the sides of a proposed block."""

ORDERS = {"error": "risk_ratio", "bits": "bits_per_report", "time": "decoding_seconds"}


@dataclass(frozen=True)
class Option:
    """A mechanism with its error and costs.

    Attributes
    ----------
    kind
        Its name for :func:`~mechdesign.mechanisms.mechanism_for`.
    risk_ratio
        The factor by which it needs more people than the channel of least risk, for the same error.
    count_error
        The standard error of the estimated number of people with an input, averaged over equally
        likely inputs.
    bits_per_report
        The base-2 logarithm of the number of reports.
    best_guess
        The probability that the best guess of a uniform input from one report is right; 1/k without
        a report.
    decoding_seconds
        Approximate time of one core from n reports to all estimates.
    """

    kind: str
    risk_ratio: float
    count_error: float
    bits_per_report: float
    best_guess: float
    decoding_seconds: float


class Advice(tuple[Option, ...], Tabular):
    """The mechanisms under LDP, in increasing order of error.

    Attributes
    ----------
    k, epsilon, n
        The number of inputs, the budget, and the number of reports.
    """

    k: int
    epsilon: Exact
    n: int

    @property
    def best(self) -> Option:
        """The mechanism with the shortest reports within 5 % of the least error."""
        near = [
            option for option in self if option.risk_ratio <= self[0].risk_ratio * (1 + NEAR) ** 2
        ]
        return min(near, key=lambda o: (round(o.bits_per_report, 6), o.decoding_seconds))

    def by(self, what: str) -> list[Option]:
        """Return the mechanisms sorted by ``"error"``, ``"bits"`` or ``"time"``."""
        key = choose(ORDERS, what, "by")
        return sorted(self, key=lambda option: float(getattr(option, key)))

    def to_json(self) -> dict[str, Any]:
        """Return all values in a form for JSON."""
        options = [asdict(option) for option in self]
        return {"inputs": self.k, "reports": self.n, "best": self.best.kind, "mechanisms": options}

    def _head(self) -> str:
        return f"{self.k} inputs, epsilon = {self.epsilon}, {self.n} reports under LDP"

    def _table(self) -> Table:
        rows = [
            (
                o.kind,
                f"{o.risk_ratio:.4g}",
                f"{o.count_error:.4g}",
                f"{o.bits_per_report:.1f}",
                f"{o.best_guess:.3g}",
                f"{o.decoding_seconds:.1g}" if o.decoding_seconds >= 0.01 else "< 0.01",
            )
            for o in self
        ]
        head = ("mechanism", "people", "count", "bits", "guess", "decoding, s")
        return Table(head, rows, "<>>>>>")

    def __repr__(self) -> str:
        notes = (
            "people: needed for the same error, over the least; count: standard error of a count\n"
            "guess: how often an attacker guesses the input of one report, at best; "
            f"{1 / self.k:.3g} without it\n"
            f"take {self.best.kind}: the shortest reports within {NEAR:.0%} of the least error"
        )
        return f"{Tabular.__repr__(self)}\n{notes}"


def advise(k: int, epsilon: Exact, n: int) -> Advice:
    """Rank the structured mechanisms under LDP by error, with bits and decoding time.

    The error is the exact l2 risk of the stored integer probabilities at the uniform prior.

    Parameters
    ----------
    k
        The number of inputs, at least 2.
    epsilon
        The budget in nats, from 1e-6 to 30.
    n
        The number of people who report.

    Notes
    -----
    Source: Ye and Barg 2018 for the least risk; for each mechanism see its class.

    Examples
    --------
    >>> advice = advise(22_000, 5, 10**6)
    >>> advice.best.kind
    'projective-geometry-response'
    >>> advice
    22000 inputs, epsilon = 5, 1000000 reports under LDP
    mechanism                     people  count     bits     guess  decoding, s
    subset-selection                   1  165.3   1268.6    0.0034            3
    projective-geometry-response       1  165.3     14.4   0.00339       < 0.01
    optimized-unary-encoding       1.008  165.9  22000.0   0.00362            3
    hadamard-response                  2  233.8     14.4   0.00365       < 0.01
    symmetric-unary-encoding       3.587    313  22000.0  0.000551            3
    randomized-response            37.56   1013     14.4    0.0067       < 0.01
    people: needed for the same error, over the least; count: standard error of a count
    guess: how often an attacker guesses the input of one report, at best; 4.55e-05 without it
    take projective-geometry-response: the shortest reports within 5% of the least error
    """
    n = whole_number(n, "n", 1, MOST_REPORTS)
    options = []
    for kind, make in LDP_MECHANISMS.items():
        made = make(whole_number(k, "k", 2, 10**6), epsilon)
        option = Option(
            kind,
            made.risk / made.least_known_risk,
            math.sqrt(n * made.risk / k),
            made.bits_per_report,
            made.best_guess,
            made.decoding_work(n) * NANOSECONDS / 1e9,
        )
        options.append(option)
    advice = Advice(sorted(options, key=lambda option: round(option.risk_ratio, 9)))
    advice.k, advice.epsilon, advice.n = k, epsilon, n
    return advice


@dataclass(frozen=True)
class BlockOption:
    """A partition into blocks, and its expected error.

    Attributes
    ----------
    notion
        The blocks, with the budget inside.
    n_blocks, largest
        The number of blocks and the size of the largest: an input is hidden among those of its
        block, and the block is public.
    kind
        The mechanism inside, by its name for :func:`~mechdesign.mechanisms.mechanism_for`: the one
        with the shortest reports within 5 % of the least error.
    total_variation
        Expected distance between the unbiased estimate and the distribution of the inputs.
    bits_per_report
        The base-2 logarithm of the number of reports.
    """

    notion: BlockLDP
    n_blocks: int
    largest: int
    kind: str
    total_variation: float
    bits_per_report: float

    def to_json(self) -> dict[str, Any]:
        """Return all values in a form for JSON."""
        return {
            "block": self.notion.block_shape,
            "blocks": self.n_blocks,
            "largest": self.largest,
            "mechanism": self.kind,
            "total_variation": self.total_variation,
            "bits_per_report": self.bits_per_report,
        }


class BlockAdvice(Tabular):
    """Partitions into blocks, with the largest blocks first.

    Attributes
    ----------
    options
        One for each partition.
    n
        The number of people who report.
    """

    def __init__(self, options: Sequence[BlockOption], n: int) -> None:
        self.options = sorted(options, key=lambda o: (-o.largest, o.total_variation))
        self.n = n

    def within(self, total_variation: float) -> BlockOption | None:
        """Return the largest blocks with at most this expected error, or None."""
        return next((o for o in self.options if o.total_variation <= total_variation), None)

    def to_json(self) -> dict[str, Any]:
        """Return all values in a form for JSON."""
        return {"reports": self.n, "divisions": [option.to_json() for option in self.options]}

    def _head(self) -> str:
        epsilon = self.options[0].notion.epsilon
        return f"with {self.n} reports, epsilon = {epsilon} inside a block, expect"

    def _table(self) -> Table:
        rows = []
        for o in self.options:
            shape = o.notion.block_shape
            name = f"{shape[0]} x {shape[1]}" if shape else str(o.largest)
            near, bits = f"{o.total_variation:.3g}", f"{o.bits_per_report:.1f}"
            rows.append((name, str(o.n_blocks), near, bits, o.kind))
        return Table(("block", "blocks", "total variation", "bits", "mechanism"), rows, ">>>><")


def advise_blocks(
    domain: DomainLike,
    epsilon: Exact,
    n: int,
    divisions: Iterable[Any] | None = None,
    prior: Prior | None = None,
) -> BlockAdvice:
    r"""Return the expected error for several block sizes, where the block is public.

    The estimate of an input is a mean over n reports, with the exact variance v_x / n of
    :meth:`~mechdesign.mechanisms.Mechanism.variances`. If it is normal, its mean distance from the
    truth is sqrt(2 v_x / (pi n)), so the total variation is approximately

        (1/2) Sum_x sqrt(2 v_x / (pi n)).

    It refers to the unbiased estimate, and exceeds 1 where that is mostly noise;
    :meth:`~mechdesign.estimation.Estimate.projected` is closer to the truth. For any law of the
    estimate, the expected total variation is at most sqrt(pi / 2) < 1.2534 times this.

    Parameters
    ----------
    domain
        The inputs; a grid for blocks given by size.
    epsilon
        The budget inside a block in nats, from 1e-6 to 30.
    n
        The number of people who report.
    divisions
        Each a pair of the rows and columns of a block, or a list of blocks, which are lists of
        labels. Default, on a grid: of each number of points, the sizes nearest to a square that
        divide it, with no side more than twice the other, and the whole grid, which is LDP.
    prior
        The approximate distribution of the inputs; default uniform.

    Notes
    -----
    Source: Acharya et al. 2020, Section 5, for blocks; Ye and Barg 2018 for the least risk inside.

    Examples
    --------
    >>> advice = advise_blocks(Domain.grid(6, 6), 1, 100_000)
    >>> advice
    with 100000 reports, epsilon = 1 inside a block, expect
    block  blocks  total variation  bits  mechanism
    6 x 6       1           0.0858   5.3  projective-geometry-response
    6 x 3       2            0.061   6.3  projective-geometry-response
    3 x 3       4           0.0408   5.7  projective-geometry-response
    3 x 2       6           0.0312   5.2  randomized-response
    2 x 2       9           0.0221   5.2  randomized-response
    2 x 1      18           0.0127   5.2  randomized-response
    >>> advice.within(0.05).notion
    BlockLDP(epsilon=1, block_rows=3, block_columns=3)
    """
    inputs = inputs_of(domain)
    n = whole_number(n, "n", 1, MOST_REPORTS)
    wanted = _default(inputs) if divisions is None else list(divisions)
    if not wanted:
        raise InputError("divisions", "at least one", "none")
    return BlockAdvice([_option(inputs, division, epsilon, n, prior) for division in wanted], n)


def _default(domain: Domain) -> list[tuple[int, int]]:
    """Return one block size nearest to a square for each number of points, and the whole grid."""
    if domain.grid_shape is None:
        raise InputError("divisions", "a grid as the domain, or lists of blocks", shown(domain))
    rows, columns = domain.grid_shape
    near = [
        (r, c)
        for r in range(1, rows + 1)
        for c in range(1, columns + 1)
        if rows % r == columns % c == 0 and r * c > 1 and max(r, c) <= MOST_SIDES * min(r, c)
    ]
    near.sort(key=lambda sides: max(sides) / min(sides), reverse=True)
    by_size = {r * c: (r, c) for r, c in near}  # the last, which is nearest to a square
    return list({**by_size, rows * columns: (rows, columns)}.values())


def _option(
    domain: Domain, division: Any, epsilon: Exact, n: int, prior: Prior | None
) -> BlockOption:
    if isinstance(division, Sequence) and len(division) == 2 and all(map(is_whole, division)):
        notion = BlockLDP(epsilon, block_rows=division[0], block_columns=division[1])
    else:
        notion = BlockLDP(epsilon, blocks=division)
    sizes = np.bincount(notion.membership(domain))
    largest = int(sizes.max())
    kind = advise(max(largest, 2), notion.epsilon, n).best.kind
    made = mechanism_for(kind, domain, notion)
    spread = np.sqrt(np.maximum(made.variances(prior), 0)).sum()
    near = math.sqrt(2 / (math.pi * n)) * float(spread) / 2
    return BlockOption(notion, len(sizes), largest, kind, near, made.bits_per_report)

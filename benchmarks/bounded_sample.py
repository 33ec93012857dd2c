"""The frequency of designs that end bounded rather than optimal, over random problems, with gaps.

Run ``python benchmarks/bounded_sample.py --n 300 --seed 1 --time-limit 20 [--list] [--only NUMBER
...]``. Every problem has its own stream of random numbers, from the seed and its number, so that
any of them can be made again alone. A design is *optimal* (gap at most 1e-6), *bounded by time*
(its notes name the limit) or *bounded otherwise*: the last kind is what this table looks for.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mechdesign import Domain, Prior, Problem, design
from mechdesign.domain import Label
from mechdesign.errors import InputError, MechdesignError, UnsupportedError
from mechdesign.notions import (
    LDP,
    LIP,
    PML,
    ApproximateLDP,
    ApproximateLIP,
    AsymmetricLift,
    BlockLDP,
    BoundedPriorLIP,
    ContextAwareLDP,
    DifferentialIdentifiability,
    HighLowLDP,
    LinearNotion,
    MaximalLeakage,
    MetricPrivacy,
    MutualInformationLeakage,
    Notion,
    Row,
    SensitiveAttribute,
    SensitiveAttributePrivacy,
)
from mechdesign.utilities import (
    BayesAccuracy,
    Distortion,
    EuclideanDistance,
    HammingLoss,
    L2Risk,
    MeanAbsoluteError,
    MeanSquaredDistance,
    MutualInformation,
    PosteriorMeanSquaredError,
    TVRisk,
    Utility,
)

LEAST_EPSILON, LARGEST_EPSILON = 1e-3, 12.0
SIZES = range(2, 13)


@dataclass
class Draw:
    """Parts of a random problem.

    Attributes
    ----------
    rng
        Random numbers.
    domain
        The inputs.
    prior
        ``(n_inputs,)`` integers in proportion to the prior.
    """

    rng: np.random.Generator
    domain: Domain
    prior: list[int]

    @property
    def size(self) -> int:
        """The number of inputs."""
        return len(self.domain)

    def epsilon(self) -> float:
        """Return a budget with a uniform logarithm."""
        low, high = np.log(LEAST_EPSILON), np.log(LARGEST_EPSILON)
        return float(f"{np.exp(self.rng.uniform(low, high)):.4g}")

    def budgets(self, shape: tuple[int, ...]) -> list[list[float]]:
        """Return a matrix of budgets of the same order of magnitude."""
        scale, spread = self.epsilon(), self.rng.choice([0.3, 1.0, 2.0])
        found = scale * np.exp(spread * self.rng.normal(size=shape))
        return [[float(f"{e:.4g}") for e in row] for row in found]

    def subset(self) -> list[Label]:
        """Return a nonempty subset of the inputs."""
        chosen = [x for x in self.domain if self.rng.random() < 0.5]
        return chosen or [self.domain.labels[self.rng.integers(self.size)]]

    def distribution(self, size: int) -> list[Fraction]:
        """Return a positive distribution in rationals."""
        counts = self.rng.integers(1, 100, size).tolist()
        return [Fraction(c, sum(counts)) for c in counts]


def context_aware(draw: Draw) -> Notion:
    """Return random budgets for pairs, some of them infinite."""
    E = np.array(draw.budgets((draw.size, draw.size)))
    if draw.rng.random() < 0.4:
        E[draw.rng.random(E.shape) < draw.rng.choice([0.2, 0.6])] = np.inf
    np.fill_diagonal(E, 0)
    return ContextAwareLDP(E.tolist())


def blocks(draw: Draw) -> Notion:
    """Return LDP inside random blocks."""
    of = draw.rng.integers(0, max(1, draw.size // 2), draw.size)
    labels = draw.domain.labels
    parts = [[labels[x] for x in np.flatnonzero(of == b)] for b in np.unique(of)]
    return BlockLDP(draw.epsilon(), parts)


def metric_line(draw: Draw) -> Notion:
    """Return metric privacy on numbers."""
    return MetricPrivacy(draw.epsilon(), "absolute")


def metric_grid(draw: Draw) -> Notion:
    """Return metric privacy on the points of a grid."""
    return MetricPrivacy(draw.epsilon(), str(draw.rng.choice(["euclidean", "manhattan"])))


def metric_matrix(draw: Draw) -> Notion:
    """Return metric privacy by Manhattan distances between random points, or in a random graph."""
    k = draw.size
    if draw.rng.random() < 0.5:
        points = draw.rng.permutation(400)[:k]
        places = np.column_stack([points // 20, points % 20])
        D = np.abs(places[:, None] - places).sum(axis=2)
    else:
        D = np.triu(draw.rng.integers(1, 20, (k, k)), 1)
        D = D + D.T
        for z in range(k):
            D = np.minimum(D, D[:, [z]] + D[[z], :])
    return MetricPrivacy(draw.epsilon(), D.tolist())


def identifiability(draw: Draw) -> Notion:
    """Return differential identifiability with a budget that the prior allows."""
    least = float(np.log(max(draw.prior) / min(draw.prior)))
    return DifferentialIdentifiability(float(f"{least + draw.epsilon():.12g}"))


def prior_list(draw: Draw) -> Notion:
    """Return LIP for a few priors and all mixtures of them."""
    some = [draw.distribution(draw.size) for _ in range(int(draw.rng.integers(1, 4)))]
    return BoundedPriorLIP(draw.epsilon(), priors=[*some, own_prior(draw)])


def prior_box(draw: Draw) -> Notion:
    """Return LIP for all priors in a box around the prior."""
    prior, width = own_prior(draw), Fraction(int(draw.rng.integers(1, 30)), 100)
    low = [max(Fraction(0), p * (1 - width)) for p in prior]
    high = [min(Fraction(1), p * (1 + width)) for p in prior]
    return BoundedPriorLIP(draw.epsilon(), lower=low, upper=high)


def prior_ball(draw: Draw) -> Notion:
    """Return LIP for all priors near the prior in total variation."""
    radius = float(draw.rng.choice([0.01, 0.05, 0.1]))
    return BoundedPriorLIP(draw.epsilon(), center=own_prior(draw), radius=radius)


def own_prior(draw: Draw) -> list[Fraction]:
    """Return the prior of the problem."""
    return [Fraction(c, sum(draw.prior)) for c in draw.prior]


def linear(draw: Draw) -> Notion:
    """Return random rows between sums of entries."""
    rows, labels = [], draw.domain.labels
    for n in range(int(draw.rng.integers(1, 2 * draw.size))):
        left, right = (labels[x] for x in draw.rng.permutation(draw.size)[:2])
        also = labels[draw.rng.integers(draw.size)]
        sides = {left: 1, also: 1} if also != left else {left: 1}
        rows.append(Row(f"row {n}", sides, draw.epsilon(), {right: len(sides)}))
    return LinearNotion(rows)


def secret(draw: Draw) -> Notion:
    """Return a notion about a sensitive attribute of the input."""
    values = int(draw.rng.integers(2, 5))
    given = [draw.distribution(values) for _ in range(draw.size)]
    notion = draw.rng.choice(["ldp", "lip", "pml"])
    inner = {"ldp": LDP, "lip": LIP, "pml": PML}[str(notion)](draw.epsilon())
    return SensitiveAttributePrivacy(inner, SensitiveAttribute(range(values), given_input=given))


NOTIONS: dict[str, Callable[[Draw], Notion]] = {
    "ldp": lambda draw: LDP(draw.epsilon()),
    "context-aware": context_aware,
    "high-low": lambda draw: HighLowLDP(draw.epsilon(), draw.subset()),
    "block": blocks,
    "metric line": metric_line,
    "metric grid": metric_grid,
    "metric matrix": metric_matrix,
    "lip": lambda draw: LIP(draw.epsilon()),
    "lift": lambda draw: AsymmetricLift(draw.epsilon(), draw.epsilon()),
    "pml": lambda draw: PML(draw.epsilon()),
    "prior list": prior_list,
    "prior box": prior_box,
    "prior ball": prior_ball,
    "identifiability": identifiability,
    "approximate-ldp": lambda draw: ApproximateLDP(
        draw.epsilon(), float(draw.rng.choice([1e-6, 1e-3, 0.05]))
    ),
    "approximate-lip": lambda draw: ApproximateLIP(
        draw.epsilon(), float(draw.rng.choice([1e-6, 1e-3, 0.05]))
    ),
    "information": lambda draw: MutualInformationLeakage(draw.epsilon()),
    "maximal-leakage": lambda draw: MaximalLeakage(draw.epsilon()),
    "linear": linear,
    "secret": secret,
}


ALSO_WORST_CASE: dict[str, Callable[[bool], Utility]] = {
    "hamming": HammingLoss,
    "absolute": MeanAbsoluteError,
    "squared": MeanSquaredDistance,
    "euclidean": EuclideanDistance,
    "l2-risk": L2Risk,
    "tv-risk": TVRisk,
}
"""Utilities with a worst case."""

OBJECTIVES = (
    *ALSO_WORST_CASE,
    "distortion",
    "posterior error",
    "histogram",
    "information",
    "bayes-accuracy",
)


def random_utility(draw: Draw, objective: str) -> Utility:
    """Return a utility, in every fourth draw for the worst case if there is one."""
    worst = bool(draw.rng.random() < 0.25)
    if objective in ALSO_WORST_CASE:
        return ALSO_WORST_CASE[objective](worst)
    if objective == "distortion":
        outputs = int(draw.rng.integers(2, draw.size + 3))
        return Distortion(draw.rng.integers(0, 50, (draw.size, outputs)).tolist(), worst)
    if objective == "posterior error":
        values = draw.rng.integers(0, 1000, draw.size).tolist()
        return PosteriorMeanSquaredError(values=values)
    if objective == "histogram":
        return PosteriorMeanSquaredError(histogram=True)
    return MutualInformation() if objective == "information" else BayesAccuracy()


NOT_CONIC = ("approximate-ldp", "approximate-lip", "information", "maximal-leakage")
SOLVED_BESIDE = ("distortion", "hamming", "absolute", "squared", "euclidean", "bayes-accuracy")
"""Notions on the whole channel, and the utilities supported with them."""

GRIDS = ((2, 2), (2, 3), (2, 4), (3, 3), (2, 5), (2, 6), (3, 4))


def random_prior(rng: np.random.Generator, k: int, zeros: bool) -> list[int]:
    """Return integers: uniform, irregular, nearly degenerate, or, where allowed, with zeros."""
    kinds = ["even", "ragged", "ragged", "skew", "degenerate", "zeros"]
    kind = rng.choice(kinds[: len(kinds) if zeros else -1])
    counts: list[int] = rng.integers(1, 100, k).tolist()
    if kind == "even":
        counts = [1] * k
    elif kind == "skew":
        counts = [int(c) for c in np.ceil(1e4 * np.exp(-rng.uniform(0, 6, k)))]
    elif kind == "degenerate":
        counts[int(rng.integers(k))] = 10 ** int(rng.integers(4, 9))
    elif kind == "zeros":
        for x in rng.permutation(k)[: int(rng.integers(1, max(2, k // 2)))].tolist():
            counts[x] = 0
    return counts if sum(counts) else [1] * k


def random_problem(seed: int, number: int, sizes: range = SIZES) -> tuple[str, str, Problem]:
    """Return a random problem, with the names of its notion and objective."""
    rng = np.random.default_rng([seed, number])
    notion = str(rng.choice(list(NOTIONS)))
    objective = str(rng.choice(SOLVED_BESIDE if notion in NOT_CONIC else OBJECTIVES))
    k = int(rng.choice(sizes))
    if notion == "metric grid" or (objective == "euclidean" and notion != "metric line"):
        grids = [grid for grid in GRIDS if grid[0] * grid[1] in sizes]
        domain = Domain.grid(*grids[rng.integers(len(grids))])
    else:
        domain = Domain(sorted(rng.permutation(3 * k)[:k].tolist()))
    on_line = domain.grid_shape is None
    if objective in ("absolute", "squared") and not on_line:
        objective = "euclidean"
    elif objective == "euclidean" and on_line:
        objective = "absolute"
    zeros = "risk" not in objective and notion != "identifiability"
    draw = Draw(rng, domain, random_prior(rng, len(domain), zeros))
    utility, private = random_utility(draw, objective), NOTIONS[notion](draw)
    problem = Problem(domain, private, utility, prior=Prior.from_counts(draw.prior))
    return notion, objective + (", worst case" if utility.worst_case else ""), problem


@dataclass
class Result:
    """The result for one problem."""

    number: int
    notion: str
    objective: str
    size: int
    status: str
    gap: float
    seconds: float
    text: str

    def __str__(self) -> str:
        return (
            f"{self.number:5d} {self.notion:16s} {self.objective:26s} n={self.size:2d} "
            f"{self.status:10s} gap {self.gap:.1e} {self.seconds:6.2f} s  {self.text}"
        )


def solved(seed: int, number: int, time_limit: float) -> Result:
    """Make a problem and solve it."""
    notion, objective, problem = random_problem(seed, number)
    start = time.perf_counter()
    gap = float("nan")
    try:
        solution = design(problem, time_limit=time_limit)
    except (InputError, UnsupportedError) as error:
        status, text = "refused", str(error)
    except MechdesignError as error:
        status, text = "failed", f"{type(error).__name__}: {error}"
    except Exception as error:  # noqa: BLE001  (a defect of the library, to be listed)
        status, text = "crashed", f"{type(error).__name__}: {error}"
    else:
        status, gap, text = solution.status, solution.gap, solution.route
        text += f", value {float(solution.value):.6g}, bound {float(solution.bound):.6g}"
        if status == "bounded":
            timed = any("time limit" in note for note in solution.notes)
            status = "time" if timed else "otherwise"
            text += "; " + "; ".join(solution.notes)
    seconds = time.perf_counter() - start
    k = len(problem.domain)
    return Result(number, notion, objective, k, status, gap, seconds, text)


def table(results: list[Result], by: Callable[[Result], str], title: str) -> str:
    """Return a Markdown table of results, grouped by ``by``."""
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[by(result)].append(result)
    lines = [
        f"| {title} | problems | optimal | by time | otherwise | worst gap | refused | failed |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, some in sorted(groups.items()):
        count = {s: sum(r.status == s for r in some) for s in ("optimal", "time", "otherwise")}
        gaps = [r.gap for r in some if r.status in ("time", "otherwise")]
        refused = sum(r.status == "refused" for r in some)
        failed = sum(r.status in ("failed", "crashed") for r in some)
        worst = f"{max(gaps):.1e}" if gaps else ""
        numbers = " | ".join(str(n) for n in count.values())
        lines.append(f"| {name} | {len(some)} | {numbers} | {worst} | {refused} | {failed} |")
    return "\n".join(lines)


BY: dict[str, Callable[[Result], str]] = {
    "notion": lambda result: result.notion,
    "objective": lambda result: result.objective,
    "inputs": lambda result: f"{result.size:2d}",
    "all": lambda _: "all",
}


def main() -> None:
    """Solve the sample and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=300, help="problems")
    parser.add_argument("--first", type=int, default=0, help="the number of the first problem")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=20.0, help="seconds for each")
    parser.add_argument("--list", action="store_true", help="print every problem as it is solved")
    parser.add_argument("--only", type=int, nargs="*", help="only the problems of these numbers")
    asked = parser.parse_args()
    numbers = asked.only or range(asked.first, asked.first + asked.n)
    results = []
    for number in numbers:
        result = solved(asked.seed, number, asked.time_limit)
        results.append(result)
        if asked.list or result.status not in ("optimal", "refused"):
            print(result, flush=True)
    for title, by in BY.items():
        print(f"\n{table(results, by, title)}")


if __name__ == "__main__":
    main()

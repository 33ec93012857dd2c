"""The kinds of problem of this folder in any size, for tests and benchmarks.

Every function takes a size first: the number of inputs, or the side of a grid. What is random comes
from a seeded generator and is exact: whole numbers, made into rational priors, budgets and losses.
So a problem is the same on every machine.

>>> from problems.families import FAMILIES, lip_numeric
>>> lip_numeric(21, epsilon=2)
Problem(21 inputs, LIP(epsilon=2), MeanAbsoluteError())
>>> len(FAMILIES["euclidean-grid"](7).domain)
49
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from mechdesign.domain import Domain
from mechdesign.exact import Exact
from mechdesign.notions import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    BlockLDP,
    BoundedPriorLIP,
    ContextAwareLDP,
    DifferentialIdentifiability,
    HighLowLDP,
    MetricPrivacy,
)
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.utilities import (
    BayesAccuracy,
    Distortion,
    EuclideanDistance,
    HammingLoss,
    MeanAbsoluteError,
    MeanSquaredDistance,
    MutualInformation,
    PosteriorMeanSquaredError,
)

__all__ = [
    "FAMILIES",
    "LN2",
    "block_grid",
    "bounded_prior_ball",
    "bounded_prior_box",
    "bounded_prior_list",
    "context_aware_information",
    "differential_identifiability",
    "euclidean_grid",
    "high_low",
    "ldp_accuracy",
    "ldp_histogram",
    "ldp_information",
    "ldp_numeric",
    "lift_numeric",
    "line_metric",
    "lip_accuracy",
    "lip_and_ldp",
    "lip_histogram",
    "lip_information",
    "lip_numeric",
    "lip_sum",
    "manhattan_grid",
    "many_outputs",
    "pml_hamming",
    "pml_histogram",
    "random_context_aware",
    "random_prior",
    "randomized_response",
    "worst_case_numeric",
]

LN2 = "0.6931471805599453"
"""ln 2 to double precision: one step of distance doubles the odds at most."""

LARGEST_COUNT = 1000


def random_prior(size: int, seed: int = 0, *, largest: int = LARGEST_COUNT) -> Prior:
    """Return a prior with counts drawn evenly from 1 to ``largest``."""
    counts = np.random.default_rng(seed).integers(1, largest + 1, size)
    return Prior.from_counts(counts.tolist())


def ldp_numeric(k: int, epsilon: Exact = 1, seed: int = 0) -> Problem:
    """LDP on the numbers 0..k-1, mean absolute error."""
    domain = Domain.range(k)
    return Problem(domain, LDP(epsilon), MeanAbsoluteError(), prior=random_prior(k, seed))


def randomized_response(k: int, epsilon: Exact = 1) -> Problem:
    """LDP, Hamming loss, uniform prior: the optimum is (k - 1) / (e**epsilon + k - 1)."""
    return Problem(Domain.range(k), LDP(epsilon), HammingLoss())


def worst_case_numeric(k: int, epsilon: Exact = 1) -> Problem:
    """LDP on the numbers 0..k-1, squared distance at the number that fares worst."""
    return Problem(Domain.range(k), LDP(epsilon), MeanSquaredDistance(worst_case=True))


def lip_numeric(k: int, epsilon: Exact = 1, seed: int = 0) -> Problem:
    """LIP on the numbers 0..k-1, mean absolute error."""
    domain = Domain.range(k)
    return Problem(domain, LIP(epsilon), MeanAbsoluteError(), prior=random_prior(k, seed))


def lip_sum(k: int, epsilon: Exact | None = None, seed: int = 0) -> Problem:
    """LIP, error of the best estimate of X; inside the region of the published formula.

    Counts differ by less than a factor 2, so that P_min > 1/(2k); without an epsilon it is the
    least whole number above ln(2k - 1).
    """
    counts = np.random.default_rng(seed).integers(51, 100, k)
    if epsilon is None:
        epsilon = int(np.ceil(np.log(2 * k)))
    prior = Prior.from_counts(counts.tolist())
    return Problem(Domain.range(k), LIP(epsilon), PosteriorMeanSquaredError(), prior=prior)


def lift_numeric(k: int, lower: Exact = 2, upper: Exact = Fraction(1, 2), seed: int = 0) -> Problem:
    """Lift bounds with a budget for each side on the numbers 0..k-1, mean absolute error."""
    notion = AsymmetricLift(lower=lower, upper=upper)
    return Problem(Domain.range(k), notion, MeanAbsoluteError(), prior=random_prior(k, seed))


def pml_hamming(k: int, epsilon: Exact = 1, seed: int = 0) -> Problem:
    """Pointwise maximal leakage, Hamming loss."""
    return Problem(Domain.range(k), PML(epsilon), HammingLoss(), prior=random_prior(k, seed))


def lip_and_ldp(k: int, lip: Exact = 1, ldp: Exact = Fraction(3, 2), seed: int = 0) -> Problem:
    """Both LIP and LDP on the numbers 0..k-1, mean absolute error."""
    prior = random_prior(k, seed)
    return Problem(Domain.range(k), [LIP(lip), LDP(ldp)], MeanAbsoluteError(), prior=prior)


def differential_identifiability(k: int, slack: Exact = 1, seed: int = 0) -> Problem:
    """Differential identifiability on the numbers 0..k-1, mean absolute error.

    ``slack`` is what epsilon has above the least that the prior allows, to 3 digits.
    """
    prior = random_prior(k, seed, largest=10)
    least = float(np.log(float(max(prior) / prior.minimum)))
    epsilon = Fraction(int(np.ceil(1000 * least)), 1000) + Fraction(slack)
    notion = DifferentialIdentifiability(epsilon)
    return Problem(Domain.range(k), notion, MeanAbsoluteError(), prior=prior)


def line_metric(k: int, epsilon: Exact = Fraction(1, 2), seed: int = 0) -> Problem:
    """Metric privacy on the numbers 0..k-1, mean absolute error."""
    notion = MetricPrivacy(epsilon, "absolute")
    return Problem(Domain.range(k), notion, MeanAbsoluteError(), prior=random_prior(k, seed))


def euclidean_grid(n: int, epsilon: Exact = LN2, seed: int | None = None) -> Problem:
    """Geo-indistinguishability on an n x n grid, Euclidean loss; uniform prior without a seed."""
    prior = Prior.uniform(n * n) if seed is None else random_prior(n * n, seed)
    notion = MetricPrivacy(epsilon, "euclidean")
    return Problem(Domain.grid(n, n), notion, EuclideanDistance(), prior=prior)


def manhattan_grid(n: int, epsilon: Exact = LN2, seed: int | None = None) -> Problem:
    """Metric privacy by walking distance on an n x n grid, squared distance."""
    prior = Prior.uniform(n * n) if seed is None else random_prior(n * n, seed)
    notion = MetricPrivacy(epsilon, "manhattan")
    return Problem(Domain.grid(n, n), notion, MeanSquaredDistance(), prior=prior)


def block_grid(n: int, block: int | None = None, epsilon: Exact = 1, seed: int = 0) -> Problem:
    """Block-structured LDP on an n x n grid, Euclidean loss.

    ``block`` is the side of a block; without it, the largest divisor of n up to its root.
    """
    if block is None:
        block = next(side for side in range(int(n**0.5), 0, -1) if n % side == 0)
    notion = BlockLDP(epsilon, block_rows=block, block_columns=block)
    prior = random_prior(n * n, seed)
    return Problem(Domain.grid(n, n), notion, EuclideanDistance(), prior=prior)


def high_low(k: int, sensitive: int | None = None, epsilon: Exact = 1, seed: int = 0) -> Problem:
    """High-low LDP with the first inputs sensitive (a quarter unless said), Hamming loss."""
    s = max(1, k // 4) if sensitive is None else sensitive
    notion = HighLowLDP(epsilon, sensitive=range(s))
    return Problem(Domain.range(k), notion, HammingLoss(), prior=random_prior(k, seed))


def random_context_aware(
    k: int, share_infinite: float = 0.3, seed: int = 0, largest: Exact = 3
) -> Problem:
    """A budget for each pair, drawn evenly up to ``largest`` or infinite; Hamming loss.

    Budgets are whole multiples of ``largest`` / 1000; infinite ones have the given share.
    """
    generator = np.random.default_rng(seed)
    steps = generator.integers(1, 1001, (k, k)).tolist()
    infinite = generator.random((k, k)) < share_infinite
    unit = Fraction(largest) / 1000
    matrix = [
        ["inf" if infinite[x, z] and x != z else steps[x][z] * unit for z in range(k)]
        for x in range(k)
    ]
    notion = ContextAwareLDP(matrix)
    return Problem(Domain.range(k), notion, HammingLoss(), prior=random_prior(k, seed))


def many_outputs(k: int, outputs: int | None = None, epsilon: Exact = 1, seed: int = 0) -> Problem:
    """LDP with a random loss for each input and output; twice as many outputs unless said."""
    m = 2 * k if outputs is None else outputs
    loss = np.random.default_rng(seed).integers(0, 101, (k, m)).tolist()
    prior = random_prior(k, seed)
    return Problem(Domain.range(k), LDP(epsilon), Distortion(loss), prior=prior, outputs=range(m))


def bounded_prior_list(k: int, priors: int = 3, epsilon: Exact = 1, seed: int = 0) -> Problem:
    """LIP for some random priors and their mixtures, mean absolute error at the first."""
    members = [random_prior(k, seed + i) for i in range(priors)]
    notion = BoundedPriorLIP(epsilon, priors=members)
    return Problem(Domain.range(k), notion, MeanAbsoluteError(), prior=members[0])


def bounded_prior_box(
    k: int, width: Exact = Fraction(1, 5), epsilon: Exact = 1, seed: int = 0
) -> Problem:
    """LIP for every prior within a share ``width`` of a random one, input by input."""
    prior, share = random_prior(k, seed), Fraction(width)
    notion = BoundedPriorLIP(
        epsilon,
        lower=[p * (1 - share) for p in prior],
        upper=[min(Fraction(1), p * (1 + share)) for p in prior],
    )
    return Problem(Domain.range(k), notion, MeanAbsoluteError(), prior=prior)


def bounded_prior_ball(
    k: int, radius: Exact = Fraction(1, 20), epsilon: Exact = 1, seed: int = 0
) -> Problem:
    """LIP for every prior within total variation ``radius`` of a random one."""
    prior = random_prior(k, seed)
    notion = BoundedPriorLIP(epsilon, center=prior, radius=radius)
    return Problem(Domain.range(k), notion, MeanAbsoluteError(), prior=prior)


def ldp_histogram(k: int, epsilon: Exact = 1, seed: int = 0) -> Problem:
    """LDP, error of the whole posterior."""
    utility = PosteriorMeanSquaredError(histogram=True)
    return Problem(Domain.range(k), LDP(epsilon), utility, prior=random_prior(k, seed))


def lip_histogram(k: int, epsilon: Exact = 1, seed: int = 0) -> Problem:
    """LIP, error of the whole posterior."""
    utility = PosteriorMeanSquaredError(histogram=True)
    return Problem(Domain.range(k), LIP(epsilon), utility, prior=random_prior(k, seed))


def pml_histogram(k: int, epsilon: Exact = 1, seed: int = 0) -> Problem:
    """Pointwise maximal leakage, error of the whole posterior."""
    utility = PosteriorMeanSquaredError(histogram=True)
    return Problem(Domain.range(k), PML(epsilon), utility, prior=random_prior(k, seed))


def ldp_information(k: int, epsilon: Exact = 1, seed: int = 0) -> Problem:
    """LDP, mutual information: 2^k - 2 extreme rays."""
    return Problem(Domain.range(k), LDP(epsilon), MutualInformation(), prior=random_prior(k, seed))


def lip_information(k: int, epsilon: Exact = 1, seed: int = 0) -> Problem:
    """LIP, mutual information."""
    return Problem(Domain.range(k), LIP(epsilon), MutualInformation(), prior=random_prior(k, seed))


def context_aware_information(k: int, share_infinite: float = 0.3, seed: int = 0) -> Problem:
    """A random budget for each pair, as in :func:`random_context_aware`; mutual information."""
    like = random_context_aware(k, share_infinite, seed)
    return Problem(like.domain, like.privacy, MutualInformation(), prior=like.prior)


def ldp_accuracy(k: int, epsilon: Exact = 1, seed: int = 0) -> Problem:
    """LDP, probability that the best guess is right."""
    return Problem(Domain.range(k), LDP(epsilon), BayesAccuracy(), prior=random_prior(k, seed))


def lip_accuracy(k: int, epsilon: Exact = 1, seed: int = 0) -> Problem:
    """LIP, probability that the best guess is right."""
    return Problem(Domain.range(k), LIP(epsilon), BayesAccuracy(), prior=random_prior(k, seed))


FAMILIES: dict[str, Callable[..., Problem]] = {
    "ldp-numeric": ldp_numeric,
    "randomized-response": randomized_response,
    "worst-case-numeric": worst_case_numeric,
    "many-outputs": many_outputs,
    "lip-numeric": lip_numeric,
    "lip-sum": lip_sum,
    "lift-numeric": lift_numeric,
    "pml-hamming": pml_hamming,
    "lip-and-ldp": lip_and_ldp,
    "differential-identifiability": differential_identifiability,
    "line-metric": line_metric,
    "euclidean-grid": euclidean_grid,
    "manhattan-grid": manhattan_grid,
    "block-grid": block_grid,
    "high-low": high_low,
    "random-context-aware": random_context_aware,
    "bounded-prior-list": bounded_prior_list,
    "bounded-prior-box": bounded_prior_box,
    "bounded-prior-ball": bounded_prior_ball,
    "ldp-histogram": ldp_histogram,
    "lip-histogram": lip_histogram,
    "pml-histogram": pml_histogram,
    "ldp-information": ldp_information,
    "lip-information": lip_information,
    "context-aware-information": context_aware_information,
    "ldp-accuracy": ldp_accuracy,
    "lip-accuracy": lip_accuracy,
}
"""Every family by name; the first argument of each is the size."""

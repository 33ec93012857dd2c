"""Orbits of the extreme rays of a cone of one budget under permutations of its protected inputs.

The extreme rays raise a subset of the protected inputs of one block (`one_budget`). If the prior is
uniform on the protected inputs of each block, the risk is invariant under their permutations; as it
is convex, the mean of an optimum over all permutations is also an optimum, and it mixes classes of
rays: all subsets of one size, with equal weights.
"""

from __future__ import annotations

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.closed_forms.balanced_subsets import balanced_subsets
from mechdesign.problem import Problem
from mechdesign.search.cones.forms import OneBudgetCone
from mechdesign.search.estimation_risk.mixture_risk import RayMoments
from mechdesign.search.estimation_risk.saddle_point import Mixture

MOST_NUMBERS = 1 << 25
"""The largest number of entries of the classes' matrices."""

USED = 1e-10
"""Classes with a smaller weight are dropped from the channel."""


class RayClasses(OneBudgetCone):
    """The classes of one problem."""

    def fit(self, problem: Problem) -> bool:
        """Return whether the prior is uniform within groups, and there are few classes."""
        prior = problem.prior.probabilities
        moving = problem.utility.worst_case
        same = all(len({prior[x] for x in inputs}) == 1 for _, inputs in self.blocks)
        return (moving or same) and (len(self._sizes()) + self.size) * self.size**2 <= MOST_NUMBERS

    def _sizes(self) -> list[tuple[int, int]]:
        """Return the index of the block and the number of raised inputs, for each class of subsets.

        If the whole block is protected, raising nothing is, up to scale, the same as raising
        everything.
        """
        return [
            (b, j)
            for b, (block, inputs) in enumerate(self.blocks)
            for j in range(int(len(block) == len(inputs)), len(inputs) + 1)
        ]

    @property
    def groups(self) -> IntArray:
        """For each input the first equivalent input."""
        groups = np.arange(self.size)
        for _, inputs in self.blocks:
            groups[inputs] = inputs[0]
        return groups

    def moments(self) -> RayMoments:
        """Return the mean of q q' and of q over each class, then those of the single inputs.

        Of the s inputs of which j are raised, each is with probability j / s, and each pair with
        probability j (j - 1) / (s (s - 1)).
        """
        k, sizes = self.size, self._sizes()
        n = len(sizes) + len(self.alone)
        second, mean = np.zeros((n, k, k)), np.zeros((k, n))
        for i, (b, j) in enumerate(sizes):
            block, inputs = self.blocks[b]
            s = len(inputs)
            pair = j * (j - 1) / (s * (s - 1)) if s > 1 else 0.0
            mean[block, i] = self.low
            mean[inputs, i] = self.low + (1 - self.low) * j / s
            second[i] = np.outer(mean[:, i], mean[:, i])
            # q = low + (1 - low) * member on the protected inputs
            both = self.low**2 + 2 * self.low * (1 - self.low) * j / s + (1 - self.low) ** 2 * pair
            second[i][np.ix_(inputs, inputs)] = both
            second[i][inputs, inputs] = self.low**2 + (1 - self.low**2) * j / s
        for i, x in enumerate(self.alone, len(sizes)):
            second[i, x, x] = mean[x, i] = 1.0
        return RayMoments(second, mean, self.groups)

    def columns(self, theta: FloatArray) -> FloatArray:
        """Return a channel with these weights of the classes, with few outputs."""
        sizes, found = self._sizes(), []
        for weight, (b, j) in zip(theta, sizes, strict=False):
            if weight <= USED:
                continue
            block, inputs = self.blocks[b]
            members, shares = balanced_subsets(len(inputs), j)
            columns = np.zeros((self.size, len(shares)))
            columns[block] = self.low
            columns[inputs] = np.where(members > 0, 1.0, self.low)
            found.append(columns * shares * weight)
        alone = np.zeros((self.size, len(self.alone)))
        alone[self.alone, range(len(self.alone))] = theta[len(sizes) :]
        found.append(alone[:, alone.max(axis=0, initial=0.0) > USED])
        return np.hstack(found)

    def evened(self, mixture: Mixture) -> Mixture:
        """Return a mixture whose numbers are exactly equal on the inputs of a group.

        The certificate by classes needs this; rounding makes them differ.
        """
        groups = self.groups
        _, place = np.unique(groups, return_inverse=True)
        pair = place[:, None] * (place.max() + 1) + place[None, :]
        pair = 2 * pair + np.eye(self.size, dtype=int)

        def mean(values: FloatArray, where: IntArray) -> FloatArray:
            sums = np.bincount(where.ravel(), weights=values.ravel())
            counts = np.bincount(where.ravel())
            return (sums / np.maximum(counts, 1))[where]

        return Mixture(
            mixture.theta,
            mean(mixture.prior, place),
            mean(mixture.inverse, pair),
            mean(mixture.potentials, place),
            mixture.gain,
            mixture.risk,
        )

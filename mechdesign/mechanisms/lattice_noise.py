"""Geometric noise on lines and grids, and planar Laplace noise on grids, for metric privacy."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from math import inf, nextafter
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse.linalg import LinearOperator

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.channel import BITS, Channel
from mechdesign.domain import Domain, DomainLike
from mechdesign.errors import InputError, UnsupportedError, shown
from mechdesign.exact import Exact, as_fraction, fraction_text
from mechdesign.kernel.arithmetic import over_one_denominator
from mechdesign.mechanisms.base import (
    WHOLE,
    Frequencies,
    Mechanism,
    inputs_of,
)
from mechdesign.mechanisms.remap_table import Losses
from mechdesign.mechanisms.torus_law import TorusLaw
from mechdesign.notions import MetricPrivacy, Notion
from mechdesign.prior import Prior
from mechdesign.reports import Labels
from mechdesign.sampling import Source, chances
from mechdesign.solver_guard import called, checked

LEAST_EXPONENT, MOST_EXPONENT = Fraction(1, 10**4), Fraction(30)
"""Range of epsilon times a lattice step in which 62 bits represent the noise to within 1e-6."""

MOST_INPUTS = 2048
"""The largest number of inputs with a dense matrix."""


class LatticeNoise(Mechanism):
    """Noise on equally spaced points whose probability decreases with distance.

    See :mod:`~mechdesign.mechanisms.torus_law` for the law and the proof of privacy. Reports
    are points of the domain; :meth:`remapped` replaces each by the one of least expected loss.

    Attributes
    ----------
    law
        The integers of the noise.
    remap
        ``(n_inputs,)`` the index of the point that replaces each report; None without a remap.
    """

    distance: ClassVar[str]
    """The distance on a grid in the privacy guarantee."""

    _notion: MetricPrivacy

    law: TorusLaw

    remap: Int64Array | None

    def __init__(
        self,
        inputs: DomainLike,
        epsilon: Exact | MetricPrivacy,
        law: TorusLaw | None = None,
        remap: Int64Array | None = None,
    ) -> None:
        self.inputs, is_euclidean = inputs_of(inputs), self.distance == "euclidean"
        sides, step = _lattice(self.inputs)
        named = [self.distance]
        if self.inputs.grid_shape is None:
            if is_euclidean:
                raise InputError("inputs", f"a grid for {self.name}", repr(self.inputs))
            named = ["absolute", "euclidean", "manhattan"]
        notion = epsilon if isinstance(epsilon, Notion) else MetricPrivacy(epsilon, named[0])
        if notion.distance not in named:
            expected = f"{' or '.join(named)} for {self.name} on {self.inputs!r}"
            raise InputError("privacy.distance", expected, shown(notion.distance))
        exponent = notion.epsilon * step
        if not LEAST_EXPONENT <= exponent <= MOST_EXPONENT:
            expected = f"from {float(LEAST_EXPONENT):g} to {MOST_EXPONENT} for each step"
            raise InputError("epsilon", expected, fraction_text(exponent))
        self._notion, self._step, self._exponent = notion, step, exponent
        self.law = law or TorusLaw.of_budget(sides, exponent, is_euclidean)
        self.remap = remap
        self.alphabet = Labels(self.inputs)

    @classmethod
    def restored(cls, domain: Domain, notion: MetricPrivacy, parameters: Mapping[str, Any]) -> Self:
        """Return the mechanism of saved parameters, which the checker has proved private."""
        remap, (first, second) = parameters.get("remap"), parameters["margins"]
        sides, weights = _lattice(domain)[0], tuple(parameters["weights"])
        law = TorusLaw(sides, (first, second), cls.distance == "euclidean", weights)
        return cls(domain, notion, law, None if remap is None else np.array(remap, dtype=np.int64))

    @property
    def leakage(self) -> float:
        """The budget, which the law uses up to within a millionth of it, rounded up to a float.

        With a remap it is the leakage of the noise, which no remap increases.
        """
        epsilon = self._notion.epsilon
        near = float(epsilon)
        return near if as_fraction(near) >= epsilon else nextafter(near, inf)

    @property
    def leakage_factor(self) -> None:
        """None: the bound on each pair of inputs depends on their distance."""
        return None

    def parameters(self) -> dict[str, Any]:
        """Return the margins of the torus, the weights by length, and the remap if there is one."""
        found: dict[str, Any] = {
            "margins": list(self.law.margins),
            "weights": list(self.law.weights),
        }
        return found if self.remap is None else {**found, "remap": self.remap.tolist()}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports: input indices. One word of 62 bits determines the displacement."""
        (n, m), (margin, other) = self.law.sides, self.law.margins
        N, M = self.law.torus
        cells = np.searchsorted(self.law.cumulative, chances(source, len(codes), BITS), "right")
        down = (codes // m + cells // M + margin) % N - margin
        right = (codes % m + cells % M + other) % M - other
        found = np.clip(down, 0, n - 1) * m + np.clip(right, 0, m - 1)
        return np.asarray(found if self.remap is None else self.remap[found])

    def row(self, x: int) -> Int64Array:
        """Return the masses of all reports at input index x, in units of 2**-62."""
        n, m = self.law.sides
        masses = self.law.masses(divmod(x, m), (np.arange(n), np.arange(m))).ravel()
        if self.remap is None:
            return masses
        found = np.zeros_like(masses)
        np.add.at(found, self.remap, masses)
        return found

    def mass(self, x: int, report: AnyArray) -> Fraction:
        """Return the probability of a report."""
        row = self._matrix[x] if len(self.inputs) <= MOST_INPUTS else self.row(x)
        return Fraction(int(row[report[0]]), WHOLE)

    def remapped(self, prior: Prior, loss: str = "euclidean", block: int = 1) -> Self:
        """Return the mechanism that replaces each report by the point of least expected loss.

        Parameters
        ----------
        prior
            The prior of the inputs, at which posteriors are taken.
        loss
            ``"euclidean"``, ``"absolute"`` (the sum along both sides of a grid), ``"squared"``, or
            ``"hamming"``.
        block
            Points in squares of this side are replaced by one, which is faster.

        Notes
        -----
        65,536 points of a grid take half a minute with the Euclidean loss, less with the others.

        Source: Chatzikokolakis, ElSalamouny and Palamidessi 2017.
        """
        table, _ = self.losses(prior, loss).remap(self.exponent, block)
        return self.replacing(table)

    def replacing(self, remap: Int64Array | None) -> Self:
        """Return the mechanism with another remap, or without one."""
        return type(self)(self.inputs, self._notion, self.law, remap)

    def expected_loss(self, prior: Prior, loss: str = "euclidean") -> tuple[float, float]:
        """Return lower and upper bounds on the expected loss, which differ by rounding errors only.

        Parameters
        ----------
        prior, loss
            As for :meth:`remapped`.
        """
        own = np.arange(len(self.inputs)) if self.remap is None else self.remap
        return self.losses(prior, loss).expected(own)

    @property
    def exponent(self) -> float:
        """The budget per lattice step."""
        return float(self._exponent)

    def losses(self, prior: Prior, loss: str) -> Losses:
        """Return the losses of remap tables at a prior."""
        return Losses(self.law, self.fitting_prior(prior).array, loss, float(self._step))

    def dense(self) -> Channel:
        """Return the matrix, for up to 2048 inputs."""
        return Channel(self._matrix, inputs=self.inputs, bits=BITS)

    @cached_property
    def _matrix(self) -> Int64Array:
        if len(self.inputs) > MOST_INPUTS:
            expected = f"at most {MOST_INPUTS} inputs, to write the matrix out"
            hint = "distributions are estimated by maximum likelihood"
            raise UnsupportedError("mechanism", expected, f"{len(self.inputs)}", hint)
        return np.array([self.row(x) for x in range(len(self.inputs))])

    def operator(self) -> LinearOperator:
        """Return the matrix as a linear operator, by fast Fourier transforms on the torus."""
        k, remap = len(self.inputs), self.remap

        def outputs(p: FloatArray) -> FloatArray:
            found = self.law.spread(p.ravel())
            if remap is None:
                return found
            return np.bincount(remap, weights=found, minlength=k).astype(np.float64)

        def means(r: FloatArray) -> FloatArray:
            return self.law.gathered(r.ravel() if remap is None else r.ravel()[remap])

        return LinearOperator((k, k), matvec=means, rmatvec=outputs, dtype=np.float64)

    @cached_property
    def _scores(self) -> FloatArray:
        """``(n_inputs, n_outputs)`` scores: the transposed inverse of the matrix."""
        if self.remap is not None:
            expected = "a mechanism without a remap, whose reports determine the distribution"
            raise UnsupportedError("mechanism", expected, repr(self))
        matrix = np.ldexp(self._matrix.astype(np.float64), -BITS)
        inverse = checked("LAPACK", called("LAPACK", np.linalg.inv, matrix), matrix.shape)
        if np.abs(matrix @ inverse - np.eye(len(matrix))).max() > 1e-6:
            raise UnsupportedError(
                "mechanism",
                "a budget at which reports determine the distribution",
                repr(self),
                "use maximum likelihood",
            )
        return np.asarray(inverse.T)

    def batch_frequencies(self, counts: FloatArray, totals: FloatArray) -> Frequencies:
        """Return unbiased estimates, for up to 2048 inputs and no remap."""
        shares, scores = counts / totals[:, None], self._scores.T
        return Frequencies(shares @ scores, shares @ scores**2)

    def expected_counts(self, weights: FloatArray) -> FloatArray:
        """Return the distribution of the report."""
        return np.asarray(weights @ np.ldexp(self._matrix.astype(np.float64), -BITS))

    def _combined(self, weights: FloatArray) -> FloatArray:
        """Return Sum_x w_x s_x(y) for each report y."""
        return np.asarray(weights @ self._scores)

    def largest_ratio(self) -> Fraction:
        """Return a bound on the ratio of two probabilities of a report at any two inputs."""
        return Fraction(max(self.law.weights), min(self.law.weights))

    def output_distribution(self, prior: Prior) -> tuple[Fraction, ...]:
        """Return the exact distribution of the report, for up to 2048 inputs."""
        weights, unit = over_one_denominator(self.fitting_prior(prior))
        sums = np.array(weights, dtype=object) @ self._matrix.astype(object)
        return tuple(Fraction(mass, WHOLE * unit) for mass in sums.tolist())


class GeometricNoise(LatticeNoise):
    """Two-sided geometric noise: each step further from the truth is e**epsilon times less likely.

        Q[x, y] proportional to e**(-epsilon |x - y|)

    On a line, noise beyond an end is reported as the end (the truncated geometric mechanism).
    Followed by a remap it is optimal for every prior on a line with any number of inputs. On a
    grid, distances are Manhattan distances, and noise along the two sides is independent.

    Parameters
    ----------
    inputs
        Equally spaced increasing numbers, their number, or a grid; at least 2 points.
    epsilon
        Nats per unit of distance; from 1e-4 to 30 for each step.

    Notes
    -----
    Source: Ghosh, Roughgarden and Sundararajan 2009.

    Examples
    --------
    >>> ages = GeometricNoise(range(100), "0.5")
    >>> ages
    GeometricNoise(100 inputs, MetricPrivacy(epsilon=0.5, distance=absolute), 6.644 bits a report)
    >>> float(ages.probability(40, 40) / ages.probability(41, 40))  # e**0.5
    1.6487212707001282
    >>> low, high = ages.expected_loss(Prior.uniform(100), "absolute")
    >>> round(low, 6) == round(high, 6)
    True
    """

    name = "geometric-noise"
    source = "Ghosh, Roughgarden and Sundararajan 2009"
    distance = "manhattan"


class PlanarLaplace(LatticeNoise):
    """Planar Laplace noise on a grid: the probability falls by e**epsilon per unit of distance.

        Q[x, z] proportional to e**(-epsilon |x - z|), Euclidean

    Points beyond the grid are reported as its nearest point. This is geo-indistinguishability
    exactly, on the grid: there is no loss from rounding a continuous draw.

    Parameters
    ----------
    inputs
        A grid, ``Domain.grid(rows, columns, spacing)``.
    epsilon
        Nats per unit of distance; from 1e-4 to 30 for each step.

    Notes
    -----
    Source: Andres, Bordenabe, Chatzikokolakis and Palamidessi 2013.

    Examples
    --------
    >>> city = PlanarLaplace(Domain.grid(16, 16, spacing=0.5), 2)
    >>> reports = city.privatize([(3, 4), (12, 0)])  # pairs, or numbers of cells, row by row
    >>> reports = city.privatize([3 * 16 + 4, 12 * 16])
    >>> city.leakage
    2.0
    >>> remapped = city.remapped(Prior.uniform(256))
    >>> remapped.expected_loss(Prior.uniform(256)) < city.expected_loss(Prior.uniform(256))
    True
    """

    name = "planar-laplace"
    source = "Andres, Bordenabe, Chatzikokolakis and Palamidessi 2013"
    distance = "euclidean"


def _lattice(domain: Domain) -> tuple[tuple[int, int], Fraction]:
    """Return the numbers of points along both sides and the spacing; a line has one row."""
    if domain.lattice is None:
        expected = "a grid, or equally spaced numbers in rising order"
        raise InputError("inputs", expected, repr(domain))
    return domain.lattice

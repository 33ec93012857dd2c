"""Base class of structured mechanisms: channels too large for a matrix, defined by a rule."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from scipy.sparse.linalg import LinearOperator

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.channel import BITS, Channel
from mechdesign.domain import Domain, DomainLike
from mechdesign.errors import InputError, UnsupportedError, shown_kind
from mechdesign.exact import as_fraction, exp_lower, fraction_text, log_upper
from mechdesign.kernel.documents import FORMAT, VERSION, Claim, digest
from mechdesign.kernel.schema import write
from mechdesign.notions import LDP, LIP, BlockLDP, HighLowLDP, Notion
from mechdesign.prior import Prior, prior_on
from mechdesign.reports import Alphabet, Labels, ReportSource, Tally, check_counts
from mechdesign.sampling import Source


class MergedReports(NamedTuple):
    """The rows of a few inputs over classes of reports, for a mechanism with symmetries.

    In a class the probabilities at these inputs and their minimum over all inputs are proportional.

    Attributes
    ----------
    rows
        ``(n_rows, n_classes)`` probabilities of the classes at two inputs or more.
    least
        ``(n_classes,)`` lower bounds on the sum over the class of the least probability over
        inputs.
    pairs
        Pairs of rows that represent all ordered pairs of inputs, up to symmetry.
    inputs
        The indices of the inputs of the rows; by default the first ones.
    complete
        Whether one of the pairs, with a third input, represents every pair with a third input.
    """

    rows: tuple[tuple[Fraction, ...], ...]
    least: tuple[Fraction, ...]
    pairs: tuple[tuple[int, int], ...] = ((0, 1),)
    inputs: tuple[int, ...] = (0, 1, 2)
    complete: bool = False


WHOLE = 1 << BITS
"""The sum of the integer masses of a distribution."""

LEAST_BUDGET, MOST_BUDGET = Fraction(1, 10**6), Fraction(30)
"""Outside this range, probabilities rounded to multiples of 2**-62 have large relative errors."""

MOST_OUTPUTS = 1 << 16
"""The largest number of outputs to list."""


@dataclass(frozen=True)
class Frequencies:
    """Unbiased estimates of the frequency of each input.

    The estimate for input x is the mean over the reports of a score s_x(y) with
    E[s_x(Y) | X = z] = 1{z = x}.

    Attributes
    ----------
    estimates
        ``(n_inputs,)`` means of the scores; may be negative, and need not sum to 1.
    squares
        ``(n_inputs,)`` means of the squared scores, which give the standard errors.
    """

    estimates: FloatArray
    squares: FloatArray


class Mechanism(ReportSource):
    """A channel defined by a rule, with exact sampling and unbiased frequency estimates.

    A subclass defines its probabilities by integers (:meth:`parameters`), draws from them, computes
    each probability exactly, and has a score for each input whose mean is an unbiased estimate.
    """

    name: ClassVar[str]
    """Its name in files."""

    source: ClassVar[str]

    inputs: Domain

    alphabet: Alphabet
    """Its possible reports."""

    prior: Prior | None = None
    """The prior that it was made for; None if its notion needs none."""

    _notion: Notion

    @property
    def privacy(self) -> Notion:
        """The notion that it was made for and satisfies."""
        return self._notion

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return the exact parameters of a saved file: integers and lists of integers."""

    def to_table(self) -> dict[str, Any]:
        """Return the tables of a mechanism file: the notion, the integer parameters, the inputs.

        Integers are written as text, since many JSON readers keep 53 bits only.
        """
        notion = self.privacy.to_table()
        epsilon = float(as_fraction(notion["epsilon"]))
        problem = {"domain": self.inputs.to_table(), "privacy": [notion]}
        if self.prior is not None:
            problem["prior"] = self.prior.to_table()
        claim = Claim(self.privacy.name, self.leakage, certified=True, epsilon=epsilon)
        return {
            "source": self.source,
            "privacy": [write(claim)],
            "law": {"kind": self.name, **_as_text(self.parameters())},
            "problem": problem,
        }

    def document(self) -> dict[str, Any]:
        """Return the contents of a mechanism file: notion, integer parameters and inputs."""
        document = {"format": FORMAT, "version": VERSION, **self.to_table()}
        document["digest"] = digest(document)
        return document

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the law and the inputs, in hexadecimal; see :attr:`Channel.digest`."""
        return str(self.document()["digest"]).removeprefix("sha256:")

    @abstractmethod
    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Return one report for each input index, with exactly the stated probabilities."""

    @abstractmethod
    def mass(self, x: int, report: AnyArray) -> Fraction:
        """Return the exact probability of one report, as an array of length 1, at input index x."""

    def frequencies(self, tally: Tally) -> Frequencies:
        """Return unbiased estimates from the counts of reports."""
        counts, total = self.counted(tally)
        found = self.batch_frequencies(counts[None], np.array([float(total)]))
        return Frequencies(found.estimates[0], found.squares[0])

    @abstractmethod
    def batch_frequencies(self, counts: FloatArray, totals: FloatArray) -> Frequencies:
        """Return the estimates of many tallies, ``(n_tallies, n_inputs)``.

        Parameters
        ----------
        counts
            ``(n_tallies, n_counts)`` counts, one row for each tally, at least one.
        totals
            ``(n_tallies,)`` numbers of reports, above 0.
        """

    @abstractmethod
    def expected_counts(self, weights: FloatArray) -> FloatArray:
        """Return Sum_x w_x E[counts of one report | x], ``(n_counts,)``, for ``(n_inputs,)`` w."""

    def variances(self, prior: Prior | None = None) -> FloatArray:
        """Return the number of reports times the variance of each estimate, ``(n_inputs,)``.

        That is E[s_x(Y)**2] - p_x**2, up to floating point.

        Parameters
        ----------
        prior
            The distribution of the inputs; default the prior of :attr:`risk`.

        Raises
        ------
        UnsupportedError
            If the reports do not determine the distribution, or there are too many inputs to
            decide.

        Examples
        --------
        >>> from mechdesign.mechanisms import GeneralizedRandomizedResponse
        >>> rare = GeneralizedRandomizedResponse(3, 1).variances(Prior([0, 0, 1]))
        >>> rare.round(4).tolist()  # q (1 - q) / (p - q)**2, and p (1 - p) / (p - q)**2 of the last
        [1.2594, 1.2594, 1.8413]
        """
        p = (self._reference() if prior is None else self.fitting_prior(prior)).array
        found = self.batch_frequencies(self.expected_counts(p)[None], np.ones(1))
        return np.asarray(found.squares[0] - p**2)

    @property
    def risk(self) -> float:
        """The number of reports times the total variance of the estimates (l2 risk).

        At the prior of the mechanism, or else the uniform prior.
        """
        return float(self.variances().sum())

    @property
    def least_known_risk(self) -> float | None:
        """The least known :attr:`risk` under the same notion and budget; None if unknown."""
        return None

    @property
    def risk_ratio(self) -> float | None:
        """The factor by which it needs more people than the best known one, for equal error."""
        least = self.least_known_risk
        return None if least is None else self.risk / least

    def _reference(self) -> Prior:
        """Return the prior of the risk."""
        return Prior.uniform(len(self.inputs))

    def combination(self, tally: Tally, weights: FloatArray) -> tuple[float, float]:
        """Return the mean of the score Sum_x w_x s_x(Y) over the reports, and of its square.

        The first mean is an unbiased estimate of Sum_x w_x p_x; both give its standard error.
        """
        counts, total = self.counted(tally)
        scores = self._combined(weights)
        return float(counts @ scores) / total, float(counts @ scores**2) / total

    def _combined(self, weights: FloatArray) -> FloatArray:
        """Return Sum_x w_x s_x(y) for each report y, if a tally has a count for each report."""
        raise NotImplementedError

    @abstractmethod
    def largest_ratio(self) -> Fraction:
        """Return the largest ratio of two probabilities that the notion bounds by e**epsilon."""

    @property
    def leakage_factor(self) -> Fraction | None:
        """The exact e**leakage; None if the notion has a bound for each pair of inputs."""
        return self.largest_ratio()

    @property
    def n_outputs(self) -> int:
        """The number of different reports."""
        return self.alphabet.n_outputs

    @property
    def leakage(self) -> float:
        """The smallest epsilon at which the notion holds, in nats, rounded up."""
        largest = self.largest_ratio()
        near = float(log_upper(largest))
        # round up only if necessary, so that a satisfied budget does not appear exceeded
        return near if largest <= exp_lower(as_fraction(near)) else math.nextafter(near, math.inf)

    def listed(self) -> AnyArray:
        """Return every report once, in the order of the outputs; see :meth:`outputs`."""
        return self.alphabet.listed()

    def count(self, data: AnyArray) -> Int64Array:
        """Return the counts that :meth:`frequencies` uses; counts of two parts add up."""
        return self.alphabet.count(data)

    def probability(self, x: Any, y: Any) -> Fraction:
        """Return the exact probability of the report y at the input label x."""
        return self.mass(self.inputs.index(x, "x"), self.alphabet.encode([y], "y"))

    def output_distribution(self, prior: Prior) -> tuple[Fraction, ...]:
        """Return the exact distribution of the report, in the order of :meth:`outputs`."""
        prior = self.fitting_prior(prior)
        return tuple(
            sum((p * self.mass(x, report) for x, p in enumerate(prior) if p), Fraction(0))
            for report in self._each()
        )

    def outputs(self) -> list[Any]:
        """Return all reports as Python values."""
        self._check_listable()
        return self.alphabet.labels(self.listed())

    def rows(self) -> list[tuple[Fraction, ...]]:
        """Return the exact matrix, for up to 65,536 reports."""
        columns = [[self.mass(x, y) for x in range(len(self.inputs))] for y in self._each()]
        return list(zip(*columns, strict=True))

    def dense(self) -> Channel:
        """Return the matrix, for small domains, with entries rounded to multiples of 2**-62.

        Outputs are the labels that are reported; other reports, such as sets, are numbered.
        """
        outputs = self.alphabet.outputs if isinstance(self.alphabet, Labels) else None
        return Channel.from_matrix(self.rows(), inputs=self.inputs, outputs=outputs)

    def fitting_prior(self, prior: Prior) -> Prior:
        """Return the prior in the order of the inputs, or raise InputError."""
        return prior_on(prior, self.inputs)

    def counted(self, tally: Tally) -> tuple[FloatArray, int]:
        """Return the counts of a tally as floats, and the number of reports.

        Raises
        ------
        InputError
            If there are no reports, or the counts are not of this mechanism.
        """
        if tally.total < 1:
            raise InputError("tally", "at least one report", "none")
        counts = check_counts(tally.counts, self.alphabet.n_counts)
        single = isinstance(self.alphabet, Labels)  # each report has one count
        if counts.max() > tally.total or (single and counts.sum() != tally.total):
            given = f"counts up to {counts.max()}, with the sum {counts.sum()}"
            raise InputError("tally", f"counts of {tally.total} reports", given)
        return counts.astype(np.float64), tally.total

    def merged_reports(self) -> MergedReports | None:
        """Return a few rows over merged reports that represent all pairs, or None."""
        return None

    def operator(self) -> LinearOperator | None:
        """Return a fast linear operator of the matrix in floats; None if there is none."""
        return None

    def _each(self) -> list[AnyArray]:
        self._check_listable()
        data = self.listed()
        return [data[n : n + 1] for n in range(len(data))]

    def _check_listable(self) -> None:
        if self.n_outputs > MOST_OUTPUTS:
            expected = f"a mechanism of at most {MOST_OUTPUTS} reports to list"
            raise UnsupportedError("mechanism", expected, f"2**{self.bits_per_report:.0f} reports")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return (
            type(self) is type(other)
            and self.inputs == other.inputs
            and self.privacy == other.privacy
            and self.prior == other.prior
            and self.parameters() == other.parameters()
        )

    def __hash__(self) -> int:
        return hash((self.name, self.inputs, repr(self.parameters())))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({len(self.inputs)} inputs, {self.privacy!r}, "
            f"{self.bits_per_report:.4g} bits a report)"
        )


def _as_text(parameters: Any) -> Any:
    """Return parameters with their integers as text."""
    if isinstance(parameters, Mapping):
        return {key: _as_text(entry) for key, entry in parameters.items()}
    if isinstance(parameters, list):
        return [_as_text(entry) for entry in parameters]
    return str(parameters)


def inputs_of(inputs: DomainLike) -> Domain:
    """Return the domain from a Domain, its labels, or its size."""
    domain = Domain.of(inputs, "inputs")
    if len(domain) < 2:
        raise InputError("inputs", "at least two inputs", len(domain))
    return domain


N = TypeVar("N", bound="LDP | HighLowLDP | BlockLDP | LIP")


def informative(notion: N, kind: type[N]) -> N:
    """Return a notion of a kind if 62-bit probabilities can represent its budget."""
    if not isinstance(notion, kind):
        raise InputError("notion", f"the notion {kind.__name__}", shown_kind(notion))
    if not LEAST_BUDGET <= notion.epsilon <= MOST_BUDGET:
        expected = f"a number from {float(LEAST_BUDGET):g} to {MOST_BUDGET}"
        raise InputError("epsilon", expected, fraction_text(notion.epsilon))
    return notion


def held_mass(epsilon: Fraction, on: int, off: int) -> int:
    """Return the largest total mass of ``on`` outputs against ``off`` others.

    That is the largest integer h with h / on <= e**epsilon (2**62 - h) / off.

    Examples
    --------
    >>> held_mass(Fraction(0), 1, 3) == WHOLE // 4
    True
    """
    odds = exp_lower(epsilon) * on
    return int(odds * WHOLE / (odds + off))

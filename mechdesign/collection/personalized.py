"""Personalized LDP: each record has its own epsilon, and one estimate uses all reports.

:func:`privatize_each` handles categories; :func:`collect_numbers`, PENA (Akter and Hashem 2017),
means and sums of numbers.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np

from mechdesign._typing import Int64Array
from mechdesign.channel import Channel
from mechdesign.continuous import ContinuousChannel
from mechdesign.designs.design import design
from mechdesign.designs.progress import tqdm_bar
from mechdesign.designs.solution import Solution
from mechdesign.domain import Domain
from mechdesign.errors import InputError, listed, shown
from mechdesign.estimation.estimate import estimate_groups
from mechdesign.estimation.result import Estimate, ScalarEstimate
from mechdesign.exact import Exact, as_fraction, fraction_text, log_upper
from mechdesign.labels import check_index
from mechdesign.mechanisms import Mechanism
from mechdesign.mechanisms.base import WHOLE, held_mass, informative
from mechdesign.notions import LDP
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.reports import Reports
from mechdesign.sampling import SIMULATION, Randomness, stream_of

__all__ = [
    "Group",
    "NumberReports",
    "PersonalizedReports",
    "TwoValuedResponder",
    "collect_numbers",
    "privatize_each",
]

MOST_DESIGNS = 64
"""The largest number of channels to design."""

MOST_SHOWN = 12
"""Maximum number of groups in a repr."""


def distinct(values: Any, count: int, key: str) -> tuple[list[Fraction], Int64Array]:
    """Return the sorted distinct numbers in ``values``, and the index of each record's number.

    ``values`` are one number for all records, or a list or NumPy array with one for each. A float
    stands for its shortest decimal.

    Examples
    --------
    >>> distinct([1, 0.5, "1/2"], 3, "epsilons")
    ([Fraction(1, 2), Fraction(1, 1)], array([1, 0, 0]))
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [as_fraction(values, key)], np.zeros(count, dtype=np.int64)
    if isinstance(values, set | frozenset):
        raise InputError(key, "a list, in the order of the records", "a set")
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iuf":
        entries, places = np.unique(values, return_inverse=True)
        given = list(entries)
    else:
        known: dict[Any, int] = {}
        rows = listed(values, key, "a list of numbers")
        rows = values.tolist() if isinstance(values, np.ndarray) else rows
        tokens = (
            (type(row), row if isinstance(row, Hashable) else as_fraction(row, f"{key}[{n}]"))
            for n, row in enumerate(rows)
        )
        places = np.array([known.setdefault(one, len(known)) for one in tokens], dtype=np.int64)
        given = [row for _, row in known]
    if len(places) != count:
        expected = f"one number, or {count}: one for each record"
        raise InputError(key, expected, f"{len(places)} numbers")
    first = np.unique(places, return_index=True)[1].tolist()
    exact = [as_fraction(row, f"{key}[{n}]") for row, n in zip(given, first, strict=True)]
    ordered = sorted(set(exact))
    order = {number: n for n, number in enumerate(ordered)}
    return ordered, np.array([order[number] for number in exact], dtype=np.int64)[places]


def _records(given: Any, key: str, expected: str) -> Any:
    """Return records as an array or a list."""
    return given if isinstance(given, np.ndarray) else listed(given, key, expected, quoted=False)


M = TypeVar("M")


@dataclass(frozen=True, eq=False)
class Group(Generic[M]):
    """The records whose reports one mechanism drew.

    Attributes
    ----------
    mechanism
        The channel or mechanism that drew the reports.
    places
        The indices of the records.
    reports
        Their reports, in the same order.
    epsilon
        The budget used.
    prior
        The prior of the records, or None.
    solution
        The certified design of the mechanism; None if there is none.
    """

    mechanism: M
    places: Int64Array
    reports: Reports
    epsilon: Fraction
    prior: Prior | None = None
    solution: Solution | None = None


@dataclass(frozen=True, eq=False)
class GroupedReports:
    """Reports in groups that share a mechanism. Its repr is a table.

    Attributes
    ----------
    groups
        The groups, by increasing budget.
    """

    groups: tuple[Group[Any], ...]

    def __len__(self) -> int:
        return sum(len(group.reports) for group in self.groups)

    @property
    def simulated(self) -> bool:
        """Whether the reports were drawn from a seed and must not be released."""
        return any(group.reports.simulated for group in self.groups)

    def labels(self) -> list[Any]:
        """Return the reports as Python values, in the order of the records."""
        labels: list[Any] = [None] * len(self)
        for group in self.groups:
            for place, label in zip(group.places.tolist(), group.reports.labels(), strict=True):
                labels[place] = label
        return labels

    @abstractmethod
    def _line(self, group: Any) -> str:
        """Return the line of the repr for a group."""

    def __repr__(self) -> str:
        note = f"; {SIMULATION}" if self.simulated else ""
        head = f"{type(self).__name__}({len(self)} records in {len(self.groups)} groups{note})"
        lines = [head, *(f"  {self._line(group)}" for group in self.groups[:MOST_SHOWN])]
        return "\n".join(lines if len(self.groups) <= MOST_SHOWN else [*lines, "  ..."])


def draw_groups(
    records: Any,
    indices: Sequence[Int64Array],
    mechanism_at: Callable[..., tuple[Any, ...]],
    rng: Randomness,
    progress: bool | None,
    **how: Any,
) -> tuple[Group[Any], ...]:
    """Return the groups of records with equal indices, each drawn by its mechanism.

    ``mechanism_at`` returns the mechanism for some indices, and the further attributes of its
    group. Errors give the index of a record among all records.
    """
    stream, order = stream_of(rng), np.lexsort(indices[::-1])
    ends = np.logical_or.reduce([np.diff(index[order]) != 0 for index in indices])
    parts = np.split(order, np.flatnonzero(ends) + 1)
    groups: list[Group[Any]] = []
    for places in tqdm_bar(progress, parts if len(order) else [], desc="privatize", unit="group"):
        own = records[places] if isinstance(records, np.ndarray) else [records[n] for n in places]
        mechanism, *others = mechanism_at(*(index[places[0]] for index in indices))
        try:
            reports = mechanism.privatize(own, stream, **how)
        except InputError as error:
            head, _, tail = error.key.partition("[")
            if not tail.rstrip("]").isdigit():
                raise
            raise error.at(f"{head}[{places[int(tail.rstrip(']'))]}]") from None
        groups.append(Group(mechanism, places, reports, *others))
    return tuple(groups)


# --- categories -----------------------------------------------------------------------------------

MechanismAt = Callable[[Fraction], Channel | Mechanism]
"""A mechanism for each budget."""


class PersonalizedReports(GroupedReports):
    """Reports grouped by budget; see :func:`privatize_each`."""

    groups: tuple[Group[Channel | Mechanism], ...]

    def estimate(
        self, method: str = "unbiased", *, prior: Prior | None = None, target: str = "population"
    ) -> Estimate:
        """Estimate the distribution of the records from all groups.

        Reports are weighted by their information, so a small budget only reduces the weight of its
        own report: see :func:`mechdesign.estimation.estimate_groups`.

        Parameters
        ----------
        method
            ``"unbiased"``, ``"maximum-likelihood"``, ``"projected"`` or ``"clipped"``.
        prior
            A guess of the distribution at which the variance is minimal; default uniform.
        target
            ``"population"``: the budgets must not depend on the records. If they may,
            ``"respondents"`` weights the groups by size, which is still unbiased.

        Raises
        ------
        InputError
            If there are no reports, or they do not determine the distribution.
        """
        pairs = [(group.mechanism, group.reports) for group in self.groups]
        return estimate_groups(pairs, method=method, prior=prior, target=target)

    def _line(self, group: Group[Any]) -> str:
        how = group.solution.route if group.solution else type(group.mechanism).__name__
        count = len(group.reports)
        return f"epsilon {fraction_text(group.epsilon):<8} {count:>9} records  {how}"


def privatize_each(
    records: Iterable[Any],
    epsilons: Any,
    by: Problem | MechanismAt,
    *,
    priors: Iterable[Prior] | None = None,
    rng: Randomness = None,
    progress: bool | None = None,
) -> PersonalizedReports:
    """Draw a report for each record from the optimal channel at its own budget.

    Records with equal budgets and priors share a channel. The aggregator knows the budget of each
    record: it must not depend on the record.

    Parameters
    ----------
    records
        Input labels.
    epsilons
        Budgets in nats: one for all, or one for each record.
    by
        A :class:`~mechdesign.Problem`, designed at each budget; or a function that maps a budget to
        a Channel or a Mechanism, such as ``lambda e: HadamardResponse(1000, e)``. The leakage of a
        Mechanism is checked against the budget; that of a Channel is not.
    priors
        A prior for each record, instead of the prior of the problem.
    rng
        None for the cryptographic source of the operating system; a seed or a
        ``numpy.random.Generator`` for a simulation.
    progress
        Whether to show a progress bar; by default only if standard error is a terminal.

    Raises
    ------
    InputError
        If a record or a budget is invalid, or more than 64 channels are needed.
    MechdesignError
        As :func:`mechdesign.design`.

    Examples
    --------
    >>> from mechdesign import LDP, L2Risk
    >>> survey = Problem(["a", "b", "c"], LDP(1), L2Risk())
    >>> people = privatize_each(["a", "a", "b", "c"] * 5000, [0.5, 1, 2, 2] * 5000, survey, rng=7)
    >>> people
    PersonalizedReports(20000 records in 3 groups; simulation, not for release)
      epsilon 0.5           5000 records  closed-form: subset selection
      epsilon 1             5000 records  closed-form: subset selection
      epsilon 2            10000 records  closed-form: subset selection
    >>> people.estimate(target="respondents").values.shape
    (3,)
    """
    given = _records(records, "records", "a list of labels of the domain")
    if not len(given):
        raise InputError("records", "at least one record", "none")
    check_index(records, epsilons, "epsilons")
    check_index(records, priors, "priors")
    budgets, budget_of = distinct(epsilons, len(given), "epsilons")
    distinct_priors, prior_of = _distinct_priors(priors, len(given), by)
    wanted = len(np.unique(budget_of * len(distinct_priors) + prior_of))
    if isinstance(by, Problem) and wanted > MOST_DESIGNS:
        expected = f"at most {MOST_DESIGNS} different budgets and priors to design channels for"
        raise InputError("epsilons", expected, wanted, "round budgets down to fewer levels")
    inputs: list[Domain] = []

    def mechanism_at(budget: int, place: int) -> tuple[Any, ...]:
        epsilon, prior = budgets[budget], distinct_priors[place]
        mechanism, solution = _mechanism_at(by, epsilon, prior)
        inputs.append(mechanism.inputs)
        if mechanism.inputs != inputs[0]:
            expected = f"the same inputs at each budget, {inputs[0]!r}"
            raise InputError("by", expected, repr(mechanism.inputs))
        return mechanism, epsilon, prior, solution

    indices = budget_of, prior_of
    return PersonalizedReports(draw_groups(given, indices, mechanism_at, rng, progress))


def _distinct_priors(
    priors: Iterable[Prior] | None, count: int, by: Problem | MechanismAt
) -> tuple[list[Prior | None], Int64Array]:
    """Return the distinct priors, and the index of each record's prior."""
    if priors is None:
        return [None], np.zeros(count, dtype=np.int64)
    if not isinstance(by, Problem):
        raise InputError("priors", "none, for a function of the budget alone", "some")
    given = listed(priors, "priors", "a list of priors, one for each record")
    if len(given) != count:
        raise InputError("priors", f"{count}: one for each record", len(given))
    for n, prior in enumerate(given):
        if not isinstance(prior, Prior):
            raise InputError(f"priors[{n}]", "a Prior", shown(prior))
    order = {prior: n for n, prior in enumerate(dict.fromkeys(given))}
    return list(order), np.array([order[prior] for prior in given], dtype=np.int64)


def _mechanism_at(
    by: Any, epsilon: Fraction, prior: Prior | None
) -> tuple[Channel | Mechanism, Solution | None]:
    """Return the mechanism for a budget, and its design if there is one."""
    if isinstance(by, Problem):
        solution = design(by.at(epsilon, prior))
        return solution.channel, solution
    if not callable(by):
        expected = "a Problem, or a function from a budget to a Channel or a Mechanism"
        raise InputError("by", expected, shown(by))
    mechanism = by(epsilon)
    if not isinstance(mechanism, Channel | Mechanism):
        raise InputError("by", "a function that returns a Channel or a Mechanism", shown(mechanism))
    if isinstance(mechanism, Mechanism):
        promised = getattr(mechanism.privacy, "epsilon", None)
        if promised is not None and promised > epsilon:
            expected = f"a mechanism of epsilon at most {fraction_text(epsilon)}"
            raise InputError("by", expected, f"one of {fraction_text(promised)}")
    return mechanism, None


METHOD = "two-valued reports"
WEIGHTS = {"information": "population", "size": "respondents"}
"""Weightings of reports with different budgets, with the estimand that each is unbiased for."""


class TwoValuedResponder(ContinuousChannel):
    """Report +c or -c, with mean t: the value scaled from its safe range to [-1, 1].

        c = (e**eps + 1) / (e**eps - 1),      Pr(+c) = 1/2 + t / (2c)

    A value is rounded to one of the ends of the range without bias, and the end is sent by
    randomized response: +c has probability h/2**62 at the upper end and 1 - h/2**62 at the lower
    end, with h the largest integer that the budget allows. So c = 2**62 / (2h - 2**62), and
    E(report) = t exactly. The ends have the most extreme probabilities, so their ratio
    h / (2**62 - h) <= e**eps determines the leakage.

    Parameters
    ----------
    low, high
        The safe range, within which values are epsilon-indistinguishable. Membership in the range
        is not protected.
    epsilon
        The budget in nats, > 0 and at most 30.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Source: Akter and Hashem 2017, Algorithm 2; Nguyên et al. 2016.

    Examples
    --------
    >>> salary = TwoValuedResponder(0, 10_000, "0.2")
    >>> salary
    TwoValuedResponder([0, 10000], LDP(epsilon=0.2), reports +-10.0333)
    >>> round(float(salary.probability(800)), 2)
    0.46
    >>> salary.privatize([800, 10_000], rng=1).labels()
    [-10.03331113225399, 10.03331113225399]
    """

    def __init__(self, low: Exact, high: Exact, epsilon: Exact) -> None:
        self.low, self.high = as_fraction(low, "low"), as_fraction(high, "high")
        if self.low >= self.high:
            given = f"{fraction_text(self.high)} with low = {fraction_text(self.low)}"
            raise InputError("high", "a number above low", given)
        self.privacy = informative(LDP(epsilon), LDP)
        held = held_mass(self.privacy.epsilon, 1, 1)
        self.size = Fraction(WHOLE, 2 * held - WHOLE)
        ends = [self.low, self.high]
        outputs = [-float(self.size), float(self.size)]
        response = Channel([[held, WHOLE - held], [WHOLE - held, held]], outputs=outputs)
        super().__init__(ends, "linear", ends, response)

    @property
    def epsilon(self) -> Fraction:
        """The budget."""
        return self.privacy.epsilon

    @property
    def leakage(self) -> float:
        """The smallest epsilon for all pairs of values in the range, rounded up."""
        least, most = (int(mass) for mass in self.nodes.numerators[1])
        return math.nextafter(float(log_upper(Fraction(most, least))), math.inf)

    def scaled(self, value: Exact) -> Fraction:
        """Return t, the value scaled to [-1, 1]."""
        return (2 * self.probability(value) - 1) * self.size

    def probability(self, value: Exact) -> Fraction:
        """Return the exact probability of the report +c."""
        return self.density(value)[1]

    def __repr__(self) -> str:
        ends = f"[{fraction_text(self.low)}, {fraction_text(self.high)}]"
        return f"TwoValuedResponder({ends}, {self.privacy!r}, reports +-{float(self.size):.6g})"


class NumberReports(GroupedReports):
    """Two-valued reports of numbers, by safe range and budget; see :func:`collect_numbers`."""

    groups: tuple[Group[TwoValuedResponder], ...]

    def subsets(
        self, weights: str = "information"
    ) -> dict[tuple[Fraction, Fraction], ScalarEstimate]:
        """Return the mean of each subset, the records of one safe range, by that range.

        Parameters
        ----------
        weights
            See :meth:`mean`.
        """
        ranges: dict[tuple[Fraction, Fraction], list[Group[TwoValuedResponder]]] = {}
        for group in self.groups:
            ranges.setdefault((group.mechanism.low, group.mechanism.high), []).append(group)
        return {key: _pooled(groups, weights) for key, groups in ranges.items()}

    def mean(self, weights: str = "information") -> ScalarEstimate:
        """Return an estimate of the mean over all records.

        Subsets with different safe ranges are different populations, so their means are weighted by
        size. Within a subset, ``weights`` determines the weights of the budgets.

        Parameters
        ----------
        weights
            ``"information"``: each report has weight 1/c**2, the inverse of its variance without
            that of the values. This is the most precise, and unbiased if the values do not depend
            on the budgets. ``"size"``: all reports have equal weight. This is always unbiased for
            the mean of these respondents, but small budgets add large errors.

        Raises
        ------
        InputError
            If the weights are unknown, or there are no records.
        """
        total = self.sum(weights)
        value, error = total.value / len(self), total.standard_error / len(self)
        return replace(total, quantity="mean", value=value, standard_error=error)

    def sum(self, weights: str = "information") -> ScalarEstimate:
        """Return an estimate of the sum over all records: their number times the mean."""
        means = list(self.subsets(weights).values())
        if not means:
            raise InputError("values", "at least one number", "none")
        value = math.fsum(mean.reports * mean.value for mean in means)
        error = math.sqrt(math.fsum((m.reports * m.standard_error) ** 2 for m in means))
        n, marked = len(self), self.simulated
        return ScalarEstimate("sum", value, error, n, METHOD, True, marked, WEIGHTS[weights])

    def _line(self, group: Group[TwoValuedResponder]) -> str:
        one, count = group.mechanism, len(group.reports)
        ends = f"[{fraction_text(one.low)}, {fraction_text(one.high)}]"
        return (
            f"{ends:<20} epsilon {fraction_text(one.epsilon):<8} "
            f"{count:>9} records  +-{float(one.size):.6g}"
        )


def collect_numbers(
    values: Iterable[Any],
    epsilons: Any,
    low: Any,
    high: Any,
    *,
    outside: str = "refuse",
    rng: Randomness = None,
    progress: bool | None = None,
) -> NumberReports:
    """Draw a two-valued report for each number, private in its own safe range at its own budget.

    Means and sums have unbiased estimates. The minimum, the maximum and quantiles are not
    estimable: the law of the reports depends on the values through their mean alone, so values in
    the middle look like values of which half lie at each end. Use a
    :class:`~mechdesign.continuous.ContinuousChannel` on ``"cells"`` for these.

    Parameters
    ----------
    values
        Numbers, one for each record.
    epsilons
        Budgets in nats, > 0: one for all, or one for each record.
    low, high
        The ends of the safe range: one for all, or one for each record.
    outside
        ``"refuse"`` values outside their range, or ``"clip"`` them to the nearer end. Clipping is
        equally private, but biases the mean.
    rng
        None for the cryptographic source of the operating system; a seed or a
        ``numpy.random.Generator`` for a simulation.
    progress
        Whether to show a progress bar; by default only if standard error is a terminal.

    Raises
    ------
    InputError
        If a value, a budget or a range is invalid.

    Notes
    -----
    Source: Akter and Hashem 2017, Algorithms 1 and 2. The mean there, (T_max - T_min) mean(f), is
    wrong in general: E f is the value scaled to [-1, 1], so the mean is
    T_min + (T_max - T_min)(mean(f) + 1)/2.

    Examples
    --------
    >>> people = collect_numbers([800] * 5000 + [20_000] * 5000, [0.5, 1] * 5000,
    ...                          0, [10_000] * 5000 + [40_000] * 5000, rng=4)
    >>> people
    NumberReports(10000 records in 4 groups; simulation, not for release)
      [0, 10000]           epsilon 0.5           2500 records  +-4.08299
      [0, 10000]           epsilon 1             2500 records  +-2.16395
      [0, 40000]           epsilon 0.5           2500 records  +-4.08299
      [0, 40000]           epsilon 1             2500 records  +-2.16395
    >>> low, high = people.mean().interval(0.999)
    >>> low < 10_400 < high
    True
    """
    records = _records(values, "values", "a list of numbers")
    count = len(records)
    for key, given in (("epsilons", epsilons), ("low", low), ("high", high)):
        check_index(values, given, key)
    budgets, budget_of = distinct(epsilons, count, "epsilons")
    lows, low_of = distinct(low, count, "low")
    highs, high_of = distinct(high, count, "high")

    def responder_at(i: int, j: int, e: int) -> tuple[TwoValuedResponder, Fraction]:
        return TwoValuedResponder(lows[i], highs[j], budgets[e]), budgets[e]

    indices = low_of, high_of, budget_of
    groups = draw_groups(records, indices, responder_at, rng, progress, outside=outside)
    return NumberReports(groups)


def _pooled(groups: Sequence[Group[TwoValuedResponder]], weights: str) -> ScalarEstimate:
    """Return the weighted mean of groups with one range; the weights do not depend on the reports.

    With weights w_g of sum 1 and T = Sum_g w_g (mean report of g) of expectation t,

        Var T = V = Sum_g w_g**2 (c_g**2 - t**2) / n_g = A - B t**2,      E T**2 = t**2 + V,

    so (A - B T**2) / (1 - B) is unbiased for V. T**2 is clipped to 1, as t**2 <= 1, and groups with
    different means have a smaller V, so the error is conservative.
    """
    if weights not in WEIGHTS:
        raise InputError("weights", "'information' or 'size'", shown(weights))
    tallies = [group.mechanism.tally(group.reports) for group in groups]
    sizes = np.array([float(group.mechanism.size) for group in groups])
    n = np.array([tally.total for tally in tallies], dtype=np.float64)
    surplus = np.array([float(tally.counts[1] - tally.counts[0]) for tally in tallies])
    w = n / sizes**2 if weights == "information" else n
    w = w / w.sum()
    T = float(w @ (sizes * surplus / n))
    A, B = float(w**2 @ (sizes**2 / n)), float(w**2 @ (1 / n))
    V = (A - B * min(T**2, 1.0)) / (1 - B) if B < 1 else A  # one report alone does not determine t
    low, high = float(groups[0].mechanism.low), float(groups[0].mechanism.high)
    value, error = low + (high - low) * (T + 1) / 2, (high - low) / 2 * math.sqrt(V)
    marked = any(group.reports.simulated for group in groups)
    return ScalarEstimate(
        "mean", value, error, int(n.sum()), METHOD, True, marked, WEIGHTS[weights]
    )

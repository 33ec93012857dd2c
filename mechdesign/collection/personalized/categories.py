"""Personalized LDP for categories: each record is privatized at its own epsilon."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import Int64Array
from mechdesign.channel import Channel
from mechdesign.collection.personalized.groups import Group, GroupedReports, budgets_of, draw_groups
from mechdesign.designs.design import design
from mechdesign.designs.solution import Solution
from mechdesign.domain import Domain
from mechdesign.errors import InputError, listed, shown
from mechdesign.estimation.estimate import estimate_groups
from mechdesign.estimation.result import Estimate
from mechdesign.exact import fraction_text
from mechdesign.labels import check_index
from mechdesign.mechanisms import Mechanism
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.sampling import Randomness

MOST_DESIGNS = 64
"""The largest number of channels to design unless ``levels`` limits it."""

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
    levels: Any = None,
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
    levels
        None to use each budget unchanged. A list of budgets, or the number of levels to choose:
        each budget is rounded *down* to a level, which preserves its guarantee and needs fewer
        channels.
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
    expected = "a list of labels of the domain"
    given = records if isinstance(records, np.ndarray) else listed(records, "records", expected)
    if not len(given):
        raise InputError("records", "at least one record", "none")
    check_index(records, epsilons, "epsilons")
    check_index(records, priors, "priors")
    budgets, budget_of = budgets_of(epsilons, len(given), levels)
    distinct_priors, prior_of = _distinct_priors(priors, len(given), by)
    wanted = len(np.unique(budget_of * len(distinct_priors) + prior_of))
    if isinstance(by, Problem) and levels is None and wanted > MOST_DESIGNS:
        expected = f"at most {MOST_DESIGNS} different budgets and priors to design channels for"
        raise InputError("epsilons", expected, wanted, "levels=16 rounds budgets down to 16")
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
    order: dict[Prior | None, int] = {}
    places = np.empty(count, dtype=np.int64)
    given = listed(priors, "priors", "a list of priors, one for each record")
    if len(given) != count:
        raise InputError("priors", f"{count}: one for each record", len(given))
    for n, prior in enumerate(given):
        if not isinstance(prior, Prior):
            raise InputError(f"priors[{n}]", "a Prior", shown(prior))
        places[n] = order.setdefault(prior, len(order))
    return list(order), places


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

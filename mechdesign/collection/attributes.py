"""Several attributes of one person: a joint channel, a split budget, or one attribute each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import product
from math import inf, prod
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel
from mechdesign.designs.design import design
from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, shown, shown_kind
from mechdesign.estimation import Estimate, estimate
from mechdesign.exact import Exact, as_fraction, short_text
from mechdesign.notions import LDP
from mechdesign.prior import Prior, prior_on
from mechdesign.problem import Problem
from mechdesign.solver_guard import called
from mechdesign.text import Table, Tabular
from mechdesign.utilities import L2Risk

__all__ = ["AttributeComparison", "AttributeStrategy", "compare_attributes"]

MOST_CELLS = 4096
"""Cells of the product up to which risks are computed."""

MOST_JOINT = 64
"""Cells of the product up to which the best joint channel is designed."""

SINGULAR = 1e-9
"""The relative size of an eigenvalue below which it counts as 0."""


@dataclass(frozen=True)
class AttributeStrategy:
    """One way to ask a person for several attributes.

    Attributes
    ----------
    name
        What is done.
    domains
        Those of the attributes, by name.
    mechanisms
        A channel for each attribute, for :func:`mechdesign.privatize`; empty for a joint channel.
    joint
        The channel on tuples of labels, one for each attribute; None if each has its own.
    one_each
        Whether each person is asked for one attribute only.
    cells
        n times the total variance of the best linear unbiased estimate of the distribution over all
        tuples, from n people; infinite where the reports do not determine it.
    attributes
        The same for the distribution of each attribute.
    """

    name: str
    domains: Mapping[str, Domain] = field(repr=False)
    mechanisms: Mapping[str, Channel] = field(repr=False)
    joint: Channel | None = field(repr=False)
    one_each: bool
    cells: float
    attributes: Mapping[str, float]

    def estimate(self, reports: Any, *, target: str = "population") -> dict[str, Estimate]:
        """Estimate the distribution of each attribute.

        Parameters
        ----------
        reports
            Reports, or tallies, by attribute; for a joint channel those of the tuples.
        target
            As for :func:`~mechdesign.estimate`.

        Raises
        ------
        InputError
            If they do not fit the channels.
        """
        if self.joint is None:
            if not isinstance(reports, Mapping) or set(reports) != set(self.mechanisms):
                expected = "reports or tallies by attribute"
                raise InputError("reports", expected, shown_kind(reports))
            return {
                name: estimate(channel, reports[name], target=target)
                for name, channel in self.mechanisms.items()
            }
        whole, found = estimate(self.joint, reports, target=target), {}
        for name, sums in _sums(self.domains).items():
            found[name] = replace(
                whole,
                inputs=self.domains[name],
                values=sums @ whole.values,
                standard_errors=whole.deviation(sums),
                deviation=_summed(whole, sums),
            )
        return found


@dataclass(frozen=True, repr=False)
class AttributeComparison(Tabular):
    """Ways to ask for several attributes under one budget; printed as a table.

    Attributes
    ----------
    epsilon
        What each person spends in all, in nats of LDP.
    split
        Each attribute by its own best channel, with an equal share of the budget.
    one_each
        Each person asked for one attribute, chosen at random, by the best channel at the whole
        budget. Nothing is learned of how attributes go together.
    joint
        The best channel on tuples of all attributes; None where they are more than 64.
    bound
        A proved lower bound on ``cells`` of every channel on tuples with this budget.
    """

    epsilon: Exact
    split: AttributeStrategy
    one_each: AttributeStrategy
    joint: AttributeStrategy | None
    bound: float | None

    @property
    def strategies(self) -> tuple[AttributeStrategy, ...]:
        """All of them, in the order of the table."""
        return (self.split, self.one_each, *((self.joint,) if self.joint else ()))

    @property
    def price_of_splitting(self) -> float | None:
        """How many times as many people the split needs as any channel, at least, for all cells.

        It is ``split.cells / bound``, where the optimum is at least the bound: at most this much is
        lost. None where the joint channel is not designed.
        """
        return None if self.bound is None else self.split.cells / self.bound

    def to_json(self) -> dict[str, Any]:
        """Return plain data; infinity is null."""
        rows = [
            {
                "name": each.name,
                "cells": None if each.cells == inf else each.cells,
                "attributes": dict(each.attributes),
            }
            for each in self.strategies
        ]
        price = self.price_of_splitting
        shared = {"epsilon": float(as_fraction(self.epsilon)), "strategies": rows}
        return {**shared, "bound": self.bound, "price_of_splitting": price}

    def _head(self) -> str:
        spent = f"LDP, epsilon = {short_text(as_fraction(self.epsilon))} for all attributes"
        head = f"n times the total variance of estimates; {spent}"
        if self.joint is None:
            return f"{head}; more than {MOST_JOINT} tuples: no joint channel is designed"
        return head

    def _table(self) -> Table:
        names = list(self.split.attributes)
        rows = [
            (each.name, *(f"{each.attributes[name]:.6g}" for name in names), f"{each.cells:.6g}")
            for each in self.strategies
        ]
        if self.price_of_splitting is not None:
            price = f"{self.price_of_splitting:.4g} times the people"
            rows.append(("price of splitting", *("" for _ in names), price))
        return Table(("", *names, "all together"), rows, "<" + ">" * (len(names) + 1))


def compare_attributes(
    attributes: Mapping[str, Domain | Iterable[Any] | int],
    epsilon: Exact,
    *,
    prior: Any = None,
    gap: float | None = None,
    time_limit: float | None = None,
) -> AttributeComparison:
    """Compare ways to ask each person for several attributes within one budget of LDP.

    Each way uses best channels for the L2 risk, which :func:`~mechdesign.design` proves: one for
    each attribute at epsilon / d; one for each at epsilon, of which a person uses one; and one for
    all attributes together, on tuples. The result is how well each attribute is estimated, and how
    well the distribution over tuples is.

    Parameters
    ----------
    attributes
        Two or more domains, or their labels or sizes, by name.
    epsilon
        What one person spends in all, in nats.
    prior
        Over tuples of labels, in the order of ``itertools.product``; default uniform.
    gap, time_limit
        As for :func:`~mechdesign.design`, for each of the channels.

    Raises
    ------
    InputError
        If there are fewer than two attributes, or more than 4096 tuples.

    Notes
    -----
    A person asked for one of d attributes reports it with the whole budget, but only n / d people
    do: d times the risk at epsilon. The risk grows as 1 / epsilon**2 where epsilon is small, so
    that a share of epsilon / d costs d**2 times the risk; where epsilon is large the split wins.

    Examples
    --------
    >>> found = compare_attributes({"ill": ["yes", "no"], "age": 3}, 1)
    >>> print(repr(found).partition(chr(10))[2])
                            ill      age            all together
    budget split         8.3354  21.0899                 189.116
    one attribute each  4.68269  10.0535                     inf
    joint optimum       9.42517  12.5669                 15.7086
    price of splitting                    12.04 times the people
    >>> round(found.price_of_splitting, 2)
    12.04
    """
    domains = _domains(attributes)
    size = prod(map(len, domains.values()))
    if size > MOST_CELLS:
        raise InputError("attributes", f"at most {MOST_CELLS} tuples of labels", size)
    tuples = Domain(product(*domains.values()))
    law = Prior.uniform(size) if prior is None else prior_on(prior, tuples)
    whole, d = as_fraction(epsilon, "epsilon"), len(domains)

    def best(domain: Domain, share: Any, own: Prior) -> Any:
        problem = Problem(domain, LDP(share), L2Risk(), prior=own)
        return design(problem, gap=gap, time_limit=time_limit)

    sums = _sums(domains)
    laws = {
        name: Prior(
            [sum(p for p, held in zip(law, row, strict=True) if held) for row in sums[name]]
        )
        for name in domains
    }
    parts = {name: best(domain, whole / d, laws[name]) for name, domain in domains.items()}
    alone = {name: best(domain, whole, laws[name]) for name, domain in domains.items()}
    matrix = _product(part.channel.matrix for part in parts.values())

    def strategy(
        name: str, found: Mapping[str, Any], one_each: bool, cells: float, times: int = 1
    ) -> AttributeStrategy:
        channels = {attribute: one.channel for attribute, one in found.items()}
        risks = {attribute: times * float(one.value) for attribute, one in found.items()}
        return AttributeStrategy(name, domains, channels, None, one_each, cells, risks)

    split = strategy("budget split", parts, False, _risk(matrix, law.array, np.eye(size)))
    one_each = strategy("one attribute each", alone, True, inf, d)
    joint = bound = None
    if size <= MOST_JOINT:
        found = best(tuples, whole, law)
        bound = float(found.to_json()["bound"])
        risks = {name: _risk(found.channel.matrix, law.array, A) for name, A in sums.items()}
        joint = AttributeStrategy(
            "joint optimum", domains, {}, found.channel, False, float(found.value), risks
        )
    return AttributeComparison(epsilon, split, one_each, joint, bound)


def _domains(attributes: Any) -> dict[str, Domain]:
    expected = "two or more domains, by the names of attributes"
    if not isinstance(attributes, Mapping):
        raise InputError("attributes", expected, shown_kind(attributes))
    if len(attributes) < 2:
        raise InputError("attributes", expected, f"{len(attributes)}")
    found = {
        str(name): Domain.of(each, f"attributes[{name!r}]") for name, each in attributes.items()
    }
    for name, domain in found.items():
        nested: list[Label] = [label for label in domain if isinstance(label, tuple)]
        if nested:
            expected = "labels that are text or numbers"
            raise InputError(f"attributes[{name!r}]", expected, shown(nested[0]))
    return found


def _sums(domains: Mapping[str, Domain]) -> dict[str, FloatArray]:
    """Return for each attribute the 0-1 matrix that adds up the tuples of each of its labels."""
    sizes = {name: len(domain) for name, domain in domains.items()}
    ones = {name: np.ones((1, k)) for name, k in sizes.items()}
    return {name: _product({**ones, name: np.eye(k)}.values()) for name, k in sizes.items()}


def _product(matrices: Iterable[FloatArray]) -> FloatArray:
    """Return the Kronecker product of matrices."""
    return reduce(lambda A, B: np.asarray(np.kron(A, B), dtype=np.float64), matrices)


def _risk(matrix: FloatArray, law: FloatArray, weights: FloatArray) -> float:
    """Return tr(A M**-1 A') - |A p|**2 with M = Q diag(1/q) Q', for estimates of A p.

    It is n times the total variance of the best linear unbiased estimate at the prior p (Gauss and
    Markov), infinite if a row of A is no combination of the rows of Q'.
    """
    sent = law @ matrix
    used = sent > 0
    scaled = matrix[:, used] / np.sqrt(sent[used])
    left, values, _ = called("LAPACK", np.linalg.svd, scaled, full_matrices=False)
    kept = values > SINGULAR * values.max()
    seen = weights @ left[:, kept]
    if not np.allclose(seen @ left[:, kept].T, weights, atol=1e-7):
        return inf
    return float(((seen / values[kept]) ** 2).sum() - ((weights @ law) ** 2).sum())


def _summed(whole: Estimate, sums: FloatArray) -> Any:
    return lambda weights: whole.deviation(weights @ sums)

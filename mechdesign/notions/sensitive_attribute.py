"""Sensitive attributes: a notion about a latent variable S with the Markov chain S - X - Y.

The joint distribution of S and the input X is known, and the output Y depends on X alone. Source:
Jiang et al. 2021 (TIFS), Lemma 1.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Self

from mechdesign.domain import Domain, plain_label
from mechdesign.errors import InputError, check_keys, inside, shown, shown_kind
from mechdesign.exact import Exact, fraction_text, short_text
from mechdesign.kernel.generators import Cone as KernelCone, Latent, Lift, Ratio, Rows
from mechdesign.kernel.limits import Limit
from mechdesign.labels import Labels, aligned, by_label, places, split_matrix
from mechdesign.notions.base import Notion, prior_for
from mechdesign.notions.rows.of_generators import LatentRows
from mechdesign.prior import SUM_TOLERANCE, Prior, distribution, exact_numbers, normalized
from mechdesign.prior_sets import Weights


class SensitiveAttribute:
    """A protected attribute other than the input: its values, and its joint distribution.

    The joint distribution with the input is given in one of two ways; numbers are read exactly as
    written.

    Parameters
    ----------
    values
        The values of S, in order: text or numbers, without duplicates.
    given_input
        ``(n_inputs, n_values)`` numbers P(s|x): a row for each input, which sums to 1. Here and
        below a DataFrame or a dict of dicts counts by label, lists by position.
    joint
        ``(n_values, n_inputs)`` numbers P(s, x): a row for each value. They sum to 1, and over
        the values to the prior of the problem, each within 1e-6; only the P(s|x) that follow are
        used, so that the distribution of X is the prior exactly.

    Attributes
    ----------
    domain
        The values as a domain.
    given_input
        P(s|x) in rationals, a row for each input.
    input_labels
        The labels of the inputs; None if they count by position.

    Raises
    ------
    InputError
        If neither or both are given, or a row is not a distribution.

    Examples
    --------
    >>> SensitiveAttribute(["ill", "well"], given_input=[[0.9, 0.1], [0.2, 0.8]])
    SensitiveAttribute('ill', 'well'; 2 inputs)
    >>> SensitiveAttribute(["ill", "well"], joint=[["9/20", 0.1], [0.05, 0.4]]).given_input[0]
    (Fraction(9, 10), Fraction(1, 10))
    """

    KEYS = ("values", "given_input", "joint")

    def __init__(
        self, values: Domain | Iterable[Any], given_input: Any = None, joint: Any = None
    ) -> None:
        self.domain = Domain.of(values, "values")
        if (given_input is None) == (joint is None):
            given = "neither" if joint is None else "both"
            fault = f"give exactly one of given_input and joint, not {given}"
            raise InputError("given_input", "given_input or joint", given, fault=fault)
        self._marginal: Weights | None = None
        size, labels = len(self.domain), self.domain.labels
        if given_input is not None:
            rows, self.input_labels, columns = _matrix(given_input, "given_input")
            if columns is not None:
                order = places(columns, labels, "given_input, columns", "value")
                rows = [[row[s] for s in order] for row in rows]
            self.given_input = tuple(
                _distribution(row, f"given_input[{x}]", size) for x, row in enumerate(rows)
            )
        else:
            rows, row_labels, self.input_labels = _matrix(joint, "joint")
            if row_labels is not None:
                rows = aligned(rows, row_labels, labels, "joint, rows", "value")
            self._marginal, self.given_input = _conditional(rows, size)

    def aligned(self, inputs: Domain) -> Self:
        """Return the attribute with the inputs in the order of the domain."""
        if self.input_labels is None:
            return self
        found = copy.copy(self)
        order = places(
            self.input_labels, inputs.labels, "given_input" if self._marginal is None else "joint"
        )
        found.input_labels = None
        found.given_input = tuple(self.given_input[x] for x in order)
        if self._marginal is not None:
            found._marginal = tuple(self._marginal[x] for x in order)
        return found

    def distributions(self, prior: Prior) -> tuple[Prior, list[Weights]]:
        """Return the distribution P(s) of the attribute, and P(x|s), a row for each value.

        Raises
        ------
        InputError
            If they do not match the prior of the input, or a value has probability 0.
        """
        if len(self.given_input) != len(prior):
            expected = f"{len(prior)} rows, one for each input"
            raise InputError("given_input", expected, f"{len(self.given_input)} rows")
        for x, (p, q) in enumerate(zip(self._marginal or (), prior, strict=False)):
            if abs(p - q) > SUM_TOLERANCE:
                raise InputError(
                    "joint",
                    f"numbers that sum over the values to the prior, {short_text(q)} of input {x}",
                    f"sum {short_text(p)}",
                    "given_input states P(s|x) alone",
                )
        columns = list(zip(*self.given_input, strict=True))
        joint = [tuple(a * p for a, p in zip(column, prior, strict=True)) for column in columns]
        masses = [sum(row, Fraction(0)) for row in joint]
        if not all(masses):
            s = masses.index(Fraction(0))
            given = f"{shown(self.domain.labels[s])} with 0"
            expected = "values of positive probability"
            raise InputError(f"values[{s}]", expected, given, "leave it out")
        rows = zip(joint, masses, strict=True)
        return Prior(masses), [tuple(p / mass for p in row) for row, mass in rows]

    def to_table(self) -> dict[str, Any]:
        """Return the table of a problem file with P(s|x) as exact text."""
        return {
            "values": [plain_label(label) for label in self.domain.labels],
            "given_input": by_label(
                [[fraction_text(p) for p in row] for row in self.given_input], self.input_labels
            ),
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SensitiveAttribute):
            return NotImplemented
        return self.to_table() == other.to_table()

    def __hash__(self) -> int:
        return hash(str(self.to_table()))

    def __repr__(self) -> str:
        labels = [shown(label) for label in self.domain.labels]
        names = ", ".join(labels if len(labels) <= 4 else [*labels[:3], "..."])
        return f"{type(self).__name__}({names}; {len(self.given_input)} inputs)"


class SensitiveAttributePrivacy(Notion):
    """A notion about a sensitive attribute S, where the output depends on the input X alone.

    The requirement on Q(y|x) applies to Pr(y|s) = Sum_x P(x|s) Q(y|x), with the values of S in
    place of the inputs, and P(s) in place of the prior. LDP becomes Pr(y|s) <= e**epsilon Pr(y|s')
    for all s and s', and LIP becomes e**-epsilon <= P(s|y) / P(s) <= e**epsilon. An input of prior
    0 occurs with no value of S, and is unconstrained.

    Parameters
    ----------
    notion
        A notion about single outputs and one prior: LDP and those with a budget for each pair, LIP,
        lift bounds, pointwise maximal leakage, differential identifiability. Its labels are values
        of S.
    attribute
        The sensitive attribute, or a table of its keys.

    Raises
    ------
    InputError
        If the notion is of another kind, or the attribute is invalid.

    Notes
    -----
    Source: Jiang et al. 2021 (TIFS), Lemma 1: no attribute leaks more than X, so the
    notion about S is weaker than the same notion about X. They are equal for S = X.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.notions.lift import LIP
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> illness = SensitiveAttribute(["ill", "well"], given_input=[[0.8, 0.2], [0.2, 0.8]])
    >>> round(SensitiveAttributePrivacy(LIP(1), illness).leakage(warner, Prior([0.5, 0.5])), 6)
    0.356675
    """

    title = "a notion about a sensitive attribute"
    allows_sensitive_attribute = False
    needs_prior = True

    def __init__(self, notion: Notion, attribute: SensitiveAttribute | Any) -> None:
        expected = "a notion about single outputs and one prior, to be about a sensitive attribute"
        if not isinstance(notion, Notion):
            raise InputError("notion", expected, shown_kind(notion))
        if not notion.allows_sensitive_attribute:
            raise InputError("notion", expected, notion.name)
        self.notion, self.name = notion, notion.name
        if not isinstance(attribute, SensitiveAttribute | Mapping):
            expected = "a table { values, given_input } or { values, joint }"
            raise InputError("secret", expected, shown(attribute))
        with inside("secret"):
            self.attribute = attribute_of(attribute)

    @property
    def epsilon(self) -> Fraction:
        """The budget in nats; 0 for a notion that has none."""
        return getattr(self.notion, "epsilon", None) or Fraction(0)

    def _behind(self, domain: Domain, prior: Prior | None) -> tuple[Prior, list[Weights]]:
        """Return P(s), and P(x|s), a row for each value."""
        given = prior_for(f"{self.name} of a sensitive attribute", domain, prior)
        with inside("secret"):
            return self.attribute.aligned(domain).distributions(given)

    def family(self, domain: Domain, prior: Prior | None = None) -> LatentRows:
        """Compile the rows of the notion on the values of S, and state them for the inputs."""
        masses, given_value = self._behind(domain, prior)
        return LatentRows(self.notion.family(self.attribute.domain, masses), given_value)

    def generators(self, domain: Domain, prior: Prior | None) -> tuple[KernelCone | Limit, ...]:
        """Return the generators of the notion on the values of S, composed with P(x|s)."""
        masses, given_value = self._behind(domain, prior)
        found = []
        cones, limits = self.notion._parts(self.attribute.domain, masses)
        for part in (*cones, *limits):
            if not isinstance(part, Ratio | Lift | Rows):
                raise InputError("notion", "rows on the values of the attribute", part.kind)
            found.append(Latent(tuple(given_value), part))
        return tuple(found)

    @property
    def states_generators(self) -> bool:
        """Whether the notion is a user's own."""
        return self.notion.states_generators

    def aligned(self, domain: Domain) -> SensitiveAttributePrivacy:
        """Return the notion with its numbers in the order of the values and of the domain."""
        with inside("secret"):
            attribute = self.attribute.aligned(domain)
        return SensitiveAttributePrivacy(self.notion.aligned(attribute.domain), attribute)

    def at(self, epsilon: Exact) -> SensitiveAttributePrivacy:
        """Return the same notion of the same attribute with another budget."""
        return SensitiveAttributePrivacy(self.notion.at(epsilon), self.attribute)

    @property
    def has_epsilon(self) -> bool:
        """Whether there is a budget that :meth:`at` changes."""
        return self.notion.has_epsilon

    def protected(self, _domain: Domain) -> Domain:
        """Return the values of the sensitive attribute."""
        return self.attribute.domain

    @property
    def heading(self) -> str:
        """The name of the notion in reports."""
        return f"{self.notion.heading} of the sensitive attribute"

    def stated(self, domain: Domain, prior: Prior | None) -> SensitiveAttributePrivacy:
        """Return the notion in the form of a saved file, with the inner one on the values of S."""
        inner = self.notion.stated(self.attribute.domain, self._behind(domain, prior)[0])
        return SensitiveAttributePrivacy(inner, self.attribute)

    def to_table(self) -> dict[str, Any]:
        """Return the ``[privacy]`` table."""
        return {**self.notion.to_table(), "secret": self.attribute.to_table()}

    def __repr__(self) -> str:
        return f"SensitiveAttributePrivacy({self.notion!r}, {self.attribute!r})"


def attribute_of(given: SensitiveAttribute | Mapping[str, Any]) -> SensitiveAttribute:
    """Return an attribute unchanged, or read it from a table."""
    if isinstance(given, SensitiveAttribute):
        return given
    check_keys(given, "", SensitiveAttribute.KEYS, required=("values",))
    return SensitiveAttribute(**given)


def _matrix(given: Any, key: str) -> tuple[list[list[Any]], Labels | None, Labels | None]:
    """Return the rows of a matrix, at least one, with the labels of its rows and columns."""
    found = split_matrix(given, key, "a list of lists of numbers", "a list of numbers >= 0")
    if not found[0]:
        raise InputError(key, "at least one row", "an empty list")
    return found


def _distribution(given: Any, key: str, size: int) -> Weights:
    """Return numbers that sum to 1 exactly, normalized as those of a prior are."""
    numbers = exact_numbers(given, key)
    if len(numbers) != size:
        raise InputError(
            key, f"{size} probabilities, one for each value", f"{len(numbers)} numbers"
        )
    return distribution(numbers, key)


def _conditional(joint: list[list[Any]], size: int) -> tuple[Weights, tuple[Weights, ...]]:
    """Return the distribution of the input, and P(s|x), a row for each input."""
    rows = [exact_numbers(row, f"joint[{s}]") for s, row in enumerate(joint)]
    if len(rows) != size:
        raise InputError("joint", f"{size} rows, one for each value", f"{len(rows)} rows")
    for s, row in enumerate(rows):
        if len(row) != len(rows[0]):
            expected = "as many numbers in each row, one for each input"
            raise InputError(f"joint[{s}]", expected, f"{len(row)} numbers")
    marginal = tuple(sum(column, Fraction(0)) for column in zip(*rows, strict=True))
    masses = distribution([sum(row, Fraction(0)) for row in rows], "joint")
    return distribution(marginal, "joint"), tuple(
        normalized(column, "joint") if any(column) else masses for column in zip(*rows, strict=True)
    )

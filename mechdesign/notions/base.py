"""What a privacy notion is: parameters that compile to rows on the columns of a channel."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from mechdesign.channel import Channel, as_channel
from mechdesign.domain import Domain
from mechdesign.errors import InputError
from mechdesign.exact import Exact, as_fraction, fraction_text
from mechdesign.notions.channel_constraint import ChannelConstraint
from mechdesign.notions.rows.cone import Cone, Family
from mechdesign.prior import Prior, prior_on

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["BudgetNotion", "Notion", "budget", "cone_of", "is_infinite", "prior_for"]


class Notion(ABC):
    """A privacy notion: what outputs may reveal.

    A subclass takes the keys of its ``[privacy]`` table as constructor arguments and compiles to
    one family of rows. Everything else, the cvxpy constraints, the exact check and the exact
    leakage, follows from the rows. What rows on columns cannot say is a constraint on the whole
    channel: see :class:`~mechdesign.notions.non_conic.base.NonConicNotion`.
    """

    name: str
    """The word for it in problem files: of the class, but for notions that wrap another."""

    needs_prior: ClassVar[bool] = False
    """Whether the guarantee itself depends on the prior of X."""

    allows_sensitive_attribute: ClassVar[bool] = True
    """Whether it may be about a sensitive attribute in the place of the input."""

    on_interval: str = ""
    """How it carries over to an interval, if it does: ``"mixture"`` where rows may be mixed: then
    any rounding to private nodes is private, and all averages of private rows are; ``"regions"``
    where its labels are the regions between the cuts of the interval, and ``"masses"`` where its
    priors are laws of the region; ``"distance"`` where the budget is that of the distance of two
    numbers."""

    title: ClassVar[str] = ""
    """A few words for tables and templates."""

    example: ClassVar[str] = ""
    """The other keys of an example table, on the inputs 0, 1, 2, 3, with comments."""

    @abstractmethod
    def family(self, domain: Domain, prior: Prior | None) -> Family:
        """Compile to rows.

        Raises
        ------
        InputError
            If the parameters do not fit the domain.
        InfeasibleError
            If no channel satisfies them.
        """

    @abstractmethod
    def to_table(self) -> dict[str, Any]:
        """Return the ``[privacy]`` table, numbers as exact text."""

    def aligned(self, domain: Domain) -> Notion:
        """Return the notion with numbers that carry labels in the order of the domain.

        Raises
        ------
        InputError
            If the labels are not those of the domain.
        """
        return self

    def stated(self, domain: Domain, prior: Prior | None) -> Notion:
        """Return the notion as a file states it: itself, if its table says all of it.

        Parameters
        ----------
        domain, prior
            What the rows of a notion that is defined by code are made from.
        """
        return self

    @property
    def bounds_lift_from_below(self) -> bool:
        """Whether it keeps every lift q_x / (P . q), for the prior of X, above a number > 0."""
        return False

    def of_each_law(self, blocks: Sequence[Sequence[Any]], *, every_law: bool) -> Notion | None:
        """Return what it asks of a sensitive attribute S under each of some laws, as one notion.

        It is about the attribute (t, S) with t the number of the law; None if that is not known.

        Parameters
        ----------
        blocks
            The values (t, s) of each law.
        every_law
            Whether these are all laws, with all values; else the laws that matter for bounds on the
            lift, with the values that are not s taken together.
        """
        return None

    def protected(self, domain: Domain) -> Domain:
        """Return what the notion protects: the inputs, or the values of a sensitive attribute."""
        return domain

    @property
    def heading(self) -> str:
        """What reports call the notion."""
        return self.name

    @property
    def is_conic(self) -> bool:
        """Whether rows on columns say all that the notion says."""
        return True

    def channel_constraint(self, domain: Domain, prior: Prior | None) -> ChannelConstraint | None:
        """Return the notion as a constraint on the whole channel; None if it is rows on columns."""
        return None

    def cone(self, domain: Domain, prior: Prior | None = None) -> Cone:
        """Return the cone of allowed columns."""
        return Cone([self.family(domain, prior)])

    def constraints(
        self, Q: cp.Variable | cp.Expression, domain: Domain, prior: Prior | None = None
    ) -> list[cp.Constraint]:
        """State the notion in cvxpy: G @ Q <= 0, or what it asks of the whole channel.

        Parameters
        ----------
        Q
            A variable of shape ``(n_inputs, n_outputs)``; that it is a channel is not stated here.
        domain, prior
            What it refers to.
        """
        rule = self.channel_constraint(domain, prior)
        if rule is not None:
            return list(rule.state(Q).constraints)
        return [self.cone(domain, prior).matrix() @ Q <= 0]

    def holds(self, channel: Channel, prior: Prior | None = None) -> bool:
        """Return whether the exact channel satisfies the notion, exactly."""
        inputs = as_channel(channel).inputs
        rule = self.channel_constraint(inputs, prior)
        return (self.cone(inputs, prior) if rule is None else rule).holds(channel)

    def leakage(self, channel: Channel, prior: Prior | None = None) -> float:
        """Return the smallest epsilon that the exact channel satisfies, rounded up, in nats.

        For a notion without an epsilon it is the largest excess over its bounds, at most 0 when
        the channel is private.
        """
        inputs = as_channel(channel).inputs
        rule = self.channel_constraint(inputs, prior)
        return (self.family(inputs, prior) if rule is None else rule).leakage(channel)

    @property
    def has_epsilon(self) -> bool:
        """Whether there is one budget that :meth:`at` changes."""
        return "epsilon" in self.keys()

    def at(self, epsilon: Exact) -> Notion:
        """Return the same notion with another epsilon, where :attr:`has_epsilon`.

        Raises
        ------
        InputError
            If it is no budget.
        """
        known = self.keys()
        table = {key: value for key, value in self.to_table().items() if key in known}
        return type(self)(**{**table, "epsilon": epsilon})

    @classmethod
    def keys(cls) -> dict[str, bool]:
        """Return the keys of the ``[privacy]`` table, each with whether it must be there."""
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return {p.name: p.default is inspect.Parameter.empty for p in parameters}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Notion):
            return NotImplemented
        return self.to_table() == other.to_table()

    def __hash__(self) -> int:
        return hash(str(self.to_table()))

    def __repr__(self) -> str:
        given = {k: v for k, v in self.to_table().items() if k != "notion"}
        inner = ", ".join(f"{key}={_shown(value)}" for key, value in given.items())
        return f"{type(self).__name__}({inner})"


class BudgetNotion(Notion):
    """A notion with one budget.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.
    """

    def __init__(self, epsilon: Exact) -> None:
        self.epsilon = budget(epsilon)

    def to_table(self) -> dict[str, Any]:
        """Return the ``[privacy]`` table, numbers as exact text."""
        return {"notion": self.name, "epsilon": fraction_text(self.epsilon)}


def cone_of(notions: Sequence[Notion], domain: Domain, prior: Prior | None) -> Cone:
    """Return the cone of an intersection of notions, one family for each, in order."""
    return Cone([notion.family(domain, prior) for notion in notions])


def is_infinite(value: Any) -> bool:
    """Return whether a budget is given as infinite, which asks for nothing."""
    if isinstance(value, str):
        return value.strip().lower() in ("inf", "+inf")
    try:
        return math.isinf(value) and value > 0
    except (TypeError, OverflowError):
        return False


def budget(value: Exact, key: str = "epsilon") -> Fraction:
    """Return a privacy budget as an exact number >= 0.

    Raises
    ------
    InputError
        If it is negative or not finite.

    Examples
    --------
    >>> budget(0.5)
    Fraction(1, 2)
    """
    return as_fraction(value, key, expected="a finite number >= 0", least=0)


def prior_for(notion: str, domain: Domain, prior: Prior | None) -> Prior:
    """Return the prior, or say that the notion needs one that fits."""
    if prior is None:
        raise InputError("prior", f"a prior, since {notion} is defined by one", "none")
    return prior_on(prior, domain)


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."

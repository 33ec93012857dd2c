"""The base class of notions: parameters that compile to rows on the columns of a channel."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import is_dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from mechdesign.channel import Channel, as_channel
from mechdesign.domain import Domain, DomainLike, Label
from mechdesign.errors import CertificateError, InputError, UnsupportedError, shown, shown_kind
from mechdesign.exact import Exact, as_fraction, fraction_text
from mechdesign.kernel.generators import Cone as KernelCone, Rows
from mechdesign.kernel.limits import Gauge, Information, Limit
from mechdesign.kernel.names import Domain as KernelDomain, Notion as Words
from mechdesign.kernel.schema import read, write
from mechdesign.notions.channel_constraint import ChannelConstraint
from mechdesign.notions.rows.cone import Cone, Family
from mechdesign.notions.rows.of_generators import family_of
from mechdesign.prior import Prior, prior_on
from mechdesign.tables import ExactTable

if TYPE_CHECKING:
    import cvxpy as cp
    import scipy.sparse as sp

LINEAR = 1e-12
"""Largest deviation from a linear function of e**-epsilon due to rounding."""


class Notion:
    """A privacy notion: a bound on what outputs reveal.

    A subclass takes the keys of its ``[privacy]`` table as constructor arguments, stores them as
    attributes, and defines its rows as kernel generators (:meth:`generators`). The cvxpy
    constraints, the exact check, the exact leakage, saved files and their proofs follow.
    ``tests/notions/test_own_notion.py`` has a complete example. A notion that rows on columns
    cannot express is a constraint on the whole channel: see
    :class:`~mechdesign.notions.non_conic.WholeChannelNotion`.
    """

    name: str
    """Its name in problem files; per instance for notions that wrap another."""

    needs_prior: ClassVar[bool] = False
    """Whether the guarantee itself depends on the prior of X."""

    allows_sensitive_attribute: ClassVar[bool] = True
    """Whether it may protect a sensitive attribute instead of the input."""

    bounds_lift_from_below: bool = False
    """Whether it bounds every lift q_x / (P . q), for the prior of X, below by a number > 0."""

    on_interval: str = ""
    """How it extends to an interval, if it does: ``"mixture"`` where rows may be mixed, so that
    rounding to private nodes is private, and averages of private rows are; ``"regions"`` where its
    labels are the regions between the cuts of the interval; ``"masses"`` where its priors are laws
    of the region; ``"distance"`` where the budget is per distance of two numbers."""

    title: ClassVar[str] = ""
    """A short description for tables and templates."""

    example: ClassVar[str] = ""
    """The other keys of an example table, on the inputs 0, 1, 2, 3, with comments."""

    def generators(self, domain: Domain, prior: Prior | None) -> tuple[KernelCone | Limit, ...]:
        """Return the generators of the cone and the limits that define the notion.

        By default the kernel derives them from the name and the keys of a notion that it knows. A
        user's own notion overrides this method, and a saved file contains the result.
        """
        prior = prior_for(self.name, domain, prior) if self.needs_prior else None
        masses = None if prior is None else prior.probabilities
        inputs = read(KernelDomain, domain.to_table()).inputs(masses)
        return self.aligned(domain).words(domain, prior).asked(inputs)

    def words(self, domain: Domain, prior: Prior | None) -> Words:
        """Return the kernel's notion with the same name and keys."""
        found: Words = read(Words, self.stated(domain, prior).to_table())
        return found

    def check(self, domain: Domain, prior: Prior | None) -> None:
        """Raise InfeasibleError if no channel on the domain satisfies the notion."""

    def _parts(self, domain: Domain, prior: Prior | None) -> tuple[list[KernelCone], list[Limit]]:
        """Return the checked generator of the cone, if there is one, and the checked limits.

        Several generators are listed as rows, which multipliers name by their numbers.
        """
        k = len(domain)
        try:
            parts: Any = self.generators(domain, prior)  # of any class of a user
            if not isinstance(parts, Iterable):
                expected = "a tuple of generators, as (Ratio(...),)"
                raise InputError("generators", expected, shown_kind(parts))
            for part in parts:
                part.check(k)
            limits = [part for part in parts if isinstance(part, Gauge | Information)]
            cones = [part for part in parts if not isinstance(part, Gauge | Information)]
            for number in _leaves(cones) if self.states_generators else ():
                if isinstance(number, float) or (isinstance(number, str) and number[:1].isdigit()):
                    expected = "exact numbers, as self.epsilon / 2 or Fraction(1, 2)"
                    raise InputError("generators", expected, shown(number))
            if len(cones) > 1:
                cones = [Rows(tuple(c.row(key, k, up=False) for c in cones for key in c.keys(k)))]
        except CertificateError as error:
            fault = str(error)
            raise InputError("generators", "generators of the domain", fault, "", fault) from None
        return cones, limits

    @property
    def states_generators(self) -> bool:
        """Whether a file must contain the generators, as for a user's own notion."""
        return type(self).generators is not Notion.generators

    def family(self, domain: Domain, prior: Prior | None = None) -> Family:
        """Compile to the rows that every column satisfies: none, unless :attr:`is_conic`.

        Raises
        ------
        InputError
            If the parameters do not match the domain.
        InfeasibleError
            If no channel satisfies them.
        """
        self.check(domain, prior)
        if not self.is_conic:
            return family_of((), self.name, len(domain), Fraction(0), has_epsilon=False)
        unit = self.at(1) if self.has_epsilon else self
        moves = self.has_epsilon and unit.is_conic
        cones, limits = (unit if moves else self)._parts(domain, prior)
        if limits:
            fault = "a limit on the whole channel needs WholeChannelNotion as a parent"
            raise InputError("generators", "generators of a cone", "a limit", fault=fault)
        epsilon = budget(getattr(self, "epsilon", 0)) if moves else Fraction(0)
        if moves and self.states_generators:
            trial = Fraction(2) if epsilon == 1 else epsilon  # at 1 they are equal in any case
            stretched = [part.moved(trial, Fraction(0)) for part in cones]
            if stretched != self.at(trial)._parts(domain, prior)[0]:
                expected = "exponents proportional to epsilon from generators(...)"
                raise InputError("epsilon", expected, f"others by {self.name}")
        return family_of(cones, self.name, len(domain), epsilon, has_epsilon=moves)

    def to_table(self) -> dict[str, Any]:
        """Return the ``[privacy]`` table: the attributes named by its keys, as exact text."""
        found = {key: getattr(self, key, None) for key in self.keys()}
        return {"notion": self.name, **{k: _plain(v) for k, v in found.items() if v is not None}}

    def stated_table(self, domain: Domain, prior: Prior | None) -> dict[str, Any]:
        """Return the table of a saved file, with the generators of a user's own notion.

        Keys that the kernel does not know go into ``parameters``.
        """
        table = self.stated(domain, prior).to_table()
        if not self.states_generators:
            return table
        cones, limits = self._parts(domain, prior)
        own = ("notion", "epsilon", "title")
        known: dict[str, Any] = {key: table[key] for key in own if key in table}
        if others := {key: value for key, value in table.items() if key not in known}:
            known["parameters"] = others
        if limits:
            known["limits"] = [write(part) for part in limits]
        return {**known, "cone": [write(part) for part in cones]}

    def aligned(self, domain: Domain) -> Notion:
        """Return the notion with its labeled numbers in the order of the domain."""
        return self

    def stated(self, domain: Domain, prior: Prior | None) -> Notion:
        """Return the notion in the form of a saved file: itself, if its table is complete.

        Parameters
        ----------
        domain, prior
            The arguments of rows that are defined by code.
        """
        return self

    def protected(self, domain: Domain) -> Domain:
        """Return the protected values: the inputs, or those of a sensitive attribute."""
        return domain

    @property
    def heading(self) -> str:
        """The name of the notion in reports."""
        return self.name

    @property
    def is_conic(self) -> bool:
        """Whether rows on columns define the notion."""
        return True

    def channel_constraint(self, domain: Domain, prior: Prior | None) -> ChannelConstraint | None:
        """Return the notion as limits on the whole channel; None if it is conic."""
        return None

    def limit_name(self, number: int, labels: Sequence[Label]) -> str:
        """Return the name of a limit on the whole channel in reports."""
        return f"limit {number}"

    def cone(self, domain: Domain, prior: Prior | None = None) -> Cone:
        """Return the cone of private columns."""
        return Cone([self.family(domain, prior)])

    def constraints(
        self,
        Q: cp.Variable | cp.Expression,
        domain: DomainLike,
        prior: Any = None,
        *,
        epsilon: cp.Parameter | None = None,
    ) -> list[cp.Constraint]:
        """State the notion in cvxpy: G @ Q <= 0, or a constraint on the whole channel.

        The constraints of a channel, entries >= 0 and rows that sum to 1, are not included. A
        solver is accurate to its tolerance: :func:`~mechdesign.certify` repairs and proves its
        answer.

        Parameters
        ----------
        Q
            A variable or an expression of shape ``(n_inputs, n_outputs)``.
        domain, prior
            As for :class:`~mechdesign.Problem`: a Series or a dict as prior counts by label.
        epsilon
            A parameter that replaces the budget of the notion. The rows contain another parameter
            for ``e**-epsilon``, computed from it, so that cvxpy compiles a sweep once (DPP).

        Returns
        -------
        list
            One constraint for rows on columns. Its ``dual_value``, ``(n_rows, n_outputs)``, is in
            the order of the named rows ``notion.cone(domain, prior).rows()``: multipliers of
            ``e**-a (left . q) <= right . q``, as in ``Solution.binding``.

        Raises
        ------
        InputError
            If the shapes do not fit, the domain is a prior, or epsilon is not a parameter.
        UnsupportedError
            If the rows are not linear in e**-epsilon: those of metric privacy, for example, have
            exponents epsilon times a distance.

        Examples
        --------
        >>> import math
        >>> import cvxpy as cp
        >>> from mechdesign import LDP
        >>> Q, epsilon = cp.Variable((2, 2), nonneg=True), cp.Parameter(nonneg=True)
        >>> rows = LDP(1).constraints(Q, ["yes", "no"], epsilon=epsilon)
        >>> sweep = cp.Problem(cp.Maximize(cp.trace(Q) / 2), [*rows, cp.sum(Q, axis=1) == 1])
        >>> sweep.is_dcp(dpp=True)
        True
        >>> epsilon.value = math.log(3)
        >>> round(float(sweep.solve(solver="CLARABEL")), 6)
        0.75
        """
        domain = Domain.of(domain)
        prior = None if prior is None else prior_on(prior, domain)
        if Q.ndim != 2 or Q.shape[0] != len(domain):
            raise InputError("Q", f"a row for each of {len(domain)} inputs", f"shape {Q.shape}")
        notion = self.aligned(domain)
        if epsilon is not None:
            fixed, moving = notion._linear_rows(domain, prior)
            return [fixed @ Q + _shrinkage(epsilon) * (moving @ Q) <= 0]
        rule = notion.channel_constraint(domain, prior)
        if rule is not None:
            return rule.state(Q)
        return [notion.cone(domain, prior).matrix() @ Q <= 0]

    def _linear_rows(
        self, domain: Domain, prior: Prior | None
    ) -> tuple[sp.csr_array, sp.csr_array]:
        """Return A and B with G = A + B e**-epsilon, from two budgets; a third tests linearity."""
        expected = "a notion whose rows are linear in e**-epsilon, as LDP"
        if not (self.has_epsilon and self.is_conic):
            raise UnsupportedError("epsilon", expected, repr(self))
        budgets = ("3", "4", "5")
        near, middle, far = (self.at(e).cone(domain, prior).matrix() for e in budgets)
        shrink = [math.exp(-float(Fraction(e))) for e in budgets]
        if not near.shape == middle.shape == far.shape:
            raise UnsupportedError("epsilon", expected, repr(self))
        moving = (near - far) / (shrink[0] - shrink[2])
        fixed = far - shrink[2] * moving
        if abs(fixed + shrink[1] * moving - middle).max() > LINEAR:
            raise UnsupportedError("epsilon", expected, repr(self))
        return fixed, moving

    def holds(self, channel: Channel, prior: Prior | None = None) -> bool:
        """Return whether the exact channel satisfies the notion, without tolerance."""
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
        """Whether it has a single budget, which :meth:`at` changes."""
        return "epsilon" in self.keys()

    def at(self, epsilon: Exact) -> Notion:
        """Return the same notion with another epsilon, where :attr:`has_epsilon`.

        Raises
        ------
        InputError
            If epsilon is not a budget.
        """
        known = self.keys()
        table = {key: value for key, value in self.to_table().items() if key in known}
        return type(self)(**{**table, "epsilon": epsilon})

    @classmethod
    def keys(cls) -> dict[str, bool]:
        """Return the keys of the ``[privacy]`` table, each with whether it is required."""
        return _parameters(cls.__init__)

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


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the numbers and words in a generator."""
    if is_dataclass(value):
        value = vars(value).values()
    if isinstance(value, str) or not isinstance(value, Iterable):
        yield value
        return
    for part in value:
        yield from _leaves(part)


def _shrinkage(epsilon: cp.Parameter) -> cp.Parameter:
    """Return a parameter whose value is always e**-epsilon."""
    import cvxpy as cp

    if not isinstance(epsilon, cp.Parameter) or not epsilon.is_scalar():
        hint = "for a number, give it to the notion: LDP(2)"
        raise InputError("epsilon", "a scalar cvxpy.Parameter", shown(epsilon), hint)

    def value() -> float | None:
        return None if epsilon.value is None else math.exp(-float(epsilon.value))

    return cp.CallbackParam(value, nonneg=True)


class BudgetNotion(Notion):
    """A notion with one budget ``epsilon`` in nats, >= 0."""

    def __init__(self, epsilon: Exact) -> None:
        self.epsilon = budget(epsilon)


@cache
def _parameters(method: Callable[..., None]) -> dict[str, bool]:
    """Return the parameters of a method, each with whether it must be given."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    return {p.name: p.default is inspect.Parameter.empty for p in parameters}


def cone_of(notions: Sequence[Notion], domain: Domain, prior: Prior | None) -> Cone:
    """Return the cone of an intersection of notions, one family for each, in order."""
    return Cone([notion.family(domain, prior) for notion in notions])


def is_infinite(value: Any) -> bool:
    """Return whether a budget is infinite, that is, without effect."""
    if isinstance(value, str):
        return value.strip().lower() in ("inf", "+inf")
    try:
        return math.isinf(value) and value > 0
    except (TypeError, OverflowError):
        return False


def budget(value: Exact, key: str = "epsilon") -> Fraction:
    """Return a privacy budget as an exact number >= 0."""
    return as_fraction(value, key, expected="a finite number >= 0", least=0)


def prior_for(notion: str, domain: Domain, prior: Prior | None) -> Prior:
    """Return the prior in the order of the domain; a missing one is an error."""
    if prior is None:
        fault = f"{notion} is defined by a prior, and none is given"
        raise InputError("prior", "a prior", "none", fault=fault)
    return prior_on(prior, domain)


def _plain(value: Any) -> Any:
    """Return an attribute as a value of a table."""
    if isinstance(value, Fraction):
        return fraction_text(value)
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value.to_table() if isinstance(value, ExactTable) else value


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."

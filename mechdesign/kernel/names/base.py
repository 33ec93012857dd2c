"""The base classes of notions and objectives by name, which compile to a statement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import methodcaller
from typing import Any, ClassVar, Literal

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.generators import Cone, Latent, Lift, Ratio, Rows, distribution
from mechdesign.kernel.limits import Limit
from mechdesign.kernel.names.domains import Domain, Inputs
from mechdesign.kernel.objectives import Objective
from mechdesign.kernel.schema import Label

Asked = tuple[tuple[Cone, ...], tuple[Limit, ...]]
Table = tuple[tuple[Fraction, ...], ...]
Budget = Fraction | Literal["inf"]
Outputs = Sequence[Any] | None


class Named:
    """A notion or an objective."""

    @property
    def name(self) -> str:
        """The name in a file."""
        return str(self.kind)  # type: ignore[attr-defined]


class Notion(Named, ABC):
    """A notion by name."""

    tag: ClassVar[str] = "notion"
    of_pairs: ClassVar[bool] = False
    """Whether it has a limit, or looks at a distance, for each pair of inputs."""

    @abstractmethod
    def asked(self, on: Inputs) -> Asked:
        """Return generators and limits.

        Raises
        ------
        CertificateError
            If it contradicts the inputs.
        """

    def at(self, leakage: Fraction) -> Notion:
        """Return the notion that a leakage claims to hold.

        It has this epsilon; where it has none, this much is added to all its exponents.
        """
        if self.has_epsilon:
            return replace(self, epsilon=leakage)  # type: ignore[type-var]
        return Moved(self, Fraction(1), leakage)

    @property
    def has_epsilon(self) -> bool:
        """Whether its leakage is an epsilon."""
        return getattr(self, "epsilon", None) is not None

    def check(self) -> None:
        """Raise unless its budgets are >= 0."""
        for key in ("epsilon", "delta", "limit", "least", "radius", "lower", "upper"):
            budget = getattr(self, key, None)
            if isinstance(budget, Fraction):
                need(budget >= 0, f"{self.name}: {key} is below 0")


@dataclass(frozen=True)
class Moved(Notion):
    """A notion with all its exponents times a factor, plus a number."""

    notion: Notion
    factor: Fraction
    by: Fraction

    def asked(self, on: Inputs) -> Asked:
        """Return generators and limits, moved."""
        cone, limits = self.notion.asked(on)
        move = methodcaller("moved", self.factor, self.by)
        return tuple(map(move, cone)), tuple(map(move, limits))


@dataclass(frozen=True)
class Secret:
    """A sensitive attribute behind the input: its values, and their law given each input."""

    values: tuple[Label, ...]
    given_input: Table

    def behind(self, on: Inputs) -> tuple[Table, Inputs]:
        """Return P(x | s), a row for each value s, and the values with their prior P(s)."""
        p, size = on.masses, len(self.values)
        need(len(self.given_input) == on.size, "expected a law of the secret for each input")
        given = [distribution(row, size) for row in self.given_input]
        joint = [[row[s] * mass for row, mass in zip(given, p, strict=True)] for s in range(size)]
        masses = tuple(sum(row, Fraction(0)) for row in joint)
        need(all(masses), "a secret in the file has probability 0")
        rows = tuple(tuple(v / mass for v in row) for row, mass in zip(joint, masses, strict=True))
        return rows, Domain(values=self.values).inputs(masses)


@dataclass(frozen=True)
class Conic(Notion):
    """A notion that is one generator, of the inputs or of a sensitive attribute behind them."""

    secret: Secret | None = field(default=None, kw_only=True)

    @abstractmethod
    def generator(self, on: Inputs) -> Ratio | Lift | Rows:
        """Return the generator."""

    def asked(self, on: Inputs) -> Asked:
        """Return the generator, or that of the sensitive attribute."""
        if self.secret is None:
            return (self.generator(on),), ()
        rows, values = self.secret.behind(on)
        return (Latent(rows, self.generator(values)),), ()


@dataclass(frozen=True)
class Budgeted(Conic):
    """One with an epsilon."""

    epsilon: Fraction


class NamedObjective(Named, ABC):
    """An objective by name.

    Attributes
    ----------
    sign
        -1 where more is better.
    reads
        What an aggregator reads from an output: "" for nothing.
    of_pairs
        Whether it has a number for each pair of inputs.
    """

    tag: ClassVar[str] = "objective"
    sign: ClassVar[int] = 1
    reads: ClassVar[str] = ""
    of_pairs: ClassVar[bool] = False

    @abstractmethod
    def form(self, on: Inputs, outputs: Outputs) -> Objective | None:
        """Return the objective to minimize; None for one that the kernel does not know.

        Raises
        ------
        CertificateError
            If it contradicts the inputs.
        """


@dataclass(frozen=True)
class MeanOrWorst(NamedObjective):
    """A mean over the prior, or a worst case."""

    worst_case: bool = False

    def weights(self, on: Inputs) -> tuple[Fraction, ...] | None:
        """Return the weights of the inputs; None for the worst case."""
        return None if self.worst_case else on.masses

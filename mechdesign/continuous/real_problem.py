"""What problems of an interval and of a box have in common: notions and a loss of real numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from mechdesign.errors import InputError, UnsupportedError, shown_kind
from mechdesign.notions import NOTIONS, Notion
from mechdesign.problem import Expected, notions_at, notions_of, utility_of
from mechdesign.utilities import UTILITIES, Utility

__all__ = ["RealProblem"]


class RealProblem(ABC):
    """A domain of real numbers or of points, notions of privacy, a loss to minimize and a law."""

    utility_mark: ClassVar[str]
    """The attribute of losses that says whether they have one."""

    law_kind: ClassVar[Any]
    """The class of its laws."""

    examples: ClassVar[tuple[str, str]]
    """A loss and a law, as they are written."""

    def __init__(
        self,
        domain: Any,
        privacy: Notion | Sequence[Notion],
        utility: Utility,
        prior: Any,
        about: tuple[str, str, Expected | None],
    ) -> None:
        loss, law = self.examples
        self.domain = domain
        self.privacy = notions_of(privacy)
        for notion in self.privacy:
            if not self.takes(notion.on_interval):
                able = [name for name, kind in NOTIONS.items() if self.takes(kind.on_interval)]
                raise UnsupportedError("privacy", f"one of {', '.join(able)}", notion.name)
        self.utility, mark = utility_of(utility, loss), self.utility_mark
        if not (getattr(utility, mark) and utility.exact):
            able = [name for name, kind in UTILITIES.items() if getattr(kind, mark)]
            raise UnsupportedError("utility", f"one of {', '.join(able)}", repr(utility))
        self._check_parts()
        self.title, self.source, self.expected = about
        self.prior_given = prior is not None
        if not (prior is None or isinstance(prior, self.law_kind)):
            raise InputError("prior", f"a law, such as {law}", shown_kind(prior))
        if prior is None and (needy := self._needing_law()):
            raise InputError("prior", f"the law that {needy[0]} is defined by", "none")
        self.prior = self._uniform() if prior is None else prior
        self.prior.check(domain)

    @staticmethod
    @abstractmethod
    def takes(on_interval: Any) -> bool:
        """Return whether a notion that carries over to an interval so has a meaning here."""

    @abstractmethod
    def _check_parts(self) -> None:
        """Raise unless there is a bound for such notions, such a loss and such a domain."""

    @abstractmethod
    def _uniform(self) -> Any:
        """Return the uniform law of the domain."""

    def _needing_law(self) -> list[str]:
        """Return the names of the notions that are defined by the law."""
        return [notion.name for notion in self.privacy if notion.needs_prior]

    @property
    def utility_table(self) -> dict[str, Any]:
        """The ``[utility]`` table."""
        table: dict[str, Any] = {"objective": self.utility.name}
        if self.utility.on_interval != "estimate":
            table["worst_case"] = self.utility.worst_case
        return table

    def at(self, epsilon: Any) -> Self:
        """Return the problem with another budget.

        Parameters
        ----------
        epsilon
            In nats.

        Raises
        ------
        InputError
            If it is no budget, or not just one notion of the problem has an epsilon.
        """
        made: Any = type(self)
        found: Self = made(
            self.domain,
            notions_at(self.privacy, epsilon),
            self.utility,
            prior=self.prior if self.prior_given else None,
            title=self.title,
            source=self.source,
        )
        return found

    def __repr__(self) -> str:
        notions = " and ".join(repr(notion) for notion in self.privacy)
        law = f", prior={self.prior!r}" if self.prior_given else ""
        return f"{type(self).__name__}({self.domain!r}, {notions}, {self.utility!r}{law})"

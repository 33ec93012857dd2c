"""The privacy notions by name, with their requirements on the channel.

A notion is a function from the inputs, and the keys of its table, to a generator of the cone, or to
generators and limits. Nothing else in the kernel depends on its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import methodcaller
from typing import Any, ClassVar

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.generators import Cone, Latent, distribution
from mechdesign.kernel.limits import Limit
from mechdesign.kernel.names import forms
from mechdesign.kernel.names.domains import Domain, Inputs, Table
from mechdesign.kernel.names.forms import ONE, ZERO, Parts
from mechdesign.kernel.schema import Json, Label, Named, tables


def own_notion(
    on: Inputs,
    *,
    cone: tuple[Cone, ...] = (),
    limits: tuple[Limit, ...] = (),
    epsilon: Fraction | None = None,
    title: str = "",
    parameters: Json | None = None,
) -> Parts:
    """Return the generators and limits in the table of a user's own notion.

    With an epsilon, all exponents are proportional to it.
    """
    return (*cone, *limits)


def _by_name(*forms: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    return {form.__name__.replace("_", "-"): form for form in forms}


BEHIND = _by_name(*forms.RATIOS, *forms.LIFTS)
OF_PRIORS = _by_name(*forms.OF_PRIORS)

LEVELS = {"g-vulnerability": ("limit", 1), "attack-error": ("least", -1)}
"""The key to which a leakage is added, with its sign, if it is not an exponent."""

FORMS = BEHIND | OF_PRIORS | _by_name(forms.bounded_prior_lift, *forms.APPROXIMATE, *forms.LEAKAGES)
FORMS[""] = own_notion

BUDGETS = ("epsilon", "delta", "limit", "least", "radius", "lower", "upper")

DISTANCE, LIMIT = 10, 150
OF_PAIRS = dict.fromkeys(["metric", *LEVELS], DISTANCE)
OF_PAIRS |= {"approximate-ldp": LIMIT, "approximate-lip": DISTANCE}
"""Notions with a limit or a number for each pair of inputs, and the work of one."""


@dataclass(frozen=True)
class Secret:
    """A sensitive attribute of the input: its values, and their law given each input."""

    values: tuple[Label, ...]
    given_input: Table

    def behind(self, on: Inputs) -> tuple[Table, Inputs]:
        """Return P(x | s), a row for each value s, and the values with their prior P(s)."""
        p, size = on.masses, len(self.values)
        need(len(self.given_input) == on.size, "expected a law of the secret for each input")
        given = [distribution(row, size) for row in self.given_input]
        joint = [[row[s] * mass for row, mass in zip(given, p, strict=True)] for s in range(size)]
        masses = tuple(sum(row, ZERO) for row in joint)
        need(all(masses), "a secret in the file has probability 0")
        rows = tuple(tuple(v / mass for v in row) for row, mass in zip(joint, masses, strict=True))
        return rows, Domain(values=self.values).inputs(masses)


@dataclass(frozen=True)
class Notion(Named):
    """A notion by name.

    ``factor``, ``by``: factor and shift of all its exponents.
    """

    tag: ClassVar[str] = "notion"
    factor: Fraction = ONE
    by: Fraction = ZERO

    @classmethod
    def forms(cls) -> dict[str, Callable[..., Any]]:
        return FORMS

    @classmethod
    def common(cls, word: str) -> dict[str, tuple[Any, Any]]:
        """Return the keys of a sensitive attribute, or of a set of priors."""
        if word in OF_PRIORS:
            return tables(forms.PriorSet)[0].keys
        return {"secret": (Secret | None, None)} if word in BEHIND else {}

    @property
    def is_own(self) -> bool:
        """Whether the kernel does not know it."""
        return self.name not in FORMS

    @property
    def epsilon(self) -> Any:
        """The budget that equals its leakage, if there is one."""
        return self.keys.get("epsilon")

    @property
    def stated(self) -> Fraction:
        """The leakage at which the notion is as stated."""
        return Fraction(self.epsilon or ZERO)

    def asked(self, on: Inputs) -> Parts:
        """Return the generators and limits."""
        make, keys = FORMS.get(self.name, own_notion), dict(self.keys)
        secret = keys.pop("secret", None)
        if secret is None:
            made = make(on, **keys)
        else:
            rows, values = secret.behind(on)
            made = Latent(rows, make(values, **keys))
        parts: Parts = made if isinstance(made, tuple) else (made,)
        if (self.factor, self.by) == (ONE, ZERO):
            return parts
        return tuple(map(methodcaller("moved", self.factor, self.by), parts))

    def at(self, leakage: Fraction) -> Notion:
        """Return the notion with a claimed leakage.

        It has this epsilon; without an epsilon, the leakage is added to all exponents.
        """
        if self.name in LEVELS:
            key, sign = LEVELS[self.name]
            return replace(self, keys=self.keys | {key: self.keys[key] + sign * leakage})
        if self.epsilon is None:
            return replace(self, by=leakage)
        if self.is_own:
            return replace(self, factor=leakage / self.epsilon if self.epsilon else ONE)
        return replace(self, keys=self.keys | {"epsilon": leakage})

    def check(self) -> None:
        """Raise CertificateError unless its budgets are >= 0."""
        for key in BUDGETS:
            budget = self.keys.get(key)
            need(not isinstance(budget, Fraction) or budget >= 0, f"{self.name}: {key} is below 0")

"""The problem of a point in the plane: a box, its law, notions of privacy and a distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mechdesign.continuous.plane.box import Box
from mechdesign.continuous.plane.laws import PlaneLaw, uniform_on
from mechdesign.errors import InputError, UnsupportedError, shown_kind
from mechdesign.notions import NOTIONS, Notion
from mechdesign.problem import Expected, notions_of
from mechdesign.utilities import UTILITIES, Utility

__all__ = ["PlaneProblem"]


class PlaneProblem:
    """What to keep secret of a point of a box, and what to keep useful.

    Parameters
    ----------
    box
        Where the point lies: a :class:`Box`, or its corners ``[low, high]``.
    privacy
        A notion, or several: LDP, LIP, asymmetric lift, PML and the notions about whole channels.
    utility
        The loss: the Euclidean distance of the released point, or its square.
    prior
        The law of the point; default uniform, unless a notion is defined by the law.
    title, source
        Free text.
    expected
        What is known of the optimum.

    Raises
    ------
    InputError
        If the parts do not fit each other.
    UnsupportedError
        If a notion or the loss has no meaning in the plane here.

    Examples
    --------
    >>> from mechdesign.notions import LDP
    >>> from mechdesign.utilities import EuclideanDistance
    >>> PlaneProblem([(0, 0), (1, 1)], LDP(1), EuclideanDistance())
    PlaneProblem(Box((0, 0), (1, 1)), LDP(epsilon=1), EuclideanDistance())
    """

    def __init__(
        self,
        box: Box | Sequence[Any],
        privacy: Notion | Sequence[Notion],
        utility: Utility,
        *,
        prior: PlaneLaw | None = None,
        title: str = "",
        source: str = "",
        expected: Expected | None = None,
    ) -> None:
        self.box = Box.of(box)
        self.privacy = notions_of(privacy)
        for notion in self.privacy:
            if notion.on_interval != "mixture":
                able = [name for name, kind in NOTIONS.items() if kind.on_interval == "mixture"]
                raise UnsupportedError("privacy", f"one of {', '.join(able)}", notion.name)
        given: Any = utility
        if not isinstance(given, Utility):
            kind = shown_kind(given)
            raise InputError("utility", "a utility, such as EuclideanDistance()", kind)
        if not utility.on_plane:
            able = [name for name, kind in UTILITIES.items() if kind.on_plane]
            raise UnsupportedError("utility", f"one of {', '.join(able)}", repr(utility))
        needy = [notion.name for notion in self.privacy if notion.needs_prior]
        if needy and utility.worst_case:
            expected_loss = f"an error on average, for {needy[0]}"
            raise UnsupportedError("utility", expected_loss, repr(utility))
        if needy and prior is None:
            raise InputError("prior", f"the law that {needy[0]} is defined by", "none")
        if prior is not None and not isinstance(prior, PlaneLaw):
            raise InputError("prior", "a law, such as ProductLaw(...)", shown_kind(prior))
        self.utility, self.prior_given = utility, prior is not None
        self.prior = uniform_on(self.box) if prior is None else prior
        self.prior.check(self.box)
        self.title, self.source, self.expected = title, source, expected

    @property
    def utility_table(self) -> dict[str, Any]:
        """The ``[utility]`` table."""
        return {"objective": self.utility.name, "worst_case": self.utility.worst_case}

    def __repr__(self) -> str:
        notions = " and ".join(repr(notion) for notion in self.privacy)
        law = f", prior={self.prior!r}" if self.prior_given else ""
        return f"PlaneProblem({self.box!r}, {notions}, {self.utility!r}{law})"

"""The problem of a point in the plane: a box, its law, notions of privacy and a distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mechdesign.continuous.plane.box import Box
from mechdesign.continuous.plane.laws import PlaneLaw, uniform_on
from mechdesign.continuous.real_problem import RealProblem
from mechdesign.errors import UnsupportedError
from mechdesign.notions import Notion
from mechdesign.problem import Expected
from mechdesign.utilities import Utility

__all__ = ["PlaneProblem"]


class PlaneProblem(RealProblem):
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

    utility_mark = "on_plane"
    law_kind = PlaneLaw
    examples = ("EuclideanDistance()", "ProductLaw(...)")

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
        super().__init__(Box.of(box), privacy, utility, prior, (title, source, expected))

    @property
    def box(self) -> Box:
        """Where the point lies."""
        found: Box = self.domain
        return found

    @staticmethod
    def takes(on_interval: Any) -> bool:
        """Return whether a notion that carries over to an interval so has a meaning here."""
        return bool(on_interval == "mixture")

    def _check_parts(self) -> None:
        if (needy := self._needing_law()) and self.utility.worst_case:
            expected = f"an error on average, for {needy[0]}"
            raise UnsupportedError("utility", expected, repr(self.utility))

    def _uniform(self) -> PlaneLaw:
        return uniform_on(self.box)

"""The constraint I(X; Y) <= epsilon on the mutual information of input and output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel
from mechdesign.domain import Label
from mechdesign.kernel.limits import Information
from mechdesign.notions.channel_constraint import ChannelConstraint, Stated
from mechdesign.notions.rows.row import Multipliers

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["InformationConstraint"]


class InformationConstraint(ChannelConstraint):
    """Sum_y Sum_x P_x Q[x,y] ln(Q[x,y] / lambda_y) <= epsilon: a bound in nats on I(X; Y)."""

    @property
    def _prior(self) -> FloatArray:
        return np.array([float(p) for p in cast(Information, self.units[0]).prior])

    def near(self, channel: Channel) -> float:
        """Return the information in floats."""
        joint = self._prior[:, None] * channel.matrix
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = joint * np.log(channel.matrix / joint.sum(axis=0))
        return max(0.0, float(np.nansum(terms)))

    def bounds(
        self, found: Multipliers, channel: Channel, _labels: Sequence[Label]
    ) -> Iterator[tuple[str, float, float]]:
        """Yield the single bound, whose multiplier is a loss per nat."""
        slack = 1 - self.near(channel) / float(self.epsilon)
        yield "mutual information of X and Y", float(found.weight.sum()), slack

    def state(self, Q: cp.Variable | cp.Expression) -> Stated:
        """State it by relative entropies of P_x Q[x,y] to P_x lambda_y."""
        import cvxpy as cp

        likely = np.flatnonzero(self._prior > 0)
        P = self._prior[likely]
        mean = cp.reshape(P @ Q[likely, :], (1, Q.shape[1]), order="C")
        given, free = cp.multiply(P[:, None], Q[likely, :]), P[:, None] @ mean
        information = cp.sum(cp.rel_entr(given, free)) <= float(self.epsilon)
        return Stated((information,), information=information)

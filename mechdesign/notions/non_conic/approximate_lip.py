"""Approximate local information privacy: LIP except for events of small probability."""

from __future__ import annotations

from collections.abc import Sequence

from mechdesign.domain import Label
from mechdesign.errors import shown
from mechdesign.notions.non_conic.base import ApproximateNotion


class ApproximateLIP(ApproximateNotion):
    """Approximate LIP: LIP for all sets of outputs, up to a probability delta.

        e**-epsilon Pr(Y in S|x) - delta <= Pr(Y in S) <= e**epsilon Pr(Y in S|x) + delta

    for all x and S. With the worst S for each side, and lambda the output distribution:

        Sum_y (Q[x,y] - e**epsilon lambda_y)_+ <= e**epsilon delta,
        Sum_y (lambda_y - e**epsilon Q[x,y])_+ <= delta             for every x.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.
    delta
        From 0, which is LIP, to 1, which asks nothing.

    Notes
    -----
    Source: Jiang et al. 2021 (TIFS), Definition 2. An input of prior 0 is protected like any other.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> identity = Channel.from_matrix([[1, 0], [0, 1]])
    >>> half = Prior([0.5, 0.5])
    >>> [ApproximateLIP(0, delta).holds(identity, half) for delta in (0.5, 0.49)]
    [True, False]
    """

    name = "approximate-lip"
    title = "approximate local information privacy"
    example = """
epsilon = 1.0               # nats; for all sets of outputs: Pr(S|x)/Pr(S) within e^+-epsilon,
delta = 0.05                # but for so much probability
"""
    needs_prior = True

    def limit_name(self, number: int, labels: Sequence[Label]) -> str:
        """Return the side and the input of a limit: two for each input."""
        x, side = divmod(number, 2)
        return f"{'min' if side else 'max'}-lift of {shown(labels[x])}"

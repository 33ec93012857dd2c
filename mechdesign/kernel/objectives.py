"""The four forms of objective, all minimized: `loss`, `gain`, `risk`, `reading`."""

from __future__ import annotations

from dataclasses import dataclass

from mechdesign.kernel.gains import Gain, Vector
from mechdesign.kernel.losses import Losses


@dataclass(frozen=True)
class Loss:
    """Sum_xy w_x D_y[x] Q[x, y], or its largest term in x if ``weights`` is None.

    Each column has one of the costs D_y. With ``free`` it has the least one (a best guess):
    accuracy, g-vulnerability and total variation are losses with free outputs and possibly negative
    costs. Costs are integers with two ends, for irrational distances.
    """

    costs: Losses
    weights: Vector | None
    free: bool = False


@dataclass(frozen=True)
class Risk:
    """Of n reports, times n or the root of n: Sum_x (v_x - p_x**2), or its roots times sqrt(1/2pi).

    v_x = (M**-1)_xx with M = Sum_y q_y q_y' / (p . q_y). ``prior`` None: the worst case over p.
    """

    roots: bool
    prior: Vector | None


@dataclass(frozen=True)
class Reading:
    """Sum_y v_y**2 w . q_y - Sum_x w_x f_x**2 for unbiased readings: Sum_y v_y Q[x, y] = f_x.

    ``weights`` None: the largest variance over x.
    """

    values: Vector
    weights: Vector | None


Objective = Loss | Gain | Risk | Reading
"""An objective, of one of the four forms."""

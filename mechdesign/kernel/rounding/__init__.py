"""Rounding: a number on an interval, or a point of a box, by the nodes of a grid.

The kernel is Q(y|x) = Sum_i w_i(x) Q_i(y): each coordinate of x is rounded to one of the two nodes
beside it, with the linear weights whose mean is the coordinate, and the row of the node is drawn
from. So w_i >= 0, Sum_i w_i = 1 and Sum_i w_i(x) t_i = x. On an interval without end, x goes to the
last node from beyond it. P_i = integral of w_i dmu is the law of the node.

*Theorem (the continuum and the nodes have the same kernels).* For notions under which rows may be
mixed (LDP; LIP, asymmetric lift, PML and their approximate forms, for the law mu; approximate LDP;
maximal leakage; mutual information):

1. If the channel Q_i is private on the nodes at the prior P, so is Q(.|x) at mu.
2. If K is any private kernel at mu, then so are the averages K_i = (1/P_i) integral of w_i K dmu,
   on the nodes at the prior P.

Proof. Rows Q(.|x) are mixtures of the Q_i, rows K_i are mixtures of the K(.|x), and the law of the
output is the same before and after: integral of Q dmu = Sum_i P_i Q_i, and Sum_i P_i K_i = integral
of K dmu, since Sum_i w_i = 1. At a fixed law of the output, a bound on a lift is linear in the row,
a bound on a ratio is linear in its two rows, and an excess, Sum_y max(q_y - c lambda_y, 0) or
Sum_y max(q_y - c q'_y, 0), is jointly convex: each holds for mixtures of rows for which it holds.
The largest probability of each output does not rise by mixing. Mutual information obeys data
processing along x -> i -> y in (1), and along i -> x -> y in (2), where i is drawn with the weights
w_i(x). A node with P_i = 0 takes K(.|t_i) as K_i.

So a rounded problem is a finite one: `laws` enclose the moments of the law in each cell, `nodes`
has the law of the node, `bound` the finite statement whose optimum minus a shift is below the loss
of every private kernel, `value` the loss of the kernel in the file, and its leakage by distance.
The certificate is an ordinary one, for the finite statement.
"""

from mechdesign.kernel.rounding.files import read_rounded

__all__ = ["read_rounded"]

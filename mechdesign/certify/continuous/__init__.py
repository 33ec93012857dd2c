"""The checker of continuous inputs: privacy, value and bound of a kernel on an interval.

The kernel is Q(y|x) = Sum_i w_i(x) Q_i(y): x is rounded to one of the two nodes t_i <= x <= t_(i+1)
beside it, with the linear weights whose mean is x, and the node's row is drawn from. Beyond the
first and the last node, x goes to that node. Everything that is read of the law mu of x is, for
each cell between two nodes, its mass and the integrals of x and x**2; P_i = integral of w_i dmu is
the law of the node.

*Theorem 1 (the continuum and the nodes have the same kernels).* For notions under which rows may be
mixed (LDP; LIP, asymmetric lift, PML and their approximate forms, for the law mu; approximate LDP;
maximal leakage; mutual information):

1. If the channel Q_i is private on the nodes at the prior P, so is Q(.|x) on the interval at mu.
2. If K is any private kernel on the interval, then so are the averages
   K_i = (1/P_i) integral of w_i K dmu, on the nodes at the prior P.

Proof. Rows Q(.|x) are mixtures of the Q_i, rows K_i are mixtures of the K(.|x), and the law of the
output is the same before and after: integral of Q dmu = Sum_i P_i Q_i, and Sum_i P_i K_i = integral
of K dmu, since Sum_i w_i = 1. At a fixed law of the output, a bound on a lift is linear in the row,
a bound on a ratio is linear in its two rows, and an excess, Sum_y max(q_y - c lambda_y, 0) or
Sum_y max(q_y - c q'_y, 0), is jointly convex: each holds for mixtures of rows for which it holds.
The largest probability of each output does not rise by mixing. Mutual information obeys data
processing along x -> i -> y in (1), and along i -> x -> y in (2), where i is drawn with the weights
w_i(x).  A node with P_i = 0 takes K(.|t_i) as K_i.

*Theorem 2 (distance).* The kernel satisfies epsilon |x - x'| on the interval exactly if
max(Q_(i+1)(y), Q_i(y)) <= (1 + epsilon h_i) min(...) for all outputs and all neighboring nodes, h_i
apart. Proof. Between the nodes Q(y|x) is linear in x, so |d ln Q / dx| is largest where Q is least,
at an end: there it is (r - 1) / h_i for the ratio r of the two ends. The logarithm of Q(y|x) is
Lipschitz with the largest of these numbers, and with no smaller one.

Notions that tell regions of the interval apart, and sets of laws of the region, are in `regions`
(Theorems 3 and 4). `law` reads the moments, `kernel` computes value and leakage of the kernel,
`relaxation` the finite program whose optimum bounds all kernels, `unbiased` readings without bias
(Theorems 5 and 6), `plane` kernel and program for points of a box, and `continuous_file` checks
files.
"""

"""The best channel in its cone.

The circles are the reports of the most informative channel under LIP and LDP together, larger when
sent more often. Their mean is the prior.
"""

import mechdesign as md

problem = md.Problem(
    ["no", "once", "often"],
    [md.LIP("3/5"), md.LDP(1)],
    md.MutualInformation(),
    prior=[0.5, 0.3, 0.2],
)
md.plots.plot_polytope(problem, md.design(problem).channel, title="LIP(3/5) and LDP(1)")

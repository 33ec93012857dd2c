"""Four notions, as what a report may tell.

Each point of the triangle is a belief about three inputs; the prior is the cross. A notion allows
the shaded part, and a best channel sends extreme rays, the dots.
"""

from matplotlib import pyplot as plt

import mechdesign as md

notions = {
    "LDP(1)": md.LDP(1),
    "LIP(1)": md.LIP(1),
    "PML(1)": md.PML(1),
    "high-low: only a is sensitive": md.HighLowLDP(1, ["a"]),
}
_, axes = plt.subplots(2, 2, figsize=(10, 9), layout="constrained")
for ax, (title, notion) in zip(axes.flat, notions.items(), strict=True):
    utility = md.MutualInformation()
    problem = md.Problem(["a", "b", "c"], notion, utility, prior=[0.2, 0.3, 0.5])
    md.plots.plot_polytope(problem, ax=ax, title=title)

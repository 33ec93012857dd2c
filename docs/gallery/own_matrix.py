"""A matrix of your own.

What hiv may look like is bounded tightly, health hardly at all: the budgets, pair by pair, and the
channel that is wrong least often.
"""

import numpy as np
from matplotlib import pyplot as plt

import mechdesign as md

inputs, never = ["healthy", "flu", "hiv"], np.inf
budgets = [[0, never, never], [2, 0, never], [0.4, 0.5, 0]]
prior = [0.6, 0.3, 0.1]
problem = md.Problem(inputs, md.ContextAwareLDP(budgets), md.HammingLoss(), prior=prior)
_, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
axes[0].imshow(np.minimum(budgets, 3), cmap="Blues", vmin=0, vmax=6)
axes[0].set(title="budget E(x, x')", xticks=range(3), yticks=range(3))
axes[0].set(xticklabels=inputs, yticklabels=inputs, xlabel="against x'", ylabel="x")
for (x, z), budget in np.ndenumerate(budgets):
    axes[0].text(z, x, "∞" if budget == never else f"{budget:g}", ha="center", va="center")
md.plots.plot_channel(md.design(problem).channel, axes[1], "the best channel")

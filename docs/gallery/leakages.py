"""One channel under every notion.

What randomized response on four answers leaks, by each definition of leakage that applies.
"""

import mechdesign as md

channel = md.mechanisms.GeneralizedRandomizedResponse(4, epsilon=1).dense()
prior = md.Prior([0.4, 0.3, 0.2, 0.1])
md.plots.plot_leakages(md.accounting.leakages(channel, prior), title="Randomized response, ε = 1")

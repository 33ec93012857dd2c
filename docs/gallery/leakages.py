"""One channel under every notion.

What randomized response on four answers leaks, by each definition of leakage that applies.
"""

import mechdesign as md

channel = md.GeneralizedRandomizedResponse(4, epsilon=1).dense()
prior = md.Prior([0.4, 0.3, 0.2, 0.1])
md.plot_leakages(md.leakages(channel, prior), title="Randomized response, ε = 1")

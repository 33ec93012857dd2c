"""From reports to frequencies.

Five thousand people report their favorite color under LDP with ε = 1.5; the estimate, with
intervals of 95 %.
"""

import numpy as np

import mechdesign as md

colors = ["red", "green", "blue", "black", "other"]
channel = md.design(md.Problem(colors, md.LDP("1.5"), md.L2Risk())).channel
people = np.random.default_rng(0).choice(colors, 5000, p=[0.34, 0.26, 0.2, 0.14, 0.06])
reports = channel.privatize(list(people), rng=1)  # no seed where reports are released
md.plots.plot_estimate(md.estimate(channel, reports), title="Favorite colors of 5000 people")

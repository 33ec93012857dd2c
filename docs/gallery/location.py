"""The reported place of a phone.

A city of 8 × 8 cells under metric privacy, one nat for each cell of distance: what a phone in
the ringed cell reports, by planar Laplace noise and by the best channel for how people are spread.
"""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import PowerNorm

import mechdesign as md

side, here = 8, (2, 5)
city = md.Domain.grid(side, side)
counts = [1 + round(40 * np.exp(-((r - 3) ** 2 + (c - 3) ** 2) / 4)) for r, c in city]
streets = md.Prior.from_counts(counts)
privacy = md.MetricPrivacy(1, "euclidean")
problem = md.Problem(city, privacy, md.EuclideanDistance(), prior=streets)
best = md.design(problem, gap=0.01)
noise = md.mechanisms.PlanarLaplace(city, 1)
losses = {"Noise": noise.expected_loss(streets)[1], "The best": best.value}
_, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
for ax, mechanism, name in zip(axes, (noise, best.channel), losses, strict=True):
    sent = [y for y in city if name == "Noise" or y in best.channel.outputs]
    picture = np.zeros((side, side))
    for y in sent:
        picture[y] = mechanism.probability(here, y)
    ax.imshow(picture, cmap="Blues", norm=PowerNorm(0.5, vmin=0, vmax=0.35))
    ax.plot(here[1], here[0], "o", ms=16, mfc="none", mec="#d55e00", mew=2.5)
    loss = float(losses[name])
    ax.set(title=f"{name}: off by {loss:.2f} cells on average", xticks=[], yticks=[])

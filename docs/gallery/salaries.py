"""Salaries, on the continuum.

The best kernel for a histogram of salaries under LIP with ε = 1: how likely each report is, where
reports fall, and what they lose.
"""

from fractions import Fraction

from matplotlib import pyplot as plt

import mechdesign as md

edges, counts = [0, 20, 30, 40, 50, 70, 100, 200], [3, 12, 27, 25, 34, 26, 13]
law = md.Histogram(edges, [Fraction(count, sum(counts)) for count in counts])
problem = md.ContinuousProblem([0, 200], md.LIP(1), md.MeanAbsoluteError(), prior=law)
kernel = md.design(problem, gap=0.02).channel
_, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
md.plots.plot_kernel(kernel, axes[0], "the kernel")
md.plots.plot_report_quantiles(kernel, axes[1], "where reports fall")
md.plots.plot_loss(kernel, axes[2], "what a report loses")

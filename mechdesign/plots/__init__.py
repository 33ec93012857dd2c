"""Plots of channels, leakages, frontiers, estimates and cones, with matplotlib.

Every function draws on given or new Axes and returns them, without showing them. The colors are
from a palette for color-blind readers; lines also have different markers.
"""

from __future__ import annotations

from mechdesign.plots.accounting import plot_error_region, plot_leakages, plot_relations
from mechdesign.plots.channels import plot_channel, plot_posterior
from mechdesign.plots.continuous import (
    plot_kernel,
    plot_loss,
    plot_report_quantiles,
    plot_reports,
    save_reports_plot,
)
from mechdesign.plots.estimates import plot_estimate, plot_map
from mechdesign.plots.frontiers import plot_frontier
from mechdesign.plots.polytope import plot_polytope
from mechdesign.plots.style import check_picture_name, save_plot

__all__ = [
    "check_picture_name",
    "plot_channel",
    "plot_error_region",
    "plot_estimate",
    "plot_frontier",
    "plot_kernel",
    "plot_leakages",
    "plot_loss",
    "plot_map",
    "plot_polytope",
    "plot_posterior",
    "plot_relations",
    "plot_report_quantiles",
    "plot_reports",
    "save_plot",
    "save_reports_plot",
]

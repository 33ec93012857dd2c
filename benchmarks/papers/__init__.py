"""The papers' experiments again: each published curve beside the corrected one.

    python -m benchmarks.papers [--quick] [--only NAME] [--out FOLDER] [--fresh]

One file per figure or table, each with a function that returns (ours, published); and
``numbers_*.py``, every number that a paper prints and that can be checked. The data of the figures
are not in the texts of the papers, so the published curves are the papers' own formulas, evaluated.
Their other figures are in ``benchmarks/figures_relations.py`` and ``figures_accounting.py``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from benchmarks.papers.base import Experiment, Row

__all__ = ["EXPERIMENTS", "NUMBERS", "experiment", "numbers"]

EXPERIMENTS = (
    "cns_figure_2",
    "cns_figure_5",
    "cns_figure_6",
    "cns_figure_7",
    "cns_figure_8",
    "arxiv_figure_6",
    "arxiv_figure_7",
    "arxiv_figure_9",
    "tifs_figure_7",
    "tifs_figure_8",
    "tifs_figure_9",
    "tifs_figure_10",
    "tifs_figure_11",
    "tifs_figure_12",
    "icml_figure_2",
    "icml_table_1",
)
"""Modules of this folder, each with an ``EXPERIMENT``."""

NUMBERS = ("numbers_cns", "numbers_arxiv", "numbers_tifs", "numbers_icml", "numbers_pena")
"""Modules of this folder, each with a function ``rows``: the numbers in a paper's text."""


def experiment(name: str) -> Experiment:
    """Return an experiment by its name."""
    found: Experiment = importlib.import_module(f"{__name__}.{name}").EXPERIMENT
    return found


def numbers(name: str) -> list[Row]:
    """Return the printed numbers of a paper."""
    rows: Callable[[], list[Row]] = importlib.import_module(f"{__name__}.{name}").rows
    return rows()

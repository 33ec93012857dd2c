"""ICML Table 1: 3.7 million check-ins in 43,750 cells, plain and in blocks.

Source: Acharya et al. 2020 (ICML), Section 7, Table 1: epsilon = 1, means of 100 runs. The data
here are SEMI-SYNTHETIC: sums over about a degree are Gowalla's, the distribution inside is
modelled; see ``benchmarks/gowalla.py``, which draws every report. Draws are seeded; 5 runs of the
paper's scheme, one of better ones. The quick form draws the paper's scheme once.

The printed errors can only be had by projecting to the simplex, which the paper does not mention:
raw, the error of plain LDP is near 20.
"""

from __future__ import annotations

import numpy as np

from benchmarks import gowalla
from benchmarks.papers.base import Experiment, MissingDataError, Pair, Panel, Row, data_file

RAW, PROJECTED, CLIPPED, PRINTED = "raw", "projected", "negatives set to 0", "as printed"
BETTER = "better scheme, projected"


def counts() -> np.ndarray:
    """Return the check-ins of every cell."""
    data_file("gowalla", "us_cells_semisynthetic.csv.gz")
    try:
        return gowalla.cell_counts()
    except SystemExit as error:
        raise MissingDataError(str(error)) from None


def run(quick: bool) -> Pair:
    """Return (ours, published)."""
    plain = gowalla.run(gowalla.published(), counts(), 1 if quick else 5, seed=1)
    ours = {
        RAW: [each["raw"] for each in plain],
        PROJECTED: [each["projected"] for each in plain],
        CLIPPED: [each["clipped"] for each in plain],
    }
    if not quick:
        better = gowalla.run(gowalla.better(), counts(), 1, seed=1)
        ours[BETTER] = [each["projected"] for each in better]
    ticks = [each["partition"] for each in plain]
    x = [float(n) for n in range(len(ticks))]
    title, unit = "43,750 cells, ε = 1", "total-variation distance"
    published = {PRINTED: [gowalla.PUBLISHED[tick] for tick in ticks]}
    return (
        [Panel(title, "blocks", unit, x, ours, log="y", ticks=ticks)],
        [Panel(title, "blocks", unit, x, published, log="y", ticks=ticks)],
    )


def rows(pair: Pair) -> list[Row]:
    """Return the table, and the sizes of the data."""
    ours, published = (side[0] for side in pair)
    data = counts()
    place = "ICML, Table 1"
    found = [
        Row("ICML, Section 7", "cells of 0.2 degrees", "43,750", float(data.size)),
        Row(
            "ICML, Section 7",
            "check-ins in the box",
            "3,671,812",
            float(data.sum()),
            "semi-synthetic: cells at the border are shared out by area",
        ),
    ]
    for n, tick in enumerate(published.ticks):
        printed = f"{published.curves[PRINTED][n]:.3f}"
        for name in (PROJECTED, RAW):
            why = "other data, semi-synthetic inside a degree; and the paper does not say how it"
            why += " brings the estimate to the simplex"
            if name == RAW:
                why = "the printed value can only be that of an estimate brought to the simplex"
            found.append(
                Row(place, f"distance, {tick}, {name}", printed, ours.curves[name][n], why)
            )
    return found


def caption(pair: Pair) -> str:
    """Return what to see."""
    ours, published = (side[0] for side in pair)
    better = ours.curves.get(BETTER)
    tail = (
        f" Better schemes, projected: {', '.join(f'{value:.3f}' for value in better)}."
        if better
        else ""
    )
    words = ", ".join(f"{value:.3f}" for value in ours.curves[PROJECTED])
    printed = ", ".join(f"{value:.3f}" for value in published.curves[PRINTED])
    return (
        f"Semi-synthetic data. Printed: {printed}; ours, the same scheme, projected: {words}."
        f"\nRaw estimates ({ours.curves[RAW][0]:.1f} for LDP) are far above 1: the printed ones"
        f" must have been brought to the simplex.{tail}"
    )


EXPERIMENT = Experiment(
    "icml_table_1",
    "ICML Table 1: check-ins",
    "semi-synthetic: Gowalla, modelled inside a degree",
    run,
    rows,
    caption,
    columns=1,
)

"""TIFS Fig. 12: salaries of a city, released with noise, by sampling, and by the best channel.

Source: Jiang et al. 2021 (TIFS), Section V-B. Real: the gross pay of the 13,158 employees of
Baltimore who had any in fiscal year 2019, in thousand dollars; two normal laws fitted by EM, as the
paper does. The range, from 0 to the largest pay, is part of the statement. Published: Corollary 10
for each input, and at the rarest one for all of them; ours: the least noise that is proved to be
private, for the same law on the range. Noise by the input is accounted on eight bins,
and drawn towards the common noise until it is private. The designed optimum needs no delta.
"""

from __future__ import annotations

import csv
import gzip

import numpy as np
from scipy.stats import norm

from benchmarks.papers.base import SAME, Experiment, Pair, Panel, Row, data_file
from benchmarks.papers.continuous_data import (
    BEST,
    ROOT,
    Array,
    corollary_10,
    designed,
    mean_difference,
    rough_delta,
)
from mechdesign import GaussianMixture
from mechdesign.accounting import (
    GaussianMechanism,
    SamplingMechanism,
    analytic_gaussian_deviation,
    least_deviation,
)

DELTAS = (1e-4, 1e-3, 1e-2)
BINS = 8
GAPS = {1.0: 0.005, 2.0: 0.005, 3.0: 0.01, 4.0: 0.02}
"""How near the bound of the designed optimum is to be, by epsilon."""

MIXED, SINGLE = "sampling, two peaks", "sampling, one peak"
LDP, ONE, BY_INPUT = "noise, LDP", "noise, LIP, one for all", "noise, LIP, by the input"
THOUSAND, ERROR = "thousand dollars", "mean absolute error"


def salaries() -> Array:
    """Return all positive gross pays, in thousand dollars, in rising order."""
    with gzip.open(data_file("baltimore", "salaries.csv.gz"), "rt") as lines:
        paid = [row["gross_pay"] for row in csv.DictReader(lines)]
    return np.sort([float(pay) / 1000 for pay in paid if pay])


def fitted(sample: Array, parts: int) -> GaussianMixture:
    """Return a mixture of normal laws fitted by EM, with four digits."""
    from sklearn.mixture import GaussianMixture as Fitted

    found = Fitted(parts, random_state=0, n_init=2).fit(sample[:, None])
    order = np.argsort(found.means_[:, 0])
    weights = [round(float(w), 4) for w in found.weights_[order]]
    weights[-1] = round(1 - sum(weights[:-1]), 4)
    deviations = np.sqrt(found.covariances_[order, 0, 0])
    means = [round(float(m), 4) for m in found.means_[order, 0]]
    return GaussianMixture(weights, means, [round(float(s), 4) for s in deviations])


def density(law: GaussianMixture, x: Array) -> Array:
    """Return the density of a mixture."""
    parts = zip(law.weights, law.means, law.deviations, strict=True)
    return sum((float(w) * norm.pdf(x, float(m), float(s)) for w, m, s in parts), np.zeros_like(x))


def run(quick: bool) -> Pair:
    """Return (ours, published)."""
    sample = salaries()[:: 20 if quick else 1]
    laws = {MIXED: fitted(sample, 2), SINGLE: fitted(sample, 1)}
    x = [1.0] if quick else [1.0, 2.0, 3.0, 4.0]
    best = {e: float(designed(sample, e, 0.2 if quick else GAPS[e]).value) for e in x}
    fit = fits(sample, laws)
    ours, published = [fit], [fit]
    for delta in DELTAS[2:] if quick else DELTAS:
        one, two = noises(sample, laws, x, delta, quick)
        one.curves[BEST] = [best[e] for e in x]
        ours.append(one)
        published.append(two)
    return ours, published


def fits(sample: Array, laws: dict[str, GaussianMixture]) -> Panel:
    """Return the histogram and the two fitted densities."""
    counts, edges = np.histogram(sample, 60, density=True)
    x = (edges[1:] + edges[:-1]) / 2
    curves = {"salaries": counts.tolist()}
    names = {MIXED: "two peaks", SINGLE: "one peak"}
    curves |= {names[name]: density(law, x).tolist() for name, law in laws.items()}
    return Panel("(a) density and fits", THOUSAND, "density", x.tolist(), curves)


def noises(
    sample: Array, laws: dict[str, GaussianMixture], x: list[float], delta: float, quick: bool
) -> tuple[Panel, Panel]:
    """Return (ours, published) at one delta."""
    law, top = laws[MIXED], float(sample[-1])
    spreads = {name: fresh_error(sample, laws[name]) for name in laws}
    keep = {e: float(SamplingMechanism.best(e, delta).keep) for e in x}
    sampling = {name: [(1 - keep[e]) * size for e in x] for name, size in spreads.items()}
    analytic = [ROOT * analytic_gaussian_deviation(e, delta, top).high for e in x]
    exact = [least_deviation(law, [0, top], e, delta, relative=0.05 if quick else 3e-3) for e in x]
    bins = 3 if quick else BINS
    edges = np.linspace(0, top, bins + 1)
    by_bin, leaked, private = [], [], []
    for e, common in zip(x, exact, strict=True):
        noise = [max(corollary_10(law, at, e, delta) for at in pair) for pair in ends(edges)]
        mechanism = GaussianMechanism(law, edges.tolist(), noise)
        by_bin.append(error(sample, mechanism))
        leaked.append(mechanism.delta(e, delta / 5).high / delta)
        private.append(error(sample, drawn_together(mechanism, common.high, e, delta)))
    claimed = [ROOT * max(corollary_10(law, end, e, delta) for end in (0.0, top)) for e in x]
    title = f"δ = {delta:g}"
    relations = {MIXED: SAME, SINGLE: SAME, LDP: SAME}
    mine = sampling | {LDP: analytic, ONE: [ROOT * d.high for d in exact], BY_INPUT: private}
    theirs = sampling | {LDP: analytic, ONE: claimed, BY_INPUT: by_bin}
    unit = f"{ERROR}, {THOUSAND}"
    return (
        Panel(title, "ε", unit, x, mine, {}, relations, log="y"),
        Panel(title, "ε", unit, x, theirs, {BY_INPUT: leaked}, relations, log="y"),
    )


def fresh_error(sample: Array, law: GaussianMixture) -> float:
    """Return E|X - X'| for X of the data and X' of a fitted law on the range, in floats."""
    grid = np.linspace(sample[0], sample[-1], 2001)
    weights = density(law, grid)
    below = np.concatenate([[0.0], np.cumsum((weights[1:] + weights[:-1]) / 2)])
    fresh = np.interp(points(4000), below / below[-1], grid)
    known = np.interp(points(4000), points(len(sample)), sample)
    # of the two laws mixed half and half, the difference is a quarter of each and half of both
    mixed = mean_difference(np.concatenate([fresh, known]))
    return 2 * mixed - (mean_difference(fresh) + mean_difference(known)) / 2


def points(count: int) -> Array:
    """Return the middles of equal parts of [0, 1]."""
    return (np.arange(count) + 0.5) / count


def ends(edges: Array) -> list[tuple[float, float]]:
    """Return the two ends of each bin."""
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def error(sample: Array, mechanism: GaussianMechanism) -> float:
    """Return the mean absolute error for the data."""
    where = np.searchsorted(mechanism.edges, sample, side="right") - 1
    noise = np.array(mechanism.deviations)[np.clip(where, 0, len(mechanism.deviations) - 1)]
    return float(ROOT * noise.mean())


def drawn_together(
    mechanism: GaussianMechanism, common: float, epsilon: float, delta: float
) -> GaussianMechanism:
    """Return the mechanism with its noise drawn towards a private common one until it is private.

    All noise multiplied by one factor would not do: two normal laws of one center and different
    widths stay as far apart as they are.
    """

    def at(share: float) -> GaussianMechanism:
        noise = [common**share * s ** (1 - share) for s in mechanism.deviations]
        return GaussianMechanism(mechanism.law, mechanism.edges, noise)

    low, high = 0.0, 1.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        inside = rough_delta(at(middle), epsilon) <= delta
        low, high = (low, middle) if inside else (middle, high)
    while high < 1 and at(high).delta(epsilon, delta / 20).high > delta:
        high = min(1.0, high + 0.005)
    return at(high)


def rows(pair: Pair) -> list[Row]:
    """Return the curves at epsilon = 1 and 2."""
    found = []
    whys = {
        ONE: "at the rarest input, by the law of X on the whole line; least for X in the range",
        BEST: "the best channel on the range, pure LIP: no noise added, and no δ",
    }
    for ours, published in list(zip(*pair, strict=True))[1:]:
        for name, curve in ours.curves.items():
            at = published.curves.get(name, published.curves[BY_INPUT])[published.x.index(1.0)]
            why = whys.get(name, "")
            if name == BY_INPUT:
                ratio = published.leakage[name][published.x.index(1.0)]
                why = f"reports are a mixture, not normal: its δ is {ratio:,.0f} times the promised"
            quantity = f"{ERROR} in {THOUSAND}, {name}, {ours.title}, ε = 1"
            if name == BEST:
                quantity = (
                    f"{ERROR}, best of pure LIP beside noise by the input, {ours.title}, ε = 1"
                )
            found.append(Row("TIFS, Fig. 12", quantity, at, curve[ours.x.index(1.0)], why))
    words = "LDP noise is less than LIP noise that is the same for all inputs"
    panels = pair[0][1:]
    less = any(p.curves[LDP][n] < p.curves[ONE][n] for p in panels for n in range(len(p.x)))
    why = "(ε, δ)-LDP implies (ε, δ)-LIP, so the least LIP noise is never more"
    found.append(Row("TIFS, V-B", words, "yes", "yes" if less else "no", why))
    return found


def caption(pair: Pair) -> str:
    """Return what to see."""
    ours, published = pair[0][1], pair[1][1]
    delta = ours.title.rpartition(" ")[2]
    ratio = published.leakage[BY_INPUT][published.x.index(1.0)]
    return (
        f"At δ = {delta} and ε = 1: LDP noise errs by {ours.at(LDP, 1):.0f}, LIP noise by"
        f" {ours.at(ONE, 1):.0f}, noise by the input by {ours.at(BY_INPUT, 1):.0f} once it is"
        f" private (as published its δ is {ratio:,.0f} times the promised one), sampling by"
        f" {ours.at(MIXED, 1):.0f}; the best channel of pure LIP by {ours.at(BEST, 1):.0f}"
        " thousand dollars."
    )


EXPERIMENT = Experiment(
    "tifs_figure_12",
    "TIFS Fig. 12: salaries",
    "real: Baltimore, gross pay 2019",
    run,
    rows,
    caption,
)

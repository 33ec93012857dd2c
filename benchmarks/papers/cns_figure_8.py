"""CNS Fig. 8: two surveys on real data, popular pages and presence in a region.

Source: Jiang et al. 2018 (CNS), Section V-B. (a) Kosarak, real: a page is 1 if clicked more than
15,000 times, which is known exactly for all 41,270 pages; one prior for all. (b) Gowalla, real, but
a subset of 5,628 active users in groups by how often they had been in the region before (the raw
trajectories could not be had): each group shares the prior of its earlier check-ins. Errors are
expectations under these priors. The published LIP curves belong to channels that leak several times
their budget, as the priors are extreme; a prior of 0 (most users) makes the formula leak without
limit, and makes any answer useless.
"""

from __future__ import annotations

import csv
import gzip
from fractions import Fraction

from benchmarks.papers.base import Experiment, Pair, Panel, Row, data_file
from benchmarks.papers.surveys import HALF, LDP, LIP, crossing, panels
from mechdesign import Prior

NAMES = (LDP, LIP, HALF)


def kosarak() -> tuple[int, int]:
    """Return how many pages have more than 15,000 clicks, and how many pages there are."""
    with gzip.open(data_file("kosarak", "page_clicks_top1259.csv.gz"), "rt") as lines:
        popular = sum(int(row["clicks"]) > 15_000 for row in csv.DictReader(lines))
    with gzip.open(data_file("kosarak", "page_clicks_imputed.csv.gz"), "rt") as lines:
        return popular, sum(1 for _ in lines) - 1


def region() -> list[dict[str, int]]:
    """Return the groups of users, by their earlier presence in the region."""
    with gzip.open(data_file("gowalla", "region_uk_subset.csv.gz"), "rt") as lines:
        rows = list(csv.DictReader(lines))
    return [{key: int(value) for key, value in row.items() if "prior" not in key} for row in rows]


def pages(x: list[float], letter: str = "a") -> tuple[Panel, Panel]:
    """Return (ours, published) for the popular pages."""
    popular, every = kosarak()
    prior = Prior.from_counts([every - popular, popular])
    return panels(f"({letter}) Kosarak, P1 = {popular}/{every}", [(prior, 1.0)], x, NAMES)


def run(quick: bool) -> Pair:
    """Return (ours, published)."""
    x = [1.0, 4.0] if quick else [float(n) for n in range(11)]
    groups = region()[:: 5 if quick else 1]
    people = sum(group["users"] for group in groups)
    crowd = []
    for group in groups:
        share = Fraction(group["earlier_in"], group["earlier_total"])
        crowd.append((Prior([1 - share, share]), group["users"] / people))
    pairs = [pages(x), panels(f"(b) Gowalla, priors of {len(groups)} groups", crowd, x, NAMES)]
    return [ours for ours, _ in pairs], [published for _, published in pairs]


def rows(pair: Pair) -> list[Row]:
    """Return the counts of the data and the curves at epsilon = 1."""
    popular, every = kosarak()
    groups = region()
    none = next(group for group in groups if group["earlier_in"] == 0)
    found = [
        Row("CNS, V-B.1", "pages of Kosarak", "41,270", float(every)),
        Row(
            "CNS, V-B.2",
            "users of Gowalla",
            "6,442,892",
            "6,442,892 are its check-ins",
            "the number of check-ins is called the number of users; the files here hold 5,628",
        ),
    ]
    names = {0: f"Kosarak ({popular} popular pages)", 1: "Gowalla"}
    for number, (ours, published) in enumerate(zip(*pair, strict=True)):
        for name in NAMES:
            ratio = (
                published.leakage[name][published.x.index(1.0)]
                if name in published.leakage
                else 1.0
            )
            why = (
                f"the formula leaks up to {ratio:.1f} times its budget" if ratio > 1 + 1e-9 else ""
            )
            if why and number:
                why += f", and without limit for the {none['users']:,} users of prior 0"
            quantity = f"√(MSE/N), {name}, {names[number]}, ε = 1"
            found.append(Row("CNS, Fig. 8", quantity, published.at(name, 1), ours.at(name, 1), why))
    return found


def caption(pair: Pair) -> str:
    """Return what to see."""
    popular, every = kosarak()
    none = next(group for group in region() if group["earlier_in"] == 0)
    ours, published = pair[0][0], pair[1][0]
    return (
        f"Real data. (a) {popular} of {every:,} pages: the published ε/2-LIP beats LDP up to"
        f" ε = {crossing(popular / every):.1f}; its channel leaks up to"
        f" {max(published.leakage[HALF]):.0f} times its budget. Certified at ε = 4: LIP"
        f" {ours.at(LIP, 4):.5f}, LDP {ours.at(LDP, 4):.5f}, published {published.at(LIP, 4):.5f}."
        f"\n(b) a subset of users; {none['users']:,} of them have prior 0 (any answer is useless),"
        f" yet {none['one_per_user_in']} of these are later seen there: a prior of 0 from few"
        " records is wrong."
    )


EXPERIMENT = Experiment(
    "cns_figure_8",
    "CNS Fig. 8: popular pages, presence in a region",
    "real: Kosarak (exact), Gowalla (a subset in groups)",
    run,
    rows,
    caption,
)

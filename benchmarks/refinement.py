"""Which classical mechanisms are at least as good as which for everybody, exactly.

Run ``python -m benchmarks.refinement [PICTURE.png]``: decides for every pair whether one is the
other with its output post-processed, on 2 and on 4 inputs at one budget, writes
``docs/pictures/refinement.png``, and prints a Markdown table. All entries are rational: the step
e**(epsilon / 6) is 5/4, so that no rounding hides an equality.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from mechdesign.plots.style import COLORS
from mechdesign.refinement.result import Refinement, refinement

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "refinement.png"

STEP = Fraction(5, 4)
"""e**(epsilon / 6)."""

RATIO = STEP**6
"""e**epsilon; epsilon is 1.34."""

Table = list[list[Fraction]]


def randomized_response(k: int) -> Table:
    """Warner 1965, Kairouz et al. 2014."""
    return subsets(k, 1)


def subsets(k: int, size: int) -> Table:
    """Subset selection (Ye and Barg 2018; Wang et al. 2016)."""
    sets = list(itertools.combinations(range(k), size))
    whole = RATIO * math.comb(k - 1, size - 1) + math.comb(k - 1, size)
    return [[(RATIO if x in s else 1) / whole for s in sets] for x in range(k)]


def unary(k: int, kept: Fraction, raised: Fraction) -> Table:
    """Independent bits: one's own is 1 with probability ``kept``, the others ``raised``."""
    rows = []
    for x in range(k):
        ones = [kept if z == x else raised for z in range(k)]
        each = itertools.product(*((p, 1 - p) for p in ones))
        rows.append([math.prod(factors) for factors in each])
    return rows


def optimized_unary(k: int) -> Table:
    """Wang et al. 2017."""
    return unary(k, Fraction(1, 2), 1 / (RATIO + 1))


def symmetric_unary(k: int) -> Table:
    """Basic RAPPOR (Erlingsson et al. 2014)."""
    root = STEP**3
    return unary(k, root / (root + 1), 1 / (root + 1))


def hadamard(k: int) -> Table:
    """Hadamard response for small budgets (Acharya et al. 2019): x + 1 is its row."""
    size = 1 << k.bit_length()
    return [
        [
            (RATIO if ((x + 1) & y).bit_count() % 2 == 0 else 1) * 2 / (size * (RATIO + 1))
            for y in range(size)
        ]
        for x in range(k)
    ]


def geometric(k: int) -> Table:
    """Two-sided geometric noise, what leaves the range moved to its end (Ghosh et al. 2009)."""
    # at this base neighbours differ by e**(epsilon / (k - 1)), the ends by e**epsilon
    base = 1 / STEP ** (6 // (k - 1))
    return [
        [base ** abs(x - y) / (1 + base) * (1 if y in (0, k - 1) else 1 - base) for y in range(k)]
        for x in range(k)
    ]


def exponential(k: int) -> Table:
    """The exponential mechanism at the distance |x - y| (McSherry and Talwar 2007)."""
    base = 1 / STEP ** (3 // (k - 1))
    weights = [[base ** abs(x - y) for y in range(k)] for x in range(k)]
    return [[w / sum(row) for w in row] for row in weights]


def two_valued(k: int) -> Table:
    """A sign whose chance is linear in x (Duchi et al. 2018)."""
    tilt = [Fraction(2 * x, k - 1) - 1 for x in range(k)]
    gain = (RATIO - 1) / (RATIO + 1)
    return [[(1 + t * gain) / 2, (1 - t * gain) / 2] for t in tilt]


def threshold(k: int) -> Table:
    """Randomized response on two bins (Ghazi et al. 2023)."""
    high, low = RATIO / (RATIO + 1), 1 / (RATIO + 1)
    return [[high, low] if 2 * x < k else [low, high] for x in range(k)]


MECHANISMS: dict[str, Callable[[int], Table]] = {
    "randomized response": randomized_response,
    "subset selection, 2": lambda k: subsets(k, 2),
    "subset selection, 3": lambda k: subsets(k, 3),
    "optimized unary": optimized_unary,
    "symmetric unary": symmetric_unary,
    "Hadamard response": hadamard,
    "two bins": threshold,
    "sign (Duchi)": two_valued,
    "geometric noise": geometric,
    "exponential": exponential,
}


def tables(k: int) -> dict[str, Table]:
    """Return the mechanisms that make sense on so many inputs."""
    found = {}
    for name, make in MECHANISMS.items():
        if not name.startswith("subset") or int(name[-1]) < k:
            found[name] = make(k)
    return found


def decide(first: Table, second: Table) -> Refinement:
    """Decide whether the second is the first with its output post-processed."""
    labels = [range(len(first)), range(len(first[0])), range(len(second[0]))]
    return refinement(first, second, *labels)


def draw(k: int, ax: Any) -> dict[tuple[str, str], Refinement]:
    """Decide all pairs, and draw them as a table."""
    given = tables(k)
    names = list(given)
    found = {(a, b): decide(given[a], given[b]) for a in names for b in names}
    size = len(names)
    for row, column in itertools.product(range(size), repeat=2):
        result = found[names[row], names[column]]
        color = COLORS[0] if result else "white"
        text = "yes" if result else f"{float(result.deficiency[0]):.2f}"
        if row == column:
            color, text = "#d0d0d0", ""
        patch = {"facecolor": color, "edgecolor": "#bbbbbb", "linewidth": 0.8}
        ax.add_patch(_square(column, row, patch))
        ink = "white" if result else "#333333"
        ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=8.5, color=ink)
    places = [n + 0.5 for n in range(size)]
    ax.set_xticks(places, names, rotation=40, ha="left", fontsize=8.5)
    ax.set_yticks(places, names, fontsize=8.5)
    ax.xaxis.tick_top()
    ax.set_xlim(0, size)
    ax.set_ylim(size, 0)
    ax.set_aspect("equal")
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.set_xlabel(f"{k} inputs", fontsize=10.5)
    return found


def _square(x: float, y: float, style: dict[str, Any]) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), 1, 1, **style)


def main(arguments: Sequence[str] = ()) -> None:
    """Draw the picture, and print the pairs that are refined."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    path = Path(arguments[0]) if arguments else PICTURE
    sizes = [len(tables(k)) for k in (2, 4)]
    figure, axes = plt.subplots(1, 2, figsize=(12.5, 6.2), width_ratios=sizes)
    print("| inputs | mechanism | is at least as good as |\n|---|---|---|")
    for k, ax in zip((2, 4), axes, strict=True):
        found = draw(k, ax)
        for name in tables(k):
            below = [b for (a, b), result in found.items() if a == name != b and result]
            print(f"| {k} | {name} | {', '.join(below) or 'none of the others'} |")
    figure.suptitle(
        "Can the mechanism of the row be post-processed to that of the column?\n"
        "yes, exactly — or how far it stays from it in total variation, at the worst input "
        f"(ε = {math.log(RATIO):.2f})",
        fontsize=11.5,
    )
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1:])

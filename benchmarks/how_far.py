"""How far from optimal are the mechanisms that people use? One table and one picture.

    python -m benchmarks.how_far [--quick] [-o DOCS]

Six tasks, each with the mechanisms that are used for it and with the least loss of *all* private
mechanisms: a lower bound that is proved, and a mechanism from `md.design` that comes near to it.
Everything is computed from the laws of the mechanisms, nothing is simulated. The script writes the
table into ``docs/how_far.md`` and draws ``docs/pictures/how_far.png``; with ``--quick`` it prints
one budget of each task. Some two minutes of one core.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

import mechdesign as md
from benchmarks import mean_estimation
from mechdesign import mechanisms
from mechdesign.accounting import GaussianMechanism, SamplingMechanism, least_deviation
from mechdesign.mechanisms import Mechanism

Array = npt.NDArray[np.float64]

DOCS = Path(__file__).resolve().parents[1] / "docs"
MARK = "<!-- the table of benchmarks/how_far.py -->"

CATEGORIES = 50
GRADES = md.load_problem(DOCS.parent / "problems" / "numeric" / "student_grades_counts.toml")
LINE, SIDE = 21, 8
DELTA = "0.01"
PAY = md.GaussianMixture([0.4, 0.6], [30, 60], [9, 15])
MOST_PAY = 200


@dataclass(frozen=True)
class Task:
    """A task under local privacy.

    Attributes
    ----------
    title, notion, loss
        As text.
    people
        Whether the loss is a variance, so that a ratio of losses is one of numbers of people.
    epsilons
        The budgets of the picture; the table has ``shown``.
    optimum
        Returns a proved lower bound on the loss of every private mechanism, and the loss of one.
    used
        The loss of each mechanism in use.
    ignorant
        The loss without any report, if there is one.
    """

    title: str
    notion: str
    loss: str
    people: bool
    epsilons: tuple[float, ...]
    shown: tuple[float, ...]
    optimum: Callable[[float], tuple[float, float]]
    used: dict[str, Callable[[float], float]]
    ignorant: Callable[[], float] | None = None


def designed(problem: md.Problem | md.ContinuousProblem, gap: float) -> tuple[float, float]:
    """Return the proved bound and the value of a design."""
    solution = md.design(problem, gap=gap, time_limit=30)
    return float(solution.bound), float(solution.value)


# --- frequencies ----------------------------------------------------------------------------------


def risk(make: Callable[[float], Mechanism]) -> Callable[[float], float]:
    """Return the l2 risk of a structured mechanism as a function of the budget."""
    return lambda epsilon: make(epsilon).risk


def frequencies() -> Task:
    """Return the estimation of the frequencies of fifty categories."""
    k = CATEGORIES
    return Task(
        f"Which of {k} categories is how frequent?",
        "LDP",
        "total variance of all shares",
        True,
        (0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5),
        (1, 3),
        lambda e: designed(md.Problem(range(k), md.LDP(e), md.L2Risk()), 1e-6),
        {
            "randomized response (GRR)": risk(
                lambda e: mechanisms.GeneralizedRandomizedResponse(k, e)
            ),
            "basic RAPPOR (SUE)": risk(lambda e: mechanisms.SymmetricUnaryEncoding(k, e)),
            "optimized unary encoding (OUE)": risk(
                lambda e: mechanisms.OptimizedUnaryEncoding(k, e)
            ),
            "Hadamard response, small-ε form": risk(
                lambda e: mechanisms.HadamardResponse(k, e, copies=1)
            ),
            "Hadamard response": risk(lambda e: mechanisms.HadamardResponse(k, e)),
            "projective geometry response": risk(
                lambda e: mechanisms.ProjectiveGeometryResponse(k, e)
            ),
            "subset selection": risk(lambda e: mechanisms.SubsetSelection(k, e)),
        },
    )


# --- numbers on a line ----------------------------------------------------------------------------


def noise_law(exponent: Array) -> Array:
    """Return the matrix whose rows are proportional to the exponentials of an exponent."""
    weights = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def clipped(size: int, below: Callable[[Array], Array]) -> Array:
    """Return the matrix of additive noise, rounded and clipped to 0..size - 1.

    Parameters
    ----------
    below
        The distribution function of the noise, which is symmetric.
    """
    ends = np.concatenate([[-np.inf], np.arange(size - 1) + 0.5, [np.inf]])
    z = ends - np.arange(size)[:, None]
    # beyond 0 by the lower tail, which keeps its digits
    return np.where(z[:, :-1] > 0, -np.diff(below(-z), axis=1), np.diff(below(z), axis=1))


def laplace_cdf(scale: float) -> Callable[[Array], Array]:
    """Return the distribution function of Laplace noise."""
    return lambda z: np.where(z < 0, np.exp(-abs(z) / scale) / 2, 1 - np.exp(-abs(z) / scale) / 2)


def geometric_cdf(epsilon: float) -> Callable[[Array], Array]:
    """Return the distribution function of two-sided geometric noise, between the integers."""
    r = math.exp(-epsilon)
    return lambda z: np.where(
        z < 0, r ** np.ceil(abs(z)) / (1 + r), 1 - r ** np.ceil(abs(z)) / (1 + r)
    )


def grades() -> Task:
    """Return the release of one grade from 0 to 20 under LDP."""
    assert GRADES.prior is not None
    prior, span = GRADES.prior.array, LINE - 1
    distance = np.abs(np.subtract.outer(np.arange(LINE), np.arange(LINE))).astype(float)

    def loss(matrix: Callable[[float], Array]) -> Callable[[float], float]:
        return lambda e: float(prior @ (matrix(e) * distance).sum(axis=1))

    def problem(epsilon: float) -> md.Problem:
        return md.Problem(range(LINE), md.LDP(epsilon), md.MeanAbsoluteError(), prior=GRADES.prior)

    return Task(
        "One grade from 0 to 20",
        "LDP",
        "mean absolute error",
        False,
        (0.5, 1, 1.5, 2, 2.5, 3, 4, 5),
        (1, 3),
        lambda e: designed(problem(e), 1e-6),
        {
            "randomized response (GRR)": loss(lambda e: noise_law(e * np.eye(LINE))),
            "Laplace, rounded and clipped": loss(lambda e: clipped(LINE, laplace_cdf(span / e))),
            "exponential": loss(lambda e: noise_law(-e / 2 / span * distance)),
            "geometric, clipped": loss(lambda e: clipped(LINE, geometric_cdf(e / span))),
        },
        lambda: float((prior @ distance).min()),
    )


def distances() -> Task:
    """Return the release of a number, with indistinguishability of nearby numbers only."""
    domain, prior = md.Domain.range(LINE), md.Prior.uniform(LINE)
    distance = np.abs(np.subtract.outer(np.arange(LINE), np.arange(LINE))).astype(float)

    def loss(matrix: Callable[[float], Array]) -> Callable[[float], float]:
        return lambda e: float((matrix(e) * distance).sum() / LINE)

    def remapped(epsilon: float) -> float:
        noise = mechanisms.GeometricNoise(domain, epsilon).remapped(prior, "absolute")
        return noise.expected_loss(prior, "absolute")[1]

    def problem(epsilon: float) -> md.Problem:
        notion = md.MetricPrivacy(epsilon, "absolute")
        return md.Problem(domain, notion, md.MeanAbsoluteError(), prior=prior)

    return Task(
        f"One number from 0 to {LINE - 1}, near ones hidden",
        "metric privacy, ε a step",
        "mean absolute error",
        False,
        (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5),
        (0.2, 1),
        lambda e: designed(problem(e), 1e-6),
        {
            "exponential": loss(lambda e: noise_law(-e / 2 * distance)),
            "Laplace, rounded and clipped": loss(lambda e: clipped(LINE, laplace_cdf(1 / e))),
            "geometric, clipped": loss(lambda e: clipped(LINE, geometric_cdf(e))),
            "geometric, with a remap": remapped,
        },
        lambda: float(distance.mean(axis=0).min()),
    )


# --- means ----------------------------------------------------------------------------------------


def means() -> Task:
    """Return the mean of numbers from -1 to 1."""
    nodes = 33

    def optimum(epsilon: float) -> tuple[float, float]:
        low, high = mean_estimation.optimum(str(epsilon), nodes if epsilon < 4 else 41)
        return float(low), float(high)

    return Task(
        "The mean of numbers from −1 to 1",
        "LDP",
        "worst-case variance, unbiased",
        True,
        (0.25, 0.5, 1, 1.5, 2, 2.5, 3, 4),
        (1, 3),
        optimum,
        {
            "Laplace": lambda e: 8 / e**2,
            "Duchi et al.": mean_estimation.duchi,
            "piecewise": mean_estimation.piecewise,
            "hybrid": mean_estimation.hybrid,
        },
    )


# --- places ---------------------------------------------------------------------------------------


def places() -> Task:
    """Return the release of a place in a city."""
    city, prior = md.Domain.grid(SIDE, SIDE), md.Prior.uniform(SIDE * SIDE)
    points = np.array([divmod(n, SIDE) for n in range(SIDE * SIDE)], dtype=float)
    distance = np.hypot(*(points[:, None] - points).transpose(2, 0, 1))

    def problem(epsilon: float) -> md.Problem:
        return md.Problem(
            city, md.MetricPrivacy(epsilon, "euclidean"), md.EuclideanDistance(), prior=prior
        )

    def exponential(epsilon: float) -> float:
        return float((noise_law(-epsilon / 2 * distance) * distance).sum() / SIDE**2)

    def planar(epsilon: float) -> float:
        return mechanisms.PlanarLaplace(city, epsilon).expected_loss(prior)[1]

    def remapped(epsilon: float) -> float:
        return mechanisms.PlanarLaplace(city, epsilon).remapped(prior).expected_loss(prior)[1]

    return Task(
        f"A place on a map of {SIDE} × {SIDE} cells",
        "geo-indistinguishability, ε a cell",
        "mean distance",
        False,
        (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2),
        (0.3, 1),
        lambda e: designed(problem(e), 1e-4),
        {
            "exponential": exponential,
            "planar Laplace, clipped": planar,
            "planar Laplace, with a remap": remapped,
        },
        lambda: float(distance.mean(axis=0).min()),
    )


# --- pay ------------------------------------------------------------------------------------------


def mean_distance() -> float:
    """Return E|X - X'| of two independent people, by the distribution function of the pay."""
    x = np.linspace(0, MOST_PAY, 200_001)
    below = pay_below(x)
    return float(2 * np.trapezoid(below * (1 - below), x))


def pay_below(x: Array) -> Array:
    """Return the distribution function of the pay, between its limits."""
    from scipy.stats import norm

    ends = np.array([0.0, MOST_PAY])
    parts = list(zip([0.4, 0.6], [30, 60], [9, 15], strict=True))
    whole = sum(w * norm.cdf((x - m) / s) for w, m, s in parts)
    low, high = sum(w * norm.cdf((ends - m) / s) for w, m, s in parts)
    return np.asarray((whole - low) / (high - low))


def always_the_median() -> float:
    """Return the mean absolute error of the median."""
    x = np.linspace(0, MOST_PAY, 200_001)
    below = pay_below(x)
    return float(np.trapezoid(np.minimum(below, 1 - below), x))


def pay() -> Task:
    """Return the release of one person's pay, whose law is known."""

    def optimum(epsilon: float) -> tuple[float, float]:
        notion = md.ApproximateLIP(epsilon, DELTA)
        problem = md.ContinuousProblem([0, MOST_PAY], notion, md.MeanAbsoluteError(), prior=PAY)
        return designed(problem, 0.02)

    def pure(epsilon: float) -> float:
        notion = md.LIP(epsilon)
        problem = md.ContinuousProblem([0, MOST_PAY], notion, md.MeanAbsoluteError(), prior=PAY)
        return designed(problem, 0.005)[1]

    def gaussian(epsilon: float) -> float:
        found = least_deviation(PAY, [0, MOST_PAY], epsilon, float(DELTA), relative=0.01)
        return GaussianMechanism(PAY, [0, MOST_PAY], found.high).expected_error().high

    def sampling(epsilon: float) -> float:
        return float(1 - SamplingMechanism.best(epsilon, DELTA).keep) * mean_distance()

    return Task(
        f"One person's pay, up to {MOST_PAY} thousand",
        f"(ε, {DELTA})-LIP",
        "mean absolute error",
        False,
        (0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2),
        (1, 2),
        optimum,
        {
            "Gaussian (TIFS)": gaussian,
            "sampling (TIFS)": sampling,
            "ours, with δ = 0": pure,
        },
        always_the_median,
    )


TASKS = (frequencies, means, grades, distances, places, pay)


@dataclass(frozen=True)
class Curves:
    """The losses of one task at some budgets."""

    task: Task
    epsilons: tuple[float, ...]
    bounds: tuple[tuple[float, float], ...]
    losses: dict[str, tuple[float, ...]]

    def ratios(self, name: str) -> list[float]:
        """Return the losses over the proved bounds."""
        return [v / low for v, (low, _) in zip(self.losses[name], self.bounds, strict=True)]


def computed(task: Task, epsilons: Sequence[float]) -> Curves:
    """Compute the curves of a task."""
    bounds = tuple(task.optimum(e) for e in epsilons)
    losses = {name: tuple(map(loss, epsilons)) for name, loss in task.used.items()}
    return Curves(task, tuple(epsilons), bounds, losses)


# --- the table and the picture --------------------------------------------------------------------


def table(every: Sequence[Curves]) -> str:
    """Return the table of the page: a task, its bound and its mechanisms, at two budgets."""
    lines = [
        "| | loss | over the least | switching saves | loss | over the least | switching saves |",
        "|---|---|---|---|---|---|---|",
    ]
    for curves in every:
        task = curves.task
        places = [curves.epsilons.index(epsilon) for epsilon in task.shown]
        lows, highs = zip(*(curves.bounds[n] for n in places), strict=True)
        budgets = " | ".join(f"**ε = {epsilon:g}** | | " for epsilon in task.shown)
        lines.append(f"| **{task.title}** {task.loss}, {task.notion} | {budgets} |")
        bounds = " | ".join(f"{low:.4g} | 1 | " for low in lows)
        lines.append(f"| no private mechanism is below | {bounds} |")
        rows = {"*the design by `md.design`*": highs}
        rows |= {name: tuple(all_[n] for n in places) for name, all_ in curves.losses.items()}
        for name, values in sorted(rows.items(), key=lambda row: row[1][0]):
            cells = [
                f"{value:.4g} | {value / low:.3g} | {saving(task, value, high)}"
                for value, low, high in zip(values, lows, highs, strict=True)
            ]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def saving(task: Task, value: float, best: float) -> str:
    """Return the saving by the optimum: people for the same error, or error for the same people."""
    share = 1 - best / value
    if share < 0.0005:
        return ""
    percent = f"{share:.0%}" if share < 0.995 else f"{share:.1%}"
    return f"{percent} of the people" if task.people else f"{percent} of the error"


def draw(every: Sequence[Curves], path: Path) -> None:
    """Draw one panel a task."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    figure, grid = plt.subplots(2, 3, figsize=(14, 8.6), layout="constrained")
    for axes, curves in zip(grid.ravel(), every, strict=True):
        task, x = curves.task, curves.epsilons
        ratios = {name: curves.ratios(name) for name in curves.losses}
        if task.ignorant is not None:
            ratios[NOTHING] = [task.ignorant() / low for low, _ in curves.bounds]
        top = min(MOST, max(map(max, ratios.values())))
        axes.axhspan(0.1, 1, color="0.88", lw=0)
        axes.axhline(1, color="0.2", lw=2)
        best = [high / low for low, high in curves.bounds]
        axes.plot(x, best, color="0.2", lw=1, ls=(0, (1, 1)))
        for (name, values), style in zip(ratios.items(), STYLES, strict=False):
            look = {"color": "0.6", "ls": "--"} if name == NOTHING else style
            axes.plot(x, values, label=name, lw=1.8, ms=4, **look)
        axes.set_yscale("log")
        # room for the legend above: a row of it takes a twentieth of the height
        rows = -(-len(ratios) // 2)
        axes.set_ylim(top=top ** (1 + 0.09 * rows), bottom=top**-0.1)
        axes.set_xlim(min(x), max(x))
        marks = [1, 1.2, 1.5, 2, 3, 5, 10, 20, 40]
        axes.yaxis.set_major_locator(FixedLocator([y for y in marks if y <= top]))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}×"))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.grid(axis="y", color="0.92")
        axes.set_title(task.title, fontsize=12, loc="left", fontweight="bold")
        unit = "people needed" if task.people else "error"
        axes.set_ylabel(f"{unit}, over the least possible")
        axes.set_xlabel(f"ε  ({task.notion})")
        axes.text(
            0.98, 0.012, "no private mechanism is here", transform=axes.transAxes, ha="right",
            va="bottom", fontsize=8.5, color="0.35",
        )  # fmt: skip
        axes.legend(
            fontsize=7.6, loc="upper center", ncols=2, columnspacing=0.8, handlelength=1.4,
            borderpad=0.3, frameon=False,
        )  # fmt: skip
    figure.suptitle(
        "How far from optimal are the mechanisms people use?   "
        "1× is the least that any private mechanism can lose, proved",
        fontsize=13.5,
    )
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


NOTHING = "always the same answer"

MOST = 45.0
"""The largest ratio in the picture."""

STYLES = tuple(
    {"color": color, "marker": marker}
    for color, marker in zip(
        ("#d62728", "#ff7f0e", "#bcbd22", "#9467bd", "#1f77b4", "#2ca02c", "#111111"),
        ("o", "s", "^", "v", "D", "P", "."),
        strict=True,
    )
)


def main() -> None:
    """Print the table; write the page and the picture."""
    parser = argparse.ArgumentParser(description="how far from optimal")
    parser.add_argument("--quick", action="store_true", help="one budget of each task, printed")
    parser.add_argument("-o", "--output", type=Path, default=DOCS, metavar="DOCS")
    options = parser.parse_args()
    every = []
    for make in TASKS:
        task = make()
        every.append(computed(task, task.shown[:1] if options.quick else task.epsilons))
        print(f"{task.title}: done", flush=True)
    if options.quick:
        for curves in every:
            for name in curves.losses:
                print(f"{curves.task.title}, ε = {curves.epsilons[0]:g}, {name}: ", end="")
                print(f"{curves.ratios(name)[0]:.4g} times the least")
        return
    page = options.output / "how_far.md"
    before, _, after = page.read_text(encoding="utf-8").split(MARK)
    page.write_text(f"{before}{MARK}\n\n{table(every)}\n\n{MARK}{after}", encoding="utf-8")
    draw(every, options.output / "pictures" / "how_far.png")


if __name__ == "__main__":
    main()

"""TIFS Fig. 11: students report their final grade; cardinalities 2, 5, 10 and 21.

Source: Jiang et al. 2021 (TIFS), Section V-A. Real data: 395 students; 60 of them, drawn by a seed,
report, the other 335 train. The paper's split, network and discretisation are not stated: local
priors come from logistic regression here. A student of B has a prior from all features (LIP, local)
or that of A (LIP, global); BP-LIP allows for the predictions from three sets of features. The
distance of the reported from the true grade is averaged over the mechanism exactly, nothing is
drawn. Unary encoding sends bits; here a set bit at random is read as the grade.

The published LIP formula breaks its budget wherever a class is unlikely; ours is the certified
least expected distance. Two rows: what the students of B really get, and what is expected under the
priors that are used, for which theory says who wins. For LDP ours is the best channel for the
global prior, and randomized response is not. The binary formula for an uncertain prior is published
for two classes only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.papers.base import CLAIM, SCHEME, Experiment, Pair, Panel, Row
from benchmarks.papers.formulas import (
    erasure,
    lip_ratio,
    oue_read,
    randomized_response,
    uncertain_prior,
)
from benchmarks.papers.optimum import best
from benchmarks.papers.student_grades import (
    CARDINALITIES,
    PARTS,
    global_prior,
    grades,
    local_priors,
    split,
    students,
)
from benchmarks.papers.surveys import BUDGET
from mechdesign import LDP, LIP, BoundedPriorLIP, Channel, MeanAbsoluteError, Prior, Solution
from mechdesign.notions import Notion

LOCAL, GLOBAL, BOUNDED = "LIP, local priors", "LIP, global prior", "BP-LIP"
PLAIN, DOUBLE, UNARY = "LDP at ε", "LDP at 2ε", "unary encoding at ε"
REAL, EXPECTED = "mean |grade − report|", "expected under the prior"

Channels = list[np.ndarray]
"""One for each student of B."""


def run(quick: bool) -> Pair:
    """Return (ours, published): first the students' error, then its expectation."""
    budgets = [1.0, 3.0] if quick else [0.5, 1.0, 2.0, 3.0, 5.0]
    first = 4 if quick else None
    sizes = (2, 5) if quick else CARDINALITIES
    pairs = [panels(k, budgets, first) for k in sizes]
    ours, published = ([pair[side][row] for row in (0, 1) for pair in pairs] for side in (0, 1))
    return ours, published


def panels(k: int, x: list[float], first: int | None) -> tuple[list[Panel], list[Panel]]:
    """Return (ours, published), each as the real and the expected panel."""
    truth = grades(k, split()[1])[:first]
    local = local_priors(k, "all")[:first]
    everyone = [global_prior(k)] * len(truth)
    believed = [sets_of_priors(k)[n] for n in range(len(truth))]
    used = {LOCAL: local, BOUNDED: local}
    ours: dict[str, list[Channels]] = {
        LOCAL: [each(LIP, local, e) for e in x],
        GLOBAL: [each(LIP, everyone, e) for e in x],
        BOUNDED: [bounded(believed, local, e) for e in x],
        PLAIN: [each(LDP, everyone, e) for e in x],
        DOUBLE: [each(LDP, everyone, 2 * e) for e in x],
    }
    published: dict[str, list[Channels]] = {
        LOCAL: [[erasure(p.array, e) for p in local] for e in x],
        GLOBAL: [[erasure(p.array, e) for p in everyone] for e in x],
        PLAIN: [[randomized_response(k, e)] * len(truth) for e in x],
        DOUBLE: [[randomized_response(k, 2 * e)] * len(truth) for e in x],
        UNARY: [[oue_read(k, e)] * len(truth) for e in x],
    }
    leakage = {
        name: [
            max(lip_ratio(m, p, e) for m, p in zip(channels, used.get(name, everyone), strict=True))
            for channels, e in zip(published[name], x, strict=True)
        ]
        for name in (LOCAL, GLOBAL)
    }
    relations = {LOCAL: CLAIM, GLOBAL: CLAIM, PLAIN: SCHEME, DOUBLE: SCHEME}
    if k == 2:
        published[BOUNDED] = [[uncertain_prior(*ends(b), e) for b in believed] for e in x]
        leakage[BOUNDED] = [
            max(bounded_ratio(m, b, e) for m, b in zip(channels, believed, strict=True))
            for channels, e in zip(published[BOUNDED], x, strict=True)
        ]

    def curves(side: dict[str, list[Channels]], value: Callable[..., float]) -> dict[str, list]:
        return {
            name: [value(channels, used.get(name, everyone)) for channels in by_budget]
            for name, by_budget in side.items()
        }

    def real(channels: Channels, _: Sequence[Prior]) -> float:
        return float(
            np.mean([distances(k)[g] @ m[g] for g, m in zip(truth, channels, strict=True)])
        )

    def expected(channels: Channels, priors: Sequence[Prior]) -> float:
        terms = [
            p.array @ (distances(k) * m).sum(axis=1) for p, m in zip(priors, channels, strict=True)
        ]
        return float(np.mean(terms))

    found: tuple[list[Panel], list[Panel]] = ([], [])
    for words, value, related in ((REAL, real, {}), (EXPECTED, expected, relations)):
        title = f"{k} grades: {words}"
        found[0].append(Panel(title, BUDGET, "grades", x, curves(ours, value), {}, related))
        found[1].append(
            Panel(title, BUDGET, "grades", x, curves(published, value), leakage, related)
        )
    return found


def distances(k: int) -> np.ndarray:
    """Return |x − y|."""
    return np.abs(np.subtract.outer(np.arange(k), np.arange(k)))


def each(notion: Callable[[float], Notion], priors: Sequence[Prior], e: float) -> Channels:
    """Return the best channel for each prior."""
    known: dict[Prior, np.ndarray] = {}
    for prior in priors:
        if prior not in known:
            known[prior] = square(best(range(len(prior)), notion(e), MeanAbsoluteError(), prior))
    return [known[prior] for prior in priors]


def square(solution: Solution) -> np.ndarray:
    """Return the matrix with a column for each grade, used or not."""
    channel = solution.channel
    whole = np.zeros((len(channel.inputs), len(channel.inputs)))
    whole[:, [int(y) for y in channel.outputs]] = channel.matrix
    return whole


def bounded(believed: Sequence[list[Prior]], priors: Sequence[Prior], e: float) -> Channels:
    """Return the best channel that is private for every prior of each student's set."""
    return [
        square(best(range(len(p)), BoundedPriorLIP(e, priors=b), MeanAbsoluteError(), p))
        for b, p in zip(believed, priors, strict=True)
    ]


def sets_of_priors(k: int) -> list[list[Prior]]:
    """Return the predictions for each student from every set of features, without repetitions."""
    by_part = [local_priors(k, part) for part in PARTS]
    return [list(dict.fromkeys(found)) for found in zip(*by_part, strict=True)]


def ends(believed: list[Prior]) -> tuple[float, float]:
    """Return the range of Pr(X = 1)."""
    shares = [float(prior[1]) for prior in believed]
    return min(shares), max(shares)


def bounded_ratio(matrix: np.ndarray, believed: list[Prior], epsilon: float) -> float:
    """Return the leakage under the worst prior of the set over the budget."""
    notion = BoundedPriorLIP(epsilon, priors=believed)
    return notion.leakage(Channel.from_matrix(matrix)) / epsilon


def rows(pair: Pair) -> list[Row]:
    """Return the number of students, and the curves at epsilon = 1."""
    found = [
        Row("TIFS, V", "students of the mathematics course", "395", float(len(students()))),
        Row(
            "TIFS, V-A",
            "grades that occur of the 21",
            "21",
            float(len({record["G3"] for record in students()})),
            "the domain is 0 to 20; not every grade was given, so that a prior from these records"
            " alone would have zeros, for which the formula leaks without limit",
        ),
    ]
    for ours, published in list(zip(*pair, strict=True))[len(pair[0]) // 2 :]:
        i = published.x.index(1.0)
        for name, curve in published.curves.items():
            if name not in ours.curves:
                continue
            why = "randomized response is private, not the best channel for the distance"
            if name in published.leakage:
                why = f"the formula leaks up to {published.leakage[name][i]:.2f} times its budget"
            if name == BOUNDED:
                why += ", and is not the best for students of a nearly certain grade: for them it"
                why += " is better to report that always"
            quantity = f"{ours.title}, {name}, ε = 1"
            found.append(Row("TIFS, Fig. 11", quantity, curve[i], ours.curves[name][i], why))
    return found


def caption(pair: Pair) -> str:
    """Return what to see."""
    half = len(pair[0]) // 2
    leaks = [published.leakage[LOCAL][published.x.index(1.0)] for published in pair[1][:half]]
    words = ", ".join(f"{leak:.1f}" for leak in leaks)
    ours, published = pair[0][-1], pair[1][-1]
    return (
        "60 real students; local priors by logistic regression. Crosses: the published formula is"
        f" not private for some student; with local priors at ε = 1 it leaks up to {words} times ε"
        " (left to right).\nLower row: under the prior used, ours is the certified least distance."
        f" {ours.title.partition(':')[0]}, ε = 1, local: published {published.at(LOCAL, 1):.2f},"
        f" private {ours.at(LOCAL, 1):.2f}; LDP: randomized response {published.at(PLAIN, 1):.2f},"
        f" best {ours.at(PLAIN, 1):.2f}."
    )


EXPERIMENT = Experiment(
    "tifs_figure_11",
    "TIFS Fig. 11: student grades",
    "real: student performance, 60 students tested",
    run,
    rows,
    caption,
    columns=4,
)

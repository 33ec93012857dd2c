"""Numbers and formulas in the text of Jiang et al. 2021 (TIFS).

Source: Jiang et al. 2021 (TIFS): Proposition 1, Theorems 3 and 4, Example 1 and Corollary 6, the
optimum for an uncertain prior (IV-B.2), the sampling, Gaussian and Laplace mechanisms (IV-C), and
the counts of its data. Exact values beside bounds are in ``benchmarks/figures_*.py`` as curves.
"""

from __future__ import annotations

import csv
import gzip
import math

import numpy as np

from benchmarks.papers.base import MissingDataError, Row, data_file
from benchmarks.papers.formulas import erasure, symmetric, uncertain_prior
from benchmarks.papers.optimum import best
from mechdesign import LIP, BoundedPriorLIP, Channel, GaussianMixture, HammingLoss, Prior
from mechdesign.accounting import (
    GaussianMechanism,
    LaplaceMechanism,
    compose,
    implied,
    laplace_scale,
    leakages,
    lip_composition_bound,
)

SKEWED, UNIFORM = Prior([0.01, 0.33, 0.33, 0.33]), Prior.uniform(4)


def rows() -> list[Row]:
    """Return the rows."""
    return [
        *relations(),
        *example_1(),
        *properties(),
        *uncertain(),
        *continuous(),
        *counts(),
    ]


def relations() -> list[Row]:
    """Return what LIP implies, by the bounds and exactly, at epsilon = 1."""
    found = []
    words = {"ldp": "LDP", "differential-identifiability": "differential identifiability"}
    places = {"ldp": "TIFS, Proposition 1", "differential-identifiability": "TIFS, Theorem 3"}
    for prior, name in ((SKEWED, "P1"), (UNIFORM, "P2"), (Prior([0.2, 0.8]), "(0.2, 0.8)")):
        for target, place in places.items():
            row = implied(LIP(1), target, prior)
            why = "a bound, which holds; the largest leakage of any ε-LIP channel is smaller"
            quantity = f"1-LIP implies {words[target]} at, prior {name}"
            if row.bound is None or row.tight is None:
                continue
            found.append(Row(place, quantity, float(row.bound), float(row.tight), why))
    return found


def example_1() -> list[Row]:
    """Return the four leakages of a flipped bit."""
    q, p = 0.25, 0.2
    one = p * (1 - q) + (1 - p) * q
    channel, prior = Channel.from_matrix(symmetric(q)), Prior([0.8, 0.2])
    exact = leakages(channel, prior)
    printed = {
        "ldp": math.log((1 - q) / q),
        "lip": max(law / row for law in (one, 1 - one) for row in (q, 1 - q)),
        "maximal-leakage": math.log(2 * max(q, 1 - q)),
        "mutual-information": sum(
            weight * row * math.log(row / law)
            for weight, row, law in (
                (p, 1 - q, one),
                (p, q, 1 - one),
                (1 - p, 1 - q, 1 - one),
                (1 - p, q, one),
            )
        ),
    }
    why = "the formula lacks its logarithm"
    return [
        Row(
            "TIFS, Example 1",
            f"leakage, {notion}, q = 0.25, P = 0.2",
            value,
            float(exact[notion].value),
            why,
        )
        for notion, value in printed.items()
    ]


def properties() -> list[Row]:
    """Return composition (Theorem 4) and transfer to another prior (Corollary 6)."""
    found = []
    for n in (2, 3):
        channel = Channel.from_matrix(erasure(UNIFORM.array, 2.0))
        bound = lip_composition_bound([2.0] * n, 0.25)
        exact = compose([channel] * n, UNIFORM)["lip"].exact
        why = "a bound, which holds; exact is the leakage of this channel used that often"
        quantity = f"leakage of {n} releases by (19), uniform on 4, ε = 2"
        found.append(Row("TIFS, Theorem 4", quantity, bound, float(exact), why))
    true, least, epsilon = np.array([0.1, 0.1, 0.2, 0.6]), 0.25, 2.0
    distance = 0.5 * float(np.abs(true - 0.25).sum())
    moved = epsilon + math.log1p(distance / min(least, float(true.min())))
    through_ldp = math.log((math.exp(epsilon) - 1 + least) / least)
    found.append(
        Row(
            "TIFS, Corollary 6",
            "least bound in (12), from uniform to (0.1, 0.1, 0.2, 0.6), ε = 2",
            moved,
            min(moved, 2 * epsilon, through_ldp),
            "Φ is printed without its logarithm, so that the corollary calls η + ε the least bound"
            " where that through LDP is less",
        )
    )
    return found


def uncertain() -> list[Row]:
    """Return the leakage and the error of the optimum for Pr(X = 1) in [a, b]."""
    found = []
    for a, b, epsilon in ((0.1, 0.3, 0.5), (0.4, 0.6, 1.0), (0.0, 1.0, 1.0), (0.4, 0.4, 1.0)):
        notion = BoundedPriorLIP(epsilon, lower=[1 - b, a], upper=[1 - a, b])
        matrix = uncertain_prior(a, b, epsilon)
        leakage = notion.leakage(Channel.from_matrix(matrix))
        words = f"P in [{a}, {b}], ε = {epsilon:g}"
        middle = (a + b) / 2
        prior = Prior([1 - middle, middle])
        claimed = (1 - middle) * float(matrix[0, 1]) + middle * float(matrix[1, 0])
        optimum = float(best([0, 1], notion, HammingLoss(), prior).value)
        why = f"it ignores the upper bound on the lift: {leakage / epsilon:.2f} ε"
        place = "TIFS, IV-B.2"
        found += [
            Row(place, f"leakage for an uncertain prior, {words}", epsilon, leakage, why),
            Row(
                place,
                f"least error rate at the middle prior, {words}",
                claimed,
                optimum,
                f"that channel leaks {leakage / epsilon:.2f} ε; here the likelier answer"
                " always is private and as good as any",
            ),
        ]
    return found


def continuous() -> list[Row]:
    """Return the mechanisms for continuous data."""
    border = (1 - math.exp(-2)) / (math.exp(2) - math.exp(-2))
    law, values = GaussianMixture.normal(0, 5), (0, 1, 2)
    wide, far = (
        GaussianMechanism(law, [-reach, reach], 10, truncated=False).delta(1).high
        for reach in (10, 1000)
    )
    skewed = Prior(["13/30", "10/30", "7/30"])
    scale = laplace_scale(values, skewed, 1)
    laplace = LaplaceMechanism(values, skewed, scale).leakage().high
    return [
        Row(
            "TIFS, Proposition 2",
            "δe^ε at the δ where both limits of λ meet, ε = 2",
            border * math.exp(2),
            1 - math.exp(-2) + border * math.exp(-2),
        ),
        Row(
            "TIFS, Theorem 5",
            "δ of the Gaussian mechanism, σ_X = 5, σ_N = 10, ε = 1, |x| ≤ 10",
            wide,
            far,
            "the supremum over all x that Theorem 5 asks for is 1: a bounded range, or clipping, is"
            " part of the mechanism",
        ),
        Row(
            "TIFS, Theorem 6",
            "leakage of the Laplace mechanism, values 0, 1, 2, s = 0.2, ε = 1",
            1.0,
            laplace,
            "valid and loose: calibrated on the exact leakage it needs less noise",
        ),
    ]


def counts() -> list[Row]:
    """Return the sizes of the data, where they are there."""
    try:
        path = data_file("baltimore", "salaries.csv.gz")
        student = data_file("student", "student-mat.csv")
    except MissingDataError:
        return []
    with gzip.open(path, "rt") as lines:
        employees = sum(1 for _ in csv.DictReader(lines))
    with student.open(encoding="utf-8") as lines:
        columns = len(next(csv.reader(lines, delimiter=";")))
    why = "13,812 lines with the header"
    return [
        Row("TIFS, V", "employees of Baltimore", "13,812", float(employees), why),
        Row("TIFS, V-A", "features of a student besides three grades", "30", columns - 3.0),
    ]

"""The student grades of TIFS V-A: sets A and B, coarser grades, priors from a classifier."""

from __future__ import annotations

import csv
from functools import cache
from typing import Any

import numpy as np

from benchmarks.papers.base import data_file
from mechdesign import Prior

CARDINALITIES = (2, 5, 10, 21)
TESTED = 60
"""The number of students in B, the reporters; all others are in A."""

PARTS = {
    "all": None,
    "grades and habits": ("G1", "G2", "failures", "absences", "studytime", "goout"),
    "without grades": ("failures", "absences", "studytime", "goout", "Medu", "schoolsup", "higher"),
}
"""Sets of features, whose predictions are the priors that BP-LIP allows for; None is all."""

FLOOR = 0.002
"""What each value gets at least, before the prior is normalised: no prediction is certain."""


@cache
def students() -> list[dict[str, str]]:
    """Return the records of the mathematics course."""
    with data_file("student", "student-mat.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter=";"))


def coarse(grade: int, k: int) -> int:
    """Return the class of a grade 0..20 among k; two classes are 0..10 and 11..20."""
    return min(grade * k // 21, k - 1)


@cache
def split() -> tuple[list[int], list[int]]:
    """Return the numbers of the students of A, whose records are known, and of B."""
    order = np.random.default_rng(11).permutation(len(students())).tolist()
    return sorted(order[TESTED:]), sorted(order[:TESTED])


def grades(k: int, numbers: list[int]) -> list[int]:
    """Return the final grades of some students, in k classes."""
    return [coarse(int(students()[n]["G3"]), k) for n in numbers]


def global_prior(k: int) -> Prior:
    """Return the shares of the classes in A, each counted once more."""
    found = np.bincount(grades(k, split()[0]), minlength=k) + 1
    return Prior.from_counts(found.tolist())


@cache
def local_priors(k: int, part: str) -> list[Prior]:
    """Return a prior for each student of B: logistic regression on A, on a set of features."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    known, asked = split()
    model = make_pipeline(
        DictVectorizer(sparse=False), StandardScaler(), LogisticRegression(C=0.1, max_iter=3000)
    )
    model.fit([features(n, part) for n in known], grades(k, known))
    chances = model.predict_proba([features(n, part) for n in asked])
    whole = np.full((len(asked), k), FLOOR)
    whole[:, model.classes_] += chances
    rounded = np.maximum(np.rint(1e4 * whole / whole.sum(axis=1, keepdims=True)), 1).astype(int)
    return [Prior.from_counts(row) for row in rounded.tolist()]


def features(number: int, part: str) -> dict[str, Any]:
    """Return all features of a student except the final grade, numbers as numbers."""
    record, wanted = students()[number], PARTS[part]
    names = [name for name in record if name != "G3"] if wanted is None else wanted
    return {name: float(record[name]) if record[name].isdigit() else record[name] for name in names}

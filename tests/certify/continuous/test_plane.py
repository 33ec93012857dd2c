"""Changed files of a box: what `verify` accepts holds by quadrature and in floats."""

from __future__ import annotations

import collections
import functools
import json
import math
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import pytest

import mechdesign as md
from mechdesign.certify import parse, verify
from mechdesign.certify.continuous.continuous_file import _columns
from mechdesign.certify.continuous.plane import PlaneKernel, read_plane, read_points
from mechdesign.errors import MechdesignError
from tests.independent.rationals import RefusedError
from tests.mutations import Document, Mutator

N = md.NamedLaw
LAW = md.ProductLaw(N("beta", [2, 4]), N("beta", [3, 2]))
SQUARE = md.Box((0, 0), (1, 1))
POINTS = md.PlaneSamples([(0.1, 0.2), (0.7, 0.7), (0.4, 0.9)])
STATED: list[tuple[Any, Any, Any]] = [
    (md.LDP(1), md.MeanSquaredDistance(), LAW),
    (md.LIP(1), md.EuclideanDistance(), LAW),
    (md.PML(1), md.MeanSquaredDistance(), POINTS),
    (md.LDP(1), md.EuclideanDistance(worst_case=True), None),
]


@functools.cache
def pool() -> list[Document]:
    with (
        mock.patch("mechdesign.designs.continuous.plane.FIRST", 4),
        mock.patch("mechdesign.designs.continuous.plane.MOST", 4),
    ):
        problems = [md.PlaneProblem(SQUARE, n, loss, prior=law) for n, loss, law in STATED]
        return [parse(json.dumps(md.design(problem).document())) for problem in problems]


def claims(document: Document) -> Document:
    """Return the value as it is, so that a change of the channel or the law is a forgery."""
    try:
        stated = read_plane(document["problem"], document["channel"]["axes"])
        columns, bits = _columns(stated, document["channel"])
        points = read_points(document["channel"]["outputs"])
        value = PlaneKernel(stated, columns, bits, points).value()
    except MechdesignError as error:
        raise RefusedError(str(error)) from None
    return {"value": float(value), "cells": stated.size}


@functools.cache
def atoms(number: int) -> tuple[Any, Any]:
    """Return points and masses that stand for the law of an honest file."""
    law = STATED[number][2]
    if law is POINTS:
        return np.array([list(map(float, point)) for point in law.points]), np.full(3, 1 / 3)
    k = 24
    edges = [Fraction(n, k) for n in range(k + 1)]
    means, _ = (law or md.ProductLaw(N("uniform"), N("uniform"))).cells(SQUARE, (edges, edges))
    ones = np.array([1, 2, 1, 2, 4, 2, 1, 2, 1])
    masses = np.array([float(ones @ np.array(cell)) for cell in means])
    middles = (np.arange(k) + 0.5) / k
    return np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 2), masses


def holds(document: Document, number: int) -> None:
    """Assert that the value and the privacy of a file with the law of an honest one are true."""
    channel, notion = document["channel"], document["problem"]["privacy"][0]
    whole = 1 << channel["bits"]
    rows = [[int(entry) for entry in row] for row in channel["numerators"]]
    nodes = md.Channel(rows, outputs=channel["outputs"], bits=channel["bits"])
    kernel = md.PlaneChannel(SQUARE, channel["axes"], nodes)
    matrix = np.array([[entry / whole for entry in row] for row in rows])
    x, masses = atoms(number)
    far = np.linalg.norm(x[:, None] - np.array(kernel.outputs), axis=2)
    utility, drawn = document["problem"]["utility"], kernel.matrix(x)
    power = 2 if utility["objective"] == "mean-squared-distance" else 1
    losses = (drawn * far**power).sum(axis=1)
    found = losses.max() if utility["worst_case"] else masses @ losses
    assert found <= document["value"] * (1 + 1e-2)  # atoms in the middle of cells
    assert document["bound"] <= document["value"]
    grown = math.exp(Fraction(notion["epsilon"])) * (1 + 3e-2)
    if notion["notion"] == "ldp":
        assert (matrix.max(axis=0) <= grown * matrix.min(axis=0)).all()
    elif notion["notion"] in ("lip", "pml"):
        assert (matrix <= grown * (masses @ drawn)).all()


def test_honest_files_hold() -> None:
    for number, document in enumerate(pool()):
        verify(document)
        holds(document, number)
        with pytest.raises(AssertionError):
            holds({**document, "value": document["value"] * 0.7}, number)


def law_of(document: Document) -> str:
    """Return what says which law a file is about: other axes make another of the same means."""
    return json.dumps([document["problem"]["moments"], document["channel"]["axes"]])


def compare(seed: int, count: int) -> collections.Counter[str]:
    mutator, ends = Mutator(pool(), seed, claims), collections.Counter[str]()
    of_laws = {law_of(document): n for n, document in enumerate(pool())}
    for _ in range(count):
        document = mutator.tree()
        try:
            verify(document)
        except MechdesignError:
            ends["refused"] += 1
            continue
        ends["accepted"] += 1
        number = of_laws.get(law_of(document))
        if number is not None:
            holds(document, number)
            ends["held"] += 1
    return ends


def test_changed_files_are_refused_or_true() -> None:
    ends = compare(7, 200)
    assert ends["refused"] > 100
    assert ends["held"] > 10


@pytest.mark.long
@pytest.mark.slow
def test_many_changed_files_are_refused_or_true() -> None:
    assert compare(8, 5000)["held"] > 300

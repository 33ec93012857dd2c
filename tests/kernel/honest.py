"""Honest files of small problems: a linear program over all extreme rays, in floats, and no more.

A column of the cone costs what the cheapest output or the gain makes of it. The best mixture of
rays is the channel, mixed with one of equal rows until it is private, and the dual variables are
the prices; a certificate says how they are made safe. Nothing of the library is used.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.optimize

from tests.independent.bounds import extreme, relaxed
from tests.independent.files import claims_of, columns_of, decoder
from tests.independent.rationals import Vector
from tests.independent.reading import seal
from tests.independent.statement import Aim, Problem, Statement, read_problem

Document = dict[str, Any]

BITS = 62
DD = {"kind": "rays", "source": {"kind": "double-description"}}


def cost(aim: Aim, q: Vector) -> tuple[float, int]:
    """Return what a column costs, and the output that makes it as cheap."""
    if aim.gain is not None:
        return -float(aim.gain(q)[0]), 0
    terms = zip(aim.weights or (), q, strict=True)
    weighed = [w * v for w, v in terms]
    sums = [float(sum(c[0] * v for c, v in zip(D, weighed, strict=True))) for D in aim.costs]
    return min(sums), int(np.argmin(sums))


def solved(statement: Statement) -> tuple[dict[int, np.ndarray], list[float]]:
    """Return the columns of the best mixture of rays, by output, and the prices."""
    rays = [tuple(v / max(r) for v in r) for r in extreme(statement)]
    R = np.array([[float(v) for v in r] for r in rays])
    found = [cost(statement.aim, r) for r in rays]
    program = scipy.optimize.linprog(
        np.array([c for c, _ in found]), A_eq=R.T, b_eq=np.ones(statement.k)
    )
    assert program.status == 0, program.message
    free = statement.aim.free or statement.aim.gain is not None
    columns: dict[int, np.ndarray] = {}
    for n, theta in enumerate(program.x):
        if theta > 1e-12:
            y = n if free else found[n][1]
            columns[y] = columns.get(y, np.zeros(statement.k)) + theta * R[n]
    return columns, [float(v) for v in program.eqlin.marginals]


def rounded(problem: Problem, columns: list[np.ndarray]) -> list[list[int]]:
    """Return rows of integers over 2**BITS that are private."""
    whole, m = 1 << BITS, len(columns)
    inputs = list(map(str, range(problem.statement.k)))
    for share in (1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3):
        law = [float(np.mean(q)) for q in columns]
        rows = []
        for x in range(len(inputs)):
            row = [
                int(((1 - share) * q[x] + share * a) * whole)
                for q, a in zip(columns, law, strict=True)
            ]
            row[int(np.argmax(law))] += whole - sum(row)
            rows.append(row)
        exact = [tuple(Fraction(row[y], whole) for row in rows) for y in range(m)]
        parts = [row for part in problem.statement.cone for row in part.rows.values()]
        if min(map(min, rows)) >= 0 and all(row.holds(q) for row in parts for q in exact):
            return rows
    raise AssertionError("no private channel was found")


def document_of(problem: Document, certificate: Document) -> Document:
    """Return the file of a problem, proved by a certificate that lacks prices."""
    read = read_problem(problem)
    statement = read.statement
    for relaxation in certificate.get("relaxations", []):
        statement = relaxed(statement, relaxation)
    columns, prices = solved(statement)
    rows = rounded(read, list(columns.values()))
    outputs = list(columns) if read.outputs is None else [problem["outputs"][y] for y in columns]
    if certificate["oracle"]["kind"] != "orthant":
        certificate = certificate | {"prices": prices}
    whole = 1 << BITS
    channel = {
        "inputs": list(problem["domain"]["values"]),
        "outputs": outputs if read.outputs is not None else list(range(len(columns))),
        "matrix": [[v / whole for v in row] for row in rows],
        "bits": BITS,
        "numerators": [[str(v) for v in row] for row in rows],
    }
    exact, _ = columns_of(channel, read.inputs)
    words = {"title": "", "source": "", "route": "rays", "why": ""}
    document: Document = {"format": "mechdesign-channel", "version": 2, **words}
    document |= {"channel": channel, "problem": problem, "certificate": certificate, "privacy": []}
    read_out = decoder(document, read, exact)
    if read_out is not None:
        shown = [[float(v) for v in d] if isinstance(d, list) else d for d in read_out]
        channel["decoder"] = [float(d) if isinstance(d, Fraction) else d for d in shown]
        if problem["utility"]["objective"] == "bayes-accuracy":
            channel["decoder"] = [int(d) for d in read_out]
    document |= claims_of(document)
    document["bound"] -= (1 if document["sense"] == "minimize" else -1) * 1e-14
    gap = abs(document["value"] - document["bound"]) / max(1e-12, abs(document["value"]))
    document |= {"gap": gap, "status": "optimal" if gap <= 1e-6 else "bounded"}
    return document | {"digest": seal(document)}


# --- problems -------------------------------------------------------------------------------------


def law(draw: random.Random, k: int) -> list[str]:
    counts = [draw.randrange(1, 9) for _ in range(k)]
    return [f"{n}/{sum(counts)}" for n in counts]


def budget(draw: random.Random) -> str:
    return str(draw.choice(["1/10", "1/2", "0.7", 1, "1.5", 3]))


def notions(draw: random.Random, k: int, prior: list[str]) -> list[tuple[Document, list[Document]]]:
    """Return notions, each with the oracles for linear costs on its cone."""
    e, some = budget(draw), draw.sample(range(k), k - 1)
    table = [["0" if x == z else budget(draw) for z in range(k)] for x in range(k)]
    by_row = [["0" if x == z else r[x - 1] for z in range(k)] for x, r in enumerate(table)]
    holes = [
        [v if x == z or draw.random() < 0.7 else "inf" for z, v in enumerate(r)]
        for x, r in enumerate(table)
    ]
    one, line, sack = {"kind": "one-budget"}, {"kind": "line"}, {"kind": "knapsack"}
    cut = draw.randrange(1, k)
    return [
        ({"notion": "ldp", "epsilon": e}, [one, line, DD]),
        ({"notion": "block", "epsilon": e, "blocks": [[*range(cut)], [*range(cut, k)]]}, [DD]),
        ({"notion": "high-low", "epsilon": e, "sensitive": some}, [DD]),
        ({"notion": "metric", "epsilon": e, "distance": "absolute"}, [line, DD]),
        ({"notion": "context-aware", "matrix": by_row}, [one, DD]),
        ({"notion": "context-aware", "matrix": holes}, [DD]),
        ({"notion": "lip", "epsilon": e}, [sack, DD]),
        ({"notion": "pml", "epsilon": e}, [sack, DD]),
        ({"notion": "lift", "lower": e, "upper": "inf"}, [sack, DD]),
        ({"notion": "differential-identifiability", "epsilon": "5"}, [DD]),
        ({"notion": "bounded-prior-lip", "epsilon": e, "priors": [prior, law(draw, k)]}, [DD]),
    ]


def aims(draw: random.Random, k: int) -> list[tuple[Document, Document]]:
    """Return objectives, each with its linearization."""
    costs, gain = {"kind": "costs"}, {"kind": "gain"}
    values = [draw.randrange(-3, 4) for _ in range(k)]
    reach = {"kind": "decoders", "nodes": [f"{n}/2" for n in range(-6, 7)]}
    matrix = [[draw.randrange(5) for _ in range(k)] for _ in range(k)]
    first, second = law(draw, k), law(draw, k)
    pair = {"first": first, "second": second}
    return [
        ({"objective": "hamming"}, costs),
        ({"objective": "mean-absolute-error"}, costs),
        ({"objective": "mean-absolute-error", "worst_case": True}, costs),
        ({"objective": "mean-squared-distance"}, costs),
        ({"objective": "distortion", "matrix": matrix}, costs),
        ({"objective": "bayes-accuracy"}, costs),
        ({"objective": "g-vulnerability", "gain_matrix": matrix}, costs),
        ({"objective": "total-variation", **pair}, costs),
        ({"objective": "posterior-mean-squared-error", "values": values}, gain),
        ({"objective": "posterior-mean-squared-error", "values": values}, reach),
        ({"objective": "posterior-mean-squared-error", "histogram": True}, gain),
        ({"objective": "mutual-information"}, gain),
        ({"objective": "fisher-information", "scores": [[v] for v in values]}, gain),
        ({"objective": "chi-squared", **pair}, gain),
        ({"objective": "kullback-leibler", **pair}, gain),
        ({"objective": "squared-hellinger", **pair}, gain),
    ]


LOSSES = ("hamming", "mean-absolute-error", "mean-squared-distance", "distortion")


def draw_document(seed: int) -> Document:
    """Draw a problem with two to four inputs and return its file."""
    draw = random.Random(seed)
    k = draw.choice([2, 3, 3, 4])
    prior = law(draw, k)
    notion, oracles = draw.choice(notions(draw, k, prior))
    aim, line = draw.choice(aims(draw, k))
    problem: Document = {
        "domain": {"values": list(range(k))},
        "prior": prior,
        "privacy": [notion],
        "utility": aim,
    }
    if aim["objective"] in LOSSES:
        problem["outputs"] = list(range(k))
    certificate: Document = {"linearization": line}
    certificate["oracle"] = DD if line["kind"] == "gain" else draw.choice(oracles)
    chain = [{"kind": "restrict", "inputs": [*range(k)]}, {"kind": "implied", "alone": False}]
    chain = draw.sample(chain, draw.choice([0, 0, 1, 2]))
    if aim.get("worst_case"):
        chain.insert(0, {"kind": "average", "weights": worst_weights(problem)})
    if aim["objective"] in LOSSES and draw.random() < 0.5:
        chain.append({"kind": "representatives", "stands": [*range(k)]})
    return document_of(problem, certificate | ({"relaxations": chain} if chain else {}))


def worst_weights(problem: Document) -> list[float]:
    """Return the weights of a least favourable mean: the dual variables of the worst case."""
    statement = read_problem(problem).statement
    rays = [tuple(v / max(r) for v in r) for r in extreme(statement)]
    costs = statement.aim.costs
    k, m = statement.k, len(statement.aim.costs)
    R = np.array([[float(v) for v in r] for r in rays])
    each = np.array(
        [[[R[n, x] * float(c[x][0]) for x in range(k)] for c in costs] for n in range(len(R))]
    )
    A = np.hstack([each.reshape(-1, k).T, -np.ones((k, 1))])
    sums = np.hstack([np.repeat(R, m, axis=0).T, np.zeros((k, 1))])
    c = np.append(np.zeros(A.shape[1] - 1), 1.0)
    ends = [(0, None)] * (A.shape[1] - 1) + [(None, None)]  # a free bound: the weights sum to 1
    found = scipy.optimize.linprog(c, A, np.zeros(k), sums, np.ones(k), ends)
    assert found.status == 0, found.message
    return [max(0.0, -float(v)) for v in found.ineqlin.marginals]

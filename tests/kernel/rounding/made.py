"""Honest files of rounded problems: a linear program over extreme rays, in floats, and no more."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.optimize

from mechdesign.errors import CertificateError
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.documents import digest, relative_gap
from mechdesign.kernel.gains import Gain
from mechdesign.kernel.losses import of_table
from mechdesign.kernel.names import Domain, compile_problem
from mechdesign.kernel.objectives import Loss
from mechdesign.kernel.oracles.sources import DoubleDescription
from mechdesign.kernel.packed import exact
from mechdesign.kernel.rounding.bound import program_of
from mechdesign.kernel.rounding.files import Linear
from mechdesign.kernel.rounding.hard_cells import node_places
from mechdesign.kernel.rounding.nodes import Rounded, RoundedProblem
from mechdesign.kernel.rounding.program import Program, on_nodes
from mechdesign.kernel.rounding.value import kernel_decoder, kernel_value, slope
from mechdesign.kernel.schema import read
from mechdesign.kernel.statement import Statement, private

Document = dict[str, Any]
BITS = 62


def problem(
    notion: Document | list[Document],
    objective: str,
    law: Document,
    *sides: list[Any],
    worst_case: bool = False,
) -> Document:
    """Return the table of a problem."""
    utility: Document = {"objective": objective}
    if objective != "posterior-mean-squared-error":
        utility["worst_case"] = worst_case
    return {
        "domain": [{"interval": side} for side in sides],
        "prior": law,
        "privacy": notion if isinstance(notion, list) else [notion],
        "utility": utility,
    }


def rounded(table: Document, axes: list[list[Any]]) -> Rounded:
    """Return a problem on its nodes."""
    stated: RoundedProblem = read(RoundedProblem, table)
    return stated.on(read(Linear, {"kind": "linear", "axes": axes}).axes)


def solved(statement: Statement) -> tuple[list[tuple[int, np.ndarray]], list[float], list[float]]:
    """Return the columns of a best mixture of rays, each with its output, prices and weights."""
    aim, k = statement.objective, statement.k
    rays = DoubleDescription()(statement, None).rays
    R = [np.array([float(v) / max(r) for v in r]) for r in rays]
    if isinstance(aim, Gain):
        gains = [float(aim(r, up=False)) / max(r) for r in rays]
        c = np.array([-g for g in gains])
        found = scipy.optimize.linprog(c, A_eq=np.array(R).T, b_eq=np.ones(k))
        columns = [(n, t * R[n]) for n, t in enumerate(found.x) if t > 1e-12]
        return columns, found.eqlin.marginals.tolist(), []
    assert isinstance(aim, Loss)
    tables = [
        np.array(aim.costs.lower(y), dtype=float) / aim.costs.denominator
        for y in range(aim.costs.n_outputs)
    ]
    pairs = list(itertools.product(range(len(tables)), range(len(R))))
    costs = [tables[y] * R[n] for y, n in pairs]
    equal = np.array([R[n] for _, n in pairs]).T
    if aim.weights is not None:
        w = np.array(list(map(float, aim.weights)))
        found = scipy.optimize.linprog([w @ c for c in costs], A_eq=equal, b_eq=np.ones(k))
        weights: list[float] = []
    else:
        above = np.column_stack([np.array(costs).T, -np.ones(k)])
        found = scipy.optimize.linprog(
            [*[0.0] * len(pairs), 1.0],
            A_ub=above,
            b_ub=np.zeros(k),
            A_eq=np.column_stack([equal, np.zeros(k)]),
            b_eq=np.ones(k),
        )
        weights = [max(0.0, -float(v)) + 1e-12 for v in found.ineqlin.marginals]
    assert found.status == 0, found.message
    columns: dict[int, np.ndarray] = {}
    for t, (y, n) in zip(found.x, pairs, strict=False):
        if t > 1e-12:
            columns[y] = columns.get(y, np.zeros(k)) + t * R[n]
    return list(columns.items()), found.eqlin.marginals.tolist(), weights


def integers(columns: list[np.ndarray], share: float) -> list[list[int]]:
    """Return rows of integers over 2**BITS, mixed with a share of equal rows."""
    law = [float(np.mean(q)) for q in columns]
    rows = []
    for x in range(len(columns[0])):
        mixed = [(1 - share) * q[x] + share * a for q, a in zip(columns, law, strict=True)]
        row = [int(v * (1 << BITS)) for v in mixed]
        row[int(np.argmax(law))] += (1 << BITS) - sum(row)
        rows.append(row)
    return rows


def is_private(problem: Rounded, columns: list[list[int]]) -> bool:
    """Return whether a channel of the nodes keeps all notions, that by distance by its slopes."""
    compiled = on_nodes(problem)
    if private(compiled.statement, columns, 1 << BITS) is not None:
        return False
    try:
        return problem.metric is None or slope(problem, columns) <= problem.metric.epsilon
    except CertificateError:
        return False


def leakage(problem: Rounded, notion: Any, columns: list[list[int]]) -> float:
    """Return the least epsilon that holds of a notion, or a little more."""
    if notion.name == "metric":
        low = float(slope(problem, columns))
        return low if exact(low) >= slope(problem, columns) else math.nextafter(low, math.inf)
    compiled = on_nodes(problem)

    def holds(at: float) -> bool:
        statement = compiled.alone(notion.at(exact(at)))
        return private(statement, columns, 1 << BITS) is None

    low, high = (0.0, float(notion.epsilon)) if notion.epsilon is not None else (-20.0, 0.0)
    if holds(low):
        return low
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def unbiased(columns: list[list[int]], nodes: tuple[Fraction, ...]) -> list[Fraction]:
    """Return readings with sum_y v_y Q[x, y] = t_x, for a square channel, exactly."""
    rows = [
        [*(Fraction(q, 1 << BITS) for q in row), t]
        for row, t in zip(zip(*columns, strict=True), nodes, strict=True)
    ]
    for n in range(len(rows)):
        best = next(i for i in range(n, len(rows)) if rows[i][n])
        rows[n], rows[best] = rows[best], rows[n]
        rows[n] = [v / rows[n][n] for v in rows[n]]
        for i, row in enumerate(rows):
            if i != n and row[n]:
                rows[i] = [a - row[n] * b for a, b in zip(row, rows[n], strict=True)]
    return [row[-1] for row in rows]


def channel_of(problem: Rounded, program: Program) -> tuple[list[list[int]], list[int], Document]:
    """Return a private channel of the nodes, the numbers of its outputs, and a certificate."""
    k = len(problem.points)
    certificate: Document = {"oracle": {"kind": "rays", "source": {"kind": "double-description"}}}
    if problem.utility.reads == "readings":
        found = [(y, 1 + 1000.0 * np.eye(k)[y]) for y in range(k)]
        found = [(y, q / (k + 1000)) for y, q in found]
        line: Document = {"kind": "readings", "probes": ["-1", "0", "1"], "slopes": [0] * k}
        certificate = {"linearization": line, "oracle": {"kind": "orthant"}}
        if problem.worst_case:
            certificate["relaxations"] = [{"kind": "average", "weights": [1] * k}]
    else:
        statement = program.statement
        found, prices, weights = solved(statement)
        free = isinstance(statement.objective, Gain)
        certificate |= {"linearization": {"kind": "gain" if free else "costs"}, "prices": prices}
        if weights:
            certificate["relaxations"] = [{"kind": "average", "weights": weights}]
        if problem.metric is not None:
            domain = Domain(tuple(node_places(problem)))
            table = program.table.__class__(domain, problem.prior, problem.privacy)
            weighted = Loss(distances(problem), None if problem.worst_case else problem.prior)
            asked = compile_problem(table).statement
            found, _, _ = solved(Statement(k, asked.cone, (), weighted))
    names = [y for y, _ in found]
    share = 1e-13
    while True:
        rows = integers([q for _, q in found], share)
        columns = [list(column) for column in zip(*rows, strict=True)]
        if is_private(problem, columns):
            return columns, names, certificate
        share = 1.5 * share if share < 0.05 else 1 - 0.97 * (1 - share)


def distances(problem: Rounded) -> Any:
    """Return the distances of the nodes."""
    power = 2 if problem.distance == "squared" else 1
    nodes = problem.axes[0]
    return of_table([[abs(t - s) ** power for s in nodes] for t in nodes])


def document(table: Document, axes: list[list[Any]]) -> Document:
    """Return an honest file."""
    asked = rounded(table, axes)
    program = program_of(asked)
    columns, names, certificate = channel_of(asked, program)
    reads, whole = asked.utility.reads, 1 << BITS
    readings = unbiased(columns, asked.axes[0]) if reads == "readings" else None
    outputs: list[Any] = list(range(len(names)))
    points: list[tuple[Fraction, ...]] = []
    if not reads:
        floats = [list(map(float, asked.points[y])) for y in names]
        points = [tuple(map(exact, point)) for point in floats]
        outputs = [point if len(point) > 1 else point[0] for point in floats]
    value = kernel_value(asked, columns, BITS, points, readings)
    bound = read(Certificate, certificate).bound(program.statement) - program.shift
    shown = float(max(bound, Fraction(0)))
    while exact(shown) > max(bound, Fraction(0)):
        shown = math.nextafter(shown, -math.inf)
    rows = list(zip(*columns, strict=True))
    channel: Document = {
        "inputs": [list(y) if isinstance(y, tuple) else y for y in asked.labels],
        "outputs": outputs,
        "matrix": [[v / whole for v in row] for row in rows],
        "bits": BITS,
        "numerators": [[str(v) for v in row] for row in rows],
    }
    if (found := kernel_decoder(asked, columns, BITS, readings)) is not None:
        channel["decoder"] = [float(v) for v in found]
    if readings is not None:
        unit = math.lcm(*(v.denominator for v in readings))
        tops = [str(v.numerator * (unit // v.denominator)) for v in readings]
        channel["readings"] = {"numerators": tops, "denominator": str(unit)}
    gap = relative_gap(float(value), shown)
    claims = []
    for notion in asked.privacy:
        claim: Document = {"notion": notion.name, "certified": True}
        claim["leakage"] = leakage(asked, notion, columns)
        for key in ("epsilon", "delta"):
            if (stated := notion.keys.get(key)) is not None:
                claim[key] = float(stated)
        claims.append(claim)
    found_document: Document = {
        "format": "mechdesign-channel",
        "version": 2,
        "title": "",
        "source": "",
        "status": "optimal" if gap <= 1e-6 else "bounded",
        "objective": table["utility"]["objective"],
        "sense": "minimize",
        "value": float(value),
        "bound": shown,
        "gap": gap,
        "bound_proved": True,
        "route": "",
        "why": "",
        "privacy": claims,
        "channel": channel,
        "rounding": {"kind": "linear", "axes": axes},
        "problem": table,
        "certificate": certificate,
    }
    return sealed(found_document)


def sealed(found: Document) -> Document:
    """Return a document with the digest that fits."""
    found["digest"] = digest(found)
    return found

"""A second checker of files of an interval or a box, in floats: atoms in the place of the law.

In each cell stand two atoms that have its moments, so that they are one of the laws that the file
is about. The kernel is evaluated at numbers, its loss at the atoms, and the bound is held against
the optimum of a linear program on the atoms: with fewer outputs and more inputs it is no less than
that of all kernels on the interval. Unbiased readings are held against the best channel of the
nodes with the same readings, which is a kernel on the interval.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import numpy.typing as npt
from scipy import optimize

from tests.independent.rationals import RefusedError, need

FloatArray = npt.NDArray[np.float64]

WITHIN = 1e-7
RATIOS = ("ldp", "high-low", "block", "context-aware")
LIFTS = ("lip", "pml", "lift", "bounded-prior-lip")


@dataclass
class Inputs:
    """What a file says, as arrays.

    Attributes
    ----------
    nodes, regions
        The places of the nodes, and the number of the region of each.
    labels
        The regions.
    matrix
        The channel of the nodes.
    x, masses, rows
        The atoms, and the weights of the nodes at each.
    many, shares
        Numbers or points everywhere, and the weights of the nodes at each.
    """

    nodes: FloatArray
    regions: list[int]
    labels: list[str]
    matrix: FloatArray
    x: FloatArray
    masses: FloatArray
    rows: FloatArray
    many: FloatArray
    shares: FloatArray


def matrix_of(channel: dict[str, Any]) -> FloatArray:
    """Return the channel of the nodes."""
    whole = Fraction(1, 1 << channel["bits"])
    matrix = np.array(
        [[float(int(entry) * whole) for entry in row] for row in channel["numerators"]]
    )
    need(np.allclose(matrix.sum(axis=1), 1) and matrix.min() >= 0, "no channel")
    return matrix


def read(document: dict[str, Any]) -> Inputs:
    """Return the interval of a file, with two atoms in each cell."""
    problem, channel = document["problem"], document["channel"]
    exact = [Fraction(str(point)) for point in channel["points"]]
    nodes, n = np.array(list(map(float, exact))), len(exact)
    regions = [0]
    for low, high in itertools.pairwise(exact):
        need(low <= high, "the points fall")
        regions.append(regions[-1] + (low == high))
    cuts = [str(cut) for cut in problem["domain"].get("cuts", [])]
    need(len(cuts) == regions[-1], "the cuts are not the points that come twice")
    ends = list(map(str, problem["domain"]["interval"]))
    between = list(zip([ends[0], *cuts], [*cuts, ends[1]], strict=True))
    labels = [f"[{low}, {high})" for low, high in between]
    labels[-1] = labels[-1][:-1] + "]" if ends[1] != "inf" else labels[-1]
    labels[0] = "(" + labels[0][1:] if ends[0] == "-inf" else labels[0]
    matrix = matrix_of(channel)
    moments = [
        [Fraction(str(v)) for v in problem["moments"][k]] for k in ("masses", "first", "second")
    ]
    need(sum(moments[0]) == 1 and min(moments[0]) >= 0, "no law")
    x, masses, rows = list[float](), list[float](), list[FloatArray]()
    for c, (mass, first, second) in enumerate(zip(*moments, strict=True)):
        if not mass:
            need(not first and not second, "moments without mass")
            continue
        mean, variance = float(first / mass), max(float(second / mass - (first / mass) ** 2), 0.0)
        low = nodes[c - 1] if c else -math.inf
        high = nodes[c] if c < n else math.inf
        need(low - WITHIN <= mean <= high + WITHIN, "a mean outside its cell")
        spread = math.sqrt(variance)
        ratio = 1.0  # of the distances of the two atoms from the mean
        if spread > min(mean - low, high - mean):
            near = max(min(mean - low, high - mean), 1e-300)
            ratio = spread / near if mean - low > high - mean else near / spread
        for place, share in (
            (mean - spread * ratio, 1 / (1 + ratio**2)),
            (mean + spread / ratio, ratio**2 / (1 + ratio**2)),
        ):
            need(low - WITHIN <= place <= high + WITHIN, "no law has the moments")
            up = 0.0 if not 0 < c < n else (place - low) / (high - low)
            row = np.zeros(n)
            row[max(c - 1, 0)] += 1 - min(max(up, 0.0), 1.0)
            row[min(c, n - 1)] += min(max(up, 0.0), 1.0)
            x.append(place)
            masses.append(float(mass) * share)
            rows.append(row)
    atoms = np.array(x), np.array(masses), np.array(rows)
    cells = np.flatnonzero(np.diff(nodes) > 0)
    up, eye = np.linspace(0, 1, 21)[:, None], np.eye(n)
    many = np.concatenate([(1 - up) * nodes[c] + up * nodes[c + 1] for c in cells])[:, 0]
    shares = np.concatenate([(1 - up) * eye[c] + up * eye[c + 1] for c in cells])
    return Inputs(nodes, regions, labels, matrix, *atoms, many, shares)


def read_box(document: dict[str, Any]) -> Inputs:
    """Return the box of a file, with atoms in each cell that have its means."""
    problem, channel = document["problem"], document["channel"]
    first, second = ([float(Fraction(str(t))) for t in axis] for axis in channel["axes"])
    for axis, side in zip((first, second), problem["domain"]["box"], strict=True):
        need(all(low < high for low, high in itertools.pairwise(axis)), "the points fall")
        ends = [float(Fraction(str(end))) for end in side]
        need([axis[0], axis[-1]] == ends, "the points do not go from end to end")
    nodes, across = np.array(list(itertools.product(first, second))), len(second)
    corners = list(itertools.product((0, 1), repeat=2))
    cells = list(itertools.product(range(len(first) - 1), range(across - 1)))
    fine = np.linspace(0, 1, 9)

    def placed(s: FloatArray, c: int, d: int) -> tuple[FloatArray, FloatArray]:
        low, high = np.array([first[c], second[d]]), np.array([first[c + 1], second[d + 1]])
        rows = np.zeros((len(s), len(nodes)))
        for p, q in corners:
            weight = np.abs(1 - p - s[:, 0]) * np.abs(1 - q - s[:, 1])
            rows[:, (c + p) * across + d + q] = weight
        return low + s * (high - low), rows

    x, masses, rows, many, shares = [], [], [], [], []
    for (c, d), means in zip(cells, problem["moments"]["means"], strict=True):
        wanted = np.array([float(Fraction(str(mean))) for mean in means]).reshape(3, 3)
        need(wanted.min() >= 0, "no law")
        s = np.array(list(itertools.product(fine, fine)))
        for place, kept in zip((x, rows), placed(s, c, d), strict=True):
            (many if place is x else shares).append(kept)
        ends = [fine, fine]
        for axis, sums in enumerate((wanted @ [1, 2, 1], [1, 2, 1] @ wanted)):
            mass = sums @ [1, 2, 1]
            if mass:
                mean, square = (sums[1] + sums[2]) / mass, sums[2] / mass
                spread = math.sqrt(max(square - mean**2, 0.0))
                near = max(min(mean, 1 - mean), 1e-300)
                ratio = max(spread / near, 1.0) ** (1 if mean > 0.5 else -1)
                own = [mean, mean - spread * ratio, mean + spread / ratio]
                ends[axis] = np.clip(np.append(fine, own), 0, 1)
        s = np.array(list(itertools.product(*ends)))
        u = np.stack([(1 - s) ** 2, s * (1 - s), s**2])
        table = np.einsum("an,bn->abn", u[..., 0], u[..., 1]).reshape(9, -1)
        weights, residual = optimize.nnls(table, wanted.ravel())
        need(residual < 1e-6, "no law has the means, or none was found")
        kept = weights > 0
        for place, part in zip((x, rows), placed(s[kept], c, d), strict=True):
            place.append(part)
        masses.append(weights[kept])
    parts = [np.concatenate(part) for part in (x, masses, rows, many, shares)]
    need(abs(parts[1].sum() - 1) < 1e-6, "no law")
    return Inputs(nodes, [0] * len(nodes), ["all"], matrix_of(channel), *parts)


def budgets(table: dict[str, Any], labels: list[str], epsilon: float) -> FloatArray:
    """Return the exponents of a notion on ratios, for each pair of regions."""
    k, infinite = len(labels), math.inf
    place = {label: n for n, label in enumerate(labels)}
    if table["notion"] == "ldp":
        return np.full((k, k), epsilon)
    if table["notion"] == "high-low":
        protected = [place[label] for label in table["sensitive"]]
        return np.array([[epsilon if r in protected else infinite] * k for r in range(k)])
    if table["notion"] == "block":
        of = {place[label]: b for b, block in enumerate(table["blocks"]) for label in block}
        need(len(of) == k, "blocks that do not divide the regions")
        return np.array(
            [[epsilon if of[r] == of[s] else infinite for s in range(k)] for r in range(k)]
        )
    return np.array([[_float(e) for e in row] for row in table["matrix"]])


def _float(exact: Any) -> float:
    return math.inf if exact == "inf" else float(Fraction(str(exact)))


def lifts(table: dict[str, Any]) -> tuple[float, float]:
    """Return the largest lift, and the largest inverse of one."""
    if table["notion"] == "lift":
        return math.exp(_float(table["upper"])), math.exp(_float(table["lower"]))
    grown = math.exp(Fraction(str(table["epsilon"])))
    return grown, math.inf if table["notion"] == "pml" else grown


def laws(table: dict[str, Any], found: Inputs) -> list[FloatArray]:
    """Return laws of the atoms that a bound on lifts is about; of a set some of them."""
    if table["notion"] != "bounded-prior-lip":
        return [found.masses]
    of = np.array([found.regions[int(np.argmax(row))] for row in found.rows])
    shares = np.array([found.masses[of == r].sum() for r in range(len(found.labels))])
    if "priors" in table:
        members = [np.array([float(Fraction(str(p))) for p in law]) for law in table["priors"]]
    elif "center" in table:
        members = [np.array([float(Fraction(str(p))) for p in table["center"]])]
    else:
        low, high = (
            np.array([float(Fraction(str(p))) for p in table[k]]) for k in ("lower", "upper")
        )
        width = (high - low).sum()
        members = [low + (high - low) * ((1 - low.sum()) / width if width else 0.0)]
    return [found.masses * (member / shares)[of] for member in members]


def check(document: dict[str, Any]) -> None:
    """Raise RefusedError if a claim of an accepted file is false."""
    problem = document["problem"]
    found = read_box(document) if "box" in problem["domain"] else read(document)
    kernel = found.rows @ found.matrix
    utility = problem["utility"]
    for table, claim in zip(problem["privacy"], document["privacy"], strict=True):
        _check_notion(table, claim, found, kernel)
    if utility["objective"] == "unbiased-variance":
        _check_reading(document, found)
        return
    if utility["objective"] == "posterior-mean-squared-error":
        joint = found.masses[:, None] * kernel
        sent = joint.sum(axis=0) > 0
        value = (
            found.masses @ found.x**2
            - ((found.x @ joint)[sent] ** 2 / joint.sum(axis=0)[sent]).sum()
        )
        _need_at_most(value, document["value"], "the loss of the kernel")
        readings = np.array(document["channel"]["decoder"])
        best = _optimum(problem, found, readings, 2, worst=False)
        _need_at_most(document["bound"], best, "the bound")
        return
    power = 2 if utility["objective"] == "mean-squared-distance" else 1
    outputs = np.array(document["channel"]["outputs"], dtype=float)
    x = found.x
    if utility["worst_case"]:
        kernel, x = found.shares @ found.matrix, found.many
    loss = (kernel * apart(x, outputs) ** power).sum(axis=1)
    value = loss.max() if utility["worst_case"] else found.masses @ loss
    _need_at_most(value, document["value"], "the loss of the kernel")
    places = np.unique(found.nodes, axis=0)
    best = _optimum(problem, found, places, power, worst=utility["worst_case"])
    _need_at_most(document["bound"], best, "the bound")


def apart(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the distances of numbers, or those of points."""
    far = x[:, None] - y
    return np.abs(far) if far.ndim == 2 else np.sqrt((far**2).sum(axis=2))


def _check_reading(document: dict[str, Any], found: Inputs) -> None:
    """Raise RefusedError if readings are biased, or their variance or its bound is not as said."""
    stated, worst = document["channel"]["readings"], document["problem"]["utility"]["worst_case"]
    bottom, bits = int(stated["denominator"]), document["channel"]["bits"]
    tops = [int(top) for top in stated["numerators"]]
    points = [Fraction(str(point)) for point in document["channel"]["points"]]
    for row, point in zip(document["channel"]["numerators"], points, strict=True):
        mean = sum(int(q) * top for q, top in zip(row, tops, strict=True))
        need(mean == point * (bottom << bits), "a reading with a bias")
    v = np.array([float(Fraction(top, bottom)) for top in tops])
    x, rows = (found.many, found.shares) if worst else (found.x, found.rows)

    def loss(second: Any) -> Any:
        return cp.max(rows @ second - x**2) if worst else found.masses @ (rows @ second - x**2)

    value = float(loss(found.matrix @ v**2).value if worst else loss(found.matrix @ v**2))
    _need_at_most(value, document["value"], "the loss of the kernel")
    Q = cp.Variable(found.matrix.shape, nonneg=True)
    constraints = [cp.sum(Q, axis=1) == 1, Q @ v == found.nodes]
    inputs = found.nodes, found.regions, found.rows
    constraints += _private(document["problem"], found, Q, *inputs)
    program = cp.Problem(cp.Minimize(loss(Q @ v**2)), constraints)
    program.solve(solver=cp.CLARABEL)
    if program.status == cp.OPTIMAL:
        _need_at_most(document["bound"], float(program.value), "the bound")


def _need_at_most(less: float, more: float, what: str) -> None:
    need(less <= more + WITHIN * max(1.0, abs(more)), f"{what}: {less} against {more}")


def _check_notion(
    table: dict[str, Any], claim: dict[str, Any], found: Inputs, kernel: FloatArray
) -> None:
    name, grow = table["notion"], 1 + WITHIN
    epsilon = float(Fraction(str(table["epsilon"]))) if "epsilon" in table else 0.0
    if name in RATIOS:
        of = found.regions
        limits = budgets(table, found.labels, epsilon)[np.ix_(of, of)]
        bounded = np.isfinite(limits) & ~np.eye(len(of), dtype=bool)
        limits = np.exp(np.where(bounded, limits, 0))
        for column in found.matrix.T:
            kept = column[:, None] <= grow * limits * column + 1e-12
            need(kept[bounded].all(), f"{name} is broken")
    elif name in LIFTS:
        rises, falls = lifts(table)
        for law in laws(table, found):
            output = law @ kernel
            need((found.matrix <= grow * rises * output + 1e-12).all(), f"{name} is broken")
            if math.isfinite(falls):
                need((output <= grow * falls * found.matrix + 1e-12).all(), f"{name} is broken")
    elif name == "metric":
        widths = np.diff(found.nodes)[:, None]
        low, high = np.sort(np.stack([found.matrix[:-1], found.matrix[1:]]), axis=0)
        need((high - low <= grow * epsilon * widths * low + 1e-12).all(), "metric is broken")
    elif name == "approximate-ldp":
        delta = float(Fraction(str(table["delta"])))
        for row in found.matrix:
            excess = np.maximum(row - math.exp(epsilon) * found.matrix, 0).sum(axis=1)
            need(excess.max() <= delta + WITHIN, f"{name} is broken")
    elif name == "approximate-lip":
        output, grown = found.masses @ kernel, math.exp(epsilon)
        delta = float(Fraction(str(table["delta"]))) + WITHIN
        rises = np.maximum(found.matrix - grown * output, 0).sum(axis=1)
        falls_by = np.maximum(output - grown * found.matrix, 0).sum(axis=1)
        need(max(rises.max() / grown, falls_by.max()) <= delta, f"{name} is broken")
    elif name == "maximal-leakage":
        need(found.matrix.max(axis=0).sum() <= math.exp(epsilon) * grow, f"{name} is broken")
    elif name == "mutual-information":
        output = found.masses @ kernel
        logs = np.log(np.where(kernel > 0, kernel, 1.0) / np.where(output > 0, output, 1.0))
        need((found.masses[:, None] * kernel * logs).sum() <= epsilon + WITHIN, f"{name} is broken")
    else:
        raise RefusedError(f"the notion {name}")
    if "epsilon" in table:
        need(claim["leakage"] <= epsilon + WITHIN, "the leakage claimed")


def _optimum(
    problem: dict[str, Any], found: Inputs, y: FloatArray, power: int, *, worst: bool
) -> float:
    """Return the least loss of a private channel from atoms to outputs, by a textbook program."""
    # the worst case is over all numbers: those at the nodes count too
    x = np.concatenate([found.x, found.nodes]) if worst else found.x
    rows = np.vstack([found.rows, np.eye(len(found.nodes))]) if worst else found.rows
    of = [found.regions[int(np.argmax(row))] for row in rows]
    k, m = len(x), len(y)
    masses = np.pad(found.masses, (0, k - len(found.masses)))
    Q = cp.Variable((k, m), nonneg=True)
    constraints = [cp.sum(Q, axis=1) == 1]
    constraints += _private(problem, found, Q, x, of, np.eye(len(found.x), k))
    losses = cp.sum(cp.multiply(Q, apart(x, y) ** power), axis=1)
    program = cp.Problem(cp.Minimize(cp.max(losses) if worst else masses @ losses), constraints)
    program.solve(solver=cp.CLARABEL)
    return float(program.value) if program.status == cp.OPTIMAL else math.inf


def _private(
    problem: dict[str, Any],
    found: Inputs,
    Q: cp.Variable,
    x: FloatArray,
    of: list[int],
    weights: FloatArray,
) -> list[Any]:
    """Return the notions of a problem for inputs at some places, in some regions.

    The weights of an atom, ``(n_atoms, n_inputs)``, say which input it is sent to.
    """
    constraints, k, masses = list[Any](), len(x), found.masses @ weights
    for table in problem["privacy"]:
        name = table["notion"]
        epsilon = float(Fraction(str(table.get("epsilon", 0))))
        grow, delta = math.exp(epsilon), float(Fraction(str(table.get("delta", 0))))
        if name in LIFTS:
            for law in laws(table, found):
                mean = np.tile(law @ weights, (k, 1))
                for grown, sign in zip(lifts(table), (1, -1), strict=True):
                    if math.isfinite(grown):
                        part = np.eye(k) - grown * mean if sign > 0 else mean - grown * np.eye(k)
                        constraints.append(part @ Q <= 0)
        elif name == "approximate-ldp":
            for a in range(k):
                excess = cp.pos(np.ones((k, 1)) @ Q[a : a + 1] - grow * Q)
                constraints.append(cp.sum(excess, axis=1) <= delta)
        elif name == "approximate-lip":
            output = np.tile(masses, (k, 1)) @ Q
            constraints.append(cp.sum(cp.pos(Q - grow * output), axis=1) <= grow * delta)
            constraints.append(cp.sum(cp.pos(output - grow * Q), axis=1) <= delta)
        elif name == "maximal-leakage":
            constraints.append(cp.sum(cp.max(Q, axis=0)) <= grow)
        elif name == "mutual-information":
            joint = cp.multiply(masses[:, None], Q)
            output = masses[:, None] @ (masses[None, :] @ Q)
            constraints.append(cp.sum(cp.rel_entr(joint, output)) <= epsilon)
        else:
            limits = (
                budgets(table, found.labels, epsilon)[np.ix_(of, of)]
                if name in RATIOS
                else (epsilon * np.abs(x[:, None] - x))
            )
            pairs = np.argwhere(np.isfinite(limits) & ~np.eye(k, dtype=bool))
            part = np.zeros((len(pairs), k))
            part[np.arange(len(pairs)), pairs[:, 0]] = 1
            part[np.arange(len(pairs)), pairs[:, 1]] -= np.exp(limits[pairs[:, 0], pairs[:, 1]])
            constraints.append(part @ Q <= 0)
    return constraints

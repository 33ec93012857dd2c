"""The five slots of a certificate, evaluated naively: prices are held against all extreme rays.

Every step here rounds up, or takes the best that the slot could prove, so that the bound of the
kernel is at most the bound here, and equal to it but for rounding where the oracle is exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tests.independent.rationals import (
    ONE,
    PI,
    ZERO,
    Unable,
    Vector,
    dot,
    exactly,
    exp,
    ln,
    need,
    root,
)
from tests.independent.reading import distribution, exact, index, keys, numbers, sequence
from tests.independent.statement import Aim, Part, Row, Statement, ratios, unit

MOST_RAYS = 400


@dataclass
class Program:
    constant: Fraction
    nodes: list[list[Fraction]]
    gain: Callable[[Vector], Fraction] | None = None
    curves: list[Vector] | None = None
    tails: int = 0


def bound(statement: Statement, certificate: Any) -> Fraction:
    """Return the most that a certificate may prove of the objective."""
    table = keys(certificate, ["linearization", "oracle"], ["relaxations", "multipliers", "prices"])
    for relaxation in sequence(table.get("relaxations", [])):
        statement = relaxed(statement, relaxation)
    k, program = statement.k, linearized(statement, table["linearization"])
    blocks = sequence(table.get("multipliers", []))
    need(program.gain is None or not blocks, "multipliers of a gain")
    paid = multiplied(statement, program, blocks)
    stated = table.get("prices")
    u = [ZERO] * k if stated is None else [Fraction(v) for v in numbers(stated)]
    need(len(u) == k, "a price for each input")
    oracle = table["oracle"]
    need(isinstance(oracle, dict) and oracle.get("kind") in ORACLES, "an oracle")
    if program.gain is not None:
        rays = extreme(statement)
        n = direction(statement, oracle)
        gains = program.gain
        level = least_level([(-gains(r) - dot(u, r), dot(n, r)) for r in rays])
        return program.constant + sum(u) + level * sum(n)
    plain = len(program.nodes) - program.tails
    need(plain > 0, "a node")
    price = ORACLES[oracle["kind"]](statement, oracle)
    safe = [price(c, u if n < plain else [ZERO] * k) for n, c in enumerate(program.nodes)]
    tiny = Fraction(1, 10**15)
    need(all(min(tail) >= -tiny for tail in safe[plain:]), "tails at which prices 0 are safe")
    joined = [min(entries) for entries in zip(*safe[:plain], strict=True)]
    if program.curves is not None:
        bends = [*zip(safe, safe[1:plain], program.curves, strict=False)]
        joined = [min(sunk(a[x], b[x], c[x]) for a, b, c in bends) for x in range(k)]
    if oracle["kind"] == "entropy":
        paid += sum(exact(v) * statement.limits[n].limit for n, v in oracle["multipliers"])
    return program.constant + sum(joined) - paid


def sunk(a: Fraction, b: Fraction, c: Fraction) -> Fraction:
    """Return the least of (1 - t) a + t b - c t (1 - t)."""
    t = (c + a - b) / (2 * c) if c else ZERO
    inside = [a, b]
    if 0 < t < 1:
        inside.append((1 - t) * a + t * b - c * t * (1 - t))
    return min(inside)


def least_level(pairs: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    """Return the largest level with rest >= level n for all pairs of a rest and n >= 0."""
    found = [rest / n for rest, n in pairs if n > 0]
    need(found and all(rest >= -Fraction(1, 10**15) for rest, n in pairs if n <= 0), "a direction")
    return min(found)


# --- relaxations ----------------------------------------------------------------------------------


def relaxed(s: Statement, table: Any) -> Statement:
    need(isinstance(table, dict), "a relaxation")
    kind, aim = table.get("kind"), s.aim
    if kind == "average":
        w = [Fraction(v) for v in numbers(keys(table, ["kind", "weights"])["weights"])]
        need(len(w) == s.k and min(w) >= 0 < sum(w) and aim.weights is None, "an average")
        need(aim.form in ("loss", "reading", "risk"), "an average of a worst case")
        mean = tuple(v / sum(w) for v in w)
        return replace(s, aim=replace(aim, weights=mean, p=mean))
    if kind == "members":
        keys(table, ["kind", "place", "priors"])
        place = index(table["place"], len(s.cone))
        part = s.cone[place]
        size = s.k if part.matrix is None else len(part.matrix)
        priors = [distribution(p, size) for p in sequence(table["priors"])]
        need(part.has is not None and priors, "a set of priors")
        need(all(map(part.has, priors)), "members of the set")
        return replace(s, cone=[*s.cone[:place], part.listed(priors), *s.cone[place + 1 :]])
    if kind == "restrict":
        kept = [index(x, s.k) for x in sequence(keys(table, ["kind", "inputs"])["inputs"])]
        need(kept and len(set(kept)) == len(kept), "inputs, each once")
        gone = [x for x in range(s.k) if x not in kept]
        return cut(s, kept, forgotten(aim, kept, gone))
    if kind == "implied":
        keys(table, ["kind"], ["alone"])
        return implied(s, table.get("alone", True))
    if kind == "estimator":
        return replace(s, aim=estimated(aim, table, s.k))
    need(kind == "representatives", "a relaxation")
    r = [index(x, s.k) for x in sequence(keys(table, ["kind", "stands"])["stands"], s.k)]
    need(all(r[i] == i for i in r) and aim.form == "loss" and aim.weights, "representatives")
    return represented(s, r)


def estimated(aim: Aim, table: Any, k: int) -> Aim:
    """Return a gain of squares, less than which no risk is: any multiple of p may be added."""
    need(aim.form == "risk" and aim.weights is not None, "a risk")
    keys(table, ["kind", "vectors"], ["tangents"])
    p = aim.weights
    rows = [tuple(Fraction(v) for v in numbers(row)) for row in sequence(table["vectors"], k)]
    need(len(p) == k and min(p) > 0 and all(len(row) == k for row in rows), "k vectors")
    weights, constant, factor = [ONE] * k, -dot(p, p), ONE
    multiples = [a - sum(row) for a, row in zip(p, rows, strict=True)]
    if aim.roots:
        tangents = [Fraction(t) for t in numbers(table.get("tangents", []))]
        need(len(tangents) == k and min(tangents) > 0, "tangents")
        for x, (a, t) in enumerate(zip(p, tangents, strict=True)):
            slope = (t * t - a * a) / (2 * t)
            need(slope >= 0 or slope * slope <= a - a * a, "a tangent that is large enough")
            weights[x] = (t * t + a * a) ** 2 / (2 * t)
            multiples[x] = (1 - rows[x][x]) / a
        constant = sum(
            (t + (t * t + a * a) / (2 * t) for a, t in zip(p, tangents, strict=True)), ZERO
        )
        factor = root(1 / (2 * PI[0]))[1]
    for x, (b, row, m) in enumerate(zip(weights, rows, multiples, strict=True)):
        constant -= b * (2 * m * sum(row) + m * m)
        if not aim.roots:
            constant += 2 * (row[x] + m * p[x])

    def gain(q: Vector) -> Any:
        squares = (b * dot(a, q) ** 2 for b, a in zip(weights, rows, strict=True))
        return exactly(factor * sum(squares, ZERO) / dot(p, q))

    return Aim("gain", aim.sign, gain=gain, constant=factor * constant, vectors=rows, p=p)


def cut(s: Statement, kept: list[int], aim: Aim) -> Statement:
    place = {x: n for n, x in enumerate(kept)}

    def short(v: Vector) -> Vector:
        return tuple(v[x] for x in kept)

    def inside(*vectors: Vector) -> bool:
        return all(not a or x in place for v in vectors for x, a in enumerate(v))

    def rows(found: Iterable[Row]) -> list[Row]:
        left = [row for row in found if inside(row.left, row.right)]
        return [Row(short(row.left), short(row.right), row.exponent) for row in left]

    cone, limits = [], []
    for part in s.cone:
        priors = part.extremes or [] if part.matrix is None else []
        listed = [short(p) for p in priors if inside(p)]
        pairs = {key: row for key, row in part.rows.items() if {key[1], key[2]} <= set(kept)}
        if part.matrix is None and part.kind == "ratio":
            keys_ = [("", place[x], place[z]) for _, x, z in pairs]
            cone.append(replace(part, rows=dict(zip(keys_, rows(pairs.values()), strict=True))))
        elif listed:
            cone.append(part.listed(listed))
        else:
            own = rows(part.rows.values()) if part.kind == "rows" and part.matrix is None else []
            cone.append(Part({("", n, 0): row for n, row in enumerate(own)}))
    for limit in s.limits:
        if limit.prior is not None and inside(limit.prior):
            limits.append(replace(limit, prior=short(limit.prior)))
        elif limit.prior is None and (parts := rows(limit.parts)):
            limits.append(replace(limit, parts=parts))
    return Statement(len(kept), cone, limits, aim)


def forgotten(aim: Aim, kept: list[int], gone: list[int]) -> Aim:
    def short(v: Vector) -> Vector:
        return tuple(v[x] for x in kept) if v else v

    need(aim.form != "risk", "no risk")
    if aim.form == "gain":
        need(aim.gain is not None, "a gain")
        gain, k = aim.gain, len(kept) + len(gone)
        vectors = [*aim.vectors, aim.p]
        blind = aim.p and not any(v[x] for v in vectors for x in gone)
        if not aim.p:
            blind = all(gain(unit(x, k)) == (ZERO, ZERO) for x in gone)
        need(blind, "a gain that does not see what is forgotten")

        def inner(q: Vector) -> Any:
            whole = [ZERO] * k
            for x, v in zip(kept, q, strict=True):
                whole[x] = v
            return gain(tuple(whole))

        return replace(aim, gain=inner, vectors=[short(v) for v in aim.vectors], p=short(aim.p))
    if aim.form == "loss" and aim.weights is not None:
        seen = [x for x in gone if aim.weights[x]]
        need(all(c[x][0] >= 0 for c in aim.costs for x in seen), "costs that are not negative")
    weights = None if aim.weights is None else short(aim.weights)
    costs = [[c[x] for x in kept] for c in aim.costs]
    return replace(aim, weights=weights, p=short(aim.p), costs=costs, values=short(aim.values))


def implied(s: Statement, alone: Any) -> Statement:
    k = s.k
    least: dict[tuple[int, int], Fraction] = {}
    for part in s.cone:
        for (side, x, z), row in part.rows.items():
            plain = part.kind == "ratio" and not part.scaled and part.matrix is None
            pairs = [(x, z)] if plain else []
            if side == "upper" and "lower" in part.sides and part.matrix is None:
                pairs = [(x, other) for other in range(k) if other != x]
            for pair in pairs:
                e = row.exponent[0] + (part.sides["lower"] if side else ZERO)
                least[pair] = min(least.get(pair, e), e)
    for y, x, z in itertools.product(range(k), repeat=3):
        if x != z and (x, y) in least and (y, z) in least:
            way = least[x, y] + least[y, z]
            least[x, z] = min(least.get((x, z), way), way)
    if not alone:
        more = ratios(k, lambda x, z: exactly(least[x, z]) if (x, z) in least else None)
        return replace(s, cone=[*s.cone, more])
    need(k > 1 and len(least) == k * (k - 1), "ratios of all pairs")
    most = max(least.values())
    return replace(s, cone=[ratios(k, lambda *_: exactly(most))])


def represented(s: Statement, r: list[int]) -> Statement:
    kept, aim = sorted(set(r)), s.aim
    shares = []
    for x, i in enumerate(r):
        best = ONE if x == i else ZERO
        for row in [] if x == i else known(s, i, x):
            best = max(best, exp(-row.exponent[0])[1] / row.right[x])
        shares.append(best * aim.weights[x])
    costs = []
    for c in aim.costs:
        need(all(c[x][0] >= 0 for x in range(s.k) if aim.weights[x]), "costs >= 0")
        costs.append(
            [
                exactly(sum((shares[x] * c[x][0] for x in range(s.k) if r[x] == i), ZERO))
                for i in kept
            ]
        )
    moved = replace(aim, weights=(ONE,) * len(kept), p=(), costs=costs)
    return cut(s, kept, moved)


# --- linearizations -------------------------------------------------------------------------------


def linearized(s: Statement, table: Any) -> Program:
    need(isinstance(table, dict), "a linearization")
    kind, aim, k = table.get("kind"), s.aim, s.k
    if kind == "costs":
        need(aim.form == "loss" and aim.weights is not None, "a mean loss")
        need(len(aim.weights) == k, "weights")
        costs = [[a * c[0] for a, c in zip(aim.weights, d, strict=True)] for d in aim.costs]
        return Program(ZERO, costs)
    if kind in ("gain", "boxes"):
        need(aim.form == "gain" and aim.gain is not None, "a gain")
        return Program(aim.constant, [], gain=lambda q: aim.gain(q)[0])
    if kind == "decoders":
        need(aim.form == "gain" and len(aim.vectors) == 1, "one square")
        p, v = aim.p, aim.vectors[0]
        s_ = [exact(a) for a in sequence(keys(table, ["kind", "nodes"])["nodes"])]
        need(all(b > 0 or a == b for a, b in zip(v, p, strict=True)), "a gain that is finite")
        ends = [a / b for a, b in zip(v, p, strict=True) if b]
        need(s_[0] <= min(ends) and max(ends) <= s_[-1], "decoders that reach")
        return parabolas(s_, p, tuple(2 * a for a in v), aim.constant)
    if kind == "chords":
        need(aim.form == "gain" and aim.gain is not None and len(aim.vectors) == 1, "a scalar")
        p, v = aim.p, aim.vectors[0]
        s_ = [exact(a) for a in sequence(keys(table, ["kind", "nodes"])["nodes"])]
        need(len(s_) > 1 and all(a < b for a, b in itertools.pairwise(s_)), "nodes that rise")
        pairs = itertools.combinations(range(k), 2)
        minors = ((x, z, p[x] * v[z] - p[z] * v[x]) for x, z in pairs)
        x, z, d = next((found for found in minors if found[2]), (0, 0, ZERO))
        if not d:
            raise Unable("chords of equal mixtures")
        heights = []
        for s in s_:  # at q with p . q = 1 and v . q = s
            q = zip(
                unit(x, k, (v[z] - s * p[z]) / d), unit(z, k, (s * p[x] - v[x]) / d), strict=True
            )
            heights.append(aim.gain(tuple(a + b for a, b in q))[1])
        nodes = []
        points = zip(s_, heights, strict=True)
        for (r, at_r), (t, at_t) in itertools.pairwise(points):
            slope = (at_t - at_r) / (t - r)
            nodes.append([-(at_r - slope * r) * a - slope * b for a, b in zip(p, v, strict=True)])
        for sign, t in ((-1, s_[0]), (1, s_[-1])):
            nodes.append([sign * (t * a - b) for a, b in zip(p, v, strict=True)])
        return Program(aim.constant, nodes, tails=2)
    if kind == "readings":
        need(aim.form == "reading" and aim.weights is not None, "a mean variance")
        keys(table, ["kind", "probes", "slopes"])
        w, f = aim.weights, aim.values
        m = tuple(Fraction(v) for v in numbers(table["slopes"]))
        need(len(m) == k, "a slope for each input")
        probes = [exact(a) for a in sequence(table["probes"])]
        constant = dot(m, f) - dot(w, tuple(v * v for v in f))
        found = parabolas(probes, w, m, constant)
        for sign, t in ((-1, probes[0]), (1, probes[-1])):
            found.nodes.append([sign * (2 * t * b - a) for a, b in zip(m, w, strict=True)])
        return replace(found, tails=2)
    raise Unable("a linearization")


def parabolas(s: list[Fraction], p: Vector, v: Vector, constant: Fraction) -> Program:
    """Return nodes with the costs s**2 p - s v, and what lies below their chords."""
    need(len(s) > 1 and all(a < b for a, b in itertools.pairwise(s)), "nodes that rise")
    nodes = [[t * t * a - t * b for a, b in zip(p, v, strict=True)] for t in s]
    curves = [tuple((b - a) ** 2 * w for w in p) for a, b in itertools.pairwise(s)]
    return Program(constant, nodes, curves=curves)


# --- multipliers ----------------------------------------------------------------------------------


def multiplied(s: Statement, program: Program, stated: list[Any]) -> Fraction:
    """Add multipliers to the nodes; return what limits cost."""
    nodes, plain = program.nodes, len(program.nodes) - program.tails
    by_limit: dict[int, list[tuple[int, int, Fraction]]] = {}
    for block in stated:
        keys(block, ["of", "place", "node", "x", "weight"], ["other", "side"])
        at, x, w = numbers(block["node"], True), numbers(block["x"], True), numbers(block["weight"])
        other = numbers(block.get("other", []), True) or [0] * len(x)
        need(len(at) == len(x) == len(w) == len(other), "lists of one length")
        need(min(w, default=0) >= 0, "multipliers >= 0")
        for node, i, j, v in zip(at, x, other, w, strict=True):
            weight = Fraction(v)
            if block["of"] == "limit":
                place = index(block["place"] + j, len(s.limits))
                part = index(i, len(s.limits[place].parts))
                by_limit.setdefault(place, []).append((index(node, plain), part, weight))
                continue
            need(block["of"] == "cone", "of a cone or of a limit")
            rows = s.cone[index(block["place"], len(s.cone))].rows
            row = rows.get((block.get("side", ""), i, j))
            need(row is not None, "a row that exists")
            cost = nodes[index(node, len(nodes))]
            for z, g in enumerate(row.net()):
                if g:
                    cost[z] += weight * g
    paid = ZERO
    for place, terms in by_limit.items():
        limit = s.limits[place]
        sums = [sum((w for n, _, w in terms if n == node), ZERO) for node in range(plain)]
        most = max(sums)
        paid += most * limit.most(False)
        for node, part, w in [*terms, *((n, 0, most - have) for n, have in enumerate(sums))]:
            net = limit.parts[part].net()
            nodes[node] = [c + w * a for c, a in zip(nodes[node], net, strict=True)]
    return paid


# --- oracles --------------------------------------------------------------------------------------

Price = Callable[[Sequence[Fraction], Sequence[Fraction]], list[Fraction]]


def extreme(s: Statement) -> list[Vector]:
    """Return the extreme rays of the cone, with rows a little stricter than they are."""
    rows = {row.net() for part in s.cone for row in part.rows.values()}
    return rays(s.k, [row for row in rows if max(row) > 0])


def rays(k: int, rows: Sequence[Vector]) -> list[Vector]:
    """Return the extreme rays of {q >= 0 : row . q <= 0}, one row after the other."""
    found = [(unit(x, k), frozenset(range(k)) - {x}) for x in range(k)]  # and the rows it lies on
    for n, row in enumerate(rows, start=k):
        side = [(ray, on, dot(row, ray)) for ray, on in found]
        below = [(ray, on, v) for ray, on, v in side if v < 0]
        above = [(ray, on, v) for ray, on, v in side if v > 0]
        new = []
        for (a, on_a, v), (b, on_b, w) in itertools.product(below, above):
            both = on_a & on_b
            if len(both) >= k - 2 and not any(
                both <= on for ray, on, _ in side if ray is not a and ray is not b
            ):
                between = tuple(w * s - v * t for s, t in zip(a, b, strict=True))
                new.append((short(between), both | {n}))
        found = [(ray, on | {n} if v == 0 else on) for ray, on, v in side if v <= 0] + new
        if len(found) > MOST_RAYS:
            raise Unable("many rays")
        need(found, "a column that is private")
    return [ray for ray, _ in found]


def short(ray: Vector) -> Vector:
    whole = math.lcm(*(v.denominator for v in ray))
    ints = [int(v * whole) for v in ray]
    divisor = math.gcd(*ints)
    return tuple(Fraction(v, divisor) for v in ints)


def known(s: Statement, x: int, z: int) -> list[Row]:
    """Return the rows of generators of ratios that bound q_x / q_z."""
    parts = [part for part in s.cone if part.kind == "ratio" and part.matrix is None]
    return [part.rows["", x, z] for part in parts if ("", x, z) in part.rows]


def direction(s: Statement, table: Any) -> Vector:
    """Return the direction in which prices fall: that of the objective, or a prior."""
    if table["kind"] == "knapsack":
        if table.get("p") is not None:
            return distribution(table["p"], s.k)
        listed = [
            p for part in s.cone if part.sides and part.matrix is None for p in part.extremes or []
        ]
        need(len(set(listed)) < 2, "one prior")
        if listed:
            return listed[0]
    return s.aim.p or s.aim.weights or (ONE,) * s.k


def along(s: Statement, table: Any) -> Price:
    """Raise or lower prices along one direction, as far as all rays allow."""
    n, found = direction(s, table), extreme(s)
    upper = any("upper" in part.sides for part in s.cone)

    def price(cost: Sequence[Fraction], u: Sequence[Fraction]) -> list[Fraction]:
        if table["kind"] == "knapsack" and not upper:
            u = [b if w else min(a, b) for a, b, w in zip(cost, u, n, strict=True)]
        d = tuple(a - b for a, b in zip(cost, u, strict=True))
        level = least_level([(dot(d, r), dot(n, r)) for r in found])
        return [v + level * w for v, w in zip(u, n, strict=True)]

    return price


def orthant(s: Statement, table: Any) -> Price:
    keys(table, ["kind"])
    return lambda cost, _: list(cost)


def one_budget(s: Statement, table: Any) -> Price:
    keys(table, ["kind"], ["blocks"])
    found, n = extreme(s), direction(s, table)
    stated = table.get("blocks")
    blocks = [[index(x, s.k) for x in b] for b in stated] if stated else [list(range(s.k))]
    members = [x for block in blocks for x in block]
    need(len(set(members)) == len(members), "blocks that do not overlap")

    def price(cost: Sequence[Fraction], u: Sequence[Fraction]) -> list[Fraction]:
        safe = [min(a, b) for a, b in zip(cost, u, strict=True)]
        for block in blocks:
            bounded = [all(x == z or known(s, x, z) for z in block) for x in block]
            w = [n[x] for x in block]
            w = w if any(w) else [ONE * (i == 0) for i in range(len(block))]
            own = [u[x] if b else safe[x] for x, b in zip(block, bounded, strict=True)]
            d = [cost[x] - v for x, v in zip(block, own, strict=True)]
            parts = [tuple(r[x] for x in block) for r in found]
            parts = [r for r in parts if any(r)]
            level = least_level([(dot(tuple(d), r), dot(tuple(w), r)) for r in parts])
            for x, v, m in zip(block, own, w, strict=True):
                safe[x] = v + level * m
        return safe

    return price


def line(s: Statement, table: Any) -> Price:
    """Walk from both ends of an order; all that is lacking goes to the best input."""
    stated = keys(table, ["kind"], ["order"]).get("order")
    order = list(range(s.k)) if stated is None else [index(x, s.k) for x in stated]
    need(sorted(order) == list(range(s.k)), "all inputs in an order")

    def most(x: int, z: int) -> Fraction:
        ends = [exp(row.exponent[0])[0] * row.right[z] for row in known(s, x, z)]
        need(ends, "neighbors that bound each other")
        return min(ends)

    up = {(x, z): most(z, x) for x, z in itertools.pairwise(order)}  # q_z <= up q_x
    up |= {(z, x): most(x, z) for x, z in itertools.pairwise(order)}

    def price(cost: Sequence[Fraction], u: Sequence[Fraction]) -> list[Fraction]:
        d = [a - b for a, b in zip(cost, u, strict=True)]
        worth = [ZERO] * s.k
        for way in (order, order[::-1]):
            rest = ZERO
            for z, x in itertools.pairwise(way):  # what lies before x, from the far end
                total = rest + d[z]
                rest = total * (up[x, z] if total < 0 else 1 / up[z, x])
                worth[x] += rest
        worth = [a + b for a, b in zip(worth, d, strict=True)]
        root_, safe = worth.index(max(worth)), list(u)
        safe[root_] += max(worth)
        return safe

    return price


def entropy(s: Statement, table: Any) -> Price:
    keys(table, ["kind", "multipliers", "levels"])
    pairs = [(s.limits[index(n, len(s.limits))], exact(v)) for n, v in table["multipliers"]]
    need(pairs and all(a.prior is not None and v > 0 for a, v in pairs), "information")
    need(len({a.prior for a, _ in pairs}) == 1, "one prior")
    p, v, b = pairs[0][0].prior, sum(m for _, m in pairs), numbers(table["levels"])
    need(len(b) == s.k, "a level for each input")

    def price(cost: Sequence[Fraction], u: Sequence[Fraction]) -> list[Fraction]:
        terms = [
            w * exp(max(Fraction(-2000), (Fraction(a) - c / w) / v))[0]
            for w, a, c in zip(p, b, cost, strict=True)
            if w
        ]
        taken = v * ln(sum(terms, ZERO))[0]
        return [w * (Fraction(a) - taken) if w else c for w, a, c in zip(p, b, cost, strict=True)]

    return price


ORACLES: dict[str, Callable[[Statement, Any], Price]] = {
    "orthant": orthant,
    "line": line,
    "one-budget": one_budget,
    "knapsack": along,
    "rays": along,
    "products": lambda *_: need(False, "a gain"),
    "entropy": entropy,
}

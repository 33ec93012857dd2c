"""Random numbers, distributions and channels, exact, for the tests of the kernel."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from benchmarks.bounded_sample import random_problem
from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.gains import Entropy, Gain, Hellinger, Squares, units
from mechdesign.kernel.generators import (
    Cone,
    Constant,
    Distance,
    Lift,
    Listed,
    ListedRow,
    Matrix,
    Ratio,
    Rows,
)
from mechdesign.kernel.names import ProblemTable, compile_problem
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import Cost, Ends, Oracle, Program, safe_bound
from mechdesign.kernel.schema import read, write
from mechdesign.kernel.statement import Statement
from tests.independent import bounds, statement as independent

Vector = tuple[Fraction, ...]

ONE = Fraction(1)

WHOLE = 1 << 20
"""The sum of each row of drawn channels."""


def number(rng: random.Random, low: int = -4, high: int = 4) -> Fraction:
    """Return a rational whose multiples of 2**-192 are not whole, mostly."""
    return low + (high - low) * Fraction(rng.randint(0, 21), 21)


def numbers(rng: random.Random, k: int, low: int = -4, high: int = 4) -> Vector:
    return tuple(number(rng, low, high) for _ in range(k))


def prior(rng: random.Random, k: int, least: int = 1) -> Vector:
    """Return a distribution; with ``least`` 0 some masses may be 0."""
    masses = [rng.randint(least, 9) for _ in range(k)]
    masses[rng.randrange(k)] += 1
    return tuple(Fraction(m, sum(masses)) for m in masses)


def row(rng: random.Random, m: int) -> list[int]:
    cuts = sorted(rng.randint(0, WHOLE) for _ in range(m - 1))
    return [b - a for a, b in zip([0, *cuts], [*cuts, WHOLE], strict=True)]


def channel(rng: random.Random, k: int, m: int) -> list[list[int]]:
    """Return the columns of a channel over WHOLE."""
    return list(map(list, zip(*(row(rng, m) for _ in range(k)), strict=True)))


def private_column(rng: random.Random, ceilings: list[list[Fraction | None]]) -> Vector:
    """Return a column with q_x <= ceilings[x][z] q_z for all pairs that have one."""
    k = len(ceilings)
    q = [Fraction(rng.randint(1, 40)) for _ in range(k)]
    for _ in range(k):
        for x in range(k):
            for z in range(k):
                bound = ceilings[x][z]
                if x != z and bound is not None:
                    q[x] = min(q[x], bound * q[z])
    return tuple(q)


def exact(cost: Cost) -> list[Fraction]:
    """Return a cost over UNIT as fractions."""
    return [Fraction(v, UNIT) for v in cost]


def dot(a: Sequence[Fraction] | Sequence[int], q: Sequence[Fraction] | Sequence[int]) -> Fraction:
    return sum((x * y for x, y in zip(a, q, strict=True)), Fraction(0))


@contextmanager
def refused(words: str = ".") -> Iterator[None]:
    with pytest.raises(CertificateError, match=words):
        yield


class Plain(Oracle):
    """Takes costs as safe prices, as q >= 0, and a gain as costing nothing."""

    kind = "plain"

    def linear(self, statement: Statement):
        def price(cost: Cost, prices: Cost, region: Ends | None) -> Cost:
            return cost

        return price

    def gain(self, statement: Statement, gain: object, prices: Cost) -> Cost:
        return prices


# ---- random cones, their rays, and linear programs over them -----------------------------------


def gained(k: int, form: Gain | None = None, p: Vector | None = None) -> Gain:
    """Return an objective with weights p, which oracles take as their direction."""
    p = (ONE / k,) * k if p is None else p
    return Squares(units(p), p) if form is None else form


def gains(rng: random.Random, k: int, p: Vector) -> list[Gain]:
    """Return gains of all forms; the first two split at p."""
    vectors = tuple(numbers(rng, k, 0, 3) for _ in range(rng.randint(1, 3)))
    masses = tuple(dot(v, (ONE,) * k) + ONE / 7 for v in vectors)
    return [
        Squares(units(p), p),
        Entropy.of_inputs(p),
        Squares(tuple(numbers(rng, k) for _ in range(2)), p, (ONE / 3, 2 * ONE)),
        Entropy(vectors, p, masses),
        Hellinger.of(numbers(rng, k, 0, 3), p),
    ]


def exponent(rng: random.Random) -> Fraction:
    return Fraction(rng.randint(6, 25), 12)


def ratio(rng: random.Random, k: int, kind: str) -> Ratio:
    """Return bounds that (1, .., 1) keeps strictly."""
    p = tuple(Fraction(rng.randint(8, 10)) for _ in range(k)) if rng.random() < 0.3 else None
    p = p and tuple(v / sum(p) for v in p)
    if kind == "matrix":
        loose = rng.choice((0, 0.3, 0.6))
        table = [
            [Fraction(0) if x == z else "inf" if rng.random() < loose else exponent(rng)
             for z in range(k)]
            for x in range(k)
        ]  # fmt: skip
        return Ratio(Matrix(tuple(map(tuple, table))), p)
    if kind == "distance":
        points = tuple((Fraction(x), Fraction(rng.randint(0, 3))) for x in range(k))
        name = rng.choice(("manhattan", "euclidean"))
        return Ratio(Distance(exponent(rng), name, points, Fraction(rng.randint(0, 1), 3)), p)
    blocks = tuple(rng.randint(0, 1) for _ in range(k)) if kind == "blocks" else None
    some = tuple(x for x in range(k) if rng.random() < 0.6) if kind == "protected" else None
    return Ratio(Constant(exponent(rng), blocks, some), p)


def lift(rng: random.Random, p: Vector, *, two: bool = False) -> Lift:
    """Return bounds on the lift at p, from one side or from both."""
    lower, upper = (1, 1) if two else rng.choice(((1, 1), (0, 1), (1, 0)))
    small, large = exponent(rng) / 2, exponent(rng) / 2
    return Lift(small if lower else None, large if upper else None, Listed((p,)))


def some_blocks(rng: random.Random, k: int) -> tuple[tuple[int, ...], ...] | None:
    """Return disjoint blocks of some inputs, or None."""
    members = rng.sample(range(k), rng.randint(1, k))
    cut = rng.randint(1, len(members))
    found = tuple(tuple(b) for b in (members[:cut], members[cut:]) if b)
    return None if rng.random() < 0.5 else found


KINDS = ("constant", "blocks", "protected", "matrix", "distance")


def cone(rng: random.Random, k: int) -> tuple[Cone, ...]:
    """Return one to three generators of which (1, .., 1) keeps all rows strictly."""
    parts: list[Cone] = [ratio(rng, k, rng.choice(KINDS))]
    if rng.random() < 0.3:
        parts.append(ratio(rng, k, rng.choice(KINDS)))
    if rng.random() < 0.4:
        priors = Listed(tuple(prior(rng, k, least=0) for _ in range(rng.randint(1, 2))))
        lower, upper = rng.choice(((1, 1), (0, 1), (1, 0)))
        parts.append(
            Lift(exponent(rng) if lower else None, exponent(rng) if upper else None, priors)
        )
    if rng.random() < 0.3:
        left, right = numbers(rng, k, 0, 2), numbers(rng, k, 1, 3)
        scale = sum(left) / sum(right) + ONE / 5
        right = tuple(scale * v for v in right)
        row = ListedRow(tuple(enumerate(left)), ONE / 3, tuple(enumerate(right)))
        parts.append(Rows((row,)))
    return tuple(parts)


def rows(statement: Statement) -> list[Vector]:
    """Return rows g, g . q <= 0, by the second verifier: a little stricter than those stated."""
    parts = (independent.own_part(write(part), statement.k) for part in statement.cone)
    return [*dict.fromkeys(row.net() for part in parts for row in part.rows.values())]


def rays(statement: Statement) -> list[list[int]]:
    """Return the extreme rays of a cone, which is a little smaller than the one stated."""
    listed = bounds.rays(statement.k, [row for row in rows(statement) if max(row) > 0])
    return [list(map(int, ray)) for ray in listed]


TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def least_cost(statement: Statement, costs: Sequence[Sequence[Fraction]]) -> tuple[float, Numbers]:
    """Return the least sum of costs of columns, one column a cost, and the best prices."""
    G, m, k = (
        np.array(rows(statement), dtype=float).reshape(-1, statement.k),
        len(costs),
        statement.k,
    )
    found = scipy.optimize.linprog(
        np.array(costs, dtype=float).ravel(),
        A_ub=np.kron(np.eye(m), G),
        b_ub=np.zeros(m * len(G)),
        A_eq=np.tile(np.eye(k), m),
        b_eq=np.ones(k),
        options=TOLERANCES,
    )
    assert found.status == 0, found.message
    return float(found.fun), Numbers(map(float, found.eqlin.marginals))


def most_gain(columns: Sequence[Sequence[int]], gain: Gain) -> tuple[float, Numbers]:
    """Return minus the largest gain of a mixture of columns that sums to 1, and the best prices."""
    scaled_rays = [[Fraction(v, max(r)) for v in r] for r in columns]
    found = scipy.optimize.linprog(
        [-float(gain(r, up=True)) for r in scaled_rays],
        A_eq=np.array(scaled_rays, dtype=float).T,
        b_eq=np.ones(len(columns[0])),
        options=TOLERANCES,
    )
    assert found.status == 0, found.message
    return float(found.fun), Numbers(map(float, found.eqlin.marginals))


def cost(rng: random.Random, k: int) -> Cost:
    """Return a cost, or prices, over UNIT."""
    return [int(v * UNIT) + rng.randint(-9, 9) for v in numbers(rng, k)]


def safe_for_costs(rng: random.Random, statement: Statement, oracle: Oracle) -> None:
    """Assert that prices of random costs are safe on all extreme rays, exactly."""
    price, columns = oracle.linear(statement), rays(statement)
    for _ in range(4):
        c, u = cost(rng, statement.k), cost(rng, statement.k)
        safe = price(list(c), list(u), None)
        assert all(dot(safe, q) <= dot(c, q) for q in columns)


def safe_for_gain(
    statement: Statement, oracle: Oracle, gain: Gain, prices: Cost, columns: list[list[int]]
) -> Cost:
    """Assert that prices of a gain are safe on columns; gains are rounded down."""
    safe = oracle.gain(statement, gain, prices)
    assert all(gain(q, up=False) * UNIT + dot(safe, q) <= 0 for q in columns)
    return safe


def proved(
    statement: Statement, costs: Sequence[Sequence[Fraction]], prices: Numbers, oracle: Oracle
) -> float:
    """Return the bound on the least sum of costs."""
    program = Program(Fraction(0), [[floor(v * UNIT) for v in c] for c in costs])
    return float(safe_bound(statement, program, (), prices, oracle))


def proved_gain(statement: Statement, gain: Gain, prices: Numbers, oracle: Oracle) -> float:
    """Return the bound on minus the largest sum of gains."""
    return float(safe_bound(statement, Program(Fraction(0), gain=gain), (), prices, oracle))


# ---- statements of problems --------------------------------------------------------------------


def texts(vector: Vector) -> list[str]:
    return [str(v) for v in vector]


def statements(rng: random.Random) -> tuple[Statement, independent.Statement]:
    """Return the statement of a problem of two to four inputs, as each verifier reads it."""
    table = random_problem(rng.randrange(10**9), 0, range(2, 5))[2].to_table()
    k = len(table["prior"])
    some, values = rng.sample(range(k), rng.randint(2, k)), texts(numbers(rng, k))
    laws = [iter(texts(prior(rng, len(some)))) for _ in range(2)]
    first, second = ([next(law) if x in some else "0" for x in range(k)] for law in laws)
    own: list[dict[str, Any]] = [
        *({"objective": name, "first": first, "second": second} for name in independent.MIXTURES),
        *(
            {"objective": "unbiased-variance", "values": values, "worst_case": w}
            for w in (False, True)
        ),
        {"objective": "fisher-information", "scores": [[v] for v in values]},
    ]
    if rng.random() < 0.5 and "0" not in table["prior"]:
        table["utility"] = rng.choice(own)
    if rng.random() < 0.2:
        distance = "euclidean" if "grid" in table["domain"] else "absolute"
        table["privacy"].append({"notion": "attack-error", "least": "1/9", "distance": distance})
    mine = compile_problem(read(ProblemTable, table)).statement
    return mine, independent.read_problem(table).statement

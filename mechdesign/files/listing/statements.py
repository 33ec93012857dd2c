"""The statement of a listing: generators, limits, the objective and its answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import lattice, over_one_denominator
from mechdesign.kernel.gains import Squares
from mechdesign.kernel.generators import (
    Ball,
    Box,
    Cone,
    Constant,
    Distance,
    Latent,
    Lift,
    Listed,
    ListedRow,
    Matrix,
    Ratio,
    Rows,
)
from mechdesign.kernel.limits import Gauge, Limit
from mechdesign.kernel.objectives import Loss, Objective
from mechdesign.kernel.statement import Statement

ONE = Fraction(1)


class UnprovedError(CertificateError):
    """The verified checker does not support a part of the file."""

    def __init__(self, part: str) -> None:
        super().__init__(f"the verified checker does not support {part}")


def line(numbers: Iterable[Any]) -> str:
    """Return numbers on a line."""
    return " ".join(map(str, numbers))


def counted(numbers: Sequence[Any]) -> str:
    """Return the length of a list and its elements."""
    return line([len(numbers), *numbers])


def exponent(a: Fraction | None, square: Fraction = ONE) -> str:
    """Return the number a * sqrt(square), or the word for an unbounded exponent."""
    return "none" if a is None else f"{a} {square}"


def rows(listed: Sequence[ListedRow]) -> str:
    """Return listed rows."""
    words = [f"rows {len(listed)}"]
    for row in listed:
        left, right = (f"{len(side)} {_pairs(side)}" for side in (row.left, row.right))
        words.append(f"left {left} {exponent(row.exponent)} right {right}")
    return "\n".join(words)


def _pairs(side: Iterable[tuple[int, Fraction]]) -> str:
    return " ".join(f"{x} {v}" for x, v in side)


def parts(statement: Statement) -> Iterator[tuple[int, Cone, Cone]]:
    """Yield the generators of the checker, each with the index and the generator it comes from.

    A lift at several priors becomes one lift per prior; rows on latent inputs become listed rows.
    """
    for place, part in enumerate(statement.cone):
        if isinstance(part, Lift) and isinstance(part.priors, Listed):
            for prior in part.listed():
                yield place, part, Lift(part.lower, part.upper, Listed((prior,)))
        elif isinstance(part, Latent):
            inner = part.inner
            if isinstance(inner, Ratio) and isinstance(inner.exponents, Distance):
                raise UnprovedError("distances behind the inputs")
            if isinstance(inner, Lift) and not isinstance(inner.priors, Listed):
                raise UnprovedError("sets of priors behind the inputs")
            pulled = [part.row(key, statement.k, up=True) for key in part.keys(statement.k)]
            yield place, part, Rows(tuple(pulled))
        else:
            yield place, part, part


def cone_words(statement: Statement) -> Iterator[str]:
    """Yield the lines of the generators."""
    found = [part for _, _, part in parts(statement)]
    yield f"cone {len(found)}"
    for part in found:
        yield from _generator(part, statement.k)


def _generator(part: Cone, k: int) -> Iterator[str]:
    if isinstance(part, Ratio):
        yield from _ratio(part, k)
    elif isinstance(part, Lift):
        ends = f"{exponent(part.lower)} {exponent(part.upper)}"
        yield f"{_set(part.priors)[0]} {ends} {line(_set(part.priors)[1:])}"
    elif isinstance(part, Rows):
        yield rows(part.rows)
    else:
        raise UnprovedError(f"the generator {part.kind!r}")


def _set(priors: Listed | Ball | Box) -> list[Any]:
    """Return the kind of a set of priors, and its integers over a common denominator."""
    if isinstance(priors, Ball):
        masses, over = over_one_denominator((*priors.center, priors.radius))
        return ["lift-ball", over, *masses]
    if isinstance(priors, Box):
        (low, high), over = lattice((priors.low, priors.high))
        return ["lift-box", over, *low, *high]
    masses, over = over_one_denominator(priors.priors[0])
    return ["lift", over, *masses]


def limit_words(limit: Limit) -> str:
    """Return a limit as text."""
    if not isinstance(limit, Gauge) or limit.below is not None or limit.limit < 0:
        raise UnprovedError(f"the limit {limit.kind!r}")
    return f"{exponent(limit.exponent)} {limit.limit} {rows(limit.parts)}"


def _ratio(part: Ratio, k: int) -> Iterator[str]:
    e = part.exponents
    weights = [1] * k if part.prior is None else over_one_denominator(part.prior)[0]
    if isinstance(e, Constant):
        guarded = (int(e.protected is None or x in e.guarded) for x in range(k))
        yield f"constant {exponent(e.exponent)}"
        yield line([0] * k if e.block is None else e.block)
        yield line(guarded)
    else:
        known: dict[str, int] = {}
        table = [
            [known.setdefault(a, len(known) + 1) if a else 0 for a in row]
            for row in _exponents(e, k)
        ]
        yield f"matrix {len(known)} {' '.join(known)}"
        yield from map(line, table)
    yield line(weights)


def _exponents(e: Matrix | Distance, k: int) -> Iterator[list[str]]:
    if isinstance(e, Distance) and e.is_rooted and e.offset:
        raise UnprovedError("distances with an offset")
    for x in range(k):
        row = []
        for z in range(k):
            if isinstance(e, Distance) and e.is_rooted and x != z:
                steps = [a - b for a, b in zip(e.points[x], e.points[z], strict=True)]
                row.append(exponent(e.per_unit, sum((s * s for s in steps), Fraction(0))))
            else:
                a = e.at(x, z, up=True)
                row.append("" if a is None else exponent(a))
        yield row


def objective_words(aim: Objective) -> Iterator[str]:
    """Yield the lines of the objective."""
    if isinstance(aim, Loss):
        costs, n = aim.costs, aim.costs.n_outputs
        yield f"objective loss {n} {costs.denominator}"
        if aim.weights is None:
            yield "worst"
        else:
            masses, over = over_one_denominator(aim.weights)
            yield f"mean {over} {line(masses)}"
        low, high = ([end(y) for y in range(n)] for end in (costs.lower, costs.upper))
        yield "low"
        yield from map(line, low)
        yield "same" if low == high else "high"
        yield from map(line, [] if low == high else high)
    elif isinstance(aim, Squares) and aim.weights is None:
        rows, unit = lattice((aim.p, *aim.vectors))
        yield f"objective squares {len(rows) - 1} {aim.constant} {unit}"
        yield from map(line, rows)
    else:
        raise UnprovedError(f"the objective {type(aim).__name__}")


def answer_words(aim: Objective, used: Sequence[int]) -> str:
    """Return the answers of the outputs as text."""
    if isinstance(aim, Loss) and not aim.free:
        return f"answers given {line(used)}"
    return "answers best"

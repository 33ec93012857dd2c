"""A saved channel as a plain listing, for the checker that a proof assistant proved.

``formal/mechdesign-check`` reads it; ``formal/main.ml`` states the words. Nothing is decided here:
the problem is compiled as :mod:`~mechdesign.kernel.verify` does, and its statement, the integers of
the channel and the certificate are written number by number. What the proved checker does not know
is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import BITS, over_one_denominator
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.documents import ChannelFile, read_file
from mechdesign.kernel.gains import Squares
from mechdesign.kernel.generators import (
    Block,
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
from mechdesign.kernel.linearizations import Costs, Decoders
from mechdesign.kernel.names import Compiled, compile_problem
from mechdesign.kernel.objectives import GainObjective, Loss, Objective
from mechdesign.kernel.oracles import Knapsack, Line, OneBudget, Orthant
from mechdesign.kernel.oracles.common import direction, natural, parts_of
from mechdesign.kernel.packed import exact as number
from mechdesign.kernel.relaxations import Average, Relaxations, Representatives, Restrict
from mechdesign.kernel.statement import Statement

__all__ = ["UnprovedError", "listing"]

ONE = Fraction(1)


class UnprovedError(CertificateError):
    """The proved checker does not know a part of the file."""


def listing(document: Any) -> str:
    """Return the listing of a saved file.

    Parameters
    ----------
    document
        What :func:`~mechdesign.kernel.documents.parse` returns.

    Raises
    ------
    UnprovedError
        If a part of it is outside of what the checker knows.
    CertificateError
        If it is no file of a channel that was designed.

    Notes
    -----
    Privacy, value and bound are not checked here, and no word of the file is lost: where it claims
    a value v to be maximized the listing claims -v.
    """
    if not isinstance(document, dict) or not {"problem", "channel"} <= set(document):
        raise UnprovedError("a file without a table")
    file = read_file(document)
    if not isinstance(file, ChannelFile):
        raise UnprovedError("a channel that claims nothing")
    problem = compile_problem(file.problem)
    columns, statement = file.channel.columns(problem.labels), problem.statement
    words = ["mechdesign-listing 1", f"inputs {statement.k}", *_cone(statement)]
    words += [f"limits {len(statement.limits)}", *map(_limit, statement.limits)]
    words += [f"channel {len(columns)} {1 << file.channel.bits}", *map(_line, columns)]
    if file.certificate is None or statement.objective is None:
        words.append("objective none")
    else:
        words += _objective(statement.objective)
        words.append(_answers(statement.objective, _used(problem, file.channel.outputs)))
        words += [f"{key} {statement.sign * number(getattr(file, key))}" for key in CLAIMS]
        words += _certificate(statement, file.certificate)
    return "\n".join([*words, "end", ""])


CLAIMS = ("value", "bound")


def _line(numbers: Iterable[Any]) -> str:
    return " ".join(map(str, numbers))


# ---- statements --------------------------------------------------------------------------------


def _parts(statement: Statement) -> Iterator[tuple[int, Cone, Cone]]:
    """Return the generators as the checker has them, with the place and generator each is of.

    A lift at several priors is one at each of them, and rows behind the inputs are listed rows.
    """
    for place, part in enumerate(statement.cone):
        if isinstance(part, Lift):
            for prior in part.listed():
                yield place, part, Lift(part.lower, part.upper, Listed((prior,)))
        elif isinstance(part, Latent):
            rows = [part.row(key, statement.k, up=True) for key in part.keys(statement.k)]
            listed = (ListedRow(_items(r.left), r.exponent, _items(r.right)) for r in rows)
            if isinstance(part.inner, Ratio) and isinstance(part.inner.exponents, Distance):
                raise UnprovedError("distances behind the inputs")
            yield place, part, Rows(tuple(listed))
        else:
            yield place, part, part


def _items(side: dict[int, Fraction]) -> tuple[tuple[int, Fraction], ...]:
    return tuple((x, v) for x, v in side.items() if v)


def _cone(statement: Statement) -> Iterator[str]:
    parts = [part for _, _, part in _parts(statement)]
    yield f"cone {len(parts)}"
    for part in parts:
        yield from _generator(part, statement.k)


def _generator(part: Cone, k: int) -> Iterator[str]:
    if isinstance(part, Ratio):
        yield from _ratio(part, k)
    elif isinstance(part, Lift):
        masses, over = over_one_denominator(part.listed()[0])
        yield f"lift {_exponent(part.lower)} {_exponent(part.upper)} {over} {_line(masses)}"
    elif isinstance(part, Rows):
        yield _rows(part.rows)
    else:
        raise UnprovedError(f"the generator {part.kind!r}")


def _limit(limit: Limit) -> str:
    if not isinstance(limit, Gauge) or limit.below is not None or limit.limit < 0:
        raise UnprovedError(f"the limit {limit.kind!r}")
    return f"{_exponent(limit.exponent)} {limit.limit} {_rows(limit.parts)}"


def _rows(rows: Sequence[ListedRow]) -> str:
    words = [f"rows {len(rows)}"]
    for row in rows:
        left, right = (f"{len(side)} {_pairs(side)}" for side in (row.left, row.right))
        words.append(f"left {left} {_exponent(row.exponent)} right {right}")
    return "\n".join(words)


def _pairs(side: Iterable[tuple[int, Fraction]]) -> str:
    return " ".join(f"{x} {v}" for x, v in side)


def _exponent(a: Fraction | None, square: Fraction = ONE) -> str:
    return "none" if a is None else f"{a} {square}"


def _ratio(part: Ratio, k: int) -> Iterator[str]:
    e = part.exponents
    weights = [1] * k if part.prior is None else over_one_denominator(part.prior)[0]
    if isinstance(e, Constant):
        guarded = (int(e.protected is None or x in e.guarded) for x in range(k))
        yield f"constant {_exponent(e.exponent)}"
        yield _line([0] * k if e.block is None else e.block)
        yield _line(guarded)
    else:
        known: dict[str, int] = {}
        table = [
            [known.setdefault(a, len(known) + 1) if a else 0 for a in row]
            for row in _exponents(e, k)
        ]
        yield f"matrix {len(known)} {' '.join(known)}"
        yield from map(_line, table)
    yield _line(weights)


def _exponents(e: Matrix | Distance, k: int) -> Iterator[list[str]]:
    """Return the exponents of all pairs; "" where nothing is bounded."""
    if isinstance(e, Distance) and e.is_rooted and e.offset:
        raise UnprovedError("distances with an offset")
    for x in range(k):
        row = []
        for z in range(k):
            if isinstance(e, Distance) and e.is_rooted and x != z:
                steps = [a - b for a, b in zip(e.points[x], e.points[z], strict=True)]
                row.append(_exponent(e.per_unit, sum((s * s for s in steps), Fraction(0))))
            else:
                a = e.at(x, z, up=True)
                row.append("" if a is None else _exponent(a))
        yield row


def _objective(aim: Objective) -> Iterator[str]:
    if isinstance(aim, Loss):
        costs, n = aim.costs, aim.costs.n_outputs
        yield f"objective loss {n} {costs.denominator}"
        if aim.weights is None:
            yield "worst"
        else:
            masses, over = over_one_denominator(aim.weights)
            yield f"mean {over} {_line(masses)}"
        low, high = ([end(y) for y in range(n)] for end in (costs.lower, costs.upper))
        yield "low"
        yield from map(_line, low)
        yield "same" if low == high else "high"
        yield from map(_line, [] if low == high else high)
    elif (
        isinstance(aim, GainObjective)
        and isinstance(aim.form, Squares)
        and len(aim.form.vectors) == 1
        and aim.form.weights is None
    ):
        form, k = aim.form, len(aim.form.p)
        numbers, unit = over_one_denominator([*form.p, *form.vectors[0]])
        yield f"objective square {aim.constant} {unit}"
        yield _line(numbers[:k])
        yield _line(numbers[k:])
    else:
        raise UnprovedError(f"the objective {aim.kind!r}")


def _answers(aim: Objective, used: Sequence[int]) -> str:
    if isinstance(aim, Loss) and not aim.free:
        return f"answers given {_line(used)}"
    return "answers best"


def _used(problem: Compiled, outputs: Sequence[Any]) -> list[int]:
    """Return the place of each output among those allowed."""
    place = {
        y: n for n, y in enumerate(problem.outputs if problem.outputs is not None else outputs)
    }
    if not set(outputs) <= set(place):
        raise CertificateError("the channel has an output that the problem does not allow")
    return [place[y] for y in outputs]


# ---- certificates ------------------------------------------------------------------------------


def _certificate(statement: Statement, certificate: Certificate) -> Iterator[str]:
    yield f"certificate relaxations {len(certificate.relaxations)}"
    for relaxation in certificate.relaxations:
        yield _relaxation(relaxation)
        statement = relaxation(statement)
    line = certificate.linearization
    if isinstance(line, Costs) and isinstance(statement.objective, Loss):
        yield "costs"
        nodes = statement.objective.costs.n_outputs
    elif isinstance(line, Decoders):
        yield f"decoders {len(line.nodes)} {_line(line.nodes)}"
        nodes = len(line.nodes)
    else:
        raise UnprovedError(f"the linearization {line.kind!r}")
    yield f"multipliers {nodes}"
    for terms in _multipliers(statement, certificate.multipliers, nodes):
        yield f"{len(terms)} {' '.join(terms)}"
    yield _of_limits(statement, certificate, nodes)
    prices = certificate.prices
    given = [0] * statement.k if prices is None else prices.scaled(BITS)
    yield f"prices {len(given)} {_line(given)}"
    yield _oracle(statement, certificate.oracle)


def _relaxation(relaxation: Relaxations) -> str:
    if isinstance(relaxation, Average):
        weights, _ = over_one_denominator(map(Fraction, relaxation.weights))
        return f"average {len(weights)} {_line(weights)}"
    if isinstance(relaxation, Restrict):
        return f"restrict {len(relaxation.inputs)} {_line(relaxation.inputs)}"
    if isinstance(relaxation, Representatives):
        return f"representatives {len(relaxation.stands)} {_line(relaxation.stands)}"
    raise UnprovedError(f"the relaxation {relaxation.kind!r}")


def _multipliers(statement: Statement, blocks: Sequence[Block], nodes: int) -> list[list[str]]:
    """Return the multipliers of each node, in words."""
    terms: list[list[str]] = [[] for _ in range(nodes)]
    first: dict[int, int] = {}
    for n, (place, _, _) in enumerate(_parts(statement)):
        first.setdefault(place, n)
    for block in blocks:
        if block.of != "cone":
            continue
        if block.place not in first:
            raise CertificateError("a multiplier is of a generator that does not exist")
        part = statement.cone[block.place]
        numbers: dict[Any, int] = {}
        if isinstance(part, Latent):
            numbers = {key: n for n, key in enumerate(part.keys(statement.k))}
        side = "lower" if block.side == "lower" else "upper"
        for node, x, other, weight in block.entries(nodes):
            place = first[block.place] + (other if isinstance(part, Lift) else 0)
            row = f"{x} {other}"
            if isinstance(part, Latent):
                if (block.side, x, other) not in numbers:
                    raise CertificateError("a multiplier is of a row that does not exist")
                row = f"{numbers[block.side, x, other]} 0"
            terms[node].append(f"{place} {side} {row} {weight}")
    return terms


def _of_limits(statement: Statement, certificate: Certificate, nodes: int) -> str:
    """Return the multipliers of the parts of each limit, by node."""
    blocks = [block for block in certificate.multipliers if block.of == "limit"]
    if any(not isinstance(relaxation, Average) for relaxation in certificate.relaxations):
        if blocks:
            raise UnprovedError("multipliers of a limit after a relaxation")
        return "limits 0"
    terms: list[list[list[str]]] = [[[] for _ in range(nodes)] for _ in statement.limits]
    for block in blocks:
        for node, part, after, weight in block.entries(nodes):
            if block.place + after >= len(terms):
                raise CertificateError("a multiplier is of a limit that does not exist")
            terms[block.place + after][node].append(f"{part} {weight}")
    words = [f"limits {len(terms)}"]
    for mine in terms:
        words.append(str(nodes if any(mine) else 0))
        words += [f"{len(listed)} {' '.join(listed)}" for listed in mine if any(mine)]
    return "\n".join(words)


def _oracle(statement: Statement, oracle: Any) -> str:
    k = statement.k
    if isinstance(oracle, Orthant):
        return "orthant"
    if isinstance(oracle, Line):
        order = range(k) if oracle.order is None else oracle.order
        return f"line {len(order)} {_line(order)}"
    if isinstance(oracle, OneBudget):
        parts = parts_of(oracle.blocks, k)
        # an input outside of all blocks is a block of its own
        inside = {x for block in parts for x in block}
        blocks = [*parts, *((x,) for x in range(k) if x not in inside)]
        listed = " ".join(f"{len(block)} {_line(block)}" for block in blocks)
        weights = direction(statement, oracle.direction)
        return f"one-budget {len(blocks)} {listed} direction {len(weights)} {_line(weights)}"
    if isinstance(oracle, Knapsack):
        masses, over = over_one_denominator(_prior(statement, oracle))
        return f"knapsack {over} {len(masses)} {_line(masses)}"
    raise UnprovedError(f"the oracle {oracle.kind!r}")


def _prior(statement: Statement, oracle: Knapsack) -> Sequence[Fraction]:
    """Return the prior that the oracle takes."""
    if oracle.p is not None:
        return oracle.p
    sets = [part.priors for part in statement.cone if isinstance(part, Lift)]
    listed = {p for priors in sets if isinstance(priors, Listed) for p in priors.priors}
    return listed.pop() if len(listed) == 1 else natural(statement)

"""The certificate of a listing: relaxations, multipliers, prices and the oracle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from mechdesign.exact import exp_upper
from mechdesign.files.listing.statements import UnprovedError, counted, parts
from mechdesign.kernel.arithmetic import BITS, over_one_denominator
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Block, Latent, Lift, Listed, Ratio, Rows
from mechdesign.kernel.generators.base import Key
from mechdesign.kernel.linearizations import AsGain, Costs, Decoders
from mechdesign.kernel.objectives import Loss
from mechdesign.kernel.oracles import (
    Classes,
    DoubleDescription,
    Knapsack,
    Line,
    OneBudget,
    Orthant,
    Rays,
    Simplicial,
    Sources,
    Subsets,
)
from mechdesign.kernel.oracles.common import integers, natural, parts_of
from mechdesign.kernel.relaxations import Average, Members, Relaxations, Representatives, Restrict
from mechdesign.kernel.statement import Statement


def certificate_words(statement: Statement, certificate: Certificate) -> Iterator[str]:
    """Yield the lines of the certificate."""
    yield f"certificate relaxations {len(certificate.relaxations)}"
    for relaxation in certificate.relaxations:
        yield _relaxation(statement, relaxation)
        statement = relaxation(statement)
    chosen = certificate.linearization
    if isinstance(chosen, Costs) and isinstance(statement.objective, Loss):
        yield "costs"
        nodes = statement.objective.costs.n_outputs
    elif isinstance(chosen, Decoders):
        yield f"decoders {counted(chosen.nodes)}"
        nodes = len(chosen.nodes)
    elif isinstance(chosen, AsGain):
        yield "gain"
        nodes = 0
    else:
        raise UnprovedError(f"the linearization {chosen.kind!r}")
    yield f"multipliers {nodes}"
    for terms in _multipliers(statement, certificate.multipliers, nodes):
        yield f"{len(terms)} {' '.join(terms)}"
    yield _of_limits(statement, certificate, nodes)
    prices = certificate.prices
    given = [0] * statement.k if prices is None else prices.scaled(BITS)
    yield f"prices {counted(given)}"
    yield _oracle(statement, certificate.oracle)


def _relaxation(statement: Statement, relaxation: Relaxations) -> str:
    if isinstance(relaxation, Average):
        weights, _ = over_one_denominator(map(Fraction, relaxation.weights))
        return f"average {counted(weights)}"
    has_rows = any(isinstance(part, Rows) for part in statement.cone)
    if has_rows and isinstance(relaxation, Restrict | Representatives):  # the checker forgets them
        raise UnprovedError(f"listed rows under {relaxation.kind!r}")
    if isinstance(relaxation, Restrict):
        return f"restrict {counted(relaxation.inputs)}"
    if isinstance(relaxation, Representatives):
        return f"representatives {counted(relaxation.stands)}"
    if isinstance(relaxation, Members):
        return _members(statement, relaxation)
    raise UnprovedError(f"the relaxation {relaxation.kind!r}")


def _members(statement: Statement, relaxation: Members) -> str:
    """Return the remaining generators: each is a previous one, or a prior of its set."""
    words, places = [], _places(statement)
    for n, (place, part, _) in enumerate(parts(statement)):
        if place != relaxation.place:
            words.append(f"keep {n}")
        elif not isinstance(part, Lift):
            raise UnprovedError("sets of priors behind the inputs")
        elif n == places.index(place):
            for prior in relaxation.priors:
                if isinstance(part.priors, Listed):
                    words.append(f"keep {n + part.priors.priors.index(prior)}")
                else:
                    masses, over = over_one_denominator(prior)
                    words.append(f"at {n} {over} {counted(masses)}")
    return f"members {len(words)} {' '.join(words)}"


def _places(statement: Statement) -> list[int]:
    """Return the index of the generator of each of the checker's generators."""
    return [place for place, _, _ in parts(statement)]


def _row(statement: Statement, places: list[int], place: int, key: Key) -> str:
    """Return the checker's name of a row of the cone; LookupError or ValueError if none has it."""
    (side, x, other), part = key, statement.cone[place]
    n = places.index(place) + (other if isinstance(part, Lift) else 0)
    if isinstance(part, Latent):
        x, other = list(part.keys(statement.k)).index(key), 0
    return f"{n} {'lower' if side == 'lower' else 'upper'} {x} {other}"


def _multipliers(statement: Statement, blocks: Sequence[Block], nodes: int) -> list[list[str]]:
    terms: list[list[str]] = [[] for _ in range(nodes)]
    places = _places(statement)
    for block in blocks:
        for node, x, other, weight in block.entries(nodes) if block.of == "cone" else ():
            row = _row(statement, places, block.place, (block.side, x, other))
            terms[node].append(f"{row} {weight}")
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
        return f"line {counted(order)}"
    if isinstance(oracle, OneBudget):
        parts = parts_of(oracle.blocks, k)
        # an input outside of all blocks is a block of its own
        inside = {x for block in parts for x in block}
        blocks = [*parts, *((x,) for x in range(k) if x not in inside)]
        listed = " ".join(counted(block) for block in blocks)
        weights = integers(natural(statement), k)
        return f"one-budget {len(blocks)} {listed} direction {counted(weights)}"
    if isinstance(oracle, Knapsack):
        masses, over = over_one_denominator(oracle.prior(statement))
        return f"knapsack {over} {counted(masses)}"
    if isinstance(oracle, Rays):
        facets = list(_facets(statement, oracle.source))
        weights = integers(natural(statement), k)
        return f"rays {len(facets)} {' '.join(facets)} direction {counted(weights)}"
    raise UnprovedError(f"the oracle {oracle.kind!r}")


MOST_INPUTS = 10
"""Maximum number of inputs in a block: the checker enumerates all its rays, not only classes."""


def _facets(statement: Statement, source: Sources) -> Iterator[str]:
    """Yield the rows whose rays the checker enumerates, except q >= 0."""
    places = _places(statement)
    if isinstance(source, Simplicial):
        for f in source.facets:
            if f.place is not None:
                yield _row(statement, places, f.place, (f.side, f.x, f.other))
    elif isinstance(source, Classes | Subsets):
        for block in parts_of(source.blocks, statement.k):
            yield from _facets_of_block(statement, places, block)
    elif isinstance(source, DoubleDescription):
        for place, key in statement.row_keys():
            yield _row(statement, places, place, key)
    else:
        raise UnprovedError(f"the rays of {source.kind!r}")


def _facets_of_block(
    statement: Statement, places: list[int], block: tuple[int, ...]
) -> Iterator[str]:
    """Yield the rows that bound an input by the others of its block, with one common bound."""
    if len(block) > MOST_INPUTS:
        raise UnprovedError(f"the rays of {len(block)} inputs")
    ratios = [(n, part) for n, part in enumerate(statement.cone) if isinstance(part, Ratio)]
    for x in block:
        others = [z for z in block if z != x]
        bounds = {statement.ratio(x, z) for z in others}
        if None in bounds:
            continue
        if len(bounds) > 1:
            raise UnprovedError("rays of an input with several bounds")
        for z in others:
            known = [
                (exp_upper(a) * part.scale(x, z), place)
                for place, part in ratios
                if (a := part.exponents.at(x, z, up=True)) is not None
            ]
            yield _row(statement, places, min(known)[1], ("", x, z))

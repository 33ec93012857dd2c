"""Whatever numbers a proof is made of, no bound passes a channel that is private.

`verify` refuses a file whose bound is beyond its value. Here the proof is asked directly, so that
a wrong one shows: numbers of certificates, budgets and priors are drawn anew, proofs move between
files, and the channel stays, or becomes one that sends a single output.
"""

from __future__ import annotations

import copy
import functools
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from mechdesign import resources
from mechdesign.certify.bounds.readings import read_readings
from mechdesign.certify.channel_file import read_channel
from mechdesign.certify.privacy.check import check
from mechdesign.certify.problem import statement_of
from mechdesign.certify.proof import prove
from mechdesign.certify.schema.channel_files import CHANNEL_FILE
from mechdesign.errors import MechdesignError
from mechdesign.resources import counted
from tests.corpus import CASES, document_of
from tests.documents import Document
from tests.mutations import Mutator, places, reach

REFUSALS = (MechdesignError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError)
"""What `verify` turns into a refusal."""

BUDGETS = ["0", "1e-9", "0.01", "0.3", "1", "2.5", "10", "50", "300", "5000", "inf"]
COUNTS = [0, 1, 1, 1, 2, 3, 5, 100, 10**6]


@functools.cache
def pool() -> list[Document]:
    documents = [document_of(name) for name in CASES]
    proved = (d for d in documents if d["format"] == "mechdesign-channel")
    return [d for d in proved if "numeric" not in d["certificate"]]


class Forger(Mutator):
    """Draws files whose channel may well be private, with a proof that may be of anything."""

    def forged(self) -> Document:
        draw, document = self.random, copy.deepcopy(self.random.choice(self.pool))
        kind = draw.random()
        if kind < 0.2:
            document = self.tree()
        if 0.2 <= kind < 0.4:
            document["certificate"] = copy.deepcopy(draw.choice(self.pool)["certificate"])
        if kind >= 0.3:
            self._renumber(document["certificate"])
        if draw.random() < 0.5:
            self._ask(document["problem"])
        if draw.random() < 0.25:
            self._send_one_output(document["channel"])
        return document

    def _renumber(self, certificate: Document) -> None:
        found = [p for p in places(certificate) if type(reach(certificate, p)) in (int, float)]
        for path in self.random.choices(found, k=self.random.choice([1, 2, 10])) if found else ():
            here, value = reach(certificate, path[:-1]), reach(certificate, path)
            if type(value) is int:
                here[path[-1]] = self.random.randrange(6)
            else:
                here[path[-1]] = self._drawn(value)

    def _drawn(self, value: float) -> float:
        draw = self.random
        return float(
            draw.choice(
                [
                    -value,
                    0.0,
                    value * 10.0 ** draw.uniform(-12, 12),
                    value * draw.uniform(0.5, 2),
                    value + draw.gauss(0, 1),
                    draw.choice([-1, 1]) * 10.0 ** draw.uniform(-8, 8),
                    value * (1 + 10.0 ** -draw.randrange(1, 12)),
                ]
            )
        )

    def _ask(self, problem: Document) -> None:
        draw = self.random
        for table in problem["privacy"]:
            for key in ("epsilon", "upper", "lower", "delta", "least", "limit", "radius"):
                if isinstance(table.get(key), str) and draw.random() < 0.5:
                    table[key] = draw.choice(BUDGETS)
        weights = [draw.choice(COUNTS) for _ in problem["prior"]]
        if draw.random() < 0.5 and any(weights):
            problem["prior"] = [str(Fraction(w, sum(weights))) for w in weights]
        other = copy.deepcopy(draw.choice(self.pool)["problem"])
        if len(other["prior"]) == len(weights):
            part = draw.choice([["privacy"], ["utility", "outputs"], []])
            problem |= {key: other[key] for key in part}

    def _send_one_output(self, channel: Document) -> None:
        size, one = len(channel["outputs"]), self.random.randrange(len(channel["outputs"]))
        row = [int(y == one) for y in range(size)]
        rows = range(len(channel["numerators"]))
        channel["matrix"] = [[float(v) for v in row] for _ in rows]
        channel["numerators"] = [[str(v << channel["bits"]) for v in row] for _ in rows]


def proved(document: Document) -> Iterator[tuple[Fraction, Fraction, bool]]:
    """Yield value, bound and sense of a file whose channel is private, if its proof is one."""
    try:
        CHANNEL_FILE.check(document, "")
        with resources.allow(steps=10**6), counted():
            statement = statement_of(document["problem"])
            columns, bits, used = read_channel(statement, document["channel"])
            if any(check(statement, table, columns) for table in statement.privacy):
                return
            readings = read_readings(statement, document["channel"], columns, bits)
            found: Any = prove(statement, document["certificate"], columns, used, bits, readings)
    except REFUSALS:
        return
    yield (*found, statement.is_maximized)


def forge(seed: int, tries: int) -> int:
    """Return how many forgeries are proofs; none may pass the value of its channel."""
    forger, count = Forger(pool(), seed), 0
    forger.random = random.Random(seed)
    for _ in range(tries):
        try:
            document = forger.forged()
        except REFUSALS:
            continue
        for value, bound, is_maximized in proved(document):
            count += 1
            assert bound >= value if is_maximized else bound <= value, document
    return count


def test_no_forged_proof_passes_a_private_channel() -> None:
    assert forge(1, 800) > 200


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_no_forged_proof_of_many_passes_a_private_channel(seed: int) -> None:
    assert forge(seed, 8000) > 2000

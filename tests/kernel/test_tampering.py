"""No change of a saved file is accepted by one verifier and false for the other.

Changed files are drawn, and asked of both verifiers; what an attacker writes by hand ends within a
second, accepted or refused.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import gc
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from mechdesign.errors import MechdesignError
from mechdesign.kernel.documents import parse
from mechdesign.kernel.names import ProblemTable, compile_problem
from mechdesign.kernel.schema import read
from mechdesign.kernel.statement import private
from mechdesign.kernel.verify import verify
from tests.independent.files import check, columns_of
from tests.independent.rationals import RefusedError, Unable
from tests.independent.reading import seal
from tests.independent.statement import private as is_private, read_problem
from tests.kernel.changes import WRONG_SHAPE, Change, Changer
from tests.kernel.honest import draw_document
from tests.kernel.laws.support import document_of
from tests.kernel.rounding.test_files import made
from tests.kernel.test_forged_proofs import boxes, decoders, form, members, products, rays, walks

Document = dict[str, Any]


@contextlib.contextmanager
def at_most_seconds(limit: int) -> Iterator[None]:
    """Expect so many seconds of a quiet machine, or ten times as many of a loaded one.

    What no limit stops takes minutes. What other tests left in memory is not collected meanwhile.
    """
    gc.disable()
    try:
        start = time.process_time()
        yield
        assert time.process_time() - start < 10 * limit
    finally:
        gc.enable()


# --- changed files --------------------------------------------------------------------------------


def is_accepted(document: Document) -> bool:
    """Ask the kernel; nothing but its own errors may come."""
    try:
        verify(document)
    except MechdesignError:
        return False
    return True


def check_both(document: Document, honest: Document) -> str:
    """Return what became of a changed file, once both verifiers have looked at it."""
    verdicts = (kernel_private(document), naive_private(document))
    assert "unknown" in verdicts or verdicts[0] == verdicts[1], document
    if not is_accepted(document):
        return "refused"
    sign = -1 if document["sense"] == "maximize" else 1
    if document["problem"] == honest["problem"]:
        room = 1e-12 * max(1.0, abs(honest["value"]))
        assert sign * document["bound"] <= sign * honest["value"] + room, document
    try:
        check(document)
    except Unable:
        return "accepted, and too much for the second verifier"
    return "accepted"


def kernel_private(document: Document) -> str:
    try:
        problem = compile_problem(read(ProblemTable, document["problem"], "problem"))
        bits = document["channel"]["bits"]
        rows = [[int(v) for v in row] for row in document["channel"]["numerators"]]
        if type(bits) is not int or not 1 <= bits <= 4096 or any(min(row) < 0 for row in rows):
            return "unknown"
        columns = [list(q) for q in zip(*rows, strict=True)]
        if any(len(q) != problem.statement.k for q in columns):
            return "unknown"
        return str(private(problem.statement, columns, 1 << bits) is None)
    except (MechdesignError, *WRONG_SHAPE):
        return "unknown"


def naive_private(document: Document) -> str:
    try:
        problem, channel = read_problem(document["problem"]), dict(document["channel"])
        whole = 1 << channel["bits"]
        channel["matrix"] = [[int(v) / whole for v in row] for row in channel["numerators"]]
        columns, _ = columns_of(channel, problem.inputs)
        return str(is_private(problem.statement.cone, problem.statement.limits, columns))
    except (RefusedError, Unable, *WRONG_SHAPE):
        return "unknown"


def try_many(pool: list[Document], seed: int, count: int) -> Counter[str]:
    """Return what became of so many changed files."""
    changer, found = Changer(pool, seed), Counter[str]()
    for _ in range(count):
        document, honest = changer.document()
        found[check_both(document, honest)] += 1
    return found


def test_changed_files_are_judged_alike() -> None:
    found = try_many([*map(draw_document, range(24))], 1, 150)
    assert found["refused"] > 75
    assert found["accepted"] > 5


@pytest.mark.slow
@pytest.mark.long
def test_twenty_thousand_changed_files_are_judged_alike() -> None:
    pool = [*map(draw_document, range(200))]
    found = sum((try_many(pool, seed, 1000) for seed in range(2, 22)), Counter[str]())
    assert found["accepted"] > 500


# --- hostile files --------------------------------------------------------------------------------


def bomb(kind: str, count: int, stated: int | None = None) -> str:
    raw = zlib.compress(bytes(int(kind[1]) * count), 9)
    return f"{kind}:{count if stated is None else stated}:{base64.b64encode(raw).decode()}"


def of_certificate(**entries: Any) -> Change:
    return lambda d: d["certificate"].update(entries)


def of_problem(**entries: Any) -> Change:
    return lambda d: d["problem"].update(entries)


def rows_of(exponent: Any) -> Change:
    return of_problem(privacy=[{"notion": "ldp", "epsilon": exponent}])


def own(*cone: Document, **more: Any) -> Change:
    return of_problem(privacy=[{"notion": "mine", "cone": list(cone), **more}])


def rows(*entries: tuple[Any, Any]) -> Document:
    """Rows of entries and an exponent each, against the second input."""
    listed = [{"left": left, "exponent": a, "right": [[1, 1]]} for left, a in entries]
    return form("rows", rows=listed)


def million(weight: str, times: int = 1) -> Change:
    """Blocks of a million multipliers each."""
    block: Document = {"of": "cone", "place": 0, "weight": bomb(weight, 10**6)}
    block |= {"node": bomb("u1", 10**6), "x": bomb("u1", 10**6)}
    return of_certificate(multipliers=[block] * times)


CUTS = [[x % 2, f"{x}/100001"] for x in range(10_000)]

HOSTILE: dict[str, Change] = {
    "prices that unpack to a million": of_certificate(prices=bomb("f8", 10**6)),
    "prices that unpack to a billion": of_certificate(prices=bomb("f8", 10**6, 10**9)),
    "prices that unpack to more than stated": of_certificate(prices=bomb("f8", 10**6, 3)),
    "places that unpack to a million": million("f8"),
    "a huge exponent": rows_of("1e100"),
    "a tiny exponent": rows_of("1e-300"),
    "an exponent of many digits": rows_of("1" * 1999),
    "an exponent of many digits below": rows_of("1/" + "3" * 1990),
    "an exponent that is too large to read": rows_of("1e999999999"),
    "an exponent with a zero below": rows_of("1/0"),
    "decoders of many digits": of_certificate(
        linearization=decoders([f"{n}/{'7' * 900}{n}" for n in range(1, 300)])
    ),
    "a tree of boxes": of_certificate(linearization=boxes([*CUTS, *[None] * 10_001])),
    "a walk without ends": of_certificate(linearization=form("gain"), oracle=walks([], [])),
    "many relaxations": of_certificate(relaxations=[form("implied", alone=False)] * 2_000),
    "many members": of_certificate(relaxations=[members(*[["1/3"] * 3] * 9_000)]),
    "an own notion of nothing": own(),
    "an own notion of many rows": own(rows(*(([[0, 1]], f"{n}/7") for n in range(4_000)))),
    "own rows of an input twice": own(rows(([[0, 1], [0, 1]], 1))),
    "own rows of a negative coefficient": own(rows(([[0, -1]], 1))),
    "own rows of no input": own(rows(([[99, 1]], 1))),
    "a prior with a zero below": of_problem(prior=["1/0", "1", "0"]),
    "a domain of a million": of_problem(
        domain={"grid": {"rows": 10**6, "columns": 10**6, "spacing": 1}}
    ),
    "labels that are lists": of_problem(domain={"values": [[0, [0]], [1, 2]]}),
    "labels that are equal": of_problem(domain={"values": [0, 0.0, False]}),
}


HISTOGRAM: Document = {"objective": "posterior-mean-squared-error", "histogram": True}


def of_gain(oracle: Document, k: int, utility: Document = HISTOGRAM, **more: Any) -> Change:
    """A gain on k inputs under one budget, proved by an oracle."""

    def change(document: Document) -> None:
        problem: Document = {"domain": {"values": [*range(k)]}, "prior": [f"1/{k}"] * k}
        problem |= {"privacy": [{"notion": "ldp", "epsilon": 1}], "utility": utility}
        channel = {"inputs": [*range(k)], "outputs": [0], "matrix": [[1.0]] * k, "bits": 1}
        channel |= {"numerators": [["2"]] * k}
        value = 0.0
        if utility == HISTOGRAM:
            channel["decoder"], value = [[1 / k] * k], 1 - 1 / k
        certificate = {"linearization": {"kind": "gain"}, "oracle": oracle, **more}
        privacy = {"notion": "ldp", "leakage": 0.0, "certified": True, "epsilon": 1.0}
        document |= {"problem": problem | more.get("problem", {}), "channel": channel}
        certificate.pop("problem", None)
        document |= {"certificate": certificate, "privacy": [privacy], "value": value}
        document |= {"objective": utility["objective"], "bound": value, "gap": 0.0}
        worse = utility["objective"] == "mutual-information"
        document |= {"sense": "maximize" if worse else "minimize", "status": "optimal"}
        document |= {"bound_proved": True}

    return change


def prior_of(k: int, digits: int) -> list[str]:
    """Return fractions whose common denominator is as long as all of theirs together."""
    bottoms = [10**digits + 2 * x + 1 for x in range(k)]
    return [f"{bottom // (2 * k)}/{bottom}" for bottom in bottoms]


ENDS = [[f"{n}/1000" for n in range(400, 900)]]
FAR = [[str((7 * x + 11 * z) % 97 + 100) + "/100" for z in range(12)] for x in range(12)]

HOSTILE |= {
    "packed numbers in every block": million("f4", 20),
    "prices that unpack to twenty million": of_certificate(prices=bomb("f8", 2 * 10**7)),
    "a prior of a long common denominator": of_gain(
        rays("subsets"), 400, problem={"prior": prior_of(400, 900)}
    ),
    "a walk over all subsets": of_gain(
        walks(ENDS, [[0.0] * 502], surplus=-1), 24, prices=[x / 1e6 for x in range(24)]
    ),
    "all rays of twelve inputs": of_gain(
        rays("double-description"),
        12,
        problem={"privacy": [{"notion": "metric", "epsilon": 1, "distance": FAR}]},
    ),
    "products of ninety inputs": of_gain(products(10**6, [[0, 0]]), 90, prices=[-1e3] * 90),
    "a knapsack of many logarithms": of_gain(
        form("knapsack"),
        500,
        {"objective": "mutual-information"},
        prices=[0.0] * 500,
        problem={"privacy": [{"notion": "lip", "epsilon": 1}]},
    ),
}


def of_nodes(**entries: Any) -> Change:
    """A file of a rounded problem with other nodes, or another law."""

    def change(document: Document) -> None:
        document.clear()
        document.update(copy.deepcopy(made("ldp")))
        document["rounding"]["axes"] = [entries.pop("nodes", document["rounding"]["axes"][0])]
        document["problem"] |= entries

    return change


def of_lip(prior: list[str]) -> Change:
    """A law for which the lift at a prior is bounded."""

    def change(document: Document) -> None:
        k = len(prior)
        document.clear()
        document.update(document_of("LIP"))
        document["problem"] |= {"domain": {"values": [*range(k)]}, "prior": prior}
        document["law"] |= {"truth": str((1 << 62) - 1000 * k), "fresh": ["1000"] * k}

    return change


BETWEEN = [f"{n * 10**897}/{300 * 10**897 + n}" for n in range(1, 300)]
"""Long ratios that increase between 0 and 1."""

HOSTILE |= {
    "a unit of too many bits to store": lambda d: d["channel"].update(bits=(1 << 53) - 1),
    "long nodes": of_nodes(nodes=["0", *BETWEEN, "1"]),
    "long decimals as nodes": of_nodes(
        nodes=["0", *(f"0.{n}{'3' * 1950}" for n in range(1000, 2000)), "1"]
    ),
    "long ends of bins": of_nodes(
        prior={"kind": "histogram", "edges": ["0", *BETWEEN, "1"], "masses": ["1/300"] * 300}
    ),
    "a law for a prior of a long common denominator": of_lip(prior_of(900, 900)),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_ends_within_a_second(case: str) -> None:
    document = draw_document(23)
    HOSTILE[case](document)
    document["digest"] = seal(document)
    with at_most_seconds(1), pytest.raises(MechdesignError):
        verify(document)


TEXTS: dict[str, str] = {
    "a key twice": '{"format": "mechdesign-channel", "format": "mechdesign-channel"}',
    "a byte-order mark": "\ufeff[1]",
    "not a number": '{"value": NaN}',
    "an infinity": '{"value": -Infinity}',
    "deep lists": "[" * 100_000 + "]" * 100_000,
    "deep tables": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "a million digits": '{"value": ' + "9" * 10**6 + "}",
    "a million digits behind the point": '{"value": 0.' + "9" * 10**6 + "}",
    "a million digits as text": '{"x": "' + "9" * 10**6 + '"',
    "many lists": "[" + "[]," * 3_000_000 + "[]]",
    "many entries": "[" + "0," * 30_000_000 + "0]",
    "half a file": '{"format": "mechdesign-channel", "version": 2, ',
    "nothing": "",
    "two files": "{}{}",
    "a quote that does not end": '{"a": "' + "\\" * 1_000_001,
}


@pytest.mark.parametrize("case", TEXTS)
def test_a_hostile_text_ends_within_three_seconds(case: str) -> None:
    with at_most_seconds(3), pytest.raises((MechdesignError, ValueError)):
        parse(TEXTS[case])

"""The listing of a saved file has its numbers, and decides nothing."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from mechdesign import LDP, MeanAbsoluteError, Problem, design
from mechdesign.files.listing import UnprovedError, listing
from mechdesign.files.listing.certificates import _facets_of_block
from mechdesign.files.listing.statements import limit_words
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.generators import Constant, ListedRow, Ratio
from mechdesign.kernel.limits import Gauge, Information
from mechdesign.kernel.statement import Statement
from tests.cli_support import Run
from tests.documents import as_read
from tests.kernel.honest import draw_document

ONE = Fraction(1)
PART = ListedRow(((0, ONE),), ONE, ((1, ONE),))


def listed(document: dict[str, Any]) -> str | None:
    """Return the listing of a file; None if it is unsupported."""
    try:
        return listing(document)
    except UnprovedError:
        return None


def test_that_a_listing_has_the_numbers_of_the_file() -> None:
    problem = Problem(3, LDP("1/2"), MeanAbsoluteError(), prior=["1/2", "1/3", "1/6"])
    document = as_read(design(problem))
    document["certificate"]["oracle"] = {"kind": "line"}
    lines = listing(document).splitlines()
    rows = document["channel"]["numerators"]
    n, certificate = len(document["channel"]["outputs"]), lines.index("costs")
    assert lines[:6] == [
        "mechdesign-listing 1",
        "inputs 3",
        "cone 1",
        "constant 1/2 1",
        "0 0 0",
        "1 1 1",
    ]
    whole = 1 << document["channel"]["bits"]
    assert lines[6:9] == ["1 1 1", "limits 0", f"channel {n} {whole}"]
    assert [line.split() for line in lines[9 : 9 + n]] == [list(q) for q in zip(*rows, strict=True)]
    rest = lines[9 + n : certificate]
    assert rest[:6] == ["objective loss 3 1", "mean 6 3 2 1", "low", "0 1 2", "1 0 1", "2 1 0"]
    assert rest[6] == "same"
    assert rest[7] == "answers given " + " ".join(map(str, document["channel"]["outputs"]))
    assert Fraction(rest[8].removeprefix("value ")) == Fraction(str(document["value"]))
    assert Fraction(rest[9].removeprefix("bound ")) == Fraction(str(document["bound"]))
    assert rest[10:] == ["certificate relaxations 0"]
    prices = [Fraction(int(v), UNIT) for v in lines[certificate + 6].split()[2:]]
    assert prices == [Fraction(v) for v in document["certificate"]["prices"]]
    assert lines[certificate + 7 :] == ["line 3 0 1 2", "end"]


@pytest.mark.parametrize(
    "limit",
    [
        Information((ONE,), ONE),
        Gauge((PART,), ONE, below=(PART,)),
        Gauge((PART,), -ONE),
    ],
    ids=["information", "irrational", "negative"],
)
def test_other_limits_are_not_listed(limit: Information | Gauge) -> None:
    assert limit_words(Gauge((PART,), ONE)) == "0 1 1 rows 1\nleft 1 0 1 1 1 right 1 1 1"
    with pytest.raises(UnprovedError, match="limit"):
        limit_words(limit)


def test_rays_of_ten_inputs_are_listed_and_of_more_are_not() -> None:
    for k in (10, 11):
        statement = Statement(k, (Ratio(Constant(ONE)),), (), None)
        rows = _facets_of_block(statement, [0], tuple(range(k)))
        if k > 10:
            with pytest.raises(UnprovedError, match="11 inputs"):
                next(rows)
        else:
            assert len(list(rows)) == k * (k - 1)


def numbers_of(lines: list[str], key: str) -> list[str]:
    """Return the words of the only line that begins with a key, without it."""
    (found,) = [line for line in lines if line.startswith(f"{key} ")]
    return found.split()[1:]


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_that_the_command_writes_what_the_file_states(
    seed: int, tmp_path: Path, printed: Run, refused: Run
) -> None:
    document = draw_document(seed)
    text = listed(document)
    saved, target = tmp_path / "channel.json", tmp_path / "channel.listing"
    document["bound"] = document["value"]  # refused by `verify`: nothing is decided here
    saved.write_text(json.dumps(document))
    if text is None:
        line = refused("export", str(saved), "--listing", status=1)
        assert line.startswith(f"{saved}: no listing: the verified checker does not support ")
        return
    printed("export", str(saved), "--listing", str(target))
    assert printed("export", str(saved), "--listing") == target.read_text()
    lines = target.read_text().splitlines()
    channel, rows = document["channel"], document["channel"]["numerators"]
    assert numbers_of(lines, "inputs") == [str(len(rows))]
    n, whole = map(int, numbers_of(lines, "channel"))
    assert whole == 1 << channel["bits"]
    start = lines.index(f"channel {n} {whole}") + 1
    columns = [list(map(int, line.split())) for line in lines[start : start + n]]
    assert columns == [list(map(int, q)) for q in zip(*rows, strict=True)]
    sign = 1 if Fraction(numbers_of(lines, "value")[0]) == Fraction(str(document["value"])) else -1
    for key in ("value", "bound"):
        assert Fraction(numbers_of(lines, key)[0]) == sign * Fraction(str(document[key]))
    given = document["certificate"].get("prices") or [0] * len(rows)
    count, *prices = numbers_of(lines, "prices")
    if len(given) == int(count):
        pairs = zip(map(Fraction, given), map(int, prices), strict=True)
        assert all(a * UNIT // 1 == b for a, b in pairs)

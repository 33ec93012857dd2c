"""Keyed coins: the report of a record does not depend on repetitions or on the partition."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import Channel, InputError
from mechdesign.collection.tables import jobs
from mechdesign.collection.tables.jobs import check_distinct
from mechdesign.continuous import ContinuousChannel
from mechdesign.mechanisms import (
    Mechanism,
    SubsetSelection,
)
from mechdesign.sampling import KeyedSource, subkey, tags_of_numbers, tags_of_texts
from tests.kernel.laws.support import MADE
from tests.records_support import privatize_file
from tests.refusals_support import check_refused
from tests.strategies import examples

KEY = bytes(range(32))
COIN = Channel.from_matrix([["1/2", "1/2"]] * 3, inputs=["a", "b", "c"])
LAW = Channel.from_matrix([["1/2", "1/3", "1/6"], ["1/6", "1/6", "2/3"], ["1/4", "1/2", "1/4"]])
SOURCES: dict[str, Channel | Mechanism | ContinuousChannel] = {
    **{name: made for name, made in MADE.items() if not isinstance(made.inputs.labels[0], tuple)},
    "channel": Channel.from_matrix([["1/2", "1/3", "1/6"]] * 12),
    "wide channel": Channel.from_matrix([["1/3", "2/3"]] * 12).then(
        Channel.from_matrix([["1/5", "4/5"]] * 2)
    ),
    "large subsets": SubsetSelection(12, 1, size=9),
    "numbers, linear": ContinuousChannel([0, 10], "linear", [0, 4, 10], LAW),
    "numbers, cells": ContinuousChannel([0, 10], "cells", [0, 2, 7, 10], LAW),
}


def source(ids: np.ndarray, key: bytes = KEY) -> KeyedSource:
    return KeyedSource(key, tags_of_numbers(ids))


# --- the bits -------------------------------------------------------------------------------------


def test_the_words_of_a_record_are_its_blocks_in_counter_mode() -> None:
    ids = np.array([5, -3, 2**62])
    words = source(ids).words(9).reshape(3, 3)
    cipher = Cipher(algorithms.AES(KEY), modes.ECB()).encryptor()
    for own, number in zip(words, ids.tolist(), strict=True):
        tag = (number % 2**64).to_bytes(8, "little") + bytes(5)
        stream = b"".join(cipher.update(tag + n.to_bytes(3, "little")) for n in range(2))
        assert own.astype("<u8").tobytes() == stream[:24]


def test_tags_of_text_and_keys_of_purposes_are_keyed_digests() -> None:
    (tag,) = tags_of_texts(KEY, ["Ann"])
    digest = hashlib.blake2b(b"Ann", digest_size=13, key=KEY, person=b"mechdesign ids").digest()
    assert tag.tobytes() == digest + bytes(3)
    assert subkey(KEY, b"a") != subkey(KEY, b"b") != hmac.digest(KEY, b"b", "sha256")


@given(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, min_size=1, max_size=9), st.data())
@examples(40)
def test_streams_go_on_for_each_record_by_itself(ids: list[int], data: st.DataObject) -> None:
    together = source(np.array(ids))
    chosen = data.draw(st.lists(st.integers(0, len(ids) - 1), unique=True))
    places = np.array(chosen, dtype=np.intp)
    first = together.words(len(ids))
    some = together.of(places).bytes(3 * len(places)).reshape(-1, 3)
    last = together.words(2 * len(ids)).reshape(-1, 2)
    for n, number in enumerate(ids):
        alone = source(np.array([number]))
        assert alone.words(1)[0] == first[n]
        if n in chosen:
            assert (alone.bytes(3) == some[chosen.index(n)]).all()
        assert (alone.words(2) == last[n]).all()


# --- every mechanism draws for each record by itself ----------------------------------------------


@pytest.mark.parametrize("name", SOURCES)
def test_a_report_depends_on_its_own_record_only(name: str) -> None:
    """In any order, with any others and alone, as in retried, split and shuffled parts."""
    mechanism, rng = SOURCES[name], np.random.default_rng(1)
    is_number = isinstance(mechanism, ContinuousChannel)
    records = np.linspace(0, 10, 12) if is_number else list(mechanism.inputs.labels)
    x, ids = rng.choice(records, 300), rng.permutation(10_000)[:300]
    table = pd.DataFrame({"id": ids, "x": x})

    def sent(part: pd.DataFrame) -> dict[int, Any]:
        found = md.privatize(part, {"x": mechanism}, keep=["id"], key=KEY, ids="id")
        return dict(zip(found["id"], found["x"], strict=True))

    whole = sent(table)
    assert len(set(whole.values())) > 1
    assert sent(table.sample(frac=1, random_state=2)) == whole
    parts = [sent(table.iloc[n : n + 70]) for n in range(0, 300, 70)]
    assert {n: y for part in parts for n, y in part.items()} == whole
    assert all(sent(table.iloc[n : n + 1]).items() <= whole.items() for n in range(0, 300, 30))


KERNELS = [name for name in SOURCES if name.startswith("numbers")]


@pytest.mark.parametrize(
    ("name", "record"),
    [
        *((name, None) for name in SOURCES if name not in KERNELS),
        *((name, x) for name in KERNELS for x in (0.0, 1.0, 3.999, 5.5, 10.0)),
    ],
)
def test_reports_from_keyed_coins_have_the_distribution_of_the_mechanism(
    name: str, record: Any
) -> None:
    mechanism, n = SOURCES[name], 20_000
    record = record if name in KERNELS else mechanism.inputs.labels[-1]
    ids = pa.array(range(n), pa.int64())
    reports = md.privatize(pa.array([str(record)] * n), mechanism, key=KEY, ids=ids)
    counts = md.tally(reports, mechanism).counts / n
    fair = mechanism.tally(mechanism.privatize([record] * n, rng=1)).counts / n
    error = np.sqrt((fair * (1 - fair) * 2 + 1e-4) / n)
    assert (np.abs(counts - fair) < 5 * error).all()


def test_the_rounding_is_independent_of_the_draw() -> None:
    """With visible nodes and a fair coin at each, shared coins would be visible in the reports."""
    telling = Channel.from_matrix([["1/2", "1/2", "0", "0"], ["0", "0", "1/2", "1/2"]])
    kernel, n = ContinuousChannel([0, 1], "linear", [0, 1], telling), 20_000
    reports = md.privatize(pa.array([0.5] * n), kernel, key=KEY, ids=pa.array(range(n), pa.int64()))
    counts = md.tally(reports, kernel).counts / n
    assert (np.abs(counts - 0.25) < 5 * np.sqrt(0.25 * 0.75 / n)).all()


# --- keys, columns and ids ------------------------------------------------------------------------


def frame() -> pd.DataFrame:
    return pd.DataFrame({"id": range(256), "x": "a", "y": "a"})


def bits(found: pd.DataFrame, column: str) -> list[int]:
    return found[column].tolist()


def test_columns_keys_and_mechanisms_have_coins_of_their_own() -> None:
    other = Channel.from_matrix([["1/2", "1/2"]] * 3, inputs=["a", "b", "c"], outputs=["h", "t"])
    found = md.privatize(frame(), {"x": COIN, "y": COIN}, key=KEY, ids="id")
    assert bits(found, "x") != bits(found, "y")
    again = md.privatize(frame(), {"x": COIN}, key=KEY, ids="id")
    assert bits(again, "x") == bits(found, "x")
    new = md.privatize(frame(), {"x": COIN}, key=secrets.token_bytes(32), ids="id")
    assert bits(new, "x") != bits(found, "x")
    relabeled = md.privatize(frame(), {"x": other}, key=KEY, ids="id")
    assert [int(y == "t") for y in relabeled["x"]] != bits(found, "x")


def test_an_id_is_the_same_however_it_is_held(tmp_path: Path) -> None:
    table = frame()
    wanted = bits(md.privatize(table, {"x": COIN}, key=KEY, ids="id"), "x")
    texts = table.assign(id=table["id"].astype(str))
    held: list[Any] = [texts, texts.astype({"id": "category"}), table.astype({"id": "uint8"})]
    for one in held:
        assert bits(md.privatize(one, {"x": COIN}, key=KEY, ids="id"), "x") == wanted
    plan = md.privatize(pl.from_pandas(texts).lazy(), {"x": COIN}, key=KEY, ids="id")
    for _ in range(2):
        assert plan.collect()["x"].to_list() == wanted
    assert md.privatize(table["x"], COIN, key=KEY, ids=table["id"]).tolist() != wanted  # no column
    table.to_csv(tmp_path / "in.csv", index=False)
    pq.write_table(pa.Table.from_pandas(table), tmp_path / "in.parquet")
    for name, chunk in (("in.csv", 100), ("in.parquet", 7)):
        out = tmp_path / "out.csv"
        privatize_file({"x": COIN}, tmp_path / name, out, key=KEY, ids="id", chunk=chunk)
        assert pd.read_csv(out)["x"].tolist() == wanted


def test_a_dropped_row_changes_no_other() -> None:
    table = frame()
    wanted = md.privatize(table, {"x": COIN}, key=KEY, ids="id", keep=["id"])
    table.loc[::3, "x"] = "?"
    found = md.privatize(table, {"x": COIN}, key=KEY, ids="id", keep=["id"], unknown="drop")
    assert len(found) < len(wanted)
    assert found.equals(wanted.loc[found.index])


@pytest.mark.parametrize(
    ("ids", "options", "message"),
    [
        ([1, 2, 1], {}, r"data\['id'\], row 2: expected ids that all differ"),
        (["1", "x", "01"], {}, ""),
        (["x", "y", "x"], {}, "row 2: expected ids that all differ"),
        ([1, None, 2], {}, "row 1: expected the id of a record"),
        (["a", None, "b"], {}, "row 1: expected the id of a record"),
        ([0.5, 1.5, 2.5], {}, "whole numbers or text, given double"),
        ([[1], [2], [3]], {}, "whole numbers or text, given list"),
        ([1, 2, 3], {"key": b"short"}, "32 to 64 random bytes.*given 5 bytes"),
        ([1, 2, 3], {"key": "x" * 32}, "32 to 64 random bytes.*given text"),
        ([1, 2, 3], {"rng": 1}, "none where the coins are from a key"),
        ([1, 2, 3], {"ids": None}, "one without the other"),
        ([1, 2, 3], {"key": None}, "one without the other"),
        ([1, 2, 3], {"ids": "name"}, "one column 'name', given the columns"),
    ],
)
def test_ids_and_keys_that_do_not_serve_are_refused(
    ids: list[Any], options: dict[str, Any], message: str
) -> None:
    table = pa.table({"id": ids, "x": ["a", "b", "c"]})
    asked = {"key": KEY, "ids": "id"} | options
    if not message:
        assert md.privatize(table, {"x": COIN}, **asked).num_rows == 3
        return
    check_refused(message, md.privatize, table, {"x": COIN}, **asked)


def test_names_that_are_equal_as_text_are_refused() -> None:
    """Their columns would have the same coins, so that equal reports show equal records."""
    table = pd.DataFrame({"id": [1], 2: ["a"], "2": ["b"]})
    columns = {2: COIN, "2": COIN}
    check_refused("differ as text", md.privatize, table, columns, key=KEY, ids="id")
    check_refused("differ as text", md.collection.spending, columns)


def test_an_id_that_comes_again_in_a_later_batch_of_a_stream_is_refused() -> None:
    table = pa.table({"id": [n % 7 for n in range(9)], "x": list("abcabcabc")})
    drawn = md.privatize(table.to_reader(3), {"x": COIN}, key=KEY, ids="id")
    check_refused(r"data\['id'\], row 7: expected ids that all differ", drawn.read_all)
    wanted = md.privatize(table[:7], {"x": COIN}, key=KEY, ids="id")
    found = md.privatize(table[:7].to_reader(3), {"x": COIN}, key=KEY, ids="id").read_all()
    assert found.equals(wanted)


def test_an_id_that_comes_again_in_a_later_part_of_a_file_is_refused(tmp_path: Path) -> None:
    source_, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source_.write_text("id,x\n" + "".join(f"{n % 150},a\n" for n in range(200)))
    with pytest.raises(InputError, match="record 151: expected ids that all differ"):
        privatize_file({"x": COIN}, source_, target, key=KEY, ids="id", chunk=50)
    assert not target.exists()
    for wrong in ({"key": KEY}, {"ids": "id"}, {"key": KEY, "ids": "id", "rng": 1}):
        with pytest.raises(InputError, match=r"^(ids|rng): expected (a key|none)"):
            privatize_file({"x": COIN}, source_, target, **wrong)


# --- two records with one id ----------------------------------------------------------------------


NAMES = st.one_of(
    st.integers(-5, 5), st.integers(-(2**63), 2**63 - 1), st.sampled_from(["a", "b", "c d"])
)


def refused_row(parts: list[np.ndarray]) -> int | None:
    """Return the row at which ids are refused as not distinct."""
    try:
        check_distinct(parts, str)
    except InputError as error:
        return int(error.key)
    return None


@given(st.lists(st.lists(NAMES, max_size=6), min_size=1, max_size=5))
@examples(60)
def test_the_first_id_that_is_there_already_is_found_and_no_other(
    parts: list[list[int | str]],
) -> None:
    tags = []
    for names in parts:
        tags.append(np.zeros((len(names), 2), dtype="<u8"))
        for row, name in enumerate(names):
            one = tags_of_texts(KEY, [name]) if isinstance(name, str) else None
            tags[-1][row] = tags_of_numbers(np.array([name]))[0] if one is None else one[0]
    names = list(itertools.chain(*parts))
    again = (row for row, name in enumerate(names) if name in names[:row])
    assert refused_row(tags) == next(again, None)


def test_all_bits_of_an_id_decide() -> None:
    """Not only the 64 that are sorted first."""
    tags = np.array([[7, 1], [7, 2], [7, 2**40 - 1], [8, 1], [7, 0]], dtype="<u8")
    assert refused_row([tags]) is None
    assert refused_row([tags, tags[2:3]]) == 5


@given(
    st.lists(
        st.one_of(
            st.integers(-(10**19), 2 * 10**19),
            st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**18, 10**19, 0]),
        ),
        unique=True,
        min_size=1,
        max_size=9,
    )
)
@examples(40)
def test_the_tag_of_an_id_does_not_depend_on_other_ids_or_on_its_type(ids: list[int]) -> None:
    """A number of 64 bits with a sign is itself, as text or not; other numbers are text."""
    coins = jobs.CollectionCoins(KEY, {"a": SOURCES["randomized response"]})

    def tags(held: pa.Array) -> list[list[int]]:
        return coins.tags(held, lambda *_: "ids").tolist()

    texts = tags(pa.array(list(map(str, ids))))
    numbers = [n for n, one in enumerate(ids) if -(2**63) <= one < 2**63]
    assert [texts[n] for n in numbers] == [[ids[n] % 2**64, 0] for n in numbers]
    assert texts == [tags(pa.array([str(one)]))[0] for one in ids]
    for kind, least, most in ((pa.int64(), -(2**63), 2**63), (pa.uint64(), 0, 2**64)):
        some = [n for n, one in enumerate(ids) if least <= one < most]
        if some:
            assert tags(pa.array([ids[n] for n in some], kind)) == [texts[n] for n in some]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_for_temporary_files_is_a_one_line_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = "^temporary files: expected room for them on a disk, given No space left on device"

    def full(*_: Any, **__: Any) -> Any:
        return Path("/dev/full").open("r+b")

    table = tmp_path / "in.csv"
    table.write_text("x\n" + "a\n" * 2000)
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    check_refused(told, privatize_file, {"x": COIN}, table, "-")
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]
    assert not capsys.readouterr().out

"""Every type of table comes back as the same type, through one core, with equal counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mechdesign as md
from mechdesign import Channel, InputError
from mechdesign.collection.tables.adapters import ADAPTERS
from tests.refusals_support import check_refused

TRUE = Channel.from_matrix(np.eye(3), inputs=["a", "b", "c"], outputs=["a", "b", "c"])
"""The identity channel, whose reports are known."""
TENS = Channel.from_matrix(np.eye(3), inputs=["a", "b", "c"], outputs=[10, 20, 30])
HALVES = Channel.from_matrix(np.eye(3), outputs=[0, 0.5, 1])
LETTERS, NUMBERS, IDS = list("abcb"), [0, 1, 2, 1], [7, 8, 9, 10]
WANTED = {"letter": LETTERS, "number": [0.0, 0.5, 1.0, 0.5], "id": IDS}
MECHANISMS = {"letter": TRUE, "number": HALVES}
PANDAS = pd.DataFrame({"id": IDS, "letter": LETTERS, "number": NUMBERS}, index=list("wxyz"))
ARROW = pa.table({"id": IDS, "letter": LETTERS, "number": NUMBERS})
POLARS = pl.from_arrow(ARROW)


class Stream:
    """A table of an unknown library with the Arrow C stream protocol."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return ARROW.__arrow_c_stream__(requested_schema)


def relation() -> Any:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    connection = duckdb.connect()
    connection.register("people", ARROW)
    return connection.table("people")


TABLES: dict[str, tuple[Callable[[], Any], type | str, Callable[[Any], dict[str, list[Any]]]]] = {
    "pandas": (lambda: PANDAS, pd.DataFrame, lambda t: t.to_dict("list")),
    "polars": (lambda: POLARS, pl.DataFrame, lambda t: t.to_dict(as_series=False)),
    "lazy": (POLARS.lazy, pl.LazyFrame, lambda t: t.collect().to_dict(as_series=False)),
    "table": (lambda: ARROW, pa.Table, lambda t: t.to_pydict()),
    "batch": (lambda: ARROW.to_batches()[0], pa.RecordBatch, lambda t: t.to_pydict()),
    "reader": (
        lambda: ARROW.to_reader(max_chunksize=3),
        pa.RecordBatchReader,
        lambda t: t.read_all().to_pydict(),
    ),
    "protocol": (Stream, pa.Table, lambda t: t.to_pydict()),
    "duckdb": (relation, "DuckDBPyRelation", lambda t: t.to_arrow_table().to_pydict()),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_returns_its_own_kind_with_reports_and_kept_columns(kind: str) -> None:
    make, wanted, content = TABLES[kind]
    found = md.privatize(make(), MECHANISMS, keep=["id"])
    named = type(found).__name__ == wanted if isinstance(wanted, str) else isinstance(found, wanted)
    assert named, type(found)
    assert content(found) == WANTED
    assert set(content(md.privatize(make(), {"letter": TENS}))) == {"letter"}
    counted = md.tally(make(), {"letter": TRUE})["letter"]
    assert (counted.counts.tolist(), counted.total) == ([1, 2, 1], 4)
    if kind != "lazy":
        simulated = content(md.privatize(make(), {"letter": TRUE}, rng=3))
        assert set(simulated["note"]) == {"simulation, not for release"}


def test_no_table_of_a_connection_takes_the_place_of_the_reports() -> None:
    """DuckDB prefers a table to the variable of the same name."""
    table = relation()
    for name in ("records", "reports", "drawn_reports", "data", "name"):
        table.query("t", f"CREATE TABLE {name} AS SELECT 'secret' AS letter")
        assert md.privatize(table, {"letter": TENS}).fetchall() == [(10,), (20,), (30,), (20,)]


COLUMNS: dict[str, tuple[Any, type, Callable[[Any], list[Any]]]] = {
    "list": (LETTERS, list, list),
    "numpy": (np.array(LETTERS), np.ndarray, np.ndarray.tolist),
    "pandas": (PANDAS["letter"], pd.Series, pd.Series.tolist),
    "polars": (POLARS["letter"], pl.Series, pl.Series.to_list),
    "array": (pa.array(LETTERS), pa.Array, lambda c: c.to_pylist()),
    "chunks": (
        pa.chunked_array([["a"], ["b", "c", "b"]]),
        pa.ChunkedArray,
        lambda c: c.to_pylist(),
    ),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_comes_back_as_its_kind(kind: str) -> None:
    column, wanted, content = COLUMNS[kind]
    assert isinstance(md.privatize(column, TRUE), wanted)
    assert content(md.privatize(column, TRUE)) == LETTERS
    assert content(md.privatize(column, TENS)) == [10, 20, 30, 20]
    assert md.tally(column, TRUE).counts.tolist() == [1, 2, 1]
    assert np.array_equal(md.estimate(TRUE, column).values, [0.25, 0.5, 0.25])


def test_pandas_keeps_its_index_and_a_dropped_row_is_gone() -> None:
    frame = PANDAS.assign(letter=["a", None, "c", "?"])
    found = md.privatize(frame, MECHANISMS, keep=["id"], missing="drop", unknown="drop")
    assert found.index.tolist() == ["w", "y"]
    assert found["id"].tolist() == [7, 9]
    found = md.privatize(frame, MECHANISMS, missing={"letter": "map:b"}, unknown="drop")
    assert found["letter"].tolist() == ["a", "b", "c"]
    series = md.privatize(frame["letter"], TRUE, missing="map:c", unknown="map:a")
    assert series.index.equals(frame.index)
    assert (series.name, series.tolist()) == ("letter", ["a", "c", "c", "a"])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(LETTERS, categories=["c", "unused", "b", "a"])),
        pa.chunked_array(
            [pa.array(["a"]).dictionary_encode(), pa.array(list("bcb")).dictionary_encode()]
        ),
        pl.Series(LETTERS, dtype=pl.Categorical),
        pl.Series(LETTERS, dtype=pl.Enum(["b", "c", "a", "unused"])),
    ],
    ids=["pandas", "arrow", "polars", "enum"],
)
def test_categories_go_by_their_codes_and_come_back_as_categories(column: Any) -> None:
    found = md.privatize(column, TRUE)
    assert list(md.privatize(pd.Series(found), TRUE)) == LETTERS
    assert type(found) is type(column)
    kind = found.type if isinstance(found, pa.ChunkedArray) else found.dtype
    assert any(word in str(kind).lower() for word in ("categor", "dictionary"))


def test_missing_categories_and_nan_are_missing() -> None:
    for column in (pd.Series(["a", None], dtype="category"), pd.Series(["a", np.nan])):
        assert md.privatize(column, TRUE, missing="map:c").tolist() == ["a", "c"]
        check_refused(r"data, row 1: .*given an empty cell", md.privatize, column, TRUE)
    floats = pd.Series([0, np.nan, 2])
    assert md.privatize(floats, HALVES, missing="drop").tolist() == [0.0, 1.0]
    assert md.privatize(floats, HALVES, missing="drop").index.tolist() == [0, 2]


def days_as(kind: str, moments: list[str]) -> Any:
    """Return moments as a library without a type for dates, or a file, holds them."""
    series = pd.Series(pd.to_datetime(moments))
    return {
        "pandas": lambda: series,
        "nanoseconds": lambda: series.astype("datetime64[ns]"),
        "objects": lambda: series.astype(object),
        "categories": lambda: series.astype("category"),
        "text": lambda: series.dt.strftime("%Y-%m-%d %H:%M:%S").tolist(),
        "ISO text": lambda: [moment.isoformat() for moment in series],
        "numpy": lambda: series.to_numpy().astype("datetime64[s]"),
        "days": lambda: pa.array(series.dt.date),
        "Polars days": pl.Series(moments).str.to_date,
        "Arrow": lambda: pa.array(series.to_numpy().astype("datetime64[ms]")),
        "Polars": lambda: pl.Series(series.dt.to_pydatetime().tolist()),
    }[kind]()


KINDS_OF_DAYS = ["pandas", "nanoseconds", "objects", "categories", "text", "ISO text", "numpy"]


@pytest.mark.parametrize("kind", [*KINDS_OF_DAYS, "Arrow", "Polars", "days", "Polars days"])
def test_a_date_that_a_library_holds_as_its_midnight_is_that_date(kind: str) -> None:
    """A time of the day is not; a moment is found for every notation of fractions of a second."""
    days = ["2026-01-02", "2026-01-01"]
    channel = Channel.from_matrix(np.eye(2), inputs=days, outputs=days)
    drawn = md.privatize(days_as(kind, ["2026-01-01", "2026-01-02", "2026-01-01"]), channel)
    assert [str(y) for y in drawn] == ["2026-01-01", "2026-01-02", "2026-01-01"]
    if "days" in kind:
        return
    moments = ["2026-01-01 00:00:00", "2026-01-01 06:00:00"]
    with pytest.raises(InputError, match="expected labels of the domain"):
        md.privatize(days_as(kind, moments), channel)
    exact = Channel.from_matrix(np.eye(3), inputs=["2026-01-01", *moments], outputs=["d", *"ms"])
    assert [str(y) for y in md.privatize(days_as(kind, moments), exact)] == ["m", "s"]


@pytest.mark.parametrize(
    "moments",
    [
        pd.Series(pd.to_datetime(["2026-01-01"]).tz_localize("UTC")),
        pd.Series(pd.to_datetime(["2026-01-01"]).tz_localize("Europe/Berlin")),
        pd.Series(pd.to_datetime(["2026-01-01 00:00:00.000001"])),
        ["2026-01-01 0:00:00"],
    ],
)
def test_a_midnight_somewhere_and_nearly_midnight_are_no_date(moments: Any) -> None:
    days = Channel.from_matrix(np.eye(2), inputs=["2026-01-01", "2026-01-02"])
    check_refused("expected labels of the domain", md.privatize, moments, days)


def test_a_filter_on_reports_of_a_plan_does_not_reach_the_records() -> None:
    """Polars would push a filter below a function that it takes for an elementwise one."""
    lies = Channel.from_matrix([[0, 1], [1, 0]], inputs=["a", "b"], outputs=["a", "b"])
    plan = md.privatize(pl.LazyFrame({"x": list("aab"), "id": [1, 2, 3]}), {"x": lies}, keep=["id"])
    assert plan.filter(pl.col("x") == "b").select("id").collect()["id"].to_list() == [1, 2]
    assert plan.head(1).collect()["x"].to_list() == ["b"]
    assert plan.select("id").collect(engine="streaming").height == 3


def test_a_simulation_is_marked_in_its_tally() -> None:
    found = md.privatize(PANDAS, {"letter": TRUE}, rng=3)
    assert md.tally(found, {"letter": TRUE})["letter"].simulated
    coin = Channel.from_matrix([["1/2", "1/2"]] * 2)
    reader = pa.table({"x": [0] * 256}).to_reader(max_chunksize=64)
    drawn = md.privatize(reader, {"x": coin}, rng=5).read_all()["x"].to_numpy().reshape(4, 64)
    assert len({row.tobytes() for row in drawn}) == 4  # one stream for all batches


def coded(code: int) -> pa.DictionaryArray:
    """Return categories with a code that Arrow does not validate."""
    codes = pa.array([0, code, 1], pa.int8())
    return pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b", "c"]), safe=False)


@pytest.mark.parametrize(
    ("data", "mechanisms", "options", "message"),
    [
        (PANDAS, TRUE, {}, "a dict of mechanisms, by column for a DataFrame"),
        (PANDAS["letter"], {"letter": TRUE}, {}, "one mechanism for a Series"),
        (PANDAS, {"else": TRUE}, {}, "one column 'else', given the columns"),
        (PANDAS, {}, {}, "a mechanism for at least one column"),
        (PANDAS, {"letter": "ldp"}, {}, "a Channel or a Mechanism"),
        (PANDAS, {"letter": TRUE}, {"keep": ["letter"]}, "columns beside"),
        (PANDAS, {"letter": TRUE}, {"keep": "id"}, "a list of columns"),
        (PANDAS, {"letter": TRUE}, {"unknown": "map:z"}, "unknown: "),
        (pd.concat([PANDAS, PANDAS], axis=1), {"letter": TRUE}, {}, "given several"),
        (PANDAS, {"number": TRUE}, {}, r"data\['number'\], row 0: .*given another value"),
        (POLARS.lazy(), {"letter": TRUE}, {"rng": 1}, "none for a LazyFrame"),
        ([["a"]], TRUE, {}, "a column of text or numbers, given list"),
        ([1, "a"], TRUE, {}, "a column of text or numbers, given cells of other types"),
        (np.array([["a"]]), TRUE, {}, "an array of one axis"),
        ({"letter": LETTERS}, {"letter": TRUE}, {}, "of a known kind, given the class dict"),
        (
            TRUE.privatize(LETTERS),
            TRUE,
            {},
            r"the class Reports; mechanism.tally\(reports\) counts",
        ),
        (pl.Series([object()]), TRUE, {}, "given Python objects"),
        (np.array(["yes", "\ud800"]), TRUE, {}, "given cells of other types"),
        (np.array([1, "a"], dtype=object), TRUE, {}, "given cells of other types"),
        (pl.Series("x", [10**30], dtype=pl.Int128), TRUE, {}, "given Int128"),
        (
            pd.Series(pd.period_range("2020-01-01", periods=2, freq="D")),
            TRUE,
            {},
            "given extension",
        ),
        (pd.Series(pd.interval_range(0, 2)), TRUE, {}, "given extension"),
        (pd.Series([b"0" * 16] * 2, dtype=pd.ArrowDtype(pa.uuid())), TRUE, {}, "given extension"),
        *(
            (pa.chunked_array([coded(code)] * pieces), TRUE, {}, "codes of categories that exist")
            for code in (3, -1, 127)
            for pieces in (1, 2)
        ),
    ],
)
def test_errors_take_one_line(
    data: Any, mechanisms: Any, options: dict[str, Any], message: str
) -> None:
    check_refused(message, md.privatize, data, mechanisms, **options)


def test_nothing_is_drawn_before_every_cell_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len({adapter.place for adapter in ADAPTERS}) == len(ADAPTERS)
    monkeypatch.setattr(Channel, "draw", lambda *_: pytest.fail("a draw before the refusal"))
    frame = PANDAS.assign(number=[0, 1, 2, 3])
    check_refused(r"data\['number'\], row 3", md.privatize, frame, MECHANISMS)


def test_errors_of_a_plan_count_rows_within_parts() -> None:
    """A part may begin anywhere, so its row numbers are not those of the table."""
    plan = pl.DataFrame({"x": ["yes", "maybe"]}).lazy()
    drawn = md.privatize(plan, {"x": md.mechanisms.GeneralizedRandomizedResponse(["yes", "no"], 1)})
    check_refused(r"data\['x'\], row [01] of a part: expected labels", drawn.collect)


def test_errors_of_a_stream_count_all_rows() -> None:
    table = pa.table({"x": ["a", "b", "c", "?"]})
    drawn = md.privatize(table.to_reader(2), {"x": TRUE})
    check_refused(r"data\['x'\], row 3: expected labels", drawn.read_all)
    check_refused(r"row 3: these are not reports", md.tally, table.to_reader(2), {"x": TRUE})


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_simulation_is_marked_beside_a_column_called_note(make: Any) -> None:
    """Its column would take the place of another, or the other its place."""
    channel = md.mechanisms.GeneralizedRandomizedResponse(["a", "b"], 1)
    table = make({"note": ["a"], "x": ["b"]})
    for column, options in (("note", {"rng": 1}), ("x", {"rng": 1, "keep": ["note"]})):
        check_refused("another name than 'note'", md.privatize, table, {column: channel}, **options)
    kept = md.privatize(table, {"x": channel}, keep=["note"])
    assert list(map(str, kept["note"])) == ["a"]
    check_refused("that all differ", md.privatize, table, {"x": channel}, keep=["note", "note"])


@pytest.mark.parametrize("name", [0, ("a", 1), pd.Timestamp(2020, 1, 1)])
def test_columns_of_reports_that_are_sets_may_have_any_name(name: Any) -> None:
    table = pd.DataFrame([["a"], ["b"]], columns=pd.Index([name], tupleize_cols=False))
    mechanism = md.mechanisms.OptimizedUnaryEncoding(["a", "b"], 1)
    reports = md.privatize(table, {name: mechanism})
    assert list(reports.columns) == [name]
    assert md.tally(reports, {name: mechanism})[name].total == 2

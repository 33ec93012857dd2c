"""The CSV reader agrees with Python's own, wherever its blocks are cut, line numbers included."""

from __future__ import annotations

import csv
import io
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from mechdesign.collection.records import base
from mechdesign.collection.records.csv_files import CSVFile
from mechdesign.errors import InputError
from tests.strategies import examples

Rows = list[tuple[list[str], str]]
"""Rows with the places at which they begin."""


def reference(text: str) -> tuple[list[str] | None, Rows, str]:
    """Return the header, the rows with their locations, and the location of an error, if any."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: Rows = []
    place = "line 1"
    try:
        for row in reader:
            rows.append((row, place))
            place = f"line {reader.line_num + 1}"
        place = ""
    except csv.Error:
        pass
    if not rows or not rows[0][0]:
        return None, [], "line 1"
    (header, _), *rows = rows
    if len(header) == 1:
        rows = [(row or [""], where) for row, where in rows]
    while len(header) > 1 and rows and not place and not rows[-1][0]:
        rows.pop()
    for n, (row, where) in enumerate(rows):
        if len(row) != len(header):
            return header, rows[:n], where
    return header, rows, place


def found(path: Path, size: int) -> tuple[list[str] | None, Rows, str]:
    """Return the same by the reader under test."""
    header, rows = None, []
    try:
        with closing(CSVFile(path)) as reader:
            header = list(reader.schema.names)
            names = list(map(str, range(len(header))))  # which all differ
            reader.schema = pa.schema([(name, pa.string()) for name in names])
            for table in reader.tables(names, size):
                for n, row in enumerate(table.to_pylist()):
                    rows.append((list(row.values()), reader.place(0, n)))
    except InputError as error:
        return header, rows, error.key.rpartition(": ")[2]
    return header, rows, ""


@examples(150)
@given(
    st.text(st.sampled_from('a,"\n\ré '), max_size=30),
    st.sampled_from(["", "x\n", "x,y\n", "x,y\r\n", "x,y\r"]),
    st.integers(1, 9),
    st.integers(1, 4),
)
def test_any_text_is_read_or_refused_as_by_python(
    tmp_path_factory: pytest.TempPathFactory, text: str, head: str, block: int, size: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text(head + text, encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "BLOCK", block)
        assert found(path, size) == reference(head + text)


CELLS = st.text(st.sampled_from('ab,;"\n\r é'), max_size=5)


@examples(80)
@given(
    st.integers(1, 3).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1)
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(1, 40),
)
def test_what_python_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], end: str, block: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "written.csv"
    head = [f"c{n}" for n in range(len(rows[0]))]
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator=end, quoting=csv.QUOTE_ALL).writerows([head, *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "BLOCK", block)
        header, read, refused = found(path, 1000)
    assert (header, [row for row, _ in read], refused) == (head, rows, "")


def test_lines_beyond_many_blocks_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    lines = "".join(f'{n},"two\nlines {n}"\n' for n in range(30_000))
    path.write_text(f"a,b\n{lines}short\n", encoding="utf-8")
    with (
        closing(CSVFile(path)) as reader,
        pytest.raises(InputError, match=r"line 60002: expected 2 cells.*given 1 cell"),
    ):
        list(reader.tables(["a"], 1000))

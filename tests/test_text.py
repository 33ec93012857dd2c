"""Printed tables are aligned, stay on their lines, and are escaped where they become HTML."""

from __future__ import annotations

import numpy as np

from mechdesign.text import Matrix, Table, latex, printable, shortened


def test_a_label_of_two_lines_is_printed_on_one() -> None:
    text = Table(("label",), [("two\nlines",), ("tab\there",)], "<").text()
    assert text.splitlines() == ["label", "two lines", "tab here"]
    assert printable("a\x1b[31mb") == "a [31mb"


def test_columns_are_aligned_whatever_they_hold() -> None:
    lines = Table(("name", "nats"), [("a", "1"), ("longer", "12.25")], "<>").text().splitlines()
    assert {
        line.index(number) + len(number)
        for line, number in zip(lines[1:], ("1", "12.25"), strict=True)
    } == {13}


def test_html_shows_a_label_and_runs_none() -> None:
    table = Table(("<b>",), [("<script>alert(1)</script>",)], "<").html()
    assert "<script>" not in table
    assert "&lt;script&gt;" in table


def test_a_large_matrix_is_shown_by_its_corners() -> None:
    matrix = Matrix(np.full((300, 200), 1 / 200), range(300), range(200))
    lines = matrix.text().splitlines()
    assert len(lines) < 20
    assert lines[0].split()[0] == "0"
    assert lines[0].split()[-1] == "199"
    assert lines[-1].split()[0] == "299"
    assert matrix.html().count("<tr>") < 40


def test_small_entries_are_no_zeros() -> None:
    text = Matrix(np.array([[1e-9, 1 - 1e-9], [0.0, 1.0]]), ["a", "b"], ["c", "d"]).text()
    assert "1e-09" in text
    assert text.splitlines()[2].split() == ["b", "0", "1.0000"]


def test_long_text_ends_in_an_ellipsis() -> None:
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("abcd", 4) == "abcd"
    assert latex("50% of a_b") == r"50\% of a\_b"

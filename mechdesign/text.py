"""Output for people: labels on one line, tables as plain text and as HTML for notebooks."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

CELL = "text-align:right;padding:0.15em 0.6em;font-variant-numeric:tabular-nums"
LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
HUE = "31,119,180"
"""The color of a heat map, as red, green and blue."""


def printable(value: object) -> str:
    r"""Return text without line breaks.

    Examples
    --------
    >>> printable("two\nlines")
    'two lines'
    """
    return "".join(c if c.isprintable() else " " for c in str(value))


def shortened(value: object, most: int) -> str:
    """Return printable text of at most ``most`` characters, quoted if spaces begin or end it.

    Examples
    --------
    >>> shortened("red", 24), shortened("red ", 24)
    ('red', "'red '")
    """
    text = printable(value)
    if text != text.strip():
        text = repr(text)
    return text if len(text) <= most else text[: most - 1] + "…"


@dataclass(frozen=True)
class Table:
    """Cells of text with a header, printed in columns or as HTML.

    Attributes
    ----------
    head
        The names of the columns.
    rows
        The cells, as many in each row as there are columns.
    align
        For each column ``<`` for left or ``>`` for right.
    shades
        For each cell a number from 0 to 1 for the colors of a heat map, or None.

    Examples
    --------
    >>> print(Table(("notion", "nats"), [("ldp", "1.1"), ("pml", "12.5")], "<>").text("  "))
      notion  nats
      ldp      1.1
      pml     12.5
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    align: str
    shades: Sequence[Sequence[float]] = ()

    def text(self, indent: str = "", least: int = 0) -> str:
        """Return the table as lines, with numeric columns of width ``least`` or more."""
        lines = [list(map(printable, line)) for line in (self.head, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        widths = [max(w, least * (a == ">")) for w, a in zip(widths, self.align, strict=True)]
        return "\n".join(
            (
                indent
                + "  ".join(
                    f"{cell:{align}{width}}"
                    for cell, align, width in zip(line, self.align, widths, strict=True)
                )
            ).rstrip()
            for line in lines
        )

    def html(self) -> str:
        """Return the table as HTML, every cell escaped."""
        head = "".join(_cell("th", cell, a) for cell, a in zip(self.head, self.align, strict=True))
        body = "".join(f"<tr>{self._html_row(n)}</tr>" for n in range(len(self.rows)))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def latex(self) -> str:
        """Return the table as a LaTeX ``tabular``, every cell escaped."""
        align = self.align.replace("<", "l").replace(">", "r")
        head, *rows = (" & ".join(map(latex, row)) for row in (self.head, *self.rows))
        lines = [f"{row} \\\\" for row in (head, *rows)]
        body = "\n".join([lines[0], "\\hline", *lines[1:]])
        return f"\\begin{{tabular}}{{{align}}}\n{body}\n\\end{{tabular}}"

    def _html_row(self, n: int) -> str:
        shades = self.shades[n] if self.shades else [0.0] * len(self.align)
        cells = zip(self.rows[n], self.align, shades, strict=True)
        return "".join(_cell("td", cell, align, shade) for cell, align, shade in cells)


class Tabular(ABC):
    """A result that prints as one table, optionally under a line; HTML in a notebook."""

    indent: ClassVar[str] = ""
    """Prefix of each line of the table in plain text."""

    @abstractmethod
    def _table(self) -> Table:
        """Return the table."""

    def _head(self) -> str:
        """Return the line above the table; no line if it is empty."""
        return ""

    def __repr__(self) -> str:
        head, table = self._head(), self._table().text(self.indent)
        return f"{head}\n{table}" if head else table

    def _repr_html_(self) -> str:
        head = self._head()
        return html_lines([("", head)] if head else [], self._table().html())


@dataclass(frozen=True)
class Report:
    """Named lines above a matrix, with the same content in text, HTML and LaTeX.

    Attributes
    ----------
    lines
        Pairs of a word and a sentence; the word is empty where a line continues.
    matrix
        Numbers in [0, 1], and the labels of their rows and columns; None without.
    tail
        Text below the matrix.
    """

    lines: Sequence[tuple[str, str]]
    matrix: tuple[npt.NDArray[np.float64], Sequence[Hashable], Sequence[Hashable]] | None = None
    tail: str = ""

    def text(self) -> str:
        """Return the report as plain text."""
        named = "\n".join(f"{head:<11}{printable(text)}" for head, text in self.lines)
        parts = [named, "" if self.matrix is None else format_table(*self.matrix), self.tail]
        return "\n\n".join(filter(None, parts))

    def html(self) -> str:
        """Return the report as HTML, the matrix as a heat map."""
        heat_map = "" if self.matrix is None else html_matrix(*self.matrix)
        tail = f"<pre>{html.escape(self.tail)}</pre>" if self.tail else ""
        return html_lines(self.lines, heat_map, tail)

    def latex(self) -> str:
        """Return the report as LaTeX tables."""
        rows = [f"{latex(head)} & {latex(text)} \\\\" for head, text in self.lines]
        width = r"{lp{0.8\linewidth}}"
        named = "\n".join([rf"\begin{{tabular}}{width}", *rows, r"\end{tabular}"])
        matrix = "" if self.matrix is None else _matrix_table(*self.matrix, 12, 8).latex()
        tail = rf"\begin{{verbatim}}{self.tail}\end{{verbatim}}" if self.tail else ""
        return "\n\n".join(filter(None, (named, matrix, tail)))


def _cell(tag: str, text: str, align: str, shade: float = 0.0) -> str:
    style = CELL if align == ">" else CELL.replace("right", "left")
    if shade > 0:
        style += f";background:rgba({HUE},{shade:.2f})" + (";color:white" if shade > 0.6 else "")
    return f'<{tag} style="{style}">{html.escape(printable(text))}</{tag}>'


def latex(value: object) -> str:
    r"""Return text for LaTeX, its special characters escaped.

    Examples
    --------
    >>> latex("a_b & 5%")
    'a\\_b \\& 5\\%'
    """
    return "".join(LATEX.get(c, c) for c in printable(value))


def html_lines(lines: Sequence[tuple[str, str]], *parts: str) -> str:
    """Return named lines as escaped HTML, followed by parts that are already HTML."""
    table = Table(("", ""), lines, "<<").html() if lines else ""
    return "<div>" + "".join([table, *parts]) + "</div>"


def format_table(
    matrix: npt.NDArray[np.float64], rows: Sequence[Hashable], columns: Sequence[Hashable]
) -> str:
    """Return a matrix as text with labeled rows and columns, without the middle of a large one."""
    return _matrix_table(matrix, rows, columns, 12, 8).text(least=6)


def html_matrix(
    matrix: npt.NDArray[np.float64], rows: Sequence[Hashable], columns: Sequence[Hashable]
) -> str:
    """Return a matrix of numbers in [0, 1] as an HTML heat map, the middle left out when large."""
    return _matrix_table(matrix, rows, columns, 24, 16).html()


def _matrix_table(
    matrix: npt.NDArray[np.float64],
    rows: Sequence[Hashable],
    columns: Sequence[Hashable],
    most_rows: int,
    most_columns: int,
) -> Table:
    x, y = _ends(len(rows), most_rows), _ends(len(columns), most_columns)
    head = ["", *("…" if j is None else shortened(columns[j], 14) for j in y)]
    cells, shades = [], []
    for i in x:
        if i is None:
            cells.append(["…"] * len(head))
            shades.append([0.0] * len(head))
            continue
        entries = [None if j is None else float(matrix[i, j]) for j in y]
        cells.append([shortened(rows[i], 14), *("…" if e is None else _entry(e) for e in entries)])
        shades.append([0.0, *(min(1.0, e or 0.0) for e in entries)])
    return Table(head, cells, "<" + ">" * len(y), shades)


def _entry(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:.4f}" if value >= 5e-5 else f"{value:.0e}"


def _ends(count: int, most: int) -> list[int | None]:
    if count <= most:
        return list(range(count))
    half = most // 2
    return [*range(half), None, *range(count - half, count)]

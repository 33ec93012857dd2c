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
    """Return text without line breaks or other characters that do not print."""
    return "".join(c if c.isprintable() else " " for c in str(value))


def shortened(value: object, most: int) -> str:
    """Return printable text of at most ``most`` characters, quoted if spaces begin or end it."""
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
    least
        The least width of numeric columns in plain text.

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
    least: int = 0

    def text(self, indent: str = "") -> str:
        """Return the table as lines."""
        lines = [list(map(printable, line)) for line in (self.head, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        widths = [max(w, self.least * (a == ">")) for w, a in zip(widths, self.align, strict=True)]
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


@dataclass(frozen=True)
class Matrix:
    """A matrix of numbers in [0, 1] with labels, printed without the middle of a large one.

    As HTML it is a heat map.
    """

    entries: npt.NDArray[np.float64]
    rows: Sequence[Hashable]
    columns: Sequence[Hashable]

    def text(self, indent: str = "") -> str:
        """Return the matrix as lines."""
        return self._table(12, 8).text(indent)

    def html(self) -> str:
        """Return the matrix as a heat map."""
        return self._table(24, 16).html()

    def latex(self) -> str:
        """Return the matrix as a LaTeX ``tabular``."""
        return self._table(12, 8).latex()

    def _table(self, most_rows: int, most_columns: int) -> Table:
        x, y = abridged(len(self.rows), most_rows), abridged(len(self.columns), most_columns)
        head = ["", *("…" if j is None else shortened(self.columns[j], 14) for j in y)]
        cells, shades = [], []
        for i in x:
            if i is None:
                cells.append(["…"] * len(head))
                shades.append([0.0] * len(head))
                continue
            entries = [None if j is None else float(self.entries[i, j]) for j in y]
            texts = ["…" if e is None else _entry(e) for e in entries]
            cells.append([shortened(self.rows[i], 14), *texts])
            shades.append([0.0, *(min(1.0, e or 0.0) for e in entries)])
        return Table(head, cells, "<" + ">" * len(y), shades, least=6)


class Tabular(ABC):
    """A result that prints as lines above one table or matrix; HTML in a notebook."""

    __slots__ = ()
    indent: ClassVar[str] = ""
    """Prefix of each line of the table in plain text."""

    @abstractmethod
    def _table(self) -> Table | Matrix:
        """Return the table."""

    def _head(self) -> str:
        """Return the line above the table; no line if it is empty."""
        return ""

    def _lines(self) -> Sequence[str]:
        """Return the lines above the table."""
        return [head] if (head := self._head()) else []

    def __repr__(self) -> str:
        return "\n".join([*self._lines(), self._table().text(self.indent)])

    def _repr_html_(self) -> str:
        return html_lines([("", line) for line in self._lines()], self._table().html())


@dataclass(frozen=True)
class Report:
    """Named lines above a matrix and a tail, with the same content in text, HTML and LaTeX.

    A line is a pair of a word and a sentence; the word is empty where a line continues.
    """

    lines: Sequence[tuple[str, str]]
    matrix: Matrix | None = None
    tail: str = ""

    def text(self) -> str:
        """Return the report as plain text."""
        named = "\n".join(f"{head:<11}{printable(text)}" for head, text in self.lines)
        parts = [named, self.matrix.text() if self.matrix else "", self.tail]
        return "\n\n".join(filter(None, parts))

    def html(self) -> str:
        """Return the report as HTML, the matrix as a heat map."""
        heat_map = self.matrix.html() if self.matrix else ""
        tail = f"<pre>{html.escape(self.tail)}</pre>" if self.tail else ""
        return html_lines(self.lines, heat_map, tail)

    def latex(self) -> str:
        """Return the report as LaTeX tables."""
        rows = [f"{latex(head)} & {latex(text)} \\\\" for head, text in self.lines]
        width = r"{lp{0.8\linewidth}}"
        named = "\n".join([rf"\begin{{tabular}}{width}", *rows, r"\end{tabular}"])
        matrix = self.matrix.latex() if self.matrix else ""
        tail = rf"\begin{{verbatim}}{self.tail}\end{{verbatim}}" if self.tail else ""
        return "\n\n".join(filter(None, (named, matrix, tail)))


def _cell(tag: str, text: str, align: str, shade: float = 0.0) -> str:
    style = CELL if align == ">" else CELL.replace("right", "left")
    if shade > 0:
        style += f";background:rgba({HUE},{shade:.2f})" + (";color:white" if shade > 0.6 else "")
    return f'<{tag} style="{style}">{html.escape(printable(text))}</{tag}>'


def latex(value: object) -> str:
    """Return text for LaTeX, its special characters escaped."""
    return "".join(LATEX.get(c, c) for c in printable(value))


def html_lines(lines: Sequence[tuple[str, str]], *parts: str) -> str:
    """Return named lines as escaped HTML, followed by parts that are already HTML."""
    table = Table(("", ""), lines, "<<").html() if lines else ""
    return "<div>" + "".join([table, *parts]) + "</div>"


def _entry(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:.4f}" if value >= 5e-5 else f"{value:.0e}"


def abridged(count: int, most: int) -> list[int | None]:
    """Return the first and the last of many places, with None between them, or all of a few."""
    if count <= most:
        return list(range(count))
    half = most // 2
    return [*range(half), None, *range(count - half, count)]

"""Text for people: labels that stay on their line, and tables of probabilities."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["format_table", "printable"]


def printable(value: object) -> str:
    r"""Return text that stays on its line.

    Examples
    --------
    >>> printable("two\nlines")
    'two lines'
    """
    return "".join(c if c.isprintable() else " " for c in str(value))


def format_table(
    matrix: npt.NDArray[np.float64], rows: Sequence[Hashable], columns: Sequence[Hashable]
) -> str:
    """Return a matrix as text with labelled rows and columns, the middle left out when large."""
    shown_rows, shown_columns = _ends(len(rows), 12), _ends(len(columns), 8)

    def name(label: Hashable) -> str:
        text = printable(label)
        return text if len(text) <= 14 else text[:13] + "…"

    cells = [["", *("…" if y is None else name(columns[y]) for y in shown_columns)]]
    for x in shown_rows:
        if x is None:
            cells.append(["…"] * (1 + len(shown_columns)))
            continue
        entries = ["…" if y is None else _entry(float(matrix[x, y])) for y in shown_columns]
        cells.append([name(rows[x]), *entries])
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    widths = [widths[0], *(max(7, width + 1) for width in widths[1:])]
    lines = (
        row[0].ljust(widths[0])
        + " "
        + "".join(c.rjust(w) + " " for c, w in zip(row[1:], widths[1:], strict=True))
        for row in cells
    )
    return "\n".join(line.rstrip() for line in lines)


def _entry(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:.4f}" if value >= 5e-5 else f"{value:.0e}"


def _ends(count: int, most: int) -> list[int | None]:
    if count <= most:
        return list(range(count))
    half = most // 2
    return [*range(half), None, *range(count - half, count)]

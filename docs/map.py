"""The map of the house, drawn from the imports: rooms, floors, and the path of one problem.

``python docs/map.py`` reads every import in ``mechdesign/`` and writes ``docs/pictures/house.svg``.
A room is an entry of the package, a file or a folder. It stands one floor above the highest room
that it imports. An arrow goes from a room to one that it imports; those that follow from two others
are left out (the transitive reduction), so that what is drawn implies every import there is.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "house.svg"

PATH = (
    ("files", "a problem file is read"),
    ("problem", "domain, prior, notions and utility are held against each other"),
    ("notions", "the notions become rows of a cone"),
    ("utilities", "the utility becomes a cost"),
    ("closed_forms", "a formula is taken where its condition holds"),
    ("search", "else a route finds a channel and dual variables, in floats"),
    ("repair", "the channel becomes integers that are private exactly"),
    ("kernel", "privacy and a bound on the optimum are proved"),
    ("designs", "channel, value, bound and proof are reported"),
)
"""What happens to one problem, and in which room; ``designs`` calls them in this order."""

Graph = Mapping[str, frozenset[str]]


@cache
def tree_of(file: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def imported(file: Path) -> list[str]:
    """Return the dotted name of all that a file imports, in functions and for types as well."""
    found = list[str]()
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def entries(folder: Path) -> list[str]:
    """Return the rooms of a package: its files and sub-packages, without the front doors."""
    found = [path.stem for path in folder.iterdir() if path.suffix == ".py"]
    found += [path.name for path in folder.iterdir() if (path / "__init__.py").is_file()]
    return sorted(name for name in found if not name.startswith("__"))


def imports(folder: Path, name: str) -> Graph:
    """Return for each room of the package ``name``, in ``folder``, which other rooms it imports."""
    rooms = entries(folder)
    graph: dict[str, set[str]] = {room: set() for room in rooms}
    inside = f"{name}."
    for room in rooms:
        path = folder / room
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]:
            for module in imported(file):
                if module.startswith(inside):
                    graph[room].add(module.removeprefix(inside).split(".")[0])
    return {room: frozenset(others & set(rooms) - {room}) for room, others in graph.items()}


def floors(graph: Graph) -> dict[str, int]:
    """Return the floor of each room: one above the highest room that it imports.

    Raises
    ------
    ValueError
        If rooms import each other in a circle; the message names one.
    """
    known: dict[str, int] = {}

    def height(room: str, above: tuple[str, ...]) -> int:
        if room in above:
            raise ValueError(" -> ".join([*above[above.index(room) :], room]))
        if room not in known:
            known[room] = 1 + max((height(o, (*above, room)) for o in graph[room]), default=-1)
        return known[room]

    for room in sorted(graph):
        height(room, ())
    return known


def arrows(graph: Graph) -> list[tuple[str, str]]:
    """Return the imports that do not follow from others: the transitive reduction."""
    at = floors(graph)
    below: dict[str, set[str]] = {}
    for room in sorted(graph, key=lambda room: at[room]):
        below[room] = set(graph[room]).union(*(below[other] for other in graph[room]))
    return [
        (room, other)
        for room in sorted(graph)
        for other in sorted(graph[room])
        if not any(other in below[between] for between in graph[room])
    ]


BOX, LINE, GAP, MARGIN, BETWEEN = 30, 13, 18, 24, 34
"""Sizes in pixels: a box without sub-rooms, a line of sub-rooms, and the spaces around boxes."""
RADIUS = 9
"""Of the disc with the number of a step."""


def _disc(x: float, y: float, number: int) -> str:
    return (
        f'<circle class="disc" cx="{x:.0f}" cy="{y:.0f}" r="{RADIUS}"/>'
        f'<text class="step" x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle">{number}</text>'
    )


def _boxes(folder: Path, at: Mapping[str, int]) -> dict[str, tuple[float, float, int, int, str]]:
    """Return for each room x, y, width and height of its box, and the line of its sub-rooms."""
    sizes: dict[str, tuple[int, int, str]] = {}
    for room in at:
        parts = entries(folder / room) if (folder / room).is_dir() else []
        parts = [part for part in parts if (folder / room / part).is_dir()]
        line = " · ".join(parts)
        width = max(8 * len(room) + 40, 6 * len(line) + 16)
        sizes[room] = (width, BOX + (LINE if line else 0), line)
    rows = [sorted(r for r in at if at[r] == floor) for floor in range(max(at.values()) + 1)]
    widths = [sum(sizes[r][0] + GAP for r in row) - GAP for row in rows]
    boxes = {}
    y = MARGIN
    for row, width in reversed(list(zip(rows, widths, strict=True))):
        x = MARGIN + (max(widths) - width) / 2
        for room in row:
            boxes[room] = (x, float(y), *sizes[room])
            x += sizes[room][0] + GAP
        y += max(sizes[room][1] for room in row) + BETWEEN
    return boxes


def _legend(x: float) -> list[str]:
    lines = [f'<text x="{x}" y="{MARGIN + 12}" class="room">The path of one problem</text>']
    for number, (room, what) in enumerate(PATH):
        y = MARGIN + 40 + 38 * number
        lines += [
            _disc(x + RADIUS, y - 4, number + 1),
            f'<text x="{x + 28}" y="{y}" class="room">{escape(room)}</text>',
            f'<text x="{x + 28}" y="{y + 15}" class="part">{escape(what)}</text>',
        ]
    y = MARGIN + 60 + 38 * len(PATH)
    for n, line in enumerate(
        (
            "An arrow points to a room that is imported; where it",
            "follows from other arrows, it is not drawn. designs",
            "takes a problem along the path, many problems and",
            "many budgets too. Above it the channel is used.",
        )
    ):
        lines.append(f'<text x="{x}" y="{y + 16 * n}" class="part">{line}</text>')
    return lines


def draw(folder: Path = ROOT / "mechdesign", name: str = "mechdesign") -> str:
    """Return the map as SVG. Its groups say in ``data-`` attributes what they stand for."""
    graph = imports(folder, name)
    at = floors(graph)
    boxes = _boxes(folder, at)
    right = max(x + width for x, _, width, _, _ in boxes.values()) + 40
    bottom = max(y + height for _, y, _, height, _ in boxes.values()) + MARGIN
    discs = {room: (boxes[room][0], boxes[room][1] + BOX / 2) for room, _ in PATH}
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right + 400:.0f} {bottom:.0f}" '
        'font-family="sans-serif">',
        "<title>Rooms of mechdesign, by what they import</title>",
        "<style>.room { font-size: 13px; font-weight: bold; fill: #1b2a41 }"
        " .part { font-size: 11px; fill: #44546a }"
        " .box { fill: #eef3f8; stroke: #5b7c99 } .path { fill: #fdf0e3; stroke: #b3541e }"
        " .arrow { stroke: #8fa3b5; fill: none } .disc { fill: #b3541e }"
        " .step { font-size: 11px; font-weight: bold; fill: white }</style>",
        '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#8fa3b5"/></marker>',
        f'<rect width="{right + 400:.0f}" height="{bottom:.0f}" fill="white"/>',
    ]
    for room, other in arrows(graph):
        x, y, width, height, _ = boxes[room]
        to_x, to_y, to_width, _, _ = boxes[other]
        start, end = (x + width / 2, y + height), (to_x + to_width / 2, to_y)
        bend = (end[1] - start[1]) / 2
        lines.append(
            f'<path class="arrow" data-from="{room}" data-to="{other}" marker-end="url(#head)" '
            f'd="M{start[0]:.0f},{start[1]:.0f} C{start[0]:.0f},{start[1] + bend:.0f} '
            f'{end[0]:.0f},{end[1] - bend:.0f} {end[0]:.0f},{end[1]:.0f}"/>'
        )
    for room, (x, y, width, height, parts) in boxes.items():
        kind = "path" if room in discs else "box"
        lines += [
            f'<g data-room="{room}" data-floor="{at[room]}" data-parts="{parts}">',
            f'<rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{width}" '
            f'height="{height}" rx="5"/>',
            f'<text class="room" x="{x + width / 2:.0f}" y="{y + 20:.0f}" text-anchor="middle">'
            f"{escape(room)}</text>",
            f'<text class="part" x="{x + width / 2:.0f}" y="{y + 35:.0f}" text-anchor="middle">'
            f"{parts}</text>"
            if parts
            else "",
            "</g>",
        ]
    lines += [_disc(x, y, number) for number, (x, y) in enumerate(discs.values(), start=1)]
    return "\n".join([*filter(None, lines), *_legend(right), "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")

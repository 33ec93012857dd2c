/** Pictures as SVG: heat maps, lines, and their export. Colors are variables of the style sheet. */

import { digits, download, html, shortProbability, svg } from "./dom.ts";

const isDark = (): boolean => matchMedia("(prefers-color-scheme: dark)").matches;

type Color = readonly [number, number, number];

const between = (a: Color, b: Color, t: number): Color =>
  [0, 1, 2].map((i) => Math.round(a[i] + (b[i] - a[i]) * t)) as unknown as Color;
const css = (color: Color): string => `rgb(${color.join(",")})`;
const luminance = (color: Color): number => {
  const [r, g, b] = color.map((c) => (c / 255 <= 0.04045 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
/** Black or white, whichever is easier to read on a color. */
const inkOn = (color: Color): string => (luminance(color) > 0.19 ? "#000" : "#fff");

/** From nothing to 1: one hue that gets stronger, so that all can tell it apart. */
function sequential(t: number): Color {
  const ends: [Color, Color] = isDark()
    ? [[24, 34, 46], [120, 196, 255]]
    : [[247, 251, 255], [8, 69, 148]];
  return between(ends[0], ends[1], Math.max(0, Math.min(1, t)) ** 0.8);
}

/** Around nothing: orange below, blue above. */
function diverging(t: number): Color {
  const middle: Color = isDark() ? [30, 34, 40] : [250, 250, 250];
  const end: Color = t < 0 ? (isDark() ? [240, 150, 60] : [200, 90, 0]) : isDark() ? [110, 180, 255] : [0, 90, 178];
  return between(middle, end, Math.min(1, Math.abs(t)));
}

export interface HeatMap {
  title: string;
  rows: string[];
  columns: string[];
  values: number[][];
  rowName: string;
  columnName: string;
  /** What colors say: probabilities, or logarithms of these by the numbers here. */
  against?: number[];
  /** Cells with a mark: `binding` or `broken`. */
  marks?: Map<string, string>;
  selected?: (row: number, column: number) => void;
  dragged?: (row: number, column: number, by: number) => void;
}

/** A heat map that can be walked with the arrow keys; what is under the cursor is read out. */
export function heatMap(map: HeatMap): HTMLElement {
  const [n, m] = [map.rows.length, map.columns.length];
  const longest = Math.max(...map.rows.map((row) => row.length), 1);
  const side = m <= 6 ? 58 : m <= 12 ? 40 : 26;
  const height = n > 12 ? Math.min(side, 24) : Math.min(side, 40);
  const left = Math.max(14 + 7 * map.rowName.length, Math.min(140, 14 + 7.2 * longest));
  const longColumns = Math.max(...map.columns.map((column) => column.length)) * 7 > side;
  const top = longColumns ? Math.min(96, 24 + 6.6 * Math.max(...map.columns.map((c) => c.length))) : 40;
  const [width, tall] = [left + m * side + 4, top + n * height + 4];
  const places = side >= 58 ? 3 : 2;
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${tall}`, width, height: tall, class: "heat", tabindex: 0, role: "img",
    "aria-label": `${map.title}: ${n} by ${m}. Arrow keys walk over the cells.`,
  });
  picture.append(svg("text", { x: left, y: 13, class: "axis" }, `${map.columnName} →`));
  picture.append(svg("text", { x: 2, y: top - 5, class: "axis" }, `${map.rowName} ↓`));
  map.columns.forEach((column, y) => {
    const x = left + (y + 0.5) * side;
    const label = longColumns
      ? svg("text", { x, y: top - 4, class: "tick", transform: `rotate(-60 ${x} ${top - 4})` }, column)
      : svg("text", { x, y: top - 5, class: "tick", "text-anchor": "middle" }, column);
    picture.append(label);
  });
  const cells: SVGRectElement[][] = [];
  map.rows.forEach((row, x) => {
    const y0 = top + x * height;
    picture.append(svg("text", { x: left - 6, y: y0 + height / 2 + 4, class: "tick", "text-anchor": "end" }, row));
    cells.push(map.values[x].map((value, y) => {
      const against = map.against?.[y];
      const color = against === undefined
        ? sequential(value)
        : diverging(Math.log(Math.max(value, 1e-9) / against) / 2.5);
      const cell = svg("rect", {
        x: left + y * side, y: y0, width: side - 1, height: height - 1, fill: css(color), "data-cell": `${x},${y}`,
      });
      picture.append(cell);
      if (side >= 40 || (side >= 26 && value >= 0.005)) {
        picture.append(svg("text", {
          x: left + (y + 0.5) * side - 0.5, y: y0 + height / 2 + 4, style: `fill: ${inkOn(color)}`,
          class: side >= 40 ? "number" : "number small", "text-anchor": "middle",
        }, shortProbability(value, side >= 40 ? places : 2)));
      }
      return cell;
    }));
  });
  for (const [key, mark] of map.marks ?? []) {
    const [x, y] = key.split(",").map(Number);
    picture.append(svg("rect", {
      x: left + y * side + 1.5, y: top + x * height + 1.5, width: side - 4, height: height - 4, class: `mark ${mark}`,
    }));
  }
  const cursor = svg("rect", { class: "cursor", width: side - 1, height: height - 1, visibility: "hidden" });
  picture.append(cursor);
  const readout = html("p", { class: "readout", "aria-live": "polite" }, "Point at a cell, or walk with the arrow keys.");
  let [row, column] = [0, 0];
  const show = (x: number, y: number): void => {
    [row, column] = [x, y];
    cursor.setAttribute("x", String(left + y * side));
    cursor.setAttribute("y", String(top + x * height));
    cursor.setAttribute("visibility", "visible");
    const against = map.against === undefined ? "" : `, ${digits(map.values[x][y] / map.against[y], 4)} times the prior`;
    readout.textContent =
      `${map.rowName} ${map.rows[x]}, ${map.columnName} ${map.columns[y]}: ${digits(map.values[x][y])}${against}`;
  };
  const cellOf = (target: EventTarget | null): [number, number] | null => {
    const key = (target as Element | null)?.getAttribute?.("data-cell");
    return key ? (key.split(",").map(Number) as [number, number]) : null;
  };
  picture.addEventListener("pointermove", (event) => {
    const cell = cellOf(event.target);
    if (cell) show(...cell);
  });
  picture.addEventListener("pointerdown", (event) => {
    const cell = cellOf(event.target);
    if (!cell) return;
    show(...cell);
    map.selected?.(...cell);
    if (!map.dragged) return;
    const start = event.clientY;
    const move = (moved: PointerEvent): void => map.dragged!(cell[0], cell[1], (start - moved.clientY) / 200);
    const up = (): void => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
  });
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (step) {
      event.preventDefault();
      show((row + step[0] + n) % n, (column + step[1] + m) % m);
    } else if (event.key === "Enter") {
      map.selected?.(row, column);
    }
  });
  return html("figure", { class: "picture" },
    html("figcaption", {}, map.title),
    html("div", { class: "scroll" }, picture),
    readout,
    asTable(map),
    exportButtons(picture, map.title));
}

/** The same numbers as a table, for those who do not see the picture. */
function asTable(map: HeatMap): HTMLElement {
  const corner = html("th", { scope: "col" }, `${map.rowName} \\ ${map.columnName}`);
  return html("details", { class: "as-table" },
    html("summary", {}, "As a table"),
    html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${map.title}, as a table` },
      html("table", {},
        html("thead", {}, html("tr", {}, corner, ...map.columns.map((c) => html("th", { scope: "col" }, c)))),
        html("tbody", {}, ...map.rows.map((row, x) =>
          html("tr", {}, html("th", { scope: "row" }, row),
            ...map.values[x].map((value) => html("td", {}, digits(value)))))))));
}

export interface Tile {
  name: string;
  /** Probabilities of the places, row by row. */
  values: number[];
  /** The number of the place that is reported, if it is one. */
  at: number;
}

/** A small map for each report: how likely each place of a grid is once it is seen. */
export function tiles(title: string, columns: number, shown: Tile[], names: string[]): HTMLElement {
  const [side, gap, head] = [20, 18, 22];
  const rows = names.length / columns;
  const across = Math.max(1, Math.min(shown.length, Math.floor(620 / (columns * side + gap))));
  const [width, height] = [across * (columns * side + gap), Math.ceil(shown.length / across) * (rows * side + gap + head)];
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, class: "chart tiles", role: "img",
    "aria-label": `${title}: a map for each of ${shown.length} reports. The table below has the numbers.`,
  });
  const readout = html("p", { class: "readout" }, "Each map is one report; a ring is the place that it names.");
  const largest = Math.max(...shown.flatMap((tile) => tile.values));
  shown.forEach((tile, n) => {
    const left = (n % across) * (columns * side + gap);
    const top = Math.floor(n / across) * (rows * side + gap + head) + head;
    picture.append(svg("text", { x: left, y: top - 6, class: "tick" }, `report ${tile.name}`));
    tile.values.forEach((value, x) => {
      const cell = svg("rect", {
        x: left + (x % columns) * side, y: top + Math.floor(x / columns) * side, width: side - 1, height: side - 1,
        fill: css(sequential(value / largest)),
      });
      cell.addEventListener("pointerenter", () => {
        readout.textContent = `report ${tile.name}: ${names[x]} has probability ${digits(value, 4)}`;
      });
      picture.append(cell);
    });
    if (tile.at < 0) return;
    picture.append(svg("circle", {
      cx: left + (tile.at % columns) * side + side / 2 - 0.5, cy: top + Math.floor(tile.at / columns) * side + side / 2 - 0.5,
      r: side / 2 - 3, class: "place",
    }));
  });
  const map = { title, rows: shown.map((tile) => tile.name), columns: names, values: shown.map((tile) => tile.values), rowName: "report", columnName: "input" };
  return html("figure", { class: "picture" },
    html("figcaption", {}, title), html("div", { class: "scroll" }, picture), readout, asTable(map), exportButtons(picture, title));
}

export interface Line {
  name: string;
  points: [number, number][];
  style: string;
}

export interface Chart {
  title: string;
  across: string;
  up: string;
  lines: Line[];
  marker?: { x: number; y: number };
  clicked?: (x: number) => void;
}

/** Round numbers on an axis. */
function ticks(low: number, high: number, about = 5): number[] {
  const step = 10 ** Math.floor(Math.log10((high - low) / about));
  const nice = [1, 2, 5, 10].map((f) => f * step).find((s) => (high - low) / s <= about + 1) ?? step;
  const first = Math.ceil(low / nice);
  return Array.from({ length: Math.max(0, Math.floor(high / nice + 1e-9) - first + 1) }, (_, i) => (first + i) * nice);
}

export function chart({ title, across, up, lines, marker, clicked }: Chart): HTMLElement {
  const [width, height, left, bottom, top, right] = [420, 250, 56, 40, 12, 20];
  const points = lines.flatMap((line) => line.points).filter(([, y]) => Number.isFinite(y));
  const xs = points.map(([x]) => x);
  const [x0, x1] = [Math.min(0, ...xs), Math.max(...xs, 1)];
  const y1 = Math.max(...points.map(([, y]) => y), 1e-9) * 1.05;
  const px = (x: number): number => left + ((x - x0) / (x1 - x0)) * (width - left - right);
  const py = (y: number): number => height - bottom - (y / y1) * (height - bottom - top);
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, class: "chart", role: "img",
    "aria-label": `${title}. ${marker ? `At ${across} ${digits(marker.x)}: ${digits(marker.y)}.` : ""}`,
  });
  for (const x of ticks(x0, x1)) {
    picture.append(svg("line", { x1: px(x), x2: px(x), y1: top, y2: height - bottom, class: "grid" }));
    picture.append(svg("text", { x: px(x), y: height - bottom + 15, class: "tick", "text-anchor": "middle" }, digits(x, 3)));
  }
  for (const y of ticks(0, y1)) {
    picture.append(svg("line", { x1: left, x2: width - right, y1: py(y), y2: py(y), class: "grid" }));
    picture.append(svg("text", { x: left - 5, y: py(y) + 4, class: "tick", "text-anchor": "end" }, digits(y, 3)));
  }
  picture.append(svg("text", { x: (left + width) / 2, y: height - 6, class: "axis", "text-anchor": "middle" }, across));
  picture.append(svg("text", { x: 12, y: height / 2, class: "axis", "text-anchor": "middle", transform: `rotate(-90 12 ${height / 2})` }, up));
  for (const line of lines) {
    const shown = line.points.filter(([, y]) => Number.isFinite(y));
    picture.append(svg("polyline", { points: shown.map(([x, y]) => `${px(x)},${py(y)}`).join(" "), class: `line ${line.style}` }));
    for (const [x, y] of shown.length < 40 ? shown : []) {
      picture.append(svg("circle", { cx: px(x), cy: py(y), r: 2.5, class: `dot ${line.style}` }));
    }
  }
  if (marker) {
    picture.append(svg("line", { x1: px(marker.x), x2: px(marker.x), y1: top, y2: height - bottom, class: "marker" }));
    picture.append(svg("circle", { cx: px(marker.x), cy: py(marker.y), r: 6, class: "marker" }));
  }
  if (clicked) {
    picture.addEventListener("click", (event) => {
      const box = picture.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * width;
      clicked(x0 + ((x - left) / (width - left - right)) * (x1 - x0));
    });
  }
  const legend = html("p", { class: "legend" },
    ...lines.map((line) => html("span", { class: `key ${line.style}` }, line.name)));
  return html("figure", { class: "picture" },
    html("figcaption", {}, title), html("div", { class: "scroll" }, picture), legend, exportButtons(picture, title));
}

const PAINTED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "visibility"];

/** A standalone picture: the rules of the style sheet are written into it. */
function standalone(picture: SVGSVGElement): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const own = [picture, ...picture.querySelectorAll("*")];
  const copied = [copy, ...copy.querySelectorAll("*")];
  own.forEach((element, n) => {
    const style = getComputedStyle(element);
    for (const name of PAINTED) copied[n].setAttribute(name, style.getPropertyValue(name));
    copied[n].removeAttribute("class");
  });
  const paper = svg("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor });
  copy.prepend(paper);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}

async function asPng(picture: SVGSVGElement): Promise<Blob> {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([standalone(picture)], { type: "image/svg+xml" }));
  image.src = url;
  await image.decode();
  URL.revokeObjectURL(url);
  const { width, height } = picture.viewBox.baseVal;
  const canvas = html("canvas", { width: 2 * width, height: 2 * height });
  canvas.getContext("2d")!.drawImage(image, 0, 0, 2 * width, 2 * height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"));
}

export function exportButtons(picture: SVGSVGElement, title: string): HTMLElement {
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "picture";
  return html("p", { class: "export" },
    html("button", { type: "button", class: "quiet", "aria-label": `Save ${title} as SVG`, click: () => download(`${name}.svg`, standalone(picture), "image/svg+xml") }, "SVG"),
    html("button", {
      type: "button", class: "quiet", "aria-label": `Save ${title} as PNG`,
      click: () => void asPng(picture).then((blob) => download(`${name}.png`, blob)),
    }, "PNG"));
}

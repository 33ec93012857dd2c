/** The fourth part: maps of closed forms against the optimum. */

import { byId, digits, download, html, svg } from "./dom.ts";
import { type Problem, LOSSES, RISKS, GAINS, withBudget } from "./problem.ts";
import { type Page } from "./design_part.ts";
import { checkedProblem } from "./state.ts";
import { tomlOf } from "./toml.ts";

interface Formula {
  name: string;
  title: string;
  source: string;
  claim: string;
  axis: string;
  parameters: string[];
  /** The problem at each parameter, at any budget; none on an interval. */
  problems: (Problem | null)[];
  /** By parameter and budget: region (0 optimal, 1 feasible, 2 not private), leakage, loss, optimum. */
  cells: [number, number, number, number][][];
}

interface Atlas {
  epsilons: string[];
  formulas: Formula[];
}

const REGIONS = ["optimal", "private, and not optimal", "not private"];
const STYLES = ["optimal", "feasible", "infeasible"];

let loading: Promise<Atlas> | null = null;

export async function openAtlas(page: Page): Promise<void> {
  const target = byId("atlas-maps");
  if (target.childElementCount > 0) return;
  const atlas = await (loading ??= fetch(new URL("./atlas.json", import.meta.url)).then((r) => r.json() as Promise<Atlas>));
  target.replaceChildren(...atlas.formulas.map((formula) => drawMap(formula, atlas.epsilons, page)));
}

function drawMap(formula: Formula, epsilons: string[], page: Page): HTMLElement {
  const [rows, columns] = [formula.parameters.length, epsilons.length];
  const [wide, high] = [12, Math.min(14, 168 / rows)];
  const [width, height] = [columns * wide + 2, rows * high + 2];
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, class: "map", tabindex: 0, role: "img",
    "aria-label": `${formula.title}: a map over the budget and ${formula.axis}. Arrow keys walk${
      formula.problems[0] ? ", Enter opens the point in Design" : ""}.`,
  });
  const y0 = (r: number): number => 1 + (rows - 1 - r) * high;
  formula.cells.forEach((line, r) => line.forEach(([region], c) => {
    picture.append(svg("rect", {
      x: 1 + c * wide, y: y0(r), width: wide - 0.6, height: high - 0.6, class: `cell ${STYLES[region]}`, "data-cell": `${r},${c}`,
    }));
    if (region === 2) {
      const [x, y] = [1 + c * wide, y0(r)];
      picture.append(svg("line", { x1: x + 1, y1: y + high - 2, x2: x + wide - 2, y2: y + 1, class: "strike" }));
    }
  }));
  const cursor = svg("rect", { width: wide, height: high, class: "cursor", visibility: "hidden" });
  picture.append(cursor);
  let [row, column] = [0, 0];
  const show = (r: number, c: number): void => {
    [row, column] = [r, c];
    cursor.setAttribute("x", String(0.5 + c * wide));
    cursor.setAttribute("y", String(y0(r) - 0.5));
    cursor.setAttribute("visibility", "visible");
    const [region, leak, loss, optimum] = formula.cells[r][c];
    byId("atlas-readout").textContent =
      `${formula.title}; ε ${epsilons[c]}, ${formula.axis} ${formula.parameters[r]}: ${REGIONS[region]}; `
      + `leaks ${digits(leak, 4)} ε; value ${digits(loss, 5)}, optimum ${digits(optimum, 5)}`;
  };
  const cellOf = (event: Event): [number, number] | null => {
    const key = (event.target as Element).getAttribute("data-cell");
    return key ? (key.split(",").map(Number) as [number, number]) : null;
  };
  picture.addEventListener("pointermove", (event) => {
    const cell = cellOf(event);
    if (cell) show(...cell);
  });
  picture.addEventListener("click", (event) => {
    const cell = cellOf(event);
    if (cell) open(formula, epsilons, ...cell, page);
  });
  picture.addEventListener("focus", () => show(row, column));
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (step) {
      event.preventDefault();
      show((row + step[0] + rows) % rows, (column + step[1] + columns) % columns);
    } else if (event.key === "Enter") open(formula, epsilons, row, column, page);
  });
  return html("figure", { class: "map" },
    html("figcaption", {}, html("strong", {}, formula.title), html("br"), `↑ ${formula.axis}, → ε`),
    picture,
    html("details", {}, html("summary", {}, "Claim"), html("p", {}, `${formula.claim}. ${formula.source}`)));
}

function open(formula: Formula, epsilons: string[], row: number, column: number, page: Page): void {
  const stated = formula.problems[row];
  if (!stated) return;
  const problem = withBudget(stated, epsilons[column]);
  const known = [...LOSSES, ...GAINS, ...RISKS].includes(problem.utility.objective);
  if (known) {
    try {
      page.update(checkedProblem(problem), "all");
      return page.open("design");
    } catch {
      // said below
    }
  }
  byId("atlas-readout").replaceChildren(
    `The page does not design for ${problem.utility.objective} on ${problem.prior.length} inputs; the library does: `,
    html("button", { type: "button", class: "quiet", click: () => download("problem.toml", tomlOf(problem)) }, "problem as TOML"));
}

/** The third part: the cone of a notion on three inputs, in the triangle of posteriors. */

import { budgetField } from "./controls.ts";
import { type Answer } from "./design.ts";
import { matrixOf, posteriors } from "./design_part.ts";
import { byId, digits, html, svg } from "./dom.ts";
import { exportButtons } from "./draw.ts";
import { toNumber } from "./exact.ts";
import { EXAMPLES } from "./examples.ts";
import { type Problem, labelText, labelsOf, priorOf } from "./problem.ts";
import { raysOf } from "./rays.ts";
import { withNotion } from "./state.ts";
import type { Page } from "./design_part.ts";
import { solve } from "./workers.ts";

type Point = [number, number];

const [WIDTH, HEIGHT, MARGIN] = [460, 430, 46];
const CORNERS: Point[] = [
  [MARGIN, HEIGHT - MARGIN], [WIDTH - MARGIN, HEIGHT - MARGIN], [WIDTH / 2, HEIGHT - MARGIN - (WIDTH - 2 * MARGIN) * 0.8660254],
];

const place = (p: number[]): Point => [
  p.reduce((total, v, n) => total + v * CORNERS[n][0], 0), p.reduce((total, v, n) => total + v * CORNERS[n][1], 0),
];

/** The points in the order of a walk around them. */
function around(points: Point[]): Point[] {
  const middle = points.reduce(([a, b], [x, y]) => [a + x / points.length, b + y / points.length], [0, 0]);
  return [...points].sort((p, q) =>
    Math.atan2(p[1] - middle[1], p[0] - middle[0]) - Math.atan2(q[1] - middle[1], q[0] - middle[0]));
}

let own: Problem | null = null;
let counted = 0;

/** The posteriors of the extreme rays of a notion on three inputs. */
export function rayPosteriors(problem: Problem): number[][] {
  const prior = priorOf(problem).map(toNumber);
  return (raysOf(problem) ?? []).map((ray) => {
    const joint = ray.map((r, x) => prior[x] * r);
    const whole = joint.reduce((a, b) => a + b, 0);
    return joint.map((v) => v / whole);
  });
}

export function openCone(page: Page): void {
  const given = page.problem();
  const isOwn = labelsOf(given.domain).length !== 3;
  const notion = given.privacy.notion;
  own = isOwn ? withNotion(EXAMPLES.three.problem, notion === "metric" ? "ldp" : notion) : given;
  if (isOwn && own.privacy.notion === "block") own = withNotion(own, "ldp");
  byId("cone-note").textContent = isOwn
    ? "The problem in Design has not three inputs; here is one that has."
    : "The problem of Design: a point is a report, its place the posterior that it leaves.";
  const drawControls = (): void => byId("cone-controls").replaceChildren(
    budgetField(own!, (update) => {
      own = update(own!);
      if (!isOwn) page.update(own, "budget");
      void drawCone();
    }));
  drawControls();
  void drawCone();
}

async function drawCone(): Promise<void> {
  const problem = own!;
  const mine = ++counted;
  draw(problem, null);
  const answer = await solve(problem).catch(() => null);
  if (mine === counted) draw(problem, answer);
}

function draw(problem: Problem, answer: Answer | null): void {
  const labels = labelsOf(problem.domain).map(labelText);
  const rays = rayPosteriors(problem);
  const prior = priorOf(problem).map(toNumber);
  const matrix = answer && matrixOf(answer);
  const reports = matrix ? posteriors(problem, matrix) : [];
  const chances = matrix ? matrix[0].map((_, y) => matrix.reduce((total, row, x) => total + prior[x] * row[y], 0)) : [];
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, class: "triangle", role: "img",
    "aria-label": `The triangle of posteriors of ${labels.join(", ")}: the cone has ${rays.length} extreme rays, the best channel ${reports.length} reports.`,
  });
  picture.append(svg("polygon", { points: CORNERS.map((c) => c.join()).join(" "), class: "outline" }));
  for (const share of [0.25, 0.5, 0.75]) {
    for (let n = 0; n < 3; n++) {
      const ends = [1, 2].map((step) => place([0, 1, 2].map((i) => (i === n ? share : i === (n + step) % 3 ? 1 - share : 0))));
      picture.append(svg("line", { x1: ends[0][0], y1: ends[0][1], x2: ends[1][0], y2: ends[1][1], class: "grid" }));
    }
  }
  picture.append(svg("polygon", { points: around(rays.map(place)).map((p) => p.join()).join(" "), class: "cone" }));
  labels.forEach((label, n) => {
    const [x, y] = CORNERS[n];
    picture.append(svg("text", { x, y: n === 2 ? y - 10 : y + 20, class: "axis", "text-anchor": "middle" }, `surely ${label}`));
  });
  for (const ray of rays) {
    const [x, y] = place(ray);
    picture.append(svg("rect", { x: x - 4, y: y - 4, width: 8, height: 8, class: "ray", transform: `rotate(45 ${x} ${y})` }));
  }
  reports.forEach((report, y) => {
    const [cx, cy] = place(report);
    const r = 5 + 14 * Math.sqrt(chances[y]);
    picture.append(svg("circle", { cx, cy, r, class: "report" }));
    picture.append(svg("text", { x: cx, y: cy - r - 4, class: "tick", "text-anchor": "middle" }, `report ${labelText(answer!.outputs[y])}`));
  });
  const [cx, cy] = place(prior);
  picture.append(svg("circle", { cx, cy, r: 5, class: "prior" }));
  picture.append(svg("text", { x: cx, y: cy + 18, class: "tick", "text-anchor": "middle" }, "prior"));
  const row = (head: string, p: number[], more: string): HTMLElement =>
    html("tr", { "data-posterior": p.join(" ") }, html("th", { scope: "row" }, head), ...p.map((v) => html("td", {}, digits(v, 4))), html("td", {}, more));
  byId("cone-picture").replaceChildren(
    html("figure", { class: "picture" },
      html("figcaption", {}, "Posteriors that private reports can leave"),
      html("div", { class: "scroll" }, picture),
      html("p", { class: "legend" },
        html("span", { class: "key cone" }, "reachable"), html("span", { class: "key ray" }, "extreme ray"),
        html("span", { class: "key report" }, "report of the best channel, by its probability"), html("span", { class: "key prior" }, "prior")),
      exportButtons(picture, "cone")),
    html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Rays and reports" },
      html("table", { id: "rays" },
        html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "posterior"), ...labels.map((l) => html("th", { scope: "col" }, l)), html("th", { scope: "col" }, "probability"))),
        html("tbody", {},
          row("prior", prior, ""),
          ...rays.map((ray, n) => row(`ray ${n + 1}`, ray, "")),
          ...reports.map((report, y) => row(`report ${labelText(answer!.outputs[y])}`, report, digits(chances[y], 4)))))));
}

/** The fifth part: a thousand simulated people answer, and the estimate grows. */

import { type Page, matrixOf, posteriors } from "./design_part.ts";
import { randomizedResponse } from "./design.ts";
import { byId, digits, html, svg } from "./dom.ts";
import { chart, exportButtons } from "./draw.ts";
import { drawFrom, estimate, generator, scores } from "./estimate.ts";
import { toNumber } from "./exact.ts";
import { type Problem, labelText, labelsOf, priorOf } from "./problem.ts";

export const PEOPLE = 1000;
/** Half the width of a 95 % interval, in standard errors. */
const WIDE = 1.959963984540054;

interface Crowd {
  problem: Problem;
  matrix: number[][];
  outputs: string[];
  weights: number[][] | null;
  note: string;
  answers: number[];
  reports: number[];
  shown: number;
}

let crowd: Crowd | null = null;
let seed = 1;
let timer: ReturnType<typeof setInterval> | undefined;

function gather(problem: Problem, matrix: number[][], outputs: string[], note: string): Crowd {
  const prior = priorOf(problem).map(toNumber);
  const next = generator(seed);
  const answers: number[] = [];
  const reports: number[] = [];
  for (let n = 0; n < PEOPLE; n++) {
    answers.push(drawFrom(prior, next()));
    reports.push(drawFrom(matrix[answers[n]], next()));
  }
  return { problem, matrix, outputs, weights: scores(matrix, prior), note, answers, reports, shown: 0 };
}

export function openCollect(page: Page): void {
  const answer = page.answer();
  if (!answer) return;
  clearInterval(timer);
  const problem = page.problem();
  const best = matrixOf(answer);
  crowd = gather(problem, best, answer.outputs.map(labelText), "The best channel of Design asks each person.");
  if (!crowd.weights) {
    const { matrix } = randomizedResponse(problem);
    const note = "The reports of the best channel do not determine the distribution: several inputs report alike. "
      + "Randomized response under the same notion asks instead.";
    crowd = gather(problem, matrix, labelsOf(problem.domain).map(labelText), note);
  }
  drawControls(page);
  advance(matchMedia("(prefers-reduced-motion: reduce)").matches ? PEOPLE : 0);
}

function drawControls(page: Page): void {
  const count = html("input", {
    type: "range", id: "people", min: 0, max: PEOPLE, step: 10, value: 0,
    input: () => {
      clearInterval(timer);
      advance(Number(count.value));
    },
  });
  byId("collect-controls").replaceChildren(
    html("p", { class: "note" }, crowd!.note),
    html("div", { class: "actions" },
      html("button", { type: "button", id: "ask", click: run }, "Ask 1,000 people"),
      html("button", { type: "button", class: "quiet", click: () => { seed += 1; openCollect(page); } }, "Other people")),
    html("div", { class: "field slider" }, html("label", { for: "people" }, "People so far"), count, html("output", { id: "people-number" }, "0")));
}

function run(): void {
  clearInterval(timer);
  if (!crowd) return;
  if (crowd.shown >= PEOPLE) advance(0);
  timer = setInterval(() => {
    if (!crowd || crowd.shown >= PEOPLE) return clearInterval(timer);
    advance(crowd.shown + 20);
  }, 60);
}

function advance(n: number): void {
  if (!crowd) return;
  crowd.shown = Math.min(PEOPLE, n);
  byId<HTMLInputElement>("people").value = String(crowd.shown);
  byId("people-number").textContent = String(crowd.shown);
  drawEstimate(crowd);
  drawPerson(crowd);
}

const countsOf = ({ reports, outputs }: Crowd, n: number): number[] =>
  outputs.map((_, y) => reports.slice(0, n).filter((r) => r === y).length);

function drawEstimate(now: Crowd): void {
  const target = byId("estimate");
  if (!now.weights) return void target.replaceChildren(html("p", {}, "No channel of this notion determines the distribution."));
  if (now.shown < 2) return void target.replaceChildren(html("p", {}, "Nobody has answered yet."));
  const labels = labelsOf(now.problem.domain).map(labelText);
  const truth = priorOf(now.problem).map(toNumber);
  const counts = countsOf(now, now.shown);
  const { values, errors } = estimate(now.weights, counts);
  const halves = [20, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000].filter((n) => n <= now.shown);
  const width = (n: number): number => WIDE * Math.max(...estimate(now.weights!, countsOf(now, n)).errors);
  target.replaceChildren(
    html("div", { class: "pictures" },
      intervals(labels, truth, values, errors),
      halves.length > 1 && chart({
        title: "Half the widest interval", across: "people", up: "half width",
        lines: [{ name: "95 % interval, half its width", points: halves.map((n) => [n, width(n)]), style: "best" }],
      })),
    html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Estimates" },
      html("table", { id: "estimates", "data-counts": counts.join(" ") },
        html("thead", {}, html("tr", {}, ...["input", "truth", "estimate", "standard error", "95 % interval"].map((h) => html("th", { scope: "col" }, h)))),
        html("tbody", {}, ...labels.map((label, x) => html("tr", { "data-estimate": values[x], "data-error": errors[x] },
          html("th", { scope: "row" }, label), html("td", {}, digits(truth[x], 3)), html("td", {}, values[x].toFixed(3)),
          html("td", {}, errors[x].toFixed(3)),
          html("td", {}, `${(values[x] - WIDE * errors[x]).toFixed(3)} to ${(values[x] + WIDE * errors[x]).toFixed(3)}`)))))));
}

function intervals(labels: string[], truth: number[], values: number[], errors: number[]): HTMLElement {
  const [step, height, left, bottom] = [labels.length <= 8 ? 52 : 24, 260, 46, 34];
  const width = left + step * labels.length + 10;
  const most = Math.max(...values.map((v, x) => v + WIDE * errors[x]), ...truth, 0.1);
  const least = Math.min(0, ...values.map((v, x) => v - WIDE * errors[x]));
  const py = (v: number): number => 10 + ((most - v) / (most - least)) * (height - bottom - 10);
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, class: "chart", role: "img",
    "aria-label": `Estimates with 95 % intervals: ${labels.map((l, x) => `${l} ${values[x].toFixed(3)}`).join(", ")}`,
  });
  for (const v of [least, 0, most / 2, most]) {
    picture.append(svg("line", { x1: left, x2: width - 6, y1: py(v), y2: py(v), class: "grid" }));
    picture.append(svg("text", { x: left - 5, y: py(v) + 4, class: "tick", "text-anchor": "end" }, digits(v, 2)));
  }
  labels.forEach((label, x) => {
    const cx = left + (x + 0.5) * step;
    const half = WIDE * errors[x];
    picture.append(svg("line", { x1: cx - step / 3, x2: cx + step / 3, y1: py(truth[x]), y2: py(truth[x]), class: "truth" }));
    picture.append(svg("line", { x1: cx, x2: cx, y1: py(values[x] - half), y2: py(values[x] + half), class: "interval" }));
    picture.append(svg("circle", { cx, cy: py(values[x]), r: 5, class: "dot best" }));
    if (step > 30 || x % 2 === 0) picture.append(svg("text", { x: cx, y: height - 14, class: "tick", "text-anchor": "middle" }, label));
  });
  return html("figure", { class: "picture" },
    html("figcaption", {}, "Estimate of each share, with its interval"),
    html("div", { class: "scroll" }, picture),
    html("p", { class: "legend" }, html("span", { class: "key best" }, "estimate, 95 % interval"), html("span", { class: "key truth" }, "truth of the simulation")),
    exportButtons(picture, "estimate"));
}

/** The information in one report about its sender. */
function drawPerson(now: Crowd): void {
  const target = byId("person");
  if (now.shown < 1) return void target.replaceChildren();
  const labels = labelsOf(now.problem.domain).map(labelText);
  const prior = priorOf(now.problem).map(toNumber);
  const last = now.shown - 1;
  const report = now.reports[last];
  const posterior = posteriors(now.problem, now.matrix)[report];
  const lift = posterior.map((p, x) => p / prior[x]);
  const bar = (value: number, kind: string): HTMLElement =>
    html("span", { class: `bar ${kind}`, style: `width: ${(100 * value).toFixed(1)}%` });
  target.replaceChildren(
    html("h3", {}, `Person ${now.shown} reported “${now.outputs[report]}”`),
    html("p", {}, `One report: no input became more than ${digits(Math.max(...lift), 3)} times as likely, none less than ${digits(Math.min(...lift), 3)} times. The true answer stays with the person.`),
    html("table", { class: "bars" },
      html("thead", {}, html("tr", {}, ...["input", "before", "after", ""].map((h) => html(h ? "th" : "td", h ? { scope: "col" } : {}, h)))),
      html("tbody", {}, ...labels.map((label, x) => html("tr", {},
        html("th", { scope: "row" }, label), html("td", {}, digits(prior[x], 3)), html("td", {}, digits(posterior[x], 3)),
        html("td", { class: "both" }, bar(prior[x], "before"), bar(posterior[x], "after")))))));
}

/** The first part: turn the budget and watch the best channel. */

import { documentOf, relativeGap } from "./certificate.ts";
import { form } from "./controls.ts";
import { type Answer, randomizedResponse } from "./design.ts";
import { byId, digits, download, html } from "./dom.ts";
import { chart, heatMap, tiles } from "./draw.ts";
import { ratio, toNumber } from "./exact.ts";
import { WHOLE } from "./cone.ts";
import { type Problem, budgetOf, isMaximized, labelText, labelsOf, priorOf, sameLabel, withBudget } from "./problem.ts";
import { tomlOf } from "./toml.ts";
import { Cancelled, solve } from "./workers.ts";

export const matrixOf = (answer: Answer): number[][] =>
  answer.columns[0].map((_, x) => answer.columns.map((q) => toNumber(ratio(q[x], WHOLE))));

/** The posterior of every report: `[output][input]`. */
export function posteriors(problem: Problem, matrix: number[][]): number[][] {
  const prior = priorOf(problem).map(toNumber);
  return matrix[0].map((_, y) => {
    const joint = matrix.map((row, x) => prior[x] * row[y]);
    const whole = joint.reduce((a, b) => a + b, 0);
    return whole > 0 ? joint.map((v) => v / whole) : prior;
  });
}

const BUDGETS = ["0.1", "0.25", "0.5", "0.75", "1", "1.5", "2", "2.5", "3", "3.5", "4", "5"];

const objectiveName = (problem: Problem): string => {
  const { objective, worst_case: worst } = problem.utility;
  return `${isMaximized(problem.utility) ? "gain" : "loss"}: ${objective.replaceAll("-", " ")}${worst ? ", worst case" : ""}`;
};

/** What designing needs of the page around it. */
export interface Page {
  problem: () => Problem;
  /** The answer to the problem shown, null while there is none. */
  answer: () => Answer | null;
  update: (problem: Problem, what: "budget" | "values" | "all") => void;
  open: (part: "prove" | "design") => void;
}

/** Losses against the budget of the last problem but for its budget. */
const curve = { key: "", values: new Map<string, number>() };

const curveKey = (problem: Problem): string => JSON.stringify(withBudget(problem, "1"));

export function drawForm(page: Page): void {
  byId("controls").replaceChildren(
    form(page.problem(), (update, what) => page.update(update(page.problem()), what)),
    html("div", { class: "actions" },
      html("button", { type: "button", click: () => page.open("prove") }, "Prove it"),
      html("button", {
        type: "button", class: "quiet", id: "share",
        click: async () => {
          await navigator.clipboard?.writeText(location.href);
          byId("status").textContent = "The address of this page is copied: it holds the problem.";
        },
      }, "Copy address"),
      html("button", { type: "button", class: "quiet", click: () => download("problem.toml", tomlOf(page.problem())) }, "Problem as TOML"),
      html("button", {
        type: "button", class: "quiet",
        click: async () => {
          const answer = page.answer();
          if (answer) download("channel.json", `${JSON.stringify(await documentOf(page.problem(), answer), null, 1)}\n`, "application/json");
        },
      }, "Channel as JSON")));
}

export function drawAnswer(page: Page): void {
  const [problem, answer] = [page.problem(), page.answer()];
  const target = byId("results");
  if (!answer) return;
  const labels = labelsOf(problem.domain).map(labelText);
  const outputs = answer.outputs.map(labelText);
  const matrix = matrixOf(answer);
  const gap = relativeGap(answer.value, answer.bound);
  const rr = randomizedResponse(problem);
  const beyond = isMaximized(problem.utility) ? "above" : "below";
  const numbers = html("section", { class: "numbers", "aria-label": "Value and bound" },
    card("Best channel", digits(answer.value, 8), objectiveName(problem), "value"),
    card("No private channel is " + beyond, digits(answer.bound, 8), `gap ${gap.toExponential(1)}, from the dual program`, "bound"),
    card("Randomized response", digits(rr.value, 8), `truth with probability ${digits(rr.truth, 4)}, else any input`, "rr"));
  target.replaceChildren(
    numbers,
    html("div", { class: "pictures" },
      heatMap({ title: "The best channel", rows: labels, columns: outputs, values: matrix, rowName: "input", columnName: "report" }),
      posteriorPanel(problem, answer, matrix),
      html("div", { id: "curve" }),
      heatMap({ title: "Randomized response beside it", rows: labels, columns: labels, values: rr.matrix, rowName: "input", columnName: "report" })));
  drawCurve(page);
}

/** The posterior after each report: maps of a grid, else one heat map against the prior. */
function posteriorPanel(problem: Problem, answer: Answer, matrix: number[][]): HTMLElement {
  const [title, labels] = ["Posterior after each report", labelsOf(problem.domain)];
  const [inputs, outputs] = [labels.map(labelText), answer.outputs.map(labelText)];
  const after = posteriors(problem, matrix);
  if ("grid" in problem.domain) {
    const shown = outputs.map((name, y) => ({
      name, values: after[y], at: labels.findIndex((label) => sameLabel(label, answer.outputs[y])),
    }));
    return tiles(title, problem.domain.grid.columns, shown, inputs);
  }
  return heatMap({
    title, rows: outputs, columns: inputs, values: after, rowName: "report", columnName: "input",
    against: priorOf(problem).map(toNumber),
  });
}

const card = (head: string, number: string, words: string, id: string): HTMLElement =>
  html("div", { class: "card" }, html("h3", {}, head), html("p", { class: "big", id: `${id}-number` }, number), html("p", { class: "words" }, words));

function drawCurve(page: Page): void {
  const [problem, answer] = [page.problem(), page.answer()];
  const target = document.getElementById("curve");
  if (!answer || !target) return;
  if (curve.key !== curveKey(problem)) return void target.replaceChildren();
  const best = [...curve.values].map(([e, v]): [number, number] => [Number(e), v]).sort((a, b) => a[0] - b[0]);
  const rr = best.map(([e]): [number, number] => [e, randomizedResponse(withBudget(problem, String(e))).value]);
  const lines = [{ name: "best channel", points: best, style: "best" }, { name: "randomized response", points: rr, style: "other" }];
  if (!best.length) return;
  target.replaceChildren(chart({
    title: `${isMaximized(problem.utility) ? "Gain" : "Loss"} against the budget`, across: "ε", up: problem.utility.objective.replaceAll("-", " "), lines,
    marker: { x: Number(budgetOf(problem.privacy)), y: answer.value },
    clicked: (x) => page.update(withBudget(problem, String(Math.max(0.05, Math.round(20 * x) / 20))), "all"),
  }));
}

/** Fill the curve of losses, one budget after another, until the problem changes. */
export async function fillCurve(page: Page): Promise<void> {
  const key = curveKey(page.problem());
  if (curve.key !== key) [curve.key, curve.values] = [key, new Map()];
  for (const epsilon of BUDGETS) {
    if (curve.values.has(epsilon)) continue;
    const before = page.answer();
    try {
      const { value } = await solve(withBudget(page.problem(), epsilon));
      if (curveKey(page.problem()) !== key) return;
      curve.values.set(epsilon, value);
      if (page.answer() !== before) return; // a newer answer goes on with what is left
      if (curve.values.size > 2) drawCurve(page);
    } catch (error) {
      if (error instanceof Cancelled) return;
    }
  }
}

/** The second part: the exact integers, the checker's lines, and what happens when an entry moves. */

import { type Document, documentOf } from "./certificate.ts";
import { type Columns, BITS, WHOLE, coneOf } from "./cone.ts";
import { type Answer, valueOf } from "./design.ts";
import { byId, html } from "./dom.ts";
import { heatMap } from "./draw.ts";
import { expLower, ratio, toNumber } from "./exact.ts";
import { type Problem, exponentsOf, labelText, labelsOf, liftLimits, priorOf } from "./problem.ts";
import { repair } from "./repair.ts";
import type { Page } from "./design_part.ts";
import { problemOf } from "./state.ts";
import { type Verdict, verify } from "./workers.ts";

/** Two sides of a row count as equal if they differ by less than this part. */
const BINDS = 1e-6;

/** Cells of inequalities that hold with equality, and of those that are broken. */
export function marksOf(problem: Problem, columns: Columns): Map<string, string> {
  const marks = new Map<string, string>();
  const exponents = exponentsOf(problem);
  const mark = (x: number, y: number, kind: string): void => {
    if (marks.get(`${x},${y}`) !== "broken") marks.set(`${x},${y}`, kind);
  };
  columns.forEach((column, y) => {
    const q = column.map((v) => toNumber(ratio(v, WHOLE)));
    exponents?.forEach((row, x) =>
      row.forEach((exponent, z) => {
        if (!exponent || (q[x] === 0 && q[z] === 0)) return;
        const limit = expLower(exponent);
        const broken = column[x] * limit.d > limit.n * column[z];
        if (!broken && toNumber(limit) * q[z] - q[x] > BINDS * q[x]) return;
        mark(x, y, broken ? "broken" : "binding");
        mark(z, y, broken ? "broken" : "binding low");
      }),
    );
    if (exponents) return;
    const mean = priorOf(problem).reduce((total, p, x) => total + toNumber(p) * q[x], 0);
    const { upper, lower } = liftLimits(problem.privacy);
    q.forEach((v, x) => {
      const over = upper ? v / (mean * Math.exp(toNumber(upper))) - 1 : -1;
      const under = lower ? (mean * Math.exp(-toNumber(lower))) / v - 1 : -1;
      if (Math.max(over, under) > 1e-12) mark(x, y, "broken");
      else if (over > -BINDS) mark(x, y, "binding");
      else if (under > -BINDS) mark(x, y, "binding low");
    });
  });
  return marks;
}

interface Shown {
  problem: Problem;
  answer: Answer;
  /** The entry under the slider. */
  at: [number, number];
  /** Whether the rest of the row makes up for a change. */
  keepsSums: boolean;
  edited: boolean;
}

let shown: Shown | null = null;
let counted = 0;
let ofFile = false;

/** Whether a file is shown, which no new design replaces. */
export const showsFile = (): boolean => ofFile;

/** Show the answer of the page, and prove it. */
export function openProof(page: Page): void {
  const answer = page.answer();
  ofFile = false;
  if (!answer) return;
  shown = { problem: page.problem(), answer, at: [0, 0], keepsSums: shown?.keepsSums ?? true, edited: false };
  drawProof();
  void proveShown();
}

/** An answer with an entry of another size; what is left of the row makes up for it, if asked. */
export function movedEntry(answer: Answer, x: number, y: number, value: number, keepsSums: boolean): Answer {
  const columns = answer.columns.map((column) => [...column]);
  const wanted = BigInt(Math.round(Math.max(0, Math.min(1, value)) * 2 ** 52)) << (BITS - 52n);
  const rest = columns.reduce((total, q, n) => (n === y ? total : total + q[x]), 0n);
  columns[y][x] = wanted;
  if (keepsSums && columns.length > 1) {
    let left = WHOLE - wanted;
    const others = columns.flatMap((_, n) => (n === y ? [] : [n]));
    for (const n of others.slice(1)) {
      columns[n][x] = rest ? (columns[n][x] * (WHOLE - wanted)) / rest : left / BigInt(others.length);
      left -= columns[n][x];
    }
    columns[others[0]][x] = left;
  }
  return { ...answer, columns };
}

function setEntry(value: number): void {
  if (!shown) return;
  const [x, y] = shown.at;
  const moved = movedEntry(shown.answer, x, y, value, shown.keepsSums);
  shown.answer = { ...moved, value: valueOf(shown.problem, moved.columns, moved.outputs) };
  shown.edited = true;
  drawMatrix();
  void proveShown();
}

function repairShown(): void {
  if (!shown) return;
  const { problem, answer } = shown;
  const cone = coneOf(problem);
  const matrix = answer.columns[0].map((_, x) => answer.columns.map((q) => toNumber(ratio(q[x], WHOLE))));
  const { columns, kept } = repair(cone, matrix);
  const outputs = problem.outputs ? kept.map((y) => answer.outputs[y]) : kept.map((_, n) => n);
  shown.answer = { ...answer, columns, outputs, value: valueOf(problem, columns, outputs) };
  shown.at = [0, 0];
  drawProof();
  void proveShown();
}

async function proveShown(): Promise<void> {
  if (!shown) return;
  const own = ++counted;
  const { problem, answer } = shown;
  say(null);
  const document = await documentOf(problem, answer);
  await check(own, JSON.stringify(document));
}

async function check(own: number, text: string): Promise<void> {
  try {
    const verdict = await verify(text);
    if (own === counted) say(verdict);
  } catch (error) {
    if (own === counted) say({ verified: false, lines: [`the checker did not start: ${(error as Error).message}`] });
  }
}

/** Show the lines of the checker; null while it works. */
function say(verdict: Verdict | null): void {
  const target = byId("verdict");
  target.className = verdict === null ? "working" : verdict.verified ? "proved" : "refused";
  target.dataset.number = String(counted);
  target.replaceChildren(
    html("h3", {}, verdict === null ? "The checker is working …" : verdict.verified ? "Proved" : "Refused"),
    html("ul", {}, ...(verdict?.lines ?? ["The first time it loads Python, 14 MB, 7 MB compressed."]).map((line) => html("li", {}, line))));
}

function drawProof(): void {
  drawMatrix();
  if (!shown) return;
  const sums = html("input", {
    type: "checkbox", id: "keeps-sums", checked: shown.keepsSums,
    change: () => { if (shown) shown.keepsSums = sums.checked; },
  });
  byId("proof-controls").replaceChildren(
    html("div", { id: "entry" }),
    html("label", { for: "keeps-sums", class: "check" }, sums, "the rest of the row makes up for it"),
    html("button", { type: "button", id: "repair", click: repairShown }, "Repair"));
  drawEntry();
}

function drawMatrix(): void {
  if (!shown) return;
  const { problem, answer } = shown;
  const values = answer.columns[0].map((_, x) => answer.columns.map((q) => toNumber(ratio(q[x], WHOLE))));
  byId("integers").replaceChildren(
    heatMap({
      title: "Inequalities that bind", rows: labelsOf(problem.domain).map(labelText),
      columns: answer.outputs.map(labelText), values, rowName: "input", columnName: "report",
      marks: marksOf(problem, answer.columns),
      selected: (x, y) => {
        if (!shown) return;
        shown.at = [x, y];
        drawEntry();
      },
      dragged: (x, y, by) => setEntry(values[x][y] + by),
    }),
    html("p", { class: "legend" },
      html("span", { class: "key binding" }, "as large as it may be"),
      html("span", { class: "key low" }, "as small as it may be"),
      html("span", { class: "key broken" }, "broken")),
    brokenRows(problem, answer),
    integerTable(problem, answer));
  if (document.getElementById("entry")) drawEntry();
}

/** The first broken inequality of each report, by the labels of the problem. */
function brokenRows(problem: Problem, answer: Answer): HTMLElement {
  const labels = labelsOf(problem.domain).map(labelText);
  const cone = coneOf(problem);
  const found = answer.columns.flatMap((column, y) => {
    const broken = cone.violation(column);
    if (!broken) return [];
    const { x, z } = broken;
    const report = labelText(answer.outputs[y]);
    return [z === null ? `report ${report}: the lift of ${labels[x]}` : `report ${report}: ${labels[x]} against ${labels[z]}`];
  });
  return html("p", { id: "broken" }, found.length ? `Broken: ${found.join("; ")}.` : "Every inequality holds.");
}

function integerTable(problem: Problem, answer: Answer): HTMLElement {
  const labels = labelsOf(problem.domain).map(labelText);
  const sums = labels.map((_, x) => answer.columns.reduce((total, q) => total + q[x], 0n));
  const open = document.querySelector<HTMLDetailsElement>("#integers details.exact")?.open || labels.length <= 5;
  return html("details", { class: "exact", open },
    html("summary", {}, "The exact integers, over 2⁶²"),
    html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The exact integers" },
      html("table", {},
        html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "input"),
          ...answer.outputs.map((y) => html("th", { scope: "col" }, labelText(y))), html("th", { scope: "col" }, "sum − 2⁶²"))),
        html("tbody", {}, ...labels.map((label, x) => html("tr", {}, html("th", { scope: "row" }, label),
          ...answer.columns.map((q) => html("td", {}, String(q[x]))),
          html("td", { class: sums[x] === WHOLE ? "" : "off" }, String(sums[x] - WHOLE))))))));
}

function drawEntry(): void {
  if (!shown) return;
  const { answer, problem, at: [x, y] } = shown;
  const value = toNumber(ratio(answer.columns[y][x], WHOLE));
  const name = `Q(${labelText(answer.outputs[y])} | ${labelText(labelsOf(problem.domain)[x])})`;
  const known = document.getElementById("entry-range") as HTMLInputElement | null;
  if (known && known.dataset.cell === `${x},${y}`) {
    if (document.activeElement !== known) known.value = String(value);
    byId("entry-value").textContent = value.toFixed(6);
    return;
  }
  const range = html("input", {
    type: "range", id: "entry-range", min: 0, max: 1, step: 0.001, value, "data-cell": `${x},${y}`,
    input: () => setEntry(Number(range.value)),
  });
  byId("entry").replaceChildren(html("div", { class: "field slider" },
    html("label", { for: "entry-range" }, `Entry ${name}`), range, html("output", { id: "entry-value" }, value.toFixed(6))));
}

/** A file that was dropped or chosen: the checker lists what it proves, and the channel is shown. */
export async function openFile(file: Blob): Promise<void> {
  ofFile = true;
  const own = ++counted;
  const text = await file.text();
  say(null);
  await check(own, text);
  try {
    const document = JSON.parse(text) as Document;
    const problem = problemOf(document.problem as Document, String(document.title));
    const channel = document.channel as unknown as { numerators: string[][]; outputs: Answer["outputs"]; bits: number };
    if (channel.bits !== Number(BITS)) return;
    const rows = channel.numerators.map((row) => row.map(BigInt));
    const columns = rows[0].map((_, y) => rows.map((row) => row[y]));
    const certificate = document.certificate as unknown as Answer["certificate"] | null;
    if (!certificate) return;
    shown = {
      problem, at: [0, 0], keepsSums: true, edited: false,
      answer: { columns, outputs: channel.outputs, value: document.value as number, bound: document.bound as number, certificate },
    };
    drawProof();
  } catch {
    // the checker has said what the file is; there is no channel of this page in it to show
  }
}

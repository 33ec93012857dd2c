/**
 * The channel file of the library, made in the page: everything that the checker reads.
 *
 * What is claimed here (leakage, value, bound) is recomputed there; nothing of it is believed.
 */

import { type Columns, WHOLE, coneOf } from "./cone.ts";
import type { Answer } from "./design.ts";
import { type Ratio, ZERO, add, divide, floatText, multiply, parseRatio, ratio, subtract, toNumber } from "./exact.ts";
import { decoderOf } from "./gains.ts";
import {
  type Label, type Problem, exponentsOf, isMaximized, labelsOf, liftLimits, nearPairs, priorOf,
} from "./problem.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Document = { [key: string]: Json };

/** ln(a / b), accurate near 1; Infinity where b is 0. */
function logRatio(a: Ratio, b: Ratio): number {
  if (a.n === 0n) return -Infinity;
  if (b.n === 0n) return Infinity;
  const difference = toNumber(divide(subtract(a, b), b));
  return Math.abs(difference) < 0.5 ? Math.log1p(difference) : Math.log(toNumber(divide(a, b)));
}

/** Above the true leakage by less than the checker lets pass, 1e-9 of it. */
const ROUNDED_UP = 1e-12;

/** The least epsilon at which the notion holds, rounded up; the excess where it has no epsilon. */
export function leakage(problem: Problem, columns: Columns): number {
  const exponents = exponentsOf(problem);
  const { privacy } = problem;
  let worst = -Infinity;
  if (exponents) {
    const near = nearPairs(problem);
    const asked = privacy.epsilon === undefined ? 0 : Number(privacy.epsilon);
    const unit = unitsOf(problem);
    exponents.forEach((row, x) =>
      row.forEach((exponent, z) => {
        if (!exponent || !near[x][z]) return;
        for (const q of columns) {
          const log = logRatio(ratio(q[x]), ratio(q[z]));
          worst = Math.max(worst, privacy.epsilon === undefined ? log - toNumber(exponent) : log / unit[x][z]);
        }
      }),
    );
    return rounded(problem, columns, worst, asked);
  }
  const prior = priorOf(problem);
  const { upper, lower } = liftLimits(privacy);
  const shift = (limit: Ratio): number => (privacy.notion === "lift" ? toNumber(limit) : 0);
  for (const column of columns) {
    const q = column.map((v) => ratio(v));
    const mean = q.reduce((total, v, x) => add(total, multiply(prior[x], v)), ZERO);
    for (const v of q) {
      if (upper) worst = Math.max(worst, logRatio(v, mean) - shift(upper));
      if (lower) worst = Math.max(worst, logRatio(mean, v) - shift(lower));
    }
  }
  return rounded(problem, columns, worst, Number(privacy.epsilon ?? "0"));
}

/** Distances of pairs, or 1: what epsilon is multiplied with. */
function unitsOf(problem: Problem): number[][] {
  const { privacy } = problem;
  if (privacy.notion !== "metric") return problem.prior.map(() => problem.prior.map(() => 1));
  const one = exponentsOf({ ...problem, privacy: { ...privacy, epsilon: "1" } })!;
  return one.map((row) => row.map((e) => (e ? toNumber(e) : 1)));
}

function rounded(problem: Problem, columns: Columns, worst: number, asked: number): number {
  const signed = problem.privacy.epsilon === undefined;
  if (worst === -Infinity) return 0;
  const above = worst + ROUNDED_UP * (1 + Math.abs(worst));
  const least = signed ? above : Math.max(0, above);
  const cone = coneOf(problem);
  return least > asked && least < asked + 1e-9 && columns.every((q) => cone.violation(q) === null)
    ? asked
    : least;
}

/** A number in the canonical JSON of Python. */
const numberText = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1e21 ? String(value) : floatText(value);

/** Canonical JSON, as `mechdesign.kernel.documents.canonical` makes it. */
export function canonical(value: Json): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return numberText(value);
  if (typeof value === "string") {
    return JSON.stringify(value).replace(
      /[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  }
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${canonical(key)}:${canonical(value[key])}`).join(",")}}`;
}

/** The document with the SHA-256 of everything else in it. */
export async function sealed(document: Document): Promise<Document> {
  const { digest: _, ...rest } = document;
  const bytes = new TextEncoder().encode(canonical(rest));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { ...rest, digest: `sha256:${hex}` };
}

/** The relative gap of a value and a bound, as the library counts it. */
export const relativeGap = (value: number, bound: number): number =>
  Math.abs(value - bound) / Math.max(1e-12, Math.abs(value));

/** The tables of a channel: its labels, its integers, and their floats. */
function channelTable(problem: Problem, columns: Columns, outputs: Label[]): Document {
  const rows = problem.prior.map((_, x) => columns.map((q) => q[x]));
  const decoder = decoderOf(problem, columns);
  return {
    inputs: labelsOf(problem.domain),
    outputs,
    matrix: rows.map((row) => row.map((v) => toNumber(ratio(v, WHOLE)))),
    bits: 62,
    numerators: rows.map((row) => row.map(String)),
    ...(decoder ? { decoder } : {}),
  };
}

/** The channel file of an answer, with its digest. */
export async function documentOf(problem: Problem, answer: Answer): Promise<Document> {
  const { privacy, utility } = problem;
  const { columns, outputs, value, bound, certificate } = answer;
  const gap = relativeGap(value, bound);
  const leaks = leakage(problem, columns); // infinite where an edited entry is 0: refused as not private
  const claim: Document = { notion: privacy.notion, leakage: Number.isFinite(leaks) ? leaks : 0, certified: true };
  if (privacy.epsilon !== undefined) claim.epsilon = toNumber(parseRatio(privacy.epsilon));
  return sealed({
    format: "mechdesign-channel",
    version: 2,
    title: problem.title,
    source: "the explorer of mechdesign",
    status: gap <= 1e-6 ? "optimal" : "bounded",
    objective: utility.objective,
    sense: isMaximized(utility) ? "maximize" : "minimize",
    value,
    bound,
    gap,
    bound_proved: true,
    route: "explorer: HiGHS in the browser",
    privacy: [claim],
    channel: channelTable(problem, columns, outputs),
    seconds: 0,
    timings: {},
    why: "designed in the explorer",
    considered: [],
    notes: [],
    problem: {
      domain: problem.domain as unknown as Json,
      prior: problem.prior,
      privacy: [privacy as unknown as Json],
      utility: utility as unknown as Json,
      outputs: problem.outputs,
    },
    certificate: certificate as unknown as Json,
  });
}

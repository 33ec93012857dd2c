/** The problem that a page shows: the tables of a saved file, and what follows from them. */

import {
  type Ratio, ZERO, add, compare, divide, multiply, parseRatio, ratio, ratioText, rootLower,
  subtract, toNumber,
} from "./exact.ts";

export type Label = string | number | [number, number];

export interface Grid {
  rows: number;
  columns: number;
  spacing: string;
}

export type Domain = { values: Label[] } | { grid: Grid };

/** A `[privacy]` table, numbers as exact text. */
export interface Privacy {
  notion: string;
  epsilon?: string;
  lower?: string;
  upper?: string;
  sensitive?: Label[];
  blocks?: Label[][];
  block_rows?: number;
  block_columns?: number;
  distance?: string | string[][];
  matrix?: string[][];
}

/** A `[utility]` table. */
export interface Utility {
  objective: string;
  worst_case?: boolean;
  matrix?: string[][];
  values?: string[];
  histogram?: true;
}

/** A problem as a saved file states it, with a title. */
export interface Problem {
  title: string;
  domain: Domain;
  prior: string[];
  privacy: Privacy;
  utility: Utility;
  outputs: Label[] | null;
}

export const RATIO_NOTIONS = ["ldp", "high-low", "block", "metric", "context-aware"];
export const LIFT_NOTIONS = ["lip", "pml", "lift"];
export const LOSSES = ["hamming", "mean-absolute-error", "mean-squared-distance", "euclidean", "distortion"];
export const GAINS = ["posterior-mean-squared-error", "mutual-information", "bayes-accuracy"];

/** The risks of estimating the distribution of the inputs. */
export const RISKS = ["l2-risk", "tv-risk"];

export function labelsOf(domain: Domain): Label[] {
  if ("values" in domain) return domain.values;
  const { rows, columns } = domain.grid;
  return Array.from({ length: rows * columns }, (_, n) => [Math.floor(n / columns), n % columns]);
}

export const sameLabel = (a: Label, b: Label): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A label in words: text as it is, a point of a grid as (row, column). */
export const labelText = (label: Label): string =>
  Array.isArray(label) ? `(${label.join(", ")})` : String(label);

/** The exact coordinates of the inputs; null where they are words. */
export function pointsOf(domain: Domain, labels = labelsOf(domain)): Ratio[][] | null {
  if ("grid" in domain) {
    const spacing = parseRatio(domain.grid.spacing);
    return labels.map((label) =>
      (label as [number, number]).map((n) => multiply(ratio(BigInt(n)), spacing)),
    );
  }
  if (!labels.every((label) => typeof label === "number")) return null;
  return labels.map((label) => [parseRatio(label as number)]);
}

export const isMaximized = (utility: Utility): boolean =>
  ["mutual-information", "bayes-accuracy"].includes(utility.objective);

export const priorOf = (problem: Problem): Ratio[] => problem.prior.map(parseRatio);

/** Whole or decimal weights as a distribution, exactly. */
export function normalized(weights: string[]): string[] {
  const parts = weights.map(parseRatio);
  const total = parts.reduce(add, ZERO);
  return parts.map((part) => ratioText(divide(part, total)));
}

/** The square of the Euclidean distance, and the sum of the steps, of two points. */
function apart(a: Ratio[], b: Ratio[]): { square: Ratio; steps: Ratio } {
  let [square, steps] = [ZERO, ZERO];
  a.forEach((part, i) => {
    const difference = subtract(part, b[i]);
    square = add(square, multiply(difference, difference));
    steps = add(steps, difference.n < 0n ? { n: -difference.n, d: difference.d } : difference);
  });
  return { square, steps };
}

/** A distance by its name, rounded down where it is irrational. */
function distance(kind: string, a: Ratio[], b: Ratio[]): Ratio {
  const { square, steps } = apart(a, b);
  return kind === "euclidean" && a.length > 1 ? rootLower(square) : steps;
}

/** Exponents E of the bounds q_x <= e**E[x][z] q_z; null where a pair is free, and on the diagonal. */
export type Exponents = (Ratio | null)[][];

export function exponentsOf(problem: Problem): Exponents | null {
  const { privacy, domain } = problem;
  const labels = labelsOf(domain);
  const place = (label: Label): number => labels.findIndex((other) => sameLabel(label, other));
  const each = (bound: (x: number, z: number) => Ratio | null): Exponents =>
    labels.map((_, x) => labels.map((_, z) => (x === z ? null : bound(x, z))));
  if (privacy.notion === "context-aware") {
    const matrix = privacy.matrix ?? [];
    return each((x, z) => (matrix[x][z] === "inf" ? null : parseRatio(matrix[x][z])));
  }
  if (!RATIO_NOTIONS.includes(privacy.notion)) return null;
  const epsilon = parseRatio(privacy.epsilon ?? "0");
  if (privacy.notion === "high-low") {
    const high = new Set((privacy.sensitive ?? []).map(place));
    return each((x) => (high.has(x) ? epsilon : null));
  }
  if (privacy.notion === "block") {
    const member = blocksOf(problem);
    return each((x, z) => (member[x] === member[z] ? epsilon : null));
  }
  if (privacy.notion === "metric") {
    const kind = privacy.distance ?? "absolute";
    if (typeof kind !== "string") return each((x, z) => multiply(epsilon, parseRatio(kind[x][z])));
    const points = pointsOf(domain);
    if (!points) throw new Error("a named distance needs numbers or a grid");
    return each((x, z) => multiply(epsilon, distance(kind, points[x], points[z])));
  }
  return each(() => epsilon);
}

/** The number of the block of each input. */
export function blocksOf(problem: Problem): number[] {
  const { privacy, domain } = problem;
  const labels = labelsOf(domain);
  if (privacy.blocks) {
    return labels.map((label) => privacy.blocks!.findIndex((block) => block.some((l) => sameLabel(l, label))));
  }
  if (!("grid" in domain)) throw new Error("blocks of rows and columns need a grid");
  const [height, width] = [privacy.block_rows ?? 1, privacy.block_columns ?? 1];
  return labels.map((label) => {
    const [r, c] = label as [number, number];
    return Math.floor(r / height) * domain.grid.columns + Math.floor(c / width);
  });
}

const commonFactor = (a: number, b: number): number => (b ? commonFactor(b, a % b) : a);

/**
 * The pairs whose bounds imply all others: neighbors on a line, single steps on a grid by walking
 * distance, and by Euclidean distance points that see each other. All pairs for other notions.
 */
export function nearPairs(problem: Problem): boolean[][] {
  const { privacy, domain } = problem;
  const labels = labelsOf(domain);
  const all = labels.map(() => labels.map(() => true));
  if (privacy.notion !== "metric" || typeof privacy.distance !== "string") return all;
  const steps = (down: number, right: number): boolean =>
    privacy.distance === "euclidean" ? commonFactor(down, right) === 1 : down + right === 1;
  if ("grid" in domain) {
    const cells = labels as [number, number][];
    return cells.map(([r, c]) => cells.map(([s, d]) => steps(Math.abs(r - s), Math.abs(c - d))));
  }
  const points = pointsOf(domain) ?? [];
  const order = points.map((_, x) => x).sort((a, b) => compare(points[a][0], points[b][0]));
  const rank = order.map((_, x) => order.indexOf(x));
  return labels.map((_, x) => labels.map((_, z) => Math.abs(rank[x] - rank[z]) === 1));
}

/** Exponents of the bounds on lift and inverse lift from above; null where unbounded. */
export function liftLimits(privacy: Privacy): { upper: Ratio | null; lower: Ratio | null } {
  if (privacy.notion === "lift") {
    const [upper, lower] = [privacy.upper, privacy.lower].map((e) =>
      e === undefined || e === "inf" ? null : parseRatio(e),
    );
    return { upper, lower };
  }
  const epsilon = parseRatio(privacy.epsilon ?? "0");
  return { upper: epsilon, lower: privacy.notion === "pml" ? null : epsilon };
}

/** Losses D[x][y] of an objective that is linear in the channel, as exact rationals where possible. */
export function lossTable(problem: Problem): number[][] {
  const { utility, domain } = problem;
  const [inputs, outputs] = [labelsOf(domain), problem.outputs ?? labelsOf(domain)];
  if (utility.objective === "distortion") {
    return (utility.matrix ?? []).map((row) => row.map((entry) => toNumber(parseRatio(entry))));
  }
  if (utility.objective === "hamming" || utility.objective === "bayes-accuracy") {
    return inputs.map((x) => outputs.map((y) => (sameLabel(x, y) ? 0 : 1)));
  }
  const [a, b] = [pointsOf(domain, inputs), pointsOf(domain, outputs)];
  if (!a || !b) throw new Error(`the loss ${utility.objective} needs numbers or a grid`);
  return a.map((x) =>
    b.map((y) => {
      const { square, steps } = apart(x, y);
      if (utility.objective === "mean-squared-distance") return toNumber(square);
      return x.length > 1 ? Math.sqrt(toNumber(square)) : toNumber(steps);
    }),
  );
}

/** The function f whose posterior mean is estimated. */
export const valuesOf = (problem: Problem): number[] =>
  (problem.utility.values ?? []).map((value) => toNumber(parseRatio(value)));

/** The problem at another budget: epsilon, both sides of a lift, or each finite entry of a matrix. */
export function withBudget(problem: Problem, epsilon: string): Problem {
  const privacy: Privacy = { ...problem.privacy };
  if (privacy.notion === "lift") {
    if (privacy.upper !== "inf") privacy.upper = epsilon;
    if (privacy.lower !== "inf") privacy.lower = epsilon;
  } else if (privacy.notion === "context-aware") {
    privacy.matrix = (privacy.matrix ?? []).map((row, x) =>
      row.map((entry, z) => (x === z ? "0" : entry === "inf" ? "inf" : epsilon)),
    );
  } else {
    privacy.epsilon = epsilon;
  }
  return { ...problem, privacy };
}

/** The budget that the slider stands at. */
export function budgetOf(privacy: Privacy): string {
  if (privacy.notion === "lift") {
    return [privacy.upper, privacy.lower].find((e) => e !== undefined && e !== "inf") ?? "1";
  }
  if (privacy.notion === "context-aware") {
    const entries = (privacy.matrix ?? []).flatMap((row, x) => row.filter((_, z) => z !== x));
    return entries.find((entry) => entry !== "inf") ?? "1";
  }
  return privacy.epsilon ?? "1";
}

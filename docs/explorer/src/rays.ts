/** Extreme rays of the cone of a notion on few inputs, in floats. */

import { type Exponents, type Problem, blocksOf, exponentsOf, labelsOf, liftLimits, nearPairs, priorOf, sameLabel } from "./problem.ts";
import { toNumber } from "./exact.ts";

/** Cones with more rays than this are not listed. */
export const MOST_RAYS = 20000;

/** Inputs that one budget protects against all others of their block. */
export interface OneBudget {
  epsilon: number;
  blocks: { inputs: number[]; protected: number[] }[];
  /** Inputs that are protected nowhere. */
  unbounded: number[];
}

/** The structure of LDP, high-low and block-structured LDP; null for other notions. */
export function oneBudget(problem: Problem): OneBudget | null {
  const { privacy, domain } = problem;
  if (!["ldp", "high-low", "block"].includes(privacy.notion)) return null;
  const labels = labelsOf(domain);
  const member = privacy.notion === "block" ? blocksOf(problem) : labels.map(() => 0);
  const isHigh = (x: number): boolean =>
    privacy.notion !== "high-low" || (privacy.sensitive ?? []).some((l) => sameLabel(l, labels[x]));
  const blocks = [...new Set(member)]
    .map((b) => {
      const inputs = member.flatMap((m, x) => (m === b ? [x] : []));
      return { inputs, protected: inputs.filter(isHigh) };
    })
    .filter((block) => block.inputs.length > 1 && block.protected.length > 0);
  const guarded = new Set(blocks.flatMap((block) => block.protected));
  const unbounded = labels.flatMap((_, x) => (guarded.has(x) ? [] : [x]));
  return { epsilon: Number(privacy.epsilon), blocks, unbounded };
}

/** Ends of the lift of every column: 0 and Infinity where there is no bound. */
export function liftEnds(problem: Problem): { low: number; high: number } | null {
  if (exponentsOf(problem)) return null;
  const { upper, lower } = liftLimits(problem.privacy);
  return {
    low: lower ? Math.exp(-toNumber(lower)) : 0,
    high: upper ? Math.exp(toNumber(upper)) : Infinity,
  };
}

/** All extreme rays, as columns of floats; null where there are too many. */
export function raysOf(problem: Problem): number[][] | null {
  const size = problem.prior.length;
  const budget = oneBudget(problem);
  if (budget) return raysOfOneBudget(budget, size);
  const ends = liftEnds(problem);
  if (ends) return raysOfLifts(priorOf(problem).map(toNumber), ends);
  return size <= 7 ? raysOfPairs(exponentsOf(problem)!, nearPairs(problem)) : null;
}

const unit = (size: number, x: number): number[] => Array.from({ length: size }, (_, z) => Number(z === x));

function raysOfOneBudget({ epsilon, blocks, unbounded }: OneBudget, size: number): number[][] | null {
  const count = blocks.reduce((total, block) => total + 2 ** block.protected.length, 0);
  if (count > MOST_RAYS) return null;
  const rays = unbounded.map((x) => unit(size, x));
  for (const block of blocks) {
    const all = block.protected.length === block.inputs.length;
    const high = epsilon > 0 ? Math.exp(epsilon) : 1;
    const last = 2 ** block.protected.length - (all ? 1 : 0);
    if (high === 1) rays.push(unit(size, -1).map((_, x) => Number(block.inputs.includes(x))));
    else for (let set = 1; set < last; set++) {
      const ray = Array<number>(size).fill(0);
      for (const x of block.inputs) ray[x] = 1;
      block.protected.forEach((x, n) => {
        if (set & (1 << n)) ray[x] = high;
      });
      rays.push(ray);
    }
  }
  return rays;
}

/** Columns r with P . r = 1 whose lifts are all at an end but at most one. */
function raysOfLifts(prior: number[], { low, high }: { low: number; high: number }): number[][] | null {
  const size = prior.length;
  if (high === Infinity) {
    const free = prior.map((p, x) => unit(size, x).map((e) => (e ? low + (1 - low) / p : low)));
    return free;
  }
  if (size > 12) return null;
  const rays = new Map<string, number[]>();
  const room = 1 - low;
  for (let set = 0; set < 2 ** size; set++) {
    const mass = prior.reduce((total, p, x) => (set & (1 << x) ? total + p : total), 0);
    const left = room - (high - low) * mass;
    if (left < -1e-13) continue;
    for (let x = 0; x < size; x++) {
      if (set & (1 << x)) continue;
      const between = low + Math.max(0, left) / prior[x];
      if (between > high * (1 + 1e-13)) continue;
      const ray = prior.map((_, z) => (z === x ? Math.min(between, high) : set & (1 << z) ? high : low));
      rays.set(ray.map((r) => r.toPrecision(11)).join(), ray);
      if (rays.size > MOST_RAYS) return null;
    }
  }
  return rays.size ? [...rays.values()] : [prior.map(() => 1)];
}

/** Bounds wider than e to this are beyond the tolerance of the floats below. */
const WIDEST = 12;

/** Double description: the rays of q >= 0 are cut by one bound after another. */
function raysOfPairs(exponents: Exponents, near: boolean[][]): number[][] | null {
  const size = exponents.length;
  const rows = Array.from({ length: size }, (_, x) => unit(size, x).map((e) => -e));
  exponents.forEach((row, x) =>
    row.forEach((exponent, z) => {
      if (!exponent || !near[x][z]) return;
      const g = Array<number>(size).fill(0);
      [g[x], g[z]] = [Math.exp(-toNumber(exponent)), -1];
      rows.push(g);
    }),
  );
  if (rows.some((g) => g.some((v) => v > 0 && v < Math.exp(-WIDEST)))) return null;
  const dot = (g: number[], q: number[]): number => g.reduce((total, v, x) => total + v * q[x], 0);
  const zero = 1e-11;
  let rays = Array.from({ length: size }, (_, x) => unit(size, x));
  const tight = (q: number[], n: number): Set<number> =>
    new Set(rows.slice(0, n).flatMap((g, r) => (Math.abs(dot(g, q)) <= zero ? [r] : [])));
  for (let n = size; n < rows.length; n++) {
    const sign = rays.map((q) => dot(rows[n], q));
    if (sign.every((s) => s <= zero)) continue;
    const active = rays.map((q) => tight(q, n));
    const next = rays.filter((_, i) => sign[i] <= zero);
    for (let i = 0; i < rays.length; i++) {
      if (sign[i] <= zero) continue;
      for (let j = 0; j < rays.length; j++) {
        if (sign[j] >= -zero) continue;
        const common = [...active[i]].filter((r) => active[j].has(r));
        if (common.length < size - 2) continue;
        const between = active.some((set, l) => l !== i && l !== j && common.every((r) => set.has(r)));
        if (between) continue;
        const made = rays[i].map((v, x) => v * -sign[j] + rays[j][x] * sign[i]);
        const most = Math.max(...made);
        next.push(made.map((v) => v / most));
      }
    }
    rays = next;
    if (rays.length > MOST_RAYS) return null;
  }
  return rays;
}

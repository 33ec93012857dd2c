/**
 * The risk of estimating the distribution of the inputs: its value at exact columns, the readings of
 * the reports, and the best weights of the extreme rays.
 *
 * With M = Sum_y q_y q_y' / (p . q_y) and v_x = (M**-1)_xx, l2-risk is Sum_x v_x - |p|**2, and
 * tv-risk is sqrt(1 / (2 pi)) Sum_x sqrt(v_x - p_x**2). Both are convex in the weights of the rays.
 */

import { type Columns } from "./cone.ts";
import { type Ratio, ZERO, add, multiply, ratio, subtract, toNumber } from "./exact.ts";
import { type Problem, priorOf } from "./problem.ts";
import { type Term, Program, highs } from "./program.ts";

const FACTOR = Math.sqrt(1 / (2 * Math.PI));
/** Bits beyond the point of the exact inverse. */
const BITS = 512n;
/** Pivots below this make a system singular. */
const SINGULAR = 1e-13;
/** More inputs, or rays, are too slow for a picture that follows the slider. */
export const MOST_FOR_RISK = 8;
const MOST_RAYS_FOR_RISK = 300;

/** M**-1 of exact columns over 2**BITS; null where the reports do not determine the distribution. */
function inverse(problem: Problem, columns: Columns): bigint[][] | null {
  const prior = priorOf(problem);
  const sum = (q: bigint[]): Ratio => q.reduce((total, n, x) => add(total, multiply(prior[x], ratio(n))), ZERO);
  const means = columns.map(sum);
  const rows = prior.map((_, x) => prior.map((_, z) =>
    columns.reduce((total, q, y) => total + ((q[x] * q[z] * means[y].d) << BITS >> 62n) / means[y].n, 0n)));
  for (const [c, pivots] of rows.entries()) {
    const pivot = pivots[c];
    if (pivot <= 1n << (BITS / 2n)) return null;
    pivots[c] = 1n << BITS;
    rows[c] = pivots.map((entry) => (entry << BITS) / pivot);
    rows.forEach((row, x) => {
      if (x === c) return;
      const factor = row[c];
      row[c] = 0n;
      rows[x] = row.map((entry, z) => entry - ((factor * rows[c][z]) >> BITS));
    });
  }
  return rows;
}

/** The risk at exact columns; infinite where the reports do not determine the distribution. */
export function riskOf(problem: Problem, columns: Columns): number {
  const found = inverse(problem, columns);
  if (!found) return Infinity;
  const variances = priorOf(problem).map((p, x) => subtract(ratio(found[x][x], 1n << BITS), multiply(p, p)));
  if (problem.utility.objective === "l2-risk") return toNumber(variances.reduce(add, ZERO));
  return FACTOR * variances.reduce((total, v) => total + Math.sqrt(Math.max(0, toNumber(v))), 0);
}

/** M**-1 q_y / (p . q_y) of each output: the distribution is estimated as the mean of these. */
export function readingsOf(problem: Problem, columns: Columns): number[][] {
  const found = inverse(problem, columns);
  const prior = priorOf(problem);
  if (!found) throw new Error("the reports do not determine the distribution of the inputs");
  return columns.map((q) => {
    const mean = q.reduce((total, n, x) => add(total, multiply(prior[x], ratio(n))), ZERO);
    return found.map((row) => {
      const entry = row.reduce((total, n, x) => total + n * q[x], 0n);
      return toNumber(ratio(entry * mean.d, mean.n << BITS));
    });
  });
}

/** What the bound on a risk is made of: see `mechdesign/kernel/relaxations/estimator.py`. */
export interface LinearBound {
  /** The weights of the rays that were found. */
  mixture: number[];
  /** Rows a_x of the certificate. */
  /** What prices of the gain are multiplied by: the checker's gain has the factor of the deviations. */
  factor: number;
  estimator: number[][];
  /** Deviations at which the roots are bounded from below; null without roots. */
  tangents: number[] | null;
  constant: number;
  /** g(q) = Sum_x b_x (a_x . q)**2 / (p . q). */
  gain: (q: number[]) => number;
  /** The bound on the risk from Sum_x v_x, or Sum_x sqrt(v_x - p_x**2), at least this. */
  bound: (least: number) => number;
}

const dot = (a: number[], b: number[]): number => a.reduce((total, v, i) => total + v * b[i], 0);

/** The inverse of a matrix; null if it is next to singular. */
function inverted(matrix: number[][]): number[][] | null {
  const columns = matrix.map((_, i) => solved(matrix, matrix.map((_, j) => Number(i === j))));
  return columns.every((column) => column !== null) ? columns : null;
}

/** The solution of a square system by elimination with pivots; null if it is singular. */
export function solved(matrix: number[][], right: number[]): number[] | null {
  const rows = matrix.map((row, i) => [...row, right[i]]);
  const size = rows.length;
  for (let c = 0; c < size; c++) {
    let pivot = c;
    for (let r = c + 1; r < size; r++) if (Math.abs(rows[r][c]) > Math.abs(rows[pivot][c])) pivot = r;
    if (Math.abs(rows[pivot][c]) < SINGULAR) return null;
    [rows[c], rows[pivot]] = [rows[pivot], rows[c]];
    for (let r = c + 1; r < size; r++) {
      const factor = rows[r][c] / rows[c][c];
      if (factor !== 0) for (let j = c; j <= size; j++) rows[r][j] -= factor * rows[c][j];
    }
  }
  const found = Array<number>(size).fill(0);
  for (let c = size - 1; c >= 0; c--) {
    let rest = rows[c][size];
    for (let j = c + 1; j < size; j++) rest -= rows[c][j] * found[j];
    found[c] = rest / rows[c][c];
  }
  return found;
}

/** The largest weight t that all rays of mean 1 can have at once, and a mixture that has it. */
async function interior(rays: number[][]): Promise<number[]> {
  const program = new Program();
  const least = program.variable(-1);
  const extra = rays.map(() => program.variable(0));
  rays[0].forEach((_, x) => {
    const whole = rays.reduce((total, ray) => total + ray[x], 0);
    program.row([[least, whole], ...rays.map((ray, r): Term => [extra[r], ray[x]])], 1, 1);
  });
  const { primal } = program.solve(await highs());
  return rays.map((_, r) => primal[least] + primal[extra[r]]);
}

/**
 * The best weights of rays, by Newton's method on risk(w) - mu Sum_r ln w_r under Sum_r w_r r = 1.
 *
 * Steps are in proportion to the weights, which keeps the system well scaled as weights vanish.
 */
export async function bestRisk(problem: Problem, given: number[][]): Promise<LinearBound> {
  const prior = priorOf(problem).map(toNumber);
  const isL2 = problem.utility.objective === "l2-risk";
  if (given.length > MOST_RAYS_FOR_RISK) throw new Error(`this page designs for ${problem.utility.objective} over at most ${MOST_RAYS_FOR_RISK} extreme rays, and the notion has ${given.length}. The library solves it`);
  const means = given.map((ray) => dot(prior, ray));
  let rays = given.map((ray, r) => ray.map((v) => v / means[r]));
  let kept = rays.map((_, r) => r);
  const informed = (w: number[]): number[][] | null => {
    const M = prior.map((_, x) => prior.map((_, z) => rays.reduce((total, ray, r) => total + w[r] * ray[x] * ray[z], 0)));
    return inverted(M);
  };
  const deviations = (V: number[][]): number[] => prior.map((p, x) => Math.sqrt(Math.max(1e-300, V[x][x] - p * p)));
  const risk = (V: number[][]): number =>
    isL2 ? V.reduce((total, row, x) => total + row[x], 0) : deviations(V).reduce((a, b) => a + b, 0);
  let w = await interior(rays);
  if (!(Math.min(...w) > 0) || !informed(w)) throw new Error("the reports do not determine the distribution of the inputs: the risk is infinite");
  const scale = risk(informed(w)!);
  for (let mu = scale / given.length; mu > 1e-13 * scale / given.length; mu /= 8) {
    const least = 1e-5 * Math.max(...w); // what vanishes costs the square of its weight
    const likely = w.flatMap((v, r) => (v > least ? [r] : []));
    [rays, kept, w] = [likely.map((r) => rays[r]), likely.map((r) => kept[r]), likely.map((r) => w[r])];
    for (let step = 0; step < 12; step++) {
      const V = informed(w)!;
      const first = isL2 ? prior.map(() => 1) : deviations(V).map((d) => 0.5 / d);
      const second = isL2 ? null : deviations(V).map((d) => -0.25 / d ** 3);
      const direction = newton(V, first, second, w, mu) ?? newton(V, first, null, w, mu);
      if (!direction) break;
      const { dw, slope } = direction;
      let length = Math.min(1, 0.99 / Math.max(1e-300, ...dw.map((d, r) => -d / w[r])));
      const here = risk(V) - mu * w.reduce((total, v) => total + Math.log(v), 0);
      let moved = false;
      for (let halving = 0; halving < 30 && !moved; halving++, length /= 2) {
        const next = w.map((v, r) => v + length * dw[r]);
        const U = informed(next);
        const there = U ? risk(U) - mu * next.reduce((total, v) => total + Math.log(v), 0) : Infinity;
        if (there <= here + 1e-4 * length * slope + 1e-13 * scale) [w, moved] = [next, true];
      }
      if (!moved || -slope < 0.1 * mu) break;
    }
  }
  return certificate(w);

  /** The step, and how fast the objective falls along it; null where it does not fall. */
  function newton(
    V: number[][], first: number[], second: number[] | null, weights: number[], mu: number,
  ): { dw: number[]; slope: number } | null {
    // where f is summed over the v_x: C = diag f'(v), the derivative of v_x is -(V r)_x**2
    const seen = rays.map((ray) => V.map((row) => dot(row, ray)));
    const pulled = seen.map((v) => V.map((row) => row.reduce((total, entry, x) => total + entry * first[x] * v[x], 0)));
    const gradient = seen.map((v) => -v.reduce((total, entry, x) => total + first[x] * entry * entry, 0));
    const left = rays.map((ray, r) => [
      ...rays.map((other, s) => {
        let curved = 2 * dot(seen[r], other) * dot(pulled[r], other);
        second?.forEach((f, x) => { curved += f * (seen[r][x] * seen[s][x]) ** 2; });
        return weights[r] * curved * weights[s] + (r === s ? mu : 0);
      }),
      ...ray.map((entry) => weights[r] * entry),
    ]);
    const right = gradient.map((g, r) => mu - weights[r] * g);
    prior.forEach((_, x) => {
      left.push([...rays.map((ray, r) => weights[r] * ray[x]), ...prior.map(() => 0)]);
      right.push(1 - rays.reduce((total, ray, r) => total + weights[r] * ray[x], 0));
    });
    const found = solved(left, right);
    if (!found?.every(Number.isFinite)) return null;
    const dw = weights.map((w, r) => w * found[r]);
    const slope = dw.reduce((total, d, r) => total + d * (gradient[r] - mu / weights[r]), 0);
    return slope < 0 ? { dw, slope } : null;
  }

  function certificate(weights: number[]): LinearBound {
    const V = informed(weights)!;
    const mixture = given.map(() => 0);
    kept.forEach((r, n) => { mixture[r] = weights[n] / means[r]; });
    const squares = prior.reduce((total, p) => total + p * p, 0);
    const bounded = (estimator: number[][], b: number[], constant: number, tangents: number[] | null): LinearBound => ({
      mixture, estimator, tangents, constant, factor: isL2 ? 1 : FACTOR,
      gain: (q) => estimator.reduce((total, row, x) => total + b[x] * dot(row, q) ** 2, 0) / dot(prior, q),
      bound: (least) => (isL2 ? least - squares : FACTOR * Math.max(0, least)),
    });
    if (isL2) return bounded(V, prior.map(() => 1), 2 * V.reduce((total, row, x) => total + row[x], 0), null);
    const estimator = V.map((row, x) => row.map((v, z) => (z === x ? 1 : v / row[x])));
    // for inputs above 3/4: the least tangent whose bound is below the curve
    const tangents = deviations(V).map((d, x) =>
      Math.max(d, (Math.sqrt(prior[x]) - Math.sqrt(prior[x] * (1 - prior[x]))) * (1 + 1e-12)));
    const b = tangents.map((t, x) => (t * t + prior[x] ** 2) ** 2 / (2 * t));
    const constant = tangents.reduce((total, t, x) => total + t + (t * t + prior[x] ** 2) / (2 * t), 0);
    return bounded(estimator, b, constant, tangents);
  }
}

/** From reports to the distribution of the inputs: generalized least squares, as the library does. */

import { solved } from "./risk.ts";

export interface Estimate {
  values: number[];
  /** Standard errors of the values, as estimates of the population. */
  errors: number[];
}

/** The scores W of the reports: the mean of W[x][Y] is an unbiased estimate of Pr(X = x). */
export function scores(matrix: number[][], reference: number[]): number[][] | null {
  const size = matrix.length;
  const outputs = matrix[0].map((_, y) => matrix.reduce((total, row, x) => total + reference[x] * row[y], 0));
  if (outputs.some((v) => v <= 0)) return null;
  const information = matrix.map((a) =>
    matrix.map((b) => a.reduce((total, v, y) => total + (v * b[y]) / outputs[y], 0)));
  const columns = matrix[0].map((_, y) => solved(information, matrix.map((row) => row[y] / outputs[y])));
  if (columns.some((column) => column === null)) return null;
  return Array.from({ length: size }, (_, x) => columns.map((column) => column![x]));
}

/** The unbiased estimate from the number of reports of each kind. */
export function estimate(weights: number[][], counts: number[]): Estimate {
  const n = counts.reduce((a, b) => a + b, 0);
  const shares = counts.map((c) => c / n);
  const values = weights.map((w) => w.reduce((total, v, y) => total + v * shares[y], 0));
  const errors = weights.map((w, x) => {
    const spread = w.reduce((total, v, y) => total + shares[y] * (v - values[x]) ** 2, 0);
    return Math.sqrt(spread / Math.max(1, n - 1));
  });
  return { values, errors };
}

/** Random numbers from a seed, the same on every machine (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The place at which a running sum of probabilities passes a number in [0, 1). */
export function drawFrom(probabilities: number[], at: number): number {
  let total = 0;
  for (let n = 0; n < probabilities.length; n++) {
    total += probabilities[n];
    if (at < total) return n;
  }
  return probabilities.length - 1;
}

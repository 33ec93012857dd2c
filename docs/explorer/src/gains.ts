/** Objectives that are sums over the outputs, Sum_y g(q_y), with g convex and homogeneous. */

import { type Columns, WHOLE } from "./cone.ts";
import { type Ratio, ZERO, add, compare, divide, multiply, parseRatio, ratio, subtract, toNumber } from "./exact.ts";
import { type Label, type Problem, RISKS, labelsOf, priorOf, valuesOf } from "./problem.ts";
import { readingsOf, riskOf } from "./risk.ts";

/** The gain of one column of floats. */
export function gainOf(problem: Problem): (q: number[]) => number {
  const prior = priorOf(problem).map(toNumber);
  const { utility } = problem;
  const mean = (q: number[]): number => q.reduce((total, v, x) => total + prior[x] * v, 0);
  if (utility.objective === "bayes-accuracy") return (q) => Math.max(...q.map((v, x) => prior[x] * v));
  if (utility.objective === "mutual-information") {
    return (q) => {
      const whole = mean(q);
      return q.reduce((total, v, x) => total + (v > 0 ? prior[x] * v * Math.log(v / whole) : 0), 0);
    };
  }
  if (utility.histogram) {
    return (q) => q.reduce((total, v, x) => total + (prior[x] * v) ** 2, 0) / mean(q);
  }
  const f = valuesOf(problem);
  return (q) => q.reduce((total, v, x) => total + prior[x] * f[x] * v, 0) ** 2 / mean(q);
}

/** What the sum of the gains is subtracted from; null where the gains are the objective. */
export function offsetOf(problem: Problem): number | null {
  const { utility } = problem;
  if (utility.objective !== "posterior-mean-squared-error") return null;
  return toNumber(exactOffset(problem));
}

/** P_x f_x**2, or P_x: what the gain of a posterior-mean error is at most, by Cauchy and Schwarz. */
export function surelySafe({ prior, utility }: Problem): Ratio[] {
  const f = (utility.values ?? []).map(parseRatio);
  return prior.map(parseRatio).map((p, x) => (utility.histogram ? p : multiply(p, squareOf(f[x]))));
}

function exactOffset(problem: Problem): Ratio {
  return surelySafe(problem).reduce(add, ZERO);
}

/** r ln r - r + 1, without the cancellation near 1. */
function surprise(difference: number): number {
  if (Math.abs(difference) > 0.05) {
    const r = 1 + difference;
    return r > 0 ? r * Math.log(r) - difference : 1;
  }
  let [total, power] = [0, difference];
  for (let n = 2; n < 24; n++) {
    power *= -difference;
    total -= power / (n * (n - 1));
  }
  return total;
}

/** The objective at exact columns, right to the last digits of a float. */
export function exactValue(problem: Problem, columns: Columns): number {
  const { utility } = problem;
  if (RISKS.includes(utility.objective)) return riskOf(problem, columns);
  const prior = priorOf(problem);
  const masses = columns.map((q) => q.map((v, x) => multiply(prior[x], ratio(v, WHOLE))));
  const wholes = masses.map((column) => column.reduce(add, ZERO));
  if (utility.objective === "bayes-accuracy") {
    return toNumber(masses.map((column) => column.reduce((a, b) => (compare(a, b) < 0 ? b : a))).reduce(add, ZERO));
  }
  if (utility.objective === "mutual-information") {
    return columns.reduce((total, q, y) => {
      if (wholes[y].n === 0n) return total;
      const lambda = toNumber(wholes[y]);
      const parts = q.map((v, x) => {
        const difference = divide(subtract(ratio(v, WHOLE), wholes[y]), wholes[y]);
        return toNumber(prior[x]) * lambda * surprise(toNumber(difference));
      });
      return total + parts.reduce((a, b) => a + b, 0);
    }, 0);
  }
  let left = exactOffset(problem);
  const f = (utility.values ?? []).map(parseRatio);
  masses.forEach((column, y) => {
    if (wholes[y].n === 0n) return;
    const square = utility.histogram
      ? column.reduce((total, v) => add(total, multiply(v, v)), ZERO)
      : squareOf(column.reduce((total, v, x) => add(total, multiply(v, f[x])), ZERO));
    left = subtract(left, divide(square, wholes[y]));
  });
  return toNumber(left);
}

const squareOf = (value: Ratio): Ratio => multiply(value, value);

/** The estimate for each output, where the objective defines one. */
export function decoderOf(problem: Problem, columns: Columns): (number | Label | number[])[] | null {
  const { utility } = problem;
  if (RISKS.includes(utility.objective)) return readingsOf(problem, columns);
  if (!["posterior-mean-squared-error", "bayes-accuracy"].includes(utility.objective)) return null;
  const [prior, labels] = [priorOf(problem), labelsOf(problem.domain)];
  const f = (utility.values ?? []).map(parseRatio);
  return columns.map((q) => {
    const joint = q.map((v, x) => multiply(prior[x], ratio(v, WHOLE)));
    const whole = joint.reduce(add, ZERO);
    const posterior = whole.n === 0n ? prior : joint.map((v) => divide(v, whole));
    if (utility.objective === "bayes-accuracy") {
      return labels[posterior.reduce((best, p, x) => (compare(p, posterior[best]) > 0 ? x : best), 0)];
    }
    if (utility.histogram) return posterior.map(toNumber);
    return toNumber(posterior.reduce((total, p, x) => add(total, multiply(p, f[x])), ZERO));
  });
}

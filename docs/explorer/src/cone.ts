/**
 * The columns that a notion allows, in exact integers.
 *
 * A port of `mechdesign/notions/rows/` for the notions of this page: bounds on the ratio of two
 * entries of a column (`pair_rows`, `ratio_steps`), and on the lift (`lift_rows`).
 */

import { type Ratio, expLower, gcd } from "./exact.ts";
import { type Problem, exponentsOf, liftLimits, nearPairs, priorOf } from "./problem.ts";

export const BITS = 62n;
export const WHOLE = 1n << BITS;

/** Columns by output: `columns[y][x]` is Q(y|x) times 2**62. */
export type Columns = bigint[][];

/** A row that a column breaks, by the inputs it is about; a lift is of one. */
export interface Broken {
  x: number;
  z: number | null;
}

export interface Cone {
  readonly size: number;
  /** The row that a column breaks, exactly; null if none. */
  violation(column: bigint[]): Broken | null;
  /** Columns raised entry by entry until they satisfy the rows; as they are if that is no help. */
  raised(columns: Columns): Columns;
  /** The least t with which column + t direction satisfies the rows; null if none does. */
  raiseNeeded(column: bigint[], direction: bigint[]): bigint | null;
  /** The least set of inputs with those given that a column can be positive on. */
  support(positive: boolean[]): boolean[];
  /** Pairs of inputs that share a row. */
  links(): [number, number][];
  /** Pairs whose rows of Q are equal. */
  ties(): [number, number][];
}

const ceilDivide = (a: bigint, b: bigint): bigint => -(-a / b) + (a > 0n && a % b ? 1n : 0n);

/** q share / 2**62, rounded up. */
const shareAbove = (q: bigint, share: bigint): bigint => (q * share + (WHOLE - 1n)) >> BITS;

class PairCone implements Cone {
  readonly size: number;
  /** Checked pairs by source: the targets z, the bound, and its inverse over 2**62, rounded up. */
  private readonly pairs: { x: number; z: number; limit: Ratio; share: bigint }[] = [];
  private readonly linked: [number, number][] = [];
  private readonly tied: [number, number][] = [];

  constructor(problem: Problem) {
    const exponents = exponentsOf(problem)!;
    const near = nearPairs(problem);
    this.size = exponents.length;
    const known = new Map<string, Ratio>();
    exponents.forEach((row, x) =>
      row.forEach((exponent, z) => {
        if (!exponent) return;
        this.linked.push([x, z]);
        if (!near[x][z]) return;
        const key = `${exponent.n}/${exponent.d}`;
        const limit = known.get(key) ?? expLower(exponent);
        known.set(key, limit);
        const share = ceilDivide(limit.d << BITS, limit.n);
        this.pairs.push({ x, z, limit, share });
        if (exponent.n === 0n) this.tied.push([x, z]);
      }),
    );
  }

  violation(column: bigint[]): Broken | null {
    for (const { x, z, limit } of this.pairs) {
      if (column[x] * limit.d > limit.n * column[z]) return { x, z };
    }
    return null;
  }

  private holds(column: bigint[]): boolean {
    return this.pairs.every(({ x, z, share }) => shareAbove(column[x], share) <= column[z]);
  }

  raised(columns: Columns): Columns {
    return columns.map((column) => (this.holds(column) ? column : this.raisedColumn(column)));
  }

  private raisedColumn(column: bigint[]): bigint[] {
    const q = [...column];
    for (let changed = true; changed; ) {
      changed = false;
      for (const { x, z, share } of this.pairs) {
        const least = shareAbove(q[x], share);
        if (least > q[z]) [q[z], changed] = [least, true];
      }
    }
    return q;
  }

  raiseNeeded(column: bigint[], direction: bigint[]): bigint | null {
    let needed = 0n;
    for (const { x, z, limit } of this.pairs) {
      const lack = column[x] * limit.d - limit.n * column[z];
      if (lack <= 0n) continue;
      const gain = limit.n * direction[z] - limit.d * direction[x];
      if (gain <= 0n) return null;
      const step = ceilDivide(lack, gain);
      if (step > needed) needed = step;
    }
    return needed;
  }

  support(positive: boolean[]): boolean[] {
    const found = [...positive];
    const symmetric = new Set(this.linked.map(([x, z]) => x * this.size + z));
    const both = this.linked.every(([x, z]) => symmetric.has(z * this.size + x));
    for (let changed = true; changed; ) {
      changed = false;
      for (const [x, z] of this.linked) {
        if (found[x] && !found[z]) [found[z], changed] = [true, true];
        if (both && found[z] && !found[x]) [found[x], changed] = [true, true];
      }
    }
    return found;
  }

  links = (): [number, number][] => this.linked;
  ties = (): [number, number][] => this.tied;
}

class LiftCone implements Cone {
  readonly size: number;
  private readonly upper: Ratio | null;
  private readonly lower: Ratio | null;
  private readonly zeroBudget: boolean;
  /** The prior as integers over one denominator. */
  private readonly masses: bigint[];
  private readonly whole: bigint;

  constructor(problem: Problem) {
    const prior = priorOf(problem);
    const { upper, lower } = liftLimits(problem.privacy);
    this.size = prior.length;
    this.upper = upper && expLower(upper);
    this.lower = lower && expLower(lower);
    this.zeroBudget = upper?.n === 0n || lower?.n === 0n;
    this.whole = prior.reduce((all, { d }) => (all * d) / gcd(all, d), 1n);
    this.masses = prior.map(({ n, d }) => (n * this.whole) / d);
  }

  private mean(column: bigint[]): bigint {
    return column.reduce((sum, q, x) => sum + this.masses[x] * q, 0n);
  }

  violation(column: bigint[]): Broken | null {
    const mean = this.mean(column);
    for (let x = 0; x < this.size; x++) {
      const q = column[x];
      if (this.upper && q * this.whole * this.upper.d > this.upper.n * mean) {
        return { x, z: null };
      }
      if (this.lower && mean * this.lower.d > this.lower.n * q * this.whole) {
        return { x, z: null };
      }
    }
    return null;
  }

  raised = (columns: Columns): Columns => columns;

  raiseNeeded(column: bigint[], direction: bigint[]): bigint | null {
    let [raised, total] = [column, 0n];
    for (let round = 0; round < 64; round++) {
      const needed = this.raiseOnce(raised, direction);
      if (!needed) return needed === null ? null : total;
      total += needed;
      raised = raised.map((q, x) => q + needed * direction[x]);
    }
    return null;
  }

  private raiseOnce(column: bigint[], direction: bigint[]): bigint | null {
    const [mean, drift] = [this.mean(column), this.mean(direction)];
    let needed = 0n;
    for (const [limit, upper] of [[this.upper, true], [this.lower, false]] as const) {
      if (!limit) continue;
      for (let x = 0; x < this.size; x++) {
        const [q, d] = [column[x], direction[x]];
        const lack = upper
          ? q * limit.d * this.whole - limit.n * mean
          : mean * limit.d - limit.n * q * this.whole;
        const gain = upper
          ? limit.n * drift - d * limit.d * this.whole
          : d * limit.n * this.whole - drift * limit.d;
        if (lack <= 0n) continue;
        if (gain <= 0n) return null;
        const step = ceilDivide(lack, gain);
        if (step > needed) needed = step;
      }
    }
    return needed;
  }

  support(positive: boolean[]): boolean[] {
    return this.lower && positive.some(Boolean) ? positive.map(() => true) : positive;
  }

  private star(joined: boolean): [number, number][] {
    return joined ? this.masses.slice(1).map((_, x) => [0, x + 1]) : [];
  }

  links = (): [number, number][] => this.star(Boolean(this.upper || this.lower));
  ties = (): [number, number][] => this.star(this.zeroBudget);
}

export function coneOf(problem: Problem): Cone {
  return exponentsOf(problem) ? new PairCone(problem) : new LiftCone(problem);
}

/** The classes that pairs join, numbered from 0 in the order of their first members. */
export function classesOf(size: number, pairs: [number, number][]): number[] {
  const parent = Array.from({ length: size }, (_, x) => x);
  const root = (x: number): number => (parent[x] === x ? x : (parent[x] = root(parent[x])));
  for (const [a, b] of pairs) {
    const [low, high] = [root(a), root(b)].sort((p, q) => p - q);
    parent[high] = low;
  }
  const numbers = new Map<number, number>();
  return parent.map((_, x) => {
    const r = root(x);
    if (!numbers.has(r)) numbers.set(r, numbers.size);
    return numbers.get(r)!;
  });
}

/** Whether a column satisfies a notion, and every column of a channel. */
export const allHold = (cone: Cone, columns: Columns): boolean =>
  columns.every((column) => cone.violation(column) === null);

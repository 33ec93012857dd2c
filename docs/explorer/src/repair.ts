/**
 * From a solver's floats to integers over 2**62 that satisfy every row exactly: a port of
 * `mechdesign/repair.py`, whose docstring has the reason for each step. Sums of floats are taken in
 * the same order, so that the integers are those of the library.
 */

import { type Columns, type Cone, BITS, WHOLE, allHold, classesOf } from "./cone.ts";

const EMPTY = 1e-10;
const LARGEST = 1e100;
const NOISE = 1e-11;
const FIRST_CUT = 1n << 10n;
const SMALL_SHARE = 1e-3;
const SMALL_ENTRY = 1e-6;
const BALANCE_ROUNDS = 6;
const MOST_MOVED = 1n << 20n;

const sum = (values: number[]): number => values.reduce((total, v) => total + v, 0);

/** The sum as NumPy takes it along memory, for up to 128 numbers: eight partial sums. */
function sumInEights(values: number[]): number {
  const full = values.length - (values.length % 8);
  if (!full) return sum(values);
  const r = values.slice(0, 8);
  for (let i = 8; i < full; i++) r[i % 8] += values[i];
  const eights = r[0] + r[1] + (r[2] + r[3]) + (r[4] + r[5] + (r[6] + r[7]));
  return values.slice(full).reduce((total, v) => total + v, eights);
}
const magnitude = (v: bigint): bigint => (v < 0n ? -v : v);
const largestPlace = <T>(values: T[]): number =>
  values.reduce((best, v, n) => (v > values[best] ? n : best), 0);

export interface Repaired {
  /** Columns of integers; rows sum to 2**62. */
  columns: Columns;
  /** Which columns of the matrix they are. */
  kept: number[];
}

/** An exactly private channel next to a nearly private one, given as `matrix[x][y]`. */
export function repair(cone: Cone, matrix: number[][]): Repaired {
  const classes = classesOf(cone.size, cone.ties());
  const cleaned = averaged(clean(cone, matrix), classes); // by column
  let kept = cleaned.flatMap((column, y) => (Math.max(...column) > EMPTY ? [y] : []));
  if (!kept.length) kept = [0];
  let Q = kept.map((y) => [...cleaned[y]]);
  if (rowTotals(Q).some((total) => total === 0)) {
    const shared = Q.map(sumInEights);
    const any = shared.some((total) => total !== 0);
    Q = shared.map((total) => Array<number>(cone.size).fill(total + (any ? 0 : 1)));
  }
  const totals = rowTotals(Q);
  Q = Q.map((column) => column.map((q, x) => q / totals[x]));
  const component = classesOf(cone.size, cone.links());
  const rounded = Q.map((column) => column.map((q) => BigInt(Math.floor(q * 2 ** 62))));
  const least = Math.min(...Q.flat());
  for (let cut = 0n; cut < WHOLE; ) {
    const columns = raised(cone, reduced(rounded, cut), classes);
    if (cut === 0n && least < SMALL_ENTRY) {
      const found = balanced(cone, columns, classes);
      if (found) return { columns: found, kept };
    }
    const lack = lackOf(columns);
    const worst = lack.reduce((a, b) => (b < a ? b : a));
    if (worst >= 0n) {
      const whole = normalized(columns, lack, component, Q);
      if (allHold(cone, whole)) return { columns: whole, kept };
    }
    const asked = [cut - 2n * worst, 4n * cut, worst >= 0n ? FIRST_CUT : 1n];
    cut = asked.reduce((a, b) => (b > a ? b : a));
  }
  return { columns: constant(Q), kept };
}

const rowTotals = (Q: number[][]): number[] => Q[0].map((_, x) => sum(Q.map((column) => column[x])));

function reduced(columns: Columns, cut: bigint): Columns {
  if (cut === 0n) return columns;
  return columns.map((column) => column.map((q) => q - ((q * cut + WHOLE - 1n) >> BITS)));
}

const lackOf = (columns: Columns): bigint[] =>
  columns[0].map((_, x) => columns.reduce((left, column) => left - column[x], WHOLE));

/** Add what each row lacks to its largest entry; null if that does not work. */
function balanced(cone: Cone, columns: Columns, classes: number[]): Columns | null {
  let trial = columns;
  for (let round = 0; round < BALANCE_ROUNDS; round++) {
    const lack = lackOf(trial);
    if (lack.every((v) => v === 0n)) {
      const near = trial.every((column, y) =>
        column.every((q, x) => magnitude(q - columns[y][x]) <= MOST_MOVED),
      );
      return near && allHold(cone, trial) ? trial : null;
    }
    if (lack.some((v) => magnitude(v) > MOST_MOVED)) return null;
    trial = trial.map((column) => [...column]);
    for (let x = 0; x < cone.size; x++) {
      const y = largestPlace(trial.map((column) => column[x]));
      const filled = trial[y][x] + lack[x];
      trial[y][x] = filled > 0n ? filled : 0n;
    }
    trial = raised(cone, trial, classes);
  }
  return null;
}

/** Columns, with zeros for what is negative, and for noise where the column may be zero. */
function clean(cone: Cone, matrix: number[][]): number[][] {
  return matrix[0].map((_, y) => {
    const column = matrix.map((row) =>
      Number.isFinite(row[y]) ? Math.min(Math.max(row[y], 0), LARGEST) : 0,
    );
    const support = cone.support(column.map((q) => q > NOISE));
    return column.map((q, x) => (support[x] ? q : 0));
  });
}

function averaged(columns: number[][], classes: number[]): number[][] {
  const size = Math.max(...classes) + 1;
  if (size === classes.length) return columns;
  return columns.map((column) => {
    const [totals, counts] = [Array<number>(size).fill(0), Array<number>(size).fill(0)];
    column.forEach((q, x) => {
      totals[classes[x]] += q;
      counts[classes[x]]++;
    });
    return column.map((_, x) => totals[classes[x]] / counts[classes[x]]);
  });
}

/** Raise columns until they satisfy their rows; where that fails, as far as it was possible. */
function raised(cone: Cone, given: Columns, classes: number[]): Columns {
  let columns = given;
  const alone = Math.max(...classes) + 1 === classes.length;
  for (let round = 0; round < (alone ? 1 : cone.size + 2); round++) {
    const before = columns;
    columns = tied(cone.raised(columns), classes);
    if (columns.every((column, y) => column.every((q, x) => q === before[y][x]))) break;
  }
  return columns.map((column) => {
    if (cone.violation(column) === null) return column;
    return lifted(cone, column).map((q) => (q < WHOLE ? q : WHOLE));
  });
}

/** Raise the entries of each class to the largest of them. */
function tied(columns: Columns, classes: number[]): Columns {
  const size = Math.max(...classes) + 1;
  if (size === classes.length) return columns;
  return columns.map((column) => {
    const most = Array<bigint>(size).fill(0n);
    column.forEach((q, x) => {
      if (q > most[classes[x]]) most[classes[x]] = q;
    });
    return column.map((_, x) => most[classes[x]]);
  });
}

/** Raise a column by a constant, if that satisfies its rows, and scale it to its former size. */
function lifted(cone: Cone, column: bigint[]): bigint[] {
  const first = plusConstant(cone, column);
  if (first.step <= 0n || first.step >= WHOLE) return first.column;
  const total = (values: bigint[]): bigint => values.reduce((a, b) => a + b, 0n);
  const [size, grown] = [total(column), total(first.column)];
  return plusConstant(cone, first.column.map((q) => (q * size) / grown)).column;
}

/** Add the least constant, on the support or else everywhere, with which all rows hold. */
function plusConstant(cone: Cone, column: bigint[]): { column: bigint[]; step: bigint } {
  for (const direction of [column.map((q) => (q > 0n ? 1n : 0n)), column.map(() => 1n)]) {
    const step = cone.raiseNeeded(column, direction);
    if (!step) continue;
    const higher = column.map((q, x) => q + step * direction[x]);
    if (cone.violation(higher) === null) return { column: higher, step };
  }
  return { column, step: 0n };
}

/** Add what each row lacks, in one proportion for all inputs of a component, so that zeros stay. */
function normalized(given: Columns, lack: bigint[], component: number[], Q: number[][]): Columns {
  const columns = given.map((column) => [...column]);
  for (let number = 0; number <= Math.max(...component); number++) {
    const inputs = component.flatMap((c, x) => (c === number ? [x] : []));
    const positive = columns.map((column) => inputs.filter((x) => column[x] > 0n).length);
    const most = Math.max(...positive);
    let weight = Q.map((column, y) =>
      positive[y] === most ? sum(inputs.map((x) => column[x])) / inputs.length : 0,
    );
    const largest = Math.max(...weight);
    weight = weight.map((w) => (w >= SMALL_SHARE * largest ? w : 0));
    const all = sumInEights(weight);
    const shares = weight.map((w) => BigInt(Math.floor((w / all) * 2 ** 62)));
    const first = largestPlace(weight);
    for (const x of inputs) {
      let left = lack[x];
      shares.forEach((share, y) => {
        const part = (lack[x] * share) >> BITS;
        columns[y][x] += part;
        left -= part;
      });
      columns[first][x] += left;
    }
  }
  return columns;
}

/** The channel whose rows are all the mean row. */
function constant(Q: number[][]): Columns {
  const size = Q[0].length;
  const shares = Q.map((column) => BigInt(Math.floor((sumInEights(column) / size) * 2 ** 52)));
  const total = shares.reduce((a, b) => a + b, 0n);
  const row = shares.map((share) => (WHOLE * share) / total);
  row[largestPlace(row)] += WHOLE - row.reduce((a, b) => a + b, 0n);
  return row.map((entry) => Array<bigint>(size).fill(entry));
}

/** Linear programs, sparse, and their solution by HiGHS. */

import loadHighs, { type Highs } from "highs";

export type Term = readonly [variable: number, coefficient: number];

/** A program: minimize cost . v over v >= 0 (or free) under rows lower <= row . v <= upper. */
export class Program {
  readonly costs: number[] = [];
  readonly lowers: number[] = [];
  private readonly rows: { terms: Term[]; lower: number; upper: number }[] = [];

  variable(cost: number, lower = 0): number {
    this.lowers.push(lower);
    return this.costs.push(cost) - 1;
  }

  /** Add a row and return its number. */
  row(terms: Term[], lower: number, upper: number): number {
    return this.rows.push({ terms, lower, upper }) - 1;
  }

  solve(highs: Highs): { primal: Float64Array; dual: Float64Array } {
    const starts = [0];
    const [indices, values]: [number[], number[]] = [[], []];
    for (const { terms } of this.rows) {
      for (const [variable, coefficient] of terms) {
        indices.push(variable);
        values.push(coefficient);
      }
      starts.push(indices.length);
    }
    const [numRows, numCols] = [this.rows.length, this.costs.length];
    const model = highs.createModel({
      numCols,
      numRows,
      colCost: this.costs,
      colLower: this.lowers,
      colUpper: Array<number>(numCols).fill(highs.infinity),
      rowLower: this.rows.map((row) => (row.lower === -Infinity ? -highs.infinity : row.lower)),
      rowUpper: this.rows.map((row) => (row.upper === Infinity ? highs.infinity : row.upper)),
      matrix: { format: "csr", numRows, numCols, starts, indices, values },
    });
    try {
      model.options.set({
        output_flag: false,
        primal_feasibility_tolerance: 1e-10,
        dual_feasibility_tolerance: 1e-10,
        small_matrix_value: 1e-12,
      });
      model.run();
      const status = model.getModelStatus();
      if (status !== highs.constants.modelStatus.optimal) {
        throw new Error(`the solver ended with status ${status}`);
      }
      const { colValue, rowDual } = model.getSolution();
      return { primal: colValue, dual: rowDual };
    } finally {
      model.dispose();
    }
  }
}

let loaded: Promise<Highs> | null = null;

/** HiGHS, loaded when it is first asked for. */
export const highs = (): Promise<Highs> => (loaded ??= loadHighs());

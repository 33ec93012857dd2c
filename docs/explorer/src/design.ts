/**
 * The best channel for a problem, with the dual variables that prove how good it is.
 *
 * Losses that are linear in the channel are one linear program; sums of gains are one over the
 * extreme rays of the cone. What comes out is floats: `repair` makes it exact, and the checker
 * proves it.
 */

import { type Columns, WHOLE, coneOf } from "./cone.ts";
import { ratio, ratioText, toNumber } from "./exact.ts";
import { exactValue, gainOf, offsetOf, surelySafe } from "./gains.ts";
import {
  type Label, type Problem, LOSSES, RISKS, exponentsOf, labelsOf, lossTable, nearPairs, priorOf,
} from "./problem.ts";
import { type Term, Program, highs } from "./program.ts";
import { liftEnds, oneBudget, raysOf } from "./rays.ts";
import { repair } from "./repair.ts";
import { bestRisk, solved } from "./risk.ts";
import { Orbits, symmetriesOf } from "./symmetry.ts";

/** A certificate of the library, in the kinds that this page uses: see `mechdesign/kernel/certificate.py`. */
export interface Certificate {
  relaxations?: (
    | { kind: "average"; weights: number[] }
    | { kind: "estimator"; vectors: number[][]; tangents?: number[] })[];
  linearization: { kind: "costs" | "gain" };
  multipliers?: { of: "cone"; place: number; node: number[]; x: number[]; other: number[]; weight: number[] }[];
  /** Floats, or exact text. */
  prices?: (number | string)[];
  oracle:
    | { kind: "orthant" | "knapsack" }
    | { kind: "one-budget"; blocks: number[][] }
    | { kind: "rays"; source: { kind: "double-description" } | { kind: "subsets"; blocks: number[][] } };
}

export interface Answer {
  columns: Columns;
  outputs: Label[];
  value: number;
  bound: number;
  certificate: Certificate;
}

/** What a bound is off by at most, for the rounding of the floats here, relative to what it sums. */
const ROUNDING = 3e-14;
/** More than what the checker rounds exact prices by, over 2**192. */
const TINY = 1e-50;

export async function design(problem: Problem): Promise<Answer> {
  const isLoss = LOSSES.includes(problem.utility.objective);
  const found = isLoss ? await bestForLoss(problem) : await bestForGain(problem);
  const { columns: repaired, kept } = repair(coneOf(problem), found.matrix);
  const columns = problem.outputs ? repaired : inOrder(repaired);
  const outputs = problem.outputs ? kept.map((y) => problem.outputs![y]) : kept.map((_, y) => y);
  const { bound, certificate } = found;
  return { columns, outputs, value: valueOf(problem, columns, outputs), bound, certificate };
}

/** Columns in the order of the inputs that they favor, so that a report keeps its number while the budget moves. */
function inOrder(columns: Columns): Columns {
  const shares = columns.map((column) => {
    const numbers = column.map((entry) => toNumber(ratio(entry, WHOLE)));
    const sum = numbers.reduce((a, b) => a + b, 0);
    return numbers.map((number) => Math.round((1e6 * number) / sum)); // rounding errors change no order
  });
  const first = (y: number, z: number): number => {
    const x = shares[y].findIndex((share, n) => share !== shares[z][n]);
    return x < 0 ? 0 : shares[z][x] - shares[y][x];
  };
  return columns.map((_, y) => y).sort(first).map((y) => columns[y]);
}

/** The objective at exact columns. */
export function valueOf(problem: Problem, columns: Columns, outputs: Label[]): number {
  if (!LOSSES.includes(problem.utility.objective)) return exactValue(problem, columns);
  const losses = lossTable({ ...problem, outputs: problem.outputs ?? labelsOf(problem.domain) });
  const place = placesOf(problem, outputs);
  const prior = priorOf(problem).map(toNumber);
  const each = prior.map((_, x) =>
    columns.reduce((total, q, y) => total + losses[x][place[y]] * toNumber(ratio(q[x], WHOLE)), 0),
  );
  if (problem.utility.worst_case) return Math.max(...each);
  return each.reduce((total, loss, x) => total + prior[x] * loss, 0);
}

function placesOf(problem: Problem, outputs: Label[]): number[] {
  const keys = (problem.outputs ?? labelsOf(problem.domain)).map((l) => JSON.stringify(l));
  return outputs.map((label) => keys.indexOf(JSON.stringify(label)));
}

interface Raw {
  matrix: number[][];
  bound: number;
  certificate: Certificate;
}

// --- losses ---------------------------------------------------------------------------------

/** The entries of a channel as sums of nonnegative variables, with the rows that a notion asks for. */
class Entries {
  /** Q[x, y] as terms of the program. */
  readonly terms: Term[][][];
  /** Rows on ratios, each with its output and pair, for their multipliers. */
  readonly ratios: { row: number; y: number; x: number; z: number }[] = [];

  constructor(problem: Problem, program: Program, outputs: number, orbits: Orbits) {
    this.terms = problem.prior.map(() => Array<Term[]>(outputs));
    problem.prior.forEach((_, x) => {
      for (let y = 0; y < outputs; y++) {
        if (this.terms[x][y]) continue;
        const variable = program.variable(0);
        for (const [a, b] of orbits.members(x, y)) this.terms[a][b] = [[variable, 1]];
      }
    });
    const budget = oneBudget(problem);
    const ends = liftEnds(problem);
    if (budget) this.addBlocks(program, budget.blocks, Math.exp(budget.epsilon), outputs);
    else if (ends) this.addLifts(program, priorOf(problem).map(toNumber), ends, outputs);
    else this.addPairs(program, problem, outputs, orbits);
  }

  /** q_x = t + s_x with t the least entry of the block, and s_x <= (e**eps - 1) t if x is protected. */
  private addBlocks(
    program: Program, blocks: { inputs: number[]; protected: number[] }[], high: number, outputs: number,
  ): void {
    for (const block of blocks) {
      for (let y = 0; y < outputs; y++) {
        const least = program.variable(0);
        for (const x of block.protected) {
          program.row([[this.terms[x][y][0][0], 1], [least, 1 - high]], -Infinity, 0);
        }
        for (const x of block.inputs) this.terms[x][y].push([least, 1]);
      }
    }
  }

  /** q_x = low l + s_x with l = P . q, and s_x <= (high - low) l. */
  private addLifts(
    program: Program, prior: number[], { low, high }: { low: number; high: number }, outputs: number,
  ): void {
    for (let y = 0; y < outputs; y++) {
      const probability = program.variable(0);
      const rises: Term[] = prior.map((p, x) => [this.terms[x][y][0][0], p]);
      program.row([...rises, [probability, low - 1]], 0, 0);
      prior.forEach((_, x) => {
        if (high < Infinity) {
          program.row([[this.terms[x][y][0][0], 1], [probability, low - high]], -Infinity, 0);
        }
        if (low > 0) this.terms[x][y].push([probability, low]);
      });
    }
  }

  /** e**-a q_x <= q_z for the pairs that no two others imply. */
  private addPairs(program: Program, problem: Problem, outputs: number, orbits: Orbits): void {
    const exponents = exponentsOf(problem)!.map((row) => row.map((e) => (e ? toNumber(e) : Infinity)));
    const near = nearPairs(problem);
    const size = exponents.length;
    const inputs = Array.from({ length: size }, (_, x) => x);
    for (const x of inputs) {
      for (const z of inputs) {
        const E = exponents[x][z];
        if (x === z || E === Infinity || !near[x][z]) continue;
        const implied = inputs.some(
          (w) => w !== x && w !== z && exponents[x][w] > 0 && exponents[w][z] > 0
            && exponents[x][w] + exponents[w][z] <= E,
        );
        if (implied) continue;
        for (let y = 0; y < outputs; y++) {
          const [raised, other] = [this.terms[x][y][0][0], this.terms[z][y][0][0]];
          if (raised === other || !orbits.leads(x, z, y)) continue;
          const row = program.row([[raised, Math.exp(-E)], [other, -1]], -Infinity, 0);
          this.ratios.push({ row, y, x, z });
        }
      }
    }
  }
}

async function bestForLoss(problem: Problem): Promise<Raw> {
  const losses = lossTable(problem);
  const prior = priorOf(problem).map(toNumber);
  const outputs = losses[0].length;
  const program = new Program();
  const isPairs = !oneBudget(problem) && !liftEnds(problem);
  const most = Math.max(prior.length, outputs);
  const identity = Array.from({ length: most }, (_, x) => x);
  const orbits = new Orbits(isPairs ? symmetriesOf(problem, losses) : [identity], most);
  const entries = new Entries(problem, program, outputs, orbits);
  const leading = prior.map((_, x) => orbits.leads(x));
  const sums = prior.map((_, x) => (leading[x] ? program.row(merged(entries.terms[x].flat()), 1, 1) : -1));
  let worst: number[] | null = null;
  if (problem.utility.worst_case) {
    const largest = program.variable(1);
    worst = prior.map((_, x) => {
      if (!leading[x]) return -1;
      const terms = entries.terms[x].flatMap((q, y) => q.map(([v, c]): Term => [v, c * losses[x][y]]));
      return program.row([...merged(terms), [largest, -1]], -Infinity, 0);
    });
  } else {
    entries.terms.forEach((row, x) =>
      row.forEach((q, y) =>
        q.forEach(([v, c]) => {
          program.costs[v] += prior[x] * losses[x][y] * c;
        }),
      ),
    );
  }
  const { primal, dual } = program.solve(await highs());
  const matrix = entries.terms.map((row) =>
    row.map((q) => q.reduce((total, [v, c]) => total + c * primal[v], 0)),
  );
  const weights = worst && Array<number>(prior.length).fill(0);
  worst?.forEach((row, x) => {
    const members = orbits.members(x);
    if (row >= 0) for (const [z] of members) weights![z] = Math.max(0, -dual[row]) / members.length;
  });
  if (weights && !weights.some((w) => w > 0)) weights.fill(1); // nothing is lost: any mean proves it
  const total = weights?.reduce((a, b) => a + b, 0) ?? 1;
  const masses = weights ? weights.map((w) => w / total) : prior;
  const costs = losses.map((row, x) => row.map((loss) => masses[x] * loss));
  const relaxations = weights ? { relaxations: [{ kind: "average" as const, weights }] } : {};
  const linear = { ...relaxations, linearization: { kind: "costs" as const } };
  const budget = oneBudget(problem);
  const ends = liftEnds(problem);
  if (budget || ends) {
    const potential = sums.map((row) => dual[row] / total);
    const reduced = costs.map((row, x) => row.map((cost) => cost - potential[x]));
    const { least, size } = budget
      ? leastInBlocks(budget, reduced, potential)
      : leastOfLifts(prior, ends!, reduced, potential);
    const all = potential.reduce((sum, u) => sum + Math.abs(u), size);
    const bound = potential.reduce((sum, u) => sum + u, 0) + least - ROUNDING * all;
    if (bound <= 0) return { matrix, bound: 0, certificate: { ...linear, oracle: { kind: "orthant" } } };
    return { matrix, bound, certificate: { ...linear, prices: potential, oracle: linearOracle(problem) } };
  }
  const used = entries.ratios.flatMap(({ row, y, x, z }) => {
    if (!(dual[row] < 0)) return [];
    const members = orbits.members(x, z, y);
    const weight = -dual[row] / total / members.length;
    return members.map(([a, b, c]) => ({ x: a, z: b, y: c, weight }));
  });
  const exponents = exponentsOf(problem)!;
  for (const { y, x, z, weight } of used) {
    costs[x][y] += weight * Math.exp(-toNumber(exponents[x][z]!));
    costs[z][y] -= weight;
  }
  const least = costs.map((row) => Math.min(...row));
  const size = used.reduce((all, { weight }) => all + weight, Math.max(...costs.flat().map(Math.abs)));
  const multipliers = used.length
    ? [{
        of: "cone" as const,
        place: 0,
        node: used.map(({ y }) => y),
        x: used.map(({ x }) => x),
        other: used.map(({ z }) => z),
        weight: used.map(({ weight }) => weight),
      }]
    : [];
  const bound = least.reduce((a, b) => a + b, 0) - ROUNDING * size;
  if (bound <= 0) return { matrix, bound: 0, certificate: { ...linear, oracle: { kind: "orthant" } } }; // no loss is below 0
  return { matrix, bound, certificate: { ...linear, multipliers, oracle: { kind: "orthant" } } };
}

/** Terms with each variable once. */
function merged(terms: Term[]): Term[] {
  const found = new Map<number, number>();
  for (const [v, c] of terms) found.set(v, (found.get(v) ?? 0) + c);
  return [...found].filter(([, c]) => c !== 0);
}

/** A bound on the reduced costs of private columns, and the size of the numbers it is summed from. */
interface Least {
  least: number;
  size: number;
}

/** The least reduced cost, as the checker bounds it for one budget in blocks. */
function leastInBlocks(
  budget: NonNullable<ReturnType<typeof oneBudget>>, reduced: number[][], potential: number[],
): Least {
  const high = Math.exp(budget.epsilon);
  lowered(budget.unbounded, reduced, potential);
  let [least, size] = [0, 0];
  for (const block of budget.blocks) {
    let worst = 0;
    reduced[0].forEach((_, y) => {
      const all = block.inputs.reduce((sum, x) => sum + reduced[x][y], 0);
      const negative = block.protected.reduce((sum, x) => sum + Math.min(0, reduced[x][y]), 0);
      const whole = block.inputs.reduce((sum, x) => sum + Math.abs(reduced[x][y]), 0);
      worst = Math.min(worst, all + (high - 1) * negative);
      size = Math.max(size, whole - (high - 1) * negative);
    });
    least += worst;
  }
  return { least, size };
}

/** Lower the prices of inputs whose entries are unbounded, until no reduced cost is negative. */
function lowered(inputs: number[], reduced: number[][], potential: number[]): void {
  for (const x of inputs) {
    const least = Math.min(0, ...reduced[x]);
    potential[x] += least;
    reduced[x] = reduced[x].map((c) => c - least);
  }
}

/** The same for bounds on the lift: a fractional knapsack for each output. */
function leastOfLifts(
  prior: number[],
  { low, high }: { low: number; high: number },
  reduced: number[][],
  potential: number[],
): Least {
  const [never, likely] = [false, true].map((isLikely) =>
    prior.flatMap((p, x) => (p > 0 === isLikely ? [x] : [])));
  if (high === Infinity) lowered(never, reduced, potential);
  const room = 1 - low;
  let [least, size] = [Infinity, 0];
  reduced[0].forEach((_, y) => {
    const c = reduced.map((row) => row[y]);
    const rate = c.map((cost, x) => cost / prior[x]);
    const terms = c.map((cost) => low * cost);
    terms.push(...never.map((x) => (high < Infinity ? (high - low) * Math.min(0, c[x]) : 0)));
    let left = room;
    for (const x of [...likely].sort((a, b) => rate[a] - rate[b])) {
      const taken = Math.min(left, (high - low) * prior[x]);
      terms.push(taken * rate[x]);
      left -= taken;
      if (left <= 0) break;
    }
    least = Math.min(least, terms.reduce((sum, term) => sum + term, 0));
    size = Math.max(size, terms.reduce((sum, term) => sum + Math.abs(term), 0));
  });
  return { least, size };
}

// --- gains ----------------------------------------------------------------------------------

async function bestForGain(problem: Problem): Promise<Raw> {
  const rays = raysOf(problem);
  if (!rays) throw new Error("this page cannot list the extreme rays: too many, or too wide a budget. The library solves it");
  const risk = RISKS.includes(problem.utility.objective) ? await bestRisk(problem, rays) : null;
  const gain = risk ? risk.gain : gainOf(problem);
  const worth = rays.map(gain);
  const size = problem.prior.length;
  const simplicial = rays.length === size ? solved(transposed(rays), Array<number>(size).fill(1)) : null;
  let [mixture, potential]: [number[], number[]] = [[], []];
  if (simplicial && simplicial.every((weight) => weight >= 0)) {
    mixture = simplicial;
    potential = solved(rays, worth)!;
  } else {
    const program = new Program();
    worth.forEach((value) => program.variable(-value));
    const rows = problem.prior.map((_, x) => program.row(rays.map((ray, r): Term => [r, ray[x]]), 1, 1));
    const { primal, dual } = program.solve(await highs());
    mixture = [...primal];
    potential = rows.map((row) => -dual[row]);
  }
  if (risk) mixture = risk.mixture;
  const used = mixture.flatMap((weight, r) => (weight > (risk ? 1e-7 : 1e-12) ? [r] : []));
  const matrix = problem.prior.map((_, x) => used.map((r) => mixture[r] * rays[r][x]));
  const prior = priorOf(problem).map(toNumber);
  const surplus = rays.map((ray, r) => {
    const [cost, probability] = ray.reduce(
      ([c, p], v, x) => [c + potential[x] * v, p + prior[x] * v], [0, 0],
    );
    return (worth[r] - cost) / probability;
  });
  const scale = potential.reduce((all, u) => all + Math.abs(u), 1);
  const most = potential.reduce((a, b) => a + b, 0) + Math.max(...surplus) + ROUNDING * scale;
  const prices = potential.map((u) => -u);
  if (risk) {
    const { estimator, tangents, factor } = risk;
    const scaled = prices.map((u) => factor * u);
    const bound = risk.bound(risk.constant - most - ROUNDING * (risk.constant + scale));
    const relaxations = [{ kind: "estimator" as const, vectors: estimator, ...(tangents ? { tangents } : {}) }];
    return { matrix, bound, certificate: { relaxations, linearization: { kind: "gain" }, prices: scaled, oracle: raysOracle(problem) } };
  }
  const offset = offsetOf(problem);
  const bound = offset === null ? most : offset - most;
  if (offset !== null && bound <= 0) { // no error is below 0: exact prices, which the checker rounds
    const exact = surelySafe(problem).map((u) => `-${ratioText(u)}`);
    return { matrix, bound: -TINY, certificate: { linearization: { kind: "gain" }, prices: exact, oracle: raysOracle(problem) } };
  }
  if (problem.utility.objective === "bayes-accuracy") {
    return { matrix, bound, certificate: { linearization: { kind: "costs" }, prices, oracle: linearOracle(problem) } };
  }
  return { matrix, bound, certificate: { linearization: { kind: "gain" }, prices, oracle: raysOracle(problem) } };
}

const blocksOfBudget = (problem: Problem): number[][] | undefined =>
  oneBudget(problem)?.blocks.map((block) => block.inputs);

/** What makes prices safe for linear costs: a closed form where the notion has one. */
function linearOracle(problem: Problem): Certificate["oracle"] {
  const blocks = blocksOfBudget(problem);
  if (blocks) return { kind: "one-budget", blocks };
  return liftEnds(problem) ? { kind: "knapsack" } : raysOracle(problem);
}

/** What makes prices safe for convex gains: all extreme rays. */
function raysOracle(problem: Problem): Certificate["oracle"] {
  const blocks = blocksOfBudget(problem);
  return { kind: "rays", source: blocks ? { kind: "subsets", blocks } : { kind: "double-description" } };
}

const transposed = (rows: number[][]): number[][] => rows[0].map((_, x) => rows.map((row) => row[x]));

/** Randomized response under the same notion: the truth with the largest probability allowed. */
export function randomizedResponse(problem: Problem): { matrix: number[][]; truth: number; value: number } {
  const size = problem.prior.length;
  const odds = Math.min(...oddsOfTruth(problem)) / size; // truth / (1 - truth)
  const truth = odds === Infinity ? 1 : odds / (1 + odds);
  const other = BigInt(Math.floor(((1 - truth) / size) * 2 ** 62));
  const own = WHOLE - other * BigInt(size - 1);
  const columns = problem.prior.map((_, y) => problem.prior.map((_, x) => (x === y ? own : other)));
  const labels = labelsOf(problem.domain);
  const matrix = columns.map((column) => column.map((q) => toNumber(ratio(q, WHOLE))));
  const same = { ...problem, outputs: problem.outputs && withAll(problem.outputs, labels) };
  return { matrix, truth, value: sameOutputs(problem, labels) ? valueOf(same, columns, labels) : NaN };
}

/** What size truth / (1 - truth) may not exceed, of each row; the report is else any input. */
function oddsOfTruth(problem: Problem): number[] {
  const exponents = exponentsOf(problem);
  if (exponents) return exponents.flat().map((e) => (e ? Math.expm1(toNumber(e)) : Infinity));
  const { low, high } = liftEnds(problem)!;
  return priorOf(problem).map(toNumber).flatMap((p) => [
    high * p < 1 ? (high - 1) / (1 - high * p) : Infinity,
    low * p > 0 ? (1 - low) / (low * p) : Infinity,
  ]);
}

const withAll = (outputs: Label[], labels: Label[]): Label[] => {
  const known = new Set(outputs.map((l) => JSON.stringify(l)));
  return [...outputs, ...labels.filter((l) => !known.has(JSON.stringify(l)))];
};

/** Whether the inputs are among the outputs that a loss is stated for. */
function sameOutputs(problem: Problem, labels: Label[]): boolean {
  if (problem.utility.objective !== "distortion") return true;
  const known = new Set((problem.outputs ?? labels).map((l) => JSON.stringify(l)));
  return labels.every((l) => known.has(JSON.stringify(l)));
}

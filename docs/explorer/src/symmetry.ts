/**
 * Symmetries of a problem: reflections of a line, rotations and reflections of a grid.
 *
 * A permutation of the inputs, and of the outputs alike, that leaves bounds, prior and losses as
 * they are takes an optimum to an optimum. The mean of all of them is one that is constant on
 * orbits of entries, so that a program needs one variable for each orbit.
 */

import { type Problem, exponentsOf, labelsOf, pointsOf } from "./problem.ts";
import { compare } from "./exact.ts";

export type Permutation = number[];

/** Permutations of the inputs that may leave a problem as it is; the identity comes first. */
function candidates(problem: Problem): Permutation[] {
  const { domain } = problem;
  const labels = labelsOf(domain);
  const identity = labels.map((_, x) => x);
  if ("grid" in domain) {
    const { rows, columns } = domain.grid;
    const turns = rows === columns ? [false, true] : [false];
    return turns.flatMap((turned) =>
      [false, true].flatMap((down) =>
        [false, true].map((across) =>
          (labels as [number, number][]).map(([r, c]) => {
            const [s, d] = [down ? rows - 1 - r : r, across ? columns - 1 - c : c];
            return turned ? d * columns + s : s * columns + d;
          }),
        ),
      ),
    );
  }
  const points = pointsOf(domain);
  if (!points) return [identity];
  const order = [...identity].sort((a, b) => compare(points[a][0], points[b][0]));
  const reversed = identity.map((x) => order[identity.length - 1 - order.indexOf(x)]);
  return [identity, reversed];
}

/** The symmetries of a problem whose outputs are its inputs. */
export function symmetriesOf(problem: Problem, losses: number[][]): Permutation[] {
  const labels = labelsOf(problem.domain);
  const most = Math.max(labels.length, losses[0].length);
  const identity = Array.from({ length: most }, (_, x) => x);
  if (problem.outputs && JSON.stringify(problem.outputs) !== JSON.stringify(labels)) return [identity];
  const exponents = exponentsOf(problem);
  const key = exponents?.map((row) => row.map((e) => (e ? `${e.n}/${e.d}` : "")));
  return candidates(problem).filter((to) =>
    identity.every((x) =>
      problem.prior[x] === problem.prior[to[x]]
      && identity.every((z) =>
        losses[x][z] === losses[to[x]][to[z]] && (!key || key[x][z] === key[to[x]][to[z]])),
    ),
  );
}

/** The least member of an orbit, and its size, for tuples of inputs. */
export class Orbits {
  constructor(readonly group: Permutation[], private readonly size: number) {}

  private code = (tuple: number[]): number => tuple.reduce((code, x) => code * this.size + x, 0);

  /** All members of the orbit of a tuple, each once. */
  members(...tuple: number[]): number[][] {
    const found = new Map<number, number[]>();
    for (const to of this.group) {
      const image = tuple.map((x) => to[x]);
      found.set(this.code(image), image);
    }
    return [...found.values()];
  }

  /** Whether a tuple stands for its orbit. */
  leads(...tuple: number[]): boolean {
    const own = this.code(tuple);
    return this.group.every((to) => this.code(tuple.map((x) => to[x])) >= own);
  }
}

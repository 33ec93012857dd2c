/** The state of the page, and its encoding in the address. */

import { EXAMPLES } from "./examples.ts";
import type { Document } from "./certificate.ts";
import { type Domain, type Label, type Problem, type Utility, LIFT_NOTIONS, LOSSES, RATIO_NOTIONS, RISKS, GAINS, labelsOf, normalized, pointsOf } from "./problem.ts";

import { MOST_FOR_RISK } from "./risk.ts";

export const PARTS = ["design", "prove", "cone", "atlas", "collect"] as const;
export type Part = (typeof PARTS)[number];

export interface State {
  part: Part;
  problem: Problem;
}

export const MOST_INPUTS = 50;

/** The state in an address; null if there is none. */
export function stateOf(hash: string): State | null {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const part = PARTS.find((name) => name === words.get("part")) ?? "design";
  const given = words.get("problem");
  if (given === null) return words.has("part") ? { part, problem: EXAMPLES.survey.problem } : null;
  return { part, problem: checkedProblem(JSON.parse(given)) };
}

export function hashOf({ part, problem }: State): string {
  return `#part=${part}&problem=${encodeURIComponent(JSON.stringify(problem))}`;
}

/** A problem as the page holds it, from that of a saved file. */
export function problemOf(stated: Document, title: string): Problem {
  const { privacy, ...rest } = stated as unknown as Problem & { privacy: unknown };
  const notions = Array.isArray(privacy) ? privacy : [privacy];
  if (notions.length !== 1) throw new Error("this page designs for one notion, and the problem has several");
  return checkedProblem({ ...rest, title, privacy: notions[0] });
}

/** Refuse what the page cannot show; the exact checks are those of the checker. */
export function checkedProblem(given: unknown): Problem {
  const problem = given as Problem;
  const { domain } = problem;
  const count = "grid" in domain ? domain.grid.rows * domain.grid.columns : domain.values.length;
  if (!(count >= 1 && count <= MOST_INPUTS)) {
    throw new Error(`this page shows 1 to ${MOST_INPUTS} inputs, given ${count}`);
  }
  const size = labelsOf(problem.domain).length;
  if (problem.prior.length !== size) throw new Error("the prior has not one probability for each input");
  const { notion } = problem.privacy;
  if (![...RATIO_NOTIONS, ...LIFT_NOTIONS].includes(notion) || "secret" in problem.privacy) {
    throw new Error(`this page does not know the notion ${notion}, or not with these keys`);
  }
  const { objective, worst_case } = problem.utility;
  if (![...LOSSES, ...GAINS, ...RISKS].includes(objective)) {
    throw new Error(`this page does not design for ${objective}; the library does: mechdesign solve`);
  }
  if (RISKS.includes(objective) && (worst_case || count > MOST_FOR_RISK)) {
    throw new Error(`this page designs for ${objective} at the prior, on up to ${MOST_FOR_RISK} inputs; the library does more: mechdesign solve`);
  }
  return { ...problem, title: String(problem.title ?? ""), prior: normalized(problem.prior.map(String)) };
}

export interface Objective {
  key: string;
  label: string;
  utility: Utility;
}

/** The objectives that suit a domain. */
export function objectivesFor(domain: Domain): Objective[] {
  const labels = labelsOf(domain);
  const points = pointsOf(domain);
  const found: Objective[] = [];
  const add = (label: string, utility: Utility): void => {
    found.push({ key: JSON.stringify(utility), label, utility });
  };
  for (const worst_case of [false, true]) {
    const tail = worst_case ? ", worst case" : "";
    add(`Wrong report (Hamming)${tail}`, { objective: "hamming", worst_case });
    if (!points) continue;
    if ("values" in domain) add(`Absolute error${tail}`, { objective: "mean-absolute-error", worst_case });
    else add(`Euclidean distance${tail}`, { objective: "euclidean", worst_case });
    add(`Squared distance${tail}`, { objective: "mean-squared-distance", worst_case });
  }
  if (labels.length > 12) return found;
  if ("values" in domain && points) {
    add("Squared error of the posterior mean", {
      objective: "posterior-mean-squared-error", values: labels.map(String),
    });
  }
  if (!points) {
    add(`Squared error about “${labels[0]}”`, {
      objective: "posterior-mean-squared-error", values: labels.map((_, x) => (x === 0 ? "1" : "0")),
    });
  }
  add("Squared error of the whole posterior", { objective: "posterior-mean-squared-error", histogram: true });
  add("Information (maximized)", { objective: "mutual-information" });
  add("Best guess (maximized)", { objective: "bayes-accuracy" });
  if (labels.length > MOST_FOR_RISK) return found;
  add("Estimating shares, squared error (l2 risk)", { objective: "l2-risk" });
  add("Estimating shares, total variation (TV risk)", { objective: "tv-risk" });
  return found;
}

/** A problem with the outputs that its objective needs: the inputs, or those the optimizer chooses. */
export function withUtility(problem: Problem, utility: Utility): Problem {
  const outputs: Label[] | null = LOSSES.includes(utility.objective) ? labelsOf(problem.domain) : null;
  return { ...problem, utility, outputs };
}

/** A problem on other inputs: what refers to the old ones is made anew. */
export function withDomain(problem: Problem, domain: Domain): Problem {
  const labels = labelsOf(domain);
  const prior = normalized(labels.map(() => "1"));
  const objectives = objectivesFor(domain);
  const same = objectives.find(({ utility }) => utility.objective === problem.utility.objective);
  const bare = { ...problem, title: "A problem of my own", domain, prior };
  return withUtility(withNotion(bare, problem.privacy.notion), (same ?? objectives[0]).utility);
}

/** A problem with another notion, at the same budget. */
export function withNotion(problem: Problem, notion: string): Problem {
  const labels = labelsOf(problem.domain);
  const old = problem.privacy;
  const epsilon = old.epsilon ?? (old.upper === "inf" ? old.lower : old.upper)
    ?? old.matrix?.flat().find((entry) => entry !== "inf" && entry !== "0") ?? "1";
  const half = labels.slice(0, Math.max(1, Math.floor(labels.length / 2)));
  const points = pointsOf(problem.domain);
  const own: Record<string, () => object> = {
    "high-low": () => ({ epsilon, sensitive: [labels[0]] }),
    block: () => ({ epsilon, blocks: [half, labels.slice(half.length)].filter((block) => block.length) }),
    metric: () => ({ epsilon, distance: points && points[0].length > 1 ? "euclidean" : "absolute" }),
    lift: () => ({ lower: epsilon, upper: epsilon }),
    "context-aware": () => ({
      matrix: labels.map((_, x) => labels.map((_, z) => (x === z ? "0" : epsilon))),
    }),
  };
  const fits = notion === "metric" && !points ? "ldp" : notion;
  return { ...problem, privacy: { notion: fits, ...(own[fits]?.() ?? { epsilon }) } };
}

/** The problems to begin with. */

import { type Problem, labelsOf, normalized } from "./problem.ts";

export const EXAMPLES: Record<string, { label: string; problem: Problem }> = {
  survey: {
    label: "Survey: a rare disease",
    problem: {
      title: "Survey of a rare disease",
      domain: { values: ["yes", "no"] },
      prior: ["0.1", "0.9"],
      privacy: { notion: "lip", epsilon: "1" },
      utility: { objective: "posterior-mean-squared-error", values: ["1", "0"] },
      outputs: null,
    },
  },
  grades: {
    label: "Four grades",
    problem: {
      title: "Four grades",
      domain: { values: [1, 2, 3, 4] },
      prior: ["0.1", "0.3", "0.4", "0.2"],
      privacy: { notion: "ldp", epsilon: "1" },
      utility: { objective: "mean-absolute-error", worst_case: false },
      outputs: [1, 2, 3, 4],
    },
  },
  line: {
    label: "A line of 15",
    problem: {
      title: "A number from 0 to 14",
      domain: { values: Array.from({ length: 15 }, (_, x) => x) },
      prior: normalized(Array.from({ length: 15 }, (_, x) => String(x < 8 ? x + 1 : 15 - x))),
      privacy: { notion: "metric", epsilon: "0.5", distance: "absolute" },
      utility: { objective: "mean-absolute-error", worst_case: false },
      outputs: Array.from({ length: 15 }, (_, x) => x),
    },
  },
  map: {
    label: "A map of 5 × 5 places",
    problem: {
      title: "A map of 5 x 5 places",
      domain: { grid: { rows: 5, columns: 5, spacing: "1" } },
      prior: Array.from({ length: 25 }, () => "0.04"),
      privacy: { notion: "metric", epsilon: "0.7", distance: "euclidean" },
      utility: { objective: "euclidean", worst_case: false },
      outputs: labelsOf({ grid: { rows: 5, columns: 5, spacing: "1" } }),
    },
  },
  three: {
    label: "Three answers",
    problem: {
      title: "Three answers",
      domain: { values: ["low", "middle", "high"] },
      prior: ["0.5", "0.3", "0.2"],
      privacy: { notion: "lip", epsilon: "0.7" },
      utility: { objective: "mutual-information" },
      outputs: null,
    },
  },
  shares: {
    label: "Shares of four colors",
    problem: {
      title: "Shares of four colors",
      domain: { values: ["red", "green", "blue", "black"] },
      prior: ["0.4", "0.3", "0.2", "0.1"],
      privacy: { notion: "ldp", epsilon: "0.5" },
      utility: { objective: "l2-risk" },
      outputs: null,
    },
  },
};

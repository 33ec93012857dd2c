/** A problem as a TOML file that `mechdesign solve` runs. */

import type { Problem } from "./problem.ts";

const text = (value: string): string => JSON.stringify(value);
const label = (value: unknown): string =>
  typeof value === "string" ? text(value) : Array.isArray(value) ? `[${value.map(label).join(", ")}]` : String(value);
const list = (values: unknown[]): string => `[${values.map(label).join(", ")}]`;
/** Numbers as TOML has them: fractions only as text, which every number of a problem file may be. */
const number = (value: string): string =>
  value === "inf" ? "inf" : /^-?\d+(\.\d+)?$/.test(value) ? value : text(value);
/** Numbers, names, and lists of them; labels are written by `list`, which keeps text as text. */
const entry = (value: unknown): string =>
  Array.isArray(value) ? `[${value.map(entry).join(", ")}]` : typeof value === "string" ? number(value) : String(value);
const LABELS = ["sensitive", "blocks"];
const table = (given: object): string[] =>
  Object.entries(given).filter(([, value]) => value !== undefined && value !== false).map(([key, value]) =>
    `${key} = ${LABELS.includes(key) ? list(value) : entry(value)}`);

export function tomlOf(problem: Problem): string {
  const { domain, privacy, utility, outputs } = problem;
  const lines = [`title = ${text(problem.title)}`, "", "[domain]"];
  if ("grid" in domain) {
    const { rows, columns, spacing } = domain.grid;
    lines.push(`grid = { rows = ${rows}, columns = ${columns}, spacing = ${number(spacing)} }`);
  } else lines.push(`values = ${list(domain.values)}`);
  lines.push("", "[prior]", `probabilities = [${problem.prior.map(number).join(", ")}]`);
  lines.push("", "[privacy]", ...table(privacy), "", "[utility]", ...table(utility));
  const own = "values" in domain ? domain.values : null;
  const chosen = outputs !== null && (own ? JSON.stringify(outputs) !== JSON.stringify(own) : false);
  if (outputs && chosen) lines.push("", "[outputs]", `values = ${list(outputs)}`);
  return `${lines.join("\n")}\n`;
}

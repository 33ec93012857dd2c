/** A problem as a TOML file that `mechdesign solve` runs. */

import type { Problem } from "./problem.ts";

const text = (value: string): string => JSON.stringify(value);
const label = (value: unknown): string =>
  typeof value === "string" ? text(value) : Array.isArray(value) ? `[${value.map(label).join(", ")}]` : String(value);
const list = (values: unknown[]): string => `[${values.map(label).join(", ")}]`;
/** Numbers as TOML has them: fractions only as text, which every number of a problem file may be. */
const number = (value: string): string =>
  value === "inf" ? "inf" : /^-?\d+(\.\d+)?$/.test(value) ? value : text(value);
const matrix = (rows: string[][]): string =>
  `[\n${rows.map((row) => `    [${row.map(number).join(", ")}],`).join("\n")}\n]`;

export function tomlOf(problem: Problem): string {
  const { domain, privacy, utility, outputs } = problem;
  const lines = [`title = ${text(problem.title)}`, "", "[domain]"];
  if ("grid" in domain) {
    const { rows, columns, spacing } = domain.grid;
    lines.push(`grid = { rows = ${rows}, columns = ${columns}, spacing = ${number(spacing)} }`);
  } else lines.push(`values = ${list(domain.values)}`);
  lines.push("", "[prior]", `probabilities = [${problem.prior.map(number).join(", ")}]`);
  lines.push("", "[privacy]", `notion = ${text(privacy.notion)}`);
  for (const key of ["epsilon", "lower", "upper"] as const) {
    const value = privacy[key];
    if (value !== undefined) lines.push(`${key} = ${number(value)}`);
  }
  if (privacy.sensitive) lines.push(`sensitive = ${list(privacy.sensitive)}`);
  if (privacy.blocks) lines.push(`blocks = [${privacy.blocks.map(list).join(", ")}]`);
  if (privacy.block_rows !== undefined) {
    lines.push(`block_rows = ${privacy.block_rows}`, `block_columns = ${privacy.block_columns}`);
  }
  if (privacy.distance !== undefined) {
    const { distance } = privacy;
    lines.push(`distance = ${typeof distance === "string" ? text(distance) : matrix(distance)}`);
  }
  if (privacy.matrix) lines.push(`matrix = ${matrix(privacy.matrix)}`);
  lines.push("", "[utility]", `objective = ${text(utility.objective)}`);
  if (utility.worst_case) lines.push("worst_case = true");
  if (utility.histogram) lines.push("histogram = true");
  if (utility.values) lines.push(`values = [${utility.values.map(number).join(", ")}]`);
  if (utility.matrix) lines.push(`matrix = ${matrix(utility.matrix)}`);
  const own = "values" in domain ? domain.values : null;
  const chosen = outputs !== null && (own ? JSON.stringify(outputs) !== JSON.stringify(own) : false);
  if (outputs && chosen) lines.push("", "[outputs]", `values = ${list(outputs)}`);
  return `${lines.join("\n")}\n`;
}

/** What the tests run in Node: reads tasks as JSON from standard input, and writes the results. */

import { documentOf } from "./certificate.ts";
import { coneOf } from "./cone.ts";
import { design, randomizedResponse } from "./design.ts";
import { expLower, parseRatio, ratioText, rootLower } from "./exact.ts";
import { type Problem } from "./problem.ts";
import { repair } from "./repair.ts";
import { tomlOf } from "./toml.ts";

declare const process: {
  stdin: AsyncIterable<string>;
  stdout: { write(text: string): void };
};

interface Task {
  kind: string;
  problem: Problem;
  matrix: number[][];
  text: string;
}

async function perform(task: Task): Promise<unknown> {
  if (task.kind === "repair") {
    const { columns, kept } = repair(coneOf(task.problem), task.matrix);
    return { numerators: columns[0].map((_, x) => columns.map((q) => String(q[x]))), kept };
  }
  if (task.kind === "design") {
    const start = performance.now();
    const answer = await design(task.problem);
    const milliseconds = performance.now() - start;
    return { document: await documentOf(task.problem, answer), milliseconds };
  }
  if (task.kind === "randomized-response") return randomizedResponse(task.problem);
  if (task.kind === "toml") return tomlOf(task.problem);
  if (task.kind === "exponential") return ratioText(expLower(parseRatio(task.text)));
  if (task.kind === "root") return ratioText(rootLower(parseRatio(task.text)));
  throw new Error(`no task ${task.kind}`);
}

let text = "";
for await (const part of process.stdin) text += part;
const results: unknown[] = [];
for (const task of JSON.parse(text) as Task[]) {
  try {
    results.push(await perform(task));
  } catch (error) {
    results.push({ error: String(error) });
  }
}
process.stdout.write(JSON.stringify(results));

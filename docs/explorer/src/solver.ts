/** The worker that designs channels. */

import { design } from "./design.ts";
import type { Problem } from "./problem.ts";

self.onmessage = async ({ data }: MessageEvent<{ id: number; problem: Problem }>) => {
  try {
    self.postMessage({ id: data.id, result: await design(data.problem) });
  } catch (error) {
    self.postMessage({ id: data.id, error: error instanceof Error ? error.message : String(error) });
  }
};

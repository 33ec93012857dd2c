/** The two workers: one solves, one runs the checker of the library. Both load when first asked. */

import type { Answer } from "./design.ts";
import type { Problem } from "./problem.ts";

export class Cancelled extends Error {}

interface Waiting {
  resolve: (value: never) => void;
  reject: (reason: Error) => void;
}

/** A worker that answers one message at a time, and can be ended in the middle of one. */
class Client {
  private worker: Worker | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private count = 0;

  constructor(private readonly script: string) {}

  ask<T>(message: object): Promise<T> {
    const worker = (this.worker ??= this.start());
    const id = ++this.count;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (value: never) => void, reject });
      worker.postMessage({ id, ...message });
    });
  }

  /** End the worker; what is asked next starts another. */
  cancel(): void {
    this.worker?.terminate();
    this.worker = null;
    for (const { reject } of this.waiting.values()) reject(new Cancelled("cancelled"));
    this.waiting.clear();
  }

  private start(): Worker {
    const worker = new Worker(new URL(this.script, import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<{ id: number; result?: never; error?: string }>) => {
      const waiting = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.error === undefined) waiting?.resolve(data.result as never);
      else waiting?.reject(new Error(data.error));
    };
    worker.onerror = (event) => {
      for (const { reject } of this.waiting.values()) reject(new Error(event.message || "the worker failed to start"));
      this.waiting.clear();
    };
    return worker;
  }
}

const solver = new Client("./solver.js");
const checker = new Client("./checker.js");

export const solve = (problem: Problem): Promise<Answer> => solver.ask<Answer>({ problem });
export const cancelSolve = (): void => solver.cancel();

export interface Verdict {
  verified: boolean;
  /** The lines of the checker, or why it refuses. */
  lines: string[];
}

/** The result of the library's checker for a document. */
export const verify = (text: string): Promise<Verdict> => checker.ask<Verdict>({ text });

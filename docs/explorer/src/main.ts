/** The page: five parts, one problem, and the address that encodes both. */

import { openAtlas } from "./atlas_part.ts";
import { openCollect } from "./collect_part.ts";
import { openCone } from "./cone_part.ts";
import type { Answer } from "./design.ts";
import { type Page, drawAnswer, drawForm, fillCurve } from "./design_part.ts";
import { byId } from "./dom.ts";
import { EXAMPLES } from "./examples.ts";
import type { Problem } from "./problem.ts";
import { openFile, openProof, showsFile } from "./prove_part.ts";
import { type Part, type State, PARTS, hashOf, problemOf, stateOf } from "./state.ts";
import { Cancelled, cancelSolve, solve } from "./workers.ts";

/** A spinner is shown, and a way out, for designs that take longer than this. */
const SPINNER_AFTER = 300;
/** A design that is replaced is ended if it runs for longer than this already. */
const ENDED_AFTER = 600;

let state: State = { part: "design", problem: EXAMPLES.survey.problem };
let answer: Answer | null = null;
/** The problem that is being solved, with the time at which that began. */
let running: { problem: Problem; since: number } | null = null;
let curveTimer: ReturnType<typeof setTimeout> | undefined;

const page: Page = {
  problem: () => state.problem,
  answer: () => answer,
  update: (problem, what) => {
    state = { ...state, problem };
    if (what === "all") drawForm(page);
    remember();
    void redesign();
  },
  open: (part) => open(part),
};

function remember(): void {
  history.replaceState(null, "", hashOf(state));
}

/** Design for the problem shown; the latest one, however often it changes meanwhile. */
async function redesign(): Promise<void> {
  const asked = performance.now();
  clearTimeout(curveTimer);
  if (running) {
    if (asked - running.since < ENDED_AFTER) return; // it goes on with the latest when it is done
    cancelSolve();
  }
  const mine = (running = { problem: state.problem, since: asked });
  const spinner = setTimeout(() => byId("spinner").removeAttribute("hidden"), SPINNER_AFTER);
  try {
    const found = await solve(mine.problem);
    if (running !== mine) return;
    running = null;
    if (mine.problem !== state.problem) return void redesign();
    answer = found;
    byId("status").textContent = "";
    drawAnswer(page);
    document.body.dataset.turn = String(Math.round(performance.now() - asked));
    document.body.dataset.value = String(found.value);
    document.body.dataset.bound = String(found.bound);
    if (!(state.part === "prove" && showsFile())) refreshPart();
    curveTimer = setTimeout(() => void fillCurve(page), 150);
  } catch (error) {
    if (running !== mine) return;
    running = null;
    if (!(error instanceof Cancelled)) {
      byId("status").textContent = `No design: ${(error as Error).message}`;
      if (mine.problem !== state.problem) return void redesign();
    }
  } finally {
    clearTimeout(spinner);
    if (!running) byId("spinner").setAttribute("hidden", "");
  }
}

function cancel(): void {
  running = null;
  cancelSolve();
  byId("spinner").setAttribute("hidden", "");
  byId("status").textContent = "Cancelled. Change the problem to design again.";
}

/** Parts that show the answer follow it. */
function refreshPart(): void {
  if (state.part === "prove") openProof(page);
  if (state.part === "collect") openCollect(page);
}

function open(part: Part): void {
  state = { ...state, part };
  remember();
  for (const name of PARTS) {
    byId(name).hidden = name !== part;
    const tab = byId(`tab-${name}`);
    tab.setAttribute("aria-selected", String(name === part));
    tab.tabIndex = name === part ? 0 : -1;
  }
  if (part === "cone") openCone(page);
  if (part === "atlas") void openAtlas(page).catch((error: Error) => {
    byId("atlas-readout").textContent = `The maps could not be read: ${error.message}`;
  });
  refreshPart();
}

function listen(): void {
  for (const name of PARTS) {
    const tab = byId(`tab-${name}`);
    tab.addEventListener("click", () => open(name));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = PARTS[(PARTS.indexOf(name) + step + PARTS.length) % PARTS.length];
      open(next);
      byId(`tab-${next}`).focus();
    });
  }
  byId("cancel").addEventListener("click", cancel);
  const drop = byId("drop");
  const input = byId<HTMLInputElement>("file");
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    input.value = ""; // so that the same file can be chosen again, when it was changed
    if (file) void openFile(file);
  });
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const file = event.dataTransfer?.files[0];
    if (file) void openFile(file);
  });
  window.addEventListener("hashchange", () => {
    try {
      const found = stateOf(location.hash);
      if (found && hashOf(found) !== hashOf(state)) void show(found);
    } catch (error) {
      sayUnknown(error);
    }
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAnswer(page));
}

function show(found: State): Promise<void> {
  state = found;
  drawForm(page);
  open(state.part);
  return redesign();
}

function sayUnknown(error: unknown): void {
  byId("status").textContent = `The address contains no valid problem: ${(error as Error).message}`;
}

/** What `mechdesign explore FILE` gives: a problem, or a channel file. */
async function given(part: Part | undefined): Promise<void> {
  const response = await fetch("given.json");
  if (!response.ok) throw new Error("nothing was given");
  const text = await response.text();
  const document = JSON.parse(text) as { format?: string; title?: string; problem?: never };
  const isChannel = document.format !== undefined;
  try {
    const problem = problemOf(document.problem!, document.title ?? "");
    await show({ part: part ?? (isChannel ? "prove" : "design"), problem });
  } catch (error) {
    if (!isChannel) throw error; // what the page cannot design it can prove
    open("prove");
  }
  if (isChannel) await openFile(new Blob([text]));
}

listen();
let asked: State | null = null; // the state in the address, before the page rewrites it
try {
  asked = stateOf(location.hash);
  void show(asked ?? state);
} catch (error) {
  void show(state);
  sayUnknown(error);
}
if (new URLSearchParams(location.search).has("given")) {
  void given(asked?.part).catch((error: Error) => {
    byId("status").textContent = `The file could not be shown: ${error.message}`;
  });
}

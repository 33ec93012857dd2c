/** The form of a problem: example, inputs, prior, notion, objective and budget. */

import { type Choice, html, labeled, select } from "./dom.ts";
import { EXAMPLES } from "./examples.ts";
import { type Label, type Problem, budgetOf, labelText, labelsOf, normalized, pointsOf, sameLabel, withBudget } from "./problem.ts";
import { parseRatio, ratioText, toNumber } from "./exact.ts";
import { MOST_INPUTS, objectivesFor, withDomain, withNotion, withUtility } from "./state.ts";

const NOTIONS: Choice[] = [
  { value: "ldp", label: "LDP: no report distinguishes inputs" },
  { value: "lip", label: "LIP: no report moves the prior much" },
  { value: "lift", label: "Lift: two budgets, down and up" },
  { value: "pml", label: "PML: no report raises odds much" },
  { value: "high-low", label: "High-low: some inputs are sensitive" },
  { value: "block", label: "Block: the block is public" },
  { value: "metric", label: "Metric: near inputs look alike" },
  { value: "context-aware", label: "Own matrix: a pair is bounded or free" },
];

/** What a change means: `budget` moves a slider only, `all` asks for a new form. */
export type Changed = (update: (now: Problem) => Problem, what: "budget" | "values" | "all") => void;

export function form(problem: Problem, changed: Changed): HTMLElement {
  return html("form", { submit: (event: Event) => event.preventDefault(), class: "controls" },
    html("div", { class: "first" }, exampleField(problem, changed), budgetField(problem, changed)),
    html("div", { class: "more" },
      notionFields(problem, changed),
      objectiveField(problem, changed),
      inputsField(problem, changed),
      priorFields(problem, changed)));
}

function exampleField(problem: Problem, changed: Changed): HTMLElement {
  const known = Object.entries(EXAMPLES);
  const found = known.find(([, example]) => example.problem.title === problem.title)?.[0] ?? "own";
  const choices = [
    ...known.map(([value, { label }]) => ({ value, label })), { value: "own", label: "My own" },
  ];
  return labeled("Example", select(choices, found, (value) => {
    changed((now) => (value === "own" ? { ...now, title: "A problem of my own" } : EXAMPLES[value].problem), "all");
  }));
}

/** A slider with its number beside it: both say the same decimal. */
export function slider(
  label: string, value: string, most: number, chosen: (value: string) => void, least = 0.05, step = 0.05,
): HTMLElement {
  const [low, high] = [Math.min(least, toNumber(parseRatio(value))), Math.max(most, toNumber(parseRatio(value)))];
  const range = html("input", { type: "range", min: low, max: high, step, value });
  const exact = html("input", { type: "text", inputmode: "decimal", value, class: "exact", "aria-label": `${label}, exactly` });
  range.addEventListener("input", () => {
    exact.value = String(Number(range.value));
    chosen(exact.value);
  });
  exact.addEventListener("change", () => {
    try {
      const number = parseRatio(exact.value);
      if (number.n < 0n || toNumber(number) > 40) throw new Error("out of range");
      range.value = exact.value;
      chosen(ratioText(number));
      exact.removeAttribute("aria-invalid");
    } catch {
      exact.setAttribute("aria-invalid", "true");
    }
  });
  const field = labeled(label, range);
  field.append(exact);
  field.classList.add("slider");
  return field;
}

export function budgetField(problem: Problem, changed: Changed): HTMLElement {
  const { privacy } = problem;
  if (privacy.notion !== "lift") {
    return slider("Budget ε", budgetOf(privacy), 5, (epsilon) => changed((now) => withBudget(now, epsilon), "budget"));
  }
  const side = (key: "lower" | "upper", label: string): HTMLElement =>
    slider(label, privacy[key] === "inf" ? "5" : (privacy[key] ?? "1"), 5, (value) => {
      changed((now) => ({ ...now, privacy: { ...now.privacy, [key]: value } }), "values");
    });
  return html("div", {}, side("lower", "Budget down, ε lower"), side("upper", "Budget up, ε upper"));
}

function notionFields(problem: Problem, changed: Changed): HTMLElement {
  const points = pointsOf(problem.domain);
  const choices = NOTIONS.filter(({ value }) => value !== "metric" || points);
  const field = html("div", {},
    labeled("What must stay private", select(choices, problem.privacy.notion, (notion) => {
      changed((now) => withNotion(now, notion), "all");
    })));
  const own = ownFields(problem, changed);
  if (own) field.append(own);
  return field;
}

function ownFields(problem: Problem, changed: Changed): HTMLElement | null {
  const { privacy, domain } = problem;
  const labels = labelsOf(domain);
  const set = (more: object): void => changed((now) => ({ ...now, privacy: { ...now.privacy, ...more } }), "all");
  if (privacy.notion === "high-low") {
    const sensitive = privacy.sensitive ?? [];
    const isIn = (label: Label): boolean => sensitive.some((l) => sameLabel(l, label));
    return html("fieldset", { class: "boxes" }, html("legend", {}, "Sensitive inputs"),
      ...labels.map((label) => html("label", {},
        html("input", {
          type: "checkbox", checked: isIn(label),
          change: () => {
            const next = labels.filter((l) => (sameLabel(l, label) ? !isIn(l) : isIn(l)));
            if (next.length) set({ sensitive: next });
          },
        }), labelText(label))));
  }
  if (privacy.notion === "block" && privacy.blocks) {
    const blocks = privacy.blocks;
    const member = (label: Label): number => blocks.findIndex((block) => block.some((l) => sameLabel(l, label)));
    return html("fieldset", { class: "boxes" }, html("legend", {}, "Block of each input"),
      ...labels.map((label) => html("label", {}, labelText(label),
        select(["A", "B", "C", "D"].map((name, n) => ({ value: String(n), label: name })), String(member(label)), (value) => {
          const of = (l: Label): number => (sameLabel(l, label) ? Number(value) : member(l));
          set({ blocks: [0, 1, 2, 3].map((b) => labels.filter((l) => of(l) === b)).filter((b) => b.length) });
        }))));
  }
  if (privacy.notion === "metric" && "grid" in domain && typeof privacy.distance === "string") {
    return labeled("Distance", select(
      [{ value: "euclidean", label: "straight line" }, { value: "manhattan", label: "walking" }],
      privacy.distance, (distance) => set({ distance })));
  }
  if (privacy.notion === "context-aware" && privacy.matrix && labels.length <= 12) {
    const { matrix } = privacy;
    return html("fieldset", { class: "boxes" }, html("legend", {}, "Click a pair: row may exceed column by e^ε, or freely"),
      html("div", { class: "scroll" }, html("table", { class: "pairs" },
        html("tbody", {}, ...labels.map((x, i) => html("tr", {}, html("th", { scope: "row" }, labelText(x)),
          ...labels.map((z, j) => html("td", {}, i !== j && html("button", {
            type: "button", "aria-pressed": String(matrix[i][j] !== "inf"),
            "aria-label": `${labelText(x)} against ${labelText(z)}: ${matrix[i][j] === "inf" ? "free" : "bounded"}`,
            click: () => changed((now) => {
              const epsilon = budgetOf(now.privacy);
              const turned = (now.privacy.matrix ?? []).map((row, a) => row.map((entry, b) =>
                (a === i && b === j ? (entry === "inf" ? epsilon : "inf") : entry)));
              return { ...now, privacy: { ...now.privacy, matrix: turned } };
            }, "all"),
          }, matrix[i][j] === "inf" ? "∞" : "ε")))))))));
  }
  return null;
}

function objectiveField(problem: Problem, changed: Changed): HTMLElement {
  const objectives = objectivesFor(problem.domain);
  const key = JSON.stringify(problem.utility);
  const isKnown = objectives.some((objective) => objective.key === key);
  const choices = objectives.map(({ key: value, label }) => ({ value, label }));
  if (!isKnown) choices.unshift({ value: key, label: `${problem.utility.objective}, as given` });
  return labeled("What must stay useful", select(choices, key, (value) => {
    const found = objectives.find((objective) => objective.key === value);
    if (found) changed((now) => withUtility(now, found.utility), "all");
  }));
}

function inputsField(problem: Problem, changed: Changed): HTMLElement {
  const { domain } = problem;
  if ("grid" in domain) {
    const sizes = [2, 3, 4, 5].map((n) => ({ value: String(n), label: `${n} × ${n}` }));
    return labeled("Places", select(sizes, String(domain.grid.rows), (value) => {
      changed((now) => withDomain(now, { grid: { ...domain.grid, rows: Number(value), columns: Number(value) } }), "all");
    }));
  }
  const field = html("input", { type: "text", value: domain.values.map(labelText).join(", ") });
  field.addEventListener("change", () => {
    const words = field.value.split(",").map((word) => word.trim()).filter(Boolean);
    const numeric = words.every((word) => /^-?\d+(\.\d+)?$/.test(word));
    const values = [...new Set(words)].map((word): Label => (numeric ? Number(word) : word));
    if (values.length >= 2 && values.length <= MOST_INPUTS) changed((now) => withDomain(now, { values }), "all");
    else field.setAttribute("aria-invalid", "true");
  });
  return labeled("Inputs", field, "words or numbers, with commas between them");
}

function priorFields(problem: Problem, changed: Changed): HTMLElement {
  const labels = labelsOf(problem.domain);
  const shares = problem.prior.map((p) => toNumber(parseRatio(p)));
  const largest = Math.max(...shares);
  const weights = shares.map((p) => String(Math.max(1, Math.round((50 * p) / largest))));
  return html("details", { class: "prior", open: labels.length <= 6 },
    html("summary", {}, "Prior: how likely each input is"),
    ...labels.map((label, x) => {
      const range = html("input", { type: "range", min: 1, max: 100, step: 1, value: weights[x] });
      const shown = html("output", {}, `${(100 * shares[x]).toFixed(1)} %`);
      range.addEventListener("input", () => {
        weights[x] = range.value;
        const prior = normalized(weights);
        shown.textContent = `${(100 * toNumber(parseRatio(prior[x]))).toFixed(1)} %`;
        changed((now) => ({ ...now, prior }), "values");
      });
      range.addEventListener("change", () => changed((now) => ({ ...now, prior: normalized(weights) }), "all"));
      const field = labeled(labelText(label), range);
      field.append(shown);
      field.classList.add("weight");
      return field;
    }),
    html("button", { type: "button", class: "quiet", click: () => changed((now) => ({ ...now, prior: normalized(labels.map(() => "1")) }), "all") }, "Uniform"));
}

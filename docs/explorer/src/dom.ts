/** Small helpers for elements of the page. */

type Child = Node | string | null | false;
type Attributes = Record<string, string | number | boolean | ((event: never) => void)>;

function filled<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== false));
  return element;
}

/** An element with attributes; a function is a listener of the event of that name. */
export const html = <K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] => filled(document.createElement(tag), attributes, children);

export const svg = <K extends keyof SVGElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): SVGElementTagNameMap[K] =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

export function byId<E extends Element = HTMLElement>(id: string): E {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found as unknown as E;
}

let made = 0;

/** A control with its label. */
export function labeled(label: string, control: HTMLElement, hint = ""): HTMLElement {
  made += 1;
  control.id ||= `control-${made}`;
  return html("div", { class: "field" },
    html("label", { for: control.id }, label), control, hint && html("small", {}, hint));
}

export interface Choice {
  value: string;
  label: string;
}

export function select(choices: Choice[], value: string, chosen: (value: string) => void): HTMLSelectElement {
  const element = html("select", {
    change: () => chosen(element.value),
  }, ...choices.map((choice) => html("option", { value: choice.value, selected: choice.value === value }, choice.label)));
  return element;
}

/** Six significant digits, with no exponent where that is short. */
export function digits(value: number, most = 6): string {
  if (!Number.isFinite(value)) return "not defined";
  if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e7)) return value.toExponential(2);
  return String(Number(value.toPrecision(most)));
}

/** A probability in a cell: two digits, three where there is room. */
export function shortProbability(value: number, places: number): string {
  if (value === 0) return "0";
  if (value < 0.5 * 10 ** -places) return "·";
  return value >= 1 - 0.5 * 10 ** -places ? "1" : value.toFixed(places).replace(/^0/, "");
}

/** Offer text or bytes as a file to save. */
export function download(name: string, content: string | Blob, type = "text/plain"): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = html("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

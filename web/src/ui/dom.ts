/** Creates elements. Texts are set as text: nothing from a file or a user is parsed as markup. */

export type Child = Node | string | number | null | undefined | false;

export interface Attributes {
  class?: string;
  text?: string;
  on?: { [Kind in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Kind]) => void };
  [attribute: string]: unknown;
}

/**
 * Creates an element with attributes (false and null omit one, true sets it empty; aria- attributes get "true" or
 * "false"), listeners under `on`, and children.
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...toNodes(children));
  return element;
}

/** The same for SVG. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(element, attributes);
  element.append(...toNodes(children));
  return element;
}

/** Replaces the children of an element. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...toNodes(children));
}

function toNodes(children: Child[]): (Node | string)[] {
  return children
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (typeof child === "number" ? String(child) : (child as Node | string)));
}

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (typeof value === "boolean" && name.startsWith("aria-")) {
      element.setAttribute(name, String(value)); // "false" is meaningful there
      continue;
    }
    if (value === false) continue;
    if (name === "on") {
      for (const [kind, listener] of Object.entries(value as Record<string, EventListener>)) {
        element.addEventListener(kind, listener);
      }
    } else if (name === "text") element.textContent = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

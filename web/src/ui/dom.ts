/** Elements made by script. Texts are texts: nothing that comes from a file or a person is ever read as markup. */

export type Child = Node | string | number | null | undefined | false;

export interface Attributes {
  class?: string;
  text?: string;
  on?: { [Kind in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Kind]) => void };
  [attribute: string]: unknown;
}

/** An element with attributes (false and null leave one out, true sets it empty; of aria- ones both are said), listeners under `on`, and children. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  dress(element, attributes);
  element.append(...shown(children));
  return element;
}

/** The same for SVG. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  dress(element, attributes);
  element.append(...shown(children));
  return element;
}

/** Puts `children` in the place of all that an element holds. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...shown(children));
}

function shown(children: Child[]): (Node | string)[] {
  return children
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (typeof child === "number" ? String(child) : (child as Node | string)));
}

function dress(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (typeof value === "boolean" && name.startsWith("aria-")) {
      element.setAttribute(name, String(value)); // there "false" says something
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

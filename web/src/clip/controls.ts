/** Controls that the clip's panels are made of. */

import { type Child, fill, h } from "../ui/dom";
import { type IconName, icon } from "../ui/icons";

let made = 0;

/** A heading and what belongs to it; `folded` can be opened, and is closed at first. */
export function section(title: string, options: { folded?: boolean; note?: Child }, ...children: Child[]): HTMLElement {
  if (options.folded === undefined)
    return h("section", { class: "panel-section" }, h("h3", { text: title }), ...children);
  const head = h("summary", {}, h("h3", { text: title }), options.note ?? "");
  return h("details", { class: "panel-section", open: !options.folded }, head, ...children);
}

/** A field with its name. */
export function labelled(name: string, control: HTMLElement, after: Child = null): HTMLElement {
  control.id ||= `control-${++made}`;
  return h("div", { class: "labelled" }, h("label", { class: "label", for: control.id, text: name }), control, after);
}

export interface Choice<Value extends string> {
  element: HTMLElement;
  set(value: Value): void;
}

/** One of a few, side by side: radio buttons for whoever uses keys. */
export function segmented<Value extends string>(
  label: string,
  options: readonly (readonly [Value, string, string?])[],
  chosen: (value: Value) => void,
): Choice<Value> {
  const name = `choice-${++made}`;
  const inputs = options.map(([value]) => {
    const input = h("input", { type: "radio", name, value });
    input.addEventListener("change", () => input.checked && chosen(value));
    ownArrows(input);
    return input;
  });
  const labels = options.map(([, text, title], k) => h("label", { title }, inputs[k], h("span", { text })));
  const element = h("fieldset", { class: "segmented" }, h("legend", { class: "unseen", text: label }), ...labels);
  const set = (value: Value) => {
    for (const input of inputs) input.checked = input.value === value;
  };
  return { element, set };
}

export interface Slider {
  element: HTMLElement;
  input: HTMLInputElement;
  set(value: number, says?: string): void;
}

interface SliderOptions {
  least: number;
  most: number;
  step: number;
  says: (value: number) => string;
  input: (value: number) => void;
}

/** A slider with its name and its value in words. */
export function slider(label: string, { least, most, step, says, input: told }: SliderOptions): Slider {
  const input = h("input", { type: "range", min: least, max: most, step, id: `control-${++made}` });
  const output = h("output", { for: input.id });
  const show = (value: number, said = says(value)) => {
    input.value = String(value);
    input.setAttribute("aria-valuetext", said);
    fill(output, said);
  };
  input.addEventListener("input", () => {
    const value = Number(input.value);
    show(value);
    told(value);
  });
  ownArrows(input);
  const head = h("div", { class: "slider-head" }, h("label", { class: "label", for: input.id, text: label }), output);
  return { element: h("div", { class: "slider" }, head, input), input, set: show };
}

/** A box to tick. */
export function check(
  label: string,
  told: (isOn: boolean) => void,
): { element: HTMLElement; set(isOn: boolean): void } {
  const input = h("input", { type: "checkbox" });
  input.addEventListener("change", () => told(input.checked));
  return {
    element: h("label", { class: "check" }, input, h("span", { text: label })),
    set: (isOn) => {
      input.checked = isOn;
    },
  };
}

/** A button; `sign` alone where there is no text, whose name is then only heard. */
export function button(title: string, sign: IconName | null, run: () => void, look = ""): HTMLButtonElement {
  const isBare = look.includes("icon-only");
  const element = h(
    "button",
    { class: `button ${look}`, type: "button", title: isBare ? title : null, "aria-label": isBare ? title : null },
    sign && icon(sign),
    !isBare && title,
  );
  element.addEventListener("click", run);
  return element;
}

/** Arrows and their like belong to the control that has the focus, not to the page. */
export function ownArrows(element: HTMLElement): void {
  element.addEventListener("keydown", (event) => {
    if (/^(Arrow|Home$|End$|Page)/.test(event.key) && !event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
}

/** Whether the focus is on something that Space presses. */
export function isOnButton(): boolean {
  return document.activeElement?.matches("button, summary, a[href], input, select, [role=button]") ?? false;
}

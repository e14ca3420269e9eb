/** Form controls of the clip page. */

import { type Child, fill, h } from "../ui/dom";
import { type IconName, icon } from "../ui/icons";

let controlCount = 0;

/** A section with a heading; with `folded` defined it can be opened and closed. */
export function section(title: string, options: { folded?: boolean; note?: Child }, ...children: Child[]): HTMLElement {
  if (options.folded === undefined)
    return h("section", { class: "panel-section" }, h("h3", { text: title }), ...children);
  const summary = h("summary", {}, h("h3", { text: title }), options.note ?? "");
  return h("details", { class: "panel-section", open: !options.folded }, summary, ...children);
}

/** A control with its label. */
export function fieldWithLabel(name: string, control: HTMLElement, after: Child = null): HTMLElement {
  control.id ||= `control-${++controlCount}`;
  return h("div", { class: "form-field" }, h("label", { class: "label", for: control.id, text: name }), control, after);
}

export interface Choice<Value extends string> {
  element: HTMLElement;
  set(value: Value): void;
}

/** A choice between a few options, shown side by side; radio buttons for the keyboard. */
export function segmentedControl<Value extends string>(
  label: string,
  options: readonly (readonly [Value, string, string?])[],
  onChange: (value: Value) => void,
): Choice<Value> {
  const name = `choice-${++controlCount}`;
  const inputs = options.map(([value]) => {
    const input = h("input", { type: "radio", name, value });
    input.addEventListener("change", () => input.checked && onChange(value));
    captureArrowKeys(input);
    return input;
  });
  const labels = options.map(([, text, title], k) => h("label", { title }, inputs[k], h("span", { text })));
  const element = h(
    "fieldset",
    { class: "segmented" },
    h("legend", { class: "visually-hidden", text: label }),
    ...labels,
  );
  const set = (value: Value) => {
    for (const input of inputs) input.checked = input.value === value;
  };
  return { element, set };
}

export interface Slider {
  element: HTMLElement;
  input: HTMLInputElement;
  set(value: number, text?: string): void;
}

interface SliderOptions {
  min: number;
  max: number;
  step: number;
  format: (value: number) => string;
  onInput: (value: number) => void;
}

/** A slider with a label and its formatted value. */
export function slider(label: string, { min, max, step, format, onInput }: SliderOptions): Slider {
  const input = h("input", { type: "range", min, max, step, id: `control-${++controlCount}` });
  const output = h("output", { for: input.id });
  const show = (value: number, text = format(value)) => {
    input.value = String(value);
    input.setAttribute("aria-valuetext", text);
    fill(output, text);
  };
  input.addEventListener("input", () => {
    const value = Number(input.value);
    show(value);
    onInput(value);
  });
  captureArrowKeys(input);
  const head = h("div", { class: "slider-head" }, h("label", { class: "label", for: input.id, text: label }), output);
  return { element: h("div", { class: "slider" }, head, input), input, set: show };
}

/** The slider for the share of the captured detail, from 0 to 1, that is added to the curves. */
export function detailSlider(onInput: (residual: number) => void): Slider {
  const control = slider("Captured detail", {
    min: 0,
    max: 100,
    step: 1,
    format: (percent) => `${percent} %`,
    onInput: (percent) => onInput(percent / 100),
  });
  control.element.append(h("p", { class: "note", text: "Adds back what the curves leave out of the capture." }));
  return control;
}

/** A checkbox with a label. */
export function checkbox(
  label: string,
  onChange: (isOn: boolean) => void,
): { element: HTMLElement; set(isOn: boolean): void } {
  const input = h("input", { type: "checkbox" });
  input.addEventListener("change", () => onChange(input.checked));
  return {
    element: h("label", { class: "check" }, input, h("span", { text: label })),
    set: (isOn) => {
      input.checked = isOn;
    },
  };
}

/** A button; with the class `icon-only` the title becomes its accessible name. */
export function button(title: string, iconName: IconName | null, run: () => void, classes = ""): HTMLButtonElement {
  const isIconOnly = classes.includes("icon-only");
  const element = h(
    "button",
    {
      class: `button ${classes}`,
      type: "button",
      title: isIconOnly ? title : null,
      "aria-label": isIconOnly ? title : null,
    },
    iconName && icon(iconName),
    !isIconOnly && title,
  );
  element.addEventListener("click", run);
  return element;
}

/** Keeps arrow, Home, End and Page keys in the focused control: the page does not get them. */
export function captureArrowKeys(element: HTMLElement): void {
  element.addEventListener("keydown", (event) => {
    if (/^(Arrow|Home$|End$|Page)/.test(event.key) && !event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
}

/** Whether the focused element reacts to Space. */
export function isButtonFocused(): boolean {
  return document.activeElement?.matches("button, summary, a[href], input, select, [role=button]") ?? false;
}

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
  rename(value: Value, text: string, title: string): void;
  /** Disables one option, or enables it if there is no reason. */
  disable(value: Value, reason: string | null): void;
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
  const rename = (value: Value, text: string, title: string) => {
    const label = labels[options.findIndex(([each]) => each === value)];
    if (!label) return;
    label.title = title;
    label.querySelector("span")!.textContent = text;
  };
  const disable = (value: Value, reason: string | null) => {
    const k = options.findIndex(([each]) => each === value);
    inputs[k]!.disabled = reason !== null;
    labels[k]!.title = reason ?? options[k]![2] ?? "";
  };
  return { element, set, rename, disable };
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

export interface NumberField {
  element: HTMLElement;
  error: HTMLElement;
  input: HTMLInputElement;
  set(value: number): void;
  /** Restores the last number that was set, without an error. */
  reset(): void;
  /** Shows an error at the field. */
  fail(problem: string): void;
  /** Whether the typed number is valid; if not, the field says why. */
  validate(): boolean;
}

interface NumberFieldOptions {
  min?: number;
  max?: number;
  step: number | "any";
  isInteger?: boolean;
  label?: string; // shown in place of the name
}

/**
 * A field for a number with its unit. `onChange` gets a valid number, and a function that shows an error at the field;
 * an invalid number is explained there and not passed on.
 */
export function numberField(
  name: string,
  unit: string,
  { min, max, step, isInteger = false, label = name }: NumberFieldOptions,
  onChange: (value: number, fail: (problem: string) => void) => void,
): NumberField {
  const id = `control-${++controlCount}`;
  const input = h("input", {
    class: "field small",
    type: "number",
    id,
    min,
    max,
    step,
    "aria-label": accessibleName(),
  });
  const error = h("p", { class: "field-error", id: `${id}-error`, role: "alert", hidden: true });
  const fail = (problem: string) => {
    error.textContent = `${label}: ${problem}`;
    error.hidden = false;
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", error.id);
  };
  const clear = () => {
    error.hidden = true;
    input.removeAttribute("aria-invalid");
    input.removeAttribute("aria-describedby");
  };
  const validate = () => {
    const problem = findProblem(input, isInteger);
    if (problem) fail(problem);
    else clear();
    return !problem;
  };
  let lastValue = "";
  input.addEventListener("change", () => {
    if (validate() && input.value !== lastValue) onChange(Number(input.value), fail);
  });
  const set = (value: number) => {
    const text = String(value);
    if (text === lastValue && !error.hidden) return; // the refused number stays with its error
    lastValue = text;
    reset();
  };
  const reset = () => {
    input.value = lastValue;
    clear();
  };
  const head = h("label", { class: "label", for: id }, label, unit && h("small", { text: ` ${unit}` }));
  return {
    element: h("div", { class: "form-field number-field" }, head, input),
    error,
    input,
    set,
    reset,
    fail,
    validate,
  };

  function accessibleName(): string {
    return unit ? `${name} (${unit})` : name;
  }
}

/** Number fields beside each other, their errors below them. */
export function numberRow(...fields: readonly NumberField[]): HTMLElement {
  const row = h("div", { class: "number-row" }, ...fields.map(({ element }) => element));
  return h("div", {}, row, ...fields.map(({ error }) => error));
}

/** Returns why the content of a number field is invalid; null if it is valid. */
function findProblem(input: HTMLInputElement, isInteger: boolean): string | null {
  const value = input.valueAsNumber;
  if (Number.isNaN(value)) return "Type a number.";
  if (isInteger && !Number.isInteger(value)) return "Type a whole number.";
  if (input.min !== "" && value < Number(input.min)) return `At least ${input.min}.`;
  if (input.max !== "" && value > Number(input.max)) return `At most ${input.max}.`;
  return null;
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

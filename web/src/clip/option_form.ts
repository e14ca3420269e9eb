/** Forms that are generated from the options that the server declares, as the command line has them. */

import type { Schema } from "../api/client";
import { ApiError } from "../api/client";
import { fill, h } from "../ui/dom";
import { toLabel } from "../ui/format";
import { toSentence } from "../ui/states";
import { captureArrowKeys, fieldWithLabel } from "./controls";

export type OptionDescription = Schema["OptionDescription"];
export type OptionValue = string | number | boolean;
/** Values as texts, as in the address. */
export type OptionTexts = ReadonlyMap<string, string>;

const DIAL_FACTOR = 4; // a dial reaches from its limit to this many times the default
const DIAL_STEPS = 200;

/** Parses "sigma_s:0.1" from the address; the first colon separates name and value. */
export function parseOptionTexts(texts: readonly string[]): Map<string, string> {
  const pairs = texts.map((each) => [each.slice(0, each.indexOf(":")), each.slice(each.indexOf(":") + 1)] as const);
  return new Map(pairs.filter(([name, value]) => name !== "" && value !== ""));
}

/** Returns the value of a text, or what is expected if it is not valid. */
export function readOption(option: OptionDescription, text: string): { value: OptionValue } | { expected: string } {
  const { kind, choices, above, min_value: min, max_value: max } = option;
  if (kind === "choice")
    return choices?.includes(text) ? { value: text } : { expected: `one of ${choices?.join(", ")}` };
  if (kind === "flag") return text === "1" || text === "0" ? { value: text === "1" } : { expected: "1 or 0" };
  const value = text.trim() === "" ? Number.NaN : Number(text);
  const isValid =
    Number.isFinite(value) &&
    (kind === "number" || Number.isInteger(value)) &&
    (above == null || value > above) &&
    (min == null || value >= min) &&
    (max == null || value <= max);
  return isValid ? { value } : { expected: describeRange(option) };
}

function describeRange({ kind, above, min_value: min, max_value: max }: OptionDescription): string {
  const number = kind === "integer" ? "a whole number" : "a number";
  const low = above != null ? ` above ${above}` : min != null ? ` of at least ${min}` : "";
  return `${number}${low}${max != null ? `${low ? " and" : " of"} up to ${max}` : ""}`;
}

/** Returns the values of those texts that are valid; others are left out, as the form shows what is wrong with them. */
export function readOptions(options: readonly OptionDescription[], texts: OptionTexts): Record<string, OptionValue> {
  const values: Record<string, OptionValue> = {};
  for (const option of options) {
    const text = texts.get(option.name);
    if (text === undefined) continue;
    const result = readOption(option, text);
    if ("value" in result) values[option.name] = result.value;
  }
  return values;
}

export interface OptionForm {
  element: HTMLElement;
  /** Shows other options. */
  show(options: readonly OptionDescription[]): void;
  /** Shows values, and the defaults that were used for the others. */
  set(texts: OptionTexts, used?: Readonly<Record<string, unknown>>): void;
  /** Shows the server's message at the field that it is about; returns whether there is one. */
  setError(error: unknown): boolean;
}

interface Field {
  option: OptionDescription;
  input: HTMLInputElement | HTMLSelectElement;
  dial: HTMLInputElement | null;
  message: HTMLElement;
}

/** `onChange` gets the text of an option, or null for its default. */
export function optionForm(onChange: (name: string, text: string | null) => void): OptionForm {
  const element = h("div", { class: "option-form" });
  let fields: Field[] = [];
  let displayedKey = "";

  function change(field: Field, text: string): void {
    onChange(field.option.name, text === "" ? null : text);
  }

  return {
    element,
    show: (options) => {
      const key = JSON.stringify(options);
      if (key === displayedKey) return;
      displayedKey = key;
      fields = options.map((option) => createField(option, change));
      fill(element, ...fields.map(layOut));
      element.hidden = fields.length === 0;
    },
    set: (texts, used = {}) => {
      for (const field of fields) {
        const { option, input, dial } = field;
        const text = texts.get(option.name) ?? "";
        if (document.activeElement !== input || input.value === "") input.value = text;
        const standard = used[option.name] ?? option.default;
        setDefault(field, standard);
        if (dial) dial.value = String(text === "" ? standard : Number(text));
        showMessage(field, text === "" ? "" : explain(option, text));
      }
    },
    setError: (error) => {
      const name = error instanceof ApiError ? (error.details.option ?? "") : "";
      const field = fields.find(({ option }) => name === option.name || name.endsWith(`.${option.name}`));
      if (field && error instanceof ApiError) showMessage(field, toSentence(error.message));
      return field !== undefined;
    },
  };
}

function explain(option: OptionDescription, text: string): string {
  const result = readOption(option, text);
  return "expected" in result ? `${text} is not valid, expected ${result.expected}. The default is used.` : "";
}

function showMessage({ input, message }: Field, text: string): void {
  message.textContent = text;
  message.hidden = text === "";
  input.setAttribute("aria-invalid", String(text !== ""));
}

/** Shows the value that is used unless another one is set. */
function setDefault({ option, input }: Field, standard: unknown): void {
  const text = typeof standard === "number" ? Number(standard.toPrecision(3)) : standard;
  if (input instanceof HTMLInputElement) input.placeholder = text == null ? "automatic" : String(text);
  else {
    const words = option.kind === "flag" ? (text == null ? null : text ? "yes" : "no") : text;
    input.options[0]!.text = words == null ? "Automatic" : `Default (${toWords(String(words))})`;
  }
}

function toWords(name: string): string {
  return name.replaceAll("_", " ");
}

function createField(option: OptionDescription, change: (field: Field, text: string) => void): Field {
  const { kind } = option;
  const isNumber = kind === "number" || kind === "integer";
  const choices: [string, string][] =
    kind === "flag" ? [["1", "yes"], ["0", "no"]] : (option.choices ?? []).map((each) => [each, toWords(each)]); // biome-ignore format: one look
  const input = isNumber
    ? h("input", { class: "field small", type: "text", inputmode: "decimal", autocomplete: "off" })
    : h("select", { class: "field" }, ...[["", ""], ...choices].map(([value, text]) => h("option", { value, text })));
  const message = h("p", { class: "field-error", role: "alert", hidden: true });
  const field: Field = { option, input, dial: isNumber ? createDial(option) : null, message };
  input.addEventListener("change", () => change(field, input.value.trim()));
  captureArrowKeys(input);
  field.dial?.addEventListener("input", () => {
    input.value = String(Number(Number(field.dial!.value).toPrecision(3)));
    change(field, input.value);
  });
  return field;
}

/** Returns a slider for a number that has a default, else null. */
function createDial(option: OptionDescription): HTMLInputElement | null {
  const { default: standard, above, min_value: min, max_value: max, kind } = option;
  if (typeof standard !== "number" || standard <= 0 || kind === "integer") return null;
  const high = max ?? DIAL_FACTOR * standard;
  const step = (high - (min ?? 0)) / DIAL_STEPS;
  const dial = h("input", {
    type: "range",
    class: "dial",
    min: min ?? (above ?? 0) + step,
    max: high,
    step,
    "aria-label": `${labelOf(option)}, dial`,
  });
  captureArrowKeys(dial);
  return dial;
}

/** Returns the name without the unit, which is displayedKey beside the field. */
export function labelOf({ name, unit }: OptionDescription): string {
  return toLabel(unit ? name.slice(0, name.lastIndexOf("_")) : name);
}

function layOut({ option, input, dial, message }: Field): HTMLElement {
  const help = h("p", { class: "note", text: toSentence(option.help) });
  const label = option.unit ? `${labelOf(option)} (${option.unit})` : labelOf(option);
  const field = fieldWithLabel(label, input);
  if (dial) field.append(h("div", { class: "option-value" }, dial, input));
  field.append(help, message);
  help.id = `${input.id}-help`;
  message.id = `${input.id}-error`;
  input.setAttribute("aria-describedby", `${help.id} ${message.id}`);
  return field;
}

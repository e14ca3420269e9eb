/** What a page or a part of it shows while there is nothing else: empty, loading, failed. */

import { ApiError, ServerGone } from "../api/client";
import { h } from "./dom";
import { type IconName, icon } from "./icons";
import { progressBar } from "./progress";

interface Empty {
  icon: IconName;
  title: string;
  text?: string | undefined;
  actions?: HTMLElement[];
}

export function emptyState({ icon: name, title, text, actions = [] }: Empty): HTMLElement {
  const doing = actions.length > 0 && h("div", { class: "actions" }, ...actions);
  return h("section", { class: "state" }, icon(name), h("h2", { text: title }), text && h("p", { text }), doing);
}

export function loadingState(text: string): HTMLElement {
  const progress = progressBar(text);
  progress.set(null);
  return h("section", { class: "state", role: "status" }, progress.element, h("p", { text }));
}

interface Failed {
  title: string;
  error: unknown;
  retry?: () => void;
}

/** What went wrong, where, and what to do about it. */
export function errorState({ title, error, retry }: Failed): HTMLElement {
  const gone = error instanceof ServerGone;
  const remedy = error instanceof ApiError ? error.problem.remedy : null;
  const again = retry && h("button", { class: "button primary", on: { click: retry } }, icon("retry"), "Try again");
  return h(
    "section",
    { class: "state failed", role: "alert" },
    icon(gone ? "unplugged" : "warning"),
    h("h2", { text: gone ? "The server does not answer" : title }),
    h("p", { text: sentence(gone ? error.problem.message : messageOf(error)) }),
    remedy && h("p", { class: "remedy", text: remedy }),
    again && h("div", { class: "actions" }, again),
  );
}

/** What an error says, with the line of the file where there is one. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) {
    const { line, message } = error.problem;
    return line && !new RegExp(`\\b${line}\\b`).test(message) ? `line ${line}: ${message}` : message;
  }
  return error instanceof Error ? error.message : String(error);
}

/** With a capital letter and a full stop. */
export function sentence(text: string): string {
  const said = text.trim();
  return said === "" ? "" : said[0]?.toUpperCase() + said.slice(1) + (/[.!?:]$/.test(said) ? "" : ".");
}

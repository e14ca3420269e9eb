/** What a page or a section shows when it is empty, loading or failed. */

import { ApiError, ServerUnreachable } from "../api/client";
import { h } from "./dom";
import { type IconName, icon } from "./icons";
import { progressBar } from "./progress";

interface EmptyStateOptions {
  icon: IconName;
  title: string;
  text?: string | undefined;
  actions?: HTMLElement[];
}

export function emptyState({ icon: name, title, text, actions = [] }: EmptyStateOptions): HTMLElement {
  const actionRow = actions.length > 0 && h("div", { class: "actions" }, ...actions);
  return h("section", { class: "state" }, icon(name), h("h2", { text: title }), text && h("p", { text }), actionRow);
}

export function loadingState(text: string): HTMLElement {
  const progress = progressBar(text);
  progress.set(null);
  return h("section", { class: "state", role: "status" }, progress.element, h("p", { text }));
}

interface ErrorStateOptions {
  title: string;
  error: unknown;
  retry?: () => void;
  exit?: { href: string; text: string }; // a link to another page
}

/** What went wrong, where, and what to do about it: to try again, unless something is not there, and to go elsewhere. */
export function errorState({ title, error, retry, exit }: ErrorStateOptions): HTMLElement {
  const isServerUnreachable = error instanceof ServerUnreachable;
  const hint = error instanceof ApiError ? error.details.hint : null;
  const canRetry = retry !== undefined && !isMissing(error);
  const actions = [
    canRetry && h("button", { class: "button primary", on: { click: retry } }, icon("retry"), "Try again"),
    exit && h("a", { class: canRetry ? "button" : "button primary", href: exit.href, text: exit.text }),
  ];
  return h(
    "section",
    { class: "state failed", role: "alert" },
    icon(isServerUnreachable ? "unplugged" : "warning"),
    h("h2", { text: isServerUnreachable ? "The server is not responding" : title }),
    h("p", { text: toSentence(isServerUnreachable ? error.details.message : errorMessage(error)) }),
    hint && h("p", { class: "error-hint", text: hint }),
    actions.some(Boolean) && h("div", { class: "actions" }, ...actions),
  );
}

/** Whether the server has answered that something is not there, which another try does not change. */
function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** Returns the message of an error. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Adds a capital letter and a full stop. */
export function toSentence(text: string): string {
  const trimmed = text.trim();
  return trimmed === "" ? "" : trimmed[0]?.toUpperCase() + trimmed.slice(1) + (/[.!?:]$/.test(trimmed) ? "" : ".");
}

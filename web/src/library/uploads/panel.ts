/** The list of uploads at the bottom of the page: each file with its progress or error. */

import { ApiError, type ErrorDetails } from "../../api/client";
import { fill, h } from "../../ui/dom";
import { bytes, count, countOf, duration } from "../../ui/format";
import { icon } from "../../ui/icons";
import { progressBar } from "../../ui/progress";
import { errorMessage, toSentence } from "../../ui/states";
import type { Upload, UploadQueue } from "./queue";

const MAX_ROWS = 200;

export function uploadPanel(queue: UploadQueue): { element: HTMLElement; close(): void } {
  const summary = h("h2", { class: "uploads-summary", id: "uploads-summary" });
  const announcement = h("p", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  const foldButton = button("down", "Collapse uploads", () => setFolded(!element.classList.contains("folded")));
  const closeButton = button("cross", "Close uploads", () => queue.clear({ failed: true }));
  const totalProgress = progressBar("All uploads");
  const list = h("ul", { class: "uploads-list", tabindex: 0, "aria-labelledby": "uploads-summary" });
  const head = h("div", { class: "uploads-head" }, summary, foldButton, closeButton);
  const element = h("section", { class: "uploads", "aria-labelledby": "uploads-summary", hidden: true });
  element.append(head, totalProgress.element, list, announcement);
  const rows = new Map<Upload, UploadRow>();

  function setFolded(folded: boolean): void {
    element.classList.toggle("folded", folded);
    foldButton.setAttribute("aria-expanded", String(!folded));
    foldButton.replaceChildren(icon(folded ? "up" : "down"));
  }

  function show(): void {
    const { uploads } = queue;
    element.hidden = uploads.length === 0;
    const visible = [...uploads].sort((a, b) => sortRank(a) - sortRank(b)).slice(0, MAX_ROWS);
    for (const [upload, row] of rows) {
      if (visible.includes(upload)) continue;
      row.close();
      rows.delete(upload);
    }
    for (const upload of visible) if (!rows.has(upload)) rows.set(upload, uploadRow(upload, queue));
    const elements = visible.map((upload) => rows.get(upload)!.element);
    if (elements.some((row, index) => list.children[index] !== row) || list.children.length !== elements.length) {
      list.replaceChildren(...elements);
    }
    const running = queue.count("waiting", "sending", "analysing");
    const text = formatSummary(queue);
    if (summary.textContent !== text) summary.textContent = text;
    if (running === 0 && uploads.length > 0 && announcement.textContent !== text) announcement.textContent = text;
    totalProgress.element.hidden = running === 0;
    totalProgress.set(
      uploads.length === 0 ? 0 : uploads.reduce((sum, each) => sum + completedFraction(each), 0) / uploads.length,
    );
    closeButton.disabled = running > 0;
  }

  setFolded(false);
  const unwatch = queue.version.watchNow(show);
  return {
    element,
    close: () => {
      unwatch();
      for (const row of rows.values()) row.close();
    },
  };
}

/** "Adding 2 of 12", "12 clips added, 3 already in the library, 1 failed" */
export function formatSummary(queue: Pick<UploadQueue, "count" | "uploads">): string {
  const added = queue.count("done");
  const duplicates = queue.count("duplicate");
  const failed = queue.count("failed");
  const withNotes = queue.uploads.filter(({ notes }) => notes.length > 0).length;
  const suffix = [
    duplicates > 0 ? `, ${count(duplicates)} already in the library` : "",
    withNotes > 0 ? `, ${count(withNotes)} with a note` : "",
    failed > 0 ? `, ${count(failed)} failed` : "",
  ].join("");
  if (queue.count("waiting", "sending", "analysing") > 0) {
    return `Adding ${count(added + duplicates)} of ${count(queue.uploads.length)}${suffix}`;
  }
  return `${countOf(added, "clip")} added${suffix}`;
}

function completedFraction(upload: Upload): number {
  return upload.isFinished ? 1 : 0.8 * upload.progress.value;
}

/** Failed uploads come first, then running ones, then finished ones, those with notes before the others. */
function sortRank(upload: Upload): number {
  if (upload.notes.length > 0) return 2.5;
  return { failed: 0, sending: 1, analysing: 1, waiting: 2, done: 3, duplicate: 3, cancelled: 4 }[upload.stage.value];
}

function button(name: "down" | "cross" | "retry", label: string, run: () => void): HTMLButtonElement {
  const classes = "button quiet small icon-only";
  return h(
    "button",
    { type: "button", class: classes, "aria-label": label, title: label, on: { click: run } },
    icon(name),
  );
}

interface UploadRow {
  element: HTMLElement;
  close(): void;
}

function uploadRow(upload: Upload, queue: UploadQueue): UploadRow {
  const { name } = upload;
  const progress = progressBar(name);
  const status = h("div", { class: "upload-status" });
  const cancel = button("cross", `Cancel ${name}`, () => queue.cancel(upload));
  const retry = button("retry", `Try ${name} again`, () => queue.retry(upload));
  const title = h("p", { class: "upload-name", title: name });
  const element = h("li", { class: "upload" }, h("div", {}, title, status, progress.element), retry, cancel);
  const show = () => {
    const stage = upload.stage.value;
    element.dataset.stage = stage;
    const clip = upload.response?.clip;
    fill(title, clip ? h("a", { href: `/clips/${clip.hash}`, text: name }) : name);
    element.classList.toggle("has-notes", upload.notes.length > 0);
    progress.element.hidden = stage !== "sending" && stage !== "analysing";
    progress.set(stage === "analysing" ? null : upload.progress.value);
    cancel.hidden = upload.isFinished;
    retry.hidden = stage !== "failed" && stage !== "cancelled";
    fill(status, ...describeStage(upload), ...noteElements(upload));
  };
  const cleanups = [
    upload.stage.watchNow(show),
    upload.progress.watch((fraction) => progress.set(fraction === 1 ? null : fraction)),
  ];
  return {
    element,
    close: () => {
      for (const each of cleanups) each();
    },
  };
}

function describeStage(upload: Upload): (Node | string)[] {
  switch (upload.stage.value) {
    case "waiting":
      return ["Waiting"];
    case "sending":
      return [`Uploading ${bytes(upload.size)}`];
    case "analysing":
      return ["Analysing"];
    case "done":
      return [
        [`Added (${duration(upload.response?.clip.duration_s ?? 0)})`, ...companionNames(upload)].join(", with "),
      ];
    case "duplicate":
      return ["Already in the library"];
    case "cancelled":
      return ["Cancelled"];
    case "failed":
      return describeError(upload.error, upload.name);
  }
}

/** "07.asf", "a.bin, b.bin" */
function companionNames({ group }: Upload): string[] {
  return group.companions.length ? [group.companions.map(({ name }) => name).join(", ")] : [];
}

/** Notes about the file: the clip was added, but may be incomplete. */
function noteElements({ notes }: Upload): HTMLElement[] {
  return notes.map((note) => h("p", { class: "upload-note" }, icon("warning"), h("span", { text: toSentence(note) })));
}

/** What is wrong in the file `name`, without its name and the line, which are displayed separately. */
export function describeProblem({ path, subject, problem }: ErrorDetails, name: string): string {
  return [path === name ? null : path, subject, problem].filter(Boolean).join(": ");
}

/** The line in the file, what is wrong there, and what to do about it. */
function describeError(error: unknown, name: string): HTMLElement[] {
  const details = error instanceof ApiError ? error.details : null;
  const message = toSentence(details ? describeProblem(details, name) : errorMessage(error));
  const line = details?.line != null && h("b", { text: `Line ${count(details.line)}: ` });
  const paragraph = h("p", { class: "upload-error" }, line, message);
  return details?.hint ? [paragraph, h("p", { class: "upload-hint", text: details.hint })] : [paragraph];
}

/** What is on its way, at the foot of the page: each file with its progress, and what is wrong with it. */

import { ApiError } from "../../api/client";
import { fill, h } from "../../ui/dom";
import { bytes, count, counted, duration } from "../../ui/format";
import { icon } from "../../ui/icons";
import { progressBar } from "../../ui/progress";
import { sentence } from "../../ui/states";
import type { Upload, UploadQueue } from "./queue";

const MOST_SHOWN = 200;

export function uploadPanel(queue: UploadQueue): { element: HTMLElement; close(): void } {
  const summary = h("h2", { class: "uploads-summary", id: "uploads-summary" });
  const news = h("p", { class: "unseen", role: "status", "aria-live": "polite" });
  const fold = button("down", "Fold the list of uploads", () => setFolded(!element.classList.contains("folded")));
  const shut = button("cross", "Close the list of uploads", () => queue.clear({ failed: true }));
  const whole = progressBar("All uploads");
  const list = h("ul", { class: "uploads-list", tabindex: 0, "aria-labelledby": "uploads-summary" });
  const head = h("div", { class: "uploads-head" }, summary, fold, shut);
  const element = h("section", { class: "uploads", "aria-labelledby": "uploads-summary", hidden: true });
  element.append(head, whole.element, list, news);
  const rows = new Map<Upload, UploadRow>();

  function setFolded(folded: boolean): void {
    element.classList.toggle("folded", folded);
    fold.setAttribute("aria-expanded", String(!folded));
    fold.replaceChildren(icon(folded ? "up" : "down"));
  }

  function show(): void {
    const { uploads } = queue;
    element.hidden = uploads.length === 0;
    const shown = [...uploads].sort((a, b) => urgency(a) - urgency(b)).slice(0, MOST_SHOWN);
    for (const [upload, row] of rows) {
      if (shown.includes(upload)) continue;
      row.forget();
      rows.delete(upload);
    }
    for (const upload of shown) if (!rows.has(upload)) rows.set(upload, uploadRow(upload, queue));
    const elements = shown.map((upload) => rows.get(upload)!.element);
    if (elements.some((row, index) => list.children[index] !== row) || list.children.length !== elements.length) {
      list.replaceChildren(...elements);
    }
    const going = queue.count("waiting", "sending", "analysing");
    const said = summaryOf(queue);
    if (summary.textContent !== said) summary.textContent = said;
    if (going === 0 && uploads.length > 0 && news.textContent !== said) news.textContent = said;
    whole.element.hidden = going === 0;
    whole.set(uploads.length === 0 ? 0 : uploads.reduce((sum, each) => sum + doneShare(each), 0) / uploads.length);
    shut.disabled = going > 0;
  }

  setFolded(false);
  const forget = queue.version.show(show);
  return {
    element,
    close: () => {
      forget();
      for (const row of rows.values()) row.forget();
    },
  };
}

/** "2 of 12 added", "12 clips added, 1 failed" */
export function summaryOf(queue: Pick<UploadQueue, "count" | "uploads">): string {
  const over = queue.count("done", "known");
  const failed = queue.count("failed");
  const noticed = queue.uploads.filter(({ notes }) => notes.length > 0).length;
  const suffix = [
    noticed > 0 ? `, ${count(noticed)} with a note` : "",
    failed > 0 ? `, ${count(failed)} failed` : "",
  ].join("");
  if (queue.count("waiting", "sending", "analysing") > 0) {
    return `Adding ${count(over)} of ${count(queue.uploads.length)}${suffix}`;
  }
  return `${counted(over, "clip")} added${suffix}`;
}

function doneShare(upload: Upload): number {
  return upload.isOver ? 1 : 0.8 * upload.part.value;
}

/** What failed is seen first, then what goes on, then what is over, with something noticed before all is well. */
function urgency(upload: Upload): number {
  if (upload.notes.length > 0) return 2.5;
  return { failed: 0, sending: 1, analysing: 1, waiting: 2, done: 3, known: 3, cancelled: 4 }[upload.stage.value];
}

function button(name: "down" | "cross" | "retry", label: string, run: () => void): HTMLButtonElement {
  const look = "button quiet small icon-only";
  return h(
    "button",
    { type: "button", class: look, "aria-label": label, title: label, on: { click: run } },
    icon(name),
  );
}

interface UploadRow {
  element: HTMLElement;
  forget(): void;
}

function uploadRow(upload: Upload, queue: UploadQueue): UploadRow {
  const { name } = upload;
  const progress = progressBar(name);
  const says = h("div", { class: "upload-says" });
  const cancel = button("cross", `Cancel ${name}`, () => queue.cancel(upload));
  const retry = button("retry", `Try ${name} again`, () => queue.retry(upload));
  const title = h("p", { class: "upload-name", title: name });
  const element = h("li", { class: "upload" }, h("div", {}, title, says, progress.element), retry, cancel);
  const show = () => {
    const stage = upload.stage.value;
    element.dataset.stage = stage;
    const clip = upload.answer?.clip;
    fill(title, clip ? h("a", { href: `/clips/${clip.hash}`, text: name }) : name);
    element.classList.toggle("noticed", upload.notes.length > 0);
    progress.element.hidden = stage !== "sending" && stage !== "analysing";
    progress.set(stage === "analysing" ? null : upload.part.value);
    cancel.hidden = upload.isOver;
    retry.hidden = stage !== "failed" && stage !== "cancelled";
    fill(says, ...saysOf(upload), ...notesOf(upload));
  };
  const forget = [upload.stage.show(show), upload.part.watch((part) => progress.set(part === 1 ? null : part))];
  return {
    element,
    forget: () => {
      for (const each of forget) each();
    },
  };
}

function saysOf(upload: Upload): (Node | string)[] {
  switch (upload.stage.value) {
    case "waiting":
      return ["Waiting"];
    case "sending":
      return [`Sending ${bytes(upload.size)}`];
    case "analysing":
      return ["Analysing: key poses, swings, what it is like"];
    case "done":
      return [[`Added: ${duration(upload.answer?.clip.duration_s ?? 0)}`, ...companionsOf(upload)].join(" with ")];
    case "known":
      return ["Was in the library already"];
    case "cancelled":
      return ["Cancelled"];
    case "failed":
      return failureOf(upload.error, upload.name);
  }
}

/** "07.asf", "a.bin, b.bin" */
function companionsOf({ take }: Upload): string[] {
  return take.companions.length ? [take.companions.map(({ name }) => name).join(", ")] : [];
}

/** What the reader noticed: the clip is there, but may not be all that was meant. */
function notesOf({ notes }: Upload): HTMLElement[] {
  return notes.map((note) => h("p", { class: "upload-note" }, icon("warning"), h("span", { text: sentence(note) })));
}

/** "walk.bvh:41: 5 channels" without the file and the line, which stand beside it. */
export function withoutPlace(message: string, name: string, line: number | null | undefined): string {
  const places = line == null ? [`${name}: `] : [`${name}:${line}: `, `${name}: `];
  const place = places.find((each) => message.startsWith(each)) ?? "";
  return message.slice(place.length);
}

/** "reading FBX needs: pip install x" without the line to type, where the remedy says it too. */
export function withoutRemedy(message: string, remedy: string | null | undefined): string {
  const [what, line] = message.split(/(?<= needs): /);
  return line && remedy?.includes(line) ? `${what} something that is not installed` : message;
}

/** The line of the file, what is wrong there, and what to do about it. */
function failureOf(error: unknown, name: string): HTMLElement[] {
  const problem = error instanceof ApiError ? error.problem : null;
  const said = withoutPlace(error instanceof Error ? error.message : String(error), name, problem?.line);
  const message = sentence(withoutRemedy(said, problem?.remedy));
  const line = problem?.line != null && h("b", { text: `Line ${count(problem.line)}: ` });
  const wrong = h("p", { class: "upload-problem" }, line, message);
  return problem?.remedy ? [wrong, h("p", { class: "upload-remedy", text: problem.remedy })] : [wrong];
}

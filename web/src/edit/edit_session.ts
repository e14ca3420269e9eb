/** A draft on the server: evaluates it and saves it. The clip itself is never changed. */

import { ApiError, fetchArrays, fetchJson, type Schema } from "../api/client";
import { LatestOnly } from "../clip/latest_only";
import { parseCurves } from "../clip/selection_controller";
import type { Curves, CurvesHeader } from "../clip/state";
import { Signal } from "../state/signal";
import { type Bar, toBars } from "../timeline/lanes";
import { errorMessage, toSentence } from "../ui/states";
import { toast } from "../ui/toast";
import { type Draft, EditHistory, type SavedDraft, type Start, type Step } from "./steps";

type EditHeader = Schema["EditHeader"] & CurvesHeader;

export interface EditResult {
  draft: Draft;
  curves: Curves;
  keys: readonly number[] | null;
  bars: readonly Bar[] | null;
  changedFrames: readonly [number, number] | null;
  contacts: Contacts | null;
  displacements: readonly Schema["DisplacementRow"][];
  notes: readonly string[];
  reachErrorMm: number | null;
}

type Contacts = NonNullable<EditHeader["contacts"]>;

export type SaveStatus = "saved" | "saving" | { error: unknown };

const SAVE_DELAY_MS = 350;

export class EditSession {
  readonly history = new Signal<EditHistory | null>(null);
  readonly result = new Signal<EditResult | null>(null);
  readonly saveStatus = new Signal<SaveStatus>("saved");
  readonly isBusy = new Signal(false);
  /** Called when another window has saved the draft meanwhile. */
  onConflict: () => void = () => {};
  readonly #path: string;
  readonly #evaluations: LatestOnly<EditHistory, EditResult>;
  #evaluated: EditHistory | null = null; // the history of the result
  #revision = 0;
  #timer = 0;
  #isSaving = false;
  #onRefused: { history: EditHistory; report: (problem: string) => void } | null = null;
  #isDirty = false;

  constructor(hash: string) {
    this.#path = `/api/clips/${hash}`;
    this.#evaluations = new LatestOnly(
      (history, signal) => this.#evaluate(history.draft(), signal),
      (result, history) => {
        if (this.history.value === history) this.isBusy.value = false;
        this.#evaluated = history;
        this.result.value = result;
      },
      (error, history) => this.#onError(error, history),
    );
  }

  /** Loads the saved draft; returns whether there is one. */
  async load(): Promise<boolean> {
    const saved = await fetchJson<Schema["DraftResponse"] | null>(`${this.#path}/draft`);
    if (!saved) return false;
    this.#revision = saved.revision;
    this.#show(EditHistory.fromSaved(saved as SavedDraft));
    return true;
  }

  startDraft(start: Start): void {
    this.#change(EditHistory.create(start));
  }

  /** Applies a step. If the server refuses it, `onRefused` gets the problem; else it is shown as a toast. */
  applyStep(step: Step, onRefused: ((problem: string) => void) | null = null): void {
    if (!this.history.value) return;
    const history = this.history.value.apply(step);
    this.#onRefused = onRefused && { history, report: onRefused };
    this.#change(history);
  }

  /** Sets whether an edit of swings is played with the captured detail. */
  setCapturedDetail(capturedDetail: boolean): void {
    if (this.history.value) this.#change(this.history.value.withCapturedDetail(capturedDetail));
  }

  setResidual(residual: number): void {
    if (this.history.value) this.#change(this.history.value.withResidual(residual));
  }

  goTo(at: number): void {
    const history = this.history.value;
    if (history && at !== history.index && at >= 0 && at < history.states.length) this.#change(history.goTo(at));
  }

  undo(): void {
    if (this.history.value?.canUndo) this.#change(this.history.value.undo());
  }

  redo(): void {
    if (this.history.value?.canRedo) this.#change(this.history.value.redo());
  }

  /** Computes the draft again if that was cancelled before there was any result. */
  resume(): void {
    if (this.history.value && !this.result.value && !this.isBusy.value) this.#show(this.history.value);
  }

  /** Stops computing and returns to the state of the displayed result; returns whether there is one. */
  cancelEvaluation(): boolean {
    this.#evaluations.cancel();
    this.isBusy.value = false;
    if (!this.#evaluated) return false;
    this.history.value = this.#evaluated;
    this.#saveSoon();
    return true;
  }

  /** Deletes the draft. The returned function restores it. */
  async discard(): Promise<() => void> {
    const history = this.history.value;
    clearTimeout(this.#timer);
    this.#isDirty = false;
    this.#evaluations.cancel();
    await fetchJson(`${this.#path}/draft`, { method: "DELETE" });
    this.#revision = 0;
    this.history.value = null;
    this.#evaluated = null;
    this.result.value = null;
    return () => {
      if (history && !this.history.value) this.#change(history);
    };
  }

  /** Replaces this draft by the one saved in another window. */
  async useOtherVersion(): Promise<void> {
    this.#isDirty = false;
    if (!(await this.load())) this.history.value = null;
    this.saveStatus.value = "saved";
  }

  /** Overwrites the draft saved in another window. */
  async keepThisVersion(): Promise<void> {
    const saved = await fetchJson<Schema["DraftResponse"] | undefined>(`${this.#path}/draft`).catch(() => undefined);
    this.#revision = saved?.revision ?? 0;
    this.#isDirty = true;
    await this.save();
  }

  /** Saves the draft if it has changed. */
  async save(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#isSaving || !this.#isDirty || !this.history.value) return;
    this.#isSaving = true;
    this.#isDirty = false;
    this.saveStatus.value = "saving";
    try {
      const headers = { "If-Match": String(this.#revision) };
      const body = this.history.value.toSaved();
      const saved = await fetchJson<Schema["DraftResponse"]>(`${this.#path}/draft`, { method: "PUT", body, headers });
      this.#revision = saved.revision;
      this.saveStatus.value = "saved";
    } catch (error) {
      this.saveStatus.value = { error };
      if (error instanceof ApiError && error.details.code === "conflict") this.onConflict();
    } finally {
      this.#isSaving = false;
    }
    if (this.#isDirty && this.saveStatus.value === "saved") await this.save();
  }

  dispose(): void {
    this.#evaluations.cancel();
    void this.save();
  }

  #change(history: EditHistory): void {
    this.#show(history);
    this.#saveSoon();
  }

  #saveSoon(): void {
    this.#isDirty = true;
    this.saveStatus.value = "saving";
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.save(), SAVE_DELAY_MS);
  }

  #show(history: EditHistory): void {
    this.isBusy.value = true;
    this.history.value = history;
    this.#evaluations.submit(history);
  }

  async #evaluate(draft: Draft, signal: AbortSignal): Promise<EditResult> {
    const packet = await fetchArrays<EditHeader>(`${this.#path}/edit`, { body: { draft }, signal });
    const {
      keys,
      swings,
      changed_frames: changedFrames,
      contacts,
      notes,
      reach_error_mm: reachErrorMm,
      displacements,
    } = packet.header;
    const bars = swings && toBars(swings);
    return {
      draft,
      curves: parseCurves(packet),
      keys,
      bars,
      changedFrames,
      contacts,
      displacements,
      notes,
      reachErrorMm,
    };
  }

  /** Shows the error, and removes the last step if the server refused it. */
  #onError(error: unknown, history: EditHistory): void {
    this.isBusy.value = false;
    const problem = toSentence(error instanceof ApiError ? error.details.problem : errorMessage(error));
    const isClientError = error instanceof ApiError && error.status >= 400 && error.status < 500;
    if (isClientError && this.#onRefused?.history === history) this.#onRefused.report(problem);
    else toast(problem);
    if (isClientError && this.history.value === history && history.canUndo && !history.canRedo)
      this.#change(history.dropLast());
  }
}

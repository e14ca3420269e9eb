/** A draft with the server: what it makes of the clip, and that it is kept. The clip itself is never touched. */

import { ApiError, askArrays, askJson, type Schema } from "../api/client";
import { curvesOf } from "../clip/choosing";
import { Latest } from "../clip/latest";
import type { Curves, CurvesHeader } from "../clip/state";
import { Signal } from "../state/signal";
import type { Bar } from "../timeline/lanes";
import { messageOf, sentence } from "../ui/states";
import { toast } from "../ui/toast";
import { type Draft, type Kept, type Start, type Step, Story } from "./steps";

type EditedHeader = Schema["EditedHeader"] & CurvesHeader;

export interface Made {
  draft: Draft;
  curves: Curves;
  keys: readonly number[] | null;
  bars: readonly Bar[] | null;
  changed: readonly [number, number] | null;
  notes: readonly string[];
  missedMm: number | null;
}

export type Saving = "saved" | "saving" | { error: unknown };

const SAVE_AFTER_MS = 350;

export class Session {
  readonly story = new Signal<Story | null>(null);
  readonly made = new Signal<Made | null>(null);
  readonly saving = new Signal<Saving>("saved");
  readonly isBusy = new Signal(false);
  /** Called when another window saved the draft meanwhile. */
  onConflict: () => void = () => {};
  readonly #path: string;
  readonly #making: Latest<Story, Made>;
  #revision = 0;
  #timer = 0;
  #isSaving = false;
  #isDirty = false;

  constructor(hash: string) {
    this.#path = `/api/clips/${hash}`;
    this.#making = new Latest(
      (story) => this.#make(story.draft()),
      (made, story) => {
        if (this.story.value === story) this.isBusy.value = false;
        this.made.value = made;
      },
      (error, story) => this.#refused(error, story),
    );
  }

  /** Finds the draft that was kept, if there is one. */
  async find(): Promise<boolean> {
    const kept = await askJson<Schema["DraftSaid"] | null>(`${this.#path}/draft`);
    if (!kept) return false;
    this.#revision = kept.revision;
    this.#show(Story.of(kept as Kept));
    return true;
  }

  begin(start: Start): void {
    this.#tell(Story.begin(start));
  }

  do(step: Step): void {
    if (this.story.value) this.#tell(this.story.value.did(step));
  }

  setResidual(residual: number): void {
    if (this.story.value) this.#tell(this.story.value.withResidual(residual));
  }

  goTo(at: number): void {
    const story = this.story.value;
    if (story && at !== story.at && at >= 0 && at < story.moments.length) this.#tell(story.goTo(at));
  }

  undo(): void {
    if (this.story.value?.canUndo) this.#tell(this.story.value.undone());
  }

  redo(): void {
    if (this.story.value?.canRedo) this.#tell(this.story.value.redone());
  }

  /** Forgets the draft; what comes back brings it again. */
  async discard(): Promise<() => void> {
    const story = this.story.value;
    clearTimeout(this.#timer);
    this.#isDirty = false;
    this.#making.forget();
    await askJson(`${this.#path}/draft`, { method: "DELETE" });
    this.#revision = 0;
    this.story.value = null;
    this.made.value = null;
    return () => {
      if (story && !this.story.value) this.#tell(story);
    };
  }

  /** Takes what another window saved. */
  async takeTheirs(): Promise<void> {
    this.#isDirty = false;
    if (!(await this.find())) this.story.value = null;
    this.saving.value = "saved";
  }

  /** Saves this over what another window saved. */
  async keepMine(): Promise<void> {
    const kept = await askJson<Schema["DraftSaid"] | undefined>(`${this.#path}/draft`).catch(() => undefined);
    this.#revision = kept?.revision ?? 0;
    this.#isDirty = true;
    await this.save();
  }

  /** Keeps the draft now, if anything has changed. */
  async save(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#isSaving || !this.#isDirty || !this.story.value) return;
    this.#isSaving = true;
    this.#isDirty = false;
    this.saving.value = "saving";
    try {
      const headers = { "If-Match": String(this.#revision) };
      const told = this.story.value.kept();
      const kept = await askJson<Schema["DraftSaid"]>(`${this.#path}/draft`, { method: "PUT", told, headers });
      this.#revision = kept.revision;
      this.saving.value = "saved";
    } catch (error) {
      this.saving.value = { error };
      if (error instanceof ApiError && error.status === 409) this.onConflict();
    } finally {
      this.#isSaving = false;
    }
    if (this.#isDirty && this.saving.value === "saved") await this.save();
  }

  dispose(): void {
    this.#making.forget();
    void this.save();
  }

  #tell(story: Story): void {
    this.#show(story);
    this.#isDirty = true;
    this.saving.value = "saving";
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.save(), SAVE_AFTER_MS);
  }

  #show(story: Story): void {
    this.story.value = story;
    this.isBusy.value = true;
    this.#making.ask(story);
  }

  async #make(draft: Draft): Promise<Made> {
    const packet = await askArrays<EditedHeader>(`${this.#path}/edited`, { told: { draft } });
    const { keys, swings, changed, notes, missed_mm: missedMm } = packet.header;
    const bars = swings?.map(({ angle_deg, ...bar }) => ({ ...bar, angle: angle_deg })) ?? null;
    return { draft, curves: curvesOf(packet), keys, bars, changed, notes, missedMm };
  }

  /** A step that cannot be done is taken back, and says why. */
  #refused(error: unknown, story: Story): void {
    this.isBusy.value = false;
    toast(sentence(messageOf(error).replace(/^step \d+, \w+: /, "")));
    const isOurs = error instanceof ApiError && error.status >= 400 && error.status < 500;
    if (isOurs && this.story.value === story && story.canUndo && !story.canRedo) this.#tell(story.without());
  }
}

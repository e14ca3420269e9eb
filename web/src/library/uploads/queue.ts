/** Files on their way into the library: a few at a time, each of them can be cancelled and tried again. */

import { ApiError } from "../../api/client";
import { Signal } from "../../state/signal";
import { bytes } from "../../ui/format";
import type { Take } from "./companions";
import { type Send, type Sending, sendFile, type Uploaded } from "./sending";

export type Stage = "waiting" | "sending" | "analysing" | "done" | "known" | "failed" | "cancelled";

const AT_ONCE = 4;
const BUSY_WAITS_MS = [500, 1000, 2000, 4000, 8000]; // when the server says: too many at once

export class Upload {
  readonly stage = new Signal<Stage>("waiting");
  /** From 0 to 1: how much of the file has gone. */
  readonly part = new Signal(0);
  error: unknown = null;
  answer: Uploaded | null = null;
  sending: Sending | null = null;

  constructor(readonly take: Take) {}

  get name(): string {
    return this.take.file.name;
  }

  /** In bytes, of all that is sent. */
  get size(): number {
    return this.take.companions.reduce((sum, { size }) => sum + size, this.take.file.size);
  }

  /** What the reader noticed. */
  get notes(): readonly string[] {
    return this.answer?.notes ?? [];
  }

  get isOver(): boolean {
    return !["waiting", "sending", "analysing"].includes(this.stage.value);
  }
}

export class UploadQueue {
  readonly uploads: Upload[] = [];
  /** Grows whenever a file is added, or gets on. */
  readonly version = new Signal(0);
  mostBytes = Number.POSITIVE_INFINITY;
  #running = 0;

  constructor(
    readonly onAdded: (answer: Uploaded) => void,
    readonly send: Send = sendFile,
    readonly busyWaitsMs: readonly number[] = BUSY_WAITS_MS,
  ) {}

  add(takes: readonly Take[]): void {
    this.uploads.push(...takes.map((take) => new Upload(take)));
    this.#pump();
  }

  cancel(upload: Upload): void {
    if (upload.isOver) return;
    upload.sending?.abort();
    this.#put(upload, "cancelled");
  }

  retry(upload: Upload): void {
    if (!upload.isOver) return;
    upload.error = null;
    upload.part.value = 0;
    this.#put(upload, "waiting");
    this.#pump();
  }

  /** Forgets all that is over; what failed only if `failed` says so. */
  clear({ failed = false } = {}): void {
    const stays = (upload: Upload) => !upload.isOver || (upload.stage.value === "failed" && !failed);
    this.uploads.splice(0, this.uploads.length, ...this.uploads.filter(stays));
    this.version.value += 1;
  }

  count(...stages: Stage[]): number {
    return this.uploads.filter((upload) => stages.includes(upload.stage.value)).length;
  }

  #pump(): void {
    for (const upload of this.uploads) {
      if (this.#running >= AT_ONCE) break;
      if (upload.stage.value === "waiting") void this.#run(upload);
    }
    this.version.value += 1;
  }

  async #run(upload: Upload): Promise<void> {
    this.#running += 1;
    try {
      if (upload.size > this.mostBytes) throw tooLarge(this.mostBytes);
      this.#put(upload, "sending");
      upload.answer = await this.#sent(upload);
      this.#put(upload, upload.answer.known ? "known" : "done");
      this.onAdded(upload.answer);
    } catch (error) {
      if (upload.stage.value !== "cancelled") {
        upload.error = error;
        this.#put(upload, "failed");
      }
    } finally {
      upload.sending = null;
      this.#running -= 1;
      this.#pump();
    }
  }

  async #sent(upload: Upload): Promise<Uploaded> {
    for (let attempt = 0; ; attempt++) {
      upload.sending = this.send(upload.take, (part) => {
        upload.part.value = part;
        if (part === 1 && upload.stage.value === "sending") this.#put(upload, "analysing");
      });
      try {
        return await upload.sending.answer;
      } catch (error) {
        const wait = this.busyWaitsMs[attempt];
        if (!(error instanceof ApiError) || error.status !== 429 || wait === undefined) throw error;
        await new Promise((resolve) => setTimeout(resolve, wait));
        if (upload.isOver) throw error; // it was cancelled meanwhile
        this.#put(upload, "sending");
      }
    }
  }

  #put(upload: Upload, stage: Stage): void {
    upload.stage.value = stage;
    this.version.value += 1;
  }
}

function tooLarge(most: number): ApiError {
  const message = `the file is larger than ${bytes(most)}`;
  const remedy = "Cut the take into shorter ones, or start the server with a higher limit.";
  return new ApiError(413, { kind: "TooLarge", message, line: null, remedy });
}

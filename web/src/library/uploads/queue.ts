/** The upload queue: a few files at a time; each can be cancelled and retried. */

import { ApiError, makeDetails } from "../../api/client";
import { Signal } from "../../state/signal";
import { bytes } from "../../ui/format";
import type { FileGroup } from "./companions";
import { type Send, sendFile, type Transfer, type UploadResponse } from "./send_file";

export type Stage = "waiting" | "sending" | "analysing" | "done" | "duplicate" | "failed" | "cancelled";

const MAX_RUNNING = 4;
const RETRY_DELAYS_MS = [500, 1000, 2000, 4000, 8000]; // delays after the server responds with 429

export class Upload {
  readonly stage = new Signal<Stage>("waiting");
  /** The share of the file that has been sent, 0 to 1. */
  readonly progress = new Signal(0);
  error: unknown = null;
  response: UploadResponse | null = null;
  transfer: Transfer | null = null;

  constructor(readonly group: FileGroup) {}

  get name(): string {
    return this.group.file.name;
  }

  /** In bytes, including companions. */
  get size(): number {
    return this.group.companions.reduce((sum, { size }) => sum + size, this.group.file.size);
  }

  /** Notes about the file. */
  get notes(): readonly string[] {
    return this.response?.notes ?? [];
  }

  get isFinished(): boolean {
    return !["waiting", "sending", "analysing"].includes(this.stage.value);
  }
}

export class UploadQueue {
  readonly uploads: Upload[] = [];
  /** Incremented whenever an upload is added or progresses. */
  readonly version = new Signal(0);
  maxBytes = Number.POSITIVE_INFINITY;
  #running = 0;

  constructor(
    readonly onAdded: (response: UploadResponse) => void,
    readonly send: Send = sendFile,
    readonly retryDelaysMs: readonly number[] = RETRY_DELAYS_MS,
  ) {}

  add(groups: readonly FileGroup[]): void {
    this.uploads.push(...groups.map((group) => new Upload(group)));
    this.#startWaiting();
  }

  cancel(upload: Upload): void {
    if (upload.isFinished) return;
    upload.transfer?.abort();
    this.#setStage(upload, "cancelled");
  }

  retry(upload: Upload): void {
    if (!upload.isFinished) return;
    upload.error = null;
    upload.progress.value = 0;
    this.#setStage(upload, "waiting");
    this.#startWaiting();
  }

  /** Removes finished uploads; failed ones only with `failed`. */
  clear({ failed = false } = {}): void {
    const isRemaining = (upload: Upload) => !upload.isFinished || (upload.stage.value === "failed" && !failed);
    this.uploads.splice(0, this.uploads.length, ...this.uploads.filter(isRemaining));
    this.version.value += 1;
  }

  count(...stages: Stage[]): number {
    return this.uploads.filter((upload) => stages.includes(upload.stage.value)).length;
  }

  #startWaiting(): void {
    for (const upload of this.uploads) {
      if (this.#running >= MAX_RUNNING) break;
      if (upload.stage.value === "waiting") void this.#run(upload);
    }
    this.version.value += 1;
  }

  async #run(upload: Upload): Promise<void> {
    this.#running += 1;
    try {
      if (upload.size > this.maxBytes) throw tooLargeError(this.maxBytes);
      this.#setStage(upload, "sending");
      upload.response = await this.#sendWithRetries(upload);
      this.#setStage(upload, upload.response.is_duplicate ? "duplicate" : "done");
      this.onAdded(upload.response);
    } catch (error) {
      if (upload.stage.value !== "cancelled") {
        upload.error = error;
        this.#setStage(upload, "failed");
      }
    } finally {
      upload.transfer = null;
      this.#running -= 1;
      this.#startWaiting();
    }
  }

  async #sendWithRetries(upload: Upload): Promise<UploadResponse> {
    for (let attempt = 0; ; attempt++) {
      upload.transfer = this.send(upload.group, (fraction) => {
        upload.progress.value = fraction;
        if (fraction === 1 && upload.stage.value === "sending") this.#setStage(upload, "analysing");
      });
      try {
        return await upload.transfer.response;
      } catch (error) {
        const delayMs = this.retryDelaysMs[attempt];
        if (!(error instanceof ApiError) || error.status !== 429 || delayMs === undefined) throw error;
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        if (upload.isFinished) throw error; // it was cancelled meanwhile
        this.#setStage(upload, "sending");
      }
    }
  }

  #setStage(upload: Upload, stage: Stage): void {
    upload.stage.value = stage;
    this.version.value += 1;
  }
}

function tooLargeError(maxBytes: number): ApiError {
  const message = `the file is larger than ${bytes(maxBytes)}`;
  const hint = "Split the file into shorter clips, or ask the administrator of the server to raise the limit.";
  return new ApiError(413, makeDetails("request_too_large", 413, message, hint));
}

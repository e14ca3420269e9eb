import { describe, expect, it } from "vitest";
import { ApiError, makeDetails } from "../../api/client";
import { describeProblem, formatSummary } from "./panel";
import { UploadQueue } from "./queue";
import type { Transfer, UploadResponse } from "./send_file";

interface PendingTransfer extends Transfer {
  name: string;
  onProgress: (fraction: number) => void;
  resolve(response: UploadResponse): void;
  reject(error: unknown): void;
}

function createQueue(transfers: PendingTransfer[], retryDelaysMs: number[] = []) {
  const added: UploadResponse[] = [];
  const queue = new UploadQueue(
    (response) => added.push(response),
    ({ file }, onProgress) => {
      const entry = { name: file.name, onProgress } as PendingTransfer;
      entry.response = new Promise((resolve, reject) => Object.assign(entry, { resolve, reject }));
      entry.abort = () => entry.reject(new DOMException("cancelled", "AbortError"));
      transfers.push(entry);
      return entry;
    },
    retryDelaysMs,
  );
  return { queue, added };
}

const groups = (count: number) =>
  Array.from({ length: count }, (_, k) => ({ file: new File(["x"], `${k}.bvh`), companions: [] }));
const response = (isDuplicate = false) =>
  ({ clip: { hash: "0" }, is_duplicate: isDuplicate, notes: [] }) as unknown as UploadResponse;
const soon = () => new Promise((resolve) => setTimeout(resolve, 5));
const busy = () => new ApiError(429, makeDetails("too_many_requests", 429, "too many"));

describe("uploads", () => {
  it("run four at a time", async () => {
    const transfers: PendingTransfer[] = [];
    const { queue, added } = createQueue(transfers);
    queue.add(groups(6));
    expect(transfers.map(({ name }) => name)).toEqual(["0.bvh", "1.bvh", "2.bvh", "3.bvh"]);
    transfers[0]!.onProgress(0.5);
    transfers[1]!.onProgress(1);
    expect(queue.uploads.map(({ stage }) => stage.value).slice(0, 2)).toEqual(["sending", "analysing"]);
    transfers[1]!.resolve(response());
    await soon();
    expect([transfers.length, added.length, formatSummary(queue)]).toEqual([5, 1, "Adding 1 of 6"]);
  });

  it("can be cancelled, retried, and fail", async () => {
    const transfers: PendingTransfer[] = [];
    const { queue } = createQueue(transfers);
    queue.add(groups(2));
    queue.cancel(queue.uploads[0]!);
    transfers[1]!.reject(new Error("line 3 is odd"));
    await soon();
    expect(queue.uploads.map(({ stage }) => stage.value)).toEqual(["cancelled", "failed"]);
    expect(formatSummary(queue)).toBe("0 clips added, 1 failed");
    queue.retry(queue.uploads[0]!);
    transfers[2]!.resolve(response(true));
    await soon();
    expect(queue.uploads[0]!.stage.value).toBe("duplicate");
    expect(formatSummary(queue)).toBe("0 clips added, 1 already in the library, 1 failed");
    queue.clear();
    expect(queue.uploads.length).toBe(1); // failed uploads stay until they are dismissed
    queue.clear({ failed: true });
    expect(queue.uploads.length).toBe(0);
  });

  it("wait while the server is busy; files that are too large are not sent", async () => {
    const transfers: PendingTransfer[] = [];
    const { queue, added } = createQueue(transfers, [1]);
    queue.add(groups(1));
    transfers[0]!.reject(busy());
    await soon();
    expect(transfers.length).toBe(2);
    transfers[1]!.resolve(response());
    await soon();
    expect(added.length).toBe(1);
    queue.maxBytes = 0;
    queue.add(groups(1));
    await soon();
    expect([transfers.length, queue.uploads[1]!.stage.value]).toEqual([2, "failed"]);
  });

  it("show errors without repeating file and line", () => {
    const details = makeDetails("format", 422, "5 channels");
    expect(describeProblem({ ...details, path: "a.bvh", line: 41 }, "a.bvh")).toBe("5 channels");
    expect(describeProblem({ ...details, path: "b.asf", line: 41 }, "a.amc")).toBe("b.asf: 5 channels");
    expect(describeProblem({ ...details, subject: "walk" }, "a.bvh")).toBe("walk: 5 channels");
    expect(describeProblem(details, "a.bvh")).toBe("5 channels");
  });

  it("count clips with notes", async () => {
    const transfers: PendingTransfer[] = [];
    const { queue } = createQueue(transfers);
    queue.add(groups(2));
    transfers[0]!.resolve({ ...response(), notes: ["the last row is left out"] });
    transfers[1]!.resolve(response());
    await soon();
    expect(formatSummary(queue)).toBe("2 clips added, 1 with a note");
  });
});

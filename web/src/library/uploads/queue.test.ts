import { describe, expect, it } from "vitest";
import { ApiError } from "../../api/client";
import { summaryOf, withoutPlace, withoutRemedy } from "./panel";
import { UploadQueue } from "./queue";
import type { Sending, Uploaded } from "./sending";

interface Held extends Sending {
  name: string;
  onPart: (part: number) => void;
  resolve(answer: Uploaded): void;
  reject(error: unknown): void;
}

function queueOf(held: Held[], waits: number[] = []) {
  const added: Uploaded[] = [];
  const queue = new UploadQueue(
    (answer) => added.push(answer),
    ({ file }, onPart) => {
      const entry = { name: file.name, onPart } as Held;
      entry.answer = new Promise((resolve, reject) => Object.assign(entry, { resolve, reject }));
      entry.abort = () => entry.reject(new DOMException("cancelled", "AbortError"));
      held.push(entry);
      return entry;
    },
    waits,
  );
  return { queue, added };
}

const takes = (count: number) =>
  Array.from({ length: count }, (_, k) => ({ file: new File(["x"], `${k}.bvh`), companions: [] }));
const answer = (known = false) => ({ clip: { hash: "0" }, known, notes: [] }) as unknown as Uploaded;
const soon = () => new Promise((resolve) => setTimeout(resolve, 5));
const busy = () => new ApiError(429, { kind: "TooMany", message: "too many", line: null, remedy: null });

describe("uploads", () => {
  it("go four at a time, and each that ends makes room", async () => {
    const held: Held[] = [];
    const { queue, added } = queueOf(held);
    queue.add(takes(6));
    expect(held.map(({ name }) => name)).toEqual(["0.bvh", "1.bvh", "2.bvh", "3.bvh"]);
    held[0]!.onPart(0.5);
    held[1]!.onPart(1);
    expect(queue.uploads.map(({ stage }) => stage.value).slice(0, 2)).toEqual(["sending", "analysing"]);
    held[1]!.resolve(answer());
    await soon();
    expect([held.length, added.length, summaryOf(queue)]).toEqual([5, 1, "Adding 1 of 6"]);
  });

  it("can be cancelled, tried again, and fail", async () => {
    const held: Held[] = [];
    const { queue } = queueOf(held);
    queue.add(takes(2));
    queue.cancel(queue.uploads[0]!);
    held[1]!.reject(new Error("line 3 is odd"));
    await soon();
    expect(queue.uploads.map(({ stage }) => stage.value)).toEqual(["cancelled", "failed"]);
    expect(summaryOf(queue)).toBe("0 clips added, 1 failed");
    queue.retry(queue.uploads[0]!);
    held[2]!.resolve(answer(true));
    await soon();
    expect(queue.uploads[0]!.stage.value).toBe("known");
    queue.clear();
    expect(queue.uploads.length).toBe(1); // what failed stays until it is dismissed
    queue.clear({ failed: true });
    expect(queue.uploads.length).toBe(0);
  });

  it("wait when the server has too many, and too large ones are not sent", async () => {
    const held: Held[] = [];
    const { queue, added } = queueOf(held, [1]);
    queue.add(takes(1));
    held[0]!.reject(busy());
    await soon();
    expect(held.length).toBe(2);
    held[1]!.resolve(answer());
    await soon();
    expect(added.length).toBe(1);
    queue.mostBytes = 0;
    queue.add(takes(1));
    await soon();
    expect([held.length, queue.uploads[1]!.stage.value]).toEqual([2, "failed"]);
  });

  it("say what is wrong without saying twice where", () => {
    expect(withoutPlace("a.bvh:41: 5 channels", "a.bvh", 41)).toBe("5 channels");
    expect(withoutPlace("a.bvh: empty", "a.bvh", null)).toBe("empty");
    expect(withoutPlace("b.bvh:41: 5 channels", "a.bvh", 41)).toBe("b.bvh:41: 5 channels");
    const [message, remedy] = ["reading FBX needs: pip install 'x'", "On the server: pip install 'x'"];
    expect(withoutRemedy(message, remedy)).toBe("reading FBX needs something that is not installed");
    expect(withoutRemedy(message, null)).toBe(message);
    expect(withoutRemedy("needs: care", "Export it again.")).toBe("needs: care");
  });

  it("say how many have something to be noted", async () => {
    const held: Held[] = [];
    const { queue } = queueOf(held);
    queue.add(takes(2));
    held[0]!.resolve({ ...answer(), notes: ["the last row is left out"] });
    held[1]!.resolve(answer());
    await soon();
    expect(summaryOf(queue)).toBe("2 clips added, 1 with a note");
  });
});

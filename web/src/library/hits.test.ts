import { afterEach, describe, expect, it, vi } from "vitest";
import { readQuery } from "../state/query";
import { HitSource } from "./hits";
import { parseExample, VIEW } from "./view";

const HASH = "a".repeat(64);
const hashOf = (n: number) => n.toString(16).padStart(64, "0");

/** Stubs a server with `count` hits, of which the last `unlike` have score 0. Returns the requests. */
function stubServer(count: number, { nZeroScores = 0, fails = [] as number[] } = {}) {
  const requests: [number, number][] = [];
  vi.stubGlobal("fetch", async (_path: string, { body }: RequestInit) => {
    const { skip, limit } = JSON.parse(String(body));
    requests.push([skip, limit]);
    if (fails.includes(requests.length)) throw new TypeError("no network");
    const numbers = Array.from({ length: Math.max(0, Math.min(limit, count - skip)) }, (_, n) => skip + n);
    const clip = (n: number) => ({ hash: hashOf(n), tags: [], duration_s: 3 });
    const hits = numbers.map((n) => ({ clip: clip(n), score: n < count - nZeroScores ? 1 - n / 5000 : 0 }));
    return new Response(JSON.stringify({ hits, has_more: skip + limit < count, elapsed_ms: 2 }));
  });
  return requests;
}

function createSource(minHits = 1) {
  const view = readQuery(VIEW, `?clip=${HASH}`);
  return new HitSource(view, parseExample(view)!, minHits);
}

const first = { first: 0, end: 1 };
const waitForHits = async (source: HitSource) => {
  await source.loadAll(first);
  await vi.waitFor(() => expect(source.more.value).not.toBe("busy"));
};

describe("hits", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("are loaded page by page near the end", async () => {
    const requests = stubServer(230);
    const source = createSource();
    await waitForHits(source);
    expect([source.total.value, source.more.value]).toEqual([100, "some"]);
    expect(source.facets.value?.isPartial).toBe(true);
    source.load({ first: 0, end: 40 }); // far from the end
    expect(source.more.value).toBe("some");
    source.load({ first: 60, end: 90 });
    source.load({ first: 70, end: 100 }); // requested once
    await waitForHits(source);
    source.loadMore();
    await waitForHits(source);
    expect([source.total.value, source.more.value]).toEqual([230, "none"]);
    expect(source.at(229)?.row.hash).toBe(hashOf(229));
    expect(source.facets.value?.isPartial).toBe(false);
    expect(requests).toEqual([
      [0, 100],
      [100, 100],
      [200, 100],
    ]);
  });

  it("are as many as before after going back and after a refresh", async () => {
    const requests = stubServer(500);
    const source = createSource(250);
    await waitForHits(source);
    expect(source.total.value).toBe(300);
    source.refresh(first);
    await waitForHits(source);
    expect([source.total.value, requests.length]).toEqual([300, 6]);
  });

  it("report errors and can be retried", async () => {
    stubServer(150, { fails: [2] });
    const source = createSource();
    await waitForHits(source);
    source.loadMore();
    await waitForHits(source);
    expect(source.more.value).toHaveProperty("error");
    expect([source.total.value, source.failure.value]).toEqual([100, null]); // existing hits stay
    source.loadMore();
    await waitForHits(source);
    expect([source.total.value, source.more.value]).toEqual([150, "none"]);
  });

  it("end at score 0 and at the limit", async () => {
    stubServer(400, { nZeroScores: 250 });
    const some = createSource();
    await waitForHits(some);
    some.loadMore();
    await waitForHits(some);
    expect([some.total.value, some.more.value]).toEqual([150, "none"]);
    const requests = stubServer(5000);
    const many = createSource(9999);
    await waitForHits(many);
    expect([many.total.value, many.more.value, requests.at(-1)]).toEqual([1000, "too many", [900, 100]]);
  });
});

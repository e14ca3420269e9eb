import { afterEach, describe, expect, it, vi } from "vitest";
import { readQuery } from "../state/query";
import { HitSource } from "./hits";
import { exampleOf, VIEW } from "./view";

const HASH = "a".repeat(64);
const hashOf = (n: number) => n.toString(16).padStart(64, "0");

/** A server with so many hits; the last `unlike` of them are not alike at all. Says what it was asked for. */
function serving(count: number, { unlike = 0, fails = [] as number[] } = {}) {
  const asked: [number, number][] = [];
  vi.stubGlobal("fetch", async (_path: string, { body }: RequestInit) => {
    const { skip, limit } = JSON.parse(String(body));
    asked.push([skip, limit]);
    if (fails.includes(asked.length)) throw new TypeError("no network");
    const numbers = Array.from({ length: Math.max(0, Math.min(limit, count - skip)) }, (_, n) => skip + n);
    const clip = (n: number) => ({ hash: hashOf(n), tags: [], duration_s: 3 });
    const hits = numbers.map((n) => ({ clip: clip(n), score: n < count - unlike ? 1 - n / 5000 : 0 }));
    return new Response(JSON.stringify({ hits, more: skip + limit < count, took_ms: 2 }));
  });
  return asked;
}

function sourceOf(atLeast = 1) {
  const view = readQuery(VIEW, `?like=${HASH}`);
  return new HitSource(view, exampleOf(view)!, atLeast);
}

const first = { first: 0, end: 1 };
const come = async (source: HitSource) => {
  await source.all(first);
  await vi.waitFor(() => expect(source.more.value).not.toBe("busy"));
};

describe("hits", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("come in pages, the next one when the end is near", async () => {
    const asked = serving(230);
    const source = sourceOf();
    await come(source);
    expect([source.total.value, source.more.value]).toEqual([100, "some"]);
    expect(source.facets.value?.isPartial).toBe(true);
    source.want({ first: 0, end: 40 }); // the end is far
    expect(source.more.value).toBe("some");
    source.want({ first: 60, end: 90 });
    source.want({ first: 70, end: 100 }); // asked for once
    await come(source);
    source.askMore();
    await come(source);
    expect([source.total.value, source.more.value]).toEqual([230, "none"]);
    expect(source.at(229)?.row.hash).toBe(hashOf(229));
    expect(source.facets.value?.isPartial).toBe(false);
    expect(asked).toEqual([
      [0, 100],
      [100, 100],
      [200, 100],
    ]);
  });

  it("are as many as were there when one comes back, and after a refresh", async () => {
    const asked = serving(500);
    const source = sourceOf(250);
    await come(source);
    expect(source.total.value).toBe(300);
    source.refresh(first);
    await come(source);
    expect([source.total.value, asked.length]).toEqual([300, 6]);
  });

  it("say why no more come, and are asked for again", async () => {
    serving(150, { fails: [2] });
    const source = sourceOf();
    await come(source);
    source.askMore();
    await come(source);
    expect(source.more.value).toHaveProperty("error");
    expect([source.total.value, source.failure.value]).toEqual([100, null]); // what is there stays
    source.askMore();
    await come(source);
    expect([source.total.value, source.more.value]).toEqual([150, "none"]);
  });

  it("end where nothing is alike, and where nobody looks any more", async () => {
    serving(400, { unlike: 250 });
    const some = sourceOf();
    await come(some);
    some.askMore();
    await come(some);
    expect([some.total.value, some.more.value]).toEqual([150, "none"]);
    const asked = serving(5000);
    const many = sourceOf(9999);
    await come(many);
    expect([many.total.value, many.more.value, asked.at(-1)]).toEqual([1000, "too many", [900, 100]]);
  });
});

import { describe, expect, it } from "vitest";
import { readQuery } from "../state/query";
import { lasting } from "./facets";
import { pathOf, sideOf, type Walk, yawOf } from "./figure";
import { facetsOf } from "./hits";
import { placeOf, shareOf, whyOf } from "./match";
import { Selection } from "./selection";
import { tagsIn, undoingTags } from "./tagging";
import { Undoing } from "./undoing";
import { isMotion, pickedOf } from "./uploads/picking";
import { type ClipRow, clipAddress, clipsPath, exampleOf, type HitRow, searchTold, VIEW } from "./view";

const HASH = "a".repeat(64);
const row = (more: Partial<ClipRow> = {}) =>
  ({ hash: HASH, name: "walk", tags: [], fps: 30, n_frames: 300, duration_s: 10, ...more }) as unknown as ClipRow;
const view = (search: string) => readQuery(VIEW, search);

describe("the view", () => {
  it("asks for a page of clips", () => {
    const path = clipsPath(view("?words= slow walk &tag=a&tag=b&least=2&most=5&body=left_arm&sort=name"), 100, 50);
    const query = new URL(path, "http://x").searchParams;
    expect(query.get("words")).toBe("slow walk");
    expect(query.getAll("tag")).toEqual(["a", "b"]);
    expect(Object.fromEntries(query)).toMatchObject({ least_duration_s: "2", most_duration_s: "5", part: "left_arm" });
    expect(Object.fromEntries(query)).toMatchObject({ sort: "name", skip: "100", limit: "50" });
  });

  it("knows examples, and refuses what is none", () => {
    expect(exampleOf(view(`?like=${HASH}`))).toEqual({ kind: "like", clip: HASH });
    expect(exampleOf(view(`?part=${HASH}:10-40`))).toEqual({ kind: "part", clip: HASH, start: 10, end: 40 });
    expect(exampleOf(view(`?pose=${HASH}:7`))).toEqual({ kind: "pose", clip: HASH, frame: 7 });
    for (const search of ["", "?like=../x", `?part=${HASH}`, `?pose=${HASH}:x`])
      expect(exampleOf(view(search))).toBeNull();
  });

  it("searches by swings only for whole clips", () => {
    const part = view(`?part=${HASH}:10-40&ranker=swings&by=legs&mirrored=0`);
    expect(searchTold(part, exampleOf(part)!, 5, 9)).toMatchObject({
      ...{
        clip: HASH,
        start: 10,
        end: 40,
        joints: ["legs"],
        mirrored: false,
        ranker: "descriptors",
        skip: 5,
        limit: 9,
      },
    });
    const like = view(`?like=${HASH}&ranker=swings`);
    expect(searchTold(like, exampleOf(like)!, 0, 9).ranker).toBe("swings");
  });

  it("opens a hit where it lies", () => {
    const hit = { start: 30, end: 90 } as HitRow;
    expect(clipAddress(row())).toBe(`/clips/${HASH}`);
    expect(clipAddress(row(), hit)).toBe(`/clips/${HASH}?frame=30&range=30-89`);
    expect(clipAddress(row(), { ...hit, end: 31 })).toBe(`/clips/${HASH}?frame=30`);
  });
});

describe("where a match lies", () => {
  it("as parts of the clip, never too small to see nor outside", () => {
    expect(shareOf(row(), { start_s: 2.5, end_s: 5 })).toEqual([0.25, 0.25]);
    const [left, width] = shareOf(row(), { start_s: 10, end_s: 10 });
    expect(width).toBeGreaterThan(0.01);
    expect(left + width).toBeLessThanOrEqual(1);
  });

  it("in words", () => {
    expect(placeOf(row(), { start_s: 0, end_s: 10 })).toBe("whole clip");
    expect(placeOf(row(), { start_s: 2, end_s: 2.03 })).toBe("at 2.0 s");
    expect(placeOf(row({ duration_s: 30 }), { start_s: 9.4, end_s: 10.07 })).toBe("9.4 – 10.1 s");
    expect(placeOf(row({ duration_s: 90 }), { start_s: 58, end_s: 64.6 })).toBe("58 s – 1:05");
    expect(whyOf({ says: "seconds 9.4 to 10.1, mirrored; left arm swings alike" })).toBe("Left arm swings alike.");
    expect(whyOf({ says: "second 2.0; joints 3.1 cm apart on average" })).toBe("Joints 3.1 cm apart on average.");
    expect(whyOf({ says: "seconds 0.0 to 2.0" })).toBe("");
    expect(placeOf(row(), { start_s: 2, end_s: 4.5 })).toBe("2.0 – 4.5 s");
    expect([lasting(null, 2), lasting(2, 5), lasting(30, 60), lasting(60, null)]).toEqual([
      ...["under 2 s", "2 to 5 s", "30 s to 1:00", "over 1:00"],
    ]);
  });
});

describe("choosing", () => {
  it("toggles, reaches from the anchor either way, and forgets what is gone", () => {
    const selection = new Selection();
    selection.toggle("a", 4);
    expect(selection.reach(7)).toEqual({ first: 4, end: 8 });
    expect(selection.reach(1)).toEqual({ first: 1, end: 5 });
    selection.add(["b", "c"]);
    selection.toggle("a", 4);
    selection.drop(["b", "x"]);
    expect([...selection.chosen.value]).toEqual(["c"]);
    selection.clear();
    expect(selection.reach(3)).toEqual({ first: 3, end: 4 });
  });

  it("gives every clip its own tags back", () => {
    const clips = [row({ hash: "1", tags: ["x"] }), row({ hash: "2", tags: ["y"] }), row({ hash: "3", tags: ["y"] })];
    expect(undoingTags(clips, { add: ["x"], remove: ["y"] })).toEqual([
      { clips: ["2", "3"], add: ["y"], remove: ["x"] },
    ]);
    expect(tagsIn(" walk, take 3 ,,walk")).toEqual(["walk", "take 3"]);
  });
});

describe("files", () => {
  it("of folders are sent if they are motion", async () => {
    expect(["a.bvh", "b.BVH.gz", "c.keys.json", "d.usdc"].every(isMotion)).toBe(true);
    expect([".a.bvh", "notes.txt", "c.json", "bvh"].some(isMotion)).toBe(false);
    const file = (name: string, path: string) =>
      Object.defineProperty(new File([], name), "webkitRelativePath", { value: path });
    const picked = await pickedOf([file("a.bvh", "x/a.bvh"), file("n.txt", "x/n.txt"), file("n.txt", "")]);
    expect([picked.takes.length, picked.skipped]).toEqual([2, 1]);
  });
});

describe("what was done", () => {
  it("is taken back from the latest on, whether its toast is there or not", () => {
    const heard: string[] = [];
    const offers: { title: string; run: () => void }[] = [];
    const undoing = new Undoing((text, action) => {
      offers.push(action);
      return () => heard.push(`hush ${text}`);
    });
    for (const each of ["a", "b", "c"]) undoing.did(each === "b" ? null : each, () => heard.push(each));
    undoing.did(null, () => heard.push("d"))(); // it did not work after all
    offers[0]!.run(); // a, by its toast
    undoing.undo();
    undoing.undo();
    undoing.undo();
    offers[1]!.run(); // c was taken back before
    expect(heard).toEqual(["hush a", "a", "hush c", "c", "b"]);
    expect(undoing.isEmpty).toBe(true);
  });
});

describe("the hits of a search", () => {
  it("are counted by tags and durations", () => {
    const { tags, durations } = facetsOf(
      [1, 3, 4, 70].map((duration_s) => ({ row: row({ duration_s, tags: ["a"] }) })),
    );
    expect(tags).toEqual([{ tag: "a", count: 4 }]);
    expect(durations.map(({ count }) => count)).toEqual([1, 2, 0, 0, 0, 1]);
    expect(durations.at(-1)).toEqual({ least_s: 60, most_s: null, count: 1 });
  });
});

describe("the stick figure", () => {
  it("knows sides by the names of many exporters", () => {
    expect(["LeftUpLeg", "lfemur", "L_Hip", "mixamorig:LeftArm", "hand.l"].map(sideOf)).toEqual(Array(5).fill("left"));
    expect(["RightArm", "rtibia", "R Thigh", "Bip01 R Foot"].map(sideOf)).toEqual(Array(4).fill("right"));
    expect(["Hips", "Spine1", "lowerback", "root", "Collar"].map(sideOf)).toEqual(Array(5).fill("middle"));
  });

  it("is seen half from its front wherever it looks, and followed", () => {
    const walk = (leftX: number, leftZ: number): Walk => ({
      ...{ fps: 10, nFrames: 2, nJoints: 2, parents: [-1, -1], names: ["Left", "Right"] },
      positions: new Float32Array([leftX, 1, leftZ, 0, 1, 0, leftX, 1, leftZ, 0, 1, 0]),
      ...{ ends: new Float32Array(), endJoints: [] },
    });
    const forward = yawOf(walk(1, 0)); // looks along z, towards the camera
    expect(forward).toBeCloseTo((38 * Math.PI) / 180);
    expect(yawOf(walk(0, -1)) - forward).toBeCloseTo(Math.PI / 2); // turned to its left, along x
    expect([...pathOf(walk(1, 0))]).toEqual([1, 0, 1, 0]);
  });
});

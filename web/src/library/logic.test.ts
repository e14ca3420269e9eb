import { describe, expect, it } from "vitest";
import { readQuery } from "../state/query";
import { describeImportFormats } from "./empty_state";
import { durationRange } from "./facets";
import { countFacets } from "./hits";
import { describeSpan, explainMatch, matchExtent } from "./match";
import { Selection } from "./selection";
import { bestYaw, cameraPath, type FigureMotion, findDots, StickFigure, sideOf } from "./stick_figure";
import { invertTagChange, parseTags } from "./tag_dialog";
import { UndoStack } from "./undo_stack";
import { collectPickedFiles, isMotion } from "./uploads/collect_files";
import { buildSearchRequest, type ClipRow, clipsUrl, clipUrl, type HitRow, parseExample, VIEW } from "./view";

const HASH = "a".repeat(64);
const row = (more: Partial<ClipRow> = {}) =>
  ({ hash: HASH, name: "walk", tags: [], fps: 30, n_frames: 300, duration_s: 10, ...more }) as unknown as ClipRow;
const view = (search: string) => readQuery(VIEW, search);

describe("the address of the library page", () => {
  it("gives the URL of a page of clips", () => {
    const path = clipsUrl(
      view("?text= slow walk &tag=a&tag=b&min_duration_s=2&max_duration_s=5&body_part=left_arm&action=kick&sort=name"),
      100,
      50,
    );
    const query = new URL(path, "http://x").searchParams;
    expect(query.get("text")).toBe("slow walk");
    expect(query.getAll("tag")).toEqual(["a", "b"]);
    expect(Object.fromEntries(query)).toMatchObject({
      min_duration_s: "2",
      max_duration_s: "5",
      body_part: "left_arm",
      action: "kick",
    });
    expect(Object.fromEntries(query)).toMatchObject({ sort: "name", skip: "100", limit: "50" });
  });

  it("gives valid examples only", () => {
    expect(parseExample(view(`?clip=${HASH}`))).toEqual({ kind: "clip", hash: HASH });
    expect(parseExample(view(`?span=${HASH}:10-40`))).toEqual({ kind: "span", hash: HASH, start: 10, end: 40 });
    expect(parseExample(view(`?pose=${HASH}:7`))).toEqual({ kind: "pose", hash: HASH, frame: 7 });
    for (const search of ["", "?clip=../x", `?span=${HASH}`, `?pose=${HASH}:x`])
      expect(parseExample(view(search))).toBeNull();
  });

  it("searches by swings only for whole clips", () => {
    const part = view(`?span=${HASH}:10-40&ranker=swings&joints=legs&mirrored=0`);
    expect(buildSearchRequest(part, parseExample(part)!, 5, 9)).toMatchObject({
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
    const whole = view(`?clip=${HASH}&ranker=swings`);
    expect(buildSearchRequest(whole, parseExample(whole)!, 0, 9).ranker).toBe("swings");
  });

  it("links to the frames of a hit", () => {
    const hit = { start: 30, end: 90 } as HitRow;
    expect(clipUrl(row())).toBe(`/clips/${HASH}`);
    expect(clipUrl(row(), hit)).toBe(`/clips/${HASH}?frame=30&range=30-89`);
    expect(clipUrl(row(), { ...hit, end: 31 })).toBe(`/clips/${HASH}?frame=30`);
  });
});

describe("the position of a match", () => {
  it("is a visible fraction of the clip", () => {
    expect(matchExtent(row(), { start_s: 2.5, end_s: 5 })).toEqual([0.25, 0.25]);
    const [left, width] = matchExtent(row(), { start_s: 10, end_s: 10 });
    expect(width).toBeGreaterThan(0.01);
    expect(left + width).toBeLessThanOrEqual(1);
  });

  it("is described", () => {
    expect(describeSpan(row(), { start_s: 0, end_s: 10 })).toBe("whole clip");
    expect(describeSpan(row(), { start_s: 2, end_s: 2.03 })).toBe("at 2.0 s");
    expect(describeSpan(row({ duration_s: 30 }), { start_s: 9.4, end_s: 10.07 })).toBe("9.4 – 10.1 s");
    expect(describeSpan(row({ duration_s: 90 }), { start_s: 58, end_s: 64.6 })).toBe("58 s – 1:05");
    expect(describeSpan(row(), { start_s: 2, end_s: 4.5 })).toBe("2.0 – 4.5 s");
    expect([durationRange(null, 2), durationRange(2, 5), durationRange(30, 60), durationRange(60, null)]).toEqual([
      ...["Under 2 s", "2 to 5 s", "30 s to 1:00", "Over 1:00"],
    ]);
  });
});

describe("the explanation of a match", () => {
  const nothing = { body_parts: [], joint_distance_cm: null, duplicates: [] };

  it("names what agrees", () => {
    expect(explainMatch({ ...nothing, body_parts: ["left_arm"] })).toBe("Similar swings: left arm.");
    expect(explainMatch({ ...nothing, body_parts: ["left_arm", "head", "right_arm"], duplicates: ["a", "b"] })).toBe(
      "Similar swings: left arm, head; same motion as a, b.",
    );
    expect(explainMatch({ ...nothing, joint_distance_cm: 3.14 })).toBe("Joints 3.1 cm apart on average.");
  });

  it("is empty if nothing is known", () => {
    expect(explainMatch(nothing)).toBe("");
  });
});

describe("the selection", () => {
  it("toggles, extends from the anchor in both directions, and drops clips", () => {
    const selection = new Selection();
    selection.toggle("a", 4);
    expect(selection.rangeTo(7)).toEqual({ first: 4, end: 8 });
    expect(selection.rangeTo(1)).toEqual({ first: 1, end: 5 });
    selection.add(["b", "c"]);
    selection.toggle("a", 4);
    selection.drop(["b", "x"]);
    expect([...selection.hashes.value]).toEqual(["c"]);
    selection.clear();
    expect(selection.rangeTo(3)).toEqual({ first: 3, end: 4 });
  });

  it("inverts changes of tags", () => {
    const clips = [row({ hash: "1", tags: ["x"] }), row({ hash: "2", tags: ["y"] }), row({ hash: "3", tags: ["y"] })];
    expect(invertTagChange(clips, { add: ["x"], remove: ["y"] })).toEqual([
      { clips: ["2", "3"], add: ["y"], remove: ["x"] },
    ]);
    expect(parseTags(" walk, take 3 ,,walk")).toEqual(["walk", "take 3"]);
  });
});

describe("files", () => {
  it("that can be added are listed apart from those that the server cannot read", () => {
    const format = (label: string, suffix: string, command: string | null = null) => ({
      label,
      suffixes: [suffix, `${suffix}.gz`],
      install_command: command,
    });
    const formats = [format("BVH", ".bvh"), format("Keypose keys", ".keys.json"), format("C3D", ".c3d")];
    expect(describeImportFormats([...formats, format("FBX", ".fbx", "pip install x")])).toEqual([
      expect.stringMatching(/^\.bvh, \.keys\.json, and \.c3d files/),
      "FBX files need this on the server: pip install x",
    ]);
    expect(describeImportFormats([...formats, format("FBX", ".fbx")])).toEqual([expect.stringContaining(".fbx")]);
  });

  it("in folders are uploaded if they contain motion", async () => {
    expect(["a.bvh", "b.BVH.gz", "c.keys.json", "d.usdc"].every(isMotion)).toBe(true);
    expect([".a.bvh", "notes.txt", "c.json", "bvh"].some(isMotion)).toBe(false);
    const file = (name: string, path: string) =>
      Object.defineProperty(new File([], name), "webkitRelativePath", { value: path });
    const collected = await collectPickedFiles([file("a.bvh", "x/a.bvh"), file("n.txt", "x/n.txt"), file("n.txt", "")]);
    expect([collected.groups.length, collected.skipped]).toEqual([2, 1]);
  });
});

describe("the undo stack", () => {
  it("undoes the latest action first, with or without its toast", () => {
    const log: string[] = [];
    const toastActions: { title: string; run: () => void }[] = [];
    const undoStack = new UndoStack((text, action) => {
      toastActions.push(action);
      return () => log.push(`close ${text}`);
    });
    for (const each of ["a", "b", "c"]) undoStack.push(each === "b" ? null : each, () => log.push(each));
    undoStack.push(null, () => log.push("d"))(); // drop it: the action failed
    toastActions[0]!.run(); // a, by its toast
    undoStack.undo();
    undoStack.undo();
    undoStack.undo();
    toastActions[1]!.run(); // c has already been undone
    expect(log).toEqual(["close a", "a", "close c", "c", "b"]);
    expect(undoStack.isEmpty).toBe(true);
  });
});

describe("the hits of a search", () => {
  it("are counted by tags and durations", () => {
    const { tags, durations } = countFacets(
      [1, 3, 4, 70].map((duration_s) => ({ row: row({ duration_s, tags: ["a"] }) })),
    );
    expect(tags).toEqual([{ tag: "a", count: 4 }]);
    expect(durations.map(({ count }) => count)).toEqual([1, 2, 0, 0, 0, 1]);
    expect(durations.at(-1)).toEqual({ min_s: 60, max_s: null, count: 1 });
  });
});

describe("the stick figure", () => {
  it("recognises sides in the names of many exporters", () => {
    expect(["LeftUpLeg", "lfemur", "L_Hip", "mixamorig:LeftArm", "hand.l"].map(sideOf)).toEqual(Array(5).fill("left"));
    expect(["RightArm", "rtibia", "R Thigh", "Bip01 R Foot"].map(sideOf)).toEqual(Array(4).fill("right"));
    expect(["Hips", "Spine1", "lowerback", "root", "Collar"].map(sideOf)).toEqual(Array(5).fill("middle"));
  });

  it("is seen half from its front in any orientation, and followed", () => {
    const motion = (leftX: number, leftZ: number): FigureMotion => ({
      ...{ fps: 10, nFrames: 2, nJoints: 2, parents: [-1, 0], names: ["Left", "Right"] },
      positions: new Float32Array([leftX, 1, leftZ, 0, 1, 0, leftX, 1, leftZ, 0, 1, 0]),
      ...{ ends: new Float32Array(), endJoints: [] },
    });
    const forward = bestYaw(motion(1, 0)); // looks along z, towards the camera
    expect(forward).toBeCloseTo((38 * Math.PI) / 180);
    expect(bestYaw(motion(0, -1)) - forward).toBeCloseTo(Math.PI / 2); // turned to its left, along x
    expect([...cameraPath(motion(1, 0))]).toEqual([1, 0, 1, 0]);
  });

  const figure = (parents: number[], names: string[], frames: number[][]): FigureMotion => ({
    ...{ fps: 10, nFrames: frames.length, nJoints: parents.length, parents, names },
    ...{ positions: new Float32Array(frames.flat()), ends: new Float32Array(), endJoints: [] },
  });
  const markers = figure([-1, -1, -1], ["LKNE", "RKNE", "LANK"], [
    [0, 0.5, 0, 1, 0.5, 0, 0, 0.1, 0],
    [0, 0.5, 3, 1, 0.5, 1, 0, 0.1, 3],
  ]); // biome-ignore format: a row for each frame

  /** Returns what is drawn: filled circles and stroked lines. */
  function drawFrame(motion: FigureMotion): { circles: [number, number][]; lines: number } {
    const drawn = { circles: [] as [number, number][], lines: 0 };
    const context = {
      ...{ fillRect() {}, beginPath() {}, moveTo() {}, lineTo() {}, fill() {} },
      arc: (x: number, y: number) => drawn.circles.push([x, y]),
      stroke: () => {
        drawn.lines += 1;
      },
    };
    const colours = { paper: "", floor: "", left: "", middle: "", right: "" };
    new StickFigure(motion).draw(context as unknown as CanvasRenderingContext2D, 0, 300, 100, colours);
    return drawn;
  }

  it("shows markers as dots, linked if their distance is constant, in the middle of the view", () => {
    expect(findDots(markers)).toEqual({ dots: [0, 1, 2], links: [[0, 2]] });
    const { circles, lines } = drawFrame(markers);
    expect([circles.length, lines]).toEqual([3, 1]);
    expect(circles.every(([x, y]) => x > 50 && x < 250 && y > 0 && y < 100)).toBe(true);
  });

  it("shows the joints of a figure without bones as dots", () => {
    const box = figure([-1, 0], ["a", "b"], [[0, 1, 0, 0, 1, 0], [0, 2, 0, 0, 4, 0]]); // biome-ignore format: short
    expect(drawFrame(box).circles.length).toBe(2);
    const arm = figure([-1, 0], ["a", "b"], [[0, 1, 0, 0, 1.3, 0], [0, 2, 0, 0, 2, 0]]); // biome-ignore format: short
    expect(drawFrame(arm).circles.length).toBe(0);
  });
});

/** The lanes of the timeline and their heights. */

import type { Schema } from "../api/client";

export interface Bar {
  joint: string;
  index: number;
  start: number;
  end: number;
  angle: number; // degrees
}

/** Returns the swings of the server as bars. */
export function toBars(swings: readonly Schema["SwingBar"][]): Bar[] {
  return swings.map(({ angle_deg, ...bar }) => ({ ...bar, angle: angle_deg }));
}

/** A movement of limbs or of the whole body. */
export interface ActionBar {
  kind: string;
  limbs: readonly string[];
  start: number;
  end: number;
  description: string;
}

export interface Group {
  name: string; // body part
  joints: readonly string[];
}

export interface Row {
  kind: "ruler" | "keys" | "pins" | "contact" | "error" | "actions" | "group" | "joint";
  name: string;
  top: number;
  height: number;
  bars?: readonly Bar[];
  isOpen?: boolean;
}

const HEIGHTS = { ruler: 20, keys: 24, pins: 16, contact: 11, error: 46, actions: 38, group: 15, joint: 15 };
const GAP = 2;

export interface LaneLayout {
  rows: Row[];
  height: number;
}

/** Lays out rows from top to bottom. Groups in `open` show one row for each joint that has swings. */
export function layOutLanes(
  feet: readonly string[],
  groups: readonly Group[],
  bars: readonly Bar[],
  open: ReadonlySet<string>,
  { hasPins, hasActions }: { hasPins: boolean; hasActions: boolean },
): LaneLayout {
  const rows: Row[] = [];
  let top = 0;
  const add = (kind: Row["kind"], name: string, extra: Partial<Row> = {}) => {
    rows.push({ kind, name, top, height: HEIGHTS[kind], ...extra });
    top += HEIGHTS[kind] + GAP;
  };
  add("ruler", "frames");
  add("keys", "keys");
  if (hasPins) add("pins", "pins");
  for (const foot of feet) add("contact", foot);
  add("error", "error");
  if (hasActions) add("actions", "actions");
  for (const group of groups) {
    const groupBars = bars.filter((bar) => group.joints.includes(bar.joint));
    if (!groupBars.length) continue;
    const isOpen = open.has(group.name);
    add("group", group.name, { bars: isOpen ? [] : groupBars, isOpen });
    if (!isOpen) continue;
    for (const joint of group.joints) {
      const jointBars = groupBars.filter((bar) => bar.joint === joint);
      if (jointBars.length) add("joint", joint, { bars: jointBars });
    }
  }
  return { rows, height: top };
}

/** Where an action is drawn: frames, and one of the two rows of its lane. */
export interface PlacedAction {
  action: ActionBar;
  row: 0 | 1;
}

/**
 * Distributes actions, in order of time, over two rows: each to the first one that is free at its start, else to the
 * one that is free sooner, where it covers the end of the other.
 */
export function placeActions(actions: readonly ActionBar[]): PlacedAction[] {
  const ends: [number, number] = [-1, -1];
  return actions.map((action) => {
    const row = action.start > ends[0] ? 0 : action.start > ends[1] || ends[1] < ends[0] ? 1 : 0;
    ends[row] = Math.max(ends[row], action.end);
    return { action, row };
  });
}

/** Divides the joints into body parts that share no joint; the rest is "other". */
export function partition(names: readonly string[], groups: Readonly<Record<string, readonly number[]>>): Group[] {
  const assigned = new Set<number>();
  const result: Group[] = [];
  for (const name of [
    "torso",
    "head",
    "left_arm",
    "right_arm",
    "left_leg",
    "right_leg",
    "left_fingers",
    "right_fingers",
  ]) {
    const unassigned = (groups[name] ?? []).filter((joint) => !assigned.has(joint));
    if (!unassigned.length) continue;
    for (const joint of unassigned) assigned.add(joint);
    result.push({ name, joints: unassigned.map((joint) => names[joint]!) });
  }
  const rest = names.filter((_, joint) => !assigned.has(joint));
  if (rest.length) result.push({ name: result.length ? "other" : "all joints", joints: rest });
  return result;
}

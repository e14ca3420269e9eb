/** The lanes of the timeline and their heights. */

export interface Bar {
  joint: string;
  index: number;
  start: number;
  end: number;
  angle: number; // degrees
}

export interface Group {
  name: string; // body part
  joints: readonly string[];
}

export interface Row {
  kind: "ruler" | "keys" | "pins" | "contact" | "error" | "group" | "joint";
  name: string;
  top: number;
  height: number;
  bars?: readonly Bar[];
  isOpen?: boolean;
}

const HEIGHTS = { ruler: 20, keys: 24, pins: 16, contact: 11, error: 46, group: 15, joint: 15 };
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
  hasPins: boolean,
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

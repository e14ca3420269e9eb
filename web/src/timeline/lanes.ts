/** What lies below each other on the timeline, and how high. */

export interface Bar {
  joint: string;
  index: number;
  start: number;
  end: number;
  angle: number; // degrees
}

export interface Group {
  name: string; // part of the body
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

export interface Laid {
  rows: Row[];
  height: number;
}

/** Rows from top to bottom. Groups in `open` show their joints, one row for each that swings. */
export function lay(
  feet: readonly string[],
  groups: readonly Group[],
  bars: readonly Bar[],
  open: ReadonlySet<string>,
  hasPins: boolean,
): Laid {
  const rows: Row[] = [];
  let top = 0;
  const add = (kind: Row["kind"], name: string, more: Partial<Row> = {}) => {
    rows.push({ kind, name, top, height: HEIGHTS[kind], ...more });
    top += HEIGHTS[kind] + GAP;
  };
  add("ruler", "frames");
  add("keys", "keys");
  if (hasPins) add("pins", "pins");
  for (const foot of feet) add("contact", foot);
  add("error", "error");
  for (const group of groups) {
    const own = bars.filter((bar) => group.joints.includes(bar.joint));
    if (!own.length) continue;
    const isOpen = open.has(group.name);
    add("group", group.name, { bars: isOpen ? [] : own, isOpen });
    if (!isOpen) continue;
    for (const joint of group.joints) {
      const of = own.filter((bar) => bar.joint === joint);
      if (of.length) add("joint", joint, { bars: of });
    }
  }
  return { rows, height: top };
}

/** The parts of a body that share no joint, as far as there are any; what is left over is "other". */
export function partition(names: readonly string[], groups: Readonly<Record<string, readonly number[]>>): Group[] {
  const taken = new Set<number>();
  const found: Group[] = [];
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
    const own = (groups[name] ?? []).filter((joint) => !taken.has(joint));
    if (!own.length) continue;
    for (const joint of own) taken.add(joint);
    found.push({ name, joints: own.map((joint) => names[joint]!) });
  }
  const rest = names.filter((_, joint) => !taken.has(joint));
  if (rest.length) found.push({ name: found.length ? "other" : "all joints", joints: rest });
  return found;
}

/** What hangs on what, and which hands and feet can be pulled. */

export interface Tree {
  parents: readonly number[];
  endJoints: readonly number[];
}

export interface Limb {
  upper: number;
  middle: number;
  end: number;
}

/** Hands and feet that can be pulled, as far as a body has them. */
export function limbsOf(joints: readonly { part: string | null }[]): Map<number, Limb> {
  const of = (part: string) => joints.findIndex((joint) => joint.part === part);
  const limbs = new Map<number, Limb>();
  for (const side of ["left", "right"])
    for (const [upper, middle, end] of [
      ["upper_arm", "forearm", "hand"],
      ["thigh", "shin", "foot"],
    ]) {
      const limb = { upper: of(`${side}_${upper}`), middle: of(`${side}_${middle}`), end: of(`${side}_${end}`) };
      if (limb.upper >= 0 && limb.middle >= 0 && limb.end >= 0) limbs.set(limb.end, limb);
    }
  return limbs;
}

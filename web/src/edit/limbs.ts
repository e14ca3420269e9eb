/** The joint hierarchy, and the limbs whose ends can be moved by IK. */

export interface JointTree {
  parents: readonly number[];
  endJoints: readonly number[];
}

export interface Limb {
  upper: number;
  middle: number;
  end: number;
}

/** Returns the limbs of a body by their end joint (hand or foot). */
export function findLimbs(joints: readonly { body_part: string | null }[]): Map<number, Limb> {
  const find = (body_part: string) => joints.findIndex((joint) => joint.body_part === body_part);
  const limbs = new Map<number, Limb>();
  for (const side of ["left", "right"])
    for (const [upper, middle, end] of [
      ["upper_arm", "forearm", "hand"],
      ["thigh", "shin", "foot"],
    ]) {
      const limb = { upper: find(`${side}_${upper}`), middle: find(`${side}_${middle}`), end: find(`${side}_${end}`) };
      if (limb.upper >= 0 && limb.middle >= 0 && limb.end >= 0) limbs.set(limb.end, limb);
    }
  return limbs;
}

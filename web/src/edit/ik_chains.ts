/** The joint hierarchy, and the IK chains: arms and legs whose ends can be moved. */

export interface JointTree {
  parents: readonly number[];
  endJoints: readonly number[];
}

export interface IkChain {
  upper: number;
  middle: number;
  end: number;
}

/** Returns the IK chains of a body by their end joint (hand or foot). */
export function findIkChains(joints: readonly { body_part: string | null }[]): Map<number, IkChain> {
  const find = (body_part: string) => joints.findIndex((joint) => joint.body_part === body_part);
  const chains = new Map<number, IkChain>();
  for (const side of ["left", "right"])
    for (const [upper, middle, end] of [
      ["upper_arm", "forearm", "hand"],
      ["thigh", "shin", "foot"],
    ]) {
      const chain = { upper: find(`${side}_${upper}`), middle: find(`${side}_${middle}`), end: find(`${side}_${end}`) };
      if (chain.upper >= 0 && chain.middle >= 0 && chain.end >= 0) chains.set(chain.end, chain);
    }
  return chains;
}

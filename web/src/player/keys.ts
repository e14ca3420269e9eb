/** Increasing frames of keys, looked up. */

/** How many of `keys` are not after `frame`. */
export function upTo(keys: readonly number[], frame: number): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle]! <= frame) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The key whose pose is held at `frame`. */
export function heldKey(keys: readonly number[], frame: number): number {
  return keys.length ? keys[Math.max(0, upTo(keys, frame) - 1)]! : frame;
}

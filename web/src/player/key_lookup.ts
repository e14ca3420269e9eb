/** Lookup in increasing key frames. */

/** Returns how many of `keys` are not after `frame`. */
export function countUpTo(keys: readonly number[], frame: number): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle]! <= frame) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the key whose pose is held at `frame`. */
export function keyAtOrBefore(keys: readonly number[], frame: number): number {
  return keys.length ? keys[Math.max(0, countUpTo(keys, frame) - 1)]! : frame;
}

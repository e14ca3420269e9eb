/** Whether the user prefers reduced motion. */

import { Signal } from "../state/signal";

const query = matchMedia("(prefers-reduced-motion: reduce)");

/** True: nothing moves on its own. */
export const reducedMotion = new Signal(query.matches);

query.addEventListener("change", () => {
  reducedMotion.value = query.matches;
});

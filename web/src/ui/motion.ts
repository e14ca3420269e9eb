/** Whether things may move by themselves. */

import { Signal } from "../state/signal";

const query = matchMedia("(prefers-reduced-motion: reduce)");

/** True: nothing moves unless it is asked to. */
export const calm = new Signal(query.matches);

query.addEventListener("change", () => {
  calm.value = query.matches;
});

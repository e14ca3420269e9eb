/** The controls of drafts, in one piece that is loaded when there is a draft. */

export { Handles } from "./handles";
export { historySection, undoBar } from "./history";
export { keysEdit } from "./keys_edit";
export { reached, shifted, turned } from "./posing";
export { swingsEdit } from "./swings_edit";

export type Panels = typeof import("./panels");

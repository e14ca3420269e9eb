/** The controls of drafts, in one piece that is loaded when there is a draft. */

export { keysEdit } from "./keys_edit";
export { swingsEdit } from "./swings_edit";

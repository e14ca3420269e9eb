/** The controls of drafts, bundled in one chunk that is loaded when there is a draft. */

export { Handles } from "./handles";
export { historySection, undoBar } from "./history";
export { keysEditor } from "./keys_editor";
export { reachGoal, rotateJoint, shiftPose } from "./pose_preview";
export { swingsEditor } from "./swings_editor";

export type Panels = typeof import("./panels");

/** The upload queue of the app. It and its panel stay when another page is opened. */

import { Signal } from "../../state/signal";
import { uploadPanel } from "./panel";
import { UploadQueue } from "./queue";

/** Incremented whenever a clip has been added. */
export const clipsAdded = new Signal(0);

export const uploads = new UploadQueue(() => {
  clipsAdded.value += 1;
});

let panel: HTMLElement | null = null;

/** Adds the panel to the document, once. */
export function showUploads(): void {
  if (panel) return;
  panel = uploadPanel(uploads).element;
  document.body.append(panel);
  addEventListener("beforeunload", (event) => {
    if (uploads.count("waiting", "sending", "analysing") > 0) event.preventDefault();
  });
}

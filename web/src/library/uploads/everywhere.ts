/** The one queue of uploads. It goes on when another page is opened, and its panel stays. */

import { Signal } from "../../state/signal";
import { uploadPanel } from "./panel";
import { UploadQueue } from "./queue";

/** Grows whenever a clip has been added. */
export const added = new Signal(0);

export const uploads = new UploadQueue(() => {
  added.value += 1;
});

let panel: HTMLElement | null = null;

/** Puts the panel on the page, once. */
export function showUploads(): void {
  if (panel) return;
  panel = uploadPanel(uploads).element;
  document.body.append(panel);
  addEventListener("beforeunload", (event) => {
    if (uploads.count("waiting", "sending", "analysing") > 0) event.preventDefault();
  });
}

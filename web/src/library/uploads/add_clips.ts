/** The button that adds files and folders, which can also be dropped anywhere on the page. */

import { h } from "../../ui/dom";
import { icon } from "../../ui/icons";
import { openMenu } from "../../ui/menu";
import { type CollectedFiles, collectDroppedFiles, collectPickedFiles } from "./collect_files";

export interface AddClips {
  /** The button with its file inputs. */
  element: HTMLElement;
  pickFiles(): void;
  pickFolder(): void;
  close(): void;
}

export function addClipsControl(onFiles: (files: CollectedFiles) => void): AddClips {
  const input = (label: string, attributes: Record<string, unknown>) => {
    const element = h("input", { type: "file", multiple: true, hidden: true, "aria-label": label, ...attributes });
    element.addEventListener("change", () => {
      void collectPickedFiles(element.files ?? []).then(onFiles);
      element.value = "";
    });
    return element;
  };
  const files = input("Motion files", { class: "pick-files" });
  const folder = input("Folder of motion files", { class: "pick-folder", webkitdirectory: true });
  const button = h("button", {
    type: "button",
    class: "button primary",
    "aria-haspopup": "menu",
    "aria-expanded": "false",
  });
  button.append(icon("upload"), h("span", { class: "wide-only", text: "Add clips" }));
  button.setAttribute("aria-label", "Add clips");
  button.addEventListener("click", () => {
    openMenu(button, "Add clips", [
      { title: "Add files…", icon: "file", run: () => files.click() },
      { title: "Add a folder…", icon: "folder", run: () => folder.click() },
    ]);
  });
  const close = listenForDrops(onFiles);
  const element = h("div", { class: "add" }, button, files, folder);
  return { element, pickFiles: () => files.click(), pickFolder: () => folder.click(), close };
}

function listenForDrops(onFiles: (files: CollectedFiles) => void): () => void {
  const message = h("p", {}, icon("upload"), "Drop to add to the library");
  const overlay = h("div", { class: "drop-overlay", hidden: true }, message);
  document.body.append(overlay);
  let depth = 0; // dragenter and dragleave are sent for every element below the pointer
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  const listeners: Record<string, (event: DragEvent) => void> = {
    dragenter: (event) => {
      if (!hasFiles(event)) return;
      depth += 1;
      overlay.hidden = false;
    },
    dragover: (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = "copy";
    },
    dragleave: (event) => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      overlay.hidden = depth === 0;
    },
    drop: (event) => {
      depth = 0;
      overlay.hidden = true;
      if (!event.dataTransfer || !hasFiles(event)) return;
      event.preventDefault();
      void collectDroppedFiles(event.dataTransfer).then(onFiles);
    },
  };
  for (const [kind, listener] of Object.entries(listeners)) addEventListener(kind, listener as EventListener);
  return () => {
    for (const [kind, listener] of Object.entries(listeners)) removeEventListener(kind, listener as EventListener);
    overlay.remove();
  };
}

/** Files and folders are taken wherever they are dropped, or picked with a button. */

import { h } from "../../ui/dom";
import { icon } from "../../ui/icons";
import { openMenu } from "../../ui/menu";
import { droppedOf, type Picked, pickedOf } from "./picking";

export interface Dropping {
  /** The button, with the inputs that it opens. */
  element: HTMLElement;
  pickFiles(): void;
  pickFolder(): void;
  close(): void;
}

export function dropping(take: (picked: Picked) => void): Dropping {
  const input = (label: string, more: Record<string, unknown>) => {
    const element = h("input", { type: "file", multiple: true, hidden: true, "aria-label": label, ...more });
    element.addEventListener("change", () => {
      void pickedOf(element.files ?? []).then(take);
      element.value = "";
    });
    return element;
  };
  const files = input("Files of motion", { class: "pick-files" });
  const folder = input("A folder of motion", { class: "pick-folder", webkitdirectory: true });
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
      { title: "Files…", icon: "file", run: () => files.click() },
      { title: "A folder…", icon: "folder", run: () => folder.click() },
    ]);
  });
  const close = listenForDrops(take);
  const element = h("div", { class: "add" }, button, files, folder);
  return { element, pickFiles: () => files.click(), pickFolder: () => folder.click(), close };
}

function listenForDrops(take: (picked: Picked) => void): () => void {
  const words = h("p", {}, icon("upload"), "Drop to add to the library");
  const veil = h("div", { class: "drop-veil", hidden: true }, words);
  document.body.append(veil);
  let depth = 0; // enter and leave come for every element below the pointer
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  const listeners: Record<string, (event: DragEvent) => void> = {
    dragenter: (event) => {
      if (!hasFiles(event)) return;
      depth += 1;
      veil.hidden = false;
    },
    dragover: (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = "copy";
    },
    dragleave: (event) => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      veil.hidden = depth === 0;
    },
    drop: (event) => {
      depth = 0;
      veil.hidden = true;
      if (!event.dataTransfer || !hasFiles(event)) return;
      event.preventDefault();
      void droppedOf(event.dataTransfer).then(take);
    },
  };
  for (const [kind, listener] of Object.entries(listeners)) addEventListener(kind, listener as EventListener);
  return () => {
    for (const [kind, listener] of Object.entries(listeners)) removeEventListener(kind, listener as EventListener);
    veil.remove();
  };
}

/** A page about one clip: waits for it, shows it, or says why it cannot be shown. */

import type { Page } from "../router";
import { Signal } from "../state/signal";
import { fill, h } from "../ui/dom";
import { errorState, loadingState } from "../ui/states";
import { type Opened, openClip } from "./state";

interface ViewOfClip {
  follow(url: URL): void;
  dispose(): void;
}

export interface Opening {
  title: string; // until the clip is there
  titleOf(name: string): string;
  view: new (root: HTMLElement, opened: Opened, address: URL) => ViewOfClip;
}

/** The page of the clip that the address ends with. */
export function openingPage(root: HTMLElement, address: URL, { title: waiting, titleOf, view }: Opening): Page {
  const hash = address.pathname.split("/").at(-1) ?? "";
  const title = new Signal(waiting);
  const abort = new AbortController();
  let shown: ViewOfClip | null = null;
  const open = async () => {
    fill(root, loadingState("Opening the clip…"));
    try {
      const opened = await openClip(hash, abort.signal);
      if (abort.signal.aborted) return;
      title.value = titleOf(opened.facts.name);
      shown = new view(root, opened, new URL(location.href));
    } catch (error) {
      if (abort.signal.aborted) return;
      console.warn(error);
      const failed = errorState({ title: "This clip could not be opened", error, retry: () => void open() });
      failed.querySelector(".actions")?.append(h("a", { class: "button", href: "/", text: "Go to the library" }));
      fill(root, failed);
    }
  };
  void open();
  return {
    title,
    follow: (url) => shown?.follow(url),
    unmount: () => {
      abort.abort();
      shown?.dispose();
    },
  };
}

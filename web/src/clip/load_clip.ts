/** A page about one clip: loads it, then displays it or the error. */

import type { Page } from "../router";
import { Signal } from "../state/signal";
import { fill } from "../ui/dom";
import { errorState, loadingState } from "../ui/states";
import { type LoadedClip, loadClip } from "./state";

interface ClipPageView {
  onUrlChange(url: URL): void;
  dispose(): void;
}

export interface ClipPageOptions {
  title: string; // until the clip is loaded
  titleOf(name: string): string;
  view: new (root: HTMLElement, clip: LoadedClip, address: URL) => ClipPageView;
}

/** Mounts the page of the clip whose hash ends the path of the address. */
export function mountClipPage(
  root: HTMLElement,
  address: URL,
  { title: initialTitle, titleOf, view }: ClipPageOptions,
): Page {
  const hash = address.pathname.split("/").at(-1) ?? "";
  const title = new Signal(initialTitle);
  const abort = new AbortController();
  let currentView: ClipPageView | null = null;
  const load = async () => {
    fill(root, loadingState("Loading the clip…"));
    try {
      const clip = await loadClip(hash, abort.signal);
      if (abort.signal.aborted) return;
      title.value = titleOf(clip.details.name);
      currentView = new view(root, clip, new URL(location.href));
    } catch (error) {
      if (abort.signal.aborted) return;
      console.warn(error);
      const exit = { href: "/", text: "Go to the library" };
      fill(root, errorState({ title: "The clip could not be opened", error, retry: () => void load(), exit }));
    }
  };
  void load();
  return {
    title,
    onUrlChange: (url) => currentView?.onUrlChange(url),
    unmount: () => {
      abort.abort();
      currentView?.dispose();
    },
  };
}

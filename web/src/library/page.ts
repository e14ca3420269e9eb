/** The library: every clip by its strip of key poses. And what was removed from it. */

import "./library.css";
import "./card.css";
import "./match.css";
import "./choosing.css";
import "./uploads.css";
import "./removed/removed.css";
import "./narrow.css";
import type { Page } from "../router";
import { Signal } from "../state/signal";
import { fill } from "../ui/dom";
import { shell } from "../ui/shell";
import { LibraryPage } from "./librarypage";
import { RemovedPage } from "./removed/removedpage";

export function mount(root: HTMLElement, url: URL): Page {
  const title = new Signal("Library");
  const isRemoved = (at: URL) => at.searchParams.has("removed");
  const open = (at: URL) => {
    const view = isRemoved(at) ? new RemovedPage(root) : new LibraryPage(root, at);
    const forget = view.title.show((text) => {
      title.value = text;
    });
    return { view, isRemoved: isRemoved(at), forget };
  };
  let shown = open(url);
  const close = () => {
    shown.forget();
    shown.view.close();
  };
  const follow = (next: URL) => {
    if (isRemoved(next) === shown.isRemoved) return shown.view.follow(next);
    close();
    fill(shell.slot);
    scrollTo(0, 0);
    shown = open(next);
  };
  return { title, unmount: close, follow };
}

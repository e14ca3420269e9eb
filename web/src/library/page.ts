/** The library: every clip with its strip of key poses; and the trash. */

import "./library.css";
import "./card.css";
import "./match.css";
import "./selection.css";
import "./uploads.css";
import "./trash/trash.css";
import "./narrow.css";
import type { Page } from "../router";
import { Signal } from "../state/signal";
import { fill } from "../ui/dom";
import { shell } from "../ui/shell";
import { LibraryPage } from "./library_page";
import { TrashPage } from "./trash/trash_page";

export function mount(root: HTMLElement, url: URL): Page {
  const title = new Signal("Library");
  const isTrash = (address: URL) => address.searchParams.has("trash");
  const open = (address: URL) => {
    const view = isTrash(address) ? new TrashPage(root) : new LibraryPage(root, address);
    const unwatchTitle = view.title.watchNow((text) => {
      title.value = text;
    });
    return { view, isRemoved: isTrash(address), forget: unwatchTitle };
  };
  let current = open(url);
  const close = () => {
    current.forget();
    current.view.close();
  };
  const follow = (next: URL) => {
    if (isTrash(next) === current.isRemoved) return current.view.follow(next);
    close();
    fill(shell.slot);
    scrollTo(0, 0);
    current = open(next);
  };
  return { title, unmount: close, follow };
}

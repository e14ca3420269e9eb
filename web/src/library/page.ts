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
    return { view, isTrash: isTrash(address), unwatchTitle: unwatchTitle };
  };
  let current = open(url);
  const close = () => {
    current.unwatchTitle();
    current.view.close();
  };
  const onUrlChange = (next: URL) => {
    if (isTrash(next) === current.isTrash) return current.view.onUrlChange(next);
    close();
    fill(shell.slot);
    scrollTo(0, 0);
    current = open(next);
  };
  return { title, unmount: close, onUrlChange };
}

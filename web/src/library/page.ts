/** The library: every clip by its strip of key poses. */

import "./library.css";
import "./card.css";
import "./match.css";
import "./choosing.css";
import "./uploads.css";
import "./narrow.css";
import type { Page } from "../router";
import { LibraryPage } from "./librarypage";

export function mount(root: HTMLElement, url: URL): Page {
  const page = new LibraryPage(root, url);
  return { title: page.showing.title, unmount: () => page.close(), follow: (next) => page.follow(next) };
}

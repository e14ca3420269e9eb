/** Maps addresses to pages. Links are followed without leaving the document. */

import { Signal } from "./state/signal";
import { fill, h } from "./ui/dom";
import { shell } from "./ui/shell";
import { emptyState, errorState, loadingState } from "./ui/states";

export interface Page {
  /** The document's title; a signal if it is known later. */
  title: string | Signal<string>;
  unmount(): void;
  /** Called when only the query has changed (back, forward, a link). Without it the page is mounted again. */
  onUrlChange?(url: URL): void;
}

/** The exports of a page's module. `root` is an empty element; `shell.slot` is the page's part of the top bar. */
export interface PageModule {
  mount(root: HTMLElement, url: URL): Page | Promise<Page>;
}

interface Route {
  path: RegExp;
  load(): Promise<PageModule>;
}

const ROUTES: readonly Route[] = [
  { path: /^\/$/, load: () => import("./library/page") },
  { path: /^\/clips\/[0-9a-f]{64}$/, load: () => import("./clip/page") },
  { path: /^\/compare\/[0-9a-f]{64}$/, load: () => import("./compare/page") },
];

const LOADING_DELAY_MS = 150; // faster pages show no loading state
let current: { page: Page; path: string; unwatchTitle: () => void } | null = null;
let navigationId = 0; // a page that loads too late is dropped

/** Shows the page for an address of this app. */
export function navigate(address: string, { replace = false } = {}): void {
  const url = new URL(address, location.href);
  if (url.href === location.href) replace = true;
  history[replace ? "replaceState" : "pushState"]({}, "", url);
  void showPage();
}

export function startRouter(): void {
  history.scrollRestoration = "manual"; // pages restore their position themselves: their content is loaded later
  addEventListener("popstate", () => void showPage());
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement) || !isInternalLink(link, event)) return;
    event.preventDefault();
    navigate(link.href);
  });
  void showPage();
}

function isInternalLink(link: HTMLAnchorElement, event: MouseEvent): boolean {
  const isPlainClick = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const url = new URL(link.href);
  const isSameSite = url.origin === location.origin && !link.target && !link.hasAttribute("download");
  const isJump = url.pathname === location.pathname && url.search === location.search && url.hash !== "";
  return isPlainClick && !event.defaultPrevented && isSameSite && !isJump && findRoute(url) !== undefined;
}

function findRoute(url: URL): Route | undefined {
  return ROUTES.find((route) => route.path.test(url.pathname));
}

async function showPage(): Promise<void> {
  const url = new URL(location.href);
  const id = ++navigationId;
  if (current?.path === url.pathname && current.page.onUrlChange) {
    current.page.onUrlChange(url);
    return;
  }
  leavePage();
  const root = h("div", { class: "page" });
  fill(shell.main, root);
  const loadingTimer = window.setTimeout(() => fill(root, loadingState("Loading…")), LOADING_DELAY_MS);
  try {
    const route = findRoute(url);
    const module = route ? await route.load() : { mount: mountNotFound };
    clearTimeout(loadingTimer);
    if (id !== navigationId) return;
    fill(root);
    const page = await module.mount(root, url);
    if (id !== navigationId) page.unmount();
    else setCurrentPage(page, url);
  } catch (error) {
    clearTimeout(loadingTimer);
    if (id !== navigationId) return;
    console.error(error);
    document.title = "Keypose";
    fill(root, errorState({ title: "This page could not be opened", error, retry: () => void showPage() }));
  }
}

function setCurrentPage(page: Page, url: URL): void {
  const setTitle = (title: string) => {
    document.title = title ? `${title} · Keypose` : "Keypose";
  };
  let unwatchTitle = () => {};
  if (page.title instanceof Signal) unwatchTitle = page.title.watchNow(setTitle);
  else setTitle(page.title);
  current = { page, path: url.pathname, unwatchTitle };
}

function leavePage(): void {
  current?.unwatchTitle();
  current?.page.unmount();
  current = null;
  fill(shell.slot);
  scrollTo(0, 0);
}

function mountNotFound(root: HTMLElement): Page {
  const back = h("a", { class: "button primary", href: "/" }, "Go to the library");
  const text = "The address may be incomplete, or the clip may no longer be in the library.";
  fill(root, emptyState({ icon: "compass", title: "Page not found", text, actions: [back] }));
  return { title: "Page not found", unmount: () => {} };
}

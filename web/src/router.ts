/** Addresses of the app and the pages behind them. Links are followed without leaving the document. */

import { Signal } from "./state/signal";
import { fill, h } from "./ui/dom";
import { shell } from "./ui/shell";
import { emptyState, errorState, loadingState } from "./ui/states";

export interface Page {
  /** The title of the document; a signal where it is known later. */
  title: string | Signal<string>;
  unmount(): void;
  /** The address has changed but for its path (back, forward, a link). Without this the page is mounted anew. */
  follow?(url: URL): void;
}

/** What a page's module exports. `root` is the empty main element; `shell.slot` is the page's part of the top bar. */
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

const LOADING_AFTER_MS = 150; // quicker pages show no sign of waiting
let shown: { page: Page; path: string; forget: () => void } | null = null;
let turn = 0; // of the address: a page that comes too late is not shown

/** Shows the page of an address of this app. */
export function navigate(address: string, { replace = false } = {}): void {
  const url = new URL(address, location.href);
  if (url.href === location.href) replace = true;
  history[replace ? "replaceState" : "pushState"]({}, "", url);
  void show();
}

export function startRouter(): void {
  history.scrollRestoration = "manual"; // pages put themselves back: their content comes later than the browser thinks
  addEventListener("popstate", () => void show());
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement) || !isOurs(link, event)) return;
    event.preventDefault();
    navigate(link.href);
  });
  void show();
}

function isOurs(link: HTMLAnchorElement, event: MouseEvent): boolean {
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const url = new URL(link.href);
  const inside = url.origin === location.origin && !link.target && !link.hasAttribute("download");
  const jump = url.pathname === location.pathname && url.search === location.search && url.hash !== "";
  return plain && !event.defaultPrevented && inside && !jump && routeOf(url) !== undefined;
}

function routeOf(url: URL): Route | undefined {
  return ROUTES.find((route) => route.path.test(url.pathname));
}

async function show(): Promise<void> {
  const url = new URL(location.href);
  const mine = ++turn;
  if (shown?.path === url.pathname && shown.page.follow) {
    shown.page.follow(url);
    return;
  }
  leave();
  const root = h("div", { class: "page" });
  fill(shell.main, root);
  const waiting = window.setTimeout(() => fill(root, loadingState("Opening…")), LOADING_AFTER_MS);
  try {
    const route = routeOf(url);
    const module = route ? await route.load() : { mount: mountUnknown };
    clearTimeout(waiting);
    if (mine !== turn) return;
    fill(root);
    const page = await module.mount(root, url);
    if (mine !== turn) page.unmount();
    else settle(page, url);
  } catch (error) {
    clearTimeout(waiting);
    if (mine !== turn) return;
    console.error(error);
    document.title = "Keypose";
    fill(root, errorState({ title: "This page could not be opened", error, retry: () => void show() }));
  }
}

function settle(page: Page, url: URL): void {
  const name = (title: string) => {
    document.title = title ? `${title} · Keypose` : "Keypose";
  };
  let forget = () => {};
  if (page.title instanceof Signal) forget = page.title.show(name);
  else name(page.title);
  shown = { page, path: url.pathname, forget };
}

function leave(): void {
  shown?.forget();
  shown?.page.unmount();
  shown = null;
  fill(shell.slot);
  scrollTo(0, 0);
}

function mountUnknown(root: HTMLElement): Page {
  const back = h("a", { class: "button primary", href: "/" }, "Go to the library");
  const text = "The address may have been cut short, or the clip's page has another one now.";
  fill(root, emptyState({ icon: "compass", title: "There is no such page", text, actions: [back] }));
  return { title: "Not found", unmount: () => {} };
}

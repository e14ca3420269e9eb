/** One clip in the grid: strip, name, details and, for hits, where the match is. Cards are reused while scrolling. */

import { fill, h } from "../ui/dom";
import { count, duration, fps } from "../ui/format";
import { icon } from "../ui/icons";
import { theme } from "../ui/theme";
import type { Item } from "./clip_source";
import { fillMatch } from "./match";
import { clipUrl } from "./view";

const MAX_TAGS = 3;
let cardCount = 0;

export class Card {
  readonly #name = h("a", { class: "card-name", draggable: "false" });
  readonly #details = h("p", { class: "card-details" });
  readonly #strip = h("img", { class: "card-strip", alt: "", decoding: "async", draggable: "false" });
  readonly #match = h("div", { class: "match", hidden: true });
  readonly check = h("input", { type: "checkbox", class: "card-check" });
  readonly similarButton = h("button", {
    type: "button",
    class: "button small icon-only card-similar",
    title: "Search for similar clips",
  });
  readonly menuButton = h("button", {
    type: "button",
    class: "button small icon-only card-menu",
    "aria-haspopup": "menu",
  });
  readonly picture: HTMLElement;
  readonly element: HTMLElement;
  #stripUrl = ""; // "" while no item is shown
  item: Item | undefined;
  index = -1;

  constructor() {
    const id = `card-${++cardCount}`;
    this.#name.id = `${id}-name`;
    this.#details.id = `${id}-facts`;
    this.similarButton.append(icon("similar"));
    this.menuButton.append(icon("dots"));
    this.picture = h("div", { class: "card-picture" }, this.#strip);
    this.element = h(
      "div",
      { class: "card", role: "gridcell", tabindex: -1, "aria-labelledby": `${this.#name.id} ${this.#details.id}` },
      this.picture,
      this.#match,
      h("div", { class: "card-text" }, this.#name, this.#details),
      this.check,
      h("div", { class: "card-tools" }, this.similarButton, this.menuButton),
    );
    this.#strip.addEventListener("load", () => this.#strip.classList.add("loaded"));
    this.#strip.addEventListener("error", () => this.element.classList.add("no-strip"));
    this.setActive(false);
  }

  /** Shows an item, or an empty card while it is being loaded. */
  show(index: number, item: Item | undefined, isSelected: boolean): void {
    this.index = index;
    this.element.setAttribute("aria-selected", String(isSelected));
    this.check.checked = isSelected;
    if (item === this.item && this.#stripUrl === (item ? stripUrl(item) : "")) return;
    this.item = item;
    this.element.classList.toggle("loading", item === undefined);
    this.element.classList.remove("no-strip");
    if (item) this.#fill(item);
    else {
      this.#stripUrl = "";
      fill(this.#name, "Loading…");
      this.#name.removeAttribute("href");
      fill(this.#details, "…");
      this.#match.hidden = true;
      this.#clearStrip();
    }
  }

  /** Starts loading the strip, unless it is loaded or loading. */
  loadStrip(): void {
    if (this.#stripUrl === "" || this.#strip.getAttribute("src") === this.#stripUrl) return;
    this.#strip.src = this.#stripUrl;
  }

  get isStripLoading(): boolean {
    return this.#stripUrl !== "" && this.#strip.getAttribute("src") === this.#stripUrl && !this.#strip.complete;
  }

  get needsStrip(): boolean {
    return this.#stripUrl !== "" && this.#strip.getAttribute("src") !== this.#stripUrl;
  }

  /** Makes this the one card that Tab reaches, with everything on it. */
  setActive(active: boolean): void {
    const order = active ? 0 : -1;
    for (const each of [this.element, this.#name, this.check, this.similarButton, this.menuButton])
      each.tabIndex = order;
  }

  /** Replaces the name by a text field; resolves with the new name, or null. */
  rename(): Promise<string | null> {
    const before = this.item?.row.name ?? "";
    const field = h("input", { class: "field card-rename", "aria-label": "Name", value: before, maxlength: 200 });
    this.#name.hidden = true;
    this.#name.after(field);
    field.focus();
    field.select();
    return new Promise((resolve) => {
      const end = (name: string | null) => {
        field.removeEventListener("blur", leave);
        field.remove();
        this.#name.hidden = false;
        resolve(name && name !== before ? name : null);
      };
      const leave = () => end(field.value.trim());
      field.addEventListener("blur", leave);
      field.addEventListener("keydown", (event) => {
        event.stopPropagation();
        if (event.key === "Enter") end(field.value.trim());
        else if (event.key === "Escape") end(null);
        if (event.key === "Enter" || event.key === "Escape") this.element.focus();
      });
    });
  }

  #fill(item: Item): void {
    const { row, hit } = item;
    fill(this.#name, row.name);
    this.#name.href = clipUrl(row, hit);
    this.#name.title = row.name;
    const tags = row.tags.slice(0, MAX_TAGS).map((tag) => h("span", { class: "tag", text: tag, title: tag }));
    const hiddenCount = row.tags.length - tags.length;
    const moreTags =
      hiddenCount > 0 &&
      h("span", { class: "tag", text: `+${count(hiddenCount)}`, title: row.tags.slice(MAX_TAGS).join(", ") });
    fill(
      this.#details,
      h("span", { class: "card-length", text: `${duration(row.duration_s)} · ${fps(row.fps)}` }),
      ...tags,
      moreTags,
    );
    this.check.setAttribute("aria-label", `Select ${row.name}`);
    this.similarButton.setAttribute("aria-label", `Search for clips similar to ${row.name}`);
    this.menuButton.setAttribute("aria-label", `Actions for ${row.name}`);
    this.#match.hidden = hit === undefined;
    if (hit) fillMatch(this.#match, row, hit);
    const url = stripUrl(item);
    if (url !== this.#stripUrl) {
      this.#stripUrl = url;
      this.#clearStrip();
    }
  }

  #clearStrip(): void {
    this.#strip.classList.remove("loaded");
    this.#strip.removeAttribute("src");
  }
}

function stripUrl({ row }: Item): string {
  return `/api/clips/${row.hash}/strip.svg?theme=${theme.value}&rank=true`;
}

/** One clip of the grid: its strip, its name, what is known of it, and where the match lies in it. Used again and again. */

import { fill, h } from "../ui/dom";
import { count, duration, fps } from "../ui/format";
import { icon } from "../ui/icons";
import { theme } from "../ui/theme";
import { fillMatch } from "./match";
import type { Item } from "./source";
import { clipAddress } from "./view";

const MOST_TAGS = 3;
let made = 0;

export class Card {
  readonly #name = h("a", { class: "card-name", draggable: "false" });
  readonly #facts = h("p", { class: "card-facts" });
  readonly #strip = h("img", { class: "card-strip", alt: "", decoding: "async", draggable: "false" });
  readonly #match = h("div", { class: "match", hidden: true });
  readonly check = h("input", { type: "checkbox", class: "card-check" });
  readonly alike = h("button", { type: "button", class: "button small icon-only card-alike", title: "More like this" });
  readonly more = h("button", { type: "button", class: "button small icon-only card-more", "aria-haspopup": "menu" });
  readonly look: HTMLElement;
  readonly element: HTMLElement;
  #wanted = ""; // address of the strip
  item: Item | undefined;
  index = -1;

  constructor() {
    const id = `card-${++made}`;
    this.#name.id = `${id}-name`;
    this.#facts.id = `${id}-facts`;
    this.alike.append(icon("alike"));
    this.more.append(icon("dots"));
    this.look = h("div", { class: "card-look" }, this.#strip);
    this.element = h(
      "div",
      { class: "card", role: "gridcell", tabindex: -1, "aria-labelledby": `${this.#name.id} ${this.#facts.id}` },
      this.look,
      this.#match,
      h("div", { class: "card-text" }, this.#name, this.#facts),
      this.check,
      h("div", { class: "card-tools" }, this.alike, this.more),
    );
    this.#strip.addEventListener("load", () => this.#strip.classList.add("there"));
    this.#strip.addEventListener("error", () => this.element.classList.add("unseen-strip"));
    this.setActive(false);
  }

  /** Shows an item, or an empty card while it has not come. */
  show(index: number, item: Item | undefined, isChosen: boolean): void {
    this.index = index;
    this.element.setAttribute("aria-selected", String(isChosen));
    this.check.checked = isChosen;
    if (item === this.item && this.#wanted === (item ? stripAddress(item) : "")) return;
    this.item = item;
    this.element.classList.toggle("waiting", item === undefined);
    this.element.classList.remove("unseen-strip");
    if (item) this.#fill(item);
    else {
      this.#wanted = "";
      fill(this.#name, "Loading…");
      this.#name.removeAttribute("href");
      fill(this.#facts, "…");
      this.#match.hidden = true;
      this.#clearStrip();
    }
  }

  /** Lets the strip come, unless it is there or on its way. */
  loadStrip(): void {
    if (this.#wanted === "" || this.#strip.getAttribute("src") === this.#wanted) return;
    this.#strip.src = this.#wanted;
  }

  get isStripLoading(): boolean {
    return this.#wanted !== "" && this.#strip.getAttribute("src") === this.#wanted && !this.#strip.complete;
  }

  get needsStrip(): boolean {
    return this.#wanted !== "" && this.#strip.getAttribute("src") !== this.#wanted;
  }

  /** The one card that Tab goes to, with all that is on it. */
  setActive(active: boolean): void {
    const order = active ? 0 : -1;
    for (const each of [this.element, this.#name, this.check, this.alike, this.more]) each.tabIndex = order;
  }

  /** Turns the name into a field until it is done; gives the new name, or null. */
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
    this.#name.href = clipAddress(row, hit);
    this.#name.title = row.name;
    const tags = row.tags.slice(0, MOST_TAGS).map((tag) => h("span", { class: "tag", text: tag, title: tag }));
    const rest = row.tags.length - tags.length;
    const more =
      rest > 0 && h("span", { class: "tag", text: `+${count(rest)}`, title: row.tags.slice(MOST_TAGS).join(", ") });
    fill(
      this.#facts,
      h("span", { class: "card-length", text: `${duration(row.duration_s)} · ${fps(row.fps)}` }),
      ...tags,
      more,
    );
    this.check.setAttribute("aria-label", `Choose ${row.name}`);
    this.alike.setAttribute("aria-label", `More like ${row.name}`);
    this.more.setAttribute("aria-label", `Actions for ${row.name}`);
    this.#match.hidden = hit === undefined;
    if (hit) fillMatch(this.#match, row, hit);
    const address = stripAddress(item);
    if (address !== this.#wanted) {
      this.#wanted = address;
      this.#clearStrip();
    }
  }

  #clearStrip(): void {
    this.#strip.classList.remove("there");
    this.#strip.removeAttribute("src");
  }
}

function stripAddress({ row }: Item): string {
  return `/api/clips/${row.hash}/strip.svg?theme=${theme.value}`;
}

/** What the strip lies in: it scrolls, shows that there is more of it, marks the pose of now, and hears which one is pressed. */

import { upTo } from "../player/keys";
import { h } from "../ui/dom";
import { calm } from "../ui/motion";
import type { Drawn } from "./strip";
import { nearestPlace, type Place, placesIn } from "./strip_places";

const REST_MS = 150; // a strip that is gone again by then need not be measured
const AROUND_PX = 56; // beside a marked pose: it does not lie where edges fade

export class StripBox {
  readonly element: HTMLElement;
  readonly #poses: HTMLElement;
  readonly #here = h("i", { class: "strip-here", hidden: true });
  readonly #watch: ResizeObserver;
  readonly #measured = new WeakMap<Drawn, readonly Place[]>();
  #drawn: Drawn | null = null;
  #places: readonly Place[] = [];
  #frame = 0;
  #marked = -1;

  constructor(chose: (frame: number) => void) {
    this.#poses = h("div", { class: "strip-poses" }, this.#here);
    this.element = h("figure", { class: "strip", "aria-busy": "false" }, this.#poses);
    this.element.addEventListener("scroll", () => this.#fade(), { passive: true });
    this.#watch = new ResizeObserver(() => this.#fade());
    this.#watch.observe(this.element);
    this.#poses.addEventListener("click", (event) => {
      const box = this.#poses.getBoundingClientRect();
      const pose = nearestPlace(this.#places, (event.clientX - box.left) / box.width);
      const frame = this.#drawn?.frames[pose];
      if (frame !== undefined) chose(frame);
    });
  }

  set frame(frame: number) {
    this.#frame = frame;
    this.#mark();
  }

  show(drawn: Drawn): void {
    if (this.#drawn) this.#drawn.image.replaceWith(drawn.image);
    else this.#poses.prepend(drawn.image);
    this.#drawn = drawn;
    this.#places = this.#measured.get(drawn) ?? [];
    this.#marked = -1;
    this.#mark();
    this.#fade();
    if (!this.#measured.has(drawn)) void this.#measure(drawn);
  }

  dispose(): void {
    this.#watch.disconnect();
  }

  async #measure(drawn: Drawn): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    if (this.#drawn !== drawn) return;
    const text = await drawn.drawing().catch(() => ""); // without places it is still seen
    if (this.#drawn !== drawn) return;
    const places = text ? placesIn(text) : [];
    this.#places = places.length === drawn.frames.length ? places : [];
    this.#measured.set(drawn, this.#places);
    this.#mark();
  }

  /** Puts the mark below the pose of the key at or before the frame. */
  #mark(): void {
    const frames = this.#drawn?.frames ?? [];
    const pose = upTo(frames, this.#frame) - 1;
    const place = this.#places[pose];
    this.#poses.classList.toggle("known", this.#places.length > 0);
    this.#here.hidden = !place;
    if (!place) {
      this.#marked = -1;
      return;
    }
    this.#here.classList.toggle("exact", frames[pose] === this.#frame);
    if (pose === this.#marked) return;
    this.#marked = pose;
    this.#here.dataset.frame = String(frames[pose]);
    this.#here.style.left = `${100 * place.left}%`;
    this.#here.style.width = `${100 * (place.right - place.left)}%`;
    this.#reveal(place);
  }

  /** Scrolls as little as shows the pose. */
  #reveal({ left, right }: Place): void {
    const { element } = this;
    if (element.scrollWidth <= element.clientWidth) return;
    const [start, width] = [this.#poses.offsetLeft, this.#poses.offsetWidth];
    const first = start + left * width - AROUND_PX;
    const last = start + right * width + AROUND_PX - element.clientWidth;
    const to = Math.min(first, Math.max(last, element.scrollLeft));
    if (Math.abs(to - element.scrollLeft) > 1)
      element.scrollTo({ left: to, behavior: calm.value ? "instant" : "smooth" });
  }

  /** Edges behind which there is more fade out. */
  #fade(): void {
    const { scrollLeft, scrollWidth, clientWidth, classList } = this.element;
    classList.toggle("more-before", scrollLeft > 1);
    classList.toggle("more-after", scrollLeft < scrollWidth - clientWidth - 1);
  }
}

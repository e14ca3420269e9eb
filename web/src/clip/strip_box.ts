/**
 * The scrolling container of the strip. It marks the current pose and reports which pose is pressed. A note says that
 * some poses are left out, or why there is no strip.
 */

import { countUpTo } from "../player/key_lookup";
import { fill, h } from "../ui/dom";
import { reducedMotion } from "../ui/motion";
import { errorMessage, toSentence } from "../ui/states";
import { button, captureArrowKeys } from "./controls";
import type { LoadedStrip } from "./strip";
import { measurePoses, nearestPose, type PoseExtent } from "./strip_layout";

const MEASURE_DELAY_MS = 150; // a strip that is replaced sooner need not be measured
const MARGIN_PX = 56; // around the marked pose, so that it is not where the edges fade

export class StripBox {
  readonly element: HTMLElement;
  readonly scroller: HTMLElement;
  readonly #note = h("p", { class: "strip-note", role: "status", hidden: true });
  readonly #retryButton: HTMLElement;
  readonly #rankButton: HTMLButtonElement;
  readonly #poses: HTMLElement;
  readonly #marker = h("i", { class: "strip-marker", hidden: true });
  readonly #resizeObserver: ResizeObserver;
  readonly #extentsByStrip = new WeakMap<LoadedStrip, readonly PoseExtent[]>();
  #strip: LoadedStrip | null = null;
  #extents: readonly PoseExtent[] = [];
  #frame = 0;
  #markedPose = -1;

  constructor(onSelect: (frame: number) => void, retry: () => void, toggleRank: () => void) {
    this.#poses = h("div", { class: "strip-poses" }, this.#marker);
    this.scroller = h("figure", { class: "strip", "aria-busy": "false", "aria-label": "Key poses" }, this.#poses);
    captureArrowKeys(this.scroller);
    this.#retryButton = button("Try again", "retry", retry, "small");
    this.#rankButton = button("Rank", "rank", toggleRank, "small");
    this.#rankButton.classList.add("strip-rank");
    this.#rankButton.title = "Make less important key poses more transparent";
    this.element = h("div", { class: "strip-area" }, this.scroller, this.#note, this.#rankButton);
    this.scroller.addEventListener("scroll", () => this.#fade(), { passive: true });
    this.#resizeObserver = new ResizeObserver(() => this.#fade());
    this.#resizeObserver.observe(this.scroller);
    this.#poses.addEventListener("click", (event) => {
      const box = this.#poses.getBoundingClientRect();
      const pose = nearestPose(this.#extents, (event.clientX - box.left) / box.width);
      const frame = this.#strip?.frames[pose];
      if (frame !== undefined) onSelect(frame);
    });
  }

  /** Offers to rank the poses, or hides the button. */
  showRank(canRank: boolean, isRanked: boolean): void {
    this.#rankButton.hidden = !canRank;
    this.#rankButton.setAttribute("aria-pressed", String(isRanked));
  }

  set frame(frame: number) {
    this.#frame = frame;
    this.#mark();
  }

  show(strip: LoadedStrip): void {
    if (this.#strip) this.#strip.image.replaceWith(strip.image);
    else this.#poses.prepend(strip.image);
    this.#strip = strip;
    this.#extents = this.#extentsByStrip.get(strip) ?? [];
    this.#markedPose = -1;
    this.element.classList.remove("failed");
    this.#showNote(strip.note);
    this.#mark();
    this.#fade();
    if (!this.#extentsByStrip.has(strip)) void this.#measure(strip);
  }

  /** Shows why there is no strip of the current keys. */
  showError(error: unknown): void {
    this.element.classList.add("failed");
    this.#showNote(`The key poses could not be drawn. ${toSentence(errorMessage(error))} `, this.#retryButton);
  }

  #showNote(text: string, action?: HTMLElement): void {
    this.#note.hidden = !text;
    fill(this.#note, text, action);
  }

  dispose(): void {
    this.#resizeObserver.disconnect();
  }

  async #measure(strip: LoadedStrip): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, MEASURE_DELAY_MS));
    if (this.#strip !== strip) return;
    const text = await strip.loadSvg().catch(() => ""); // without a layout it is still visible
    if (this.#strip !== strip) return;
    const extents = text ? measurePoses(text) : [];
    this.#extents = extents.length === strip.frames.length ? extents : [];
    this.#extentsByStrip.set(strip, this.#extents);
    this.#mark();
  }

  /** Puts the marker below the pose of the key at or before the frame. */
  #mark(): void {
    const frames = this.#strip?.frames ?? [];
    const pose = countUpTo(frames, this.#frame) - 1;
    const extent = this.#extents[pose];
    this.#poses.classList.toggle("measured", this.#extents.length > 0);
    this.#marker.hidden = !extent;
    if (!extent) {
      this.#markedPose = -1;
      return;
    }
    this.#marker.classList.toggle("exact", frames[pose] === this.#frame);
    if (pose === this.#markedPose) return;
    this.#markedPose = pose;
    this.#marker.dataset.frame = String(frames[pose]);
    this.#marker.style.left = `${100 * extent.left}%`;
    this.#marker.style.width = `${100 * (extent.right - extent.left)}%`;
    this.#reveal(extent);
  }

  /** Scrolls just far enough to show the pose. */
  #reveal({ left, right }: PoseExtent): void {
    const { scroller: element } = this;
    if (element.scrollWidth <= element.clientWidth) return;
    const [start, width] = [this.#poses.offsetLeft, this.#poses.offsetWidth];
    const first = start + left * width - MARGIN_PX;
    const last = start + right * width + MARGIN_PX - element.clientWidth;
    const to = Math.min(first, Math.max(last, element.scrollLeft));
    if (Math.abs(to - element.scrollLeft) > 1)
      element.scrollTo({ left: to, behavior: reducedMotion.value ? "instant" : "smooth" });
  }

  /** Fades the edges behind which there is more. */
  #fade(): void {
    const { scrollLeft, scrollWidth, clientWidth, classList } = this.scroller;
    classList.toggle("more-before", scrollLeft > 1);
    classList.toggle("more-after", scrollLeft < scrollWidth - clientWidth - 1);
    if (scrollWidth > clientWidth)
      this.scroller.tabIndex = 0; // to scroll by keyboard
    else this.scroller.removeAttribute("tabindex");
  }
}

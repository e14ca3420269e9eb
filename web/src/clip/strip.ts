/** The strip of key poses, made by the server. The next one is shown when it is whole: nothing flickers. */

import { h } from "../ui/dom";
import { theme } from "../ui/theme";
import { Latest } from "./latest";

interface Asked {
  address: string;
  says: string;
  start: number; // when it was wanted
}

const PATIENCE_MS = 400;

export class Strip {
  readonly element: HTMLElement;
  readonly #hash: string;
  readonly #heightPx: number;
  readonly #latest: Latest<Asked, HTMLImageElement>;
  #frames: readonly number[] = [];
  #asked = "";
  #image: HTMLImageElement | null = null;
  readonly #stop: () => void;
  readonly #waiting: (() => void)[] = [];

  constructor(hash: string, heightPx: number) {
    this.#hash = hash;
    this.#heightPx = heightPx;
    this.element = h("figure", { class: "strip", "aria-busy": "false" });
    this.element.style.setProperty("--strip-height", `${heightPx}px`);
    this.#latest = new Latest(
      ({ address, says }) => loaded(address, says),
      (image, asked) => this.#swap(image, asked.start),
      () => this.#rest(),
    );
    this.#stop = theme.watch(() => this.#ask());
  }

  show(frames: readonly number[]): void {
    this.#frames = frames;
    this.#ask();
  }

  /** Resolves when nothing is on its way, or after a while. */
  async settled(): Promise<void> {
    if (this.element.getAttribute("aria-busy") !== "true") return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      window.setTimeout(resolve, PATIENCE_MS);
    });
  }

  dispose(): void {
    this.#latest.forget();
    this.#stop();
  }

  #ask(): void {
    if (!this.#frames.length) return;
    const query = new URLSearchParams({ frames: this.#frames.join(","), theme: theme.value });
    query.set("height_px", String(this.#heightPx));
    const address = `/api/clips/${this.#hash}/strip.svg?${query.toString().replaceAll("%2C", ",")}`;
    if (address === this.#asked) return;
    this.#asked = address;
    this.element.setAttribute("aria-busy", "true");
    const says = `${this.#frames.length} key poses, at frames ${this.#frames.join(", ")}`;
    this.#latest.ask({ address, says, start: performance.now() });
  }

  #rest(): void {
    this.element.setAttribute("aria-busy", "false");
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #swap(image: HTMLImageElement, start: number): void {
    if (this.#image) this.#image.replaceWith(image);
    else this.element.prepend(image);
    this.#image = image;
    this.#rest();
    requestAnimationFrame(() => performance.measure("strip-redrawn", { start, end: performance.now() }));
  }
}

async function loaded(address: string, says: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.alt = says;
  image.draggable = false;
  image.src = address;
  await image.decode();
  return image;
}

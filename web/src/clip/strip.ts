/** The strip of key poses, made by the server. The next one is shown when it is whole: nothing flickers. */

import { askFile } from "../api/client";
import type { Draft } from "../edit/steps";
import { h } from "../ui/dom";
import { theme } from "../ui/theme";
import { Latest } from "./latest";
import { StripBox } from "./strip_box";

interface Asked {
  address: string;
  draft: Draft | null; // poses of an edit, or of the capture
  frames: readonly number[];
  theme: string;
  heightPx: number;
  start: number; // when it was wanted
}

/** A strip that came. */
export interface Drawn {
  image: HTMLImageElement;
  drawing: () => Promise<string>; // its text, which places are read from
  frames: readonly number[];
}

const PATIENCE_MS = 400;
const REMEMBERED = 64; // strips that were seen lately and are there at once

export class Strip {
  readonly element: HTMLElement;
  readonly #box: StripBox;
  readonly #hash: string;
  readonly #heightPx: number;
  readonly #latest: Latest<Asked, Drawn>;
  readonly #seen = new Map<string, Drawn>();
  #frames: readonly number[] = [];
  #draft: Draft | null = null;
  #asked = "";
  readonly #stop: () => void;
  readonly #waiting: (() => void)[] = [];

  /** `chose` hears of the frame of a pose that was pressed. */
  constructor(hash: string, heightPx: number, chose: (frame: number) => void) {
    this.#hash = hash;
    this.#heightPx = heightPx;
    this.#box = new StripBox(chose);
    this.element = this.#box.element;
    this.element.style.setProperty("--strip-height", `${heightPx}px`);
    this.#latest = new Latest(
      (asked) => loaded(asked),
      (drawn, asked) => {
        this.#remember(asked, drawn);
        this.#swap(drawn, asked.start);
      },
      () => this.#rest(),
    );
    this.#stop = theme.watch(() => this.#ask());
  }

  /** Poses of the capture, or of an edit. */
  show(frames: readonly number[], draft: Draft | null = null): void {
    this.#frames = frames;
    this.#draft = draft;
    this.#ask();
  }

  /** The frame that is shown: the pose that it starts from is marked. */
  set frame(frame: number) {
    this.#box.frame = frame;
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
    this.#box.dispose();
    this.#stop();
  }

  #ask(): void {
    if (!this.#frames.length) return;
    const start = performance.now();
    const asked = { ...this.#wanted(), start };
    const name = nameOf(asked);
    if (name === this.#asked) return;
    this.#asked = name;
    const drawn = this.#seen.get(name);
    if (drawn) {
      this.#latest.forget();
      this.#remember(asked, drawn);
      this.#swap(drawn, start);
      return;
    }
    this.element.setAttribute("aria-busy", "true");
    this.#latest.ask(asked);
  }

  #wanted(): Omit<Asked, "start"> {
    const address = `/api/clips/${this.#hash}/strip.svg`;
    return { address, draft: this.#draft, frames: this.#frames, theme: theme.value, heightPx: this.#heightPx };
  }

  #remember(asked: Asked, drawn: Drawn): void {
    const name = nameOf(asked);
    this.#seen.delete(name);
    this.#seen.set(name, drawn);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > REMEMBERED && oldest !== undefined) this.#seen.delete(oldest);
  }

  #rest(): void {
    this.element.setAttribute("aria-busy", "false");
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #swap(drawn: Drawn, start: number): void {
    this.#box.show(drawn);
    this.#rest();
    requestAnimationFrame(() => performance.measure("strip-redrawn", { start, end: performance.now() }));
  }
}

function nameOf({ draft, frames, theme, heightPx }: Omit<Asked, "start">): string {
  return JSON.stringify([draft, frames, theme, heightPx]);
}

async function loaded(asked: Asked): Promise<Drawn> {
  const { draft, frames, theme } = asked;
  const alt = `${frames.length} ${draft ? "edited" : "key"} poses, at frames ${frames.join(", ")}`;
  const image = h("img", { alt, draggable: "false", "data-theme": theme });
  const drawing = draft ? await edited(image, asked, draft) : captured(image, asked);
  await image.decode();
  return { image, drawing, frames };
}

/** The browser's own way is the quickest; the text is asked for once more, if it is wanted at all. */
function captured(image: HTMLImageElement, { address, frames, theme, heightPx }: Asked): Drawn["drawing"] {
  image.src = `${address}?frames=${frames.join(",")}&theme=${theme}&height_px=${heightPx}`;
  return async () => (await askFile(image.src)).blob.text();
}

async function edited(image: HTMLImageElement, asked: Asked, draft: Draft): Promise<Drawn["drawing"]> {
  const { address, frames, theme, heightPx } = asked;
  const { blob } = await askFile(address, { told: { draft, frames, theme, height_px: heightPx } });
  image.src = URL.createObjectURL(blob);
  const forget = () => URL.revokeObjectURL(image.src);
  image.addEventListener("load", forget, { once: true });
  image.addEventListener("error", forget, { once: true });
  return () => blob.text();
}

/** What hands do on the timeline, said as what is meant: scrub, mark a range, pin, move a key, stretch a swing. */

import { type Hit, hitAt } from "./hits";
import type { Bar, Laid } from "./lanes";
import type { TimeScale } from "./scale";
import { roomOf, type Stretch, stretchOf } from "./stretching";

export interface Meant {
  scrub(frame: number): void;
  pin(frame: number): void;
  range(range: readonly [number, number] | null): void;
  /** A key on its way; `done` when it is let go. */
  moveKey(from: number, to: number, done: boolean): void;
  /** A swing is taken hold of. */
  take(bar: Bar): void;
  /** It is on its way; null: as it was. */
  stretch(bar: Bar, change: Stretch | null, done: boolean): void;
  hover(hit: Hit | null): void;
  changed(): void; // which stretch is seen
}

export interface Now {
  laid: Laid;
  keys: readonly number[];
  bars: readonly Bar[];
  range: readonly [number, number] | null;
  canMoveKeys: boolean;
  canStretch: boolean;
}

const DRAG_PX = 3; // less is a click

export function listen(canvas: HTMLCanvasElement, scale: TimeScale, now: () => Now, meant: Meant): void {
  const placeOf = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const hit = (event: MouseEvent): Hit => {
    const { x, y } = placeOf(event);
    const { laid, keys, range } = now();
    return hitAt(x, y, scale, laid, { keys, range });
  };
  let drag: ((x: number, y: number, done: boolean) => void) | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const start = placeOf(event);
    drag = begin(hit(event), event, start);
    drag?.(start.x, start.y, false);
    canvas
      .closest<HTMLElement>(".timeline")
      ?.querySelector<HTMLElement>("[role=slider]")
      ?.focus({ preventScroll: true });
    event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
    const { x, y } = placeOf(event);
    if (drag) drag(x, y, false);
    else meant.hover(hit(event));
  });
  canvas.addEventListener("pointerleave", () => meant.hover(null));
  canvas.addEventListener("pointerup", (event) => {
    const { x, y } = placeOf(event);
    drag?.(x, y, true);
    drag = null;
  });
  canvas.addEventListener("pointercancel", () => {
    drag = null;
  });
  canvas.addEventListener("wheel", (event) => wheel(event, placeOf(event).x, scale, meant), { passive: false });

  function begin(on: Hit, event: PointerEvent, start: { x: number; y: number }): typeof drag {
    const { range, canMoveKeys, canStretch } = now();
    if (event.altKey || on.on === "pin") {
      meant.pin(scale.frameAt(start.x));
      return null;
    }
    if (on.on === "edge" && range) {
      const still = on.end === "start" ? range[1] : range[0];
      return (x) => meant.range(ordered(still, scale.frameAt(x)));
    }
    if (event.shiftKey) return (x, _, done) => marking(start.x, x, done);
    if (on.on === "key") {
      if (!canMoveKeys) return (x) => meant.scrub(Math.abs(x - start.x) > DRAG_PX ? scale.frameAt(x) : on.key);
      let isMoved = false;
      return (x, _, done) => {
        isMoved ||= Math.abs(x - start.x) > DRAG_PX;
        if (isMoved) meant.moveKey(on.key, scale.frameAt(x), done);
        else meant.scrub(on.key);
      };
    }
    if (on.on === "bar" && canStretch) {
      meant.take(on.bar);
      const room = roomOf(on.bar, now().bars, scale.nFrames);
      return (x, y, done) => meant.stretch(on.bar, stretchOf(on, x - start.x, y - start.y, scale, room), done);
    }
    return (x) => meant.scrub(scale.frameAt(x));
  }

  function marking(from: number, x: number, done: boolean): void {
    if (Math.abs(x - from) > DRAG_PX) meant.range(ordered(scale.frameAt(from), scale.frameAt(x)));
    else if (done) meant.range(null);
  }
}

function wheel(event: WheelEvent, x: number, scale: TimeScale, meant: Meant): void {
  event.preventDefault();
  const across = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.shiftKey ? event.deltaY : 0;
  if (across) scale.pan(across / scale.pixelsPerFrame);
  else scale.zoom(Math.exp(Math.max(-90, Math.min(90, event.deltaY)) * 0.003), x);
  meant.changed();
}

function ordered(a: number, b: number): readonly [number, number] {
  return a < b ? [a, b] : [b, a];
}

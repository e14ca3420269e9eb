/** Pointer gestures on the timeline: scrub, mark a range, pin, move a key, change a swing. */

import { type Hit, hitAt } from "./hit_test";
import type { ActionBar, Bar, LaneLayout, PlacedAction } from "./lanes";
import type { TimeScale } from "./scale";
import { availableRange, changeFromDrag, type SwingChange } from "./swing_drag";

export interface GestureListeners {
  scrub(frame: number): void;
  pin(frame: number): void;
  range(range: readonly [number, number] | null): void;
  /** A key is being dragged; `done` when it is released. */
  moveKey(from: number, to: number, done: boolean): void;
  /** A swing was pressed. */
  selectSwing(bar: Bar): void;
  /** An action was pressed. */
  selectAction(action: ActionBar): void;
  /** A swing is being dragged; null for no change. */
  changeSwing(bar: Bar, change: SwingChange | null, done: boolean): void;
  hover(hit: Hit | null): void;
  onViewChange(): void; // the visible frames have changed
}

export interface TimelineState {
  layout: LaneLayout;
  keys: readonly number[];
  bars: readonly Bar[];
  range: readonly [number, number] | null;
  canMoveKeys: boolean;
  canSelectSwings: boolean;
  canChangeSwings: boolean;
  actions: readonly PlacedAction[];
}

const MIN_DRAG_PX = 3; // shorter drags are clicks

export function listenToGestures(
  canvas: HTMLCanvasElement,
  scale: TimeScale,
  getState: () => TimelineState,
  listeners: GestureListeners,
): void {
  const pointerPosition = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const hitOf = (event: MouseEvent): Hit => {
    const { x, y } = pointerPosition(event);
    const { layout, keys, range, actions } = getState();
    return hitAt(x, y, scale, layout, { keys, range, actions });
  };
  let drag: ((x: number, y: number, done: boolean) => void) | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const start = pointerPosition(event);
    drag = startDrag(hitOf(event), event, start);
    drag?.(start.x, start.y, false);
    canvas
      .closest<HTMLElement>(".timeline")
      ?.querySelector<HTMLElement>("[role=slider]")
      ?.focus({ preventScroll: true });
    event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
    const { x, y } = pointerPosition(event);
    if (drag) drag(x, y, false);
    else listeners.hover(hitOf(event));
  });
  canvas.addEventListener("pointerleave", () => listeners.hover(null));
  canvas.addEventListener("pointerup", (event) => {
    const { x, y } = pointerPosition(event);
    drag?.(x, y, true);
    drag = null;
  });
  canvas.addEventListener("pointercancel", () => {
    drag = null;
  });
  canvas.addEventListener("wheel", (event) => onWheel(event, pointerPosition(event).x, scale, listeners), {
    passive: false,
  });

  function startDrag(hit: Hit, event: PointerEvent, start: { x: number; y: number }): typeof drag {
    const { range, canMoveKeys, canSelectSwings, canChangeSwings } = getState();
    if (event.altKey || hit.on === "pin") {
      listeners.pin(scale.frameAt(start.x));
      return null;
    }
    if (hit.on === "edge" && range) {
      const fixedEnd = hit.end === "start" ? range[1] : range[0];
      return (x) => listeners.range(sortedPair(fixedEnd, scale.frameAt(x)));
    }
    if (event.shiftKey) return (x, _, done) => markRange(start.x, x, done);
    if (hit.on === "key") {
      if (!canMoveKeys) return (x) => listeners.scrub(Math.abs(x - start.x) > MIN_DRAG_PX ? scale.frameAt(x) : hit.key);
      let isMoved = false;
      return (x, _, done) => {
        isMoved ||= Math.abs(x - start.x) > MIN_DRAG_PX;
        if (isMoved) listeners.moveKey(hit.key, scale.frameAt(x), done);
        else listeners.scrub(hit.key);
      };
    }
    if (hit.on === "bar" && canChangeSwings) {
      listeners.selectSwing(hit.bar);
      const available = availableRange(hit.bar, getState().bars, scale.nFrames);
      return (x, y, done) =>
        listeners.changeSwing(hit.bar, changeFromDrag(hit, x - start.x, y - start.y, scale, available), done);
    }
    if (hit.on === "action") {
      listeners.selectAction(hit.action);
      return null;
    }
    if (hit.on === "bar" && canSelectSwings) listeners.selectSwing(hit.bar);
    return (x) => listeners.scrub(scale.frameAt(x));
  }

  function markRange(from: number, x: number, done: boolean): void {
    if (Math.abs(x - from) > MIN_DRAG_PX) listeners.range(sortedPair(scale.frameAt(from), scale.frameAt(x)));
    else if (done) listeners.range(null);
  }
}

function onWheel(event: WheelEvent, x: number, scale: TimeScale, listeners: GestureListeners): void {
  event.preventDefault();
  const across = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.shiftKey ? event.deltaY : 0;
  if (across) scale.pan(across / scale.pixelsPerFrame);
  else scale.zoom(Math.exp(Math.max(-90, Math.min(90, event.deltaY)) * 0.003), x);
  listeners.onViewChange();
}

function sortedPair(a: number, b: number): readonly [number, number] {
  return a < b ? [a, b] : [b, a];
}

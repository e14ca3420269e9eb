/**
 * A renderer that adapts to the machine: without a GPU it draws at a low resolution while things move, and at full
 * resolution afterwards.
 */

import { PCFShadowMap, PCFSoftShadowMap, WebGLRenderer } from "three";

const MAX_RATIO = 2; // device pixels per CSS pixel: more is not visible
const LOW_RATIO = 0.6; // while things move, without a GPU
const REFINE_DELAY_MS = 350;
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;

/** Whether WebGL runs without a GPU. */
function isSoftwareRenderer(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const debugInfo = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && debugInfo ? String(gl.getParameter(debugInfo.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return SOFTWARE.test(name);
}

let cachedIsSoftware: boolean | null = null;

export class AdaptiveRenderer {
  readonly renderer: WebGLRenderer;
  readonly #isSlow: boolean;
  readonly #draw: () => void;
  #timer = 0;
  #isFine = false;

  /** `draw` draws the stage with `renderer`. Throws if there is no WebGL. */
  constructor(canvas: HTMLCanvasElement, draw: () => void) {
    cachedIsSoftware ??= isSoftwareRenderer();
    this.#isSlow = cachedIsSoftware;
    this.#draw = draw;
    const powerPreference = "high-performance";
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.#isSlow, powerPreference });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = this.#isSlow ? PCFShadowMap : PCFSoftShadowMap;
    this.renderer.autoClear = false;
  }

  resize(width: number, height: number): void {
    this.renderer.setPixelRatio(this.#ratio());
    this.renderer.setSize(width, height, false);
  }

  /** Call before each draw: it lowers the resolution while things move. */
  beforeDraw(): void {
    if (!this.#isSlow) return;
    clearTimeout(this.#timer);
    if (this.#isFine) this.#setFine(false);
    this.#timer = window.setTimeout(() => {
      this.#setFine(true);
      this.#draw();
    }, REFINE_DELAY_MS);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }

  #setFine(isFine: boolean): void {
    this.#isFine = isFine;
    this.renderer.setPixelRatio(this.#ratio());
  }

  #ratio(): number {
    const ratio = Math.min(MAX_RATIO, window.devicePixelRatio || 1);
    return this.#isSlow ? (this.#isFine ? Math.max(2, ratio) : LOW_RATIO) : ratio;
  }
}

/** How finely the stage is drawn: at once as this machine can, and once more, finer, when it has come to rest. */

import { PCFShadowMap, PCFSoftShadowMap, WebGLRenderer } from "three";

const MOST_RATIO = 2; // pixels of the screen per CSS pixel: more is not seen
const ROUGH_RATIO = 0.6; // while things move, on a processor without graphics
const REST_MS = 350;
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;

/** Whether this machine has no graphics processor to draw with. */
function isSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const known = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && known ? String(gl.getParameter(known.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return SOFTWARE.test(name);
}

let software: boolean | null = null;

export class Drawing {
  readonly renderer: WebGLRenderer;
  readonly #isSlow: boolean;
  readonly #draw: () => void;
  #timer = 0;
  #isFine = false;

  /** `draw` draws the stage with `renderer`. Throws where there is no WebGL. */
  constructor(canvas: HTMLCanvasElement, draw: () => void) {
    software ??= isSoftware();
    this.#isSlow = software;
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

  /** Before each drawing: quick while things move. */
  begin(): void {
    if (!this.#isSlow) return;
    clearTimeout(this.#timer);
    if (this.#isFine) this.#setFine(false);
    this.#timer = window.setTimeout(() => {
      this.#setFine(true);
      this.#draw();
    }, REST_MS);
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
    const ratio = Math.min(MOST_RATIO, window.devicePixelRatio || 1);
    return this.#isSlow ? (this.#isFine ? Math.max(2, ratio) : ROUGH_RATIO) : ratio;
  }
}

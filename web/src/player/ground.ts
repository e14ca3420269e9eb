/** The ground: a grid in metres that fades out, and the figure's shadow. */

import {
  CircleGeometry,
  Color,
  CustomBlending,
  DirectionalLight,
  Group,
  HemisphereLight,
  Mesh,
  PlaneGeometry,
  ShaderMaterial,
  ShadowMaterial,
} from "three";
import type { Colours } from "./colours";

const RADIUS = 14; // metres
const SHADOW_REACH = 2.6; // metres around the figure

const VERTEX = /* glsl */ `
varying vec2 vPosition;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  vPosition = world.xz;
  gl_Position = projectionMatrix * viewMatrix * world;
}`;

const FRAGMENT = /* glsl */ `
uniform vec3 paper, line;
uniform vec2 centre;
varying vec2 vPosition;
float lines(float every) {
  vec2 at = vPosition / every;
  vec2 near = abs(fract(at - 0.5) - 0.5) / fwidth(at);
  return 1.0 - min(min(near.x, near.y), 1.0);
}
void main() {
  float fade = smoothstep(1.0, 0.15, length(vPosition - centre) / ${RADIUS.toFixed(1)});
  float strength = max(0.5 * lines(1.0), 0.16 * lines(0.25) * smoothstep(0.5, 0.0, length(vPosition - centre) / 8.0));
  gl_FragColor = vec4(mix(paper, line, strength * fade), 1.0);
  #include <colorspace_fragment>
}`;

export class Ground {
  readonly group = new Group();
  readonly #grid: ShaderMaterial;
  readonly #shadowMaterial = new ShadowMaterial({ blending: CustomBlending, depthWrite: false });
  readonly #sky = new HemisphereLight(0xffffff, 0xbbbbbb, 1.55);
  readonly #sun = new DirectionalLight(0xffffff, 2.1);
  readonly #back = new DirectionalLight(0xffffff, 0.75);
  readonly #disc: Mesh;
  readonly #receiver: Mesh;

  constructor() {
    const uniforms = { paper: { value: new Color() }, line: { value: new Color() }, centre: { value: [0, 0] } };
    this.#grid = new ShaderMaterial({ vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms, depthWrite: false });
    this.#disc = new Mesh(new CircleGeometry(RADIUS, 48), this.#grid);
    this.#receiver = new Mesh(new PlaneGeometry(2 * SHADOW_REACH, 2 * SHADOW_REACH), this.#shadowMaterial);
    for (const [order, mesh] of [
      [-4, this.#disc],
      [-3, this.#receiver],
    ] as const) {
      mesh.rotation.x = -Math.PI / 2;
      mesh.renderOrder = order;
    }
    this.#receiver.receiveShadow = true;
    this.#sun.castShadow = true;
    this.#sun.shadow.mapSize.set(1024, 1024);
    this.#sun.shadow.radius = 5;
    this.#sun.shadow.bias = -0.0008;
    this.#sun.shadow.normalBias = 0.01;
    const shadowCamera = this.#sun.shadow.camera;
    shadowCamera.left = shadowCamera.bottom = -SHADOW_REACH;
    shadowCamera.right = shadowCamera.top = SHADOW_REACH;
    shadowCamera.near = 1;
    shadowCamera.far = 14;
    this.group.add(this.#disc, this.#receiver, this.#sky, this.#sun, this.#sun.target, this.#back, this.#back.target);
  }

  setColours(colours: Colours): void {
    (this.#grid.uniforms.paper!.value as Color).set(colours.background);
    (this.#grid.uniforms.line!.value as Color).set(colours.line);
    this.#shadowMaterial.opacity = colours.shadow;
    this.#sky.color.set(colours.sky);
    this.#sky.groundColor.set(colours.earth);
  }

  /** Moves light and shadow with the figure; the light is behind the camera, to its left. */
  follow(x: number, z: number, azimuth: number): void {
    const centre = this.#grid.uniforms.centre!.value as number[];
    centre[0] = x;
    centre[1] = z;
    this.#disc.position.set(x, 0, z);
    this.#receiver.position.set(x, 0.001, z);
    const azimuthRad = ((azimuth - 42) * Math.PI) / 180;
    this.#sun.target.position.set(x, 0.8, z);
    this.#sun.position.set(x + 3.4 * Math.sin(azimuthRad), 6.2, z + 3.4 * Math.cos(azimuthRad));
    this.#back.target.position.set(x, 1, z);
    this.#back.position.set(x - 4 * Math.sin(azimuthRad), 2.6, z - 4 * Math.cos(azimuthRad));
  }

  dispose(): void {
    this.#disc.geometry.dispose();
    this.#receiver.geometry.dispose();
    this.#grid.dispose();
    this.#shadowMaterial.dispose();
    this.#sun.shadow.dispose();
  }
}

/**
 * Draws hulls of balls in one instanced draw call: each vertex of a sphere moves to the ball that reaches furthest in
 * its direction.
 */

import {
  BackSide,
  type BufferGeometry,
  DynamicDrawUsage,
  FrontSide,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  type Material,
  Mesh,
  MeshDepthMaterial,
  MeshStandardMaterial,
  RGBADepthPacking,
  SphereGeometry,
} from "three";

const BALLS = 4;

const VERTEX_HEADER = /* glsl */ `
attribute vec4 ball0, ball1, ball2, ball3;
attribute vec4 tint;
varying vec4 vTint;
vec3 outwardDirection() {
  vec3 along = ball1.xyz - ball0.xyz;
  float size = length(along);
  along = size > 1e-5 ? along / size : vec3(0.0, 1.0, 0.0);
  vec3 beside = normalize(cross(along, abs(along.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0)));
  return beside * position.x + along * position.y + cross(beside, along) * position.z;
}
vec3 farthestPoint(vec3 direction) {
  vec4 best = ball0;
  float reach = dot(ball0.xyz, direction) + ball0.w, other;
  other = dot(ball1.xyz, direction) + ball1.w; if (other > reach) { reach = other; best = ball1; }
  other = dot(ball2.xyz, direction) + ball2.w; if (other > reach) { reach = other; best = ball2; }
  other = dot(ball3.xyz, direction) + ball3.w; if (other > reach) { reach = other; best = ball3; }
  return best.xyz + best.w * direction;
}`;

type Shader = { vertexShader: string; fragmentShader: string };

function patchShader(shader: Shader): void {
  shader.vertexShader = shader.vertexShader
    .replace("#include <common>", `#include <common>\n${VERTEX_HEADER}`)
    .replace("#include <beginnormal_vertex>", "vec3 objectNormal = outwardDirection();")
    .replace("#include <begin_vertex>", "vec3 transformed = farthestPoint(outwardDirection()); vTint = tint;");
  shader.fragmentShader = shader.fragmentShader
    .replace("#include <common>", "#include <common>\nvarying vec4 vTint;")
    .replace("#include <color_fragment>", "diffuseColor *= vTint;");
}

function withHullShader<Kind extends Material>(material: Kind): Kind {
  material.onBeforeCompile = patchShader;
  material.customProgramCacheKey = () => "hulls";
  return material;
}

/** Holds up to `capacity` solids. Transparent solids show only their outer side. */
export class Hulls {
  readonly mesh: Mesh;
  readonly depthMesh: Mesh | null = null; // of transparent solids: hides their inner parts
  readonly #geometry = new InstancedBufferGeometry();
  readonly #balls: Float32Array[] = [];
  readonly #tints: Float32Array;
  readonly #attributes: InstancedBufferAttribute[] = [];
  #count = 0;

  constructor(capacity: number, kind: "solid" | "transparent" = "solid") {
    const sphere: BufferGeometry = new SphereGeometry(1, 18, 14);
    this.#geometry.setIndex(sphere.index);
    this.#geometry.setAttribute("position", sphere.getAttribute("position"));
    for (let k = 0; k < BALLS; k++) this.#balls.push(this.#attribute(`ball${k}`, capacity));
    this.#tints = this.#attribute("tint", capacity);
    this.#geometry.instanceCount = 0;
    const isTransparent = kind === "transparent";
    const material = withHullShader(
      new MeshStandardMaterial({ roughness: 0.72, metalness: 0, side: FrontSide, transparent: isTransparent }),
    );
    this.mesh = new Mesh(this.#geometry, material);
    this.mesh.frustumCulled = false;
    if (isTransparent) {
      this.depthMesh = new Mesh(this.#geometry, withHullShader(new MeshDepthMaterial({ colorWrite: false })));
      this.depthMesh.frustumCulled = false;
      this.depthMesh.renderOrder = 1;
      this.mesh.renderOrder = 2;
    } else {
      this.mesh.castShadow = true;
      this.mesh.customDepthMaterial = withHullShader(
        new MeshDepthMaterial({ depthPacking: RGBADepthPacking, side: BackSide }),
      );
    }
  }

  #attribute(name: string, capacity: number): Float32Array {
    const values = new Float32Array(4 * capacity);
    const attribute = new InstancedBufferAttribute(values, 4);
    attribute.setUsage(DynamicDrawUsage);
    this.#geometry.setAttribute(name, attribute);
    this.#attributes.push(attribute);
    return values;
  }

  /** Places a ball of a solid. Solids with fewer than four balls repeat the first one. */
  place(solid: number, ball: number, x: number, y: number, z: number, radius: number): void {
    const to = this.#balls[ball]!;
    to[4 * solid] = x;
    to[4 * solid + 1] = y;
    to[4 * solid + 2] = z;
    to[4 * solid + 3] = radius;
  }

  /** Colours a solid; red, green and blue are linear. */
  colour(solid: number, red: number, green: number, blue: number, alpha: number): void {
    this.#tints[4 * solid] = red;
    this.#tints[4 * solid + 1] = green;
    this.#tints[4 * solid + 2] = blue;
    this.#tints[4 * solid + 3] = alpha;
  }

  /** Shows the first `count` solids. */
  show(count: number): void {
    for (const attribute of this.#attributes) {
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, 4 * count);
      attribute.needsUpdate = count > 0;
    }
    this.#count = count;
    this.#geometry.instanceCount = count;
    this.mesh.visible = count > 0;
    if (this.depthMesh) this.depthMesh.visible = count > 0;
  }

  get count(): number {
    return this.#count;
  }

  dispose(): void {
    this.#geometry.dispose();
    for (const mesh of [this.mesh, this.depthMesh]) (mesh?.material as Material | undefined)?.dispose();
    this.mesh.customDepthMaterial?.dispose();
  }
}

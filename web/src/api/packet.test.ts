import { describe, expect, it } from "vitest";
import { parsePacket } from "./packet";

function buildPacket(header: object, body: ArrayBuffer): ArrayBuffer {
  let text = JSON.stringify(header);
  while ((4 + text.length) % 8 !== 0) text += " ";
  const bytes = new Uint8Array(4 + text.length + body.byteLength);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(new TextEncoder().encode(text), 4);
  bytes.set(new Uint8Array(body), 4 + text.length);
  return bytes.buffer;
}

describe("a packet of arrays", () => {
  it("gives header, arrays and shapes", () => {
    const body = new ArrayBuffer(40);
    new Float32Array(body, 0, 6).set([1, 2, 3, 4, 5, 6]);
    new Int32Array(body, 24, 3).set([-1, 0, 1]);
    const arrays = {
      positions: { dtype: "float32", shape: [1, 2, 3], offset: 0 },
      parents: { dtype: "int32", shape: [3], offset: 24 },
    };
    const packet = parsePacket<{ fps: number }>(buildPacket({ fps: 30, arrays }, body));
    expect(packet.header).toEqual({ fps: 30 });
    expect([...packet.arrays.positions!]).toEqual([1, 2, 3, 4, 5, 6]);
    expect([...packet.arrays.parents!]).toEqual([-1, 0, 1]);
    expect(packet.shapes.positions).toEqual([1, 2, 3]);
  });

  it("is refused if it is incomplete", () => {
    const whole = buildPacket({ arrays: { a: { dtype: "float32", shape: [4], offset: 0 } } }, new ArrayBuffer(16));
    expect(() => parsePacket(whole.slice(0, whole.byteLength - 8))).toThrow();
    expect(() => parsePacket(whole.slice(0, 12))).toThrow("incomplete");
  });
});

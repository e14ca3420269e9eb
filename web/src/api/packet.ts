/** Arrays in the binary format of the server: a JSON header, then the numbers (docs/api.md). */

type NumberArray = Float32Array | Int32Array;
const ARRAY_TYPES = { float32: Float32Array, int32: Int32Array } as const;

interface ArrayEntry {
  dtype: keyof typeof ARRAY_TYPES;
  shape: number[];
  offset: number;
}

export interface Packet<Header> {
  header: Header;
  arrays: Record<string, NumberArray>;
  shapes: Record<string, number[]>;
}

/** Returns the header and the arrays of a packet. Throws if it is truncated. */
export function parsePacket<Header>(bytes: ArrayBuffer): Packet<Header> {
  const length = new DataView(bytes).getUint32(0, true);
  const bodyOffset = 4 + length;
  if (bodyOffset > bytes.byteLength) throw new Error("the response of the server is incomplete");
  const { arrays: entries, ...header } = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const arrays: Record<string, NumberArray> = {};
  const shapes: Record<string, number[]> = {};
  for (const [name, { dtype, shape, offset }] of Object.entries(entries as Record<string, ArrayEntry>)) {
    const count = shape.reduce((product, size) => product * size, 1);
    arrays[name] = new ARRAY_TYPES[dtype](bytes, bodyOffset + offset, count);
    shapes[name] = shape;
  }
  return { header: header as Header, arrays, shapes };
}

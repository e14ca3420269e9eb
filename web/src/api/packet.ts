/** Arrays as the server sends them: a header in JSON, then numbers (docs/api.md). */

type Typed = Float32Array | Int32Array;
const KINDS = { float32: Float32Array, int32: Int32Array } as const;

interface Placed {
  dtype: keyof typeof KINDS;
  shape: number[];
  offset: number;
}

export interface Packet<Header> {
  header: Header;
  arrays: Record<string, Typed>;
  shapes: Record<string, number[]>;
}

/** The header and the arrays of a packet; an error where it is cut short. */
export function unpack<Header>(bytes: ArrayBuffer): Packet<Header> {
  const length = new DataView(bytes).getUint32(0, true);
  const body = 4 + length;
  if (body > bytes.byteLength) throw new Error("the answer of the server was cut short");
  const { arrays: placed, ...header } = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const arrays: Record<string, Typed> = {};
  const shapes: Record<string, number[]> = {};
  for (const [name, { dtype, shape, offset }] of Object.entries(placed as Record<string, Placed>)) {
    const count = shape.reduce((product, size) => product * size, 1);
    arrays[name] = new KINDS[dtype](bytes, body + offset, count);
    shapes[name] = shape;
  }
  return { header: header as Header, arrays, shapes };
}

/** Codecs between values and the query of an address. Invalid texts give the fallback. */

export interface Codec<Value> {
  readonly fallback: Value;
  read(texts: readonly string[]): Value;
  write(value: Value): readonly string[];
}

/** A text; empty by default. */
export function text(fallback = ""): Codec<string> {
  return { fallback, read: (texts) => texts[0] ?? fallback, write: (value) => [value] };
}

/** Several texts under one name: ?tag=a&tag=b */
export function texts(fallback: readonly string[] = []): Codec<readonly string[]> {
  return { fallback, read: (all) => (all.length > 0 ? [...new Set(all)] : fallback), write: (value) => value };
}

/** Several words in one text: ?methods=a,b */
export function list(fallback: readonly string[] = []): Codec<readonly string[]> {
  return {
    fallback,
    read: (all) => (all[0] === undefined ? fallback : all[0].split(",").filter((each) => each !== "")),
    write: (value) => [value.join(",")],
  };
}

/** One of a fixed set of words. */
export function choice<Word extends string>(words: readonly Word[], fallback: Word): Codec<Word> {
  return {
    fallback,
    read: (all) => words.find((word) => word === all[0]) ?? fallback,
    write: (value) => [value],
  };
}

/** Yes or no: ?ghosts=1 */
export function flag(fallback = false): Codec<boolean> {
  return {
    fallback,
    read: (all) => (all[0] === undefined ? fallback : all[0] !== "0"),
    write: (value) => [value ? "1" : "0"],
  };
}

interface NumberLimits {
  min?: number;
  max?: number;
  digits?: number;
}

/** A number within limits, or null. */
export function number(limits: NumberLimits = {}): Codec<number | null> {
  const { min = -Infinity, max = Infinity, digits = 3 } = limits;
  return {
    fallback: null,
    read: ([first]) => {
      const value = first === undefined || first.trim() === "" ? Number.NaN : Number(first);
      return Number.isFinite(value) && value >= min && value <= max ? value : null;
    },
    write: (value) => (value === null ? [] : [String(Number(value.toFixed(digits)))]),
  };
}

/** A whole number within limits, or null. */
export function integer(limits: NumberLimits = {}): Codec<number | null> {
  const base = number({ ...limits, digits: 0 });
  return {
    ...base,
    read: (all) => {
      const value = base.read(all);
      return value !== null && Number.isInteger(value) ? value : null;
    },
  };
}

/** Several numbers in one text: ?camera=1.5,0.2,3 */
export function numbers(digits = 3): Codec<readonly number[] | null> {
  return {
    fallback: null,
    read: ([first]) => {
      const values = first?.split(",").map(Number) ?? [];
      return first !== undefined && first !== "" && values.every(Number.isFinite) ? values : null;
    },
    write: (value) => (value === null ? [] : [value.map((each) => Number(each.toFixed(digits))).join(",")]),
  };
}

/** A range of whole numbers: ?range=10-80 */
export function range(): Codec<readonly [number, number] | null> {
  return {
    fallback: null,
    read: ([first]) => {
      const match = /^(\d{1,9})-(\d{1,9})$/.exec(first ?? "");
      const [start, end] = [Number(match?.[1]), Number(match?.[2])];
      return match && start <= end ? [start, end] : null;
    },
    write: (value) => (value === null ? [] : [`${value[0]}-${value[1]}`]),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a table of codecs of any values
export type Fields = Record<string, Codec<any>>;
export type Values<FieldSet extends Fields> = {
  [Name in keyof FieldSet]: FieldSet[Name] extends Codec<infer Value> ? Value : never;
};

/** Parses the query of an address. */
export function readQuery<FieldSet extends Fields>(fields: FieldSet, search: string): Values<FieldSet> {
  const query = new URLSearchParams(search);
  const values = Object.entries(fields).map(([name, codec]) => [name, codec.read(query.getAll(name))]);
  return Object.fromEntries(values) as Values<FieldSet>;
}

/** Writes values to a query. Defaults are omitted; other parameters of `search` stay. */
export function writeQuery<FieldSet extends Fields>(fields: FieldSet, values: Values<FieldSet>, search = ""): string {
  const query = new URLSearchParams(search);
  for (const [name, codec] of Object.entries(fields)) {
    query.delete(name);
    const texts = codec.write(values[name]);
    if (isSameList(texts, codec.write(codec.fallback))) continue;
    for (const each of texts) query.append(name, each);
  }
  const written = query.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
  return written === "" ? "" : `?${written}`;
}

export function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((each, index) => each === b[index]);
}

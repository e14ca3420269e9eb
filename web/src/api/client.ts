/** Asking the server. Types come from its own description (`schema.d.ts`), so that both sides agree. */

import { type Packet, unpack } from "./packet";
import type { components } from "./schema";

export type Schema = components["schemas"];
export type Problem = Schema["Problem"];

/** What went wrong, in words for people. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly problem: Problem,
  ) {
    super(problem.message);
  }

  static async of(response: Response): Promise<ApiError> {
    try {
      const said = (await response.json()) as Schema["Failed"];
      return new ApiError(response.status, said.error);
    } catch {
      const message = `the server answered ${response.status} ${response.statusText}`;
      return new ApiError(response.status, { kind: "HttpError", message, line: null, remedy: null });
    }
  }
}

/** Nobody listens where the page came from. */
export class ServerGone extends ApiError {
  constructor() {
    const message = "Nothing listens where this page came from. The server may have been stopped.";
    super(0, { kind: "ServerGone", message, line: null, remedy: "Start it again with: keypose serve" });
  }
}

interface Asked {
  method?: string;
  told?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

async function ask(path: string, { method, told, headers, signal }: Asked): Promise<Response> {
  const response = await reach(path, {
    method: method ?? (told === undefined ? "GET" : "POST"),
    headers: told === undefined ? { ...headers } : { "Content-Type": "application/json", ...headers },
    body: told === undefined ? null : JSON.stringify(told),
    signal: signal ?? null,
  });
  if (!response.ok) throw await ApiError.of(response);
  return response;
}

async function reach(path: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(path, request);
  } catch (error) {
    if (error instanceof TypeError) throw new ServerGone(); // fetch says so of every failing network
    throw error;
  }
}

/** An answer in JSON. */
export async function askJson<Answer>(path: string, asked: Asked = {}): Promise<Answer> {
  const response = await ask(path, asked);
  return (response.status === 204 ? undefined : await response.json()) as Answer;
}

/** An answer of arrays. */
export async function askArrays<Header>(path: string, asked: Asked = {}): Promise<Packet<Header>> {
  const response = await ask(path, asked);
  return unpack<Header>(await response.arrayBuffer());
}

/** An answer as a file. */
export async function askFile(path: string, asked: Asked = {}): Promise<{ blob: Blob; name: string }> {
  const response = await ask(path, asked);
  const name = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  return { blob: await response.blob(), name: decodeURIComponent(name ?? "keypose") };
}

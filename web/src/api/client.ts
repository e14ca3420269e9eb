/** HTTP requests to the server. The types are generated from its OpenAPI description (`schema.d.ts`). */

import { type Packet, parsePacket } from "./packet";
import type { components } from "./schema";

export type Schema = components["schemas"];
export type ErrorDetails = Schema["ErrorDetails"];

/** An error response of the server, with a message for people. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly details: ErrorDetails,
  ) {
    super(details.message);
  }

  static async fromResponse(response: Response): Promise<ApiError> {
    try {
      const payload = (await response.json()) as Schema["ErrorResponse"];
      return new ApiError(response.status, payload.error);
    } catch {
      const message = `the server returned an error (${response.status} ${response.statusText})`;
      return new ApiError(response.status, makeDetails("http", response.status, message));
    }
  }
}

/** Returns the details of an error that the page found itself. */
export function makeDetails(code: string, status: number, message: string, hint: string | null = null): ErrorDetails {
  return { code, status, message, problem: message, hint };
}

/** The server cannot be reached. */
export class ServerUnreachable extends ApiError {
  constructor() {
    const message = "The server cannot be reached. It may have been stopped.";
    super(0, makeDetails("server_unreachable", 0, message, "Start it again with: keypose serve"));
  }
}

interface RequestOptions {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

async function send(path: string, { method, body, headers, signal }: RequestOptions): Promise<Response> {
  const response = await sendOrThrow(path, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: body === undefined ? { ...headers } : { "Content-Type": "application/json", ...headers },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  });
  if (!response.ok) throw await ApiError.fromResponse(response);
  return response;
}

async function sendOrThrow(path: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(path, request);
  } catch (error) {
    if (error instanceof TypeError) throw new ServerUnreachable(); // fetch throws a TypeError for every network failure
    throw error;
  }
}

/** Sends a request and returns the JSON of the response; undefined for 204. */
export async function fetchJson<Result>(path: string, options: RequestOptions = {}): Promise<Result> {
  const response = await send(path, options);
  return (response.status === 204 ? undefined : await response.json()) as Result;
}

/** Sends a request and returns the arrays of the response. */
export async function fetchArrays<Header>(path: string, options: RequestOptions = {}): Promise<Packet<Header>> {
  const response = await send(path, options);
  return parsePacket<Header>(await response.arrayBuffer());
}

/** Sends a request and returns the response as a file. */
export async function fetchFile(path: string, options: RequestOptions = {}): Promise<{ blob: Blob; name: string }> {
  const response = await send(path, options);
  const name = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  return { blob: await response.blob(), name: decodeURIComponent(name ?? "keypose") };
}

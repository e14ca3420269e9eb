/** Sends one file, behind those that it needs. XMLHttpRequest, because fetch does not say how much has gone. */

import { ApiError, type Schema, ServerGone } from "../../api/client";
import type { Take } from "./companions";

export type Uploaded = Schema["Uploaded"];

export interface Sending {
  answer: Promise<Uploaded>;
  abort(): void;
}

export type Send = (take: Take, onPart: (part: number) => void) => Sending;

/** `onPart` is told from 0 to 1 how much has gone; at 1 the server has it all and looks at it. */
export const sendFile: Send = ({ file, companions }, onPart) => {
  const request = new XMLHttpRequest();
  const answer = new Promise<Uploaded>((resolve, reject) => {
    const query = new URLSearchParams({ name: file.name });
    for (const { name, size } of companions) {
      query.append("companion", name);
      query.append("companion_bytes", String(size));
    }
    request.open("POST", `/api/uploads?${query}`);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.addEventListener("progress", ({ loaded, total }) =>
      onPart(total > 0 ? (0.999 * loaded) / total : 0),
    );
    request.upload.addEventListener("load", () => onPart(1));
    request.addEventListener("load", () => {
      if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText) as Uploaded);
      else reject(problemOf(request));
    });
    request.addEventListener("error", () => reject(new ServerGone()));
    request.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")));
    request.send(companions.length ? new Blob([...companions, file]) : file);
  });
  return { answer, abort: () => request.abort() };
};

function problemOf(request: XMLHttpRequest): ApiError {
  try {
    const said = JSON.parse(request.responseText) as Schema["Failed"];
    return new ApiError(request.status, said.error);
  } catch {
    const message = `the server answered ${request.status} ${request.statusText}`;
    return new ApiError(request.status, { kind: "HttpError", message, line: null, remedy: null });
  }
}

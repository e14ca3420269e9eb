/** Uploads one file after its companions. Uses XMLHttpRequest, because fetch does not report upload progress. */

import { ApiError, makeDetails, type Schema, ServerUnreachable } from "../../api/client";
import type { FileGroup } from "./companions";

export type UploadResponse = Schema["UploadResponse"];

export interface Transfer {
  response: Promise<UploadResponse>;
  abort(): void;
}

export type Send = (group: FileGroup, onProgress: (fraction: number) => void) => Transfer;

/** `onProgress` gets the share that has been sent, 0 to 1; at 1 the server has everything and analyses it. */
export const sendFile: Send = ({ file, companions }, onProgress) => {
  const request = new XMLHttpRequest();
  const response = new Promise<UploadResponse>((resolve, reject) => {
    const query = new URLSearchParams({ name: file.name });
    for (const { name, size } of companions) {
      query.append("companion", name);
      query.append("companion_bytes", String(size));
    }
    request.open("POST", `/api/uploads?${query}`);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.addEventListener("progress", ({ loaded, total }) =>
      onProgress(total > 0 ? (0.999 * loaded) / total : 0),
    );
    request.upload.addEventListener("load", () => onProgress(1));
    request.addEventListener("load", () => {
      if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText) as UploadResponse);
      else reject(parseError(request));
    });
    request.addEventListener("error", () => reject(new ServerUnreachable()));
    request.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")));
    request.send(companions.length ? new Blob([...companions, file]) : file);
  });
  return { response, abort: () => request.abort() };
};

function parseError(request: XMLHttpRequest): ApiError {
  try {
    const payload = JSON.parse(request.responseText) as Schema["ErrorResponse"];
    return new ApiError(request.status, payload.error);
  } catch {
    const message = `the server returned an error (${request.status} ${request.statusText})`;
    return new ApiError(request.status, makeDetails("http", request.status, message));
  }
}

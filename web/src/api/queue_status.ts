/** Says what an export waits for. */

import { fetchJson, type Schema } from "./client";

const INTERVAL_MS = 2000;

/** Returns what to show during an export: others are mentioned if some of all of them have to wait. */
export function describeQueue({ running, waiting }: Schema["QueueInfo"]): string {
  const others = running + waiting - 1; // without this export
  if (waiting === 0 || others < 1) return "Exporting…";
  const text = others === 1 ? "1 other export or comparison is" : `${others} other exports or comparisons are`;
  return `Exporting… The server is busy: ${text} running or waiting.`;
}

/** Calls `onText` now and every two seconds, until the returned function is called. */
export function watchQueue(onText: (text: string) => void): () => void {
  let isWatching = true;
  onText(describeQueue({ running: 0, waiting: 0 }));
  const timer = setInterval(() => {
    fetchJson<Schema["QueueInfo"]>("/api/queue").then(
      (queue) => isWatching && onText(describeQueue(queue)),
      () => {}, // the export itself reports what is wrong
    );
  }, INTERVAL_MS);
  return () => {
    isWatching = false;
    clearInterval(timer);
  };
}

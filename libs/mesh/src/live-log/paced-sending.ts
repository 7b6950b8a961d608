// Lines of all consoles of this process leave together: those of a quiet process at once, then every 10 ms
// (docs/reference/mesh.md#live-lines). Waking client, server and readers costs more than a line does, and each group costs
// it once. Readers get one notice for each group instead of the lines twice.

import { liveNoticeSubject, type Owner } from "@svc/proto";
import type { Core } from "../core.ts";

/** Publishes now; resolves when the line is stored. */
type Send<T> = () => Promise<T>;
export type PacedSending = <T>(owner: Owner, send: Send<T>) => Promise<T>;

const intervalMs = 10;

export function createPacedSending(core: Core): PacedSending {
  let waiting: { owner: Owner; start: () => void }[] = [];
  let sentAt = Number.NEGATIVE_INFINITY;
  let isDue = false;

  const sendAll = () => {
    const group = waiting;
    waiting = [];
    isDue = false;
    sentAt = performance.now();
    const counts = new Map<Owner, number>();
    for (const { owner, start } of group) {
      start();
      counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    for (const [owner, count] of counts)
      core.connection.tryPublish(liveNoticeSubject(owner), Buffer.from(String(count)));
  };
  const plan = () => {
    if (isDue) return;
    isDue = true;
    const waitMs = sentAt + intervalMs - performance.now();
    // What else has arrived in this turn goes along.
    if (waitMs <= 0) setImmediate(sendAll);
    else setTimeout(sendAll, waitMs);
  };
  return (owner, send) =>
    new Promise((resolve, reject) => {
      waiting.push({ owner, start: () => void send().then(resolve, reject) });
      plan();
    });
}

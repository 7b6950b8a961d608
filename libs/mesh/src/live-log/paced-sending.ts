// Lines of all consoles of this process leave together: those of a quiet process at once, then every 10 ms
// (docs/reference/mesh.md#live-lines). Waking client, server and readers costs more than a line does, and each group costs
// it once. Readers get a notice of what is stored instead of the lines twice.

import { liveNoticeSubject, type Owner } from "@svc/proto";
import type { Core } from "../core.ts";

/** Publishes now; resolves to the sequence once stored, to undefined when refused. */
type Send = () => Promise<number | undefined>;
export type PacedSending = (owner: Owner, send: Send) => Promise<number | undefined>;

const intervalMs = 10;

export function createPacedSending(core: Core): PacedSending {
  const notice = createNotices(core);
  let waiting: (() => void)[] = [];
  let sentAt = Number.NEGATIVE_INFINITY;

  const sendAll = () => {
    const group = waiting;
    waiting = [];
    sentAt = performance.now();
    for (const start of group) start();
  };
  const plan = () => {
    const waitMs = sentAt + intervalMs - performance.now();
    // What else has arrived in this turn goes along.
    if (waitMs <= 0) setImmediate(sendAll);
    else setTimeout(sendAll, waitMs);
  };
  const start = async (owner: Owner, send: Send) => {
    const sequence = await send();
    if (sequence !== undefined) notice(owner, sequence);
    return sequence;
  };
  return (owner, send) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) plan();
      waiting.push(() => void start(owner, send).then(resolve, reject));
    });
}

/** Publishes the highest sequence of what was acknowledged in one turn. */
function createNotices({ connection }: Core): (owner: Owner, sequence: number) => void {
  const stored = new Map<Owner, number>();
  const publish = () => {
    for (const [owner, sequence] of stored)
      connection.tryPublish(liveNoticeSubject(owner), Buffer.from(String(sequence)));
    stored.clear();
  };
  return (owner, sequence) => {
    if (stored.size === 0) setImmediate(publish);
    stored.set(owner, Math.max(stored.get(owner) ?? 0, sequence));
  };
}

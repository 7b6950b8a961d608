// Receives the log of the server into a run until the stream ends.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { writeDurably } from "../bundle/durable.ts";
import type { Run } from "./folder.ts";
import { formatLsn, nextSegment } from "./lsn.ts";
import { streamWal } from "./replication.ts";
import { createSegmentWriter } from "./segment-writer.ts";

/** Received bytes are on the disk so long after they came. */
const flushEveryMs = 1_000;
/** A server that says nothing for so long hangs. */
const silentMs = 60_000;
/** A commit has its time before it is in the log: up to 0.6 s with synchronous_commit off. */
const clockSlackMs = 1_000;

/** Where the log of the server ended at that time of its own clock. */
type Mark = { at: Date; lsn: bigint };

type ReceiveDeps = {
  client: pg.Client;
  run: Pick<Run, "path" | "about">;
  from: bigint;
  slot: string;
  /** How often the server is asked where its log ends. */
  markMs: number;
  askMark: () => Promise<Mark>;
  signal: AbortSignal;
  step: (name: string) => void;
  onReceived: (received: { until: Date; lsn: bigint }) => void;
};

/** Where a run goes on: after its last whole segment, so that the open one is compared. */
export function resumeAt(run: Pick<Run, "segments">, from: bigint): bigint {
  const last = run.segments.at(-1);
  return last === undefined ? from : nextSegment(last.start);
}

/** Never returns: throws what ended the stream. */
export async function receive(deps: ReceiveDeps): Promise<never> {
  const { client, run, from, slot, signal, step } = deps;
  const dir = join(run.path, "wal");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const { timeline } = run.about;
  const writer = createSegmentWriter({ dir, timeline, from, step });
  const wal = streamWal(client, { position: from, timeline, slot });
  let flushed = from;
  let flushedAt = 0;
  let heardAt = performance.now();
  const stop = () => wal.messages.destroy(new Error("the receiver was stopped"));
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  let mark: Mark | undefined;
  let askedAt = 0;
  const ask = () => {
    const now = performance.now();
    if (now - heardAt > silentMs) wal.messages.destroy(new Error("the server says nothing"));
    else wal.acknowledge(flushed, true);
    if (now - askedAt < deps.markMs) return;
    askedAt = now;
    deps.askMark().then(
      (found) => {
        mark = found;
      },
      (error: Error) => wal.messages.destroy(error),
    );
  };
  const asking = setInterval(ask, flushEveryMs);
  try {
    let isDirty = false;
    for await (const { data } of wal.messages) {
      heardAt = performance.now();
      if (data) await writer.write(data.at, data.bytes);
      isDirty ||= data !== undefined;
      // Many small changes share one flush.
      if (isDirty ? performance.now() - flushedAt < flushEveryMs : !mark) continue;
      step("flush");
      flushed = await writer.flush();
      flushedAt = performance.now();
      isDirty = false;
      wal.acknowledge(flushed, false);
      if (!mark || flushed < mark.lsn) continue;
      const received = { until: new Date(mark.at.getTime() - clockSlackMs), lsn: flushed };
      mark = undefined;
      const text = JSON.stringify({ until: received.until.toISOString(), lsn: formatLsn(flushed) });
      await writeDurably(join(run.path, "received.json"), text);
      step("received");
      deps.onReceived(received);
    }
    throw new Error("the stream ended");
  } finally {
    clearInterval(asking);
    signal.removeEventListener("abort", stop);
    wal.messages.destroy();
    await writer.close();
  }
}

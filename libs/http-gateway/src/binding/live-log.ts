// Live logs for many viewers: one upstream reader per subject, with a short buffer for viewers that join later.

import { eventFrame, type Mesh } from "@svc/mesh";
import type { StreamTicket } from "@svc/proto";

export type Frame = { atSeconds: number; bytes: Buffer };
type Listener = { take: (frame: Frame) => void; end: () => void };

export type LiveLogs = {
  /** Sends a listener the lines from the ticket's position on. Returns a function that removes the listener. */
  join: (ticket: StreamTicket, listener: Listener) => () => void;
};

type Hub = {
  key: string;
  from: StreamTicket;
  listeners: Set<Listener>;
  memory: Frame[];
  memorySize: number;
  hasForgotten: boolean;
  stop: AbortController;
};

const memoryLines = 1_000;
const memoryBytes = 1024 * 1024;

/** `onFailure` is called when an upstream fails; its listeners are ended, and their clients reconnect. */
export function createLiveLogs(
  mesh: Pick<Mesh, "readLiveLog">,
  onFailure: (subject: string, error: unknown) => void,
): LiveLogs {
  const hubs = new Map<string, Hub>();

  const open = (key: string, from: StreamTicket): Hub => {
    const hub: Hub = {
      key,
      from,
      listeners: new Set(),
      memory: [],
      memorySize: 0,
      hasForgotten: false,
      stop: new AbortController(),
    };
    // A second hub of one subject serves a viewer whose position the first one's memory does not reach.
    if (!hubs.has(key)) hubs.set(key, hub);
    return hub;
  };

  const close = (hub: Hub) => {
    if (hubs.get(hub.key) === hub) hubs.delete(hub.key);
    hub.stop.abort();
    for (const listener of [...hub.listeners]) listener.end();
    hub.listeners.clear();
  };

  const run = async (hub: Hub) => {
    try {
      for await (const line of mesh.readLiveLog(hub.from, hub.stop.signal)) {
        if (hub.stop.signal.aborted) break;
        const frame = { atSeconds: line.atSeconds, bytes: eventFrame(line) };
        keep(hub, frame);
        for (const listener of hub.listeners) listener.take(frame);
        if (line.isLast) break;
      }
    } catch (error) {
      if (!hub.stop.signal.aborted) onFailure(hub.from.subject, error);
    } finally {
      close(hub);
    }
  };

  return {
    join: (ticket, listener) => {
      const key = `${ticket.stream} ${ticket.subject}`;
      const shared = hubs.get(key);
      const isCovered = shared !== undefined && covers(shared, ticket);
      const hub = isCovered ? shared : open(key, ticket);
      if (isCovered) for (const frame of backlogOf(hub, ticket)) listener.take(frame);
      hub.listeners.add(listener);
      if (!isCovered) void run(hub);
      return () => {
        hub.listeners.delete(listener);
        if (hub.listeners.size === 0) close(hub);
      };
    },
  };
}

// Trimmed to the limits only at twice their size, so that a busy stream is not copied for every line.
function keep(hub: Hub, frame: Frame): void {
  hub.memory.push(frame);
  hub.memorySize += frame.bytes.length;
  if (hub.memory.length < memoryLines * 2 && hub.memorySize < memoryBytes * 2) return;
  let first = Math.max(0, hub.memory.length - memoryLines);
  let size = hub.memory.slice(first).reduce((sum, one) => sum + one.bytes.length, 0);
  while (size > memoryBytes) size -= hub.memory[first++]?.bytes.length ?? size;
  hub.memory = hub.memory.slice(first);
  hub.memorySize = size;
  hub.hasForgotten = true;
}

function covers(hub: Hub, ticket: StreamTicket): boolean {
  const { from, memory, hasForgotten } = hub;
  if (ticket.since === undefined) {
    return (
      memory.length >= ticket.tail || (!hasForgotten && from.since === undefined && from.tail >= ticket.tail)
    );
  }
  if (!hasForgotten && from.since !== undefined && from.since <= ticket.since) return true;
  const [first] = memory;
  return first !== undefined && first.atSeconds < ticket.since;
}

function backlogOf(hub: Hub, ticket: StreamTicket): Frame[] {
  const { since } = ticket;
  if (since !== undefined) return hub.memory.filter((frame) => frame.atSeconds >= since);
  return ticket.tail === 0 ? [] : hub.memory.slice(-ticket.tail);
}

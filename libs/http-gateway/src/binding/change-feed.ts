// Sends each viewer where something changed, as far as the viewer may know (docs/reference/events.md#stream).

import type { Principal } from "@svc/proto";
import { type Change, idOf } from "./change-log.ts";
import { type ChangeSourceDeps, createChangeSource, type HeardChange } from "./change-source.ts";

type ChangeViewer = {
  /** Who views; it may change while the stream is open. */
  principal: () => Principal;
  /** False when the viewer has not read what was sent before; then it gets the same later. */
  send: (bytes: Buffer) => boolean;
};

export type ChangeFeed = {
  /** Sends a viewer what has changed since a unix second, then every change. Returns a function that removes the viewer. */
  join: (viewer: ChangeViewer, since: number | undefined) => () => void;
  close: () => void;
};

/** More than this for one viewer is sent as `reset`. */
const mostWaiting = 1_000;

type Joined = ChangeViewer & {
  /** By type and key: a burst of changes of one entry is one message. */
  waiting: Map<string, Change>;
  mustReset: boolean;
};

/** One feed serves all viewers of a process; what changes within `flushMs` is sent together. */
export function createChangeFeed(deps: ChangeSourceDeps & { flushMs: number }): ChangeFeed {
  const viewers = new Set<Joined>();
  const pending = new Map<string, HeardChange>();
  let isLive = false;
  let timer: NodeJS.Timeout | undefined;
  const source = createChangeSource(deps, (change) => {
    if (viewers.size === 0) return;
    const id = idOf(change);
    const formers = pending.get(id)?.formers ?? [];
    pending.set(id, { ...change, formers: [...formers, ...change.formers] });
  });
  const tell = (viewer: Joined, changes: readonly HeardChange[]) => {
    const principal = viewer.principal();
    for (const change of changes) {
      if (!source.hears(change, principal)) continue;
      viewer.waiting.set(idOf(change), { type: change.type, key: change.key });
    }
    sendWaiting(viewer);
  };
  const step = () => {
    const wasLive = isLive;
    const hasMissed = source.hasMissed();
    isLive = source.isLive();
    const changes = [...pending.values()];
    // What changes while it is not live is part of the reset that follows.
    pending.clear();
    for (const viewer of viewers) {
      if (!isLive && wasLive) viewer.send(pausedFrame);
      if (!isLive) continue;
      viewer.mustReset ||= hasMissed || !wasLive;
      tell(viewer, changes);
    }
    if (viewers.size > 0 || !isLive) return;
    clearInterval(timer);
    timer = undefined;
  };
  const keepStepping = () => {
    timer ??= setInterval(step, deps.flushMs).unref();
  };
  keepStepping();

  return {
    join: (viewer, since) => {
      step();
      const missed = since === undefined ? undefined : source.since(since);
      const joined: Joined = { ...viewer, waiting: new Map(), mustReset: missed === undefined };
      viewers.add(joined);
      if (isLive) {
        viewer.send(Buffer.from(`id: ${unixSecond()}\n\n`));
        tell(joined, missed ?? []);
      } else viewer.send(pausedFrame);
      keepStepping();
      return () => void viewers.delete(joined);
    },
    close: () => {
      clearInterval(timer);
      source.close();
    },
  };
}

const pausedFrame = Buffer.from("event: paused\ndata: {}\n\n");

const unixSecond = () => Math.floor(Date.now() / 1_000);

function sendWaiting(viewer: Joined): void {
  if (viewer.waiting.size > mostWaiting) viewer.mustReset = true;
  if (viewer.mustReset) viewer.waiting.clear();
  else if (viewer.waiting.size === 0) return;
  const id = `id: ${unixSecond()}\n`;
  const frames = viewer.mustReset
    ? [`${id}event: reset\ndata: {}\n\n`]
    : Array.from(
        viewer.waiting.values(),
        ({ type, key: server }) => `${id}data: ${JSON.stringify({ type, server })}\n\n`,
      );
  if (!viewer.send(Buffer.from(frames.join("")))) return;
  viewer.waiting.clear();
  viewer.mustReset = false;
}

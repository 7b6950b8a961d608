// One process at a time works on a state folder. The lock is an abstract socket: the kernel drops it with the process, so a
// killed one leaves nothing behind, and whoever waits hears of it at once.

import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { resolve } from "node:path";

type Release = () => Promise<void>;

/** Takes the lock `name` of a folder; undefined when another process holds it for longer than `waitMs`. */
export async function takeLock(dir: string, name: string, waitMs: number): Promise<Release | undefined> {
  // One folder by two names is one lock.
  const folder = await realpath(dir).catch(() => resolve(dir));
  const digest = createHash("sha256").update(folder).digest("hex").slice(0, 40);
  const path = `\0svc-watchdog-${name}-${digest}`;
  const endAt = performance.now() + waitMs;
  for (;;) {
    const server = await listen(path);
    if (server) return () => close(server);
    const leftMs = endAt - performance.now();
    if (leftMs <= 0) return undefined;
    await holderGone(path, leftMs);
  }
}

type Held = { server: Server; waiting: Set<{ destroy: () => void }> };

function listen(path: string): Promise<Held | undefined> {
  const waiting = new Set<{ destroy: () => void }>();
  const server = createServer((socket) => {
    waiting.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => waiting.delete(socket));
  });
  return new Promise((done, fail) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? done(undefined) : fail(error),
    );
    server.listen(path, () => done({ server: server.unref(), waiting }));
  });
}

function close({ server, waiting }: Held): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    for (const socket of waiting) socket.destroy();
  });
}

function holderGone(path: string, withinMs: number): Promise<void> {
  return new Promise((done) => {
    const socket = connect(path);
    const timer = setTimeout(() => socket.destroy(), withinMs);
    // Refused: it is gone already.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      clearTimeout(timer);
      done();
    });
  });
}

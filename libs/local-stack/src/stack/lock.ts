import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { createServer } from "node:net";
import { findText, writeFileAtomic } from "../atomic-file.ts";
import { errorCode } from "../error.ts";
import { findProcess, isAlive, type ProcessRef, parseProcessRef } from "../process/identity.ts";

/**
 * Makes this process the only supervisor of a data folder. Undefined when another one is. The lock is an abstract
 * socket: the kernel drops it with the process, so a killed supervisor leaves no stale lock.
 */
export function takeLock(data: string): Promise<(() => Promise<void>) | undefined> {
  const digest = createHash("sha256").update(realpathSync(data)).digest("hex").slice(0, 40);
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", (error) => (errorCode(error) === "EADDRINUSE" ? resolve(undefined) : reject(error)));
    server.listen(`\0svc-stack-${digest}`, () =>
      resolve(() => new Promise((done) => server.close(() => done()))),
    );
  });
}

/** Records this process as the supervisor, for `down`. */
export function writeSupervisor(path: string): void {
  writeFileAtomic(path, JSON.stringify(findProcess(process.pid)));
}

/** The living supervisor named in that file. */
export function findSupervisor(path: string): ProcessRef | undefined {
  const text = findText(path);
  if (text === undefined) return undefined;
  try {
    const ref = parseProcessRef(JSON.parse(text));
    return ref && isAlive(ref) ? ref : undefined;
  } catch {
    return undefined;
  }
}

// Checks that the streams of a service exist, at its start and after every reconnect.

import { setTimeout as delay } from "node:timers/promises";
import type { Owner } from "@svc/proto";
import type { Core } from "../core.ts";
import { findStream, noStream } from "./info.ts";
import { streamsNeededBy } from "./names.ts";

const withinMs = 15_000;
const retryMs = 200;

/** Throws an Error that says what to do when one is missing. After a reconnect (NATS may have lost its disk) it is logged. */
export async function requireStreams(core: Core, owner: Owner): Promise<void> {
  const endAt = Date.now() + withinMs;
  let missing: string | undefined;
  for (;;) {
    try {
      missing = await findMissing(core, owner);
      break;
    } catch (error) {
      if (Date.now() > endAt)
        throw new Error(`The streams of ${owner} could not be looked up: ${(error as Error).message}.`, {
          cause: error,
        });
    }
    await delay(retryMs);
  }
  if (missing !== undefined) throw noStream(missing);
  core.connection.onReconnect(() => void logMissing(core, owner));
}

async function findMissing(core: Core, owner: Owner): Promise<string | undefined> {
  for (const name of streamsNeededBy(owner)) if (!(await findStream(core.connection, name))) return name;
  return undefined;
}

async function logMissing(core: Core, owner: Owner): Promise<void> {
  try {
    const missing = await findMissing(core, owner);
    if (missing !== undefined) core.log.error(noStream(missing).message);
  } catch {
    // The connection is lost again; the next reconnect checks again.
  }
}

// Fetches what the internal face keeps for this Job, and tells it when it has landed.

import type { IncomingMessage } from "node:http";
import { answerOf, assertTaken, type Door, failed, stallTimer, startRequest } from "./send.ts";

/** The body of a one-time URL, in chunks. Throws `transfer_failed`, also when it ends before its length. */
export async function* fetchStream(door: Door): AsyncGenerator<Buffer> {
  const request = startRequest(door, "GET");
  try {
    request.end();
    const response = await within(door, responseOf(request));
    if (response.statusCode !== 200) throw failed(`the internal face answered ${response.statusCode}`);
    const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    for (;;) {
      const next = await within(door, chunks.next());
      if (next.done) break;
      yield next.value;
    }
    if (!response.complete) throw failed("the connection was closed");
  } finally {
    request.destroy();
  }
}

/** DELETE of the same URL: what was fetched is in place. */
export async function reportCommitted(door: Door): Promise<void> {
  const request = startRequest(door, "DELETE");
  try {
    request.end();
    assertTaken(await within(door, answerOf(request)));
  } finally {
    request.destroy();
  }
}

function responseOf(request: ReturnType<typeof startRequest>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on("error", (error) => reject(failed(error.message)));
    request.once("response", resolve);
  });
}

async function within<Value>({ stallMs }: Door, wait: Promise<Value>): Promise<Value> {
  const timer = stallTimer(stallMs);
  try {
    return await Promise.race([wait, timer.stalled]);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw /^E(CONN|PIPE)|ECONNRESET|ABORT/.test(code) ? failed((error as Error).message) : error;
  } finally {
    timer.clear();
  }
}

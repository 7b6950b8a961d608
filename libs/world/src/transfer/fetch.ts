// Fetches a staged transfer from the internal face and reports that it is committed.

import type { IncomingMessage } from "node:http";
import { WorldFault } from "../fault.ts";
import { answerOf, assertTaken, failed, stallTimer, startRequest, type TransferTarget } from "./send.ts";

/** The face answered with another status than 200. */
export class TransferRefused extends WorldFault {
  readonly status: number;

  constructor(status: number) {
    super("transfer_failed", `The transfer failed: the internal face answered ${status}.`);
    this.status = status;
  }
}

/** The body of a one-time URL, in chunks. Throws `transfer_failed` (`TransferRefused` for another status), also when it ends before its length. */
export async function* fetchStream(target: TransferTarget): AsyncGenerator<Buffer> {
  const request = startRequest(target, "GET");
  try {
    request.end();
    const response = await within(target, responseOf(request));
    if (response.statusCode !== 200) throw new TransferRefused(response.statusCode ?? 0);
    const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    for (;;) {
      const next = await within(target, chunks.next());
      if (next.done) break;
      yield next.value;
    }
    if (!response.complete) throw failed("the connection was closed");
  } finally {
    request.destroy();
  }
}

/** DELETE of the same URL: the content is committed. */
export async function reportCommitted(target: TransferTarget): Promise<void> {
  const request = startRequest(target, "DELETE");
  try {
    request.end();
    assertTaken(await within(target, answerOf(request)));
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

async function within<Value>({ stallMs }: TransferTarget, wait: Promise<Value>): Promise<Value> {
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

// One POST to an address that was checked: connected to just there, whatever the name resolves to by then; no redirect is
// followed; of the answer only the beginning is read.

import type { IncomingMessage } from "node:http";
import { pinnedLookup } from "@svc/service/pinned-lookup";

export type Address = { address: string; family: 4 | 6 };

type Posting = {
  body: string;
  headers: Readonly<Record<string, string>>;
  /** Addresses of the host that were checked, at least one. */
  addresses: readonly Address[];
  /** Ends it, also in the middle of an answer. */
  signal: AbortSignal;
  /** Bytes of the answer that are read. */
  mostBytes: number;
};

type Answer = { status: number; retryAfter: string | undefined; beginning: Buffer };

/** Rejects when no answer has begun; a body that breaks off or takes too long is as long as it came. */
export async function post(url: URL, { addresses, mostBytes, ...given }: Posting): Promise<Answer> {
  const { request } =
    url.protocol === "https:" ? await import("node:https") : process.getBuiltinModule("node:http");
  return new Promise((done, fail) => {
    const sending = request(url, {
      method: "POST",
      headers: { ...given.headers, "content-length": String(Buffer.byteLength(given.body)) },
      lookup: pinnedLookup(addresses),
      signal: given.signal,
      agent: false,
      // Of https; no variable of the environment may weaken it. The name of the address is verified, not where it led.
      ...{ rejectUnauthorized: true, minVersion: "TLSv1.2" as const },
    });
    sending.on("error", fail);
    sending.once("response", (response: IncomingMessage) => {
      void readBeginning(response, mostBytes).then((beginning) => {
        sending.destroy();
        const { statusCode: status = 0, headers } = response;
        done({ status, retryAfter: headers["retry-after"], beginning });
      });
    });
    sending.end(given.body);
  });
}

function readBeginning(response: IncomingMessage, mostBytes: number): Promise<Buffer> {
  return new Promise((done) => {
    const chunks: Buffer[] = [];
    let length = 0;
    // After the first time it says nothing.
    const end = () => done(Buffer.concat(chunks).subarray(0, mostBytes));
    if (mostBytes === 0) end();
    response.on("data", (chunk: Buffer) => {
      if (length >= mostBytes) return;
      chunks.push(chunk);
      length += chunk.length;
      if (length >= mostBytes) end();
    });
    response.on("end", end).on("error", end).on("close", end);
  });
}

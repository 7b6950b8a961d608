// Sends a body on to the owner as it arrives (architecture.md 3, lanes).

import type { IncomingMessage } from "node:http";
import { type Mesh, sendBytes } from "@svc/mesh";
import { Fault, type Operation } from "@svc/proto";
import { tooLarge } from "../request/body.ts";
import { type LargestUpload, largestUpload } from "../request/check-head.ts";
import { type Exchange, inviteBody } from "../request/request-state.ts";
import { answerIncompleteWith } from "../response/raw-response.ts";
import { answerJson } from "../response/response.ts";
import type { FaceSettings } from "../settings.ts";
import { type Binding, leavingOf } from "./call.ts";
import type { TransferRights } from "./transfer-rights.ts";

/** What the head of a request may not be was refused before; a body of no declared length is measured as it comes. */
export function uploadBinding(
  needs: { mesh: Pick<Mesh, "forward">; settings: FaceSettings; rights: TransferRights },
  contract: Operation,
): Binding {
  const { mesh, settings, rights } = needs;
  const { status, upload } = contract.http;
  const limit = largestUpload(contract.http, settings.uploadBytes);
  return async (call) => {
    const { exchange, input, options } = call;
    if (upload?.incomplete) answerIncompleteWith(exchange.request, upload.incomplete);
    using watched = rights.watch(call);
    const signal = AbortSignal.any([leavingOf(exchange), watched.signal]);
    const { byteTransfer } = await mesh.forward(contract, input, { ...options, signal });
    if (!byteTransfer) throw new Error(`${contract.subject} answered without a byte transfer`);
    try {
      const result = await sendBytes(
        byteTransfer,
        chunksOf(exchange, limit),
        headOf(exchange.request),
        signal,
      );
      answerJson(exchange, { status }, Buffer.from(JSON.stringify(result)));
    } catch (error) {
      // What is left of the body is thrown away, at a pace that cannot hold the connection for ever.
      exchange.isPaced = true;
      exchange.request.resume();
      if (!watched.signal.aborted) throw error;
      // Nothing more is taken from whom we do not know any more.
      exchange.response.once("finish", () => exchange.request.destroy());
      throw watched.signal.reason;
    }
  };
}

function headOf(request: IncomingMessage): Parameters<typeof sendBytes>[2] {
  const { "content-length": length, "content-digest": digest } = request.headers;
  return {
    contentLength: length === undefined ? undefined : Number(length),
    contentDigest: Array.isArray(digest) ? digest.join(",") : digest,
    trailerDigest: () => request.trailers["content-digest"],
  };
}

// An owner that refuses early ends its reader; the caller's connection must live on to hear why.
async function* chunksOf(exchange: Exchange, limit: LargestUpload): AsyncGenerator<Buffer> {
  inviteBody(exchange);
  let bytes = 0;
  try {
    for await (const chunk of exchange.request.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes > limit.bytes) throw new Fault(limit.fault, { message: tooLarge(limit.bytes) });
      yield chunk;
    }
  } finally {
    // A body that is left unread would keep the next request of its connection from ever being seen.
    exchange.request.resume();
  }
}

// Sends a body on to the owner as it arrives (docs/reference/byte-transfers.md#ticket).

import type { IncomingMessage } from "node:http";
import { type Mesh, releaseChunk, sendBytes } from "@svc/mesh";
import { Fault, type Operation } from "@svc/proto";
import { tooLarge } from "../request/body.ts";
import { type LargestUpload, largestUpload } from "../request/check-head.ts";
import { type RequestState, sendContinue } from "../request/request-state.ts";
import { setIncompleteFault } from "../response/raw-response.ts";
import { sendJson } from "../response/response.ts";
import type { FaceSettings } from "../settings.ts";
import { abortOnDisconnect, type Binding } from "./call.ts";
import type { TransferRights } from "./transfer-rights.ts";

/** The head was checked before; a body without a declared length is measured as it arrives. */
export function uploadBinding(
  deps: { mesh: Pick<Mesh, "forward">; settings: FaceSettings; rights: TransferRights },
  contract: Operation,
): Binding {
  const { mesh, settings, rights } = deps;
  const { status, upload } = contract.http;
  const limit = largestUpload(contract.http, settings.uploadBytes);
  return async (call) => {
    const { state, input, options } = call;
    if (upload?.incomplete) setIncompleteFault(state.request, upload.incomplete);
    using watched = rights.watch(call);
    const signal = AbortSignal.any([abortOnDisconnect(state), watched.signal]);
    const { byteTransfer } = await mesh.forward(contract, input, { ...options, signal });
    if (!byteTransfer) throw new Error(`${contract.subject} answered without a byte transfer`);
    try {
      const result = await sendBytes(byteTransfer, chunksOf(state, limit), headOf(state.request), signal);
      sendJson(state, { status }, Buffer.from(JSON.stringify(result)));
    } catch (error) {
      // The rest of the body is discarded; the minimum rate keeps it from holding the connection for ever.
      state.hasMinimumRate = true;
      state.request.resume();
      if (!watched.signal.aborted) throw error;
      // The caller is no longer authenticated: nothing more is read from it.
      state.response.once("finish", () => state.request.destroy());
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
async function* chunksOf(state: RequestState, limit: LargestUpload): AsyncGenerator<Buffer> {
  sendContinue(state);
  let bytes = 0;
  try {
    for await (const chunk of state.request.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes > limit.bytes) throw new Fault(limit.fault, { message: tooLarge(limit.bytes) });
      yield chunk;
      releaseChunk(chunk);
    }
  } finally {
    // An unread body would block the next request on its connection.
    state.request.resume();
  }
}

// Bytes from the owner to the caller, at the caller's pace (docs/reference/byte-transfers.md#ticket).

import { type Mesh, streamBytes, writeChunk } from "@svc/mesh";
import type { Operation } from "@svc/proto";
import { commonHeaders } from "../response/headers.ts";
import type { FaceSettings } from "../settings.ts";
import { abortOnDisconnect, type Binding } from "./call.ts";
import type { TransferRights } from "./transfer-rights.ts";

/** Headers that an owner may set on the answer; anything else stays inside. */
const passed: ReadonlySet<string> = new Set([
  "content-type",
  "content-length",
  "content-disposition",
  "content-digest",
  "etag",
  "last-modified",
  "x-svc-context-sha256",
]);

export function downloadBinding(
  deps: { mesh: Pick<Mesh, "forward">; settings: FaceSettings; rights: TransferRights },
  contract: Operation,
): Binding {
  const { mesh, settings, rights } = deps;
  return async (call) => {
    const { state, input, options } = call;
    const { request, response } = state;
    const disconnected = abortOnDisconnect(state);
    using watched = rights.watch(call);
    const signal = AbortSignal.any([disconnected, watched.signal]);
    const { headers, deliver } = await open().catch((error: unknown) => {
      throw watched.signal.aborted ? watched.signal.reason : error;
    });
    const promised = lengthIn(headers);
    response.setTimeout(settings.transferStallMs, () => response.destroy());
    try {
      response.writeHead(contract.http.status, [
        ...commonHeaders(state.id, request.headers["x-forwarded-proto"]),
        "Cache-Control",
        "no-store",
        ...passedHeaders(headers),
      ]);
      await deliver((chunk) => {
        state.bytes += chunk.length;
        // Bytes behind the promised length would be read as the next answer.
        if (state.bytes > (promised ?? state.bytes)) response.destroy();
        return writeChunk(response, chunk);
      });
      response.end();
    } catch (error) {
      if (state.bytes > (promised ?? state.bytes)) {
        throw new Error(`${contract.subject} gave more than the ${promised} bytes it promised`);
      }
      // What was sent so far must not look whole.
      if (watched.signal.aborted) response.destroy();
      else if (!disconnected.aborted) throw error;
    }

    async function open() {
      const { byteTransfer } = await mesh.forward(contract, input, { ...options, signal });
      if (!byteTransfer) throw new Error(`${contract.subject} answered without a byte transfer`);
      return streamBytes(byteTransfer, signal);
    }
  };
}

function lengthIn(headers: Record<string, string>): number | undefined {
  const name = Object.keys(headers).find((key) => key.toLowerCase() === "content-length");
  return name === undefined ? undefined : Number(headers[name]);
}

function passedHeaders(headers: Record<string, string>): string[] {
  const names = Object.keys(headers).filter((name) => passed.has(name.toLowerCase()));
  const pairs = names.flatMap((name) => [name, headers[name] ?? ""]);
  return names.some((name) => name.toLowerCase() === "content-type")
    ? pairs
    : ["Content-Type", "application/octet-stream", ...pairs];
}

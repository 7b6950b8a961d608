// Bytes from the owner's lane to the caller, at the caller's pace (architecture.md 3, lanes).

import { pipeline } from "node:stream/promises";
import { fetchLane, type Mesh } from "@svc/mesh";
import type { Operation } from "@svc/proto";
import { commonHeaders } from "../answer/headers.ts";
import type { FaceSettings } from "../settings.ts";
import { type Binding, leavingOf } from "./call.ts";

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
  needs: { mesh: Pick<Mesh, "forward">; settings: FaceSettings },
  contract: Operation,
): Binding {
  const { mesh, settings } = needs;
  return async ({ exchange, input, options }) => {
    const { request, response } = exchange;
    const signal = leavingOf(exchange);
    const { lane } = await mesh.forward(contract, input, { ...options, signal });
    if (!lane) throw new Error(`${contract.subject} answered without a lane`);
    const { headers, body } = await fetchLane(lane, signal);
    const promised = lengthIn(headers);
    body.on("data", (chunk: Buffer) => {
      exchange.bytes += chunk.length;
      // Bytes behind the promised length would be read as the next answer.
      if (exchange.bytes > (promised ?? exchange.bytes)) response.destroy();
    });
    response.setTimeout(settings.transferStallMs, () => response.destroy());
    try {
      response.writeHead(contract.http.status, [
        ...commonHeaders(exchange.id, request.headers["x-forwarded-proto"]),
        "Cache-Control",
        "no-store",
        ...passedHeaders(headers),
      ]);
      await pipeline(body, response, { end: false });
      if (exchange.bytes < (promised ?? 0)) {
        throw new Error(`${contract.subject} gave ${exchange.bytes} of the ${promised} bytes it promised`);
      }
      response.end();
    } catch (error) {
      body.destroy();
      if (exchange.bytes > (promised ?? exchange.bytes)) {
        throw new Error(`${contract.subject} gave more than the ${promised} bytes it promised`);
      }
      if (!signal.aborted) throw error;
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

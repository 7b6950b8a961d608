// A body that goes to the owner's lane as it arrives (architecture.md 3, lanes).

import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { type Mesh, sendLane } from "@svc/mesh";
import { Fault, type Operation } from "@svc/proto";
import { answerJson } from "../answer/answer.ts";
import { tooLarge } from "../request/body.ts";
import type { FaceSettings } from "../settings.ts";
import { type Binding, leavingOf } from "./call.ts";

export function uploadBinding(
  needs: { mesh: Pick<Mesh, "forward">; settings: FaceSettings },
  contract: Operation,
): Binding {
  const { mesh, settings } = needs;
  return async ({ exchange, input, options }) => {
    const { request } = exchange;
    const contentLength = declaredLength(request);
    if (contentLength > settings.uploadBytes) {
      throw new Fault("too_large", { message: tooLarge(settings.uploadBytes) });
    }
    const signal = leavingOf(exchange);
    const { lane } = await mesh.forward(contract, input, { ...options, signal });
    if (!lane) throw new Error(`${contract.subject} answered without a lane`);
    const digest = request.headers["content-digest"];
    const head = { contentLength, contentDigest: Array.isArray(digest) ? digest.join(",") : digest };
    try {
      const result = await sendLane(lane, Readable.from(chunksOf(request)), head, signal);
      answerJson(exchange, { status: contract.http.status }, Buffer.from(JSON.stringify(result)));
    } catch (error) {
      request.resume();
      throw error;
    }
  };
}

function declaredLength(request: IncomingMessage): number {
  const text = request.headers["content-length"];
  if (text === undefined) throw new Fault("length_required");
  return Number(text);
}

// A lane that refuses early ends its reader; the caller's connection must live on to hear why.
async function* chunksOf(request: IncomingMessage): AsyncGenerator<Buffer> {
  for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk;
}

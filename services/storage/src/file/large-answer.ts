// Answers that may exceed one NATS message: a file of 1 MiB in base64, a folder with long names.

import type { Context } from "@svc/mesh";
import type { AnyContract } from "@svc/proto";
import type { FileDeps } from "./deps.ts";

const inMessageBytes = 512 * 1_024;

/** Returns the answer, or opens a byte transfer for it. */
export function answerLarge<T>(
  { byteTransfers }: Pick<FileDeps, "byteTransfers">,
  context: Pick<Context<AnyContract>, "reply">,
  answer: T,
): T {
  const bytes = Buffer.from(JSON.stringify(answer));
  if (bytes.length <= inMessageBytes) return answer;
  context.reply.byteTransfer = byteTransfers.download({
    headers: {},
    source: async function* () {
      yield bytes;
    },
  });
  return undefined as T;
}

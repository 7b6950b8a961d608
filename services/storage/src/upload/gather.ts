// The digest of a whole upload from its parts, each of which is checked once more on the way.

import { createHash } from "node:crypto";
import type { TransferDeps } from "../file/deps.ts";
import type { StoredUpload } from "./session.ts";

const beatEveryBytes = 4 * 1_024 ** 3;

/** sha-256 in hex. `onBeat` is awaited every few seconds of work. Throws when a part is not what it was. */
export async function gather(
  { staging }: Pick<TransferDeps, "staging">,
  upload: StoredUpload,
  about: { signal: AbortSignal; onBeat: () => Promise<void> },
): Promise<string> {
  const [first, ...others] = upload.parts;
  // Bytes of a single part are checked by the Job that fetches them.
  if (!first) return createHash("sha256").digest("hex");
  if (others.length === 0) return first.sha256;
  const whole = createHash("sha256");
  let sinceBeat = 0;
  for (const part of upload.parts) {
    const own = createHash("sha256");
    for await (const chunk of staging.read(upload.id, [part], about.signal)) {
      whole.update(chunk);
      own.update(chunk);
      sinceBeat += chunk.length;
    }
    if (own.digest("hex") !== part.sha256) throw new Error("a staged part is damaged; upload it again");
    if (sinceBeat < beatEveryBytes) continue;
    sinceBeat = 0;
    await about.onBeat();
  }
  return whole.digest("hex");
}

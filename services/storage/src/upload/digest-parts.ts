// The digest of an upload from its parts, each of which is verified again.

import { createHash } from "node:crypto";
import type { UploadDeps } from "./deps.ts";
import type { StoredUpload } from "./session.ts";

/** Heartbeats within the time after which a silent operation counts as interrupted. */
const beatsPerTimeout = 6;

/** SHA-256 in hex. `onBeat` is awaited every few seconds of work. Throws when a part is damaged. */
export async function digestParts(
  { staging, settings }: Pick<UploadDeps, "staging" | "settings">,
  upload: StoredUpload,
  about: { signal: AbortSignal; onBeat: () => Promise<void> },
): Promise<string> {
  const [first, ...others] = upload.parts;
  // A single part is verified by the Job that fetches it.
  if (!first) return createHash("sha256").digest("hex");
  if (others.length === 0) return first.sha256;
  const whole = createHash("sha256");
  const beatMs = settings.storage.file_op_patience / beatsPerTimeout;
  let beatenAt = performance.now();
  for (const part of upload.parts) {
    const own = createHash("sha256");
    for await (const chunk of staging.read(upload.id, [part], about.signal)) {
      whole.update(chunk);
      own.update(chunk);
      if (performance.now() - beatenAt < beatMs) continue;
      beatenAt = performance.now();
      await about.onBeat();
    }
    if (own.digest("hex") !== part.sha256) throw new Error("a staged part is damaged; upload it again");
  }
  return whole.digest("hex");
}

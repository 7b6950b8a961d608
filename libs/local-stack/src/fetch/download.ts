import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";

const connectAndReadMs = 60_000;

/**
 * Fetches a file into `path` and keeps it only when its SHA-256 is the expected one. Throws with a short reason; the
 * caller names the route.
 */
export async function downloadChecked(
  source: { url: string; sha256: string },
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(connectAndReadMs)]);
  const response = await fetch(source.url, { signal: limit, redirect: "follow" }).catch((error: unknown) => {
    const cause =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new Error(`not reachable (${cause})`);
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`answered ${response.status}`);
  }
  const bytes = Buffer.from(await response.arrayBuffer());
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (digest !== source.sha256) throw new Error(`sent a file with the digest ${digest}, not the pinned one`);
  writeFileSync(path, bytes, { mode: 0o600 });
}

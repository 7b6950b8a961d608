import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileName, readProperties } from "../config.ts";

export type TokenSource = () => string;

/**
 * The token of the proxy. From the environment it is fixed; from the file it is read again when a second has passed, so
 * that a rotation needs no restart. A file that cannot be read just now, or is half written, leaves the old token.
 */
export function createTokenSource(
  source: { token: string; tokenFile: string | undefined },
  about: { rereadMs: number; now: () => number; onChange: (fingerprint: string) => void },
): TokenSource {
  const { tokenFile } = source;
  if (tokenFile === undefined) return () => source.token;
  let token = "";
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (about.now() - readAt < about.rereadMs) return token;
    readAt = about.now();
    const found = readToken(tokenFile);
    if (found === undefined || found === token) return token;
    token = found;
    about.onChange(fingerprintOf(token));
    return token;
  };
}

/** Twelve hex digits that tell tokens apart and give none away (docs/reference/proxy.md#calls). */
export function fingerprintOf(token: string): string {
  return createHash("sha256").update(token).digest("hex").slice(0, 12);
}

function readToken(path: string): string | undefined {
  try {
    if (basename(path) !== fileName) return readFileSync(path, "utf8").trim() || undefined;
    return readProperties(path).get("service-token") || undefined;
  } catch {
    return undefined;
  }
}

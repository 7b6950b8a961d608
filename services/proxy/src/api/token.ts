import { basename } from "node:path";
import { createTokenSource, fingerprintOf, type TokenSource } from "@svc/service/token";
import { fileName, parseProperties } from "../config.ts";

/**
 * The token of the proxy: from the environment it is fixed, from a file it may change. The file holds it alone, or is the
 * file of settings.
 */
export function createProxyToken(
  { token, tokenFile: file }: { token: string; tokenFile: string | undefined },
  about: { rereadMs: number; now: () => number; onChange: (fingerprint: string) => void },
): TokenSource {
  if (file === undefined) return () => token;
  const isSettings = basename(file) === fileName;
  return createTokenSource({
    ...{ file, rereadMs: about.rereadMs, now: about.now },
    onChange: (changed) => about.onChange(fingerprintOf(changed)),
    ...(isSettings && { parse: (text: string) => parseProperties(text).get("service-token") }),
  });
}

// compose.yaml as Docker Compose reads it.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";

/** Its content with merges and aliases resolved; `Service` says what a caller reads of each. */
export function readCompose<Service>(): { name?: string; services: Record<string, Service> } {
  const text = readFileSync(resolve(import.meta.dirname, "../../compose.yaml"), "utf8");
  // Every service repeats the same few; the limit of the parser is for files of others.
  return parse(text, { merge: true, maxAliasCount: -1 }) as { services: Record<string, Service> };
}

/** Name of an image without its digest, which none has that is made here. */
export const withoutDigest = (image: string): string => image.split("@")[0] ?? image;

import { readFileSync } from "node:fs";

const rereadMs = 1_000;

/** The token in a file, undefined when it can't be read or is empty just now. */
export function readToken(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

/** The token of every call. One from a file is read again after a second, so that a rotation needs no restart. */
export function createTokenSource(
  { token: first, tokenFile }: { token: string; tokenFile?: string },
  now: () => number,
): () => string {
  if (tokenFile === undefined) return () => first;
  let token = first;
  let readAt = now();
  return () => {
    if (now() - readAt < rereadMs) return token;
    readAt = now();
    token = readToken(tokenFile) ?? token;
    return token;
  };
}

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** The token of a caller, for each call anew. */
export type TokenSource = () => string;

/**
 * A token that is read again from its file when `rereadMs` have passed, so that a rotation needs no restart. A file that
 * can't be read, is empty or is half written leaves the token that was read last.
 */
export function createTokenSource(options: {
  readonly file: string;
  readonly rereadMs: number;
  readonly now: () => number;
  /** Takes the token out of the file's text; the whole text unless said otherwise. */
  readonly parse?: (text: string) => string | undefined;
  readonly onChange?: (token: string) => void;
}): TokenSource {
  const { file, rereadMs, now, parse, onChange } = options;
  let token = "";
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (now() - readAt < rereadMs) return token;
    readAt = now();
    const found = readToken(file, parse);
    if (found === undefined || found === token) return token;
    token = found;
    onChange?.(token);
    return token;
  };
}

/** The token in a file; undefined when it can't be read or is empty just now. */
export function readToken(
  file: string,
  parse: (text: string) => string | undefined = (text) => text,
): string | undefined {
  try {
    return parse(readFileSync(file, "utf8"))?.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Twelve hex digits that tell tokens apart and give none away. */
export function fingerprintOf(token: string): string {
  return createHash("sha256").update(token).digest("hex").slice(0, 12);
}

// Service tokens of the internal face (docs/reference/http.md#service-tokens).

import { hash, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type CallerToken, callerTokens } from "@svc/proto";
import type { Logger } from "@svc/telemetry";

export type ServiceTokens = {
  /** The caller whose token an Authorization header carries; undefined for an unknown token. */
  callerOf: (authorization: string | undefined) => CallerToken | undefined;
};

type Given = Readonly<Partial<Record<CallerToken, string>>>;
type Known = readonly { caller: CallerToken; digest: Buffer }[];

const defaultRereadMs = 1_000;
/** One header for each caller, and its other spellings. */
const mostAccepted = 32;

/**
 * Opens the tokens: files named after their caller in `dir`, or values given (`values`); a file wins. Files are read
 * again at most once a second, so that a rotation needs no restart. An unset token matches nothing.
 * Throws an Error with one sentence when two callers have the same token.
 */
export function openServiceTokens(options: {
  dir?: string;
  values?: Given;
  log: Logger;
  rereadMs?: number;
}): ServiceTokens {
  const { dir, log, values = {}, rereadMs = defaultRereadMs } = options;
  const read = () => digestsOf({ ...values, ...(dir === undefined ? {} : readFiles(dir)) });
  let known = read();
  // Callers send the same header with every request: one that was accepted need not be digested again until the tokens
  // are read again. A map finds it by its hash, so the time does not tell how much of a guess is right.
  const accepted = new Map<string, CallerToken>();
  let nextReadAt = Date.now() + rereadMs;
  const refresh = () => {
    nextReadAt = Date.now() + rereadMs;
    accepted.clear();
    try {
      known = read();
    } catch (error) {
      log.error({ err: error }, "reading the service tokens failed; keeping the previous ones");
    }
  };
  return {
    callerOf: (authorization) => {
      if (dir !== undefined && Date.now() >= nextReadAt) refresh();
      if (authorization === undefined) return undefined;
      const before = accepted.get(authorization);
      if (before !== undefined) return before;
      const caller = match(known, authorization);
      if (caller !== undefined && accepted.size < mostAccepted) accepted.set(authorization, caller);
      return caller;
    },
  };
}

function match(known: Known, authorization: string): CallerToken | undefined {
  const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization) ?? [];
  if (token === undefined) return undefined;
  const digest = hash("sha256", token, "buffer");
  let found: CallerToken | undefined;
  // Every token is compared, so that the time does not tell which one nearly matched.
  for (const one of known) if (timingSafeEqual(one.digest, digest)) found = one.caller;
  return found;
}

function digestsOf(given: Given): Known {
  const known: { caller: CallerToken; digest: Buffer }[] = [];
  for (const caller of callerTokens) {
    const token = given[caller]?.trim();
    if (token === undefined || token === "") continue;
    const digest = hash("sha256", token, "buffer");
    const twin = known.find((one) => one.digest.equals(digest));
    if (twin) {
      throw new Error(
        `the service tokens of ${twin.caller} and ${caller} are equal; give each caller a token of its own`,
      );
    }
    known.push({ caller, digest });
  }
  return known;
}

// Synchronous: four small files once a second cost less than a request that misses a rotation.
function readFiles(dir: string): Given {
  const given: Partial<Record<CallerToken, string>> = {};
  for (const caller of callerTokens) {
    const file = join(dir, caller);
    if (existsSync(file)) given[caller] = readFileSync(file, "utf8");
  }
  return given;
}

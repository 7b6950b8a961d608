// The file of passwords: one `name:password` for each line. A name may stand in it twice, so that a password can be
// changed without a pause.

import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { type Account, accounts, type Caller } from "./decide.ts";

type Entry = { account: Account; digest: Buffer };

export type Credentials = {
  /** False without a usable file. */
  isThere: () => boolean;
  /** Whose name and password an `Authorization` header has. */
  callerOf: (authorization: string | undefined) => Caller;
};

const leastPassword = 16;
const longestHeader = 1_024;

/** Reads the file again when it has changed. A wrong file counts as none, and `warn` is told once for each change. */
export function createCredentials(file: string, warn: (message: string) => void): Credentials {
  let stamp: string | undefined;
  let entries: readonly Entry[] = [];
  const refresh = () => {
    const now = stampOf(file);
    if (now === stamp) return;
    stamp = now;
    entries = [];
    if (now === undefined) return warn(`${file} is missing; nobody may write`);
    try {
      entries = parseCredentials(readFileSync(file, "utf8"));
    } catch (error) {
      warn(`${file} is not usable, nobody may write: ${(error as Error).message}`);
    }
  };
  return {
    isThere: () => {
      refresh();
      return entries.length > 0;
    },
    callerOf: (authorization) => {
      if (authorization === undefined) return "nobody";
      refresh();
      return findCaller(entries, authorization);
    },
  };
}

function stampOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.ino} ${found.size} ${found.ctimeNs}`;
}

/** Throws what is wrong with the text. */
export function parseCredentials(text: string): Entry[] {
  const lines = text.split(/\r?\n/);
  const entries = lines.flatMap((line, index) => {
    if (line.trim() === "") return [];
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    const password = line.slice(colon + 1);
    const account = accounts.find((known) => known === name);
    if (!account) throw new Error(`line ${index + 1} must begin with ${accounts.join(":, ")}:`);
    if (password.length < leastPassword) {
      throw new Error(
        `the password in line ${index + 1} is shorter than ${leastPassword} characters; generate one`,
      );
    }
    return [{ account, digest: sha256(`${name}:${password}`) }];
  });
  if (entries.length === 0) throw new Error("it has no line such as platform:PASSWORD");
  return entries;
}

/** The password of an account, for programs that log in with the same file. */
export function findPassword(file: string, account: Account): string | undefined {
  const prefix = `${account}:`;
  const line = readFileSync(file, "utf8")
    .split(/\r?\n/)
    .find((candidate) => candidate.startsWith(prefix));
  return line?.slice(prefix.length);
}

/** Compares with every entry, in a time that depends on neither. */
function findCaller(entries: readonly Entry[], authorization: string): Caller {
  const [, encoded] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization.slice(0, longestHeader)) ?? [];
  if (encoded === undefined) return "unknown";
  const given = sha256(Buffer.from(encoded, "base64"));
  let found: Caller = "unknown";
  for (const { account, digest } of entries) if (timingSafeEqual(digest, given)) found = account;
  return found;
}

function sha256(text: string | Buffer): Buffer {
  return createHash("sha256").update(text).digest();
}

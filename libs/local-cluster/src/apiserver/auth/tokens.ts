import { type FSWatcher, readFileSync, statSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { isObject, listAt, stringAt } from "../json.ts";

/** The user of a request. */
export type User = { name: string; groups: string[] };

/** One entry of the token file. */
export type TokenEntry = { token: string; user: string; groups: string[] };

/** Finds users by bearer token in the current content of the file. */
export type Tokens = { find(token: string): User | undefined; close(): void };

/** The user of a request without a token. */
export const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** Adds the groups of authenticated users and of service accounts. */
function toUser({ user, groups }: TokenEntry): User {
  const account = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user);
  const implied = account ? ["system:serviceaccounts", `system:serviceaccounts:${account[1]}`] : [];
  return { name: user, groups: [...new Set([...groups, ...implied, "system:authenticated"])] };
}

/**
 * Tokens from a JSON file (`[{ token, user, groups }]`), read again when it changes, or from a list.
 * While the file is invalid, the previous tokens are kept.
 */
export function openTokens(source: string | TokenEntry[]): Tokens {
  if (typeof source !== "string") {
    const users = index(source);
    return { find: (token) => users.get(token), close: () => {} };
  }
  let users = index(readFile(source));
  let seen = stamp(source);
  const refresh = () => {
    const now = stamp(source);
    if (now === seen) return;
    try {
      users = index(readFile(source));
      seen = now;
    } catch {
      // Half-written: the next event or request reads it again.
    }
  };
  let watcher: FSWatcher | undefined = watch(dirname(source), { persistent: false }, (_event, name) => {
    if (name === null || name === basename(source)) refresh();
  });
  watcher.on("error", () => {
    watcher = undefined;
  });
  return {
    find: (token) => {
      const user = users.get(token);
      if (user) return user;
      // A token written a moment ago must not wait for the watcher.
      refresh();
      return users.get(token);
    },
    close: () => watcher?.close(),
  };
}

function stamp(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return "";
  }
}

function readFile(file: string): TokenEntry[] {
  const value: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!Array.isArray(value)) throw new Error(`${file} must hold a list of { token, user, groups }`);
  return value.filter(isObject).map((entry) => ({
    token: stringAt(entry, "token"),
    user: stringAt(entry, "user"),
    groups: listAt(entry, "groups").map(String),
  }));
}

function index(entries: TokenEntry[]): Map<string, User> {
  return new Map(entries.filter(({ token }) => token !== "").map((entry) => [entry.token, toUser(entry)]));
}

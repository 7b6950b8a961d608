import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../config.ts";
import { readProperties, replaceFile, setProperty } from "../properties.ts";
import { offlineUuid } from "./offline-uuid.ts";

type Entry = { readonly name: string; readonly uuid: string; readonly [detail: string]: unknown };

/** Names in one of the game's JSON files, whatever their case. */
export type NameList = {
  has(name: string): boolean;
  find(name: string): Entry | undefined;
  names(): string[];
  /** False when the name is on the list already. */
  add(name: string, details?: Record<string, unknown>): boolean;
  /** False when the name is not on the list. */
  remove(name: string): boolean;
  reload(): void;
};

export type AccessLists = {
  readonly bans: NameList;
  readonly whitelist: NameList;
  readonly ops: NameList;
  isWhitelistOn(): boolean;
  setWhitelistOn(on: boolean): void;
};

/** The files are those of the game itself, so that file features and people find them where they expect them. */
export function openAccessLists(dataDir: string): AccessLists {
  let whitelistOn = readProperties(dataDir).get("white-list") === "true";
  return {
    bans: openNameList(join(dataDir, "banned-players.json")),
    whitelist: openNameList(join(dataDir, "whitelist.json")),
    ops: openNameList(join(dataDir, "ops.json")),
    isWhitelistOn: () => whitelistOn,
    setWhitelistOn: (on) => {
      whitelistOn = on;
      setProperty(dataDir, "white-list", String(on));
    },
  };
}

function openNameList(path: string): NameList {
  let entries = readEntries(path);
  const find = (name: string) => entries.find((entry) => entry.name.toLowerCase() === name.toLowerCase());
  const replace = (next: Entry[]) => {
    entries = next;
    replaceFile(path, `${JSON.stringify(entries, null, 2)}\n`);
  };
  return {
    has: (name) => find(name) !== undefined,
    find,
    names: () => entries.map((entry) => entry.name),
    add: (name, details = {}) => {
      if (find(name)) return false;
      replace([...entries, { uuid: offlineUuid(name), name, ...details }]);
      return true;
    },
    remove: (name) => {
      const entry = find(name);
      if (!entry) return false;
      replace(entries.filter((other) => other !== entry));
      return true;
    },
    reload: () => {
      entries = readEntries(path);
    },
  };
}

// A list that can't be read must not pass for an empty one: that would let banned players in.
function readEntries(path: string): Entry[] {
  if (!existsSync(path)) return [];
  const entries = parse(readFileSync(path, "utf8"));
  if (Array.isArray(entries) && entries.every(isEntry)) return entries;
  throw new ConfigError(`${path} is not a JSON list of players with a name each; repair or delete it.`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && "name" in value && typeof value.name === "string";
}

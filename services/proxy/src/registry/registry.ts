// The servers as the proxy knows them (docs/reference/proxy.md#registry): the service's list, else what was last seen of it.

import { readFileSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ServerInfo } from "@svc/proto";
import { z } from "zod";

export const lastServersFile = "last-servers.json";

type Changes = { added: string[]; removed: string[]; changed: string[] };

export type Registry = {
  find: (name: string) => ServerInfo | undefined;
  bySubdomain: (subdomain: string) => ServerInfo | undefined;
  all: () => readonly ServerInfo[];
  /** False until a list came from the service or the file. */
  isKnown: () => boolean;
  /** When the service last answered; undefined while all that is known comes from the file. */
  refreshedAt: () => number | undefined;
  /** What to do with an answer of the service: the whole list, in its place. */
  replace: (servers: readonly ServerInfo[], now: number) => Changes;
  /** Newer news of one server, from a status call. */
  note: (server: ServerInfo) => void;
};

export function createRegistry(initial: readonly ServerInfo[] | undefined): Registry {
  let byName = new Map((initial ?? []).map((server) => [server.name, server]));
  let bySubdomain = indexOf(byName);
  let isKnown = initial !== undefined;
  let refreshedAt: number | undefined;
  const set = (servers: Map<string, ServerInfo>) => {
    byName = servers;
    bySubdomain = indexOf(servers);
  };
  return {
    find: (name) => byName.get(name),
    bySubdomain: (subdomain) => bySubdomain.get(subdomain),
    all: () => [...byName.values()],
    isKnown: () => isKnown,
    refreshedAt: () => refreshedAt,
    replace: (servers, now) => {
      const next = new Map(servers.map((server) => [server.name, server]));
      const changes = compare(byName, next);
      set(next);
      isKnown = true;
      refreshedAt = now;
      return changes;
    },
    // A server the list does not have is not brought back by a late status answer.
    note: (server) => {
      const before = byName.get(server.name);
      if (!before) return;
      const address = before.subdomain.toLowerCase();
      if (bySubdomain.get(address) === before) bySubdomain.delete(address);
      byName.set(server.name, server);
      bySubdomain.set(server.subdomain.toLowerCase(), server);
    },
  };
}

function indexOf(servers: ReadonlyMap<string, ServerInfo>): Map<string, ServerInfo> {
  return new Map([...servers.values()].map((server) => [server.subdomain.toLowerCase(), server]));
}

/** Added, removed, and those whose address changed: what an operator wants to read in the log. */
function compare(before: ReadonlyMap<string, ServerInfo>, after: ReadonlyMap<string, ServerInfo>): Changes {
  const addressOf = (server: ServerInfo) =>
    `${server.subdomain} ${server.endpointMode} ${server.endpointAddress}`;
  return {
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: [...after.values()]
      .filter((server) => {
        const old = before.get(server.name);
        return old !== undefined && addressOf(old) !== addressOf(server);
      })
      .map(({ name }) => name),
  };
}

const Saved = z.array(z.looseObject(ServerInfo.shape));

/** The list of before the restart; undefined when there is none or it is damaged. */
export function readLastServers(dataDir: string): ServerInfo[] | undefined {
  try {
    return Saved.parse(JSON.parse(readFileSync(join(dataDir, lastServersFile), "utf8")));
  } catch {
    return undefined;
  }
}

/** Written to a temporary file and renamed, so that readers find the old list or the new one. */
export async function saveLastServers(dataDir: string, servers: readonly ServerInfo[]): Promise<void> {
  const path = join(dataDir, lastServersFile);
  await mkdir(dataDir, { recursive: true });
  await writeFile(`${path}.new`, JSON.stringify(servers), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

// The leader publishes the view `server-owners` (docs/reference/mesh.md#views). Gateways decide by it who sees what, so it
// is marked as current only when every change that had been committed by then is written.

import { setTimeout as delay } from "node:timers/promises";
import type { Informer } from "@svc/kube";
import type { Mesh, ViewWriter } from "@svc/mesh";
import { servers as contracts, type ServerOwnership } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import type { Server } from "../cluster/resource.ts";
import { findOwnerNames } from "../server/owner-names.ts";
import { displayOf, noOwnerNames, type OwnerNames, toOwnership } from "../server/server-ownership.ts";
import { createChangeQueue } from "./change-queue.ts";
import type { NamedRow, OwnerRows } from "./owner-rows.ts";

type Deps = {
  mesh: Pick<Mesh, "writeView" | "call">;
  rows: OwnerRows;
  servers: Pick<Informer<Server>, "get" | "keys">;
  log: Logger;
  /** Aborted when this replica no longer leads: it then hears of no more objects. */
  ending: AbortSignal;
};

type OwnerPublisher = {
  /** An object was added, changed or removed. */
  changed: (name: string) => void;
  close: () => Promise<void>;
};

type Known = { exists: boolean; named: NamedRow | undefined };
type State = Deps & { known: Map<string, Known>; names: OwnerNames };
type OpenWriter = () => Promise<ViewWriter<ServerOwnership>>;

/** Names of accounts and players are looked up again this often; sooner while some could not be. */
const refreshMs = { known: 30_000, unknown: 2_000 };
/** A mark vouches for what was confirmed at most so long before it. */
const confirmedWithinMs = 1_000;
const writesAtOnce = 64;

export function publishOwners(deps: Deps): OwnerPublisher {
  const state: State = { ...deps, known: new Map(), names: noOwnerNames };
  const closing = new AbortController();
  let writer: ViewWriter<ServerOwnership> | undefined;
  const open: OpenWriter = async () => {
    writer ??= await deps.mesh.writeView(contracts.serverOwners, {
      isCurrent,
      isWritten: async () => !deps.ending.aborted,
      onForeignChange: (name) => queue.add(name),
    });
    return writer;
  };
  const queue = createChangeQueue({
    write: async (names) => {
      if (names === "all") await writeAll(state, await open());
      else await writeSome(state, await open(), names);
    },
    onError: (error) =>
      deps.log.warn({ error: (error as Error).message }, "writing the view of owners failed; retrying"),
  });
  const notifications = deps.rows.watch((name) => queue.add(name ?? "all"));
  const isCurrent = async () => {
    const startedAt = performance.now();
    if (!(await notifications.confirm()) || !(await queue.written())) return false;
    return performance.now() - startedAt < confirmedWithinMs;
  };
  const refreshing = refreshForever(state, queue.add, closing.signal);
  return {
    changed: (name) => {
      // Most changes of an object are none of an owner's.
      const isThere = deps.servers.get(name) !== undefined;
      if ((state.known.get(name)?.exists ?? false) !== isThere) queue.add(name);
    },
    close: async () => {
      closing.abort();
      await Promise.all([notifications.close(), queue.close(), refreshing]);
      await writer?.close();
    },
  };
}

async function writeAll(state: State, writer: ViewWriter<ServerOwnership>): Promise<void> {
  const rows = await state.rows.read();
  await learnNames(state, rows);
  state.known.clear();
  for (const name of new Set([...state.servers.keys(), ...rows.keys()])) learn(state, name, rows.get(name));
  await writer.replace(new Map([...state.known].map(([name, known]) => [name, entryOf(state, name, known)])));
}

async function writeSome(
  state: State,
  writer: ViewWriter<ServerOwnership>,
  names: readonly string[],
): Promise<void> {
  const rows = await state.rows.read(names);
  await learnNames(state, rows);
  for (const name of names) learn(state, name, rows.get(name));
  const write = (name: string) => {
    const known = state.known.get(name);
    return known ? writer.put(name, entryOf(state, name, known)) : writer.remove(name);
  };
  for (let begin = 0; begin < names.length; begin += writesAtOnce)
    await Promise.all(names.slice(begin, begin + writesAtOnce).map(write));
}

function learn({ servers, known }: State, name: string, named: NamedRow | undefined): void {
  const exists = servers.get(name) !== undefined;
  if (exists || named) known.set(name, { exists, named });
  else known.delete(name);
}

function entryOf({ servers, names }: State, name: string, { exists, named }: Known): ServerOwnership {
  const { row, subdomain } = named ?? { row: undefined, subdomain: undefined };
  return toOwnership({ name, server: servers.get(name), exists, row, subdomain }, names);
}

// Without identity the entries are written all the same: who owns a server matters more than what the owner is called.
async function learnNames(state: State, rows: ReadonlyMap<string, NamedRow>): Promise<void> {
  const ids = new Set([...rows.values()].flatMap(({ row }) => row.ownerId ?? []));
  const unknown = [...ids].filter((id) => state.names.owners[id] === undefined);
  const found = await findNames(state, unknown);
  if (!found) return;
  state.names = {
    owners: { ...state.names.owners, ...found.owners },
    playerNames: { ...state.names.playerNames, ...found.playerNames },
  };
}

function findNames({ mesh, rows }: State, ids: readonly string[]): Promise<OwnerNames | undefined> {
  return findOwnerNames({ mesh, playerNames: rows.playerNames }, ids).catch(() => undefined);
}

async function refreshForever(
  state: State,
  onChange: (name: string) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const ids = ownerIds(state);
    const isKnown = ids.every((id) => state.names.owners[id] !== undefined);
    await delay(isKnown ? refreshMs.known : refreshMs.unknown, undefined, { signal }).catch(() => {});
    if (signal.aborted || ids.length === 0) continue;
    const found = await findNames(state, ids);
    if (!found) continue;
    const before = state.names;
    state.names = found;
    for (const [name, { named }] of state.known) {
      const id = named?.row.ownerId;
      if (id !== undefined && displayOf(before, id) !== displayOf(found, id)) onChange(name);
    }
  }
}

function ownerIds({ known }: State): string[] {
  return [...new Set([...known.values()].flatMap(({ named }) => named?.row.ownerId ?? []))];
}

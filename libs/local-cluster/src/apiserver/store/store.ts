import type { KubeObject } from "../../cluster-api.ts";
import { ApiStatus } from "../api-status.ts";
import { deepFreeze } from "../json.ts";
import { type Collection, createCollection, type Retained } from "./collection.ts";
import { type ChangeRow, type Database, openDatabase } from "./database.ts";
import { createOwnerIndex, type OwnerIndex, type Place } from "./owner-index.ts";
import { bytesOf, type Change, makeStored, orderKeys, type Stored, storeKey } from "./stored.ts";

/** Called after a change is on disk, in the order of versions. Must not throw. */
type ChangeListener = (change: Change, resource: string) => void;

/** Every object of the cluster in memory, each write on disk before it is acknowledged. */
export type Store = {
  version(): number;
  collection(resource: string): Collection;
  resources(): string[];
  get(resource: string, key: string): Stored | undefined;
  /** Writes an object under the next version and returns what is stored. */
  put(resource: string, object: KubeObject): Stored;
  /** Removes an object; watchers see `last` with the version of the removal. */
  remove(resource: string, last: KubeObject): Stored;
  /** Objects that name `uid` as an owner. */
  dependents(uid: string): Place[];
  /** The location of the object with this uid, undefined when there is none. */
  locate(uid: string): Place | undefined;
  /** Calls for each change of one resource (of all, when undefined) written after this moment. */
  subscribe(resource: string | undefined, listener: ChangeListener): () => void;
  drop(resource: string): void;
  /** Memory use over all resources. */
  retained(): Retained;
  close(): void;
};

const objectLimitBytes = 1536 * 1024;

type Subscription = { resource: string | undefined; listener: ChangeListener; since: number };

/** Opens the store in `file` with its objects, versions and recent history. */
export function openStore(file: string): Store {
  const state = loadState(file);
  const { database, collections, owners, collection } = state;
  const broadcast = createBroadcast();
  const write = (type: Change["type"], resource: string, object: KubeObject): Stored => {
    const key = storeKey(object.metadata.name, object.metadata.namespace);
    const previous = collection(resource).get(key);
    const version = state.version + 1;
    const current = toStored(key, object, version);
    if (type !== "DELETED") checkSize(current.bytes.length);
    database.write({ version, resource, key, type, data: current.bytes });
    state.version = version;
    const change: Change = {
      type,
      version,
      key,
      current,
      ...(previous ? { previous } : {}),
      lines: new Map(),
    };
    keep(state, resource, change);
    broadcast.send(resource, change);
    // Listeners of the current change still use the previous value.
    if (previous) setImmediate(previous.release);
    if (type === "DELETED") setImmediate(current.release);
    return current;
  };
  return {
    version: () => state.version,
    collection,
    resources: () => [...collections.keys()],
    get: (resource, key) => collections.get(resource)?.get(key),
    put: (resource, object) => {
      const key = storeKey(object.metadata.name, object.metadata.namespace);
      return write(collection(resource).get(key) ? "MODIFIED" : "ADDED", resource, object);
    },
    remove: (resource, last) => write("DELETED", resource, last),
    dependents: owners.dependents,
    locate: owners.locate,
    subscribe: (resource, listener) => broadcast.subscribe({ resource, listener, since: state.version }),
    drop: (resource) => {
      // The dropped log may contain the newest version; it must not be assigned again after a restart.
      database.setSetting("version", String(state.version));
      database.drop(resource);
      collections.delete(resource);
      state.settings.delete(`horizon:${resource}`);
    },
    retained: () => {
      const sum: Retained = { objects: 0, changes: 0, bytes: 0, held: 0 };
      for (const one of collections.values()) {
        const { objects, changes, bytes, held } = one.retained();
        sum.objects += objects;
        sum.changes += changes;
        sum.bytes += bytes;
        sum.held += held;
      }
      return sum;
    },
    close: () => {
      broadcast.close();
      database.close();
    },
  };
}

function checkSize(length: number): void {
  if (length <= objectLimitBytes) return;
  const message = `Request entity too large: an object may have at most ${objectLimitBytes} bytes, this one has ${length}`;
  throw new ApiStatus(413, "RequestEntityTooLarge", { message });
}

type State = {
  database: Database;
  settings: Map<string, string>;
  collections: Map<string, Collection>;
  owners: OwnerIndex;
  collection: (resource: string) => Collection;
  version: number;
};

function loadState(file: string): State {
  const database = openDatabase(file);
  const settings = database.settings();
  const collections = new Map<string, Collection>();
  const collection = (resource: string): Collection => {
    let found = collections.get(resource);
    if (!found) {
      const known = settings.get(`horizon:${resource}`);
      found = createCollection(known === undefined ? state.version : Number(known));
      if (known === undefined) database.setSetting(`horizon:${resource}`, String(state.version));
      collections.set(resource, found);
    }
    return found;
  };
  const version = Number(settings.get("version") ?? 0);
  const state: State = { database, settings, collections, owners: createOwnerIndex(), collection, version };
  for (const row of database.objects()) {
    const stored = fromData(row.key, row.data, { version: row.version, isPresent: true });
    collection(row.resource).set(stored);
    state.owners.add({ resource: row.resource, key: row.key }, stored.object);
    state.version = Math.max(state.version, row.version);
  }
  const changes = database.changes();
  state.version = Math.max(state.version, changes.at(-1)?.version ?? 0);
  replay(changes, collection);
  return state;
}

function keep({ database, owners, collection }: State, resource: string, change: Change): void {
  const { type, key, current, previous } = change;
  const place = { resource, key };
  const target = collection(resource);
  if (previous) owners.remove(place, previous.object);
  if (type === "DELETED") target.delete(key);
  else {
    target.set(current);
    owners.add(place, current.object);
  }
  target.record(change);
  const gone = target.trim();
  if (gone !== undefined) database.forget(resource, gone);
}

function toStored(key: string, object: KubeObject, version: number): Stored {
  const metadata = { ...object.metadata, resourceVersion: String(version) };
  const ordered = orderKeys({ ...object, metadata });
  return makeStored({ key, object: deepFreeze(ordered), bytes: bytesOf(JSON.stringify(ordered)), version });
}

/** The decoded value of a current object is kept, that of history is not. */
function fromData(key: string, data: Uint8Array, about: { version: number; isPresent: boolean }): Stored {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const { version, isPresent } = about;
  if (!isPresent) return makeStored({ key, bytes, version });
  return makeStored({ key, bytes, version, object: deepFreeze(JSON.parse(bytes.toString()) as KubeObject) });
}

// The log has the result of each write; the previous value is that of the write before it, if it is still in the log.
function replay(rows: ChangeRow[], collection: (resource: string) => Collection): void {
  const last = new Map<string, Stored>();
  for (const { version, resource, key, type, data } of rows) {
    const target = collection(resource);
    if (version <= target.horizon()) continue;
    const present = target.get(key);
    const current =
      present?.version === version ? present : fromData(key, data, { version, isPresent: false });
    const previous = last.get(`${resource} ${key}`);
    target.record({ type, version, key, current, ...(previous ? { previous } : {}), lines: new Map() });
    if (type === "DELETED") last.delete(`${resource} ${key}`);
    else last.set(`${resource} ${key}`, current);
  }
}

// A listener may write: its change waits until every listener has handled the previous one.
function createBroadcast() {
  const subscriptions = new Set<Subscription>();
  const queue: { resource: string; change: Change }[] = [];
  let draining = false;
  return {
    subscribe: (subscription: Subscription) => {
      subscriptions.add(subscription);
      return () => {
        subscriptions.delete(subscription);
      };
    },
    send: (resource: string, change: Change) => {
      queue.push({ resource, change });
      if (draining) return;
      draining = true;
      try {
        for (let next = queue.shift(); next; next = queue.shift()) deliver(subscriptions, next);
      } finally {
        draining = false;
      }
    },
    close: () => subscriptions.clear(),
  };
}

function deliver(
  subscriptions: Set<Subscription>,
  { resource, change }: { resource: string; change: Change },
): void {
  for (const { resource: wanted, listener, since } of subscriptions) {
    if (change.version > since && (wanted === undefined || wanted === resource)) listener(change, resource);
  }
}

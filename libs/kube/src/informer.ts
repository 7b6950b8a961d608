import { setTimeout as delay } from "node:timers/promises";
import type { Kube, ListOptions } from "./client.ts";
import { isKubeError } from "./error.ts";
import type { KubeObject, Resource } from "./resource.ts";
import { watch } from "./watch.ts";

type InformerOptions<T extends KubeObject> = {
  kube: Kube;
  resource: Resource<T>;
  /** Absent: every namespace; keys are then `<namespace>/<name>`. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Called after the copy has changed; a deleted object has no `now`. Must not throw. */
  onChange?: (key: string, now: T | undefined, before: T | undefined) => void;
  /** Reduces an object before it is cached; `managedFields` are always dropped. */
  strip?: (object: T) => T;
  /** Interval of full relists in milliseconds; 10 minutes by default. */
  relistMs?: number;
  log: { warn: (about: object, text: string) => void };
};

export type Informer<T> = {
  get: (key: string) => T | undefined;
  list: () => T[];
  keys: () => Iterable<string>;
  readonly size: number;
  /** Changes whenever an object is added or removed, and only then. */
  readonly keysVersion: number;
  /** Stores the response to our own write, so that the next read does not return an older state. */
  remember: (object: T) => void;
  /** Resolves after the first full list. */
  ready: Promise<void>;
  isReady: () => boolean;
  /** False before the first list and while the watch is interrupted: the cache is then the last known state. */
  isLive: () => boolean;
  stop: () => Promise<void>;
};

const firstBackOffMs = 200;
const highestBackOffMs = 15_000;
const shortestWatchMs = 1_000;

/**
 * Caches one kind in memory by list and watch: resumes from the last version after a lost connection, relists when that
 * version is too old (410) and from time to time, and reports every change once.
 */
export function startInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  const copy = new Map<string, T>();
  const stopping = new AbortController();
  const first = Promise.withResolvers<void>();
  const state: State<T> = {
    options,
    copy,
    signal: stopping.signal,
    isReady: false,
    isLive: false,
    keysVersion: 0,
    markReady: first.resolve,
  };
  const running = follow(state);
  return {
    get: (key) => copy.get(key),
    list: () => [...copy.values()],
    keys: () => copy.keys(),
    get size() {
      return copy.size;
    },
    get keysVersion() {
      return state.keysVersion;
    },
    remember: (object) => store(state, object),
    ready: first.promise,
    isReady: () => state.isReady,
    isLive: () => state.isLive,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

type State<T extends KubeObject> = {
  options: InformerOptions<T>;
  copy: Map<string, T>;
  signal: AbortSignal;
  isReady: boolean;
  isLive: boolean;
  keysVersion: number;
  markReady: () => void;
};

async function follow<T extends KubeObject>(state: State<T>): Promise<void> {
  const { signal, options } = state;
  let version = "";
  let failures = 0;
  let relistAt = 0;
  while (!signal.aborted) {
    try {
      if (version === "" || Date.now() >= relistAt) {
        version = await relist(state);
        relistAt = Date.now() + (options.relistMs ?? 600_000) * (0.9 + Math.random() * 0.2);
      }
      const openedAt = Date.now();
      version = await watchFrom(state, version, relistAt);
      // Back off from a server that ends every watch at once.
      failures = Date.now() - openedAt < shortestWatchMs && Date.now() < relistAt ? failures + 1 : 0;
    } catch (error) {
      if (signal.aborted) return;
      if (isKubeError(error, 410)) version = "";
      else {
        failures += 1;
        state.isLive = false;
      }
      const { message } = error as Error;
      if (failures > 0)
        options.log.warn({ kind: options.resource.kind, error: message }, "watch interrupted; retrying");
    }
    if (failures > 0) await pause(failures, signal);
  }
}

function pause(failures: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(highestBackOffMs, firstBackOffMs * 2 ** Math.min(failures, 10));
  return delay(ms * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
}

async function relist<T extends KubeObject>(state: State<T>): Promise<string> {
  const { kube, resource } = state.options;
  const listed = await kube.list(resource, {
    ...scopeOf(state.options),
    signal: state.signal,
    timeoutMs: 60_000,
  });
  const seen = new Set<string>();
  for (const item of listed.items) {
    seen.add(keyOf(state.options, item));
    store(state, item);
  }
  for (const key of [...state.copy.keys()]) if (!seen.has(key)) drop(state, key);
  state.isReady = true;
  state.isLive = true;
  state.markReady();
  return listed.resourceVersion;
}

async function watchFrom<T extends KubeObject>(
  state: State<T>,
  from: string,
  relistAt: number,
): Promise<string> {
  const { kube, resource } = state.options;
  // The watch ends when the next relist is due, which reveals missed events.
  const due = new AbortController();
  const timer = setTimeout(() => due.abort(), Math.max(0, relistAt - Date.now()));
  const signal = AbortSignal.any([state.signal, due.signal]);
  let version = from;
  try {
    const events = watch(kube.transport, resource, {
      ...scopeOf(state.options),
      resourceVersion: from,
      signal,
      onOpen: () => {
        state.isLive = true;
      },
    });
    for await (const { type, object } of events) {
      version = object.metadata.resourceVersion ?? version;
      if (type === "DELETED") drop(state, keyOf(state.options, object));
      else if (type !== "BOOKMARK") store(state, object);
    }
  } catch (error) {
    if (!due.signal.aborted || state.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  return version;
}

function scopeOf<T extends KubeObject>(options: InformerOptions<T>): ListOptions {
  const { namespace, labelSelector, fieldSelector } = options;
  return {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  };
}

function keyOf<T extends KubeObject>(options: InformerOptions<T>, { metadata }: KubeObject): string {
  const isAcross = options.namespace === undefined && options.resource.namespaced;
  return isAcross ? `${metadata.namespace}/${metadata.name}` : metadata.name;
}

function store<T extends KubeObject>(state: State<T>, item: T): void {
  const { options, copy } = state;
  const key = keyOf(options, item);
  const before = copy.get(key);
  if (before && before.metadata.uid === item.metadata.uid && !isNewer(item, before)) return;
  delete item.metadata.managedFields;
  const now = options.strip ? options.strip(item) : item;
  copy.set(key, now);
  if (!before) state.keysVersion += 1;
  options.onChange?.(key, now, before);
}

// Versions of one object grow; the response to our own write may arrive before the watch event of an older state.
function isNewer(item: KubeObject, before: KubeObject): boolean {
  const [now, then] = [item.metadata.resourceVersion ?? "", before.metadata.resourceVersion ?? ""];
  if (now === then) return false;
  return (
    !(/^\d+$/.test(now) && /^\d+$/.test(then)) ||
    now.length > then.length ||
    (now.length === then.length && now > then)
  );
}

function drop<T extends KubeObject>(state: State<T>, key: string): void {
  const before = state.copy.get(key);
  if (!before) return;
  state.copy.delete(key);
  state.keysVersion += 1;
  state.options.onChange?.(key, undefined, before);
}

import type { ServerResponse } from "node:http";
import type { KubeObject } from "../../cluster-api.ts";
import { ApiStatus, tooOldVersion } from "../api-status.ts";
import { predicateOf, type Selection } from "../registry/listing.ts";
import { apiVersionOf, type ResourceType } from "../resource-type.ts";
import type { Predicate } from "../selector.ts";
import type { Store } from "../store/store.ts";
import type { Change } from "../store/stored.ts";
import { write } from "./respond.ts";

/** The parameters of a watch. */
type WatchRequest = Selection & {
  resourceVersion?: string;
  bookmarks: boolean;
  timeoutMs: number;
  /** The initial state is followed by a bookmark with the annotation for it. */
  sendInitialEvents: boolean;
};

type Lookup = { store: Store; type: ResourceType };

// A client that lags this far behind the changes is disconnected; it has to list again.
const backlogLimitBytes = 16 * 1024 * 1024;
const bookmarkEveryMs = 60_000;
const bookmarkBeforeEndMs = 2_000;

/**
 * Streams events until the client disconnects, the timeout passes or the kind is removed. Returns a function that
 * ends it early.
 */
export async function serveWatch(
  lookup: Lookup,
  request: WatchRequest,
  response: ServerResponse,
): Promise<() => void> {
  const { store, type } = lookup;
  const accepts = predicateOf(type, request);
  const from = Number(request.resourceVersion ?? 0);
  if (Number.isNaN(from)) {
    throw new ApiStatus(400, "BadRequest", {
      message: `resourceVersion: Invalid value: "${request.resourceVersion}"`,
    });
  }
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  const prefix = type.namespaced && request.namespace !== undefined ? `${request.namespace}/` : "";
  const wanted = (key: string) => key.startsWith(prefix);
  const backlog: Buffer[] = [];
  let live = false;
  const send = (change: Change) => {
    const line = wanted(change.key) ? eventLine(change, accepts) : undefined;
    if (!line) return;
    if (!live) backlog.push(line);
    else push(response, line);
  };
  const initial = initialLines(lookup, {
    from,
    wanted,
    accepts: accepts ?? undefined,
    all: request.sendInitialEvents,
  });
  if (initial.gone) {
    for (const line of initial.lines) response.write(line);
    response.end();
    return () => {};
  }
  const unsubscribe = store.subscribe(type.storageKey, send);
  const stop = endOfWatch(lookup, request, { response, unsubscribe });
  for (const line of initial.lines) if (!(await write(response, line))) break;
  if (request.sendInitialEvents && request.bookmarks) push(response, bookmark(type, store.version(), true));
  for (const line of backlog.splice(0)) push(response, line);
  live = true;
  return stop;
}

function push(response: ServerResponse, line: Buffer): void {
  if (response.destroyed || response.writableEnded) return;
  if (response.writableLength > backlogLimitBytes) response.destroy();
  else response.write(line);
}

function endOfWatch(
  { store, type }: Lookup,
  { bookmarks, timeoutMs }: WatchRequest,
  { response, unsubscribe }: { response: ServerResponse; unsubscribe: () => void },
): () => void {
  const mark = () => push(response, bookmark(type, store.version(), false));
  const end = setTimeout(() => response.end(), timeoutMs);
  const beat = bookmarks ? setInterval(mark, bookmarkEveryMs) : undefined;
  const last = bookmarks ? setTimeout(mark, Math.max(0, timeoutMs - bookmarkBeforeEndMs)) : undefined;
  response.on("close", () => {
    unsubscribe();
    clearTimeout(end);
    clearInterval(beat);
    clearTimeout(last);
  });
  return () => response.end();
}

type Initial = { lines: Buffer[]; gone?: boolean };

type Start = {
  from: number;
  wanted: (key: string) => boolean;
  accepts: Predicate | undefined;
  all: boolean;
};

// Without a version: all existing objects. With one: the changes since then, or an error that it is too old.
function initialLines({ store, type }: Lookup, { from, wanted, accepts, all }: Start): Initial {
  const collection = store.collection(type.storageKey);
  if (from === 0 || all) {
    const present = [...collection.range({})].filter(
      ({ key, object }) => wanted(key) && (!accepts || accepts(object)),
    );
    return { lines: present.map((stored) => lineOf("ADDED", stored.bytes)) };
  }
  const changes = collection.changesAfter(from);
  if (!changes) {
    const gone = tooOldVersion(from, collection.horizon());
    return { lines: [lineOf("ERROR", Buffer.from(JSON.stringify(gone)))], gone: true };
  }
  const seen = changes.filter((change) => wanted(change.key));
  return { lines: seen.flatMap((change) => eventLine(change, accepts) ?? []) };
}

function lineOf(event: string, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"type":"${event}","object":`), bytes, newline]);
}

const newline = Buffer.from("}\n");

// With a selector an object that starts or stops to match is added or deleted for the watcher.
function eventLine(change: Change, accepts: Predicate | undefined): Buffer | undefined {
  if (!accepts) return sharedLine(change, change.type);
  const matches = change.type !== "DELETED" && accepts(change.current.object);
  // The previous object is unknown for the oldest change after a restart: it may have matched.
  const matched = change.previous ? accepts(change.previous.object) : change.type !== "ADDED";
  if (matches) return sharedLine(change, matched ? "MODIFIED" : "ADDED");
  if (!matched) return undefined;
  if (change.type === "DELETED" || !change.previous) return sharedLine(change, "DELETED");
  const left = atVersion(change.previous.object, change.version);
  return lineOf("DELETED", Buffer.from(JSON.stringify(left)));
}

function atVersion(object: KubeObject, version: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

function sharedLine(change: Change, event: string): Buffer {
  const known = change.lines.get(event);
  if (known) return known;
  const line = lineOf(event, change.current.bytes);
  // Lines are cached only for changes with a current watcher; otherwise the log would keep every line.
  if (change.lines.size === 0) setImmediate(() => change.lines.clear());
  change.lines.set(event, line);
  return line;
}

function bookmark(type: ResourceType, version: number, initialEnd: boolean): Buffer {
  const annotations = initialEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  const metadata = { resourceVersion: String(version), creationTimestamp: null, ...annotations };
  return lineOf(
    "BOOKMARK",
    Buffer.from(JSON.stringify({ kind: type.kind, apiVersion: apiVersionOf(type), metadata })),
  );
}

import type { KubeObject } from "../../cluster-api.ts";
import { badRequest, expiredContinue, tooLargeVersion } from "../api-status.ts";
import { isObject } from "../json.ts";
import type { ResourceType } from "../resource-type.ts";
import { both, type Predicate, parseFieldSelector, parseLabelSelector, selectedName } from "../selector.ts";
import type { Store } from "../store/store.ts";
import { type Stored, storeKey } from "../store/stored.ts";

/** Which objects a list or watch selects. */
export type Selection = { namespace?: string | undefined; labelSelector?: string; fieldSelector?: string };

/** A selection and its page. */
export type ListRequest = Selection & { limit?: number; continue?: string; resourceVersion?: string };

/** One page of a list. */
export type ListPage = { items: Stored[]; version: number; next?: string; remaining?: number };

type Token = { v: number; start: string };

/** The predicate of a selection, undefined when it selects all objects. */
export function predicateOf(type: ResourceType, selection: Selection): Predicate | undefined {
  return both(
    parseLabelSelector(selection.labelSelector ?? ""),
    parseFieldSelector(selection.fieldSelector ?? "", type.storageKey),
  );
}

/**
 * The objects of a selection in the order of their keys. Later pages show the state at the first page for as long
 * as the history reaches back; then 410.
 */
export function listPage(store: Store, type: ResourceType, request: ListRequest): ListPage {
  const accepts = predicateOf(type, request);
  const token = request.continue ? readToken(request.continue) : undefined;
  const asked = Number(request.resourceVersion ?? 0);
  if (asked > store.version()) throw tooLargeVersion(asked, store.version());
  const source = candidates(store, type, { request, ...(token ? { token } : {}) });
  const version = token?.v ?? store.version();
  return takePage(source, version, { ...(accepts ? { accepts } : {}), limit: request.limit ?? 0 });
}

function candidates(
  store: Store,
  type: ResourceType,
  { request, token }: { request: ListRequest; token?: Token },
): Iterable<Stored> {
  const collection = store.collection(type.storageKey);
  const name = selectedName(request.fieldSelector ?? "");
  if (name && !token && (request.namespace !== undefined || !type.namespaced)) {
    const found = collection.get(storeKey(name, request.namespace));
    return found ? [found] : [];
  }
  const scope = request.namespace === undefined ? {} : { namespace: request.namespace };
  if (!token) return collection.range(scope);
  const changes = collection.changesAfter(token.v);
  if (!changes) throw expiredContinue();
  const present = collection.range({ ...scope, after: token.start });
  if (changes.length === 0) return present;
  const past = new Map<string, Stored | undefined>();
  for (const change of changes) {
    if (past.has(change.key)) continue;
    if (!change.previous && change.type !== "ADDED") throw expiredContinue();
    past.set(change.key, change.previous);
  }
  return asItWas(present, past, { start: token.start, namespace: request.namespace });
}

// The current state with the later changes undone.
function asItWas(
  present: Iterable<Stored>,
  past: Map<string, Stored | undefined>,
  { start, namespace }: { start: string; namespace: string | undefined },
): Stored[] {
  const kept = [...present].filter((stored) => !past.has(stored.key));
  const restored = [...past.values()].filter(
    (stored): stored is Stored =>
      stored !== undefined &&
      stored.key > start &&
      (namespace === undefined || stored.key.startsWith(`${namespace}/`)),
  );
  return [...kept, ...restored].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function takePage(
  source: Iterable<Stored>,
  version: number,
  { accepts, limit }: { accepts?: Predicate; limit: number },
): ListPage {
  const items: Stored[] = [];
  let remaining = 0;
  for (const stored of source) {
    if (accepts && !accepts(stored.object)) continue;
    if (limit === 0 || items.length < limit) items.push(stored);
    else if (accepts) return { items, version, next: tokenAfter(items, version) };
    else remaining += 1;
  }
  if (remaining === 0) return { items, version };
  return { items, version, next: tokenAfter(items, version), remaining };
}

function tokenAfter(items: Stored[], version: number): string {
  const token: Token = { v: version, start: items.at(-1)?.key ?? "" };
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

function readToken(text: string): Token {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (isObject(value) && typeof value["v"] === "number" && typeof value["start"] === "string") {
      return { v: value["v"], start: value["start"] };
    }
  } catch {
    // Falls through to the error below.
  }
  throw badRequest("invalid continue token: continue key is not valid");
}

/** The kind and apiVersion head that every stored JSON starts with; list items of built-in kinds go without it. */
export function itemBytes(type: ResourceType, stored: Stored): Buffer {
  if (type.custom) return stored.bytes;
  const head = headLength(stored.object);
  return Buffer.concat([Buffer.from("{"), stored.bytes.subarray(head)]);
}

function headLength({ kind, apiVersion }: KubeObject): number {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`.length;
}

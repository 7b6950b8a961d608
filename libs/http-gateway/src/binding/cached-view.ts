// Frequent reads served from mirrors in memory (docs/reference/http.md#views): cached bytes, a strong ETag and their age.

import { hash } from "node:crypto";
import type { Mesh, ViewMirror } from "@svc/mesh";
import type { Operation, Principal, View } from "@svc/proto";
import type { RequestState } from "../request/request-state.ts";
import { sendResponse } from "../response/response.ts";
import type { Binding } from "./call.ts";
import { joinItems } from "./paged-list.ts";
import type { RowSource } from "./view-rows.ts";

type Cached = { body: Uint8Array; etag: string };
type KeptList = Cached & { version: number; builtAt: number };

type ViewDeps = {
  rows: RowSource;
  /** Whether the caller has just changed something, so that only the owner is sure to know it. */
  hasChanged: (principal: Principal) => boolean;
  /** Answers by asking the owner. */
  otherwise: Binding;
};

/** A list of this many entries is built anew at most once in `rebuildMs`; a shorter one sooner in proportion. */
const wholeRebuildSize = 10_000;

/** A list of all rows of the caller, joined from their bytes; `otherwise` serves while the source is not usable. */
export function cachedListBinding(deps: ViewDeps & { rebuildMs: number }, contract: Operation): Binding {
  const { rows, otherwise } = deps;
  const name = contract.http.collect ?? "items";
  const lists = createKeptLists();
  const current = (principal: Principal): KeptList | undefined => {
    const caller = rows.isPersonal ? audienceOf(principal) : "";
    const now = performance.now();
    const version = rows.version();
    const kept = lists.find(caller);
    const restMs = (deps.rebuildMs * Math.min(rows.keys().length, wholeRebuildSize)) / wholeRebuildSize;
    if (kept && (kept.version === version || now - kept.builtAt < restMs)) return kept;
    const body = joinRows(rows, name, principal);
    if (!body) return undefined;
    const made = { ...keep(body), version, builtAt: now };
    lists.put(caller, made);
    return made;
  };
  return async (call) => {
    const list = rows.isUsable() && !deps.hasChanged(call.principal) ? current(call.principal) : undefined;
    if (list) sendCached(call.state, list, rows);
    else await otherwise(call);
  };
}

// Undefined when an entry is incomplete: a list without it would be wrong.
function joinRows(rows: RowSource, name: string, principal: Principal): Buffer | undefined {
  const chunks: Uint8Array[] = [];
  for (const key of rows.keys()) {
    const row = rows.rowOf(key, principal);
    if (row === "incomplete") return undefined;
    if (row !== "hidden") chunks.push(row);
  }
  return joinItems(name, chunks);
}

// The rows of a list may depend on nothing else of a principal: `staff` comes from the role and the host.
function audienceOf(principal: Principal): string {
  if (principal.kind !== "account") return principal.kind;
  return `${principal.kind} ${principal.role} ${principal.staff} ${principal.user_id}`;
}

/** One row; the owner is asked for what is not there or not for the caller, and says why. */
export function cachedItemBinding(deps: ViewDeps & { param: string }): Binding {
  const { rows, param, otherwise } = deps;
  const tagged = new WeakMap<Uint8Array, Cached>();
  return async (call) => {
    const isAnswered = rows.isUsable() && !deps.hasChanged(call.principal);
    const row = isAnswered ? rows.rowOf(String(call.input[param]), call.principal) : "incomplete";
    if (typeof row === "string") return otherwise(call);
    const kept = tagged.get(row) ?? keep(row);
    tagged.set(row, kept);
    sendCached(call.state, kept, rows);
  };
}

const keptListBytes = 32 * 1024 * 1024;

/** Lists by caller, up to a number of bytes; those that nobody asked for longest go first. */
function createKeptLists() {
  const lists = new Map<string, KeptList>();
  let bytes = 0;
  const drop = (caller: string) => {
    bytes -= lists.get(caller)?.body.byteLength ?? 0;
    lists.delete(caller);
  };
  return {
    find: (caller: string): KeptList | undefined => {
      const list = lists.get(caller);
      if (!list || lists.size === 1) return list;
      lists.delete(caller);
      lists.set(caller, list);
      return list;
    },
    put: (caller: string, list: KeptList) => {
      drop(caller);
      lists.set(caller, list);
      bytes += list.body.byteLength;
      for (const oldest of lists.keys()) {
        if (bytes <= keptListBytes || lists.size === 1) return;
        drop(oldest);
      }
    },
  };
}

// The tag is taken from the bytes, so that every replica and every restart gives the same one.
function keep(body: Uint8Array): Cached {
  return { body, etag: `"${hash("sha1", body, "base64url")}"` };
}

function sendCached(state: RequestState, kept: Cached, rows: RowSource): void {
  const control = rows.isPersonal ? "private, no-cache" : "no-cache";
  const headers = ["ETag", kept.etag, "Age", String(rows.ageSeconds()), "Cache-Control", control];
  if (isSame(state.request.headers["if-none-match"], kept.etag)) {
    sendResponse(state, { status: 304, headers });
    return;
  }
  headers.push("Content-Type", "application/json");
  sendResponse(state, { status: 200, headers }, kept.body);
}

function isSame(wanted: string | undefined, etag: string): boolean {
  if (wanted === undefined) return false;
  if (wanted === etag || wanted === "*") return true;
  return wanted.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}

/** One mirror for each view, however many operations read it. */
export function createMirrors(mesh: Pick<Mesh, "mirrorView">) {
  const mirrors = new Map<string, ViewMirror>();
  return {
    of: (view: View): ViewMirror => {
      const known = mirrors.get(view.name);
      if (known) return known;
      const mirror = mesh.mirrorView(view);
      mirrors.set(view.name, mirror);
      return mirror;
    },
    close: async () => {
      await Promise.all([...mirrors.values()].map((mirror) => mirror.close()));
    },
  };
}

// Frequent reads served from a mirror in memory (docs/reference/mesh.md#views): cached bytes, a strong ETag and their age.

import { hash } from "node:crypto";
import type { Mesh, ViewMirror } from "@svc/mesh";
import type { Operation } from "@svc/proto";
import type { RequestState } from "../request/request-state.ts";
import { sendResponse } from "../response/response.ts";
import type { Binding } from "./call.ts";
import { joinItems } from "./paged-list.ts";

type Cached = { body: Uint8Array; etag: string };

/** A list from all values of a mirror, encoded at most once in `rebuildMs`; `otherwise` serves while there is none. */
export function cachedListBinding(
  deps: { mirror: ViewMirror; rebuildMs: number; otherwise: Binding },
  contract: Operation,
): Binding {
  const { mirror, rebuildMs, otherwise } = deps;
  const name = contract.http.collect ?? "items";
  let kept: Cached | undefined;
  let version = Number.NaN;
  let builtAt = 0;
  const current = (): Cached => {
    const now = performance.now();
    if (kept && (version === mirror.version || now - builtAt < rebuildMs)) return kept;
    version = mirror.version;
    kept = keep(joinItems(name, mirror.values()));
    builtAt = now;
    return kept;
  };
  return async (call) => {
    if (!mirror.ready) return otherwise(call);
    sendCached(call.state, current(), mirror);
  };
}

/** One value of a mirror; the owner is asked for what the mirror lacks, and says whether it exists. */
export function cachedItemBinding(deps: { mirror: ViewMirror; param: string; otherwise: Binding }): Binding {
  const { mirror, param, otherwise } = deps;
  const etags = new WeakMap<Uint8Array, Cached>();
  return async (call) => {
    const body = mirror.ready ? mirror.get(String(call.input[param])) : undefined;
    if (!body) return otherwise(call);
    const kept = etags.get(body) ?? keep(body);
    etags.set(body, kept);
    sendCached(call.state, kept, mirror);
  };
}

// The tag is taken from the bytes, so that every replica and every restart gives the same one.
function keep(body: Uint8Array): Cached {
  return { body, etag: `"${hash("sha1", body, "base64url")}"` };
}

function sendCached(state: RequestState, kept: Cached, mirror: ViewMirror): void {
  const age = Math.max(0, Math.floor(mirror.ageMs() / 1_000));
  const headers = ["ETag", kept.etag, "Age", String(age), "Cache-Control", "no-cache"];
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
    of: (view: NonNullable<Operation["http"]["view"]>["of"]): ViewMirror => {
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

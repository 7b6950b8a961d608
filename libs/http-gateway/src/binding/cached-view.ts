// Frequent reads served from mirrors in memory (docs/reference/http.md#views).

import type { Mesh, ViewMirror } from "@svc/mesh";
import { Fault, type ItemBinding, type Listed, type Operation, type Principal, type View } from "@svc/proto";
import { cachedPages } from "./cached-pages.ts";
import type { Binding, Call } from "./call.ts";
import { createKeptAnswers, type KeptAnswer, keepAnswer, sendKept } from "./kept-answer.ts";
import { pageReader } from "./list-page.ts";
import { type Collect, joinItems } from "./paged-list.ts";
import type { RowSource } from "./view-rows.ts";

type KeptList = KeptAnswer & { version: number; builtAt: number };

type ViewDeps = {
  rows: RowSource;
  /** Whether the caller has just changed something, so that only the owner is sure to know it. */
  hasChanged: (principal: Principal) => boolean;
  /** Answers by asking the owner. */
  otherwise: Binding;
};

/** A list of this many entries is built anew at most once in `rebuildMs`; a shorter one sooner in proportion. */
const wholeRebuildSize = 10_000;

const keptListBytes = 32 * 1024 * 1024;

type ListDeps = ViewDeps & { rebuildMs: number; listedAs?: (row: unknown) => Listed; collect: Collect };

/** A list of all rows of the caller, or a page of it, joined from their bytes; `otherwise` serves while the source is not usable. */
export function cachedListBinding(deps: ListDeps, contract: Operation): Binding {
  const { rows, otherwise, listedAs } = deps;
  const restMs = (entries: number) =>
    (deps.rebuildMs * Math.min(entries, wholeRebuildSize)) / wholeRebuildSize;
  const current = wholeList({ rows, restMs }, contract);
  const readPage = listedAs && pageReader(contract);
  const answerPage = listedAs && cachedPages({ ...deps, listedAs, audienceOf, restMs }, contract);
  return async (call) => {
    const isFromView = rows.isUsable() && !deps.hasChanged(call.principal);
    const page = readPage?.(call.input);
    if (page && answerPage) return answerPage(call, page, isFromView);
    const list = isFromView ? current(call.principal) : undefined;
    if (list) await sendKept(call.state, list, rows);
    else await otherwise(call);
  };
}

function wholeList(
  { rows, restMs }: { rows: RowSource; restMs: (entries: number) => number },
  contract: Operation,
): (principal: Principal) => KeptAnswer | undefined {
  const name = contract.http.collect ?? "items";
  const lists = createKeptAnswers<KeptList>(keptListBytes);
  return (principal) => {
    const caller = rows.isPersonal ? audienceOf(principal) : "";
    const now = performance.now();
    const version = rows.version();
    const kept = lists.find(caller);
    if (kept && (kept.version === version || now - kept.builtAt < restMs(rows.keys().length))) return kept;
    const body = joinRows(rows, name, principal);
    if (!body) return undefined;
    const made = { ...keepAnswer(body, kept), version, builtAt: now };
    lists.put(caller, made);
    return made;
  };
}

// Undefined when an entry is incomplete: a list without it would be wrong.
function joinRows(rows: RowSource, name: string, principal: Principal): Buffer | undefined {
  const chunks: Uint8Array[] = [];
  for (const key of rows.keysFor(principal)) {
    const row = rows.rowOf(key, principal);
    if (row === "incomplete") return undefined;
    if (row !== "hidden") chunks.push(row);
  }
  return joinItems(name, chunks);
}

// The rows of a list may depend on nothing else of a principal: `staff` comes from the role and the host, and what a token
// reaches never changes.
function audienceOf(principal: Principal): string {
  if (principal.kind !== "account") return principal.kind;
  const { kind, role, staff, user_id, token } = principal;
  return `${kind} ${role} ${staff} ${user_id} ${token?.id ?? ""}`;
}

type ItemDeps = ViewDeps & { item: ItemBinding };

/** One row; the owner is asked for what is not there or not for the caller, and says why, unless the contract says it. */
export function cachedItemBinding(deps: ItemDeps): Binding {
  const { rows, item, otherwise } = deps;
  const tagged = new WeakMap<Uint8Array, KeptAnswer>();
  const keyOf = (call: Call) => ("key" in item ? item.key : String(call.input[item.param]));
  return async (call) => {
    const isAnswered = rows.isUsable() && !deps.hasChanged(call.principal);
    const row = isAnswered ? rows.rowOf(keyOf(call), call.principal) : "incomplete";
    if (row === "hidden" && item.missing) throw new Fault(item.missing);
    if (typeof row === "string") return otherwise(call);
    const kept = tagged.get(row) ?? keepAnswer(row);
    tagged.set(row, kept);
    const { publicForSeconds } = call.contract.http;
    await sendKept(call.state, kept, {
      ...rows,
      ...(publicForSeconds !== undefined && { publicForSeconds }),
    });
  };
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

// Frequent reads served from mirrors in memory (docs/reference/http.md#views).

import type { Mesh, ViewMirror } from "@svc/mesh";
import { Fault, type ItemBinding, type Listed, type Operation, type Principal, type View } from "@svc/proto";
import { cachedPages, type ListSource, type ViewState } from "./cached-pages.ts";
import type { Binding, Call } from "./call.ts";
import { createKeptAnswers, type KeptAnswer, keepAnswer, sendKept } from "./kept-answer.ts";
import { pageReader } from "./list-page.ts";
import { type Collect, joinItems } from "./paged-list.ts";
import type { RecentChanges } from "./recent-changes.ts";
import type { RowSource } from "./view-rows.ts";

type KeptList = KeptAnswer & { version: number; builtAt: number };

type ViewDeps = {
  rows: RowSource;
  /** What callers have just changed, so that only the owner is sure to know it. */
  changes: Pick<RecentChanges, "has">;
  /** Answers by asking the owner. */
  otherwise: Binding;
};

/** A list of this many entries is built anew at most once in `rebuildMs`; a shorter one sooner in proportion. */
const wholeRebuildSize = 10_000;

/** Longer than a leader under load takes; where a list has so many entries, asking the owner for all of them takes longer. */
const catchUpMs = 1_000;

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
  // A list of the caller's own rows costs its owner what it shows; one with pages is everything.
  const sourceFor = listSource(deps, { catchesUp: listedAs !== undefined });
  return async (call) => {
    const source = await sourceFor(call.principal);
    const page = readPage?.(call.input);
    if (page && answerPage) return answerPage(call, page, source);
    const list = source === "owner" ? undefined : current(call.principal, source);
    if (list) await sendKept(call.state, list, rows);
    else await otherwise(call);
  };
}

/** Who answers a list: the view, which may be older than a change of the caller, not if it has caught up. */
function listSource(
  { rows, changes }: ViewDeps,
  { catchesUp }: { catchesUp: boolean },
): (principal: Principal) => Promise<ListSource> {
  return async (principal) => {
    if (!rows.isUsable()) return "owner";
    if (!changes.has(principal)) return "view";
    if (!catchesUp || changes.has(principal, rows.copiesFrom)) return "owner";
    return (await rows.catchUp(catchUpMs)) && rows.isUsable() ? "caught-up view" : "owner";
  };
}

function wholeList(
  { rows, restMs }: { rows: RowSource; restMs: (entries: number) => number },
  contract: Operation,
): (principal: Principal, source: ViewState) => KeptAnswer | undefined {
  const name = contract.http.collect ?? "items";
  const lists = createKeptAnswers<KeptList>(keptListBytes);
  return (principal, source) => {
    const caller = rows.isPersonal ? audienceOf(principal) : "";
    const now = performance.now();
    const version = rows.version();
    const kept = lists.find(caller);
    const mayLag = source === "view" && kept && now - kept.builtAt < restMs(rows.keys().length);
    if (kept && (kept.version === version || mayLag)) return kept;
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
    const isAnswered = rows.isUsable() && !deps.changes.has(call.principal);
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

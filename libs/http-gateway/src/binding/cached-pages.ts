// Pages of a list that is answered from a mirror (docs/reference/http.md#pages).

import type { CallOptions } from "@svc/mesh";
import type { Listed, Operation, Principal } from "@svc/proto";
import type { Fields } from "../request/input.ts";
import { sendAnswer } from "../response/response.ts";
import type { Call } from "./call.ts";
import { createKeptAnswers, type KeptAnswer, keepAnswer, sendKept } from "./kept-answer.ts";
import {
  createListIndex,
  inLowerCase,
  type ListedEntry,
  type ListIndex,
  nameKey,
  type PageRequest,
} from "./list-page.ts";
import { joinItems } from "./paged-list.ts";
import type { RowSource } from "./view-rows.ts";

type PagesDeps = {
  rows: RowSource;
  listedAs: (row: unknown) => Listed;
  audienceOf: (principal: Principal) => string;
  /** Milliseconds for which an index of this many entries may lag the view. */
  restMs: (entries: number) => number;
  /** Gathers the whole list from the owner. */
  collect: (input: Fields, options: CallOptions) => Promise<Buffer>;
};

type ViewIndex = ListIndex<string> & { serial: number; version: number; madeAt: number };
/** `index` is the serial of the index that it was cut from. */
type KeptPage = KeptAnswer & { index: number };
/** A view that has caught up includes what the caller has just changed; what is made of it must, too. */
export type ViewState = "view" | "caught-up view";
export type ListSource = ViewState | "owner";
type AnswerPage = (call: Call, page: PageRequest, source: ListSource) => Promise<void>;

const keptPageBytes = 4 * 1024 * 1024;

/** Answers a page from the view, or from the whole list of the owner. */
export function cachedPages(deps: PagesDeps, contract: Operation): AnswerPage {
  const { rows, audienceOf } = deps;
  const name = contract.http.collect ?? "items";
  const pages = createKeptAnswers<KeptPage>(keptPageBytes);
  const paths = Object.keys(contract.params.shape);
  const indexOf = viewIndex(deps);
  const current = (principal: Principal, page: PageRequest, state: ViewState): KeptPage | undefined => {
    const { limit, offset, selection } = page;
    const index = indexOf(principal, state);
    if (!index) return undefined;
    const key = `${audienceOf(principal)} ${limit} ${offset} ${selection.key}`;
    const kept = pages.find(key);
    if (kept?.index === index.serial) return kept;
    const found = index.select(selection);
    const chunks: Uint8Array[] = [];
    for (const entry of found.slice(offset, offset + limit)) {
      const row = rows.rowOf(entry, principal);
      if (row === "incomplete") return undefined;
      // It was removed since the index was made.
      if (row !== "hidden") chunks.push(row);
    }
    const body = joinItems(name, chunks, { total: found.length });
    const made = { ...keepAnswer(body, kept), index: index.serial };
    pages.put(key, made);
    return made;
  };
  return async (call, page, source) => {
    const answer = source === "owner" ? undefined : current(call.principal, page, source);
    if (answer) return sendKept(call.state, answer, rows);
    const own = paths.map((field) => [field, call.input[field]]);
    const whole = await deps.collect(Object.fromEntries(own), call.options);
    const body = cutWhole(whole, { name, page, listedAs: deps.listedAs });
    await sendAnswer(call.state, contract.http.status, body);
  };
}

/** The index of a view, made again once the view has changed, and undefined while an entry of it is incomplete. */
function viewIndex({
  rows,
  restMs,
}: PagesDeps): (principal: Principal, state: ViewState) => ViewIndex | undefined {
  let index: ViewIndex | undefined;
  let names: { of: readonly string[]; sorted: readonly string[] } | undefined;
  return (principal, state) => {
    const version = rows.version();
    const now = performance.now();
    const keys = rows.keys();
    const mayLag = state === "view" && index && now - index.madeAt < restMs(keys.length);
    if (index && (index.version === version || mayLag)) return index;
    // The mirror gives the same array until a key comes or goes.
    if (names?.of !== keys) names = { of: keys, sorted: sortByName(keys, (key) => key) };
    const entries: ListedEntry<string>[] = [];
    for (const key of names.sorted) {
      const listed = rows.listedOf(key, principal);
      if (listed === "incomplete") return undefined;
      if (listed !== "hidden") entries.push({ entry: key, listed });
    }
    index = { ...createListIndex(entries), serial: (index?.serial ?? 0) + 1, version, madeAt: now };
    return index;
  };
}

function cutWhole(
  list: Buffer,
  { name, page, listedAs }: { name: string; page: PageRequest; listedAs: (row: unknown) => Listed },
): Buffer {
  const { [name]: items = [] } = JSON.parse(list.toString()) as Record<string, unknown[]>;
  const entries = items.map((entry) => ({ entry, listed: inLowerCase(listedAs(entry)) }));
  const { limit, offset, selection } = page;
  const found = createListIndex(sortByName(entries, ({ listed }) => listed.name)).select(selection);
  const shown = found.slice(offset, offset + limit);
  return Buffer.from(JSON.stringify({ [name]: shown, total: found.length }));
}

function sortByName<Entry>(entries: readonly Entry[], nameOf: (entry: Entry) => string): readonly Entry[] {
  return entries
    .map((entry) => ({ entry, key: nameKey(nameOf(entry)) }))
    .sort((left, right) => {
      if (left.key === right.key) return 0;
      return left.key < right.key ? -1 : 1;
    })
    .map(({ entry }) => entry);
}

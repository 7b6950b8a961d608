import { useCallback, useMemo, useRef, useState } from "react";
import { call } from "../api/call.ts";
import type { ApiError } from "../api/error.ts";
import { poll, useOperation, useOperations } from "../api/query.ts";
import { rowOfFleet, type ServerRow } from "../server/row.ts";
import { isBulkRunning } from "./bulk-runs.ts";
import { type FleetView, pageSize, pagesFor, requestOf, rowsInPlace } from "./fleet-view.ts";
import { isSelected, type Selection } from "./selection.ts";

type Fleet = {
  /** All that match, in their places; what was not read yet is undefined. Undefined before the first answer. */
  rows: readonly (ServerRow | undefined)[] | undefined;
  /** What was searched for when these rows were read. */
  answered: string;
  /** The rows are those of the search before, until the new ones are read. */
  isOld: boolean;
  error: ApiError | null;
  refetch: () => void;
  onShow: (first: number, last: number) => void;
};

/** While a bulk run changes servers, the owner of the list would have to answer each poll with all of it. */
const every = () => (isBulkRunning() ? 4 * poll.list : poll.list);

/** The servers of the platform that match, read by the pages that are in sight. */
export function useFleet(view: FleetView): Fleet {
  const [[first, last], setSight] = useState<readonly [number, number]>([0, 0]);
  const pages = pagesFor(first, last);
  // The top stays until another search is answered; rows further down would stand in a wrong place.
  const head = useOperation("servers.fleet", requestOf(view, 0), { every, keepsPrevious: true });
  const further = pages.filter((page) => page > 0);
  const others = useOperations(
    "servers.fleet",
    further.map((page) => requestOf(view, page)),
    { every },
  );
  const reads = [head, ...others];
  const data = useSameList(reads.map((read) => read.data));
  const places = useSameList([0, ...further]);
  const total = head.data?.total;
  const [answered, setAnswered] = useState(view.search);
  if (total !== undefined && !head.isPlaceholderData && answered !== view.search) setAnswered(view.search);
  const rows = useMemo(() => {
    if (total === undefined) return undefined;
    return rowsInPlace(
      total,
      data.map((page, at) => ({ page: places[at] ?? 0, rows: page?.items.map(rowOfFleet) })),
    );
  }, [total, data, places]);
  const onShow = useCallback(
    (from: number, to: number) =>
      setSight((known) => (known[0] === from && known[1] === to ? known : [from, to])),
    [],
  );
  return {
    rows,
    answered,
    isOld: head.isPlaceholderData,
    error: reads.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => {
      for (const read of reads) void read.refetch();
    },
    onShow,
  };
}

/** The same list again while what is in it is the same. */
function useSameList<Item>(list: readonly Item[]): readonly Item[] {
  const kept = useRef(list);
  const isSame = kept.current.length === list.length && list.every((item, at) => item === kept.current[at]);
  if (!isSame) kept.current = list;
  return kept.current;
}

/** The names that are chosen, read page by page where all that match are. System servers cannot be acted on. */
export async function readSelected(view: FleetView, selection: Selection): Promise<string[]> {
  if (!selection.isAll) return [...selection.names];
  const names: string[] = [];
  for (let page = 0, total = 1; page * pageSize < total; page++) {
    const { items, total: found = 0 } = await call("servers.fleet", requestOf(view, page));
    total = found;
    const chosen = items.filter(({ name, system }) => !system && isSelected(selection, name));
    names.push(...chosen.map(({ name }) => name));
  }
  return names;
}

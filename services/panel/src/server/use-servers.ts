import { useMemo } from "react";
import type { ApiError } from "../api/error.ts";
import { poll, useOperation } from "../api/query.ts";
import { isUnderWay, rowOfMine, type ServerRow } from "./row.ts";

type Servers = {
  rows: readonly ServerRow[] | undefined;
  error: ApiError | null;
  refetch: () => void;
};

/** The servers that the person owns or may claim. */
export function useOwnServers({ enabled = true }: { enabled?: boolean } = {}): Servers {
  const { data, error, refetch } = useOperation(
    "ownership.listMine",
    {},
    { every: (list) => (list?.items.some(isUnderWay) ? poll.busy : poll.list), enabled },
  );
  const rows = useMemo(() => data?.items.map(rowOfMine), [data]);
  return { rows, error, refetch: () => void refetch() };
}

import { useMemo } from "react";
import type { ApiError } from "../api/error.ts";
import { poll, useOperation } from "../api/query.ts";
import { useMe } from "../api/session.ts";
import { isUnderWay, rowOfFleet, rowOfMine, type ServerRow } from "./row.ts";

type Servers = {
  rows: readonly ServerRow[] | undefined;
  isStaff: boolean;
  error: ApiError | null;
  refetch: () => void;
};

/** All servers for staff, else those that the person owns or may claim. */
export function useServers(): Servers {
  const isStaff = useMe().data?.is_admin ?? false;
  const mine = useOperation(
    "ownership.listMine",
    {},
    { every: (list) => (list?.items.some(isUnderWay) ? poll.busy : poll.list), enabled: !isStaff },
  );
  const fleet = useOperation("servers.fleet", {}, { every: poll.list, enabled: isStaff });
  const source = isStaff ? fleet : mine;
  const rows = useMemo(
    () => (isStaff ? fleet.data?.items.map(rowOfFleet) : mine.data?.items.map(rowOfMine)),
    [isStaff, fleet.data, mine.data],
  );
  return { rows, isStaff, error: source.error, refetch: () => void source.refetch() };
}

import { useParams } from "@tanstack/react-router";
import type { ApiError } from "../api/error.ts";
import type { Output } from "../api/operations.ts";
import { poll, useOperation } from "../api/query.ts";
import { useMe } from "../api/session.ts";
import { useMissing } from "../api/use-missing.ts";
import { isUnderWay } from "./row.ts";

export type ServerStatus = Output<"servers.viewStatus">;
/** What its owner and staff see. */
export type FullStatus = Extract<ServerStatus, { idleStopSeconds: number }>;

type ServerOfPage = {
  name: string;
  status: ServerStatus | undefined;
  /** Whether the caller owns it or is staff: the others see the public fields. */
  isManaged: boolean;
  error: ApiError | null;
  refetch: () => void;
};

const validName = /^[a-z0-9](?:[a-z0-9-]{1,30})[a-z0-9]$/;

/** Whether a name of the address can be one of a server; others are not asked for. */
export function isServerName(name: string): boolean {
  return validName.test(name);
}

export function isFull(status: ServerStatus | undefined): status is FullStatus {
  return status !== undefined && "idleStopSeconds" in status;
}

/** The server that the address names, polled as its phase wants it. */
export function useServer(): ServerOfPage {
  const { name = "" } = useParams({ strict: false }) as { name?: string };
  const { is_admin = false } = useMe().data ?? {};
  const query = useOperation(
    "servers.viewStatus",
    { name },
    {
      enabled: isServerName(name),
      every: (data) => (data && isUnderWay(data) ? poll.busy : poll.status),
      // Others are told only of what is in a list of theirs.
      isFollowed: isFull,
    },
  );
  const { data, error } = query;
  // While it is asked for again, the page that says so stays.
  const missing = useMissing(name, query);
  return {
    name,
    status: data,
    isManaged: is_admin || isFull(data),
    error: error ?? missing,
    refetch: () => void query.refetch(),
  };
}

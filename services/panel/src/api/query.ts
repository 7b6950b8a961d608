// Reading with polls, and acting. Pages know operations by name and never see a request.

import { retriedCodes } from "virtual:svc-operations";
import {
  hashKey,
  keepPreviousData,
  QueryClient,
  type QueryKey,
  type UseMutationResult,
  type UseQueryOptions,
  type UseQueryResult,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback } from "react";
import { backgroundHeaders, isAbsent, onReturn } from "./activity.ts";
import { call, open, read } from "./call.ts";
import { isCovered } from "./change-effects.ts";
import { ApiError } from "./error.ts";
import { useLiveState } from "./live-state.ts";
import type { Input, OperationName, Output } from "./operations.ts";

/** Milliseconds between two polls of a page (no poll while the tab is hidden or nobody is there). */
export const poll = { busy: 2_000, job: 1_500, status: 10_000, list: 15_000, history: 60_000 } as const;

/** Of what live updates tell anyway: a replica may answer with a little less than another one has told. */
const followedMs = 60_000;

/** Where each reading costs the platform a Job: what is younger than ten seconds is not read again, and never unasked. */
export const costlyReading = {
  staleTime: 10_000,
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
} as const;
const retries = 4;
const longestDelayMs = 30_000;

export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 1_000,
        gcTime: 30 * 60_000,
        retry: (count, error) => count < retries && mayPass(error),
        retryDelay: (count, error) =>
          Math.max(retryAfterMs(error), Math.min(1_000 * 2 ** count, longestDelayMs)),
        refetchOnReconnect: "always",
      },
      mutations: { retry: false },
    },
  });
  onReturn(() => void client.invalidateQueries({ refetchType: "active" }));
  return client;
}

function mayPass(error: Error): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.code === "offline" || error.status >= 500 || retriedCodes.includes(error.code);
}

function retryAfterMs(error: Error): number {
  return error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
}

/** Key of an operation's data; without input, of all its data. */
export function keyOf<Name extends OperationName>(name: Name, input?: Input<Name>): QueryKey {
  return input === undefined ? [name] : [name, input];
}

type ReadOptions<Name extends OperationName> = {
  /** Milliseconds between polls, also as a function of the newest data. */
  every?: number | ((data: Output<Name> | undefined) => number);
  enabled?: boolean;
  /** Keeps what was shown for another input until this one's data is there. */
  keepsPrevious?: boolean;
  /** Each reading costs the platform a Job. */
  isCostly?: boolean;
  /** Whether live updates tell of changes of this data; default where they cover the operation. */
  isFollowed?: (data: Output<Name> | undefined) => boolean;
};

/** Data of an operation, shown again at once when it was read before. */
export function useOperation<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  options: ReadOptions<Name> = {},
): UseQueryResult<Output<Name>, ApiError> {
  const reader = useReader();
  return useQuery<Output<Name>, ApiError>(queryOf(reader, { name, input }, options));
}

/** As `useOperation` for several inputs at once, such as the pages of a list that are in sight. */
export function useOperations<Name extends OperationName>(
  name: Name,
  inputs: readonly Input<Name>[],
  options: ReadOptions<Name> = {},
): UseQueryResult<Output<Name>, ApiError>[] {
  const reader = useReader();
  return useQueries({ queries: inputs.map((input) => queryOf(reader, { name, input }, options)) });
}

type Reader = { client: QueryClient; isLive: boolean };

function useReader(): Reader {
  return { client: useQueryClient(), isLive: useLiveState() === "live" };
}

function queryOf<Name extends OperationName>(
  { client, isLive }: Reader,
  { name, input }: { name: Name; input: Input<Name> },
  options: ReadOptions<Name>,
): UseQueryOptions<Output<Name>, ApiError> {
  const { every, enabled = true, keepsPrevious = false, isCostly = false } = options;
  const { isFollowed = () => isCovered(name) } = options;
  const queryKey = keyOf(name, input);
  return {
    queryKey,
    queryFn: ({ signal }) => readIfChanged({ client, queryKey }, { name, input }, signal),
    enabled,
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
    ...(isCostly && costlyReading),
    refetchInterval: (query) => {
      if (every === undefined || isAbsent()) return false;
      const { data } = query.state;
      if (isLive && isFollowed(data)) return followedMs;
      return typeof every === "number" ? every : every(data);
    },
  };
}

/** What was last read of an operation, when it is called; nothing is asked for. */
export function useKept<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
): () => Output<Name> | undefined {
  const client = useQueryClient();
  return () => client.getQueryData<Output<Name>>(keyOf(name, input));
}

/** Reads data that nothing on screen shows. */
export async function readInto<Name extends OperationName>(
  client: QueryClient,
  name: Name,
  input: Input<Name>,
): Promise<void> {
  const queryKey = keyOf(name, input);
  const queryFn = ({ signal }: { signal: AbortSignal }) =>
    readIfChanged({ client, queryKey }, { name, input }, signal);
  await client.fetchQuery({ queryKey, queryFn, staleTime: 0 });
}

/** Entity tags of what was read, by key; the data itself is in the query client. */
const tags = new Map<string, string>();

/** With the tag of what is there already; 304 gives back the same object, and nothing is drawn again. */
async function readIfChanged<Name extends OperationName>(
  kept: { client: QueryClient; queryKey: QueryKey },
  asked: { name: Name; input: Input<Name> },
  signal: AbortSignal,
): Promise<Output<Name>> {
  const { name, input } = asked;
  const known = kept.client.getQueryData<Output<Name>>(kept.queryKey);
  const hashed = hashKey(kept.queryKey);
  const tag = known === undefined ? undefined : tags.get(hashed);
  const response = await open(name, input, {
    signal,
    headers: { ...backgroundHeaders(), ...(tag !== undefined && { "if-none-match": tag }) },
  });
  if (response.status === 304 && known !== undefined) return known;
  const data = await read(name, response);
  const etag = response.headers.get("etag");
  if (etag === null) tags.delete(hashed);
  else tags.set(hashed, etag);
  return data;
}

/** Reads operations again, whatever their input. */
export function useRefresh(): (names: readonly OperationName[]) => void {
  const client = useQueryClient();
  return useCallback(
    (names) => {
      for (const name of names) void client.invalidateQueries({ queryKey: [name] });
    },
    [client],
  );
}

/** Runs an operation on demand; `changes` names the operations whose data is then read again. */
export function useAction<Name extends OperationName>(
  name: Name,
  changes: readonly OperationName[] = [],
): UseMutationResult<Output<Name>, ApiError, Input<Name>> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input<Name>) => call(name, input),
    onSuccess: () => {
      for (const changed of changes) void client.invalidateQueries({ queryKey: [changed] });
    },
  });
}

/** Changes what was read of an operation, by what another one has answered, until it is read again. */
export function useAmend() {
  const client = useQueryClient();
  return <Name extends OperationName>(name: Name, change: (data: Output<Name>) => Output<Name>): void => {
    for (const { queryKey, queryHash } of client.getQueryCache().findAll({ queryKey: [name] })) {
      // Its tag stands for what it was.
      tags.delete(queryHash);
      client.setQueryData<Output<Name>>(queryKey, (data) => (data === undefined ? data : change(data)));
    }
  };
}

import { queryOptions, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { call } from "./call.ts";
import { ApiError } from "./error.ts";
import type { Output } from "./operations.ts";
import { sessionSignals } from "./session-signals.ts";

export type Me = Output<"accounts.me">;

export const meKey = ["accounts.me", {}] as const;

export const meQuery = queryOptions<Me | null, ApiError>({
  queryKey: meKey,
  queryFn: ({ signal, client }) => findMe(signal, client.getQueryData<Me | null>(meKey)),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Who is signed in; null when nobody is. */
export function useMe(): UseQueryResult<Me | null, ApiError> {
  return useQuery(meQuery);
}

/** Whoever was `known` stays on the page when their session ends, under a dialog that says so. */
async function findMe(signal: AbortSignal, known: Me | null | undefined): Promise<Me | null> {
  try {
    return await call("accounts.me", {}, { signal });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    if (!known) return null;
    sessionSignals.sessionEnded();
    return known;
  }
}

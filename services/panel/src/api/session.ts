import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { call } from "./call.ts";
import { ApiError } from "./error.ts";
import type { Output } from "./operations.ts";

export type Me = Output<"accounts.me">;

export const meKey = ["accounts.me", {}] as const;

/** Who is signed in; null when nobody is. */
export function useMe(): UseQueryResult<Me | null, ApiError> {
  return useQuery({
    queryKey: meKey,
    queryFn: ({ signal }) => findMe(signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

async function findMe(signal: AbortSignal): Promise<Me | null> {
  try {
    return await call("accounts.me", {}, { signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

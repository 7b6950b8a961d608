import { type InfiniteData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { backgroundHeaders } from "../api/activity.ts";
import { call } from "../api/call.ts";
import type { ApiError } from "../api/error.ts";
import { costlyReading, keyOf } from "../api/query.ts";
import { type Listing, lastNameOf, mergePages } from "./listing.ts";

type Place = { name: string; path: string };
type Pages = InfiniteData<Listing, string | undefined>;

// With all that is read of folders, so that whatever changes a folder reads it again.
const listingKey = (place: Place) => [...keyOf("files.list", place), "pages"];

/** A folder, a page at a time. Each page costs a Job; what is listed already is read again in the same pages. */
export function useListing(place: Place) {
  return useInfiniteQuery<Listing, ApiError, Listing, readonly unknown[], string | undefined>({
    queryKey: listingKey(place),
    queryFn: ({ signal, pageParam: from }) =>
      call(
        "files.list",
        { ...place, ...(from !== undefined && { from }) },
        { signal, headers: backgroundHeaders() },
      ),
    initialPageParam: undefined,
    getNextPageParam: lastNameOf,
    select: mergePages,
    ...costlyReading,
  });
}

/** Whether a folder was seen to be empty. */
export function useIsSeenEmpty(place: Place): boolean {
  const seen = useQueryClient().getQueryData<Pages>(listingKey(place));
  return seen?.pages[0]?.entries.length === 0;
}

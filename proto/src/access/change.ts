// What an act gave or took of an access, as the activity of a server says it (docs/reference/audit.md#access). Pure.

import { z } from "zod";
import { Timestamp } from "../text.ts";
import type { Grant } from "./grant.ts";

const texts = z.array(z.string());

/** Names of rights and limits are texts: entries of a newer build name others. */
export const AccessChange = z.strictObject({
  /** User name of the account whose access it is; absent for an invitation, and when the account is gone. */
  account: z.string().optional(),
  given: texts,
  taken: texts,
  /** Limits that are other ones now, or came or went with the access; without `was` or `now` there is none. */
  limits: z.array(z.strictObject({ limit: z.string(), was: texts.optional(), now: texts.optional() })),
  /** The end, if it is another one now; without `was` or `now` there is none. */
  ends_at: z.strictObject({ was: Timestamp.optional(), now: Timestamp.optional() }).optional(),
});
export type AccessChange = z.output<typeof AccessChange>;

/** An access as it was recorded, which a newer or an older build may have done. */
export type RecordedGrant = {
  rights: readonly string[];
  limits?: Readonly<Record<string, string[]>> | undefined;
  ends_at?: Grant["ends_at"];
};

/** Without `was` all is given, without `now` all is taken. */
export function compareGrants({
  was,
  now,
}: {
  was?: RecordedGrant | undefined;
  now?: RecordedGrant | undefined;
}): AccessChange {
  const [before, after] = [was?.rights ?? [], now?.rights ?? []];
  const names = [...new Set([was, now].flatMap((grant) => Object.keys(grant?.limits ?? {})))];
  return {
    given: after.filter((right) => !before.includes(right)),
    taken: before.filter((right) => !after.includes(right)),
    limits: names.flatMap((limit) => {
      const pair = pairOf(was?.limits?.[limit], now?.limits?.[limit]);
      return isSame(pair) ? [] : [{ limit, ...pair }];
    }),
    ...(was?.ends_at !== now?.ends_at && { ends_at: pairOf(was?.ends_at, now?.ends_at) }),
  };
}

function pairOf<T>(was: T | undefined, now: T | undefined): { was?: T; now?: T } {
  return { ...(was !== undefined && { was }), ...(now !== undefined && { now }) };
}

function isSame({ was, now }: { was?: readonly string[]; now?: readonly string[] }): boolean {
  return JSON.stringify(was) === JSON.stringify(now);
}

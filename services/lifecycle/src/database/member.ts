// A member as it is stored in the row of its server (docs/reference/shared-access.md#rights).

import { MemberFacts, MemberRight } from "@svc/proto";
import { z } from "zod";

/** Rights that only a newer build knows are left out, so that they open nothing here. */
const KnownRights = z.array(z.string()).transform((given) => given.flatMap((one) => knownRight(one)));

const StoredMember = MemberFacts.extend({
  id: z.string(),
  joined_at: z.iso.datetime({ offset: true }),
  /** The account that invited it, and its user name by then. */
  invited_by: z.string(),
  inviter_name: z.string(),
});
export type StoredMember = z.output<typeof StoredMember>;
const ReadMember = StoredMember.extend({ rights: KnownRights });

function knownRight(text: string): MemberRight[] {
  const { data } = MemberRight.safeParse(text);
  return data ? [data] : [];
}

/**
 * The members in a column. One that cannot be read has no access: a newer build may have written limits that this one does
 * not know. So has nobody in a column that is no list.
 */
export function readMembers(column: unknown): readonly StoredMember[] {
  if (!Array.isArray(column) || column.length === 0) return [];
  return column.flatMap((one) => readMember(one));
}

function readMember(value: unknown): StoredMember[] {
  const { data } = ReadMember.safeParse(value);
  return data ? [data] : [];
}

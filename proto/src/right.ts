// Rights to a server: what an API token may do at which servers (docs/reference/api-tokens.md#rights), and what the owner
// of a server shares with others (docs/reference/shared-access.md#rights). Pure.

import { z } from "zod";

/** The closed list of what API tokens can have; operations name theirs in `rights` of their binding. */
export const rights = [
  "see",
  "console.read",
  "command",
  "power",
  "files.read",
  "files.write",
  "backups.make",
  "backups.restore",
  "backups.download",
  "backups.delete",
  "schedules",
  "players",
  "settings",
] as const;
export const Right = z.enum(rights);
export type Right = z.output<typeof Right>;

/** What members of a server can have. No API token has `invite`: who reaches a server is decided by people. */
export const memberRights = [...rights, "invite"] as const;
export const MemberRight = z.enum(memberRights);
export type MemberRight = z.output<typeof MemberRight>;

/** What an API token was given when it was made; it never changes. */
export const TokenGrant = z.strictObject({
  id: z.string(),
  rights: z.array(Right),
  /** Names of the servers that it reaches; absent: all that its account reaches. */
  servers: z.array(z.string()).optional(),
});
export type TokenGrant = z.output<typeof TokenGrant>;

/** Of a principal: absent for every credential but an API token. */
type Granted = { token?: TokenGrant | undefined };

/** Whether the credential of a caller reaches a server. What the account may do there is another question. */
export function reaches(caller: Granted | { kind: string }, server: string): boolean {
  const servers = grantOf(caller)?.servers;
  return servers === undefined || servers.includes(server);
}

/** Whether the credential of a caller carries a right, at the servers that it reaches. */
export function carries(caller: Granted | { kind: string }, right: MemberRight): boolean {
  const held: readonly MemberRight[] | undefined = grantOf(caller)?.rights;
  return held === undefined || held.includes(right);
}

function grantOf(caller: Granted | { kind: string }): TokenGrant | undefined {
  return "token" in caller ? caller.token : undefined;
}

// What an entry of shared access gave or took (docs/reference/audit.md#access). Pure.

import { type AccessChange, compareGrants, type RecordedGrant } from "@svc/proto";
import { z } from "zod";

type Entry = { action: string; payload: unknown };

const Recorded = z.object({
  rights: z.array(z.string()),
  limits: z.record(z.string(), z.array(z.string())).optional(),
  ends_at: z.iso.datetime({ offset: true }).optional(),
});

/** Which side of the comparison the access of an entry is; entries of other actions say nothing of one. */
const sides: Readonly<Record<string, "given" | "taken" | "changed">> = {
  "server.access.invite": "given",
  "server.access.accept": "given",
  "server.access.change": "changed",
  "server.access.revoke": "taken",
  "server.access.remove": "taken",
  "server.access.leave": "taken",
  "server.access.expire": "taken",
};

/** Undefined for other entries, and those of an older build that recorded no rights. */
export function accessChangeOf({ action, payload }: Entry): Omit<AccessChange, "account"> | undefined {
  const side = sides[action];
  const now = grantOf(payload);
  if (side === undefined || !now) return undefined;
  if (side === "given") return compareGrants({ now });
  if (side === "taken") return compareGrants({ was: now });
  const was = grantOf((payload as { before?: unknown }).before);
  return was && compareGrants({ was, now });
}

/** The account whose access an entry is about. */
export function accountOfAccess({ action, payload }: Entry): string | undefined {
  if (sides[action] === undefined) return undefined;
  return z.object({ user_id: z.string() }).safeParse(payload).data?.user_id;
}

function grantOf(recorded: unknown): RecordedGrant | undefined {
  return Recorded.safeParse(recorded).data;
}

// Common to every end of an account: its sessions end and the other services are informed.

import { accounts } from "@svc/proto";
import { outboxRow } from "@svc/store";
import type { z } from "zod";
import { revokeTokens } from "../api-token/store.ts";
import type { IdentityTrx } from "../database.ts";
import { listLinkedPlayers } from "../link/store.ts";
import { revokeSessions } from "../session/store.ts";
import { removeKeys } from "../ssh-key/store.ts";

type Retirement = { userId: string; by: z.output<typeof accounts.RetiredBy>; now: Date };

/** Ends the sessions, API tokens and SSH keys of an account that was retired in this transaction. Returns how many sessions. */
export async function endAccount(trx: IdentityTrx, { userId, by, now }: Retirement): Promise<number> {
  const mcUuids = await listLinkedPlayers(trx, userId);
  const event = { user_id: userId, by, mc_uuids: mcUuids, at: now.toISOString() };
  await trx.insertInto("outbox").values(outboxRow(accounts.accountRetired, event)).execute();
  await revokeTokens(trx, { userId, now });
  await removeKeys(trx, { userId, now });
  return revokeSessions(trx, { userId, now });
}

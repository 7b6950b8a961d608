// The effects of a change of role that claims decide (docs/reference/sign-in.md#oidc-roles).

import type { Role } from "@svc/proto";
import type { Account } from "../account/store.ts";
import type { IdentityTrx } from "../database.ts";
import { revokeSessions } from "../session/store.ts";
import { updateUser } from "../user/store.ts";

/** What a session may do hangs on the role it was opened with, so all end. Returns the account as it is then. */
export async function changeRole(
  trx: IdentityTrx,
  { account, role, now }: { account: Account; role: Role; now: Date },
): Promise<Account> {
  if (role === account.role) return account;
  await revokeSessions(trx, { userId: account.id, now });
  return updateUser(trx, account.id, { role });
}

import type { accounts } from "@svc/proto";
import { isInSetup } from "./policy.ts";
import type { Account } from "./store.ts";

type Ways = { hasRelay: boolean; hasPasskey: boolean };

export function toSetupState(account: Account, { hasRelay, hasPasskey }: Ways): accounts.SetupState {
  const { role, email_verified: emailVerified } = account;
  return {
    user_id: account.id,
    username: account.username,
    role,
    email: account.email ?? "",
    email_verified: emailVerified,
    has_passkey: hasPasskey,
    setup_required: isInSetup({ role, emailVerified, hasPasskey }, hasRelay),
  };
}

import { Fault } from "@svc/proto";
import type { Deps } from "../deps.ts";
import type { MailQueue } from "../mail/queue.ts";
import type { RelyingParty } from "./relying-party.ts";

export type PasskeyDeps = Deps & { party: RelyingParty | undefined; mailQueue: MailQueue };

/** The relying party. Throws `passkey_unavailable` where there is none. */
export function getParty({ party }: Pick<PasskeyDeps, "party">): RelyingParty {
  if (!party) throw new Fault("passkey_unavailable");
  return party;
}

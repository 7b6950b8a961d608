import type { Handler } from "@svc/mesh";
import { type cliLogins, Fault } from "@svc/proto";
import { networkOf } from "../budget/network.ts";
import type { IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { mintBindCode } from "../link/code.ts";
import { takeTurn } from "../passkey/store.ts";
import { mintToken } from "../secret.ts";
import { countLive, insertCliLogin } from "./store.ts";

/** identity.cli-login.start: counted and added under one lock of the network, so that parallel calls cannot exceed the limit. */
export function createStart({ db, limits, now: clock }: Deps): Handler<typeof cliLogins.start> {
  return async ({ client }) => {
    const now = clock();
    const network = networkOf(client.address, 3);
    const secret = mintToken();
    const expiresAt = new Date(now.getTime() + limits.cli_login_ttl);
    const insert = async (trx: IdentityTrx): Promise<string> => {
      const code = mintBindCode();
      const isNew = await insertCliLogin(trx, { secret, code, network, client, now, expiresAt });
      return isNew ? code : insert(trx);
    };
    const code = await db.transaction().execute(async (trx) => {
      await takeTurn(trx, `cli login ${network}`);
      if ((await countLive(trx, { network, now })) >= limits.cli_logins_per_network)
        throw new Fault("too_many_challenges");
      return insert(trx);
    });
    return { secret, code, expires_at: expiresAt.toISOString() };
  };
}

// Sessions of SFTP (docs/reference/sftp.md#sign-in): an API token for whoever signed a connection with a key of an account.

import type { Handler } from "@svc/mesh";
import { Fault, type sshKeys } from "@svc/proto";
import { mintApiToken } from "@svc/proto/api-token";
import { lockLiveAccount } from "../account/store.ts";
import { insertToken } from "../api-token/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import { mintId, sha256 } from "../secret.ts";
import { readProof } from "./signed.ts";
import { deleteSession, endOldestSessions, findHolder, lockKey, recordKeyUse } from "./store.ts";

const rights = ["see", "files.read", "files.write"];

/**
 * identity.ssh-key.open-session: nothing tells an unknown key from a wrong signature or an account that is disabled. Whether
 * the account may do anything at the server is asked at each operation, as for every token.
 */
export function createOpenSession(deps: Deps): Handler<typeof sshKeys.openSession> {
  const { db, limits } = deps;
  return async (context, input) => {
    const { client_ip: address, client_software: userAgent } = input;
    const proof = readProof(Buffer.from(input.signed, "base64"), Buffer.from(input.signature, "base64"));
    if (!proof) throw new Fault("ssh_key_refused");
    const { server } = proof;
    const secret = mintApiToken();
    return db.transaction().execute(async (trx) => {
      const { fingerprint } = proof.key;
      const userId = await findHolder(trx, fingerprint);
      const account = userId === undefined ? undefined : await lockLiveAccount(trx, userId);
      const key = account && (await lockKey(trx, { userId: account.id, fingerprint }));
      if (!key) throw new Fault("ssh_key_refused");
      const [now, id] = [deps.now(), mintId()];
      await endOldestSessions(trx, { userId: account.id, keep: limits.ssh_sessions_per_account - 1, now });
      const token = await insertToken(trx, {
        ...{ id, user_id: account.id, name: key.name, token_hash: sha256(secret), ssh_key_id: key.id },
        ...{ rights, servers: [server], created_at: now },
        expires_at: new Date(now.getTime() + limits.ssh_session_ttl),
      });
      await recordKeyUse(trx, { id: key.id, now, address });
      const requester = { ...context, client: { address, userAgent } };
      const payload = { key: key.id, name: key.name, server, token: id };
      const about = { userId: account.id, username: account.username };
      await recordAudit(trx, requester, { action: "auth.sftp.login", payload, ...about });
      return { id, secret, user_id: account.id, server, expires_at: token.expires_at };
    });
  };
}

/** identity.ssh-key.close-session */
export function createCloseSession({ db, now }: Deps): Handler<typeof sshKeys.closeSession> {
  return async (_context, { id }) => {
    await db.transaction().execute((trx) => deleteSession(trx, { id, now: now() }));
    return null;
  };
}

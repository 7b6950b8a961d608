// A person's own SSH keys (docs/reference/sftp.md#keys).

import type { Handler } from "@svc/mesh";
import { Fault, type sshKeys } from "@svc/proto";
import { lockLiveAccount } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import { requireReauth } from "../fresh-proof/require.ts";
import { getAccount } from "../principal.ts";
import { mintId } from "../secret.ts";
import { type PublicKey, parseKeyLine } from "./key.ts";
import { countKeys, insertKey, listKeys, removeKeys } from "./store.ts";

/** identity.ssh-key.add */
export function createAddKey(deps: Deps): Handler<typeof sshKeys.add> {
  const { db, limits } = deps;
  return async (context, { name, public_key: line }) => {
    const { user_id: userId, session } = getAccount(context.principal);
    const parsed = readKey(line);
    const key = await db.transaction().execute(async (trx) => {
      const account = await lockLiveAccount(trx, userId);
      if (!account) throw new Fault("unauthorized");
      await requireReauth(deps, trx, { account, session });
      if ((await countKeys(trx, userId)) >= limits.ssh_keys_per_account) throw new Fault("ssh_key_limit");
      const added = await insertKey(trx, {
        id: mintId(),
        user_id: userId,
        name: name ?? nameOf(parsed),
        type: parsed.type,
        public_key: parsed.blob.toString("base64"),
        fingerprint: parsed.fingerprint,
        created_at: deps.now(),
      });
      if (!added) throw new Fault("ssh_key_taken");
      const { id: key, name: called, type, fingerprint } = added;
      const payload = { key, name: called, type, fingerprint };
      await recordAudit(trx, context, { action: "account.ssh-key.add", payload });
      return added;
    });
    return { key };
  };
}

function readKey(line: string): PublicKey & { comment: string } {
  const parsed = parseKeyLine(line);
  if (!("why" in parsed)) return parsed;
  throw new Fault("bad_ssh_key", { message: `The SSH key cannot be used: ${parsed.why}.` });
}

/** The comment as far as a name may be one; keys made without a comment are named after their type. */
function nameOf({ comment, type }: { comment: string; type: string }): string {
  const kept = comment.replace(/\p{Cc}/gu, "").trim();
  return [...kept].slice(0, 64).join("").trim() || type;
}

/** identity.ssh-key.list */
export function createListKeys({ db }: Deps): Handler<typeof sshKeys.list> {
  return async ({ principal }) => ({ keys: await listKeys(db, getAccount(principal).user_id) });
}

/** identity.ssh-key.remove: without a proof, so that a lost key can be removed from any session. */
export function createRemoveKey({ db, now }: Deps): Handler<typeof sshKeys.remove> {
  return async (context, { id }) => {
    const { user_id: userId } = getAccount(context.principal);
    await db.transaction().execute(async (trx) => {
      const [removed] = await removeKeys(trx, { userId, now: now(), only: id });
      if (!removed) throw new Fault("ssh_key_not_found");
      const { name, fingerprint } = removed;
      const payload = { key: id, name, fingerprint };
      await recordAudit(trx, context, { action: "account.ssh-key.remove", payload });
    });
    return null;
  };
}

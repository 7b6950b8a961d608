// Where SFTP is reached (docs/reference/sftp.md#endpoint), as the process itself says.

import type { Handler } from "@svc/mesh";
import type { sshKeys } from "@svc/proto";
import type { Deps } from "../deps.ts";

/** An endpoint that has been silent for this long is not shown. */
const silentMs = 180_000;

/** identity.ssh-key.announce-endpoint */
export function createAnnounceEndpoint({ db, now }: Deps): Handler<typeof sshKeys.announceEndpoint> {
  return async (_context, { host, port, fingerprint }) => {
    const row = { host, port, fingerprint, seen_at: now() };
    await db
      .insertInto("sftp_endpoint")
      .values({ id: 1, ...row })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
      .execute();
    return null;
  };
}

/** identity.ssh-key.read-endpoint */
export function createReadEndpoint({ db, now }: Deps): Handler<typeof sshKeys.readEndpoint> {
  return async () => {
    const endpoint = await db
      .selectFrom("sftp_endpoint")
      .select(["host", "port", "fingerprint"])
      .where("seen_at", ">", new Date(now().getTime() - silentMs))
      .executeTakeFirst();
    return { endpoint: endpoint ?? null };
  };
}

// Where SFTP is reached (docs/reference/sftp.md#door), as the process itself says.

import type { Handler } from "@svc/mesh";
import type { sshKeys } from "@svc/proto";
import type { Deps } from "../deps.ts";

/** A door that has been silent for this long is not shown. */
const silentMs = 180_000;

/** identity.ssh-key.announce-door */
export function createAnnounceDoor({ db, now }: Deps): Handler<typeof sshKeys.announceDoor> {
  return async (_context, { host, port, fingerprint }) => {
    const row = { host, port, fingerprint, seen_at: now() };
    await db
      .insertInto("sftp_door")
      .values({ id: 1, ...row })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
      .execute();
    return null;
  };
}

/** identity.ssh-key.read-door */
export function createReadDoor({ db, now }: Deps): Handler<typeof sshKeys.readDoor> {
  return async () => {
    const door = await db
      .selectFrom("sftp_door")
      .select(["host", "port", "fingerprint"])
      .where("seen_at", ">", new Date(now().getTime() - silentMs))
      .executeTakeFirst();
    return { door: door ?? null };
  };
}

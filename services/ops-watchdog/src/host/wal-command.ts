// What `svc db` asks about the archive of the log (docs/reference/database-backups.md#point-in-time).

import { z } from "zod";
import { ServerProgram } from "../wal/server.ts";

const folder = z.string().startsWith("/").max(4_096).optional();

export const WalCommand = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("wal-status") }),
  /** Makes a bundle of the state at a time; `from` is another folder of an archive. */
  z.strictObject({
    do: z.literal("recover"),
    at: z.iso.datetime(),
    from: folder,
    scratch: folder,
    program: ServerProgram,
  }),
]);
export type WalCommand = z.output<typeof WalCommand>;

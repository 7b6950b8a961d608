// Contracts of another owner, whose data the entries of a view copy.

import { type Operation, operation } from "@svc/proto";
import { z } from "zod";

/** Changes what entries of `keepers` copy. */
export const renameKeeper = operation({
  subject: "identity.keeper.rename",
  http: { method: "POST", path: "/keepers/{id}/rename", face: "external", tier: "app" },
  params: { id: z.string() },
  output: z.strictObject({ ok: z.literal(true) }),
  summary: "A test.",
  spec: "none",
});
export const keeperOperations: readonly Operation[] = [renameKeeper].filter(
  (one): one is typeof one & Operation => one.http !== undefined,
);

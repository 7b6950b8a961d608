// What `svc offsite` asks about keys (docs/reference/off-site.md#keys).

import { z } from "zod";

const path = z.string().startsWith("/").max(4_096);

export const KeyCommand = z.discriminatedUnion("do", [
  /** `out` is a file other than `offsite.key_file`; `rotate` keeps the keys that there are, as older ones. */
  z.strictObject({
    do: z.literal("offsite-keygen"),
    out: path.optional(),
    rotate: z.boolean(),
    apply: z.boolean(),
  }),
  z.strictObject({ do: z.literal("offsite-check-key") }),
  z.strictObject({ do: z.literal("offsite-recovery-sheet"), id: z.string().optional() }),
  /** `add` keeps the active key of the file and adds this one as an older one. */
  z.strictObject({
    do: z.literal("offsite-restore-key"),
    sheet: z.string().max(65_536),
    out: path.optional(),
    add: z.boolean(),
  }),
]);
export type KeyCommand = z.output<typeof KeyCommand>;

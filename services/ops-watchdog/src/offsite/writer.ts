// Which installation may write to the bucket (docs/reference/off-site.md#writer). Pure.
//
// | svc-writer names   | plan                                                              |
// |--------------------|-------------------------------------------------------------------|
// | nobody             | claim it, provided that nobody else did meanwhile                 |
// | this host          | renew it, provided that nobody took over meanwhile                |
// | another host       | stand by: nothing is sent or deleted until `svc offsite take-over`|
// | something unknown  | stand by: a newer version may have written it                     |

import { z } from "zod";

export const Writer = z.object({
  host_id: z.string().min(1).max(100),
  name: z.string().max(300),
  last_run_at: z.iso.datetime(),
});
export type Writer = z.output<typeof Writer>;

export type FoundWriter = { kind: "none" } | { kind: "unknown" } | { kind: "named"; writer: Writer };
export type WriterPlan = "claim" | "renew" | "stand-by";

export function parseWriter(text: string | undefined): FoundWriter {
  if (text === undefined) return { kind: "none" };
  try {
    return { kind: "named", writer: Writer.parse(JSON.parse(text)) };
  } catch {
    return { kind: "unknown" };
  }
}

export function decideWriter(found: FoundWriter, hostId: string): WriterPlan {
  if (found.kind === "none") return "claim";
  return found.kind === "named" && found.writer.host_id === hostId ? "renew" : "stand-by";
}

/** Another installation writes to the bucket. */
export class StandbyError extends Error {
  override name = "StandbyError";
  readonly writer: Writer | undefined;

  constructor(found: FoundWriter) {
    const writer = found.kind === "named" ? found.writer : undefined;
    super(
      writer
        ? `${writer.name} (host ${writer.host_id}) writes to this bucket, last at ${writer.last_run_at}; \`svc offsite take-over\` makes this host the writer`
        : `the object svc-writer cannot be read; \`svc offsite take-over\` makes this host the writer`,
    );
    this.writer = writer;
  }
}

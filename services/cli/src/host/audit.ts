import { resolve } from "node:path";
import { callerDir } from "../config.ts";
import type { Outcome } from "../output.ts";
import { momentOf } from "../time.ts";
import { askIdentity } from "./identity.ts";

type ExportOptions = { data: string; since?: string; until?: string; out: string };

/** Writes the audit log of a span as JSON lines to a new file. */
export async function exportAudit(options: ExportOptions): Promise<Outcome> {
  const { since, until } = options;
  const command = {
    do: "export-audit",
    out: resolve(callerDir, options.out),
    ...(since !== undefined && { since: momentOf(since, "--since").toISOString() }),
    ...(until !== undefined && { until: momentOf(until, "--until").toISOString() }),
  };
  const answer = await askIdentity<{ entries: number; file: string }>(options.data, command);
  return { json: answer, text: `${answer.entries} entries are in ${answer.file}.` };
}

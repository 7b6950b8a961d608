// Whether the scanner's database is good enough to trust a report (docs/reference/builds.md#scan).

import { z } from "zod";
import { unreadable } from "./report.ts";

type Need = { need: "required" | "optional"; max_age_ms: number };

const DatabaseFile = z.object({ updated_at: z.iso.datetime({ offset: true }) });

/** When the database was made; undefined when the scan had none, which only `optional` allows. Throws `StepFailure`. */
export function checkDatabase(
  file: Buffer | undefined,
  { need, max_age_ms }: Need,
  now: Date,
): Date | undefined {
  const madeAt = file && dateOf(file);
  if (madeAt !== undefined && now.getTime() - madeAt.getTime() <= max_age_ms) return madeAt;
  if (need === "optional") return madeAt;
  if (madeAt === undefined)
    throw unreadable("the scan had no database of vulnerabilities, so the image is not judged");
  const days = Math.floor((now.getTime() - madeAt.getTime()) / 86_400_000);
  throw unreadable(
    `the scanner's database of vulnerabilities is ${days} days old, so the image is not judged`,
  );
}

function dateOf(file: Buffer): Date | undefined {
  try {
    return new Date(DatabaseFile.parse(JSON.parse(file.toString("utf8"))).updated_at);
  } catch {
    return undefined;
  }
}

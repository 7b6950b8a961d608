// The step `scan-gate`: decides on the report, sends the documents, prints the verdict.

import { join } from "node:path";
import * as buildJobs from "@svc/proto/build-job";
import * as scans from "@svc/proto/scan";
import type { Settings } from "../config.ts";
import { lineOf, StepFailure } from "../failure.ts";
import { openImageArchive } from "../image/archive.ts";
import { readBounded } from "../read-bounded.ts";
import type { StepContext } from "../step.ts";
import { checkDatabase } from "./database.ts";
import { sendDocuments } from "./documents.ts";
import { decideVerdict } from "./policy.ts";
import { parseReport, unreadable } from "./report.ts";

const { buildFiles, verdictMark } = buildJobs;
const databaseBytes = 64 << 10;
type Program = scans.Program;

export async function runScanGate(
  settings: Settings,
  { say, signal, limits }: StepContext,
): Promise<undefined> {
  const { task, folder } = settings;
  const at = (file: string) => join(folder("reports"), file);
  const imageId = await imageIdOf(join(folder("image"), buildFiles.imageTar));
  const bytes = await readBounded(at(buildFiles.report), limits.reportBytes).catch((cause: Error) => {
    throw unreadable(`the report of the scan can't be read: ${cause.message}`, cause);
  });
  const report = parseReport(bytes, imageId);
  const database = await readBounded(at(buildFiles.database), databaseBytes).catch(() => undefined);
  const now = new Date();
  const databaseAt = checkDatabase(database, task.database, now);
  if (databaseAt === undefined)
    say("the scan had no database of vulnerabilities; only secrets were looked for");
  const decided = decideVerdict(report, task.policy, now);
  const sbom = await readBounded(at(buildFiles.sbom), limits.reportBytes).catch(() => undefined);
  const token = settings.secret("secret", buildFiles.documentsToken) ?? "";
  const destination = { url: task.documents_url, token, forMs: limits.documentsMs, say, signal };
  const scanner = await scannerOf(at(buildFiles.scanner));
  const omitted = await sendDocuments({ report: bytes, sbom }, destination);
  const verdict: buildJobs.Verdict = {
    scanned_at: now.toISOString(),
    summary: {
      ...decided,
      ...(omitted.length > 0 && { omitted }),
      ...scanner,
      ...(databaseAt && { database_at: databaseAt.toISOString() }),
    },
  };
  say(`${verdictMark}${JSON.stringify(verdict)}`);
  if (decided.blocked) throw new StepFailure(blockedLine(decided));
  return undefined;
}

/** A record for people; the verdict rests on the report alone. */
async function scannerOf(path: string): Promise<{ scanner?: Program }> {
  try {
    const text = (await readBounded(path, databaseBytes)).toString("utf8");
    return { scanner: scans.Program.parse(JSON.parse(text)) };
  } catch {
    return {};
  }
}

async function imageIdOf(path: string): Promise<string> {
  try {
    await using image = await openImageArchive(path);
    return image.manifest.config.digest;
  } catch (cause) {
    throw unreadable(`the built image can't be read: ${(cause as Error).message}`, cause);
  }
}

/** `the scan blocked the image: 1 CRITICAL, 2 HIGH (CVE-2024-1, CVE-2024-2)` */
function blockedLine({ blocking_counts, findings }: ReturnType<typeof decideVerdict>): string {
  const counts = Object.entries(blocking_counts).map(([severity, count]) => `${count} ${severity}`);
  const ids = new Set(findings.filter(({ blocking }) => blocking).map(({ id }) => id));
  const named = [...ids].slice(0, 20);
  const more = ids.size > named.length ? ", …" : "";
  return lineOf(`the scan blocked the image: ${counts.join(", ")} (${named.join(", ")}${more})`);
}

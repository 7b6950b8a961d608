// The part of a Trivy report that the gate reads. A report of another shape is unreadable, never empty.

import * as scans from "@svc/proto/scan";
import { z } from "zod";
import { StepFailure, unreadableExit } from "../failure.ts";

/** A severity that nobody knows counts as the one that scanners use for it. */
const Severity = scans.Severity.catch("UNKNOWN");
const text = z.string().default("");

const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);

export const Report = z.object({
  SchemaVersion: z.literal(2),
  ArtifactType: z.literal("container_image"),
  Metadata: z.object({ ImageID: z.string() }),
  Results: list(
    z.object({
      Target: text,
      Packages: list(z.object({})),
      Vulnerabilities: list(
        z.object({
          VulnerabilityID: z.string().min(1),
          PkgName: text,
          InstalledVersion: text,
          FixedVersion: text,
          Severity,
          Title: text,
        }),
      ),
      Secrets: list(z.object({ RuleID: z.string().min(1), Severity, Title: text })),
    }),
  ),
});
export type Report = z.output<typeof Report>;

/** Throws `StepFailure` for whatever is not the report of this image. */
export function parseReport(bytes: Buffer, imageId: string): Report {
  const report = Report.safeParse(jsonOf(bytes));
  if (!report.success)
    throw unreadable(`the report of the scan is invalid: ${z.prettifyError(report.error).split("\n")[0]}`);
  const { ImageID } = report.data.Metadata;
  if (ImageID !== imageId)
    throw unreadable(`the report of the scan is of another image: ${ImageID}, not ${imageId}`);
  return report.data;
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw unreadable("the report of the scan is cut or no JSON", cause);
  }
}

export function unreadable(message: string, cause?: unknown): StepFailure {
  return new StepFailure(message, { exitCode: unreadableExit, cause });
}

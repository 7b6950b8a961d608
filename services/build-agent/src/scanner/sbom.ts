// The step `sbom`: the report as CycloneDX. A failure loses the SBOM and nothing else.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as buildJobs from "@svc/proto/build-job";
import type { Settings } from "../config.ts";
import type { StepContext } from "../step.ts";
import { openTrivy } from "./trivy.ts";

const { buildFiles } = buildJobs;

export async function convertToSbom(settings: Settings, context: StepContext): Promise<undefined> {
  const at = (file: string) => join(settings.folder("reports"), file);
  try {
    const trivy = await openTrivy(settings, context);
    const output = ["--format", "cyclonedx", "--output", at(buildFiles.sbom)];
    await trivy.run(["convert", ...output, at(buildFiles.report)]);
    await rm(trivy.work, { recursive: true, force: true });
  } catch (error) {
    context.signal.throwIfAborted();
    // What is there may be half of one.
    await rm(at(buildFiles.sbom), { force: true });
    context.say(`there is no SBOM: ${(error as Error).message}`);
  }
  return undefined;
}

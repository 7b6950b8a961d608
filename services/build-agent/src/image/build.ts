// The step `build`: the context becomes an image archive. Two builders keep the same contract: `assemble` executes nothing
// of the context, `buildah` executes RUN lines in a chroot (docs/reference/builds.md#builders).

import type * as buildJobs from "@svc/proto/build-job";
import { assemble } from "../assemble/assemble.ts";
import type { Settings } from "../config.ts";
import { StepFailure } from "../failure.ts";
import type { StepContext } from "../step.ts";
import { readBases } from "./bases.ts";
import { buildWithBuildah } from "./buildah.ts";

/** Returns a `BuildResult`. */
export async function buildImage(settings: Settings, context: StepContext): Promise<string> {
  // Read first: a base that moves during the build counts as moved.
  const bases = await readBases(settings, context);
  await runBuilder(settings, context);
  return JSON.stringify({ bases } satisfies buildJobs.BuildResult);
}

async function runBuilder(settings: Settings, context: StepContext): Promise<undefined> {
  const builder = settings.env["SVC_BUILDER"] || "assemble";
  if (builder === "assemble") return await assemble(settings, context);
  if (builder === "buildah" || builder.startsWith("/"))
    return await buildWithBuildah(settings, context, builder);
  throw new StepFailure(`SVC_BUILDER is ${builder}; it must be assemble, buildah or the path of a buildah`);
}

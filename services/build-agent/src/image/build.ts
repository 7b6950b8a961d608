// The step `build`: the context becomes an image archive. Two builders keep the same contract: `assemble` executes nothing
// of the context, `buildah` executes RUN lines in a chroot (docs/reference/builds.md#builders).

import type * as buildJobs from "@svc/proto/build-job";
import { assemble } from "../assemble/assemble.ts";
import type { Settings } from "../config.ts";
import { StepFailure } from "../failure.ts";
import type { StepContext } from "../step.ts";
import { versionOf } from "../version-of.ts";
import { readBases } from "./bases.ts";
import { buildWithBuildah } from "./buildah.ts";

type Program = NonNullable<buildJobs.BuildResult["builder"]>;

/** Returns a `BuildResult`. */
export async function buildImage(settings: Settings, context: StepContext): Promise<string> {
  // For a builds of the release before, which takes them from here.
  const bases = await readBases(settings, context);
  const builder = await runBuilder(settings, context);
  return JSON.stringify({ bases, builder } satisfies buildJobs.BuildResult);
}

/** Returns what built the image. */
async function runBuilder(settings: Settings, context: StepContext): Promise<Program> {
  const builder = settings.env["SVC_BUILDER"] || "assemble";
  if (builder === "assemble") {
    await assemble(settings, context);
    return { name: builder, version: settings.version };
  }
  if (builder === "buildah" || builder.startsWith("/")) {
    await buildWithBuildah(settings, context, builder);
    return {
      name: "buildah",
      version: await versionOf(builder, ["--version"], { PATH: settings.env["PATH"] ?? "" }),
    };
  }
  throw new StepFailure(`SVC_BUILDER is ${builder}; it must be assemble, buildah or the path of a buildah`);
}

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
  // For a builds of the release before, which takes them from here; later ones take them from `context-fetch`.
  const bases = await readBases(settings, context);
  const builder = await describeBuilder(settings);
  await runBuilder(settings, context);
  return JSON.stringify({ bases, ...(builder && { builder }) } satisfies buildJobs.BuildResult);
}

async function runBuilder(settings: Settings, context: StepContext): Promise<void> {
  const builder = nameOf(settings);
  if (builder === "assemble") return assemble(settings, context);
  if (isBuildah(builder)) await buildWithBuildah(settings, context, builder);
  else
    throw new StepFailure(`SVC_BUILDER is ${builder}; it must be assemble, buildah or the path of a buildah`);
}

const nameOf = ({ env }: Settings) => env["SVC_BUILDER"] || "assemble";
const isBuildah = (builder: string) => builder === "buildah" || builder.startsWith("/");

/** What this image builds with; undefined for a builder that nobody knows. */
export async function describeBuilder(settings: Settings): Promise<Program | undefined> {
  const builder = nameOf(settings);
  if (builder === "assemble") return { name: builder, version: settings.version };
  if (!isBuildah(builder)) return undefined;
  const version = await versionOf(builder, ["--version"], { PATH: settings.env["PATH"] ?? "" });
  return { name: "buildah", version };
}

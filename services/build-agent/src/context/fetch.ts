// The step `context-fetch`: fetches the context, unpacks it, and fails unless its bytes are those that were approved.

import { createHash } from "node:crypto";
import * as buildJobs from "@svc/proto/build-job";
import { Folder, fetchStream, isWorldFault, unpackContext } from "@svc/world";
import { limitsOf, type Settings } from "../config.ts";
import { StepFailure } from "../failure.ts";
import type { StepContext } from "../step.ts";

const { buildFiles } = buildJobs;

export async function fetchContext(
  settings: Settings,
  { say, signal, limits }: StepContext,
): Promise<undefined> {
  const { task } = settings;
  const token = settings.secret("caller", buildFiles.callerToken) ?? "";
  const hash = createHash("sha256");
  let bytes = 0;
  const fetched = async function* () {
    const target = { url: task.context_url, token, stallMs: limits.stallMs };
    for await (const chunk of fetchStream(target)) {
      signal.throwIfAborted();
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  await using root = await Folder.openRoot(settings.folder("context"));
  const most = limitsOf(task);
  const { entries, skipped } = await unpackContext(fetched(), root, most).catch((error: unknown) => {
    if (isWorldFault(error))
      throw new StepFailure(`the context is rejected: ${error.message}`, { cause: error });
    throw error;
  });
  const digest = hash.digest("hex");
  if (task.context_digest !== undefined && digest !== task.context_digest)
    throw new StepFailure(
      `the context has the digest ${digest}, not ${task.context_digest} that was approved`,
    );
  say(`fetched ${bytes} bytes, unpacked ${entries} entries, skipped ${skipped} devices and pipes`);
  return undefined;
}

// The step `context-fetch`: fetches the context, unpacks it, and fails unless its bytes are those that were approved.

import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as buildJobs from "@svc/proto/build-job";
import { Folder, fetchStream, isWorldFault, TransferRefused, unpackContext } from "@svc/world";
import { limitsOf, type Settings } from "../config.ts";
import { StepFailure } from "../failure.ts";
import { readBases } from "../image/bases.ts";
import { describeBuilder } from "../image/build.ts";
import type { StepContext } from "../step.ts";
import { downloadAll } from "./downloads.ts";

const { buildFiles } = buildJobs;

const firstPauseMs = 250;
const longestPauseMs = 10_000;

/** Returns a `ContextResult`. */
export async function fetchContext(settings: Settings, context: StepContext): Promise<string> {
  const context_digest = await fetchWhole(settings, context);
  const { downloads } = settings.task;
  if (downloads) {
    await using root = await Folder.openRoot(settings.folder("context"));
    context.say(await downloadAll(root, downloads, context));
  }
  // Read before the build: a base that moves during it counts as moved.
  const bases = await readBases(settings, context);
  const builder = await describeBuilder(settings);
  const result: buildJobs.ContextResult = { context_digest, bases, ...(builder && { builder }) };
  return JSON.stringify(result);
}

/** Tries again while the context is unavailable. Returns its digest. */
async function fetchWhole(settings: Settings, context: StepContext): Promise<string> {
  const { say, signal, limits } = context;
  const endAt = performance.now() + limits.retryMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await fetchOnce(settings, context);
    } catch (error) {
      signal.throwIfAborted();
      if (!isWorldFault(error, "transfer_failed")) throw error;
      const { message } = error;
      if (isFinal(error)) throw new StepFailure(`the context can't be fetched: ${message}`, { cause: error });
      if (performance.now() + pauseMs > endAt) {
        throw new StepFailure(`the context is unavailable; retry the build later. ${message}`, {
          cause: error,
        });
      }
      say(`the context is unavailable; retrying. ${message}`);
      await delay(pauseMs, undefined, { signal });
      await removeAllIn(settings.folder("context"));
    }
  }
}

/** Asking again would have the same answer. */
function isFinal(error: Error): boolean {
  return error instanceof TransferRefused && error.status < 500 && error.status !== 429;
}

async function removeAllIn(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}

/** Returns the digest of what was fetched, in hex. */
async function fetchOnce(settings: Settings, { say, signal, limits }: StepContext): Promise<string> {
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
    if (isWorldFault(error) && error.fault.code !== "transfer_failed")
      throw new StepFailure(`the context is rejected: ${error.message}`, { cause: error });
    throw error;
  });
  const digest = hash.digest("hex");
  if (task.context_digest !== undefined && digest !== task.context_digest)
    throw new StepFailure(
      `the context has the digest ${digest}, not ${task.context_digest} that was approved`,
    );
  say(`fetched ${bytes} bytes, unpacked ${entries} entries, skipped ${skipped} devices and pipes`);
  return digest;
}

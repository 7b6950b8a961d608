// Which images of the platform's registry a Dockerfile names, and what their tags name now: a record that says later
// whether a base has moved (docs/reference/builds.md#bases).

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type * as buildJobs from "@svc/proto/build-job";
import { openRegistry, parseReference } from "@svc/registry";
import type { Settings } from "../config.ts";
import type { StepContext } from "../step.ts";

type Base = buildJobs.BuildResult["bases"][number];

/** A termination message has at most 4 KiB. */
const mostBases = 8;
const longestRef = 300;
/** A registry that is slow is the builder's to wait for. */
const answerMs = 5_000;

/** Those that the registry lacks are left out; none when it can't be asked. */
export async function readBases({ task, folder }: Settings, { say, signal }: StepContext): Promise<Base[]> {
  const text = await readFile(join(folder("context"), "Dockerfile"), "utf8").catch(() => "");
  const registry = openRegistry({
    host: task.registry.host,
    plainHttp: task.registry.plain_http,
    timeoutMs: answerMs,
  });
  const bases: Base[] = [];
  for (const image_ref of basesIn(text, task.registry.host)) {
    const { path, tag = "latest", digest } = parseReference(image_ref) ?? { path: "" };
    try {
      const named = await registry.headManifest(path, digest ?? tag, signal);
      if (named) bases.push({ image_ref, digest: named.digest });
    } catch (error) {
      signal.throwIfAborted();
      say(`the digests of bases are not recorded: ${(error as Error).message}`);
      return [];
    }
  }
  return bases;
}

/** Images of the registry by their first FROM; names with variables and stages of the Dockerfile itself are none. */
export function basesIn(dockerfile: string, host: string): string[] {
  const found = new Set<string>();
  for (const line of dockerfile.split("\n")) {
    const [, name = ""] = /^\s*FROM\s+(?:--\S+\s+)*(\S+)/i.exec(line) ?? [];
    if (name.length <= longestRef && parseReference(name)?.host === host) found.add(name);
  }
  return [...found].slice(0, mostBases);
}

// Lane `docker`: the registry with its gate, and an image that was built of a player's pack, as containers.

import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { defaultCacheDirs, findDockerRegistry, findTrivy } from "@svc/local-stack";
import { passApart, reasonToSkip } from "./own-machine.ts";

const skip = reasonToSkip();
const repo = resolve(import.meta.dirname, "../..");

/** There is no way to them from inside. */
async function fetchPrograms(): Promise<void> {
  const { env } = process;
  const cacheDirs = defaultCacheDirs(env, repo);
  await findDockerRegistry({ env, cacheDirs, progress: () => undefined });
  if ((await findTrivy({ env, cacheDirs })) !== undefined) return;
  const program = join(repo, "libs/local-stack/src/trivy/main.ts");
  execFileSync(process.execPath, [program, env["HOME"] ?? "/", cacheDirs[0] ?? "", "--version"]);
}

test("a pack is built, scanned and pushed to a registry in a container, and its image runs as one", {
  skip,
}, async (context) => {
  await fetchPrograms();
  await passApart(context, "built-image-inside.ts");
});

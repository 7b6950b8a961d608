// Bundles the programs that tests start dozens of times.

import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { bundleName } from "@svc/config/test-program";
import { buildPrograms } from "../../libs/local-stack/src/program/bundle.ts";
import { findCurrentBuild } from "../../libs/local-stack/src/program/find.ts";

const folderName = "test-programs";
const patterns = [
  "libs/local-cluster/src/main.ts",
  "services/identity/src/host/main.ts",
  "services/{cli,gateway-*,ops-watchdog,lifecycle,storage,world-agent}/src/main.ts",
  "services/*/src/testing/{host-main,killed-*,pausing-agent,step-gate,step-program}.ts",
];

/** Bundles the programs for `testProgram`, unless no source has changed since; returns their folder. */
export async function buildTestPrograms(repo: string): Promise<string> {
  const names = globSync(patterns, { cwd: repo }).map((source) => [bundleName(source), source] as const);
  const current = findCurrentBuild(repo, folderName);
  if (current !== undefined && names.every(([name]) => existsSync(join(current, `${name}.mjs`))))
    return current;
  return buildPrograms({ repo, sources: Object.fromEntries(names), folderName });
}

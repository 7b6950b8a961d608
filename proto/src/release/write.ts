// npm run released: writes the contracts of this build as those of the last release. With --check it says what builds of that
// release would not understand of this one (docs/reference/mesh.md#versions).

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { accepted } from "./accepted.ts";
import { breaks } from "./compare.ts";
import { type Release, snapshot, snapshotText } from "./snapshot.ts";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const file = path("../../released.json");
const { version } = JSON.parse(readFileSync(path("../../package.json"), "utf8")) as { version: string };

/** What is not accepted yet, and what is accepted and does not happen (any more). */
export function check(): { refused: string[]; stale: string[] } {
  const old = JSON.parse(readFileSync(file, "utf8")) as Release;
  const found = breaks(old, snapshot(version));
  return {
    refused: found.filter((one) => accepted[one] === undefined),
    stale: Object.keys(accepted).filter((one) => !found.includes(one)),
  };
}

if (import.meta.main) {
  if (!process.argv.includes("--check")) {
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: path("."), encoding: "utf8" }).trim();
    writeFileSync(file, snapshotText(snapshot(version), commit));
    process.stdout.write(`${file} is written.\n`);
  } else {
    const { refused, stale } = check();
    for (const one of refused) process.stderr.write(`${one}\n`);
    for (const one of stale) process.stderr.write(`proto/src/release/accepted.ts: does not happen: ${one}\n`);
    if (refused.length + stale.length > 0) {
      process.stderr.write(
        "Builds of the last release run beside this one during an upgrade; see CONTRIBUTING.md#compatibility.\n",
      );
      process.exitCode = 1;
    }
  }
}

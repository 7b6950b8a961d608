// Another build of the panel, served instead of the one that the pages were loaded from: what a deployment does.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pointLink } from "../../services/panel/build/build.ts";
import type { Stack } from "../flow/stack.ts";

/** Serves a build with another first script; what comes back takes it away again. */
export function deployAnotherBuild(stack: Stack): () => void {
  const link = join(stack.dataDir, "panel");
  const build = realpathSync(link);
  const folder = mkdtempSync(join(tmpdir(), "svc-panel-"));
  cpSync(build, folder, { recursive: true });
  const document = readFileSync(join(folder, "index.html"), "utf8");
  const [, script = ""] = /src="\/assets\/(index-[^"]+\.js)"/.exec(document) ?? [];
  assert.notEqual(script, "", "the document names a first script");
  // Its other parts import the first script by its name.
  writeFileSync(join(folder, "assets", `next-${script}`), `import "./${script}";\n`);
  const next = document.replace(`src="/assets/${script}"`, `src="/assets/next-${script}"`);
  writeFileSync(join(folder, "index.html"), next);
  pointLink(link, folder);
  // The gateway reads the build when it starts.
  stack.kill("gateway-external");
  return () => {
    pointLink(link, build);
    rmSync(folder, { recursive: true, force: true });
  };
}

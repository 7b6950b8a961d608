// Writes the generated pages of docs/reference; with --check it only says which are not current.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { alertRulesPage } from "./alert-rules.ts";
import { errorsPage } from "./errors.ts";
import { meshPage } from "./mesh.ts";
import { metricsPage } from "./metrics.ts";
import { operationsPage } from "./operations.ts";
import type { Page } from "./page.ts";
import { settingsPage } from "./settings.ts";

const folder = join(import.meta.dirname, "../reference");
const pages: readonly Page[] = [
  errorsPage(),
  operationsPage(),
  meshPage(),
  settingsPage(),
  metricsPage(),
  alertRulesPage(),
];

function isCurrent({ file, text }: Page): boolean {
  try {
    return readFileSync(join(folder, file), "utf8") === text;
  } catch {
    return false;
  }
}

const stale = pages.filter((page) => !isCurrent(page));
const names = stale.map(({ file }) => `docs/reference/${file}`).join(", ");
if (!process.argv.includes("--check")) {
  for (const { file, text } of stale) writeFileSync(join(folder, file), text);
  process.stdout.write(stale.length === 0 ? "docs/reference is current.\n" : `Written: ${names}.\n`);
} else if (stale.length > 0) {
  process.stderr.write(`${names}: not current; run \`npm run reference\` and commit.\n`);
  process.exitCode = 1;
}

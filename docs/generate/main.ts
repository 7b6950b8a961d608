// Writes the generated pages of docs/reference and the dashboards; with --check it only says which are not current.

import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { serverFiles } from "@svc/proto";
import { alertRulesPage } from "./alert-rules.ts";
import { dashboards } from "./dashboards/all.ts";
import { toGrafana } from "./dashboards/grafana.ts";
import { errorsPage } from "./errors.ts";
import { meshPage } from "./mesh.ts";
import { metricsPage } from "./metrics.ts";
import { operationsPage } from "./operations.ts";
import type { Page } from "./page.ts";
import { settingsPage } from "./settings.ts";
import { valuesPage } from "./values.ts";

const root = resolve(import.meta.dirname, "../..");
const pages = [
  errorsPage(),
  operationsPage(),
  meshPage(),
  settingsPage(),
  metricsPage(),
  alertRulesPage(),
  valuesPage(),
];
/** Paths from the root. */
const files: readonly Page[] = [
  ...pages.map(({ file, text }) => ({ file: `docs/reference/${file}`, text })),
  { file: "docs/reference/server-file.schema.json", text: jsonOf(serverFiles.serverFileSchema()) },
  ...dashboards.map((one) => ({ file: `deploy/dashboards/${one.name}.json`, text: toGrafana(one) })),
];

function jsonOf(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function isCurrent({ file, text }: Page): boolean {
  try {
    return readFileSync(join(root, file), "utf8") === text;
  } catch {
    return false;
  }
}

const stale = files.filter((file) => !isCurrent(file));
const names = stale.map(({ file }) => file).join(", ");
if (!process.argv.includes("--check")) {
  for (const { file, text } of stale) writeFileSync(join(root, file), text);
  process.stdout.write(stale.length === 0 ? "All is current.\n" : `Written: ${names}.\n`);
} else if (stale.length > 0) {
  process.stderr.write(`${names}: not current; run \`npm run reference\` and commit.\n`);
  process.exitCode = 1;
}

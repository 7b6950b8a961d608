// Writes deploy/kubernetes and deploy/chart; with --check it only says which files are not current.

import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { buildVersion } from "../config.ts";
import { chartFiles } from "./chart/files.ts";
import { baseFiles, overlayFiles } from "./kustomize/files.ts";
import { readValues } from "./values/read.ts";

const deploy = resolve(import.meta.dirname, "../../../../deploy");
const overlays = ["single-node", "ha", "external-postgres-nats"];

function under(folder: string, files: Record<string, string>): [string, string][] {
  return Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]);
}

function wantedFiles(): Map<string, string> {
  const base = readValues();
  return new Map([
    ...under("kubernetes", baseFiles(base)),
    ...overlays.flatMap((name) => {
      const values = readValues(join(deploy, `values/${name}.yaml`));
      return under(`kubernetes/overlays/${name}`, overlayFiles(base, values));
    }),
    ...under("chart", chartFiles(buildVersion)),
  ]);
}

function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

const wanted = wantedFiles();
const present = globSync(["kubernetes/**/*.*", "chart/**/*.*"], { cwd: deploy });
const extra = present.filter((file) => !wanted.has(file));
const stale = [...wanted].filter(([file, text]) => readOrNothing(join(deploy, file)) !== text);
const names = [...stale.map(([file]) => file), ...extra].map((file) => `deploy/${file}`).join(", ");
if (process.argv.includes("--check")) {
  if (names !== "") {
    process.stderr.write(`${names}: not current; run \`npm run manifests\` and commit.\n`);
    process.exitCode = 1;
  }
} else {
  for (const file of extra) rmSync(join(deploy, file));
  for (const [file, text] of stale) {
    mkdirSync(dirname(join(deploy, file)), { recursive: true });
    writeFileSync(join(deploy, file), text);
  }
  process.stdout.write(names === "" ? "deploy is current.\n" : `Written: ${names}.\n`);
}

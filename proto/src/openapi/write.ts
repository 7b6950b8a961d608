// Writes docs/openapi.json; with --check it only says whether the file is current.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { openApiDocument } from "./document.ts";

const file = fileURLToPath(new URL("../../../docs/openapi.json", import.meta.url));
const text = `${JSON.stringify(openApiDocument(), null, 2)}\n`;

function current(): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

if (!process.argv.includes("--check")) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`${file} is written.\n`);
} else if (current() !== text) {
  process.stderr.write("docs/openapi.json is not current; run `npm run openapi` and commit it.\n");
  process.exitCode = 1;
}

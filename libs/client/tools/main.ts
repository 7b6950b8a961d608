// `npm run client -- --pack DIR` packs the published client.

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { packInto } from "./build.ts";

const { values } = parseArgs({ options: { pack: { type: "string" }, repository: { type: "string" } } });
if (values.pack === undefined) {
  process.stderr.write("Usage: npm run client -- --pack DIR [--repository URL]\n");
  process.exitCode = 2;
} else {
  const file = packInto(resolve(process.env["INIT_CWD"] ?? process.cwd(), values.pack), values.repository);
  process.stdout.write(`${file}\n`);
}

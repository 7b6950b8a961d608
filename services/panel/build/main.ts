// Builds the panel, or serves it for development.
//   build [--link PATH]   into node_modules/.cache/panel/<digest>; the link is made to point there
//   build --out FOLDER    into a folder, for an image
//   dev [--data DIR]      before the running stack of a data folder

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildInto, ensureBuilt, pointLink } from "./build.ts";

const repo = resolve(import.meta.dirname, "../../..");
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { link: { type: "string" }, out: { type: "string" }, data: { type: "string" } },
});
const [command = "build"] = positionals;

if (command === "dev") {
  const { serveForDevelopment } = await import("./dev-server.ts");
  await serveForDevelopment(resolve(repo, values.data ?? ".svc"));
} else if (values.out !== undefined) await buildInto(resolve(values.out));
else {
  const started = performance.now();
  const folder = await ensureBuilt(repo);
  if (values.link !== undefined) pointLink(resolve(values.link), folder);
  console.log(`${folder} (${Math.round(performance.now() - started)} ms)`);
}

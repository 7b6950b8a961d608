// An image that an operator offers as the base of packs: the demo server with all that it runs on, and nothing else.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join as at, dirname, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { startProcess } from "../../services/demo-server/src/testing/process.ts";
import { join } from "../flow/player.ts";
import type { Docker } from "./daemon.ts";
import { baseImage } from "./images.ts";
import type { Inside } from "./own-machine.ts";

const repo = resolve(import.meta.dirname, "../..");
const program = "services/demo-server/src/main.ts";

const listLoaded = `import { registerHooks } from "node:module";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
const loaded = new Set();
registerHooks({ load: (url, context, next) => { if (url.startsWith("file:")) loaded.add(fileURLToPath(url)); return next(url, context); } });
process.on("exit", () => writeFileSync(process.env.LOADED, JSON.stringify([...loaded])));
`;

/** What the demo server loads until a player has joined, and the descriptions of those packages: a tenth of what is installed. */
async function filesOfServer(dir: string): Promise<string[]> {
  const [hook, list, data] = ["hook.mjs", "loaded.json", "data"].map((name) => at(dir, name));
  mkdirSync(data ?? "");
  writeFileSync(hook ?? "", listLoaded);
  const NODE_OPTIONS = `--import=${pathToFileURL(hook ?? "")}`;
  await using server = await startProcess(data ?? "", { NODE_OPTIONS, LOADED: list });
  const { gamePort } = await server.ready();
  await (await join(`127.0.0.1:${gamePort}`, "scout")).leave();
  server.child.kill("SIGTERM");
  await server.exited;
  const loaded = JSON.parse(readFileSync(list ?? "", "utf8")) as string[];
  const all = new Set(loaded.filter((path) => path.startsWith(`${repo}/`)));
  for (const path of [...all])
    for (let folder = dirname(path); folder !== repo; folder = dirname(folder))
      if (existsSync(at(folder, "package.json"))) all.add(at(folder, "package.json"));
  return [...all].map((path) => relative(repo, path));
}

const dockerfile = `FROM ${baseImage} AS node
RUN install -d -o node -g node /out/data \\
 && cp --parents --dereference /usr/local/bin/node $(ldd /usr/local/bin/node | grep -o '/[^ ]*') /out
FROM scratch
COPY --from=node /out /
COPY files /opt/svc
ENV POD_IP=0.0.0.0
WORKDIR /opt/svc
USER 1000:1000
EXPOSE 25565
ENTRYPOINT ["/usr/local/bin/node", "${program}"]
`;

export async function makeGameImage(docker: Docker, { dir }: Inside, tag: string): Promise<void> {
  const context = at(dir, "game-image");
  mkdirSync(context);
  for (const path of await filesOfServer(context)) {
    const to = at(context, "files", path);
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(at(repo, path), to);
  }
  // Packages of this repository are links in its folder of packages.
  const [links, copied] = [at(repo, "node_modules/@svc"), at(context, "files/node_modules/@svc")];
  mkdirSync(copied, { recursive: true });
  for (const name of readdirSync(links)) symlinkSync(readlinkSync(at(links, name)), at(copied, name));
  writeFileSync(at(context, "Dockerfile"), dockerfile);
  await docker.build(tag, [context]);
}

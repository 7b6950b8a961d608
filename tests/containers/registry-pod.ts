// The pod of deploy/kubernetes/base/registry.yaml as two containers of one network: the registry, and its gate, which runs from
// this checkout.

import { chownSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { defaultCacheDirs, findDockerRegistry } from "@svc/local-stack";
import { GenericContainer, Wait } from "testcontainers";
import { parseAllDocuments } from "yaml";
import type { Docker } from "./daemon.ts";
import { baseImage } from "./images.ts";
import type { Inside } from "./own-machine.ts";

const repo = resolve(import.meta.dirname, "../..");
const image = "svc-test/registry:2";
/** As pods have it. */
const user = 1000;

/** Of the gate's users. */
export const passwords = { platform: "p".repeat(24), build: "b".repeat(24), prune: "d".repeat(24) };

type Container = {
  name: string;
  command?: string[];
  args?: string[];
  env: { name: string; value?: string }[];
};
type Manifest = {
  kind: string;
  data?: Record<string, string>;
  spec?: { template?: { spec: { containers: Container[] } } };
};

function readManifest(): { config: string; container: (name: string) => Container } {
  const text = readFileSync(join(repo, "deploy/kubernetes/base/registry.yaml"), "utf8");
  const objects = parseAllDocuments(text).map((one) => one.toJS() as Manifest);
  const find = (kind: string) => objects.find((one) => one.kind === kind);
  const config = find("ConfigMap")?.data?.["config.yml"];
  if (config === undefined) throw new Error("the manifest has no configuration of the registry");
  return {
    config,
    container: (name) => {
      const found = find("StatefulSet")?.spec?.template?.spec.containers.find((one) => one.name === name);
      if (!found) throw new Error(`the manifest has no container ${name}`);
      return found;
    },
  };
}

/** docker-registry of the local stack, where the manifest's image has it. */
async function makeImage(docker: Docker, { dir }: Inside): Promise<void> {
  const context = join(dir, "registry-image");
  mkdirSync(context);
  const cacheDirs = defaultCacheDirs(process.env, repo);
  const program = await findDockerRegistry({ env: process.env, cacheDirs, progress: () => undefined });
  copyFileSync(program, join(context, "registry"));
  writeFileSync(join(context, "Dockerfile"), `FROM ${baseImage}\nCOPY registry /bin/registry\n`);
  await docker.build(image, [context]);
}

/** Volumes of the pod, each a folder of its own, as bind mounts. */
function makeVolumes({ dir }: Inside, config: string) {
  const lines = Object.entries(passwords).map(([name, password]) => `${name}:${password}\n`);
  const files = {
    config: { "config.yml": config },
    credentials: { credentials: lines.join("") },
    images: {},
  };
  return Object.entries(files).map(([name, content]) => {
    const source = join(dir, "registry-pod", name);
    mkdirSync(source, { recursive: true });
    for (const [file, text] of Object.entries(content)) writeFileSync(join(source, file), text);
    chownSync(source, user, user);
    return { source, target: `/${name}`, mode: name === "images" ? ("rw" as const) : ("ro" as const) };
  });
}

const confined = (from: string) =>
  new GenericContainer(from)
    .withUser(`${user}:${user}`)
    .withDroppedCapabilities("ALL")
    .withSecurityOpt("no-new-privileges");

type RegistryPod = AsyncDisposable & {
  /** Of the gate, as references write it. */
  host: string;
};

/** Resolves once the gate answers. */
export async function startRegistryPod(docker: Docker, inside: Inside): Promise<RegistryPod> {
  const { config, container } = readManifest();
  await makeImage(docker, inside);
  const volumes = makeVolumes(inside, config);
  const [registry, gate] = [container("registry"), container("gate")];
  const port = 5000;
  const first = await confined(image)
    .withCommand(registry.command ?? [])
    .withEnvironment({ REGISTRY_HTTP_SECRET: "0123456789abcdef" })
    .withBindMounts(volumes.filter(({ target }) => target !== "/credentials"))
    .withExposedPorts({ container: port, host: port })
    .withWaitStrategy(Wait.forSuccessfulCommand("grep -q :1389 /proc/net/tcp"))
    .start();
  const second = await confined(image)
    .withCommand(["node", ...(gate.args ?? [])])
    .withEnvironment(Object.fromEntries(gate.env.map(({ name, value = "" }) => [name, value])))
    .withBindMounts([...volumes, { source: repo, target: "/opt/svc", mode: "ro" }])
    .withWorkingDir("/opt/svc")
    .withNetworkMode(`container:${first.getId()}`)
    .withWaitStrategy(Wait.forLogMessage(/ready/))
    .start();
  return {
    host: `127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      await second.stop();
      await first.stop();
    },
  };
}

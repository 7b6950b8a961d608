// Pods as a cluster runs them, where root may make namespaces: each with a network of its own, each container with the
// image's files read-only, its volumes at their paths, its user and its capabilities. Processes and hosts stay shared.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, chown, lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Container, Pod } from "../controllers/objects.ts";
import { ContainerConfigError, type PodFacts } from "./environment.ts";
import { mountsOf } from "./mounts.ts";
import type { ExecTarget } from "./probe.ts";

const SCRIPT = fileURLToPath(new URL("./sandbox.sh", import.meta.url));
const run = promisify(execFile);

export type SandboxOptions = {
  /** Folders and files of this machine that every image has, by their path in it; read-only. */
  files: Readonly<Record<string, string>>;
  /** Folders that every image may write, such as the cache of compiled code. */
  writable: Readonly<Record<string, string>>;
  /** The address that pods reach the machine by, and of the DNS server. */
  gateway: string;
  nameserver: string;
  /** Variables that a cluster gives every container. */
  env: Readonly<Record<string, string>>;
};

export type Sandbox = {
  /** Makes the network of a pod, once. */
  open(facts: PodFacts, volumes: ReadonlyMap<string, string>): Promise<void>;
  close(pod: Pod): Promise<void>;
  wrap(inside: Inside): Promise<(argv: string[]) => ExecTarget>;
};

type Inside = {
  facts: PodFacts;
  container: Container;
  volumes: Map<string, string>;
  /** A folder of the container's run. */
  dir: string;
  env: Record<string, string>;
  workingDir: string;
};

type Security = {
  runAsUser?: number;
  runAsGroup?: number;
  fsGroup?: number;
  capabilities?: { add?: string[]; drop?: string[] };
};

/** Capabilities of root in a container that drops none. */
const usual =
  "chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod audit_write setfcap";

/** As setpriv writes a set. */
function rightsOf({ capabilities: { add = [], drop = [] } = {} }: Security): string {
  const plain = (names: string[]) => names.map((name) => name.toLowerCase().replace(/^cap_/, ""));
  const dropped = plain(drop);
  const kept = usual.split(" ").filter((name) => !dropped.includes("all") && !dropped.includes(name));
  return ["-all", ...[...kept, ...plain(add)].map((name) => `+${name}`)].join(",");
}

function securityOf(pod: Pod, container?: Container): Security {
  const of = (one: unknown) => (one as { securityContext?: Security } | undefined)?.securityContext;
  return { ...of(pod.spec), ...of(container) };
}

const networkOf = (pod: Pod) => `pod-${(pod.metadata.uid ?? "").slice(0, 13)}`;
/** Names of links have at most 15 characters. */
const linkOf = (pod: Pod) =>
  `p${createHash("sha256")
    .update(pod.metadata.uid ?? "")
    .digest("hex")
    .slice(0, 12)}`;

async function ip(...args: string[]): Promise<void> {
  await run("ip", args);
}

async function connect({ pod, podIP }: PodFacts, gateway: string): Promise<void> {
  const [network, link] = [networkOf(pod), linkOf(pod)];
  await ip("netns", "add", network);
  await ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", network);
  await ip("link", "set", link, "up");
  await ip("route", "replace", `${podIP}/32`, "dev", link);
  for (const command of [
    "link set lo up",
    `addr add ${podIP}/32 dev eth0`,
    "link set eth0 up",
    `route add ${gateway} dev eth0 scope link`,
    `route add default via ${gateway} dev eth0`,
  ])
    await ip("-n", network, ...command.split(" "));
}

/** As Kubernetes does for `fsGroup`: the group owns every file and may do what the owner may. */
async function give(path: string, group: number): Promise<void> {
  const stat = await lstat(path);
  if (stat.isSymbolicLink()) return;
  if (stat.gid !== group) {
    await chown(path, stat.uid, group);
    const owner = (stat.mode & 0o700) >> 3;
    await chmod(path, (stat.mode & 0o7777) | owner | (stat.isDirectory() ? 0o2070 : 0o060 & owner));
  }
  if (stat.isDirectory()) for (const name of await readdir(path)) await give(join(path, name), group);
}

export function createSandbox(options: SandboxOptions): Sandbox {
  const { files, writable, gateway, nameserver, env: shared } = options;
  const opened = new Set<string>();
  const textsOf = ({ pod, podIP }: PodFacts) => {
    const { namespace = "default", name } = pod.metadata;
    const search = [`${namespace}.svc.cluster.local`, "svc.cluster.local", "cluster.local"].join(" ");
    return {
      "resolv.conf": `nameserver ${nameserver}\nsearch ${search}\noptions ndots:5\n`,
      hosts: `127.0.0.1 localhost\n${podIP} ${name}\n`,
      hostname: `${name}\n`,
      passwd:
        "root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\npostgres:x:999:999::/:/bin/sh\n",
      group: "root:x:0:\nnode:x:1000:\npostgres:x:999:\n",
    };
  };
  return {
    open: async (facts, volumes) => {
      const uid = facts.pod.metadata.uid ?? "";
      if (!opened.has(uid)) await connect(facts, gateway);
      opened.add(uid);
      const { fsGroup } = securityOf(facts.pod);
      for (const { name, emptyDir } of facts.pod.spec.volumes ?? []) {
        const dir = volumes.get(name);
        if (dir === undefined) continue;
        if (emptyDir !== undefined) await chmod(dir, 0o777);
        if (fsGroup !== undefined) await give(dir, fsGroup);
      }
    },
    close: async (pod) => {
      if (!opened.delete(pod.metadata.uid ?? "")) return;
      await ip("netns", "delete", networkOf(pod));
    },
    wrap: async ({ facts, container, volumes, dir, env, workingDir }) => {
      const security = securityOf(facts.pod, container);
      const { runAsUser = 0, runAsGroup = 0 } = security;
      const root = join(dir, "rootfs");
      const etc = join(dir, "etc");
      await rm(root, { recursive: true, force: true });
      for (const folder of [root, etc]) await mkdir(folder, { recursive: true });
      const texts = Object.entries(textsOf(facts));
      for (const [name, text] of texts) await writeFile(join(etc, name), text);
      const mounts = mountsOf(container, volumes).map((mount) => {
        const isReadOnly = container.volumeMounts?.find((one) => one.mountPath === mount.mountPath)?.readOnly;
        return [isReadOnly ? "ro" : "rw", mount.dir, mount.mountPath];
      });
      const lines = [
        ...Object.entries(files).map(([to, from]) => ["ro", from, to]),
        ...Object.entries(writable).map(([to, from]) => ["rw", from, to]),
        ...texts.map(([name]) => ["ro", join(etc, name), `/etc/${name}`]),
        ["rw", "/dev", "/dev"],
        ["rw", "/proc", "/proc"],
        ...mounts.sort((a, b) => (a[2] ?? "").length - (b[2] ?? "").length),
      ].map((parts) => parts.join(" "));
      const broken = lines.find((line) => line.split(" ").length !== 3);
      if (broken !== undefined) throw new ContainerConfigError(`a path has a blank: ${broken}`);
      const table = join(dir, "mounts");
      await writeFile(table, `${lines.join("\n")}\n`);
      const network = `/run/netns/${networkOf(facts.pod)}`;
      const user = [`${runAsUser}:${runAsGroup}`, rightsOf(security)];
      const prefix = ["/bin/sh", SCRIPT, root, network, ...user, workingDir, table];
      return (argv) => ({ argv: [...prefix, ...argv], env: { ...shared, ...env }, cwd: "/" });
    },
  };
}

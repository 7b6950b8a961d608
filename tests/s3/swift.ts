// An OpenStack Swift of its own, with its S3 face: rings, devices and settings lie in a folder that is removed at the end.
// Needs root and a file system with extended attributes; runs in the root that is named, which may be a chroot with /proc:
// without it objects are stored and never found again.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { findFreePort } from "@svc/local-stack";
import { until } from "@svc/mesh/testing";

export type Swift = {
  endpoint: string;
  accessKey: string;
  secretKey: string;
  region: string;
  stop: () => Promise<void>;
};

const kinds = ["account", "container", "object"] as const;
const region = "us-east-1";

export async function startSwift(root: string): Promise<Swift> {
  const hostDir = mkdtempSync(join(root, "tmp/svc-swift-"));
  const dir = hostDir.slice(root === "/" ? 0 : root.length);
  const write = (name: string, lines: readonly string[]) =>
    writeFileSync(join(hostDir, name), `${lines.join("\n")}\n`);
  const command = (name: string, args: readonly string[]): [string, string[]] =>
    root === "/" ? [name, [...args]] : ["chroot", [root, name, ...args]];
  // Swift reads it from this place only.
  const hashes = join(root, "etc/swift/swift.conf");
  if (!existsSync(hashes)) {
    mkdirSync(join(root, "etc/swift"), { recursive: true });
    writeFileSync(hashes, "[swift-hash]\nswift_hash_path_prefix = svc\nswift_hash_path_suffix = svc\n");
  }
  mkdirSync(join(hostDir, "devices/d1"), { recursive: true });
  const ports = { proxy: await findFreePort(), cache: await findFreePort() };
  const programs: [string, string[]][] = [
    ["memcached", ["-u", "root", "-l", "127.0.0.1", "-p", `${ports.cache}`]],
  ];
  for (const kind of kinds) {
    const port = await findFreePort();
    write(`${kind}.conf`, backendConfig({ kind, port, dir }));
    const ring = (...args: string[]) => {
      const [file, all] = command("swift-ring-builder", [`${dir}/${kind}.builder`, ...args]);
      execFileSync(file, all, { stdio: "pipe" });
    };
    ring("create", "6", "1", "0");
    ring("add", `r1z1-127.0.0.1:${port}/d1`, "1");
    ring("rebalance");
    programs.push([`swift-${kind}-server`, [`${dir}/${kind}.conf`]]);
  }
  write("proxy.conf", proxyConfig({ dir, ...ports }));
  programs.push(["swift-proxy-server", [`${dir}/proxy.conf`]]);
  const children = programs.map(([name, args]) => spawn(...command(name, args), { stdio: "ignore" }));
  const stop = async () => {
    await Promise.all(children.map(end));
    rmSync(hostDir, { recursive: true, force: true });
  };
  try {
    const listening = [
      ports.proxy,
      ports.cache,
      ...kinds.map((kind) => portOf(join(hostDir, `${kind}.conf`))),
    ];
    for (const port of listening) await until(() => accepts(port), 60_000);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    endpoint: `http://127.0.0.1:${ports.proxy}`,
    accessKey: "test:tester",
    secretKey: "testing",
    region,
    stop,
  };
}

const portOf = (file: string) => Number(/bind_port = (\d+)/.exec(readFileSync(file, "utf8"))?.[1]);

function accepts(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("connect", () => done(true)).once("error", () => done(false));
    socket.once("connect", () => socket.destroy());
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await ended;
}

function backendConfig({ kind, port, dir }: { kind: string; port: number; dir: string }): string[] {
  return [
    ...["[DEFAULT]", "bind_ip = 127.0.0.1", `bind_port = ${port}`, "user = root", "workers = 0"],
    ...[`swift_dir = ${dir}`, `devices = ${dir}/devices`, "mount_check = false"],
    ...["[pipeline:main]", `pipeline = ${kind}-server`],
    ...[`[app:${kind}-server]`, `use = egg:swift#${kind}`],
  ];
}

function proxyConfig({ dir, proxy, cache }: { dir: string; proxy: number; cache: number }): string[] {
  const filters: Record<string, readonly string[]> = {
    catch_errors: [],
    gatekeeper: [],
    "proxy-logging": [],
    cache: [`memcache_servers = 127.0.0.1:${cache}`],
    listing_formats: [],
    bulk: [],
    s3api: [`location = ${region}`],
    tempauth: ["user_test_tester = testing .admin"],
    copy: [],
    slo: [],
    dlo: [],
    versioned_writes: ["allow_object_versioning = true"],
    symlink: [],
  };
  const entryPoints: Record<string, string> = { "proxy-logging": "proxy_logging", cache: "memcache" };
  return [
    ...["[DEFAULT]", "bind_ip = 127.0.0.1", `bind_port = ${proxy}`, "user = root", "workers = 0"],
    `swift_dir = ${dir}`,
    "[pipeline:main]",
    `pipeline = ${Object.keys(filters).join(" ")} proxy-logging proxy-server`,
    ...["[app:proxy-server]", "use = egg:swift#proxy", "account_autocreate = true"],
    ...Object.entries(filters).flatMap(([name, lines]) => [
      `[filter:${name}]`,
      `use = egg:swift#${entryPoints[name] ?? name}`,
      ...lines,
    ]),
  ];
}
